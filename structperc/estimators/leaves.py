"""Features of trees: which leaf of each tree a row reaches."""

from __future__ import annotations

import copy
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from structperc.basics.labels import LabelCodes, ordered_categories
from structperc.basics.rows_of_numbers import count_rows
from structperc.errors import DataError, OptionError, shortened
from structperc.estimators.parameters import Parameters, cloned, refuse_class
from structperc.estimators.scikit_learn import TransformerMixin, get_config, get_tags
from structperc.extras import require
from structperc.fitting.option import Options, option, positional_option
from structperc.reading.other_libraries import as_table
from structperc.reading.table_reader import learn_table

if TYPE_CHECKING:
    from typing_extensions import Self


class LeafFeatures(TransformerMixin, Parameters, Options):
    """Rows as the leaves that they reach in the trees of a forest or a gradient boosting: a linear model on them is not linear in X.

    A row has one non-zero number for each tree, in the column of the leaf that it reaches. This number is 1 / sqrt(number of trees). So the
    inner product of two rows is the share of the trees that put both into the same leaf. The linear model behind it learns the worth of
    each leaf by its own loss, for instance a ranker's. See also `RankingSVM`, `LatentRanker` (rankers that learn from these columns).

    Attributes
    ----------
    estimator_ : estimator
        The trained clone.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Only when X had names.

    Notes
    -----
    Trees are trained on y, relevances or ranks as they are. The leaves of deep trees single out training rows, so few levels (3 to 5) or
    large leaves are better. Transforming costs the way down all trees, and sorting the columns' numbers.

    References
    ----------
    X. He et al.: Practical lessons from predicting clicks on ads at Facebook. ADKDD 2014.

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
        help="a forest, gradient boosting or tree of scikit-learn, an ensemble of LightGBM, XGBoost or CatBoost, or one with `apply`",
        about="A clone of it is trained. None: `GradientBoostingRegressor(n_estimators=100, subsample=0.5, random_state=0)`, of numbers "
              "or of the places in an ordered categorical. Of other labels, such as texts, a `GradientBoostingClassifier`.")
    sparse_output: bool = option(True, "whether `transform` returns a sparse matrix; `set_output` overrides it")

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Trains the trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or data frame
        y : array-like of shape (n_samples,)
            Numbers, or classes for a classifier's trees.
        sample_weight : array-like of shape (n_samples,), optional
        """
        refuse_class("estimator", self.estimator)
        X, estimator = as_table(X), cloned(self.estimator)
        reader, rows = (None, None) if estimator is not None and takes_categories(estimator) else learn_table(X)
        table = X if reader is None else rows.X
        if self.estimator is None:
            estimator, y = default_trees(table, y)
        if not any(hasattr(type(estimator), method) for method in LEAVES):
            raise OptionError(f"estimator={shortened(estimator)} has no way to find the leaf of each row. Expected a forest, a "
                              f"gradient boosting or a tree of scikit-learn, LightGBM, XGBoost or CatBoost, or a method apply.")
        preprocessing = require("sklearn.preprocessing", "leaves as features", "sklearn")
        encoder = preprocessing.OneHotEncoder(handle_unknown="ignore").set_output(transform="default")
        estimator.fit(table, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
        self._encoder, self.estimator_, self._reader = encoder.fit(leaves_of(estimator, table)), estimator, reader
        return self

    def transform(self, X) -> Any:
        """The leaves of rows, a matrix of shape (n_samples, number of leaves).

        Returns
        -------
        CSR matrix of shape (n_samples, n_leaves)
            With `sparse_output=False` an array, and a data frame if `set_output` or scikit-learn's configuration asks for one.
        """
        X, estimator = as_table(X), self._trained()
        leaves = leaves_of(estimator, X if self._reader is None else self._reader.encoded(X).values)
        encoded = self._encoder.transform(leaves) / np.sqrt(leaves.shape[1])
        return encoded if self.sparse_output and not makes_frames(self) else encoded.toarray()

    def get_feature_names_out(self, input_features=None):
        """"tree 3, leaf 17" for each column, trees counted from 0, leaves as `apply` numbers them. Returns an ndarray of str.

        Parameters
        ----------
        input_features : ignored
        """
        self._trained()
        names = [f"tree {tree}, leaf {int(leaf)}" for tree, leaves in enumerate(self._encoder.categories_) for leaf in leaves]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self):
        """What scikit-learn's tools should know."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags = get_tags(boosting("GradientBoostingRegressor") if self.estimator is None else self.estimator).input_tags
        return tags

    def __getattr__(self, name):
        """What training made known of X: the trees' attributes."""
        if name in ("n_features_in_", "feature_names_in_") and "estimator_" in vars(self):
            if self._reader is not None:
                names = np.array(self._reader.input_columns().names(()), dtype=object)
                return names if name == "feature_names_in_" else len(names)
            return getattr(self.estimator_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _trained(self):
        return self._from_fit("estimator_")


def makes_frames(transformer) -> bool:
    """Whether `set_output`, or else the configuration of scikit-learn, asks for data frames, which hold no sparse matrix."""
    chosen = vars(transformer).get("_sklearn_output_config", {})
    return chosen.get("transform", get_config()["transform_output"]) != "default"


def boosting(kind):
    ensemble = require("sklearn.ensemble", "leaves as features", "sklearn")
    return getattr(ensemble, kind)(n_estimators=100, subsample=0.5, random_state=0)


def takes_categories(estimator) -> bool:
    """Whether trees split by the categories of a frame: those of scikit-learn's and XGBoost's `apply` need numbers."""
    return not hasattr(type(estimator), "apply") or bool(getattr(estimator, "enable_categorical", False))


def default_trees(X, y):
    """The trees for y, and y as they take it: the places of ordered categories, and labels without numbers as classes."""
    if count_rows(X) < 2:
        raise DataError(f"n_samples = {count_rows(X)}: trees need two rows at least.")
    order = None if y is None else ordered_categories(y)
    if order is not None:
        return boosting("GradientBoostingRegressor"), LabelCodes(order).encode(y, len(y)) - 1
    values = None if y is None else np.asarray(y)
    if values is not None and values.dtype == object and all(isinstance(value, numbers.Real) for value in values.flat):
        y = values = values.astype(float)
    is_number = values is None or values.dtype.kind in "biuf"
    return boosting("GradientBoostingRegressor" if is_number else "GradientBoostingClassifier"), y


def leaves_of(estimator, X):
    """The leaf of each row in each tree, shape (n_samples, number of trees)."""
    find = next(find for method, find in LEAVES.items() if hasattr(type(estimator), method))
    leaves = np.asarray(find(estimator, X))
    return leaves.reshape(len(leaves), -1)


def leaves_by_apply(estimator, X):
    """The leaves by `apply`. The trees of gradient boosting know no names of columns, so X is read before."""
    if hasattr(estimator, "init_"):
        X = require("sklearn.utils.validation", "leaves as features", "sklearn").validate_data(
            estimator, X, reset=False, dtype=np.float32, order="C", accept_sparse="csr")
    return estimator.apply(X)


def histogram_leaves(estimator, X):
    """The leaves of HistGradientBoosting, whose public methods hide them: its trees with the number of each node as its value."""
    X, trees = estimator._preprocess_X(X, reset=False), [tree for stage in estimator._predictors for tree in stage]
    categories = estimator._bin_mapper.make_known_categories_bitsets()
    leaves = np.empty((len(X), len(trees)))
    for k, tree in enumerate(map(copy.copy, trees)):
        tree.nodes = tree.nodes.copy()
        tree.nodes["value"] = np.arange(len(tree.nodes))
        leaves[:, k] = tree.predict(X, *categories, n_threads=1)
    return leaves


LEAVES = {          # by a method or attribute that an ensemble has
    "apply": leaves_by_apply,
    "booster_": lambda estimator, X: estimator.predict(X, pred_leaf=True),
    "calc_leaf_indexes": lambda estimator, X: estimator.calc_leaf_indexes(X),
    "_preprocess_X": histogram_leaves,
}  # fmt: skip
