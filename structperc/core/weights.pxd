# The base class of weight stores, and the store of w as a vector.
from libc.stdint cimport int64_t
from structperc.core.averaging cimport Averaging
from structperc.core.component cimport Component
from structperc.core.features cimport Features, Parameter
from structperc.core.rows cimport Example, Rows
from structperc.core.schedules cimport Schedule


cdef class Weights(Component):
    cdef public Features features
    cdef Averaging averaging                    # counts the visits of every store; the rest is for those with lazy averages and decay

    cdef int scores_c(self, Example x, double *s) noexcept nogil
    cdef int batch_scores_c(self, Example x, Py_ssize_t first, Py_ssize_t n, double *s) noexcept nogil
    cdef int update_c(self, Example x, const double *c) noexcept nogil
    cdef double norm_c(self, Example x, const double *c) noexcept nogil
    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil
    cdef void visited_c(self) noexcept nogil
    cdef Py_ssize_t look_ahead_c(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) noexcept nogil
    cdef void prefetch_c(self, Example x) noexcept nogil
    cdef averaged_on(self, Rows rows)


cdef class PrimalWeights(Weights):
    cdef readonly Schedule decay
    cdef Parameter p
    cdef bint constrained                   # whether the map moves weights to allowed ones after a step
    cdef double[::1] buffer, saved
    cdef int[::1] place                     # position of each lazy row (0: none yet); None: rows are in order
    cdef int[::1] marks                     # the same of rows that steps have touched since `Sharding.pull`, else 0; None: not pulled
    cdef int n_placed                       # rows in use, that of zeros among them
    cdef Py_ssize_t n_kept                  # further numbers that a subclass keeps of each weight, behind its running sum
    cdef object _final, _mean               # kept from one prediction to the next
    cdef Py_ssize_t _final_visited, _mean_visited
    cdef Py_ssize_t _final_rows             # how many rows of _final predictions have asked for; WHOLE: all are right

    cdef int shrink_c(self) noexcept nogil
    cdef void multiply_out_c(self) noexcept nogil
    cdef Py_ssize_t rows_in_use(self) noexcept nogil
    cdef touched_rows(self, Rows rows)
    cdef PrimalWeights mean_on(self, Rows rows)
    cdef project_all(self)
    cdef take(self, PrimalWeights other, where)
    cdef PrimalWeights empty(self)
