"""The nu form of the threshold methods: a search over C, whose ends bracket nu, until the gap of the nu program itself is small.

    (31)  min 1/2 ||w||^2 - nu rho + 1/n sum_ij W_ij slack_ij,   z_ij (f_i - b_j) >= rho - slack_ij,  rho >= 0
    (32)  max -1/2 ||w(mu)||^2,   0 <= mu <= W / n,  the flows of the chain,  sum of mu >= nu

A solution for C, w and mu, is that of (31), rho w and rho mu. Here rho = 1 / (n C) and nu(C) = rho * sum of mu. nu(C) does not rise with C.
Its largest value, `Form.largest_nu`, is above 1 if there are more than two ranks.

Typical sizes: 5 to 15 fits, each from the multipliers of the one before.

References
----------
B. Schölkopf, A. J. Smola, R. C. Williamson and P. L. Bartlett: New support vector algorithms. Neural Computation 12, 2000.
A. Shashua and A. Levin: Taxonomy of large margin principle algorithms for ordinal regression problems. Technical report
2002-39, School of Computer Science and Engineering, The Hebrew University of Jerusalem, 2002.
"""

from __future__ import annotations

import math

import attrs
import numpy as np

from structperc_large_margin.chain_solver import inner_product
from structperc_large_margin.thresholds import Thresholds, thresholds

MOST_FITS = 60
NOTHING = 1e-6          # ||w|| of this part of nu times the longest example counts as 0
STEP = 10.0             # how C grows or falls before nu is bracketed
ROUNDING = 1e-9         # by what share a sum of multipliers may miss nu
SAME = 1e-6             # two values of nu that differ by this share are one
NARROWEST = 1 + 1e-7    # the bracket's ratio at which the fits must become more exact


@attrs.frozen(eq=False)
class NuSolution:
    """What `solve_nu` found."""
    # C: float. Its solution is that of nu, in another scale.
    # rho: float. The margin of (31); 0 where the status is "degenerate".
    # solution: object. What `solve_at` found for C: margins of 1.
    # beta, scores: ndarray of shape (n_examples,). Of w(mu) for C, which the gap was measured at: w = sum_i beta_i phi(x_i). That of (31)
    # is rho times it.
    # thresholds: Thresholds. The best ones for these scores.
    # objective, dual_objective: float. Of (31) and (32).
    # status: str. "converged", "degenerate", "max_iterations", or the end of a fit: "stopped" or "interrupted". Degenerate means that the
    # optimum of (31) is w = 0, rho = 0: nu is too small to part these examples. With "max_iterations" no fit of the search is close enough.
    # usable: float. Where the status is "degenerate": the best w is 0 up to this nu; 0: for every nu.

    C: float
    rho: float
    solution: object
    beta: np.ndarray
    scores: np.ndarray
    thresholds: Thresholds
    objective: float
    dual_objective: float
    n_fits: int
    status: str
    usable: float = 0.0

    @property
    def gap(self) -> float:
        """How far the objective of (31) is from its optimum at most."""
        return self.objective - self.dual_objective


def solve_nu(form, nu, solve_at, scores_of, length, tolerance=1e-3) -> NuSolution:
    """Finds the C that belongs to nu, in (0, form.largest_nu]. Ends at a gap of (31) of this share of its objective."""
    # `solve_at(C, start, tolerance)` returns a solution, `scores_of(beta)` the scores of sum_i beta_i phi(x_i). `length` is an example's
    # largest norm.
    form.check_nu(nu)
    return Search(form, nu, solve_at, scores_of, length, tolerance).run()


@attrs.frozen(eq=False)
class Fit:
    """A solution for one C: its nu(C), and the coefficients and scores of w(mu) in the scale of (31), those for C over n C."""

    C: float
    nu: float
    solution: object
    beta: np.ndarray
    scores: np.ndarray

    @property
    def square(self) -> float:
        """||w||^2 in the scale of (31)."""
        return inner_product(self.beta, self.scores)

    def mixed(self, other, share):
        """This and another fit, for the bound by their mixture."""
        return attrs.evolve(self, nu=share * self.nu + (1 - share) * other.nu, beta=share * self.beta + (1 - share) * other.beta,
                            scores=share * self.scores + (1 - share) * other.scores)


