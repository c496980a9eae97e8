# Sums and sums of squares of the columns of rows, kept while a model learns.
from structperc.core.rows cimport Rows


# ---- column sums ----


cdef class ColumnSums:
    cdef public double n_rows           # how many rows, or the sum of their weights
    cdef double[::1] _centre, _sums, _squares       # sums of distances from the centre, and of their squares
    cdef bint squared                   # whether the squares are those of all rows
    cdef object _away                   # columns whose centre is not 0; None: not looked up yet
    cdef double[::1] _stored            # zeros between calls; in a call the weight of the sparse rows that store each such column

    cdef begin(self, centre, bint squared)
    cdef int add(self, Rows rows, weights) except -1
    cdef away_from_zero(self, Rows rows)
