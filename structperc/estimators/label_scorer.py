"""Measures of ordered labels as `scoring` of scikit-learn's tools."""

from __future__ import annotations

from collections.abc import Sequence

from structperc import metrics
from structperc.basics.labels import ordered_categories
from structperc.errors import DataError, OptionError, did_you_mean
from structperc.estimators.parameters import Parameters
from structperc.estimators.targets import as_column
from structperc.estimators.wrapped import levels_in_order
from structperc.fitting.option import Options, positional_option
from structperc.pipelines import levels_of

MEASURES = {        # with the sign that makes more of it better, and whether the order of labels matters
    "mean-absolute-error": (metrics.mean_absolute_error, -1, True),
    "macro-mean-absolute-error": (metrics.macro_mean_absolute_error, -1, True), "within-one": (metrics.accuracy_within_one, 1, True),
    "quadratic-weighted-kappa": (metrics.quadratic_weighted_kappa, 1, True), "macro-f1": (metrics.macro_f1, 1, False),
}  # fmt: skip
ALSO_CALLED = {"mean-absolute-error": ("mae", "neg_mean_absolute_error"), "quadratic-weighted-kappa": ("qwk", "kappa")}


class LabelScorer(Parameters, Options):
    """A measure of ordered labels, also of texts, as `scoring` of scikit-learn's searches and `cross_val_score`.

    The order of the labels is that of `classes`. Its default is the order of y if it is an ordered categorical, else the estimator's
    `levels_`. Classifiers of texts without `levels_` sort them by the alphabet, so name `classes` for these. A number that a fold has not
    trained on counts by its distance, as a wrong prediction.
    See also `RankingScorer` (scorers of rankings).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import cross_validate
    >>> from structperc.estimators import CuSumRank, LabelScorer
    >>> X = np.random.default_rng(0).normal(size=(90, 2))
    >>> y = np.array(["none", "mild", "severe"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    >>> scoring = {"MAE": LabelScorer(), "kappa": LabelScorer("quadratic-weighted-kappa")}
    >>> found = cross_validate(CuSumRank(classes=["none", "mild", "severe"], random_state=0), X, y, scoring=scoring)
    >>> bool(found["test_MAE"].mean() > -0.3), bool(found["test_kappa"].mean() > 0.7)
    (True, True)
    """

    measure: str = positional_option(
        kw_only=False, default="mean-absolute-error", help="measure of labels", choices=tuple(MEASURES),
        about="`mean_absolute_error`, `macro_mean_absolute_error`, `accuracy_within_one`, `quadratic_weighted_kappa` or `macro_f1` of "
              "`structperc.metrics`; errors count negative, so that higher is better.")
    classes: Sequence | None = positional_option(kw_only=False, default=None, help="all labels, lowest first",
                                      about="Measures of order need them for classifiers that sort texts by the alphabet, as "
                                            "scikit-learn's own do.")

    def __call__(self, estimator, X, y) -> float:
        """The measure of a trained estimator on rows X with right labels y; higher is better."""
        if self.measure not in MEASURES:
            raise OptionError(f"measure={self.measure!r}; expected one of {', '.join(map(repr, MEASURES))}."
                              f"{did_you_mean(self.measure, MEASURES, ALSO_CALLED)}")
        if y is None:
            raise DataError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
        measure, sign, ordered = MEASURES[self.measure]
        y = as_column(y)
        needed = ordered and self.classes is None and ordered_categories(y) is None
        levels = levels_in_order(estimator, type(self).__name__) if needed else levels_of(estimator)
        return sign * measure(y, estimator.predict(X), metrics.ordered_labels(y, levels, self.classes))
