# Paths of largest score through acyclic graphs.

cdef int best_path_c(const int *tails, const int *heads, const double *scores, Py_ssize_t n_arcs, int n_nodes, int start, int end,
                     int *work, double *best, int *path) noexcept nogil
