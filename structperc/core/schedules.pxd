cdef class Schedule:
    cdef readonly double start      # the number that the rule's result is multiplied by
    cdef readonly double after      # how many examples it takes to begin falling
    cdef readonly object rule       # its name, or the user's function
    cdef readonly object error      # what the function raised, until the owner takes it
    cdef int kind
    cdef double at_c(self, Py_ssize_t t) noexcept nogil
    cdef double asked_c(self, Py_ssize_t t) noexcept with gil
    cdef double left_c(self, Py_ssize_t t) noexcept nogil
    cdef object taken_error(self)
