"""The trainer of the loss of update="logistic", over all examples at once and with a penalty.

Provisional: it may change in any minor version.

Each threshold has a logistic loss of its own: sum over k of log(1 + exp(-s_k (u . x - b_k))), s_k = 1 above it and -1 below (Rennie and
Srebro 2005). Thresholds inside an interval are left out. The loss is convex, and its best thresholds are in order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from structperc.errors import OptionError
from structperc.plugin_tools import to_dense
from structperc_prank.cumulative_logit import CumulativeLogitTrainer
from structperc_prank.proportional_odds import start_of

RENNIE_SREBRO = r"""@inproceedings{rennie2005loss,
  author = {Jason D. M. Rennie and Nathan Srebro},
  title = {Loss Functions for Preference Levels: Regression with Discrete Ordered Labels},
  booktitle = {Proceedings of the IJCAI Multidisciplinary Workshop on Advances in Preference Handling},
  pages = {180--186},
  year = {2005}
}"""


class _Slopes(NamedTuple):
    """First and second derivatives of each row's losses by u . x - b_k, weighted; arrays of shape (n, K)."""

    first: np.ndarray
    second: np.ndarray


class _AllThresholds:
    """The penalised loss of some rows; parameters as of `ProportionalOdds`."""

    def __init__(self, X, low, high, n_ranks, weights, penalty):
        self.X, self.weights, self.penalty = X, weights, penalty
        self.n, self.d, self.K = X.shape[0], X.shape[1], n_ranks - 1
        k = np.arange(1, n_ranks)
        self.signs = (low[:, None] > k).astype(float) - (high[:, None] <= k)
        self.apart = np.zeros(max(self.K - 1, 0), dtype=bool)

    def start(self, low, high):
        """u = 0 and the thresholds of the ranks' shares."""
        return start_of(self, low, high)

    def margins(self, u, b):
        return self.signs * ((self.X @ u)[:, None] - b)

    def value(self, u, b):
        """The objective."""
        losses = np.logaddexp(0, -self.margins(u, b)) * (self.signs != 0)
        return float(self.weights @ losses.sum(axis=1)) + self.penalty / 2 * float(u @ u)

    def curvature(self, u, b) -> _Slopes:
        rest = expit(-self.margins(u, b))
        return _Slopes(-self.weights[:, None] * self.signs * rest, self.weights[:, None] * self.signs**2 * rest * (1 - rest))

    def gradient(self, u, c):
        """By u and b."""
        return np.append(self.X.T @ c.first.sum(axis=1) + self.penalty * u, -c.first.sum(axis=0))

    def hessian(self, c):
        d, X, each = self.d, self.X, c.second.sum(axis=1)[:, None]
        square = X.T @ (X.multiply(each).tocsr() if hasattr(X, "multiply") else X * each)
        across = -(X.T @ c.second)
        return np.block([[to_dense(square) + self.penalty * np.eye(d), across],
                         [across.T, np.diag(c.second.sum(axis=0))]])

    def has_maximum(self, place):
        """Whether slopes show that no direction separates ranks. False: this is open."""
        return False


class AllThresholdTrainer(CumulativeLogitTrainer):
    """Newton's method for the loss of update="logistic", plus penalty / 2 ||u||^2: mord's LogisticAT, whose alpha is the penalty.

    The penalty is that of the weights in training: with `scale`, of columns on one scale. The loss is no likelihood, so there are no
    standard errors.

    Parameters
    ----------
    penalty : float
        At least 0.

    Examples
    --------
    >>> from structperc import Engine
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1, 2, 2, 3]
    >>> engine = Engine("prank", trainer="all-threshold", penalty=1.0, scale=False).fit(X, y)
    >>> engine.status_, engine.coef_.round(3).tolist(), engine.thresholds_.round(3).tolist()
    ('converged', [1.207], [0.292, 3.329])
    """

    name, optimum = "all-threshold", "loss has no minimum"
    _likelihood = _AllThresholds
    citation = RENNIE_SREBRO

    def described(self, model, place, change, directions, endless):
        return None


def newton_trainer(context):
    """The batch trainer of a context, with its penalty. Raises `OptionError` if a penalty is set and the trainer has none.
    Returns `Trainer` or None. None: another trainer is named.

    Parameters
    ----------
    context : FitContext

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.plugin_tools import options_alone
    >>> from structperc_prank.all_thresholds import newton_trainer
    >>> newton_trainer(options_alone(Engine("prank", trainer="all-threshold", penalty=2.0))).penalty
    2.0
    """
    penalty = context.options["penalty"]
    for trainer in (CumulativeLogitTrainer, AllThresholdTrainer):
        if context.trainer == trainer.name:
            return trainer(penalty)
    if penalty:
        raise OptionError(f"penalty={penalty:g} has no effect with trainer={context.trainer!r}: its steps see one example. "
                          f"Set trainer='all-threshold', which minimises the loss of update='logistic' with this penalty, or "
                          f"trainer='cumulative-logit'.")
    return None
