"""Ordinal regression by binary classification, and the reverse, for scikit-learn's estimators.

`structperc_boosting.costs` has the two reductions as functions of costs and weights.

References
----------
L. Li and H.-T. Lin: Ordinal regression by extended binary classification. NIPS 2006.
H.-T. Lin and L. Li: Combining ordinal preferences by boosting. ECML PKDD 2009 Workshop on Preference Learning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from structperc.errors import DataError, OptionError
from structperc.estimators.keeping import InnerMethods
from structperc.estimators.rankers import KnownParameters, RankScore, SortedClasses, cloned_ranker, levels_named, order_in
from structperc.plugin_tools import generator
from structperc_boosting import citation as LIN_LI
from structperc_boosting.bases import FLOATS, example_weights, ranks_predicted, read_examples, read_ranks, require_parameter
from structperc_boosting.costs import ranks_of_answers, reduce_costs, threshold_answers

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BinaryReduction", "RankerClassifier"]

BELOW_OR_ABOVE = [-1, 1]        # labels of the binary examples
THRESHOLDS = ("indicators", "number")
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
        return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in attributes.items()}

    def _revive(self, trained, fitted):
        labels, n_features = np.array(fitted[self._labels]), fitted["n_features_in_"]
        if labels.ndim != 1 or len(set(labels.tolist())) < max(len(labels), 1) or type(n_features) is not int or n_features < 1:
            raise DataError(f"it has the labels {labels.tolist()!r:.60} and {n_features!r:.20} columns")
        attributes = {name: fitted[name] for name in self._known} | {"estimator_": trained, self._labels: labels}
        if "feature_names_in_" in fitted:
            attributes["feature_names_in_"] = np.array(fitted["feature_names_in_"], dtype=object)
        vars(self).update(attributes)

    def _trained(self):
        check_is_fitted(self)
        return self.estimator_


class BinaryReduction(KnownParameters, SortedClasses, RankScore, Reduction, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Predicts ordered labels by any binary classifier that takes sample weights.

    The classifier learns "is the rank of x above k?" for k = 1..K - 1, from one weighted binary example for each x and k. The rank of x is
    1 + the number of its positive labels. The mean cost of the ranks is at most the classifier's weighted error. This holds if the labels
    fall with k, or the costs are convex.

    Parameters
    ----------
    estimator : classifier
        With `fit(X, y, sample_weight=...)`. Its `decision_function`, if there is one, decides by its sign, 0 counting as above.
    cost : {"absolute", "squared", "zero-one"} or (K, K) array, default "absolute"
        What a wrong rank costs (row: right label, column: predicted label), where `fit` is given no costs.
    thresholds : {"indicators", "number"}, default "indicators"
        The form of k for the classifier. "indicators" are K - 1 columns, of which the k-th is 1, for linear classifiers and kernels.
        "number" is one column with k, for trees.
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
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    The classifier is trained on up to n (K - 1) examples; those of weight 0 are left out.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from structperc.estimators import BinaryReduction
    >>> X, y = [[-2.0], [-1.0], [0.5], [0.7], [2.0], [3.0]], [1, 1, 2, 2, 3, 3]
    >>> BinaryReduction(LogisticRegression(C=100)).fit(X, y).predict([[-3.0], [0.6], [4.0]]).tolist()
    [1, 2, 3]
    """

    _cited: ClassVar[str] = LI_LIN
    _labels: ClassVar[str] = "levels_"

    def __init__(self, estimator, *, cost="absolute", thresholds="indicators", class_weight=None, classes=None) -> None:
        self.estimator, self.cost, self.thresholds, self.class_weight, self.classes = estimator, cost, thresholds, class_weight, classes

    def fit(self, X, y, costs=None, sample_weight=None) -> Self:
        """Trains the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,)
        costs : array-like of shape (n, K), optional
            Of predicting each label for each example, instead of `cost`: 0 at the right label, not falling on the way to the ends.
        sample_weight : array-like of shape (n,), optional
            Multiplies the costs.

        Returns
        -------
        self
        """
        if self.thresholds not in THRESHOLDS:
            raise OptionError(f"thresholds={self.thresholds!r}; expected one of {', '.join(map(repr, THRESHOLDS))}.")
        require_parameter(self.estimator, "sample_weight", "the reduction to binary examples")
        order, class_weight = order_in(y, levels_named(self), self.class_weight)
        X, y, weights = read_examples(self, X, y, sample_weight, order is not None, accept_sparse="csr")
        labels, ranks, costs = read_ranks(y, order, self.cost, costs, example_weights(class_weight, order, y, weights))
        z, weights = (values.T.ravel() for values in reduce_costs(ranks, costs))        # all examples at k = 1, then at k = 2, ...
        kept = np.flatnonzero(weights)
        if len(kept) == 0:
            raise DataError("all costs are 0, so there is nothing to learn from.")
        estimator = cloned_ranker(self.estimator, BELOW_OR_ABOVE)
        estimator.fit(self._extended(X, len(labels))[kept], z[kept], sample_weight=weights[kept])
        self.levels_, self.estimator_ = labels, estimator
        return self

    def threshold_scores(self, X) -> np.ndarray:
        """The classifier's scores, or labels 1 and -1, for "is the rank above k?", shape (n, K - 1).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.

        Returns
        -------
        float64 array of shape (n_samples, K - 1)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=FLOATS)
        answer = getattr(self.estimator_, "decision_function", self.estimator_.predict)
        return np.asarray(answer(self._extended(X, len(self.levels_))), dtype=float).reshape(len(self.levels_) - 1, -1).T

    def predict(self, X) -> np.ndarray:
        """The labels of rows, shape (n,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        ranks = ranks_of_answers(self.threshold_scores(X))
        return self.levels_[ranks - 1]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True      # one direction cannot separate classes that have no order
        return tags

    def _extended(self, X, n_ranks):
        """All (x, k), those of one k together."""
        thresholds = np.repeat(np.arange(1, n_ranks), X.shape[0])
        if self.thresholds == "number":
            k = thresholds[:, None].astype(X.dtype)
        elif sparse.issparse(X):
            k = sparse.csr_matrix((np.ones(len(thresholds), X.dtype), (np.arange(len(thresholds)), thresholds - 1)))
        else:
            k = (thresholds[:, None] == np.arange(1, n_ranks)).astype(X.dtype)
        if sparse.issparse(X):
            return sparse.hstack([sparse.vstack([X] * (n_ranks - 1)), k], format="csr")
        return np.concatenate([np.tile(X, (n_ranks - 1, 1)), k], axis=1)


class RankerClassifier(Reduction, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classifies binary examples (x, k), "is the rank of x above k?", by any ranker that takes costs.

    The reverse of `BinaryReduction`: each weighted binary example becomes an ordinal example. Its costs are the weight / (K - 1) on the
    wrong side of k, and 0 on the right side. The ranker's mean cost is then the classifier's weighted error.

    Parameters
    ----------
    estimator : ranker
        With `fit(X, y)`, whose y are the ranks 1..K, and `predict(X)`. Several thresholds need `fit(X, y, costs=...)`, as of `ORStump`,
        `AdaBoostOR`, `SVOR` and `PRank(pocket=True)`. Its parameter `classes` is set to the ranks, and `random_state` where it is None.
    random_state : None, int, numpy Generator or RandomState
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

        Returns
        -------
        self
        """
        X, y, weights = read_examples(self, X, y, sample_weight)
        classes, above = np.unique(y, return_inverse=True)
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
        wrong = (np.arange(1, n_ranks + 1) > k[:, None]) != above.astype(bool)[:, None]
        return wrong * (np.ones(len(k)) if weights is None else weights)[:, None] / (n_ranks - 1)

    def predict(self, X, thresholds=None) -> np.ndarray:
        """Whether the rank of each row is above its threshold, as the labels of y, shape (n,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.
        thresholds : array-like of shape (n_samples,), optional
            The threshold of each row, from 1 to K - 1. Default: all are 1, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=FLOATS)
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
            raise DataError(f"thresholds is {thresholds!r:.80}; expected a whole number from 1{most} for each of the {n} rows.")
        return k
