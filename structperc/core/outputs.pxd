from structperc.core.components cimport LabelOutputs


cdef class RankOutputs(LabelOutputs):
    pass


cdef class ClassOutputs(LabelOutputs):
    pass
