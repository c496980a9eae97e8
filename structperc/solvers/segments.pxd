# The best division of a sentence into labelled segments, and sums over all divisions.
#
# Sizes: 5 to 100 tokens, segments of up to 4 to 30 tokens, 2 to 25 labels. O(n L K + n K^2) for n tokens, L lengths and K labels.

cdef struct Lattice

# Where the scores of the segments that begin at a token stand: of d tokens and label k at [(d - 1) * n_labels + k]. `room` has room for
# longest * n_labels numbers, to be used or not. No score is +inf or NaN; -inf forbids a segment.
ctypedef const double *(*ScoresFrom)(const Lattice *lattice, Py_ssize_t start, double *room) noexcept nogil

cdef struct Lattice:
    Py_ssize_t n_tokens, n_labels, longest
    ScoresFrom scores_from
    const double *transitions       # (n_labels, n_labels), row: the label before; NULL: zeros
    const void *data                # whatever scores_from looks at

cdef enum:
    UNCOVERED = -1                  # no segments cover all tokens
    OVERFLOWN = -2                  # the best score is no finite number
    STOPPED = -3                    # Ctrl-C
    CHANGED = -4                    # another thread has written to the scores

cdef Py_ssize_t segments_work(Py_ssize_t n_tokens, Py_ssize_t n_labels, Py_ssize_t longest) noexcept nogil
# How many float64 numbers `best_segments_c` works in; `segment_sums_c` works in as many.

cdef Py_ssize_t best_segments_c(const Lattice *lattice, double *work, int *segments, double *total) noexcept nogil
# Writes start, stop and label of each segment, in order: three integers each, at most 3 * n_tokens. Returns how many, or a status.

cdef int segment_sums_c(const Lattice *lattice, bint log_sum, double *work, double *segments, double *transitions,
                        double *total) noexcept nogil
# With log_sum: log Z, the marginal of each segment, `(n_tokens, longest, n_labels)`, and the expected number of each pair of labels,
# `(n_labels, n_labels)`. Without: the largest score, and that of the best division with each segment, and with each pair. Returns 0, or a
# status.

cdef refusal(int status, const double *work, Py_ssize_t n_tokens, Py_ssize_t n_labels, str what)
# The exception for a status; `work` as the failed call left it.
