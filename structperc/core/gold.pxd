cdef class Gold:
    cdef object held            # the integers of all structures: an array of C ints
    cdef readonly object offsets
