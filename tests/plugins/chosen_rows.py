"""Two problems over rows of which outputs choose some, by enumeration: disjoint intervals, and bags with a positive row."""

import numpy as np

from structperc import hookimpl
from structperc.components import (
    Argmax,
    Loss,
    Outputs,
    RowFeatures,
)
from structperc.core.structures import Structures


class Disjoint:
    """Choose intervals that do not overlap. `argmax` enumerates all choices. Rows are start, end and further features."""

    name = "disjoint"

    class Outputs(Outputs):
        def enumerate(self, x):
            found = [()]
            for a in range(x.n_rows):
                found += [(*y, a) for y in found if all(self.apart(x.rows[a], x.rows[b]) for b in y)]
            return found

        @staticmethod
        def apart(one, other):
            return one[0] >= other[1] or other[0] >= one[1]

    class Argmax(Argmax):
        def argmax(self, scores, x):
            return max(Disjoint.Outputs().enumerate(x), key=lambda y: sum(scores[list(y)]))

    @hookimpl
    def structperc_outputs(self, context):
        return self.Outputs()

    @hookimpl
    def structperc_features(self, context):
        return RowFeatures(context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return self.Argmax()


class Bags:
    """Multiple instances: a bag of rows is positive if one of its rows is, and y does not name it. A structure is that row, or none."""

    name = "bags"
    losses = ("bags",)

    class Outputs(Outputs):
        def __init__(self):
            self.partial_gold = True

        def encode(self, y, rows):
            return Structures.ragged([[int(bag)] for bag in y])

        def enumerate(self, x):
            return [(), *((a,) for a in range(x.n_rows))]

        def agrees(self, gold, y, x):
            return bool(gold[0]) == bool(y)

        def complete(self, gold, scores, x):
            return (int(np.argmax(scores)),) if gold[0] else ()

    class Argmax(Argmax):
        def argmax(self, scores, x):
            return (int(np.argmax(scores)),) if scores.max() > 0 else ()

    class Loss(Loss):
        def value(self, gold, y, x=None):
            return float(bool(gold[0]) != bool(y))

        def augment(self, gold, scores, scale, x=None):
            return scores + (-scale if gold[0] else scale)

    @hookimpl
    def structperc_outputs(self, context):
        return self.Outputs()

    @hookimpl
    def structperc_features(self, context):
        return RowFeatures(context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return self.Argmax()

    @hookimpl
    def structperc_loss(self, context):
        return self.Loss()


def bags(seed=0, n=8, d=2, size=3, shift=1.0):
    """Bags of 1 to `size` rows. In a positive bag, one row is shifted."""
    random = np.random.default_rng(seed)
    X, y = [], np.arange(n) % 2
    for bag in y:
        x = random.normal(size=(random.integers(1, size + 1), d))
        x[0, 0] += 2 * shift * bag
        X.append(np.column_stack([x, np.ones(len(x))]))
    return X, y


def disjoint(seed=0, n=12):
    random = np.random.default_rng(seed)
    X = []
    for size in random.integers(1, 6, n):
        start = random.uniform(0, 3, size)
        X.append(np.column_stack([start, start + random.uniform(0.2, 2, size), random.normal(size=(size, 2))]))
    y = []
    for x in X:
        listed = [()]
        for a in range(len(x)):
            listed += [(*y_, a) for y_ in listed if all(Disjoint.Outputs.apart(x[a], x[b]) for b in y_)]
        scores = x[:, 2] + random.normal(size=len(x))
        y.append(max(listed, key=lambda chosen: scores[list(chosen)].sum()))
    return X, y
