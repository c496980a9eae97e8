"""Tests of damaged sparse matrices of all formats: inconsistent arrays raise a DataError before scipy converts them unchecked."""

import gc
from pathlib import Path

import numpy as np
import pytest
from plain import Engine
from scipy.sparse import bsr_array, coo_array, csc_array, csr_array

from structperc.errors import DataError
from structperc.estimators import OrdinalConformal
from structperc.solvers.pairwise_hinge import PairwiseProblem

X, y = np.round(np.random.default_rng(0).normal(size=(12, 4)) * 16) / 16 + 0.03125, np.arange(12) % 3 + 1
PACKAGE = Path(__file__).parents[2] / "structperc"       # an installed one lacks the .pyx files
ENGINE = Engine("cusum").fit(csr_array(X), y)


def changed(matrix, **parts):
    for name, value in parts.items():
        setattr(matrix, name, value)
    return matrix


def replaced(array, at, value):
    array = array.astype(np.int64)
    array[at] = value
    return array


CSC, COO, BSR = csc_array(X), coo_array(X), bsr_array(X, blocksize=(2, 2))


@pytest.mark.parametrize(("damaged", "why"), [
    (lambda: changed(csc_array(X), indptr=np.array([0, 12, 24, 2**40, 48])), "X.indptr is damaged: for 4 columns it must have 5 entries"),
    (lambda: changed(csc_array(X), indptr=replaced(CSC.indptr, 1, 2**62)), "X.indptr is damaged"),
    (lambda: changed(csc_array(X), indices=replaced(CSC.indices, 3, 2**40)), r"X.indices\[3\] \(column 0\) is 1099511627776, outside"),
    (lambda: changed(csc_array(X), indices=replaced(CSC.indices, 3, -1)), "outside the 12 rows"),
    (lambda: changed(csc_array(X), data=CSC.data[:5]), "X.indptr is damaged"),
    (lambda: changed(coo_array(X), row=COO.row[:5]), "X.row is damaged: it has 5 entries for the 48 values"),
    (lambda: changed(coo_array(X), row=replaced(COO.row, 7, 12)), r"X.row\[7\] is 12, outside the 12 rows"),
    (lambda: changed(coo_array(X), col=replaced(COO.col, 0, -5)), r"X.col\[0\] is -5, outside the 4 columns"),
    (lambda: changed(coo_array(X), data=COO.data[None]), "X.data has 2 dimensions"),
    (lambda: changed(BSR.copy(), indices=replaced(BSR.indices, 2, 9)), "outside the"),
    (lambda: changed(BSR.copy(), indptr=replaced(BSR.indptr, 2, 2**40)), "X.indptr is damaged: for 6 rows"),
    (lambda: changed(BSR.copy(), data=BSR.data.reshape(-1)), "that of a BSR matrix has blocks"),
    (lambda: changed(csr_array(X), indices=np.array("a")), "X.indices has 0 dimensions"),
    (lambda: changed(csr_array(X), indices=np.full(48, 1.5)), "X.indices is of type float64; expected whole numbers"),
    (lambda: changed(csr_array(X), indptr=np.array(12)), "X.indptr has 0 dimensions"),
    (lambda: changed(csr_array(X), data=np.zeros(48, "m8[s]")), "X.data is of type timedelta64.s.; expected numbers"),
    (lambda: changed(csr_array(X), data=np.zeros(48, "S2")), "X.data is of type .S2; expected numbers"),
    (lambda: changed(csc_array(X), data=np.zeros(48, "U1")), "X.data is of type <U1; expected numbers"),
])  # fmt: skip
def test_parts_that_do_not_fit_together_are_named(damaged, why):
    for call in (ENGINE.predict, ENGINE.atom_scores, lambda X: ENGINE.partial_fit(X, y), lambda X: Engine("cusum").fit(X, y)):
        with pytest.raises(DataError, match=why):
            call(damaged())
    with pytest.raises(DataError, match=why):
        Engine("sequence").fit([damaged(), X], [["a"] * 12] * 2)


@pytest.mark.parametrize(("axis", "value", "why"), [
    (0, 3, r"X.coords\[0\]\[5\] is 3, outside the 3 examples of X"),
    (1, -1, r"X.coords\[1\]\[5\] is -1, outside the 4 rows of X"),         # that of another row once rows of all examples have one number
    (2, 4, r"X.coords\[2\]\[5\] is 4, outside the 4 columns of X"),
])  # fmt: skip
def test_places_outside_an_array_of_three_dimensions_are_named(axis, value, why):
    damaged = coo_array(X.reshape(3, 4, 4))
    coords = list(damaged.coords)
    coords[axis] = replaced(coords[axis], 5, value)
    damaged.coords = tuple(coords)
    with pytest.raises(DataError, match=why):
        Engine("sequence").fit(damaged, [["a"] * 4] * 3)


