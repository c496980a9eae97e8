# Rows that the user's function compares.
#
# Typical sizes: 10^2..10^4 rows. Cost: the function is called for 64 stored rows and 16 others at a time.


FLOATS, INTEGERS = (np.float64, np.float32), (np.int32, np.int64)


cdef class CallableKernelRows(ComparedKernelRows):
    """Rows that a Python function compares.

    Parameters
    ----------
    kernel : callable
        kernel(A, B) for matrices of shapes (m, d) and (n, d), sparse if X is, returns an (m, n) array. It must be symmetric and positive
        semidefinite, which is not checked.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from structperc.components import Rows
    >>> from structperc_kernels import CallableKernelRows
    >>> kernel_rows = CallableKernelRows(lambda A, B: A @ B.T)
    >>> kernel_rows.start(SimpleNamespace(n_features=2, sparse=False))
    >>> rows = Rows(np.array([[1.0, 0.0], [3.0, 4.0]]))
    >>> kernel_rows.append(rows, 1)
    >>> kernel_rows.values(rows).tolist()
    [[3.0], [25.0]]
    """

    cdef object kernel

    def __init__(self, kernel):
        self.kernel, self.expensive = kernel, True

    def copied_row(self, Rows rows, Py_ssize_t row, number):
        return self.matrix(rows, slice(row, row + 1)).copy()

    def key(self, Rows rows, Py_ssize_t row):
        X = self.matrix(rows, slice(row, row + 1))
        if isinstance(X, np.ndarray):
            return (X + 0.0).astype(float).tobytes()            # -0.0 + 0.0 = 0.0
        there = X.data != 0
        return X.indices[there].astype(np.int64).tobytes() + X.data[there].astype(float).tobytes()

    def compared(self, Rows rows, which, entries):
        values = self.kernel(self.matrix(rows, which), stacked(entries))
        values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)     # of sparse rows it may be sparse
        if values.shape != (len(which), len(entries)) or values.dtype.kind not in "fiub":
            raise PluginError(f"the kernel {self.kernel!r} returned an array of shape {values.shape} and type {values.dtype} for "
                              f"{len(which)} and {len(entries)} rows. Return numbers of shape {(len(which), len(entries))}.")
        return values.astype(float)

    def support(self):
        return stacked(self.held) if self.held else np.zeros((0, self.n_features))

    def state(self):
        rows = self.support()
        return {"rows": rows} if isinstance(rows, np.ndarray) else {"values": rows.data, "indices": rows.indices, "indptr": rows.indptr}

    def fingerprint(self):
        return self.few_values()

    def restore(self, state):
        if self.sparse == ("rows" in state):
            raise DataError(f"the saved rows are {'dense' if self.sparse else 'sparse'}, but the rows of the training are not.")
        rows = self.saved_csr(state) if self.sparse else read_array(state, "rows", FLOATS, (None, self.n_features))
        self.held, self.n = [rows[i:i + 1] for i in range(rows.shape[0])], rows.shape[0]

    def saved_csr(self, state):
        """Reads the sparse rows of a saved state. Returns a scipy.sparse.csr_array of shape (n, n_features).
        Raises `DataError` if an array is missing or invalid.

        Parameters
        ----------
        state : dict of arrays
            "values", "indices" and "indptr", as `state` returns them.
        """
        from scipy.sparse import csr_array
        values = read_array(state, "values", FLOATS, (None,))
        indices = read_array(state, "indices", INTEGERS, (len(values),), low=0, high=self.n_features - 1)
        starts = read_array(state, "indptr", INTEGERS, (None,))
        check_starts("row starts", starts, len(values))
        return csr_array((values, indices, starts), shape=(len(starts) - 1, self.n_features))


def stacked(rows):
    """Rows, each a matrix of one row, as one matrix."""
    from scipy.sparse import vstack
    return np.concatenate(rows) if isinstance(rows[0], np.ndarray) else vstack(rows, format="csr")
