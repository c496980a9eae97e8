"""Tests of mistake bounds for every run and every comparison vector. `pytest -s` prints the ratio of each observation to its bound."""

from collections import defaultdict

import numpy as np
import pytest
from plain import Engine
from reference import bounds, costs, projection
from reference.problems import PROBLEMS
from reference.samples import real, taught, whole

from .recording import recording

SETS = 12
RANKS = [1, 2, 3, 4, 5]


class Ratios:
    """Asserts observed <= bound, and keeps the largest ratios."""

    def __init__(self):
        self.largest = defaultdict(float)

    def check(self, name, observed, bound):
        assert observed <= bound * (1 + 1e-9) + 1e-9, f"{name}: observed {observed}, bound {bound}"
        if bound > 0:
            self.largest[name] = max(self.largest[name], float(observed / bound))


@pytest.fixture
def ratios(request, record_property):
    kept = Ratios()
    yield kept
    for name, ratio in kept.largest.items():
        record_property(name, ratio)
        print(f"\n{request.node.name}: {name} observed/bound = {ratio:.3f}", end="")


def separable(name, seed):
    """(problem, X, y, u), where u is the smallest vector with u . (Phi(x, y) - Phi(x, z)) >= loss(y, z) for all z."""
    rng = np.random.default_rng([seed, len(name)])
    r = int(rng.integers(2, 6))
    X, y, _, _ = taught(rng, 25, int(rng.integers(1, 5)), r, margin=0.15)
    problem = PROBLEMS[name](r)
    table = costs.table(problem.loss, r)
    differences, margins = [], []
    for x, gold in zip(problem.extended(X), y, strict=True):
        for z in problem.labels:
            if z != gold:
                differences.append(problem.phi(x, gold) - problem.phi(x, z))
                margins.append(table[gold - 1, z - 1])
    u = projection.smallest_separator(differences, margins)
    assert u is not None
    return problem, X, y, u


def trained(problem, X, y, update="perceptron", **options):
    """An engine after its run, and the ledger of its updates."""
    rule = recording(update, problem, X, options.pop("margin", 1.0), options.pop("C", 1.0))
    engine = Engine(problem.name, update=rule, classes=list(problem.labels), **options).fit(X, y, record_predictions=True)
    return engine, rule.ledger


