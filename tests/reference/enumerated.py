"""The online structured perceptron and its passive-aggressive variants, over enumerated outputs.

    predict     y^ = argmax over all z of w . Phi(x, z)
    search      y = argmax over all z of w . Phi(x, z) + loss_weight * cost(z)       (loss_weight = 0: y = y^)
    if y is not the gold label g, with delta = Phi(x, g) - Phi(x, y), h = margin * cost(y) - w . delta, N = ||delta||^2:
    decay       w <- (1 - decay) w
    perceptron  w <- w + weight * delta
    pa          w <- w + (h / N) delta                          if h > 0 and N > 0
    pa1         w <- w + min(C weight, h / N) delta             if h > 0 and N > 0
    pa2         w <- w + h / (N + 1 / (2 C weight)) delta       if h > 0 and N > 0

Inner products are exactly rounded sums, so equal sums are equal in any order of their terms.
"""

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class StepTaken:
    """One update: `hinge` is h, `step` the factor of delta."""

    example: int
    gold: int
    y: int
    cost: float
    delta: np.ndarray
    hinge: float
    step: float


@dataclass
class Trace:
    """The results of a run. `gap` is the smallest difference between a best and a truly smaller score, over all searches."""

    w: np.ndarray
    mean: np.ndarray = None
    mistakes: list = field(default_factory=list)
    loss: float = 0.0
    online: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    gap: float = math.inf
    converged: bool = False


def dot(a, b):
    """a . b, exactly rounded."""
    return math.fsum((a * b).tolist())


def scores(problem, w, x):
    """w . Phi(x, z) for all labels z."""
    return np.array([dot(w, problem.phi(x, z)) for z in problem.labels])


def best(values, ties):
    """The label 1..r of the largest value, and its distance to the largest truly smaller value."""
    winners = np.flatnonzero(values == values.max())
    below = values[values < values.max()]
    gap = (values.max() - below.max()) / (1 + abs(values).max()) if len(below) else math.inf
    return int(winners[0] if ties == "lowest" else winners[-1]) + 1, gap


def factor(update, h, norm, aggressiveness, weight):
    """The multiple of delta to add; 0 for none."""
    if update == "perceptron":
        return weight
    if h <= 0 or norm == 0:
        return 0.0
    if update == "pa":
        return h / norm
    if update == "pa1":
        return min(aggressiveness, h / norm)
    return h / (norm + 1 / (2 * aggressiveness))


def learn(problem, X, y, costs, *, update="perceptron", margin=1.0, loss_weight=0.0, C=1.0, epochs=1, decay=0.0, sample_weight=None,
          ties=None, orders=None):
    """Trains from zero weights.

    Parameters
    ----------
    problem : CuSum, PRank or Multiclass
    X : array (n, d)
    y : labels in 1..r
    costs : array (n, r)
        costs[i, z - 1] is the loss of the prediction z for example i.
    sample_weight : array (n,), optional
        Examples of weight 0 are left out.
    ties : {"lowest", "highest"}, optional
        By default the rule of the problem.
    orders : list of sequences, optional
        The examples to visit in each epoch; by default file order.

    Returns
    -------
    Trace
        `mean` is the average of w after each visited example.
    """
    X = problem.extended(np.asarray(X, dtype=float))
    ties = ties or problem.ties
    weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    trace = Trace(np.zeros(len(problem.phi(X[0], 1))))
    total, visited = np.zeros_like(trace.w), 0
    for epoch in range(epochs):
        mistakes = steps = 0
        for i in range(len(X)) if orders is None else orders[epoch]:
            if weights[i] == 0:
                continue
            x, gold = X[i], int(y[i])
            s = scores(problem, trace.w, x)
            found, gap = best(s, ties)
            trace.gap = min(trace.gap, gap)
            trace.online.append(found)
            if found != gold:
                mistakes += 1
                trace.loss += costs[i][found - 1]
            if loss_weight:
                found, gap = best(s + loss_weight * costs[i], ties)
                trace.gap = min(trace.gap, gap)
            if found != gold:
                delta = problem.phi(x, gold) - problem.phi(x, found)
                h = margin * costs[i][found - 1] - dot(trace.w, delta)
                tau = factor(update, h, dot(delta, delta), C * weights[i], weights[i])
                if tau:
                    trace.w = (1 - decay) * trace.w + tau * delta
                    trace.steps.append(StepTaken(i, gold, found, costs[i][found - 1], delta, h, tau))
                    steps += 1
            total += trace.w
            visited += 1
        trace.mistakes.append(mistakes)
        if steps == 0:
            trace.converged = True
            break
    trace.mean = total / visited
    return trace
