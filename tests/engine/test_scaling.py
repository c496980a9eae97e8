"""Training on scaled columns: what standardising by hand gives, in the users' own units."""

import io
import warnings

import numpy as np
import pytest
from plain import Engine
from reference.exact_moments import exact_moments
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from structperc import callbacks, hookimpl
from structperc.cli import main
from structperc.components import BlockFeatures
from structperc.core.rows import Rows
from structperc.errors import DataError, PluginError, ScaleWarning
from structperc.estimators import CuSumRank, PRank
from structperc.fitting import scaling
from structperc.streams import Slices, fit_stream

RANDOM = np.random.default_rng(0)
UNITS, ORIGIN = np.array([1, 10, 1000, 0.01, 0]), np.array([0, 50, -3000, 1, 7.0])
X = RANDOM.normal(size=(200, 5)) * UNITS + ORIGIN               # the last column is constant
MEAN, SQUARES = exact_moments(X)
Z = (X - MEAN) / np.where(UNITS > 0, np.sqrt(SQUARES / len(X)), 1)
Y = np.digitize(Z.sum(axis=1) + 0.5 * RANDOM.normal(size=200), [-2, 0, 2]) + 1
PROBLEMS = [("cusum", {}), ("prank", {}), ("multiclass", {"update": "pa1", "C": 0.1}), ("interval-pa", {"update": "exact-pa1"}),
            ("multiclass", {"trainer": "bcfw", "plugins": ["batch"], "C": 0.1, "epochs": 10}),
            ("multiclass", {"plugins": ["dual-kernel"], "kernel": "rbf"})]


