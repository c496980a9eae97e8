"""How the estimators of this package call the estimators that they are made of.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d, has_fit_parameter, validate_data

from structperc.errors import DataError, OptionError, shortened
from structperc.plugin_tools import (
    LabelCodes,
    as_examples,
    as_label_array,
    class_weights,
    find_labels,
    has_typed_columns,
    learn_table,
    ordered_categories,
    read_alone,
    refuse_continuous,
    refuse_not_finite,
    sample_weights,
)
from structperc_boosting.costs import check_v_shape, cost_matrix

FLOATS = (np.float64, np.float32)


def read_examples(estimator, X, y, sample_weight=None, has_classes=False, **checks):
    """X as floats, y as a column or an ordered categorical, and the sample weights or None.
    See also `read_rows` (only X, for prediction).

    Parameters
    ----------
    estimator : estimator
    X : array-like of shape (n, d)
    y : array-like of shape (n,)
    sample_weight : array-like of shape (n,), optional
    has_classes : bool, default False
        Whether the labels are known.
    **checks
        Of `read_rows`.

    Returns
    -------
    X, y, sample_weight

    Examples
    --------
    >>> from structperc.estimators import ORStump
    >>> from structperc_boosting.bases import read_examples
    >>> X, y, weights = read_examples(ORStump(), [[0, 1], [2, 3]], [1, 2], sample_weight=[1, 2])
    >>> X.dtype, y.tolist(), weights.tolist()
    (dtype('float64'), [1, 2], [1.0, 2.0])
    """
    if y is None:
        raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    X, y = read_rows(estimator, X, **checks), read_labels(y)
    check_consistent_length(X, y)
    if not has_classes and ordered_categories(y) is None:
        refuse_continuous(y)
    return X, y, read_weights(sample_weight, len(y))


def read_labels(y):
    """y as a column of labels, with scikit-learn's warning if it has two dimensions. An ordered categorical stays one.
    Returns an ndarray of shape (n,), or the categorical.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, 1)

    Examples
    --------
    >>> from structperc_boosting.bases import read_labels
    >>> read_labels([1, 2]).tolist()
    [1, 2]
    """
    if getattr(y, "ndim", 1) == 2:
        y = column_or_1d(y, warn=True)
    return as_label_array(y) if ordered_categories(y) is None else y


def read_weights(sample_weight, n_rows):
    """Sample weights as floats of at least 0, one for each row and not all 0; None stays None.
    Returns a float64 array of shape (n,) or None. Raises `DataError` if weights are wrong.

    Parameters
    ----------
    sample_weight : array-like of shape (n,) or None
    n_rows : int

    Examples
    --------
    >>> from structperc_boosting.bases import read_weights
    >>> read_weights([1, 2], 2).tolist()
    [1.0, 2.0]
    """
    weights = sample_weights(sample_weight, n_rows)
    if weights is not None and not weights.any():
        raise DataError("every sample_weight is zero, so there is nothing to learn from.")
    return weights


def read_rows(estimator, X, *, passed=False, **checks):
    """X, checked by scikit-learn's `validate_data`, as C-ordered floats. An error names the column or the cell that is wrong.

    Columns of categories and dates become numbers, as `structperc.components.TableReader` makes them. For later rows the reader is that
    of the estimator's `engine_`, whose calls take what is returned.

    Parameters
    ----------
    estimator : estimator
    X : array-like of shape (n, d)
    passed : bool, default False
        Whether an estimator within reads the rows. Frames of pandas then stay frames, and arrays may hold NaN.
    **checks
        Of `validate_data`.

    Returns
    -------
    X

    Examples
    --------
    >>> from structperc.estimators import ORStump
    >>> from structperc_boosting.bases import read_rows
    >>> read_rows(ORStump(), [[0, 1], [2, 3]]).tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    X = computed(X)
    if passed and has_typed_columns(X) and hasattr(X, "to_pandas"):
        X = X.to_pandas()
    if passed and (hasattr(X, "iloc") or has_typed_columns(X)):
        return validate_data(estimator, X, skip_check_array=True, reset=checks.get("reset", True))
    if passed:
        checks["ensure_all_finite"] = "allow-nan"
    elif checks.get("reset", True) and has_typed_columns(X):
        numbers = learn_table(X)[1].X
        validate_data(estimator, X, skip_check_array=True)
        return numbers
    elif not checks.get("reset", True) and "engine_" in vars(estimator):
        reader = estimator.engine_.model_.parts.reader
        if reader.input_columns().codes is not None:
            return reader.encoded(X)
    try:
        return validate_data(estimator, X, dtype=FLOATS, order="C", **checks)
    except (TypeError, ValueError):
        rows = read_alone(X)            # what is wrong with the table, and where
        if not passed:
            refuse_not_finite(rows)
        raise


