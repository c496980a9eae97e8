"""Measures of one label per example: between ranks, and between classes."""

from __future__ import annotations

import functools

import numpy as np

from structperc.core.errors import DataError
from structperc.core.labels import (
    LabelCodes,
    all_labels,
    as_label_array,
    equal_labels,
    ordered_categories,
    refuse_missing,
    refuse_unhashable,
)
from structperc.extras import require


def codes(y_true, y_pred, classes=None):
    """Both lists of labels as ranks 1..r, and r.

    Parameters
    ----------
    y_true, y_pred : sequence of labels
    classes : sequence, optional
        All labels, lowest first. Without it, the categories of an ordered categorical, else the numbers that occur, in their order.

    Returns
    -------
    true, predicted : int32 arrays
    n_labels : int

    Raises
    ------
    DataError
        When the lists differ in length, are empty, hold a label that `classes` does not name, or text without `classes`.
    """
    if classes is None:
        classes = next((order for order in map(ordered_categories, (y_true, y_pred)) if order is not None), None)
    y_true, y_pred = as_label_array(y_true, "y_true"), as_label_array(y_pred, "y_pred")
    if len(y_true) != len(y_pred):
        raise DataError(f"y_true has {len(y_true)} labels but y_pred has {len(y_pred)}; give one prediction for each.")
    if len(y_true) == 0:
        raise DataError("y_true is empty; at least one example is needed to measure anything.")
    if classes is None:
        classes = all_labels(y_true, y_pred, ("y_true", "y_pred"))
    encoder = LabelCodes(label_order(classes))
    named = ("y_true", y_true), ("y_pred", y_pred)
    true, predicted = (encoder.encode(y, len(y), name, "Name all labels in classes.") for name, y in named)
    return true, predicted, len(encoder.labels)


def label_order(classes):
    """All labels in order, as given; at least one, and no missing one."""
    labels = as_label_array(classes, "classes", "the labels in order")
    if not len(labels):
        raise DataError("classes is empty; expected the labels in order.")
    refuse_missing(labels, "classes")
    refuse_unhashable(labels, "classes")
    return labels


PARAMETERS = """Parameters
    ----------
    y_true, y_pred : sequence of labels
    classes : sequence, optional
        All labels, lowest first; needed for ranks that are text, unless one of the lists is an ordered categorical."""


def ordered_labels(y_true, known, classes=None) -> np.ndarray:
    """The labels in order, in which a model's predictions are measured.

    Parameters
    ----------
    y_true : sequence of labels
    known : ndarray
        The labels that the model knows, in order.
    classes : sequence, optional
        All labels, lowest first.

    Returns
    -------
    ndarray
        `classes`; else the categories of an ordered categorical y_true that has all known labels; else `known`, and numbers of y_true that
        a model of rising numbers has not seen stand among them, so that its predictions of them are wrong by as much.

    Examples
    --------
    >>> import numpy as np
    >>> ordered_labels([1, 4, 3], np.array([1, 2, 4])).tolist()
    [1, 2, 3, 4]
    """
    if classes is not None:
        return label_order(classes)
    known, categories, values = label_order(known), ordered_categories(y_true), as_label_array(y_true, "y_true")
    if categories is not None and np.isin(known, categories).all():
        return categories
    if known.dtype.kind in "iuf" and values.dtype.kind in "iuf" and (np.diff(known) > 0).all() and np.isin(values, known).any():
        return np.union1d(known, values[np.isfinite(values)])
    return known


def of_codes(measure):
    """A measure of labels from one of their codes: `measure(true, predicted, n_labels)`."""

    @functools.wraps(measure)
    def measured(y_true, y_pred, classes=None):
        return measure(*codes(y_true, y_pred, classes))

    del measured.__wrapped__                # whose arguments are others
    measured.__doc__ = (measure.__doc__ or "").replace("{parameters}", PARAMETERS)
    measured.__annotations__ = {"return": measure.__annotations__["return"]}
    return measured


@of_codes
def mean_absolute_error(true, predicted, n_labels) -> float:
    """How many ranks a prediction is off, on average.

    {parameters}

    Returns
    -------
    float
        From 0 (all right) to r - 1. The distance is counted in ranks: labels 1, 2 and 10 are one rank apart.

    Examples
    --------
    >>> mean_absolute_error([1, 2, 10], [1, 10, 1])
    1.0
    """
    return float(np.abs(true - predicted).mean())


