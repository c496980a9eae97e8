"""Tests of all formats of X and y: they give the same data, fitting arrays are read in place, and no argument changes."""

import gc
import tracemalloc
import weakref

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from plain import Engine
from reference.layouts import LAYOUTS, stored
from subsets import Subsets

from structperc.components import PassiveAggressiveUpdate, PrefixArgmax
from structperc.errors import DataError
from structperc.estimators import CuSumRank, PRank
from structperc.reading import matrices
from structperc.reading.matrices import read
from structperc.testing import DualWeights

PROBLEMS = ["cusum", "prank", "multiclass"]
RULES = ["perceptron", "pa", "pa1", "pa2"]


def whole(n=50, d=5, seed=0):
    """Small whole numbers, a third of them 0. They are exact in every dtype, and their sums are exact in every order."""
    random = np.random.default_rng(seed)
    X = random.integers(1, 4, (n, d)).astype(float) * random.integers(0, 3, (n, d)).clip(0, 1)
    return X, random.permutation(np.arange(n) % 4 + 1)


def weights(engine):
    return np.concatenate([np.ravel(getattr(engine, name)) for name in ("coef_", "intercept_", "thresholds_") if hasattr(engine, name)])


def assert_same(X, y, other_X, other_y, problem="cusum", offsets=None, **options):
    """Checks that both formats give the same bits in training and the same predictions, after `fit` and after `partial_fit`."""
    for average in (False, True):
        one, other = (Engine(problem, average=average, epochs=2, **options) for _ in range(2))
        one.fit(X, y, record_predictions=True)
        other.fit(other_X, other_y, offsets=offsets, record_predictions=True)
        for _ in range(2):
            assert np.array_equal(weights(one), weights(other))
            assert one.mistakes_ == other.mistakes_ and one.mistakes_[0] > 0
            assert one.predict(X).tolist() == other.predict(other_X, offsets=offsets).tolist()
            np.testing.assert_allclose(other.atom_scores(other_X, offsets=offsets), one.atom_scores(X), rtol=1e-12, atol=1e-12)
            one.partial_fit(X, y)
            other.partial_fit(other_X, other_y, offsets=offsets)


# ---- dense X ----


def memory_mapped(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


class Matrix(np.ndarray):
    """A subclass of ndarray from another library."""


DENSE = {
    "list of lists": lambda X: X.tolist(),
    "list of tuples": lambda X: [tuple(row) for row in X.tolist()],
    "tuple of rows": tuple,
    "list of rows": list,
    "list of mixed rows": lambda X: [X[0].tolist(), *X[1:]],
    "list of whole numbers": lambda X: X.astype(int).tolist(),
    "Fortran order": np.asfortranarray,
    "every second column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: X[::-1].copy()[::-1],
    "read-only": read_only,
    "byte-swapped": lambda X: X.astype(X.dtype.newbyteorder()),
    "byte-swapped float32": lambda X: X.astype(np.dtype(np.float32).newbyteorder()),
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "longdouble": lambda X: X.astype(np.longdouble),
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    "uint64": lambda X: X.astype(np.uint64),
    "object": lambda X: X.astype(object),
    "subclass": lambda X: X.view(Matrix),
    "data frame": lambda X: pd.DataFrame(X),
    "data frame of many types": lambda X: pd.DataFrame(X).astype({0: int, 1: "float32", 2: "Int64"}),
    "blocks of one row": lambda X: [X[i:i + 1] for i in range(len(X))],
    "misaligned": lambda X: np.frombuffer(b"." + X.tobytes(), dtype=float, offset=1).reshape(X.shape),
}


@pytest.mark.parametrize("form", DENSE)
def test_every_form_of_dense_rows_is_the_same_data(form):
    X, y = whole()
    for problem in PROBLEMS:
        assert_same(X, y, DENSE[form](X), y, problem)


def test_memory_mapped_rows_are_read(tmp_path):
    X, y = whole()
    for kind in (np.float64, np.float32):
        mapped = memory_mapped(X.astype(kind), tmp_path)
        assert isinstance(mapped, np.memmap)
        assert_same(X, y, mapped, y)


def test_truth_values_are_numbers():
    X, y = whole()
    assert_same((X > 1).astype(float), y, X > 1, y)


def test_one_column_and_one_row_are_matrices_too():
    X, y = whole()
    assert_same(X[:, :1].copy(), y, X[:, :1], y)
    one = Engine("cusum", classes=[1, 2]).fit(X[3:4], [2])
    assert one.predict(X[3:4]).tolist() == [2] and one.mistakes_ == [1]


# ---- other orders of memory ----

ORDERS = {
    "column order": np.asfortranarray,
    "part of a wider array": lambda X: np.repeat(np.pad(X, ((0, 0), (1, 2))), 2, axis=0)[::2, 1:-2],
    "read-only columns": lambda X: read_only(np.asfortranarray(X)),
    "data frame": lambda X: pd.DataFrame(np.asfortranarray(X)),
}


def many(n, d, kind=float, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)).astype(kind)
    return X, np.digitize(X[:, :4].sum(axis=1), [-1.5, 0, 1.5]) + 1


