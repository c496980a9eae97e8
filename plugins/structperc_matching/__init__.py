"""Bipartite matchings: which left items belong to which right items, learned from features of pairs; perfect or partial."""

import itertools
from collections.abc import Callable

import numpy as np

from structperc import Option, hookimpl
from structperc.components import Argmax, PairReader, RowFeatures
from structperc.errors import DataError, PluginError
from structperc.plugin_tools import key_note, of_keys
from structperc.solvers.matchings import k_best_matchings, match_pairs, max_matching
from structperc_matching.outputs import Matchings, PartnerLoss

MOST_CELLS = 16_000_000         # of the tables of k best matchings

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


class Assignment(Argmax):
    """The matching of largest score by `match_pairs`, perfect or partial; at a tie scipy's choice, the same each time."""

    def __init__(self, perfect):
        self.perfect = perfect

    def argmax(self, scores, x):
        scores, shape = np.asarray(scores), of_keys(x, "table", table_shape)
        try:
            if shape is None or self.perfect and (scores == -np.inf).any():
                return match_pairs(*x.keys.T, scores, self.perfect)
            partners = max_matching(scores.reshape(shape), self.perfect)
        except DataError as error:
            raise DataError(f"example {x.index} cannot be matched: {error}{key_note(x)}") from None
        left = np.flatnonzero(partners >= 0)
        return left * shape[1] + partners[left]

    def k_best(self, scores, x, k):
        names, (left, right) = zip(*(np.unique(ends, return_inverse=True) for ends in x.keys.T), strict=True)
        n, m = map(len, names)
        if n * m > MOST_CELLS:
            raise PluginError(f"example {x.index} has {n} left and {m} right items; further matchings are listed of at most {MOST_CELLS} "
                              f"pairs of items.")
        table, which = np.full((n, m), -np.inf), np.full((n, m), -1)
        table[left, right], which[left, right] = scores, np.arange(len(left))
        first, chosen = np.full(n, -1), self.argmax(scores, x)
        first[left[chosen]] = right[chosen]
        ranked = k_best_matchings(table, k, self.perfect, first)
        return [(tuple(sorted(which[partners >= 0, partners[partners >= 0]].tolist())), score) for partners, score in ranked]


def table_shape(x):
    """The numbers of left and right items if all their pairs are there in order, row by row; else None."""
    left, right = x.keys.T
    m = int(np.argmax(left != left[0])) or len(left) if len(left) else 0
    if m == 0 or len(left) % m:
        return None
    rows, columns = left.reshape(-1, m), right.reshape(-1, m)
    rises = (np.diff(rows[:, 0]) > 0).all() and (np.diff(columns[0]) > 0).all()
    return rows.shape if rises and (rows == rows[:, :1]).all() and (columns == columns[0]).all() else None


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