@of_codes
def macro_mean_absolute_error(true, predicted, n_labels) -> float:
    """The mean absolute error of each true rank, averaged over the ranks that occur, so that rare ranks weigh as much as common ones.

    {parameters}

    Returns
    -------
    float

    Examples
    --------
    >>> macro_mean_absolute_error([1, 1, 1, 3], [1, 1, 1, 1], classes=[1, 2, 3])
    1.0
    """
    count = np.bincount(true, minlength=n_labels + 1)
    error = np.bincount(true, weights=np.abs(true - predicted), minlength=n_labels + 1)
    present = count > 0
    return float((error[present] / count[present]).mean())


def accuracy(y_true, y_pred) -> float:
    """The share of predictions that are right.

    Parameters
    ----------
    y_true, y_pred : sequence of labels

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> accuracy(["low", "high"], ["low", "low"])
    0.5
    """
    y_true, y_pred = as_label_array(y_true, "y_true"), as_label_array(y_pred, "y_pred")
    if y_true.shape != y_pred.shape or y_true.size == 0:
        raise DataError(f"y_true has shape {y_true.shape} and y_pred has {y_pred.shape}; expected the same number of labels, at least one.")
    return float(equal_labels(y_true, y_pred).mean())


@of_codes
def accuracy_within_one(true, predicted, n_labels) -> float:
    """The share of predictions that are at most one rank off.

    {parameters}

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> accuracy_within_one([1, 2, 3, 4], [1, 3, 1, 4])
    0.75
    """
    return float((np.abs(true - predicted) <= 1).mean())


@of_codes
def quadratic_weighted_kappa(true, predicted, n_labels) -> float:
    """Cohen's kappa with squared rank distances: agreement beyond what the two distributions of ranks give by chance.

    {parameters}

    Returns
    -------
    float
        1: all right, 0: as by chance, negative: worse; NaN when both hold one and the same rank only.

    Examples
    --------
    >>> quadratic_weighted_kappa([1, 2, 3], [1, 2, 3])
    1.0
    """
    if (true == true[0]).all() and (predicted == true[0]).all():
        return float("nan")
    kappa = require("sklearn.metrics", "quadratic_weighted_kappa", "sklearn").cohen_kappa_score
    return float(kappa(true, predicted, labels=np.arange(1, n_labels + 1), weights="quadratic"))


def rank_measures(y_true, y_pred, classes=None) -> dict[str, float]:
    """What is worth knowing of predicted ranks, by name.

    Parameters
    ----------
    y_true, y_pred, classes
        As in `mean_absolute_error`.

    Returns
    -------
    dict
        Mean absolute error, macro mean absolute error, accuracy, accuracy within one rank, quadratic weighted kappa.

    Examples
    --------
    >>> rank_measures([1, 2, 3], [1, 3, 3])["mean absolute error"]
    0.333...
    """
    return {
        "mean absolute error": mean_absolute_error(y_true, y_pred, classes),
        "macro mean absolute error": macro_mean_absolute_error(y_true, y_pred, classes),
        "accuracy": accuracy(y_true, y_pred),
        "accuracy within one rank": accuracy_within_one(y_true, y_pred, classes),
        "quadratic weighted kappa": quadratic_weighted_kappa(y_true, y_pred, classes),
    }


@of_codes
def macro_f1(true, predicted, n_labels) -> float:
    """The F1 of each class that occurs, averaged; 0 for a class that is never predicted right.

    {parameters}

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> macro_f1([1, 1, 2, 2], [1, 1, 1, 2])
    0.733...
    """
    f1 = require("sklearn.metrics", "macro_f1", "sklearn").f1_score
    return float(f1(true, predicted, average="macro", zero_division=0))


@of_codes
def confusion_matrix(true, predicted, n_labels) -> np.ndarray:
    """How often each label (row) was predicted as each (column).

    {parameters}

    Returns
    -------
    ndarray of int, shape (r, r)

    Examples
    --------
    >>> confusion_matrix([1, 2, 2], [1, 1, 2]).tolist()
    [[1, 0], [1, 1]]
    """
    return np.bincount((true - 1) * n_labels + predicted - 1, minlength=n_labels**2).reshape(n_labels, n_labels)
