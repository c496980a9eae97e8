# Marginals of a linear chain by products of scaled numbers.
from structperc.core.inner_products cimport sp_inner
from structperc_kernels.instruction_sets cimport sp_tiles
from structperc_sequence.chains cimport Chain

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
