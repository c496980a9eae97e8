"""Exact passive-aggressive steps, slowly: the root by a sweep and by a greedy search, and the published support class algorithms.

A trial has ordered thresholds theta, f = w . x, s = ||x||^2 and the interval [low, high] of ranks. Its deficits are

    l_i = margin - f + theta_i   for i < low,       m_i = margin + f - theta_i   for i >= high

The step is w' = w + a x, theta' = theta - c with a = sum c. Left of the interval c_i is lambda_i, right of it -mu_i, inside it 0.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.optimize import lsq_linear

from reference import projection

VARIANTS = ("exact-pa", "exact-pa1", "exact-pa2")


def rates(variant, C, own=1.0):
    """1 / kappa and the cap: lambda = clip((l - a s) kappa, 0, cap)."""
    return own + (1 / (2 * C) if variant == "exact-pa2" else 0.0), C if variant == "exact-pa1" else np.inf


def signs(K, low, high):
    """1 for the thresholds below the interval, -1 for those above, 0 for those inside; one row per interval."""
    rank = np.arange(1, K)
    low, high = np.asarray(low)[..., None], np.asarray(high)[..., None]
    return (rank < low).astype(float) - (rank >= high)


# ---- the exact solution ----


def swept_root(scores, t, shared, own=1.0, variant="exact-pa", C=1.0, margin=1.0):
    """The a with a = sum_i t_i clip((margin - t_i (s_i + a shared)) / d, 0, cap), by a sweep over its breakpoints."""
    d, cap = rates(variant, C, own)
    left, right = margin - scores[t > 0], margin + scores[t < 0]
    if shared == 0:
        return np.clip(left / d, 0, cap).sum() - np.clip(right / d, 0, cap).sum()
    per = shared / d
    if np.isinf(cap):       # to the far left every left constraint is active: the sum is constant - slope a
        constant, slope, events = left.sum() / d, per * len(left), []
    else:
        constant, slope = cap * len(left), 0.0
        events = [((one - cap * d) / shared, one / d - cap, per) for one in left]
        events += [((cap * d - one) / shared, one / d - cap, -per) for one in right]
    events += [(one / shared, -one / d, -per) for one in left] + [(-one / shared, -one / d, per) for one in right]
    for position, constant_change, slope_change in sorted(events):
        if constant / (1 + slope) <= position:
            break
        constant, slope = constant + constant_change, slope + slope_change
    return constant / (1 + slope)


def coefficients(scores, t, shared, own=1.0, variant="exact-pa", C=1.0, margin=1.0):
    """The coefficients c of the exact step, from the scores s_i = f - theta_i and their signs t.

    The scores may also be those of any atoms with the Gram matrix shared + [a = b] own.
    """
    d, cap = rates(variant, C, own)
    a = swept_root(scores, t, shared, own, variant, C, margin)
    return t * np.clip((margin - t * (scores + a * shared)) / d, 0, cap)


def greedy_root(theta, f, s, low, high, variant="exact-pa", C=1.0, margin=1.0):
    """The same a for pa and pa2. Constraints join one by one, nearest to the interval first; each time both sides are checked."""
    d, _ = rates(variant, C)
    left, right = (margin - f + theta[:low - 1])[::-1], margin + f - theta[high - 1:]
    p = q = 0
    while True:
        a = (left[:p].sum() - right[:q].sum()) / (d + s * (p + q))
        if p < len(left) and left[p] - a * s > 0:
            p += 1
        elif q < len(right) and right[q] + a * s > 0:
            q += 1
        else:
            return a


def moved_thresholds(theta, f, s, a, low, high, variant="exact-pa", C=1.0, margin=1.0):
    """theta' as minima and maxima, which keep the order in every bit."""
    d, cap = rates(variant, C)
    g, left, right = f + a * s, theta[:low - 1], theta[high - 1:]
    if variant == "exact-pa2":
        down, up = left - np.maximum(left - (g - margin), 0) / d, right + np.maximum(g + margin - right, 0) / d
    else:
        down = np.maximum(left - cap, np.minimum(left, g - margin))
        up = np.minimum(right + cap, np.maximum(right, g + margin))
    return np.maximum.accumulate(np.concatenate([down, theta[low - 1:high - 1], up]))


# ---- published algorithms ----


