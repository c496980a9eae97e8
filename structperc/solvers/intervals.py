"""Disjoint intervals of largest weight: paths over their ends, an arc for each interval and one for each gap."""

from __future__ import annotations

import numpy as np

from structperc.core.arguments import FINITE, real_array
from structperc.core.errors import DataError
from structperc.solvers.paths import best_path, k_best_paths, path_marginals


def best_intervals(starts, stops, weights):
    """The disjoint intervals of largest total weight.

    Parameters
    ----------
    starts, stops : array-like of shape (n_intervals,)
        Half open: an interval may start where another stops. Any finite numbers, each stop after its start.
    weights : array-like of shape (n_intervals,)
        Of any sign; -inf forbids an interval.

    Returns
    -------
    chosen : int array
        Numbers of intervals, in the order of time; perhaps none. Of equal choices that in which nothing stands last, or, where something
        must, the interval of the lowest number; then the same for what stands before.
    weight : float
    prices : float64 array of shape (n_ends,)
        They prove it: what the best choice until each end weighs, ends in rising order. Prices do not fall, and rise over every
        interval by its weight at least; the last is the largest total.

    Raises
    ------
    DataError
        For NaN, weights of +inf and intervals that do not stop after their start.

    Notes
    -----
    O(m log m) for m intervals. Kleinberg and Tardos, Algorithm Design, 2005, section 6.1.

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
    """The k choices of disjoint intervals of largest total weight, best first, as (chosen, weight); fewer where there are fewer.

    The first is what `best_intervals` finds; parameters and errors as there.
    """
    tails, heads, scores, last = as_graph(starts, stops, weights)
    return [(tuple(a - last for a in arcs if a >= last), weight) for arcs, weight in k_best_paths(tails, heads, scores, 0, last, k)]


def interval_marginals(starts, stops, weights):
    """log Z over all choices of disjoint intervals, and how probable each interval is where p(choice) is proportional to exp(weight).

    Parameters and errors as in `best_intervals`.
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
