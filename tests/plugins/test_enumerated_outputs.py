"""cusum, multiclass and prank equal structured learners that enumerate Y(x) and write Phi(x, y) down.

On whole numbers the perceptron's arithmetic is exact, ties included, so everything is equal. On real numbers the order of
summation differs and weights agree to 1e-12.
"""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from plain import Engine
from reference import costs, enumerated
from reference.layouts import LAYOUTS, stored, widened
from reference.problems import PROBLEMS
from reference.samples import real, small_sets, whole

from structperc.components import ThresholdArgmax

RULES = [(problem, rule) for problem in ("cusum", "multiclass") for rule in ("perceptron", "pa", "pa1", "pa2")] + [("prank", "perceptron")]
EXACT = dict(rtol=0, atol=0)


def engine_for(problem, **options):
    return Engine(problem.name, classes=list(problem.labels), fit_intercept=problem.intercept or problem.name == "prank", **options)


def assert_weights(engine, problem, w, rtol, atol):
    for name, value in problem.shown(w).items():
        scale = max(1.0, abs(value).max())
        np.testing.assert_allclose(getattr(engine, name), value, rtol=rtol, atol=atol * scale, err_msg=name)


def assert_predicts(engine, problem, w, X, tolerance=0.0):
    """Each prediction is the label of largest enumerated score; where others come within the tolerance, one of them."""
    for x, found in zip(problem.extended(widened(X)), engine.predict(X), strict=True):
        s = enumerated.scores(problem, w, x)
        best, gap = enumerated.best(s, problem.ties)
        if tolerance == 0 or (gap > tolerance and (s == s.max()).sum() == 1):
            assert found == best
        assert s[found - 1] >= s.max() - tolerance * (1 + abs(s).max())


def assert_trace(engine, trace):
    assert engine.mistakes_ == trace.mistakes
    assert engine.online_predictions_.tolist() == trace.online
    assert engine.cumulative_loss_ == pytest.approx(trace.loss, rel=1e-12)
    assert engine.status_ == ("max_epochs" if not trace.converged else "stalled" if trace.mistakes[-1] else "converged")


@pytest.mark.parametrize("augment", [0.0, 1.0])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_perceptron_on_whole_numbers_is_exact(name, layout, augment):
    rng = np.random.default_rng([LAYOUTS.index(layout), augment > 0])
    for n, d, r in [(1, 3, 2), (20, 1, 3), (30, 4, 5), (25, 12, 2)]:
        X, y = whole(rng, n, d, r)
        problem = PROBLEMS[name](r)
        trace = enumerated.learn(problem, X, y, costs.of_examples(problem.loss, y, r), loss_weight=augment, epochs=3)
        X = stored(X, layout)
        for average in (False, True):
            engine = engine_for(problem, loss_weight=augment, epochs=3, average=average).fit(X, y, record_predictions=True)
            assert_trace(engine, trace)
            if average:
                assert_weights(engine, problem, trace.mean, rtol=1e-12, atol=1e-12)
                assert_predicts(engine, problem, trace.mean, X, tolerance=1e-9)
            else:
                assert_weights(engine, problem, trace.w, **EXACT)
                assert_predicts(engine, problem, trace.w, X)


@pytest.mark.parametrize("name", PROBLEMS)
@example((np.zeros((2, 1)), np.array([1, 1]), 3), 1.0, 1, True)         # leaves the thresholds of prank out of order
@given(small_sets(), st.sampled_from([0.0, 1.0, 2.0]), st.integers(1, 4), st.booleans())
def test_perceptron_on_small_sets(name, small, augment, epochs, by_table):
    X, y, r = small
    problem = PROBLEMS[name](r)
    loss = costs.random_table(np.random.default_rng(r), r, values=4) if by_table else problem.loss
    trace = enumerated.learn(problem, X, y, costs.of_examples(loss, y, r), loss_weight=augment, epochs=epochs)
    engine = engine_for(problem, loss=loss, loss_weight=augment, epochs=epochs).fit(X, y, record_predictions=True)
    assert_trace(engine, trace)
    assert_weights(engine, problem, trace.w, **EXACT)
    assert_predicts(engine, problem, trace.w, X)


@pytest.mark.parametrize("augment", [0.0, 0.6])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "update"), RULES)
def test_real_numbers(name, update, layout, augment):
    rng = np.random.default_rng([RULES.index((name, update)), LAYOUTS.index(layout), augment > 0])
    for n, d, r in [(40, 5, 4), (30, 13, 2)]:
        X, y = real(rng, n, d, r)
        X = stored(X, layout)
        problem = PROBLEMS[name](r)
        options = dict(update=update, loss_weight=augment, epochs=2)
        if update in ("pa1", "pa2"):
            options["C"] = 0.3
        trace = enumerated.learn(problem, widened(X), y, costs.of_examples(problem.loss, y, r), **options)
        assert trace.gap > 1e-9 and trace.steps
        for average in (False, True):
            engine = engine_for(problem, average=average, **options).fit(X, y, record_predictions=True)
            assert_trace(engine, trace)
            w = trace.mean if average else trace.w
            assert_weights(engine, problem, w, rtol=1e-12, atol=1e-12)
            assert_predicts(engine, problem, w, X, tolerance=1e-9)


