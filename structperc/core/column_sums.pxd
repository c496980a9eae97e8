# Exact sums of the columns of rows and of their squares, kept while a model learns.
cimport cython
from libc.stdint cimport int64_t
from structperc.core.inner_products cimport sp_rows
from structperc.core.rows cimport Rows


# ---- column sums ----


@cython.final
cdef class Digits:
    cdef object array                   # of each number the digits, that of the lowest unit first
    cdef int64_t[:, ::1] table          # the same
    cdef Py_ssize_t first, width        # the lowest unit

    cdef int hold(self, array, Py_ssize_t first) except -1
    cdef int reach(self, Py_ssize_t unit) except -1
    cdef int add(self, Py_ssize_t j, Py_ssize_t unit, int64_t digit) except -1 nogil
    cdef int carry(self) except -1
    cdef Digits copy(self)
    cdef int add_all(self, Digits other) except -1
    cdef state(self)
    cdef int restore(self, state, name, Py_ssize_t place) except -1


cdef class ColumnSums:
    cdef Digits number, sums, squares   # of weights, of weighted values, of weighted squares
    cdef bint squared                   # whether the squares are those of all rows
    cdef bint too_large                 # whether a value or a weight was
    cdef Py_ssize_t since               # rows that were added after digits were carried
    cdef double[:, ::1] kept            # single rows, which are added together
    cdef Py_ssize_t n_kept, most_kept

    cdef int add(self, Rows rows, weights) except -1
    cdef int add_block(self, Rows rows, weights) except -1
    cdef int make_room(self, Py_ssize_t n_rows) except -1
    cdef int add_rows(self, const sp_rows *x, Py_ssize_t row, Py_ssize_t n_rows, const double *weights) except -1
    cdef int keep(self, const sp_rows *x, Py_ssize_t row, Py_ssize_t n_rows) except -1
    cdef int add_kept(self) except -1
    cdef ColumnSums copy(self)
