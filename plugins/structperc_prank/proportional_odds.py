"""The likelihood of the proportional-odds model, of ranks and of intervals of ranks, and its maximum by Newton's method.

P(y > k) = sigma(u . x - b_k). With A = u . x - b_{l-1} and B = u . x - b_h, a label in l..h has the negative log-likelihood

    L = sp(-A) + sp(B) - log(1 - exp(B - A)),        sp(v) = log(1 + exp(v))

An open end drops out, with the last term (McCullagh 1980). L is convex in (u, b). Its last term is a barrier that keeps two thresholds
apart if a label is between them. Other neighbours may meet, and then move together.

Typical sizes: 100 to 10^6 rows, 4 to 1000 columns, 4 thresholds. Cost of a step: O(n d^2), and O((d + K)^3).
"""

from __future__ import annotations

import attrs
import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.special import expit

from structperc.errors import DataError
from structperc.plugin_tools import CONVERGED, STALLED, to_dense

ENOUGH = 1e-12          # of the objective: a Newton step that promises less is the last
MOST_STEPS = 200        # 6 to 12 are usual
SUFFICIENT = 1e-4       # of the promised decrease (Armijo)
SMALLEST_STEP = 1e-10
LARGEST_POWER = 700.0   # of e in float64
EVIDENT = 1e5           # how often a row's own slope must exceed the sum of all slopes to show that no direction moves it
DETERMINED = 1e-8       # share of a column that others must not explain
CURVED = 1e-12          # of the largest curvature: a direction with less is flat


@attrs.frozen(eq=False)
class Curvature:
    """The derivatives of every row's L, weighted."""
    # at_low, at_high: array of shape (n,). dL / dA and dL / dB; 0 where the end is open.
    # low, high: array of shape (n,). sigma'(A) and sigma'(B); 0 where the end is open.
    # barrier: array of shape (n,). What the barrier adds to d2L / dA2 and d2L / dB2, and takes from d2L / dA dB.

    at_low: np.ndarray
    at_high: np.ndarray
    low: np.ndarray
    high: np.ndarray
    barrier: np.ndarray


