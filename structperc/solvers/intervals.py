"""Disjoint intervals of largest weight: paths over their ends, an arc for each interval and one for each gap.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import numpy as np

from structperc.basics.arguments import FINITE, real_array
from structperc.basics.errors import DataError
from structperc.solvers.paths import best_path, k_best_paths, path_marginals


def best_intervals(starts, stops, weights):
    """Weighted interval scheduling: the disjoint intervals with the largest total weight.

    Ties: of equal choices, the one with no interval at the end, or else the last interval with the lowest number. The same holds for what
    is before. Cost: O(m log m) for m intervals.
    Raises `DataError` if a number is NaN, a weight is +inf, or an interval does not stop after its start.
    See also `k_best_intervals` (the k best choices) and `interval_marginals` (probabilities of intervals).

    Parameters
    ----------
    starts, stops : array-like of shape (n_intervals,)
        Finite numbers of any unit, each stop after its start. Intervals are half open: one may start where another stops.
    weights : array-like of shape (n_intervals,)
        Weights of any sign; -inf forbids an interval.

    Returns
    -------
    chosen : int array
        Numbers of the chosen intervals in order of time; may be empty.
    weight : float
        Their total weight.
    prices : float64 array of shape (n_ends,)
        Largest total weight until each end, ends in rising order. They prove the choice optimal: prices do not fall, each interval's
        price difference is at least its weight, and the last price is the total.

    References
    ----------
    J. Kleinberg and E. Tardos: Algorithm Design, section 6.1. Addison-Wesley, 2005.

    Examples
    --------
    >>> from structperc.solvers.intervals import best_intervals
    >>> chosen, weight, prices = best_intervals([9, 9.5, 11, 10], [10, 11, 12, 12], [1.0, 2.5, 1.0, 2.0])
    >>> chosen.tolist(), weight, prices.tolist()
    ([1, 2], 3.5, [0.0, 0.0, 1.0, 2.5, 3.5])
    """
    tails, heads, scores, last = as_graph(starts, stops, weights)
    arcs, prices = best_path(tails, heads, scores, 0, last)
    return arcs[arcs >= last] - last, float(prices[last]), prices


def k_best_intervals(starts, stops, weights, k):
    """The k choices of disjoint intervals with the largest total weight, best first.

    The first choice is that of `best_intervals`. Raises `DataError` as in `best_intervals`.
    Raises `OptionError` if k is not a whole number from 1.

    Parameters
    ----------
    starts, stops : array-like of shape (n_intervals,)
        As in `best_intervals`.
    weights : array-like of shape (n_intervals,)
        As in `best_intervals`.
    k : int
        Number of choices, at least 1.

    Returns
    -------
    list of (chosen, weight)
        Numbers of intervals in order of time, and their total weight. Fewer than k if there are fewer choices.

    Examples
    --------
    >>> from structperc.solvers.intervals import k_best_intervals
    >>> [(list(chosen), weight) for chosen, weight in k_best_intervals([0, 1], [2, 3], [1.0, 2.0], k=2)]
    [([1], 2.0), ([0], 1.0)]
    """
    tails, heads, scores, last = as_graph(starts, stops, weights)
    return [(tuple(a - last for a in arcs if a >= last), weight) for arcs, weight in k_best_paths(tails, heads, scores, 0, last, k)]


def interval_marginals(starts, stops, weights):
    """Log partition function of all choices of disjoint intervals, and the probability of each interval.

    A choice has a probability proportional to exp(total weight). Cost: O(m log m) for m intervals.
    Raises `DataError` as in `best_intervals`.

    Parameters
    ----------
    starts, stops : array-like of shape (n_intervals,)
        As in `best_intervals`.
    weights : array-like of shape (n_intervals,)
        As in `best_intervals`.

    Returns
    -------
    log_z : float
        Log of the sum of exp(total weight) over all choices.
    marginals : float64 array of shape (n_intervals,)
        Probability that each interval is chosen.

    Examples
    --------
    >>> from structperc.solvers.intervals import interval_marginals
    >>> log_z, marginals = interval_marginals([0, 1], [2, 3], [0.0, 0.0])       # three choices: none, the first, the second
    >>> round(log_z, 4), marginals.round(4).tolist()
    (1.0986, [0.3333, 0.3333])
    """
    tails, heads, scores, last = as_graph(starts, stops, weights)
    log_z, marginals = path_marginals(tails, heads, scores, 0, last)
    return log_z, marginals[last:]


def as_graph(starts, stops, weights):
    """Arcs between neighbouring ends, of score 0, then one for each interval; the number of the last end."""
    starts = real_array(starts, "starts", ("n_intervals",), FINITE)
    stops = real_array(stops, "stops", starts.shape, FINITE)
    weights = real_array(weights, "weights", starts.shape)
    bad = ~(starts < stops)
    if bad.any():
        a = int(np.argmax(bad))
        raise DataError(f"interval {a} goes from {starts[a]} to {stops[a]}; expected a stop after the start.")
    ends, places = np.unique(np.concatenate([starts, stops]), return_inverse=True)
    places, last = places.reshape(2, -1), max(len(ends) - 1, 0)
    gaps = np.arange(last)
    return np.append(gaps, places[0]), np.append(gaps + 1, places[1]), np.append(np.zeros(last), weights), last


__all__ = ["best_intervals", "interval_marginals", "k_best_intervals"]
