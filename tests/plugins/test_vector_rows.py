"""Tests of banks of rows and the kernels between them: values, bits that do not depend on the batch, copies and saved states."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import kernels as twins
from reference.layouts import LAYOUTS, stored, widened
from scipy.sparse import csr_array, issparse
from structperc_kernels import DenseKernelRows, SparseKernelRows, vector_rows

from structperc.components import Rows
from structperc.errors import DataError, OptionError

pytestmark = pytest.mark.blas

SETS = vector_rows.instruction_sets()
PARAMETERS = {"degree": 3, "coef0": 0.5, "offset": 40.0}
TOLERANCE = {"float64": 1e-12, "float32": 1e-5}


def context(n_features, objects=False):
    return SimpleNamespace(n_features=n_features, sparse=False, objects=objects)


def filled(kernel_rows, X, first_data=None):
    """Starts `kernel_rows` and appends the rows of X."""
    rows = Rows(X)
    kernel_rows.start(context(X.shape[1]))
    kernel_rows.settle_parameters(rows if first_data is None else Rows(first_data))
    for i in range(rows.n_rows):
        kernel_rows.append(rows, i)
    return kernel_rows


def made(X, kernel="rbf", **options):
    return filled((SparseKernelRows if issparse(X) else DenseKernelRows)(kernel, **options), X)


def sample(n, d, seed=0, zeros=0.5):
    rng = np.random.default_rng([n, d, seed])
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < zeros] = 0
    return X


def assert_close(found, expected, tolerance):
    """The tolerance is relative to the largest value, because differences such as offset - distance may be close to 0."""
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * abs(expected).max())


# ---- values ----


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", vector_rows.KERNELS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_values(layout, kernel, dtype):
    """Values equal their definitions for every kernel, row format and layout of X. All instruction sets give the same bits."""
    for d, n in ((1, 16), (3, 1), (3, 65), (17, 15), (17, 17), (100, 33)):
        X, Q = stored(sample(n, d), layout), stored(sample(n + 3, d, 1), layout)
        parameters = {"gamma": 0.4 / d, **PARAMETERS}
        kernel_rows = made(X, kernel, dtype=dtype, **parameters)
        expected = twins.KERNELS[kernel](widened(Q), widened(X), **parameters)
        found = kernel_rows.values(Rows(Q))
        assert found.shape == (n + 3, n)
        assert_close(found, expected, TOLERANCE[dtype])
        for name in SETS:
            kernel_rows.use(name)
            np.testing.assert_array_equal(kernel_rows.values(Rows(Q)), found)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_dot_products_are_running_sums(layout, name):
    for d, n in ((1, 9), (17, 17), (100, 13)):
        X, Q = stored(sample(n, d), layout), stored(sample(20, d, 1), layout)
        kernel_rows = made(X, "linear")
        kernel_rows.use(name)
        np.testing.assert_array_equal(kernel_rows.values(Rows(Q)), twins.dots(widened(Q), widened(X)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", vector_rows.KERNELS)
@pytest.mark.parametrize("layout", ["dense64", "csr64-int32"])
def test_company_changes_no_bit(layout, kernel, dtype):
    """A value does not depend on the other queries of the call, on their order, or on the other slots."""
    X, Q = sample(37, 23), stored(sample(40, 23, 1), layout)
    kernel_rows = made(stored(X, layout), kernel, dtype=dtype, gamma=0.1, **PARAMETERS)
    together = kernel_rows.values(Rows(Q))
    for i in (0, 5, 17, 39):
        np.testing.assert_array_equal(kernel_rows.values(Rows(Q[i:i + 1]))[0], together[i])
    order = np.random.default_rng(3).permutation(40)
    np.testing.assert_array_equal(kernel_rows.values(Rows(Q[order])), together[order])
    for slots in ([4], [36, 4, 4], list(range(30))):
        np.testing.assert_array_equal(kernel_rows.select(slots).values(Rows(Q)), together[:, slots])


@pytest.mark.parametrize("stored_layout", ["dense64", "csr64-int32"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "stump"])
def test_every_kind_of_rows_compares_with_every_layout(kernel, stored_layout):
    X, Q = sample(19, 11).astype(np.float32).astype(float), sample(21, 11, 1).astype(np.float32).astype(float)
    kernel_rows = made(stored(X, stored_layout), kernel, gamma=0.1, offset=30.0)
    values = [kernel_rows.values(Rows(stored(Q, layout))) for layout in LAYOUTS]
    for other in values[1:]:
        np.testing.assert_array_equal(other, values[0])
    for layout in LAYOUTS:
        np.testing.assert_array_equal(filled(kernel_rows.clone(), stored(X, layout), X).values(Rows(Q)), values[0])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_equal_rows_are_at_distance_0(layout, dtype):
    X = stored(sample(40, 33) * 10.0 ** np.random.default_rng(0).integers(-3, 4, 33), layout)
    for kernel in ("rbf", "laplacian"):
        assert (np.diag(made(X, kernel, dtype=dtype, gamma=3.0).values(Rows(X))) == 1).all()
    for kernel in ("perceptron", "stump"):
        assert (np.diag(made(X, kernel, dtype=dtype, offset=7.0).values(Rows(X))) == 7).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_features_far_from_0_keep_their_digits(dtype):
    """Near means of a million, ||x||^2 + ||z||^2 - 2 x . z would lose twelve digits."""
    X = 1e6 + np.random.default_rng(0).normal(size=(50, 5)) * [1, 1, 1, 3, 1e-2]
    kernel_rows = made(X, "rbf", gamma=0.3, dtype=dtype)
    values = kernel_rows.values(Rows(X))
    assert (abs(np.diag(values) - 1) <= 1e-12).all()
    assert_close(values, twins.rbf(X, X, 0.3), TOLERANCE[dtype])
    if dtype == "float64":
        np.testing.assert_array_equal(kernel_rows.support(), X)


def test_rows_without_non_zeros():
    X = csr_array((4, 6))
    kernel_rows = made(X, "rbf", gamma=1.0)
    Q = csr_array(np.array([[0, 0, 2.0, 0, 0, 0], [0] * 6]))
    np.testing.assert_allclose(kernel_rows.values(Rows(Q)), [[math.exp(-4)] * 4, [1] * 4], rtol=1e-15)
    assert kernel_rows.support().nnz == 0


def test_kept_zeros_count_for_nothing():
    X = csr_array((np.array([0.0, 2.0]), np.array([1, 3]), np.array([0, 2])), shape=(1, 5))
    kernel_rows = made(X, "stump", offset=1.0)
    assert kernel_rows.support().nnz == 1
    assert kernel_rows.key(Rows(X), 0) == kernel_rows.key(Rows(csr_array(X.toarray())), 0)


def test_what_is_not_finite_stays_visible():
    X, Q = sample(9, 3), sample(2, 3, 1)
    Q[1, 2] = np.nan
    for kernel in vector_rows.KERNELS:
        values = made(X, kernel, **PARAMETERS).values(Rows(Q))
        assert np.isfinite(values[0]).all() and np.isnan(values[1]).all()


# ---- powers and sums ----


@pytest.mark.parametrize("name", SETS)
def test_powers_of_two(name):
    """From 1 down to the smallest positive numbers."""
    x = np.concatenate([-np.logspace(-18, 3, 20000), -np.linspace(0, 1074, 50000), [-0.0]])
    exact = np.exp2(x.astype(np.longdouble))
    off = np.abs((vector_rows.powers_of_two(name, x) - exact) / np.spacing(exact.astype(float)))
    assert off.max() < (2 if np.finfo(np.longdouble).nmant > 52 else 3)
    x = x[x > -149].astype(np.float32)
    exact = np.exp2(x.astype(float))
    off = np.abs((vector_rows.powers_of_two(name, x) - exact) / np.spacing(exact.astype(np.float32)))
    assert off.max() < 2
    for kind in (np.float64, np.float32):
        ends = vector_rows.powers_of_two(name, np.array([0, -0.0, -1, -1076, -1e30, -np.inf, np.nan], dtype=kind))
        np.testing.assert_array_equal(ends, [1, 1, 0.5, 0, 0, 0, np.nan])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_powers_have_the_same_bits_everywhere(kind):
    x = -np.random.default_rng(0).uniform(0, 1100 if kind is np.float64 else 160, 10001).astype(kind)
    expected = vector_rows.powers_of_two("baseline", x)
    for name in SETS:
        np.testing.assert_array_equal(vector_rows.powers_of_two(name, x), expected)


@pytest.mark.parametrize("name", SETS)
def test_sums(name):
    rng = np.random.default_rng(1)
    for n_blocks in [*range(1, 14), 22]:
        for n in (0, 1, 7, 64):
            values, c, total = rng.normal(size=(n, 16)), rng.normal(size=(n, n_blocks)), rng.normal(size=(n_blocks, 16))
            found = total.copy()
            vector_rows.add_weighted(name, values, c, found)
            np.testing.assert_array_equal(found, twins.sums(values, c, total, np.ones((n, 16), dtype=bool)))


@pytest.mark.parametrize("name", SETS)
def test_sums_of_what_counts(name):
    """Values outside the counted range may be anything, for example NaN."""
    rng = np.random.default_rng(2)
    for n_blocks in (1, 2, 3, 4, 9, 22):
        for low, high in ((0, 10), (100, 164), (90, 180), (164, 300), (130, 131), (0, 2**62)):
            values, c, total = rng.normal(size=(64, 16)), rng.normal(size=(64, n_blocks)), rng.normal(size=(n_blocks, 16))
            start = rng.integers(low, high, 16)
            counts = 100 + np.arange(64)[:, None] >= start
            expected = twins.sums(values, c, total, counts)
            values[~counts] = np.nan
            found = total.copy()
            vector_rows.add_weighted(name, values, c, found, 100, start)
            np.testing.assert_array_equal(found, expected)


# ---- parameters ----


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gamma_and_shift_come_from_the_first_data(layout):
    X = sample(57, 9) * np.arange(1, 10) + np.arange(9) * 1e3 * (layout.startswith("dense"))
    X = stored(X, layout)
    wide = widened(X)
    for kernel in ("polynomial", "rbf", "laplacian"):
        assert made(X, kernel).gamma_ == pytest.approx(1 / (9 * wide.var()), rel=1e-9)
        assert made(X, kernel, gamma="auto").gamma_ == 1 / 9
        assert made(X, kernel, gamma=0.25).gamma_ == 0.25
    sides = np.ptp(wide, axis=0)
    assert made(X, "stump").offset_ == pytest.approx(sides.sum(), rel=1e-12)
    assert made(X, "perceptron").offset_ == pytest.approx(np.linalg.norm(sides), rel=1e-12)
    assert made(X, "stump", offset=-2.0).offset_ == -2
    for kernel in ("stump", "perceptron"):
        assert (made(X, kernel).values(Rows(X)) >= 0).all()


@pytest.mark.parametrize("layout", ["dense64", "csr64-int32"])
def test_constant_first_data(layout):
    X = stored(np.zeros((3, 4)), layout)
    assert made(X, "rbf").gamma_ == 1
    assert made(X, "perceptron").offset_ == made(X, "stump").offset_ == 1


def test_only_the_first_look_counts():
    kernel_rows = made(sample(30, 4), "rbf")
    gamma = kernel_rows.gamma_
    kernel_rows.settle_parameters(Rows(7 * sample(30, 4, 5)))
    assert kernel_rows.gamma_ == gamma


IMPOSSIBLE = [{"kernel": "cubic"}, {"dtype": "float16"}, {"gamma": 0}, {"gamma": -1.0}, {"gamma": np.nan}, {"gamma": "wide"}, {"degree": 0},
              {"degree": 1.5}, {"coef0": np.inf}, {"offset": np.nan}]


@pytest.mark.parametrize("option", IMPOSSIBLE)
@pytest.mark.parametrize("kind", [DenseKernelRows, SparseKernelRows])
def test_impossible_options(kind, option):
    with pytest.raises(OptionError, match=next(iter(option))):
        kind(**option)


@pytest.mark.parametrize("kind", [DenseKernelRows, SparseKernelRows])
def test_refused_data(kind):
    with pytest.raises(DataError, match="list of objects.*rbf kernel"):
        kind("rbf").start(context(0, objects=True))
    with pytest.raises(DataError, match="0 columns"):
        kind("rbf").start(context(0))
    kernel_rows = filled(kind("rbf"), sample(4, 5))
    for refused in (Rows(sample(4, 6)), Rows(["a", "b"])):
        with pytest.raises(DataError, match="5 columns"):
            kernel_rows.values(refused)


# ---- slots ----


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_state_comes_back(layout, dtype):
    X = stored(sample(30, 7) + (100 if layout.startswith("dense") else 0), layout)
    for kernel in ("linear", "rbf", "stump"):
        kernel_rows = made(X, kernel, dtype=dtype)
        again = filled(kernel_rows.clone(), X[:2], sample(5, 7))       # not empty
        again.restore(kernel_rows.state())
        assert (again.n, again.gamma_, again.offset_) == (30, kernel_rows.gamma_, kernel_rows.offset_)
        np.testing.assert_array_equal(again.values(Rows(X)), kernel_rows.values(Rows(X)))
        np.testing.assert_array_equal(widened(again.support()), widened(kernel_rows.support()))
        assert again.support().dtype == dtype


def test_rows_of_the_support():
    X = sample(20, 6)
    np.testing.assert_array_equal(made(X, "linear").support(), X)
    support = made(csr_array(X), "linear").support()
    assert support.shape == (20, 6)
    np.testing.assert_array_equal(support.toarray(), X)


def damaged(state):
    """Copies of a state, each with one fault."""
    for name, value in state.items():
        if value.ndim == 0:
            yield {**state, name: np.array(np.nan)}
        else:
            yield {**state, name: value[..., :-1]}
            yield {**state, name: value.astype(np.int16)}
            wrong = value.copy()
            wrong.flat[0] = np.nan if wrong.dtype.kind == "f" else -1
            yield {**state, name: wrong}
    yield {**state, "gamma": np.array(-1.0)}
    if "starts" in state:
        yield {**state, "indices": state["indices"] + 7}
        yield {**state, "starts": state["starts"][::-1].copy()}
        yield {**state, "starts": np.array([], dtype=np.int64)}


@pytest.mark.parametrize("layout", ["dense64", "csr64-int32"])
def test_damaged_states_are_refused_and_change_nothing(layout):
    X = stored(sample(12, 7), layout)
    kernel_rows = made(X, "rbf")
    expected = kernel_rows.values(Rows(X))
    state = kernel_rows.state()
    for wrong in damaged(state):
        with pytest.raises(DataError, match="saved"):
            kernel_rows.restore(wrong)
        np.testing.assert_array_equal(kernel_rows.values(Rows(X)), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
@pytest.mark.parametrize("sparse", [False, True])
@given(steps=st.lists(st.tuples(st.sampled_from(["append", "copy", "steal", "truncate", "select"]), st.integers(0, 1 << 20)), max_size=40))
def test_slots_are_what_was_put_there(sparse, kernel, dtype, steps):
    """The test appends rows, overwrites them with longer and shorter ones, and removes them. The bank then equals one filled at once."""
    X = sample(25, 9) * (np.arange(25)[:, None] % 4 != 3)
    X = stored(X, "csr64-int32" if sparse else "dense64")
    source = made(X, kernel, dtype=dtype, gamma=0.2)
    kernel_rows, content = source.empty(), []
    for action, number in steps:
        if action == "append":
            kernel_rows.append(Rows(X), number % 25)
            content.append(number % 25)
        elif content:
            at, other = number % len(content), number // 7 % len(content)
            if action == "copy":
                kernel_rows.copy_slot(at, other, kernel_rows)
                content[at] = content[other]
            elif action == "steal":
                kernel_rows.copy_slot(at, number % 25, source)
                content[at] = number % 25
            elif action == "truncate":
                kernel_rows.truncate(at)
                del content[at:]
            else:
                kernel_rows, content = kernel_rows.select([other, at, at]), [content[other], content[at], content[at]]
    assert kernel_rows.n == len(content)
    if content:
        np.testing.assert_array_equal(kernel_rows.values(Rows(X)), source.values(Rows(X))[:, content])
    np.testing.assert_array_equal(widened(kernel_rows.support()), widened(source.support())[content])


def test_many_overwritten_sparse_rows():
    """Overwriting leaves unused space, which the bank reclaims. Long rows replace short ones again and again."""
    rng = np.random.default_rng(0)
    X = csr_array((rng.random((60, 200)) < rng.random((60, 1))) * rng.normal(size=(60, 200)))
    source = made(X, "rbf", gamma=0.01)
    kernel_rows, content = source.select(range(20)), list(range(20))
    for at, other in zip(rng.integers(0, 20, 2000), rng.integers(0, 60, 2000), strict=True):
        kernel_rows.copy_slot(at, other, source)
        content[at] = other
    np.testing.assert_array_equal(kernel_rows.values(Rows(X)), source.values(Rows(X))[:, content])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_equal_rows_have_one_key(layout, dtype):
    X = sample(12, 5)
    X[7], X[9], X[11] = X[2], X[2], -0.0 * X[3]
    X[3] = 0
    data = Rows(stored(X, layout))
    kernel_rows = made(data.X, "rbf", dtype=dtype)
    keys = [kernel_rows.key(data, i) for i in range(12)]
    for i, x in enumerate(X):
        for j, z in enumerate(X):
            assert (keys[i] == keys[j]) == bool((x == z).all())
    assert len({hash(key) for key in keys}) == len(set(keys))


@pytest.mark.parametrize("layout", ["dense64", "csr64-int32"])
def test_slots_that_do_not_exist(layout):
    X = stored(sample(4, 3), layout)
    kernel_rows = made(X, "rbf")
    for wrong in (-1, 4):
        with pytest.raises(IndexError, match=f"slot {wrong} of 4"):
            kernel_rows.select([0, wrong])
        with pytest.raises(IndexError):
            kernel_rows.copy_slot(wrong, 0, kernel_rows)
    with pytest.raises(ValueError, match="same kind"):
        kernel_rows.copy_slot(0, 0, made(X, "rbf", dtype="float32"))


def test_unknown_instruction_sets_are_named():
    with pytest.raises(ValueError, match="'mmx' is not available here.*baseline"):
        DenseKernelRows("rbf").use("mmx")
