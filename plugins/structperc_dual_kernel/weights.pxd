# The dual weight store.
from libc.stdint cimport int64_t
from structperc.core.component cimport Component
from structperc.core.features cimport Features
from structperc.core.weights cimport Weights
from structperc.core.rows cimport Example, Rows
from structperc.core.schedules cimport Schedule
from structperc_kernels.kernel_rows cimport KernelRows
from structperc_dual_kernel.expansion cimport ExplicitPart, SupportSet
from structperc_dual_kernel.expansion cimport LookAhead


cdef class DualWeights(Weights):
    cdef readonly SupportSet support
    cdef readonly ExplicitPart explicit
    cdef readonly LookAhead ahead
    cdef readonly Schedule decay
    cdef readonly object options
    cdef object random
    cdef object moving                          # a lock: rows are evicted, or are copied for predictions
    cdef Py_ssize_t n_blocks
    cdef int64_t first_number, next_number      # over all training data: of the first row of the present ones, and of the next ones
    cdef readonly Rows fit_rows                          # the data that all passes of this fit visit
    # the example that was visited last, by row
    cdef double[:, ::1] row_sums, step          # by block: its sums, and the coefficients of a step
    cdef unsigned char[::1] in_step             # whether the step has coefficients for it
    cdef double[:, ::1] values                  # kernel between the rows in a step and the lanes of a group
    cdef int[::1] slots
    cdef KernelRows scratch                     # stores those rows; None: made when it is needed
    cdef object has_weight                      # whether each example of the data has one; None: all do
    cdef object _final
    cdef Py_ssize_t _final_visited

    cdef Py_ssize_t fill(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) except -1
    cdef int turn_to(self, Example x) noexcept nogil
    cdef int spread(self, Example x, const double *c) noexcept nogil
    cdef int take_step(self, Example x, Py_ssize_t row, const double *c) noexcept nogil
    cdef double row_norm(self, Example x) noexcept nogil
    cdef int shrink_c(self) noexcept nogil
    cdef int failed(self, Component part) noexcept nogil
