"""Paths from start to end, learned from features of arcs; rows are (tail, head, features).

Through acyclic graphs arcs have any scores. Graphs with cycles need costs that are not negative: features from 0, weights up to 0.
"""

import numpy as np

from structperc import Option, hookimpl
from structperc.components import KeyedReader, Outputs, RowFeatures
from structperc.solvers.paths import grid_graph
from structperc_path.costs import Costs, MissedArcs
from structperc_path.outputs import Paths
from structperc_path.searches import CheapestPath
from structperc_path.solver import BestPath

also_called = ("shortest-path", "routing")
options = {
    "costs": Option("any", choices=("any", "non-negative"),
                    help="non-negative: for graphs with cycles; features must not be negative, and weights stay at 0 or below"),
    "ends": Option(False, help="columns 3 and 4 of a row are start and end of its example. Without it, these are the lowest "
                               "and highest node"),
    "keys": Option(None, types=(type(None), str, list, tuple),
                   help="names of the columns of tail and head, with ends also of start and end; none: these, or the first ones"),
}
losses = (MissedArcs.name,)


@hookimpl
def structperc_reader(context):
    usual = ("tail", "head", "start", "end")[:4 if context.options["ends"] else 2]
    return KeyedReader(len(usual), context.options["keys"], usual)


@hookimpl
def structperc_outputs(context):
    return Paths(context.options["ends"], MissedArcs.name if cyclic(context) else Outputs.default_loss)


@hookimpl
def structperc_features(context):
    return (Costs if cyclic(context) else RowFeatures)(context.n_features, context.fit_intercept)


@hookimpl
def structperc_argmax(context):
    return CheapestPath() if cyclic(context) else BestPath()


@hookimpl
def structperc_loss(context):
    return MissedArcs() if context.loss == MissedArcs.name else None


def cyclic(context):
    return context.options["costs"] == "non-negative"


def sample(random, n_examples):
    """Small grids."""
    graphs = [grid_graph(*shape, diagonal=True) for shape in random.integers(1, 4, (n_examples, 2)) + [[0, 1]]]
    return [np.column_stack([tails, heads, random.exponential(size=(len(tails), 3))]) for tails, heads in graphs]
