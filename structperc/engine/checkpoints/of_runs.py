"""Checkpoints: a training goes on after its process was killed, with the same bits as if it had not been.

A checkpoint is a model file with further members. `run.KEY` is the progress of the training, `observer.NUMBER.KEY` the state of its
observers. It is written between two examples of a recorded pass, or behind an epoch without one. A resumed training begins the epoch of its
checkpoint again. Its passes count as made as far as they were.

What parts keep for speed, such as cached sums, is in no file. So whoever writes a checkpoint also restores the parts from it: a training
that goes on and one that is resumed behind a kill hold the same.
"""

from __future__ import annotations

import math

import attrs
import numpy as np

from structperc.basics.errors import OptionError
from structperc.basics.saved_state import read_array, substate
from structperc.core.loop import PassResult
from structperc.core.outputs import LabelOutputs
from structperc.core.structures import Structures
from structperc.engine import model_file
from structperc.engine.checkpoints.files import CheckpointFile, checkpoint_of, contents, option_facts, settle
from structperc.engine.model_file.header import generator
from structperc.engine.model_file.record import read_record
from structperc.fitting.context import SHARDS_ELSEWHERE
from structperc.fitting.run import Progress, coded
from structperc.fitting.trainers import MAX_EPOCHS

DATA = ("X", "examples", "y", "classes", "sample_weight", "costs", "allowed")


def progress_of(engine, run, costs, resume):
    """The `Checkpoints` of a run. Without a `Checkpoint` among the plugins: the run's own progress, which writes none."""
    checkpoint = checkpoint_of(engine, resume)
    if checkpoint is None:
        return run.progress
    if run.history is not None:
        raise OptionError("history=True is kept in no checkpoint, so that a resumed training would lack its beginning; leave one of "
                          "them out.")
    return Checkpoints(checkpoint, engine, run, costs)


@attrs.define
class CutEpoch:
    """What a checkpoint holds of the epoch under way."""

    finished: list              # results of its passes that are over
    counts: list                # of its last pass: visited, mistakes, updates, loss
    order: object               # of that pass; None: file order
    predictions: list | None    # made before its steps; None: not kept
    seconds: float


class Checkpoints(Progress):
    """The checkpoints of one run, and what they hold besides the model."""
    # costs: As `fit` takes them.

    def __init__(self, checkpoint, engine, run, costs):
        self.engine, self.run = engine, run
        self.step = checkpoint.every * (run.n_examples if run.active is None else len(run.active))
        self.observers = [plugin for plugin in engine.loaded_plugins if plugin.observes and hasattr(plugin.plugin, "state")]
        elsewhere = SHARDS_ELSEWHERE.get()
        parts = {} if elsewhere is None else elsewhere.identity()
        self.file = CheckpointFile(checkpoint, parts | facts(engine, run, costs, self.observers), (*DATA, *parts))
        self.visits = 0         # examples visited in passes that are over
        self.finished = []      # results of the passes of this epoch that are over
        self.online = []        # structures and examples of all passes that are over
        self.order = None       # of the pass under way

    # ---- the progress of the run ----

    def begin_epoch(self) -> float:
        """The seconds that this epoch has taken before."""
        if self.cut is not None:
            return self.cut.seconds
        self.finished = []
        return 0.0

    def finished_pass(self):
        """The next pass of this epoch that was over before the checkpoint; None: there are no more."""
        return self.cut.finished.pop(0) if self.cut is not None and self.cut.finished else None

    def begin_pass(self, passed, order, predictions):
        """The order and the predictions of a pass, and in `passed` its counts: those before the checkpoint, or of a new one."""
        cut, self.cut = self.cut, None
        if cut is not None:
            passed.visited, passed.mistakes, passed.updates = map(int, cut.counts[:3])
            passed.loss, order, predictions = cut.counts[3], cut.order, cut.predictions
        self.order = order
        return order, predictions

    def next_stop(self, position: int) -> int:
        """The position in the pass at which the next checkpoint is due; it may be behind the end."""
        begun = self.visits + position
        n = math.floor(begun / self.step) + 1
        due = round(n * self.step)
        if due <= begun:
            due = max(round((n + 1) * self.step), begun + 1)
        return due - self.visits

    def end_pass(self, passed, structures, examples) -> None:
        """The pass is over."""
        self.visits += passed.visited
        self.finished.append(passed)
        if structures is not None:
            self.add_predictions(structures, np.asarray(examples))

    def add_predictions(self, structures, examples) -> None:
        """Predictions of a trainer that makes no passes."""
        self.online.append((structures, examples))

    def end_epoch(self, visited) -> None:
        """The epoch is over; one without a pass of the run has its checkpoint here."""
        if not self.finished:
            due = self.next_stop(0)
            self.visits += visited
            if visited >= due and self.file.is_due:
                settle(self.run.model, self.write_file("between epochs", {}, self.online if self.run.online is not None else None))

    # ---- writing ----

    def write(self, passed, predictions) -> None:
        """Writes a checkpoint within a pass, if one is due. It leaves the parts as one that reads it will find them."""
        run = self.run
        if not self.file.is_due:
            return
        arrays = {"counts": np.array([[one.visited, one.mistakes, one.updates, one.loss] for one in (*self.finished, passed)])}
        if self.order is not None:
            arrays["order"] = self.order
        examples = np.arange(passed.visited) if self.order is None else self.order[:passed.visited]
        online = None if predictions is None else [*self.online, (coded(predictions, run.model.parts.outputs), examples)]
        settle(run.model, self.write_file("in a pass", arrays, online))

    def end(self) -> None:
        """Writes the checkpoint of a training that is over."""
        self.write_file("at the end", {}, self.online if self.run.online is not None else None)

    def write_file(self, place, arrays, online) -> dict:
        """Writes a checkpoint with these arrays of the run; returns those of the model."""
        arrays = {f"run.{name}": array for name, array in (arrays | online_arrays(online)).items()}
        if self.run.kept is not None:
            arrays["run.best_epoch"] = np.array(self.run.best_epoch)
            arrays |= {f"run.kept.{name}": value for name, value in self.run.kept.items()}
        for number, plugin in enumerate(self.observers):
            arrays |= {f"observer.{number}.{name}": np.asarray(value) for name, value in plugin.plugin.state().items()}
        return self.file.write(self.engine, {"place": place, "epoch": self.run.epoch, "visits": self.visits, "seconds": self.run.seconds,
                                             "stop_requested": self.run.stop_requested}, arrays)

    # ---- reading ----

    def resume(self):
        """Goes on from the last whole checkpoint, or begins without one. Returns the status of a training that is over, else None."""
        return self.file.resumed(self.restore)

    def restore(self, header, arrays):
        """Gives model, run and observers what a checkpoint holds."""
        told = header["run"]
        run, model, states = self.run, self.run.model, model_file.states_of(arrays)
        for name, value in read_record(header["record"]).items():
            setattr(model, name, value)
        model.context.random.bit_generator.state = generator(header["context"]["random"]).bit_generator.state
        model.parts.weights.n_visited = read_array(states["weights"], "n_visited", np.int64, low=0)
        for name, part in model.parts.items():
            if name != "reader":                # has learned the same from the same data
                part.restore(states[name])
        model_file.restore_columns(model, states, run.rows.n_features)      # shards elsewhere know more columns' values than these rows
        for number, plugin in enumerate(self.observers):
            plugin.plugin.restore(substate(states["observer"], f"{number}."))
        own = states["run"]
        self.visits, online = int(told["visits"]), passes_of(own, model.parts.outputs)
        if "best_epoch" in own:
            run.kept, run.best_epoch = dict(substate(own, "kept.")), read_array(own, "best_epoch", np.int64, low=0)
        run.resumed = True
        if told["place"] != "in a pass":
            run.epoch = int(told["epoch"])
            self.take_online(online)
            if told["place"] == "at the end":
                if model.status != MAX_EPOCHS or run.epoch >= run.context.epochs:
                    return model.status
                run.exchange()                  # the last weights had been put aside for the best ones
                return None
            run.stop_requested = bool(told["stop_requested"])
            return None
        run.epoch = max(int(told["epoch"]) - 1, 0)
        self.take_online(online[:-1])
        *finished, counts = read_array(own, "counts", np.float64, (None, 4), low=0).tolist()
        order = read_array(own, "order", np.int64, (None,), low=0, high=run.n_examples - 1) if "order" in own else None
        self.cut = CutEpoch([result(one) for one in finished], counts, order,
                            predictions_of(online[-1][0]) if online else None, float(told["seconds"]))
        self.finished = list(self.cut.finished)
        return None

    def take_online(self, online) -> None:
        """The predictions of passes that were over."""
        self.online = online
        for structures, examples in online:
            self.run.online.append(self.run.decoded(structures, examples))


