"""Boosting for ordered labels with scikit-learn's manners: `AdaBoostOR` over any base ranker, and `ORStump`.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import numpy as np
from sklearn.base import ClassifierMixin, MetaEstimatorMixin

from structperc import Engine, Option, hookimpl
from structperc.errors import OptionError, shortened
from structperc.estimators.keeping import EngineAnswers, note
from structperc.estimators.rankers import (
    Parameters,
    RankScore,
    SortedClasses,
    cloned_ranker,
    levels_named,
    log_probabilities,
    order_in,
)
from structperc.plugin_tools import (
    CONVERGED,
    EARLY_STOPPED,
    MAX_EPOCHS,
    cumulative_log_probabilities,
    generator,
    has_typed_columns,
    install_model,
    learn_table,
    options_alone,
)
from structperc_boosting.bases import (
    computed,
    example_weights,
    ranks_predicted,
    read_examples,
    read_ranks,
    read_rows,
    require_parameter,
    rows_of,
)
from structperc_boosting.rounds import Boosting
from structperc_boosting.stump_search import SortedColumns, Stump, tally

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self


__all__ = ["AdaBoostOR", "ORStump"]

COLUMNS = ("n_features_in_", "feature_names_in_")
ROUNDS = Option(100, low=1)
PATIENCE = Option(None, types=(int, type(None)), low=1)
FRACTION = Option(0.1, above=0, below=1)


class ORStump(SortedClasses, RankScore, EngineAnswers, ClassifierMixin, Parameters):
    """Ordinal decision stump: cuts one column into ranks at K - 1 thresholds, with the least costs of its predictions.

    The search over all columns, both directions and all thresholds is exact, for any costs. Of equal stumps it takes the first column,
    rising before falling, and the lowest ranks.

    Parameters
    ----------
    cost : {"absolute", "squared", "zero-one"} or (K, K) array, default "absolute"
        What a wrong rank costs (row: right label, column: predicted label), where `fit` is given no costs.
    class_weight : None, "balanced" or dict, default None
        Multiplies the costs of rows by a weight of their labels, {label: weight}; labels that are left out weigh 1. "balanced": all labels
        that occur weigh the same in all.
    classes : list, optional
        The labels in order; otherwise an ordered categorical's own order, or the sorted labels of y.

    Attributes
    ----------
    feature_ : int
    direction_ : {1, -1}
    thresholds_ : ndarray of shape (K - 1,)
        The prediction is the lowest rank k with ``direction_ * x[feature_] < thresholds_[k - 1]``; -inf and inf at the ends.
    cost_ : float
        Sum of the costs of its predictions for the training rows.
    engine_ : Engine
        `Engine("adaboost-or")` with this stump as its one ranker.
    levels_ : ndarray of shape (K,)
        The labels in the order of ranks; `classes_` has them sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Notes
    -----
    Cost: O(d n log n) to sort the columns, and about 10 ns for each row and column.

    Examples
    --------
    >>> from structperc.estimators import ORStump
    >>> stump = ORStump().fit([[0.0, 7.0], [1.0, 7.0], [2.0, 7.0]], [1, 2, 3])
    >>> stump.feature_, stump.direction_, stump.thresholds_.tolist()
    (0, 1, [0.5, 1.5])
    >>> stump.predict([[-1.0, 0.0], [1.4, 0.0]]).tolist()
    [1, 2]
    """

    def __init__(self, *, cost="absolute", class_weight=None, classes=None) -> None:
        self.cost, self.class_weight, self.classes = cost, class_weight, classes

    def fit(self, X, y, costs=None, sample_weight=None) -> Self:
        """Finds the stump.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        costs : array-like of shape (n, K), optional
            Of predicting each label for each example, instead of `cost`: 0 at the right label, not falling on the way to the ends.
        sample_weight : array-like of shape (n,), optional
            Multiplies the costs; rows of weight 0 are as if they were absent.
        """
        order, class_weight = order_in(y, self.classes, self.class_weight)
        X = computed(X)
        reader, rows = learn_table(X)
        names = None if reader is None else rows.feature_names
        X, y, weights = read_examples(self, X, y, sample_weight, order is not None)
        weights = example_weights(class_weight, order, y, weights)
        labels, _, costs = read_ranks(y, order, self.cost, costs, weights)
        kept = slice(None) if weights is None else np.flatnonzero(weights)
        stump, _ = SortedColumns(X[kept]).search(np.ascontiguousarray(costs[kept]))
        engine = self._engine(classes=labels)
        context = attrs.evolve(options_alone(engine, generator(None)), n_features=X.shape[1],
                               feature_names=names or tuple(getattr(self, "feature_names_in_", ())) or None)
        arrays = {"features": np.array([stump.feature], dtype=np.int32), "directions": np.array([stump.direction]),
                  "thresholds": np.array([stump.thresholds])}
        states = {"features": arrays, "weights": {"weights": np.ones(1), "scales": np.array([1.0, len(X)]), "n_visited": np.array(len(X))}}
        install_model(engine, context, labels, states, {"status": CONVERGED}, reader)
        self.cost_ = stump.cost
        self._keep(engine)
        return self

    def predict(self, X) -> np.ndarray:
        """The labels of rows, shape (n,)."""
        X = self._read(X)
        return self.levels_[self._stump.predict(X) - 1]

    def explain(self, x, against=None, baseline=None, groups=None) -> Any:
        """Why x got its label: the stump's votes for it less those for the runner-up, by boundary. Returns `Explanation`.

        Parameters
        ----------
        x : one row
        against, baseline, groups
            As in `structperc.Engine.explain`; the baseline is a row, or "zero", the default.
        """
        return self._trained().explain(x, against=against, baseline=baseline, groups=groups)

    def _engine(self, **options):
        return Engine("adaboost-or", preset="paper", epochs=1, **options)

    def _keep(self, engine):
        self._stump = stump_of(engine, 0)
        attributes = {name: getattr(engine, name) for name in COLUMNS if name not in vars(self) and hasattr(engine, name)}
        note(self, engine)
        vars(self).update(attributes | {"engine_": engine, "levels_": engine.classes_, "feature_": self._stump.feature,
                                        "direction_": self._stump.direction, "thresholds_": self._stump.thresholds})

    def _trained(self):
        return self._from_fit("engine_")

    def _read(self, X):
        self._from_fit("levels_")
        return read_rows(self, X, reset=False)

    def _fitted(self):
        return {"cost": float(self.cost_)} if "cost_" in vars(self) else {}

    def _revive(self, trained, fitted):
        self.cost_ = float(fitted["cost"])
        self._keep(trained)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True      # one column cannot separate classes that have no order
        return tags


class AdaBoostOR(SortedClasses, RankScore, EngineAnswers, MetaEstimatorMixin, ClassifierMixin, Parameters):
    """AdaBoost.OR: an ensemble of rankers for ordered labels, each trained on the costs that the rankers before it left.

    The prediction is the weighted median of the rankers' ranks: the lowest rank that more than half of the votes do not exceed. Over
    stumps, the default, an engine trains and keeps the ensemble (`engine_`). It saves without pickle and explains.

    Parameters
    ----------
    estimator : ranker, optional
        With `fit(X, y, costs=...)`, whose y are the ranks 1..K, and `predict(X)`: `ORStump()` (the default),
        `BinaryReduction(classifier)`, or one of your own. Its parameter `classes` is set to the ranks, `random_state` where it is None.
    n_estimators : int, default 100
        The most rounds.
    cost : {"absolute", "squared", "zero-one"} or (K, K) array, default "absolute"
        What a wrong rank costs (row: right label, column: predicted label), where `fit` is given no costs. Costs must not fall on the way
        from the right rank to an end of the scale.
    n_iter_no_change : int, optional
        Ends training when the cost on held-out rows has not fallen for so many rounds.
    validation_fraction : float, default 0.1
        The share of rows that `n_iter_no_change` holds out, drawn by `random_state`.
    calibrate : bool, default False
        Of stumps: fit a temperature for probabilities, by five more ensembles that each have not seen a fifth of the rows.
    classes : list, optional
        The labels in order; otherwise those that `estimator` names, an ordered categorical's own order, or the sorted labels of y.
    random_state : None, int, numpy Generator or RandomState, optional
        Seed of the base rankers and of the held-out rows. Stumps are found without chance.

    Attributes
    ----------
    estimators_ : list
        The rankers, which predict ranks 1..K; of an engine `structperc_boosting.stump_search.Stump`.
    estimator_weights_ : ndarray of shape (T,)
        Their votes, 1/2 ln((1 - error) / error). A ranker without errors is the whole ensemble, with the vote 1. So is the best constant if
        no ranker has an error below 1/2.
    errors_ : ndarray of shape (T,)
        The rankers' costs in their rounds, as a part of the costs of both ends of the scale.
    engine_ : Engine
        Over stumps: what was trained.
    status_ : str
        "max_epochs", "early_stopped", or "converged" where no further ranker could improve the ensemble.
    levels_ : ndarray of shape (K,)
        The labels in the order of ranks; `classes_` has them sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from structperc.estimators import AdaBoostOR
    >>> import numpy as np
    >>> X, progression = load_diabetes(return_X_y=True)
    >>> y = np.digitize(progression, [90, 140, 210]) + 1
    >>> model = AdaBoostOR(n_estimators=200).fit(X[:300], y[:300])
    >>> bool(abs(model.predict(X[300:]) - y[300:]).mean() < 0.8)
    True
    """

    _held: ClassVar[dict] = {"cost": "loss"}

    def __init__(self, estimator=None, *, n_estimators=100, cost="absolute", n_iter_no_change=None, validation_fraction=0.1,
                 calibrate=False, classes=None, random_state=None) -> None:
        self.estimator, self.n_estimators, self.cost, self.classes = estimator, n_estimators, cost, classes
        self.calibrate = calibrate
        self.n_iter_no_change, self.validation_fraction, self.random_state = n_iter_no_change, validation_fraction, random_state

    def fit(self, X, y, costs=None, sample_weight=None) -> Self:
        """Trains the ensemble.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
        costs : array-like of shape (n, K), optional
            Of predicting each label for each example, instead of `cost`: 0 at the right label, not falling on the way to the ends.
        sample_weight : array-like of shape (n,), optional
            Multiplies the costs. More rounds fit more rows, whatever they weigh. For a rare class, raise its row of `cost` as well.
        """
        n_rounds, patience = ROUNDS.read("n_estimators", self.n_estimators), PATIENCE.read("n_iter_no_change", self.n_iter_no_change)
        share = FRACTION.read("validation_fraction", self.validation_fraction)
        X = frame = computed(X)
        own_costs = costs
        order, _ = order_in(y, levels_named(self))
        stumps = self.estimator is None or type(self.estimator) is ORStump
        X, y, weights = read_examples(self, X, y, sample_weight, order is not None, passed=not stumps and has_typed_columns(X))
        labels, ranks, costs = read_ranks(y, order, self.cost, costs, weights)
        random, rows, held_out = generator(self.random_state), np.arange(len(X)), None
        if patience is not None:
            order, n_held = random.permutation(len(X)), int(np.ceil(share * len(X)))
            rows, held = np.sort(order[n_held:]), np.sort(order[:n_held])
            if len(rows) == 0:
                raise OptionError(f"validation_fraction={share} of {len(X)} rows leaves none to learn from; hold out fewer.")
            held_out = HeldOut(rows_of(frame, held) if has_typed_columns(frame) else X[held], costs[held], patience)
        engine = None
        if stumps:
            engine = self._engine(epochs=n_rounds, loss=self.cost if own_costs is None else "costs", classes=labels,
                                  calibrate=self.calibrate, plugins=[] if held_out is None else [held_out],
                                  random_state=int(random.integers(2**31)))
            chosen = {"costs": None if own_costs is None else np.asarray(own_costs)[rows],
                      "sample_weight": None if weights is None else weights[rows]}
            engine.fit(rows_of(frame, rows) if hasattr(frame, "columns") else X[rows], labels[ranks[rows] - 1], **chosen)
        else:
            if self.calibrate:
                raise OptionError(f"calibrate=True only fits a temperature to stumps, and estimator={shortened(self.estimator)} is another "
                                  f"ranker. Put the ensemble into scikit-learn's CalibratedClassifierCV.")
            X = rows_of(X, rows) if hasattr(X, "columns") else X[rows]
            trained = self._boosted(X, ranks[rows], np.ascontiguousarray(costs[rows]), n_rounds, held_out, random)
        if held_out is not None:
            held_out.forget()
        if engine is not None:
            self._keep(engine)
            return self
        vars(self).pop("engine_", None)
        self.estimators_, self.estimator_weights_, self.errors_, self.status_ = trained
        self.levels_ = labels
        return self

    def predict(self, X) -> np.ndarray:
        """The labels of rows, shape (n,)."""
        X = self._read(X)
        if "engine_" in vars(self):
            return self.engine_.predict(X)
        *_, ranks = self._stages(X, every=len(self.estimators_))
        return self.levels_[ranks - 1]

    def threshold_scores(self, X) -> np.ndarray:
        """The votes for a rank above k less those for a rank up to k, for k = 1..K - 1: shape (n, K - 1), falling with k."""
        X = self._read(X)
        if "engine_" in vars(self):
            return self.engine_.atom_scores(X)
        votes = np.zeros((len(X), len(self.levels_)))
        for ranker, vote in zip(self.estimators_, self.estimator_weights_, strict=True):
            tally(votes, ranks_predicted(ranker, X, len(self.levels_)), vote)
        return votes.sum(axis=1, keepdims=True) - 2 * votes.cumsum(axis=1)[:, :-1]

    def decision_function(self, X) -> np.ndarray:
        """Of two labels the votes for the second one, shape (n,). Of more the logarithms of all probabilities, shape (n, K).
        Returns a float64 array of shape (n_samples,) or (n_samples, K). Columns in the order of `classes_`.
        """
        self._from_fit("levels_")
        return self._decision(lambda: self.threshold_scores(X)[:, 0], lambda: self._log_probabilities(X))

    def predict_proba(self, X) -> np.ndarray:
        """How probable every label is, shape (n, K), where P(y > k) = sigma(score of threshold k / temperature).

        Columns are in the order of `classes_`. Votes fit no probabilities: without `calibrate` the temperature is 1.
        Returns a float64 array of shape (n_samples, K). Columns in the order of `classes_`; each row sums to 1.
        """
        if "engine_" in vars(self):
            return self._by_class(self.engine_.predict_proba(self._read(X)))
        return self._by_class(np.exp(self._log_probabilities(X)))

    def predict_log_proba(self, X) -> np.ndarray:
        """The logarithm of `predict_proba`, exact also where a probability is too small for floating point.
        Returns a float64 array of shape (n_samples, K). Columns in the order of `classes_`.
        """
        return self._by_class(self._log_probabilities(X))

    def staged_predict(self, X) -> Iterator[np.ndarray]:
        """The labels of rows by the first ranker, the first two, and so on: an iterator over arrays of shape (n,)."""
        for ranks in self._stages(self._read(X)):
            yield self.levels_[ranks - 1]

    def explain(self, x, against=None, baseline=None, groups=None) -> Any:
        """Why x got its label: the votes for the winner less those for the runner-up, by boundary and column. Only of stumps.
        Returns `Explanation`.

        Parameters
        ----------
        x : one row
        against, baseline, groups
            As in `structperc.Engine.explain`. Votes are not linear in the columns, so the baseline is a row, or "zero", the default.
        """
        return self._ensemble_of_stumps("explained").explain(x, against=against, baseline=baseline, groups=groups)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self.estimator is not None
        return tags

    def _engine(self, **options):
        return Engine("adaboost-or", **options)

    def _keep(self, engine):
        """What training of stumps made known."""
        fitted = {name: getattr(engine, name) for name in COLUMNS if name not in vars(self) and hasattr(engine, name)}
        fitted |= {"engine_": engine, "estimators_": [stump_of(engine, t) for t in range(len(engine.votes_))],
                  "estimator_weights_": engine.votes_, "errors_": engine.errors_, "status_": engine.status_, "levels_": engine.classes_}
        note(self, engine)
        vars(self).update(fitted)

    def _trained(self):
        return self._ensemble_of_stumps("saved without pickle, or asked for more than labels and probabilities")

    def _ensemble_of_stumps(self, what):
        self._from_fit("levels_")
        if "engine_" not in vars(self):
            raise OptionError(f"an ensemble of {type(self.estimator).__name__} cannot be {what}, since its rankers are objects of Python; "
                              f"pickle it, or boost stumps.")
        return self.engine_

    def _read(self, X):
        self._from_fit("levels_")
        by_rankers = "engine_" not in vars(self) and any(hasattr(ranker, "feature_names_in_") for ranker in self.estimators_)
        return read_rows(self, X, reset=False, passed=by_rankers)

    def _boosted(self, X, ranks, costs, n_rounds, held_out, random):
        """Rankers that are no stumps, their votes and errors, and why training ended."""
        require_parameter(self.estimator, "costs", "boosting", "pass ORStump(), PRank(pocket=True) or BinaryReduction(classifier)")
        boosting = Boosting(ranks, costs)
        base, joined, status = RankerBase(self.estimator, X, ranks, costs.shape[1], boosting.total, random), [], MAX_EPOCHS
        while boosting.rounds < n_rounds and status == MAX_EPOCHS:
            try:
                member = boosting.round(base)
            except OptionError as error:            # about costs that AdaBoostOR passes
                error.args = (f"AdaBoostOR passes costs to {type(self.estimator).__name__}.fit in each round: {error}",)
                raise
            if member is not None:
                joined = [member] if member.alone else [*joined, member]
            if boosting.over:
                status = CONVERGED
            elif held_out is not None and held_out.stalls(member.ranker, member.vote):
                status = EARLY_STOPPED
        return [one.ranker for one in joined], np.array([one.vote for one in joined]), np.array([one.error for one in joined]), status

    def _log_probabilities(self, X):
        """The logarithms of the probabilities of labels, in the order of ranks."""
        if "engine_" in vars(self):
            return log_probabilities(self.engine_, self._read(X))
        return cumulative_log_probabilities(self.threshold_scores(X), 1.0, 1 / (len(self.estimators_) + 2))

    def _stages(self, X, every=1):
        """The ranks by the first rankers, after each `every` of them."""
        n_ranks = len(self.levels_)
        votes, answers = np.zeros((len(X), n_ranks)), np.empty(len(X), dtype=np.intc)
        for t, (ranker, vote) in enumerate(zip(self.estimators_, self.estimator_weights_, strict=True), start=1):
            tally(votes, ranks_predicted(ranker, X, n_ranks), vote, answers if t % every == 0 else None)
            if t % every == 0:
                yield answers


class RankerBase:
    """Clones of an estimator as the base rankers of `Boosting`.

    The costs of a round add up, at both ends of the scale, to what they did before the first.
    """

    def __init__(self, estimator, X, y, n_ranks, total, random) -> None:
        self.estimator, self.X, self.y, self.n_ranks, self.total, self.random = estimator, X, y, n_ranks, total, random

    def fit(self, costs) -> Self:
        ranker = cloned_ranker(self.estimator, list(range(1, self.n_ranks + 1)), self.random)
        ranker.fit(self.X, self.y, costs=costs * self.total)
        return ranker, ranks_predicted(ranker, self.X, self.n_ranks)

    def constant(self, rank):
        ranker = ConstantRanker(rank)
        return ranker, ranker.predict(self.X)


class ConstantRanker:
    """Predicts one rank for every x."""

    def __init__(self, rank) -> None:
        self.rank = rank

    def predict(self, X) -> np.ndarray:
        """The rank, for each row."""
        return np.full(len(X), self.rank, dtype=np.intc)


class HeldOut:
    """Rows that rankers are not trained on, to see when their cost no longer falls."""

    def __init__(self, X, costs, patience) -> None:
        self.X, self.costs, self.patience = X, costs, patience
        self.votes, self.answers = np.zeros(costs.shape), np.empty(len(X), dtype=np.intc)
        self.least, self.since = np.inf, 0

    def stalls(self, ranker, vote):
        """Counts a ranker, and returns whether the last `patience` rankers have not lowered the cost."""
        tally(self.votes, ranks_predicted(ranker, self.X, self.costs.shape[1]), vote, self.answers)
        cost = self.costs[np.arange(len(self.X)), self.answers - 1].sum()
        self.least, self.since = (cost, 0) if cost < self.least else (self.least, self.since + 1)
        return self.since >= self.patience

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.updates:
            if has_typed_columns(self.X):
                self.X = engine.model_.parts.reader.encoded(self.X)
            t = len(engine.votes_) - 1
            if self.stalls(stump_of(engine, t), engine.votes_[t]):
                engine.stop()

    def forget(self):
        """Lets go of the rows."""
        self.X = self.costs = self.votes = self.answers = None


def stump_of(engine, t):
    """The stump t of an ensemble."""
    return Stump(int(engine.stump_features_[t]), int(engine.stump_directions_[t]), engine.stump_thresholds_[t], np.nan)
