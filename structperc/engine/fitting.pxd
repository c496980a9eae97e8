from structperc.core.access cimport Turn
from structperc.engine.model cimport Model
from structperc.engine.run cimport TrainingRun


cdef class EngineCalls:
    cdef public object calibrate, class_weight, n_jobs      # options
    cdef public TrainingRun run                             # while a fit is under way
    cdef Model trained                                      # by the last training that has ended; None: by none
    cdef Turn turn

    cdef Model known(self)
