"""The update "logistic": steps are gradients of the atoms' logistic losses, its bound and the order of thresholds are as proved."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine
from scipy.optimize import minimize

from structperc.errors import OptionError, UnusedOption
from structperc.testing.case import make_case

STEP = 0.25


def atom_loss(s, signs):
    """Sum of log(1 + exp(-z s)) over the atoms with a sign."""
    return float(np.logaddexp(0, -(signs * s)[signs != 0]).sum())


def ordinal(n=120, d=3, n_ranks=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    score = X @ np.linspace(1, -1, d) + random.logistic(size=n)
    return X, 1 + (score[:, None] > np.linspace(-1, 1, n_ranks - 1)).sum(axis=1)


@pytest.mark.parametrize("problem", ["prank", "cusum", "interval-pa", "multiclass", "matching"])
def test_a_step_is_the_gradient_of_the_atoms_losses(problem):
    case = make_case(problem, (), {}, 0)
    w = case.teacher()
    data = case.teach(case.data, case.answers(w, case.examples, noise=1.0))
    for i in range(0, len(case.examples), 3):
        engine, one = case.engine(update="logistic", step_size=STEP), data.take([i])
        engine.partial_fit(one.X, one.y, offsets=one.offsets)
        parts = engine.model_.parts
        parts.weights.assign(w, 1)
        rows = engine.read(one.X, offsets=one.offsets)
        x = engine.model_.example(rows, 0)
        signs = parts.outputs.signs(x, parts.outputs.encode(one.y, rows)[0])
        before = engine.cumulative_loss_
        engine.partial_fit(one.X, one.y, offsets=one.offsets)
        step, loss = (parts.weights.vector() - w) / STEP, engine.cumulative_loss_ - before

        direction, h = np.random.default_rng(i).normal(size=len(w)), 1e-6
        slope = (atom_loss(case.features.scores(w + h * direction, x), signs)
                 - atom_loss(case.features.scores(w - h * direction, x), signs)) / (2 * h)
        assert step @ direction == pytest.approx(-slope, rel=1e-6, abs=1e-6)
        assert loss == pytest.approx(atom_loss(case.features.scores(w, x), signs), rel=1e-9, abs=1e-9)


def test_training_approaches_the_minimum_of_the_all_threshold_loss():
    X, y = ordinal(300)
    signs = np.where(np.arange(1, 4) < y[:, None], 1.0, -1.0)

    def loss(w):
        return atom_loss(((X @ w[:3])[:, None] - w[3:]).ravel(), signs.ravel())

    best = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-8}).x
    engine = Engine("prank", update="logistic", epochs=1000,
                    average=True, shuffle=True, random_state=0).fit(X, y)
    assert np.allclose(engine.coef_, best[:3], atol=0.005)
    assert np.allclose(engine.thresholds_, best[3:], atol=0.005)


@given(seed=st.integers(0, 2**32 - 1), step_size=st.floats(0.05, 4))
def test_thresholds_stay_in_order_up_to_step_size_4(seed, step_size):
    X, y = ordinal(40, seed=seed)
    engine = Engine("prank", update="logistic", step_size=step_size, classes=[1, 2, 3, 4])
    for i in range(len(y)):
        engine.partial_fit(X[i:i + 1], y[i:i + 1])
        thresholds = engine.model_.parts.weights.vector()[3:]
        assert (np.diff(thresholds) >= 0).all()


def test_a_larger_step_of_thresholds_is_refused_and_one_of_classes_is_not():
    X, y = ordinal()
    with pytest.raises(OptionError, match="logistic steps keep thresholds in order up to step_size . weight = 4"):
        Engine("prank", update="logistic", step_size=4.5).fit(X, y)
    with pytest.raises(OptionError, match="with a sample weight of 5"):
        Engine("prank", update="logistic", step_size=1.0).fit(X, y, sample_weight=np.full(len(y), 5.0))
    Engine("multiclass", update="logistic", step_size=4.5).fit(X, y)


@pytest.mark.parametrize("problem", ["prank", "cusum", "multiclass"])
def test_the_bound_on_the_loss_and_on_mistakes_is_kept(problem):
    for seed in range(5):
        X, y = ordinal(seed=seed)
        engine = Engine(problem, update="logistic", step_size=0.05, fit_intercept=False).fit(X, y)
        parts, eta, n_atoms = engine.model_.parts, 0.05, 4 if problem == "multiclass" else 3
        square = (X**2).sum(axis=1).max()
        largest = {"prank": n_atoms * square + 1}.get(problem, square)        # R^2: of the Gram of one example's atoms
        signs = ((np.arange(4) == y[:, None] - 1) if problem == "multiclass" else (np.arange(1, 4) < y[:, None])) * 2.0 - 1
        rows = engine.read(X)
        for u in (np.zeros_like(parts.weights.vector()), parts.weights.vector(),
                  Engine(problem, update="logistic", step_size=0.05, epochs=20, fit_intercept=False).fit(X, y)
                  .model_.parts.weights.vector()):
            compared = sum(atom_loss(parts.features.scores(u, engine.model_.example(rows, i)), signs[i]) for i in range(len(y)))
            bound = (compared + u @ u / (2 * eta)) / (1 - eta * largest / 4)
            assert engine.cumulative_loss_ <= bound
        answers = Engine(problem, update="logistic", step_size=0.05, fit_intercept=False).fit(X, y, record_predictions=True).online_predictions_
        distance = 2 * (answers != y).sum() if problem == "multiclass" else np.abs(answers - y).sum()
        assert np.log(2) * distance <= engine.cumulative_loss_ + 1e-9


@pytest.mark.parametrize("problem", ["prank", "cusum", "multiclass"])
def test_with_a_linear_kernel_it_learns_the_same(problem):
    X, y = ordinal(60)
    primal = Engine(problem, update="logistic", step_size=0.1, epochs=2).fit(X, y)
    dual = Engine(problem, plugins=["dual-kernel"], kernel="linear", update="logistic", step_size=0.1, epochs=2).fit(X, y)
    assert np.allclose(primal.atom_scores(X), dual.atom_scores(X), atol=1e-10)
    assert len(dual.support_) >= len(y)


def test_an_example_that_admits_every_rank_changes_nothing():
    X, y = ordinal(30)
    intervals = np.column_stack([y, y])
    open_ends = np.vstack([intervals, [[1, 4]]])
    without = Engine("interval-pa", update="logistic", step_size=0.1, classes=[1, 2, 3, 4]).fit(X, intervals)
    ended = Engine("interval-pa", update="logistic", step_size=0.1, classes=[1, 2, 3, 4]).fit(np.vstack([X, [[9.0, 9, 9]]]), open_ends)
    assert np.array_equal(without.coef_, ended.coef_) and np.array_equal(without.thresholds_, ended.thresholds_)


def test_a_weight_of_0_is_an_absent_example():
    X, y = ordinal(40)
    weights = np.r_[np.ones(30), np.zeros(10)]
    weighted = Engine("prank", update="logistic", step_size=0.1).fit(X, y, sample_weight=weights)
    absent = Engine("prank", update="logistic", step_size=0.1, classes=[1, 2, 3, 4]).fit(X[:30], y[:30])
    assert np.array_equal(weighted.coef_, absent.coef_) and np.array_equal(weighted.thresholds_, absent.thresholds_)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_scores_far_from_zero_neither_overflow_nor_lose_the_step(scale):
    engine = Engine("prank", update="logistic", step_size=0.1, classes=[1, 2, 3]).partial_fit([[1.0]], [2])
    engine.model_.parts.weights.assign(np.array([scale, 0.0, 1.0]), 1)
    before = engine.cumulative_loss_
    engine.partial_fit([[-1.0]], [3])
    assert engine.cumulative_loss_ - before == pytest.approx(2 * scale if scale > 1 else np.log(2) + np.log1p(np.exp(1.0)))


def test_the_loss_in_its_search_is_refused():
    X, y = ordinal()
    with pytest.raises(UnusedOption, match="loss_weight=1.0 has no effect with update='logistic'"):
        Engine("prank", update="logistic", loss_weight=1.0, step_size=0.1).fit(X, y)
