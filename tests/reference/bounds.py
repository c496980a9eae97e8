"""Mistake bounds of the online structured perceptron and its passive-aggressive variants.

Of every update: l its loss, delta = Phi(x, gold) - Phi(x, y), N = ||delta||^2, m the margin required, h = m - w . delta and tau
the factor of delta. `c` is the weight of the loss in the search (0: learn from the prediction). All start at w = 0 and hold for
every comparison vector u, with xi = max(0, l - u . delta), or max(0, m - u . delta) for the passive-aggressive ones:

    (P0)  sum l <= sum xi + ||u|| sqrt(sum (N + 2 c l))
    (P1)  sum l <= (||u|| sqrt(R^2 + 2c) + sqrt(sum xi))^2             R^2 = max N / l
    (P2)  sum l <= (||u|| sqrt(R^2 + 2c) + sqrt(sum xi^2 / l))^2
    (A0)  pa   sum h^2 / N <= (beta + sqrt(beta^2 + ||u||^2))^2        beta^2 = sum xi^2 / N
    (A1)  pa1  sum tau h <= ||u||^2 + 2 C sum xi
    (A2)  pa2  sum h^2 / (N + 1 / (2C)) <= ||u||^2 + 2 C sum xi^2
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Ledger:
    """What each update was, one entry per update."""

    loss: list = field(default_factory=list)
    margin: list = field(default_factory=list)
    hinge: list = field(default_factory=list)
    tau: list = field(default_factory=list)
    delta: list = field(default_factory=list)

    def note(self, loss, margin, hinge, tau, delta):
        self.loss.append(loss)
        self.margin.append(margin)
        self.hinge.append(hinge)
        self.tau.append(tau)
        self.delta.append(delta)


def perceptron(ledger, u, c=0.0):
    """Pairs (observed, bound) of (P0), (P1) and (P2)."""
    loss, delta = np.array(ledger.loss), np.array(ledger.delta)
    norm, u_norm = (delta**2).sum(axis=1), np.linalg.norm(u)
    xi = np.maximum(0, loss - delta @ u)
    reach = u_norm * np.sqrt((norm / loss).max() + 2 * c)
    observed = loss.sum()
    return {
        "P0": (observed, xi.sum() + u_norm * np.sqrt((norm + 2 * c * loss).sum())),
        "P1": (observed, (reach + np.sqrt(xi.sum())) ** 2),
        "P2": (observed, (reach + np.sqrt((xi**2 / loss).sum())) ** 2),
    }


def passive_aggressive(update, ledger, u, C=1.0):
    """The pair (observed, bound) of (A0), (A1) or (A2)."""
    margin, h, tau, delta = (np.array(v) for v in (ledger.margin, ledger.hinge, ledger.tau, ledger.delta))
    norm, square = (delta**2).sum(axis=1), float(u @ u)
    xi = np.maximum(0, margin - delta @ u)
    if update == "pa":
        beta = np.sqrt((xi**2 / norm).sum())
        return (h**2 / norm).sum(), (beta + np.sqrt(beta**2 + square)) ** 2
    if update == "pa1":
        return (tau * h).sum(), square + 2 * C * xi.sum()
    return (h**2 / (norm + 1 / (2 * C))).sum(), square + 2 * C * (xi**2).sum()


def required_margins(update, ledger, u, C=1.0):
    """The pair (sum of the margins m, bound) where y is always the prediction, so that h >= m."""
    margin, delta = np.array(ledger.margin), np.array(ledger.delta)
    radius = ((delta**2).sum(axis=1) / margin).max()
    bound = passive_aggressive(update, ledger, u, C)[1]
    factor = {"pa": radius, "pa1": max(radius, 1 / C), "pa2": radius + 1 / (2 * C * margin.min())}[update]
    return margin.sum(), factor * bound