def what_it_says(model, X, y):
    """All that a trained estimator or engine predicts for X."""
    found = [model.predict(X), model.predict_proba(X)]
    if hasattr(model, "latent_score"):
        found.append(model.latent_score(X))
    return [*found, model.atom_scores(X)] if isinstance(model, Engine) else [*found, model.decision_function(X), model.score(X, y)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_other_orders_of_memory_give_the_same_bits(order, kind):
    X, y = many(1100, 60, kind)
    given = ORDERS[order](X)
    for make in (lambda: CuSumRank(random_state=0), lambda: PRank(random_state=0, scale=False, calibrate=False),
                 lambda: Engine("multiclass", epochs=2, scale=True)):
        for trained in (make().fit(given, y), make().partial_fit(given[:900], y[:900]).partial_fit(given[900:], y[900:])):
            rows = make().fit(X, y) if len(trained.mistakes_) > 1 else make().partial_fit(X[:900], y[:900]).partial_fit(X[900:], y[900:])
            expected = what_it_says(rows, X, y)
            for model in (rows, trained):
                for one, other in zip(expected, what_it_says(model, given, y), strict=True):
                    assert np.array_equal(one, other)
            assert trained.predict(given[:1]).tolist() == expected[0][:1].tolist()


def test_other_orders_name_the_same_cells():
    X, y = many(1100, 60)
    model = CuSumRank(random_state=0).fit(X, y)
    X[1050, 7] = np.nan
    for given in (np.asfortranarray(X), X[:0].T.copy().T):
        for call in (model.predict, model.predict_proba, lambda X: CuSumRank().fit(X, y), lambda X: model.partial_fit(X, y)):
            with pytest.raises(DataError) as expected:
                call(np.ascontiguousarray(given))
            with pytest.raises(DataError) as error:
                call(given)
            assert str(error.value) == str(expected.value)


@pytest.mark.parametrize("shape", [(40_000, 20), (20, 20_000)])
def test_predicting_from_column_order_copies_no_more_than_blocks(shape):
    X, y = many(*shape)
    X = np.asfortranarray(X)
    engine = Engine("cusum").fit(X[:2000], y[:2000])
    engine.predict(X)
    tracemalloc.start()
    engine.predict(X)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < X.nbytes / 4


def test_fitting_column_order_makes_one_copy():
    X, y = many(40_000, 20)
    X = np.asfortranarray(X)
    for learn in (lambda: Engine("cusum", epochs=1, scale=True).fit(X, y), lambda: Engine("cusum", scale=False).partial_fit(X, y),
                  lambda: Engine("cusum", scale=True, classes=[1, 2, 3, 4]).partial_fit(X, y)):
        tracemalloc.start()
        learn()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert X.nbytes <= most < 1.5 * X.nbytes


def test_parts_in_python_see_rows_of_column_order():
    class Seen(PrefixArgmax):
        def argmax(self, scores, x):
            assert np.array_equal(x.rows, X[x.index:x.index + 1]) and x.rows.flags.c_contiguous
            return super().argmax(scores, x)

    X, y = many(1700, 20)
    engine = Engine("cusum", epochs=1, shuffle=False, scale=True, plugins=[Seen(4)]).fit(np.asfortranarray(X), y)
    plain = Engine("cusum", epochs=1, shuffle=False, scale=True).fit(X, y)
    assert np.array_equal(weights(engine), weights(plain))


# ---- sparse X ----

SPARSE = {kind.__name__: kind for kind in (
    sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array, sparse.coo_matrix, sparse.coo_array,
    sparse.bsr_matrix, sparse.dia_matrix, sparse.dok_matrix, sparse.lil_matrix)}


def altered(**changes):
    def alter(X):
        A = sparse.csr_matrix(X)
        for name, change in changes.items():
            setattr(A, name, change(getattr(A, name)))
        return A
    return alter


def duplicated(X):
    """The same matrix with every entry split into two, and with columns in falling order."""
    A = sparse.csr_matrix(X)
    indices, values, ends = [], [], [0]
    for i in range(A.shape[0]):
        at = np.arange(A.indptr[i], A.indptr[i + 1])[::-1]
        indices += [*A.indices[at], *A.indices[at]]
        values += [*(A.data[at] - 1), *np.ones(len(at))]
        ends.append(len(indices))
    return sparse.csr_matrix((np.array(values), np.array(indices), np.array(ends)), shape=A.shape)


SPARSE |= {
    "strided values": altered(data=lambda v: np.repeat(v, 2)[::2]),
    "strided indices": altered(indices=lambda v: np.repeat(v, 2)[::2]),
    "strided indptr": altered(indptr=lambda v: np.repeat(v, 2)[::2]),
    "indices of another width": altered(indices=lambda v: v.astype(np.int64)),
    "indptr of another width": altered(indptr=lambda v: v.astype(np.int64)),
    "byte-swapped": altered(data=lambda v: v.astype(">f8"), indices=lambda v: v.astype(">i4")),
    "room behind the end": altered(data=lambda v: np.append(v, np.nan), indices=lambda v: np.append(v, 0).astype(v.dtype)),
    "read-only": altered(data=read_only, indices=read_only, indptr=read_only),
    "explicit zeros": lambda X: sparse.csr_matrix((X.ravel(), np.tile(np.arange(X.shape[1]), len(X)),
                                                   np.arange(0, X.size + 1, X.shape[1])), shape=X.shape),
    "duplicates out of order": duplicated,
    "int64 values": lambda X: sparse.csr_matrix(X.astype(np.int64)),
    "blocks of one row": lambda X: [sparse.csr_array(X[i:i + 1]) for i in range(len(X))],
}


@pytest.mark.parametrize("update", RULES)
@pytest.mark.parametrize("form", SPARSE)
def test_every_form_of_sparse_rows_is_the_same_data(form, update):
    X, y = whole()
    X[7] = 0
    for problem in PROBLEMS if update == "perceptron" else ["cusum", "multiclass"]:
        assert_same(sparse.csr_matrix(X), y, SPARSE[form](X), y, problem, update=update)


@pytest.mark.parametrize("update", RULES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_sparse_rows_are_dense_rows(layout, update):
    X, y = whole()
    X[7] = 0
    for problem in PROBLEMS if update == "perceptron" else ["cusum", "multiclass"]:
        dense, other = (Engine(problem, update=update, average=True, epochs=3).fit(Z, y) for Z in (X, stored(X, layout)))
        np.testing.assert_allclose(weights(other), weights(dense), rtol=1e-10, atol=1e-12)
        assert other.mistakes_ == dense.mistakes_
        assert other.predict(stored(X, layout)).tolist() == dense.predict(X).tolist()


def test_duplicates_count_once_in_norms_whatever_the_rule_is_called():
    """If a rule or store is an object, its name does not show whether it needs norms."""
    X, y = whole()
    A = duplicated(X)
    for plugin in (PassiveAggressiveUpdate("pa"), PassiveAggressiveUpdate("pa2"), DualWeights()):
        dense, other = Engine("cusum", plugins=[plugin]).fit(X, y), Engine("cusum", plugins=[plugin]).fit(A, y)
        np.testing.assert_allclose(other.atom_scores(A), dense.atom_scores(X), rtol=1e-9, atol=1e-9)
        assert other.predict(A).tolist() == dense.predict(X).tolist()


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_model_reads_dense_and_sparse_rows_by_turns(problem):
    X, y = whole()
    chunks = [X, sparse.csr_matrix(X), X.astype(np.float32), sparse.csc_array(X)]
    engines = [Engine(problem, average=True), Engine(problem, average=True), Engine(problem, average=True)]
    for k in range(4):
        engines[0].partial_fit(X, y)
        engines[1].partial_fit(chunks[k], y)
        engines[2].partial_fit(chunks[::-1][k], y)
    for engine in engines[1:]:
        assert np.array_equal(weights(engine), weights(engines[0]))
        assert [engine.predict(Z).tolist() for Z in chunks] == [engines[0].predict(X).tolist()] * 4


# ---- blocks of rows ----


BLOCKS = {
    "arrays": lambda parts: parts,
    "a tuple": tuple,
    "whole numbers": lambda parts: [part.astype(int) for part in parts],
    "data frames": lambda parts: [pd.DataFrame(part) for part in parts],
    "sparse": lambda parts: [sparse.csr_matrix(part) for part in parts],
    "sparse and dense": lambda parts: [sparse.csr_matrix(part) if len(part) % 2 else part for part in parts],
}


@pytest.mark.parametrize("form", BLOCKS)
def test_every_form_of_blocks_is_the_same_data(form):
    X, _ = whole(30)
    offsets = np.array([0, 3, 3, 10, 11, 30])
    chosen = [(0, 2), (), (1, 5), (0,), (2, 3, 4, 17)]
    parts = [X[a:b] for a, b in zip(offsets, offsets[1:], strict=False)]
    whole_X = Engine(Subsets(), epochs=3).fit(X, chosen, offsets=offsets, record_predictions=True)
    for given, where in [(BLOCKS[form](parts), None), (X, offsets.tolist()), (X, offsets.astype(np.uint16)), (X, read_only(offsets)),
                         (sparse.csr_matrix(X), pd.Series(offsets))]:
        engine = Engine(Subsets(), epochs=3).fit(given, chosen, offsets=where, record_predictions=True)
        assert np.array_equal(engine.coef_, whole_X.coef_) and engine.mistakes_ == whole_X.mistakes_
        assert engine.predict(given, offsets=where).tolist() == whole_X.predict(X, offsets=offsets).tolist()
        assert engine.online_predictions_.tolist() == whole_X.online_predictions_.tolist()
        for scores, expected in zip(engine.atom_scores(given, offsets=where), parts, strict=True):
            assert np.array_equal(scores, expected @ engine.coef_)


def test_structures_may_name_their_atoms_in_any_form():
    X, _ = whole(10)
    forms = [[(0, 2), (1,)], [[2, 0], [1]], [{0, 2}, {1}], [np.array([0, 2]), np.array([1])], [range(0, 3, 2), range(1, 2)]]
    engines = [Engine(Subsets(), epochs=5).fit(X, chosen, offsets=[0, 4, 10]) for chosen in forms]
    for engine in engines[1:]:
        assert np.array_equal(engine.coef_, engines[0].coef_) and engine.mistakes_ == engines[0].mistakes_


# ---- reading in place, and references ----


class Peeking(PrefixArgmax):
    """Records the memory of the examples. The class stores it, because every fit creates its own component."""

    seen = None

    def argmax(self, scores, x):
        if not x.index:
            type(self).seen = x.rows
        return super().argmax(scores, x)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_fitting_arrays_are_read_in_place(kind, tmp_path):
    X, y = whole()
    for Z in (X.astype(kind), read_only(X.astype(kind)), memory_mapped(X.astype(kind), tmp_path), X.astype(kind)[10:]):
        for call in ("fit", "partial_fit"):
            getattr(Engine("cusum", plugins=[Peeking(4)]), call)(Z, y[-len(Z):])
            assert np.shares_memory(Peeking.seen, Z)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_training_takes_memory_per_example_but_not_per_value(layout):
    random = np.random.default_rng(0)
    n = 8000
    X, y = stored(random.normal(size=(n, 60)), layout), random.integers(1, 5, n)
    size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
    calls = [
        lambda: Engine("cusum", average=True, epochs=2).fit(X, y),
        lambda: Engine("cusum", update="pa1", C=0.01, epochs=2, shuffle=True).fit(X, y, sample_weight=y, record_predictions=True),
        lambda: Engine("prank").partial_fit(X, y).partial_fit(X, y),
    ]
    for call in calls:
        tracemalloc.start()
        call()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 60 * n < size / 3


def test_prediction_takes_memory_per_piece():
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 1000))
    engine = Engine("cusum").fit(X[:50], np.arange(50) % 3)
    for Z in (X, X.astype(np.float32)):
        tracemalloc.start()
        engine.predict(Z)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < Z.nbytes * (0.1 if Z is X else 0.7)


