"""Choose disjoint intervals of largest weight. An example is a block of rows, each start, end (half open) and more features."""

from itertools import combinations, pairwise

import numpy as np

from structperc import hookimpl
from structperc.components import Argmax, Outputs, RowFeatures
from structperc.errors import PluginError

recommended = {"scale": False}      # start and end are columns of the rows


class DisjointIntervals(Outputs):
    """Y(x): the sets of rows, given and returned as row numbers, whose intervals do not overlap."""

    def disjoint(self, x, y):
        return all(later[0] >= earlier[1] for earlier, later in pairwise(sorted(map(tuple, x.rows[list(y), :2]))))

    def check_structure(self, x, y):
        super().check_structure(x, y)
        if not self.disjoint(x, y):
            raise PluginError(f"the intervals {y} of example {x.index} overlap; expected disjoint ones.")

    def enumerate(self, x):
        return (y for n in range(x.n_rows + 1) for y in combinations(range(x.n_rows), n) if self.disjoint(x, y))


class WeightedScheduling(Argmax):
    """best[k] is the best choice among the k intervals that end first. A tie leaves out the one that ends last."""

    def argmax(self, scores, x):
        start, end = x.rows[:, :2].T
        order = np.lexsort((start, end))
        fits_after = np.minimum(np.searchsorted(end[order], start[order], side="right"), np.arange(len(order)))
        best = [(0.0, ())]
        for k, a in enumerate(order):
            weight, chosen = best[fits_after[k]]
            best.append(max(best[k], (weight + scores[a], (*chosen, a)), key=lambda choice: choice[0]))
        return best[-1][1]


@hookimpl
def structperc_outputs(context):
    return DisjointIntervals()


@hookimpl
def structperc_features(context):
    return RowFeatures(context.n_features)


@hookimpl
def structperc_argmax(context):
    return WeightedScheduling()


def sample(random, n_examples):
    blocks = [random.normal(size=(n, 4)) for n in random.integers(1, 8, n_examples)]
    return [np.column_stack([b[:, 0], b[:, 0] + 0.2 + abs(b[:, 1]), b[:, 2:]]) for b in blocks]
