"""Estimators of problems with one label per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from structperc import metrics
from structperc.basics.arguments import dimensions
from structperc.basics.labels import is_listed, ordered_categories, plain_labels, refuse_continuous
from structperc.core.weights import has_vector
from structperc.errors import DataError, OptionError, shortened
from structperc.estimators.base import ATTRIBUTES, EngineEstimator, declared, weighted_mean
from structperc.estimators.levels import SortedClasses, log_probabilities, order_in
from structperc.estimators.parameters import offered_if
from structperc.estimators.rankers import RankScore
from structperc.estimators.scikit_learn import ClassifierMixin
from structperc.estimators.targets import as_column
from structperc.fitting.not_finite import refuse_scores
from structperc.fitting.option import option
from structperc.fitting.options import InterceptOptions, LabelOptions, LabelWeightOptions
from structperc.reading import matrices
from structperc.reading.intervals import find_ends, without_ends

if TYPE_CHECKING:
    from typing_extensions import Self

    from structperc.engine.explanation import Explanation

PENALTY = 'L2 penalty of trainer="cumulative-logit" and "all-threshold": penalty / 2 times the sum of squared `coef_` is added to the loss'
ABOUT_PENALTY = "If columns are scaled, it is that of scaled columns. A penalty makes each coefficient finite and determined."
COLUMNS = """
    levels_ : ndarray
        The labels in the order of ranks, or of `classes`: the order of `coef_`, `thresholds_`, atoms and costs.
    feature_names_in_ : ndarray of str
        Names of the columns, when X had names and all were strings."""


class LabelEstimator(SortedClasses, ClassifierMixin, EngineEstimator, LabelOptions, LabelWeightOptions):
    """One label per row."""

    _labelled: ClassVar[str] = "row"
    _texts: ClassVar[dict] = {"attributes": ATTRIBUTES + COLUMNS}

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Trains from nothing.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or data frame
            C-ordered float32/float64 and CSR are read in place. With a kernel on objects: a list of n_samples objects.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            How often each row is visited, compared with the others; 0 is as if it were absent. See `weighting`.

        Returns
        -------
        self
            A failed fit leaves it as it was; Ctrl-C keeps what was learned, sets `status_` and is raised again.
        """
        y = self._labels(X, y, has_classes=self.classes is not None)
        return self._train(self._engine(**self._numbered(y)), "fit", X, y, sample_weight=sample_weight)

    def partial_fit(self, X, y=None, classes=None, sample_weight=None) -> Self:
        """One pass over a part of the data, continuing from what fit or partial_fit learned.

        Parameters
        ----------
        classes : array-like, optional
            All labels in order. Only the first call needs it, and only when neither the option `classes` nor the first y
            names them all.
        """
        engine = self._continued(classes)
        y = self._labels(X, y, has_classes=hasattr(engine, "classes_") or engine.classes is not None)
        if "engine_" in vars(self):
            self._compare(X)
        return self._train(engine, "partial_fit", X, y, sample_weight=sample_weight)

    def predict(self, X) -> np.ndarray:
        """The label of largest score for each row of X."""
        return self._trained_for(X).predict(X)

    def decision_function(self, X) -> np.ndarray:
        """How much speaks for each label: the logarithm of its probability, or of two labels the difference of their scores.

        scikit-learn's calibration fits a curve to each column. `structperc.Engine.label_scores` has the sums of atoms.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) of two labels
            Columns in the order of `classes_`. Of two labels: by how much the second one leads.
        """
        engine = self._trained_for(X)
        return self._decision(lambda: np.diff(engine.label_scores(X))[:, 0], lambda: log_probabilities(engine, X))

    def predict_proba(self, X) -> np.ndarray:
        """How probable every label is for each row; see `structperc.Engine.predict_proba`.

        For ordered labels, P(y > k) falls with k. It comes from the scores of the atoms "rank > k" over `temperature_`.
        The median is the prediction; the most probable label may be another one. For classes, probabilities are proportional to
        exp(score / `temperature_`). Without `calibrate`, probabilities of a perceptron or a margin rank rows well, and are often too sure.
        Returns an ndarray of shape (n_samples, n_classes). Columns in the order of `classes_`; each row sums to 1.
        """
        return self._by_class(self._trained_for(X).predict_proba(X))

    def predict_log_proba(self, X) -> np.ndarray:
        """The logarithm of `predict_proba`, exact also where a probability is too small for floating point."""
        return self._by_class(log_probabilities(self._trained_for(X), X))

    def score(self, X, y, sample_weight=None) -> float:
        """Accuracy: the share of rows that are predicted right; higher is better, 1 is perfect."""
        predicted, y = self.predict(X), np.asarray(as_column(y))
        if len(y) != len(predicted):
            raise DataError(f"y has {len(y)} labels but X has {len(predicted)} rows; give one label per row.")
        self._refuse_strangers(plain_labels(y))
        return weighted_mean(y == predicted, sample_weight)

    def atom_scores(self, X) -> np.ndarray:
        """The scores of the atoms that labels are made of, shape (n_samples, n_atoms); see the problem's plugin."""
        return self._trained_for(X).atom_scores(X)

    def predict_marginals(self, X) -> np.ndarray:
        """How probable each atom of labels is, shape (n_samples, n_atoms), as labels are by `predict_proba`.

        For ordered labels, column k is the probability of a level above `levels_[k]`; atoms of classes are the labels themselves.
        """
        marginals = self._trained_for(X).predict_marginals(X)
        return np.stack(marginals) if len(marginals) else np.zeros((0, 0))

    def predict_k_best(self, X, k) -> list[list[tuple[Any, float]]]:
        """The k labels of largest score of each row, best first: a list of lists of (label, score); see `Engine.predict_k_best`."""
        return self._trained_for(X).predict_k_best(X, k)

    def log_probability(self, X, y) -> np.ndarray:
        """The logarithm of the probability of the label y[i] of row i, shape (n_samples,), as `predict_log_proba` has it."""
        return self._trained_for(X).log_probability(X, as_column(y))

    def margins(self, X) -> np.ndarray:
        """By how much the best label of each row leads the second best, shape (n_samples,); 0: a tie."""
        return self._trained_for(X).margins(X)

    def explain(self, x, against=None, baseline=None, groups=None) -> Explanation:
        """Why x got its prediction: its score, or the winner's minus a rival's, split exactly by feature; see `Engine.explain`.

        Parameters
        ----------
        x : one row
        against : label, optional
            The rival. Without it the runner-up, or with one direction the way to the score of x.
        baseline, groups
            As in `Engine.explain`.
        """
        return self._trained().explain(x, against=against, baseline=baseline, groups=groups)

    @property
    def levels_(self) -> np.ndarray:
        return self._trained().classes_

    def __dir__(self):
        return sorted({*super().__dir__(), *(("levels_",) if "engine_" in vars(self) else ())})

    def _trained_for(self, X):
        """The engine, after X was compared with what it was trained on."""
        engine = self._trained()
        self._compare(X)
        return engine

    def _numbered(self, y) -> dict:
        """The parameters that name labels, as numbers if scikit-learn has numbered the texts in y."""
        return dict(zip(("classes", "class_weight"), order_in(y, self.classes, self.class_weight), strict=True))

    def _labels(self, X, y, has_classes):
        """y as the engine takes it; `has_classes`: the labels are known already."""
        self._refuse_none(X, y)
        y = as_column(y)
        if not has_classes and ordered_categories(y) is None:
            refuse_continuous(y)
        return y