def with_unused_entries(X):
    """The same CSR matrix with as many entries behind its last row as in its rows."""
    return changed(csr_array(X), indices=np.tile(csr_array(X).indices, 2), data=np.tile(csr_array(X).data, 2))


def test_entries_behind_the_last_row_do_not_count():
    """SciPy's choice of columns wrote them behind the end of its result, and Python ended at a later free()."""
    assert np.array_equal(Engine("cusum").fit(with_unused_entries(X), y).coef_, Engine("cusum").fit(csr_array(X), y).coef_)
    nodes = np.column_stack([np.arange(12) % 3, np.arange(12) % 3, X])
    labels, offsets = [["a", "b", "a"], ["b", "a", "b"]] * 2, [0, 3, 6, 9, 12]
    engines = [Engine("graph", epochs=2).fit(form(nodes), labels, offsets=offsets) for form in (with_unused_entries, csr_array, np.asarray)]
    assert [engine.coef_.tolist() for engine in engines] == [engines[0].coef_.tolist()] * 3
    assert [engine.predict(with_unused_entries(nodes), offsets=offsets).tolist() for engine in engines] == [
        engine.predict(nodes, offsets=offsets).tolist() for engine in engines]


def wide_places(X):
    """A CSR matrix whose row 7 begins far behind its values."""
    return changed(csr_array(X), indptr=replaced(csr_array(X).indptr, 7, 2**40))


@pytest.mark.parametrize("call", [
    lambda X: Engine("cusum").fit(X, y, groups=list("ababcabcabca")),
    lambda X: ENGINE.predict(X, groups=list("ababcabcabca")),
    lambda X: ENGINE.margins(X, groups=list("ababcabcabca")),
    lambda X: OrdinalConformal(Engine("cusum")).fit(X, y),
    lambda X: OrdinalConformal(ENGINE, prefit=True).fit(X, y),
    lambda X: PairwiseProblem(X, np.arange(12), np.array([0, 12]), np.array([1.0])),
])  # fmt: skip
def test_no_door_converts_what_it_has_not_checked(call):
    with pytest.raises(DataError, match="X.indptr is damaged"):
        call(wide_places(X))


def test_no_module_converts_matrices_on_its_own():
    """`basics.sparse_parts` checks the parts; the others here convert what they made or what has been read."""
    sources = [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx"), *PACKAGE.rglob("*.pxi")]

    assert {path.relative_to(PACKAGE).as_posix() for path in sources if ".tocsr(" in path.read_text()} == {
        "basics/sparse_parts.py", "core/rows.pyx", "counterfactuals/chains.py", "fitting/dependence.py",
        "fitting/scaling.py", "fitting/separation.py", "fitting/weighing.py", "metrics/clusters.py"}


@pytest.mark.parametrize("form", [csc_array, coo_array, bsr_array, lambda X: csr_array(X.astype("f4").astype("g"))])
def test_whole_matrices_of_other_formats_are_read(form):
    assert ENGINE.predict(form(X)).tolist() == ENGINE.predict(csr_array(X)).tolist()


@pytest.mark.parametrize("kernel", ["precomputed", lambda A, B: np.asarray(A @ B.T)])
def test_kernels_on_dense_rows_take_sparse_ones(kernel):
    rows = X @ X.T if kernel == "precomputed" else X
    engine = Engine("cusum", plugins=["dual-kernel"], kernel=kernel).fit(rows, y)

    assert engine.predict(csr_array(rows)).tolist() == engine.predict(rows).tolist()


def test_a_kernel_function_on_sparse_rows_takes_dense_ones():
    engine = Engine("cusum", plugins=["dual-kernel"], kernel=lambda A, B: (A @ B.T).toarray()).fit(csr_array(X), y)

    assert engine.predict(X).tolist() == engine.predict(csr_array(X)).tolist()


def test_engines_in_cycles_are_collected_without_a_word(capfd):
    trees = ["(S (A a) (B b))", "(S (A b) (B b))", "(S x)"] * 4
    engine = Engine("cusum", plugins=["dual-kernel"], kernel="subset-tree", budget=3).fit(trees, y)
    engine.itself = engine
    del engine
    gc.collect()

    assert capfd.readouterr().err == ""
