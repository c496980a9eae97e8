"""Match every left item with a right one of its own; a row of X is a pair: left number, right number, weight of the left item, features."""

from itertools import permutations

import numpy as np
from scipy.optimize import linear_sum_assignment

from structperc import hookimpl
from structperc.components import Argmax, Loss, Outputs, RowFeatures
from structperc.errors import PluginError


class Partners(Outputs):
    """y[i] is the partner of left item i, so (0, 1) is not (1, 0); `count` says which pairs these are."""

    def check_structure(self, x, y):
        if len(y) != x.rows[-1, 0] + 1 or len(set(y) & set(x.rows[:, 1])) < len(y):
            raise PluginError(f"{y} is no matching of example {x.index}: expected a right item of its own for every left one.")

    def count(self, x, y):
        return x.rows[:, 1] == np.repeat(y, len(x.rows) // len(y))

    def enumerate(self, x):
        return permutations(range(int(x.rows[-1, 1]) + 1), int(x.rows[-1, 0]) + 1)


class Assignment(Argmax):
    def argmax(self, scores, x):
        return linear_sum_assignment(scores.reshape(int(x.rows[-1, 0]) + 1, -1), maximize=True)[1]


class WeightedHamming(Loss):
    """The weights of the left items with a wrong partner; in search, what the right pairs save of it."""

    def value(self, gold, y, x):
        return x.rows[:, 2] @ (self.outputs.count(x, gold) > self.outputs.count(x, y))

    def augment(self, gold, scores, scale, x):
        return scores - scale * x.rows[:, 2] * self.outputs.count(x, gold)


structperc_outputs = hookimpl(lambda context: Partners())
structperc_features = hookimpl(lambda context: RowFeatures(context.n_features))
structperc_argmax = hookimpl(lambda context: Assignment())
structperc_loss = hookimpl(lambda context: WeightedHamming() if context.loss == "hamming" else None)


def sample(random, n_examples):
    pairs = [np.indices((n, 3)).reshape(2, -1) for n in random.integers(1, 4, n_examples)]
    return [np.column_stack([left, right, 1 + left, random.normal(size=(len(left), 2))]) for left, right in pairs]
