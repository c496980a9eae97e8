"""Observers: plugins that watch training and may end it, `Engine("cusum", plugins=[History()])`.

An observer with `state()`, a dict of arrays, and `restore(state)` goes on with what it had seen where a training is resumed.
"""

from __future__ import annotations

import sys
import time

import attrs
import numpy as np

from structperc import metrics
from structperc.core.errors import DataError, MissingExtra, OptionError
from structperc.engine.cards import history_card
from structperc.engine.checkpoints import Checkpoint
from structperc.engine.hookspecs import hookimpl
from structperc.engine.trainers import EpochRecord
from structperc.extras import require

__all__ = ["Checkpoint", "EarlyStopping", "History", "Progress", "ProgressLines", "progress"]

PARTS = 10                  # lines of a log


class History:
    """Keeps the record of every epoch of the last fit.

    Attributes
    ----------
    records : list of EpochRecord
    """

    def __init__(self):
        self.records = []

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == 1:
            self.records = []
        self.records.append(record)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Arrays over epochs by name: epoch, epochs, examples, mistakes, updates, loss, seconds."""
        names = [field.name for field in attrs.fields(EpochRecord)]
        return {name: np.array([getattr(record, name) for record in self.records]) for name in names}

    def _repr_html_(self):
        return history_card(self.records)

    def state(self):
        return self.arrays

    def restore(self, state):
        names = [field.name for field in attrs.fields(EpochRecord)]
        self.records = [EpochRecord(*record) for record in zip(*(state[name].tolist() for name in names), strict=True)]


class Progress:
    """A bar on the terminal, one tick per epoch, with the mistakes of the last one.

    Parameters
    ----------
    delay : float, default 1.0
        Seconds of training before it appears, so that short fits stay quiet.
    file : text file, optional
        Where it is drawn; standard error.

    Raises
    ------
    MissingExtra
        When tqdm is not installed.
    """

    def __init__(self, delay=1.0, file=None):
        self.tqdm = require("tqdm", "the progress bar", "cli").tqdm
        self.delay, self.file = delay, file
        self.bar = None

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if self.bar is None or record.epoch == 1:
            self.close()
            self.bar = self.tqdm(total=record.epochs, unit="epoch", delay=self.delay, file=self.file, leave=False)
        self.bar.set_postfix(mistakes=f"{record.mistakes} of {record.examples}", refresh=False)
        self.bar.update()
        if record.epoch == record.epochs or record.updates == 0:
            self.close()

    def close(self):
        """Removes the bar; for a fit that was ended from outside."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None


class ProgressLines:
    """A line of text after the first epoch and after every tenth of all: progress for logs.

    Parameters
    ----------
    delay : float, default 0.0
        Seconds of training before the first line.
    file : text file, optional
        Where lines are written; standard error.
    epochs : int, optional
        Of the whole training, where it is told by calls; else what the engine says.
    """

    def __init__(self, delay=0.0, file=None, epochs=None):
        self.delay, self.file, self.epochs = delay, file, epochs
        self.begin, self.said, self.n_examples, self.epoch = time.monotonic() + delay, -1, 0, 1

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == 1:
            self.said = -1
        self.tell(record.epoch, record.epochs, f"{record.mistakes} of {record.examples} examples mistaken")

    def __call__(self, epoch, n_examples):
        """Of a stream: so many more examples were visited in an epoch."""
        if epoch > self.epoch:
            self.tell(self.epoch, self.epochs, f"{self.n_examples} examples visited")
        self.epoch, self.n_examples = epoch, self.n_examples + n_examples

    def tell(self, epoch, epochs, what) -> None:
        """Says what an epoch brought, once in a tenth."""
        part = PARTS * epoch // epochs
        if part > self.said and time.monotonic() >= self.begin:
            print(f"epoch {epoch} of {epochs}: {what}", file=sys.stderr if self.file is None else self.file, flush=True)
            self.said = part

    def close(self) -> None:
        """Ends a stream's last epoch."""
        if self.n_examples:
            self.tell(self.epoch, self.epochs, f"{self.n_examples} examples visited")


def progress():
    """What shows a training where it runs: a bar in a terminal or a notebook that has tqdm, else lines."""
    drawn = sys.stderr.isatty() or "ipykernel" in sys.modules
    try:
        return Progress(delay=0.0) if drawn else ProgressLines()
    except MissingExtra:
        return ProgressLines()


class EarlyStopping:
    """Ends training once the loss on held-out data has not fallen for some epochs.

    The engine keeps the weights of the last epoch; with `average=True` these hardly differ from those of the best one.

    Parameters
    ----------
    X, y
        Held-out examples, as `fit` takes them.
    patience : int, default 3
        How many epochs in a row may pass without a lower mean loss.
    lengths, groups : array-like, optional
        Which rows of X are one example, as `fit` takes them.

    Attributes
    ----------
    losses : list of float
        The mean held-out loss after each epoch of the last fit.
    best_epoch : int
        The first epoch with the lowest of them; 0 before the first.
    """

    def __init__(self, X, y=None, patience=3, *, lengths=None, groups=None):
        if y is None:
            pair = isinstance(X, tuple) and len(X) == 2
            raise OptionError(f"EarlyStopping got X without y; pass both, EarlyStopping({'*data' if pair else 'X, y'}).")
        if isinstance(patience, bool) or not isinstance(patience, (int, np.integer)) or patience < 1:
            raise OptionError(f"patience={patience!r}; expected a whole number of epochs, at least 1.")
        self.X, self.y, self.patience, self.lengths, self.groups = X, y, patience, lengths, groups
        self.losses = []

    def state(self):
        return {"losses": np.array(self.losses)}

    def restore(self, state):
        self.losses = state["losses"].tolist()

    @property
    def best_epoch(self) -> int:
        return int(np.argmin(self.losses)) + 1 if self.losses else 0

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == 1:
            self.losses = []
        try:
            held_out = metrics.losses(engine, self.X, self.y, lengths=self.lengths, groups=self.groups)
        except DataError as error:
            raise DataError(f"the held-out data of EarlyStopping do not fit: {error}") from None
        if held_out is None:
            raise OptionError("EarlyStopping cannot measure loss='costs' on held-out examples; use a named loss or a cost matrix.")
        self.losses.append(float(held_out.mean()))
        if record.epoch - self.best_epoch >= self.patience:
            engine.stop()
