"""The sum of margins by Wolfe's minimum-norm point: exact in finitely many steps, also where no direction has a positive margin.

    min ||w(mu)||   where  w(mu) = - sum_c g_c mu_c phi(x_e(c))   over the feasible mu of a chain with p = 0

The dual vertex of the scores at hand, `structperc_large_margin.thresholds.dual_vertex`, is the point of least w . w(mu). The steps hold an
affinely independent set of such points, and the point of least norm in its hull.

Typical sizes: n = 10^2..10^5 examples, d = 1..100 columns, d to 10 d points. A point costs O(non-zeros + n log n), with a kernel O(n^2).
Memory: d numbers a point, with a kernel 2 n.

References
----------
P. Wolfe: Finding the nearest point in a polytope. Mathematical Programming 11, 1976.
A. Shashua and A. Levin: Taxonomy of large margin principle algorithms for ordinal regression problems. Technical report
2002-39, School of Computer Science and Engineering, The Hebrew University of Jerusalem, 2002.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from structperc_large_margin.chain_solver import inner_product, solve_positive, squared_norms, sum_of_rows
from structperc_large_margin.solutions import MeasuredSolution
from structperc_large_margin.thresholds import ChainThresholds

LEAST_SHARE = 1e-12     # of a point in the hull


class LinearSpace:
    """Directions as weights of columns."""
    # length: float. Of the longest row.
    # rounding: float. A norm of this part of the longest row counts as 0. So does one of this part of the longest point that it is a mean
    # of.

    rounding = 1e-11

    def __init__(self, rows):
        self.rows, self.length = rows, np.sqrt(squared_norms(rows).max())

    def direction(self, beta):
        return sum_of_rows(self.rows, np.flatnonzero(beta), beta[beta != 0])

    def scores(self, direction):
        return np.ascontiguousarray(self.rows.products(direction[None])[:, 0])

    def inner(self, one, other):
        return inner_product(one, other)

    def weights(self, direction):
        """w itself, where it is known."""
        return direction


class KernelSpace:
    """Directions as coefficients of the examples, beside their scores."""
    # scores_of: callable. scores_of(beta) is K beta.
    # length: float. The largest norm of an example, the root of the largest K(x, x).

    rounding = 1e-7         # squares are exact to 1e-16

    def __init__(self, scores_of, length):
        self.scores_of, self.length = scores_of, length

    def direction(self, beta):
        return np.concatenate([beta, self.scores_of(beta)])

    def scores(self, direction):
        return direction[len(direction) // 2:]

    def inner(self, one, other):
        half = len(one) // 2
        return inner_product(one[:half], other[half:])

    def weights(self, direction):
        return None


def maximise_margins(chain, space, tolerance=1e-3, max_iterations=-1, progress=None) -> MeasuredSolution:
    """The direction of norm 1 with the largest sum of margins net of errors, to a gap of this share. The chain is of "sum-of-margins"."""
    # `progress(n_iterations, mu, scores, w)` comes before each point, with mu None and a direction of any length, and True ends the
    # training.
    return NearestPoint(chain, space, tolerance).solve(max_iterations, progress)


class NearestPoint:
    """Wolfe's steps. Each point of the corral is known by the direction that it is the vertex of."""

    def __init__(self, chain, space, tolerance):
        self.chain, self.space, self.tolerance = chain, space, tolerance
        self.quantiles = ChainThresholds(chain)
        self.n_iterations = 0

    def solve(self, max_iterations, progress) -> MeasuredSolution:
        interruption = None
        space = self.space
        point = space.direction(self.beta(self.chain.start))
        self.state = [None], point[None], np.ones(1), point     # what the points are vertices of (None: start), points, shares, mean
        self.gram = np.full((1, 1), space.inner(point, point))
        try:
            status = self.steps(max_iterations, progress)
        except KeyboardInterrupt as error:
            status, interruption = "interrupted", error
        return self.measured(status, interruption)

    def steps(self, max_iterations, progress):
        space = self.space
        while True:
            vertex_of, points, shares, nearest = self.state
            square = space.inner(nearest, nearest)
            if np.sqrt(max(square, 0.0)) <= self.nothing(points):
                return "degenerate"
            scores = space.scores(nearest)
            toward = -self.quantiles.best(scores).value             # nearest . the point that is found next
            if square - toward <= self.tolerance * max(toward, 0.0):
                return "converged"
            if self.n_iterations == max_iterations:
                return "max_iterations"
            if progress is not None and progress(self.n_iterations, None, scores, space.weights(nearest)):
                return "stopped"
            self.n_iterations += 1
            point = space.direction(self.beta(self.quantiles.vertex(scores)))
            gram = self.gram
            state = self.closer([*vertex_of, nearest], np.vstack([points, point]), np.append(shares, 0.0))
            if not space.inner(state[-1], state[-1]) < square:
                self.gram = gram
                return "stalled"
            self.state = state

    def nothing(self, points):
        """A norm that is rounding."""
        return self.space.rounding * max([self.space.length, *(np.sqrt(max(self.space.inner(point, point), 0.0)) for point in points)])

    def closer(self, vertex_of, points, shares):
        """The point of least norm in the hull of a set with a new last point, and its set."""
        gram = self.grown(points)
        while True:
            best = affine_minimum(gram)
            if (best > LEAST_SHARE).all():
                shares = best
                break
            falling = best <= LEAST_SHARE
            apart = shares - best
            ratios = np.where(falling & (apart > 0), shares / np.where(apart > 0, apart, 1.0), np.inf)
            shares = shares + min(1.0, ratios.min()) * (best - shares)
            kept = shares > LEAST_SHARE
            kept[ratios.argmin()] = False
            vertex_of, points, gram = [at for at, k in zip(vertex_of, kept, strict=True) if k], points[kept], gram[np.ix_(kept, kept)]
            shares = shares[kept] / shares[kept].sum()
        self.gram = gram
        return vertex_of, points, shares, (points * shares[:, None]).sum(axis=0)

    def grown(self, points):
        """Inner products of the points, of which all but the last are known."""
        n = len(points)
        gram = np.empty((n, n))
        gram[:-1, :-1] = self.gram
        gram[-1] = gram[:, -1] = [self.space.inner(points[-1], other) for other in points]
        return gram

    def beta(self, mu):
        return np.bincount(self.chain.example, -self.chain.sign * mu, self.chain.n_examples)

    def measured(self, status, interruption) -> MeasuredSolution:
        """The solution at hand, written down anew from its dual solution."""
        space = self.space
        vertex_of, points, shares, _ = self.state
        mu = np.zeros(len(self.chain.cap))
        for at, share in zip(vertex_of, shares, strict=True):
            mu += share * (self.chain.start if at is None else self.quantiles.vertex(space.scores(at)))
        mu = np.minimum(mu, self.chain.cap)
        beta = self.beta(mu)
        direction = space.direction(beta)
        norm = np.sqrt(max(space.inner(direction, direction), 0.0))
        if norm <= self.nothing(points):
            status, factor = "degenerate", 0.0
        else:
            factor = 1 / norm
        scores = factor * space.scores(direction)
        planes = self.quantiles.best(scores)
        weights = space.weights(direction)
        return MeasuredSolution(mu=mu, beta=factor * beta, scores=scores, n_iterations=self.n_iterations, status=status,
                                interruption=interruption, w=None if weights is None else factor * weights, thresholds=planes,
                                objective=min(planes.value, 0.0) if factor == 0 else planes.value, dual_objective=-norm)