@pytest.mark.parametrize("sparse_X", [False, True])
@pytest.mark.parametrize("options", [{}, {"average": True}, {"plugins": ["dual-kernel"], "kernel": "rbf"}], ids=["plain", "mean", "kernel"])
@pytest.mark.parametrize("problem", ["multiclass", "prank", "sequence"])
def test_answers_do_not_depend_on_the_pieces_that_data_are_scored_in(problem, options, sparse_X, monkeypatch):
    X, y = whole(n=60, d=7)
    X = sparse.csr_array(X / 7) if sparse_X else X / 7
    where = {"lengths": [1, 9, 0, 20, 30]} if problem == "sequence" else {}
    if problem == "sequence":
        y = np.asarray(y)
    engine = Engine(problem, epochs=2, **options).fit(X, y, **where)
    whole_answers, whole_scores = engine.predict(X, **where).tolist(), [np.asarray(s).tobytes() for s in engine.atom_scores(X, **where)]
    for values in (1, 50, 1000):
        monkeypatch.setattr(matrices, "CHUNK_VALUES", values)
        assert engine.predict(X, **where).tolist() == whole_answers
        assert [np.asarray(s).tobytes() for s in engine.atom_scores(X, **where)] == whole_scores


@pytest.mark.parametrize("kind", ["dense", "sparse", "kernel", "sequence"])
def test_prediction_needs_little_memory_however_many_labels_there_are(kind):
    """The scores of all examples would need at least 48 MB."""
    random = np.random.default_rng(0)
    n, n_labels = (2000, 40) if kind == "sequence" else (20_000, 300)
    X, y = random.normal(size=(n, 2)), random.integers(0, n_labels, n)
    given = sparse.csr_array(X) if kind == "sparse" else X
    where = {"lengths": np.ones(n, dtype=int)} if kind == "sequence" else {}
    options = {} if kind in ("dense", "sparse") else {"plugins": ["dual-kernel"], "kernel": "linear", "budget": 5}
    engine = Engine("sequence" if where else "multiclass", classes=range(n_labels), **options)
    engine.partial_fit(given[:400], y[:400], **({"lengths": where["lengths"][:400]} if where else {}))
    tracemalloc.start()
    engine.predict(given, **where)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 28e6


