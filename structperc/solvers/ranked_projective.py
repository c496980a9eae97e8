"""The k best projective trees, by Lawler's partition.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from structperc.basics.arguments import float_array, how_many, shaped
from structperc.basics.errors import DataError
from structperc.solvers.projective import projective_tree

__all__ = ["k_best_projective"]


def k_best_projective(scores, k, siblings=None, one_root=False):
    """The k best projective trees of a sentence, best first.

    Ties: of equal trees, the one computed first comes first. Cost: O(k n^4). Raises `DataError` as in `projective_tree`.
    Raises `OptionError` if k is not a whole number from 1.
    See also `structperc.solvers.arborescences.k_best_arborescences` (trees that may have crossing arcs).

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1)
        Arc scores of one sentence with at least one word, as in `projective_tree`.
    k : int
        Number of trees, at least 1.
    siblings : array of shape (n + 1, n + 1, n + 1), optional
        As in `projective_tree`.
    one_root : bool, default False
        Only trees in which exactly one word has the head 0.

    Returns
    -------
    heads : int32 array of shape (n_trees, n)
        Different trees, fewer than k if there are fewer.
    totals : float64 array of shape (n_trees,)
        Their scores, falling.

    Notes
    -----
    The best tree splits all other trees of its set: those with its heads of words 1..m - 1 and another head of word m. Each set needs one
    search.

    References
    ----------
    E. L. Lawler: A procedure for computing the K best solutions to discrete optimization problems and its application to the shortest path
    problem. Management Science 18, pages 401-405, 1972.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.ranked_projective import k_best_projective
    >>> heads, totals = k_best_projective(np.array([[0, 9, 8], [0, 0, 4], [0, 5, 0]]), 5)
    >>> heads.tolist(), totals.tolist()
    ([[0, 0], [2, 0], [0, 1]], [17.0, 13.0, 13.0])
    """
    k, scores = how_many(k), np.array(shaped(float_array(scores, "scores"), "scores", ("n + 1", "n + 1")))
    heads, total = projective_tree(scores, siblings, one_root)
    trees, open_ones, n_seen = [], [(-total, 0, heads, scores, 0)], 1
    while open_ones and len(trees) < k:
        loss, _, heads, left, fixed = heappop(open_ones)
        trees.append((heads, -loss))
        left = left.copy()
        for m in range(fixed, len(heads) if len(trees) < k else 0):
            others = left.copy()
            others[heads[m], m + 1] = -np.inf
            best = tree_of(others, siblings, one_root)
            if best is not None:
                heappush(open_ones, (-best[1], n_seen, best[0], others, m))
                n_seen += 1
            kept = left[heads[m], m + 1]
            left[:, m + 1] = -np.inf
            left[heads[m], m + 1] = kept
    return np.array([heads for heads, _ in trees], dtype=np.intc), np.array([total for _, total in trees])


def tree_of(scores, siblings, one_root):
    """The best tree and its score, or None where none is left."""
    try:
        return projective_tree(scores, siblings, one_root)
    except DataError:
        return None
