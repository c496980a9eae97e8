# Stored rows, and the kernel between them and the rows of an example.
from libc.stdint cimport int64_t
from structperc.core.component cimport Component
from structperc.core.rows cimport Example, Rows


# ---- kernel rows ----


cdef enum:
    LANES = 16              # queries that one tile compares with


cdef class Queries:
    cdef readonly Py_ssize_t n                  # rows prepared, in groups of LANES; lanes beyond n hold some row again


cdef class KernelRows(Component):
    cdef readonly Py_ssize_t n                  # rows stored, in the slots 0 .. n - 1
    cdef readonly bint expensive                # whether a kernel value costs so much that it is worth being cached
    cdef public bint fitted                     # whether the parameters that depend on data are settled
    cdef readonly Py_ssize_t rows_per_tile      # stored rows compared with all queries before the next ones: as many as a cache holds

    cdef int append_c(self, Example x, Py_ssize_t row, int64_t number) noexcept nogil
    cdef int overwrite_c(self, Py_ssize_t slot, Example x, Py_ssize_t row, int64_t number) noexcept nogil
    cdef int tile_c(self, Queries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) noexcept nogil


# ---- listed rows ----
# Stored rows whose slots are the entries of a list.


cdef class ListedKernelRows(KernelRows):
    cdef readonly list held                 # what `read_array` makes of rows of X


# ---- compared rows ----
# Stored rows that Python code compares with rows of X, a tile at a time.


cdef class RowsQueries(Queries):
    cdef Rows rows
    cdef object which


cdef class ComparedKernelRows(ListedKernelRows):
    cdef readonly Py_ssize_t n_features
    cdef bint sparse                        # whether the rows of the training are
