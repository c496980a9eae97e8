# Losses of given scores. An objective sees one example as an update rule does, and writes value and gradient.
from structperc.core.component cimport Component
from structperc.core.updates cimport Trial


cdef class Objective(Component):
    cdef double value_c(self, Trial trial, double *g) noexcept nogil
