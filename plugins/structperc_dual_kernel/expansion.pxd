# Sums of kernel values: what rows held in a kernel_rows, each with a coefficient in every block, say of other rows.
from structperc.core.features cimport Features, Parameter
from structperc.core.weights cimport Weights
from structperc.core.rows cimport Example
from structperc_kernels.kernel_rows cimport KernelRows, Queries

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


cdef int add_slots(KernelRows kernel_rows, Queries q, Py_ssize_t group, Py_ssize_t first, Py_ssize_t last,
                   const double *c, Py_ssize_t n_blocks,
                   double *r) noexcept nogil
cdef int add_rows(Features features, Example x, const double *sums, double *s) noexcept nogil