@pytest.mark.parametrize(("problem", "options"), PROBLEMS)
@pytest.mark.parametrize("average", [False, True])
def test_a_fit_is_that_on_standardised_columns(problem, options, average):
    options = {"epochs": 4} | options | ({} if "trainer" in options else {"average": average, "shuffle": True, "random_state": 1})
    scaled, by_hand = Engine(problem, scale=True, **options).fit(X, Y), Engine(problem, **options).fit(Z, Y)

    assert scaled.mistakes_ == by_hand.mistakes_
    expected = by_hand.label_scores(Z)
    np.testing.assert_allclose(scaled.label_scores(X), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    buffer = io.BytesIO()
    scaled.save(buffer)
    assert np.array_equal(Engine.load(io.BytesIO(buffer.getvalue())).label_scores(X), scaled.label_scores(X))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_rows_of_any_order_and_type_are_standardised_as_at_once(order, dtype):
    """More rows than are brought to scale together."""
    random = np.random.default_rng(1)
    many = (random.normal(size=(20_000, 5)) * UNITS + ORIGIN).astype(dtype)
    y = np.digitize(many[:, 0] + random.normal(size=len(many)), [-1, 1]) + 1
    exact = many.astype(float)
    spread = np.where(UNITS > 0, exact.std(axis=0), 1)
    scaled = Engine("cusum", epochs=1, scale=True).fit(np.asarray(many, order=order), y)
    by_hand = Engine("cusum", epochs=1).fit(((exact - exact.mean(axis=0)) / spread).astype(dtype), y)

    assert scaled.mistakes_ == by_hand.mistakes_
    assert scaled.coef_[1:] * spread == pytest.approx(by_hand.coef_[1:], rel=1e-5, abs=1e-3)
    assert np.array_equal(scaled.coef_, Engine("cusum", epochs=1, scale=True).fit(many, y).coef_)


def test_coefficients_and_explanations_have_the_users_units():
    engine = Engine("cusum", epochs=3, average=True, scale=True).fit(X, Y)
    scores = X @ engine.coef_.T + engine.intercept_
    np.testing.assert_allclose(scores[:, 1:], engine.atom_scores(X), rtol=1e-9)

    explanation = engine.explain(X[0])
    assert sum(c.value for c in explanation.contributions) == pytest.approx(explanation.margin, rel=1e-9)
    rank = PRank(random_state=0).fit(X, Y)
    cut = np.searchsorted(rank.thresholds_, X @ rank.coef_, side="right")
    assert np.array_equal(rank.classes_[cut], rank.predict(X))


def test_sparse_rows_keep_their_zeros():
    S = sparse.random_array((200, 30), density=0.2, random_state=0, format="csr") * np.geomspace(0.01, 1000, 30)
    y = np.digitize(S @ np.geomspace(100, 0.001, 30), [2, 4]) + 1
    D = S.toarray()
    spread = np.maximum(D.std(axis=0), D.var(axis=0) / 2 * (1 / D.mean(axis=0) + 1 / (D.max(axis=0) - D.mean(axis=0))))
    for problem in ("cusum", "prank", "multiclass"):
        scaled = Engine(problem, epochs=3, scale=True).fit(S, y)
        by_hand = Engine(problem, epochs=3).fit(sparse.csr_array(S / spread), y)
        np.testing.assert_allclose(scaled.label_scores(S), by_hand.label_scores(sparse.csr_array(S / spread)), rtol=1e-9, atol=1e-9)
    left = [Engine("cusum", scale=scale).fit(S, y).coef_ for scale in ("auto", False)]
    assert np.array_equal(*left)


def test_rows_of_sequences_and_keyed_rows():
    sentences = [X[start:start + 5] for start in range(0, 200, 5)]
    labels = [Y[start:start + 5].tolist() for start in range(0, 200, 5)]
    standardised = [Z[start:start + 5] for start in range(0, 200, 5)]
    scaled = Engine("sequence", epochs=3, average=True, scale=True).fit(sentences, labels)
    by_hand = Engine("sequence", epochs=3, average=True).fit(standardised, labels)
    assert list(scaled.predict(sentences)) == list(by_hand.predict(standardised))

    pairs = [np.column_stack([np.repeat([0, 1], 2), np.tile([0, 1], 2), block[:4]]) for block in sentences]
    engine = Engine("matching", scale=True, perfect=True, fit_intercept=False).fit(pairs, [(0, 3)] * len(pairs))
    assert engine.n_features_in_ == 7 and engine.coef_.shape == (5,)


def test_floats_of_four_bytes_stay():
    scaled = Engine("cusum", epochs=3, scale=True).fit(X.astype(np.float32), Y)
    assert np.mean(scaled.predict(X) == Engine("cusum", epochs=3, scale=True).fit(X, Y).predict(X)) > 0.9


def test_a_stream_goes_by_the_columns_so_far():
    engine = Engine("cusum", average=True, scale=True)
    for start in range(0, 200, 40):
        engine.partial_fit(X[start:start + 40], Y[start:start + 40])
    plain = Engine("cusum", average=True).fit(Z, Y)
    assert abs(np.mean(engine.predict(X) == Y) - np.mean(plain.predict(Z) == Y)) < 0.1
    scaling = engine.model_.scaling
    np.testing.assert_allclose(scaling.mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scaling.spread[:4], X.std(axis=0)[:4], rtol=1e-10)
    assert scaling.spread[4] == np.inf


def test_a_change_of_scale_leaves_all_scores_as_they_are():
    engine = Engine("prank", scale=True).fit(X, Y)
    before = engine.label_scores(X)
    right = np.flatnonzero(engine.predict(X) == Y)[:20]
    mean = engine.model_.scaling.mean
    engine.partial_fit(X[right], Y[right])
    assert not np.array_equal(engine.model_.scaling.mean, mean)
    np.testing.assert_allclose(engine.label_scores(X), before, rtol=1e-9, atol=1e-9)


def test_a_chunk_that_fails_leaves_every_bit():
    engine = Engine("multiclass", average=True, scale=True).fit(X, Y)
    before, state = engine.label_scores(X), engine.model_.scaling
    damaged = X[:50].copy()
    damaged[49, 2] = np.nan
    for wrong, sentence in ((damaged, r"X\[49, 2\] is nan"), (np.where(X[:50] == X[3, 1], 1e300, X[:50]), "column 1 of X is too large")):
        with pytest.raises(DataError, match=sentence):
            engine.partial_fit(wrong, Y[:50])
        assert np.array_equal(engine.label_scores(X), before) and engine.model_.scaling is state


def test_observers_and_checkpoints_see_a_model_that_predicts(tmp_path):
    class Watching:
        seen = ()

        @hookimpl
        def structperc_epoch_end(self, engine, record):
            self.seen = (*self.seen, engine.label_scores(X[:3]))

    watching, path = Watching(), tmp_path / "model"
    options = {"average": True, "shuffle": True, "random_state": 1, "scale": True}
    whole = Engine("cusum", epochs=6, plugins=[watching], **options).fit(X, Y)
    np.testing.assert_allclose(watching.seen[-1], whole.label_scores(X[:3]), rtol=1e-9)
    Engine("cusum", epochs=3, plugins=[callbacks.Checkpoint(path)], **options).fit(X, Y)
    np.testing.assert_allclose(Engine.load(path).label_scores(X[:3]), watching.seen[2], rtol=1e-12)
    resumed = Engine("cusum", epochs=6, plugins=[callbacks.Checkpoint(path)], **options).fit(X, Y, resume=True)
    assert np.array_equal(resumed.coef_, whole.coef_)


def test_rows_of_weight_0_have_no_part_in_the_scale():
    weights = (np.arange(200) % 3 > 0).astype(float)
    weighted = CuSumRank(random_state=0).fit(X, Y, sample_weight=weights)
    assert np.array_equal(weighted.coef_, CuSumRank(random_state=0).fit(X[weights > 0], Y[weights > 0]).coef_)


def test_what_has_no_scale_is_refused():
    with pytest.raises(PluginError, match="scale=True: X is a list of objects, which have no columns of numbers. Leave it out."):
        Engine("multiclass", plugins=["dual-kernel"], kernel="subsequence", scale=True).fit(["a", "b"], [1, 2])
    kernel = {"plugins": ["dual-kernel"], "kernel": "precomputed"}
    with pytest.raises(PluginError, match="scale=True: the columns of X are kernel values."):
        Engine("cusum", scale=True, **kernel).fit(Z @ Z.T, Y)
    values = [Engine("cusum", scale=scale, **kernel).fit(Z @ Z.T, Y).label_scores(Z @ Z.T) for scale in ("auto", False)]
    assert np.array_equal(*values)


def test_columns_of_different_sizes_are_named():
    with pytest.warns(ScaleWarning, match=r"column x\[2\] is \d+ times as large as column x\[0\] .* train with scale=True"):
        Engine("cusum").fit(X, Y)
    Engine("cusum", scale="auto").fit(X, Y)
    Engine("cusum").fit(Z[:, :4], Y)
    Engine("adaboost-or").fit(X, Y)             # stumps do not mind


def test_the_warning_compares_root_mean_squares():
    signs = np.where(np.arange(40)[:, None] % [2, 4] > 0, 1.0, -1.0)
    with pytest.warns(ScaleWarning, match=r"column x\[1\] is 200 times as large as column x\[0\]"):
        Engine("prank").fit(signs * [0.5, 100], [1, 2] * 20)
    Engine("prank").fit(signs * 100, [1, 2] * 20)             # equally large columns: no warning


def test_auto_leaves_sparse_columns_as_they_are_in_every_door(tmp_path):
    """A sparse copy of a table gets another model; scale=True asks for one scale."""
    S = sparse.random_array((200, 6), density=0.5, random_state=0, format="csr") * np.geomspace(0.01, 100, 6)
    S.data = np.round(S.data, 6)            # as a file of text holds them
    y = np.digitize(S @ np.geomspace(100, 0.01, 6), [1, 3]) + 1
    options = dict(epochs=3, average=True, classes=[1, 2, 3])
    plain = Engine("cusum", scale=False, **options).fit(S, y).coef_.tolist()
    assert Engine("cusum", scale="auto", **options).fit(S, y).coef_.tolist() == plain
    assert CuSumRank(preset="paper", scale="auto", **options).fit(S, y).coef_.tolist() == plain
    assert fit_stream(Engine("cusum", scale="auto", **options), Slices(S, y, rows=70)).coef_.tolist() == plain
    path, model = tmp_path / "table.svmlight", tmp_path / "model"
    dump_svmlight_file(S, y, str(path))
    assert main(["fit", "cusum", str(path), "--model", str(model), "--set", "preset=paper", "--quiet", "--set", "epochs=3",
                 "--set", "average=true", "--set", "scale=auto"]) == 0
    assert Engine.load(model).coef_.tolist() == plain
    assert Engine("cusum", scale=True, **options).fit(S, y).coef_.tolist() != plain


def kernel_engine(problem, **options):
    options = dict(epochs=2, average=True, classes=[1, 2, 3, 4]) | options
    return Engine(problem, plugins=["dual-kernel"], **{"kernel": "rbf", "scale": "auto"} | options)


def in_parts(engine, forms):
    for i, form in enumerate(forms):
        engine.partial_fit(form(X[50 * i:50 * i + 50]), Y[50 * i:50 * i + 50])
    return engine


@pytest.mark.parametrize("scale", ["auto", True, False])
@pytest.mark.parametrize(("problem", "kernel"), [("cusum", "rbf"), ("prank", "polynomial"), ("multiclass", "stump"), ("cusum", "linear")])
def test_kernels_take_sparse_rows_as_dense_ones_in_every_door(problem, kernel, scale):
    options, csr, csc = {"kernel": kernel, "scale": scale}, sparse.csr_array, sparse.csc_array
    expected = kernel_engine(problem, **options).fit(X, Y).label_scores(X)
    size = np.abs(expected).max()
    for form in (csr, csc, lambda rows: sparse.coo_array(rows)):
        engine = kernel_engine(problem, **options).fit(form(X), Y)
        for seen in (X, form(X)):
            np.testing.assert_allclose(engine.label_scores(seen), expected, rtol=1e-9, atol=1e-9 * size)
    expected = in_parts(kernel_engine(problem, **options), [np.asarray] * 4).label_scores(X)
    for forms in ([csr] * 4, [csr, np.asarray] * 2, [np.asarray, csr] * 2):
        got = in_parts(kernel_engine(problem, **options), forms).label_scores(X)
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9 * size)
    streams = [fit_stream(kernel_engine(problem, **options), Slices(form(X), Y, rows=70)).label_scores(X) for form in (np.asarray, csr)]
    np.testing.assert_allclose(*streams, rtol=1e-9, atol=1e-9 * size)


