# Kernels on objects that are no rows of numbers: trees, strings.
from structperc.core.component cimport Component


ctypedef struct Measured:
    # What the structures behind Encoded.at begin with.
    double square               # the kernel of the object with itself, before it is normalised


cdef class Encoded:
    cdef const void *at                         # the structure that ObjectKernel.value_c takes; this object owns it
    cdef readonly Py_ssize_t size               # what ObjectKernel.room_c takes
    cdef readonly object original
    cdef readonly tuple symbols                 # all that is written on the object, in an order of its own
    cdef readonly bint learned                  # whether the kernel keeps the numbers of its symbols


cdef class ObjectKernel(Component):
    cdef readonly double decay
    cdef readonly bint normalise
    cdef dict numbers                           # of the symbols that are known

    cdef Py_ssize_t room_c(self, Py_ssize_t size_a, Py_ssize_t size_b) noexcept nogil
    cdef double value_c(self, const void *a, const void *b, double *work) noexcept nogil
    cdef double plain_c(self, const void *a, const void *b, double *work) noexcept nogil
    cdef Encoded measured(self, Encoded encoded, Measured *at, bint empty)
