"""Observers: plugins that watch training and may end it, `Engine("cusum", plugins=[History()])`.

Stable: names, parameters and defaults change only by the rules of versions.

An observer may have `state()`, which returns a dict of arrays, and `restore(state)`. It then continues if a training is resumed.
"""

from __future__ import annotations

import os
import sys
import time

import attrs
import numpy as np

from structperc import metrics
from structperc.basics.errors import DataError, MissingExtra, OptionError, shortened
from structperc.engine.cards import history_card
from structperc.engine.checkpoints.files import Checkpoint
from structperc.extras import require
from structperc.fitting.hookspecs import hookimpl
from structperc.fitting.trainers import EpochRecord
from structperc.metrics.engines import loss_name

__all__ = ["Checkpoint", "EarlyStopping", "HeldOutLoss", "History", "Progress", "ProgressLines", "progress"]

PARTS = 10                  # lines of a log
SILENCE = 30                # seconds of a stream without a line, at most


class History:
    """Records every epoch of the last fit. Pass it to an engine in `plugins`.

    Attributes
    ----------
    records : list of EpochRecord
        One for each epoch.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.callbacks import History
    >>> history = History()
    >>> _ = Engine("cusum", epochs=5, plugins=[history], preset="paper").fit([[0.0], [1.0]], [1, 2])
    >>> history.arrays["mistakes"].tolist()
    [1, 1, 0]
    """

    def __init__(self) -> None:
        self.records = []

    @hookimpl
    def structperc_epoch_end(self, engine, record) -> None:
        """Records an epoch. Training calls it.

        Parameters
        ----------
        engine : Engine
        record : EpochRecord
        """
        if record.epoch == 1:
            self.records = []
        self.records.append(record)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The records as arrays.
        Returns a dict of str to array of shape (n_epochs,). Epoch, epochs, examples, mistakes, updates, loss, and seconds.
        """
        names = [field.name for field in attrs.fields(EpochRecord)]
        return {name: np.array([getattr(record, name) for record in self.records]) for name in names}

    def _repr_html_(self):
        return history_card(self.records)

    def state(self):
        """The records, for a checkpoint. Returns a dict of str to array."""
        return self.arrays

    def restore(self, state) -> None:
        """Continues from the records of a checkpoint.

        Parameters
        ----------
        state : dict of str to array
            As `state` returned it.
        """
        names = [field.name for field in attrs.fields(EpochRecord)]
        self.records = [EpochRecord(*record) for record in zip(*(state[name].tolist() for name in names), strict=True)]


class Progress:
    """A progress bar on the terminal, one tick for each epoch, with the mistakes of the last one.
    See also `ProgressLines` (lines of text, for logs).

    Parameters
    ----------
    delay : float, default 1.0
        Seconds of training before the bar appears, so that short fits stay quiet.
    file : text file, optional
        Where to draw it. Default: standard error.

    Raises
    ------
    MissingExtra
        If tqdm is not installed.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.callbacks import Progress
    >>> Engine("cusum", plugins=[Progress(delay=60)], random_state=0).fit([[0.0], [1.0]], [1, 2]).predict([[2.0]]).tolist()
    [2]
    """

    def __init__(self, delay=1.0, file=None) -> None:
        self.tqdm = require("tqdm", "the progress bar", "cli").tqdm
        self.delay, self.file = delay, file
        self.bar = None

    @hookimpl
    def structperc_epoch_end(self, engine, record) -> None:
        """Moves the bar by an epoch. Training calls it.

        Parameters
        ----------
        engine : Engine
        record : EpochRecord
        """
        if self.bar is None or record.epoch == 1:
            self.close()
            self.bar = self.tqdm(total=record.epochs, unit="epoch", delay=self.delay, file=self.file, leave=False)
        self.bar.set_postfix(mistakes=f"{record.mistakes} of {record.examples}", loss=f"{record.loss / max(record.examples, 1):.4g}",
                             refresh=False)
        self.bar.update()

    @hookimpl
    def structperc_training_end(self) -> None:
        """Removes the bar, however training ended. Training calls it."""
        self.close()

    def note(self, text) -> None:
        """Write a line about what comes before the training, above the bar.

        Parameters
        ----------
        text : str
        """
        if self.delay == 0:
            self.tqdm.write(text, file=sys.stderr if self.file is None else self.file)

    def close(self) -> None:
        """Removes the bar."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None


