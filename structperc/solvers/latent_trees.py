"""Latent trees: clusters as the subtrees of an artificial root, which are maximum arborescences.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array

from structperc.basics.arguments import item_codes
from structperc.basics.errors import DataError, listing
from structperc.solvers.arborescences import max_arborescence
from structperc.solvers.clusters import read_pairs
from structperc.solvers.sparse_arborescences import max_sparse_arborescence

MOST_NAMED = 8              # items in a message
ARC_IN, SMALL = 30, 3000    # a full table is faster with an arc in so many entries, or so few entries


def max_latent_trees(heads, dependents, scores, n_items=None, labels=None):
    """Clusters as latent trees: maximum trees over items below an artificial root.

    Items of one tree are a cluster. Ties are those of the arborescence solvers; repeated calls give the same trees.
    Raises `DataError` if a score is NaN or +inf, or the items of a given cluster have no tree.
    See also `structperc.solvers.clusters.cluster_pairs` (correlation clustering).

    Parameters
    ----------
    heads, dependents : int array-like of shape (n_arcs,)
        Items, numbered from 0, at the two ends of an arc. You may list both directions.
    scores : array-like of shape (n_arcs,)
        Score of an arc, minus the score of an arc from the root to the same item. -inf forbids an arc.
    n_items : int, optional
        Number of items. Default: the largest item named, plus 1.
    labels : array-like of shape (n_items,), optional
        Fixed clusters: the result is the best trees within them.

    Returns
    -------
    arcs : int array
        Rising numbers of the arcs in the trees. An item without an incoming arc hangs from the root.

    Notes
    -----
    Without `labels`, arcs of score 0 or less are never chosen. The solver finds the maximum arborescence with a root arc of score 0 to
    each item, O(m log n). With `labels`, each cluster of k items has the best arborescence with exactly one root arc, O(k^2).

    References
    ----------
    E. R. Fernandes, C. N. dos Santos and R. L. Milidiú: Latent structure perceptron with feature induction for unrestricted coreference
    resolution. Proceedings of EMNLP-CoNLL, shared task, pages 41-48, 2012.

    Examples
    --------
    >>> from structperc.solvers.latent_trees import max_latent_trees
    >>> max_latent_trees([0, 0, 1, 2], [1, 2, 2, 1], [1.0, -1.0, 0.5, 0.7]).tolist()
    [0, 2]
    >>> max_latent_trees([0, 0, 1, 2], [1, 2, 2, 1], [1.0, -1.0, 0.5, 0.7], labels=[0, 1, 1]).tolist()
    [3]
    """
    n, heads, dependents, scores = read_pairs(heads, dependents, scores, n_items, ordered=True, names=("heads", "dependents"))
    if labels is None:
        arcs = np.flatnonzero(scores > 0)               # another arc into an item loses against the root's
        return arcs[chosen(heads[arcs], dependents[arcs], heads_of_all(n, heads[arcs], dependents[arcs], scores[arcs]))]
    labels = item_codes(labels, "labels", (n,))[1]
    arcs = np.flatnonzero((labels[heads] == labels[dependents]) & (scores > -np.inf))
    return arcs[chosen(heads[arcs], dependents[arcs], heads_within(labels, heads[arcs], dependents[arcs], scores[arcs]))]


def chosen(heads, dependents, head_of):
    """The places of the arcs that lead to an item from its head."""
    return np.flatnonzero(head_of[dependents] == heads)


def heads_of_all(n, heads, dependents, scores):
    """The head of each item in the best trees, -1 for the root."""
    if (n + 1) ** 2 <= ARC_IN * len(scores) + SMALL:
        table = np.full((n + 1, n + 1), -np.inf)
        table[0] = 0
        table[heads + 1, dependents + 1] = scores
        return max_arborescence(table)[0] - 1
    rows, columns = np.concatenate([np.zeros(n, dtype=np.intp), heads + 1]), np.concatenate([np.arange(n), dependents]) + 1
    table = coo_array((np.concatenate([np.zeros(n), scores]), (rows, columns)), shape=(n + 1, n + 1))
    return max_sparse_arborescence(table)[0] - 1


def heads_within(labels, heads, dependents, scores):
    """The head of each item in the best trees of the clusters, -1 for the root; arcs lie inside clusters."""
    _, cluster, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    head_of, items = np.full(len(labels), -1), np.argsort(cluster, kind="stable")
    begins = np.cumsum(sizes) - sizes
    place = np.empty(len(labels), dtype=np.intp)
    place[items] = np.arange(len(labels)) - np.repeat(begins, sizes)            # among the items of its cluster
    for k in np.unique(sizes[sizes > 1]):
        same = np.flatnonzero(sizes == k)
        number = np.full(len(sizes), -1)
        number[same] = np.arange(len(same))
        own = np.flatnonzero(number[cluster[heads]] >= 0)
        tables = np.full((len(same), k + 1, k + 1), -np.inf)
        tables[:, 0] = 0
        tables[number[cluster[heads[own]]], place[heads[own]] + 1, place[dependents[own]] + 1] = scores[own]
        members = items[begins[same][:, None] + np.arange(k)]
        for table, its in zip(tables, members, strict=True):
            try:
                tree = max_arborescence(table, one_root=True)[0]
            except DataError:
                raise DataError(f"the items {listing(its.tolist(), MOST_NAMED)} have no tree: too few arcs lead from one of them to the "
                                f"others; list arcs in both directions, or divide the cluster.") from None
            head_of[its[tree > 0]] = its[tree[tree > 0] - 1]
    return head_of


__all__ = ["max_latent_trees"]
