# Predictions: scores of many examples at once, of one example, or computed beforehand, and one search behind them.

cdef struct Answering:              # what the predictions of one call read and write; NULL: as if it were not there
    const double *batch             # scores computed beforehand, and
    const int64_t *begins           # where each example's begin, if they are not
    Py_ssize_t pitch                # so many numbers apart
    double *own                     # room for scores that are computed here,
    Py_ssize_t together             # of so many examples at once,
    Py_ssize_t first, scored_to     # which are these,
    Py_ssize_t most                 # or of one example with at most so many atoms
    int *codes                      # receives the structures, with
    Py_ssize_t length               # room for so many integers,
    Py_ssize_t capacity             # of which a structure takes at most these
    int64_t *ends                   # where each structure ends; NULL: it is one integer
    Py_ssize_t at                   # where the next one begins
    Py_ssize_t n                    # examples of the call


cdef Py_ssize_t at_once(Features features, Rows rows) noexcept:
    """Batch size: the scores of a batch fit in L1, the rows of two batches in L2. It is 1 where examples differ in their atoms."""
    cdef Py_ssize_t bytes = rows.n_features * rows.value_size if sp_is_dense(&rows.whole) else 0
    if features.fixed_atoms < 0:
        return 1
    return max(1, min(TOGETHER // max(features.fixed_atoms, 1), max(4, TOGETHER_BYTES // max(bytes, 1))))


cdef Py_ssize_t finite_rows(const double *s, Py_ssize_t n, Py_ssize_t n_atoms) noexcept nogil:
    """How many of n examples come before the first one with a score that is not finite."""
    cdef Py_ssize_t i = 0
    while i < n and sp_finite(s + i * n_atoms, n_atoms):
        i += 1
    return i


cdef inline Py_ssize_t scored_together(Loop loop, Rows rows, Example x, Weights weights, Answering *to, Py_ssize_t i,
                                       Py_ssize_t stop, const double **s) noexcept nogil:
    """How many examples from i on have finite scores, `s`. If no more are ready, it scores many examples at once."""
    cdef Py_ssize_t m = 1, n_finite, fixed = loop.features.fixed_atoms
    if i == to.scored_to:
        to.first, to.scored_to = i, min(i + to.together, to.n)
        if weights.batch_scores_c(x, i, to.scored_to - i, to.own) < 0:
            return SCORING
    s[0] = to.own + (i - to.first) * fixed
    if to.ends == NULL:
        m = min(min(SEARCHED, to.scored_to - i), stop - i)
    if loop.features.n_blocks != 1 and i + to.together < to.n:      # searches leave memory idle: rows come while they run
        rows.load_many(i + to.together, m, x)                       # one direction reads rows in order, which the CPU foresees
        sp_prefetch_rows(&x.block)
    n_finite = m if sp_finite(s[0], m * fixed) else finite_rows(s[0], m, fixed)
    x.n_atoms = fixed
    if to.ends != NULL or n_finite == 0:
        rows.load(i, x)
    return n_finite if n_finite > 0 else NOT_FINITE


cdef inline int count_atoms(Loop loop, Rows rows, Example x, const Answering *to, Py_ssize_t i) noexcept nogil:
    """Makes x example i, with its number of atoms."""
    rows.load(i, x)
    if loop.features.fixed_atoms < 0:
        x.n_atoms = loop.features.n_atoms_c(x)
        if x.n_atoms >= 0 and x.n_atoms != loop.label_atoms >= 0:
            return UNLIKE_LABELS
    if x.n_atoms < 0:
        return ATOMS
    return TOO_MANY if x.n_atoms > to.most else 0


cdef inline Py_ssize_t scored_alone(Loop loop, Rows rows, Example x, Weights weights, Answering *to, Py_ssize_t i,
                                    const double **s) noexcept nogil:
    """Scores of example i; 1."""
    cdef int status = count_atoms(loop, rows, x, to, i)
    s[0] = to.own
    if status == 0:
        status = scored(weights, x, to.own)
    return status if status < 0 else 1


cdef inline Py_ssize_t given(Loop loop, Rows rows, Example x, const Answering *to, Py_ssize_t i, const double **s) noexcept nogil:
    """The scores of example i that were computed beforehand; 1."""
    cdef int status = count_atoms(loop, rows, x, to, i)
    if status == 0 and to.begins != NULL and to.begins[i + 1] - to.begins[i] != x.n_atoms:
        status = BATCHING
    if status < 0:
        return status
    s[0] = to.batch + (i * to.pitch if to.begins == NULL else to.begins[i])
    return 1


cdef inline int searched(Loop loop, Example x, Answering *to, Py_ssize_t i, Py_ssize_t m, const double *s) noexcept nogil:
    """Writes the best structures of m examples."""
    cdef Py_ssize_t n
    if to.ends == NULL:
        return loop.argmax.batch_argmax_c(x, i, m, s, to.codes + i) if to.together > 1 else loop.argmax.argmax_c(x, s, to.codes + i)
    n = loop.argmax.argmax_c(x, s, to.codes + to.at)
    if n >= 0:
        to.at += n
        to.ends[i + 1] = to.at
    return 0 if n >= 0 else -1


cdef Py_ssize_t answer(Loop loop, Rows rows, Example x, Weights weights, Answering *to, Py_ssize_t start) noexcept nogil:
    """Predicts examples from `start` on; returns where it stopped: at n, at a check for Ctrl-C, if `codes` is full, or why."""
    cdef Py_ssize_t i = start, m, stop = min(start + CHUNK, to.n), seen = 0
    cdef const double *s = NULL
    x.n_atoms = loop.features.fixed_atoms
    to.scored_to = start
    while i < stop and seen <= CHUNK_ATOMS:
        if to.ends != NULL and to.at + to.capacity > to.length:
            return i
        if to.batch != NULL:
            m = given(loop, rows, x, to, i, &s)
        elif to.together > 1:
            m = scored_together(loop, rows, x, weights, to, i, stop, &s)
        else:
            m = scored_alone(loop, rows, x, weights, to, i, &s)
        if m < 0:
            return m
        if searched(loop, x, to, i, m, s) < 0:
            return SEARCHING
        seen += m * x.n_atoms
        i += m
    return i
