# Sums over all arborescences of n words. Statuses, and `refusal`: see arborescences.pxd.

cdef Py_ssize_t arborescence_marginals_work(Py_ssize_t n_words) noexcept nogil
# How many float64 numbers `arborescence_marginals_c` works in.

cdef int arborescence_marginals_c(const double *scores, Py_ssize_t pitch, Py_ssize_t n_words, bint one_root, double *log_z, double *arcs,
                                  int *heads, double *work) noexcept nogil
# log Z, what each arc has of it into (n + 1, n + 1) numbers, and the best tree's heads, or its witness that there is none.
