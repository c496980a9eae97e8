"""Threshold models of linear scores, to any accuracy: proximal Newton steps on the primal, whose multipliers certify the gap.

    P(w) = 1/2 ||w||^2 + min over thresholds b of sum_c cap_c (1 + g_c (w . x_e(c) - b_m(c)))_+

Each hinge is smoothed around its present multiplier (`structperc_large_margin.chain_solver.SmoothHinges`). Newton steps with a line search
minimise the smooth function of (w, b). Its multipliers become the present ones, and the width shrinks if the gap does not. The optimum is
exact in the limit for any width (proximal method of multipliers), so C may be large. If there are many examples, an eighth of them is
solved first, whose solution is near.

Typical sizes: n = 10^2..10^6 examples, d = 1..10^5 columns, 20 to 40 steps. A step costs two passes over X, O(d^2) for each example near a
threshold, and O(d^3). Beyond 400 columns conjugate gradients pass over the examples near thresholds instead. Memory: 24 bytes
a coordinate, 50 an example, 8 d^2 up to 400 columns.

References
----------
R. T. Rockafellar: Augmented Lagrangians and applications of the proximal point algorithm in convex programming. Mathematics of Operations
Research 1, 1976.
"""

from __future__ import annotations

import attrs
import numpy as np

from structperc.components import Rows
from structperc_large_margin.chain_solver import (
    SmoothHinges,
    inner_product,
    products,
    products_of_columns,
    solve_positive,
    squared_norms,
    sum_of_rows,
    sum_of_squares,
    sums_by_node,
)  # fmt: skip
from structperc_large_margin.solutions import MeasuredSolution
from structperc_large_margin.thresholds import ChainThresholds

FEWEST = 5000           # examples that are preceded by a part of themselves
PART = 8
NARROWER = 0.2          # how the width shrinks
STEEPEST = 1e12         # cap / width at most this by the inverse of a mean squared distance, for the sake of rounding
MOST_STEPS = 40         # of one round; a handful but for rounding
WIDEST = 400            # columns of Newton systems that are solved directly
FORCING = 0.03          # conjugate gradients leave this part of the gradient
MOST_CONJUGATE = 500    # of their steps
STALLED_ROUNDS = 12     # without a better gap


def solve_linear(chain, rows, tolerance=1e-3, max_iterations=-1, start=None, progress=None) -> MeasuredSolution:
    """Minimises P for a chain of margin 1, of "implicit", "explicit" or "fixed-margin", to a gap of this share."""
    # The chain's gain is 1 and its offsets are 0. `progress(n_iterations, mu, scores, w)` is called before each step, and True ends the
    # training. The start may be the mu of another C; it is clipped to the caps.
    return NewtonSteps(chain, rows, tolerance).solve(max_iterations, start, progress)


@attrs.frozen(eq=False)
class Point:
    """The place of the steps: weights, thresholds, their scores, and the values of `SmoothHinges` there."""

    w: np.ndarray
    b: np.ndarray
    scores: np.ndarray
    flows: np.ndarray           # multipliers of the order b_m <= b_(m+1); none without order
    moved: np.ndarray           # w(mu) = sum_i beta_i x_i
    to_w: np.ndarray            # gradient
    to_b: np.ndarray
    primal: float               # at these thresholds, not the best ones
    dual: float                 # of multipliers whose flows may be wrong still


