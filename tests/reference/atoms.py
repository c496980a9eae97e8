"""Learners over atoms, with the operations of the compiled loop, so float64 results are equal to the last bit.

Rank y consists of the atoms "rank > k" for k = 1..y-1; class y consists of the atom y. A step adds over atoms:
w += sum_a c[a] phi(x, a). Averages are lazy: the mean of w is (S v - u) / T after T visits. With each step v += (c * to_w) x comes
u += (c * to_u) x. S is the sum of the scales so far; without decay S = T.
"""

from dataclasses import dataclass, field

import numpy as np

from reference.summation import rows_of


class Blocks:
    """x in the block of its atom, and a constant feature 1: cusum has r - 1 blocks, multiclass r."""

    def __init__(self, n_atoms, d, intercept):
        self.intercept = intercept
        self.v, self.u = np.zeros((n_atoms, d)), np.zeros((n_atoms, d))
        self.bias, self.bias_u = np.zeros(n_atoms), np.zeros(n_atoms)

    def scores(self, row):
        s = row.dots(self.v)
        return s + self.bias if self.intercept else s

    def add(self, row, c, to_w, to_u):
        for k in np.flatnonzero(c):
            row.add_to(self.v[k], c[k] * to_w)
            row.add_to(self.u[k], c[k] * to_u)
        if self.intercept:
            self.bias += c * to_w
            self.bias_u += c * to_u

    def squared_norm(self, row, c):
        return float(np.cumsum(c * c)[-1]) * (row.squared_norm() + self.intercept)

    def averaged(self, weights_of):
        return weights_of(self.v, self.u), weights_of(self.bias, self.bias_u)


class Thresholds:
    """A shared direction and a threshold per atom: the score of atom k is f - b_k with f = u . z."""

    def __init__(self, n_atoms, d, intercept):
        self.v, self.u = np.zeros(d), np.zeros(d)
        self.bias, self.bias_u = np.zeros(n_atoms), np.zeros(n_atoms)

    def scores(self, row):
        return row.dots(self.v[None])[0] - self.bias

    def add(self, row, c, to_w, to_u):
        total = float(np.cumsum(c)[-1])
        self.bias -= c * to_w
        self.bias_u -= c * to_u
        if total != 0:
            row.add_to(self.v, total * to_w)
            row.add_to(self.u, total * to_u)

    averaged = Blocks.averaged


def counts(problem, y):
    """How often each atom occurs in label y."""
    if problem.name == "multiclass":
        return (np.arange(1, problem.r + 1) == y).astype(float)
    return (np.arange(1, problem.r) < y).astype(float)


def argmax(problem, s):
    """multiclass: the lowest label of largest score; cusum: the lowest rank of largest prefix sum.

    prank: one more than the number of thresholds reached. If the loss makes the scores rise somewhere, prank uses the highest rank of
    largest prefix sum.
    """
    if problem.name == "multiclass":
        return int(np.argmax(s)) + 1
    totals = np.append(0.0, np.cumsum(s))
    if problem.name == "cusum":
        return int(np.argmax(totals)) + 1
    if (np.diff(s) > 0).any():
        return int(np.flatnonzero(totals == totals.max())[-1]) + 1
    return int((s >= 0).sum()) + 1


def augmented(problem, s, costs, scale):
    """The atom scores plus the costs of the labels, which are written over atoms up to a constant."""
    return s + scale * (costs if problem.name == "multiclass" else costs[1:] - costs[:-1])


@dataclass
class Run:
    """The results of a run; `shown` has the fitted attributes of the engine."""

    shown: dict = None
    mistakes: list = field(default_factory=list)
    loss: float = 0.0
    online: list = field(default_factory=list)
    updates: int = 0
    converged: bool = False


def coefficients(update, store, row, s, c, cost, *, margin, C, weight):
    """The coefficients over atoms to add, or None for no step."""
    if update == "perceptron":
        return c * weight
    h = margin * cost - float(np.cumsum(c * s)[-1])
    norm = store.squared_norm(row, c)
    if h <= 0 or norm == 0:
        return None
    aggressiveness = C * weight
    tau = {"pa": lambda: h / norm, "pa1": lambda: min(aggressiveness, h / norm),
           "pa2": lambda: h / (norm + 1 / (2 * aggressiveness))}[update]()
    return c * tau


def learn(problem, X, y, costs, *, update="perceptron", margin=1.0, loss_weight=0.0, C=1.0, epochs=1, average=False, decay=0.0,
          sample_weight=None, orders=None):
    """As `reference.enumerated.learn`. X is a dense array or a CSR matrix, float32 or float64, without a constant feature."""
    rows = rows_of(X)
    n_atoms = problem.r if problem.name == "multiclass" else problem.r - 1
    store = (Thresholds if problem.name == "prank" else Blocks)(n_atoms, X.shape[1], problem.intercept)
    scale, scale_sum, n_visited = 1.0, 0.0, 0
    run = Run()
    for epoch in range(epochs):
        mistakes, updates, loss = 0, 0, 0.0
        for i in range(len(rows)) if orders is None else orders[epoch]:
            weight = 1.0 if sample_weight is None else sample_weight[i]
            if weight == 0:
                continue
            s = store.scores(rows[i])
            if decay:
                s = s * scale
            found = argmax(problem, s)
            run.online.append(found)
            if found != y[i]:
                mistakes += 1
                loss += costs[i][found - 1]
            if loss_weight:
                found = argmax(problem, augmented(problem, s, costs[i], loss_weight))
            if found != y[i]:
                difference = counts(problem, y[i]) - counts(problem, found)
                c = coefficients(update, store, rows[i], s, difference, costs[i][found - 1], margin=margin, C=C, weight=weight)
                if c is not None:
                    scale *= 1 - decay
                    store.add(rows[i], c, 1 / scale, scale_sum / scale)
                    updates += 1
            n_visited += 1
            scale_sum += scale
        run.mistakes.append(mistakes)
        run.updates += updates
        run.loss += loss
        if updates == 0:
            run.converged = True
            break

    def weights_of(v, u):
        return (scale_sum * v - u) / n_visited if average else v * scale

    w, bias = store.averaged(weights_of)
    if problem.name == "prank":
        run.shown = {"coef_": w, "thresholds_": bias}
    elif problem.name == "cusum":        # the engine includes w_1 = 0 of the papers
        run.shown = {"coef_": np.vstack([np.zeros(X.shape[1]), w]), "intercept_": np.append(0.0, bias)}
    else:
        run.shown = {"coef_": w, "intercept_": bias}
    return run
