# The dual weight store.
from libc.stdint cimport int64_t
from structperc.core.component cimport Component
from structperc.core.features cimport Features
from structperc.core.weights cimport Weights
from structperc.core.rows cimport Example, Rows
from structperc.core.schedules cimport Schedule
from structperc_kernels.kernel_rows cimport KernelRows, Queries
from structperc_dual_kernel.expansion cimport ExplicitPart
from structperc_dual_kernel.support_set cimport SupportSet
from structperc_dual_kernel.score_cache cimport ScoreCache


cdef class DualWeights(Weights):
    cdef readonly SupportSet held
    cdef readonly ExplicitPart own
    cdef readonly ScoreCache memory
    cdef Schedule schedule
    cdef readonly object options
    cdef object random
    cdef object moving                          # a lock: rows give way, or are copied for predictions
    cdef Py_ssize_t n_blocks
    cdef int64_t counted, coming                # the number of the first row of X, and of the next data's
    cdef Rows attended                          # the data that all passes of this fit visit

    # the block of examples that was looked at ahead
    cdef Rows source                            # its data set; None: there is no such block
    cdef bint remembers                         # whether this is the data of `memory`
    cdef Queries queries
    cdef double[:, :, ::1] sums                 # so far, by group, block and lane
    cdef int64_t[::1] row, lane                 # in order of visits: each row's number in X, and the lane where it stands
    cdef int64_t[::1] lane_row, since           # by lane: the number of its row; from which change on its sums are to be completed
    cdef int64_t[::1] first, example            # of each example: its first place in that order; its number
    cdef int64_t[::1] lacks                     # of each group: the first change that its sums lack
    cdef int64_t[::1] left                      # of each group: rows that are not visited yet
    cdef unsigned char[::1] visited             # by lane
    cdef Py_ssize_t n_groups, n_examples, at    # at: examples visited
    cdef Example window
    # the example that was visited last
    cdef double[:, ::1] own_sums, moved         # of its rows, by block: the sums; coefficients of a step
    cdef unsigned char[::1] moves               # which rows have some
    cdef double[:, ::1] values                  # kernel between some rows of an example and a group
    cdef int[::1] slots
    cdef KernelRows scratch                           # for those rows; None: made when it is needed
    cdef bint looked                            # whether the kernel_rows has seen data

    cdef Py_ssize_t look_ahead(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) except -1
    cdef int complete(self) noexcept nogil
    cdef int add(self, Py_ssize_t group, int64_t first, int64_t last, bint afresh) noexcept nogil
    cdef int tile(self, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values, int64_t first) noexcept nogil
    cdef void change(self, Py_ssize_t slot, const double *c) noexcept nogil
    cdef bint is_current(self, Example x) noexcept nogil
    cdef int turn_to(self, Example x) noexcept nogil
    cdef int spread(self, Example x, const double *c) noexcept nogil
    cdef int take_step(self, Example x, Py_ssize_t row, const double *c) noexcept nogil
    cdef double row_norm(self, Example x) noexcept nogil
    cdef int shrink_c(self) noexcept nogil
    cdef int failed(self, Component part) noexcept nogil
    cdef Py_ssize_t slot_for(self, Example x, Py_ssize_t row) except -1
    cdef object _final
    cdef Py_ssize_t _final_visited
