"""The trainer of the proportional-odds model: all examples at once, by Newton's method.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import warnings

import attrs
import numpy as np

from structperc import Option
from structperc.components import ThresholdFeatures, Trainer
from structperc.errors import DataError, DataWarning, PluginError
from structperc.plugin_tools import (
    EARLY_STOPPED,
    MAX_EPOCHS,
    Dependence,
    compared,
    one_hot_groups,
    plain_labels,
    read_array,
    refuse_not_finite,
    separating,
    undetermined,
)
from structperc_prank.proportional_odds import MOST_STEPS, Place, ProportionalOdds, covariance, newton

MCCULLAGH = r"""@article{mccullagh1980regression,
  author = {Peter McCullagh},
  title = {Regression Models for Ordinal Data},
  journal = {Journal of the Royal Statistical Society, Series B},
  volume = {42},
  number = {2},
  pages = {109--142},
  year = {1980}
}"""
PENALTY = Option(0.0, types=(float,), low=0,
                 help="L2 penalty of trainer='cumulative-logit' and 'all-threshold': penalty / 2 ||u||^2 is added to the loss")
ENDLESS = 1e-6          # of the largest weight of directions that separate ranks: weights with more are infinite
SEPARATED = 1e-6        # mean negative log-likelihood of ranks that a direction separates without error


@attrs.frozen(eq=False)
class Fitted:
    """The maximum of the likelihood: its logarithm, and the covariances of u and b by the Hessian and by the sandwich.

    Attributes
    ----------
    log_likelihood : float
    covariance, robust_covariance : arrays of shape (d + K - 1, d + K - 1)
        Of coefficients and thresholds, by the Hessian and by the sandwich.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc_prank.cumulative_logit import Fitted
    >>> Fitted(-12.5, np.eye(2), np.eye(2)).log_likelihood
    -12.5
    """

    log_likelihood: float
    covariance: np.ndarray
    robust_covariance: np.ndarray


class CumulativeLogitTrainer(Trainer):
    """Maximum likelihood of log P(y > k) / P(y <= k) = u . x - b_k, the proportional-odds model (cumulative logit, ordered logit).

    A label may be an interval of ranks, whose probability counts. The objective is the negative log-likelihood, plus penalty / 2 ||u||^2.
    An epoch is a Newton step; 6 to 12 are usual and 200 the most. Training ends as "converged" if the next step promises less than 1e-12 of
    the objective. So coefficients are the maximum's to about 1e-6 of their standard errors.

    Data may leave coefficients open. In a one-hot group that of the reference level is 0. Columns that depend on each other have the
    shortest of the best solutions, per standard deviation. If columns separate some ranks without error, the likelihood has no maximum, and
    their standard errors are infinite. A warning names such columns; a penalty makes them determined. Ranks without an example share a
    threshold with a neighbour.

    Parameters
    ----------
    penalty : float
        At least 0.

    Examples
    --------
    >>> from structperc import Engine
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [1.5]], [1, 2, 1, 2, 2]
    >>> engine = Engine("prank", trainer="cumulative-logit").fit(X, y)
    >>> engine.status_, round(float(engine.log_likelihood_), 2)
    ('converged', -2.92)
    """

    name, optimum = "cumulative-logit", "likelihood has no maximum"
    _likelihood = ProportionalOdds
    citation = MCCULLAGH
    online, log_odds = False, True

    def __init__(self, penalty):
        self.penalty = penalty

    def start(self, parts, context):
        self.objectives, self.fitted = [], None
        self.n_weights = context.n_features + context.n_labels - 1

    def check(self, context, parts):
        if parts.weights.vector() is None:
            raise PluginError(f"trainer={self.name!r} learns a weight for each feature, but {type(parts.weights).__name__} has none; "
                              f"leave the kernel out.")
        if not isinstance(parts.features, ThresholdFeatures):
            raise PluginError(f"trainer={self.name!r} learns one direction and its thresholds, but {type(parts.features).__name__} "
                              f"has other weights; use it with the problem 'prank' or 'interval-pa'.")

    def check_order(self, context, parts):
        pass

    def check_scales(self, model, rows):
        if self.penalty:
            super().check_scales(model, rows)

    def learning_curve(self, engine):
        return self.objectives

    def train(self, run):
        X, low, high, weights = self.examples(run)
        groups = one_hot_groups(run.model.parts.reader, run.model.means)
        dependence = None if self.penalty else Dependence.of(X, [group.reference for group in groups])
        whole = dependence is None or dependence.is_whole
        model = self._likelihood(X if whole else X[:, dependence.columns], low, high, run.context.n_labels, weights, self.penalty)
        u, b = model.start(low, high)
        place, status = Place(u, b, model.value(u, b), np.diff(b) <= 0), None
        while not (status or run.stop_requested or run.epoch >= MOST_STEPS):
            run.begin_epoch()
            answers = self.answers(model, place)
            place, status = newton(model, place)
            vector = np.concatenate([place.u, place.b])
            run.model.parts.weights.assign(vector if whole else dependence.weights(vector[:, None])[:, 0], model.n)
            self.objectives.append(place.objective)
            if run.online is not None:
                run.keep(answers, run.active)
            wrong = (answers < low) | (answers > high)
            run.end_epoch(run.own_pass(int(wrong.sum()), 1, place.objective))
        directions = np.zeros((model.d + model.K, 0))
        if not (self.penalty or model.has_maximum(place)):
            directions = separating(model.X, low, high, run.context.n_labels)
        change = self.change(run, dependence, groups)
        endless = self.endless(run, dependence, change @ directions)
        self.fitted = self.described(model, place, change, directions, endless)
        if not self.penalty:
            self._warn(run, groups, dependence, endless, place.objective <= SEPARATED * weights.sum())
        return status or (EARLY_STOPPED if run.stop_requested else MAX_EPOCHS)

    def _warn(self, run, groups, dependence, endless, complete):
        """Names what the data leave open. `complete`: a direction separates all ranks without error."""
        name, endless = run.model.feature_name, endless[:run.context.n_features]
        for sentence in undetermined(name, groups, dependence):
            warnings.warn(sentence, DataWarning, stacklevel=3)
        if complete:
            warnings.warn(f"a direction separates the ranks without error, so the {self.optimum}. The coefficients have no "
                          f"meaning but their direction. Set penalty=1.0, or use update='logistic'.", UserWarning, stacklevel=3)
        elif endless.any():
            names = ", ".join(map(name, np.flatnonzero(endless)[:5].tolist())) + (", ..." if endless.sum() > 5 else "")
            warnings.warn(f"the {self.optimum}: {names} separates some ranks from all others without error "
                          f"(quasi-separation). Such coefficients have no meaning but their sign, and infinite standard errors. Set "
                          f"penalty=1.0, or leave such columns out.", DataWarning, stacklevel=3)

    def examples(self, run):
        """The examples with a weight.

        Parameters
        ----------
        run : TrainingRun

        Returns
        -------
        X : array or CSR array of shape (n_examples, n_features)
        low, high : int arrays of shape (n_examples,)
            The ends of the intervals, ranks from 1.
        weights : float64 array of shape (n_examples,)
        """
        gold, active = np.asarray(run.gold.values), slice(None) if run.active is None else np.asarray(run.active)
        low, high = gold.reshape(run.n_examples, -1)[active, 0].astype(int), gold.reshape(run.n_examples, -1)[active, -1].astype(int)
        weights = np.ones(run.n_examples) if run.weights is None else np.asarray(run.weights, dtype=float)
        refuse_not_finite(run.rows)
        n_ranks, labels = run.context.n_labels, run.context.labels
        for end, missing in ((1, not (high == 1).any()), (n_ranks, not (low == n_ranks).any())):
            if missing:
                side = "lowest" if end == 1 else "highest"
                label = plain_labels(labels)[end - 1]
                raise DataError(f"no example of y is surely the {side} label {label!r}, so the {self.optimum}: its threshold "
                                f"would be infinite. Leave that label out of classes, or use update='logistic'.")
        return run.rows.X[active], low, high, weights[active]

    def answers(self, model, place):
        """The predicted ranks of all examples. Returns an int32 array of shape (n_examples,).

        Parameters
        ----------
        model : ProportionalOdds
        place : Place
            Coefficients and thresholds.
        """
        return 1 + np.searchsorted(place.b, model.X @ place.u, side="right").astype(np.intc)

    def change(self, run, dependence, groups):
        """The linear map from the model's coefficients and thresholds to those of X, relative to the reference levels.
        Returns an array of shape (n_weights, n_independent + K).

        Parameters
        ----------
        run : TrainingRun
        dependence : Dependence or None
            None: all columns are the model's.
        groups : list of OneHot
        """
        scaling, features = run.model.scaling, run.model.parts.features
        units = np.eye(self.n_weights)
        if scaling is not None:
            units = [features.rescaled(unit, scaling.shift, scaling.spread) for unit in units]
        change = np.array([compared(features, unit, groups) for unit in units]).T
        whole = dependence is None or dependence.is_whole
        n_thresholds = run.context.n_labels - 1
        return change if whole else change @ dependence.weights(np.eye(len(dependence.columns) + n_thresholds))

    def endless(self, run, dependence, directions):
        """Which coefficients and thresholds of X grow without end. Returns a bool array of shape (n_weights,).

        Parameters
        ----------
        run : TrainingRun
        dependence : Dependence or None
            None: there is a penalty.
        directions : array of shape (n_weights, n_directions)
            In the units of X.
        """
        reach, scaling = np.abs(directions).max(axis=1, initial=0), run.model.scaling
        if dependence is not None:
            reach[:len(dependence.spread)] *= dependence.spread
            if scaling is not None:
                reach[:len(dependence.spread)] *= np.where(scaling.deviation > 0, scaling.spread, 0.0)
        return reach > ENDLESS * reach.max(initial=0)

    def described(self, model, place, change, directions, endless):
        """The likelihood and its covariances, in the units of X. Returns `Fitted`.

        Parameters
        ----------
        model : ProportionalOdds
        place : Place
            Coefficients and thresholds.
        change : array
            The linear map from these to those of X.
        directions : array
            Those that separate ranks.
        endless : bool array of shape (n_weights,)
        """
        covariances = [change @ covariance(model, place, robust, directions) @ change.T for robust in (False, True)]
        for matrix in covariances:
            matrix[endless], matrix[:, endless] = 0, 0
            matrix[endless, endless] = np.inf
        return Fitted(self.penalty / 2 * float(place.u @ place.u) - place.objective, *covariances)

    def attributes(self, weights):
        """What the engine shows.

        - `objectives_`: the negative log-likelihood plus the penalty, after each Newton step; it never rises.
        - `log_likelihood_`: a number.
        - `covariance_`: of the coefficients and then the thresholds, (d + K - 1, d + K - 1); the inverse of the Hessian. That of
          a reference level is 0. Infinite: the likelihood has no maximum there.
        - `robust_covariance_`: the sandwich estimate of the same shape, which does not rest on proportional odds.
        - `standard_errors_`, `robust_standard_errors_`: the roots of their diagonals, (d + K - 1,).
        """
        fitted = self.fitted
        if fitted is None:
            return {"objectives_": lambda: np.array(self.objectives)}
        return {
            "objectives_": lambda: np.array(self.objectives),
            "log_likelihood_": lambda: fitted.log_likelihood,
            "covariance_": lambda: fitted.covariance.copy(),
            "robust_covariance_": lambda: fitted.robust_covariance.copy(),
            "standard_errors_": lambda: np.sqrt(np.diag(fitted.covariance)),
            "robust_standard_errors_": lambda: np.sqrt(np.diag(fitted.robust_covariance)),
        }

    def state(self):
        fitted = self.fitted
        return {"objectives": np.array(self.objectives, dtype=float)} | ({} if fitted is None else {
            "log_likelihood": np.array(fitted.log_likelihood), "covariance": fitted.covariance,
            "robust_covariance": fitted.robust_covariance})

    def restore(self, state):
        objectives = read_array(state, "objectives", np.float64, (None,)).tolist()
        fitted, shape = None, (self.n_weights, self.n_weights)
        if "log_likelihood" in state:           # a covariance is infinite where the likelihood has no maximum
            fitted = Fitted(float(read_array(state, "log_likelihood", np.float64)),
                            *(read_array(state, name, np.float64, shape, finite=False) for name in ("covariance", "robust_covariance")))
        self.objectives, self.fitted = objectives, fitted
