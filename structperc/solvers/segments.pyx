# distutils: extra_compile_args = VECTORS
"""Divisions of a sentence into labelled segments (semi-Markov chains): the best one, the k best, sums over all.

Provisional: it may change in any minor version.

A segment of the tokens i..j - 1 with the label k scores s(i, j, k), at most L tokens long. Neighbouring labels score T(k, k'). B(j, k) is
the sum of the segments of the first j tokens if k is the last label. A(i, k) is the sum before a segment of label k that begins at token i.
In the semiring (max, +) or (log of a sum of exponentials, +):

    A(0, k) = 0        A(i, k) = (+)_k'  B(i, k') + T(k', k)        B(j, k) = (+)_{j - L <= i < j}  A(i, k) + s(i, j, k)

Sarawagi and Cohen, Semi-Markov conditional random fields for information extraction, NIPS 2004. Transitions are summed up once for each
token and not for each segment. So the cost is O(n L K + n K^2) for n tokens and K labels.

Typical sizes: 23 tokens, segments of up to 10, 12 labels: 3 us for the best segments, 30 times that for sums of exponentials.
"""
import numpy as np

from libc.math cimport INFINITY, exp, log
from structperc.basics.arguments import how_many, real_array, refuse_overflow, whole_number
from structperc.basics.errors import DataError, OptionError
from structperc.basics.signals cimport interrupted
from structperc.basics.signals import take_interruption

cdef enum:
    EXPONENTIAL = 16                # the time of so many sums
    MOST_ORIGINS = 0x7FFFFFFF


cdef Py_ssize_t segments_work(Py_ssize_t n_tokens, Py_ssize_t n_labels, Py_ssize_t longest) noexcept nogil:
    return (5 * (n_tokens + 1) + longest) * n_labels


cdef const double *stored_scores(const Lattice *lattice, Py_ssize_t start, double *room) noexcept nogil:
    """From a table (n_tokens, longest, n_labels)."""
    return <const double *> lattice.data + start * lattice.longest * lattice.n_labels


# ---- the best segments ----

cdef void enter(const Lattice *lattice, const double *best, double *before) noexcept nogil:
    """A(i, k) of all k from B(i, k') of all k', in (max, +)."""
    cdef Py_ssize_t i, k, n = lattice.n_labels
    cdef const double *row
    cdef double value, here
    for k in range(n):
        before[k] = -INFINITY
    for i in range(n):
        here = best[i]
        if lattice.transitions == NULL:
            for k in range(n):
                before[k] = here if here > before[k] else before[k]
        else:
            row = lattice.transitions + i * n
            for k in range(n):
                value = here + row[k]
                before[k] = value if value > before[k] else before[k]


