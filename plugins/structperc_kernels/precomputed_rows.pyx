# distutils: extra_compile_args = GLUE
"""All kernel values beforehand: X[i, j] is the kernel of row i with row j of the training data.

Typical sizes: 10^2..10^4 rows. Cost: reading a value.
"""
import numpy as np

from structperc.errors import DataError
from structperc.core.rows cimport Rows
from structperc.plugin_tools import taken
from structperc_kernels.compared_rows cimport ComparedKernelRows


cdef class PrecomputedKernelRows(ComparedKernelRows):
    """Precomputed kernel values: X[i, j] is the kernel of row i with row j of all training data. A slot has a column's number."""

    def start(self, context):
        if context.sparse or context.objects:
            raise DataError(f"X is {'sparse' if context.sparse else 'a list of objects'}, but kernel='precomputed' takes an array of "
                            f"kernel values, a row for each example and a column for each training example.")
        ComparedKernelRows.start(self, context)

    def settle_parameters(self, Rows rows):
        if rows.n_features < rows.n_rows:
            raise DataError(f"kernel='precomputed': X has {rows.n_rows} rows and {rows.n_features} columns; training needs a column for "
                            f"each row.")

    def taken(self, Rows rows, Py_ssize_t row, number):
        if number >= rows.n_features:
            raise DataError(f"kernel='precomputed': row {row} of X is row {number} of all training data, but X has no column for it; it "
                            f"has {rows.n_features}.")
        return number

    def compared(self, Rows rows, which, entries):
        return self.matrix(rows, which)[:, entries].astype(float)

    def support(self):
        return np.array(self.held, dtype=np.int64)

    def state(self):
        return {"columns": self.support()}

    def restore(self, state):
        self.held = taken(state, "columns", np.int64, (None,), low=0, high=self.n_features - 1).tolist()
        self.n = len(self.held)
