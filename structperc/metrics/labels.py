"""Measures of one label per example: between ranks, and between classes."""

from __future__ import annotations

import functools
import inspect

import numpy as np

from structperc.basics.errors import DataError
from structperc.basics.labels import (
    LabelCodes,
    all_labels,
    as_label_array,
    equal_labels,
    named_labels,
    ordered_categories,
    refuse_missing,
)


def codes(y_true, y_pred, classes=None, ordered=True):
    """True and predicted labels as levels 1..r.

    Parameters
    ----------
    y_true, y_pred : sequence of labels
        Right and predicted labels.
    classes : sequence, optional
        All labels, lowest first. Default: the categories of an ordered categorical, else the numbers that occur, in order.
    ordered : bool, default True
        False: the order has no effect, so that texts are sorted.

    Returns
    -------
    true, predicted : int32 arrays of shape (n,)
        Levels from 1.
    n_labels : int
        Number of levels r.

    Examples
    --------
    >>> from structperc.metrics import codes
    >>> true, predicted, n_labels = codes(["low", "high"], ["mid", "high"], classes=["low", "mid", "high"])
    >>> true.tolist(), predicted.tolist(), n_labels
    ([1, 3], [2, 3], 3)
    """
    if classes is None:
        orders = [order.tolist() for order in map(ordered_categories, (y_true, y_pred)) if order is not None]
        if ordered and len(orders) == 2 and orders[0] != orders[1]:
            raise DataError(f"y_true has the categories {orders[0][:8]} and y_pred {orders[1][:8]}; name one order with classes=[lowest, "
                            f"..., highest].")
        classes = orders[0] if orders and (len(orders) == 1 or set(orders[0]) == set(orders[1])) else None
    y_true, y_pred = as_label_array(y_true, "y_true"), as_label_array(y_pred, "y_pred")
    if len(y_true) != len(y_pred):
        raise DataError(f"y_true has {len(y_true)} labels but y_pred has {len(y_pred)}; give one prediction for each.")
    if len(y_true) == 0:
        raise DataError("y_true is empty; at least one example is needed to measure anything.")
    if classes is None:
        classes = all_labels(y_true, y_pred, ("y_true", "y_pred"), ordered)
    encoder = LabelCodes(label_order(classes))
    arguments = ("y_true", y_true), ("y_pred", y_pred)
    true, predicted = (encoder.encode(y, len(y), name, "Name all labels in classes.") for name, y in arguments)
    return true, predicted, len(encoder.labels)


def label_order(classes):
    """All labels in order, as given; at least one, and each once."""
    labels = named_labels(classes)
    if not len(labels):
        raise DataError("classes is empty; expected the labels in order.")
    return labels


PARAMETERS = """Parameters
----------
y_true, y_pred : sequence of labels
    Right and predicted labels.
classes : sequence, optional
    All labels, lowest first. Required for text, unless one of the lists is an ordered categorical."""

PARAMETERS_OF_CLASSES = PARAMETERS[:PARAMETERS.index("All labels")] + (
    "All labels, in the order of rows and columns. Default: sorted, or as in an ordered categorical.")


def ordered_labels(y_true, order, classes=None) -> np.ndarray:
    """The order of labels in which a model's predictions are measured.

    Parameters
    ----------
    y_true : sequence of labels
        Right labels.
    order : ndarray
        The labels of the model, in order.
    classes : sequence, optional
        All labels, lowest first.

    Returns
    -------
    ndarray
        `classes`; else the categories of an ordered categorical `y_true` with all labels of the model; else `order`.
        Other numbers of `y_true` are inserted by value if `order` are rising numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.metrics import ordered_labels
    >>> ordered_labels([1, 4, 3], np.array([1, 2, 4])).tolist()
    [1, 2, 3, 4]
    """
    if classes is not None:
        return label_order(classes)
    order, categories, values = label_order(order), ordered_categories(y_true), as_label_array(y_true, "y_true")
    if categories is not None and np.isin(order, categories).all():
        return categories
    known, values = as_numbers(order), as_numbers(values)
    if known.dtype.kind in "iuf" and values.dtype.kind in "iuf" and (np.diff(known) > 0).all():
        return np.union1d(known, values[np.isfinite(values)])
    return order


def as_numbers(values):
    """Labels that are objects as an array of numbers, if all are numbers."""
    return as_label_array(values.tolist()) if values.dtype == object else values


