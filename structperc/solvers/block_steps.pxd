from libc.stdint cimport int64_t


# ---- block steps ----

cdef double pairwise(double *alpha, double *value, const double *distance, Py_ssize_t pitch, Py_ssize_t n) noexcept nogil


# ---- pairs ----

cdef int short_pairs_c(const double *scores, const double *least, const int *levels, const int64_t *order, const int64_t *offsets,
                       Py_ssize_t n_groups, double *up, double *down, double *lower, double *higher, double *count,
                       double *sums) noexcept nogil