def support_class_root(theta, f, s, low, high, start="both", clipped=True, both_sides_again=True):
    """The a of the support class algorithm (SCA, margin 1). The defaults are the most literal reading of the paper.

    start : "both", "positive" or "empty"
        The constraints in the initial support sets: those next to the interval on both sides, the positive ones of these, or none.
    clipped : bool
        If true, deficits below 0 count as 0.
    both_sides_again : bool
        If true, the left side is checked again after a right constraint joins.
    """
    left, right = (1 - f + theta[:low - 1])[::-1], 1 + f - theta[high - 1:]
    if clipped:
        left, right = np.maximum(left, 0), np.maximum(right, 0)
    least = {"both": -np.inf, "positive": 0.0, "empty": np.inf}[start]
    p, q = int(left[:1].sum() > least and len(left) > 0), int(right[:1].sum() > least and len(right) > 0)
    left_is_open = True
    while True:
        a = (left[:p].sum() - right[:q].sum()) / (1 + s * (p + q))
        if left_is_open and p < len(left) and left[p] - a * s > 0:
            p += 1
        elif q < len(right) and right[q] + a * s > 0:
            q += 1
            left_is_open = both_sides_again
        else:
            break
    return Support(a, *(np.array(side) for side in (left[:p] - a * s, right[:q] + a * s)))


@dataclass
class Support:
    """The a of the support class algorithm and the multipliers of its members, nearest to the interval first."""

    a: float
    left: np.ndarray
    right: np.ndarray

    def thresholds(self, theta, low, high):
        moved = theta.copy()
        moved[low - 1 - len(self.left):low - 1] -= self.left[::-1]
        moved[high - 1:high - 1 + len(self.right)] += self.right
        return moved

    def squared_step(self, s):
        return s * self.a**2 + (self.left**2).sum() + (self.right**2).sum()


def iterated_root(theta, f, s, low, high, C, rounds=1000):
    """The a of SCA-I: multipliers from a, then a from the multipliers, until they converge. None if they do not."""
    left, right = 1 - f + theta[:low - 1], 1 + f - theta[high - 1:]
    a = 0.0
    for _ in range(rounds):
        again = np.clip(left - a * s, 0, C).sum() - np.clip(right + a * s, 0, C).sum()
        if abs(again - a) <= 1e-12 * max(1.0, abs(a)):
            return again
        a = again
    return None


# ---- a whole run ----


def learn(X, low, high, K, variant="exact-pa", C=1.0, margin=1.0, weights=None, epochs=1):
    """(w, theta, predictions before each step, thresholds after each step), starting at 0."""
    w, theta, online, history = np.zeros(X.shape[1]), np.zeros(K - 1), [], []
    t = signs(K, low, high)
    for i in np.tile(np.arange(len(X)), epochs):
        scores = X[i] @ w - theta
        online.append(1 + int((scores >= 0).sum()))
        c = coefficients(scores, t[i], X[i] @ X[i], 1.0, variant, C * (1.0 if weights is None else weights[i]), margin)
        w, theta = w + c.sum() * X[i], theta - c
        history.append(theta)
    return w, theta, online, np.array(history)


# ---- optimality conditions ----


def kkt_violation(before, c, t, shared, own=1.0, variant="exact-pa", C=1.0, margin=1.0):
    """The largest violation of the optimality conditions in each row, with scores `before` the step and its coefficients c.

    `shared`, `own`, `C` have one entry per row or one for all.
    """
    shared, own, C = (np.broadcast_to(v, len(before))[:, None] for v in (shared, own, C))
    multiplier = t * c
    short_by = margin - t * (before + c.sum(axis=1, keepdims=True) * shared + own * c)
    wrong = [np.abs(c) * (t == 0), -multiplier]
    if variant == "exact-pa":
        wrong += [(t != 0) * short_by, (multiplier > 0) * np.abs(short_by)]
    elif variant == "exact-pa1":
        wrong += [multiplier - C, (t != 0) * (multiplier < C) * short_by, (multiplier > 0) * -short_by]
    else:
        wrong += [(t != 0) * np.abs(multiplier - 2 * C * np.maximum(short_by, 0)) / (1 + 2 * C)]
    return np.max(wrong, axis=(0, 2))


def constraints(w, theta, x, low, high):
    """(v, A) with A v >= margin for every threshold outside the interval, v = (w, theta)."""
    t = signs(len(theta) + 1, low, high)
    rows = np.flatnonzero(t)
    return np.concatenate([w, theta]), t[rows, None] * np.column_stack([np.tile(x, (len(rows), 1)), -np.eye(len(theta))[rows]])


