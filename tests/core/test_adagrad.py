"""update="adagrad": its steps beside steps written down, bit for bit, its bound, its means, and the state that goes on."""

import io

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import Engine
from reference.adagrad import AdaGrad, Hinge
from reference.layouts import LAYOUTS, stored
from reference.samples import real, small_sets

from structperc import hookimpl
from structperc.components import BlockFeatures, PrefixArgmax, RowPart, TablePart, VectorFeatures
from structperc.errors import DataError, OptionError, PluginError, UnusedOption
from structperc.schedules import inverse_sqrt
from structperc.testing import check_problem
from structperc.testing.case import make_case

STORE = ("step_size", "decay")


def weights(engine):
    return np.array(engine.parts_.weights.vector())


def slow(problem, plugins=(), margin=1.0, average=False, **options):
    """The engine of the same options that takes its steps as they are written down."""
    kept = {name: options.pop(name) for name in STORE if name in options}
    return Engine(problem, plugins=[*plugins, AdaGrad(**kept), Hinge(margin)], **options)


def assert_the_same(fast, plain):
    """The same weights and record, bit for bit; means up to rounding."""
    store = plain.parts_.weights
    if fast.average:
        np.testing.assert_allclose(weights(fast), store.total() / store.n_visited, rtol=0, atol=1e-12 * (1 + abs(store.w).max()))
    else:
        assert np.array_equal(weights(fast), store.w) and np.array_equal(fast.parts_.weights.squares, store.G)
    assert fast.mistakes_ == plain.mistakes_ and fast.cumulative_loss_ == plain.cumulative_loss_


OPTIONS = st.fixed_dictionaries({"step_size": st.sampled_from([0.1, 1.0, inverse_sqrt(0.1), inverse_sqrt(1.0)]),
                                 "margin": st.sampled_from([0.5, 1.0, 4.0])})


@settings(max_examples=40)
@given(small_sets(), OPTIONS, st.sampled_from(["cusum", "multiclass"]), st.sampled_from(LAYOUTS), st.booleans(), st.booleans(),
       st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=7, max_size=7))
def test_steps_are_those_written_down(small, options, problem, layout, average, intercept, weight):
    X, y, r = small
    weight = [2.0, *weight]
    options = {**options, "classes": list(range(1, r + 1)), "epochs": 3, "fit_intercept": intercept}
    fast = Engine(problem, update="adagrad", average=average, **options).fit(stored(X, layout), y, sample_weight=weight[:len(y)])
    assert_the_same(fast, slow(problem, average=average, **options).fit(stored(X, layout), y, sample_weight=weight[:len(y)]))


@pytest.mark.parametrize("problem", ["sequence", "parsing", "path", "matching", "segments", "graph", "clusters"])
def test_structures_take_the_steps_written_down(problem):
    data = make_case(problem, (), {}, 0).taught
    arguments = {} if data.offsets is None else {"offsets": data.offsets}
    options = {"step_size": 0.1, "epochs": 2, **({"n_hashed": 512} if problem == "parsing" else {})}
    for average in (False, True):
        fast = Engine(problem, update="adagrad", average=average, **options).fit(data.X, data.y, **arguments)
        plain = slow(problem, average=average, **options).fit(data.X, data.y, **arguments)
        assert any(fast.mistakes_)
        assert_the_same(fast, plain)


RANDOM = np.random.default_rng(0)
TOKENS = [[{"w": f"w{v}", "s": f"s{v % 3}"} for v in RANDOM.integers(0, 30, n)] for n in RANDOM.integers(0, 9, 30)]
TAGS = [["ABCDEF"[(len(s) + int(t["w"][1:])) % 6] for t in s] for s in TOKENS]


@pytest.mark.parametrize("options", [{}, {"n_hashed": 16}], ids=["named", "hashed"])
def test_named_and_hashed_features_get_memory_when_a_step_touches_them(options):
    """Also those that a stream brings later. Two names of one number add up before they are squared."""
    fast = Engine("sequence", update="adagrad", step_size=0.2, classes=list("ABCDEF"), **options)
    plain = slow("sequence", step_size=0.2, classes=list("ABCDEF"), **options)
    for start in (0, 10, 20):
        for engine in (fast, plain):
            engine.partial_fit(TOKENS[start:start + 10], TAGS[start:start + 10])
        if not options:                 # of which the weights written down know only the first ones
            break
    assert_the_same(fast, plain)