@pytest.mark.parametrize("update", ["perceptron", "pa1", "pa2"])
@pytest.mark.parametrize("name", ["cusum", "multiclass"])
def test_weights_costs_margin_and_decay_together(name, update):
    rng = np.random.default_rng(3)
    X, y = real(rng, 60, 6, 4)
    problem = PROBLEMS[name](4)
    each = np.array([costs.random_table(rng, 4)[k - 1] for k in y])
    weight = rng.choice([0, 0.25, 1, 3], 60)
    options = dict(update=update, loss_weight=0.5, decay=0.05, epochs=3, **({} if update == "perceptron" else {"C": 0.7, "margin": 1.5}))
    trace = enumerated.learn(problem, X, y, each, sample_weight=weight, **options)
    assert trace.gap > 1e-9
    for average in (False, True):
        engine = engine_for(problem, loss="costs", average=average, **options)
        engine.fit(X, y, costs=each, sample_weight=weight, record_predictions=True)
        assert_trace(engine, trace)
        assert_weights(engine, problem, trace.mean if average else trace.w, rtol=1e-11, atol=1e-11)


@given(small_sets())
def test_the_other_tie_rule(small):
    """cusum whose argmax is replaced by one that gives ties to the highest rank."""
    X, y, r = small
    problem = PROBLEMS["cusum"](r)
    trace = enumerated.learn(problem, X, y, costs.of_examples("absolute", y, r), loss_weight=1.0, epochs=2, ties="highest")
    engine = engine_for(problem, loss_weight=1.0, epochs=2, plugins=[ThresholdArgmax(r)]).fit(X, y, record_predictions=True)
    assert_trace(engine, trace)
    assert_weights(engine, problem, trace.w, **EXACT)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("name", PROBLEMS)
def test_layouts_can_be_mixed(name, average):
    """Trained on one layout, further trained and used on another."""
    rng = np.random.default_rng(4)
    for r in (2, 4, 6):
        X, y = whole(rng, 40, 9, r)
        problem = PROBLEMS[name](r)
        trace = enumerated.learn(problem, X, y, costs.of_examples(problem.loss, y, r))
        w = trace.mean if average else trace.w
        precision = dict(rtol=1e-12, atol=1e-12) if average else EXACT
        for first in LAYOUTS:
            for second in LAYOUTS:
                engine = engine_for(problem, average=average)
                engine.partial_fit(stored(X[:20], first), y[:20]).partial_fit(stored(X[20:], second), y[20:])
                assert_weights(engine, problem, w, **precision)
                assert_predicts(engine, problem, w, stored(X[:5], first), tolerance=1e-9 if average else 0)
                np.testing.assert_allclose(engine.atom_scores(stored(X, first)), engine.atom_scores(stored(X, second)), rtol=1e-12,
                                           atol=1e-12)


@pytest.mark.parametrize("update", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("name", ["cusum", "multiclass"])
def test_zero_rows_without_intercept(name, update):
    """Where N = 0 there is no step, but the mistake counts."""
    problem = PROBLEMS[name](3, intercept=False)
    X, y = np.array([[0.0, 0.0], [1.0, -1.0], [0.0, 0.0]]), np.array([3, 2, 1])
    trace = enumerated.learn(problem, X, y, costs.of_examples(problem.loss, y, 3), update=update, epochs=5)
    engine = engine_for(problem, update=update, epochs=5).fit(X, y, record_predictions=True)
    assert_trace(engine, trace)
    assert all(count >= 1 for count in engine.mistakes_)
    assert_weights(engine, problem, trace.w, rtol=1e-15, atol=0)


@pytest.mark.parametrize("name", PROBLEMS)
def test_sparse_rows_with_repeated_or_unsorted_columns(name):
    """Repeated entries of a CSR row mean their sum, whatever their order."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(12)
    n, d, r = 30, 6, 4
    indptr = np.cumsum(np.append(0, rng.integers(0, 5, n)))
    X = csr_array((rng.integers(-2, 3, indptr[-1]).astype(float), rng.integers(0, d, indptr[-1]), indptr), shape=(n, d))
    y = rng.integers(1, r + 1, n)
    problem = PROBLEMS[name](r)
    for update in ["perceptron"] if name == "prank" else ["perceptron", "pa2"]:
        trace = enumerated.learn(problem, X.toarray(), y, costs.of_examples(problem.loss, y, r), update=update)
        engine = engine_for(problem, update=update).fit(X, y, record_predictions=True)
        assert_trace(engine, trace)
        assert_weights(engine, problem, trace.w, rtol=1e-12, atol=1e-12)
        assert_predicts(engine, problem, trace.w, X, tolerance=0 if update == "perceptron" else 1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
def test_rows_without_entries(name):
    """Empty CSR rows are zero vectors: only intercepts and thresholds can move."""
    from scipy.sparse import csr_array

    y = np.array([3, 1, 2, 3])
    problem = PROBLEMS[name](3)
    trace = enumerated.learn(problem, np.zeros((4, 2)), y, costs.of_examples(problem.loss, y, 3), epochs=3)
    engine = engine_for(problem, epochs=3).fit(csr_array((4, 2)), y, record_predictions=True)
    assert_trace(engine, trace)
    assert_weights(engine, problem, trace.w, **EXACT)
    assert not engine.coef_.any()
