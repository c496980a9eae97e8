# What training remembers of the rows of a fit from one visit to the next.
from libc.stdint cimport int64_t
from structperc.core.rows cimport Rows


cdef class ScoreCache:
    cdef readonly Rows rows
    cdef double[:, ::1] sums                    # of each row of X when it was last visited, by block
    cdef int64_t[::1] complete                  # how many changes these contain; -1: never visited
    cdef int[::1] slot                          # where each row is held; -1: nowhere
    cdef int[::1] changed                       # the log of changes: whose coefficients
    cdef double[:, ::1] by                      # and by how much
    cdef int64_t forgotten, n                   # changes are numbered; these are the numbers of the first one kept and of the next one
    cdef double[:, ::1] kept                    # kernel values of the first rows of X, by slot; NaN: not known
    cdef Py_ssize_t most_kept                   # doubles that these may take

    cdef int reserve(self, Py_ssize_t further, Py_ssize_t n_held) except -1
    cdef int make_room(self, Py_ssize_t n) except -1
    cdef void log(self, Py_ssize_t slot, const double *c) noexcept nogil