class Pairs(VectorFeatures):
    """Classes by vectors that a Python function writes down; sparse or dense."""

    def __init__(self, sparse, **options):
        super().__init__(3 * 4, **options)
        self.sparse = sparse

    def vectors(self, x):
        vectors = np.kron(np.eye(3), x.rows)
        return sp.csr_array(vectors) if self.sparse else vectors


class Map:
    """Replaces the feature map of classes."""

    name, problem = "map", "multiclass"

    def __init__(self, map):
        self.map = map

    @hookimpl
    def structperc_features(self, context):
        return self.map(context.sparse)


MAPS = {
    "blocks within bounds": lambda sparse: BlockFeatures(3, 4, True, sparse, bounds=(-0.3, [0.25, 9, 0, 9, 9])),
    "blocks beside each other": lambda sparse: BlockFeatures(3, 4, False, False),
    "vectors": lambda sparse: Pairs(False), "sparse vectors": lambda sparse: Pairs(True),
    "vectors within bounds": lambda sparse: Pairs(True, bounds=(-0.2, 0.2)),
}


@pytest.mark.parametrize("layout", ["dense64", "csr32-int64"])
@pytest.mark.parametrize("map", MAPS)
def test_maps_of_all_kinds_take_the_steps_written_down(map, layout):
    X, y = real(np.random.default_rng(1), 60, 4, 3)
    X = stored(X, layout)
    options = {"step_size": 0.25, "plugins": [Map(MAPS[map])], "epochs": 2, "classes": [1, 2, 3]}
    for average in (False, True):
        fast = Engine("multiclass", update="adagrad", average=average, **options).fit(X, y)
        assert_the_same(fast, slow("multiclass", average=average, **options).fit(X, y))


class Tags:
    """Replaces the feature map of sequences by rows and a table within bounds."""

    name, problem = "tags", "sequence"

    @hookimpl
    def structperc_features(self, context):
        rows = RowPart(context.n_labels, context.n_features, True, context.sparse)
        return rows + TablePart((context.n_labels, context.n_labels), bounds=(-0.1, 0.1))


@pytest.mark.parametrize("layout", ["dense64", "csr32-int64"])
def test_a_sum_of_rows_and_a_table_takes_the_steps_written_down(layout):
    rows, y = real(np.random.default_rng(1), 60, 4, 3)
    ends = range(3, 61, 3)
    X, tags = [stored(rows[end - 3:end], layout) for end in ends], [[str(label) for label in y[end - 3:end]] for end in ends]
    options = {"step_size": 0.25, "plugins": [Tags()], "epochs": 2}
    for average in (False, True):
        fast = Engine("sequence", update="adagrad", average=average, **options).fit(X, tags)
        assert abs(fast.parts_.weights.vector()[-9:]).max() == 0.1 or average
        assert_the_same(fast, slow("sequence", average=average, **options).fit(X, tags))


@pytest.mark.parametrize("average", [False, True])
def test_decay_multiplies_before_the_step(average):
    X, y = real(np.random.default_rng(2), 200, 4, 4, noise=1.0)
    options = {"step_size": 0.1, "decay": inverse_sqrt(0.3), "epochs": 2}
    fast = Engine("cusum", update="adagrad", average=average, **options).fit(X, y)
    plain = slow("cusum", **options).fit(X, y)
    store = plain.parts_.weights
    expected = store.total() / store.n_visited if average else store.w
    np.testing.assert_allclose(weights(fast), expected, rtol=0, atol=1e-11)


def test_mistakes_are_those_of_the_predictions_also_where_these_are_not_searched_for():
    for problem, (X, y) in {"cusum": real(np.random.default_rng(9), 80, 4, 4, noise=1.0), "sequence": (TOKENS, TAGS)}.items():
        engine = Engine(problem, update="adagrad", epochs=2)
        mistakes = engine.fit(X, y).mistakes_
        said = engine.fit(X, y, record_predictions=True).online_predictions_
        wrong = [list(np.atleast_1d(a)) != list(np.atleast_1d(b)) for a, b in zip(said, [*y, *y], strict=True)]
        assert mistakes == engine.mistakes_ == [sum(wrong[:len(y)]), sum(wrong[len(y):])]


