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


cdef class RowTable:
    cdef Py_ssize_t n_rows, n_on_demand
    cdef Py_ssize_t n_zeros                 # rows of zeros before all others
    cdef Py_ssize_t first_fixed             # position of the first row that is not on demand

    cdef int show(self, Parameter *p) except -1
    cdef Py_ssize_t n_used(self) noexcept nogil
    cdef Py_ssize_t n_used_with(self, columns) except -1
    cdef where(self, rows)
    cdef claimed(self, rows)
    cdef used(self, RowTable other)
    cdef changed(self, RowTable other)
    cdef int watch(self, Parameter *p) except -1
    cdef in_order(self, values)
    cdef by_position(self, values)
    cdef int share(self, RowTable other, Parameter *p) except -1
    cdef dict state(self)
    cdef saved(self, state)
    cdef int settle(self, columns) except -1
    cdef copied(self)
    cdef int put_back(self, Py_ssize_t n_used, positions, new) except -1


cdef class PlacedRows(RowTable):
    cdef int[::1] place                     # position of each row on demand; 0: none yet
    cdef int[::1] marks                     # the same of those that steps have touched since `watch`, else 0; None: not watched
    cdef int n_placed
    cdef Py_ssize_t n_first                 # position of the first row on demand

    cdef with_fixed(self, place)


cdef class PrimalWeights(Weights):
    cdef readonly Schedule decay
    cdef Parameter p
    cdef bint constrained                   # whether the map moves weights to allowed ones after a step
    cdef double[::1] buffer, saved
    cdef RowTable rows
    cdef Py_ssize_t n_kept                  # further numbers that a subclass keeps of each weight, behind its running sum
    cdef object _final, _mean               # kept from one prediction to the next
    cdef Py_ssize_t _final_visited, _mean_visited
    cdef Py_ssize_t _final_rows             # how many rows of _final predictions have asked for; WHOLE: all are right

    cdef int shrink_c(self) noexcept nogil
    cdef void multiply_out_c(self) noexcept nogil
    cdef touched_rows(self, Rows rows)
    cdef PrimalWeights mean_on(self, Rows rows)
    cdef project_all(self)
    cdef take(self, PrimalWeights other, where)
    cdef PrimalWeights empty(self)
