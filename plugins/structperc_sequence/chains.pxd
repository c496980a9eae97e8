# The scores of a linear chain: those of tokens, of transitions, and optionally of the first and the last label.

ctypedef struct Chain:
    Py_ssize_t n_tokens, n_labels
    const double *tokens            # (n_tokens, n_labels)
    const double *transitions       # (n_labels, n_labels), row: from
    const double *start             # (n_labels,), or NULL: zeros
    const double *end