cdef Py_ssize_t best_segments_c(const Lattice *lattice, double *work, int *segments, double *total) noexcept nogil:
    """Ties: the lowest label of the last segment, then its greatest length, then the same for the segment before."""
    cdef Py_ssize_t n = lattice.n_tokens, n_labels = lattice.n_labels, i, d, k, label, n_segments = 0, swap
    cdef double *best = work                            # B, (n + 1, n_labels)
    cdef double *lengths = best + (n + 1) * n_labels    # of the last segment of each
    cdef double *before = lengths + (n + 1) * n_labels  # A
    cdef double *room = work + 5 * (n + 1) * n_labels
    cdef double *e
    cdef double *ends
    cdef double *of
    cdef const double *scores
    cdef double value, length
    total[0] = 0
    for k in range((n + 1) * n_labels):
        best[k] = -INFINITY
        lengths[k] = 0
    for i in range(n):
        e = before + i * n_labels
        if i == 0:
            for k in range(n_labels):
                e[k] = 0
        else:
            enter(lattice, best + i * n_labels, e)
        scores = lattice.scores_from(lattice, i, room)
        for d in range(min(lattice.longest, n - i)):
            ends, of, length = best + (i + d + 1) * n_labels, lengths + (i + d + 1) * n_labels, d + 1
            for k in range(n_labels):                   # of equal segments the first, which is the longest, stays
                value = e[k] + scores[d * n_labels + k]
                of[k] = length if value > ends[k] else of[k]
                ends[k] = value if value > ends[k] else ends[k]
        if interrupted((min(lattice.longest, n - i) + n_labels) * n_labels):
            return STOPPED
    if n == 0:
        return 0
    ends, label = best + n * n_labels, 0
    for k in range(1, n_labels):
        label = k if ends[k] > ends[label] else label
    total[0] = ends[label]
    if total[0] - total[0] != 0:
        return UNCOVERED if total[0] == -INFINITY else OVERFLOWN
    i = n
    while i > 0:
        d = <Py_ssize_t> lengths[i * n_labels + label]
        if d < 1:
            return CHANGED
        segments[3 * n_segments], segments[3 * n_segments + 1], segments[3 * n_segments + 2] = <int> (i - d), <int> i, <int> label
        n_segments += 1
        i -= d
        if i > 0:                                       # the lowest label that A was entered from: no pointers to keep
            value, k = before[i * n_labels + label], 0
            while k < n_labels and best[i * n_labels + k] + between(lattice, k, label) != value:
                k += 1
            if k == n_labels:                           # another thread has written to the transitions
                return CHANGED
            label = k
    for i in range(n_segments // 2):
        for k in range(3):
            swap = segments[3 * i + k]
            segments[3 * i + k] = segments[3 * (n_segments - 1 - i) + k]
            segments[3 * (n_segments - 1 - i) + k] = <int> swap
    return n_segments


# ---- sums over all divisions ----

cdef inline void add(double value, double *largest, double *total, bint log_sum) noexcept nogil:
    """Adds one term to a sum. The sum is its largest term and, with log_sum, the sum of `exp(term - largest)`."""
    if value > largest[0]:
        total[0] = total[0] * exp(largest[0] - value) + 1 if log_sum else 1
        largest[0] = value
    elif log_sum and value > -INFINITY:
        total[0] += exp(value - largest[0])


cdef inline double closed(double largest, double total, bint log_sum) noexcept nogil:
    return largest + log(total) if log_sum and largest > -INFINITY else largest


cdef inline double share(double value, double total, bint log_sum) noexcept nogil:
    return exp(value - total) if log_sum else value


cdef int segment_sums_c(const Lattice *lattice, bint log_sum, double *work, double *segments, double *transitions,
                        double *total) noexcept nogil:
    cdef Py_ssize_t n = lattice.n_tokens, n_labels = lattice.n_labels, longest = lattice.longest, size = (n + 1) * n_labels, i, d, k, m
    cdef Py_ssize_t cost = (EXPONENTIAL if log_sum else 1) * n_labels * (longest + n_labels)
    cdef double *best = work                # B
    cdef double *sums = best + size         # of exponentials, beside B
    cdef double *before = sums + size       # A
    cdef double *after = before + size      # what follows a segment of label k that stops at j
    cdef double *onward = after + size      # what a segment of label k that begins at i, and all after it, sum up to
    cdef double *room = onward + size
    cdef double *out
    cdef const double *scores
    cdef double largest, sum, value
    for k in range(size):
        best[k] = -INFINITY
        sums[k] = 0
    for i in range(n + 1):
        for k in range(n_labels if i else 0):
            best[i * n_labels + k] = closed(best[i * n_labels + k], sums[i * n_labels + k], log_sum)
        if i == n:
            break
        for k in range(n_labels):
            largest, sum = -INFINITY, 0
            for m in range(n_labels if i else 0):
                add(best[i * n_labels + m] + between(lattice, m, k), &largest, &sum, log_sum)
            before[i * n_labels + k] = closed(largest, sum, log_sum) if i else 0
        scores = lattice.scores_from(lattice, i, room)
        for d in range(min(longest, n - i)):
            for k in range(n_labels):
                m = (i + d + 1) * n_labels + k
                add(before[i * n_labels + k] + scores[d * n_labels + k], best + m, sums + m, log_sum)
        if interrupted(cost):
            return STOPPED
    largest, sum = (-INFINITY if n else 0), (0 if n else 1)
    for k in range(n_labels if n else 0):
        add(best[n * n_labels + k], &largest, &sum, log_sum)
    total[0] = closed(largest, sum, log_sum)
    if total[0] - total[0] != 0:
        return UNCOVERED if total[0] == -INFINITY else OVERFLOWN
    for k in range(n * longest * n_labels):
        segments[k] = 0 if log_sum else -INFINITY
    for k in range(n_labels * n_labels):
        transitions[k] = 0 if log_sum else -INFINITY
    for k in range(n_labels):
        after[n * n_labels + k] = 0
    for i in range(n - 1, -1, -1):
        scores = lattice.scores_from(lattice, i, room)
        for k in range(n_labels):
            largest, sum = -INFINITY, 0
            for d in range(min(longest, n - i)):
                value = scores[d * n_labels + k] + after[(i + d + 1) * n_labels + k]
                add(value, &largest, &sum, log_sum)
                segments[(i * longest + d) * n_labels + k] = share(before[i * n_labels + k] + value, total[0], log_sum)
            onward[i * n_labels + k] = closed(largest, sum, log_sum)
        for k in range(n_labels if i else 0):
            largest, sum = -INFINITY, 0
            for m in range(n_labels):
                value = between(lattice, k, m) + onward[i * n_labels + m]
                add(value, &largest, &sum, log_sum)
                value = share(best[i * n_labels + k] + value, total[0], log_sum)
                out = transitions + k * n_labels + m
                out[0] = out[0] + value if log_sum else max(out[0], value)
            after[i * n_labels + k] = closed(largest, sum, log_sum)
        if interrupted(cost):
            return STOPPED
    return 0


cdef inline double between(const Lattice *lattice, Py_ssize_t label, Py_ssize_t following) noexcept nogil:
    return 0 if lattice.transitions == NULL else lattice.transitions[label * lattice.n_labels + following]


cdef refusal(int status, const double *work, Py_ssize_t n_tokens, Py_ssize_t n_labels, str what):
    cdef Py_ssize_t reached = n_tokens, k
    if status == STOPPED:
        return take_interruption()
    if status == OVERFLOWN:
        return DataError(f"the scores of {what} add up to more than floating point holds; scale the features, or give smaller scores.")
    if status == CHANGED:
        return DataError(f"the transitions changed while {what} were divided; write to the array after the call, or pass a copy.")
    while reached > 0:
        if any(work[reached * n_labels + k] > -INFINITY for k in range(n_labels)):
            break
        reached -= 1
    return DataError(f"no allowed segments cover {what}: none leads past its first {reached} tokens. Allow more labels or transitions, or "
                     f"longer segments.")


# ---- from Python ----

cdef class Problem:
    """A lattice of arrays, checked."""

    cdef Lattice lattice
    cdef const double[:, :, ::1] scores
    cdef const double[:, ::1] transitions
    cdef double[::1] work

    def __cinit__(self, *args):
        self.scores = None
        self.transitions = None
        self.work = None

    def __init__(self, scores, transitions):
        self.scores = real_array(scores, "scores", ("n_tokens", "n_lengths", "n_labels"))
        cdef Py_ssize_t n = self.scores.shape[0], longest = self.scores.shape[1], n_labels = self.scores.shape[2]
        if longest == 0 or n_labels == 0:
            raise DataError(f"scores has the shape {np.shape(self.scores)}; expected (n_tokens, n_lengths, n_labels) with a length and a "
                            f"label at least.")
        if transitions is not None:
            self.transitions = real_array(transitions, "transitions", (n_labels, n_labels))
            refuse_overflow(np.asarray(self.transitions), "transitions", max(n, 1))
        self.lattice.n_tokens, self.lattice.n_labels, self.lattice.longest = n, n_labels, longest
        self.lattice.scores_from = stored_scores
        self.lattice.data = &self.scores[0, 0, 0] if n else NULL
        self.lattice.transitions = NULL
        if transitions is not None:
            self.lattice.transitions = &self.transitions[0, 0]
        self.work = np.empty(segments_work(n, n_labels, longest))

    cdef refused(self, int status):
        return refusal(status, &self.work[0], self.lattice.n_tokens, self.lattice.n_labels, f"the {self.lattice.n_tokens} tokens")

    cdef sums(self, bint log_sum):
        cdef Py_ssize_t n = self.lattice.n_tokens, n_labels = self.lattice.n_labels
        cdef double[:, :, ::1] segments = np.empty((max(n, 1), self.lattice.longest, n_labels))
        cdef double[:, ::1] transitions = np.empty((n_labels, n_labels))
        cdef double total
        cdef int status
        with nogil:
            status = segment_sums_c(&self.lattice, log_sum, &self.work[0], &segments[0, 0, 0], &transitions[0, 0], &total)
        if status < 0:
            raise self.refused(status)
        return total, np.asarray(segments)[:n], np.asarray(transitions)


def best_segments(scores, transitions=None):
    """Semi-Markov Viterbi: the best division of a sentence into labelled segments.

    Ties: the lowest label of the last segment, then the longest last segment, then the same for the segment before.
    Cost: O(n L K + n K^2) for n tokens, lengths up to L and K labels.
    Raises `DataError` if a score is NaN or +inf, or no allowed segments cover all tokens.

    Parameters
    ----------
    scores : array-like of shape (n_tokens, n_lengths, n_labels)
        scores[i, d, k] of the segment that begins at token i and has d + 1 tokens and the label k. -inf forbids it. For a label of tokens
        outside of all segments, set -inf for all lengths but 1. Entries of segments beyond the last token are ignored.
    transitions : array-like of shape (n_labels, n_labels), optional
        Scores of neighbouring segments; the row is the label before. Default: zeros.

    Returns
    -------
    segments : list of (start, stop, label)
        Segments in order, of tokens start to stop - 1. They cover all tokens.
    score : float
        Their score.

    See Also
    --------
    k_best_segments : the k best divisions.
    segment_marginals : probabilities of segments.
    segment_scores : segment scores from token scores.

    References
    ----------
    S. Sarawagi and W. W. Cohen: Semi-Markov conditional random fields for information extraction. Advances in Neural Information
    Processing Systems 17, pages 1185-1192, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.segments import best_segments
    >>> scores = np.array([[[0.0, 1.0], [-np.inf, 3.0]], [[1.0, 0.0], [-np.inf, 0.0]], [[0.5, 0.0], [-np.inf, 0.0]]])
    >>> best_segments(scores)                       # label 0: outside, of length 1
    ([(0, 2, 1), (2, 3, 0)], 3.5)
    """
    cdef Problem problem = Problem(scores, transitions)
    cdef int[::1] segments = np.empty(3 * problem.lattice.n_tokens + 1, dtype=np.intc)
    cdef double total
    cdef Py_ssize_t n_segments
    with nogil:
        n_segments = best_segments_c(&problem.lattice, &problem.work[0], &segments[0], &total)
    if n_segments < 0:
        raise problem.refused(<int> n_segments)
    return [tuple(segment) for segment in np.asarray(segments)[:3 * n_segments].reshape(-1, 3).tolist()], total


def segment_marginals(scores, transitions=None):
    """Log partition function of all divisions into segments, and marginals of segments (semi-Markov forward-backward).

    A division has a probability proportional to exp(score). Cost: O(n L K + n K^2), by sums in the log domain.
    Raises `DataError` as in `best_segments`.

    Parameters
    ----------
    scores : array-like of shape (n_tokens, n_lengths, n_labels)
        As in `best_segments`.
    transitions : array-like of shape (n_labels, n_labels), optional
        As in `best_segments`.

    Returns
    -------
    log_z : float
        Log of the sum of exp(score) over all divisions.
    segments : float64 array of shape (n_tokens, n_lengths, n_labels)
        Probability of each segment. The segments over a token sum to 1.
    pairs : float64 array of shape (n_labels, n_labels)
        Expected number of each pair of neighbouring labels.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.segments import segment_marginals
    >>> log_z, segments, pairs = segment_marginals(np.zeros((2, 2, 1)))         # two segments, or one
    >>> round(float(np.exp(log_z)), 6), segments[0, :, 0].round(6).tolist(), pairs.round(6).tolist()
    (2.0, [0.5, 0.5], [[0.5]])
    """
    return Problem(scores, transitions).sums(True)


def segment_max_marginals(scores, transitions=None):
    """Max-marginals: the score of the best division with each segment, and with each pair of labels.
    Raises `DataError` as in `best_segments`.

    Parameters
    ----------
    scores : array-like of shape (n_tokens, n_lengths, n_labels)
        As in `best_segments`.
    transitions : array-like of shape (n_labels, n_labels), optional
        As in `best_segments`.

    Returns
    -------
    best : float
        The largest score.
    segments : float64 array of shape (n_tokens, n_lengths, n_labels)
        Largest score with each segment; -inf if no division has it.
    pairs : float64 array of shape (n_labels, n_labels)
        Largest score with each pair of neighbouring labels; -inf if no division has it.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.segments import segment_max_marginals
    >>> segment_max_marginals([[[1.0], [3.0]], [[1.0], [0.0]]])[1][:, :, 0].tolist()
    [[2.0, 3.0], [2.0, -inf]]
    """
    return Problem(scores, transitions).sums(False)


# ---- the k best ----

cdef class Merging:
    """The largest of sorted lists, one after the other; of equal ones from the first list."""

    cdef Py_ssize_t size
    cdef int[::1] ranks
    cdef double[::1] heads

    def __cinit__(self, *args):
        self.ranks = None
        self.heads = None

    def __init__(self, Py_ssize_t size, Py_ssize_t most_lists):
        self.size = size
        self.ranks, self.heads = np.zeros(most_lists, dtype=np.intc), np.zeros(most_lists)

    cdef void largest(self, const double **lists, const double *added, Py_ssize_t n, double *values, int *origins) noexcept nogil:
        """The `size` largest of lists[i][r] + added[i], and i * size + r of each; -inf and -1 where none is left."""
        cdef Py_ssize_t i, r, best
        for i in range(n):
            self.ranks[i], self.heads[i] = 0, lists[i][0] + added[i]
        for r in range(self.size):
            best = 0
            for i in range(1, n):
                best = i if self.heads[i] > self.heads[best] else best
            values[r], origins[r] = self.heads[best], <int> (best * self.size + self.ranks[best])
            if values[r] == -INFINITY:
                origins[r] = -1
                continue
            self.ranks[best] += 1
            self.heads[best] = -INFINITY if self.ranks[best] == self.size else lists[best][self.ranks[best]] + added[best]


def k_best_segments(scores, transitions=None, k=1):
    """The k best divisions of a sentence into labelled segments, best first.

    The first division is that of `best_segments`. Cost: O(k n K (L + K)) for n tokens, lengths up to L and K labels.
    Returns a list of (segments, score). As `best_segments` returns them. Fewer than k if there are fewer divisions.
    Raises `DataError` as in `best_segments`. Raises `OptionError` if k is not a whole number from 1.

    Parameters
    ----------
    scores : array-like of shape (n_tokens, n_lengths, n_labels)
        As in `best_segments`.
    transitions : array-like of shape (n_labels, n_labels), optional
        As in `best_segments`.
    k : int, default 1
        Number of divisions, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.segments import k_best_segments
    >>> k_best_segments([[[1.0], [3.0]], [[1.0], [0.0]]], k=5)
    [([(0, 2, 0)], 3.0), ([(0, 1, 0), (1, 2, 0)], 2.0)]
    """
    cdef Problem problem = Problem(scores, transitions)
    cdef const Lattice *lattice = &problem.lattice
    cdef Py_ssize_t n = lattice.n_tokens, n_labels = lattice.n_labels, longest = lattice.longest, j, d, m, label, size, most, n_lists, i
    k = how_many(k)
    if n == 0:
        return [([], 0.0)]
    best_segments(problem.scores, None if transitions is None else problem.transitions)         # raises an error if there is no division
    divisions = [1]                                 # how many there are of the first tokens, forbidden ones too
    for _ in range(n):
        divisions.append(min(n_labels * sum(divisions[-longest:]), MOST_ORIGINS))
    size, most = min(k, divisions[n]), max(longest, n_labels)
    if size * most > MOST_ORIGINS:
        raise OptionError(f"k={k} is too large; expected at most {MOST_ORIGINS // most} for {n_labels} labels and {longest} lengths.")
    cdef double[:, :, ::1] best = np.full((n + 1, n_labels, size), -np.inf), before = np.full((n, n_labels, size), -np.inf)
    cdef int[:, :, ::1] of_best = np.zeros((n + 1, n_labels, size), dtype=np.intc), of_before = np.zeros((n, n_labels, size), dtype=np.intc)
    cdef double[::1] added = np.zeros(most), totals = np.zeros(size)
    cdef int[::1] last = np.zeros(size, dtype=np.intc)
    cdef Merging merging = Merging(size, most)
    cdef Py_ssize_t[::1] addresses = np.zeros(most, dtype=np.intp)
    cdef const double **lists = <const double **> &addresses[0]
    for label in range(n_labels):
        before[0, label, 0] = 0
    for j in range(1, n + 1):
        n_lists = min(longest, j)
        for label in range(n_labels):
            for i in range(n_lists):                # the longest segment first
                d = n_lists - i
                lists[i], added[i] = &before[j - d, label, 0], problem.scores[j - d, d - 1, label]
            merging.largest(lists, &added[0], n_lists, &best[j, label, 0], &of_best[j, label, 0])
        for label in range(n_labels if j < n else 0):
            for m in range(n_labels):
                lists[m], added[m] = &best[j, m, 0], between(lattice, m, label)
            merging.largest(lists, &added[0], n_labels, &before[j, label, 0], &of_before[j, label, 0])
        if interrupted(size * n_labels * (n_lists + n_labels)):
            raise take_interruption()
    for m in range(n_labels):
        lists[m], added[m] = &best[n, m, 0], 0
    merging.largest(lists, &added[0], n_labels, &totals[0], &last[0])
    ranked = []
    for m in range(size):
        if totals[m] == -INFINITY:
            break
        segments, j, i = [], n, last[m]             # i: label * size + rank
        while j > 0:
            label, i = i // size, of_best[j, i // size, i % size]
            d = min(longest, j) - i // size
            segments.append((j - d, j, label))
            j -= d
            i = of_before[j, label, i % size] if j > 0 else 0
        ranked.append((segments[::-1], totals[m]))
    return ranked


def segment_scores(first, inside, last, alone, longest, lengths=None):
    """Scores of all segments as sums of token scores, for `best_segments`.
    Returns a float64 array of shape (n_tokens, longest, n_labels). -inf for segments beyond the last token.

    Parameters
    ----------
    first, inside, last : array-like of shape (n_tokens, n_labels)
        Score of a token as the first of several, between the first and last, and as the last of several.
    alone : array-like of shape (n_tokens, n_labels)
        Score of a token as the only one of a segment.
    longest : int
        Largest number of tokens of a segment.
    lengths : array-like of shape (longest, n_labels), optional
        Scores of the lengths 1, 2, ...; -inf forbids a length.

    Examples
    --------
    >>> from structperc.solvers.segments import segment_scores
    >>> segment_scores([[1.0], [2.0]], [[0.0], [0.0]], [[3.0], [4.0]], [[5.0], [6.0]], 2)[:, :, 0].tolist()
    [[5.0, 5.0], [6.0, -inf]]
    """
    first = real_array(first, "first", ("n_tokens", "n_labels"))
    inside, last, alone = (real_array(values, name, first.shape) for values, name in ((inside, "inside"), (last, "last"), (alone, "alone")))
    longest = whole_number(longest, "longest", 1, error=OptionError)
    n, n_labels = first.shape
    added = np.zeros((longest, n_labels)) if lengths is None else real_array(lengths, "lengths", (longest, n_labels))
    scores = np.full((n, longest, n_labels), -np.inf)
    if n:
        scores[:, 0] = alone + added[0]
    so_far = first.copy()
    for d in range(1, min(longest, n)):                 # so_far: of the tokens before the last, by the first
        so_far = so_far[:n - d] + (inside[d - 1:n - 1] if d > 1 else 0)
        scores[:n - d, d] = so_far + last[d:] + added[d]
    return scores


__all__ = ["best_segments", "k_best_segments", "segment_marginals", "segment_max_marginals", "segment_scores"]