def pairs(true, predicted):
    """The different pairs of two arrays of codes, and how often each occurs."""
    width = int(predicted.max()) + 1
    keys, counts = np.unique(true.astype(np.int64) * width + predicted, return_counts=True)
    return keys // width, keys % width, counts


def of_codes(measure, ordered=True):
    """A measure of labels from one of their pairs, `of_pairs(true, predicted, counts, n_labels)`."""
    # Counts of parts add up to those of all data, so the measures have the same bits.

    @functools.wraps(measure)
    def measured(y_true, y_pred, classes=None):
        true, predicted, n_labels = codes(y_true, y_pred, classes, ordered)
        return measure(*pairs(true, predicted), n_labels)

    del measured.__wrapped__                # whose arguments are others
    measured.of_pairs = measure
    measured.__doc__ = inspect.cleandoc(measure.__doc__ or "").replace("{parameters}", PARAMETERS if ordered else PARAMETERS_OF_CLASSES)
    measured.__annotations__ = {"return": measure.__annotations__["return"]}
    return measured


of_classes = functools.partial(of_codes, ordered=False)


@of_codes
def mean_absolute_error(true, predicted, counts, n_labels) -> float:
    """Mean absolute error (MAE) of ordered labels, in levels.

    The distance is counted in levels: labels 1, 2 and 10 are one level apart.

    {parameters}. Raises `DataError` if the lists differ in length or are empty, or a label is not in `classes`.
    Returns a float. From 0 (all right) to r - 1.

    See Also
    --------
    macro_mean_absolute_error : rare levels count as much as common ones.
    interval_absolute_error : right labels that are intervals.

    Examples
    --------
    >>> from structperc.metrics import mean_absolute_error
    >>> mean_absolute_error([1, 2, 10], [1, 10, 1])
    1.0
    """
    return float((counts * np.abs(true - predicted)).sum() / counts.sum())


@of_codes
def macro_mean_absolute_error(true, predicted, counts, n_labels) -> float:
    """Macro-averaged mean absolute error: the MAE of each true level, averaged over the levels that occur.

    Rare levels count as much as common ones.

    {parameters}. Raises `DataError` as in `mean_absolute_error`. Returns a float. In levels, from 0 to r - 1.

    References
    ----------
    S. Baccianella, A. Esuli and F. Sebastiani: Evaluation measures for ordinal regression. Proceedings of ISDA, pages 283-287, 2009.

    Examples
    --------
    >>> from structperc.metrics import macro_mean_absolute_error
    >>> macro_mean_absolute_error([1, 1, 1, 3], [1, 1, 1, 1], classes=[1, 2, 3])
    1.0
    """
    count = np.bincount(true, weights=counts, minlength=n_labels + 1)
    error = np.bincount(true, weights=counts * np.abs(true - predicted), minlength=n_labels + 1)
    present = count > 0
    return float((error[present] / count[present]).mean())


def accuracy(y_true, y_pred) -> float:
    """Accuracy: the share of correct predictions. Raises `DataError` if the lists differ in length, are empty, or a label is missing.
    Returns a float. From 0 to 1.

    Parameters
    ----------
    y_true, y_pred : sequence of labels
        Right and predicted labels.

    Examples
    --------
    >>> from structperc.metrics import accuracy
    >>> accuracy(["low", "high"], ["low", "low"])
    0.5
    """
    y_true, y_pred = as_label_array(y_true, "y_true"), as_label_array(y_pred, "y_pred")
    if y_true.shape != y_pred.shape or y_true.size == 0:
        raise DataError(f"y_true has shape {y_true.shape} and y_pred has {y_pred.shape}; expected the same number of labels, at least one.")
    refuse_missing(y_true, "y_true")
    refuse_missing(y_pred, "y_pred")
    return float(equal_labels(y_true, y_pred).mean())


@of_codes
def accuracy_within_one(true, predicted, counts, n_labels) -> float:
    """Accuracy within one level: the share of predictions at most one level off.

    {parameters}. Raises `DataError` as in `mean_absolute_error`. Returns a float. From 0 to 1.

    Examples
    --------
    >>> from structperc.metrics import accuracy_within_one
    >>> accuracy_within_one([1, 2, 3, 4], [1, 3, 1, 4])
    0.75
    """
    return float(counts[np.abs(true - predicted) <= 1].sum() / counts.sum())


