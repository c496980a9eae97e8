"""Sets of neighbouring ranks that hold the right one as often as asked, around any ranker: split conformal prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from structperc.basics.labels import LabelCodes, find_labels
from structperc.basics.rows_of_numbers import count_rows, entries_at
from structperc.errors import DataError
from structperc.estimators.base import declared
from structperc.estimators.held_out import FORGOTTEN, VOVK, HeldOutOptions, numbers_of_share, weighted_quantile
from structperc.estimators.keeping import InnerAnswers, array_of, listed
from structperc.estimators.parameters import NotFitted, refuse_class
from structperc.estimators.rankers import cloned_ranker
from structperc.estimators.wrapped import WrappedRanker, boundary_scores, columns_known, levels_in_order, sliceable
from structperc.fitting.option import option, positional_option
from structperc.pipelines import levels_of
from structperc.reading import matrices
from structperc.reading.intervals import find_ends, interval_labels, read_intervals

if TYPE_CHECKING:
    from typing_extensions import Self


@declared
class OrdinalConformal(HeldOutOptions, InnerAnswers, WrappedRanker):
    """Conformal prediction for ordered labels: intervals that contain the right label with a probability of at least `coverage`.

    Some rows are held out. The distance of a row is how far its score must move until its label could be the prediction. It is 0 for a
    correct prediction, else the farthest boundary between prediction and label. An interval contains all levels within a quantile of these
    distances. The quantile is such that `coverage` of the held-out rows and the new row do not exceed it.
    See also `PRank`, `CuSumRank`, `IntervalPA` (the rankers) and `ScoreCard` (an integer points table of a ranker).

    Attributes
    ----------
    estimator_ : ranker
        Trained.
    levels_ : ndarray of shape (K,)
        The labels in the order of ranks; `classes_` has them sorted.
    quantile_ : float
        The distance within which ranks belong to an interval. inf: too few rows are held out for this coverage, so that every interval is
        the whole scale.
    n_calibration_ : int
        Held-out rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    If held-out and new rows are exchangeable, an interval contains the right label with a probability of at least `coverage`. Without
    ties of distances it is at most coverage + 1 / (`n_calibration_` + 1). Both are means over draws, not for each x. The `quantile_` is
    the ceil((`n_calibration_` + 1) coverage)-th smallest distance. Ties, as of many right outputs, widen intervals; none is broken by
    chance.

    With weights w_i a new row weighs 1. The interval contains the right label with a probability of at least coverage - sum w_i t_i / (1 +
    sum w_i). Here t_i is the total variation distance between the data and those with row i and the new row exchanged. So only the
    weights pay for a drift that makes old rows useless.

    References
    ----------
    V. Vovk, A. Gammerman and G. Shafer: Algorithmic Learning in a Random World. Springer, 2005.

    R. F. Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani: Conformal prediction beyond exchangeability. Annals of Statistics 51, 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.estimators import OrdinalConformal, PRank
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(1500, 3))
    >>> y = np.digitize(X @ [2, -1, 0] + random.normal(size=1500), [-2, 0, 2]) + 1
    >>> model = OrdinalConformal(PRank(random_state=0), coverage=0.9, random_state=0).fit(X[:1000], y[:1000])
    >>> low, high = model.predict_interval(X[1000:]).T
    >>> print(((low <= y[1000:]) & (y[1000:] <= high)).mean(), (high - low + 1).mean())
    0.868 1.506
    """

    _cited: ClassVar[str] = VOVK

    estimator: object = positional_option(
        kw_only=False, help="the ranker",
        about="`PRank()`, `CuSumRank()`, `IntervalPA()`, `SVOR()`, `AdaBoostOR()`. Any other with `atom_scores`, `threshold_scores`, or "
              "`thresholds_` beside `latent_score` or `decision_function`, or any classifier with `predict_proba`. With `prefit` also an "
              "`Engine`.")
    prefit: bool = option(False, "whether the estimator has been trained, on other rows: `fit` trains nothing and holds out all rows")

    def fit(self, X, y=None) -> Self:
        """Trains the estimator on some rows and measures the others; with `prefit` it measures all.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or list of objects
            As the estimator takes it.
        y : array-like of shape (n_samples,) or (n_samples, 2)
            The label of each row, or the lowest and highest label that it may have, in the forms of `IntervalPA`. The distance of such a
            row is that of its farthest label. So the coverage is right for each label.

        Returns
        -------
        self
            A failed fit leaves it as it was.
        """
        self._check()
        if self.prefit:
            return self.calibrate(X, y)
        self._refuse_none(X, y)
        X, (labels, codes) = sliceable(X), self._read_labels(y)
        n = count_rows(X)
        if n != len(codes):
            raise DataError(f"y has {len(codes)} labels but X has {n} rows; give one label per row.")
        train, held, random = self._held_out(n)
        estimator = cloned_ranker(self.estimator, labels, random)
        with numbers_of_share(train, n, "Xy"):
            estimator.fit(entries_at(X, train), labels[codes[train] - 1])
        with numbers_of_share(held, n, "Xy"):
            distances = distances_of(estimator, entries_at(X, held), labels, codes[held])
        return self._take(estimator, labels, distances, np.ones(len(held)))

    def calibrate(self, X, y, sample_weight=None) -> Self:
        """Measures rows unknown to the estimator, instead of the rows held out before. Without `fit`, `estimator` must be trained.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row relative to a new one, which has weight 1. At most 1 if rows are not exchangeable with new ones.
        """
        self._check()
        estimator, labels, distances = self._measured(X, y)
        weights = matrices.sample_weights(sample_weight, len(distances))
        return self._take(estimator, labels, distances, np.ones(len(distances)) if weights is None else weights)

    def partial_calibrate(self, X, y) -> Self:
        """Adds rows of a stream to the calibration, in order of time. Each later row multiplies the weight of earlier ones by `decay`.

        To judge a stream fairly, predict its rows before they are measured. The estimator may go on learning from them afterwards.
        """
        self._check()
        estimator, labels, distances = self._measured(X, y)
        faded, weights = self._faded(len(distances))
        if "_weights" in vars(self):
            weights = np.concatenate([self._weights * faded, weights])
            distances = np.concatenate([self._distances, distances])
        kept = weights >= FORGOTTEN
        return self._take(estimator, labels, distances[kept], weights[kept])

    def predict_set(self, X) -> np.ndarray:
        """Which labels belong to the interval of each row, a bool array of shape (n_samples, K).
        Returns a bool array of shape (n_samples, K). Columns in the order of `classes_`.
        """
        return self._by_class(self._within(X))

    def predict_interval(self, X) -> np.ndarray:
        """The lowest and the highest label of each row's interval, shape (n_samples, 2)."""
        inside = self._within(X)
        return self.levels_[np.column_stack([inside.argmax(axis=1), inside.shape[1] - 1 - inside[:, ::-1].argmax(axis=1)])]

    def _within(self, X):
        """Which levels belong to the interval of each row, in the order of ranks."""
        return rank_distances(self._trained(), X, self.levels_) <= self.quantile_

    def _measured(self, X, y):
        """The estimator, its labels, and the distances of rows that it has not seen."""
        estimator, labels = (self.estimator, self._levels_of_trained()) if self.prefit or "levels_" not in vars(self) else (
            self._trained(), self.levels_)
        if y is None:
            raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        codes = codes_of(y, labels, count_rows(X))
        if len(codes) == 0:
            raise DataError("X has no rows, so there is nothing to measure.")
        return estimator, labels, distances_of(estimator, X, labels, codes)

    def _levels_of_trained(self):
        """The labels of an estimator that was trained before, in the order of ranks."""
        refuse_class("estimator", self.estimator)
        if not hasattr(self.estimator, "classes_"):
            remedy = "with prefit=True it has to be" if self.prefit else f"or call fit of this {type(self).__name__}, which trains it"
            raise NotFitted(f"{type(self.estimator).__name__} has no classes_, so it is not fitted. Fit it before, on other rows; "
                            f"{remedy}.")
        if self.classes is not None:
            return find_labels(None, self.classes, True)
        return levels_in_order(self.estimator, type(self).__name__)

    def _take(self, estimator, labels, distances, weights):
        vars(self).update({"estimator_": estimator, "levels_": labels, "_distances": distances, "_weights": weights,
                           "n_calibration_": len(distances), "quantile_": weighted_quantile(distances, weights, self.coverage),
                           **columns_known(estimator)})
        return self

    def _repr_html_(self):
        card = super()._repr_html_()
        if "quantile_" not in vars(self):
            return card
        return card + (f"<p>An interval contains the right label with a probability of at least {self.coverage:g}. It has the labels "
                        f"whose distance is at most {self.quantile_:.3g}, the quantile of {self.n_calibration_} held-out rows.</p>")

    def _fitted(self):
        if "_distances" not in vars(self):
            return {}
        return {"distances": listed(self._distances), "weights": listed(self._weights), "quantile": listed([self.quantile_])}

    def _revive(self, trained, fitted):
        self._check()
        distances, weights = array_of(fitted["distances"], low=0), array_of(fitted["weights"], low=0)
        if len(distances) != len(weights):
            raise DataError(f"it has {len(distances)} distances and {len(weights)} weights")
        self._take(trained, levels_of(trained), distances, weights)
        self.quantile_, = array_of(fitted["quantile"], low=0).tolist()

    def _read_labels(self, y):
        if y is None or find_ends(y) is None:
            return super()._read_labels(y)
        labels = find_labels(interval_labels(y), self._order(), True)
        return labels, codes_of(y, labels, len(y))


