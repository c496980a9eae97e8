from structperc.core.component cimport Component
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Example


cdef class Loss(Component):
    cdef readonly Outputs outputs       # as its author wrote it
    cdef Outputs _outputs               # as compiled code calls it
    cdef double[::1] costs

    cdef double value_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil
    cdef int augment_c(self, Example x, const int *gold, Py_ssize_t n_gold, double scale, double *s) noexcept nogil


cdef class ZeroOneLoss(Loss):
    pass


cdef class AbsoluteLoss(Loss):
    pass


cdef class SquaredLoss(Loss):
    pass


cdef class HammingLoss(Loss):
    pass


cdef class CostLoss(Loss):
    cdef readonly object matrix
    cdef const double[:, ::1] table


cdef class ExampleCosts(Loss):
    cdef const double[:, ::1] table


cdef class TokenLoss(Loss):
    cdef readonly object matrix, width
    cdef const double[:, ::1] table
    cdef Py_ssize_t step                # atoms from one token to the next
