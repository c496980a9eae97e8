"""Averages, decay, sample weights and chunks: identities that are true for all data."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine
from reference.layouts import LAYOUTS, stored
from reference.problems import PROBLEMS
from reference.samples import real, small_sets, whole

from structperc.errors import DataError

pytestmark = pytest.mark.blas

RULES = [(problem, rule) for problem in ("cusum", "multiclass") for rule in ("perceptron", "pa", "pa1", "pa2")] + [("prank", "perceptron")]


def decays(name):
    """The decays to test. Prank supports only 0."""
    return [0.0] if name == "prank" else [0.0, 0.001, 0.1, 0.5]


def weights(engine):
    """All fitted weights, flat."""
    return np.concatenate([np.ravel(getattr(engine, name)) for name in ("coef_", "intercept_", "thresholds_") if hasattr(engine, name)])


def assert_same_bits(a, b):
    np.testing.assert_array_equal(weights(a), weights(b))
    assert a.mistakes_ == b.mistakes_
    assert a.cumulative_loss_ == b.cumulative_loss_


@pytest.mark.parametrize("layout", ["dense64", "csr64-int32"])
@pytest.mark.parametrize(("name", "update", "decay"), [(*rule, decay) for rule in RULES for decay in decays(rule[0])])
def test_the_average_is_the_mean_of_the_weights_after_each_example(name, update, layout, decay):
    """CS-14: the mean includes every example of every epoch. The run is so long that decay shrinks the first steps to almost nothing."""
    X, y = real(np.random.default_rng(1), 120, 4, 4, noise=1.0)
    X = stored(X, layout)
    options = dict(update=update, decay=decay, classes=[1, 2, 3, 4])
    plain = Engine(name, **options)
    total = 0
    for i in range(len(y)):
        plain.partial_fit(X[i:i + 1], y[i:i + 1])
        total = total + weights(plain)
    mean = total / len(y)
    averaged = Engine(name, average=True, **options).fit(X, y)
    np.testing.assert_allclose(weights(averaged), mean, rtol=0, atol=1e-11 * abs(mean).max())
    assert averaged.mistakes_ == plain.mistakes_


def test_decay_without_average_over_a_long_run():
    """w <- (1 - decay) w before each step, across every renewal of the stored scale."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(600, 3)), rng.integers(1, 4, 600)
    for decay in (0.01, 0.3, 0.99):
        w = np.zeros((3, 4))
        for x, label in zip(np.column_stack([X, np.ones(600)]), y, strict=True):
            found = int(np.argmax(w @ x)) + 1
            if found != label:
                w *= 1 - decay
                w[label - 1] += x
                w[found - 1] -= x
        engine = Engine("multiclass", decay=decay).fit(X, y)
        np.testing.assert_allclose(np.column_stack([engine.coef_, engine.intercept_]), w, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "decay"), [(name, decay) for name in PROBLEMS for decay in decays(name)])
def test_chunks_of_a_stream_are_one_pass(name, layout, average, decay):
    X, y = real(np.random.default_rng(3), 120, 9, 4)
    X = stored(X, layout)
    options = dict(average=average, decay=decay, classes=[1, 2, 3, 4])
    whole_pass = Engine(name, **options).fit(X, y)
    for size in (1, 7, 50, 120):
        stream = Engine(name, **options)
        for start in range(0, 120, size):
            stream.partial_fit(X[start:start + size], y[start:start + size])
        np.testing.assert_array_equal(weights(stream), weights(whole_pass))
        assert stream.mistakes_ == whole_pass.mistakes_
        assert stream.cumulative_loss_ == pytest.approx(whole_pass.cumulative_loss_)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "decay"), [(name, decay) for name in PROBLEMS for decay in decays(name)[:2]])