class ProportionalOdds:
    """The penalised likelihood of some rows: sum of weight * L, plus penalty / 2 ||u||^2."""
    # X: array or CSR array of shape (n, d)
    # low, high: int arrays of shape (n,). The lowest and the highest rank of each label, from 1.
    # weights: float array of shape (n,)

    def __init__(self, X, low, high, n_ranks, weights, penalty):
        self.X, self.weights, self.penalty = X, weights, penalty
        self.n, self.d, self.K = X.shape[0], X.shape[1], n_ranks - 1
        self.below, self.above = low - 2, high - 1              # the thresholds under and over each label,
        self.has_below, self.has_above = low > 1, high < n_ranks            # where there are any
        self.both = self.has_below & self.has_above
        self.apart = np.zeros(max(self.K - 1, 0), dtype=bool)               # neighbours that a barrier keeps apart
        between = self.both & (low == high)
        self.apart[np.unique(self.below[between])] = True

    def start(self, low, high):
        """u = 0 and the thresholds of the ranks' shares."""
        return start_of(self, low, high)

    def ends(self, u, b):
        """A and B of every row; infinite where the end is open."""
        f = self.X @ u
        padded = np.append(b, 0.0)
        return np.where(self.has_below, f - padded[self.below], np.inf), np.where(self.has_above, f - padded[self.above], -np.inf)

    def value(self, u, b):
        """The objective; infinite where a barrier is crossed."""
        A, B = self.ends(u, b)
        gap = (A - B)[self.both]
        if not (gap > 0).all():
            return np.inf
        L = np.logaddexp(0, -A) + np.logaddexp(0, B)
        L[self.both] -= np.log(-np.expm1(-gap))
        return float(self.weights @ L) + self.penalty / 2 * float(u @ u)

    def curvature(self, u, b) -> Curvature:
        A, B = self.ends(u, b)
        h = np.zeros(self.n)
        h[self.both] = 1 / np.expm1(np.minimum((A - B)[self.both], LARGEST_POWER))
        w, has_below, has_above = self.weights, self.has_below, self.has_above
        return Curvature(-w * has_below * (expit(-A) + h), w * has_above * (expit(B) + h), w * has_below * expit(A) * expit(-A),
                         w * has_above * expit(B) * expit(-B), w * h * (1 + h))

    def by_threshold(self, below, above):
        """Sums over rows of `below` at the thresholds under labels, and of `above` at those over them."""
        return (np.bincount(self.below[self.has_below], below[self.has_below], self.K)
                + np.bincount(self.above[self.has_above], above[self.has_above], self.K))

    def gradient(self, u, c):
        """By u and b; dA / db = dB / db = -1."""
        return np.append(self.X.T @ (c.at_low + c.at_high) + self.penalty * u, -self.by_threshold(c.at_low, c.at_high))

    def hessian(self, c):
        """The barrier drops out of the block of u, since A - B does not depend on u."""
        d, K, X = self.d, self.K, self.X
        H = np.zeros((d + K, d + K))
        weighted = X.multiply((c.low + c.high)[:, None]).tocsr() if hasattr(X, "multiply") else X * (c.low + c.high)[:, None]
        square = X.T @ weighted
        H[:d, :d] = to_dense(square) + self.penalty * np.eye(d)
        for k in range(K):
            across = np.where(self.has_below & (self.below == k), c.low, 0) + np.where(self.has_above & (self.above == k), c.high, 0)
            H[:d, d + k] = H[d + k, :d] = -(X.T @ across)
        H[range(d, d + K), range(d, d + K)] = self.by_threshold(c.low + c.barrier, c.high + c.barrier)
        np.subtract.at(H, (d + self.below[self.both], d + self.above[self.both]), c.barrier[self.both])
        np.subtract.at(H, (d + self.above[self.both], d + self.below[self.both]), c.barrier[self.both])
        return H

    def scores_squared(self, c):
        """Sum over rows of the outer product of each row's gradient: the middle of the sandwich."""
        thresholds = np.zeros((self.n, self.K))
        rows = np.arange(self.n)
        thresholds[rows[self.has_below], self.below[self.has_below]] -= c.at_low[self.has_below]
        thresholds[rows[self.has_above], self.above[self.has_above]] -= c.at_high[self.has_above]
        X = to_dense(self.X)
        G = np.hstack([X * (c.at_low + c.at_high)[:, None], thresholds])
        return G.T @ G

    def has_maximum(self, place):
        """Whether the slopes of single rows show that no direction separates ranks. False: this is open."""
        # At a maximum the rows' slopes cancel. Along a direction that separates, none of them rises. So it does not move the rows whose
        # slopes are large beside the sum of all. If these rows determine u and b, there is no such direction.
        c, d = self.curvature(place.u, place.b), self.d
        square = self.X.multiply(self.X) if hasattr(self.X, "multiply") else self.X**2
        size = np.append(np.sqrt(np.asarray(square.mean(axis=0)).reshape(-1)), np.ones(self.K))
        slope = np.abs(self.gradient(place.u, c) / np.where(size > 0, size, 1.0)).sum()
        large = [weight > EVIDENT * max(slope, np.finfo(float).eps * abs(place.objective)) for weight in (-c.at_low, c.at_high)]
        tie = expansion(d, place.ties)
        H = tie.T @ self.hessian(Curvature(c.at_low, c.at_high, *(one.astype(float) for one in large), np.zeros(self.n))) @ tie
        diagonal = np.diag(H)
        if not (diagonal > 0).all():
            return False
        return lapack.dpstrf(H / np.sqrt(diagonal) / np.sqrt(diagonal)[:, None], tol=DETERMINED)[2] == len(H)


@attrs.frozen(eq=False)
class Place:
    """Where Newton's method is."""
    # u: array of shape (d,)
    # b: array of shape (K,). In order.
    # ties: bool array of shape (K - 1,). Neighbouring thresholds that move together.

    u: np.ndarray
    b: np.ndarray
    objective: float
    ties: np.ndarray


def start_of(model, low, high):
    """u = 0 and the thresholds of the ranks' shares; an interval counts evenly for its ranks."""
    share = model.weights / (high - low + 1)
    counts = np.cumsum(np.bincount(low - 1, share, model.K + 2) - np.bincount(high, share, model.K + 2))[:model.K + 1]
    reached = np.cumsum(counts)[:-1] / counts.sum()
    return np.zeros(model.d), np.log(reached / (1 - reached))


