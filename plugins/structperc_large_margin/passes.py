"""What a solver finds as the model of the moment: weights, thresholds, and an entry of the training's record."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.solvers.certificates import too_large
from structperc_large_margin.thresholds import ChainThresholds

ROUNDING = 1e-12        # by what share two sums of the same hinges may differ
NEAR = 1e-9             # of the objective: a gap below it is rounding


@attrs.frozen(eq=False)
class Found:
    """The best weights and thresholds that a dual solution means."""
    # scale: float. w = scale * sum_i beta_i phi(x_i): 1; 1 / ||w|| where the sum of margins is maximised; 0 where w = 0.
    # thresholds: ndarray of shape (K - 1,). The best ones in order.
    # free: ndarray of shape (K - 1,). The best ones where none need be in order.
    # margins: ndarray of shape (K - 1, 2). The planes a_j and b_j below and above each threshold.
    # objective, dual: float. The primal and the dual value.
    # norm: float. ||w|| of the model, in the kernel's space of the rows that it was trained on.
    # disordered: bool. Whether no best thresholds are in order.

    scale: float
    thresholds: np.ndarray
    free: np.ndarray
    margins: np.ndarray
    objective: float
    dual: float
    norm: float = 0.0
    disordered: bool = False

    @property
    def gap(self) -> float:
        return max(self.objective - self.dual, 0.0)

    @property
    def close_to_zero(self) -> bool:
        """Whether w = 0 only cannot be told from the optimum: a small C, or a tolerance that is not small enough."""
        return not self.scale and self.gap > NEAR * abs(self.objective)


class Primal:
    """From the dual solutions of one chain to weights, thresholds and values."""

    def __init__(self, chain):
        self.chain, self.own = chain, ChainThresholds(chain)
        self.at_zero = self.own.best(np.zeros(chain.n_examples)) if chain.gain else None

    def of(self, point) -> Found:
        """The best thresholds for the scores of a `Point`, and its values; raises an error for values that overflow."""
        primal = self.of_thresholds(point) if self.chain.gain else self.of_margins(point)
        if not np.isfinite(primal.objective):
            raise too_large()
        return primal

    def of_thresholds(self, point):
        scores = point.scores
        best = self.own.best(scores)
        scale, objective = 1.0, point.square / 2 + best.value
        if self.at_zero.value <= objective * (1 + ROUNDING):        # w = 0 is as good
            scale, best, objective, scores = 0.0, self.at_zero, self.at_zero.value, np.zeros_like(scores)
        thresholds, disordered = best.values, False
        if (np.diff(thresholds) < 0).any():                         # their intervals may hold others that are in order
            ordered = ChainThresholds(attrs.evolve(self.chain, open_arcs=True)).best(scores)
            thresholds, disordered = ordered.values, ordered.value > best.value * (1 + ROUNDING)
        margins = np.column_stack([thresholds - 1, thresholds + 1])
        return Found(scale, thresholds, best.values, margins, objective, point.dual, float(scale * np.sqrt(point.square)), disordered)

    def of_margins(self, point):
        n_thresholds = self.chain.n_nodes // 2
        if point.square == 0:
            return Found(0.0, np.zeros(n_thresholds), np.zeros(n_thresholds), np.zeros((n_thresholds, 2)), 0.0, 0.0)
        norm = np.sqrt(point.square)
        best = self.own.best(point.scores / norm)
        margins = best.values.reshape(-1, 2)
        cuts = margins.mean(axis=1)                                 # in the middle between the planes
        return Found(1 / norm, cuts, cuts, margins, best.value, point.dual, 1.0)


class Passes:
    """The epochs of one training."""
    # problem: KernelProblem or LinearProblem
    # costs: array of shape (n, K) or None. None: those of the distance.

    def __init__(self, run, problem, costs):
        self.run, self.problem, self.costs = run, problem, costs
        self.ranks = np.asarray(run.gold.values)
        self.active = np.arange(len(self.ranks)) if run.active is None else np.asarray(run.active)
        self.answers = self.reported = np.full(len(self.ranks), run.context.n_labels, dtype=np.intc)       # of weights that are 0
        self.n_steps = self.n_before = 0            # steps that are in the record; those of the chains before
        self.last = None                            # the point that was entered last, what it means, and its dual solution
        run.begin_epoch()

    def solve(self, chain, tolerance, start=None):
        """The solver's solution of a chain."""
        self.chain, self.primal = chain, Primal(chain)
        solution = self.problem.solve(chain, tolerance, start, self.report)
        self.n_before += solution.n_iterations
        return solution

    def report(self, n_steps, mu, *place) -> bool:
        """Makes what the solver has found the model, and ends an epoch; whether the solver shall end too."""
        run, n_steps = self.run, n_steps + self.n_before
        if n_steps <= self.n_steps:
            return False
        point = self.problem.point(self.chain, mu, *place)
        self.last = point, self.primal.of(point), None if mu is None else np.array(mu)
        self.enter(*self.last[:2])
        self.count(n_steps, notify=True)
        if run.stop_requested or run.epoch >= run.context.epochs:
            return True
        run.begin_epoch()
        return False

    def enter(self, point, primal):
        """Makes this the model."""
        self.problem.write(primal.scale * point.weights, primal.thresholds, len(self.active))
        self.answers = 1 + np.searchsorted(primal.thresholds, primal.scale * point.scores, side="right").astype(np.intc)

    def count(self, n_steps, notify):
        """Enters the mistakes of the model into the record; `n_steps` were made in all. `notify`: the observers too."""
        run, ranks, answers = self.run, self.ranks[self.active], self.answers[self.active]
        costs = abs(ranks - answers) if self.costs is None else self.costs[self.active, answers - 1]
        if run.online is not None:
            run.keep(self.reported[self.active], run.active)
        passed = run.own_pass(int((ranks != answers).sum()), int(n_steps - self.n_steps), float(costs.sum()))
        self.reported, self.n_steps = self.answers, n_steps
        if notify:
            run.end_epoch(passed)

    def end(self, point, primal):
        """Makes this the last model."""
        self.enter(point, primal)
        if self.n_before > self.n_steps or not self.run.model.mistakes:
            self.count(self.n_before, notify=True)

    def keep(self, solution):
        """Makes the better of the last two points of an interrupted solver the model; returns the dual solution. May be called again."""
        point = self.problem.interrupted(self.chain, solution)
        places = [(point, self.primal.of(point), solution.mu), self.last]
        point, primal, mu = min((place for place in places if place is not None), key=lambda place: place[1].objective)
        self.enter(point, primal)
        if not self.run.model.mistakes:
            self.count(self.n_before, notify=False)
        return mu
