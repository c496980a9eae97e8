"""A bit for each row, where equal neighbours attract: a beam search, which is not exact."""

from itertools import pairwise, product

import numpy as np

from structperc import Option, hookimpl
from structperc.components import Argmax, Loss, Outputs, RowFeatures, TablePart
from structperc.errors import PluginError

options = {"width": Option(2, help="how many beginnings the search keeps")}


class Bits(Outputs):
    """A tuple of 0 and 1. The last atom counts the equal neighbours."""

    def check_structure(self, x, y):
        if len(y) != x.n_rows or not set(y) <= {0, 1}:
            raise PluginError(f"{y} for example {x.index}; expected {x.n_rows} bits.")

    def count(self, x, y):
        return np.array([*y, sum(a == b for a, b in pairwise(y))], dtype=float)

    def enumerate(self, x):
        return product((0, 1), repeat=x.n_rows)


class Beam(Argmax):
    """The best beginnings, a row longer at each step; of equal ones the earlier."""

    exact = False

    def __init__(self, width):
        self.width = width

    def argmax(self, scores, x):
        x.bound = np.inf                # by how much another structure may be better: unknown
        beginnings = [(0.0, ())]
        for score in scores[:-1].tolist():
            longer = [(total + bit * score + scores[-1] * (y != () and y[-1] == bit), (*y, bit))
                      for total, y in beginnings for bit in (0, 1)]
            beginnings = sorted(longer, key=lambda entry: -entry[0])[:self.width]
        return beginnings[0][1]


class WrongBits(Loss):
    """How many bits are wrong: a sum over atoms."""

    def value(self, gold, y, x=None):
        return float(np.sum(np.not_equal(gold, y)))

    def augment(self, gold, scores, scale, x=None):
        return scores + scale * np.array([*(1 - 2 * np.array(gold, dtype=int)), 0])


@hookimpl
def structperc_outputs(context):
    return Bits()


@hookimpl
def structperc_features(context):
    return RowFeatures(context.n_features) + TablePart(1, "attraction_")


@hookimpl
def structperc_argmax(context):
    return Beam(context.options["width"])


@hookimpl
def structperc_loss(context):
    return WrongBits() if context.loss == "hamming" else None


def sample(random, n_examples):
    """Up to five rows with two features."""
    return [random.normal(size=(n, 2)) for n in random.integers(1, 6, n_examples)]