def test_a_failed_chunk_leaves_no_trace(name, decay, layout, average):
    """The row with NaN is scored after steps on earlier rows of the chunk."""
    X, y = real(np.random.default_rng(8), 60, 12, 4)
    damaged = X.copy()
    damaged[25, 3] = np.nan
    options = dict(average=average, decay=decay, classes=[1, 2, 3, 4])
    smooth, bumpy = Engine(name, **options), Engine(name, **options)
    for part in (slice(0, 20), slice(20, 40), slice(40, 60)):
        smooth.partial_fit(stored(X[part], layout), y[part])
        if part.start == 20:
            with pytest.raises(DataError, match=r"X\[5, 3\] is nan"):
                bumpy.partial_fit(stored(damaged[part], layout), y[part])
        bumpy.partial_fit(stored(X[part], layout), y[part])
        assert_same_bits(bumpy, smooth)
        assert bumpy.predict(stored(X, layout)).tolist() == smooth.predict(stored(X, layout)).tolist()


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("name", ["cusum", "multiclass"])
@given(small_sets(), st.sampled_from([2.0, 0.5, 4.0]))
def test_equal_weights_scale_the_perceptron(name, average, small, weight):
    X, y, r = small
    options = dict(average=average, epochs=2, classes=list(range(1, r + 1)))
    scaled = Engine(name, **options).fit(X, y, sample_weight=np.full(len(y), weight))
    plain = Engine(name, **options).fit(X, y)
    np.testing.assert_array_equal(weights(scaled), weight * weights(plain))
    assert scaled.mistakes_ == plain.mistakes_


def test_weight_2_doubles_the_coefficient_of_one_step():
    X, y = [[1.0, -2.0], [3.0, 1.0]], [3, 1]
    first = Engine("cusum", classes=[1, 2, 3]).fit(X[:1], y[:1])
    both = Engine("cusum", classes=[1, 2, 3]).fit(X, y)
    double = Engine("cusum", classes=[1, 2, 3]).fit(X, y, sample_weight=[1, 2])
    np.testing.assert_array_equal(weights(double) - weights(first), 2 * (weights(both) - weights(first)))


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("layout", ["dense32", "csr64-int64"])
@pytest.mark.parametrize(("name", "update"), RULES)
def test_weight_0_is_a_deleted_row(name, update, layout, average, shuffle):
    rng = np.random.default_rng(4)
    X, y = whole(rng, 50, 6, 4)
    keep = rng.random(50) < 0.6
    options = dict(update=update, average=average, shuffle=shuffle, random_state=7, epochs=3, classes=[1, 2, 3, 4])
    weighted = Engine(name, **options).fit(stored(X, layout), y, sample_weight=keep.astype(float), record_predictions=True)
    deleted = Engine(name, **options).fit(stored(X[keep], layout), y[keep], record_predictions=True)
    assert_same_bits(weighted, deleted)
    assert weighted.online_predictions_.tolist() == deleted.online_predictions_.tolist()


@pytest.mark.parametrize("options", [{}, {"shuffle": True}, {"shuffle": True, "average": True, "update": "pa2", "C": 0.1}])
def test_the_same_seed_gives_the_same_bits(options):
    X, y = real(np.random.default_rng(5), 80, 7, 5)
    engine = Engine("cusum", random_state=1, epochs=3, **options)
    first = weights(engine.fit(X, y))
    np.testing.assert_array_equal(weights(engine.fit(X, y)), first)
    np.testing.assert_array_equal(weights(Engine("cusum", random_state=1, epochs=3, **options).fit(X, y)), first)
    other = weights(Engine("cusum", random_state=2, epochs=3, **options).fit(X, y))
    assert np.array_equal(other, first) == ("shuffle" not in options)


def test_all_orders_are_equally_likely():
    """With three contradictory examples the six orders end in different weights."""
    X, y = np.array([[1.0], [2.0], [4.0]]), [2, 1, 3]
    seen = {}
    for seed in range(600):
        engine = Engine("multiclass", shuffle=True, random_state=seed, fit_intercept=False, classes=[1, 2, 3])
        engine.fit(X, y, record_predictions=True)
        key = (engine.coef_.tobytes(), engine.online_predictions_.tobytes())
        seen[key] = seen.get(key, 0) + 1
    by_order = {}
    for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        engine = Engine("multiclass", fit_intercept=False, classes=[1, 2, 3]).fit(X[order], np.array(y)[order], record_predictions=True)
        key = (engine.coef_.tobytes(), engine.online_predictions_.tobytes())
        by_order[key] = by_order.get(key, 0) + 1
    assert set(seen) == set(by_order)
    for key, count in seen.items():
        assert 70 * by_order[key] <= count <= 130 * by_order[key]


