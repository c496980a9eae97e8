from structperc.core.component cimport Component
from structperc.core.rows cimport Example


cdef class Argmax(Component):
    cdef public Py_ssize_t width                # of the structures it returns, as Outputs.width

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil


cdef class LabelArgmax(Argmax):
    cdef readonly Py_ssize_t n_labels


cdef class PrefixArgmax(LabelArgmax):
    pass


cdef class ThresholdArgmax(LabelArgmax):
    pass


cdef class LargestArgmax(LabelArgmax):
    pass