def test_dense_and_sparse_rows_give_the_same_bits():
    X, y = real(np.random.default_rng(3), 80, 7, 4)
    for update in ("adagrad", "adagrad-log-loss"):
        found = [Engine("multiclass", update=update, step_size=0.1, epochs=2).fit(stored(X, layout), y) for layout in LAYOUTS[:4:2]]
        np.testing.assert_allclose(found[0].coef_, found[1].coef_, rtol=0, atol=1e-12)


@settings(max_examples=25)
@given(small_sets(), st.sampled_from([0.1, 1.0]), st.sampled_from([1.0, 3.0]), st.integers(0, 2**32 - 1))
def test_the_bound_holds_for_every_comparison(small, eta, margin, seed):
    """sum hinge(w_t) <= sum hinge(u) + (D^2 / (2 eta) + eta) sum_i sqrt(G_i), D = max_t |w_t - u|_inf."""
    X, y, r = small
    Z = np.column_stack([X, np.ones(len(y))])

    def hinge(w, z, gold):
        s = w @ z
        return max(0.0, (s + margin * (np.arange(r) != gold)).max() - s[gold])

    engine, w, seen, suffered = Engine("multiclass", update="adagrad", step_size=eta, margin=margin, classes=range(1, r + 1)), 0, [], 0.0
    w = np.zeros((r, Z.shape[1]))
    for i in [*range(len(y))] * 3:
        seen.append(w)
        suffered += hinge(w, Z[i], y[i] - 1)
        engine.partial_fit(X[i:i + 1], y[i:i + 1])
        w = np.column_stack([engine.coef_, engine.intercept_])
    for u in (np.zeros_like(w), w, np.random.default_rng(seed).normal(size=w.shape)):
        far = max(abs(each - u).max() for each in [*seen, w])
        compared = 3 * sum(hinge(u, z, label - 1) for z, label in zip(Z, y, strict=True))
        assert suffered <= compared + (far**2 / (2 * eta) + eta) * np.sqrt(engine.parts_.weights.squares).sum() + 1e-9


# ---- log loss ----


class Gradient(Hinge):
    """The gradient of log loss, in Python."""

    when, needs = "always", frozenset({"marginals"})

    def __init__(self):
        pass

    def searches(self, loss_weight):
        return "plain", loss_weight

    def step(self, trial):
        log_z, expected = trial.marginals()
        gold = (np.arange(trial.x.n_atoms) < trial.gold - 1) * 1.0
        trial.loss = log_z - gold @ trial.scores
        return trial.weight * (gold - expected)


def test_log_loss_hands_its_gradient_to_the_same_weights():
    X, y = real(np.random.default_rng(4), 60, 5, 4)
    fast = Engine("cusum", update="adagrad-log-loss", step_size=0.2, epochs=2).fit(X, y, sample_weight=np.linspace(0, 2, 60))
    plain = Engine("cusum", plugins=[AdaGrad(0.2), Gradient()], epochs=2).fit(X, y, sample_weight=np.linspace(0, 2, 60))
    assert np.array_equal(weights(fast), plain.parts_.weights.w)
    assert fast.cumulative_loss_ == pytest.approx(plain.cumulative_loss_)


# ---- state ----


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("data", ["dense", "sparse", "named"])
def test_models_come_back_and_go_on_with_the_same_bits(data, average):
    X, y = real(np.random.default_rng(5), 60, 5, 4)
    problem, X, y = {"dense": ("cusum", X, y), "sparse": ("multiclass", sp.csr_array(X), y), "named": ("sequence", TOKENS, TAGS)}[data]
    half = (len(y)) // 2
    classes = sorted(set(np.concatenate([*map(np.atleast_1d, y)])))
    engine = Engine(problem, update="adagrad", step_size=0.1, average=average, classes=classes)
    engine.partial_fit(X[:half], y[:half])
    buffer = io.BytesIO()
    engine.save(buffer)
    again = Engine.load(io.BytesIO(buffer.getvalue()))
    for each in (engine, again):
        each.partial_fit(X[half:], y[half:])
    assert np.array_equal(weights(engine), weights(again))
    assert np.array_equal(engine.parts_.weights.squares, again.parts_.weights.squares)


