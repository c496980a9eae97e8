"""AdaBoost.OR, round by round, over any base ranker."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.plugin_tools import read_array
from structperc_boosting.stump_search import reweigh, tally

NEARLY_HALF = 0.5 - 1e-12       # an error from here on is 1/2 up to rounding: the ranker has nothing to say


@attrs.frozen(eq=False)
class Round:
    """A ranker that joined the ensemble."""
    # error: float. Its cost, as a part of the costs of both ends of the scale, by the costs of its round.
    # vote: float. 1/2 ln((1 - error) / error); 1 of a ranker that is the whole ensemble.
    # `alone`: bool. Whether it takes the place of all rankers before it: it makes no error, or it is the best constant.
    # mistakes: int. Training examples that the ensemble with this ranker predicts wrongly.
    # cost: float. The costs of these predictions, by the costs that training began with.

    ranker: object
    error: float
    vote: float
    alone: bool
    mistakes: int
    cost: float


class Boosting:
    """The costs and votes of one training.

    Each round divides the costs by their total. In the published form the total grows by up to 2 a round. Errors, votes and predictions are
    the same.
    """
    # y: int32 array of shape (n,). Right ranks, from 1.
    # costs: float64 array of shape (n, K). V-shaped (see `check_v_shape`).
    # costs: float64 array of shape (n, K). Those of the next round.
    # ends: float. What they add up to at both ends of the scale: 1 up to rounding.
    # `answers`: int32 array of shape (n,). Those of the ensemble so far to the training examples.
    # total: float. The costs of both ends of the scale, by the costs that training began with.
    # over: bool. Whether no further ranker can improve the ensemble.

    def __init__(self, y, costs):
        self.y, self.first_costs = np.ascontiguousarray(y, dtype=np.intc), costs
        self.total = float(costs[:, 0].sum() + costs[:, -1].sum())
        self.rounds, self.over, self.costs, self.ends = 0, False, costs / (self.total or 1), 1.0
        self.votes, self.answers = np.zeros(costs.shape), np.full(len(y), costs.shape[1], dtype=np.intc)

    def round(self, base):
        """One round with a base of `fit(costs)` and `constant(rank)`; None where it adds no ranker, and is the last."""
        if self.total == 0:
            return self.end(base)
        ranker, ranks = base.fit(self.costs)
        error = float(self.costs[np.arange(len(ranks)), ranks - 1].sum() / self.ends)
        if error >= NEARLY_HALF:
            return self.end(base)
        if error == 0:
            return self.alone(ranker, ranks, 0.0)
        self.ends = reweigh(self.costs, self.y, ranks, (1 - 2 * error) / error, 0.5 / (1 - error) / self.ends)
        return self.join(ranker, ranks, error, 0.5 * np.log((1 - error) / error), False)

    def end(self, base):
        """Without any ranker, the best constant is the ensemble."""
        self.over = True
        if self.rounds:
            return None
        totals = self.first_costs.sum(axis=0)
        rank = int(np.argmin(totals)) + 1
        return self.alone(*base.constant(rank), float(totals[rank - 1] / (self.total or 1)))

    def alone(self, ranker, ranks, error):
        self.over = True
        self.votes[:] = 0
        return self.join(ranker, ranks, error, 1.0, True)

    def join(self, ranker, ranks, error, vote, alone):
        self.rounds += 1
        tally(self.votes, ranks, vote, self.answers)
        return Round(ranker, error, float(vote), alone, *self.measured())

    def measured(self):
        """The mistakes of the ensemble so far, and their costs."""
        wrong = np.flatnonzero(self.answers != self.y)
        return len(wrong), float(self.first_costs[wrong, self.answers[wrong] - 1].sum())

    def state(self):
        return {"costs": np.array(self.costs), "ends": np.array(self.ends), "votes": np.array(self.votes),
                "answers": np.array(self.answers), "progress": np.array([self.rounds, self.over], dtype=np.int64)}

    def restore(self, state):
        shape = self.costs.shape
        costs, votes = (read_array(state, name, np.float64, shape) for name in ("costs", "votes"))
        ends = read_array(state, "ends", np.float64, low=0)
        answers = read_array(state, "answers", np.intc, shape[:1], low=1, high=shape[1])
        rounds, over = read_array(state, "progress", np.int64, (2,), low=0).tolist()
        self.costs, self.votes, self.ends, self.answers, self.rounds, self.over = costs, votes, ends, answers, rounds, bool(over)