def codes_of(y, labels, n_rows):
    """The code of each label, shape (n,), or of the lowest and highest label of each row, shape (n, 2)."""
    encode = LabelCodes(labels).encode
    return encode(y, n_rows) if find_ends(y) is None else np.column_stack(read_intervals(y, labels, encode, n_rows))


def rank_distances(estimator, X, labels):
    """How far the score of each row would have to move until the prediction could be each level, (n, K)."""
    # 0 at the prediction itself. Behind each boundary, the distance is the largest one so far, so it never falls outwards. With one latent
    # score it is the distance to the interval of the level, between its two thresholds.
    scores = boundary_scores(estimator, X, labels)
    answers = LabelCodes(np.asarray(labels)).encode(estimator.predict(X), len(scores))
    boundaries, nothing = np.arange(1, len(labels)), np.zeros((len(scores), 1))
    up = np.where(boundaries >= answers[:, None], -scores, 0)           # what is missing to pass boundary k from below
    down = np.where(boundaries < answers[:, None], scores, 0)
    up, down = np.maximum.accumulate(np.maximum(up, 0), axis=1), np.maximum.accumulate(np.maximum(down, 0)[:, ::-1], axis=1)[:, ::-1]
    return np.maximum(np.hstack([nothing, up]), np.hstack([down, nothing]))


def distances_of(estimator, X, labels, codes):
    """The distances of rows to their own labels; to the farther end of an interval of labels."""
    distances = rank_distances(estimator, X, labels)
    return np.take_along_axis(distances, codes.reshape(len(codes), -1) - 1, axis=1).max(axis=1)