class ThresholdEstimator(RankScore, LabelEstimator):
    """Estimators of ordered labels that cut one direction by thresholds."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True      # one direction cannot separate classes without an order
        return tags

    @property
    def intercept_(self):
        """The constant of `latent_score` beside `coef_`, 0: the thresholds have the constants. Tools for linear models read it."""
        return 0.0 * self.coef_.size

    def latent_score(self, X) -> np.ndarray:
        """The score of each row along the one direction, which the thresholds cut into ranks; shape (n_samples,)."""
        model = self._trained_for(X).model_
        return model.lock.read(latent_score, model, model.read_in_any_order(X))


def latent_score(model, rows):
    """The scores of rows along the one direction."""
    if not has_vector(model.parts.weights):
        return model.atom_scores(rows)[:, 0] + model.attribute("thresholds_")[0]
    latent = rows.products(np.ascontiguousarray(model.attribute("coef_"))[None])[:, 0]
    refuse_scores(rows, latent[:, None], 0)
    return latent


@declared
class CuSumRank(RankScore, LabelEstimator, InterceptOptions):
    """Cumulative Sum Ranking: predicts ordered labels, each rank with a direction of its own.

    Dense columns are standardised in training (`scale`). The updates "exact-pa", "exact-pa1" and "exact-pa2" require `margin` of every
    level at once. They need `loss_weight=0`, which is then the default.

    Attributes
    ----------
    coef_ : ndarray of shape (r, `n_features_in_`)
        Without a kernel. Rank k scores the sum of the first k rows times x; the first row is zero.
    intercept_ : ndarray of shape (r,)
    {attributes}

    See Also
    --------
    PRank : one score with thresholds; for few examples and many levels.
    OrdinalConformal : prediction intervals with guaranteed coverage.
    ScoreCard : an integer points table of a linear model.
    StructuredClassifier : unordered classes.

    References
    ----------
    R. L. Milidiú and R. H. S. Rocha: Cumulative Sum Ranking. arXiv:1911.11255, 2019.

    Examples
    --------
    >>> from structperc.estimators import CuSumRank
    >>> X, y = [[-2.0], [-1.0], [0.5], [2.0]], ["low", "low", "middle", "high"]
    >>> model = CuSumRank(classes=["low", "middle", "high"], random_state=0).fit(X, y)
    >>> model.predict([[-3.0], [3.0]]).tolist()
    ['low', 'high']
    """

    def _engine(self, **changed):
        return super()._engine(problem="cusum", **changed)


@declared
class PRank(ThresholdEstimator):
    """PRank: predicts ordered labels by one direction and an ordered threshold between neighbouring ranks.

    Dense columns are standardised in training (`scale`). The updates are "perceptron", "logistic", "exact-pa", "exact-pa1" and
    "exact-pa2". The exact ones project onto the constraints of all thresholds, and need `loss_weight=0`. Other steps that are no whole
    numbers would disorder the thresholds. The trainers "cumulative-logit" and "all-threshold" solve one problem over all rows: proportional
    odds by maximum likelihood, and the loss of "logistic". Both have a `penalty`.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`,)
        Without a kernel: the direction.
    thresholds_ : ndarray of shape (r - 1,)
        The prediction is the lowest rank whose threshold exceeds `latent_score`.
    pocket_costs_ : ndarray of shape (`n_iter_`,)
        With `pocket`: the total cost of the ranker kept, after each epoch.
    {attributes}

    See Also
    --------
    CuSumRank : a direction for each level.
    IntervalPA : labels that are intervals of levels.
    OrdinalConformal : prediction intervals with guaranteed coverage.
    structperc.effects : weights per standard deviation, with intervals.

    References
    ----------
    K. Crammer and Y. Singer: Pranking with Ranking. Advances in Neural Information Processing Systems 14, pages 641–647, 2001.

    Examples
    --------
    >>> from structperc.estimators import PRank
    >>> X, y = [[-2.0], [-1.0], [0.5], [2.0]], [1, 1, 2, 3]
    >>> model = PRank(random_state=0).fit(X, y)
    >>> model.predict([[-3.0], [3.0]]).tolist()
    [1, 3]
    """


    variant: str | None = option(
        None, "which thresholds move", choices=(None, "single", "structured", "original"),
        about='"single": the one next to the prediction. "structured": all thresholds between the right rank and the prediction. '
              '"original" (Crammer and Singer): also those that tie. None: the value of `preset`, "single" with "recommended", and '
              '"structured" with `pocket` or "paper".')
    pocket: bool | str = option(
        False, "keep the ranker of least total cost on the training data, of all that the steps make",
        choices=(False, True, "screened", "runs"),
        about="Examples are drawn with probability proportional to their largest cost, as many an epoch as there are. A step of True costs "
              'a sum over all rows. "screened" ends the sum if the first rows cost more than with the ranker kept, by three standard '
              'deviations: ten times faster on thousands of rows, and hardly ever wrong. "runs" compares only rankers that are right on '
              "more draws in a row than the one kept: faster still, and worse. It needs `loss_weight=0` and no kernel, and has no use for "
              "`average` and `shuffle`.")
    penalty: float = option(0.0, PENALTY, about=ABOUT_PENALTY)

    def fit(self, X, y=None, sample_weight=None, costs=None) -> Self:
        """Trains from nothing.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or data frame
            C-ordered float32/float64 and CSR are read in place. With a kernel on objects: a list of n_samples objects.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            How often each row is visited, compared with the others; 0 is as if it were absent. With `pocket` it multiplies the costs.
        costs : array-like of shape (n_samples, r), optional
            Cost of predicting each label for each example, instead of `loss`: for `pocket` or `loss_weight`.

        Returns
        -------
        self
            A failed fit leaves it as it was; Ctrl-C keeps what was learned, sets `status_` and is raised again.
        """
        if costs is None:
            return super().fit(X, y, sample_weight)
        if dimensions(costs) != 2:
            raise DataError(f"costs is {shortened(costs)}; expected an array (n_samples, n_labels) with the cost of predicting each label "
                            f"for each row.")
        if not self.pocket and not self.loss_weight:
            raise OptionError("costs has no effect with pocket=False and loss_weight=0, where no step depends on it; set pocket=True.")
        y = self._labels(X, y, has_classes=self.classes is not None)
        return self._train(self._engine(loss="costs", **self._numbered(y)), "fit", X, y, sample_weight=sample_weight, costs=costs)

    @offered_if(lambda self: not self.pocket)
    def partial_fit(self, X, y=None, classes=None, sample_weight=None) -> Self:
        """Train for one pass over a part of the data, from the current model. Not with `pocket`, which compares all rows.

        Parameters
        ----------
        classes : array-like, optional
            All labels in order. Only the first call needs it, and only when neither the option `classes` nor the first y
            names them all.
        """
        return super().partial_fit(X, y, classes, sample_weight)

    def _engine(self, **changed):
        return super()._engine(problem="prank", **changed)


@declared
class IntervalPA(ThresholdEstimator):
    """Exact passive-aggressive ranking: learns from ranks of which no more than an interval is known, and predicts a rank.

    One direction is cut by ordered thresholds. Each step moves both by the least amount after which every certain threshold is satisfied
    with a margin. Dense columns are standardised in training (`scale`).

    The updates are "exact-pa", "exact-pa1", "exact-pa2", "logistic" and "perceptron". Only "perceptron" has a use for `loss_weight`. By
    default `loss` is "absolute", the distance to the interval. With `class_weight` an interval has the mean of its labels' weights.
    The trainers "cumulative-logit" and "all-threshold" are those of `PRank`.

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`,)
        Without a kernel: the direction.
    thresholds_ : ndarray of shape (r - 1,)
        The prediction is the lowest rank whose threshold exceeds `latent_score`.
    {attributes}

    See Also
    --------
    PRank : exact levels.
    CuSumRank : a direction for each level.
    OrdinalConformal : prediction intervals with guaranteed coverage.

    Notes
    -----
    y is an array of shape (n_samples, 2), the lowest and the highest admissible label of each row.
    `structperc.reading.intervals.read_intervals` lists other forms: labels, mixed lists of labels and pairs, two columns of ordered
    categories, pandas' intervals. None, NaN or an infinity in a pair is the end of the scale. scikit-learn's own tools need arrays, and
    reject NaN in y unless `cv` is a splitter such as KFold. Name the ends of the scale there.

    References
    ----------
    N. Manwani and M. Chandra: Exact Passive-Aggressive Algorithms for Learning to Rank Using Interval Labels. arXiv:1808.06107, 2018.

    Examples
    --------
    >>> from structperc.estimators import IntervalPA
    >>> X, y = [[-2.0], [-1.0], [0.5], [2.0], [3.0]], [[1, 1], [1, 2], [2, 2], [2, 3], [3, 3]]
    >>> model = IntervalPA(C=1.0, random_state=0).fit(X, y)
    >>> model.predict([[-3.0], [3.0]]).tolist()
    [1, 3]
    """

    unrated: str = option("refuse", "what becomes of rows that miss both ends", choices=("refuse", "skip"),
                          about='"skip": nothing is learned from them, and `score` leaves them out.')
    penalty: float = option(0.0, PENALTY, about=ABOUT_PENALTY)

    def fit(self, X, y=None, sample_weight=None) -> Self:
        """Trains from nothing.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or data frame
            C-ordered float32/float64 and CSR are read in place. With a kernel on objects: a list of n_samples objects.
        y : array-like of shape (n_samples, 2) or (n_samples,)
            Lowest and highest admissible label of each row, or the label.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row is visited, compared with the others; 0 is as if it were absent. See `weighting`.

        Returns
        -------
        self
            A failed fit leaves it as it was; Ctrl-C keeps what was learned, sets `status_` and is raised again.
        """
        return super().fit(X, y, sample_weight)

    def score(self, X, y, sample_weight=None) -> float:
        """1 - (mean distance to the interval) / (r - 1), in ranks: higher is better.

        1 is every row inside its interval, 0 every row at the other end of the scale. y takes all forms that `fit` does; of exact
        labels it is the score of the other estimators of ranks.
        """
        y = self._labels(X, y, has_classes=True)
        if self.unrated == "skip" and is_listed(y) and without_ends(y).any():
            low, high, predicted, n_labels = metrics.interval_codes(y, self.predict(X), self.levels_, self.unrated)
            weights = matrices.sample_weights(sample_weight, len(y))
            weights = None if weights is None else weights[~without_ends(y)]
            return 1 - weighted_mean(metrics.interval_distances(low, high, predicted), weights) / (n_labels - 1)
        return super().score(X, y, sample_weight)

    def _labels(self, X, y, has_classes):
        """y as the engine takes it; arrays of one column are flattened."""
        self._refuse_none(X, y)
        ends = find_ends(y)
        if ends is None:
            return y if self.unrated == "skip" and is_listed(y) and without_ends(y).any() else super()._labels(X, y, has_classes)
        if not has_classes and ends.real is None:
            for values in (ends.low, ends.high):
                refuse_continuous(values)
        return y

    def _engine(self, **changed):
        return super()._engine(problem="interval-pa", **changed)


@declared
class StructuredClassifier(LabelEstimator, InterceptOptions):
    """Predicts one label per row by any installed problem; plain multiclass classification by default.

    Dense columns are standardised in training (`scale`).
    See also `CuSumRank`, `PRank` (ordered labels) and `structperc.explain` (why a row got its class).

    Attributes
    ----------
    coef_, intercept_ : ndarray
        As the problem documents them, `coef_` without a kernel: multiclass has shapes (r, `n_features_in_`) and (r,), also for two classes.
    {attributes}

    References
    ----------
    K. Crammer and Y. Singer: Ultraconservative Online Algorithms for Multiclass Problems. Journal of Machine Learning Research 3,
    pages 951–991, 2003.

    Examples
    --------
    >>> from structperc.estimators import StructuredClassifier
    >>> X, y = [[-2.0, 0.0], [2.0, 0.0], [0.0, 3.0]], ["left", "right", "up"]
    >>> StructuredClassifier(random_state=0).fit(X, y).predict([[-1.0, 0.0], [0.0, 2.0]]).tolist()
    ['left', 'up']
    """

    problem: str | object = option("multiclass", "problem whose outputs are labels: a name or a plugin object")

    def _numbered(self, y) -> dict:
        """Nothing without `classes`: numbers are as good as texts where labels have no order."""
        return {} if self.classes is None else super()._numbered(y)
