"""Checkpoints between the parts of a stream: where it was, and from which source.

A checkpoint is a model file with further members, as those of runs are. `run.order` is the order of the parts. It is written before the
next part is learned from, and after each epoch, where one is due.
"""

from __future__ import annotations

from contextlib import contextmanager

import attrs
import numpy as np

from structperc.basics.errors import OptionError
from structperc.basics.saved_state import read_array
from structperc.engine import model_file
from structperc.engine.checkpoints.files import CheckpointFile, checkpoint_of, contents, option_facts, settle
from structperc.fitting.options import generator
from structperc.fitting.trainers import CONVERGED, LEVELLED_OFF, MAX_EPOCHS, OnlineTrainer

NOT_KEPT = {"online": "record_predictions", "history": "history"}


@attrs.define
class Place:
    """How far a training on a stream has come."""
    # epoch: int. The number of the epoch under way, from 1.
    # n_parts: int. How many parts of it are behind.
    # order: int64 array or None. In which the parts of this epoch come; None: as the source gives them.
    # converged: bool. Whether none of these parts brought an update.
    # over: bool. Whether the epoch is over.
    # passed: float64 array. The loss of the predictions made in these parts, and the number of their examples.

    epoch: int = 1
    n_parts: int = 0
    order: object = None
    converged: bool = True
    over: bool = False
    passed: np.ndarray = attrs.field(factory=lambda: np.zeros(2))


class StreamCheckpoints:
    """The checkpoints of a training on a stream."""
    # source: dict of str to str. What identifies the data, by name.
    # place: Place. Where the training is.

    def __init__(self, engine, source, resume):
        self.engine, self.place, self.parts_since, checkpoint = engine, Place(), 0, checkpoint_of(engine, resume)
        self.every, self.file = None, None
        if checkpoint is not None:
            classes = None if engine.classes is None else contents(np.asarray(engine.classes))
            self.every = checkpoint.every
            self.file = CheckpointFile(checkpoint, source | option_facts(engine) | {"classes": str(classes)}, source, streamed=True)
        if resume:
            self.place = self.file.resumed(self.restore) or self.place

    @property
    def is_over(self) -> bool:
        """Whether no epoch is left."""
        place = self.place
        return place.over and (place.converged or place.epoch >= self.engine.epochs or is_level(self.engine.parts_.trainer))

    def begin_epoch(self, order) -> Place:
        """The place in the epoch that comes next, or that was cut short. `order` is a function that returns that of its parts."""
        if self.place.over:
            self.place = Place(self.place.epoch + 1)
        if not self.place.n_parts:
            self.place.order = order()
            if self.engine.model is not None:
                self.engine.model.streaming = False         # mistakes_ gets an entry of its own
        return self.place

    def before_part(self) -> None:
        """A part is about to be learned from."""
        if self.file is not None and self.parts_since >= self.every and self.engine.model is not None and self.file.is_due:
            self.write()

    @contextmanager
    def counting(self):
        """What is learned within the block counts for this epoch."""
        before = self.sums()
        yield
        self.place.passed += self.sums() - before

    def sums(self):
        """The loss of all predictions before their steps, and the number of these."""
        model = self.engine.model
        return np.zeros(2) if model is None else np.array([model.loss, model.parts.weights.n_visited], dtype=float)

    def after_part(self, converged) -> None:
        """A part has been learned from."""
        self.place.n_parts += 1
        self.place.converged &= converged
        self.parts_since += 1

    def end_epoch(self) -> None:
        """No part is left in this epoch."""
        place, model = self.place, self.engine.model
        place.over = True
        loss, n_visited = place.passed
        if isinstance(model.parts.trainer, OnlineTrainer):
            model.parts.trainer.end_pass(place.epoch, loss / max(n_visited, 1))
        model.status = CONVERGED if place.converged else LEVELLED_OFF if is_level(model.parts.trainer) else MAX_EPOCHS
        if self.file is not None and (self.is_over or self.file.is_due):
            self.write()

    def write(self) -> None:
        """Writes a checkpoint, and leaves the parts as one that reads it will find them."""
        model, place = self.engine.model, self.place
        for name, argument in NOT_KEPT.items():
            if getattr(model, name) is not None:
                raise OptionError(f"{argument}=True is kept in no checkpoint of a stream. A resumed training would lack its "
                                  f"beginning; leave one of them out.")
        arrays = {"run.passed": place.passed} | ({} if place.order is None else {"run.order": place.order})
        where = {name: value for name, value in attrs.asdict(place).items() if name not in ("order", "passed")}
        model.lock.write(settle, model, self.file.write(self.engine, where, arrays))
        self.parts_since = 0

    def restore(self, header, arrays) -> Place:
        """Gives the engine the model of a checkpoint; returns the place in the training."""
        told, own = header["run"], model_file.states_of(arrays)["run"]
        order = read_array(own, "order", np.int64, (None,), low=0) if "order" in own else None
        passed = read_array(own, "passed", np.float64, (2,), finite=False)
        model_file.restore(self.engine, header, arrays, random=generator(self.engine.random_state))
        return Place(int(told["epoch"]), int(told["n_parts"]), order, bool(told["converged"]), bool(told["over"]), passed)


def is_level(trainer) -> bool:
    """Whether the loss of online training has levelled off."""
    return isinstance(trainer, OnlineTrainer) and trainer.is_level()
