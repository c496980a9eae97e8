"""Disjoint intervals: which of an example's candidates are chosen, learned from their features; rows are (start, stop, features)."""

import numpy as np

from structperc import Option, hookimpl
from structperc.components import Argmax, KeyedReader, Outputs, RowFeatures
from structperc.errors import DataError, PluginError, shortened
from structperc.pictures import Display
from structperc.plugin_tools import key_note, key_text, key_values
from structperc.solvers.intervals import best_intervals, interval_marginals, k_best_intervals

also_called = ("intervals",)
options = {"keys": Option(None, types=(type(None), str, list, tuple),
                          help="names of the columns of both ends; none: start and stop, or the first two")}


class IntervalDisplay(Display):
    """Intervals by their ends."""

    def atom_names(self, x):
        return [f"{key_text(start)} to {key_text(stop)}" for start, stop in key_values(x)]


class Choices(Outputs):
    """Sets of rows whose intervals, half open, do not overlap. They are row numbers in any order, shown in the order of time."""

    def overlap(self, x, y):
        """Two rows of y whose intervals overlap, or None."""
        order = sorted(y, key=lambda a: x.keys[a, 0])
        return next(((a, b) for a, b in zip(order, order[1:], strict=False) if x.keys[b, 0] < x.keys[a, 1]), None)

    def check_structure(self, x, y):
        super().check_structure(x, y)
        wrong = self.overlap(x, y)
        if wrong:
            raise PluginError(f"the intervals {shortened(y)} of example {x.index} overlap: {wrong[0]} and {wrong[1]}; expected disjoint "
                              f"ones.")

    def decode(self, y, x):
        return y                            # in the order of time

    def enumerate(self, x):
        def continued(a, y):
            """All choices that are y among the first a rows."""
            if a == x.n_rows:
                yield y
                return
            yield from continued(a + 1, y)
            if self.overlap(x, (*y, a)) is None:
                yield from continued(a + 1, (*y, a))

        return continued(0, ())

    def display(self):
        return IntervalDisplay(self)


class BestChoice(Argmax):
    """The disjoint intervals of largest total score, by dynamic programming; ties as in `best_intervals`."""

    def argmax(self, scores, x):
        return self.solved(best_intervals, scores, x)[0]

    def k_best(self, scores, x, k):
        return self.solved(k_best_intervals, scores, x, k)

    def marginals(self, scores, x):
        return self.solved(interval_marginals, scores, x)

    def solved(self, solve, scores, x, *more):
        """The result of a solver for the intervals of x. An error names the example."""
        try:
            return solve(*x.keys.T, np.asarray(scores), *more)
        except DataError as error:
            raise DataError(f"example {x.index} cannot be predicted: {error}{key_note(x)}") from None


@hookimpl
def structperc_reader(context):
    return KeyedReader(2, context.options["keys"], ("start", "stop"))


@hookimpl
def structperc_outputs(context):
    return Choices()


@hookimpl
def structperc_features(context):
    return RowFeatures(context.n_features, context.fit_intercept)


@hookimpl
def structperc_argmax(context):
    return BestChoice()


def sample(random, n_examples):
    """Intervals of a few hours."""
    starts = [random.integers(0, 6, (n, 1)) for n in random.integers(1, 7, n_examples)]
    return [np.column_stack([start, start + random.integers(1, 4, start.shape), random.normal(size=(len(start), 3))]) for start in starts]
