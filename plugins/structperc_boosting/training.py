"""The trainer of an ensemble of stumps: an epoch is a round of AdaBoost.OR."""

from __future__ import annotations

import numpy as np

from structperc.components import Trainer
from structperc.errors import PluginError
from structperc.plugin_tools import CONVERGED, EARLY_STOPPED, MAX_EPOCHS, is_ordered, read_array, refuse_not_finite, substate
from structperc_boosting.costs import check_v_shape
from structperc_boosting.rounds import Boosting
from structperc_boosting.stump_search import SortedColumns, constant_stump


class StumpBase:
    """Stumps of least cost as the base rankers of `Boosting`."""

    def __init__(self, X, n_ranks):
        self.columns, self.n_ranks = SortedColumns(X), n_ranks

    def fit(self, costs):
        return self.columns.search(costs)

    def constant(self, rank):
        return constant_stump(rank, self.n_ranks), np.full(self.columns.n_rows, rank, dtype=np.intc)


class BoostingTrainer(Trainer):
    """AdaBoost.OR over stumps: at most `epochs` rounds, each of which adds the stump of least cost by the costs of the round.

    Ends before, as "converged", if a stump makes no error or none has an error below 1/2. A stump without errors is the whole ensemble.
    """
    # errors: list of float. Of the stumps, by the costs of their rounds.

    online = False
    options_used = ("epochs",)

    def start(self, parts, context):
        self.errors = []
        self.boosting = self.resumed = None     # of the training under way; what a checkpoint held of it

    def check(self, context, parts):
        if not hasattr(parts.features, "join"):
            raise PluginError(f"boosting finds stumps, but {type(parts.features).__name__} was named as the feature map; leave that out.")
        if parts.outputs.partial_gold or not is_ordered(parts.outputs):
            raise PluginError(f"boosting learns from ranks, but {type(parts.outputs).__name__} was named as the outputs; leave that out.")

    def check_order(self, context, parts):
        raise parts.features.disordered(context)

    def train(self, run):
        model = run.model
        features, weights = model.parts.features, model.parts.weights
        X, y, costs = examples(run)
        boosting, base = Boosting(y, costs), StumpBase(X, costs.shape[1])
        if run.resumed and self.resumed:
            boosting.restore(self.resumed)
        self.boosting, self.resumed = boosting, None
        try:
            while run.epoch < run.context.epochs and not boosting.over and not run.stop_requested:
                run.begin_epoch()
                if run.online is not None:
                    run.keep(boosting.answers.copy(), run.active)
                joined = boosting.round(base)
                if joined is not None:
                    features.join(weights, joined.ranker, joined.vote, joined.alone, weights.n_visited + len(y))
                    self.errors = [*([] if joined.alone else self.errors), joined.error]
                mistakes, cost = boosting.measured()
                run.end_epoch(run.own_pass(mistakes, int(joined is not None), cost))
        finally:
            self.boosting = None
        if boosting.over:
            return CONVERGED
        return EARLY_STOPPED if run.stop_requested else MAX_EPOCHS

    def attributes(self, weights):
        """errors_, (T,): by each round's costs, the stump's share of the costs of both ends of the scale, at most 1/2."""
        return {"errors_": lambda: np.array(self.errors)}

    def state(self):
        under_way = {} if self.boosting is None else self.boosting.state()
        return {"errors": np.array(self.errors, dtype=float)} | {f"boosting.{name}": array for name, array in under_way.items()}

    def restore(self, state):
        self.errors = read_array(state, "errors", np.float64, (None,), low=0, high=0.5).tolist()
        self.resumed = dict(substate(state, "boosting."))


def examples(run):
    """The examples with a weight: their rows, ranks and costs."""
    loss, active = run.model.parts.loss, slice(None) if run.active is None else run.active
    gold = np.asarray(run.gold.values)
    costs = loss.costs_of(gold, run.rows)
    costs = check_v_shape(costs, gold)
    if run.weights is not None:
        costs = costs * np.asarray(run.weights)[:, None]
    refuse_not_finite(run.rows)
    return run.rows.X[active], gold[active], np.ascontiguousarray(costs[active])
