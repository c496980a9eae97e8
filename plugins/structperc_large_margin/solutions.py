"""What the solvers of chains find."""

from __future__ import annotations

import attrs
import numpy as np

from structperc_large_margin.thresholds import Thresholds


@attrs.frozen(eq=False)
class Solution:
    """A feasible point of a chain's dual."""
    # mu: ndarray of shape (n_coordinates,). If the status of the sum of margins is "degenerate", they prove that no direction has a
    # positive sum.
    # beta: ndarray of shape (n_examples,). w = sum_i beta_i phi(x_i); of a linear solution up to the gap.
    # scores: ndarray of shape (n_examples,). w . phi(x); those of examples at rest may be some rounds old where the chain solver was
    # interrupted.
    # n_iterations: int. Steps of two coordinates, Newton steps over all examples, or points of least norm.
    # status: str. "converged", "max_iterations", "stalled" (rounding leaves nothing better), "stopped" (by `progress`), "interrupted"; and
    # of the sum of margins "degenerate": the optimum is 0, no direction.
    # interruption: BaseException or None. That of Ctrl-C, for the caller to raise.

    mu: np.ndarray
    beta: np.ndarray
    scores: np.ndarray
    n_iterations: int
    status: str
    interruption: BaseException | None = None


@attrs.frozen(eq=False, kw_only=True)
class MeasuredSolution(Solution):
    """A solution whose solver has measured both objectives."""
    # w: ndarray of shape (n_features,) or None. Of norm 1 where the sum of margins is maximised, 0 where that is degenerate; None with a
    # kernel.
    # thresholds: Thresholds. The best ones for w; of the sum of margins the planes a_1, b_1, a_2, ..
    # objective: float. The primal value at w. Of the sum of margins: the sum of a_j - b_j and of C times all slacks, at most 0.
    # dual_objective: float. That of mu, a bound from below; -||w(mu)|| of the sum of margins.

    w: np.ndarray | None
    thresholds: Thresholds
    objective: float
    dual_objective: float

    @property
    def gap(self) -> float:
        """The objective is larger than the optimum by no more; at least 0 up to rounding."""
        return self.objective - self.dual_objective
