"""Features of trees: which leaf of each tree a row reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from structperc.engine.option import positional_option
from structperc.errors import OptionError
from structperc.estimators.parameters import Parameters, cloned, not_fitted, refuse_class
from structperc.extras import require

if TYPE_CHECKING:
    from typing_extensions import Self


class LeafFeatures(Parameters):
    """Rows as the leaves that they reach in the trees of a forest or a gradient boosting: a linear model on these bends and takes products.

    A row has one non-zero number for each tree, 1 / sqrt(number of trees), in the column of the leaf that it reaches. So the inner product
    of two rows is the share of the trees that put both into the same leaf. The linear model behind learns what each leaf is worth, by its
    own loss: a ranker's among the documents of a query, say (He et al., Practical lessons from predicting clicks on ads at Facebook, 2014).

    Attributes
    ----------
    estimator_ : estimator
        The trained clone.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Only when X had names.

    Notes
    -----
    Trees are trained on y, relevances or ranks as they are; the leaves of deep trees tell single training rows apart, so few levels
    (3 to 5) or large leaves are better. Transforming costs the way down all trees and sorting the columns' numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.estimators import LeafFeatures, RankingSVM
    >>> X, groups = np.random.default_rng(0).normal(size=(600, 3)), np.arange(600) // 10
    >>> y = (np.abs(X[:, 0]) > 0.5).astype(int)                 # no linear score puts both ends first
    >>> leaves = LeafFeatures().fit(X[:500], y[:500])
    >>> ranker = RankingSVM().fit(leaves.transform(X[:500]), y[:500], groups=groups[:500])
    >>> bool(ranker.score(leaves.transform(X[500:]), y[500:], groups=groups[500:]) > 0.95)
    True
    """

    estimator: object = positional_option(
        kw_only=False, default=None,
        help="a forest, gradient boosting or single tree of scikit-learn, or an ensemble with a method `apply`",
        about="A clone of it is trained. None: `GradientBoostingRegressor(n_estimators=100, subsample=0.5, random_state=0)`, for y of "
              "numbers.")

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Trains the trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or data frame
        y : array-like of shape (n_samples,)
            Numbers, or classes for a classifier's trees.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        refuse_class("estimator", self.estimator)
        estimator = default_trees() if self.estimator is None else cloned(self.estimator)
        if not hasattr(estimator, "apply"):
            raise OptionError(f"estimator={estimator!r:.80} has no method apply, which says what leaf each row reaches; expected a forest, "
                              f"a GradientBoostingRegressor or a tree.")
        encoder = require("sklearn.preprocessing", "leaves as features", "sklearn").OneHotEncoder(handle_unknown="ignore")
        estimator.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
        self._encoder, self.estimator_ = encoder.fit(leaves_of(estimator, X)), estimator
        return self

    def transform(self, X) -> Any:
        """The leaves of rows, a CSR matrix of shape (n_samples, number of leaves)."""
        leaves = leaves_of(self._trained(), X)
        return self._encoder.transform(leaves) / np.sqrt(leaves.shape[1])

    def fit_transform(self, X, y=None, sample_weight=None):
        """`fit`, then `transform` of the same rows."""
        return self.fit(X, y, sample_weight).transform(X)

    def get_feature_names_out(self, input_features=None):
        """"tree 3, leaf 17" for each column, trees counted from 0, leaves as `apply` numbers them."""
        self._trained()
        names = [f"tree {tree}, leaf {leaf:g}" for tree, leaves in enumerate(self._encoder.categories_) for leaf in leaves]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self):
        """What scikit-learn's tools should know."""
        from sklearn.utils import Tags, TargetTags, TransformerTags, get_tags

        inner = default_trees() if self.estimator is None else self.estimator
        return Tags(estimator_type=None, target_tags=TargetTags(required=True), transformer_tags=TransformerTags(),
                    input_tags=get_tags(inner).input_tags)

    def __getattr__(self, name):
        """What training made known of X: the trees' attributes."""
        if name in ("n_features_in_", "feature_names_in_") and "estimator_" in vars(self):
            return getattr(self.estimator_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _trained(self):
        if "estimator_" not in vars(self):
            raise not_fitted(f"This {type(self).__name__} is not fitted yet; call fit first.")
        return self.estimator_


def default_trees():
    ensemble = require("sklearn.ensemble", "leaves as features", "sklearn")
    return ensemble.GradientBoostingRegressor(n_estimators=100, subsample=0.5, random_state=0)


def leaves_of(estimator, X):
    """The leaf of each row in each tree, shape (n_samples, number of trees)."""
    leaves = np.asarray(estimator.apply(X))
    return leaves.reshape(len(leaves), -1)
