cdef class PassResult:
    cdef public Py_ssize_t visited, mistakes, updates
    cdef public double loss
