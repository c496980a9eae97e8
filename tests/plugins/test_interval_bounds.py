"""Tests of bounds of exact passive-aggressive ranking, for every run and every comparison (w, theta). `pytest -s` prints the ratios."""

import numpy as np
import pytest
from reference import intervals, projection
from reference.intervals import VARIANTS
from reference.samples import real, taught, whole

from structperc import Engine

from . import test_interval_pa, test_mistake_bounds

ratios = test_mistake_bounds.ratios
SETS = 12


def check_run(ratios, X, y, K, variant, C, comparisons, start=0, name="", **options):
    """Asserts all bounds for the trials from `start` on, relative to the weights before them; returns the engine."""
    engine, scores, t, c, _ = test_interval_pa.recorded(X, y, K, variant, C, **options)
    X = np.tile(X, (len(engine.mistakes_), 1))
    low, high = np.tile(y, (len(engine.mistakes_), 1)).T
    rank = 1 + (scores >= 0).sum(axis=1)
    missed = np.maximum(np.maximum(low - rank, rank - high), 0)
    assert engine.cumulative_loss_ == missed.sum()
    begun = np.concatenate([X[:start].T @ c[:start].sum(axis=1), -c[:start].sum(axis=0)])
    squared = (X**2).sum(axis=1)
    for u in comparisons:
        compared = (X @ u[:X.shape[1]])[:, None] - u[X.shape[1]:]
        found = intervals.bounds(variant, scores[start:], t[start:], c[start:], squared[start:], compared[start:],
                                 np.linalg.norm(u - begun), C)
        for bound, (observed, limit) in found.items():
            ratios.check(f"{name}{bound}", observed, limit)
    return engine


def smallest_separator(X, y, K):
    """The (w, theta) of smallest norm with all constraints at least 1, or None."""
    rows = [row for x, interval in zip(X, y, strict=True)
            for row in intervals.constraints(np.zeros(X.shape[1]), np.zeros(K - 1), x, *interval)[1]]
    return projection.smallest_separator(rows, np.ones(len(rows)))


@pytest.mark.parametrize("variant", VARIANTS)
def test_separable_data(variant, ratios):
    """If u is the smallest separator, the sum of distances is at most c ||u||^2.

    For pa, c is B; for pa1, max(1 / C, B); for pa2, B + 1 / (2C). The bound does not grow with the number of epochs, so some epoch has no
    mistake.
    """
    for seed in range(SETS):
        rng = np.random.default_rng([seed, 4])
        K, C = int(rng.integers(2, 7)), float(10.0 ** rng.uniform(-1, 1))
        X, y, w, theta = taught(rng, 40, int(rng.integers(1, 5)), K, margin=0.3)
        y = test_interval_pa.blurred(rng, y, K)
        u = smallest_separator(X, y, K)
        teacher = np.concatenate([w, theta])
        assert np.linalg.norm(u) <= np.linalg.norm(teacher) * (1 + 1e-6)
        engine = check_run(ratios, X, y, K, variant, C, [u, teacher], epochs=60)
        B = 1 + (K - 1) * (X**2).sum(axis=1).max()
        factor = {"exact-pa": B, "exact-pa1": max(1 / C, B), "exact-pa2": B + 1 / (2 * C)}[variant]
        ratios.check("loss, ideal", engine.cumulative_loss_, factor * (u @ u))
        assert engine.mistakes_[-1] == 0
        found = engine.predict(X)
        assert ((y[:, 0] <= found) & (found <= y[:, 1])).all()


def test_the_plain_bound_can_be_attained(ratios):
    """One example at distance 1 / ||u|| from zero: its only step has the length of u."""
    engine = check_run(ratios, np.array([[2.0]]), np.array([[1, 1]]), 2, "exact-pa", 1.0, [np.array([-0.4, 0.2])])
    assert engine.thresholds_ == pytest.approx([0.2]) and engine.coef_ == pytest.approx([-0.4])
    assert ratios.largest["steps"] == pytest.approx(1)


