# Projective trees of n words: heads among the root 0, left of all, and the words 1..n. Statuses: see arborescences.pxd.

cdef Py_ssize_t projective_work(Py_ssize_t n_words) noexcept nogil
# How many float64 numbers `projective_tree_c` works in.

cdef int projective_tree_c(const double *scores, Py_ssize_t pitch, const double *siblings, Py_ssize_t n_words, bint one_root, int *heads,
                           double *total, double *work) noexcept nogil
# The heads of words 1..n in heads[0..n - 1]. scores[h * pitch + m]: head h and dependent m, as in arborescences.pxd.
# siblings, or NULL: score of head h, dependent m and the next dependent s of h between the two (s = h: there is none)
# at [(h * (n + 1) + m) * (n + 1) + s].

cdef int projective_marginals_c(const double *scores, Py_ssize_t pitch, const double *siblings, Py_ssize_t n_words, bint one_root,
                                double *log_z, double *arcs, double *sibling_parts, double *work) noexcept nogil
# log Z, and the marginals of arcs, `(n + 1, n + 1)`, and of parts with a sibling, `(n + 1, n + 1, n + 1)`.
# sibling_parts: NULL without siblings. work: 2 * projective_work(n_words) numbers.

cdef projective_refusal(int status, const double *scores, Py_ssize_t pitch, const double *siblings, Py_ssize_t n_words, bint one_root,
                        str name, str siblings_name)
# The exception for a status below 0; the names are those of the arguments.