def test_kernels_leave_names_sparse_and_refuse_rows_that_would_not_fit(monkeypatch):
    words = [[["a", "b"]], [["c"]], [["b"]]] * 4
    tags = [["x"], ["y"], ["x"]] * 4
    plain, auto = (Engine("sequence", plugins=["dual-kernel"], kernel="rbf", scale=scale).fit(words, tags) for scale in (False, "auto"))
    assert auto.model_.scaling is None and list(auto.predict(words)) == list(plain.predict(words))
    monkeypatch.setattr(scaling, "MOST_DENSE", 199 * 5)
    wide = sparse.csr_array(X)
    engine = kernel_engine("cusum")
    with pytest.raises(DataError, match=r"of shape \(200, 5\).*Pass fewer rows at a time, or train with scale=False"):
        engine.fit(wide, Y)
    assert engine.partial_fit(wide[:100], Y[:100]).predict(wide[:100]).shape == (100,)
    assert kernel_engine("cusum", scale=False).fit(wide, Y).n_features_in_ == 5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_units_of_single_rows_are_those_of_all_rows(dtype):
    """What is compiled for one row beside numpy's, bit for bit; a constant column, and rows that overflow."""
    X = np.random.default_rng(3).normal(size=(30, 4)).astype(dtype) * [1, 1e6, 1e-6, 0] + np.array([0, 1e6, 1, 2]).astype(dtype)
    X = X.astype(dtype)
    compiled = scaling.Scaling.empty(4, True, True).with_rows(Rows(X[:2]))
    for i in range(2, 30):
        compiled = compiled.with_rows(Rows(X[i:i + 1]))
        plain = scaling.Scaling.empty(4, True, True).with_rows(Rows(X[:i + 1]))
        for name in ("mean", "squares", "low", "high", "deviation", "spread", "shift", "inverse"):
            assert np.array_equal(getattr(compiled, name), getattr(plain, name))
        assert compiled.n_rows == plain.n_rows == i + 1
    assert compiled.spread[3] == np.inf
    with pytest.raises(DataError, match="too large to be squared"):
        compiled.with_rows(Rows(np.full((1, 4), 1e200)))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_column_that_is_too_large_is_named(form):
    with pytest.raises(DataError, match="column 2 of X is too large to be squared"):
        Engine("cusum", scale=True).fit(form([[1.0, 5.0, 1e200], [2.0, 5.0, 0.0], [0.0, 5.0, -1e200]]), [1, 2, 2])


