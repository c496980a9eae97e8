# Weights of which each has a step size of its own.
from structperc.core.features cimport StepSizes
from structperc.core.schedules cimport Schedule
from structperc.core.weights cimport PrimalWeights


cdef class AdaGradWeights(PrimalWeights):
    cdef readonly Schedule step_size
    cdef StepSizes sizes
