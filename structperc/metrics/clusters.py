"""How well clusters agree: pairwise F1, B-cubed, CEAF-e and the adjusted Rand index of two clusterings of the same items."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.core.arguments import item_codes


@attrs.frozen
class Agreement:
    """Precision, recall and their harmonic mean, F1; 0 where both are 0."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, precision, recall) -> Agreement:
        total = precision + recall
        return cls(float(precision), float(recall), float(2 * precision * recall / total) if total else 0.0)


def pairwise_scores(y_true, y_pred) -> Agreement:
    """Precision and recall of the pairs of items that share a cluster.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_items,)
        A label for each item; which labels they are means nothing.

    Notes
    -----
    1 where neither clustering has such a pair, 0 where one has none.

    Examples
    --------
    >>> from structperc.metrics import pairwise_scores
    >>> pairwise_scores([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2]).f1
    0.5
    """
    table = shared(y_true, y_pred)
    common, gold, found = pairs(table.data), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    if not gold and not found:
        return Agreement(1.0, 1.0, 1.0)
    return Agreement.of(common / found if found else 0.0, common / gold if gold else 0.0)


def b_cubed_scores(y_true, y_pred) -> Agreement:
    """B-cubed: the means over items of the share of its cluster, predicted or true, that is in both of its clusters.

    Parameters
    ----------
    y_true, y_pred
        As in `pairwise_scores`.

    Notes
    -----
    1 without items. Bagga and Baldwin (1998), Algorithms for scoring coreference chains.

    Examples
    --------
    >>> from structperc.metrics import b_cubed_scores
    >>> round(b_cubed_scores([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2]).f1, 4)
    0.7778
    """
    table = shared(y_true, y_pred)
    n, both = table.sum(), table.tocoo()
    if not n:
        return Agreement(1.0, 1.0, 1.0)
    squares = both.data.astype(float) ** 2
    return Agreement.of((squares / table.sum(axis=0)[both.col]).sum() / n, (squares / table.sum(axis=1)[both.row]).sum() / n)


def ceaf_scores(y_true, y_pred) -> Agreement:
    """CEAF-e: the similarity ``2 |A and B| / (|A| + |B|)`` of true and predicted clusters, matched one to one as well as can be.

    Parameters
    ----------
    y_true, y_pred
        As in `pairwise_scores`.

    Notes
    -----
    Divided by the number of predicted clusters for precision, of true ones for recall. 1 without items. Equal clusters are matched
    apart, so that many of them take no time; else O(k^3). Luo (2005), On coreference resolution performance metrics.

    Examples
    --------
    >>> from structperc.metrics import ceaf_scores
    >>> round(ceaf_scores([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2]).f1, 4)
    0.8667
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse import csr_array

    table = shared(y_true, y_pred)
    n, m = table.shape
    if not n:
        return Agreement(1.0, 1.0, 1.0)
    both = table.tocoo()
    similar = csr_array((2 * both.data / (table.sum(axis=1)[both.row] + table.sum(axis=0)[both.col]), (both.row, both.col)), table.shape)
    alone = (np.diff(table.indptr)[both.row] == 1) & (np.bincount(both.col, minlength=m)[both.col] == 1)
    rows, columns = (np.setdiff1d(np.arange(size), ends[alone]) for size, ends in zip((n, m), (both.row, both.col), strict=True))
    rest = similar[rows][:, columns].toarray()
    total = alone.sum() + rest[linear_sum_assignment(rest, maximize=True)].sum()      # equal clusters have the similarity 1
    return Agreement.of(total / m, total / n)


def adjusted_rand_index(y_true, y_pred) -> float:
    """The share of pairs on which two clusterings agree, adjusted for chance: 1 for the same clusters, 0 expected of random ones.

    Parameters
    ----------
    y_true, y_pred
        As in `pairwise_scores`.

    Notes
    -----
    As scikit-learn's `adjusted_rand_score`; 1 where both clusterings are single items, or both one cluster. Hubert and Arabie (1985),
    Comparing partitions.

    Examples
    --------
    >>> from structperc.metrics import adjusted_rand_index
    >>> round(adjusted_rand_index([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2]), 4)
    0.3182
    """
    table = shared(y_true, y_pred)
    common, gold, found, every = pairs(table.data), pairs(table.sum(axis=1)), pairs(table.sum(axis=0)), pairs([table.sum()])
    expected = gold * found / every if every else 0.0
    most = (gold + found) / 2
    return float((common - expected) / (most - expected)) if most != expected else 1.0


def cluster_measures(y_true, y_pred) -> dict:
    """Pairwise F1, B-cubed F1, CEAF-e F1 and the adjusted Rand index, by name."""
    return {"pairwise F1": pairwise_scores(y_true, y_pred).f1, "B-cubed F1": b_cubed_scores(y_true, y_pred).f1,
            "CEAF-e F1": ceaf_scores(y_true, y_pred).f1, "adjusted Rand index": adjusted_rand_index(y_true, y_pred)}


def shared(y_true, y_pred):
    """How many items each true and each predicted cluster share, a csr_array."""
    from scipy.sparse import coo_array

    true = item_codes(y_true, "y_true", ("n_items",))[1]
    ends = [true, item_codes(y_pred, "y_pred", true.shape)[1]]
    shape = tuple(int(side.max(initial=-1)) + 1 for side in ends)
    table = coo_array((np.ones(len(true), dtype=np.int64), tuple(ends)), shape=shape).tocsr()
    table.sum_duplicates()
    return table


def pairs(sizes) -> int:
    """How many pairs clusters of these sizes have inside them."""
    sizes = np.asarray(sizes, dtype=np.int64)
    return int((sizes * (sizes - 1) // 2).sum())


__all__ = ["Agreement", "adjusted_rand_index", "b_cubed_scores", "ceaf_scores", "cluster_measures", "pairwise_scores"]