class Counts:
    """What an epoch of a stream has brought so far."""
    # total: int or None. Examples of an epoch. None: not known, as no epoch is over.
    # visited: int. Examples of all epochs.

    def __init__(self) -> None:
        self.epoch, self.total, self.visited, self.start = 1, None, 0, time.monotonic()
        self.examples, self.mistakes, self.loss = 0, 0, 0.0

    def add(self, epoch, examples, mistakes, loss) -> None:
        """One more part, with its numbers of examples and mistakes and the sum of its losses. Another epoch begins from 0."""
        if epoch != self.epoch:
            self.total, self.epoch = self.examples or None, epoch
            self.examples, self.mistakes, self.loss = 0, 0, 0.0
        self.visited += examples
        self.examples, self.mistakes, self.loss = self.examples + examples, self.mistakes + mistakes, self.loss + loss

    @property
    def rates(self) -> str:
        """The share of mistakes and the mean loss, in words."""
        return f"{self.mistakes / max(self.examples, 1):.1%} mistaken, mean loss {self.loss / max(self.examples, 1):.4g}"

    def pace(self, epochs) -> str:
        """Examples a second, and how long the other epochs take at most, in words; nothing within the first second."""
        seconds = time.monotonic() - self.start
        if seconds < 1 or not self.visited:
            return ""
        rate = self.visited / seconds
        left = "" if self.total is None else f", at most {duration((epochs * self.total - self.visited) / rate)} left"
        return f", {rate:.0f} examples a second{left}"


class Looking:
    """A pass over a file without training: rows, rows a second, and how long the rest of the file takes."""
    # say: function of a text. Called if the number of rows has doubled, and after half a minute without a line.

    def __init__(self, say) -> None:
        self.say, self.rows, self.next, self.start = say, 0, 1, time.monotonic()
        self.file, self.due = None, self.start + SILENCE

    def watch(self, file) -> None:
        """The file as it is stored."""
        self.file = file

    def passed(self, n_rows) -> None:
        """So many rows more."""
        if self.rows >= self.next or time.monotonic() > self.due:           # and the pass goes on
            self.say(self.line)
            self.next, self.due = max(self.next, 2 * self.rows), time.monotonic() + SILENCE
        self.rows += n_rows

    @property
    def line(self) -> str:
        seconds = max(time.monotonic() - self.start, 1e-3)
        return f"looking through the file: {self.rows} rows, {self.rows / seconds:.0f} rows a second{self.left(seconds)}"

    def left(self, seconds) -> str:
        """How long the rest takes, by the share of bytes that are read; nothing where that is not known."""
        try:
            size = os.fstat(self.file.fileno()).st_size
            share = self.file.tell() / size
        except (AttributeError, OSError, ValueError, ZeroDivisionError):         # no file of this machine, or closed
            return ""
        return f", {share:.0%} of the file, about {duration(seconds / share - seconds)} left" if share else ""


