"""Tests of PRank: the original of Crammer and Singer beside the structured variant, ordered thresholds, and rejected options."""


import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from plain import Engine
from reference import pranking
from reference.layouts import LAYOUTS, stored
from reference.model_files import saved
from reference.samples import real, small_sets, whole

from structperc.errors import DataError, PluginError


def prank(r, **options):
    return Engine("prank", classes=list(range(1, r + 1)), **options)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_original_variant_is_crammer_and_singers(layout):
    rng = np.random.default_rng(LAYOUTS.index(layout))
    for n, d, r in [(40, 3, 4), (30, 10, 2), (30, 5, 9)]:
        X, y = whole(rng, n, d, r)
        w, b, online, mean_w, mean_b = pranking.learn(X, y, r, epochs=3)
        engine = prank(r, variant="original", epochs=3).fit(stored(X, layout), y, record_predictions=True)
        np.testing.assert_array_equal(engine.coef_, w)
        np.testing.assert_array_equal(engine.thresholds_, b)
        assert engine.online_predictions_.tolist() == online
        assert engine.predict(stored(X, layout)).tolist() == [pranking.predicted(w, b, x) for x in X]
        averaged = prank(r, variant="original", epochs=3, average=True).fit(stored(X, layout), y)
        np.testing.assert_allclose(averaged.coef_, mean_w, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(averaged.thresholds_, mean_b, rtol=1e-12, atol=1e-12)


def test_smallest_difference_of_the_variants():
    """CS-9: z = 1, y = 2, three ranks. The original gives u = 0, b = (-1, 1); the structured variant u = -1, b = (0, 1)."""
    original = prank(3, variant="original").fit([[1.0]], [2])
    structured = prank(3).fit([[1.0]], [2])
    assert (original.coef_.tolist(), original.thresholds_.tolist()) == ([0.0], [-1.0, 1.0])
    assert (structured.coef_.tolist(), structured.thresholds_.tolist()) == ([-1.0], [0.0, 1.0])


@given(small_sets(5))
def test_variants_differ_exactly_at_ties_below_both_ranks(small):
    """CS-9: Steps from one state differ exactly if f = b_k for some k below the gold and the predicted rank."""
    X, y, r = small
    original = prank(r, variant="original")
    w, b = np.zeros(X.shape[1]), np.zeros(r - 1)
    for x, gold in zip(X, y, strict=True):
        found = pranking.predicted(w, b, x)
        ranks = np.arange(1, r)
        between = (np.minimum(gold, found) <= ranks) & (ranks < np.maximum(gold, found))
        structured_w, structured_b = w + (gold - found) * x, b - np.sign(gold - found) * between
        tie = found != gold and (w @ x == b[:min(gold, found) - 1]).any()
        original.partial_fit([x], [gold])
        w, b = original.coef_, original.thresholds_
        assert (not np.array_equal(b, structured_b)) == tie
        assert tie or np.array_equal(w, structured_w)


@pytest.mark.parametrize("options", [{}, {"loss_weight": 1.0}, {"variant": "original"}])
@given(small_sets(6))
def test_thresholds_stay_ordered(options, small):
    X, y, r = small
    for average in (False, True):
        engine = prank(r, average=average, **options)
        for x, gold in zip(X, y, strict=True):
            engine.partial_fit([x], [gold])
            assert (np.diff(engine.thresholds_) >= 0).all()


def test_weights_above_1_beside_1_are_refused():
    """z = 1, y = 2 gives u = -1, b = (0, 1). Then z = 0, y = 1 with weight 2 moves the lower threshold above the upper."""
    with pytest.raises(DataError, match="sample_weight"):
        prank(3).fit([[1.0], [0.0]], [2, 1], sample_weight=[1, 2])


@given(small_sets(5), st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=8, max_size=8))
@example((np.array([[1.0], [0.0]]), np.array([2, 1]), 3), [1.0, 2.0])
def test_weights_are_refused_or_keep_the_order(small, weights):
    X, y, r = small
    weights = [1.0] + weights[1:len(y)]
    stream = prank(r)
    try:
        at_once = prank(r).fit(X, y, sample_weight=weights)
        for x, gold, weight in zip(X, y, weights, strict=True):
            if weight:
                stream.partial_fit([x], [gold], sample_weight=[weight])
    except DataError:
        assert max(weights) > 1
    else:
        assert (np.diff(at_once.thresholds_) >= 0).all()
        assert (np.diff(stream.thresholds_) >= 0).all()


def test_thresholds_stay_ordered_on_real_inputs():
    X, y = real(np.random.default_rng(1), 300, 5, 8, noise=2.0)
    for average in (False, True):
        engine = prank(8, average=average)
        for start in range(0, 300, 10):
            part = slice(start, start + 10)
            engine.partial_fit(X[part], y[part], sample_weight=[0] + 9 * [1])
            assert (np.diff(engine.thresholds_) >= 0).all()


def test_a_prediction_counts_the_thresholds_reached():
    """SL-9: A threshold counts if the score equals it."""
    X, y = whole(np.random.default_rng(2), 60, 3, 5)
    engine = prank(5, epochs=2).fit(X, y)
    f = X @ engine.coef_
    assert (f[:, None] == engine.thresholds_).any()
    assert engine.predict(X).tolist() == (1 + (f[:, None] >= engine.thresholds_).sum(axis=1)).tolist()


@pytest.mark.parametrize(("options", "sentence"), [
    ({"update": "pa"}, "exact-pa"), ({"update": "pa1"}, "exact-pa"), ({"update": "pa2"}, "exact-pa"), ({"decay": 0.1}, "prank with decay"),
])
def test_steps_that_would_disorder_thresholds_are_refused(options, sentence):
    with pytest.raises(PluginError, match=sentence):
        prank(3, **options).fit([[1.0], [2.0]], [1, 3])


def test_original_variant_has_no_augmented_search():
    """The step is defined by the prediction. With another search, training would count steps that it does not make."""
    with pytest.raises(PluginError, match="loss_weight=1.0: its step is defined only by the prediction"):
        prank(3, variant="original", loss_weight=1.0).fit([[1.0], [2.0]], [1, 3])


def test_fractional_weights_are_refused():
    with pytest.raises(DataError, match=r"sample_weight\[1\] = 0.5.*exact-pa"):
        prank(3).fit([[1.0], [2.0]], [1, 3], sample_weight=[1, 0.5])


def test_refused_steps_really_would_disorder_thresholds():
    """A whole step from u = 1, b = (0, 1/2, 3/4) gives b = (0, -1/2, 3/4). Only fractional steps reach such a state."""
    w, b = np.array([1.0]), np.array([0.0, 0.5, 0.75])
    _, moved, _ = pranking.step(w, b, np.array([0.25]), 3)
    assert moved.tolist() == [0.0, -0.5, 0.75]


def test_refused_weights_leave_a_stream_without_weights_as_it_was():
    X, y = np.array([[1.0], [2.0], [0.5]]), [1, 3, 2]
    engine = Engine("prank", classes=[1, 2, 3]).partial_fit(X, y)
    before = saved(engine)
    with pytest.raises(DataError, match="here 1, or 0"):
        engine.partial_fit(X, y, sample_weight=[3, 3, 3])
    assert saved(engine) == before
