from structperc.core.component cimport Component
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Example
from structperc.core.weights cimport Weights


cdef class Trial(Component):
    cdef readonly Example x
    cdef Weights weights
    cdef Outputs outputs
    cdef const double *s                        # atom scores, without the loss
    cdef const int *gold_code                   # gold structure (completed)
    cdef const int *given_code                  # gold output as it was given, perhaps partial
    cdef const int *y_code                      # the structure found by the search
    cdef Py_ssize_t n_gold, n_given, n_y
    cdef readonly Py_ssize_t n_atoms
    cdef readonly double loss, weight
    cdef double *c                              # coefficients over atoms, all to be written by the rule
    cdef double[::1] coefficient_buffer

    cdef int difference_c(self) noexcept nogil
    cdef int signs_c(self) noexcept nogil
    cdef double difference_score_c(self) noexcept nogil
    cdef double norm_c(self) noexcept nogil


cdef class Update(Component):
    cdef public bint every_trial                # whether it sees right predictions too
    cdef int step_c(self, Trial trial) noexcept nogil


cdef class PerceptronUpdate(Update):
    pass


cdef class PassiveAggressiveUpdate(Update):
    cdef int variant                # 0: pa, 1: pa1, 2: pa2
    cdef double margin, C
