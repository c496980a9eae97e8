# distutils: extra_compile_args = GLUE
"""Rows that a function of the user's compares.

Typical sizes: 10^2..10^4 rows. Cost: the function is called for 64 stored rows and 16 others at a time.
"""
import numpy as np

from structperc.errors import DataError, PluginError
from structperc.core.rows cimport Rows
from structperc.plugin_tools import check_starts, taken
from structperc_kernels.compared_rows cimport ComparedKernelRows

FLOATS, INTEGERS = (np.float64, np.float32), (np.int32, np.int64)


cdef class CallableKernelRows(ComparedKernelRows):
    """Rows that a function of Python compares.

    Parameters
    ----------
    kernel : callable
        kernel(A, B) for matrices of shapes (m, d) and (n, d), sparse where X is, returns an (m, n) array. It must be symmetric and positive
        semidefinite, which is not checked.
    """

    cdef object kernel

    def __init__(self, kernel):
        self.kernel, self.expensive = kernel, True

    def taken(self, Rows rows, Py_ssize_t row, number):
        return self.matrix(rows, slice(row, row + 1)).copy()

    def key(self, Rows rows, Py_ssize_t row):
        X = self.matrix(rows, slice(row, row + 1))
        if isinstance(X, np.ndarray):
            return (X + 0.0).astype(float).tobytes()            # -0.0 + 0.0 = 0.0
        there = X.data != 0
        return X.indices[there].astype(np.int64).tobytes() + X.data[there].astype(float).tobytes()

    def compared(self, Rows rows, which, entries):
        found = self.kernel(self.matrix(rows, which), stacked(entries))
        found = found.toarray() if hasattr(found, "toarray") else np.asarray(found)     # of sparse rows it may be sparse
        if found.shape != (len(which), len(entries)) or found.dtype.kind not in "fiub":
            raise PluginError(f"the kernel {self.kernel!r} answered an array of shape {found.shape} and type {found.dtype} for "
                              f"{len(which)} and {len(entries)} rows; expected numbers of shape {(len(which), len(entries))}.")
        return found.astype(float)

    def support(self):
        return stacked(self.held) if self.held else np.zeros((0, self.n_features))

    def state(self):
        rows = self.support()
        return {"rows": rows} if isinstance(rows, np.ndarray) else {"values": rows.data, "indices": rows.indices, "indptr": rows.indptr}

    def probe(self):
        return self.few_values()

    def restore(self, state):
        if self.sparse == ("rows" in state):
            raise DataError(f"the saved rows are {'dense' if self.sparse else 'sparse'}, but the rows of the training are not.")
        rows = self.saved_csr(state) if self.sparse else taken(state, "rows", FLOATS, (None, self.n_features))
        self.held, self.n = [rows[i:i + 1] for i in range(rows.shape[0])], rows.shape[0]

    def saved_csr(self, state):
        """The sparse matrix of the rows."""
        from scipy.sparse import csr_array
        values = taken(state, "values", FLOATS, (None,))
        indices = taken(state, "indices", INTEGERS, (len(values),), low=0, high=self.n_features - 1)
        starts = taken(state, "indptr", INTEGERS, (None,))
        check_starts("row starts", starts, len(values))
        return csr_array((values, indices, starts), shape=(len(starts) - 1, self.n_features))


def stacked(rows):
    """Rows, each a matrix of one row, as one matrix."""
    from scipy.sparse import vstack
    return np.concatenate(rows) if isinstance(rows[0], np.ndarray) else vstack(rows, format="csr")