def misaligned(array):
    """The same numbers at an address that is off by one byte."""
    moved = np.ndarray(array.shape, array.dtype, bytearray(array.nbytes + 1), offset=1)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, ">f8"])
def test_arrays_off_their_bytes_are_converted_once(dtype):
    """Compiled code reads an array in place only if it is aligned and in native byte order."""
    X, y = whole()
    given = misaligned(X.astype(dtype))
    assert_same(X, y, given, y)
    rows = read(given)
    assert rows.X.flags.aligned and rows.X.dtype.isnative and not np.shares_memory(rows.X, given)


def test_arrays_of_a_sparse_matrix_off_their_bytes_are_converted_once():
    X, y = whole()
    for part in ("data", "indices", "indptr"):
        given = sparse.csr_matrix(X)
        setattr(given, part, misaligned(getattr(given, part)))
        assert_same(X, y, given, y)
        rows = read(given)
        assert all(array.flags.aligned for array in (rows.X.data, rows.X.indices, rows.X.indptr))


def test_weights_and_costs_off_their_bytes_are_read():
    X, y = whole()
    weight, costs = np.arange(50) % 3.0, abs(y[:, None] - np.arange(1.0, 5.0))
    one = Engine("cusum", loss="costs", update="pa1", C=0.01).fit(X, y, sample_weight=weight, costs=costs)
    other = Engine("cusum", loss="costs", update="pa1", C=0.01).fit(X, y, sample_weight=misaligned(weight), costs=misaligned(costs))
    assert np.array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_an_engine_does_not_keep_the_data_alive(kind):
    engine = Engine("cusum")
    gc.disable()        # all that is new stays in the first generation
    try:
        for call in (engine.fit, engine.partial_fit, lambda X, y: engine.predict(X), lambda X, y: engine.atom_scores(X)):
            X, y = whole()
            X = kind(X)
            held = weakref.ref(X if isinstance(X, np.ndarray) else X.data)
            call(X, y)
            del X
            gc.collect(0)
            assert held() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_that_is_passed_is_changed(layout):
    X, y = whole()
    y = y.astype(float)
    X, costs, matrix, weight = stored(X, layout), abs(y[:, None] - [1, 2, 3, 4]), abs(np.subtract.outer(range(4), range(4))), y % 2
    given = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    given += [y, costs, matrix, weight]
    before = [array.copy() for array in given]
    for options, more in [({"update": "pa1", "shuffle": True, "average": True, "decay": 0.1}, {"sample_weight": weight}),
                          ({"loss": matrix, "loss_weight": 1.0}, {"record_predictions": True}),
                          ({"loss": "costs", "update": "pa"}, {"costs": costs})]:
        engine = Engine("cusum", epochs=2, **options).fit(X, y, **more)
        engine.predict(X)
        engine.atom_scores(X)
        engine.explain(X[:1])
        for array, copy in zip(given, before, strict=True):
            assert np.array_equal(array, copy)
            array.flags.writeable = False       # any later write raises an error


