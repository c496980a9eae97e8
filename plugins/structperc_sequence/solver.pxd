# The best labels of a chain.
#
# Sizes: 23 tokens, 22 labels; O(T L^2).
from structperc.core.argmax cimport Argmax
from structperc.core.inner_products cimport sp_inner
from structperc.core.rows cimport Example
from structperc_kernels.vector_rows cimport sp_tiles
from structperc_sequence.chains cimport Chain


# ---- forward backward ----
# Marginals of a linear chain by products of scaled numbers.

cdef enum:
    FOUND = 0
    STOPPED = -1
    TOO_WIDE = 1

cdef Py_ssize_t forward_backward_work(Py_ssize_t n_tokens, Py_ssize_t n_labels) noexcept nogil
# How many float64 numbers `forward_backward` works in.

cdef int forward_backward(const sp_inner *kernels, const sp_tiles *tiles, const Chain *chain, double *tokens, double *pairs, double *log_z,
                          double *work) noexcept nogil
# log Z, label probabilities of tokens (n_tokens, n_labels), and expected counts of pairs of labels (n_labels, n_labels).
# TOO_WIDE: scores are too far apart for products, or no labelling is left; use logarithms. STOPPED: by a signal.


# ---- solver ----


cdef class Semiring:
    cdef Py_ssize_t size, cost

    cdef void begin(self, const Chain *chain, double *message) noexcept nogil
    cdef void step(self, const double *message, Py_ssize_t t, const Chain *chain, double *following) noexcept nogil


cdef class Largest(Semiring):
    cdef const sp_inner *kernels


cdef class Viterbi(Argmax):
    cdef readonly Py_ssize_t n_tags
    cdef readonly bint has_start, has_end
    cdef bint constrained
    cdef const double[:, ::1] between       # 0 or -inf, to be added
    cdef const double[::1] first, last
    cdef Largest largest
    cdef const sp_tiles *tiles

    cdef Py_ssize_t n_atoms(self, Example x) noexcept nogil
    cdef Chain chain(self, Example x, const double *s, const int *partial_labels, double *work) noexcept nogil
    cdef bint fits(self, Example x) noexcept nogil
    cdef Py_ssize_t best(self, Example x, const double *s, const int *partial_labels, int *y) noexcept nogil
    cdef unlabelled(self, Example x, const double *s, const double *messages, const Chain *chain, double best, bint has_labels)
    cdef int marginals_by_logarithms(self, Example x, const double *s, double *expected, double *log_z) noexcept with gil
