"""Ordinal regression by binary classification, and the reverse, for scikit-learn's estimators.

Provisional: it may change in any minor version.

`structperc_boosting.costs` has the two reductions as functions of costs and weights.

References
----------
L. Li and H.-T. Lin: Ordinal regression by extended binary classification. NIPS 2006.
H.-T. Lin and L. Li: Combining ordinal preferences by boosting. ECML PKDD 2009 Workshop on Preference Learning.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from structperc.errors import DataError, OptionError, shortened
from structperc.estimators.keeping import InnerMethods
from structperc.estimators.rankers import Parameters, RankScore, SortedClasses, cloned_ranker, levels_named, order_in
from structperc.estimators.tree_libraries import explain_levels, require_contributions, tree_contributions
from structperc.plugin_tools import (
    LabelCodes,
    find_ends,
    find_labels,
    generator,
    has_typed_columns,
    interval_labels,
    read_alone,
    read_intervals,
    warn_of_open_ends,
)
from structperc_boosting import citation as LIN_LI
from structperc_boosting.bases import (
    computed,
    example_weights,
    ranks_predicted,
    read_examples,
    read_ranks,
    read_rows,
    read_weights,
    require_parameter,
)
from structperc_boosting.costs import check_v_shape, cost_matrix, ranks_of_answers, reduce_costs, threshold_answers
from structperc_boosting.falling import fall_with_k, grows_trees, lengthen, remedy_inside

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

__all__ = ["BinaryReduction", "RankerClassifier"]

BELOW_OR_ABOVE = [0, 1]         # labels of the binary examples: XGBoost takes no others
THRESHOLDS = ("auto", "indicators", "number")
WITHOUT_COLUMN = ("could not convert", "cannot cast")      # what numpy and pandas say of texts, naming no column
SMALLEST = np.finfo(float).tiny         # a probability of 0, so that log odds are finite
LI_LIN = """@inproceedings{li2006ordinal,
  author = {Ling Li and Hsuan-Tien Lin},
  title = {Ordinal Regression by Extended Binary Classification},
  booktitle = {Advances in Neural Information Processing Systems 19},
  year = {2006}
}"""


class Reduction(InnerMethods):
    """What both reductions save beside their model: `_labels` is the attribute with the labels, `_known` are other ones."""

    _known: ClassVar[tuple] = ("n_features_in_",)
    _labels: ClassVar[str]

    def _fitted(self):
        attributes = {name: getattr(self, name) for name in (*self._known, self._labels, "feature_names_in_") if hasattr(self, name)}
        return {name: value.item() if isinstance(value, np.generic) else value for name, value in attributes.items()}

    def _revive(self, trained, fitted):
        labels, n_features = np.array(fitted[self._labels]), fitted["n_features_in_"]
        if labels.ndim != 1 or len(set(labels.tolist())) < max(len(labels), 1) or type(n_features) is not int or n_features < 1:
            raise DataError(f"it has the labels {labels.tolist()!r:.60} and {n_features!r:.20} columns")
        attributes = {name: fitted[name] for name in self._known} | {"estimator_": trained, self._labels: labels}
        if "feature_names_in_" in fitted:
            attributes["feature_names_in_"] = np.array(fitted["feature_names_in_"], dtype=object)
        vars(self).update(attributes)

    def _trained(self):
        return self._from_fit("estimator_")


def has_probabilities(model) -> bool:
    """Whether there are probabilities. scikit-learn shows the error as the cause of its AttributeError."""
    classifier = vars(model).get("estimator_", model.estimator)
    if not hasattr(classifier, "predict_proba"):
        raise OptionError(f"{type(classifier).__name__} has no predict_proba, so the reduction has no probabilities; threshold_scores has "
                          f"its scores.")
    if not vars(model).get("even_costs_", True):
        raise OptionError("a step between two ranks costs more for some labels than for others. So the classifier's probabilities are not "
                          "those of the ranks. Train with cost='absolute' and without costs.")
    return True


def is_explained(model) -> bool:
    """Whether TreeSHAP explains the classifier. scikit-learn shows the error as the cause of its AttributeError."""
    require_contributions(vars(model).get("estimator_", model.estimator))
    return True


class BinaryReduction(SortedClasses, RankScore, Reduction, MetaEstimatorMixin, ClassifierMixin, Parameters):
    """Predicts ordered labels by any binary classifier that takes sample weights, such as boosted trees.

    The classifier learns "is the rank of x above k?" for k = 1..K - 1, from one weighted binary example for each x and k. The rank of x is
    1 + the number of its positive labels. The mean cost of the ranks is at most the classifier's weighted error. This holds if the labels
    fall with k, or the costs are convex.

    Parameters
    ----------
    estimator : classifier
        With `fit(X, y, sample_weight=...)`; its labels are 0 and 1. Its score is its `decision_function`, else the log odds of its
        `predict_proba`, else its prediction. A score of 0 counts as above.
    cost : {"absolute", "squared", "zero-one"} or (K, K) array, default "absolute"
        What a wrong rank costs (row: right label, column: predicted label), where `fit` is given no costs.
    thresholds : {"auto", "indicators", "number"}, default "auto"
        The form of k for the classifier. "indicators" are K - 1 columns, of which the k-th is 1, for linear classifiers and kernels.
        "number" is one column with k, for trees. "auto" is "number" if the classifier has a parameter of trees, such as `max_depth` or
        `num_leaves`; else "indicators".
    falling : bool, default False
        Whether P(y > k) falls with k by construction. This sets the monotone constraint of k as a number. Classifiers of LightGBM,
        XGBoost and CatBoost, and scikit-learn's histogram boosting, trees and forests have it. Their constraints of columns of X stay.
    class_weight : None, "balanced" or dict, default None
        Multiplies the costs of rows by a weight of their labels, {label: weight}; labels that are left out weigh 1. "balanced": all labels
        that occur weigh the same in all.
    classes : list, optional
        The labels in order; otherwise those that `estimator` names, an ordered categorical's own order, or the sorted labels of y.

    Attributes
    ----------
    estimator_ : classifier
        What was trained.
    levels_ : ndarray of shape (K,)
        The labels in the order of ranks; `classes_` has them sorted.
    k_is_number_ : bool
        Whether k is one column.
    even_costs_ : bool
        Whether the step from rank k to k + 1 costs the same for every right label, as in "absolute". Only then is there
        `predict_proba`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    The classifier is trained on up to n (K - 1) examples; those of weight 0 are left out.

    The classifier reads the rows. So a frame of pandas stays a frame, with its categories, and the classifier may allow NaN. What it makes
    of categories that are numbers is the same as without the reduction. Classifiers of scikit-learn without `categorical_features` read
    them as these numbers: make columns of 0 and 1 of them.

    k has columns behind those of X. A classifier's list of a value for each column of X is lengthened: `monotonic_cst`,
    `monotone_constraints`, a boolean `categorical_features`, `feature_types`.

    Without `falling`, probabilities of some rows may rise with k. `predict_proba` then sorts the K - 1 probabilities of a row. Its median
    remains the prediction.

    References
    ----------
    V. Chernozhukov, I. Fernández-Val and A. Galichon: Quantile and probability curves without crossing. Econometrica 78, 2010.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from structperc.estimators import BinaryReduction
    >>> X, y = [[-2.0], [-1.0], [0.5], [0.7], [2.0], [3.0]], [1, 1, 2, 2, 3, 3]
    >>> model = BinaryReduction(LogisticRegression(C=100)).fit(X, y)
    >>> model.predict([[-3.0], [0.6], [4.0]]).tolist()
    [1, 2, 3]
    >>> model.predict_proba([[0.6]]).argmax()
    np.int64(1)
    """

    _cited: ClassVar[str] = LI_LIN
    _labels: ClassVar[str] = "levels_"
    _known: ClassVar[tuple] = (*Reduction._known, "k_is_number_", "even_costs_")

    def __init__(self, estimator, *, cost="absolute", thresholds="auto", falling=False, class_weight=None, classes=None) -> None:
        self.estimator, self.cost, self.thresholds, self.falling = estimator, cost, thresholds, falling
        self.class_weight, self.classes = class_weight, classes

    def fit(self, X, y, costs=None, sample_weight=None) -> Self:
        """Trains the classifier.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
        y : array-like of shape (n,) or (n, 2)
            The label of each row, or the lowest and highest label that it may have, in the forms of `IntervalPA`. Labels of an interval
            cost nothing: its inner thresholds have weight 0.
        costs : array-like of shape (n, K), optional
            Of predicting each label for each example, instead of `cost`: 0 at the right label, not falling on the way to the ends.
        sample_weight : array-like of shape (n,), optional
            Multiplies the costs.

        Returns
        -------
        self
            A failed fit leaves it as it was.
        """
        if self.thresholds not in THRESHOLDS:
            raise OptionError(f"thresholds={self.thresholds!r}; expected one of {', '.join(map(repr, THRESHOLDS))}.")
        if self.falling and self.thresholds == "indicators":
            raise OptionError("falling=True constrains k as a number, but thresholds='indicators'; leave thresholds out.")
        require_parameter(self.estimator, "sample_weight", "the reduction to binary examples", remedy_inside(self.estimator)
                          or "choose an estimator with it")
        reader = copy.copy(self)            # learns the columns of X before the checks end
        X, labels, ranks, example_costs = self._read(reader, X, y, costs, sample_weight)
        z, weights = (values.T.ravel() for values in reduce_costs(ranks, example_costs))      # all examples at k = 1, then at k = 2, ...
        kept = np.flatnonzero(weights)
        if len(kept) == 0:
            raise DataError("all costs are 0, so there is nothing to learn from.")
        estimator = cloned_ranker(self.estimator, BELOW_OR_ABOVE)
        k_is_number = bool(self.falling or self.thresholds == "number" or self.thresholds == "auto" and grows_trees(estimator))
        if self.falling:
            fall_with_k(estimator, X.shape[1], name_of_k(X) if hasattr(X, "iloc") else None)
        lengthen(estimator, X.shape[1], 1 if k_is_number else len(labels) - 1)
        k, rows = np.divmod(kept, X.shape[0])
        extended = with_thresholds(X, rows, k + 1, None if k_is_number else len(labels) - 1)
        try:
            estimator.fit(extended, (z[kept] > 0).astype(int), sample_weight=weights[kept])
        except ValueError as error:
            if hasattr(X, "iloc") and str(error).lower().startswith(WITHOUT_COLUMN):
                read_alone(X)
            raise
        vars(self).pop("feature_names_in_", None)
        vars(self).update({name: value for name, value in vars(reader).items() if name in ("n_features_in_", "feature_names_in_")})
        self.levels_, self.estimator_, self.k_is_number_ = labels, estimator, k_is_number
        self.even_costs_ = costs is None and weighs_evenly(cost_matrix(self.cost, len(labels)))
        return self

    def _read(self, reader, X, y, costs, sample_weight):
        """The rows, the labels in order, the right rank of each row, or the lowest, and the costs of ranks."""
        order, class_weight = order_in(y, levels_named(self), self.class_weight)
        if find_ends(y) is None:
            X, y, weights = read_examples(reader, X, y, sample_weight, order is not None, passed=True, accept_sparse="csr")
            return X, *read_ranks(y, order, self.cost, costs, example_weights(class_weight, order, y, weights))
        if class_weight is not None:
            raise OptionError("class_weight weighs rows by their label, but y has intervals of labels. Leave class_weight out, and weigh "
                              "rows by the sample_weight of fit.")
        X = read_rows(reader, X, passed=True, accept_sparse="csr")
        labels = find_labels(interval_labels(y), order, True)
        low, high = read_intervals(y, labels, LabelCodes(labels).encode, X.shape[0])
        if order is None:
            warn_of_open_ends(y, labels)
        if costs is None:
            matrix, ranks = cost_matrix(self.cost, len(labels)), np.arange(1, len(labels) + 1)
            costs = np.where(ranks < low[:, None], matrix[low - 1], np.where(ranks > high[:, None], matrix[high - 1], 0))
        costs, weights = check_v_shape(check_v_shape(costs, low), high), read_weights(sample_weight, X.shape[0])
        return X, labels, low, costs if weights is None else costs * weights[:, None]

    def threshold_scores(self, X) -> np.ndarray:
        """The classifier's scores for "is the rank above k?", shape (n, K - 1): 0 or more speaks for yes.

        They are its `decision_function`, else the log odds of its `predict_proba`, else its predictions as 1 and -1.
        """
        return self._answers(X, scores_above)

    def predict(self, X) -> np.ndarray:
        """The labels of rows, shape (n,)."""
        ranks = ranks_of_answers(self.threshold_scores(X))
        return self.levels_[ranks - 1]

    @available_if(has_probabilities)
    def predict_marginals(self, X) -> np.ndarray:
        """The probability of a level above `levels_[k]` for each row, shape (n, K - 1). It never rises with k."""
        probabilities = self._answers(X, lambda estimator, rows: probabilities_of(estimator, rows)[1])
        return np.sort(probabilities, axis=1)[:, ::-1]

    @available_if(has_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """How probable every label is, shape (n, K): the differences of `predict_marginals`. The median is the prediction.
        Returns a float64 array of shape (n_samples, K). Columns in the order of `classes_`; each row sums to 1.
        """
        return self._by_class(-np.diff(self.predict_marginals(X), axis=1, prepend=1.0, append=0.0))

    @available_if(has_probabilities)
    def predict_log_proba(self, X) -> np.ndarray:
        """The logarithm of `predict_proba`; -inf for a probability of 0.
        Returns a float64 array of shape (n_samples, K). Columns in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(is_explained)
    def explain(self, x, against=None) -> Any:
        """Why x got its label: what each column adds to the scores of the boundaries, by TreeSHAP.

        The score is the mean of `threshold_scores` over boundaries, of forests and single trees that of the probabilities less 1/2. The
        way to it begins at the mean score of the training rows. `margin` is what is missing to the nearest boundary. Scores of XGBoost
        are of float32. Trees of scikit-learn need structperc[trees].

        Parameters
        ----------
        x : array-like of shape (n_features,), or data frame of one row
        against : label, optional
            Then the scores of all boundaries between the prediction and this label are split, one by one. If scores rise with k, their
            sum may be negative.

        Returns
        -------
        Explanation
            Its contributions add up to its `total`.
        """
        self._from_fit("estimator_")
        rows = x if hasattr(x, "iloc") or sparse.issparse(x) else np.reshape(x, (1, -1))
        if rows.shape[0] != 1:
            raise DataError(f"x has {rows.shape[0]} rows, but an explanation is of one.")
        extended, d = self._extended(rows), self.n_features_in_
        columns, start, of_probability = tree_contributions(self.estimator_, extended)
        if of_probability:
            start, scores = start - 0.5, probabilities_of(self.estimator_, extended)[1] - 0.5
        else:
            scores = scores_above(self.estimator_, extended)
        names = getattr(self, "feature_names_in_", [f"x[{j}]" for j in range(d)])
        return explain_levels(self.levels_, scores, columns[:, :d], start + columns[:, d:].sum(axis=1), names, against)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True      # one direction cannot separate classes that have no order
        return tags

    def _revive(self, trained, fitted):
        for name in ("k_is_number_", "even_costs_"):
            if type(fitted[name]) is not bool:
                raise DataError(f"its {name} is {fitted[name]!r:.40}, which is neither true nor false")
        super()._revive(trained, fitted)

    def _answers(self, X, answer):
        """The numbers that a function has for all rows and thresholds, shape (n, K - 1)."""
        rows = self._extended(X)
        answers = np.asarray(answer(self.estimator_, rows), dtype=float)
        return answers.reshape(len(self.levels_) - 1, -1).T

    def _extended(self, X):
        """All rows at k = 1, then at k = 2, ..."""
        self._from_fit("estimator_")
        X = read_rows(self, X, reset=False, passed=True, accept_sparse="csr")
        n, n_thresholds = X.shape[0], len(self.levels_) - 1
        rows, k = np.tile(np.arange(n), n_thresholds), np.repeat(np.arange(1, n_thresholds + 1), n)
        return with_thresholds(X, rows, k, None if self.k_is_number_ else n_thresholds)


