"""How well clusters agree: pairwise F1, B-cubed, CEAF-e and the adjusted Rand index of two clusterings of the same items."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.arguments import item_codes


@attrs.frozen
class Agreement:
    """Precision, recall and their harmonic mean, F1.

    Attributes
    ----------
    precision, recall : float
        From 0 to 1.
    f1 : float
        0 if precision and recall are 0.

    Examples
    --------
    >>> from structperc.metrics import pairwise_scores
    >>> pairwise_scores([0, 0, 1], [0, 0, 0])
    Agreement(precision=0.333..., recall=1.0, f1=0.5)
    """

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, precision, recall) -> Agreement:
        """Precision and recall with their F1.

        Parameters
        ----------
        precision, recall : float
        """
        total = precision + recall
        return cls(float(precision), float(recall), float(2 * precision * recall / total) if total else 0.0)


def pairwise_scores(y_true, y_pred) -> Agreement:
    """Pairwise precision, recall and F1 of a clustering: the pairs of items that share a cluster.
    Returns `Agreement`. All 1 if neither clustering has such a pair, 0 if one of them has none.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_items,)
        True and predicted cluster of each item, by labels of any type.

    See Also
    --------
    b_cubed_scores : a mean over items.
    ceaf_scores : clusters matched one to one.
    adjusted_rand_index : corrected for chance.

    Examples
    --------
    >>> from structperc.metrics import pairwise_scores
    >>> pairwise_scores([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2]).f1
    0.5
    """
    table = shared(y_true, y_pred)
    common, gold, predicted = pairs(table.data), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    if not gold and not predicted:
        return Agreement(1.0, 1.0, 1.0)
    return Agreement.of(common / predicted if predicted else 0.0, common / gold if gold else 0.0)


def b_cubed_scores(y_true, y_pred) -> Agreement:
    """B-cubed precision, recall and F1 of a clustering: a mean over items.

    Precision of an item is the share of its predicted cluster that is in its true cluster. Recall is the reverse.
    Returns `Agreement`. All 1 without items.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_items,)
        As in `pairwise_scores`.

    References
    ----------
    A. Bagga and B. Baldwin: Algorithms for scoring coreference chains. Proceedings of the LREC Workshop on Linguistic Coreference, pages
    563-566, 1998.

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
    """CEAF-e precision, recall and F1 of a clustering: true and predicted clusters matched one to one.

    The similarity of two clusters is ``2 |A and B| / (|A| + |B|)``. The best total is divided by the number of predicted clusters for
    precision, and of true clusters for recall. Cost: O(k^3) for k different clusters; equal clusters are matched first, which is fast.
    Returns `Agreement`. All 1 without items.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_items,)
        As in `pairwise_scores`.

    References
    ----------
    X. Luo: On coreference resolution performance metrics. Proceedings of HLT-EMNLP, pages 25-32, 2005.

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
    """Adjusted Rand index: the share of pairs on which two clusterings agree, corrected for chance.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_items,)
        As in `pairwise_scores`.

    Returns
    -------
    float
        1 for the same clusters; 0 is expected for random ones. The same as scikit-learn's `adjusted_rand_score`.
        1 if both clusterings are single items, or both are one cluster.

    References
    ----------
    L. Hubert and P. Arabie: Comparing partitions. Journal of Classification 2, pages 193-218, 1985.

    Examples
    --------
    >>> from structperc.metrics import adjusted_rand_index
    >>> round(adjusted_rand_index([0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, 2]), 4)
    0.3182
    """
    table = shared(y_true, y_pred)
    common, gold, predicted, every = pairs(table.data), pairs(table.sum(axis=1)), pairs(table.sum(axis=0)), pairs([table.sum()])
    expected = gold * predicted / every if every else 0.0
    most = (gold + predicted) / 2
    return float((common - expected) / (most - expected)) if most != expected else 1.0


def cluster_measures(y_true, y_pred) -> dict:
    """Four measures of a clustering by name.
    Returns a dict of str to float. Pairwise F1, B-cubed F1, CEAF-e F1 and the adjusted Rand index.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_items,)
        As in `pairwise_scores`.

    Examples
    --------
    >>> from structperc.metrics import cluster_measures
    >>> sorted(cluster_measures([0, 0, 1], [0, 0, 1]).values())
    [1.0, 1.0, 1.0, 1.0]
    """
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