def test_a_cost_matrix_is_taken_as_it_is_when_it_is_given():
    X, y = whole()
    matrix = abs(np.subtract.outer(range(4), range(4))).astype(float)
    engine, expected = Engine("cusum", loss=matrix, update="pa"), Engine("cusum", loss=matrix.copy(), update="pa").fit(X, y)
    matrix[:] = 0
    assert engine.fit(X, y).cumulative_loss_ == expected.cumulative_loss_ > 0


# ---- y ----

LABELS = {
    "list": lambda y: y.tolist(),
    "tuple": lambda y: tuple(y.tolist()),
    "int8": lambda y: y.astype(np.int8),
    "uint8": lambda y: y.astype(np.uint8),
    "uint64": lambda y: y.astype(np.uint64),
    "float": lambda y: y.astype(float),
    "float32": lambda y: y.astype(np.float32),
    "object": lambda y: y.astype(object),
    "list of floats": lambda y: y.astype(float).tolist(),
    "list of numpy numbers": list,
    "list of arrays without dimension": lambda y: [np.array(label) for label in y],
    "byte-swapped": lambda y: y.astype(">i4"),
    "column": lambda y: y[:, None],
    "list of lists": lambda y: y[:, None].tolist(),
    "strided": lambda y: np.repeat(y, 2)[::2],
    "read-only": read_only,
    "series": lambda y: pd.Series(y, index=np.arange(len(y))[::-1] + 1000),
    "index": pd.Index,
    "nullable series": lambda y: pd.Series(y, dtype="Int64"),
    "categorical": lambda y: pd.Categorical(y),
    "ordered categorical": lambda y: pd.Categorical(y, ordered=True),
    "series of categories": lambda y: pd.Series(pd.Categorical(y, ordered=True)),
    "data frame": lambda y: pd.DataFrame({"rank": y}),
    "data frame whose column has the name of a label": lambda y: pd.DataFrame({1: y}),
}