def weighs_evenly(matrix) -> bool:
    """Whether each step between neighbouring ranks costs the same, whatever label is right."""
    steps = np.abs(np.diff(matrix, axis=1))
    return bool((steps == steps[0]).all())


def scores_above(estimator, X):
    """The score of label 1 for each row: 0 or more speaks for it."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    if hasattr(estimator, "predict_proba"):
        below, above = np.log(np.maximum(probabilities_of(estimator, X), SMALLEST))
        return above - below
    return np.where(np.asarray(estimator.predict(X)) == BELOW_OR_ABOVE[1], 1, -1)


def probabilities_of(estimator, X):
    """The probabilities of the labels 0 and 1, shape (2, n). A classifier that was trained on one label has no column for the other."""
    probabilities = np.asarray(estimator.predict_proba(X), dtype=float)
    classes = np.asarray(getattr(estimator, "classes_", BELOW_OR_ABOVE))
    return np.array([probabilities[:, classes == label].sum(axis=1) for label in BELOW_OR_ABOVE])


def with_thresholds(X, rows, k, n_indicators):
    """Some rows of X, each with its k behind them: as a number, or as one of `n_indicators`."""
    if n_indicators is None:
        columns = k[:, None].astype(float)
    elif sparse.issparse(X):
        columns = sparse.csr_matrix((np.ones(len(k), X.dtype), (np.arange(len(k)), k - 1)), shape=(len(k), n_indicators))
    else:
        columns = (k[:, None] == np.arange(1, n_indicators + 1)).astype(float)
    if sparse.issparse(X):
        return sparse.hstack([X[rows], columns.astype(X.dtype)], format="csr")
    if not hasattr(X, "iloc"):
        return np.concatenate([X[rows], columns.astype(X.dtype)], axis=1)
    if not all(isinstance(name, str) for name in X.columns):            # scikit-learn takes texts or whole numbers, not both
        X = X.set_axis([str(i) for i in range(X.shape[1])], axis=1)
    name = name_of_k(X)
    names = [name] if n_indicators is None else [f"{name}_{i + 1}" for i in range(n_indicators)]
    return X.iloc[rows].reset_index(drop=True).assign(**dict(zip(names, columns.T, strict=True)))


def name_of_k(frame) -> str:
    """A name that begins none of the frame's columns."""
    name = "above_rank"
    while any(str(column).startswith(name) for column in frame.columns):
        name += "_"
    return name


