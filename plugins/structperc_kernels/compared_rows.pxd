# Stored rows that Python code compares with rows of X, a tile at a time.
from structperc.core.rows cimport Rows
from structperc_kernels.kernel_rows cimport Queries
from structperc_kernels.listed_rows cimport ListedKernelRows


cdef class RowsQueries(Queries):
    cdef Rows rows
    cdef object which


cdef class ComparedKernelRows(ListedKernelRows):
    cdef readonly Py_ssize_t n_features
    cdef bint sparse                        # whether the rows of the training are
