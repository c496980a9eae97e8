"""Checkpoints: a training goes on after its process was killed, with the same bits as if it had not been.

A checkpoint is a model file with further members: `run.KEY` tell how far the training was, `observer.NUMBER.KEY` what its observers had
seen. It is written between two examples of a recorded pass, or behind an epoch without one. A resumed training begins the epoch of its
checkpoint again, and its passes count as made as far as they were.

What parts keep for speed, such as cached sums, is in no file. So whoever writes a checkpoint also restores the parts from it: a training
that goes on and one that is resumed behind a kill hold the same.
"""

from __future__ import annotations

import math
import numbers
import os
import zlib
from contextlib import suppress

import attrs
import numpy as np

from structperc.core.errors import DataError, ModelFormatError, OptionError
from structperc.core.interrupts import completed
from structperc.core.loop import PassResult
from structperc.core.states import taken, within
from structperc.core.structures import Structures
from structperc.engine import model_file
from structperc.engine.header import generator
from structperc.engine.hookspecs import hookimpl
from structperc.engine.option_values import is_part
from structperc.engine.options import engine_options
from structperc.engine.run import coded
from structperc.engine.trainers import MAX_EPOCHS
from structperc.engine.writing import replace_file

MAY_DIFFER = ("epochs", "random_state", "classes", "n_jobs")     # may be raised; goes on as it stands in the file; compared as labels; any


class Checkpoint:
    """Writes the training to a file again and again, so that `Engine.fit(..., resume=True)` goes on from there.

    After kill -9, a power failure or Ctrl-C at any moment, the same call on the same data ends with the same bits as the training that was
    never stopped. Two files are kept: the last checkpoint, and the one before in `path` + ".previous". A damaged one is noticed, and the
    other is used. Both are model files, which `Engine.load` reads. A checkpoint that cannot be written ends the fit by an OSError.

    Estimators make an engine of their own for each fit and cannot resume; `partial_fit` writes no checkpoints, call `save` between chunks.

    Parameters
    ----------
    path : path
        Of a regular file. One training at a time may write to it.
    every : float, default 1.0
        Epochs between two checkpoints; 0.25 for four in each epoch.

    Notes
    -----
    A checkpoint costs the time to save the model, and memory for another copy of it. Kernel weights also lose the sums that they keep
    from one epoch to the next (and the values of a kernel that is a function), so their bits depend on `every`; all other weights have
    the bits of a training without checkpoints. An epoch that was cut at its end is told to observers once more.

    Examples
    --------
    >>> import os, tempfile
    >>> from structperc import Engine
    >>> from structperc.callbacks import Checkpoint
    >>> folder = tempfile.TemporaryDirectory()
    >>> checkpoint = Checkpoint(os.path.join(folder.name, "model.checkpoint"), every=0.5)
    >>> X, y = [[-2.0], [-1.0], [0.5], [2.0]], [1, 1, 2, 3]
    >>> engine = Engine("cusum", epochs=20, plugins=[checkpoint]).fit(X, y, resume=True)      # from nothing, or from a checkpoint
    >>> Engine.load(checkpoint.path).predict([[3.0]]).tolist()
    [3]
    >>> folder.cleanup()
    """

    def __init__(self, path, every=1.0):
        if isinstance(every, bool) or not isinstance(every, numbers.Real) or not 0 < every < math.inf:
            raise OptionError(f"every={every!r}; expected a number of epochs above 0, such as 1.0, or 0.25 for four checkpoints in each.")
        self.path, self.every = os.fsdecode(path), float(every)

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        """Nothing: training writes the checkpoints itself, also within epochs."""


def checkpoints_of(engine, run, costs, resume):
    """The `Checkpoints` of a run, or None without a `Checkpoint` among the plugins."""
    found = [plugin.plugin for plugin in engine.loaded_plugins if isinstance(plugin.plugin, Checkpoint)]
    if resume and not found:
        raise OptionError("resume=True goes on from a checkpoint, but none is named; pass plugins=[Checkpoint(path)].")
    return Checkpoints(found[0], engine, run, costs) if found else None


@attrs.define
class CutEpoch:
    """What a checkpoint holds of the epoch under way."""

    finished: list              # results of its passes that are over
    counts: list                # of its last pass: visited, mistakes, updates, loss
    order: object               # of that pass; None: file order
    predictions: list | None    # made before its steps; None: not kept
    seconds: float


