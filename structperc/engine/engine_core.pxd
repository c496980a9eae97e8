from structperc.core.locks cimport TrainingLock
from structperc.engine.model cimport Model
from structperc.engine.run cimport TrainingRun


cdef class EngineCore:
    cdef public object calibrate, class_weight, n_jobs      # options
    cdef public TrainingRun run                             # while a fit is under way
    cdef Model trained                                      # by the last training that has ended; None: by none
    cdef TrainingLock turn

    cdef Model current_model(self)