# ---- what the run is of ----


def facts(engine, run, costs, observers) -> dict:
    """What must be the same again, by name: options as texts, data as sizes and checksums."""
    rows, context = run.rows, run.context
    data = {
        "X": [rows.n_rows, rows.n_features, contents(rows.X), *([] if rows.keys is None else [contents(rows.keys)])],
        "examples": [rows.n_examples, contents(rows.offsets)],
        "y": [contents(run.gold.values), contents(run.gold.offsets)],
        "classes": contents(context.labels),
        "sample_weight": contents(context.sample_weight if context.visit_weight is None else context.visit_weight),
        "costs": contents(costs),
        "allowed": contents(rows.allowed),
        "record_predictions": run.online is not None,
    }
    return (option_facts(engine) | {name: str(value) for name, value in data.items()}
            | {"observers": ", ".join(plugin.name for plugin in observers)})


# ---- predictions made before the steps, as codes ----


def predictions_of(structures) -> list:
    """The inverse of `coded`."""
    return [structures.values] if structures.offsets is None else list(structures)


def online_arrays(online) -> dict:
    """The structures and examples of several passes, end to end."""
    if online is None:
        return {}
    arrays = {"online_sizes": np.array([len(examples) for _, examples in online], dtype=np.int64),
              "online_values": np.concatenate([np.zeros(0, dtype=np.intc), *(structures.values for structures, _ in online)]),
              "online_examples": np.concatenate([np.zeros(0, dtype=np.int64), *(examples for _, examples in online)])}
    if any(structures.offsets is not None for structures, _ in online):
        arrays["online_lengths"] = np.concatenate([np.diff(structures.offsets) for structures, _ in online])
    return arrays


def passes_of(arrays, outputs) -> list:
    """The inverse of `online_arrays`."""
    passes, at, value = [], 0, 0
    for size in arrays.get("online_sizes", ()):
        examples = arrays["online_examples"][at:at + size]
        offsets = None
        if not isinstance(outputs, LabelOutputs):
            offsets = np.append(0, np.cumsum(arrays["online_lengths"][at:at + size])).astype(np.int64)
        n_values = size if offsets is None else int(offsets[-1])
        passes.append((Structures(arrays["online_values"][value:value + n_values], offsets), examples))
        at, value = at + size, value + n_values
    return passes


def result(counts) -> PassResult:
    """A `PassResult` of these counts."""
    passed = PassResult()
    passed.visited, passed.mistakes, passed.updates = map(int, counts[:3])
    passed.loss = counts[3]
    return passed