@of_codes
def quadratic_weighted_kappa(true, predicted, counts, n_labels) -> float:
    """Quadratic weighted kappa: Cohen's kappa with squared distances of levels.

    It is the agreement beyond what the two distributions of levels give by chance.

    {parameters}. Raises `DataError` as in `mean_absolute_error`.
    Returns a float. 1: all right; 0: as by chance; negative: worse. NaN if both lists have one and the same level only.

    References
    ----------
    J. Cohen: Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit. Psychological Bulletin 70,
    pages 213-220, 1968.

    Examples
    --------
    >>> from structperc.metrics import quadratic_weighted_kappa
    >>> quadratic_weighted_kappa([1, 2, 3], [1, 2, 3])
    1.0
    """
    if (true == true[0]).all() and (predicted == true[0]).all():
        return float("nan")
    table = confusion_matrix.of_pairs(true, predicted, counts, n_labels).astype(float)
    apart = np.subtract.outer(np.arange(n_labels), np.arange(n_labels)) ** 2
    by_chance = np.outer(table.sum(axis=0), table.sum(axis=1)) / table.sum()
    return float(1 - (apart * table).sum() / (apart * by_chance).sum())


def rank_measures(y_true, y_pred, classes=None) -> dict[str, float]:
    """Five measures of predicted ordered labels, by name. Raises `DataError` as in `mean_absolute_error`.

    Parameters
    ----------
    y_true, y_pred : sequence of labels
        Right and predicted labels.
    classes : sequence, optional
        All labels, lowest first. Required for text, unless one of the lists is an ordered categorical.

    Returns
    -------
    dict of str to float
        Mean absolute error, macro mean absolute error, accuracy, accuracy within one rank, quadratic weighted kappa.

    Examples
    --------
    >>> from structperc.metrics import rank_measures
    >>> rank_measures([1, 2, 3], [1, 3, 3])["mean absolute error"]
    0.333...
    """
    true, predicted, n_labels = codes(y_true, y_pred, classes)
    return rank_measures_of(*pairs(true, predicted), n_labels)


def rank_measures_of(true, predicted, counts, n_labels) -> dict[str, float]:
    """`rank_measures` of the different pairs of codes, and how often each occurs."""
    return {
        "mean absolute error": mean_absolute_error.of_pairs(true, predicted, counts, n_labels),
        "macro mean absolute error": macro_mean_absolute_error.of_pairs(true, predicted, counts, n_labels),
        "accuracy": accuracy_of(true, predicted, counts),
        "accuracy within one rank": accuracy_within_one.of_pairs(true, predicted, counts, n_labels),
        "quadratic weighted kappa": quadratic_weighted_kappa.of_pairs(true, predicted, counts, n_labels),
    }


def accuracy_of(true, predicted, counts) -> float:
    """`accuracy` of the different pairs of codes, and how often each occurs."""
    return float(counts[true == predicted].sum() / counts.sum())


@of_classes
def macro_f1(true, predicted, counts, n_labels) -> float:
    """Macro F1: the F1 of each class that occurs, averaged.

    {parameters}. Raises `DataError` as in `mean_absolute_error`.
    Returns a float. From 0 to 1. A class that is never predicted correctly counts 0.

    Examples
    --------
    >>> from structperc.metrics import macro_f1
    >>> macro_f1([1, 1, 2, 2], [1, 1, 1, 2])
    0.733...
    """
    size, right = n_labels + 1, true == predicted
    found = 2 * np.bincount(true[right], counts[right], size)
    occurring = np.bincount(true, counts, size) + np.bincount(predicted, counts, size)
    return float((found[occurring > 0] / occurring[occurring > 0]).mean())


@of_classes
def confusion_matrix(true, predicted, counts, n_labels) -> np.ndarray:
    """Confusion matrix: how often each label (row) was predicted as each label (column). Returns an ndarray of int of shape (r, r).

    {parameters}. Raises `DataError` as in `mean_absolute_error`.

    Examples
    --------
    >>> from structperc.metrics import confusion_matrix
    >>> confusion_matrix([1, 2, 2], [1, 1, 2]).tolist()
    [[1, 0], [1, 1]]
    """
    matrix = np.zeros((n_labels, n_labels), dtype=np.int64)
    matrix[true - 1, predicted - 1] = counts
    return matrix
