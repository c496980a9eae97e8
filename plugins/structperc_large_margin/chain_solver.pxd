from structperc.core.rows cimport Rows
from structperc_kernels.kernel_rows cimport KernelRows, Queries


# ---- kernel columns ----
# Columns of the kernel matrix of the training rows, computed sixteen at a time and kept while there is room.

# ---- working set ----
# A few examples whose coordinates are optimised while all others rest.


cdef class WorkingSet:
    cdef readonly Py_ssize_t room, n_nodes
    cdef Py_ssize_t q                           # examples in the set
    cdef bint open_arcs
    cdef double gain
    cdef double[::1] f, before                  # scores of the examples, and before the steps
    cdef double[::1] gram, diagonal, promise    # (q, q); (q,); scratch
    cdef double[::1] mu, cap, sign              # by node and place of the example in the set: m * q + l; sign 0: no coordinate
    cdef double[::1] up, down                   # p g where mu may go up (down) in the order, else an infinity
    cdef double[::1] lo, hi, flow               # by node; flow[m] on the arc to the next node
    cdef Py_ssize_t[::1] first, end             # the places of a node's members

    cdef void free_sides(self, Py_ssize_t c) noexcept nogil
    cdef void step(self, Py_ssize_t c, double change) noexcept nogil
    cdef void look(self, Py_ssize_t m) noexcept nogil
    cdef double violation(self, Py_ssize_t *node, Py_ssize_t *other) noexcept nogil
    cdef Py_ssize_t partner(self, Py_ssize_t node, Py_ssize_t i, double kappa, Py_ssize_t *other) noexcept nogil
    cdef Py_ssize_t optimise(self, double enough, Py_ssize_t most) noexcept nogil


# ---- kernel columns ----


cdef class KernelColumns:
    cdef readonly Py_ssize_t n                  # training rows
    cdef readonly Py_ssize_t room               # columns that are kept
    cdef readonly Py_ssize_t n_computed         # columns computed so far, a repetition counted again
    cdef readonly KernelRows kernel_rows
    cdef readonly object diagonal               # K(i, i), float64 array
    cdef Rows rows
    cdef Queries queries
    cdef int[::1] alive                         # rows that columns have values for, in ascending order
    cdef double[::1] memory                     # slots of as many numbers as there are rows alive, a column in each
    cdef int[::1] place, owner, newer, older    # the slot of a column; the column in a slot; neighbours of a slot by last use
    cdef Py_ssize_t used
    cdef int newest, oldest
    cdef double[::1] tile

    cdef int gram(self, const int *which, Py_ssize_t q, double *values) except -1
    cdef int add(self, const int *which, const double *coefficients, Py_ssize_t q, double *sums) except -1
    cdef int bring(self, const int *which, Py_ssize_t q, const double **columns) except -1
    cdef int compute(self, const int *which, Py_ssize_t q, double **to, const int *slots, Py_ssize_t n) except -1
    cdef int fill(self, Py_ssize_t group, const int *slots, Py_ssize_t m) except -1
    cdef double *column(self, int row) noexcept nogil
    cdef void touch(self, int slot) noexcept nogil
    cdef int claim(self, int row) noexcept nogil
    cdef void link(self, int slot) noexcept nogil
    cdef void disown(self, int row) noexcept nogil