class Checkpoints:
    """The checkpoints of one run, and what they hold besides the model.

    Parameters
    ----------
    checkpoint : Checkpoint
    engine : Engine
    run : TrainingRun
    costs
        As `fit` takes them.

    Attributes
    ----------
    cut : CutEpoch or None
        Where a resumed run goes on; None as soon as it does.
    """

    cut = None

    def __init__(self, checkpoint, engine, run, costs):
        self.engine, self.run = engine, run
        self.path = os.path.realpath(checkpoint.path)
        self.previous = self.path + ".previous"
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise OptionError(f"the checkpoint {self.path!r} is no regular file; choose another path.")
        self.step = checkpoint.every * (run.n_examples if run.active is None else len(run.active))
        self.observers = [plugin for plugin in engine.loaded_plugins
                          if "structperc_epoch_end" in plugin.hooks and hasattr(plugin.plugin, "state")]
        self.facts = facts(engine, run, costs) | {"observers": ", ".join(plugin.name for plugin in self.observers)}
        self.visits = 0         # examples visited in passes that are over
        self.finished = []      # results of the passes of this epoch that are over
        self.online = []        # structures and examples of all passes that are over
        self.order = None       # of the pass under way

    # ---- the run tells where it is, and asks where it was ----

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
            self.online.append((structures, np.asarray(examples)))

    def end_epoch(self, visited) -> None:
        """The epoch is over; one without a pass of the run has its checkpoint here."""
        if not self.finished:
            due = self.next_stop(0)
            self.visits += visited
            if visited >= due:
                self.settle(self.write_file("between epochs", {}, self.online if self.run.online is not None else None))

    # ---- writing ----

    def write(self, passed, predictions) -> None:
        """Writes a checkpoint within a pass, and leaves the parts as one that reads it will find them."""
        run = self.run
        arrays = {"counts": np.array([[one.visited, one.mistakes, one.updates, one.loss] for one in (*self.finished, passed)])}
        if self.order is not None:
            arrays["order"] = self.order
        examples = np.arange(passed.visited) if self.order is None else self.order[:passed.visited]
        online = None if predictions is None else [*self.online, (coded(predictions, run.model.parts.outputs), examples)]
        self.settle(self.write_file("in a pass", arrays, online))

    def settle(self, arrays) -> None:
        """Restores the parts from what has been written of them."""
        states, interrupts = model_file.states_of(arrays), []
        for name, part in self.run.model.parts.items():
            if name not in ("reader", "trainer"):
                completed(interrupts, part.restore, states[name])
        if interrupts:
            raise interrupts[0]

    def end(self) -> None:
        """Writes the checkpoint of a training that is over."""
        self.write_file("at the end", {}, self.online if self.run.online is not None else None)

    def write_file(self, place, arrays, online) -> dict:
        """Writes a checkpoint with these arrays of the run; returns those of the model."""
        arrays = {f"run.{name}": array for name, array in (arrays | online_arrays(online)).items()}
        header, model_arrays = model_file.collect(self.engine)
        header["run"] = {"place": place, "epoch": self.run.epoch, "visits": self.visits, "seconds": self.run.seconds,
                         "stop_requested": self.run.stop_requested, "facts": self.facts}
        for number, plugin in enumerate(self.observers):
            arrays |= {f"observer.{number}.{name}": np.asarray(value) for name, value in plugin.plugin.state().items()}

        def write(file):
            model_file.write(file, header, model_arrays | arrays)
            file.flush()
            os.fsync(file.fileno())             # now there are three; at no moment is there none
            with suppress(FileNotFoundError):
                os.replace(self.path, self.previous)

        replace_file(self.path, write)
        return model_arrays

    # ---- reading ----

    def resume(self):
        """Goes on from the last whole checkpoint, or begins where there is none.

        Returns
        -------
        str or None
            The status of a training that was over, and with these epochs still is; None: there is something to do.
        """
        found = self.read()
        if found is None:
            return None
        path, header, arrays = found
        self.refuse_others(path, header["run"]["facts"])
        try:
            return self.restore(header, header["run"], arrays)
        except Exception as error:
            raise ModelFormatError(f"the checkpoint {path!r} does not fit this training ({type(error).__name__}: {error}); remove it to "
                                   f"begin anew.") from error

    def read(self):
        """Path, header and arrays of the last checkpoint that is whole; None: there is none."""
        damage = None
        for path in (self.path, self.previous):
            try:
                with open(path, "rb") as file, model_file.opened(file, repr(path)) as (header, members):
                    arrays = {name: member.read() for name, member in members.items()}      # before any is used, so that all are whole
                if "run" not in header:
                    raise ModelFormatError(f"{path!r} is a model, but no checkpoint of its training; choose another path.")
                return path, header, arrays
            except FileNotFoundError:
                continue
            except OSError as error:
                raise type(error)(f"the checkpoint {path!r} cannot be read: {error.strerror or error}.") from None
            except ModelFormatError as error:
                damage = damage or error
        if damage is not None:
            raise damage
        return None

    def refuse_others(self, path, saved) -> None:
        """Refuses the checkpoint of another training."""
        for name, value in self.facts.items():
            if saved.get(name) != value:
                if name in DATA:
                    raise DataError(f"the checkpoint {path!r} is of a training with another {name} ({saved.get(name)}; here {value}); "
                                    f"pass the same as before, or remove the file to begin anew.")
                raise OptionError(f"the checkpoint {path!r} is of a training with {name}={saved.get(name)}, and this one has "
                                  f"{name}={value}; pass the same as before, or remove the file to begin anew.")

    def restore(self, header, told, arrays):
        """Gives model, run and observers what a checkpoint holds."""
        run, model, states = self.run, self.run.model, model_file.states_of(arrays)
        for name, value in model_file.training_of(header["record"]).items():
            setattr(model, name, value)
        model.context.random.bit_generator.state = generator(header["context"]["random"]).bit_generator.state
        model.parts.weights.n_visited = taken(states["weights"], "n_visited", np.int64, low=0)
        for name, part in model.parts.items():
            if name != "reader":                # has learned the same from the same data
                part.restore(states[name])
        for number, plugin in enumerate(self.observers):
            plugin.plugin.restore(within(states["observer"], f"{number}."))
        own = states["run"]
        self.visits, online = int(told["visits"]), passes_of(own, model.parts.outputs)
        run.resumed = True
        if told["place"] != "in a pass":
            run.epoch = int(told["epoch"])
            self.take_online(online)
            if told["place"] == "at the end":
                return model.status if model.status != MAX_EPOCHS or run.epoch >= run.context.epochs else None
            run.stop_requested = bool(told["stop_requested"])
            return None
        run.epoch = max(int(told["epoch"]) - 1, 0)
        self.take_online(online[:-1])
        *finished, counts = taken(own, "counts", np.float64, (None, 4), low=0).tolist()
        order = taken(own, "order", np.int64, (None,), low=0, high=run.n_examples - 1) if "order" in own else None
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


