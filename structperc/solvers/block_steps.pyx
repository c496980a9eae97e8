"""Concave quadratic programs over products of simplices, by pairwise steps: on one block, and on all together.

Provisional: it may change in any minor version.

    max over a   sum_m a_m loss_m - 1/2 ||sum_m a_m v_m||^2,   a >= 0, the coefficients of each block adding up to what they do

A step moves weight from the structure of smallest value h_m = loss_m - w . v_m among those that have any to the one of largest, as far as
the objective rises. Typical sizes: blocks of 1 to 10 structures, 10 to 10^4 weights.
"""
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t
from structperc.basics.arguments import (
    COSTS, NUMBERS, changed_array, float_array, offset_array, real_array, real_number, shaped, whole_array, whole_number,
)
from structperc.basics.errors import DataError
from structperc.basics.signals cimport interrupted
from structperc.basics.signals import raise_interruption


# ---- block steps ----

cdef enum:
    PAIRWISE_STEPS = 200            # at most, on one block and visit
    MOST_NUMBERS = 1 << 24          # of vectors that are swept
    MOST_SWEEPS = 1000
    MOST_WORK = 1 << 30             # numbers, in all sweeps of a call
    BETWEEN_SIGNALS = 1 << 26

cdef double CLOSE = 1e-3            # a block is done when its gap is this part of what it was


cdef double pairwise(double *alpha, double *value, const double *distance, Py_ssize_t pitch, Py_ssize_t n) noexcept nogil:
    """Moves weight between pairs of structures until their largest value is close to the smallest value with weight; see `block_steps`.

    A step from v to u changes value m by t (distance_mu - distance_mv) / 2, up to a constant. `pitch`: from one row of distances to the
    next. Returns the gap before the first step.
    """
    cdef Py_ssize_t m, u, v, step
    cdef double first = 0, gap, t
    for step in range(PAIRWISE_STEPS):
        u, v = 0, -1
        for m in range(n):
            if value[m] > value[u]:
                u = m
            if alpha[m] > 0 and (v < 0 or value[m] < value[v]):
                v = m
        if v < 0:
            return 0
        gap = value[u] - value[v]
        if step == 0:
            first = gap
        if not gap > CLOSE * first:
            break
        t = alpha[v]
        if distance[u * pitch + v] * t > gap:
            t = gap / distance[u * pitch + v]
        alpha[u] += t
        alpha[v] = 0 if t == alpha[v] else alpha[v] - t
        for m in range(n):
            value[m] += t * (distance[m * pitch + u] - distance[m * pitch + v]) / 2
    return first


def block_steps(alpha, value, distance):
    """Coordinate ascent on one block of dual variables, in place, by at most 200 pairwise steps.

    Ties: of equal values the first structure wins. Cost: O(n) a step.
    Raises `DataError` if a number is NaN, shapes differ, or `alpha` or `value` cannot be changed in place.
    Returns a float. The gap before the steps: the largest value minus the smallest one among structures with a coefficient.
    See also `sweep_blocks` (all blocks together).

    Parameters
    ----------
    alpha : float64 array of shape (n,)
        Dual coefficients, at least 0. Changed in place; their sum stays the same.
    value : float64 array of shape (n,)
        Values h of the structures, up to a constant. Changed in place with the coefficients.
    distance : float64 array of shape (n, n) or larger
        Squared distances between the structures' feature vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.block_steps import block_steps
    >>> alpha, value = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> block_steps(alpha, value, np.array([[0.0, 2.0], [2.0, 0.0]]))
    1.0
    >>> alpha.tolist()
    [0.5, 0.5]
    """
    cdef double[::1] a = changed_array(alpha, "alpha", ("n",), COSTS), h
    cdef const double[:, ::1] far = shaped(float_array(distance, "distance"), "distance", ("n", "m"))
    cdef Py_ssize_t n = a.shape[0]
    h = changed_array(value, "value", (n,))
    if far.shape[0] < n or far.shape[1] < n:
        raise DataError(f"distance has the shape {np.shape(distance)}; expected ({n}, {n}) or more.")
    return pairwise(&a[0], &h[0], &far[0, 0], far.shape[1], n) if n else 0.0


def can_sweep(n_structures, n_weights):
    """Whether `sweep_blocks` can store the vectors of all structures: at most 128 MB.

    Parameters
    ----------
    n_structures : int
        Number of structures in all blocks.
    n_weights : int
        Length of each vector.

    Examples
    --------
    >>> from structperc.solvers.block_steps import can_sweep
    >>> can_sweep(1000, 1000), can_sweep(1000, 1_000_000)
    (True, False)
    """
    return whole_number(n_structures, "n_structures") * whole_number(n_weights, "n_weights") <= MOST_NUMBERS


