"""Chains equal a structured learner that enumerates Y(x) and writes Phi(x, y) down.

On whole numbers the perceptron's arithmetic is exact, ties included, so everything is equal. On real numbers the order of
summation differs and weights agree to 1e-10.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from plain import Engine
from reference import chains, costs, enumerated, projection
from reference.layouts import LAYOUTS, stored, widened
from scipy.sparse import csr_array

from structperc.errors import DataError

MAPS = [(True, False, False), (True, True, True), (False, False, False), (False, True, False), (True, False, True)]
UPDATES = ["perceptron", "pa", "pa1", "pa2"]


def sentences(rng, n, d, L, real):
    """Blocks of 1..4 tokens, an empty one among them, repetitions and zero rows, and random labellings."""
    X = []
    for size in rng.integers(1, 5, n):
        x = rng.normal(size=(size, d)) if real else rng.integers(-2, 3, (size, d)).astype(float)
        x[rng.random((size, d)) < 0.3] = 0
        X.append(x)
    X[n // 2] = np.zeros((0, d))
    if not real:
        X[1] = X[0]
    return X, [tuple(int(label) for label in rng.integers(1, L + 1, len(x))) for x in X]


def engine_for(problem, **options):
    return Engine("sequence", classes=list(problem.labels), fit_intercept=problem.intercept, start=problem.start, end=problem.end,
                  **options)


def read_as(X, layout):
    """(the matrix of all rows in this layout, the lengths, the sentences as it stores them)"""
    lengths = [len(x) for x in X]
    matrix = stored(np.concatenate(X), layout)
    return matrix, lengths, np.split(widened(matrix), np.cumsum(lengths)[:-1])


def assert_weights(engine, problem, w, tolerance):
    for name, value in problem.shown(w).items():
        np.testing.assert_allclose(getattr(engine, name), value, rtol=tolerance, atol=tolerance * max(1, abs(value).max()), err_msg=name)


def assert_trace(engine, trace):
    assert engine.mistakes_ == trace.mistakes
    assert [tuple(y) for y in engine.online_predictions_] == trace.online
    assert engine.cumulative_loss_ == pytest.approx(trace.loss, rel=1e-12)
    assert engine.status_ == ("max_epochs" if not trace.converged else "stalled" if trace.mistakes[-1] else "converged")


def assert_predicts(engine, problem, w, X, matrix, lengths, exact):
    """Each prediction is the labelling of largest enumerated score; where others come near it, one of them."""
    for x, found in zip(problem.extended(X), engine.predict(matrix, lengths=lengths), strict=True):
        Y = problem.structures(len(x))
        s = np.array([enumerated.dot(w, problem.phi(x, y)) for y in Y])
        assert s[Y.index(tuple(found))] >= s.max() - (0 if exact else 1e-9)
        assert not exact or tuple(found) == Y[np.argmax(s)]


@pytest.mark.parametrize("augment", [0.0, 1.0])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_perceptron_on_whole_numbers_is_exact(layout, augment):
    rng = np.random.default_rng([LAYOUTS.index(layout), augment > 0])
    for given, (L, d) in zip(MAPS, [(3, 3), (2, 5), (3, 2), (4, 9), (2, 1)], strict=True):
        problem = chains.Sentences(L, d, *given)
        X, y = sentences(rng, 20, d, L, real=False)
        matrix, lengths, _ = read_as(X, layout)
        trace = chains.learn(problem, X, y, 1 - np.eye(L), loss_weight=augment, epochs=3)
        assert len(trace.steps) > 10
        for average in (False, True):
            engine = engine_for(problem, loss_weight=augment, epochs=3, average=average)
            engine.fit(matrix, y, lengths=lengths, record_predictions=True)
            assert_trace(engine, trace)
            w = trace.mean if average else trace.w
            assert_weights(engine, problem, w, tolerance=1e-12 if average else 0)
            assert_predicts(engine, problem, w, X, matrix, lengths, exact=not average)


@pytest.mark.parametrize("augment", [0.0, 0.6])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("update", UPDATES)
def test_real_numbers(update, layout, augment):
    rng = np.random.default_rng([UPDATES.index(update), LAYOUTS.index(layout), augment > 0])
    one = MAPS[(LAYOUTS.index(layout) + UPDATES.index(update)) % len(MAPS)]
    for given, (L, d) in [(one, (3, 4)), (MAPS[1], (2, 9))]:
        problem = chains.Sentences(L, d, *given)
        X, y = sentences(rng, 15, d, L, real=True)
        matrix, lengths, X = read_as(X, layout)
        options = dict(update=update, loss_weight=augment, epochs=2) | ({} if update == "perceptron" else {"margin": 0.8})
        options |= {"C": 0.3} if update in ("pa1", "pa2") else {}
        trace = chains.learn(problem, X, y, 1 - np.eye(L), **options)
        assert trace.gap > 1e-9 and len(trace.steps) > 10
        for average in (False, True):
            engine = engine_for(problem, average=average, **options).fit(matrix, y, lengths=lengths, record_predictions=True)
            assert_trace(engine, trace)
            w = trace.mean if average else trace.w
            assert_weights(engine, problem, w, tolerance=1e-10)
            assert_predicts(engine, problem, w, X, matrix, lengths, exact=False)


@pytest.mark.parametrize("layout", ["dense64", "csr64-int32"])
@pytest.mark.parametrize("update", UPDATES)
def test_sample_weights_and_cost_matrices(update, layout):
    rng = np.random.default_rng(UPDATES.index(update))
    problem = chains.Sentences(3, 4, True, True, True)
    X, y = sentences(rng, 25, 4, 3, real=True)
    matrix, lengths, _ = read_as(X, layout)
    table = costs.random_table(rng, 3)
    weight = rng.choice([0.0, 1.0] if update == "pa" else [0.0, 0.25, 1.0, 3.0], 25)
    options = dict(update=update, loss_weight=0.5, epochs=3) | ({"C": 0.7} if update in ("pa1", "pa2") else {})
    trace = chains.learn(problem, X, y, table, sample_weight=weight, **options)
    assert trace.gap > 1e-9
    for average in (False, True):
        engine = engine_for(problem, loss=table, average=average, **options)
        engine.fit(matrix, y, lengths=lengths, sample_weight=weight, record_predictions=True)
        assert_trace(engine, trace)
        assert_weights(engine, problem, trace.mean if average else trace.w, tolerance=1e-10)


@pytest.mark.parametrize("average", [False, True])
def test_under_constraints(average):
    """Y(x) as transitions and allowed labels leave it, in training and prediction."""
    rng = np.random.default_rng(4)
    rules = chains.Rules(~np.eye(3, dtype=bool), np.array([True, True, False]), np.ones(3, dtype=bool))
    problem = chains.Sentences(3, 3, True, False, True, rules)
    X, _ = sentences(rng, 30, 3, 3, real=False)
    y, allowed = [], []
    for x in X:
        kept = problem.structures(len(x))
        y.append(kept[rng.integers(len(kept))])
        mask = rng.random((len(x), 3)) < 0.7
        mask[np.arange(len(x)), np.array(y[-1], dtype=int) - 1] = True
        allowed.append(mask)
    trace = chains.learn(problem, X, y, 1 - np.eye(3), loss_weight=1.0, epochs=4, allowed=allowed)
    assert len(trace.steps) > 20
    engine = engine_for(problem, loss_weight=1.0, epochs=4, average=average, forbidden_transitions=[(1, 1), (2, 2), (3, 3), (None, 3)])
    named = [[(np.flatnonzero(row) + 1).tolist() for row in mask] for mask in allowed]
    engine.fit(X, y, allowed=named, record_predictions=True)
    assert_trace(engine, trace)
    assert_weights(engine, problem, trace.mean if average else trace.w, tolerance=1e-12 if average else 0)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("update", ["perceptron", "pa2"])
def test_streams_in_mixed_layouts(update, average):
    """Sentence by sentence, each in another layout than the first."""
    rng = np.random.default_rng(5)
    problem = chains.Sentences(3, 5, True, True, False)
    X, y = sentences(rng, 24, 5, 3, real=False)
    X, y = [x for x in X if len(x)], [labels for labels in y if labels]
    trace = chains.learn(problem, X, y, 1 - np.eye(3), update=update)
    w = trace.mean if average else trace.w
    for first in LAYOUTS:
        engine = engine_for(problem, update=update, average=average).partial_fit([stored(X[0], first)], y[:1])
        for x, labels, layout in zip(X[1:], y[1:], itertools.cycle(LAYOUTS), strict=False):
            engine.partial_fit([stored(x, layout)], [labels])
        assert engine.mistakes_ == trace.mistakes
        assert_weights(engine, problem, w, tolerance=1e-10)


@pytest.mark.parametrize("layout", ["dense64", "csr64-int32"])
def test_a_chunk_that_fails_leaves_nothing_behind(layout):
    """Steps on tokens, transitions, starts and ends are undone when a later sentence turns out to be unusable."""
    rng = np.random.default_rng(8)
    problem = chains.Sentences(3, 50, True, True, True)
    X, y = sentences(rng, 9, 50, 3, real=True)
    for average in (False, True):
        engine = engine_for(problem, average=average).partial_fit([stored(x, layout) for x in X], y)
        untouched = engine_for(problem, average=average).partial_fit([stored(x, layout) for x in X], y)
        chunk, right = [-3 * X[0], np.full((1, 50), np.nan)], [tuple(4 - k for k in y[0]), (1,)]
        with pytest.raises(DataError, match=r"is nan"):
            engine.partial_fit([stored(x, layout) for x in chunk], right)
        np.testing.assert_array_equal(problem.flat(engine), problem.flat(untouched))
        for each in (engine, untouched):
            each.partial_fit([stored(x, layout) for x in chunk[:1]], right[:1])
        np.testing.assert_array_equal(problem.flat(engine), problem.flat(untouched))
        assert engine.mistakes_ == untouched.mistakes_


def test_a_weighted_chunk_that_fails_leaves_the_same_file(tmp_path):
    X = [np.eye(3), np.ones((2, 3))]
    engine = Engine("sequence", update="pa1").partial_fit(X, [list("aba"), list("bb")])
    engine.save(tmp_path / "before")
    with pytest.raises(DataError, match="is nan"):
        engine.partial_fit([X[0], np.full((1, 3), np.nan)], [list("bab"), ["a"]], sample_weight=[0.5, 1])
    engine.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


@pytest.mark.parametrize("layout", ["dense64", "csr32-int64"])
def test_many_sentences_are_learned_and_answered_as_few(layout):
    """Ten thousand sentences in one go, and in two."""
    rng = np.random.default_rng(9)
    lengths = rng.integers(0, 4, 10_000)
    X, y = rng.integers(-2, 3, (lengths.sum(), 3)).astype(float), rng.integers(1, 4, lengths.sum())
    half, middle = 6_000, int(lengths[:6_000].sum())
    engine, parts = (Engine("sequence", classes=[1, 2, 3], start=True) for _ in range(2))
    engine.partial_fit(stored(X, layout), y, lengths=lengths)
    parts.partial_fit(stored(X[:middle], layout), y[:middle], lengths=lengths[:half])
    parts.partial_fit(stored(X[middle:], layout), y[middle:], lengths=lengths[half:])
    np.testing.assert_array_equal(engine.coef_, parts.coef_)
    assert engine.mistakes_ == parts.mistakes_
    whole = engine.predict(stored(X, layout), lengths=lengths).tolist()
    first = engine.predict(stored(X[:middle], layout), lengths=lengths[:half]).tolist()
    assert whole == first + engine.predict(stored(X[middle:], layout), lengths=lengths[half:]).tolist()
    assert [len(labels) for labels in whole] == lengths.tolist()


# ---- labels as they come ----


def test_labels_may_come_in_any_form():
    """Nested or flat, lists, tuples, arrays, series of any index, numbers or text: the same model, and lists of plain labels back."""
    rng = np.random.default_rng(10)
    X, y = sentences(rng, 12, 3, 3, real=False)
    X[0], y[0] = X[0][:1], y[0][:1]
    flat, lengths = list(itertools.chain.from_iterable(y)), [len(x) for x in X]
    index = range(5, 5 + len(flat))
    expected = Engine("sequence", epochs=3).fit(X, y)
    nested = [list(map(list, y)), tuple(y), [np.array(labels, dtype=np.int8) for labels in y], pd.Series(y, index=index[:len(y)]),
              np.array([*y, None], dtype=object)[:-1]]
    for form in [*nested, flat, tuple(flat), np.array(flat), pd.Series(flat, index=index), np.array(flat, dtype=np.uint8)]:
        engine = Engine("sequence", epochs=3).fit(np.concatenate(X), form, lengths=lengths)
        np.testing.assert_array_equal(engine.coef_, expected.coef_)
        found = engine.predict(X)
        assert found.tolist() == expected.predict(X).tolist() and {type(k) for labels in found for k in labels} == {int}
    for named in ([["one", "two", "three"][k - 1] for k in flat], np.array(["one", "two", "three"])[np.array(flat) - 1]):
        engine = Engine("sequence", epochs=3, classes=["one", "two", "three"]).fit(np.concatenate(X), named, lengths=lengths)
        np.testing.assert_array_equal(engine.coef_, expected.coef_)
        assert {type(k) for labels in engine.predict(X) for k in labels} == {str}


def test_equally_long_sentences_may_have_a_table_of_labels():
    X, y = [np.eye(2), np.eye(2)[::-1]], [[1, 2], [2, 1]]
    expected = Engine("sequence").fit(X, y)
    np.testing.assert_array_equal(Engine("sequence").fit(X, np.array(y)).coef_, expected.coef_)


def test_the_order_of_a_categorical_is_kept():
    X, y = np.eye(3), pd.Categorical(["b", "a", "b"], categories=["c", "b", "a"], ordered=True)
    assert Engine("sequence").fit(X, y, lengths=[1, 2]).classes_.tolist() == ["c", "b", "a"]


@pytest.mark.parametrize(("y", "sentence"), [
    (None, "y is None; expected a list of labels for each sentence, or one label for each row of X"),
    ("aba", "y is 'aba'; expected a list of labels"),
    ({0: ["a"], 1: ["b", "a"]}, "y is {0: .*; expected a list of labels"),
    (np.array(3), r"y is array\(3\); expected a list of labels"),
    (iter([["a"], ["b", "a"]]), "y is list_iterator; expected a list of labels"),
    ([None, ["b", "a"]], r"y\[0\] is None; expected a list of labels"),
    ([["a"], None], r"y\[1\] is None; expected a list of labels"),
    ([["a"], 3], r"y\[1\] is 3; expected a list of labels"),
    ([["a"], ["b", ["a"]]], r"y\[1\] is \['b', \['a'\]\]; expected a list of labels, one for each token"),
    ([["a"], [float("nan"), "b"]], r"y\[1\]\[0\] is nan, which is no label"),
    ([["a"], [np.datetime64("NaT", "s"), "b"]], r"y\[1\]\[0\] is .*NaT.*, which is no label"),
    ([["a"], ["b"]], r"y\[1\] has 1 label but sentence 1 of X has 2 tokens"),
    ([["a"], ["b", "a"], []], "y has the labels of 3 sentences but X has 2; give one list per sentence"),
    (["a", "b"], "y has 2 labels but X has 3 tokens. Pass a label per token"),
    ([["a"], [1, "b"]], "y mixes labels of the types int, str"),
    ([["a"], ["a", "a"]], "y holds only 'a'"),
    ([], "y is empty"),
])
def test_what_are_no_labels_is_refused(y, sentence):
    X = [np.ones((1, 2)), np.ones((2, 2))]
    with pytest.raises(DataError, match=sentence):
        Engine("sequence").fit(X, y)


def test_labels_that_are_more_or_fewer_than_their_length_says():
    """They would be written beyond the others, or leave some unset."""

    class Long(list):
        def __len__(self):
            return 2

    class Emptying(str):
        __slots__ = ()

        def __hash__(self):
            labels[:] = []
            return hash("a")

        def __eq__(self, other):
            return str.__eq__(self, other)

    X = [np.ones((1, 2)), np.ones((2, 2))]
    for y in (["a"] * 100_000, ["a"]):
        with pytest.raises(DataError, match=r"y\[1\] does not give as many labels as its length, 2"):
            Engine("sequence", classes=["a", "b"]).fit(X, [["a"], Long(y)])
    labels = [Emptying("a"), "b"]
    with pytest.raises(DataError, match=r"y\[1\] does not give as many labels as its length, 2"):
        Engine("sequence", classes=["a", "b"]).fit(X, [["a"], labels])


def test_unknown_labels_are_named_wherever_they_stand():
    """In a series with an index of its own too."""
    X = [np.ones((1, 2)), np.ones((2, 2))]
    with pytest.raises(DataError, match=r"y\[1\]\[1\] is 'z'"):
        Engine("sequence", classes=["a", "b"]).fit(X, [["a"], pd.Series(["b", "z"], index=[7, 8])])


def test_sentences_may_be_empty():
    """One, several and all of them."""
    X, empty = [np.eye(2), np.zeros((0, 2))], np.zeros((0, 2))
    engine = Engine("sequence", start=True).fit(X, [["a", "b"], []])
    assert engine.predict([empty]).tolist() == [[]] and engine.predict([empty, X[0], empty]).tolist()[::2] == [[], []]
    assert engine.predict([empty], k=3).tolist() == [[[]]] and np.isinf(engine.margins([empty])).all()
    before = engine.coef_
    engine.partial_fit([empty], [[]])
    np.testing.assert_array_equal(engine.coef_, before)
    with pytest.raises(DataError, match="y is empty or has no label, so its labels are unknown"):
        Engine("sequence").fit([empty], [[]])


# ---- sparse rows as they come ----


def scrambled(rng, n_rows, d, index):
    """A CSR matrix of whole numbers with empty rows, and columns unsorted and repeated."""
    indptr = np.cumsum(np.append(0, rng.integers(0, 7, n_rows)))
    X = csr_array((rng.integers(-2, 3, indptr[-1]).astype(float), rng.integers(0, d, indptr[-1]), indptr), shape=(n_rows, d))
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    return X


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("update", UPDATES)
def test_repeated_and_unsorted_columns(update, index):
    """Repeated entries of a row mean their sum; the user's matrix stays as it is."""
    rng = np.random.default_rng(6)
    problem = chains.Sentences(3, 5, True, True, True)
    lengths = rng.integers(1, 5, 20)
    X = scrambled(rng, lengths.sum(), 5, index)
    y = [tuple(rng.integers(1, 4, size).tolist()) for size in lengths]
    trace = chains.learn(problem, np.split(X.toarray(), np.cumsum(lengths)[:-1]), y, 1 - np.eye(3), update=update, epochs=2)
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    engine = engine_for(problem, update=update, epochs=2).fit(X, y, lengths=lengths, record_predictions=True)
    assert all(map(np.array_equal, before, (X.data, X.indices, X.indptr)))
    assert_trace(engine, trace)
    assert_weights(engine, problem, trace.w, tolerance=0 if update == "perceptron" else 1e-10)


