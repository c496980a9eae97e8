# The scores of a batch, one example after the other.
from libc.stdint cimport int64_t


cdef class Scores:
    cdef const double[::1] scores

    cdef const double *of_c(self, Py_ssize_t i, Py_ssize_t begin, double *room) noexcept nogil


cdef class Shared:
    cdef const int64_t[::1] begins
    cdef Py_ssize_t n_labels, n_common, n_sentences


cdef class SharedScores(Scores):
    cdef Shared shared
    cdef double[::1] common
    cdef bint common_means              # whether it has neither NaN nor +inf
    cdef const float[::1] narrow        # the scores of tokens,
    cdef const double[::1] wide         # in one of two types
