from libc.stdint cimport int64_t
from structperc.core.component cimport Component
from structperc.core.features cimport Features, Parameter
from structperc.core.rows cimport Example, Rows
from structperc.core.schedules cimport Schedule


cdef class Weights(Component):
    cdef public Features features
    cdef readonly Py_ssize_t n_visited              # examples visited, T
    cdef double scale, scale_sum                # w = scale * stored weights; sum of the scales over the visited examples

    cdef int scores_c(self, Example x, double *s) noexcept nogil
    cdef int update_c(self, Example x, const double *c) noexcept nogil
    cdef double norm_c(self, Example x, const double *c) noexcept nogil
    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil
    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil
    cdef Py_ssize_t look_ahead_c(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) noexcept nogil
    cdef void prefetch_c(self, Example x) noexcept nogil


cdef class PrimalWeights(Weights):
    cdef readonly bint average
    cdef readonly double decay
    cdef Schedule schedule
    cdef Parameter p
    cdef double[::1] buffer, saved
    cdef int[::1] place                     # where each lazy row stands (0: nowhere yet); None: rows stand in order
    cdef int n_placed                       # rows in use, that of zeros among them
    cdef object _final, _mean               # kept from one prediction to the next
    cdef Py_ssize_t _final_visited, _mean_visited

    cdef int shrink(self) noexcept nogil
    cdef Py_ssize_t rows_in_use(self) noexcept nogil
    cdef take(self, PrimalWeights other, values)
