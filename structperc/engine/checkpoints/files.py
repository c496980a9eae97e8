"""The files of checkpoints: the last two of a training. Damaged files, and those of another training, raise an error."""

from __future__ import annotations

import math
import numbers
import os
import time
import zlib
from contextlib import suppress

import numpy as np

from structperc.basics.errors import DataError, ModelFormatError, OptionError, shortened
from structperc.basics.signals import retry_on_interrupt
from structperc.basics.writing import replace_file
from structperc.engine import model_file
from structperc.fitting.hookspecs import hookimpl
from structperc.fitting.option_values import is_part
from structperc.fitting.options import engine_options

BEFORE_NAME, FIRST_MEMBER = 30, b"header.npy"           # of an archive, as its first bytes have it
MAY_DIFFER = ("epochs", "random_state", "classes", "n_jobs")     # may be raised; goes on as in the file; compared as labels; any


class Checkpoint:
    """Writes the training to a file again and again, so that `Engine.fit(..., resume=True)` goes on from there.

    After kill -9, a power failure or Ctrl-C at any moment, repeat the same call on the same data. It ends with the same bits as a training
    that was never stopped. Two files are kept: the last checkpoint, and the one before in `path` + ".previous". If one is damaged, the
    other is used. Both are model files, which `Engine.load` reads. A checkpoint that cannot be written ends the fit by an OSError.

    `structperc.streams.fit_stream` writes it between two parts. Estimators make an engine of their own for each fit and cannot resume.
    `partial_fit` writes no checkpoints: call `save` between chunks.

    Parameters
    ----------
    path : path
        Of a regular file. One training at a time may write to it.
    every : float, default 1.0
        Epochs between two checkpoints; 0.25 for four in each epoch. Of a stream: parts, and each epoch ends with a checkpoint.
    minutes : float, optional
        Leave out checkpoints that come earlier than so many minutes after the one before. The training ends with one in any case.

    Notes
    -----
    A checkpoint costs the time to save the model, and memory for another copy of it. Kernel weights also lose the sums that they keep from
    one epoch to the next. They lose the values of a kernel that is a function, too. So their bits depend on `every`. All other weights have
    the bits of a training without checkpoints. Observers see an epoch that was cut at its end once more.

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

    def __init__(self, path, every=1.0, minutes=None):
        if not is_positive(every):
            raise OptionError(f"every={shortened(every)}; expected a number of epochs above 0, such as 1.0, or 0.25 "
                              f"for four checkpoints in each.")
        if minutes is not None and not is_positive(minutes):
            raise OptionError(f"minutes={shortened(minutes)}; expected a number above 0, such as 10, or None for each checkpoint.")
        self.path, self.every, self.minutes = os.fsdecode(path), float(every), None if minutes is None else float(minutes)

    @hookimpl
    def structperc_epoch_end(self, engine, record) -> None:
        """Does nothing: training writes the checkpoints itself, also within epochs.

        Parameters
        ----------
        engine : Engine
        record : EpochRecord
        """


def is_positive(value) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and 0 < value < math.inf


def checkpoint_of(engine, resume):
    """The `Checkpoint` among an engine's plugins, or None; resuming needs one."""
    checkpoints = [plugin.plugin for plugin in engine.loaded_plugins if isinstance(plugin.plugin, Checkpoint)]
    if resume and not checkpoints:
        raise OptionError("resume=True goes on from a checkpoint, but none is named; pass plugins=[Checkpoint(path)].")
    return checkpoints[0] if checkpoints else None


