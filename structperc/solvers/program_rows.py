"""The rows of a program, and the check of vectors against them as they were given: exact for whole numbers, else up to rounding."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

EXACT = 2.0**53                 # sums of whole numbers below it have no rounding
UNIT = float(np.finfo(float).eps)
FURTHER = 8                     # units of rounding that a row may have beside one for each of its terms
AMOUNT = 1e-6                   # error of fractions of variables, relative to the sizes of a row's terms


class ProgramRows:
    """Rows low <= A v <= high, of which each is an inequality without a lower end, or an equation."""
    # matrix: array or csr_array of shape (n_rows, n)
    # low, high: float64 arrays of shape (n_rows,)
    # whole: bool array of shape (n_rows,), optional. Rows that came as whole numbers, not as floating point numbers. No rounding has made
    # them.

    def __init__(self, matrix, low, high, whole=None):
        self.matrix, self.low, self.high = matrix, low, high
        self.given_whole = np.zeros(len(high), dtype=bool) if whole is None else whole

    def part(self, rows, columns) -> ProgramRows:
        """The program of some rows and columns."""
        matrix = self.matrix[rows][:, columns]
        return ProgramRows(matrix, self.low[rows], self.high[rows], self.given_whole[rows])

    @cached_property
    def sizes(self):
        """The absolute values of the coefficients."""
        return abs(self.matrix)

    @cached_property
    def largest(self):
        """The largest absolute value of each row's coefficients."""
        if isinstance(self.sizes, np.ndarray):
            return self.sizes.max(axis=1, initial=0.0)
        return self.sizes.max(axis=1).toarray().ravel() if self.matrix.shape[1] else np.zeros(len(self.high))

    @cached_property
    def smallest(self):
        """The smallest absolute value of each row's coefficients that are not 0, inf without any."""
        if isinstance(self.sizes, np.ndarray):
            return np.where(self.sizes > 0, self.sizes, np.inf).min(axis=1, initial=np.inf)
        sizes = np.full(len(self.high), np.inf)
        np.minimum.at(sizes, np.repeat(np.arange(len(sizes)), self.n_terms), np.where(self.sizes.data > 0, self.sizes.data, np.inf))
        return sizes

    @cached_property
    def n_terms(self):
        return np.count_nonzero(self.matrix, axis=1) if isinstance(self.matrix, np.ndarray) else np.diff(self.matrix.indptr)

    @cached_property
    def whole(self):
        """Which rows have only whole numbers."""
        if isinstance(self.matrix, np.ndarray):
            own = (self.matrix == np.rint(self.matrix)).all(axis=1)
        else:
            broken = self.matrix.data != np.rint(self.matrix.data)
            own = np.bincount(np.repeat(np.arange(len(self.high)), self.n_terms)[broken], minlength=len(self.high)) == 0
        return own & (self.high == np.rint(self.high))

    @cached_property
    def long(self) -> dict:
        """Rows of whole numbers from 2**53 that rounding has not made: row -> (columns, coefficients, right side), as Python's ints."""
        found = {}
        for r in np.flatnonzero(self.whole & (self.sizes @ np.ones(self.matrix.shape[1]) + np.abs(self.high) >= EXACT)).tolist():
            columns, values = self.row(r)
            values, high = [int(value) for value in values], int(self.high[r])
            divisor = math.gcd(*values, high) or 1
            if self.given_whole[r] or (sum(map(abs, values)) + abs(high)) // divisor < EXACT:
                found[r] = columns, values, high
        return found

    def row(self, r):
        """Columns and coefficients of a row that are not 0."""
        if isinstance(self.matrix, np.ndarray):
            columns = np.flatnonzero(self.matrix[r])
            return columns, self.matrix[r, columns]
        inside = slice(self.matrix.indptr[r], self.matrix.indptr[r + 1])
        return self.matrix.indices[inside], self.matrix.data[inside]

    def wrong(self, v, share=AMOUNT):
        """Which rows each vector breaks, bool of shape (n_rows,) or (n_rows, n_vectors)."""
        # Rows of whole numbers are exact where the variables are whole too. Other rows may miss their right side by the rounding of their
        # own terms. With fractions of variables they may miss it by `share` of these terms.
        values, terms = self.matrix @ v, self.sizes @ np.abs(v)
        shape = (-1,) + (1,) * (v.ndim - 1)
        high, low = self.high.reshape(shape), self.low.reshape(shape)
        terms = terms + np.abs(high)
        slack = (self.n_terms + FURTHER).reshape(shape) * UNIT * terms
        slack[np.broadcast_to(self.whole.reshape(shape), slack.shape) & (terms < EXACT)] = 0.0
        fractional = v != np.rint(v)
        if fractional.any():
            parts = self.sizes @ fractional.astype(float) > 0
            slack = np.where(parts, share * (terms + self.largest.reshape(shape)), slack)
        broken = (values > high + slack) | (values < low - slack)
        for r, (columns, coefficients, side) in self.long.items():
            many = v[columns] if v.ndim == 2 else v[columns, None]
            for k in np.flatnonzero(~fractional[columns].reshape(many.shape).any(axis=0)):
                total = sum(a * int(one) for a, one in zip(coefficients, many[:, k], strict=True))
                broken.reshape(len(broken), -1)[r, k] = total > side or total < self.low[r]
        return broken


def power_of_two(sizes):
    """The powers of two that bring positive sizes to 1..2; 1 for 0. Products with them have no rounding."""
    return np.where(sizes > 0, np.ldexp(1.0, np.clip(1 - np.frexp(np.where(sizes > 0, sizes, 1.0))[1], -1021, 1021)), 1.0)


def times(rows, columns, matrix):
    """A matrix with its rows and columns multiplied."""
    if isinstance(matrix, np.ndarray):
        return matrix * rows[:, None] * columns
    of_entry = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return csr_array((matrix.data * rows[of_entry] * columns[matrix.indices], matrix.indices, matrix.indptr), shape=matrix.shape)
