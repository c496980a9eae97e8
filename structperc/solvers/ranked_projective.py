"""The k best projective trees, by Lawler's partition."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from structperc.core.arguments import float_array, how_many
from structperc.core.errors import DataError
from structperc.solvers.projective import projective_tree

__all__ = ["k_best_projective"]


def k_best_projective(scores, k, siblings=None, one_root=False):
    """The k projective trees of largest score, best first.

    The best tree of a set of trees splits the others: those with its heads of words 1..m - 1 and another head of word m. A search for each
    set: O(k n^4).

    Parameters
    ----------
    scores : array of shape (n + 1, n + 1)
        As in `projective_tree`, of at least one word.
    k : int
        At least 1.
    siblings, one_root
        As in `projective_tree`.

    Returns
    -------
    heads : int32 array of shape (n_trees, n)
        At most k rows, all different: fewer where there are no more trees. Equal scores stand in the order in which they were found.
    totals : float64 array of shape (n_trees,)

    Raises
    ------
    DataError
        As `projective_tree`.
    OptionError
        When k is not a whole number from 1.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.ranked_projective import k_best_projective
    >>> heads, totals = k_best_projective(np.array([[0, 9, 8], [0, 0, 4], [0, 5, 0]]), 5)
    >>> heads.tolist(), totals.tolist()
    ([[0, 0], [2, 0], [0, 1]], [17.0, 13.0, 13.0])

    Lawler (1972), A procedure for computing the k best solutions to discrete optimization problems, Management Science 18.
    """
    k, scores = how_many(k), np.array(float_array(scores, "scores"))
    heads, total = projective_tree(scores, siblings, one_root)
    found, open_ones, n_seen = [], [(-total, 0, heads, scores, 0)], 1
    while open_ones and len(found) < k:
        loss, _, heads, left, fixed = heappop(open_ones)
        found.append((heads, -loss))
        left = left.copy()
        for m in range(fixed, len(heads) if len(found) < k else 0):
            others = left.copy()
            others[heads[m], m + 1] = -np.inf
            best = tree_of(others, siblings, one_root)
            if best is not None:
                heappush(open_ones, (-best[1], n_seen, best[0], others, m))
                n_seen += 1
            kept = left[heads[m], m + 1]
            left[:, m + 1] = -np.inf
            left[heads[m], m + 1] = kept
    return np.array([heads for heads, _ in found], dtype=np.intc), np.array([total for _, total in found])


def tree_of(scores, siblings, one_root):
    """The best tree and its score, or None where none is left."""
    try:
        return projective_tree(scores, siblings, one_root)
    except DataError:
        return None
