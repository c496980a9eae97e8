# The best labels of a chain.
#
# Sizes: 23 tokens, 22 labels; O(T L^2).
from structperc.core.argmax cimport Argmax
from structperc.core.inner_products cimport sp_inner
from structperc.core.rows cimport Example
from structperc_kernels.instruction_sets cimport sp_tiles
from structperc_sequence.chains cimport Chain


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
    cdef Chain chain(self, Example x, const double *s, const int *known, double *work) noexcept nogil
    cdef bint fits(self, Example x) noexcept nogil
    cdef Py_ssize_t best(self, Example x, const double *s, const int *known, int *y) noexcept nogil
    cdef unlabelled(self, Example x, const double *messages, const Chain *chain, double best, bint known)
    cdef int marginals_by_logarithms(self, Example x, const double *s, double *expected, double *log_z) noexcept with gil
