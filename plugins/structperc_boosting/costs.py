"""Costs of predicting rank k for an example, and the reduction between ordinal examples and weighted binary ones.

Provisional: it may change in any minor version.

An ordinal example has a rank y among K and costs c. It becomes K - 1 binary examples, "is the rank above k?". For k = 1..K - 1 their
labels are z_k = 1 if k < y, else -1, and their weights w_k = ``(K - 1) |c_{k+1} - c_k|``. For every ranker r,

    c_{r(x)} = 1/(K - 1) * sum over k of w_k [z_k is not the ranker's label 2[k < r(x)] - 1],

where the costs fall up to y, are 0 there and rise after it. Functions work on arrays of floats, and exactly on arrays of integers or of
`fractions.Fraction`.

References
----------
H.-T. Lin and L. Li: Combining ordinal preferences by boosting. ECML PKDD 2009 Workshop on Preference Learning.
"""

from __future__ import annotations

import numpy as np

from structperc.errors import DataError, OptionError, shortened
from structperc.plugin_tools import check_costs, refuse_matrix

__all__ = ["check_v_shape", "cost_matrix", "ranks_of_answers", "reduce_costs", "reverse_costs", "threshold_answers"]

NAMED = {"absolute": lambda d: np.abs(d), "squared": lambda d: d**2, "zero-one": lambda d: (d != 0).astype(float)}


def cost_matrix(cost, n_ranks):
    """The costs of all predictions for all ranks, (K, K): entry [y - 1, k - 1] is that of predicting k if y is right.
    Returns an array of shape (K, K).

    Parameters
    ----------
    cost : {"absolute", "squared", "zero-one"} or (K, K) array
    n_ranks : int
        K.

    Raises
    ------
    OptionError, DataError

    Examples
    --------
    >>> from structperc_boosting.costs import cost_matrix
    >>> cost_matrix("absolute", 3).tolist()
    [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    """
    if isinstance(cost, str):
        if cost not in NAMED:
            raise OptionError(f"cost={shortened(cost)}; expected one of {', '.join(map(repr, NAMED))}, or a matrix of costs.")
        ranks = np.arange(n_ranks, dtype=float)
        return NAMED[cost](ranks - ranks[:, None])
    matrix = check_costs(cost, "cost")
    refuse_matrix(matrix, n_ranks, "cost")
    return matrix


def check_v_shape(costs, y):
    """Raises an error for costs that are negative, not 0 at the right rank, or falling away from it.
    Returns a float64 array of shape (n, K).

    Parameters
    ----------
    costs : array of shape (n, K)
    y : int array of shape (n,)
        The right ranks, from 1.

    Raises
    ------
    DataError
        With the row at fault.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc_boosting.costs import check_v_shape
    >>> check_v_shape([[0, 1, 2], [1, 0, 3]], np.array([1, 2])).tolist()
    [[0.0, 1.0, 2.0], [1.0, 0.0, 3.0]]
    """
    costs, y = check_costs(costs, "costs"), np.asarray(y)
    if len(costs) != len(y):
        raise DataError(f"costs has {len(costs)} rows, but there are {len(y)} examples; give each example its costs.")
    n_ranks = costs.shape[1]
    if len(y) and not 1 <= y.min() <= y.max() <= n_ranks:
        raise DataError(f"the right ranks are {y.min()}..{y.max()}, but costs has {n_ranks} columns; give each rank its cost.")
    own = costs[np.arange(len(y)), y - 1]
    if own.any():
        i = int(np.flatnonzero(own)[0])
        raise DataError(f"costs[{i}, {y[i] - 1}] is {own[i]}, the cost of the right rank; it must be 0.")
    steps, rising = np.diff(costs, axis=1), np.arange(1, n_ranks) >= y[:, None]
    wrong = np.where(rising, steps < 0, steps > 0)
    if wrong.any():
        i, k = (int(v) for v in np.argwhere(wrong)[0])
        raise DataError(f"costs[{i}] goes from {costs[i, k]} to {costs[i, k + 1]} between the ranks {k + 1} and {k + 2}, but rank {y[i]} "
                        f"is right. Costs must not fall on the way from the right rank to an end of the scale.")
    return costs


