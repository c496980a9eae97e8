cdef class Schedule:
    cdef readonly object rule       # its name, or the user's function
    cdef readonly object error      # what the function raised, until `reraise` or the owner takes it
    cdef int kind
    cdef double at_c(self, Py_ssize_t t) noexcept nogil
    cdef double asked_c(self, Py_ssize_t t) noexcept with gil
    cdef double left_c(self, double decay, Py_ssize_t t) noexcept nogil
    cdef object taken_error(self)