def test_predictions_follow_from_the_atom_scores():
    X, y = real(np.random.default_rng(6), 60, 5, 4)
    for average in (False, True):
        cusum = Engine("cusum", average=average).fit(X, y)
        totals = np.column_stack([np.zeros(60), np.cumsum(cusum.atom_scores(X), axis=1)])
        assert cusum.predict(X).tolist() == (1 + totals.argmax(axis=1)).tolist()
        np.testing.assert_allclose(cusum.atom_scores(X), X @ cusum.coef_[1:].T + cusum.intercept_[1:], atol=1e-12)
        classes = Engine("multiclass", average=average).fit(X, y)
        assert classes.predict(X).tolist() == (1 + classes.atom_scores(X).argmax(axis=1)).tolist()
        prank = Engine("prank", average=average).fit(X, y)
        np.testing.assert_allclose(prank.atom_scores(X), (X @ prank.coef_)[:, None] - prank.thresholds_, atol=1e-12)


def test_training_does_not_touch_its_inputs():
    X, y = real(np.random.default_rng(7), 40, 5, 3)
    for layout in LAYOUTS:
        stored_X, labels, weight = stored(X, layout), y.copy(), np.linspace(0, 2, 40)
        before = stored(X, layout)
        Engine("cusum", shuffle=True, average=True, epochs=2).fit(stored_X, labels, sample_weight=weight)
        if layout.startswith("dense"):
            np.testing.assert_array_equal(stored_X, before)
        else:
            for part in ("data", "indices", "indptr"):
                np.testing.assert_array_equal(getattr(stored_X, part), getattr(before, part))
        np.testing.assert_array_equal(labels, y)
        np.testing.assert_array_equal(weight, np.linspace(0, 2, 40))


@pytest.mark.parametrize(("name", "options"), [
    ("cusum", {"average": True}), ("cusum", {"decay": 0.01}), ("multiclass", {"average": True, "decay": 0.01}),
    ("multiclass", {"average": True, "update": "adagrad"}), ("prank", {"average": True}),
])
def test_a_few_rows_between_steps_are_scored_as_by_the_whole_mean(name, options):
    """Only the columns of rows that are predicted are averaged, until so many were asked for that all are."""
    X = sp.random(60, 300, density=0.06, format="csr", random_state=6)
    y = np.random.default_rng(6).integers(1, 5, 60)
    engine = Engine(name, classes=[1, 2, 3, 4], **options)
    for i in range(0, 60, 20):
        engine.partial_fit(X[i:i + 20], y[i:i + 20])
        whole = pickle.loads(pickle.dumps(engine))
        expected, predictions = whole.atom_scores(X), whole.predict(X)
        kept = engine.parts_.weights.averaged() if i else None
        for j in (i, i + 1, 59 - i, *range(i // 4)):
            np.testing.assert_array_equal(engine.atom_scores(X[j:j + 1])[0], expected[j])
            assert engine.predict(X[j:j + 1])[0] == predictions[j]
        if kept is not None:
            mean = np.array(kept.vector())
            engine.partial_fit(X[i:i + 1], 5 - y[i:i + 1])
            engine.predict(X[i:i + 1])
            np.testing.assert_array_equal(kept.vector(), mean)


def test_a_missing_attribute_has_its_sentence_when_it_is_read():
    engine = Engine("cusum", average=True).fit([[0.0], [1.0]], [1, 2])
    with pytest.raises(AttributeError, match=r"has no nothing_\. It has .*coef_, ") as fault:
        engine.nothing_         # noqa: B018
    assert str(pickle.loads(pickle.dumps(fault.value))) == str(fault.value)
