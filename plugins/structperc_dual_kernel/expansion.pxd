# Sums of kernel values: what rows held in a kernel_rows, each with a coefficient in every block, say of other rows.
from libc.stdint cimport int64_t
from structperc.core.features cimport Features, Parameter
from structperc.core.rows cimport Example, Rows
from structperc.core.weights cimport Weights
from structperc_kernels.kernel_rows cimport KernelRows, Queries


# ---- support set ----
# The support rows, with their coefficients.


cdef class SupportSet:
    cdef readonly KernelRows kernel_rows
    cdef readonly Py_ssize_t n_blocks, budget   # budget 0: none
    cdef readonly str removal
    cdef double[:, ::1] v, u                    # coefficients by slot, and the sums that averaging needs
    cdef int64_t[::1] number, joined            # of each slot: the row's number over all training; the how-many-th to join
    cdef double[::1] square                     # kernel of the row with itself, where the choice of what to remove needs it
    cdef dict slot_of                           # of each row's key
    cdef list keys
    cdef Py_ssize_t n_joined
    cdef Py_ssize_t vacant                      # the slot that was chosen for the row that joins next; -1: none
    # since the snapshot
    cdef dict journal                           # what slots had before they changed; None: nobody will ask
    cdef dict evicted                              # the evicted rows, by slot
    cdef Py_ssize_t n_before                      # how many were held

    cdef int reserve(self, Py_ssize_t n) except -1
    cdef int remember(self, Py_ssize_t slot) except -1
    cdef int measure(self, Py_ssize_t slot, Example x, Py_ssize_t row) except -1
    cdef Py_ssize_t find(self, key) except -2
    cdef Py_ssize_t choose_eviction(self, random) except -1
    cdef Py_ssize_t chosen(self, random) except -1
    cdef int evict(self, Py_ssize_t slot) except -1
    cdef Py_ssize_t join(self, Py_ssize_t slot, Example x, Py_ssize_t row, int64_t number, key) except -1


# ---- score cache ----
# What training keeps of the rows of a fit from one visit to the next.


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


# ---- expansion ----


cdef enum:
    TILE = 64               # slots whose values with the lanes of a group are found at a time


cdef class ExplicitPart:
    cdef readonly Features described            # of what atoms have besides their row; None: nothing
    cdef Features features                      # the same, as it can be called from compiled code
    cdef readonly object vector                 # its weights
    cdef Parameter p
    cdef Example blank

    cdef void look_at(self, Example x) noexcept nogil
    cdef int scores_c(self, Example x, double *s) noexcept nogil
    cdef int add_c(self, Example x, const double *c, double to_w, double to_u) noexcept nogil
    cdef double norm_c(self, Example x, const double *c) noexcept nogil
    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil


cdef class Expansion(Weights):
    cdef readonly KernelRows kernel_rows
    cdef readonly object coefficients           # (kernel_rows.n, n_blocks)
    cdef readonly ExplicitPart explicit

    cdef from_rows(self, Example x, const double[:, ::1] sums)
    cdef row_scores(self, Rows rows, const int64_t[::1] which)


cdef int add_slots(KernelRows kernel_rows, Queries q, Py_ssize_t group, Py_ssize_t first, Py_ssize_t last,
                   const double *c, Py_ssize_t n_blocks,
                   double *r) noexcept nogil
cdef int add_rows(Features features, Example x, const double *sums, double *s) noexcept nogil


# ---- look ahead ----
# The rows of the examples that are visited next, scored together.


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
