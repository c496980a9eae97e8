"""Correlation clustering: the clusters of items of largest sum of scores of pairs inside them; exact, or good with a bound.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import attrs
import numpy as np
from scipy.sparse import csr_array

from structperc.basics.arguments import (
    MOST,
    SCORES,
    float_array,
    limit,
    number_array,
    real_array,
    refuse_overflow,
    shaped,
    whole_array,
    whole_number,
    wrong_entry,
)
from structperc.basics.errors import DataError
from structperc.solvers.clusterings import best_partition, connected, joined, moved, packed, violated
from structperc.solvers.highs import Clock
from structperc.solvers.integer_programs import ILP

TOLERANCE = 1e-6                # of whole numbers and violated cycles
GAP = 1e-8                      # of a program, relative to the largest score of its component, that counts as none
ROUNDING = 1e-12                # of sums, relative to the largest score: what a move has to gain at least; and of a sum of sizes
MOST_PAIRS = MOST // 2          # each pair is listed at both of its items
FEW = 12                        # items whose subsets are all looked at
EXACT_CYCLES, EXACT_SUBSETS, EXACT_LP, EXACT_MILP, LOCAL = STATUSES = "exact-cycles", "exact-subsets", "exact-lp", "exact-milp", "local"


@attrs.frozen(eq=False)
class Clustering:
    """Clusters with a bound on the score of any other clustering.

    Attributes
    ----------
    labels : int array of shape (n,)
        The cluster of each item. Clusters are numbered from 0 in the order of their first items.
    score : float
        Sum of the scores of the pairs inside clusters.
    bound : float
        No clustering has a larger score, up to 1e-8 of the largest score of a component.
    status : {"exact-cycles", "exact-subsets", "exact-lp", "exact-milp", "local"}
        What proved the clusters optimal: conflicted cycles of pairs, all subsets of at most 12 items, the linear program, branch and
        bound, or nothing. If components needed different proofs, it is the last of these.

    Examples
    --------
    >>> from structperc.solvers.clusters import max_clusters
    >>> clusters = max_clusters([[0, 1], [1, 0]])
    >>> clusters.labels.tolist(), clusters.score, clusters.bound, clusters.exact
    ([0, 0], 1.0, 1.0, True)
    """

    labels: np.ndarray
    score: float
    bound: float
    status: str

    @property
    def exact(self) -> bool:
        """Whether the clusters are optimal."""
        return self.status != LOCAL

    @property
    def gap(self) -> float:
        """bound - score; 0 where the clusters are optimal."""
        return 0.0 if self.exact else self.bound - self.score


def max_clusters(scores, most_pairs=None, most_nodes=None, time_limit=None) -> Clustering:
    """Correlation clustering of a full matrix: the clusters of n items with the largest sum of pair scores inside them.

    Ties and method are those of `cluster_pairs`. Raises `DataError` if a score is NaN or +inf, or the matrix is not symmetric.
    Raises `OptionError` if a limit is out of range. See also `cluster_pairs` (few scored pairs of many items).

    Parameters
    ----------
    scores : array-like of shape (n, n)
        Symmetric scores of having two items in one cluster; -inf forbids it. The diagonal is ignored.
    most_pairs : int, optional
        As in `cluster_pairs`.
    most_nodes : int, optional
        As in `cluster_pairs`.
    time_limit : float, optional
        Seconds, as in `cluster_pairs`.

    Examples
    --------
    >>> from structperc.solvers.clusters import max_clusters
    >>> clusters = max_clusters([[0, 2, -1, 1], [2, 0, 1.5, -3], [-1, 1.5, 0, -3], [1, -3, -3, 0]])
    >>> clusters.labels.tolist(), clusters.score, clusters.status
    ([0, 0, 0, 1], 2.5, 'exact-cycles')
    """
    s = shaped(number_array(scores, "scores"), "scores", ("n_items", "n_items"))
    if len(s) * (len(s) - 1) // 2 > MOST_PAIRS:
        raise DataError(f"scores has the shape {s.shape}; expected at most {MOST_PAIRS} pairs of items; pass "
                        f"those that count to cluster_pairs.")
    s = float_array(s, "scores")
    allowed = SCORES.allowed(s)
    np.fill_diagonal(allowed, True)
    if not allowed.all():
        raise wrong_entry("scores", s, allowed, SCORES.expected)
    refuse_overflow(s[~np.eye(len(s), dtype=bool)], "scores")
    first, second = np.triu_indices(len(s), 1)
    values, mirrored = s[first, second], s[second, first]
    with np.errstate(invalid="ignore"):
        uneven = ~((values == mirrored) | (np.abs(values - mirrored) <= 1e-9 * largest(values)))
    if uneven.any():
        a = int(np.argmax(uneven))
        i, j = first[a], second[a]
        raise DataError(f"scores[{i}, {j}] is {s[i, j]} but scores[{j}, {i}] is {s[j, i]}; expected a symmetric matrix, such as "
                        f"(scores + scores.T) / 2.")
    return solved(len(s), first.astype(np.intc), second.astype(np.intc), values, most_pairs, most_nodes, time_limit)


def cluster_pairs(first, second, scores, n_items=None, most_pairs=None, most_nodes=None, time_limit=None) -> Clustering:
    """Correlation clustering of listed pairs: the clusters with the largest sum of pair scores inside them.

    Use it if few pairs have a score; use `max_clusters` for a full matrix. Ties: items are not joined at a gain of 0. Which of several
    optimal clusterings you get is not specified, but repeated calls give the same one.

    Parameters
    ----------
    first, second : int array-like of shape (n_pairs,)
        Items, numbered from 0. List a pair once.
    scores : array-like of shape (n_pairs,)
        Score of having both items in one cluster; -inf forbids it. Pairs that are not listed have the score 0.
    n_items : int, optional
        Number of items. Default: the largest item named, plus 1.
    most_pairs : int, optional
        Largest number of pairs of a connected component that the linear program solves. Larger components are solved greedily, with a
        bound. 0: all greedily. Default: no limit. Larger values are slower and more often optimal; try 10000.
    most_nodes : int, optional
        Largest number of nodes of branch and bound for each program; after that you get the bound so far. Default: no limit.
    time_limit : float, optional
        Seconds after which no further program is solved. You get the best clusters so far with their bound, and the status "local" unless
        they are optimal. The result then depends on the machine. The greedy clusters and the bound of cycles have no time limit.

    Raises
    ------
    DataError
        If items are not whole numbers from 0, or a pair is listed twice or joins an item with itself. Also if a score is NaN or +inf.
    OptionError
        If `most_pairs` or `most_nodes` is not a whole number, or `time_limit` is not a number above 0.

    See Also
    --------
    max_clusters : a full matrix of scores.
    structperc.solvers.latent_trees.max_latent_trees : clusters as latent trees; faster.

    Notes
    -----
    1. A cluster never joins items that no path of positive pairs connects.
    2. Greedy clusters: pairs are joined by falling score, then items move while that gains.
    3. A cycle of one negative pair and positive pairs bounds all clusterings. These bounds often prove the greedy clusters optimal.
    4. If not, components of at most 12 items are solved over all subsets.
    5. Larger components are solved by a linear program with x = 1 for a pair inside a cluster. Inequalities of violated cycles are added
       until none is left.
    6. Branch and bound follows, with the same inequalities.

    Ctrl-C waits for the end of the program that HiGHS solves; `time_limit` bounds it.

    References
    ----------
    N. Bansal, A. Blum and S. Chawla: Correlation clustering. Machine Learning 56, pages 89-113, 2004.

    M. Grötschel and Y. Wakabayashi: A cutting plane algorithm for a clustering problem. Mathematical Programming 45, pages 59-96, 1989.

    Examples
    --------
    >>> from structperc.solvers.clusters import cluster_pairs
    >>> clusters = cluster_pairs([0, 1, 0, 3], [1, 2, 2, 4], [2.0, 1.5, -1.0, -0.5])
    >>> clusters.labels.tolist(), clusters.score, clusters.exact
    ([0, 0, 0, 1, 2], 2.5, True)
    """
    n, first, second, s = read_pairs(first, second, scores, n_items)
    return solved(n, np.minimum(first, second), np.maximum(first, second), s, most_pairs, most_nodes, time_limit)


def solved(n, first, second, scores, most_pairs, most_nodes, time_limit) -> Clustering:
    """The clusters of checked pairs: greedily, then by programs where cycles do not prove them."""
    most_pairs, most_nodes, clock = limit(most_pairs, "most_pairs", 0), limit(most_nodes, "most_nodes"), Clock(time_limit)
    part = connected(n, first[scores > 0], second[scores > 0])
    inside = np.flatnonzero(part[first] == part[second])
    first, second, scores = first[inside], second[inside], scores[inside]
    pair_part = part[first]
    labels = greedy(n, first, second, scores, scores)
    together = labels[first] == labels[second]
    n_parts = part.max(initial=-1) + 1
    score = np.bincount(pair_part[together], scores[together], n_parts)
    cost = packed(*adjacency(n, first, second), scores)
    bound = np.bincount(pair_part, np.maximum(scores, 0) - cost, n_parts)
    sizes = np.bincount(pair_part, np.abs(np.where(scores > -np.inf, scores, 0)), n_parts)         # of each component: no scale is shared
    status = EXACT_CYCLES
    order = np.argsort(pair_part, kind="stable")
    begins = np.searchsorted(pair_part[order], np.arange(n_parts + 1))
    for p in np.flatnonzero(bound - score > ROUNDING * sizes):
        own = order[begins[p]:begins[p + 1]]
        if most_pairs is not None and len(own) > most_pairs or clock.over:
            status = LOCAL
            continue
        items, ends = np.unique([first[own], second[own]], return_inverse=True)
        program = ClusterProgram(len(items), *ends.reshape(2, -1).astype(np.intc), scores[own],
                                 np.unique(labels[items], return_inverse=True)[1], bound[p])
        if len(items) <= FEW:
            program.look_at_all()
        else:
            program.solve(clock, most_nodes)
        labels[items] = n + items[program.labels]       # no label of another part
        score[p], bound[p], status = program.score, program.bound, max(status, program.status, key=STATUSES.index)
    total = float(score.sum())
    return Clustering(canonical(labels), total, max(float(bound.sum()), total), status)


class ClusterProgram:
    """Clustering as a linear program, with inequalities for the cycles so far, and the best clusters so far."""
    # first, second, scores: arrays of shape (n_pairs,)
    # labels: int array of shape (n,). Clusters that do not put a forbidden pair together.
    # bound: float. Of all clusters.
    # labels, score, bound, status: Of the best clusters so far.

    def __init__(self, n, first, second, scores, labels, bound):
        self.n, self.first, self.second, self.scores = n, first, second, scores
        self.scale, self.cycles = largest(scores), []
        self.labels, self.score, self.bound, self.status = None, -np.inf, bound, LOCAL
        self.consider(labels)

    def consider(self, labels):
        """Keeps clusters that are better than all before."""
        score = self.scores[labels[self.first] == labels[self.second]].sum()
        if score > self.score:
            self.labels, self.score = labels, score

    def look_at_all(self):
        """Finds the best of all clusters of few items."""
        table = np.zeros((self.n, self.n))
        table[self.first, self.second] = table[self.second, self.first] = self.scores
        self.consider(best_partition(table))
        self.bound, self.status = self.score, EXACT_SUBSETS

    def solve(self, clock, most_nodes=None):
        """One program after the other, over fractions, then whole numbers, until none violates a cycle or time is over."""
        graph = adjacency(self.n, self.first, self.second)
        for relaxed, proof in ((True, EXACT_LP), (False, EXACT_MILP)):
            while not clock.over:
                solution = self.program().solve(self.scores, relaxed, most_nodes, clock.left)
                self.bound = min(self.bound, solution.bound)
                cycles = violated(*graph, np.round(1.0 - solution.v, 9), TOLERANCE)
                self.cycles += cycles
                shares = np.where(self.scores > -np.inf, solution.v - 0.5, -np.inf)
                self.consider(greedy(self.n, self.first, self.second, shares, self.scores))
                if self.bound - self.score <= GAP * self.scale:
                    self.status = proof
                    return
                if not cycles or not relaxed and not solution.exact:
                    break

    def program(self) -> ILP:
        """A row for each cycle: if all pairs but the first are inside clusters, so is the first."""
        lengths = np.array([len(cycle) for cycle in self.cycles], dtype=np.intp)
        pairs = np.concatenate([np.empty(0, dtype=np.intc), *self.cycles])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        signs = np.ones(len(pairs))
        signs[starts[:-1]] = -1
        return ILP(csr_array((signs, pairs, starts), shape=(len(lengths), len(self.scores))), lengths - 2.0)


def greedy(n, first, second, guide, scores):
    """Labels of 0..n-1: pairs joined by falling guide, then items moved and clusters joined while that raises the score."""
    graph, least = adjacency(n, first, second), ROUNDING * largest(scores)
    starts, neighbours, pairs = graph
    labels = joined(n, first, second, guide)
    while True:
        moved(labels, starts, neighbours, scores[pairs], least)
        between = labels[first] != labels[second]
        low, high = np.sort([labels[first[between]], labels[second[between]]], axis=0)
        codes, which = np.unique(low.astype(np.int64) * n + high, return_inverse=True)
        sums = np.bincount(which, scores[between], len(codes))
        if not (sums > least).any():
            return labels
        labels = joined(n, (codes // n).astype(np.intc), (codes % n).astype(np.intc), sums)[labels]


def adjacency(n, first, second):
    """Whom each item is paired with: starts, neighbours and numbers of pairs, as `PairGraph` takes them."""
    ends, others = np.concatenate([first, second]), np.concatenate([second, first])
    order = np.argsort(ends, kind="stable")
    starts = np.searchsorted(ends[order], np.arange(n + 1)).astype(np.intc)
    pairs = np.tile(np.arange(len(first), dtype=np.intc), 2)
    return starts, others[order], pairs[order]


def canonical(labels):
    """The same clusters, numbered from 0 in the order of their first items. Returns an int array of shape (n_items,).

    Parameters
    ----------
    labels : int array of shape (n_items,)

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.clusters import canonical
    >>> canonical(np.array([7, 2, 7])).tolist()
    [0, 1, 0]
    """
    _, firsts, which = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[which]


def largest(scores) -> float:
    """The size of the largest score, those that forbid a pair apart."""
    return float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))


def read_pairs(first, second, scores, n_items=None, ordered=False, names=("first", "second")):
    """How many items there are, the two ends of each pair as int32, and its score below +inf; `ordered`: i, j and j, i are two pairs."""
    first = whole_array(first, names[0], ("n_pairs",), most=MOST_PAIRS)
    second = whole_array(second, names[1], first.shape)
    scores = real_array(scores, "scores", first.shape)
    n = max((int(side.max()) + 1 for side in (first, second) if len(side)), default=0)
    if n_items is not None:
        n = whole_number(n_items, "n_items", n)
    refuse_pairs(first, second, ordered)
    return n, first, second, scores


def refuse_pairs(first, second, ordered) -> None:
    """Raises an error for pairs of an item with itself, and pairs that are listed twice.

    Parameters
    ----------
    first, second : int arrays of shape (n_pairs,)
        Items of each pair, from 0.
    ordered : bool
        Whether (a, b) and (b, a) are two pairs.

    Raises
    ------
    DataError
        With the number of the first such pair.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.clusters import refuse_pairs
    >>> refuse_pairs(np.array([0, 1]), np.array([1, 0]), ordered=True)
    >>> refuse_pairs(np.array([0, 1]), np.array([1, 0]), ordered=False)
    Traceback (most recent call last):
    structperc.errors.DataError: pair 1, of the items 1 and 0, is listed twice.
    """
    low, high = (first, second) if ordered else (np.minimum(first, second), np.maximum(first, second))
    if (low == high).any():
        a = int(np.argmax(low == high))
        raise DataError(f"pair {a} is of the item {low[a]} with itself; expected two items.")
    codes, listed = np.unique(low.astype(np.int64) << 32 | high, return_index=True)
    if len(codes) < len(low):
        a = int(np.setdiff1d(np.arange(len(low)), listed)[0])
        raise DataError(f"pair {a}, of the items {first[a]} and {second[a]}, is listed twice.")


__all__ = ["EXACT_CYCLES", "EXACT_LP", "EXACT_MILP", "LOCAL", "Clustering", "canonical", "cluster_pairs", "connected", "max_clusters",
           "refuse_pairs"]