def sweep_blocks(alpha, loss, vectors, offsets, w, enough):
    """Coordinate ascent on all blocks together over their cached structures, without search.

    Use it if examples are few and share weights: most passes then go into the blocks' influence on each other.
    Cost: O(m n_weights) a sweep; at most 1000 sweeps over at most 10^9 numbers. Ctrl-C stops it.
    Raises `DataError` if a number is NaN, shapes differ, or `alpha` or `w` cannot be changed in place.
    Returns an int. The number of sweeps. See also `block_steps` (one block).

    Parameters
    ----------
    alpha : float64 array of shape (m,)
        Dual coefficients, at least 0. Changed in place.
    loss : float64 array of shape (m,)
        Losses of the structures.
    vectors : float64 array of shape (m, n_weights)
        Phi(x, gold) - Phi(x, y) of each structure.
    offsets : int64 array of shape (n_blocks + 1,)
        Structures offsets[i]:offsets[i + 1] are block i.
    w : float64 array of shape (n_weights,)
        Weights. Changed in place with `alpha`.
    enough : float
        Stop after a sweep whose gap over these structures, summed over the blocks, is at most this. Larger values stop earlier.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.block_steps import sweep_blocks
    >>> alpha, w = np.array([1.0, 0.0]), np.zeros(1)
    >>> sweep_blocks(alpha, np.array([0.0, 1.0]), np.array([[0.0], [2.0]]), np.array([0, 2]), w, enough=1e-9) > 0
    True
    >>> alpha.tolist(), w.tolist()
    ([0.75, 0.25], [0.5])
    """
    cdef double[::1] a = changed_array(alpha, "alpha", ("m",), COSTS), weights = changed_array(w, "w", ("n_weights",))
    cdef Py_ssize_t m = a.shape[0], d = weights.shape[0], done = 0, work = 0, since = 0
    cdef const double[::1] losses = real_array(loss, "loss", (m,), NUMBERS)
    cdef const double[:, ::1] phi = shaped(float_array(vectors, "vectors"), "vectors", (m, d))
    cdef const int64_t[::1] begins = offset_array(offsets, m)
    cdef double[::1] value = np.zeros(max(m, 1))
    cdef double least = real_number(enough, "enough")
    while done < MOST_SWEEPS and work < MOST_WORK:
        done += 1
        work += m * d
        since += m * d
        if one_sweep(a, losses, phi, begins, weights, value) <= least:
            break
        if since > BETWEEN_SIGNALS:
            since = 0
            PyErr_CheckSignals()
    return done


cdef inline double dot(const double *a, const double *b, Py_ssize_t n) noexcept nogil:
    """Four sums at a time."""
    cdef Py_ssize_t j
    cdef double first = 0, second = 0, third = 0, fourth = 0
    for j in range(0, n - 3, 4):
        first += a[j] * b[j]
        second += a[j + 1] * b[j + 1]
        third += a[j + 2] * b[j + 2]
        fourth += a[j + 3] * b[j + 3]
    for j in range(n - n % 4, n):
        first += a[j] * b[j]
    return (first + second) + (third + fourth)


cdef double one_sweep(double[::1] alpha, const double[::1] loss, const double[:, ::1] vectors, const int64_t[::1] offsets, double[::1] w,
                      double[::1] value) noexcept nogil:
    """One pairwise step per block; the sum of the gaps before."""
    cdef Py_ssize_t d = w.shape[0], b, i, j, u, v
    cdef double gap = 0, far, t
    for b in range(offsets.shape[0] - 1):
        if offsets[b + 1] - offsets[b] < 2:
            continue
        u, v = offsets[b], -1
        for i in range(offsets[b], offsets[b + 1]):
            value[i] = loss[i] - dot(&w[0], &vectors[i, 0], d)
            if value[i] > value[u]:
                u = i
            if alpha[i] > 0 and (v < 0 or value[i] < value[v]):
                v = i
        if v < 0 or not value[u] > value[v]:
            continue
        far = 0
        for i in range(offsets[b], offsets[b + 1]):
            gap += alpha[i] * (value[u] - value[i])
        for j in range(d):
            far += (vectors[u, j] - vectors[v, j]) * (vectors[u, j] - vectors[v, j])
        t = alpha[v]
        if far * t > value[u] - value[v]:
            t = (value[u] - value[v]) / far
        alpha[u] += t
        alpha[v] = 0 if t == alpha[v] else alpha[v] - t
        for j in range(d):
            w[j] += t * (vectors[u, j] - vectors[v, j])
    return gap


# ---- pairs ----
# Sums over pairs of rows of which one shall score more, without the pairs being formed: sweeps in the order of scores.
#
# A pair (i, j) of one group with level_i > level_j is short of the margin if f_j > f_i - margin. The result has for every row the number of
# its short pairs, as the higher and as the lower one. It also has the sums of their scores.
#
# Typical sizes: groups of 10 to 10^5 rows, 2 to 5 levels. O(n log k) for n rows and k levels after sorting; about 0.1 us per row.

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
    Raises `DataError` if a score is NaN, lengths differ, or `order` mixes groups.

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

    References
    ----------
    T. Joachims: Training linear SVMs in linear time. Proceedings of KDD, pages 217-226, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.block_steps import short_pairs
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
