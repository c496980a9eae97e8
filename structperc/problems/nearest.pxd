# The point of the convex hull of structures' counts that is nearest to given scores.
from structperc.core.updates cimport Trial


cdef double product(const double *g, const double *s, Py_ssize_t n) noexcept nogil


cdef class ActiveSet:
    cdef double[:, ::1] points          # counts of the structures that have a share of the mean,
    cdef double[:, ::1] gram            # their inner products,
    cdef double[::1] scores, shares     # their scores, and their shares
    cdef double[:, ::1] system          # of linear equations
    cdef double[::1] mean, rest
    cdef Py_ssize_t n_points

    cdef int provide(self, Py_ssize_t n_points, Py_ssize_t n_atoms) except -1
    cdef int room(self, Trial trial, Py_ssize_t n_points) noexcept with gil
    cdef double *nearest_c(self, Trial trial, double tolerance) noexcept nogil
    cdef int add(self, Trial trial) noexcept nogil
    cdef void drop(self, Py_ssize_t k, Py_ssize_t n_atoms) noexcept nogil
    cdef bint balance(self, Py_ssize_t n_atoms) noexcept nogil
    cdef bint solve(self) noexcept nogil