def facts(engine, run, costs) -> dict:
    """What must be the same again, by name: options as texts, data as sizes and checksums."""
    rows, context = run.rows, run.context
    parts = [plugin for plugin in engine.loaded_plugins[1:] if plugin.hooks != model_file.OBSERVES]
    options = {name: value for name, value in engine_options(engine).items() if name not in MAY_DIFFER} | engine.plugin_options
    data = {
        "X": [rows.n_rows, rows.n_features, contents(rows.X), *([] if rows.keys is None else [contents(rows.keys)])],
        "examples": [rows.n_examples, contents(rows.offsets)],
        "y": [contents(run.gold.values), contents(run.gold.offsets)],
        "classes": contents(context.labels),
        "sample_weight": contents(context.sample_weight if context.visit_weight is None else context.visit_weight),
        "costs": contents(costs),
        "allowed": contents(rows.allowed),
        "keep_online": run.online is not None,
    }
    return {"plugins": ", ".join(plugin.name for plugin in parts), **{name: described(value) for name, value in options.items()},
            **{name: str(value) for name, value in data.items()}}


DATA = ("X", "examples", "y", "classes", "sample_weight", "costs", "allowed")


def described(value) -> str:
    """An option in few words."""
    if isinstance(value, np.ndarray):
        return contents(value)
    return getattr(value, "__qualname__", type(value).__name__) if callable(value) or is_part(value) else repr(value)


def contents(value) -> str:
    """A checksum of arrays; of a list of objects its length."""
    if value is None:
        return "none"
    if isinstance(value, list):
        return f"{len(value)} objects"
    if hasattr(value, "dense"):
        return f"{contents(value.sparse)} {contents(value.dense)}"
    if hasattr(value, "indptr"):
        return " ".join(contents(part) for part in (value.data, value.indices, value.indptr))
    array = np.ascontiguousarray(value)
    text = repr(array.tolist()).encode() if array.dtype == object else array.data.cast("B") if array.size else b""
    return f"{array.dtype}{list(array.shape)}:{zlib.crc32(text):08x}"


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
    found, at, value = [], 0, 0
    for size in arrays.get("online_sizes", ()):
        examples = arrays["online_examples"][at:at + size]
        offsets = None
        if outputs.code_width != 1:
            offsets = np.append(0, np.cumsum(arrays["online_lengths"][at:at + size])).astype(np.int64)
        n_values = size if offsets is None else int(offsets[-1])
        found.append((Structures(arrays["online_values"][value:value + n_values], offsets), examples))
        at, value = at + size, value + n_values
    return found


def result(counts) -> PassResult:
    """A `PassResult` of these counts."""
    passed = PassResult()
    passed.visited, passed.mistakes, passed.updates = map(int, counts[:3])
    passed.loss = counts[3]
    return passed
