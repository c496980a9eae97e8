"""Paths through acyclic graphs: which arcs lead from start to end, learned from features of arcs; rows are (tail, head, features)."""

import numpy as np
from structperc.solvers.paths import best_path, grid_graph, k_best_paths, path_marginals

from structperc import Option, hookimpl
from structperc.components import Argmax, KeyedReader, Outputs, RowFeatures
from structperc.errors import DataError, PluginError, shortened

options = {
    "ends": Option(False, help="the third and fourth column of a row name the start and end of its example; else its lowest and highest "
                               "node are these"),
}


class Paths(Outputs):
    """Sets of arcs that lead from the start to the end of an example; given as row numbers in any order, shown in that of the path.

    Parameters
    ----------
    ends : bool
        Whether the keys of a row are (tail, head, start, end) and not (tail, head) alone.
    """

    def __init__(self, ends):
        self.ends = ends

    def graph(self, x):
        """Tails, heads, start and end by numbers from 0."""
        if x.n_rows == 0:
            raise PluginError(f"example {x.index} has no arcs; expected at least one.")
        keys = x.keys
        if self.ends and (keys[:, 2:] != keys[0, 2:]).any():
            raise PluginError(f"the rows of example {x.index} name several starts or ends; expected one of each.")
        wanted = keys[0, 2:] if self.ends else np.array([keys.min(), keys.max()])
        numbers = np.unique(np.concatenate([keys[:, :2].ravel(), wanted]), return_inverse=True)[1].reshape(-1)
        arcs = numbers[:-2].reshape(-1, 2)
        return arcs[:, 0], arcs[:, 1], int(numbers[-2]), int(numbers[-1])

    def check_structure(self, x, y):
        super().check_structure(x, y)
        tails, heads, start, end = self.graph(x)
        leaving = {int(tails[a]): a for a in y}
        node, steps = start, 0
        while node in leaving and steps < len(y):
            node, steps = int(heads[leaving[node]]), steps + 1
        if node != end or steps < len(y) or len(leaving) < len(y):
            raise PluginError(f"the arcs {shortened(y)} of example {x.index} are no path from its start to its end.")

    def enumerate(self, x):
        tails, heads, start, end = self.graph(x)

        def continued(node, arcs):
            if node == end:
                yield arcs
                return
            for a in np.flatnonzero(tails == node).tolist():
                yield from continued(heads[a], (*arcs, a))

        return continued(start, ())

    def atom_names(self, x):
        return [f"{tail:g} to {head:g}" for tail, head in x.keys[:, :2]]


class BestPath(Argmax):
    """The path of largest score, by dynamic programming; of equal ones that whose last arc has the lowest number, then the one before."""

    def argmax(self, scores, x):
        return self.solved(best_path, scores, x)[0]

    def k_best(self, scores, x, k):
        return self.solved(k_best_paths, scores, x, k)

    def marginals(self, scores, x):
        return self.solved(path_marginals, scores, x)[1]

    def solved(self, solve, scores, x, *more):
        """What a solver answers for the graph of x; an error names the example."""
        tails, heads, start, end = self.outputs.graph(x)
        try:
            return solve(tails, heads, np.asarray(scores), start, end, *more)
        except DataError as error:
            raise DataError(f"example {x.index} cannot be answered: {error} Nodes are counted from 0 in their order.") from None


@hookimpl
def structperc_reader(context):
    return KeyedReader(4 if context.options["ends"] else 2)


@hookimpl
def structperc_outputs(context):
    return Paths(context.options["ends"])


@hookimpl
def structperc_features(context):
    return RowFeatures(context.n_features, context.fit_intercept)


@hookimpl
def structperc_argmax(context):
    return BestPath()


def sample(random, n_examples):
    """Small grids."""
    graphs = [grid_graph(*shape, diagonal=True) for shape in random.integers(1, 4, (n_examples, 2)) + [[0, 1]]]
    return [np.column_stack([tails, heads, random.normal(size=(len(tails), 3))]) for tails, heads in graphs]
