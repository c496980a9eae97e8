"""Durations and complex numbers, which NumPy counts among numbers, and numbers beyond compiled ones."""

import datetime

import numpy as np
import pytest
from plain import Engine

from structperc.errors import DataError
from structperc.estimators import PRank
from structperc.solvers import ILP


@pytest.mark.parametrize("k", [2**31, 2**63, 2**64 + 1, np.uint64(2**63)])
def test_a_large_k_lists_all_outputs(k):
    X, y = [[["a"], ["b"]], [["b"]]], [["x", "y"], ["y"]]
    engine = Engine("sequence", epochs=2, n_hashed=64).fit(X, y)
    assert [len(ranked) for ranked in engine.predict([*X, []], k=k)] == [4, 2, 1]
    assert [len(ranked) for ranked in Engine("cusum").fit(np.eye(3), [1, 2, 3]).predict(np.eye(3), k=k)] == [3, 3, 3]


@pytest.mark.parametrize("cell", [np.timedelta64(1, "D"), np.timedelta64(1, "ns"), np.timedelta64(3, "h"), datetime.timedelta(1), 1j])
def test_durations_and_complex_numbers_are_no_numbers(cell):
    block = np.array([[0, 0, 1.5], [1, 1, 0.5], [0, 1, 1.0]], dtype=object)
    engine = Engine("graph", epochs=1).fit([block.astype(float)] * 2, [["a", "b"], ["b", "a"]])
    for column in (1, 2):
        odd = block.copy()
        odd[1, column] = cell
        with pytest.raises(DataError):
            engine.predict([odd])
        with pytest.raises(DataError):
            Engine("graph", epochs=1).fit([odd], [["a", "b"]])
    plain = np.array([[1.0, 2.0], [3.0, cell]], dtype=object)
    for fit in (Engine("cusum").fit, PRank().fit):
        with pytest.raises(DataError, match=r"X\[1, 1\]"):
            fit(plain, [1, 2])


def test_rows_whose_bounds_overflow_are_named_where_others_contradict():
    program = ILP([[1e-300, 1.0, 1.0], [-1.0, -1.0, -1.0]], [1e308, -5.0])
    with pytest.raises(DataError, match="row 1 of A"):
        program.solve([1.0, 2.0, 3.0])
