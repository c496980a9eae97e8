from structperc.fitting.locks cimport TrainingLock
from structperc.fitting.model cimport Model
from structperc.fitting.run cimport TrainingRun


cdef class EngineCore:
    cdef public object calibrate, class_weight, n_jobs      # options
    cdef public TrainingRun run                             # while a fit is under way
    cdef Model trained                                      # by the last training that has ended; None: by none
    cdef TrainingLock turn

    cdef Model current_model(self)
