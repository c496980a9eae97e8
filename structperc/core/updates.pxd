from structperc.core.argmax cimport Argmax
from structperc.core.component cimport Component
from structperc.core.losses cimport Loss
from structperc.core.outputs cimport Outputs
from structperc.core.rows cimport Example
from structperc.core.schedules cimport Schedule
from structperc.core.weights cimport Weights


ctypedef struct Encoded:                        # a structure as integers, see `Outputs`
    const int *at
    Py_ssize_t n


cdef class Trial:
    cdef readonly Example x
    cdef const double *s                        # atom scores, without the loss
    cdef double *c                              # coefficients over atoms, all to be written by the rule
    cdef Encoded gold_code                      # gold structure (completed)
    cdef Encoded given_code                     # gold output as the user gave it, may be partial
    cdef Encoded y_code                         # the structure found by the search; n = 0 in a pass without search
    cdef public double loss                     # that of y; the record counts what a rule writes here
    cdef readonly double weight
    cdef readonly Py_ssize_t n_visited          # examples visited before this one
    cdef Weights weights                        # as the loop calls them,
    cdef Outputs outputs                        # for rules that ask for more than the methods below
    cdef Argmax argmax
    cdef Loss losses
    cdef double *expected                       # how often each atom is expected, and
    cdef double log_z                           # log Z; both of `marginals_c`
    cdef Encoded found_code                     # the structure of the last `search_c`
    cdef double[::1] coefficient_buffer, expected_buffer, augmented
    cdef int[::1] code_buffer

    cdef int used(self) except -1
    cdef int difference_c(self) noexcept nogil
    cdef int signs_c(self) noexcept nogil
    cdef double norm_c(self) noexcept nogil
    cdef int marginals_c(self) noexcept nogil
    cdef int search_c(self, double scale) noexcept nogil


cdef class Update(Component):
    cdef int step_c(self, Trial trial) noexcept nogil


cdef class PerceptronUpdate(Update):
    pass


cdef class PassiveAggressiveUpdate(Update):
    cdef int variant                # 0: pa, 1: pa1, 2: pa2
    cdef double margin
    cdef readonly Schedule C

    cdef double aggressiveness_c(self, Trial trial) noexcept nogil


cdef class ScheduledUpdate(Update):
    cdef readonly Schedule step_size
    cdef readonly bint decays

    cdef double eta_c(self, Trial trial) noexcept nogil
