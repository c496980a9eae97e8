"""Tests of the mistake bounds on chains, where losses add up over tokens. `pytest -s` prints the ratio of each observation to its bound."""

from functools import cache

import numpy as np
import pytest
from reference import bounds, chains, costs, projection

from . import test_mistake_bounds

ratios, trained = test_mistake_bounds.ratios, test_mistake_bounds.trained
SETS = 8
MAPS = [{}, {"start": True, "end": True}, {"start": True}, {"end": True}]


def table_of(seed, L):
    """The Hamming loss for even seeds, and a random cost matrix for odd seeds."""
    return costs.random_table(np.random.default_rng(seed), L) if seed % 2 else 1 - np.eye(L)


def sentences(rng, n, d):
    return [rng.normal(size=(size, d)) for size in rng.integers(1, 4, n)]


@cache
def separable(seed):
    """(problem, X, y, costs, u), where u is the smallest vector with u . (Phi(x, y) - Phi(x, z)) >= loss(y, z) for all z."""
    rng = np.random.default_rng([seed, 7])
    L, d = 2 + seed % 2, int(rng.integers(2, 4))
    problem, table = chains.Sentences(L, d, **MAPS[seed % len(MAPS)]), table_of(seed, L)
    teacher, kept = None, []
    for x in sentences(rng, 200, d):
        Y = problem.structures(len(x))
        phi = np.array([problem.phi(row, z) for row in problem.extended([x]) for z in Y])
        teacher = rng.normal(size=phi.shape[1]) if teacher is None else teacher
        gold = int(np.argmax(phi @ teacher))
        losses = np.array([chains.cost(table, Y[gold], z) for z in Y])
        differences, losses = (phi[gold] - phi)[losses > 0], losses[losses > 0]
        if (differences @ teacher >= 0.3 * losses).all():
            kept.append((x, Y[gold], differences, losses))
    X, y, differences, losses = zip(*kept[:15], strict=True)
    u = projection.smallest_separator(np.concatenate(differences), np.concatenate(losses))
    assert u is not None and len(X) == 15
    return problem, list(X), list(y), table, u


def options_of(problem, table, **options):
    return dict(start=problem.start, end=problem.end, loss=table, epochs=100_000) | options


@pytest.mark.parametrize("augment", [0.0, 0.5, 2.0])
def test_perceptron_on_separable_sentences(augment, ratios):
    """sum of losses <= (R^2 + 2 augment) ||u||^2 for any number of epochs. So some epoch has no update."""
    for seed in range(SETS):
        problem, X, y, table, u = separable(seed)
        engine, ledger = trained(problem, X, y, **options_of(problem, table, loss_weight=augment))
        assert engine.status_ == "converged"
        assert [tuple(found) for found in engine.predict(X)] == y
        for bound, (observed, limit) in bounds.perceptron(ledger, u, augment).items():
            ratios.check(bound, observed, limit)
        radius = max((delta**2).sum() / loss for delta, loss in zip(ledger.delta, ledger.loss, strict=True))
        ratios.check("(R^2 + 2c) |u|^2", sum(ledger.loss), (radius + 2 * augment) * (u @ u))
        ratios.check("mistakes, updates", sum(engine.mistakes_), len(ledger.loss))
        if augment == 0:
            assert engine.cumulative_loss_ == pytest.approx(sum(ledger.loss), rel=1e-12)
    assert ratios.largest["(R^2 + 2c) |u|^2"] > 0.01


@pytest.mark.parametrize("update", ["pa", "pa1", "pa2"])
def test_passive_aggressive_on_separable_sentences(update, ratios):
    for seed in range(SETS):
        problem, X, y, table, u = separable(seed)
        C = {"pa": 1.0, "pa1": 0.05, "pa2": 0.5}[update]
        engine, ledger = trained(problem, X, y, update, **options_of(problem, table, **({} if update == "pa" else {"C": C})))
        assert engine.status_ == "converged"
        assert min(np.array(ledger.hinge) - ledger.margin) >= -1e-9
        ratios.check("A", *bounds.passive_aggressive(update, ledger, u, C))
        ratios.check("sum of margins", *bounds.required_margins(update, ledger, u, C))
        if update == "pa":
            radius = max((delta**2).sum() / loss for delta, loss in zip(ledger.delta, ledger.loss, strict=True))
            ratios.check("R^2 |u|^2", engine.cumulative_loss_, radius * (u @ u))


def contradictory(seed):
    """(problem, X, y, costs, generator) with random labels."""
    rng = np.random.default_rng([seed, 8])
    problem = chains.Sentences(3, 3, **MAPS[seed % len(MAPS)])
    X = sentences(rng, 30, 3)
    return problem, X, [tuple(rng.integers(1, 4, len(x)).tolist()) for x in X], table_of(seed, 3), rng


@pytest.mark.parametrize("augment", [0.0, 1.0])
def test_perceptron_on_any_sentences(augment, ratios):
    for seed in range(SETS):
        problem, X, y, table, rng = contradictory(seed)
        _, ledger = trained(problem, X, y, **options_of(problem, table, loss_weight=augment, epochs=4))
        for u in test_mistake_bounds.comparison_vectors(rng, sum(ledger.delta)):
            for bound, (observed, limit) in bounds.perceptron(ledger, u, augment).items():
                ratios.check(bound, observed, limit)


@pytest.mark.parametrize("augment", [0.0, 1.0])
@pytest.mark.parametrize("update", ["pa", "pa1", "pa2"])
def test_passive_aggressive_on_any_sentences(update, augment, ratios):
    for seed in range(SETS):
        problem, X, y, table, rng = contradictory(seed)
        options = dict(loss_weight=augment, margin=0.7, epochs=4, **({} if update == "pa" else {"C": 0.2}))
        _, ledger = trained(problem, X, y, update, **options_of(problem, table, **options))
        learned = sum(tau * delta for tau, delta in zip(ledger.tau, ledger.delta, strict=True))
        for u in test_mistake_bounds.comparison_vectors(rng, learned):
            ratios.check({"pa": "A0", "pa1": "A1", "pa2": "A2"}[update], *bounds.passive_aggressive(update, ledger, u, 0.2))
            if augment == 0:
                ratios.check("sum of margins", *bounds.required_margins(update, ledger, u, 0.2))


@pytest.mark.parametrize("update", ["perceptron", "pa1"])
def test_the_books_are_what_the_engine_did(update):
    """The recorded steps add up to the weights. A step may count the same pair of labels several times."""
    several = 0
    for seed in range(SETS):
        problem, X, y, table, _ = contradictory(seed)
        engine, ledger = trained(problem, X, y, update, **options_of(problem, table, epochs=2))
        learned = sum(tau * delta for tau, delta in zip(ledger.tau, ledger.delta, strict=True))
        np.testing.assert_allclose(problem.flat(engine), learned, rtol=0, atol=1e-9)
        pairs = slice(problem.L * (problem.d + 1), problem.L * (problem.d + 1) + problem.L**2)
        several += sum(abs(delta[pairs]).max() > 1 for delta in ledger.delta)
    assert several > 0
