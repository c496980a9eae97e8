"""What `structperc fit` shows of a long training: a bar on a terminal, a line for every tenth in a log."""

from __future__ import annotations

import sys
import time

from structperc import hookimpl
from structperc.callbacks import Progress
from structperc.cli.terminal import say
from structperc.errors import MissingExtra
from structperc.extras import require

DELAY = 1.0                 # seconds of training before anything is shown that nobody asked for
PARTS = 10                  # lines of a log


def shown(arguments, epochs):
    """What is told of the training: an observer, or with --stream a function of the epoch and the number of examples; None: nothing."""
    terminal = sys.stderr.isatty()
    if arguments.quiet or not (arguments.progress or terminal):
        return None
    delay = 0.0 if arguments.progress else DELAY
    try:
        if terminal:
            return (ExampleBar if arguments.stream else Progress)(delay=delay)
    except MissingExtra:
        say("without tqdm, which structperc[cli] installs, progress is shown in lines", file=sys.stderr)
    return Lines(epochs, delay)


class Lines:
    """A line after the first epoch and after every tenth of all.

    Parameters
    ----------
    epochs : int
        Of the whole training.
    delay : float
        Seconds before the first line.
    """

    def __init__(self, epochs, delay=0.0):
        self.epochs, self.begin, self.said, self.n_examples, self.epoch = epochs, time.monotonic() + delay, -1, 0, 1

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        self.tell(record.epoch, f"{record.mistakes} of {record.examples} examples mistaken")

    def __call__(self, epoch, n_examples):
        if epoch > self.epoch:
            self.tell(self.epoch, f"{self.n_examples} examples visited")
        self.epoch, self.n_examples = epoch, self.n_examples + n_examples

    def tell(self, epoch, what) -> None:
        """Says what an epoch brought, once in a tenth."""
        part = PARTS * epoch // self.epochs
        if part > self.said and time.monotonic() >= self.begin:
            say(f"epoch {epoch} of {self.epochs}: {what}", file=sys.stderr)
            self.said = part

    def close(self) -> None:
        """Ends a stream's last epoch."""
        if self.n_examples:
            self.tell(self.epoch, f"{self.n_examples} examples visited")


class ExampleBar:
    """A bar on the terminal that counts the examples of each epoch; parameters as of `structperc.callbacks.Progress`."""

    def __init__(self, delay=1.0, file=None):
        self.tqdm, self.delay, self.file, self.bar = require("tqdm", "the progress bar", "cli").tqdm, delay, file, None

    def __call__(self, epoch, n_examples):
        if self.bar is None:
            self.bar = self.tqdm(unit=" examples", unit_scale=True, delay=self.delay, file=self.file, leave=False)
        self.bar.set_postfix(epoch=epoch, refresh=False)
        self.bar.update(n_examples)

    def close(self):
        """Removes the bar."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None
