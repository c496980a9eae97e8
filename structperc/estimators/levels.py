"""Two orders of labels: `levels_`, of ranks, as engines have it; `classes_`, sorted, as scikit-learn has it.

What has a column for each label follows `classes_`. What follows from the order of ranks, such as thresholds and costs, follows `levels_`.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from structperc.estimators.numbered import noting, refuse_numbered
from structperc.estimators.parameters import is_estimator


class SortedClasses:
    """The attribute `classes_` of an estimator with labels: its `levels_`, sorted. Use it as a base of estimators of ordered labels.
    See also `structperc.pipelines.levels_of` (the order of ranks of any trained classifier).

    Examples
    --------
    >>> from structperc.estimators import PRank
    >>> model = PRank(classes=["low", "high"]).fit([[0.0], [1.0]], ["low", "high"])
    >>> model.levels_.tolist(), model.classes_.tolist()
    (['low', 'high'], ['high', 'low'])
    """

    if TYPE_CHECKING:
        levels_: Any

    @property
    def classes_(self) -> np.ndarray:
        return self.levels_[sorting(self.levels_)]

    def __sklearn_clone__(self):
        return noting(super().__sklearn_clone__())

    def _by_class(self, columns):
        """An array with a column for each label, in the order of `classes_` instead of `levels_`."""
        order = sorting(self.levels_)
        return columns if np.array_equal(order, np.arange(len(order))) else columns[:, order]

    def _decision(self, lead, log_probabilities):
        """The decision function: of two labels how far the second of `classes_` leads, of more the logarithms of their probabilities."""
        if len(self.levels_) != 2:
            return self._by_class(log_probabilities())
        return lead() if sorting(self.levels_)[0] == 0 else -lead()


def log_probabilities(engine, X) -> np.ndarray:
    """The logarithms of what `Engine.predict_proba` returns, also where a probability is too small for floating point.
    Returns a float64 array of shape (n, K). Columns in the order of ranks.

    Parameters
    ----------
    engine : Engine
        Trained, with labels.
    X : rows
        As in `predict`.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.estimators.levels import log_probabilities
    >>> log_probabilities(Engine("prank").fit([[0.0], [1.0]], [1, 2]), [[0.5]]).shape
    (1, 2)
    """
    model = engine.model_
    return model.log_probabilities(model.read_in_any_order(X))


def order_in(y, classes, class_weight=None):
    """`classes` as y has them: whole numbers for texts, if y has all places of the sorted texts, as scikit-learn's ensembles number them.

    Parameters
    ----------
    y : array-like of labels
    classes : sequence or None
        The labels in order.
    class_weight : None, str or dict, optional

    Returns
    -------
    classes : sequence or None
        As they were, or the place of each of them.
    class_weight : None, str or dict
        With the same labels.

    Raises
    ------
    DataError
        `classes` is None, and a tool of scikit-learn has numbered the texts.

    Examples
    --------
    >>> import warnings
    >>> from structperc.estimators.levels import order_in
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     order_in([0, 1, 2, 1], ["none", "mild", "severe"])
    ([1, 0, 2], None)
    """
    if classes is None:
        refuse_numbered(y)
    if classes is None or not all(isinstance(label, str) for label in classes):
        return classes, class_weight
    try:
        values = np.asarray(y)
    except ValueError:                                  # labels and intervals
        return classes, class_weight
    if values.dtype.kind not in "iu" or values.ndim != 1 or np.unique(values).tolist() != list(range(len(classes))):
        return classes, class_weight
    places = np.argsort(sorting(np.asarray(classes, dtype=object))).tolist()
    warnings.warn(f"y has the whole numbers 0 to {len(classes) - 1}, and classes lists texts. They are taken as places among the sorted "
                  f"texts, 0 as {sorted(classes)[0]!r}: so scikit-learn's ensembles, cross_val_predict and temperature calibration number "
                  f"them. If you numbered the ranks yourself, leave classes out.", UserWarning, stacklevel=4)
    if isinstance(class_weight, Mapping):
        place_of = dict(zip(classes, places, strict=True))
        class_weight = {place_of.get(label, label): weight for label, weight in class_weight.items()}
    return places, class_weight


def sorting(levels):
    """The places of the sorted labels among the levels; labels without a common order stay in theirs."""
    try:
        return np.argsort(levels, kind="stable")
    except TypeError:
        return np.arange(len(levels))


def levels_named(estimator):
    """The order of labels that an untrained estimator names by its parameter `classes`, or one within it.
    Returns a sequence or None. None: it names none.

    Parameters
    ----------
    estimator : estimator

    Examples
    --------
    >>> from structperc.estimators import OrdinalConformal, PRank
    >>> from structperc.estimators.levels import levels_named
    >>> levels_named(OrdinalConformal(PRank(classes=["low", "high"])))
    ['low', 'high']
    """
    if not is_estimator(estimator):
        return None
    parameters = {"": estimator, **estimator.get_params(deep=True)}
    for one in (parameters[name] for name in sorted(parameters, key=lambda name: name.count("__"))):       # the outermost first
        if isinstance(one, SortedClasses) and getattr(one, "classes", None) is not None:
            return one.classes
    return None


def receiver(estimator):
    """The estimator with a parameter `classes` that the labels of y reach unchanged: itself, or the last step of a pipeline or search."""
    while is_estimator(estimator) and "classes" not in estimator.get_params(deep=False):
        if hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            estimator = estimator.estimator if hasattr(estimator, "refit") else None
    return estimator if is_estimator(estimator) else None
