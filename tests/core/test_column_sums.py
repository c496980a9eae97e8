"""Means and standard deviations of the columns that a model learned from, as it keeps them."""

import copy

import numpy as np
import pytest
from reference.exact_moments import exact_moments
from scipy.sparse import csr_array

from structperc import Engine
from structperc.core.column_sums import ColumnSums
from structperc.core.joined import Joined
from structperc.core.rows import Rows
from structperc.streams import Slices, fit_stream

pytestmark = pytest.mark.filterwarnings("ignore::structperc.errors.ScaleWarning")
PLAIN = dict(epochs=1, average=False, scale=False)


def data(n=203, d=5):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, d)) * [1, 100, 1e-3, 1, 0] + [0, 0, 0, 2e6, 7]
    return X, np.digitize(X[:, 0], [-0.5, 0.5]) + 1


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_spreads_are_the_standard_deviations_of_the_columns(dtype):
    X, y = data()
    X = X.astype(dtype)
    model = Engine("prank", **PLAIN).fit(X, y).model_
    assert model.spreads == pytest.approx(X.std(axis=0, dtype=float), rel=1e-9, abs=1e-12)
    assert model.spreads[4] == 0 and model.means == pytest.approx(X.mean(axis=0, dtype=float))


def test_spreads_of_sparse_rows_weights_blocks_and_chunks():
    X, y = data(d=5)
    X[:, 3] -= 2e6
    X[np.abs(X) < 0.3] = 0
    for indices in (np.int32, np.int64):
        for dtype in (np.float64, np.float32):
            sparse = csr_array(X.astype(dtype))
            sparse.indices, sparse.indptr = sparse.indices.astype(indices), sparse.indptr.astype(indices)
            assert Engine("prank", **PLAIN).fit(sparse, y).model_.spreads == pytest.approx(X.std(axis=0), rel=1e-5)
    weights = np.arange(len(y)) % 3.0
    model = Engine("cusum", **PLAIN).fit(X, y, sample_weight=weights).model_
    assert model.spreads == pytest.approx(np.repeat(X, weights.astype(int), axis=0).std(axis=0))
    engine = Engine("prank", classes=[1, 2, 3], average=False, scale=False)
    for first in range(0, len(y), 7):
        engine.partial_fit(X[first:first + 7], y[first:first + 7])
    assert engine.model_.spreads == pytest.approx(X.std(axis=0))
    blocks = [X[:2], X[2:9], X[9:14]]
    engine = Engine("sequence", classes=["a", "b"], epochs=1, average=False, scale=False).fit(blocks, [["a"] * len(x) for x in blocks])
    assert engine.model_.spreads == pytest.approx(X[:14].std(axis=0))


def test_scaled_models_have_the_same_spreads():
    X, y = data()
    assert Engine("prank", epochs=1, scale=True).fit(X, y).model_.spreads == pytest.approx(X.std(axis=0), abs=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 5, 1000])
def test_single_rows_have_the_sums_of_all_rows(tmp_path, dtype, d):
    random = np.random.default_rng(d)
    X, y = random.normal(size=(300, d)).astype(dtype), random.integers(1, 4, size=300)
    expected = ColumnSums(d).with_rows(Rows(X))
    engine = Engine("prank", classes=[1, 2, 3], **PLAIN)
    for i in range(300):
        engine.partial_fit(X[i:i + 1], y[i:i + 1])
        if i % 70 == 7:                                 # looked at, copied and saved between two rows
            assert engine.model_.means == pytest.approx(X[:i + 1].mean(axis=0, dtype=float), abs=1e-7)
            engine.save(tmp_path / "m")
            engine = Engine.load(tmp_path / "m") if i % 4 else copy.deepcopy(engine)
    sums = engine.model_.column_sums
    assert {name: array.tobytes() for name, array in sums.state().items()} == \
           {name: array.tobytes() for name, array in expected.state().items()}


@pytest.mark.parametrize("scale", [False, True])
def test_rows_of_a_stream_count_once_in_all_its_passes(scale):
    X, y = data()
    fitted = Engine("prank", scale=scale, epochs=3, classes=[1, 2, 3]).fit(X, y).model_
    engine = fit_stream(Engine("prank", scale=scale, epochs=3, classes=[1, 2, 3]), Slices(X, y, rows=50))
    assert engine.model_.means.tobytes() == fitted.means.tobytes() and engine.model_.spreads.tobytes() == fitted.spreads.tobytes()
    more, labels = np.vstack([X, X[:90] + 3]), np.append(y, y[:90])
    engine.partial_fit(more[len(X):], labels[len(X):])
    assert engine.model_.means == pytest.approx(more.mean(axis=0), rel=1e-12)


def test_files_keep_spreads_and_training_goes_on_with_them(tmp_path):
    X, y = data()
    engine = Engine("prank", **PLAIN).fit(X[:100], y[:100])
    engine.save(tmp_path / "m")
    again = Engine.load(tmp_path / "m")
    assert np.array_equal(again.model_.spreads, engine.model_.spreads) and np.array_equal(again.model_.means, engine.model_.means)
    for one in (engine, again):
        one.partial_fit(X[100:], y[100:])
    assert np.array_equal(again.model_.spreads, engine.model_.spreads)
    assert again.model_.spreads == pytest.approx(X.std(axis=0), abs=1e-9)