class OwnRescaling(BlockFeatures):
    """A map in Python, `rescaled` included."""

    returned = None

    def __init__(self):
        super().__init__(4, 5)
        self.calls = 0

    def scores(self, w, x):
        return super().scores(w, x)

    def add(self, w, x, c):
        super().add(w, x, c)

    def rescaled(self, w, shift, spread):
        self.calls += 1
        return super().rescaled(w, shift, spread) if self.returned is None else self.returned


class OtherScores(BlockFeatures):
    """Its scores are not those that the inherited `rescaled` keeps."""

    def __init__(self):
        super().__init__(4, 5)

    def scores(self, w, x):
        return super().scores(w, x) * (1 + x.rows[0, 0] ** 2)


def test_rescaled_of_an_own_map_in_python_is_called():
    features = OwnRescaling()
    engine, bundled = (Engine("multiclass", scale=True, epochs=3, plugins=plugins).fit(X, Y) for plugins in ([features], []))
    assert engine.parts_.features.calls and engine.coef_.tolist() == bundled.coef_.tolist()
    assert Engine("multiclass", scale=True, plugins=[features]).partial_fit(X, Y).n_features_in_ == 5


@pytest.mark.parametrize(("returned", "message"), [(np.zeros(3), r"rescaled returned an array of shape \(3,\); expected \(24,\), or None"),
                                                   ("a text", "could not convert")])