@pytest.mark.parametrize("variant", VARIANTS)
def test_any_data(variant, ratios):
    """Contradictory labels, whole and real inputs. Comparison vectors are 0, multiples of the learned vector, and random vectors."""
    for seed in range(SETS):
        rng = np.random.default_rng([seed, 5])
        K, C = int(rng.integers(2, 9)), float(10.0 ** rng.uniform(-2, 1))
        X, y = (whole, real)[seed % 2](rng, 60, 3, K)
        y = test_interval_pa.blurred(rng, y, K)
        learned, *_ = test_interval_pa.recorded(X, y, K, variant, C, epochs=3)
        learned = np.concatenate([learned.coef_, learned.thresholds_])
        directions = rng.normal(size=(4, len(learned)))
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        comparisons = [0 * learned, 0.1 * learned, learned, 10 * learned, *(directions * rng.uniform(0, 10, (4, 1)))]
        check_run(ratios, X, y, K, variant, C, comparisons, epochs=4)
        check_run(ratios, X, y, K, variant, C, comparisons, epochs=4, start=90, name="later: ")
    assert ratios.largest["M"] > 0.01


# ---- own directions ----


def independent_steps(X, y, K, variant, C):
    """Scores, signs and weights of each trial of exact steps on directions of one threshold each: the atoms of `cusum` are orthogonal."""
    W, t, scores = np.zeros((K - 1, X.shape[1])), np.where(y[:, None] > np.arange(1, K), 1.0, -1.0), []
    cap = C if variant == "exact-pa1" else np.inf
    for x, sign in zip(X, t, strict=True):
        scores.append(W @ x)
        deficit = np.maximum(1 - sign * scores[-1], 0)
        W += (sign * np.minimum(deficit / (x @ x + (variant == "exact-pa2") / (2 * C)), cap))[:, None] * x
    return np.array(scores), t, W


@pytest.mark.parametrize("variant", VARIANTS)
def test_exact_updates_of_own_directions(variant, ratios):
    """B is the largest squared norm of an atom. With B = 1 the bound fails; the next test has the numbers."""
    for seed in range(4 * SETS):
        rng = np.random.default_rng([seed, 6])
        K, C = int(rng.integers(2, 6)), float(10.0 ** rng.uniform(-1, 1))
        X, y, *_ = taught(rng, 30, int(rng.integers(1, 4)), K, margin=0.3)
        X = X * 10.0 ** rng.uniform(-1, 1)
        options = {} if variant == "exact-pa" else {"C": C}
        engine = Engine("cusum", preset="paper", update=variant, epochs=3, classes=range(1, K + 1), **options)
        extended, ranks = np.tile(np.c_[X, np.ones(len(X))], (3, 1)), np.tile(y, 3)
        scores, t, W = independent_steps(extended, ranks, K, variant, C)
        engine.fit(X, y)
        np.testing.assert_allclose(np.c_[engine.coef_, engine.intercept_][1:], W, rtol=1e-9, atol=1e-9)
        deficit, wrong = np.maximum(1 - t * scores, 0), (t * scores <= 0).sum()          # a tie too
        B = (extended**2).sum(axis=1).max()
        assert sum(engine.mistakes_) <= wrong <= (deficit**2).sum() * (1 + 1e-12) + 1e-12
        for u in (0 * W, W, 0.1 * W, rng.normal(size=W.shape)):
            slack, distance = np.maximum(1 - t * (extended @ u.T), 0), np.linalg.norm(u)
            if variant == "exact-pa1":
                ratios.check("own directions", wrong, max(1 / C, B) * (distance**2 + 2 * C * slack.sum()))
                continue
            Xi = np.sqrt((slack**2).sum())
            limit = B * (Xi + np.hypot(Xi, distance)) ** 2 if variant == "exact-pa" else (B + 1 / (2 * C)) * (distance**2 + 2 * C * Xi**2)
            ratios.check("own directions", (deficit**2).sum(), limit)


def test_the_bound_of_own_directions_is_attained():
    """One row x = 1 of two ranks: u = (1/2, 1/2) has no shortfall and D^2 = 1/2; B = 2, and the only mistake reaches the bound of 1."""
    engine = Engine("cusum", preset="paper", update="exact-pa", epochs=5, classes=[1, 2]).fit([[1.0]], [2])
    assert engine.cumulative_loss_ == 1.0 == 2 * 0.5