@pytest.mark.parametrize("mean", [0.0, 5.0, 1e8])
@pytest.mark.parametrize("part", [1, 50, 203])
def test_sparse_rows_have_the_sums_of_dense_ones_in_any_order_of_forms(mean, part):
    X, y = data()
    X[:, 0] += mean                                     # no zeros
    X[:150, 1], X[150:, 1] = mean + X[:150, 1] / 100, 0         # zeros come late
    X[::3, 2] = 0
    weights = 0.1 + np.arange(len(y)) % 3
    for forms in ([csr_array], [csr_array, np.asarray], [np.asarray, csr_array]):
        engine = Engine("prank", classes=[1, 2, 3], average=False, scale=False)
        for i, first in enumerate(range(0, len(y), part)):
            rows = slice(first, first + part)
            engine.partial_fit(forms[i % len(forms)](X[rows]), y[rows], sample_weight=weights[rows])
        means = weights @ X / weights.sum()
        assert engine.model_.means == pytest.approx(means, rel=1e-12, abs=1e-9)
        assert engine.model_.spreads == pytest.approx(np.sqrt(weights @ (X - means) ** 2 / weights.sum()), rel=1e-6, abs=1e-9)


FORMS = {"dense": np.asarray, "sparse": csr_array, "joined": lambda X: Joined(csr_array(X[:, :2]), np.ascontiguousarray(X[:, 2:]))}
WEIGHTS = {"none": lambda random, n: None, "whole": lambda random, n: 1 + random.integers(0, 3, n) * 1.0,
           "any": lambda random, n: (1e-9 + random.random(n)) * (np.arange(n) % 5 > 0)}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(("n", "d"), [(1, 3), (15, 4), (40, 5), (500, 3), (300, 13)])
def test_sums_are_exact_for_any_order_parts_and_forms(n, d, kind, dtype):
    random = np.random.default_rng(n + d)
    X = random.normal(size=(n, d)) * 10.0 ** random.integers(-9, 9, size=d) + random.choice([0, 1, 1e8], size=d)
    X[:, 0] = np.round(X[:, 0])
    X[random.random((n, d)) < 0.2] = 0
    X[n // 2:, 1] *= 2.0 ** random.integers(-80, 80, size=n - n // 2)       # more digits than a plane has
    X = X.astype(dtype)
    weights = WEIGHTS[kind](random, n)
    if weights is not None:
        weights[0] = 1
    whole = ColumnSums(d).with_rows(Rows(X), weights)
    mean, squares = whole.moments()
    expected = exact_moments(X, weights)
    np.testing.assert_allclose(mean, expected[0], rtol=4e-16)
    np.testing.assert_allclose(squares, expected[1], rtol=1e-15)
    state = {name: array.tobytes() for name, array in whole.state().items()}
    for form in FORMS.values():
        sums = ColumnSums(d)
        for part in np.split(random.permutation(n), np.sort(random.integers(0, n, size=2))):
            if len(part):
                its = None if weights is None else weights[part]
                rows = Rows(form(X[part]))
                sums = ColumnSums(d).with_rows(rows, its).joined(sums) if random.random() < 0.5 else sums.with_rows(rows, its)
        assert {name: array.tobytes() for name, array in sums.state().items()} == state
    again = ColumnSums.restored(whole.state(), d)
    assert [part.tobytes() for part in again.moments()] == [mean.tobytes(), squares.tobytes()]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [4, 60])
def test_columns_whose_values_cancel_have_a_spread(form, n):
    X = np.repeat([[-1.0, 0.5, 2.0], [1.0, -0.5, -2.0]], n // 2, axis=0)
    for weights in (None, np.full(n, 0.3)):
        sums = ColumnSums(3).with_rows(Rows(FORMS[form](X)), weights)
        again = ColumnSums.restored(sums.state(), 3).joined(ColumnSums(3))
        for one in (sums, again):
            assert one.mean.tolist() == [0, 0, 0] and one.spread.tolist() == pytest.approx([1, 0.5, 2])
    nothing = ColumnSums(3)
    assert nothing.mean is None and nothing.spread is None
    assert ColumnSums(3).with_rows(Rows(FORMS[form](0 * X))).spread.tolist() == [0, 0, 0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cell", [np.inf, -np.nan, 1e150])
def test_a_value_that_is_too_large_leaves_means_unknown(form, cell):
    for n in (3, 60):
        X = np.ones((n, 3))
        X[-1, 1] = cell
        assert ColumnSums(3).with_rows(Rows(FORMS[form](X))).mean is None
        weights = np.ones(n)
        weights[-1] = 0
        sums = ColumnSums(3).with_rows(Rows(FORMS[form](X)), weights)       # a row of weight 0 is absent
        assert sums.mean.tolist() == [1, 1, 1] and sums.spread.tolist() == [0, 0, 0] and sums.n_rows == n - 1
