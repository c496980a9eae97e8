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
    """Atoms in no order: P(y > k) of the slow program, up to the share that keeps probabilities positive."""
    engine = engine_of(scores)
    X = np.eye(len(scores))
    assert np.allclose(engine.predict_proba(X), cumulative(engine.label_scores(X)), atol=1 / 11)
    for row, s in zip(np.stack(list(engine.predict_marginals(X))), scores, strict=True):
        assert (np.diff(row) <= 1e-12).all()
        if (np.diff(slow(s)) < 0).all():
            assert np.allclose(row, 1 / (1 + np.exp(-slow(s))), atol=1e-9)


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
def test_a_temperature_is_the_minimum_of_the_held_out_log_loss(make):
    X, y = ordered(2000, 0)
    model = make(calibrate=True, random_state=0).fit(X, y)
    new, gold = ordered(2000, 1)
    scores, rows = model.engine_.label_scores(new), np.arange(len(gold))

    def log_loss(temperature):
        return -np.log(np.maximum(cumulative(scores, temperature)[rows, gold - 1], 1e-6)).mean()

    best = min(log_loss(model.temperature_ * factor) for factor in np.geomspace(0.3, 3, 13))
    assert log_loss(model.temperature_) <= best + 0.01


@pytest.mark.parametrize("problem", ["cusum", "prank", "multiclass"])
def test_scores_ten_times_as_large_have_a_temperature_ten_times_as_large(problem):
    from structperc.engine import answers

    X, y = ordered(300, 2)
    engine = Engine(problem, epochs=3, average=True).fit(X, y)
    scores, parts = engine.label_scores(X), engine.model_.parts
    right = y[:, None] == np.arange(1, 5)
    h = 1e-6
    for b in (0.1, 1.0):
        slope = answers.log_loss_slope(parts, scores, right, 0.0)(b)
        up, down = (answers.log_probabilities(parts, scores, b + d)[right] for d in (h, -h))
        unpooled = np.array([problem == "multiclass" or (np.diff(slow(np.diff(row))) < 0).all() for row in scores])
        assert unpooled.sum() > 50 and np.allclose(slope[unpooled], -((up - down) / (2 * h))[unpooled], atol=1e-4)
        larger = answers.log_loss_slope(parts, 10 * scores, right, 0.1)(b / 10)
        assert np.allclose(larger, 10 * answers.log_loss_slope(parts, scores, right, 0.1)(b))


def test_a_rule_that_learns_from_marginals_keeps_its_own_probabilities():
    X, y = ordered(200, 3)
    engine = Engine("cusum", update="log-loss", step_size=0.1, epochs=3).fit(X, y)
    assert np.allclose(engine.predict_proba(X), softmax(engine.label_scores(X), axis=1), rtol=1e-9)
