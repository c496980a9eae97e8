"""Sums over pairs of rows of which one shall score more, without the pairs being formed: sweeps in the order of scores.

A pair (i, j) of one group with level_i > level_j is short of the margin when f_j > f_i - margin. For every row the result has the number of
partners it is short with, as the higher and as the lower one. It also has the sums of their scores.

Typical sizes: groups of 10 to 10^5 rows, 2 to 5 levels. O(n log k) for n rows and k levels after sorting; about 0.1 us per row.
"""
import numpy as np

from libc.stdint cimport int64_t
from structperc.core.arguments import NUMBERS, offset_array, real_array, real_number, whole_array
from structperc.core.errors import DataError
from structperc.core.signals import raise_interruption
from structperc.core.signals cimport interrupted

cdef enum:
    ROW = 32            # operations


cdef inline void insert(double *count, double *total, Py_ssize_t n_levels, Py_ssize_t level, double score) noexcept nogil:
    """Adds a row at a level 0..n_levels - 1 of a Fenwick tree."""
    cdef Py_ssize_t at = level + 1
    while at <= n_levels:
        count[at] += 1
        total[at] += score
        at += at & -at


cdef inline void below(const double *count, const double *total, Py_ssize_t level, double *n, double *scores) noexcept nogil:
    """How many rows stand at levels below this one, and the sum of their scores."""
    n[0] = scores[0] = 0
    while level > 0:
        n[0] += count[level]
        scores[0] += total[level]
        level -= level & -level


cdef int short_pairs_c(const double *scores, const double *least, const int *levels, const int64_t *order, const int64_t *offsets,
                       Py_ssize_t n_groups, double *up, double *down, double *lower, double *higher, double *count,
                       double *sums) noexcept nogil:
    """The counts and sums of `short_pairs`, into zeros; -1 where interrupted.

    `least`: scores - margin. `count`, `sums`: room for one number more than the largest group has rows.
    """
    cdef Py_ssize_t g, p, q, i, start, stop, k, a
    cdef double total, all_scores
    for g in range(n_groups):
        start, stop = offsets[g], offsets[g + 1]
        k = 0
        for p in range(start, stop):
            k = max(k, levels[p] + 1)
        if k < 2 or k > stop - start:
            continue
        for a in range(k + 1):
            count[a] = sums[a] = 0
        q = stop - 1
        for p in range(stop - 1, start - 1, -1):
            if interrupted(ROW):
                return -1
            i = order[p]
            while q >= start and scores[order[q]] > least[i]:
                insert(count, sums, k, levels[order[q]], scores[order[q]])
                q -= 1
            below(count, sums, levels[i], &up[i], &lower[i])
        for a in range(k + 1):
            count[a] = sums[a] = 0
        total = all_scores = 0
        q = start
        for p in range(start, stop):
            if interrupted(ROW):
                return -1
            i = order[p]
            while q < stop and least[order[q]] < scores[i]:
                insert(count, sums, k, levels[order[q]], scores[order[q]])
                total += 1
                all_scores += scores[order[q]]
                q += 1
            below(count, sums, levels[i] + 1, &down[i], &higher[i])
            down[i], higher[i] = total - down[i], all_scores - higher[i]
    return 0


def short_pairs(scores, levels, order, offsets, margin=1.0):
    """Counts and sums over the pairs of rows whose score difference is below the margin.

    A pair is short if its higher-level row scores less than the margin above its lower-level row. Cost: O(n log L) for L levels.

    Parameters
    ----------
    scores : float64 array of shape (n,)
        Score of each row.
    levels : int32 array of shape (n,)
        Level of each row: 0, 1, ... without gaps in each group.
    order : int64 array of shape (n,)
        Rows sorted by score, lowest first, within each group.
    offsets : int64 array of shape (n_groups + 1,)
        Rows offsets[g]:offsets[g + 1] are group g, in `order` too.
    margin : float, default 1.0
        Required score difference. Larger values make more pairs short.

    Returns
    -------
    up, down : float64 arrays of shape (n,)
        Number of lower-level and of higher-level partners with which each row is short. Both count the same pairs, even when rounding
        decides.
    lower, higher : float64 arrays of shape (n,)
        Sums of the scores of these partners.

    Raises
    ------
    DataError
        If a score is NaN, lengths differ, or `order` mixes groups.

    References
    ----------
    T. Joachims: Training linear SVMs in linear time. Proceedings of KDD, pages 217-226, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.pairs import short_pairs
    >>> scores, levels = np.array([0.25, 0.5]), np.array([0, 1], dtype=np.int32)
    >>> up, down, lower, higher = short_pairs(scores, levels, np.argsort(scores), np.array([0, 2]))
    >>> up.tolist(), down.tolist(), lower.tolist(), higher.tolist()
    ([0.0, 1.0], [1.0, 0.0], [0.0, 0.25], [0.5, 0.0])
    """
    scores = real_array(scores, "scores", ("n",), NUMBERS)
    cdef const double[::1] f = scores
    cdef const int[::1] level = whole_array(levels, "levels", scores.shape)
    cdef const int64_t[::1] rows = whole_array(order, "order", scores.shape, high=len(scores) - 1).astype(np.int64)
    cdef const int64_t[::1] begins = offset_array(offsets, len(scores))
    cdef Py_ssize_t n = f.shape[0], n_groups = begins.shape[0] - 1, g, p, most = 0
    cdef int status
    for g in range(n_groups):
        most = max(most, begins[g + 1] - begins[g])
        for p in range(begins[g], begins[g + 1]):
            if not begins[g] <= rows[p] < begins[g + 1]:
                raise DataError(f"order[{p}] is {rows[p]}; expected a row of group {g}, from {begins[g]} to {begins[g + 1] - 1}.")
    cdef double[::1] up = np.zeros(n), down = np.zeros(n), lower = np.zeros(n), higher = np.zeros(n)
    cdef double[::1] count = np.zeros(most + 1), sums = np.zeros(most + 1), least = scores - real_number(margin, "margin")
    if n:
        with nogil:
            status = short_pairs_c(&f[0], &least[0], &level[0], &rows[0], &begins[0], n_groups, &up[0], &down[0], &lower[0],
                                   &higher[0], &count[0], &sums[0])
        if status < 0:
            raise_interruption()
    return np.asarray(up), np.asarray(down), np.asarray(lower), np.asarray(higher)
