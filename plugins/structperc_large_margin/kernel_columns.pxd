# Columns of the kernel matrix of the training rows, computed sixteen at a time and kept while there is room.
from structperc.core.rows cimport Rows
from structperc_kernels.kernel_rows cimport KernelRows, Queries


cdef class KernelColumns:
    cdef readonly Py_ssize_t n                  # training rows
    cdef readonly Py_ssize_t room               # columns that are kept
    cdef readonly Py_ssize_t n_computed         # columns computed so far, a repetition counted again
    cdef readonly KernelRows kernel_rows
    cdef readonly object diagonal               # K(i, i), float64 array
    cdef Rows rows
    cdef Queries queries
    cdef int[::1] alive                         # rows that columns have values for, in ascending order
    cdef double[::1] memory                     # slots of as many numbers as there are rows alive, a column in each
    cdef int[::1] place, owner, newer, older    # the slot of a column; the column in a slot; neighbours of a slot by last use
    cdef Py_ssize_t used
    cdef int newest, oldest
    cdef double[::1] tile

    cdef int gram(self, const int *which, Py_ssize_t q, double *values) except -1
    cdef int add(self, const int *which, const double *coefficients, Py_ssize_t q, double *sums) except -1
    cdef int bring(self, const int *which, Py_ssize_t q, const double **columns) except -1
    cdef int compute(self, const int *which, Py_ssize_t q, double **to, const int *slots, Py_ssize_t n) except -1
    cdef int fill(self, Py_ssize_t group, const int *slots, Py_ssize_t m) except -1
    cdef double *column(self, int row) noexcept nogil
    cdef void touch(self, int slot) noexcept nogil
    cdef int claim(self, int row) noexcept nogil
    cdef void link(self, int slot) noexcept nogil
    cdef void disown(self, int row) noexcept nogil
