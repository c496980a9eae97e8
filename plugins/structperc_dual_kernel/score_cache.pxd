# What training keeps of the rows of a fit from one visit to the next.
from libc.stdint cimport int64_t
from structperc.core.rows cimport Rows


cdef class ScoreCache:
    cdef readonly Rows rows
    cdef double[:, ::1] sums                    # of each row of X at its last visit, by block
    cdef int64_t[::1] changes_seen              # the number of changes that these contain; -1: never visited
    cdef int[::1] slot                          # the slot of each row; -1: it is not stored
    cdef int[::1] changed_slot                  # the log of changes: the slot whose coefficients changed,
    cdef double[:, ::1] change                  # and by how much
    cdef int64_t first_change, n_changes        # the number of the oldest change that the log holds, and of the next one
    cdef double[:, ::1] values                  # kernel values of the first rows of X, by slot; NaN: not known
    cdef Py_ssize_t most_values                 # doubles that these may take

    cdef int reserve(self, Py_ssize_t further, Py_ssize_t n_stored) except -1
    cdef int make_room(self, Py_ssize_t n) except -1
    cdef void log(self, Py_ssize_t slot, const double *c) noexcept nogil