@pytest.mark.parametrize("augment", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("name", PROBLEMS)
def test_perceptron_on_separable_data(name, augment, ratios):
    """sum of losses <= (R^2 + 2 augment) ||u||^2 for any number of epochs. So some epoch has no update."""
    for seed in range(SETS):
        problem, X, y, u = separable(name, seed)
        engine, ledger = trained(problem, X, y, loss_weight=augment, epochs=100_000)
        assert engine.status_ == "converged"
        assert engine.predict(X).tolist() == y.tolist()
        for bound, (observed, limit) in bounds.perceptron(ledger, u, augment).items():
            ratios.check(bound, observed, limit)
        radius = max((delta**2).sum() / loss for delta, loss in zip(ledger.delta, ledger.loss, strict=True))
        ratios.check("(R^2 + 2c) |u|^2", sum(ledger.loss), (radius + 2 * augment) * (u @ u))
        ratios.check("mistakes, updates", sum(engine.mistakes_), len(ledger.loss))
        if augment == 0:
            assert engine.cumulative_loss_ == sum(ledger.loss)
    assert ratios.largest["(R^2 + 2c) |u|^2"] > 0.01


def taught_ranks(seed):
    """Inputs, ranks 1..5, the largest squared length of an input, and the teacher (u, b) of margin 1."""
    Z, y, u, b = taught(np.random.default_rng(seed), 40, 3, 5, margin=0.4)
    return Z, y, (Z**2).sum(axis=1).max(), u, b


@pytest.mark.parametrize("update", ["perceptron", "pa"])
def test_cusum_with_its_teacher(update, ratios):
    """sum |y - y^| <= R^2 ||w||^2. R is the length of the longest input with its constant 1. The blocks of w are the teacher (u, b_k)."""
    for seed in range(SETS):
        Z, y, longest, u, b = taught_ranks(seed)
        engine = Engine("cusum", update=update, classes=RANKS, epochs=100_000).fit(Z, y)
        assert engine.status_ == "converged"
        ratios.check("R^2 |w|^2", engine.cumulative_loss_, (longest + 1) * (len(b) * u @ u + b @ b))


@pytest.mark.parametrize("variant", ["structured", "original"])
def test_prank_with_its_teacher(variant, ratios):
    """CS-9: sum |y - y^| <= ((r - 1) R^2 + 1) ||(u, b)||^2 for both variants."""
    for seed in range(SETS):
        Z, y, longest, u, b = taught_ranks(seed)
        engine = Engine("prank", variant=variant, classes=RANKS, epochs=100_000).fit(Z, y)
        assert engine.status_ == "converged"
        ratios.check("((r-1) R^2 + 1) |(u, b)|^2", engine.cumulative_loss_, (4 * longest + 1) * (u @ u + b @ b))


def single_steps(X, y, r, epochs):
    """(x, -e_k) with its sign of each step of `variant="single"`: one threshold, the violated one next to the prediction."""
    w, b, steps = np.zeros(X.shape[1]), np.zeros(r - 1), []
    for x, gold in [*zip(X, y, strict=True)] * epochs:
        found = 1 + int((w @ x - b >= 0).sum())
        if found != gold:
            sign, k = (1.0, found - 1) if found < gold else (-1.0, found - 2)
            steps.append(sign * np.concatenate([x, -np.eye(r - 1)[k]]))
            w, b = w + sign * x, b - sign * np.eye(r - 1)[k]
    return w, b, np.array(steps)


def test_steps_of_one_threshold_with_their_teacher(ratios):
    """A step is a perceptron's on one input (x, -e_k) of squared length ||x||^2 + 1: mistakes <= (R^2 + 1) ||(u, b)||^2."""
    for seed in range(SETS):
        Z, y, longest, u, b = taught_ranks(seed)
        engine = Engine("prank", variant="single", classes=RANKS, epochs=100_000).fit(Z, y)
        assert engine.status_ == "converged"
        ratios.check("(R^2 + 1) |(u, b)|^2", sum(engine.mistakes_), (longest + 1) * (u @ u + b @ b))
    assert ratios.largest["(R^2 + 1) |(u, b)|^2"] > 0.05


def test_steps_of_one_threshold_on_any_data(ratios):
    """mistakes <= (||u|| sqrt(R^2 + 1) + sqrt(sum xi))^2."""
    for seed in range(SETS):
        rng = np.random.default_rng([seed, 8])
        X, y = (whole, real)[seed % 2](rng, 30, 3, 4)
        engine = Engine("prank", variant="single", classes=RANKS[:4], epochs=4).fit(X, y)
        w, b, steps = single_steps(X, y, 4, len(engine.mistakes_))
        np.testing.assert_allclose(engine.coef_, w, atol=1e-9)
        np.testing.assert_array_equal(engine.thresholds_, b)
        assert sum(engine.mistakes_) == len(steps)
        for u in comparison_vectors(rng, np.concatenate([w, b])):
            shortfall = np.maximum(0, 1 - steps @ u).sum()
            reach = np.linalg.norm(u) * np.sqrt((X**2).sum(axis=1).max() + 1)
            ratios.check("any u", len(steps), (reach + np.sqrt(shortfall)) ** 2)


@pytest.mark.parametrize("update", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("name", ["cusum", "multiclass"])
def test_passive_aggressive_on_separable_data(name, update, ratios):
    for seed in range(SETS):
        problem, X, y, u = separable(name, seed)
        C = {"pa": 1.0, "pa1": 0.05, "pa2": 0.5}[update]
        engine, ledger = trained(problem, X, y, update, epochs=100_000, **({} if update == "pa" else {"C": C}))
        assert engine.status_ == "converged"
        assert min(np.array(ledger.hinge) - ledger.margin) >= -1e-9
        ratios.check("A", *bounds.passive_aggressive(update, ledger, u, C))
        ratios.check("sum of margins", *bounds.required_margins(update, ledger, u, C))
        if update == "pa":
            radius = max((delta**2).sum() / loss for delta, loss in zip(ledger.delta, ledger.loss, strict=True))
            ratios.check("R^2 |u|^2", engine.cumulative_loss_, radius * (u @ u))


def comparison_vectors(rng, like):
    """Multiples of the learned vector, and random vectors of several lengths."""
    directions = rng.normal(size=(4, len(like)))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    return [0.01 * like, 0.1 * like, like, *(directions * rng.uniform(0, 10, (4, 1)))]


@pytest.mark.parametrize("augment", [0.0, 1.0])
@pytest.mark.parametrize("name", PROBLEMS)
def test_perceptron_on_any_data(name, augment, ratios):
    for seed in range(SETS):
        rng = np.random.default_rng([seed, 1])
        X, y = (whole, real)[seed % 2](rng, 30, 3, 4)
        problem = PROBLEMS[name](4)
        _, ledger = trained(problem, X, y, loss_weight=augment, epochs=4)
        for u in comparison_vectors(rng, sum(ledger.delta)):
            for bound, (observed, limit) in bounds.perceptron(ledger, u, augment).items():
                ratios.check(bound, observed, limit)


@pytest.mark.parametrize("augment", [0.0, 1.0])
@pytest.mark.parametrize("update", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("name", ["cusum", "multiclass"])
def test_passive_aggressive_on_any_data(name, update, augment, ratios):
    for seed in range(SETS):
        rng = np.random.default_rng([seed, 2])
        X, y = (whole, real)[seed % 2](rng, 30, 3, 4)
        problem = PROBLEMS[name](4)
        options = dict(loss_weight=augment, margin=0.7, epochs=4, **({} if update == "pa" else {"C": 0.2}))
        _, ledger = trained(problem, X, y, update, **options)
        learned = sum(tau * delta for tau, delta in zip(ledger.tau, ledger.delta, strict=True))
        for u in comparison_vectors(rng, learned):
            ratios.check({"pa": "A0", "pa1": "A1", "pa2": "A2"}[update], *bounds.passive_aggressive(update, ledger, u, 0.2))
            if augment == 0:
                ratios.check("sum of margins", *bounds.required_margins(update, ledger, u, 0.2))


def test_known_margin(ratios):
    """Figure 2 of the CuSum paper: margin delta and zero-one loss, ||u|| = 1 with sign(y >= k) u_k . x >= delta.

    mistakes <= R^2 / delta^2. If q is the largest |y - y^|, then sum |y - y^| <= ((1 + q)^2 / 4q) R^2 / delta^2.
    With a margin of delta |y - y^|, sum |y - y^| <= R^2 / delta^2.
    """
    for seed in range(SETS):
        Z, y, longest, u, b = taught_ranks(seed)
        squared = float(len(b) * u @ u + b @ b)        # 1 / delta^2
        options = dict(update="pa", margin=squared**-0.5, classes=RANKS, epochs=100_000)
        limit = (longest + 1) * squared
        printed = Engine("cusum", loss="zero-one", **options).fit(Z, y, record_predictions=True)
        assert printed.status_ == "converged"
        sizes = abs(printed.online_predictions_ - np.tile(y, len(printed.mistakes_)))
        q = sizes.max()
        ratios.check("mistakes", sum(printed.mistakes_), limit)
        ratios.check("sum |y - y^|", sizes.sum(), (1 + q) ** 2 / (4 * q) * limit)
        sensitive = Engine("cusum", loss="absolute", **options).fit(Z, y)
        ratios.check("loss-sensitive", sensitive.cumulative_loss_, limit)
