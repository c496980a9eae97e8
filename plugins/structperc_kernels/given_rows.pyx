"""Banks for kernels that users bring: a function of two matrices, or all kernel values beforehand.

Typical sizes: 10^2..10^4 rows. Cost: a function is called for 64 rows held and 16 others at a time; values given beforehand are read.
"""
import numpy as np

from libc.stdint cimport int64_t
from structperc.core.errors import DataError, PluginError
from structperc.core.rows cimport Rows
from structperc_kernels.kernel_rows cimport LANES, Queries
from structperc_kernels.listed_rows cimport ListedKernelRows


cdef class RowsQueries(Queries):
    """The data set, and which rows of it stand in the lanes."""

    cdef Rows rows
    cdef object which


cdef class RowsBank(ListedKernelRows):
    """Shared by both: rows of X are compared with entries held, all at once."""

    cdef Py_ssize_t n_features

    def start(self, context):
        self.held, self.n, self.n_features = [], 0, context.n_features

    def empty(self):
        cdef RowsBank other = self.fresh()
        other.held, other.n, other.dear, other.counted, other.n_features = [], 0, self.dear, self.counted, self.n_features
        return other

    def select(self, slots):
        cdef RowsBank other = self.empty()
        other.held, other.n = [self.held[slot] for slot in slots], len(slots)
        return other

    def queries(self):
        return RowsQueries()

    def prepare(self, Queries q, Rows rows, const int64_t[::1] which):
        (<RowsQueries> q).rows, (<RowsQueries> q).which, q.n = rows, np.array(which), which.shape[0]

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


cdef class CallableKernelRows(RowsBank):
    """Rows that a function of Python compares.

    Parameters
    ----------
    kernel : callable
        kernel(A, B) for matrices of shapes (m, d) and (n, d), sparse where X is, returns an (m, n) array. It must be symmetric and positive
        semidefinite, which is not checked.
    """

    cdef object kernel

    def __init__(self, kernel):
        self.kernel, self.dear = kernel, True

    def taken(self, Rows rows, Py_ssize_t row):
        return rows.X[row:row + 1].copy()

    def key(self, Rows rows, Py_ssize_t row):
        X = rows.X[row:row + 1]
        if isinstance(X, np.ndarray):
            return (X + 0.0).astype(float).tobytes()            # -0.0 + 0.0 = 0.0
        there = X.data != 0
        return X.indices[there].astype(np.int64).tobytes() + X.data[there].astype(float).tobytes()

    def compared(self, Rows rows, which, entries):
        found = self.kernel(rows.X[which], stacked(entries))
        found = found.toarray() if hasattr(found, "toarray") else np.asarray(found)     # of sparse rows it may be sparse
        if found.shape != (len(which), len(entries)) or found.dtype.kind not in "fiub":
            raise PluginError(f"the kernel {self.kernel!r} answered an array of shape {found.shape} and type {found.dtype} for "
                              f"{len(which)} and {len(entries)} rows; expected numbers of shape {(len(which), len(entries))}.")
        return found.astype(float)

    def support(self):
        return stacked(self.held) if self.held else np.zeros((0, self.n_features))

    def state(self):
        rows = self.support()
        if isinstance(rows, np.ndarray):
            return {"rows": rows}
        return {"values": rows.data, "indices": rows.indices, "indptr": rows.indptr}

    def restore(self, state):
        from scipy.sparse import csr_array
        rows = state["rows"] if "rows" in state else csr_array((state["values"], state["indices"], state["indptr"]),
                                                               shape=(len(state["indptr"]) - 1, self.n_features))
        if rows.ndim != 2 or rows.dtype.kind != "f" or rows.shape[1] != self.n_features:
            raise DataError(f"the saved rows are {rows.dtype} of shape {rows.shape}; expected numbers of shape (n, {self.n_features}).")
        if not isinstance(rows, np.ndarray):
            rows.check_format(full_check=True)      # a ValueError for indices that are none
        self.held, self.n = [rows[i:i + 1] for i in range(rows.shape[0])], rows.shape[0]


def stacked(rows):
    """Rows, each a matrix of one row, as one matrix."""
    from scipy.sparse import vstack
    return np.concatenate(rows) if isinstance(rows[0], np.ndarray) else vstack(rows, format="csr")


cdef class PrecomputedKernelRows(RowsBank):
    """All kernel values beforehand: X[i, j] is the kernel of row i with row j of all training data; a slot holds a column's number."""

    def start(self, context):
        if context.sparse or context.objects:
            raise DataError(f"X is {'sparse' if context.sparse else 'a list of objects'}, but kernel='precomputed' takes an array of kernel "
                            f"values, a row for each example and a column for each training example.")
        RowsBank.start(self, context)

    def look_at(self, Rows rows):
        if rows.n_features < rows.n_rows:
            raise DataError(f"kernel='precomputed': X has {rows.n_rows} rows and {rows.n_features} columns; training needs a column for "
                            f"each row.")

    def taken(self, Rows rows, Py_ssize_t row):
        number = self.counted + row
        if number >= rows.n_features:
            raise DataError(f"kernel='precomputed': row {row} of X is row {number} of all training data, but X has no column for it; it "
                            f"has {rows.n_features}.")
        return number

    def compared(self, Rows rows, which, entries):
        return rows.X[which[:, None], entries].astype(float)

    def support(self):
        return np.array(self.held, dtype=np.int64)

    def state(self):
        return {"columns": self.support()}

    def restore(self, state):
        columns = np.asarray(state["columns"])
        if (columns.ndim != 1 or columns.dtype != np.int64
                or len(columns) and not 0 <= columns.min() <= columns.max() < self.n_features):
            raise DataError(f"the saved numbers of columns are {columns.dtype} of shape {columns.shape}, or not all from 0 to "
                            f"{self.n_features - 1}.")
        self.held = columns.tolist()
        self.n = len(self.held)
