"""The most valuable things that weigh at most `capacity`. Column 0 of X is the weight, a key; the others are features."""

from itertools import combinations

import numpy as np

from structperc import Option, hookimpl
from structperc.components import Argmax, KeyedReader, Outputs, RowFeatures
from structperc.errors import PluginError

options = {"capacity": Option(9, help="what a pack may weigh, a whole number")}


class Packs(Outputs):
    """Sets of rows."""

    def __init__(self, capacity):
        self.capacity = capacity

    def check_structure(self, x, y):
        super().check_structure(x, y)
        if x.keys[list(y), 0].sum() > self.capacity:
            raise PluginError(f"the pack {y} of example {x.index} weighs more than {self.capacity}.")

    def enumerate(self, x):
        packs = (y for n in range(x.n_rows + 1) for y in combinations(range(x.n_rows), n))
        return (y for y in packs if x.keys[list(y), 0].sum() <= self.capacity)


class Knapsack(Argmax):
    """A dynamic program over whole weights; of equal values the pack that is found first."""

    def __init__(self, capacity):
        self.capacity = capacity

    def argmax(self, scores, x):
        best = {0: (0.0, ())}
        for row, score in enumerate(scores.tolist()):
            for weight, (value, pack) in list(best.items()):
                heavier = weight + int(x.keys[row, 0])
                if heavier <= self.capacity and value + score > best.get(heavier, (-np.inf,))[0]:
                    best[heavier] = value + score, (*pack, row)
        return max(best.values(), key=lambda entry: entry[0])[1]


@hookimpl
def structperc_reader(context):
    return KeyedReader(1)


@hookimpl
def structperc_outputs(context):
    return Packs(context.options["capacity"])


@hookimpl
def structperc_features(context):
    return RowFeatures(context.n_features)


@hookimpl
def structperc_argmax(context):
    return Knapsack(context.options["capacity"])


def sample(random, n_examples):
    """Up to four things with two features."""
    return [np.column_stack([random.integers(1, 7, n), random.normal(size=(n, 2))]) for n in random.integers(1, 5, n_examples)]