def threshold_answers(ranks, n_ranks):
    """A ranker's labels of "is the rank above k?", 1 or -1, shape (n, K - 1). The inverse of `ranks_of_answers`.

    Parameters
    ----------
    ranks : int array of shape (n,)
        From 1.
    n_ranks : int
        K.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc_boosting.costs import threshold_answers
    >>> threshold_answers(np.array([3, 1]), 3).tolist()
    [[1, 1], [-1, -1]]
    """
    return np.where(np.arange(1, n_ranks) < np.asarray(ranks)[:, None], 1, -1)


def ranks_of_answers(answers):
    """1 + the number of thresholds with 0 or more, for an (n, K - 1) array of labels or scores: a tie goes up.
    Returns an int32 array of shape (n,).

    If the costs are convex, the cost of the rank is at most the weighted binary error. This holds even if labels do not fall with k. Convex
    means that c_{k+1} - c_k does not fall with k.

    Parameters
    ----------
    answers : array of shape (n, K - 1)

    Examples
    --------
    >>> import numpy as np
    >>> from structperc_boosting.costs import ranks_of_answers
    >>> ranks_of_answers(np.array([[1, 1], [1, -1], [-1, -1]])).tolist()
    [3, 2, 1]
    """
    return 1 + (np.asarray(answers) >= 0).sum(axis=1)


def reduce_costs(y, costs):
    """The weighted binary examples of ordinal ones.

    Parameters
    ----------
    y : int array of shape (n,)
        Right ranks, from 1.
    costs : array of shape (n, K)

    Returns
    -------
    z : int array of shape (n, K - 1)
        1 where the right rank is above k, else -1.
    weights : array of shape (n, K - 1)
        ``(K - 1) |c_{k+1} - c_k|``.

    Examples
    --------
    >>> from structperc_boosting.costs import reduce_costs, reverse_costs
    >>> z, weights = reduce_costs([2], [[1, 0, 3]])
    >>> z.tolist(), weights.tolist()
    ([[1, -1]], [[2, 6]])
    >>> [array.tolist() for array in reverse_costs(z, weights)]
    [[2], [[1.0, 0.0, 3.0]]]
    """
    costs = np.asarray(costs)
    n_ranks = costs.shape[1]
    return threshold_answers(y, n_ranks), (n_ranks - 1) * abs(costs[:, 1:] - costs[:, :-1])


def reverse_costs(z, weights):
    """Ordinal examples from their weighted binary ones, the inverse of `reduce_costs`.

    Parameters
    ----------
    z : array of shape (n, K - 1)
        Positive where the right rank is above k; positive entries stand before the others.
    weights : array of shape (n, K - 1)
        Not negative.

    Returns
    -------
    y : int array of shape (n,)
    costs : array of shape (n, K)
        c_k = 1/(K - 1) * sum of the weights of the thresholds between k and y.

    Raises
    ------
    DataError

    Examples
    --------
    >>> import numpy as np
    >>> from structperc_boosting.costs import reverse_costs
    >>> y, costs = reverse_costs(np.array([[1, -1]]), np.array([[2.0, 4.0]]))
    >>> y.tolist(), costs.tolist()
    ([2], [[1.0, 0.0, 2.0]])
    """
    z, weights = np.asarray(z), np.asarray(weights)
    above = z > 0
    if z.shape != weights.shape or z.ndim != 2 or z.shape[1] == 0:
        raise DataError(f"z has shape {z.shape} and weights {weights.shape}; expected (n, K - 1) for both.")
    if (above[:, 1:] & ~above[:, :-1]).any():
        i = int(np.flatnonzero((above[:, 1:] & ~above[:, :-1]).any(axis=1))[0])
        raise DataError(f"z[{i}] has the rank above a threshold and not above a lower one; no rank is.")
    if (weights < 0).any():
        raise DataError("weights are negative; expected numbers from 0.")
    zero = np.zeros((len(z), 1), dtype=weights.dtype)
    below_y, above_y = np.where(above, weights, 0 * weights), np.where(above, 0 * weights, weights)
    costs = (np.concatenate([below_y[:, ::-1].cumsum(axis=1)[:, ::-1], zero], axis=1)
             + np.concatenate([zero, above_y.cumsum(axis=1)], axis=1))
    return 1 + above.sum(axis=1), costs / z.shape[1]
