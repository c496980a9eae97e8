"""Clusters of items, learned from features of pairs: correlation clustering, exact or greedy, or latent trees."""

import math
from collections.abc import Callable

import numpy as np

from structperc import Option, hookimpl
from structperc.components import Argmax, PairReader, RowFeatures
from structperc.errors import DataError, UnusedOption
from structperc.plugin_tools import OptionErrors, key_note
from structperc.solvers.clusters import cluster_pairs
from structperc.solvers.latent_trees import max_latent_trees
from structperc_clusters.outputs import Clusterings, LatentTrees, LinkLoss, inside, n_items

also_called = ("clustering", "coreference", "deduplication", "entity-resolution")
options = {
    "solver": Option("exact", choices=("exact", "greedy", "trees"),
                     help="sums of pairs in clusters, exact or greedy; or trees of pairs, which are hidden in clusters"),
    "most_pairs": Option(None, types=(type(None), int), low=0,
                         help="of solver=exact: items that more pairs of positive score connect are clustered greedily"),
    "most_nodes": Option(None, types=(type(None), int), low=1, help="where branch and bound of solver=exact stops; none: at the optimum"),
    "time_limit": Option(None, types=(type(None), float), above=0, below=math.inf,
                         help="of solver=exact: seconds for a prediction, the best so far after them; none: at the optimum"),
    "missing": Option(1.0, low=0.0, help="of solver=trees: what a link too few costs, where a wrong one costs 1"),
    "comparison": Option(None, types=(type(None), Callable),
                         help="a function of a table that returns the features of pairs of its rows"),
    "show": Option("labels", choices=("labels", "rows"),
                   help="y and predictions: a cluster's label for each item, or the rows of X within clusters"),
    "keys": Option(None, types=(type(None), str, list, tuple),
                   help="names of the columns of both items; none: first and second, or the first two"),
}
losses = ("links",)
LIMITS = ("most_pairs", "most_nodes", "time_limit")


class Partition(Argmax):
    """The clusters of largest score by `cluster_pairs`, with its tie rule: nothing is joined at a gain of 0."""
    # most_pairs, most_nodes: int or None. As in `cluster_pairs`.
    # time_limit: float or None. With a limit, predictions may be less than optimal; `Engine.optimality_gaps` has their bounds.

    def __init__(self, **limits):
        self.limits, self.exact = limits, all(value is None for value in limits.values())

    def argmax(self, scores, x):
        try:
            clustering = cluster_pairs(*x.keys.T, np.asarray(scores), n_items(x), **self.limits)
        except DataError as error:
            raise DataError(f"example {x.index} cannot be clustered: {error}{key_note(x)}") from None
        x.bound = clustering.gap
        return inside(clustering.labels, x)


class Trees(Argmax):
    """The best trees by `max_latent_trees`, with its tie rule: nothing is joined at a gain of 0."""

    def argmax(self, scores, x):
        try:
            return max_latent_trees(*x.keys.T, np.asarray(scores), n_items(x))
        except DataError as error:
            raise DataError(f"example {x.index} cannot be clustered: {error}{key_note(x)}") from None


@hookimpl
def structperc_reader(context):
    return PairReader(context.options["comparison"], "ordered" if context.options["solver"] == "trees" else "unordered",
                      context.options["keys"])


@hookimpl
def structperc_outputs(context):
    values = context.options
    used = {"exact": LIMITS, "trees": ("missing",)}.get(values["solver"], ())
    OptionErrors(UnusedOption(f"{name} has no effect with solver={values['solver']!r}; leave it out.", name)
                 for name in (*LIMITS, "missing") if name not in used and values[name] != options[name].default).raise_all()
    return (LatentTrees if values["solver"] == "trees" else Clusterings)(values["show"])


@hookimpl
def structperc_features(context):
    return RowFeatures(context.n_features, context.fit_intercept)


@hookimpl
def structperc_argmax(context):
    values = context.options
    if values["solver"] == "trees":
        return Trees()
    limits = {name: values[name] for name in LIMITS}
    return Partition(**limits | {"most_pairs": 0} if values["solver"] == "greedy" else limits)


@hookimpl
def structperc_loss(context):
    return LinkLoss(context.options["missing"]) if context.loss == "links" else None


def sample(random, n_examples):
    """Features of all pairs of up to four items, in both directions."""
    return [random.normal(size=(n, n, 3)) for n in random.integers(2, 5, n_examples)]