@pytest.mark.parametrize("n", [50, 500])        # few labels are looked up one by one
@pytest.mark.parametrize("form", LABELS)
def test_every_form_of_labels_is_the_same_data(form, n):
    X, y = whole(n)
    for problem in PROBLEMS:
        assert_same(X, y, X, LABELS[form](y), problem)
        assert_same(X, y, X, LABELS[form](y), problem, classes=[1, 2, 3, 4])


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize(("names", "classes"), [
    (["poor", "fair", "good", "best"], ["poor", "fair", "good", "best"]),
    ([b"poor", b"fair", b"good", b"best"], [b"poor", b"fair", b"good", b"best"]),
    ([30, 10, 20, -5], [30, 10, 20, -5]),
    ([0.5, 1.5, 2.5, 3.5], None),
    ([-1, 0, 1, 2], None),
    ([10**9, 2 * 10**9, 3 * 10**9, 4 * 10**9], None),
    ([2**63, 2**63 + 1, 2**63 + 2, 2**63 + 3], None),
    ([2**70, 2**71, 2**72, 2**73], None),
    ([1, "two", 3.0, "four"], [1, "two", 3.0, "four"]),
], ids=str)
@pytest.mark.parametrize("n", [50, 500])
def test_labels_come_back_as_they_were_given(names, classes, problem, n):
    X, y = whole(n)
    engine, plain = Engine(problem, classes=classes), Engine(problem)
    given = [names[k - 1] for k in y]
    for _ in range(2):
        engine.partial_fit(X, given)
        plain.partial_fit(X, y)
        assert engine.classes_.tolist() == names
        assert engine.predict(X).tolist() == [names[k - 1] for k in plain.predict(X)]
        assert np.array_equal(weights(engine), weights(plain))
        assert [type(label) for label in engine.classes_.tolist()] == [type(label) for label in names]