def test_a_wrong_answer_of_rescaled_is_an_error(returned, message):
    features = OwnRescaling()
    features.returned = returned
    with pytest.raises((PluginError, ValueError), match=message):
        Engine("multiclass", scale=True, plugins=[features]).fit(X, Y)


def test_the_inherited_rescaled_is_no_method_of_other_scores():
    """Such rows are scaled whenever they are read."""
    engine = Engine("multiclass", scale=True, epochs=3, plugins=[OtherScores()]).fit(X, Y)
    by_hand = Engine("multiclass", epochs=3, plugins=[OtherScores()]).fit(Z, Y)
    np.testing.assert_allclose(engine.label_scores(X), by_hand.label_scores(Z), rtol=1e-6, atol=1e-9)


class Failing(BlockFeatures):
    """Fails at one example."""

    at = None

    def __init__(self):
        super().__init__(4, 5)

    def add(self, w, x, c):
        super().add(w, x, c)

    def scores(self, w, x):
        if x.index == self.at:
            raise RuntimeError("no score")
        return super().scores(w, x)

    def rescaled(self, w, shift, spread):
        return super().rescaled(w, shift, spread)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("sparse_rows", [False, True])
@pytest.mark.parametrize("n", [1, 30])
def test_a_failed_chunk_on_moving_scales_changes_nothing(average, sparse_rows, n):
    rows = sparse.csr_matrix(X) if sparse_rows else X
    engine = Engine("multiclass", scale=True, average=average, shuffle=True, plugins=[Failing()])
    engine.partial_fit(rows[:50], Y[:50], classes=[1, 2, 3, 4])
    mistakes, before, random = engine.mistakes_, engine.label_scores(X).tolist(), engine.model_.context.random.bit_generator.state
    engine.parts_.features.at = n - 1
    with pytest.raises(RuntimeError, match="no score"):
        engine.partial_fit(rows[50:50 + n], Y[50:50 + n])
    engine.parts_.features.at = None
    assert engine.label_scores(X).tolist() == before and engine.mistakes_ == mistakes
    assert engine.model_.context.random.bit_generator.state == random


def test_one_row_calls_are_a_fit_in_file_order():
    """The generator is for orders of two rows or more, so calls with one row leave it as it is."""
    engines = [Engine("cusum", scale=True, average=True, shuffle=shuffle, random_state=3).partial_fit(X[:1], Y[:1], classes=[1, 2, 3, 4])
               for shuffle in (True, False)]
    for i in range(1, 200):
        for engine in engines:
            engine.partial_fit(X[i:i + 1], Y[i:i + 1])
    assert engines[0].coef_.tolist() == engines[1].coef_.tolist()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("step", [1, 7, 40])
@pytest.mark.parametrize("at", [0, 12, 19, 60])
def test_a_wild_cell_is_named_whatever_the_size_of_chunks_and_wherever_it_is(at, step, form):
    """Few rows show none. It is named once enough have come."""
    wild = X[:, :2].copy()
    wild[at, 1] = 1e100
    engine = Engine("prank", scale=True, classes=[1, 2, 3, 4])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for start in range(0, 80, step):
            engine.partial_fit(form(wild[start:start + step]), Y[start:start + step])
    named = [str(one.message) for one in caught if issubclass(one.category, ScaleWarning)]
    assert len(named) == 1 and named[0].startswith((f"X[{at % step}, 1] is 1e+100, but", "column 1 of an earlier row is 1e+100, but"))


def test_entries_for_one_column_are_summed_before_they_are_squared():
    S = sparse.csr_array(np.where(abs(X) > 1, X, 0))
    twice = sparse.csr_array((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), S.indptr * 2), shape=S.shape)
    for options in ({}, {"plugins": ["dual-kernel"], "kernel": "rbf"}):
        scores = [Engine("cusum", scale=True, **options).fit(rows, Y).label_scores(S) for rows in (S, twice)]
        np.testing.assert_allclose(*scores, rtol=1e-9, atol=1e-9 * np.abs(scores[0]).max())


@pytest.mark.parametrize("power", [50, 300])
def test_weights_whose_sums_overflow_are_named(power):
    with pytest.raises(DataError, match=f"sample_weight has 1e.{power}, and its sums overflow; divide all weights by one number"):
        Engine("cusum", scale=True).fit(X, Y, sample_weight=np.full(200, 10.0**power))
    assert Engine("cusum", scale=True).fit(X, Y, sample_weight=np.full(200, 1e20)).coef_.any()
