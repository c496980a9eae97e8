cdef double pairwise(double *alpha, double *value, const double *distance, Py_ssize_t pitch, Py_ssize_t n) noexcept nogil
