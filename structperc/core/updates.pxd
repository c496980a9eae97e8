from structperc.core.component cimport Component
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Example
from structperc.core.weights cimport Weights


ctypedef struct Encoded:                        # a structure as integers, see `Outputs`
    const int *at
    Py_ssize_t n


cdef class Trial:
    cdef readonly Example x
    cdef const double *s                        # atom scores, without the loss
    cdef double *c                              # coefficients over atoms, all to be written by the rule
    cdef Encoded gold_code                      # gold structure (completed)
    cdef Encoded given_code                     # gold output as it was given, perhaps partial
    cdef Encoded y_code                         # the structure found by the search; n = 0 in a pass without search
    cdef readonly double loss, weight
    cdef readonly Py_ssize_t n_visited          # examples visited before this one
    cdef Weights weights                        # as the loop calls them,
    cdef Outputs outputs                        # for rules that ask for more than the methods below
    cdef double[::1] coefficient_buffer

    cdef int difference_c(self) noexcept nogil
    cdef int signs_c(self) noexcept nogil
    cdef double norm_c(self) noexcept nogil


cdef class Update(Component):
    cdef int step_c(self, Trial trial) noexcept nogil


cdef class PerceptronUpdate(Update):
    pass


cdef class PassiveAggressiveUpdate(Update):
    cdef int variant                # 0: pa, 1: pa1, 2: pa2
    cdef double margin, C