@pytest.mark.filterwarnings("ignore:each row of X is a sentence")
@pytest.mark.parametrize("fitted_on", ["dense64", "csr64-int32"])
def test_norms_of_rows_with_repeated_columns(fitted_on):
    """The feature map itself: the squared norm is that of the vector written down, however the row is stored."""
    rng = np.random.default_rng(7)
    problem = chains.Sentences(4, 6, True, True, True)
    engine = engine_for(problem).fit(stored(np.zeros((2, 6)), fitted_on), [1, 2])
    features, reader = engine.parts_.features, engine.parts_.reader
    lengths = rng.integers(0, 5, 30)
    csr = scrambled(rng, lengths.sum(), 6, np.int32)
    offsets = np.append(0, np.cumsum(lengths))
    for X in (csr, csr.toarray()):
        rows = reader.read(X, offsets)
        for i in range(rows.n_examples):
            x = rows.example(i)
            for coefficients in (rng.normal(size=features.n_atoms(x)), rng.integers(-1, 2, features.n_atoms(x)).astype(float)):
                vector = features.vector(x, coefficients)
                assert features.norm(x, coefficients) == pytest.approx(vector @ vector, rel=1e-12, abs=1e-12)
                assert features.norm(x, coefficients) == features.norm(x, coefficients)