def test_a_stream_is_one_pass_and_a_failed_chunk_leaves_no_trace():
    X, y = real(np.random.default_rng(6), 60, 9, 4)
    damaged = X.copy()
    damaged[45, 3] = np.nan
    for layout in ("dense64", "csr64-int32"):
        options = {"update": "adagrad", "step_size": 0.1, "average": True, "classes": [1, 2, 3, 4]}
        once, stream = Engine("cusum", **options).fit(stored(X, layout), y), Engine("cusum", **options)
        for part in (slice(0, 20), slice(20, 60)):
            if part.start == 20:
                with pytest.raises(DataError, match=r"X\[25, 3\] is nan"):
                    stream.partial_fit(stored(damaged[part], layout), y[part])
            stream.partial_fit(stored(X[part], layout), y[part])
        assert np.array_equal(weights(stream), weights(once))
        assert np.array_equal(stream.parts_.weights.squares, once.parts_.weights.squares)


def test_squares_keep_the_units_of_training():
    """Columns that are scaled while training: the weights are mapped back, the squares of gradients stay."""
    X, y = real(np.random.default_rng(7), 80, 4, 3)
    X = X * [1, 100, 0.1, 7] + [0, 3, 1, -5]
    scaled = Engine("multiclass", update="adagrad", step_size=0.1, scale=True, epochs=2).fit(X, y)
    plain = Engine("multiclass", update="adagrad", step_size=0.1, epochs=2).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    np.testing.assert_allclose(scaled.parts_.weights.squares, plain.parts_.weights.squares, rtol=1e-9)
    np.testing.assert_allclose(scaled.coef_, plain.coef_ / X.std(axis=0), rtol=1e-9)
    scaled.partial_fit(X, y)
    assert (scaled.parts_.weights.squares >= plain.parts_.weights.squares * (1 - 1e-9)).all()


# ---- what fits and what does not ----


@pytest.mark.parametrize("problem", ["cusum", "sequence"])
def test_the_battery_is_green(problem):
    report = dict(check_problem(problem, update="adagrad", step_size=0.1))
    assert report["compiled_equals_python"] == report["average_is_the_mean"] == report["saving_keeps_everything"] == "passed"


def test_what_has_no_step_size_for_each_weight_is_refused_in_a_sentence(tmp_path):
    X, y = [[0.0], [1.0], [2.0]], [1, 2, 2]
    for update in ("adagrad", "adagrad-log-loss"):
        with pytest.raises(PluginError, match="gives each weight a step size of its own, but DualWeights has no such weights. Leave out"):
            Engine("cusum", update=update, plugins=["dual-kernel"], kernel="rbf").fit(X, y)
        with pytest.raises(PluginError, match="thresholds"):
            Engine("prank", update=update).fit(X, y)
        with pytest.raises(UnusedOption, match="loss_weight=1.0 has no effect with update='adagrad"):
            Engine("cusum", update=update, loss_weight=1.0).fit(X, y)
        with pytest.raises(OptionError, match="step_size=0"):
            Engine("cusum", update=update, step_size=0.0)
    with pytest.raises(UnusedOption, match="margin"):
        Engine("cusum", update="adagrad-log-loss", margin=2.0).fit(X, y)
    with pytest.raises(DataError, match="returned -1"):
        Engine("cusum", update="adagrad", step_size=lambda t: -1.0).fit(X, y)
    engine = Engine("cusum", update="adagrad").fit(X, y)
    with pytest.raises(DataError, match="overflow|too large"):
        Engine("cusum", update="adagrad", fit_intercept=False).fit([[1e200], [-1e200]], [2, 1])
    engine.parts_.weights.restore(engine.parts_.weights.state())
    state = engine.parts_.weights.state()
    state["weights"][-1] = -1.0
    with pytest.raises(DataError, match="a saved sum of squares is below 0"):
        engine.parts_.weights.restore(state)


def test_a_loss_that_no_search_knows_is_refused():
    class Blind(PrefixArgmax):
        def searches_with(self, loss):
            return False

    with pytest.raises(PluginError, match="update='adagrad'"):
        Engine("cusum", update="adagrad", plugins=[Blind(3)], classes=[1, 2, 3]).fit([[0.0], [1.0]], [1, 2])
