"""The cheapest path of an example through any graph whose costs are not negative."""

import numpy as np

from structperc.components import Argmax
from structperc.errors import PluginError, shortened
from structperc.solvers.paths import cheapest_path
from structperc_path.costs import MissedArcs
from structperc_path.solver import solved


class CheapestPath(Argmax):
    """The path of least cost, minus the score, by `cheapest_path`; at a tie scipy's choice, the same each time."""

    any_scores = False

    def check(self, context, parts):
        if "search" in parts.update.needs:
            raise PluginError(f"update={context.update!r} also searches with a loss added to scores, where costs='non-negative' may fall "
                              f"below 0; use another update.")
        if context.loss_weight and context.loss != MissedArcs.name:
            raise PluginError(f"costs='non-negative' with loss={shortened(context.loss)} and loss_weight={context.loss_weight}: the search "
                              f"would pay for wrong arcs, whose costs may then be negative; use loss={MissedArcs.name!r}.")

    def argmax(self, scores, x):
        return solved(self, cheapest_path, -np.asarray(scores), x)[0]


__all__ = ["CheapestPath"]
