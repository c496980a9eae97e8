"""The matching of an example of largest score, and the k best.

Typical sizes: 4 .. 400 pairs. Cost: about two microseconds an example beside scipy's assignment.
"""
import numpy as np
from scipy.optimize import linear_sum_assignment

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int64_t
from structperc.core.argmax cimport Argmax
from structperc.core.rows cimport Example
from structperc.errors import DataError, PluginError
from structperc.plugin_tools import key_note, of_keys, table_width
from structperc.solvers.matchings import k_best_matchings, match_pairs

__all__ = ["Assignment"]

MOST_CELLS = 16_000_000         # of the tables of k best matchings


cdef class Assignment(Argmax):
    """The matching of largest score, perfect or partial; at a tie scipy's choice, the same each time.

    Parameters
    ----------
    perfect : bool
    """

    cdef bint perfect

    def __init__(self, bint perfect):
        self.perfect = perfect

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        with gil:
            try:
                return self.search(x, s, y)
            except BaseException as error:
                self.error = error
                return -1

    cdef Py_ssize_t search(self, Example x, const double *s, int *y) except -1:
        cdef Py_ssize_t a, i, m, n = 0, n_atoms = x.n_atoms
        cdef bint forbids = False
        cdef double least = -INFINITY if self.perfect else 0, size = 0
        cdef double[::1] cells
        cdef const int64_t[::1] rows, columns
        values = np.empty(n_atoms)
        cells = values
        for a in range(n_atoms):
            cells[a] = s[a] if s[a] > least else least
            if s[a] == -INFINITY:
                forbids = True
            else:
                size += fabs(s[a])
        m = of_keys(x, "table width", width_of)
        if not m or self.perfect and forbids or not size <= DBL_MAX / 4:
            for a in self.matched(np.array(<const double[:n_atoms]> s) if n_atoms else values, x).tolist():
                y[n] = a
                n += 1
            return n
        rows, columns = linear_sum_assignment(values.reshape(-1, m), maximize=True)
        for i in range(rows.shape[0]):
            a = rows[i] * m + columns[i]
            if self.perfect or s[a] > 0:
                y[n] = a
                n += 1
        return n

    def matched(self, scores, x):
        """The chosen pairs, by any lists of them. An error names the example."""
        try:
            return match_pairs(*x.keys.T, scores, bool(self.perfect))
        except DataError as error:
            raise DataError(f"example {x.index} cannot be matched: {error}{key_note(x)}") from None

    def k_best(self, scores, Example x, k):
        names, (left, right) = zip(*(np.unique(ends, return_inverse=True) for ends in x.keys.T), strict=True)
        n, m = map(len, names)
        if n * m > MOST_CELLS:
            raise PluginError(f"example {x.index} has {n} left and {m} right items; further matchings are listed of at most {MOST_CELLS} "
                              f"pairs of items.")
        table, which = np.full((n, m), -np.inf), np.full((n, m), -1)
        table[left, right], which[left, right] = scores, np.arange(len(left))
        first, chosen = np.full(n, -1), list(self.argmax(np.ascontiguousarray(scores, dtype=float), x))
        first[left[chosen]] = right[chosen]
        ranked = k_best_matchings(table, k, bool(self.perfect), first)
        return [(tuple(sorted(which[partners >= 0, partners[partners >= 0]].tolist())), score) for partners, score in ranked]


def width_of(x):
    """The number of right items if all pairs with the left ones are there, row by row; else 0."""
    return table_width(*x.keys.T)
