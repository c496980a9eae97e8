"""Exact passive-aggressive steps: each is the unique optimum of its problem in any state, and keeps thresholds in order."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from plain import Engine
from reference import intervals
from reference.intervals import VARIANTS
from scipy.sparse import csr_matrix

from structperc.components import Weights
from structperc.errors import DataError, PluginError

RANKS = range(2, 51)
TRIALS = 2048           # per number of ranks: 49 * 2048 > 10^5 per variant


@dataclass
class Trials:
    """Independent states and examples, one per row."""

    f: np.ndarray
    theta: np.ndarray
    X: np.ndarray
    low: np.ndarray
    high: np.ndarray
    C: np.ndarray

    @property
    def scores(self):
        return self.f[:, None] - self.theta

    @property
    def squared(self):
        return (self.X**2).sum(axis=1)

    @property
    def y(self):
        return np.column_stack([self.low, self.high])

    def __len__(self):
        return len(self.f)


def trials(rng, K, n):
    """Random trials with ties, equal thresholds, zero vectors, exact labels, wide intervals and [1, K]. About 30% have whole numbers."""
    theta = rng.normal(size=(n, K - 1)) * 10.0 ** rng.uniform(-2, 1, (n, 1))
    f, X = rng.normal(size=n) * 10.0 ** rng.uniform(-1, 1, n), rng.normal(size=(n, 2)) * 10.0 ** rng.uniform(-2, 1, (n, 1))
    whole = rng.random(n) < 0.3
    theta[whole], f[whole], X[whole] = np.round(theta[whole]), np.round(f[whole]), np.round(X[whole])
    equal = rng.random(n) < 0.1
    theta[equal] = theta[equal, :1]
    at_threshold = rng.random(n) < 0.1
    f[at_threshold] = theta[at_threshold, 0]
    X[rng.random(n) < 0.1] = 0
    low, high = np.sort(rng.integers(1, K + 1, (2, n)), axis=0)
    exact = rng.random(n) < 0.4
    high[exact] = low[exact]
    anything = rng.random(n) < 0.03
    low[anything], high[anything] = 1, K
    return Trials(f, np.sort(theta, axis=1), X, low, high, 10.0 ** rng.uniform(-2.5, 1.5, n))


class Given(Weights):
    """Returns row i of given scores for example i. Records the coefficients of its step, and learns nothing."""

    def __init__(self, scores):
        self.given, self.taken = scores, np.zeros_like(scores)

    def scores(self, x):
        return self.given[x.index]

    def update(self, x, c):
        self.taken[x.index] = c

    def state(self):
        return {}


def steps(problem, scores, X, y, variant, margin=1.0, weights=None, **options):
    """The coefficients of the compiled rule for each trial, from its own scores. "exact-pa" gets no sample weights: it has no slack."""
    store = Given(scores)
    weights = None if variant == "exact-pa" else weights
    Engine(problem, update=variant, margin=margin, plugins=[store], **options).fit(X, y, sample_weight=weights)
    return store.taken


def interval_steps(some, variant, margin=1.0):
    return steps("interval-pa", some.scores, some.X, some.y, variant, margin, some.C, classes=list(range(1, some.theta.shape[1] + 2)))


def size(scores, squared):
    """The unit of rounding errors, one number per trial. A multiplier is a difference of numbers as large as the deficits."""
    return (1 + abs(scores).max(axis=1)) * (1 + squared) * np.sqrt(scores.shape[1])


@pytest.mark.parametrize("variant", VARIANTS)
def test_optimality_conditions_on_every_trial(variant):
    """The thresholds are in order after each step. The step equals those of the sweep, the greedy search and the minima-maxima form."""
    rng = np.random.default_rng(VARIANTS.index(variant))
    n_trials = idle = 0
    worst = {"conditions": 0.0, "disorder": 0.0, "sweep": 0.0, "greedy": 0.0, "minima and maxima": 0.0}
    for K in RANKS:
        margin = (1.0, 0.3, 2.5)[K % 3]
        some = trials(rng, K, TRIALS)
        c, t = interval_steps(some, variant, margin), intervals.signs(K, some.low, some.high)
        scale, after = size(some.scores, some.squared), some.theta - c
        violation = intervals.kkt_violation(some.scores, c, t, some.squared, 1.0, variant, some.C, margin)
        worst["conditions"] = max(worst["conditions"], (violation / scale).max())
        worst["disorder"] = max(worst["disorder"], -(np.diff(after, axis=1).min(axis=1, initial=0) / scale).min())
        for i in range(0, TRIALS, 128):
            theta, f, s, low, high, C = some.theta[i], some.f[i], some.squared[i], some.low[i], some.high[i], some.C[i]
            twin = intervals.coefficients(some.scores[i], t[i], s, 1.0, variant, C, margin)
            worst["sweep"] = max(worst["sweep"], abs(c[i] - twin).max() / scale[i])
            formed = intervals.moved_thresholds(theta, f, s, c[i].sum(), low, high, variant, C, margin)
            worst["minima and maxima"] = max(worst["minima and maxima"], abs(after[i] - formed).max() / scale[i])
            if variant != "exact-pa1":
                root = intervals.greedy_root(theta, f, s, low, high, variant, C, margin)
                worst["greedy"] = max(worst["greedy"], abs(c[i].sum() - root) / scale[i])
        n_trials, idle = n_trials + TRIALS, idle + (c == 0).all(axis=1).sum()
    print(f"\n{variant}: {n_trials} trials, {idle} without a step;", ", ".join(f"{k} {v:.1e}" for k, v in worst.items()), end="")
    assert n_trials >= 100_000 and 0.03 * n_trials < idle < 0.5 * n_trials
    assert max(worst.values()) < 1e-14


def states(some):
    """(w, theta, x) of each trial. If x is 0, f is subtracted from the thresholds."""
    for x, f, theta, s in zip(some.X, some.f, some.theta, some.squared, strict=True):
        yield (np.zeros(2), theta - f, x) if s == 0 else (f * x / s, theta, x)


def largest_difference(some, variant, solver):
    c = interval_steps(some, variant)
    worst = 0.0
    for i, (w, theta, x) in enumerate(states(some)):
        best_w, best_theta = solver(w, theta, x, some.low[i], some.high[i], variant, some.C[i])
        worst = max(worst, abs(w + c[i].sum() * x - best_w).max(), abs(theta - c[i] - best_theta).max())
    return worst


@pytest.mark.parametrize("variant", VARIANTS)
def test_steps_equal_the_optimum_of_a_bounded_least_squares_solver(variant):
    """All kinds of trials, degenerate ones too."""
    rng = np.random.default_rng([1, VARIANTS.index(variant)])
    worst = max(largest_difference(trials(rng, K, 10), variant, intervals.dual_optimum) for K in RANKS)
    print(f"\n{variant}: 490 trials, largest difference {worst:.1e}", end="")
    assert worst <= 1e-8


@pytest.mark.parametrize("variant", VARIANTS)
def test_steps_equal_the_optimum_of_a_conic_solver(variant):
    """Trials without ties, on which an interior point method is accurate."""
    rng = np.random.default_rng([6, VARIANTS.index(variant)])
    worst = 0.0
    for K in (2, 3, 4, 5, 8, 13):
        low, high = np.sort(rng.integers(1, K + 1, (2, 60)), axis=0)
        theta = np.sort(rng.normal(size=(60, K - 1)), axis=1)
        some = Trials(rng.normal(size=60), theta, rng.normal(size=(60, 2)), low, high, 10.0 ** rng.uniform(-2, 1, 60))
        worst = max(worst, largest_difference(some, variant, intervals.conic_optimum))
    print(f"\n{variant}: 360 trials, largest difference {worst:.1e}", end="")
    assert worst <= 1e-8


@pytest.mark.parametrize("variant", VARIANTS)
def test_two_ranks_are_binary_passive_aggressive(variant):
    """Crammer et al. (2006) on the input (x, -1): tau = h / N, min(C, h / N), h / (N + 1 / (2C))."""
    some = trials(np.random.default_rng(3), 2, 2000)
    c = interval_steps(some, variant, 0.7)[:, 0]
    sign = np.where(some.low == some.high, np.where(some.low == 2, 1.0, -1.0), 0.0)
    hinge, norm = np.maximum(0, 0.7 - sign * some.scores[:, 0]), some.squared + 1
    tau = {"exact-pa": hinge / norm, "exact-pa1": np.minimum(some.C, hinge / norm), "exact-pa2": hinge / (norm + 1 / (2 * some.C))}[variant]
    np.testing.assert_allclose(c, sign * tau, rtol=0, atol=1e-14)


@pytest.mark.parametrize("K", [3, 20])
def test_large_aggressiveness_is_the_plain_step(K):
    some = trials(np.random.default_rng(4), K, 2000)
    plain = interval_steps(some, "exact-pa")
    some.C = np.full(len(some), 1e12)
    np.testing.assert_array_equal(interval_steps(some, "exact-pa1"), plain)
    np.testing.assert_allclose(interval_steps(some, "exact-pa2"), plain, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("variant", ["exact-pa1", "exact-pa2"])
def test_sample_weights_scale_the_aggressiveness(variant):
    some = trials(np.random.default_rng(5), 6, 500)
    for C in (0.25, 4.0):
        weighted = interval_steps(some, variant)
        some.C = some.C / C
        through_option = steps("interval-pa", some.scores, some.X, some.y, variant, weights=some.C, classes=list(range(1, 7)), C=C)
        np.testing.assert_array_equal(through_option, weighted)
        some.C = some.C * C


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_margin_only_scales(variant):
    """Doubling the margin and the state doubles the step (pa1: if the cap is doubled too)."""
    some = trials(np.random.default_rng(6), 7, 500)
    c = interval_steps(some, variant)
    some.f, some.theta = 2 * some.f, 2 * some.theta
    some.C = some.C * (2 if variant == "exact-pa1" else 1)
    np.testing.assert_array_equal(interval_steps(some, variant, margin=2.0), 2 * c)


# ---- other features: one direction for each atom ----


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("problem", ["cusum", "multiclass"])
def test_orthogonal_atoms_move_independently(problem, variant, fit_intercept):
    """Each atom makes its own binary passive-aggressive step. For classes this is one-vs-rest."""
    rng = np.random.default_rng([7, VARIANTS.index(variant)])
    X = np.round(rng.normal(size=(3000, 3)), 1)
    X[rng.random(len(X)) < 0.1] = 0
    y, C = rng.integers(1, 6, len(X)), 10.0 ** rng.uniform(-2, 1, len(X))
    scores = np.round(2 * rng.normal(size=(len(X), 5 if problem == "multiclass" else 4)), 1)
    c = steps(problem, scores, X, y, variant, 0.8, C, classes=[1, 2, 3, 4, 5], fit_intercept=fit_intercept)
    own = (X**2).sum(axis=1) + fit_intercept
    t = 2.0 * (np.arange(1, 6) == y[:, None]) - 1 if problem == "multiclass" else intervals.signs(5, y, y)
    hinge = np.maximum(0, 0.8 - t * scores)
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = {"exact-pa": hinge / own[:, None], "exact-pa1": np.minimum(C[:, None], hinge / own[:, None]),
               "exact-pa2": hinge / (own + 1 / (2 * C))[:, None]}[variant]
    tau[own == 0] = 0
    assert (own == 0).any() != fit_intercept
    np.testing.assert_allclose(c, t * tau, rtol=1e-14, atol=0)
    violation = intervals.kkt_violation(scores, c, t, 0.0, own, variant, C, 0.8)
    assert (violation / size(scores, own))[own > 0].max() < 1e-14


def test_a_null_vector_leaves_directions_alone():
    """The step changes only thresholds, with a = G(0), and intercepts. Without either, it changes nothing."""
    some = Trials(np.zeros(1), np.zeros((1, 3)), np.zeros((1, 2)), np.array([2]), np.array([3]), np.ones(1))
    engine = Engine("interval-pa", update="exact-pa", classes=[1, 2, 3, 4]).fit(some.X, some.y)
    assert engine.coef_.tolist() == [0, 0] and engine.thresholds_.tolist() == [-1, 0, 1]
    capped = Engine("interval-pa", update="exact-pa1", C=0.25, classes=[1, 2, 3, 4]).fit(some.X, some.y)
    assert capped.coef_.tolist() == [0, 0] and capped.thresholds_.tolist() == [-0.25, 0, 0.25]
    for problem in ("cusum", "multiclass"):
        flat = Engine(problem, update="exact-pa", classes=[1, 2, 3, 4], fit_intercept=False).fit(some.X, [3])
        assert not flat.coef_.any() and flat.mistakes_ == [1]
        tilted = Engine(problem, update="exact-pa", classes=[1, 2, 3, 4]).fit(some.X, [3])
        assert not tilted.coef_.any() and tilted.predict(some.X).tolist() == [3]


# ---- right predictions, and errors ----


@pytest.mark.parametrize("problem", ["interval-pa", "prank", "cusum", "multiclass"])
def test_right_predictions_are_learned_from_until_the_margin_is_kept(problem):
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    engine = Engine(problem, update="exact-pa", epochs=500, classes=[1, 2]).fit(X, [1, 2])
    assert sum(engine.mistakes_[5:]) == 0
    scores, t = engine.atom_scores(X), np.array([[-1.0], [1.0]]) if problem != "multiclass" else np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert (t * scores).min() > 1 - 1e-6


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("problem", ["interval-pa", "prank", "cusum", "multiclass"])
def test_augmented_search_is_refused(problem, variant):
    with pytest.raises(PluginError, match=f"update='{variant}' with loss_weight=0.5: .*leave loss_weight out"):
        Engine(problem, update=variant, loss_weight=0.5).fit([[1.0], [2.0]], [1, 2])


@pytest.mark.parametrize("variant", VARIANTS)
def test_atoms_that_share_features_unevenly_are_refused(variant):
    with pytest.raises(PluginError, match=f"update='{variant}' needs the same inner product for all pairs.* use 'pa', 'pa1' or 'pa2'"):
        Engine("sequence", update=variant).fit(np.eye(2), [["a", "b"]], lengths=[2])


def test_steps_without_slack_have_no_weights():
    with pytest.raises(DataError, match=r"sample_weight\[1\] is 0.5: update='exact-pa' has no slack"):
        Engine("interval-pa", update="exact-pa").fit([[1.0], [2.0]], [1, 2], sample_weight=[1, 0.5])
    with_zero = Engine("interval-pa", update="exact-pa", classes=[1, 2]).fit([[1.0], [2.0]], [1, 2], sample_weight=[0, 1])
    alone = Engine("interval-pa", update="exact-pa", classes=[1, 2]).fit([[2.0]], [2])
    assert (with_zero.coef_, with_zero.thresholds_) == (alone.coef_, alone.thresholds_)


def test_a_step_that_overflows_is_an_error_and_changes_nothing():
    engine = Engine("interval-pa", update="exact-pa", classes=[1, 2, 3]).fit([[1.0]], [3])
    before = engine.coef_.tolist(), engine.thresholds_.tolist()
    with pytest.raises(DataError, match="overflows|overflow"):
        engine.partial_fit([[1e200]], [1])
    assert (engine.coef_.tolist(), engine.thresholds_.tolist()) == before


# ---- rows of any length ----


def one_step(scores, row, low, high, variant, C=1.0, margin=1.0):
    """The coefficients of one trial, or None if the step raises DataError."""
    try:
        K = len(scores) + 1
        return steps("interval-pa", np.array([scores]), np.array([[row]]), np.array([[low, high]]), variant, margin,
                     classes=list(range(1, K + 1)), **({} if variant == "exact-pa" else {"C": C}))[0]
    except DataError as error:
        assert "beyond floating point" in str(error) and "scale the features" in str(error)
        return None


@pytest.mark.parametrize("variant", VARIANTS)
def test_steps_on_rows_of_any_length_equal_rational_arithmetic_or_are_refused(variant):
    """Steps with multipliers of one sign never raise an error. Other steps raise one only if rounding would move the scores."""
    rng = np.random.default_rng([11, VARIANTS.index(variant)])
    taken = refused = one_sided = 0
    for _ in range(300):
        K = int(rng.integers(2, 8))
        row = 10.0 ** rng.choice([rng.uniform(-150, 150), rng.uniform(-3, 12)])
        C, margin = 10.0 ** rng.uniform(-2, 2), 10.0 ** rng.uniform(-2, 2)
        f, theta = rng.normal() * 2, np.sort(rng.normal(size=K - 1) * rng.choice([0.0, 1e-9, 0.1, 2.0]))
        scores = np.round(f - theta, 1) if rng.random() < 0.3 else f - theta
        low, high = np.sort(rng.integers(1, K + 1, 2))
        if (low, high) == (1, K):
            continue
        t, shared = intervals.signs(K, np.array([low]), np.array([high]))[0], row * row
        g, expected = intervals.exact_step(scores, t, shared, variant, C, margin)
        expected_size, short = float(max(map(abs, expected))), max(0.0, (t * t * margin - t * scores).max())
        alone = min(expected) >= 0 or max(expected) <= 0
        one_sided += alone and row > 1e8
        c = one_step(scores, row, low, high, variant, C, margin)
        if c is None:
            assert not alone and 1e-16 * float(sum(map(abs, expected))) * shared > 1e-5 * short
            refused += 1
            continue
        assert max(abs(float(Fraction(a) - b)) for a, b in zip(c.tolist(), expected, strict=True)) <= 1e-13 * expected_size
        assert abs(float(Fraction(sum(c.tolist())) * Fraction(shared) - g)) <= 1.001e-3 * short
        if alone and expected_size:
            assert float(abs(sum(map(Fraction, c.tolist())) / sum(expected) - 1)) <= 1e-13
        taken += 1
    print(f"\n{variant}: {taken} steps, {refused} refused, {one_sided} of one sign on rows longer than 1e8", end="")
    assert taken > 200 and refused > 8 and one_sided > 18


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("problem", ["prank", "interval-pa", "cusum", "multiclass"])
def test_rows_of_any_scale_are_learned_or_refused(problem, variant):
    """As few mistakes as at 10^4, where features already outweigh thresholds and intercepts. The status is never "converged"."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = np.digitize(X @ [2, -1, 0, 1], [-1, 1]) + 1
    most = {"prank": 4, "interval-pa": 4, "cusum": 15, "multiclass": 20}[problem]
    for scale in (1e4, 1e6, 1e8, 1.7e9, 1e10, 1e20, 1e100, 1e150, 1e200, 1e300):
        engine = Engine(problem, update=variant, epochs=30)
        try:
            engine.fit(X * scale, y)
        except DataError as error:
            assert "scale the features" in str(error) and scale >= 1e8
            continue
        assert (engine.predict(X * scale) != y).sum() <= most and engine.status_ != "converged"


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("problem", ["cusum", "multiclass"])
def test_norms_that_underflow_are_refused(problem, variant, sparse):
    X = np.random.default_rng(0).normal(size=(60, 4)) * 1e-200
    y = np.digitize(X[:, 0], [-1e-200, 1e-200]) + 1
    with pytest.raises(DataError, match="the norm of example 0 underflows; scale the features"):
        Engine(problem, update=variant, fit_intercept=False).fit(csr_matrix(X) if sparse else X, y)


@pytest.mark.parametrize("update", [*VARIANTS, "pa", "pa1", "pa2"])
def test_training_that_no_step_improves_has_stalled(update):
    """Rows without features give no direction to move in. A chunk of them stalls too."""
    engine = Engine("multiclass", update=update, fit_intercept=False, epochs=9).fit(np.zeros((3, 2)), [1, 2, 3])
    assert (engine.status_, engine.mistakes_) == ("stalled", [2])
    assert engine.partial_fit(np.zeros((3, 2)), [1, 2, 3]).status_ == "stalled"


def test_a_slack_too_cheap_for_any_step_is_no_fault_of_the_features():
    X, y = np.random.default_rng(0).normal(size=(60, 4)), [1, 2, 3] * 20
    for problem in ("prank", "cusum"):
        assert Engine(problem, update="exact-pa2", C=5e-324, epochs=3).fit(X, y).status_ == "stalled"
