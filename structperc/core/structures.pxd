cdef class Structures:
    cdef object held            # the integers of all structures: an array of C ints,
    cdef const int *at          # and where they stand
    cdef readonly object offsets

    cdef Py_ssize_t count(self) except -1


cdef Structures encode_few(dict code_of, list labels)
cdef object structure(const int *y, Py_ssize_t n, Py_ssize_t width)
