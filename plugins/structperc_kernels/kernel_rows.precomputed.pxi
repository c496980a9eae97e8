# All kernel values beforehand: X[i, j] is the kernel of row i with row j of the training data.
#
# Typical sizes: 10^2..10^4 rows. Cost: reading a value.


cdef class PrecomputedKernelRows(ComparedKernelRows):
    """Precomputed kernel values: X[i, j] is the kernel of row i with row j of all training data. A slot has a column's number.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from structperc.components import Rows
    >>> from structperc_kernels import PrecomputedKernelRows
    >>> kernel_rows = PrecomputedKernelRows()
    >>> kernel_rows.start(SimpleNamespace(n_features=2, sparse=False, objects=False))
    >>> rows = Rows(np.array([[1.0, 0.25], [0.25, 1.0]]))
    >>> kernel_rows.append(rows, 1)
    >>> kernel_rows.values(rows).tolist()
    [[0.25], [1.0]]
    """

    def start(self, context):
        if context.sparse or context.objects:
            raise DataError(f"X is {'sparse' if context.sparse else 'a list of objects'}, but kernel='precomputed' needs an array of "
                            f"kernel values. Pass a row for each example and a column for each training example.")
        ComparedKernelRows.start(self, context)

    def settle_parameters(self, Rows rows):
        if rows.n_features < rows.n_rows:
            raise DataError(f"kernel='precomputed': X has {rows.n_rows} rows and {rows.n_features} columns; training needs a column for "
                            f"each row.")

    def copied_row(self, Rows rows, Py_ssize_t row, number):
        if number >= rows.n_features:
            raise DataError(f"kernel='precomputed': row {row} of X is row {number} of all training data. X has no column for it; it "
                            f"has {rows.n_features}.")
        return number

    def compared(self, Rows rows, which, entries):
        return self.matrix(rows, which)[:, entries].astype(float)

    def support(self):
        return np.array(self.held, dtype=np.int64)

    def state(self):
        return {"columns": self.support()}

    def restore(self, state):
        self.held = read_array(state, "columns", np.int64, (None,), low=0, high=self.n_features - 1).tolist()
        self.n = len(self.held)
