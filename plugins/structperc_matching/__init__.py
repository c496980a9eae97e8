"""Bipartite matchings: which left items belong to which right items, learned from features of pairs; perfect or partial."""

import itertools
from collections.abc import Callable

import numpy as np

from structperc import Option, hookimpl
from structperc.components import PairReader, RowFeatures
from structperc_matching.outputs import Matchings, PartnerLoss
from structperc_matching.solver import Assignment

also_called = ("assignment", "record-linkage", "linkage")
options = {
    "perfect": Option(False, help="match every item of the smaller side; else pairs whose score is not positive are left out"),
    "comparison": Option(None, types=(type(None), Callable),
                         help="a function of a left and a right table that returns the features of their pairs"),
    "show": Option("rows", choices=("rows", "pairs"), help="whether an output is row numbers, or pairs of a left and a right item"),
    "keys": Option(None, types=(type(None), str, list, tuple),
                   help="names of the columns of both items; none: left and right, or the first two"),
}
losses = ("partners",)


@hookimpl
def structperc_reader(context):
    return PairReader(context.options["comparison"], names=context.options["keys"])


@hookimpl
def structperc_outputs(context):
    return Matchings(context.options["perfect"], context.options["show"])


@hookimpl
def structperc_features(context):
    return RowFeatures(context.n_features, context.fit_intercept and not context.options["perfect"])


@hookimpl
def structperc_argmax(context):
    return Assignment(context.options["perfect"])


@hookimpl
def structperc_loss(context):
    return PartnerLoss() if context.loss == "partners" else None


def sample(random, n_examples):
    """Blocks of pairs of up to three items."""
    blocks = []
    for n, m in random.integers(1, 4, (n_examples, 2)):
        pairs = np.array(list(itertools.product(range(n), range(m))), dtype=float)
        blocks.append(np.column_stack([pairs, random.normal(size=(len(pairs), 3))]))
    return blocks