@pytest.mark.parametrize("L", [2, 3, 4, 5, 9, 13, 24, 25, 49, 63, 65, 130])
def test_every_number_of_labels(L):
    """Dense and sparse weights are laid out differently, and many labels are read several registers at a time: the same model.

    The first step is known: without weights every token is given the first label.
    """
    rng = np.random.default_rng(L)
    problem = chains.Sentences(L, 7, True, True, True)
    X, y = sentences(rng, 12, 7, L, real=False)
    phi = problem.phi(problem.extended(X)[0], y[0]) - problem.phi(problem.extended(X)[0], (1,) * len(y[0]))
    for average in (False, True):
        engines = []
        for layout in LAYOUTS:
            matrix, lengths, _ = read_as(X, layout)
            start = engine_for(problem, average=average).partial_fit([stored(X[0], layout)], y[:1])
            assert_weights(start, problem, phi, tolerance=0)
            engines.append(engine_for(problem, average=average, epochs=3).fit(matrix, y, lengths=lengths, record_predictions=True))
        w = problem.flat(engines[0])
        assert np.count_nonzero(w) > 7
        for engine in engines[1:]:
            assert engine.mistakes_ == engines[0].mistakes_
            assert engine.online_predictions_.tolist() == engines[0].online_predictions_.tolist()
            np.testing.assert_array_equal(problem.flat(engine), w)