class RankerClassifier(Reduction, MetaEstimatorMixin, ClassifierMixin, Parameters):
    """Classifies binary examples (x, k), "is the rank of x above k?", by any ranker that takes costs.

    The reverse of `BinaryReduction`: each weighted binary example becomes an ordinal example. Its costs are the weight / (K - 1) on the
    wrong side of k, and 0 on the right side. The ranker's mean cost is then the classifier's weighted error.

    Parameters
    ----------
    estimator : ranker
        With `fit(X, y)`, whose y are the ranks 1..K, and `predict(X)`. Several thresholds need `fit(X, y, costs=...)`, as of `ORStump`,
        `AdaBoostOR`, `SVOR` and `PRank(pocket=True)`. Its parameter `classes` is set to the ranks, and `random_state` where it is None.
    random_state : None, int, numpy Generator or RandomState, optional
        Draws the seeds of the ranker.

    Attributes
    ----------
    estimator_ : ranker
        What was trained.
    classes_ : ndarray of shape (2,)
        The labels; the second means "above".
    n_ranks_ : int
        K, 1 + the largest threshold.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> from structperc.estimators import ORStump
    >>> from structperc.estimators import RankerClassifier
    >>> X, k, above = [[-2.0], [-2.0], [0.5], [0.5], [2.0], [2.0]], [1, 2, 1, 2, 1, 2], [False, False, True, False, True, True]
    >>> model = RankerClassifier(ORStump()).fit(X, above, thresholds=k)
    >>> model.predict([[0.6], [0.6]], thresholds=[1, 2]).tolist()
    [True, False]
    """

    _cited: ClassVar[str] = LIN_LI
    _labels: ClassVar[str] = "classes_"
    _known: ClassVar[tuple] = (*Reduction._known, "n_ranks_")

    def __init__(self, estimator, *, random_state=None) -> None:
        self.estimator, self.random_state = estimator, random_state

    def fit(self, X, y, thresholds=None, sample_weight=None) -> Self:
        """Trains the ranker.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Two labels. The larger one means that the rank is above the threshold.
        thresholds : array-like of int, shape (n,), optional
            k of each example, from 1; without it all are 1, and the ranker is a plain binary classifier.
        sample_weight : array-like of shape (n,), optional
        """
        X = computed(X)
        X, y, weights = read_examples(self, X, y, sample_weight, passed=has_typed_columns(X))
        classes = find_labels(np.asarray(y), None, False)
        above = LabelCodes(classes).encode(y, len(y)) > 1
        if len(classes) != 2:
            raise DataError(f"Only binary classification is supported. The type of the target is "
                            f"{'multiclass' if len(classes) > 2 else 'one class'}: y has {len(classes)}, but \"is the rank above k?\" "
                            f"needs two.")
        k = self._thresholds(thresholds, len(X), None)
        n_ranks = int(k.max()) + 1
        right = np.where(above, n_ranks, 1)
        estimator = cloned_ranker(self.estimator, list(range(1, n_ranks + 1)), generator(self.random_state))
        if n_ranks == 2:            # costs are the weights
            if weights is not None:
                require_parameter(self.estimator, "sample_weight", "the weights of binary examples")
            estimator.fit(X, right, **({} if weights is None else {"sample_weight": weights}))
        else:
            require_parameter(self.estimator, "costs", "the reduction of binary examples with several thresholds")
            estimator.fit(X, right, costs=self._costs(above, k, n_ranks, weights))
        self.classes_, self.n_ranks_, self.estimator_ = classes, n_ranks, estimator
        return self

    @staticmethod
    def _costs(above, k, n_ranks, weights):
        """What each rank costs each example, shape (n, K)."""
        wrong = (np.arange(1, n_ranks + 1) > k[:, None]) != above[:, None]
        return wrong * (np.ones(len(k)) if weights is None else weights)[:, None] / (n_ranks - 1)

    def predict(self, X, thresholds=None) -> np.ndarray:
        """Whether the rank of each row is above its threshold, as the labels of y, shape (n,).

        Parameters
        ----------
        thresholds : array-like of shape (n_samples,), optional
            The threshold of each row, from 1 to K - 1. Default: all are 1, as in `fit`.
        """
        self._from_fit("estimator_")
        X = computed(X)
        X = read_rows(self, X, reset=False, passed=has_typed_columns(X))
        k = self._thresholds(thresholds, len(X), self.n_ranks_)
        ranks = ranks_predicted(self.estimator_, X, self.n_ranks_)
        answers = threshold_answers(ranks, self.n_ranks_)[np.arange(len(X)), k - 1]
        return self.classes_[(answers > 0).astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @staticmethod
    def _thresholds(thresholds, n, n_ranks):
        """The threshold of each example, from 1 to K - 1."""
        k = np.ones(n, dtype=int) if thresholds is None else np.asarray(thresholds)
        if k.shape != (n,) or k.dtype.kind not in "iu" or k.min() < 1 or n_ranks is not None and k.max() >= n_ranks:
            most = "" if n_ranks is None else f" to {n_ranks - 1}"
            raise DataError(f"thresholds is {shortened(thresholds)}; expected a whole number from 1{most} for each of the {n} rows.")
        return k
