# The rows of the examples that are visited next, scored together.
from libc.stdint cimport int64_t
from structperc.core.rows cimport Example, Rows
from structperc_kernels.kernel_rows cimport Queries
from structperc_dual_kernel.expansion cimport ScoreCache, SupportSet


cdef class LookAhead:
    cdef SupportSet support
    cdef readonly ScoreCache cache                   # None: nothing is kept from one visit to the next
    cdef readonly Rows rows                     # the data set of the block; None: there is no block
    cdef bint uses_cache                        # whether it is the data set of the cache
    cdef Queries queries
    cdef Example window
    cdef Py_ssize_t n_blocks, n_groups
    cdef double[:, :, ::1] sums                 # at the present weights, by group, block and lane
    # by place in the order of visits
    cdef int64_t[::1] row_at, lane_at           # the number of each row in X, and its lane
    # by example of the block
    cdef int64_t[::1] example, first_place
    cdef Py_ssize_t n_examples, n_visited
    # by lane
    cdef int64_t[::1] row_of_lane, changes_seen
    cdef unsigned char[::1] is_visited
    # by group of lanes
    cdef int64_t[::1] first_missing             # the first change that its sums lack
    cdef int64_t[::1] n_unvisited               # rows that are still to be visited

    cdef void begin(self, ScoreCache cache) except *
    cdef void let_go(self) noexcept
    cdef Py_ssize_t choose(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) except -1
    cdef int complete(self, Rows rows) except -1
    cdef int arrange(self, Rows rows) except -1
    cdef int complete_c(self) noexcept nogil
    cdef int add_c(self, Py_ssize_t group, int64_t first, int64_t last, bint afresh) noexcept nogil
    cdef int tile_c(self, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values, int64_t first) noexcept nogil
    cdef bint is_current(self, Example x) noexcept nogil
    cdef bint advance(self, Example x) noexcept nogil
    cdef void take_c(self, Example x, double *sums) noexcept nogil
    cdef bint is_full(self) noexcept nogil
    cdef int change_c(self, Py_ssize_t slot, const double *c) noexcept nogil
    cdef Py_ssize_t lane_of(self, Py_ssize_t row) noexcept nogil
