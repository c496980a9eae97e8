"""Tests of the trainer "cumulative-logit": maximum likelihood, standard errors, intervals, absent ranks, and rejected input."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import expit

from structperc.errors import DataError, DataWarning, OptionError, PluginError


def ordinal(n=200, d=3, seed=0, n_ranks=4):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    score = X @ np.linspace(1, -0.5, d) + random.logistic(size=n)
    return X, 1 + (score[:, None] > np.linspace(-1, 1, n_ranks - 1)).sum(axis=1)


def negative_log_likelihood(w, X, low, high, weights, penalty=0.0):
    """The negative log-likelihood, computed directly from probabilities."""
    d = X.shape[1]
    bounds = np.concatenate([[-np.inf], w[d:], [np.inf]])
    f = X @ w[:d]
    with np.errstate(all="ignore"):
        return -(weights * np.log(expit(bounds[high] - f) - expit(bounds[low - 1] - f))).sum() + penalty / 2 * w[:d] @ w[:d]


def maximum(X, low, high, n_ranks, weights, penalty=0.0):
    """The maximum of the likelihood by BFGS; its variables are weights, the first threshold and the logarithms of the gaps."""
    d = X.shape[1]

    def unpacked(v):
        return np.concatenate([v[:d], v[d] + np.concatenate([[0], np.cumsum(np.exp(v[d + 1:]))])])

    start = np.concatenate([np.zeros(d), [-1.0], np.zeros(n_ranks - 2)])
    return unpacked(minimize(lambda v: negative_log_likelihood(unpacked(v), X, low, high, weights, penalty), start, method="BFGS",
                             options={"gtol": 1e-7, "maxiter": 5000}).x)


def numeric_hessian(function, w, h=1e-4):
    eye = np.eye(len(w)) * h
    return np.array([[(function(w + a + b) - function(w + a - b) - function(w - a + b) + function(w - a - b)) / (4 * h * h) for b in eye]
                     for a in eye])


@pytest.mark.parametrize("penalty", [0.0, 3.0])
@pytest.mark.parametrize("sparse", [False, True])
def test_it_is_the_maximum_of_the_likelihood(sparse, penalty):
    X, y = ordinal()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    engine = Engine("prank", trainer="cumulative-logit", penalty=penalty).fit(csr_array(X) if sparse else X, y, sample_weight=weights)
    best = maximum(X, y, y, 4, weights, penalty)

    assert engine.status_ == "converged"
    assert np.allclose(np.concatenate([engine.coef_, engine.thresholds_]), best, atol=2e-5)
    found = np.concatenate([engine.coef_, engine.thresholds_])
    assert engine.log_likelihood_ == pytest.approx(-negative_log_likelihood(found, X, y, y, weights), rel=1e-10)
    assert (np.diff(engine.objectives_) <= 0).all()


def test_a_step_that_does_not_lower_the_objective_is_halved():
    """The first Newton step goes too far here. It would raise the objective by 5e-5 of the decrease that it promises."""
    X, y, weights = np.array([[0.0], [1.0], [-2.0]]), np.array([2, 1, 2]), np.array([10, 1, 20.688])
    engine = Engine("prank", trainer="cumulative-logit", penalty=0.1).fit(X, y, sample_weight=weights)
    start = np.append(0.0, -np.log(30.688))             # the odds of rank 2 without any column
    before = negative_log_likelihood(start, X, y, y, weights, 0.1)
    assert engine.status_ == "converged" and (np.diff(np.append(before, engine.objectives_)) <= 0).all()


@given(seed=st.integers(0, 2**32 - 1))
def test_intervals_count_with_their_probability(seed):
    X, y = ordinal(80, 2, seed % 1000)
    random = np.random.default_rng(seed)
    low, high = np.maximum(y - random.integers(0, 2, len(y)), 1), np.minimum(y + random.integers(0, 2, len(y)), 4)
    high[np.argmin(y)], low[np.argmax(y)] = 1, 4
    low[np.argmin(y)], high[np.argmax(y)] = 1, 4
    engine = Engine("interval-pa", trainer="cumulative-logit", penalty=0.1, classes=[1, 2, 3, 4]).fit(X, np.column_stack([low, high]))
    weights, found = np.ones(len(y)), np.concatenate([engine.coef_, engine.thresholds_])
    at_found = negative_log_likelihood(found, X, low, high, weights, 0.1)

    assert engine.status_ == "converged" and engine.objectives_[-1] == pytest.approx(at_found, rel=1e-9)
    for direction in random.normal(size=(40, len(found))):
        moved = found + 1e-4 * direction
        moved[2:] = np.maximum.accumulate(moved[2:])
        assert negative_log_likelihood(moved, X, low, high, weights, 0.1) >= at_found - 1e-9


def test_standard_errors_are_those_of_the_observed_information_and_of_the_sandwich():
    X, y = ordinal(150)
    engine, weights = Engine("prank", trainer="cumulative-logit").fit(X, y), np.ones(len(y))
    w = np.concatenate([engine.coef_, engine.thresholds_])
    H = numeric_hessian(lambda v: negative_log_likelihood(v, X, y, y, weights), w)
    assert np.allclose(engine.covariance_, np.linalg.inv(H), rtol=1e-4, atol=1e-8)
    assert np.allclose(engine.standard_errors_**2, np.diag(engine.covariance_))

    h, scores = 1e-6, []
    for i in range(len(y)):
        row = slice(i, i + 1)
        scores.append([(negative_log_likelihood(w + e, X[row], y[row], y[row], weights[row])
                        - negative_log_likelihood(w - e, X[row], y[row], y[row], weights[row])) / (2 * h) for e in np.eye(len(w)) * h])
    scores = np.array(scores)
    sandwich = np.linalg.inv(H) @ scores.T @ scores @ np.linalg.inv(H)
    assert np.allclose(engine.robust_standard_errors_, np.sqrt(np.diag(sandwich)), rtol=1e-4)


@pytest.mark.filterwarnings("ignore:column")
@pytest.mark.parametrize("scale", [False, True])
def test_units_of_columns_change_coefficients_and_errors_and_nothing_else(scale):
    X, y = ordinal()
    spread, shift = np.array([1e3, 1e-3, 1.0]), np.array([0.0, 0.0, 50.0])
    plain = Engine("prank", trainer="cumulative-logit").fit(X, y)
    other = Engine("prank", trainer="cumulative-logit", scale=scale).fit(X * spread + shift, y)
    assert np.allclose(other.coef_ * spread, plain.coef_, rtol=1e-5)
    assert np.allclose(other.standard_errors_[:3] * spread, plain.standard_errors_[:3], rtol=1e-4)
    assert other.log_likelihood_ == pytest.approx(plain.log_likelihood_, rel=1e-9)


@pytest.mark.parametrize("absent", [(2,), (3,), (2, 3), (2, 4)])
def test_an_absent_rank_shares_its_threshold_with_a_neighbour(absent):
    X, y = ordinal(300, n_ranks=5)
    y = np.where(np.isin(y, absent), y + 1, y)
    y = np.where(np.isin(y, absent), y + 1, y)
    kept = np.unique(y)
    engine = Engine("prank", trainer="cumulative-logit", classes=[1, 2, 3, 4, 5]).fit(X, y)
    fewer = Engine("prank", trainer="cumulative-logit", classes=kept.tolist()).fit(X, y)
    assert engine.status_ == "converged"
    assert engine.log_likelihood_ == pytest.approx(fewer.log_likelihood_, rel=1e-10)
    assert np.allclose(engine.coef_, fewer.coef_, atol=1e-6)
    assert np.allclose(np.unique(np.round(engine.thresholds_, 6)), fewer.thresholds_, atol=1e-5)


def test_thresholds_that_no_answer_keeps_apart_meet_and_part_again():
    """If rank 2 occurs only inside wider intervals, its two thresholds may be equal or different at the optimum."""
    for seed in range(20):
        X, y = ordinal(60, 2, seed, n_ranks=3)
        low, high = np.where(y == 2, np.random.default_rng(seed).integers(1, 3, len(y)), y), y.copy()
        high = np.where((y == 2) & (low == 2), 3, high)
        engine = Engine("interval-pa", trainer="cumulative-logit", classes=[1, 2, 3]).fit(X, np.column_stack([low, high]))
        weights, found = np.ones(len(y)), np.concatenate([engine.coef_, engine.thresholds_])
        assert engine.status_ == "converged" and found[2] <= found[3]
        at_found = negative_log_likelihood(found, X, low, high, weights)
        for move in ((-1e-3, 0), (0, 1e-3), (1e-3, 1e-3), (-1e-3, -1e-3)):
            assert negative_log_likelihood(found + [0, 0, *move], X, low, high, weights) >= at_found - 1e-9


def test_ranks_without_error_are_named_and_a_penalty_makes_a_maximum():
    X = np.linspace(-1, 1, 30)[:, None]
    y = 1 + (X[:, 0] > -0.3).astype(int) + (X[:, 0] > 0.3)
    with pytest.warns(UserWarning, match="a direction separates the ranks without error"):
        engine = Engine("prank", trainer="cumulative-logit").fit(X, y)
    assert (engine.predict(X) == y).all()
    penalised = Engine("prank", trainer="cumulative-logit", penalty=1.0).fit(X, y)
    assert penalised.status_ == "converged" and np.isfinite(penalised.standard_errors_).all()


def test_columns_that_repeat_one_another_share_the_coefficient():
    X, y = ordinal()
    with pytest.warns(DataWarning, match=r"the columns x\[0\], x\[3\] depend on each other"):
        twice = Engine("prank", trainer="cumulative-logit").fit(np.hstack([X, X[:, :1], np.ones((len(y), 1))]), y)
    once = Engine("prank", trainer="cumulative-logit").fit(X, y)
    assert twice.log_likelihood_ == pytest.approx(once.log_likelihood_, rel=1e-9)
    assert np.array_equal(twice.predict(np.hstack([X, X[:, :1], np.ones((len(y), 1))])), once.predict(X))
    assert np.allclose(twice.coef_, once.coef_[[0, 1, 2, 0, 0]] * [0.5, 1, 1, 0.5, 0], atol=1e-9)
    assert np.allclose(twice.standard_errors_[:3], once.standard_errors_[:3] * [0.5, 1, 1], atol=1e-9)


def test_a_rank_at_an_end_without_examples_is_refused():
    X, y = ordinal()
    with pytest.raises(DataError, match="no example of y is surely the highest label 9"):
        Engine("prank", trainer="cumulative-logit", classes=[1, 2, 3, 4, 9]).fit(X, y)
    with pytest.raises(DataError, match="no example of y is surely the lowest label 0"):
        Engine("prank", trainer="cumulative-logit", classes=[0, 1, 2, 3, 4]).fit(X, y)


def test_a_saved_model_keeps_its_errors(tmp_path):
    X, y = ordinal()
    engine = Engine("prank", trainer="cumulative-logit").fit(X, y)
    engine.save(tmp_path / "m")
    read = Engine.load(tmp_path / "m")
    assert np.array_equal(read.standard_errors_, engine.standard_errors_) and read.log_likelihood_ == engine.log_likelihood_


@pytest.mark.parametrize("dummy", [False, True])
def test_a_model_without_a_maximum_is_saved_too(dummy, tmp_path):
    X, y = ordinal()
    if dummy:           # that only the highest rank has
        X = np.column_stack([X, (y == y.max()) & (np.arange(len(y)) % 2 == 0)])
    else:
        y = 1 + (X[:, 0] > -0.3).astype(int) + (X[:, 0] > 0.3)
    with pytest.warns(UserWarning, match="separate"):
        engine = Engine("prank", trainer="cumulative-logit").fit(X, y)
    assert np.isinf(engine.standard_errors_).any()
    engine.save(tmp_path / "m")
    for read in (Engine.load(tmp_path / "m"), pickle.loads(pickle.dumps(engine)), copy.deepcopy(engine)):
        assert np.array_equal(read.covariance_, engine.covariance_) and np.array_equal(read.predict(X), engine.predict(X))
        assert np.array_equal(read.robust_covariance_, engine.robust_covariance_)


def test_other_weights_and_chunks_are_refused():
    X, y = ordinal()
    with pytest.raises(PluginError, match="trainer='cumulative-logit' learns a weight for each feature"):
        Engine("prank", plugins=["dual-kernel"], kernel="linear", trainer="cumulative-logit").fit(X, y)
    with pytest.raises(PluginError, match="call fit with all of them"):
        Engine("prank", trainer="cumulative-logit").partial_fit(X, y)
    with pytest.raises(OptionError, match="penalty=-1.0; expected a number at least 0"):
        Engine("prank", trainer="cumulative-logit", penalty=-1.0)