def computed(X):
    """The table of a query of polars or of a stream, as `rows_of` takes it. Returns an object. Arrays and tables as they are.

    Parameters
    ----------
    X : object
        As users pass it.

    Examples
    --------
    >>> from structperc_boosting.bases import computed
    >>> computed([[0, 1]])
    [[0, 1]]
    """
    return X if hasattr(X, "__array__") else as_examples(X)


def rows_of(frame, rows):
    """The rows of a data frame with these numbers. Returns a data frame or table. Of the same library.

    Parameters
    ----------
    frame : data frame of pandas or polars, or table of pyarrow
    rows : int array

    Examples
    --------
    >>> import pandas as pd
    >>> from structperc_boosting.bases import rows_of
    >>> rows_of(pd.DataFrame({"x": [5, 6, 7]}), [2, 0])["x"].tolist()
    [7, 5]
    """
    return frame.iloc[rows] if hasattr(frame, "iloc") else frame.take(rows) if hasattr(frame, "take") else frame[rows]


def example_weights(class_weight, classes, y, sample_weight):
    """The sample weights times those of the labels. Returns an array of shape (n,) or None. None if there are weights of neither kind.

    Parameters
    ----------
    class_weight : None, "balanced" or dict
    classes : sequence or None
        The labels in order, if they are named.
    y : array of shape (n,)
        The labels.
    sample_weight : array of shape (n,) or None

    Examples
    --------
    >>> example_weights({2: 3.0}, None, [1, 2, 2], None).tolist()
    [1.0, 3.0, 3.0]
    """
    if class_weight is None:
        return sample_weight
    labels = find_labels(y, classes, True)
    return class_weights(class_weight, labels, LabelCodes(labels).encode(y, len(y)), sample_weight=sample_weight)


def read_ranks(y, classes, cost, costs, sample_weight=None):
    """The labels in order, the codes of y, and the costs of all ranks for the examples, (n, K).

    Parameters
    ----------
    y, classes
        As the estimators take them.
    cost : str or (K, K) array
        Used where there are no `costs`.
    costs : (n, K) array or None
    sample_weight : array of shape (n,) or None
        Multiplies the costs.

    Returns
    -------
    labels : ndarray of shape (K,)
    codes : int array of shape (n,)
    costs : array of shape (n, K)

    Examples
    --------
    >>> from structperc_boosting.bases import read_ranks
    >>> labels, codes, costs = read_ranks(["low", "high"], ["low", "high"], "absolute", None)
    >>> labels.tolist(), codes.tolist(), costs.tolist()
    (['low', 'high'], [1, 2], [[0.0, 1.0], [1.0, 0.0]])
    """
    labels = find_labels(y, classes, True)
    codes = LabelCodes(labels).encode(y, len(y))
    if costs is None:
        costs = cost_matrix(cost, len(labels))[codes - 1]
    elif np.ndim(costs) == 2 and np.shape(costs)[1] != len(labels):
        raise DataError(f"costs has {np.shape(costs)[1]} columns, but there are {len(labels)} labels. Pass a cost for each label, or name "
                        f"labels that y lacks with classes=[lowest, ..., highest].")
    costs = check_v_shape(costs, codes)
    return labels, codes, costs if sample_weight is None else costs * sample_weight[:, None]


def require_parameter(estimator, name, what, remedy="choose an estimator with it") -> None:
    """Raises `OptionError` for an estimator whose fit does not take what the reduction needs.

    Parameters
    ----------
    estimator : estimator
    name : str
        The parameter of `fit`.
    what : str
        What needs it, for the error message.
    remedy : str
        Which estimators have it, for the error message.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from structperc_boosting.bases import require_parameter
    >>> require_parameter(KNeighborsClassifier(), "sample_weight", "boosting")
    Traceback (most recent call last):
    structperc.errors.OptionError: KNeighborsClassifier.fit has no sample_weight, which boosting needs; choose an estimator with it.
    """
    if hasattr(estimator, "fit") and not has_fit_parameter(estimator, name):
        raise OptionError(f"{type(estimator).__name__}.fit has no {name}, which {what} needs; {remedy}.")


def ranks_predicted(ranker, X, n_ranks):
    """The predictions of a ranker that was trained on the ranks 1..K, an int32 array. Returns an int32 array of shape (n,).
    Raises `DataError` if a prediction is not a rank from 1 to K.

    Parameters
    ----------
    ranker : estimator
    X : array of shape (n, d)
    n_ranks : int
        K.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.estimators import ORStump
    >>> from structperc_boosting.bases import ranks_predicted
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> ranks_predicted(ORStump().fit(X, [1, 2, 3]), X[1:], n_ranks=3).tolist()
    [2, 3]
    """
    answers = np.asarray(ranker.predict(X))
    ranks = answers.astype(np.intc)
    if ranks.shape != (X.shape[0],) or (ranks != answers).any() or not 1 <= ranks.min() <= ranks.max() <= n_ranks:
        raise DataError(f"{type(ranker).__name__}.predict returned {shortened(answers)}; expected one rank from 1 to {n_ranks} "
                        f"for each row.")
    return ranks
