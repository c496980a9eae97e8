"""Probabilities of ordered labels: the median is the prediction, rows sum to 1, slopes are derivatives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from plain import Engine
from reference.probabilities import cumulative
from reference.probabilities import pooled as slow
from scipy.special import softmax

from structperc.estimators import CuSumRank, PRank
from structperc.fitting import answers

SCORES = st.integers(1, 8).flatmap(lambda m: arrays(float, (3, m), elements=st.floats(-20, 20, width=16)))


def engine_of(scores):
    """A cusum engine whose one row with a 1 in column i has these atom scores."""
    n, m = scores.shape
    engine = Engine("cusum", classes=list(range(1, m + 2)), fit_intercept=False).partial_fit(np.eye(n), np.ones(n, dtype=int))
    engine.model_.parts.weights.assign(scores.T.ravel(), 10)
    return engine


@given(SCORES)
def test_the_median_of_the_probabilities_is_the_prediction(scores):
    engine = engine_of(scores)
    X = np.eye(len(scores))
    at_most = engine.predict_proba(X).cumsum(axis=1)
    for y, below in zip(engine.predict(X).tolist(), at_most, strict=True):
        assert below[y - 1] >= 0.5 - 1e-9
        assert y == 1 or below[y - 2] <= 0.5 + 1e-9


@given(SCORES)
def test_rows_sum_to_one_and_no_label_has_probability_0(scores):
    engine = engine_of(scores)
    p = engine.predict_proba(np.eye(len(scores)))
    assert np.allclose(p.sum(axis=1), 1, atol=1e-12) and (p > 0).all()


@given(SCORES)
def test_they_are_the_slow_ones_where_no_atoms_are_pooled(scores):
    falling = -np.sort(-scores, axis=1) - np.arange(scores.shape[1]) * 0.125
    engine = engine_of(falling)
    X = np.eye(len(falling))
    assert np.allclose(engine.predict_proba(X), cumulative(engine.label_scores(X)), rtol=1e-9, atol=1e-15)


@given(SCORES)
def test_pooled_atoms_share_their_mean(scores):
    """Atoms in no order: P(y > k) of the slow program, with the spread that keeps probabilities positive."""
    engine = engine_of(scores)
    X = np.eye(len(scores))
    assert np.allclose(engine.predict_proba(X), cumulative(engine.label_scores(X), floor=1 / 12), atol=1e-9)
    for row, s in zip(np.stack(list(engine.predict_marginals(X))), scores, strict=True):
        assert (np.diff(row) <= 1e-12).all()
        if (np.diff(slow(s)) < 0).all():
            assert np.allclose(row, 1 / (1 + np.exp(-slow(s))), atol=1e-9)


@given(SCORES, st.floats(0, 5), st.floats(0.01, 100))
def test_logarithms_are_those_of_the_probabilities_and_one_row_has_the_bits_of_many(scores, spread, temperature):
    for engine in (engine_of(scores), Engine("multiclass", classes=list(range(scores.shape[1] + 1))).partial_fit(np.eye(2), [0, 1])):
        model, X = engine.model_, np.tile(np.eye(engine.n_features_in_), (5000, 1))
        model.spread, model.temperature = spread, temperature
        p, logs = engine.predict_proba(X), model.log_probabilities(model.read(X))
        assert np.allclose(p, np.exp(logs), rtol=1e-11, atol=0)
        for i in range(engine.n_features_in_):
            assert (p[i::engine.n_features_in_] == engine.predict_proba(X[i:i + 1])).all()


@given(SCORES, st.floats(0, 5), st.floats(0.01, 100))
def test_with_a_spread_they_are_the_slow_ones_and_keep_the_median(scores, spread, temperature):
    engine = engine_of(scores)
    engine.model_.spread, engine.model_.temperature = spread, temperature
    X = np.eye(len(scores))
    p = engine.predict_proba(X)
    assert np.allclose(p, cumulative(engine.label_scores(X), temperature, spread, 1 / 12), atol=1e-9) and np.allclose(p.sum(axis=1), 1)
    for y, below in zip(engine.predict(X).tolist(), p.cumsum(axis=1), strict=True):
        assert below[y - 1] >= 0.5 - 1e-9 and (y == 1 or below[y - 2] <= 0.5 + 1e-9)


def test_probabilities_move_continuously_with_the_scores_where_the_prediction_changes():
    engines = [engine_of(np.array([[2.0, tiny, -1.0, -1.0], [tiny, -1.0, -3.0, -3.0]])) for tiny in (1e-9, -1e-9)]
    for engine in engines:
        engine.model_.spread = 1.5
    low, high = (engine.predict_proba(np.eye(2)) for engine in engines)
    assert engines[0].predict(np.eye(2)).tolist() == [3, 2] and engines[1].predict(np.eye(2)).tolist() == [2, 1]
    assert np.allclose(low, high, atol=1e-6)


def test_two_labels_have_the_softmax():
    engine = engine_of(np.array([[0.7], [-3.0], [700.0], [-700.0]]))
    assert np.allclose(engine.predict_proba(np.eye(4)), softmax(engine.label_scores(np.eye(4)), axis=1), rtol=1e-12)


def test_scores_of_any_size_have_finite_logarithms():
    engine = engine_of(np.array([[700.0, 690.0, -700.0], [1e-300, 0.0, -1e-300]]))
    model = engine.model_
    assert np.isfinite(model.log_probabilities(model.read(np.eye(2)))).all()


def ordered(n, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    return X, 1 + ((X @ [2.0, -1, 0.5] + random.logistic(size=n))[:, None] > [-2, 0, 2]).sum(axis=1)


@pytest.mark.parametrize("make", [CuSumRank, PRank])
def test_temperature_and_spread_are_the_minimum_of_the_held_out_log_loss(make):
    X, y = ordered(1000, 0)
    model = make(calibrate=True, random_state=0).fit(X, y)
    new, gold = ordered(1000, 1)
    scores, rows = model.engine_.label_scores(new), np.arange(len(gold))

    def log_loss(temperature, spread):
        return -np.log(cumulative(scores, temperature, spread, 1e-6)[rows, gold - 1]).mean()

    engine = model.engine_
    best = min(log_loss(engine.temperature_ * factor, engine.spread_ + more)
               for factor in np.geomspace(0.3, 3, 9) for more in ({0.0, 0.2, -0.2} if engine.spread_ > 0.2 else {0.0}))
    assert log_loss(engine.temperature_, engine.spread_) <= best + 0.01


def test_only_scores_in_no_order_have_a_spread():
    X, y = ordered(300, 0)
    assert PRank(random_state=0).fit(X, y).engine_.spread_ == 0
    engine = CuSumRank(random_state=0).fit(X, y).engine_
    assert engine.spread_ > 0.1
    pooled = np.array([(np.diff(slow(np.diff(row))) == 0).any() for row in engine.label_scores(X)])
    assert pooled.any() and engine.predict_proba(X[pooled]).min() > 1e-6


def answers_of(problem):
    X, y = ordered(300, 2)
    engine = Engine(problem, epochs=3, average=True).fit(X, y)
    return engine.model_.parts, engine.label_scores(X), y


@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass"])
@pytest.mark.parametrize("weights", [np.ones(300), np.geomspace(0.1, 10, 300)])
def test_no_other_temperature_and_spread_have_less_log_loss(problem, weights):
    parts, scores, y = answers_of(problem)
    right = (y[:, None] == np.arange(1, 5)) | (y[:, None] == np.arange(1, 5) + 1) & (problem == "prank")       # or the level below
    share = 1 / 301
    b, spread = answers.calibration(parts, scores, right, weights, share)

    def loss(b, spread):
        p = np.exp(answers.log_probabilities(parts, scores, b, spread))
        return weights @ (-(1 - share) * np.log((p * right).sum(axis=1)) - share * np.log(p).mean(axis=1))

    assert (spread > 0) == (problem == "cusum")
    for factor in (0.9, 1, 1.1):
        for more in (-0.1, 0, 0.1) if spread else (0,):
            assert loss(b, spread) <= loss(b * factor, spread + more) + 1e-6


@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass"])
def test_scores_ten_times_as_large_have_a_temperature_ten_times_as_large(problem):
    parts, scores, y = answers_of(problem)
    right = y[:, None] == np.arange(1, 5)
    b, spread = answers.calibration(parts, scores, right, np.ones(300), 0.1)
    larger, same = answers.calibration(parts, 10 * scores, right, np.ones(300), 0.1)
    assert larger == pytest.approx(b / 10, rel=2e-3) and same == pytest.approx(spread, abs=1e-6)


def test_scores_that_say_nothing_leave_a_spread_around_the_prediction():
    random = np.random.default_rng(0)
    parts, _, _ = answers_of("cusum")
    right = random.integers(0, 4, size=2000)[:, None] == np.arange(4)
    scores = np.concatenate([np.zeros((2000, 1)), random.normal(size=(2000, 3)).cumsum(axis=1)], axis=1)
    b, spread = answers.calibration(parts, scores, right, np.ones(2000), 1e-3)
    p = np.exp(answers.log_probabilities(parts, scores, b, spread))
    assert -np.log(p[right]).mean() < np.log(4) + 0.15 and p.min() > 0.02


def test_a_rule_that_learns_from_marginals_keeps_its_own_probabilities():
    X, y = ordered(200, 3)
    engine = Engine("cusum", update="log-loss", step_size=0.1, epochs=3).fit(X, y)
    assert np.allclose(engine.predict_proba(X), softmax(engine.label_scores(X), axis=1), rtol=1e-9)