class NewtonSteps:
    """Newton steps for one chain and its rows."""

    def __init__(self, chain, rows, tolerance):
        self.chain, self.rows, self.tolerance = chain, rows, tolerance
        self.quantiles = ChainThresholds(chain)
        self.best = None            # MeasuredSolution so far
        self.n_iterations = 0

    def solve(self, max_iterations, start, progress) -> MeasuredSolution:
        interruption = None
        try:
            status = self.steps(max_iterations, start, progress)
        except KeyboardInterrupt as error:
            status, interruption = "interrupted", error
        if self.best is None:
            self.keep_zero()
        return attrs.evolve(self.best, n_iterations=self.n_iterations, status=status, interruption=interruption)

    def steps(self, max_iterations, start, progress):
        chain = self.chain
        middle = self.sum_of(np.full(chain.n_examples, 1 / chain.n_examples))
        self.scale = max(squared_norms(self.rows).mean() - inner_product(middle, middle), 1e-300)
        self.cap_of_node = np.bincount(chain.node, chain.cap, chain.n_nodes)
        self.keep_zero()
        w, b, width, centre = self.first(start)
        self.hinges = SmoothHinges(chain, centre)
        self.flows = np.zeros(chain.n_nodes - 1)
        scores = self.products(w)
        self.width, before, stalled = width, np.inf, 0
        while True:
            point = self.evaluated(w, b, scores)
            for _ in range(MOST_STEPS):
                gap = point.primal - point.dual
                if self.balanced(point, gap):           # also with the best thresholds?
                    gap = inner_product(point.w, point.w) / 2 + self.quantiles.best(point.scores).value - point.dual
                    if self.balanced(point, gap):
                        break
                if self.n_iterations == max_iterations:
                    self.certify(point)
                    return self.ended("max_iterations")
                if progress is not None and progress(self.n_iterations, self.hinges.mu, point.scores, point.w):
                    self.certify(point)
                    return self.ended("stopped")
                self.n_iterations += 1
                further = self.step(point)
                if further is None:
                    break
                point = further
            improved = self.certify(point)
            if self.best.gap <= self.tolerance * abs(self.best.objective):
                return "converged"
            stalled = 0 if improved else stalled + 1
            if stalled == STALLED_ROUNDS:
                return "stalled"
            w, b, scores = point.w, point.b, point.scores
            self.hinges.advance()
            self.flows = point.flows
            if gap > 0.1 * before or before == np.inf:
                self.width = max(NARROWER * self.width, self.chain.cap.max() / (STEEPEST / self.scale))
            before = gap

    def balanced(self, point, gap):
        """Whether the smooth function is minimised well enough for this gap."""
        missed = inner_product(point.to_w, point.to_w) / 2 + abs(point.to_b).sum()
        return missed <= 0.1 * max(gap, 0.1 * self.tolerance * point.primal)

    def ended(self, status):
        return "converged" if self.best.gap <= self.tolerance * abs(self.best.objective) else status

    # ---- where to begin ----

    def first(self, start):
        """w, b, width and centre to begin with."""
        chain, d = self.chain, self.rows.n_features
        if start is not None:
            mu = self.feasible(np.minimum(start, chain.cap))
            w = self.sum_of(self.beta(mu))
            return w, self.quantiles.best(self.products(w)).values, 0.1, mu
        n = chain.n_examples // PART
        if n < max(FEWEST, 20 * (d + chain.n_nodes)):
            return np.zeros(d), self.best.thresholds.values, 1.0, chain.cap / 2
        near = d / n
        part = NewtonSteps(*self.part(n), max(self.tolerance, 0.1 * near))
        part.steps(-1, None, None)
        b, spread = part.best.thresholds.values, np.std(part.best.scores)
        return part.best.w, b, min(1.0, 4 * np.sqrt(near) * max(1.0, spread)), chain.cap / 2

    def part(self, n):
        """The problem of n of the examples, drawn in a fixed way, with caps that make up for the others."""
        chain, rows = self.chain, self.rows
        kept = np.sort(np.random.default_rng(0).permutation(chain.n_examples)[:n])
        place = np.full(chain.n_examples, -1, dtype=np.int32)
        place[kept] = np.arange(n, dtype=np.int32)
        here = np.flatnonzero(place[chain.example] >= 0)
        part = attrs.evolve(chain, example=place[chain.example[here]], node=chain.node[here], sign=chain.sign[here],
                            cap=chain.cap[here] * (chain.n_examples / n), n_examples=n, start=chain.start[here])
        return part, Rows(rows.X[kept])

    # ---- steps ----

    def products(self, w):
        return np.ascontiguousarray(self.rows.products(w[None])[:, 0])

    def sum_of(self, beta):
        return sum_of_rows(self.rows, np.flatnonzero(beta), beta[beta != 0])

    def beta(self, mu):
        return np.bincount(self.chain.example, -self.chain.sign * mu, self.chain.n_examples)

    def evaluated(self, w, b, scores) -> Point:
        chain = self.chain
        beta, flow, total, hinges = self.hinges.evaluate(scores, b, self.width)
        moved, to_b, flows = self.sum_of(beta), -flow, self.flows
        if chain.open_arcs:
            flows = np.maximum(self.flows - np.diff(b) / self.arc_width, 0.0)
            to_b[:-1] += flows
            to_b[1:] -= flows
        return Point(w, b, scores, flows, moved, w - moved, to_b, inner_product(w, w) / 2 + hinges, total - inner_product(moved, moved) / 2)

    @property
    def arc_width(self):
        return self.width / self.cap_of_node.mean()

    def step(self, point):
        """The point of least value along Newton's direction, about; None where rounding leaves no descent."""
        d = len(point.w)
        along = -self.newton(point)
        dw, db = along[:d].copy(), along[d:].copy()
        df = self.products(dw)

        def slope(t):
            value = inner_product(point.w + t * dw, dw) + self.hinges.slope(df, db, self.width, t)
            if self.chain.open_arcs:
                value -= inner_product(np.maximum(self.flows - np.diff(point.b + t * db) / self.arc_width, 0.0), np.diff(db))
            return value

        first = slope(0.0)
        if not first < 0:
            return None
        t = where_flat(slope, 0.1 * abs(first))
        w, b = point.w + t * dw, point.b + t * db
        if np.array_equal(w, point.w) and np.array_equal(b, point.b):
            return None
        return self.evaluated(w, b, point.scores + t * df)

    def newton(self, point):
        """The inverse of the generalised Hessian times the gradient."""
        chain, mu, d, n_nodes = self.chain, self.hinges.mu, len(point.w), self.chain.n_nodes
        bent = np.flatnonzero((mu > 0) & (mu < chain.cap))
        steep = chain.cap[bent] / self.width
        example, node = chain.example[bent], chain.node[bent]
        of_example = sums(example, steep, chain.n_examples)
        at = np.flatnonzero(of_example)
        steep_rows, of_b = of_example[at], self.curvature(point, node, steep)
        if d > WIDEST:
            return self.conjugate(point, at, steep_rows, sums_by_node(self.rows, example, node, steep, n_nodes), of_b)
        rows, middle = self.rows, np.zeros(d)
        if not rows.sparse and len(at):         # around their middle: columns far from 0 are nearly those of the thresholds
            near = rows.X[at].astype(float, copy=False)
            middle = near.sum(axis=0) / len(near)
            near -= middle
            example, at, rows = np.searchsorted(at, example).astype(np.int32), np.arange(len(at)), Rows(near)
        across = sums_by_node(rows, example, node, steep, n_nodes)
        H = np.empty((d + n_nodes, d + n_nodes))
        H[:d, :d] = products_of_columns(rows, at, steep_rows)
        H[np.arange(d), np.arange(d)] += 1
        H[d:, :d], H[:d, d:], H[d:, d:] = -across, -across.T, of_b
        along = solve_positive(H, np.concatenate([point.to_w + middle * point.to_b.sum(), point.to_b]))
        along[d:] += inner_product(middle, along[:d])
        return along

    def curvature(self, point, node, steep):
        """The Hessian by the thresholds, made positive while examples are unbalanced, (n_nodes, n_nodes)."""
        n_nodes, unbalanced = self.chain.n_nodes, abs(point.to_b).sum() / self.cap_of_node.sum()
        own = sums(node, steep, n_nodes)
        own += 1e-3 * self.cap_of_node * min(1.0, unbalanced + 1e-9) + (self.cap_of_node == 0)
        H = np.diag(own)
        if self.chain.open_arcs:
            m, held = np.arange(n_nodes - 1), (point.flows > 0) / self.arc_width
            H[m, m] += held
            H[m + 1, m + 1] += held
            H[m, m + 1] -= held
            H[m + 1, m] -= held
        return H

    def conjugate(self, point, at, steep_rows, across, of_b):
        """`newton` for many columns: conjugate gradients in w, the thresholds eliminated, scaled by the diagonal."""
        rows = self.rows

        def by_b(v):
            return solve_positive(of_b.copy(), v)

        def from_b(v):
            return (across * v[:, None]).sum(axis=0)

        def to_b(v):
            return np.array([inner_product(row, v) for row in across])

        scale = 1 + sum_of_squares(rows, at, steep_rows)
        v, left = np.zeros_like(point.w), point.to_w + from_b(by_b(point.to_b))
        scaled = left / scale
        along, size = scaled, inner_product(left, scaled)
        enough = FORCING ** 2 * size
        for _ in range(MOST_CONJUGATE):
            if size <= enough or size == 0:
                break
            curved = along + sum_of_rows(rows, at, steep_rows * products(rows, at, along)) - from_b(by_b(to_b(along)))
            step = size / inner_product(along, curved)
            v, left = v + step * along, left - step * curved
            scaled = left / scale
            before, size = size, inner_product(left, scaled)
            along = scaled + (size / before) * along
        return np.concatenate([v, by_b(point.to_b + to_b(v))])

    # ---- certificates ----

    def keep_zero(self):
        """The solution w = 0, mu = 0."""
        chain, zero = self.chain, np.zeros(self.chain.n_examples)
        best = self.quantiles.best(zero)
        self.best = MeasuredSolution(mu=np.zeros(len(chain.cap)), beta=zero, scores=zero, n_iterations=0, status="",
                                     w=np.zeros(self.rows.n_features), thresholds=best, objective=best.value, dual_objective=0.0)

    def certify(self, point):
        """Measures the point and its multipliers made feasible; keeps the better w and the better mu. Returns whether the gap fell."""
        mu = self.feasible(self.hinges.mu)
        beta = self.beta(mu)
        moved = self.sum_of(beta)
        dual = mu.sum() - inner_product(moved, moved) / 2
        best, before = self.best, self.best.gap
        if dual > best.dual_objective:
            best = attrs.evolve(best, mu=mu, beta=beta, dual_objective=dual)
        for w in (moved, point.w):
            if best.gap <= self.tolerance * best.objective:
                break
            scores = point.scores if w is point.w else self.products(w)
            thresholds = self.quantiles.best(scores)
            objective = inner_product(w, w) / 2 + thresholds.value
            if objective < best.objective:
                best = attrs.evolve(best, w=w, thresholds=thresholds, scores=scores, objective=objective)
        self.best = best
        return best.gap < 0.9 * before

    def feasible(self, mu):
        """mu with less on one side of each node, so that all flows are right."""
        chain, n_nodes = self.chain, self.chain.n_nodes
        left, right = (np.bincount(chain.node, np.where(chain.sign == g, mu, 0.0), n_nodes) for g in (1, -1))
        to_left, to_right = left.copy(), right.copy()
        if chain.open_arcs:
            flow = 0.0
            for m in range(n_nodes):
                to_right[m] = min(right[m], flow + left[m])
                flow += left[m] - to_right[m]
            for m in range(n_nodes - 1, -1, -1):
                to_left[m] = max(left[m] - flow, 0.0)
                flow -= left[m] - to_left[m]
        else:
            to_left = to_right = np.minimum(left, right)
        shares = [np.minimum(np.divide(to, of, out=np.ones(n_nodes), where=of > 0), 1.0) for to, of in ((to_left, left), (to_right, right))]
        return mu * np.where(chain.sign > 0, shares[0][chain.node], shares[1][chain.node])


def sums(at, values, n):
    """Of the values at each place."""
    return np.bincount(at, values, n).astype(float, copy=False)         # whole numbers where there are no values


def where_flat(slope, enough):
    """A step at which a rising slope, negative at 0, is 0 within `enough`: 1 if it is there, else by doubling and regula falsi."""
    low, at_low, high = 0.0, slope(0.0), 1.0
    at_high = slope(high)
    while at_high < -enough and high < 2.0**40:
        low, at_low, high = high, at_high, 2 * high
        at_high = slope(high)
    t, at_t = high, at_high
    side = 0
    for _ in range(60):
        if abs(at_t) <= enough or at_high == at_low:        # equal where the slopes are lost in rounding
            break
        t = (low * at_high - high * at_low) / (at_high - at_low)
        at_t = slope(t)
        if at_t < 0:                    # the Illinois rule: an end that stays put counts half
            low, at_low = t, at_t
            at_high = at_high / 2 if side < 0 else at_high
            side = -1
        else:
            high, at_high = t, at_t
            at_low = at_low / 2 if side > 0 else at_low
            side = 1
    return t
