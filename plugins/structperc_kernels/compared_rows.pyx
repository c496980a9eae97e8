"""Stored rows that Python code compares with rows of X, a tile at a time.

Typical sizes: 10^2..10^4 rows. Cost: a call for 64 stored rows and 16 others at a time.
"""
import numpy as np

from libc.stdint cimport int64_t
from structperc.core.rows cimport Rows
from structperc_kernels.kernel_rows cimport LANES, Queries
from structperc_kernels.listed_rows cimport ListedKernelRows


cdef class RowsQueries(Queries):
    """The data set, and which rows of it stand in the lanes."""


cdef class ComparedKernelRows(ListedKernelRows):
    """Rows that are compared in Python: rows of X with stored entries, many at once. A subclass gives `taken`, `compared` and the rest."""

    def start(self, context):
        self.held, self.n, self.n_features, self.sparse = [], 0, context.n_features, context.sparse

    def empty(self):
        cdef ComparedKernelRows other = self.fresh()
        other.held, other.n, other.expensive, other.n_features, other.sparse = [], 0, self.expensive, self.n_features, self.sparse
        return other

    def select(self, slots):
        cdef ComparedKernelRows other = self.empty()
        other.held, other.n = [self.held[slot] for slot in slots], len(slots)
        return other

    def queries(self):
        return RowsQueries()

    def prepare(self, Queries q, Rows rows, const int64_t[::1] which):
        (<RowsQueries> q).rows, (<RowsQueries> q).which, q.n = rows, np.array(which), which.shape[0]

    def matrix(self, Rows rows, which):
        """Rows of X, sparse where those of the training are."""
        from scipy.sparse import csr_array, issparse
        X = rows.X[which]
        return X if issparse(X) == self.sparse else csr_array(X) if self.sparse else X.toarray()

    def compared(self, Rows rows, which, entries):
        """The kernel between rows of X and entries held, (rows, entries)."""
        raise self.missing("compared")

    cdef int tile_c(self, Queries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) noexcept nogil:
        cdef Py_ssize_t i, lane
        cdef const double[:, :] found
        with gil:
            try:
                which = (<RowsQueries> q).which[group * LANES:(group + 1) * LANES]
                found = self.compared((<RowsQueries> q).rows, which, [self.held[slots[i]] for i in range(n)])
                for i in range(n):
                    for lane in range(LANES):
                        values[i * LANES + lane] = found[min(lane, found.shape[0] - 1), i]
                return 0
            except BaseException as error:
                self.error = error
                return -1