def conic_optimum(w, theta, x, low, high, variant="exact-pa", C=1.0, margin=1.0):
    """(w', theta') by a conic solver: min 1/2 ||v' - v||^2 [+ C sum slack | + C sum slack^2]. Without degeneracy its error is 1e-8."""
    v, A = constraints(w, theta, x, low, high)
    P, q, b = np.eye(len(v)), -v, np.full(len(A), margin)
    if variant != "exact-pa":
        n, nothing = len(A), np.zeros((len(A), len(v)))
        P = np.block([[P, nothing.T], [nothing, (2 * C if variant == "exact-pa2" else 0.0) * np.eye(n)]])
        q = np.append(q, np.full(n, C if variant == "exact-pa1" else 0.0))
        A, b = np.block([[A, np.eye(n)], [nothing, np.eye(n)]]), np.append(b, np.zeros(n))
    found = projection.solve(P, q, A, b)
    return found[:len(w)], found[len(w):len(v)]


def dual_optimum(w, theta, x, low, high, variant="exact-pa", C=1.0, margin=1.0):
    """(w', theta') from the dual problem by bounded least squares with active sets, also if the trial is degenerate.

    max over 0 <= lambda (<= C) of lambda . (margin - A v) - 1/2 ||A' lambda||^2 (- ||lambda||^2 / (4C)); then v' = v + A' lambda.
    """
    v, A = constraints(w, theta, x, low, high)
    if len(A):
        B = np.vstack([A.T, np.eye(len(A)) / np.sqrt(2 * C)]) if variant == "exact-pa2" else A.T
        target = np.linalg.lstsq(B.T, margin - A @ v, rcond=None)[0]
        v = v + A.T @ lsq_linear(B, target, (0, C if variant == "exact-pa1" else np.inf), method="bvls", tol=1e-15, max_iter=10_000).x
    return v[:len(w)], v[len(w):]


# ---- bounds ----


def bounds(variant, scores, t, c, squared, comparison, distance, C=1.0):
    """Name -> (observed, bound) for a run of trials with margin 1.

    scores, t, c : arrays (n_trials, K - 1)
        Before each step, its signs and its coefficients.
    squared : ||x||^2 of each trial.
    comparison : array (n_trials, K - 1)
        The scores w* . x - theta* of any u = (w*, theta*).
    distance : ||u - v||, where v is the start of the run.
    """
    deficit, slack = (np.abs(t) * np.maximum(0, 1 - t * one) for one in (scores, comparison))
    reached = scores >= 0
    missed = (np.where(reached, -1.0, 1.0) == t).sum(axis=1)
    B = (1 + squared * np.abs(t).sum(axis=1)).max()
    wrong, deficits = missed.sum(), (deficit**2).sum()
    if variant == "exact-pa":
        Xi = np.sqrt((slack**2).sum())
        Q = (Xi + np.sqrt(Xi**2 + distance**2)) ** 2
        step = (c**2).sum() + (squared * c.sum(axis=1) ** 2).sum()
        return {"steps": (step, Q), "Q": (Q, (distance + 2 * Xi) ** 2), "M / (1 + XM)": ((missed / (1 + squared * missed)).sum(), Q),
                "M": (wrong, B * Q), "deficits": (deficits, B * Q), "M, deficits": (wrong, deficits)}
    if variant == "exact-pa1":
        return {"M": (wrong, max(1 / C, B) * (distance**2 + 2 * C * slack.sum()))}
    limit = (B + 1 / (2 * C)) * (distance**2 + 2 * C * (slack**2).sum())
    return {"M": (wrong, limit), "deficits": (deficits, limit), "M, deficits": (wrong, deficits)}


def exact_step(scores, t, shared, variant, C=1.0, margin=1.0):
    """The shift of all scores and the coefficients of an exact step, in rational arithmetic, by a search over pieces."""
    t = [Fraction(int(v)) for v in t]
    positions = [v * Fraction(margin) - Fraction(float(score)) for v, score in zip(t, scores, strict=True)]
    d = 1 + (1 / (2 * Fraction(C)) if variant == "exact-pa2" else 0)
    limit = Fraction(C) * d if variant == "exact-pa1" else None

    def clipped(g):
        found = [max(v * (u - g), Fraction(0)) for v, u in zip(t, positions, strict=True)]
        return found if limit is None else [min(v, limit) for v in found]

    def excess(g):
        return g * d / Fraction(shared) - sum(v * found for v, found in zip(t, clipped(g), strict=True))

    moving = [(v, u) for v, u in zip(t, positions, strict=True) if v]
    breakpoints = sorted({u - v * cut for v, u in moving for cut in ((0,) if limit is None else (0, limit))})
    breakpoints = [breakpoints[0] - 1, *breakpoints, breakpoints[-1] + 1]
    i = next((i for i in range(1, len(breakpoints) - 1) if excess(breakpoints[i]) >= 0), len(breakpoints) - 1)
    low, high = breakpoints[i - 1], breakpoints[i]
    g = low - excess(low) * (high - low) / (excess(high) - excess(low))
    return g, [v * found / d for v, found in zip(t, clipped(g), strict=True)]