class CheckpointFile:
    """The last checkpoint of one training, and the one before."""
    # facts: dict of str to str. What must be the same where the training goes on.
    # data: collection of str. The facts that describe the data; the others are options.
    # streamed: bool. Whether the training reads its data part after part.

    def __init__(self, checkpoint, facts, data, streamed=False):
        self.path, self.facts, self.data, self.streamed = os.path.realpath(checkpoint.path), facts, data, streamed
        self.seconds, self.written = 60 * (checkpoint.minutes or 0), time.monotonic()
        self.previous = self.path + ".previous"
        if os.path.exists(self.path) and not os.path.isfile(self.path):
            raise OptionError(f"the checkpoint {self.path!r} is no regular file; choose another path.")
        if os.path.exists(self.previous) and not is_checkpoint(self.previous):
            raise OptionError(f"{self.previous!r} is no checkpoint, and the one before {self.path!r} would replace it. Move it away, or "
                              f"choose another path.")

    @property
    def is_due(self) -> bool:
        """Whether the last checkpoint is old enough for another one."""
        return time.monotonic() - self.written >= self.seconds

    def write(self, engine, place, arrays) -> dict:
        """Writes the model, the place in the training and arrays; returns the arrays of the model."""
        header, model_arrays = model_file.collect(engine)
        header["run"] = {"streamed": self.streamed, **place, "facts": self.facts}

        def write(file):
            model_file.write(file, header, model_arrays | arrays)
            file.flush()
            os.fsync(file.fileno())             # now there are three; at no moment is there none
            with suppress(FileNotFoundError):
                os.replace(self.path, self.previous)

        replace_file(self.path, write)
        self.written = time.monotonic()
        return model_arrays

    def resumed(self, restore):
        """What `restore` makes of the header and the arrays of the last whole checkpoint; None: there is no file."""
        last = self.read()
        if last is None:
            return None
        path, header, arrays = last
        self.refuse_others(path, header["run"])
        try:
            return restore(header, arrays)
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

    def refuse_others(self, path, told) -> None:
        """Raises an error for the checkpoint of another training."""
        if told["streamed"] != self.streamed:
            here, there = ("fit", "fit_stream") if told["streamed"] else ("fit_stream", "fit")
            raise OptionError(f"the checkpoint {path!r} was written by {there}, and this is {here}. On the command line {there} is fit "
                              f"{'with' if here == 'fit' else 'without'} --stream. Train as before, or remove the file to begin anew.")
        for name, value in self.facts.items():
            saved = told["facts"].get(name)
            if saved != value and name in self.data:
                raise DataError(f"the checkpoint {path!r} is of a training with another {name} ({saved or 'none'}; here {value}). Pass the "
                                f"same as before, or remove the file to begin anew.")
            if saved != value:
                raise OptionError(f"the checkpoint {path!r} is of a training with {name}={saved}, and this one has {name}={value}. Pass "
                                  f"the same as before, or remove the file to begin anew.")


def settle(model, arrays) -> None:
    """Restores the parts from what has been written of them, so that they are what a resumed training finds."""
    states, interrupts = model_file.states_of(arrays), []
    for name, part in model.parts.items():
        if name not in ("reader", "trainer"):
            retry_on_interrupt(interrupts, part.restore, states[name])
    if interrupts:
        raise interrupts[0]


def option_facts(engine) -> dict:
    """The plugins and options that must be the same again, as texts."""
    parts = [plugin for plugin in engine.loaded_plugins[1:] if not plugin.only_observes]
    options = {name: value for name, value in engine_options(engine).items() if name not in MAY_DIFFER} | engine.plugin_options
    return {"plugins": ", ".join(plugin.name for plugin in parts), **{name: described(value) for name, value in options.items()}}


def described(value) -> str:
    """An option in few words."""
    if isinstance(value, np.ndarray):
        return contents(value)
    return getattr(value, "__qualname__", type(value).__name__) if callable(value) or is_part(value) else repr(value)


def contents(value) -> str:
    """A checksum of arrays and of lists of texts; of a list of other objects its length."""
    if value is None:
        return "none"
    if isinstance(value, list):
        texts = repr(value) if all(isinstance(one, str) for one in value) else ""
        return f"{len(value)} objects" + (f":{zlib.crc32(texts.encode('utf-8', 'surrogatepass')):08x}" if texts else "")
    if hasattr(value, "dense"):
        return f"{contents(value.sparse)} {contents(value.dense)}"
    if hasattr(value, "indptr"):
        return " ".join(contents(part) for part in (value.data, value.indices, value.indptr))
    array = np.ascontiguousarray(value)
    text = repr(array.tolist()).encode() if array.dtype == object else array.reshape(-1).view(np.uint8)
    return f"{array.dtype}{list(array.shape)}:{zlib.crc32(text):08x}"


def is_checkpoint(path) -> bool:
    """Whether a file is a checkpoint, whole or damaged, and no model or file of another kind."""
    try:
        with open(path, "rb") as file:
            first = file.read(BEFORE_NAME + len(FIRST_MEMBER))
            if not first.startswith(b"PK") or first[BEFORE_NAME:] != FIRST_MEMBER:
                return False
            return "run" in model_file.header_in(file, repr(path))
    except OSError:
        return False
    except ModelFormatError:
        return True                     # damaged: the next one takes its place
