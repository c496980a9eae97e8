"""What conformal estimators share: which examples they hold out, how a stream forgets them, and the distance that covers enough of them."""

from __future__ import annotations

import numbers
import re
from contextlib import contextmanager
from fractions import Fraction

import numpy as np

from structperc.errors import DataError, OptionError, shortened
from structperc.fitting.option import Options, option
from structperc.fitting.options import generator

VOVK = """@book{vovk2005algorithmic,
  author = {Vladimir Vovk and Alexander Gammerman and Glenn Shafer},
  title = {Algorithmic Learning in a Random World},
  publisher = {Springer},
  year = {2005}
}"""
FORGOTTEN = 1e-9        # an example of less weight is dropped


class HeldOutOptions(Options):
    """How often sets shall be right, and the examples that they are measured on."""

    coverage: float = option(0.9, "the least share of sets that contain the right output; between 0 and 1")
    calibration_size: float | int = option(
        0.3, "the share of examples, or their number, that `fit` holds out, drawn by `random_state`")
    decay: float = option(0.0, "`partial_calibrate` multiplies the weight of all held-out examples by 1 - decay with each new one",
                          about="So a stream forgets.")
    random_state: int | np.random.Generator | np.random.RandomState | None = option(None, "seed of the examples held out")

    def _check(self):
        size, number = self.calibration_size, isinstance(self.calibration_size, numbers.Integral)
        for name, value, good, expected in (
                ("coverage", self.coverage, is_real(self.coverage) and 0 < self.coverage < 1, "between 0 and 1"),
                ("decay", self.decay, is_real(self.decay) and 0 <= self.decay < 1, "from 0 to below 1")):
            if not good:
                raise OptionError(f"{name}={shortened(value)}; expected a number {expected}.")
        if not is_real(size) or not (size >= 1 if number else 0 < size < 1):
            raise OptionError(f"calibration_size={shortened(size)}; expected a share between 0 and 1, or a number of examples.")

    def _held_out(self, n, units=None):
        """The examples to train on, those to hold out, and what draws further seeds; examples of one unit stay together."""
        names, unit = np.unique(np.arange(n) if units is None else units, return_inverse=True)
        size = self.calibration_size
        n_held = size if isinstance(size, numbers.Integral) else int(np.ceil(size * len(names)))
        if n_held >= len(names):
            what = "n_samples" if units is None else "n_sources"
            raise DataError(f"calibration_size={shortened(size)} of {what} = {len(names)} leaves nothing to learn from; give more, or hold "
                            f"out fewer.")
        random = generator(self.random_state)
        held = np.isin(unit, random.permutation(len(names))[:n_held])
        return np.flatnonzero(~held), np.flatnonzero(held), random

    def _faded(self, n):
        """What is left of the weight of examples measured before n new ones, and the weights of these."""
        return (1 - self.decay) ** n, (1 - self.decay) ** np.arange(n, 0, -1.0)


@contextmanager
def numbers_of_share(share, n, by_example):
    """Adds to errors how rows of a share of n examples are numbered. `by_example`: where one number is one example, "X", "y" or both."""
    try:
        yield
    except DataError as error:
        if len(share) < n and re.search(r"\b(?:[Xy]\[|row |example |sentence )\d", str(error)):
            named = re.search(rf"\b[{by_example}]\[(\d+)", str(error))
            place = int(named[1]) if named else n
            further = f" Number {place} of it is {share[place]} of all." if place < len(share) else ""
            error.args = (f"{error} (Rows and examples are counted within a share of all here.{further})",)
        raise


def is_real(value) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def weighted_quantile(distances, weights, coverage) -> float:
    """The smallest distance d for which examples within d weigh at least coverage (1 + all weights). It is inf if there is none."""
    if len(distances) == 0:
        return float("inf")
    order = np.argsort(distances, kind="stable")
    reached = np.cumsum(weights[order])
    needed = float(Fraction(repr(float(coverage))) * (1 + Fraction(float(reached[-1]))))
    rounded = len(order) * 2.0**-52                 # at most, of the sums: equal shares of n examples, such as 1/10, add up to n
    place = int(np.searchsorted(reached, needed * (1 - rounded), side="left"))
    return float(distances[order[place]]) if place < len(order) else float("inf")
