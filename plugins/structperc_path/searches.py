"""The best path of an example: through an acyclic graph by its scores, through any by costs that are not negative."""

import numpy as np

from structperc.components import Argmax
from structperc.errors import DataError, PluginError, shortened
from structperc.solvers.paths import best_path, cheapest_path, k_best_paths, path_marginals
from structperc_path.costs import MissedArcs


class BestPath(Argmax):
    """The path of largest score, by dynamic programming. Of equal ones that whose last arc has the lowest number, then the one before."""

    def argmax(self, scores, x):
        return self.solved(best_path, scores, x)[0]

    def k_best(self, scores, x, k):
        return self.solved(k_best_paths, scores, x, k)

    def marginals(self, scores, x):
        return self.solved(path_marginals, scores, x)

    def solved(self, solve, scores, x, *more):
        """The result of a solver for the graph of x. An error names the example."""
        tails, heads, start, end = self.outputs.graph(x)
        try:
            return solve(tails, heads, np.asarray(scores), start, end, *more)
        except DataError as error:
            raise DataError(f"example {x.index} cannot be predicted: {error} Nodes are counted from 0 in their order.") from None


class CheapestPath(BestPath):
    """The path of least cost, minus the score, by `cheapest_path`; at a tie scipy's choice, the same each time."""

    def check(self, context, parts):
        if "search" in parts.update.needs:
            raise PluginError(f"update={context.update!r} also searches with a loss added to scores, where costs='non-negative' may fall "
                              f"below 0; use another update.")
        if context.loss_weight and context.loss != MissedArcs.name:
            raise PluginError(f"costs='non-negative' with loss={shortened(context.loss)} and loss_weight={context.loss_weight}: the search "
                              f"would pay for wrong arcs, whose costs may then be negative; use loss={MissedArcs.name!r}.")

    def argmax(self, scores, x):
        return self.solved(cheapest_path, -np.asarray(scores), x)[0]

    k_best, marginals = Argmax.k_best, Argmax.marginals


__all__ = ["BestPath", "CheapestPath"]