def duration(seconds) -> str:
    """Seconds in words, such as 2 min 5 s."""
    minutes, seconds = divmod(int(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


class ProgressLines:
    """Progress for logs: a line of text after the first epoch and after each tenth of all epochs.

    For a stream it also writes a line if the number of visited examples in the epoch has doubled. It writes one after half a minute, too.
    The line has the examples a second. If their total is known, as from the second epoch on, it also has the longest time that is left.

    Parameters
    ----------
    delay : float, default 0.0
        Seconds of training before the first line.
    file : text file, optional
        Where to write. Default: standard error.
    epochs : int, optional
        Number of epochs, if you call the object yourself. Default: that of the engine.

    Examples
    --------
    >>> import io
    >>> from structperc import Engine
    >>> from structperc.callbacks import ProgressLines
    >>> lines = io.StringIO()
    >>> _ = Engine("cusum", epochs=5, plugins=[ProgressLines(file=lines)], preset="paper").fit([[0.0], [1.0]], [1, 2])
    >>> lines.getvalue().startswith("epoch 1")
    True
    """

    def __init__(self, delay=0.0, file=None, epochs=None) -> None:
        self.delay, self.file, self.epochs = delay, file, epochs
        self.begin, self.said, self.counts, self.next = time.monotonic() + delay, -1, Counts(), 1
        self.due = self.begin + SILENCE

    @hookimpl
    def structperc_epoch_end(self, engine, record) -> None:
        """Writes a line for the epoch, if one is due. Training calls it.

        Parameters
        ----------
        engine : Engine
        record : EpochRecord
        """
        if record.epoch == 1:
            self.said = -1
        self.end_epoch(record.epoch, record.epochs, f"{record.mistakes} of {record.examples} examples mistaken, mean loss "
                                                    f"{record.loss / max(record.examples, 1):.4g}")

    def __call__(self, epoch, examples, mistakes, loss):
        """A part of a stream has been learned from; parameters as of `Counts.add`."""
        if epoch > self.counts.epoch:
            self.close()
            self.next = 1
        elif self.counts.examples >= self.next or time.monotonic() > self.due:          # and the epoch goes on
            self.write(epoch, self.epochs, self.seen)
            self.next = max(self.next, 2 * self.counts.examples) if self.counts.examples >= self.next else self.next
            self.due = time.monotonic() + SILENCE
        self.counts.add(epoch, examples, mistakes, loss)

    @property
    def seen(self) -> str:
        of = "" if self.counts.total is None else f" of {self.counts.total}"
        return f"{self.counts.examples}{of} examples visited, {self.counts.rates}{self.counts.pace(self.epochs)}"

    def expect(self, examples) -> None:
        """Take the number of examples of an epoch, for the time that is left.

        Parameters
        ----------
        examples : int
        """
        self.counts.total = examples or None

    def note(self, text) -> None:
        """Write a line about what comes before or between epochs.

        Parameters
        ----------
        text : str
        """
        if self.delay == 0:
            print(text, file=sys.stderr if self.file is None else self.file, flush=True)

    def end_epoch(self, epoch, epochs, what) -> None:
        """Write a line after an epoch, once in each tenth of all epochs.

        Parameters
        ----------
        epoch, epochs : int
            Number of the epoch from 1, and of all epochs.
        what : str
            Text of the line.
        """
        part = PARTS * epoch // epochs
        if part > self.said and self.write(epoch, epochs, what):
            self.said = part

    def write(self, epoch, epochs, what) -> bool:
        """Write a line, unless it is too early. Returns whether it wrote.

        Parameters
        ----------
        epoch, epochs : int
            Number of the epoch from 1, and of all epochs.
        what : str
            Text of the line.
        """
        if time.monotonic() < self.begin:
            return False
        print(f"epoch {epoch} of {epochs}: {what}", file=sys.stderr if self.file is None else self.file, flush=True)
        return True

    def close(self) -> None:
        """End an epoch of a stream."""
        if self.counts.examples:
            self.end_epoch(self.counts.epoch, self.epochs, self.seen)


def progress():
    """A progress callback that suits the place: a bar in a terminal or a notebook with tqdm, else lines.
    Returns `Progress` or `ProgressLines`.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.callbacks import progress
    >>> engine = Engine("cusum", plugins=[progress()])
    """
    drawn = sys.stderr.isatty() or "ipykernel" in sys.modules
    try:
        return Progress(delay=0.0) if drawn else ProgressLines()
    except MissingExtra:
        return ProgressLines()


class HeldOutLoss:
    """Records the loss on held-out data after each epoch of the last fit. See also `EarlyStopping` (also ends training).

    Parameters
    ----------
    X : array-like
        Held-out examples, as in `fit`.
    y : sequence
        Their right outputs.
    lengths : array-like, optional
        As in `fit`.
    groups : array-like, optional
        As in `fit`.

    Attributes
    ----------
    losses : list of float
        The mean held-out loss after each epoch of the last fit.
    best_epoch : int
        The first epoch with the lowest loss; 0 before the first.

    Raises
    ------
    OptionError
        Without y, and with loss="costs".

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.callbacks import HeldOutLoss
    >>> held_out = HeldOutLoss([[2.0]], [2])
    >>> _ = Engine("cusum", epochs=5, plugins=[held_out], preset="paper").fit([[0.0], [1.0]], [1, 2])
    >>> held_out.losses[-1], held_out.best_epoch
    (0.0, 1)
    """

    def __init__(self, X, y=None, *, lengths=None, groups=None) -> None:
        if y is None:
            pair, name = isinstance(X, tuple) and len(X) == 2, type(self).__name__
            raise OptionError(f"{name} got X without y; pass both, {name}({'*data' if pair else 'X, y'}).")
        self.X, self.y, self.lengths, self.groups = X, y, lengths, groups
        self.losses = []

    def state(self):
        """The losses, for a checkpoint. Returns a dict of str to array."""
        return {"losses": np.array(self.losses)}

    def restore(self, state) -> None:
        """Continues from the losses of a checkpoint.

        Parameters
        ----------
        state : dict of str to array
            As `state` returned it.
        """
        self.losses = state["losses"].tolist()

    @property
    def best_epoch(self) -> int:
        return int(np.argmin(self.losses)) + 1 if self.losses else 0

    @hookimpl
    def structperc_epoch_end(self, engine, record) -> None:
        """Measures the held-out data after an epoch. Training calls it.

        Parameters
        ----------
        engine : Engine
        record : EpochRecord
        """
        if record.epoch == 1:
            self.losses = []
        try:
            held_out = metrics.losses(engine, self.X, self.y, lengths=self.lengths, groups=self.groups)
        except DataError as error:
            raise DataError(f"the held-out data of {type(self).__name__} do not fit: {error}") from None
        if held_out is None:
            raise OptionError(f"{type(self).__name__} cannot measure {loss_name(engine)} on held-out examples: only training examples "
                              f"have its costs. Use another loss.")
        self.losses.append(float(held_out.mean()))


class EarlyStopping(HeldOutLoss):
    """Early stopping: ends training if the loss on held-out data has not fallen for some epochs, and restores the best weights.

    The model has the weights of the best epoch, unless Ctrl-C ended training. Trainers that solve one problem over all examples keep
    their last weights. `mistakes_` counts all epochs. Cost: a copy of the weights for each lower loss.
    See also `HeldOutLoss` (only records the loss).

    Parameters
    ----------
    X : array-like
        Held-out examples, as in `fit`.
    y : sequence
        Their right outputs.
    patience : int, default 3
        Number of epochs in a row without a lower mean loss. Larger values train longer; try 3 to 10.
    lengths : array-like, optional
        As in `fit`.
    groups : array-like, optional
        As in `fit`.

    Attributes
    ----------
    losses : list of float
        The mean held-out loss after each epoch of the last fit.
    best_epoch : int
        The first epoch with the lowest loss, whose weights the model has; 0 before the first.

    Raises
    ------
    OptionError
        Without y, if the patience is not a whole number from 1, and with loss="costs".
    DataError
        If the held-out data do not fit the training data.

    References
    ----------
    L. Prechelt: Early stopping - but when? Neural Networks: Tricks of the Trade, pages 55-69, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine
    >>> from structperc.callbacks import EarlyStopping
    >>> X = np.random.default_rng(0).normal(size=(90, 2))
    >>> y = 1 + (X[:, 0] + np.random.default_rng(1).normal(size=90) > 0)
    >>> stopping = EarlyStopping(X[60:], y[60:], patience=2)
    >>> engine = Engine("cusum", epochs=100, random_state=0, plugins=[stopping]).fit(X[:60], y[:60])
    >>> len(engine.mistakes_) - stopping.best_epoch, bool((engine.predict(X[60:]) != y[60:]).mean() == min(stopping.losses))
    (2, True)
    """

    def __init__(self, X, y=None, patience=3, *, lengths=None, groups=None) -> None:
        super().__init__(X, y, lengths=lengths, groups=groups)
        if isinstance(patience, bool) or not isinstance(patience, (int, np.integer)) or patience < 1:
            raise OptionError(f"patience={shortened(patience)}; expected a whole number of epochs, at least 1.")
        self.patience = patience

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        super().structperc_epoch_end(engine, record)
        if self.best_epoch == record.epoch:
            engine.keep_weights()
        if record.epoch - self.best_epoch >= self.patience:
            engine.stop()