def newton(model, place):
    """The next place and None; or the same place and how the search ended."""
    # "converged": no step promises more than rounding, and no tie is better undone. "stalled": no step lowers the objective.
    c = model.curvature(place.u, place.b)
    g = model.gradient(place.u, c)
    tie = expansion(model.d, place.ties)
    hessian = tie.T @ model.hessian(c) @ tie
    if not (np.isfinite(hessian).all() and np.isfinite(g).all()):
        raise DataError("squares of X times sample_weight overflow; divide the columns or the weights by a large number.")
    step = tie @ solved(hessian, -(tie.T @ g))
    promised = -float(g @ step)
    if promised <= ENOUGH * max(abs(place.objective), 1.0):
        undone = worst_tie(g[model.d:], place.ties)
        if undone is None:
            return last(model, place, step), CONVERGED
        return attrs.evolve(place, ties=np.where(np.arange(len(place.ties)) == undone, False, place.ties)), None
    size, met = reach(place, step[model.d:], model.apart)
    if size <= SMALLEST_STEP:
        return attrs.evolve(place, ties=place.ties | met), None
    while size > SMALLEST_STEP:
        u, b = place.u + size * step[:model.d], place.b + size * step[model.d:]
        b[1:][met] = b[:-1][met]
        b = np.maximum.accumulate(b)
        objective = model.value(u, b)
        if objective <= place.objective - SUFFICIENT * size * promised:
            return Place(u, b, objective, place.ties | met), None
        size, met = size / 2, np.zeros_like(met)
    return place, STALLED


def last(model, place, step):
    """The place after a step that promises less than rounding shows: it doubles the digits of u and b. Or the same place."""
    u, b = place.u + step[:model.d], place.b + step[model.d:]
    b[1:][place.ties] = b[:-1][place.ties]
    objective = model.value(u, b) if (np.diff(b) >= 0).all() else np.inf
    if objective > place.objective + ENOUGH * max(abs(place.objective), 1.0):
        return place
    return Place(u, b, min(objective, place.objective), place.ties)


def reach(place, step, apart):
    """The longest step, at most 1, after which neighbours without a barrier are in order. Also the neighbours that meet there."""
    gap, change = np.diff(place.b), np.diff(step)
    closing = ~place.ties & ~apart & (gap + change < 0)
    if not closing.any():
        return 1.0, np.zeros_like(closing)
    shares = np.where(closing, gap / np.where(closing, -change, 1.0), np.inf)
    return float(min(shares.min(), 1.0)), shares <= shares.min()


def worst_tie(g, ties):
    """The tie whose undoing lowers the objective most, by the gradient of the thresholds below it; None: none does."""
    worst, most, total = None, 1e-9 * max(np.abs(g).max(initial=0), 1.0), 0.0
    for k, tied in enumerate(ties):
        total += g[k]
        if not tied:
            total = 0.0
        elif total > most:
            worst, most = k, total
    return worst


def expansion(d, ties):
    """The matrix that repeats one number for thresholds that move together."""
    group = np.concatenate([[0], np.cumsum(~ties)]).astype(int)
    tie = np.zeros((d + len(group), d + group[-1] + 1))
    tie[:d, :d] = np.eye(d)
    tie[d + np.arange(len(group)), d + group] = 1
    return tie


def solved(H, g):
    """H^-1 g of a positive semidefinite H, columns in any units; flat directions stay at 0."""
    scale = 1 / np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
    scaled, right = H * scale * scale[:, None], g * scale
    try:
        solution = cho_solve(cho_factor(scaled), right)
    except np.linalg.LinAlgError:
        solution = np.linalg.lstsq(scaled, right, rcond=CURVED)[0]
    return solution * scale


def covariance(model, place, robust, directions=None):
    """Of u and b: the inverse Hessian, or the sandwich H^-1 (sum g g') H^-1 with `robust`. `directions` without a maximum are left out."""
    c, tie = model.curvature(place.u, place.b), expansion(model.d, place.ties)
    H = tie.T @ model.hessian(c) @ tie
    scale = 1 / np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
    H = H * scale * scale[:, None]
    if directions is not None and directions.shape[1]:
        basis, sizes, _ = np.linalg.svd(np.linalg.lstsq(tie, directions, rcond=None)[0] / scale[:, None], full_matrices=False)
        basis = basis[:, sizes > CURVED * sizes.max()]
        away = np.eye(len(H)) - basis @ basis.T
        H = away @ H @ away
    inverse = np.linalg.pinv(H, rcond=CURVED, hermitian=True) * scale * scale[:, None]
    if robust:
        inverse = inverse @ (tie.T @ model.scores_squared(c) @ tie) @ inverse
    return tie @ inverse @ tie.T
