"""Measures of predicted ranks of which no more is known than an interval of admissible ones."""

from __future__ import annotations

import numpy as np

from structperc.basics.arguments import choice, whole_array
from structperc.basics.errors import DataError, shortened
from structperc.basics.labels import LabelCodes, all_labels, as_label_array, is_listed, ordered_categories
from structperc.metrics.labels import label_order, rank_measures
from structperc.reading.intervals import interval_labels, read_intervals, without_ends

OF_EXACT_LABELS = {"mean interval error": "mean absolute error", "inside the interval": "accuracy"}     # what they are where all are exact


def interval_absolute_error(y_low_high, y_pred, classes=None) -> float:
    """Mean distance of predictions from the nearest admissible level: the interval-insensitive absolute error.
    Raises `DataError` if the lists differ in length or are empty, or a row is not an interval. The message names the row.
    Returns a float. In levels, from 0 (all inside their intervals) to r - 1. For exact labels it is the mean absolute error.
    See also `mean_absolute_error` (exact labels) and `interval_measures` (further measures).

    Parameters
    ----------
    y_low_high : sequence
        The lowest and highest admissible label of each row, of shape (n, 2). Other forms: plain labels, pairs with an open end (None, NaN
        or infinite), intervals of pandas.
    y_pred : sequence of labels
        Predicted labels.
    classes : sequence, optional
        All labels, lowest first; required for text. Default: the numbers that occur, in order.

    References
    ----------
    K. Antoniuk, V. Franc and V. Hlaváč: V-shaped interval insensitive loss for ordinal classification. Machine Learning 103, pages
    261-283, 2016.

    Examples
    --------
    >>> from structperc.metrics import interval_absolute_error
    >>> interval_absolute_error([[1, 2], [2, 4], [3, 3]], [3, 4, 1])
    1.0
    """
    low, high, predicted, _ = interval_codes(y_low_high, y_pred, classes)
    return float(interval_distances(low, high, predicted).mean())


def interval_measures(y_low_high, y_pred, classes=None, unrated="refuse") -> dict[str, float]:
    """Measures of predicted levels if the right levels are intervals, by name. Raises `DataError` as in `interval_absolute_error`.

    Parameters
    ----------
    y_low_high : sequence
        As in `interval_absolute_error`.
    y_pred : sequence of labels
        Predicted labels.
    classes : sequence, optional
        As in `interval_absolute_error`.
    unrated : {"refuse", "skip"}, default "refuse"
        For rows without both ends: "refuse" raises an error, "skip" leaves them out.

    Returns
    -------
    dict of str to float
        Mean interval error and the share of predictions inside their intervals. If all labels are exact, the result of `rank_measures`.

    Examples
    --------
    >>> from structperc.metrics import interval_measures
    >>> interval_measures([[1, 2], [2, 4], [3, 3], [1, 4]], [3, 4, 3, 1])
    {'mean interval error': 0.25, 'inside the interval': 0.75}
    """
    low, high, predicted, n_labels = interval_codes(y_low_high, y_pred, classes, unrated)
    if (low == high).all():
        return rank_measures(low, predicted, np.arange(1, n_labels + 1) if n_labels > 1 else None)
    off = interval_distances(low, high, predicted)
    return {"mean interval error": float(off.mean()), "inside the interval": float((off == 0).mean())}


def interval_coverage(y_true, intervals, classes=None) -> float:
    """Coverage of prediction intervals: the share of labels inside their interval, ends included.
    Raises `DataError` if the lists differ in length or are empty, or a row is not an interval. Returns a float. From 0 to 1.
    See also `mean_interval_width` (how wide the intervals are).

    Parameters
    ----------
    y_true : sequence of labels
        Right labels.
    intervals : array of shape (n, 2), or another form of intervals
        The lowest and highest predicted label of each row, as `OrdinalConformal.predict_interval` returns them.
    classes : sequence, optional
        All labels, lowest first; required for text. Default: the numbers that occur, in order.

    Examples
    --------
    >>> from structperc.metrics import interval_coverage
    >>> round(interval_coverage([1, 3, 4], [[1, 2], [1, 2], [2, 4]]), 4)
    0.6667
    """
    low, high, true, _ = interval_codes(intervals, y_true, classes)
    return float(((low <= true) & (true <= high)).mean())


