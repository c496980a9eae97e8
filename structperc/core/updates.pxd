from structperc.core.components cimport Update


cdef class PassiveAggressiveUpdate(Update):
    cdef int variant                # 0: pa, 1: pa1, 2: pa2
    cdef double margin, C
