"""Tests of "interval-pa": every layout gives the run of a slow twin, thresholds stay in order, and published algorithms differ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine
from reference import intervals
from reference.intervals import VARIANTS
from reference.layouts import LAYOUTS, stored
from reference.samples import real, small_sets, whole
from structperc_interval_pa.interval_outputs import IntervalLoss, IntervalOutputs

from structperc.components import ExactUpdate
from structperc.errors import DataError, DataWarning, OptionError, PluginError
from structperc.metrics import losses
from structperc.testing import DualWeights, check_problem
from structperc.testing.twins import PythonCalls

pytestmark = pytest.mark.filterwarnings("ignore:every interval in y contains:structperc.errors.DataWarning")      # drawn sets
UPDATES = ("perceptron", *VARIANTS)


def blurred(rng, y, K):
    """Intervals that contain y. About a third contain only y, and some contain all ranks."""
    below, above = rng.integers(0, 3, (2, len(y))) * (rng.random(len(y)) > 0.3)
    low, high = np.maximum(y - below, 1), np.minimum(y + above, K)
    anything = rng.random(len(y)) < 0.05
    return np.column_stack([np.where(anything, 1, low), np.where(anything, K, high)])


def machine(K, update="exact-pa", C=1.0, **options):
    if update in ("exact-pa1", "exact-pa2"):
        options["C"] = C
    return Engine("interval-pa", update=update, classes=list(range(1, K + 1)), **options)


class Recording(ExactUpdate):
    """Records the coefficients of each trial, with its scores, signs and weight."""

    def step(self, trial):
        c = super().step(trial)
        self.notes.append((trial.scores, trial.signs(), np.zeros(trial.x.n_atoms) if c is None else c, trial.weight))
        return c


def recorded(X, y, K, variant, C=1.0, margin=1.0, **options):
    """An engine after its run, and arrays of (scores, signs, coefficients, weights) of each trial."""
    rule = Recording(variant, margin, C)
    rule.notes = notes = []
    weights = {"sample_weight": options.pop("sample_weight")} if "sample_weight" in options else {}
    engine = machine(K, rule, **options).fit(X, y, **weights)
    return engine, *(np.array(column) for column in zip(*notes, strict=True))


# ---- runs ----


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_run_is_that_of_the_twin(variant, layout):
    rng = np.random.default_rng([VARIANTS.index(variant), LAYOUTS.index(layout)])
    for make, d, K in [(whole, 3, 4), (real, 11, 5), (real, 17, 2), (real, 4, 12)]:
        X, y = make(rng, 40, d, K)
        X, y = stored(X, layout), blurred(rng, y, K)
        dense = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float)
        weights = None if variant == "exact-pa" else rng.uniform(0.2, 3, len(y))
        w, theta, online, history = intervals.learn(dense, *y.T, K, variant, 0.3, 0.8, weights, epochs=2)
        engine = machine(K, variant, 0.3, margin=0.8, epochs=2).fit(X, y, sample_weight=weights, record_predictions=True)
        np.testing.assert_allclose(engine.coef_, w, rtol=0, atol=1e-11)
        np.testing.assert_allclose(engine.thresholds_, theta, rtol=0, atol=1e-11)
        assert engine.online_predictions_.tolist() == online or make is whole       # scores of whole inputs may equal thresholds
        averaged = machine(K, variant, 0.3, margin=0.8, epochs=2, average=True).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(averaged.thresholds_, history.mean(axis=0), rtol=0, atol=1e-11)
        assert (np.diff(averaged.thresholds_) >= 0).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_thresholds_are_in_order_after_every_trial(variant):
    """Stored thresholds are in order up to rounding, and `thresholds_` exactly. Each trial meets the optimality conditions."""
    for seed in range(6):
        rng = np.random.default_rng([seed, 3])
        K = int(rng.integers(3, 30))
        X, y = (whole, real)[seed % 2](rng, 1500, 4, K)
        y = blurred(rng, y, K)
        engine, scores, t, c, weights = recorded(X, y, K, variant, 0.1, 1.5)
        after = -np.cumsum(c, axis=0)
        np.testing.assert_array_equal(np.maximum.accumulate(after[-1]), engine.thresholds_)
        size = 1 + abs(scores).max()
        assert np.diff(after, axis=1).min() > -1e-13 * size
        squared = (X**2).sum(axis=1)
        violation = intervals.kkt_violation(scores, c, t, squared, 1.0, variant, 0.1, 1.5)
        assert (violation / (1 + squared)).max() < 1e-13 * size
        assert (c.any(axis=1)).mean() > 0.3
        stream = machine(K, variant, 0.1, margin=1.5)
        for i in range(150):
            stream.partial_fit(X[i:i + 1], y[i:i + 1])
            assert (np.diff(stream.thresholds_) >= 0).all()
            np.testing.assert_array_equal(np.maximum.accumulate(after[i]), stream.thresholds_)


@pytest.mark.parametrize("update", UPDATES)
@given(small_sets(6), st.randoms(use_true_random=False))
def test_thresholds_stay_ordered(update, small, random):
    X, y, K = small
    y = blurred(np.random.default_rng(random.randrange(1000)), y, K)
    for average in (False, True):
        engine = machine(K, update, 0.3, average=average)
        for x, gold in zip(X, y, strict=True):
            engine.partial_fit([x], [gold])
            assert (np.diff(engine.thresholds_) >= 0).all()


def test_a_prediction_counts_the_thresholds_reached():
    """A threshold counts if the score equals it."""
    X, y = whole(np.random.default_rng(2), 60, 3, 5)
    engine = machine(5, "perceptron", epochs=2).fit(X, np.column_stack([y, np.minimum(y + 1, 5)]))
    f = X @ engine.coef_
    assert (f[:, None] == engine.thresholds_).any()
    assert engine.predict(X).tolist() == (1 + (f[:, None] >= engine.thresholds_).sum(axis=1)).tolist()


@pytest.mark.parametrize("update", UPDATES)
def test_exact_labels_are_intervals_of_one_rank(update):
    """If y has n labels or n equal pairs, training equals that of prank, bit for bit."""
    X, y = real(np.random.default_rng(4), 200, 5, 6)
    options = dict(update=update, classes=[1, 2, 3, 4, 5, 6], epochs=2)
    prank = Engine("prank", **options).fit(X, y, record_predictions=True)
    for given_as in (y, np.column_stack([y, y])):
        engine = Engine("interval-pa", **options).fit(X, given_as, record_predictions=True)
        np.testing.assert_array_equal(engine.coef_, prank.coef_)
        np.testing.assert_array_equal(engine.thresholds_, prank.thresholds_)
        np.testing.assert_array_equal(engine.online_predictions_, prank.online_predictions_)
        assert (engine.mistakes_, engine.cumulative_loss_) == (prank.mistakes_, prank.cumulative_loss_)


@pytest.mark.parametrize("update", UPDATES)
def test_any_rank_teaches_nothing(update):
    with pytest.warns(DataWarning, match="nothing can be learned"):
        engine = machine(4, update).fit(np.random.default_rng(5).normal(size=(20, 3)), [[1, 4]] * 20)
    assert not engine.coef_.any() and not engine.thresholds_.any()
    assert (engine.mistakes_, engine.cumulative_loss_, engine.status_) == ([0], 0.0, "converged")


@pytest.mark.parametrize("update", ["perceptron", "exact-pa1", "exact-pa2"])
@pytest.mark.parametrize(("low", "high", "sentence"), [(1, 3, "contains all 3 labels, so nothing can be learned"),
                                                       (2, 3, "contains 2, so this label is right"),
                                                       (1, 1, "contains 1, so this label is right")])
def test_intervals_that_one_label_satisfies_are_named(update, low, high, sentence):
    """Not in partial_fit of few rows, nor where one interval excludes the label, nor in measures."""
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.tile([low, high], (30, 1))
    with pytest.warns(DataWarning, match=sentence):
        engine = machine(3, update).fit(X, y)
    losses(engine, X, y)
    machine(3, update).partial_fit(X[:5], y[:5])
    y[0], y[1] = (1, 1), (3, 3)
    machine(3, update).fit(X, y)


def test_the_perceptron_steps_to_the_nearest_admissible_rank():
    """At zero every score reaches all thresholds, so the prediction is 5. The distance to [2, 3] is 2, and the step is towards 3."""
    engine = machine(5, "perceptron").fit([[2.0]], [[2, 3]])
    assert (engine.coef_.tolist(), engine.thresholds_.tolist()) == ([-4.0], [0.0, 0.0, 1.0, 1.0])
    assert engine.cumulative_loss_ == 2


# ---- the same rule with other problems and stores ----


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("variant", VARIANTS)
def test_separate_directions_with_intervals(variant, fit_intercept):
    """With the features of cusum, each direction is an independent binary passive-aggressive learner."""
    rng = np.random.default_rng(6)
    X, y = real(rng, 200, 4, 5)
    y = blurred(rng, y, 5)
    C = 0.2
    options = {} if variant == "exact-pa" else {"C": C}
    engine = Engine("cusum", plugins=[IntervalOutputs(), IntervalLoss()], update=variant, classes=[1, 2, 3, 4, 5],
                    fit_intercept=fit_intercept, **options).fit(X, y)
    Z = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    W, t = np.zeros((4, Z.shape[1])), intervals.signs(5, *y.T)
    for z, sign in zip(Z, t, strict=True):
        hinge, norm = np.maximum(0, sign * sign - sign * (W @ z)), z @ z
        tau = {"exact-pa": hinge / norm, "exact-pa1": np.minimum(C, hinge / norm), "exact-pa2": hinge / (norm + 1 / (2 * C))}[variant]
        W += np.outer(sign * tau, z)
    found = np.column_stack([engine.coef_, engine.intercept_])[1:] if fit_intercept else engine.coef_[1:]
    np.testing.assert_allclose(found, W, rtol=0, atol=1e-12)
    assert set(engine.predict(X)) <= {1, 2, 3, 4, 5}


@pytest.mark.parametrize("variant", VARIANTS)
def test_one_class_against_the_rest(variant):
    """On multiclass the exact step equals one step of a binary learner per class, even if the prediction is correct."""
    X, y = real(np.random.default_rng(7), 200, 4, 4)
    options = {} if variant == "exact-pa" else {"C": 0.2}
    engine = Engine("multiclass", update=variant, classes=[1, 2, 3, 4], **options).fit(X, y)
    for k in (1, 2, 3, 4):
        binary = Engine("cusum", update=variant, classes=[False, True], **options).fit(X, y == k)
        np.testing.assert_allclose(engine.coef_[k - 1], binary.coef_[1], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(engine.intercept_[k - 1], binary.intercept_[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("problem", ["interval-pa", "cusum", "multiclass"])
def test_a_dual_store_learns_the_same(problem, update, average):
    rng = np.random.default_rng(8)
    X, y = real(rng, 40, 3, 4)
    y = blurred(rng, y, 4) if problem == "interval-pa" else y
    options = dict(update=update, average=average, classes=[1, 2, 3, 4], **({"C": 0.3} if update[-1] in "12" else {}))
    primal = Engine(problem, **options).fit(X, y, record_predictions=True)
    dual = Engine(problem, plugins=[DualWeights()], **options).fit(X, y, record_predictions=True)
    np.testing.assert_allclose(dual.atom_scores(X), primal.atom_scores(X), rtol=0, atol=1e-10)
    np.testing.assert_array_equal(dual.online_predictions_[1:], primal.online_predictions_[1:])


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("problem", ["interval-pa", "cusum", "multiclass", "prank"])
def test_calls_through_python_learn_the_same(problem, update):
    rng = np.random.default_rng(9)
    X, y = real(rng, 100, 5, 4)
    y = blurred(rng, y, 4) if problem == "interval-pa" else y
    options = dict(update=update, classes=[1, 2, 3, 4], **({"C": 0.3} if update[-1] in "12" else {}))
    compiled = Engine(problem, **options).fit(X, y, record_predictions=True)
    called = Engine(problem, plugins=[PythonCalls()], **options).fit(X, y, record_predictions=True)
    np.testing.assert_allclose(called.atom_scores(X), compiled.atom_scores(X), rtol=0, atol=1e-11)
    np.testing.assert_array_equal(called.online_predictions_, compiled.online_predictions_)


@pytest.mark.parametrize("update", UPDATES)
def test_the_battery(update):
    report = check_problem("interval-pa", update=update)
    assert {outcome.split(":")[0] for _, outcome in report} <= {"passed", "not applicable"}
    assert sum(outcome == "passed" for _, outcome in report) >= 12
    check_problem("cusum", plugins=[IntervalOutputs(), IntervalLoss()], update=update, checks=["features_add_up", "loss_is_zero_at_gold"])


# ---- rejected options ----


@pytest.mark.parametrize("update", ["pa", "pa1", "pa2"])
def test_steps_that_would_disorder_thresholds_are_refused(update):
    with pytest.raises(PluginError, match=f"update='{update}': .*exact-pa"):
        machine(3, update).fit([[1.0], [2.0]], [[1, 2], [3, 3]])


@pytest.mark.parametrize("problem", ["interval-pa", "prank"])
@pytest.mark.parametrize("update", UPDATES)
def test_decay_is_refused(problem, update):
    """Decay shrinks the weights after the step is computed. In this run thresholds would cross by 0.1."""
    with pytest.raises(PluginError, match="decay=0.1"):
        Engine(problem, update=update, decay=0.1, classes=[1, 2, 3]).fit([[1.0], [2.0]], [1, 3])


@pytest.mark.parametrize("loss", ["hamming", "costs", "hinge"])
def test_losses_that_it_does_not_have_are_named(loss):
    costs = {"costs": np.zeros((2, 3))} if loss == "costs" else {}
    with pytest.raises((OptionError, PluginError), match=loss):
        machine(3, loss=loss).fit([[1.0], [2.0]], [[1, 2], [3, 3]], **costs)


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_losses_of_single_ranks_are_refused_beside_intervals(loss):
    """These losses would measure the distance from the lowest admissible rank."""
    with pytest.raises(PluginError, match=loss):
        Engine("cusum", plugins=[IntervalOutputs()], loss=loss, classes=[1, 2, 3]).fit([[1.0], [2.0]], [[1, 2], [3, 3]])


def test_what_a_wrong_rank_costs():
    """The loss counts from the nearest admissible rank. At zero weights the prediction is 5."""
    matrix = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) ** 0.5
    for loss, cost in [("absolute", 2.0), ("squared", 4.0), ("zero-one", 1.0), (matrix, 2**0.5)]:
        engine = machine(5, loss=loss).fit([[2.0]], [[2, 3]], record_predictions=True)
        assert engine.online_predictions_.tolist() == [5] and engine.cumulative_loss_ == cost


def test_options_without_effect_are_refused():
    with pytest.raises(OptionError, match="C=0.5 has no effect with update='exact-pa'"):
        Engine("interval-pa", update="exact-pa", C=0.5, classes=[1, 2, 3]).fit([[1.0]], [[1, 2]])


def test_examples_of_many_rows_are_refused():
    with pytest.raises(DataError, match="leave offsets out"):
        machine(3).fit([[1.0], [2.0], [3.0]], [[1, 2], [3, 3]], offsets=[0, 2, 3])


# ---- the published algorithms ----


@pytest.mark.parametrize(("theta", "f", "s", "low", "high", "reading", "printed", "exact"), [
    ([0, 0, 0], -2, 0.25, 2, 3, dict(start="both", clipped=False), 8 / 3, 2.4),
    ([0, 1], -1, 1, 2, 2, dict(start="both", clipped=True), 2 / 3, 1),
    ([-1, 0, 0], 1, 1, 2, 2, dict(start="empty", clipped=False, both_sides_again=False), -4 / 3, -1.25),
])
def test_counterexamples_to_the_support_class_algorithm(theta, f, s, low, high, reading, printed, exact):
    """IL-1: Three readings of the pseudo-code miss the projection; the engine computes it."""
    theta = np.array(theta, dtype=float)
    assert intervals.support_class_root(theta, f, s, low, high, **reading).a == pytest.approx(printed, rel=1e-14)
    assert intervals.greedy_root(theta, f, s, low, high) == pytest.approx(exact, rel=1e-14)
    engine = machine(len(theta) + 1).fit([[0.0]], [[1, len(theta) + 1]])
    x = np.sqrt(s)
    engine.parts_.weights.restore({**engine.parts_.weights.state(), "weights": np.array([f / x, *theta])})
    engine.partial_fit([[x]], [[low, high]])
    assert (engine.coef_[0] - f / x) / x == pytest.approx(exact, rel=1e-14)


def random_trials(n):
    """Random (theta, f, s, low, high) with a positive loss."""
    rng = np.random.default_rng(10)
    while n:
        K = int(rng.integers(2, 9))
        theta, f, s = np.sort(np.round(2 * rng.normal(size=K - 1), 1)), np.round(2 * rng.normal(), 1), rng.choice([0.25, 1.0, 4.0])
        low, high = np.sort(rng.integers(1, K + 1, 2))
        t = intervals.signs(K, low, high)
        if (t * t - t * (f - theta)).max() > 0:
            n -= 1
            yield theta, f, s, int(low), int(high)


@pytest.mark.parametrize(("reading", "exact", "ordered"), [
    (dict(start="empty", clipped=False), True, True),
    (dict(start="positive", clipped=False), True, True),
    (dict(start="both", clipped=False), False, False),
    (dict(start="both", clipped=True), False, True),
    (dict(start="empty", clipped=True), False, True),
    (dict(start="empty", clipped=False, both_sides_again=False), False, False),
    (dict(start="positive", clipped=False, both_sides_again=False), False, False),
], ids=str)
def test_how_often_readings_of_the_support_class_algorithm_are_the_projection(reading, exact, ordered):
    """IL-1: A reading gives the projection if it keeps negative deficits, starts without such members, and checks both sides again.

    The most literal reading starts with both neighbours of the interval and clips the deficits. It keeps the thresholds in order.
    If its step differs from the projection, the step is longer.
    """
    n, wrong, crossed = 1500, 0, 0
    for theta, f, s, low, high in random_trials(n):
        found, a = intervals.support_class_root(theta, f, s, low, high, **reading), intervals.greedy_root(theta, f, s, low, high)
        c = intervals.coefficients(f - theta, intervals.signs(len(theta) + 1, low, high), s)
        differs = abs(found.a - a) > 1e-9
        wrong += differs
        crossed += np.diff(found.thresholds(theta, low, high)).min(initial=0) < -1e-9
        if reading == dict(start="both", clipped=True):
            assert found.squared_step(s) >= c @ c + s * c.sum() ** 2 - 1e-9
    print(f"\n{reading}: another step in {wrong / n:.1%}, thresholds crossed in {crossed / n:.1%} of {n} trials", end="")
    assert (wrong == 0) == exact
    assert (crossed == 0) == ordered


def test_how_often_the_published_iteration_of_pa1_settles():
    """IL-2: If the iteration settles, it gives the projection. If the slope is too steep, it may alternate: 1, 0, 1, ..."""
    assert intervals.iterated_root(np.zeros(1), 0.0, 1.0, 2, 2, C=10.0) is None
    assert intervals.swept_root(np.zeros(1), np.ones(1), 1.0, 1.0, "exact-pa1", 10.0) == 0.5
    n, unsettled = 600, 0
    for i, (theta, f, s, low, high) in enumerate(random_trials(n)):
        C = (0.1, 1.0, 10.0)[i % 3]
        found = intervals.iterated_root(theta, f, s, low, high, C, rounds=100)
        if found is None:
            unsettled += 1
        else:
            exact = intervals.swept_root(f - theta, intervals.signs(len(theta) + 1, low, high), s, 1.0, "exact-pa1", C)
            assert found == pytest.approx(exact, abs=1e-9)
    print(f"\nthe published iteration of pa1 did not settle in {unsettled / n:.1%} of {n} trials", end="")
    assert 0.1 * n < unsettled < 0.9 * n