# ---- steps ----


@pytest.mark.parametrize("layout", ["dense64", "csr32-int64"])
@pytest.mark.parametrize("augment", [0.0, 0.8])
@pytest.mark.parametrize("update", ["pa", "pa1", "pa2"])
def test_step_is_the_optimum_of_its_quadratic_program(update, augment, layout):
    """Each step of short streams, against a conic solver that starts from the weights before it."""
    rng = np.random.default_rng([len(update), augment > 0])
    checked = capped = 0
    while checked < 60:
        L, d = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        problem = chains.Sentences(L, d, *MAPS[rng.integers(len(MAPS))])
        table = costs.random_table(rng, L)
        margin, C = float(rng.uniform(0.3, 2)), float(10.0 ** rng.uniform(-2, 1))
        engine = engine_for(problem, update=update, loss=table, margin=margin, loss_weight=augment, **({} if update == "pa" else {"C": C}))
        w = None
        for _ in range(10):
            z = rng.normal(size=(rng.integers(1, 5), d)).astype(np.float32)
            gold = tuple(rng.integers(1, L + 1, len(z)).tolist())
            weight = 1.0 if update == "pa" else float(rng.uniform(0.2, 3))
            x = problem.extended([z])[0]
            Y = problem.structures(len(z))
            w = np.zeros(len(problem.phi(x, gold))) if w is None else w
            s = np.array([enumerated.dot(w, problem.phi(x, y)) + augment * chains.cost(table, gold, y) for y in Y])
            found, gap = enumerated.best(s, "lowest")
            engine.partial_fit([stored(z, layout)], [gold], sample_weight=[weight])
            after, y = problem.flat(engine), Y[found - 1]
            if gap > 1e-9 and y != gold:
                delta, need = problem.phi(x, gold) - problem.phi(x, y), margin * chains.cost(table, gold, y)
                best = projection.passive_aggressive(update, w, delta, need, C * weight)
                np.testing.assert_allclose(after, best, rtol=0, atol=1e-7)
                checked += 1
                capped += after @ delta < need - 1e-9
            w = after
    assert (capped > 0) == (update != "pa")


@pytest.mark.parametrize("update", ["pa", "pa1", "pa2"])
def test_where_nothing_can_be_gained_there_is_no_step(update):
    """A zero row without a constant or boundaries: N = 0, but the mistake counts."""
    problem = chains.Sentences(3, 2, intercept=False)
    X, y = [np.zeros((1, 2)), np.array([[1.0, -1.0]]), np.zeros((1, 2))], [(3,), (2,), (1,)]
    trace = chains.learn(problem, X, y, 1 - np.eye(3), update=update, epochs=5)
    engine = engine_for(problem, update=update, epochs=5).fit(X, y, record_predictions=True)
    assert_trace(engine, trace)
    assert all(count >= 1 for count in engine.mistakes_)
    assert_weights(engine, problem, trace.w, tolerance=1e-15)