def test_truth_values_are_labels():
    X, y = whole()
    for given in (y > 2, (y > 2).tolist(), pd.Series(y > 2)):
        engine = Engine("cusum").fit(X, given)
        assert engine.classes_.dtype == engine.predict(X).dtype == bool and engine.classes_.tolist() == [False, True]
        assert np.array_equal(engine.coef_, Engine("cusum").fit(X, (y > 2).astype(int)).coef_)


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("wrapped", [pd.Categorical, lambda *a, **k: pd.Series(pd.Categorical(*a, **k)),
                                     lambda *a, **k: pd.Series(pd.Categorical(*a, **k), index=range(50, 0, -1))])
def test_an_ordered_categorical_keeps_its_order_and_its_unused_categories(wrapped, problem):
    X, y = whole()
    order = ["worst", "low", "middle", "high", "best"]
    given = wrapped(np.array(order, dtype=object)[y - 1], categories=order, ordered=True)
    engine, plain = Engine(problem).fit(X, given), Engine(problem, classes=[1, 2, 3, 4, 5]).fit(X, y)
    assert engine.classes_.tolist() == order
    assert engine.predict(X).tolist() == [order[k - 1] for k in plain.predict(X)]
    assert Engine(problem, classes=order[::-1]).fit(X, given).classes_.tolist() == order[::-1]


