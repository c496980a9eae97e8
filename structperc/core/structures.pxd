cdef class Structures:
    cdef object held            # the integers of all structures: an array of C ints,
    cdef const int *at          # and where they stand
    cdef readonly object offsets


cdef object structure(const int *y, Py_ssize_t n, Py_ssize_t width)
