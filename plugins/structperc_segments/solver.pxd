from structperc.core.rows cimport Example
from structperc.solvers.segments cimport Lattice


# ---- atoms ----
# The atoms of a division into segments, and the best division by their scores.
#
# Sizes: 23 tokens, 12 labels, 23 or 45 blocks. A division is encoded as an integer per token: 2 * label + 1 if a segment begins, else
# 2 * label. Partial gold outputs also have OPEN and OPEN_BEGIN.

cdef enum:
    N_LENGTHS = 12              # lengths that have weights of their own: 1..8, 9..16, 17..32, 33..64, more
    OPEN = -1                   # a token of which nothing is known
    OPEN_BEGIN = -2             # one of which is known that a segment begins there


ctypedef struct Layout:
    # Token t has an atom for each block, at t * n_blocks. The only token of a segment with label k is in block `alone + k`, where
    # `alone = 0`. Other tokens are in `first + k`, `inside + k` or `last + k`. Then come the pairs of labels and (label, length).
    Py_ssize_t n_labels, n_outside, n_blocks
    Py_ssize_t first, inside, last
    # Rows of segments of up to so many tokens stand behind those of the tokens, by start and length; 0: none do. Label k of one is block k.
    Py_ssize_t described


ctypedef struct Search:
    Layout layout
    const double *tokens        # scores of atoms of tokens, then of segments that have rows
    const double *lengths       # (n_labels, N_LENGTHS)
    const int *most             # of each label, how many tokens a segment has at most
    const int *partial_codes    # codes that the division agrees with, may be open; NULL: any
    const int *gold             # codes whose missed segments, and all others, score `bonus`; NULL: none do
    double bonus


cdef class Atoms:
    cdef Layout layout
    cdef readonly Py_ssize_t longest            # the most tokens of any segment
    cdef int[::1] most                          # of each label
    cdef int[::1] begins                        # of each block: whether its token begins a segment
    cdef int[::1] labels                        # of each block
    cdef readonly list places                   # what a token in each block does, for messages

    cdef Py_ssize_t n_atoms(self, Py_ssize_t n_rows) noexcept nogil
    cdef Py_ssize_t n_tokens(self, Py_ssize_t n_atoms) noexcept nogil
    cdef Py_ssize_t tokens_in(self, Py_ssize_t n_rows) noexcept nogil
    cdef Py_ssize_t work_size(self, Py_ssize_t n_tokens) noexcept nogil
    cdef void count(self, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil
    cdef void prepare(self, const double *s, Py_ssize_t n, Search *search, Lattice *lattice) noexcept nogil
    cdef Py_ssize_t best(self, Lattice *lattice, double *work, int *y) noexcept nogil


cdef inline Py_ssize_t triangle(Py_ssize_t n) noexcept nogil:
    return n * (n + 1) // 2 if n > 0 else 0


cdef inline Py_ssize_t row_of(const Layout *layout, Py_ssize_t n_tokens, Py_ssize_t start) noexcept nogil:
    """The row of the segment of one token that begins here; longer ones follow. For start = n_tokens, how many rows there are."""
    cdef Py_ssize_t longest = layout.described, short = longest - n_tokens
    return n_tokens + start * longest - triangle(start - 1 + short) + triangle(short - 1)


cdef inline Py_ssize_t length_class(Py_ssize_t length) noexcept nogil:
    """Which weight a length has."""
    cdef Py_ssize_t bucket = 8
    if length <= 8:
        return length - 1
    while length > 16 and bucket < N_LENGTHS - 1:
        length = (length + 1) // 2
        bucket += 1
    return bucket