def test_intervals_of_numbers_are_ordered_categories_once_they_are_texts():
    X, y = whole()
    levels = pd.cut(X @ np.arange(5.0), 4)
    with pytest.raises(DataError, match=r"label Interval\(.*which a model file cannot store. Use finite numbers or strings, such as str"):
        Engine("cusum").fit(X, levels)
    levels = levels.rename_categories(str)
    engine = Engine("cusum", epochs=30).fit(X, levels)
    assert engine.classes_.tolist() == list(levels.categories)
    assert np.mean(engine.predict(X) == np.asarray(levels)) > 0.5


def test_classes_fix_the_labels_and_their_order():
    X, y = whole()
    engine = Engine("cusum", classes=[4, 3, 2, 1, 0]).partial_fit(X[:1], [2])
    assert engine.classes_.tolist() == [4, 3, 2, 1, 0] and engine.coef_.shape == (5, 5)
    assert engine.mistakes_ == [1]
    turned = Engine("cusum", classes=[4, 3, 2, 1]).fit(X, y)
    assert np.array_equal(turned.coef_, Engine("cusum", classes=[1, 2, 3, 4]).fit(X, 5 - y).coef_)
    for classes in ((1, 2, 3, 4), np.array([1, 2, 3, 4]), pd.Index([1, 2, 3, 4]), range(1, 5), [1.0, 2.0, 3.0, 4.0]):
        assert np.array_equal(Engine("cusum", classes=classes).fit(X, y).coef_, Engine("cusum").fit(X, y).coef_)


@pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]"])
def test_times_are_no_weights(dtype):
    with pytest.raises(DataError, match="sample_weight is not a list of numbers"):
        PRank().fit([[0.0], [1.0], [2.0]], [1, 2, 2], sample_weight=np.arange(3).astype(dtype))


def test_a_number_stands_for_the_weight_of_every_example():
    X, y = whole()
    assert np.array_equal(Engine("cusum").fit(X, y, sample_weight=2).coef_, 2 * Engine("cusum").fit(X, y).coef_)


@pytest.mark.parametrize("form", [np.asarray, list, tuple, pd.Series, lambda w: w.astype(int), lambda w: w.astype(bool), read_only])
def test_every_form_of_sample_weights_is_the_same(form):
    X, y = whole()
    weight = (np.arange(50) % 3 > 0).astype(float)
    expected = Engine("cusum", epochs=2).fit(X, y, sample_weight=weight)
    engine = Engine("cusum", epochs=2).fit(X, y, sample_weight=form(weight))
    assert np.array_equal(engine.coef_, expected.coef_) and engine.mistakes_ == expected.mistakes_


def test_an_array_of_texts_is_the_list_of_them():
    words = ["ab", "ba", "abc", "b"]
    model = Engine("multiclass", plugins=["dual-kernel"], kernel="subsequence", epochs=2).fit(words, [1, 2, 1, 2])
    for form in (np.array(words), np.array(words, dtype=object), pd.Series(words)):
        given = Engine("multiclass", plugins=["dual-kernel"], kernel="subsequence", epochs=2).fit(form, [1, 2, 1, 2])
        assert given.predict(form).tolist() == model.predict(words).tolist() and isinstance(matrices.as_objects(form), list)
    for numbers in (np.array([None, "a"], dtype=object), np.array([1.0, "a"], dtype=object)):
        assert matrices.as_objects(numbers) is numbers