def mean_interval_width(intervals, classes=None) -> float:
    """Mean number of levels in prediction intervals; 1 is a single level. Returns a float. From 1 to r.

    Parameters
    ----------
    intervals : array of shape (n, 2), or another form of intervals
        As in `interval_coverage`.
    classes : sequence, optional
        All labels, lowest first. Default: the labels that are ends of intervals, so that other levels are not counted.

    Examples
    --------
    >>> from structperc.metrics import mean_interval_width
    >>> mean_interval_width([[1, 2], [3, 3], [2, 4]], classes=[1, 2, 3, 4])
    2.0
    """
    if not is_listed(intervals) or not len(intervals):
        raise DataError(f"intervals is {shortened(intervals)}; expected an interval of labels for each row, at least one.")
    ends = as_label_array(interval_labels(intervals), "intervals", "an interval of labels for each row")
    low, high, _, _ = interval_codes(intervals, np.full(len(intervals), ends[0], dtype=ends.dtype), classes)
    return float((high - low + 1).mean())


def interval_codes(y_low_high, y_pred, classes=None, unrated="refuse"):
    """Intervals of labels and predicted labels as levels 1..r. Raises `DataError` as in `interval_measures`.

    Parameters
    ----------
    y_low_high : sequence
        As in `interval_measures`.
    y_pred : sequence of labels
        Predicted labels.
    classes : sequence, optional
        As in `interval_measures`.
    unrated : {"refuse", "skip"}, default "refuse"
        As in `interval_measures`.

    Returns
    -------
    low, high, predicted : int arrays of shape (n,)
        Levels from 1.
    n_labels : int
        Number of levels r.

    Examples
    --------
    >>> from structperc.metrics import interval_codes
    >>> low, high, predicted, n_labels = interval_codes([["low", "mid"]], ["high"], classes=["low", "mid", "high"])
    >>> low.tolist(), high.tolist(), predicted.tolist(), n_labels
    ([1], [2], [3], 3)
    """
    y_pred = as_label_array(y_pred, "y_pred")
    choice(unrated, "unrated", ("refuse", "skip"))
    if not is_listed(y_low_high):
        raise DataError(f"y_low_high is {shortened(y_low_high)}; expected an interval of labels for each row.")
    if len(y_low_high) != len(y_pred):
        raise DataError(f"y_low_high has {len(y_low_high)} rows but y_pred has {len(y_pred)}; give one prediction for each.")
    if len(y_pred) == 0:
        raise DataError("y_low_high is empty; at least one example is needed to measure anything.")
    encoder = LabelCodes(np.asarray(labels_in(y_low_high, y_pred, unrated)) if classes is None else label_order(classes))
    low, high = read_intervals(y_low_high, encoder.labels, encoder.encode, len(y_pred), unrated)
    predicted = encoder.encode(y_pred, len(y_pred))
    if unrated == "skip":
        rated = ~without_ends(y_low_high)
        if not rated.any():
            raise DataError("all rows of y_low_high miss both ends; at least one label is needed to measure anything.")
        low, high, predicted = low[rated], high[rated], predicted[rated]
    return low, high, predicted, len(encoder.labels)


def labels_in(y_low_high, y_pred, unrated):
    """The labels that intervals and predictions name, in their order."""
    ends = interval_labels(y_low_high, unrated)
    categories = ordered_categories(ends)
    if categories is not None:
        return categories
    return all_labels(as_label_array(ends, "y_low_high", "an interval of labels for each row"), y_pred, ("y_low_high", "y_pred"))


def interval_distances(low, high, predicted):
    """Distance in levels of each prediction from its interval; 0 inside. Returns an ndarray of shape (n,).

    Parameters
    ----------
    low, high : int array-like of shape (n,)
        Ends of the intervals as levels.
    predicted : int array-like of shape (n,)
        Predicted levels.

    Examples
    --------
    >>> from structperc.metrics import interval_distances
    >>> interval_distances([1, 2], [2, 2], [4, 2]).tolist()
    [2, 0]
    """
    low = whole_array(low, "low", ("n_examples",))
    high, predicted = (whole_array(values, name, low.shape) for values, name in ((high, "high"), (predicted, "predicted")))
    return np.maximum(0, np.maximum(low - predicted, predicted - high))