class Search:
    """The root of nu(C) - nu, on the logarithms of both, by regula falsi and bisection."""

    def __init__(self, form, nu, solve_at, scores_of, length, tolerance):
        self.form, self.nu, self.solve_at, self.scores_of, self.length, self.tolerance = form, nu, solve_at, scores_of, length, tolerance
        self.unit = form.chain(1 / form.total)          # caps W / n
        self.inner_tolerance = tolerance / 4
        self.n_fits = 0

    def run(self) -> NuSolution:
        C = len(self.form.ranks) / self.form.total                      # of mean weight 1
        near, low, high, best = None, None, None, None                  # low: nu(C) >= nu there; high: below
        while True:
            near = self.fit(C, near)
            low, high = (near, high) if near.nu >= self.nu * (1 - ROUNDING) else (low, near)
            best = self.better(best, self.measured(near, self.bound(low, high)))
            if near.solution.status in ("stopped", "interrupted"):
                return attrs.evolve(best, status=near.solution.status)
            if near is low and math.sqrt(max(near.square, 0.0)) <= NOTHING * self.nu * self.length:
                usable = near.nu if near.nu < self.form.largest_nu * (1 - SAME) else 0.0        # w(mu) = 0 has this sum of mu
                return attrs.evolve(best, rho=0.0, objective=0.0, status="degenerate", usable=usable)
            if best.gap <= self.tolerance * -best.objective:
                return attrs.evolve(best, status="converged")
            if self.n_fits == MOST_FITS:
                return best
            if low is None or high is None:
                C *= STEP if high is None else 1 / STEP
            elif high.C > low.C * NARROWEST:
                C = between(low, high, self.nu, self.n_fits)
            else:                                       # the fits are not as exact as nu asks for
                self.inner_tolerance /= 8
                low = high = None

    def fit(self, C, near) -> Fit:
        """Solves for C from the multipliers of a fit nearby."""
        self.n_fits += 1
        start = None if near is None else near.solution.mu * (C / near.C)
        solution = self.solve_at(C, start, self.inner_tolerance)
        scale = 1 / (self.form.total * C)
        return Fit(C, scale * solution.mu.sum(), solution, scale * solution.beta, scale * self.scores_of(solution.beta))

    def bound(self, low, high) -> float:
        """(32) of multipliers that sum to nu: those of a fit with more of them made smaller, or mixed with those of a fit with fewer."""
        if low is None:
            return -math.inf
        squares = [(self.nu / low.nu) ** 2 * low.square]
        if high is not None:
            squares.append(low.mixed(high, (self.nu - high.nu) / (low.nu - high.nu)).square)
        return -max(min(squares), 0.0) / 2

    def measured(self, fit, bound) -> NuSolution:
        """(31) along a fit: at s (w, b, rho = 1) it is s^2 / 2 ||w||^2 + s (sum of W slacks / n - nu)."""
        of_margin_1 = self.form.total * fit.C
        scores = of_margin_1 * fit.scores
        primal = thresholds(self.unit, scores)
        square, slope = of_margin_1 * of_margin_1 * fit.square, min(primal.value - self.nu, 0.0)
        rho = -slope / square if square > 0 else 0.0
        return NuSolution(fit.C, rho, fit.solution, of_margin_1 * fit.beta, scores, primal, rho * slope / 2, bound, self.n_fits,
                          "max_iterations")

    def better(self, best, other) -> NuSolution:
        """The lower objective with the higher bound."""
        if best is None:
            return other
        one = other if other.objective <= best.objective else best
        return attrs.evolve(one, dual_objective=max(best.dual_objective, other.dual_objective), n_fits=self.n_fits)


def between(low, high, nu, n_fits) -> float:
    """The next C: by the line through both ends, every third time the middle."""
    above, below = (math.log(max(fit.nu, 1e-300) / nu) for fit in (low, high))
    share = 0.5 if n_fits % 3 == 0 or not above > below else min(max(above / (above - below), 0.02), 0.98)
    return low.C * (high.C / low.C) ** share
