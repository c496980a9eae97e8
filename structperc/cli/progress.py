"""What `structperc fit` shows of a long training: a bar on a terminal, a line for every tenth in a log."""

from __future__ import annotations

import sys

from structperc.callbacks import Counts, Progress, ProgressLines
from structperc.cli.terminal import say
from structperc.errors import MissingExtra
from structperc.extras import require

DELAY = 1.0                 # seconds of training before anything is shown that nobody asked for


def part_by_part(arguments) -> bool:
    """Whether this process trains on parts of a stream. With --dask the workers do, and this process trains an engine."""
    return arguments.stream and arguments.dask is None


def observer(arguments, n_epochs=None):
    """What shows the training: an observer, or of a stream a function of the epoch and a part's counts; None: nothing does."""
    terminal = sys.stderr.isatty()
    if arguments.quiet or not (arguments.progress or terminal):
        return None
    delay = 0.0 if arguments.progress else DELAY
    try:
        if terminal:
            return ExampleBar(delay, n_epochs=n_epochs) if part_by_part(arguments) else Progress(delay=delay)
    except MissingExtra:
        say("without tqdm, which structperc[cli] installs, progress is shown in lines", file=sys.stderr)
    return ProgressLines(delay, epochs=n_epochs)


class ExampleBar:
    """A bar on the terminal that counts the examples of each epoch; parameters as of `structperc.callbacks.Progress`."""

    def __init__(self, delay=1.0, file=None, n_epochs=None):
        self.n_epochs = n_epochs
        self.tqdm, self.delay, self.file, self.bar = require("tqdm", "the progress bar", "cli").tqdm, delay, file, None
        self.counts = Counts()

    def __call__(self, epoch, n_examples, mistakes, loss):
        """A part has been learned from; parameters as of `structperc.callbacks.Counts.add`."""
        if self.bar is None:
            self.bar = self.tqdm(unit=" examples", unit_scale=True, delay=self.delay, file=self.file, leave=False)
        self.counts.add(epoch, n_examples, mistakes, loss)
        left = "" if self.n_epochs is None else self.counts.pace(self.n_epochs)
        self.bar.set_postfix_str(f"epoch {epoch}, {self.counts.rates}{left}", refresh=False)
        self.bar.update(n_examples)

    def expect(self, n_examples):
        """So many examples are in each epoch."""
        self.counts.total = n_examples or None

    def note(self, text):
        """A line above the bar."""
        say(text, file=sys.stderr if self.file is None else self.file)

    def close(self):
        """Removes the bar."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None