def vanished_ranks(chain, scores) -> list:
    """The middle ranks 2..K-1 that have no slab between b_(k-1) and a_k in any best solution for these scores."""
    # A rank of fewer than 2 / C members has none.
    quantiles = ChainThresholds(chain)
    best = quantiles.best(scores)
    lower = np.where(np.isfinite(best.lower), best.lower, best.values)
    upper = np.where(np.isfinite(best.upper), best.upper, best.values)
    vanished = []
    for plane in range(1, chain.n_nodes - 1, 2):        # b_(k-1) as low as can be, and a_k as high: is that as good, and wider?
        apart = np.concatenate([lower[:plane + 1], upper[plane + 1:]])
        worse = quantiles.value_at(scores, apart) - best.value > 1e-9 * chain.cap.sum() * np.ptp(scores)
        if worse or not apart[plane] < apart[plane + 1]:
            vanished.append(2 + plane // 2)
    return vanished


def largest_C(form, X) -> float:
    """C_max: from it on the sum of margins is 0 and no direction is left; inf where every C has one."""
    #     min C   over   0 <= mu <= C W,  the flows of the chain,  w(mu) = 0
    # A linear program, for some thousand examples at most. With a kernel X is the matrix of all K(x_i, x_j).
    chain = form.chain(max(form.smallest_C, 1.0))
    n, places = len(chain.cap), np.arange(len(chain.cap))
    weight = chain.cap / max(form.smallest_C, 1.0)
    nowhere = sparse.csr_matrix((chain.n_nodes, 1))
    flows = sparse.csr_matrix(np.tril(np.ones((chain.n_nodes, chain.n_nodes)))) @ sparse.csr_matrix(
        (chain.sign.astype(float), (chain.node, places)), shape=(chain.n_nodes, n))
    flows, due = sparse.hstack([flows, nowhere]).tocsr(), np.cumsum(chain.offset)
    of_examples = sparse.csr_matrix((chain.sign.astype(float), (chain.example, places)), shape=(chain.n_examples, n))
    direction = sparse.csr_matrix(X).T @ of_examples
    result = linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=sparse.vstack([-flows[:-1], sparse.hstack([sparse.eye(n), -weight[:, None]])]), b_ub=np.append(-due[:-1], np.zeros(n)),
        A_eq=sparse.vstack([flows[-1], sparse.hstack([direction, sparse.csr_matrix((direction.shape[0], 1))])]),
        b_eq=np.append(due[-1], np.zeros(direction.shape[0])))
    return float(result.fun) if result.status == 0 else np.inf


def affine_minimum(gram):
    """Shares, which add up to 1, of the point of least norm in the affine hull."""
    scale = np.trace(gram) / len(gram) or 1.0       # any positive number would do
    shares = solve_positive(gram + scale, np.ones(len(gram)))
    return shares / shares.sum()
