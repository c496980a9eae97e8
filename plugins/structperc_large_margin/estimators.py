"""`SVOR`, support vector ordinal regression with scikit-learn's manners.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length
from structperc_boosting.bases import computed, read_examples, read_labels, read_rows, read_weights
from structperc_kernels import USED_BY, ObjectKernel

from structperc import Engine, Option
from structperc.errors import DataError
from structperc.estimators.keeping import EngineAnswers, note
from structperc.estimators.rankers import Parameters, RankScore, SortedClasses, log_probabilities, order_in
from structperc.plugin_tools import find_labels, variance_on_one_scale

if TYPE_CHECKING:
    from typing_extensions import Self


__all__ = ["SVOR"]

MOST_PASSES = 2**31 - 1
MOST_ITERATIONS = 10_000
PASSES = Option(MOST_ITERATIONS, low=-1)
COLUMNS = ("n_features_in_", "feature_names_in_")
OBJECTS = ("subset-tree", "subsequence")        # kernels of rows that are no numbers


class SVOR(SortedClasses, RankScore, EngineAnswers, ClassifierMixin, Parameters):
    """Support vector ordinal regression: predicts ordered labels by one direction that thresholds cut with a large margin.

    The exact solution of one of four quadratic programs, each with a certified duality gap. "implicit" and "explicit" minimise 1/2 ||w||^2
    + C * the hinges. An example has a hinge for each threshold: what it lacks to be on its side by a margin of 1. Their errors hardly
    differ. "implicit" counts all thresholds, so that far errors cost more, and needs no example of the inner ranks.

    Parameters
    ----------
    method : {"implicit", "explicit", "fixed-margin", "sum-of-margins"}, default "implicit"
        "explicit": the two thresholds beside each rank, kept in order by constraints. "fixed-margin": the same without constraints;
        `status_` is "disordered" if the best thresholds are out of order. "sum-of-margins": ||w|| = 1, and the sum of the widths between
        the planes of neighbouring ranks is maximised.
    C : float, default 1.0
        The cost of a lacking margin. Of "sum-of-margins": about 1 / C examples of each plane may be on its wrong side. It is then small
        enough for a positive margin. It is at least 1 / n, if n is the number of examples of the lowest or the highest rank.
    nu : float, optional
        Instead of C, but of "sum-of-margins": at most nu * n margin errors, counted over examples and thresholds. Its range depends on how
        often the ranks occur, and may end above 1.
    kernel : str or callable, default "rbf"
        "linear", which has weights for the columns; "polynomial", "rbf", "laplacian", "perceptron", "stump". "precomputed" if X has kernel
        values, a column for each training row. "subset-tree" or "subsequence" if X is a list of trees or strings. Or a function of two
        matrices, on lists of objects of two objects.
    gamma : float, "scale" or "auto", default "scale"
        Of "polynomial", "rbf" and "laplacian". "scale": 1 / (n_features * variance of X), "auto": 1 / n_features.
    degree : int, default 3
        Of "polynomial".
    coef0 : float, default 0.0
        The constant of "polynomial".
    kernel_options : dict, optional
        Further options of the kernel: offset, kernel_decay, length, normalise, dtype.
    tol : float, default 1e-3
        Training ends at a duality gap of this part of the objective.
    cache_size : float, default 200
        MB that values of the kernel may take during training.
    max_iter : int, default 10000
        The most passes, n steps or more each; -1: no bound. Training that reaches it has the `status_` "max_epochs", and `gap_` bounds
        how far the objective is from the optimum. Ordinary fits make below 100; a large C on ranks that overlap needs more.
    cost : {"absolute", "squared", "zero-one"} or (K, K) array, default "absolute"
        The cost of a wrong rank (row: right label, column: predicted label), if `fit` has no costs. A lacking margin between the labels k
        and k + 1 costs C times the difference of their costs.
    disordered : {"refuse", "pool"}, default "refuse"
        Where the thresholds of "fixed-margin" are out of order: no predictions, or those of the best ordered thresholds.
    scale : bool or "auto", default "auto"
        Train on columns of mean 0 and variance 1; "auto": not with sparse X and the linear kernel. C and gamma act on these columns, and
        `coef_` and `thresholds_` are those of X in its own units. With a kernel rows stay scaled, and sparse ones become dense.
    class_weight : None, "balanced" or dict, default None
        Multiplies the sample weights by a weight of each row's label, {label: weight}; labels that are left out weigh 1. "balanced": all
        labels that occur weigh the same in all.
    calibrate : bool, default False
        Fit a temperature for probabilities. It needs five more models, each trained without a fifth of the rows. Predictions stay the same.
    classes : list, optional
        The labels in order; otherwise an ordered categorical's own order, or the sorted labels of y.

    Attributes
    ----------
    thresholds_ : ndarray of shape (K - 1,)
        The prediction is the lowest rank whose threshold exceeds `latent_score`.
    margins_ : ndarray of shape (K - 1, 2)
        The planes a_j and b_j below and above each threshold.
    norm_ : float
        ||w|| in the kernel's space of the training rows, which are scaled unless scale=False. A margin has the width
        (b_j - a_j) / `norm_` there.
    coef_ : ndarray of shape (d,)
        With kernel="linear": the direction.
    support_, dual_coef_ : ndarray of shape (n_support,), (n_support, 1)
        With another kernel: the rows that the direction is a sum of, and their coefficients.
    objective_, dual_objective_ : float
        The primal and the dual value.
    gap_ : float
        The objective is larger than the optimum by no more than this.
    n_iter_ : int
        Passes made.
    status_ : str
        "converged", "max_epochs", "stalled", "disordered" (see `method`), or "degenerate": the best w is 0. `fit` then warns, and `predict`
        raises an error with `nu` or a sum of margins.
    engine_ : Engine
        What was trained.
    levels_ : ndarray of shape (K,)
        The labels in the order of ranks; `classes_` has them sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    References
    ----------
    W. Chu and S. S. Keerthi: Support vector ordinal regression. Neural Computation 19, 2007.

    A. Shashua and A. Levin: Taxonomy of large margin principle algorithms for ordinal regression problems. Technical report
    2002-39, School of Computer Science and Engineering, The Hebrew University of Jerusalem, 2002.

    Examples
    --------
    >>> from structperc.estimators import SVOR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [1, 1, 2, 3, 3]
    >>> model = SVOR(kernel="linear").fit(X, y)
    >>> model.predict(X).tolist(), model.status_
    ([1, 1, 2, 3, 3], 'converged')
    """

    _held: ClassVar[dict] = {"cost": "loss"}

    def __init__(self, method="implicit", *, C=1.0, nu=None, kernel="rbf", gamma="scale", degree=3, coef0=0.0, kernel_options=None,
                 tol=1e-3, cache_size=200, max_iter=MOST_ITERATIONS, cost="absolute", disordered="refuse",
                 scale="auto", class_weight=None, calibrate=False, classes=None) -> None:
        self.method, self.C, self.nu, self.kernel, self.gamma, self.degree, self.coef0 = method, C, nu, kernel, gamma, degree, coef0
        self.kernel_options, self.tol, self.cache_size, self.max_iter, self.cost = kernel_options, tol, cache_size, max_iter, cost
        self.disordered, self.scale, self.class_weight = disordered, scale, class_weight
        self.calibrate, self.classes = calibrate, classes

    def fit(self, X, y, costs=None, sample_weight=None) -> Self:
        """Solves the program.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or list of n objects
        y : array-like of shape (n,)
        costs : array-like of shape (n, K), optional
            Of predicting each label for each example, instead of `cost`: 0 at the right label, not falling on the way to the ends.
        sample_weight : array-like of shape (n,), optional
            Multiplies C; rows of weight 0 are as if they were absent.
        """
        X, y, weights, gamma = self._examples(X, y, sample_weight)
        order, class_weight = order_in(y, self.classes, self.class_weight)
        labels = find_labels(y, order, True)
        if len(labels) < 2:
            raise DataError(f"y has the one class {labels[0]!r}; ordinal regression needs two at least.")
        engine = self._engine(labels, gamma, costs is not None, class_weight)
        try:
            engine.fit(X, y, costs=costs, sample_weight=weights)
        finally:
            if engine.model is not None:                # also of an interrupted training
                self._keep(engine)
        return self

    def predict(self, X) -> np.ndarray:
        """The labels of rows, shape (n,)."""
        return self._trained().predict(self._read(X))

    def latent_score(self, X) -> np.ndarray:
        """The scores of rows along the one direction, which the thresholds cut into ranks; shape (n,)."""
        engine = self._trained()
        return engine.atom_scores(self._read(X))[:, 0] + engine.thresholds_[0]

    def decision_function(self, X) -> np.ndarray:
        """Of two labels how far rows are on the second one's side, shape (n,). Of more the logarithms of probabilities, shape (n, K).
        Returns a float64 array of shape (n_samples,) or (n_samples, K). Columns in the order of `classes_`.
        """
        engine, X = self._trained(), self._read(X)
        return self._decision(lambda: engine.atom_scores(X)[:, 0], lambda: log_probabilities(engine, X))

    def predict_proba(self, X) -> np.ndarray:
        """How probable every label is, shape (n, K), where P(y > k) = sigma((latent score - threshold k) / `engine_.temperature_`).

        A margin fits no probabilities: without `calibrate` they rank rows well, and may be too sure
        or too doubtful. Returns a float64 array of shape (n_samples, K). Columns in the order of `classes_`; each row sums to 1.
        """
        return self._by_class(self._trained().predict_proba(self._read(X)))

    def predict_log_proba(self, X) -> np.ndarray:
        """The logarithm of `predict_proba`, exact also where a probability is too small for floating point.
        Returns a float64 array of shape (n_samples, K). Columns in the order of `classes_`.
        """
        return self._by_class(log_probabilities(self._trained(), self._read(X)))

    def explain(self, x, against=None, baseline=None, groups=None) -> Any:
        """Why x got its label: its score, split by column, with a kernel by training row; see `Engine.explain`. Returns `Explanation`.

        Parameters
        ----------
        x : one row
        against : label, optional
            Splits the margin over this rival instead.
        baseline, groups
            As in `Engine.explain`.
        """
        return self._trained().explain(x, against=against, baseline=baseline, groups=groups)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.input_tags.pairwise = True, self._compares_columns()
        tags.classifier_tags.poor_score = True      # one direction cannot separate classes that have no order
        return tags

    def _examples(self, X, y, sample_weight):
        """X, y and weights as the engine takes them, and gamma."""
        if self._compares_objects(X):
            check_consistent_length(X, y)
            y = read_labels(y)
            return X, y, read_weights(sample_weight, len(y)), self.gamma
        X = computed(X)
        read, y, weights = read_examples(self, X, y, sample_weight, self.classes is not None, accept_sparse="csr")
        gamma = self.gamma
        if weights is not None and weights.any() and isinstance(gamma, str) and gamma == "scale":
            gamma = weighted_gamma(read, weights, self.scale)
        return X if hasattr(X, "columns") else read, y, weights, gamma

    def _read(self, X):
        return X if self._compares_objects(X) else read_rows(self, X, reset=False, accept_sparse="csr")

    def _compares_objects(self, X):
        """Whether rows are objects to be compared whole."""
        if isinstance(self.kernel, ObjectKernel) or isinstance(self.kernel, str) and self.kernel in OBJECTS:
            return True
        return callable(self.kernel) and isinstance(X, list) and not isinstance(X[0] if X else X, (list, tuple, np.ndarray))

    def _compares_columns(self):
        """Whether X holds kernel values, a column for each training row."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _trained(self):
        return self._from_fit("engine_")

    def _engine(self, labels=None, gamma="scale", own_costs=False, class_weight=None):
        """A new engine with these parameters."""
        linear = isinstance(self.kernel, str) and self.kernel == "linear"
        passes = PASSES.read("max_iter", self.max_iter)
        options = {"method": self.method, "C": self.C, "nu": self.nu, "tolerance": self.tol, "disordered": self.disordered,
                   "scale": self.scale, "class_weight": class_weight, "calibrate": self.calibrate,
                   "loss": "costs" if own_costs else self.cost, "epochs": MOST_PASSES if passes < 0 else passes}
        if not linear:
            kernel_parameters = {"gamma": gamma, "degree": self.degree, "coef0": self.coef0}
            options |= {"kernel": self.kernel, "cache_size": self.cache_size, **(self.kernel_options or {})}
            options |= {name: value for name, value in kernel_parameters.items() if self.kernel in USED_BY[name]}
        plugins = ["large-margin"] if linear else ["dual-kernel", "large-margin"]
        return Engine("prank", trainer="svor", classes=labels, plugins=plugins, random_state=0, **options)     # for folds of calibrate

    def _keep(self, engine):
        """What training made known."""
        names = ("thresholds_", "margins_", "norm_", "coef_", "support_", "dual_coef_", "objective_", "dual_objective_", "gap_", "status_",
                 "levels_")
        fitted = {name: getattr(engine, name) for name in names if hasattr(engine, name)} | {"levels_": engine.classes_}
        fitted |= {name: getattr(engine, name) for name in COLUMNS if name not in vars(self) and hasattr(engine, name)}
        for name in names:
            vars(self).pop(name, None)
        note(self, engine)
        vars(self).update(fitted | {"engine_": engine, "n_iter_": len(engine.mistakes_)})


def weighted_gamma(X, weights, scale):
    """gamma="scale" of weighted rows, as of rows that repeat: 1 / (n_features * variance of the entries), on the scale of the training."""
    if scale:
        variance = variance_on_one_scale(X, weights)
    else:
        squares = X.multiply(X) if hasattr(X, "multiply") else np.square(X, dtype=float)
        mean, square = X.T @ weights / weights.sum(), squares.T @ weights / weights.sum()
        variance = square.mean() - mean.mean() ** 2
    return 1 / (X.shape[1] * variance) if variance > 0 else 1.0
