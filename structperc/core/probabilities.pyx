"""From scores of labels to probabilities, and the temperature of least log loss.

Classes: P(y) is proportional to exp(score / T). Ordered labels, by the scores s_k of the atoms "rank > k": P(y > k) = sigma(v_k / T), v the
scores pooled into falling order. Pooling leaves the labels between pooled atoms without probability. If scores are in no order,
P(y > k) = sigma(v_k / T + g (c - k)). Here v changes its sign at c, and g >= 0 is the spread. Both terms are ordered, and change their sign
at one place. So the median of these probabilities is the best prefix, at every T and g.
Typical sizes: 4 atoms, 10^4 rows. Cost: O(n K).
"""
import math

import numpy as np

from libc.math cimport INFINITY, exp, expm1, fabs, log, log1p

cdef double EQUAL = 1e-12       # of the largest score of a row: neighbours that differ by less are equal, as equal thresholds make them
STRIDE, FARTHEST = 8.0, 1e30    # how 1 / T is searched
STEPS, CLOSE, SUFFICIENT = 100, 1e-9, 1e-4      # of Newton's method: at most, the decrease that ends it, and its least part in a step


def log_softmax(scores):
    """log p, where p is proportional to exp(score) in each row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def softmax_slope(scores, right, share, b):
    """d/db of each row's log loss, where P(y) is proportional to exp(b * score): E[score] - E[score | right]. It rises with b."""
    # `right`, (n, K), has the labels whose probabilities are added up. `share` of the loss is the mean of the losses of all labels.
    expected = (np.exp(log_softmax(b * scores)) * scores).sum(axis=1)
    gold = (np.exp(log_softmax(np.where(right, b * scores, -np.inf))) * scores).sum(axis=1)
    return expected - (1 - share) * gold - share * scores.mean(axis=1)


cdef void pool(const double *s, Py_ssize_t m, double *v, double *total, Py_ssize_t *size) noexcept nogil:
    """The falling sequence v nearest to s. `total` and `size` are room for its blocks."""
    # These are slopes of the least concave majorant of the prefix sums. The shortest prefix is the best at a tie.
    cdef Py_ssize_t k, i, n_blocks = 0, at = 0
    for k in range(m):
        total[n_blocks], size[n_blocks] = s[k], 1
        n_blocks += 1
        while n_blocks > 1 and total[n_blocks - 2] * size[n_blocks - 1] < total[n_blocks - 1] * size[n_blocks - 2]:
            total[n_blocks - 2] += total[n_blocks - 1]
            size[n_blocks - 2] += size[n_blocks - 1]
            n_blocks -= 1
    for k in range(n_blocks):
        for i in range(size[k]):
            v[at + i] = total[k] / size[k]
        at += size[k]


def pooled(scores):
    """The falling sequence nearest to each row, (n, K - 1), by pooling adjacent violators. Its positive entries are the best prefix."""
    cdef const double[:, ::1] s = np.ascontiguousarray(scores, dtype=float)
    cdef Py_ssize_t i, m = s.shape[1]
    answer = np.empty((s.shape[0], m))
    cdef double[:, ::1] v = answer
    cdef double[::1] total = np.empty(m)            # of each block
    cdef Py_ssize_t[::1] size = np.empty(m, dtype=np.intp)
    if m:
        for i in range(s.shape[0]):
            pool(&s[i, 0], m, &v[i, 0], &total[0], &size[0])
    return answer


def running_sums(scores):
    """The sums of the first 0, 1, ... numbers along the last axis."""
    cdef Py_ssize_t i, k, m = scores.shape[scores.ndim - 1]
    cdef const double[:, ::1] s = np.ascontiguousarray(scores, dtype=float).reshape(-1, m)
    sums = np.zeros((s.shape[0], m + 1))
    cdef double[:, ::1] t = sums
    if m:
        for i in range(s.shape[0]):
            t[i, 1] = s[i, 0]
            for k in range(1, m):
                t[i, k + 1] = t[i, k] + s[i, k]
    return sums.reshape(*scores.shape[:scores.ndim - 1], m + 1)


cdef double crossing(const double *v, Py_ssize_t m) noexcept nogil:
    """Where a falling row changes its sign, continuous in the row, 0 to K - 2: the sum of the parts above 0 of steps to neighbours."""
    cdef Py_ssize_t k
    cdef double place = 0
    for k in range(1, m):
        if v[k - 1] > v[k]:
            place += (max(v[k - 1], 0) - max(v[k], 0)) / (v[k - 1] - v[k])
        else:
            place += v[k] > 0
    return place


cdef inline double spread_of(const double *v, Py_ssize_t m, double usual, double least) noexcept nogil:
    """The spread of a falling row: at least `least` if neighbours are equal, up to rounding."""
    cdef Py_ssize_t k
    cdef double rounding = EQUAL * max(fabs(v[0]), fabs(v[m - 1])) if m else 0
    for k in range(1, m):
        if v[k - 1] - v[k] <= rounding:
            return least
    return usual


def around_crossing(rows):
    """c - k for the atom k of each falling row, (n, K - 1). The row changes its sign at c, and so does c - k, which falls by 1."""
    cdef const double[:, ::1] v = rows
    answer = np.empty((v.shape[0], v.shape[1]))
    cdef double[:, ::1] distance = answer
    cdef Py_ssize_t i, k
    cdef double place
    for i in range(v.shape[0]):
        place = crossing(&v[i, 0], v.shape[1])
        for k in range(v.shape[1]):
            distance[i, k] = place - k
    return answer


def cumulative_log_probabilities(v, inverse_temperature, floor, spread=0.0):
    """log P(y = k), where P(y > k) = sigma(inverse_temperature * v_k + spread * (c - k)), and v changes its sign at c.
    Returns a float64 array of shape (n, K).

    Parameters
    ----------
    v : array of shape (n, K - 1)
        Rows that fall, as `pooled` makes them.
    inverse_temperature : float
        Positive.
    floor : float in [0, 1)
        Least spread of rows with equal neighbours. Pooled atoms leave no probability for the labels between them; with a positive value
        all labels have some. The median stays.
    spread : float, default 0
        At least 0. Larger values move probability from the end labels to labels near the median.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import cumulative_log_probabilities
    >>> np.exp(cumulative_log_probabilities(np.array([[1.0, -1.0]]), 1.0, 0.0)).round(2).tolist()
    [[0.27, 0.46, 0.27]]
    """
    cdef const double[:, ::1] rows = np.ascontiguousarray(v, dtype=float)
    cdef Py_ssize_t n = rows.shape[0], m = rows.shape[1], i, k
    cdef double b = inverse_temperature, least = max(floor, spread), usual = spread, place, g, above, below, gap, inner, tail, last
    answer = np.empty((n, m + 1))
    cdef double[:, ::1] log_p = answer
    with nogil:
        for i in range(n):
            g, place, last = spread_of(&rows[i, 0], m, usual, least), crossing(&rows[i, 0], m), 0
            above = INFINITY
            for k in range(m + 1):
                below = b * rows[i, k] + g * (place - k) if k < m else -INFINITY
                gap = b * (rows[i, k - 1] - rows[i, k]) + g if 0 < k < m else INFINITY     # not above - below, which may round to 0
                tail = log1p(exp(-fabs(below))) if k < m else 0     # both softplus(below) and softplus(-below) have it
                inner = log(-expm1(-gap)) if 0 < k < m else 0
                log_p[i, k] = inner - (max(-above, 0) + last) - (max(below, 0) + tail)
                above, last = below, tail
    return answer


def cumulative_probabilities(scores, double inverse_temperature, double floor, double spread):
    """P(y = k) from the scores of labels, (n, K): the exponentials of `cumulative_log_probabilities` of their differences, pooled."""
    # With s = sigma: s(A) - s(B) = (1 - e^-(A - B)) s(A) s(-B), in which nothing cancels.
    cdef const double[:, ::1] rows = scores
    cdef Py_ssize_t i, k, m = rows.shape[1] - 1
    cdef double b = inverse_temperature, least = max(floor, spread), g, place, z, small, part, above
    answer = np.ones((rows.shape[0], m + 1))
    cdef double[:, ::1] p = answer
    cdef double[::1] differences = np.empty(m), falling = np.empty(m), total = np.empty(m)
    cdef Py_ssize_t[::1] size = np.empty(m, dtype=np.intp)
    cdef double *v
    if m < 1:
        return answer
    v = &falling[0]
    with nogil:
        for i in range(rows.shape[0]):
            for k in range(m):
                differences[k] = rows[i, k + 1] - rows[i, k]
            pool(&differences[0], m, v, &total[0], &size[0])
            g = spread_of(v, m, spread, least)
            place = crossing(v, m) if g > 0 else 0
            above = 1
            for k in range(m):
                z = b * v[k] + g * (place - k)
                small = exp(-fabs(z))
                part = 1 / (1 + small)
                p[i, k] = above * (small if z > 0 else 1) * part
                if k > 0:
                    p[i, k] *= -expm1(-(b * (v[k - 1] - v[k]) + g))         # not of the difference of z, which may round to 0
                above = (1 if z > 0 else small) * part
            p[i, m] = above
    return answer


def softmax_calibration(scores, right, weights, share) -> tuple:
    """1 / T of least log loss where P(y) is proportional to exp(score / T), and the spread 0; see `LabelOutputs.calibration`."""
    return root(lambda b: float((weights * softmax_slope(scores, right, share, b)).sum())), 0.0


def cumulative_calibration(scores, right, weights, share) -> tuple:
    """1 / T and the spread of least log loss of ordered labels. The loss is convex in both. The spread is 0 if no scores are pooled."""
    v = pooled(np.diff(scores, axis=1))
    size = np.abs(v).mean()
    if not size > 0:
        return 1.0, 0.0
    facts = [v / size, around_crossing(v)] if (np.diff(v, axis=1) == 0).any() else [v / size]
    low, high = right.argmax(axis=1), scores.shape[1] - right[:, ::-1].argmax(axis=1)
    facts, low, high, weights = np.stack(facts), low.astype(np.intp), high.astype(np.intp), np.ascontiguousarray(weights, dtype=float)
    numbers = least(lambda numbers: cumulative_loss(facts, low, high, weights, share, numbers), np.array([1.0, 0.5])[:len(facts)])
    return max(numbers[0], 1 / FARTHEST) / size, float(numbers[1]) if len(facts) > 1 else 0.0


def cumulative_loss(facts, low, high, weights, share, numbers) -> tuple:
    """The log loss where P(y > k) = sigma(z_k), and its gradient and Hessian in the numbers. z is the sum of numbers times facts."""
    # The labels low, ..., high - 1 of 0, ..., K - 1 are right. `share` of the loss is the mean of the losses of all labels. Between
    # the thresholds A and B it is log(1 + e^-A) + log(1 + e^B) - log(1 - e^-(A - B)). Ends that are open have no terms.
    cdef const double[:, :, ::1] f = facts
    cdef const double[::1] w = weights, x = numbers
    cdef const Py_ssize_t[::1] lows = low, highs = high
    cdef Py_ssize_t i, k, K = f.shape[2] + 1
    cdef double even = share / K, own = 1 - share
    cdef bint inner
    gradient, hessian = np.zeros(len(f)), np.zeros((len(f), len(f)))
    cdef double[::1] g = gradient
    cdef double[:, ::1] h = hessian
    cdef double loss = 0
    with nogil:
        for i in range(f.shape[1]):
            inner = lows[i] > 0 and highs[i] < K
            for k in range(1, K):
                loss += add_end(f, x, i, k - 1, w[i] * (even + own * (lows[i] == k)), w[i] * (even + own * (highs[i] == k)), g, h)
            for k in range(1, K - 1):
                loss += add_gap(f, x, i, k - 1, k, w[i] * (even + own * (inner and lows[i] == k and highs[i] == k + 1)), g, h)
            if inner and highs[i] > lows[i] + 1:
                loss += add_gap(f, x, i, lows[i] - 1, highs[i] - 1, w[i] * own, g, h)
    return loss, gradient, hessian


cdef inline double add_end(const double[:, :, ::1] f, const double[::1] x, Py_ssize_t i, Py_ssize_t k, double lower, double upper,
                           double[::1] g, double[:, ::1] h) noexcept nogil:
    """Adds the derivatives of lower * log(1 + e^-z) + upper * log(1 + e^z) at the threshold k; returns the value."""
    cdef Py_ssize_t r, q
    cdef double z = 0, small, p, slope, curve
    for r in range(f.shape[0]):
        z += x[r] * f[r, i, k]
    small = exp(-fabs(z))
    p = (1 if z > 0 else small) / (1 + small)
    slope = upper * p - lower * (small if z > 0 else 1) / (1 + small)
    curve = (lower + upper) * small / ((1 + small) * (1 + small))
    for r in range(f.shape[0]):
        g[r] += slope * f[r, i, k]
        for q in range(f.shape[0]):
            h[r, q] += curve * f[r, i, k] * f[q, i, k]
    return (lower + upper) * log1p(small) + (upper * z if z > 0 else -lower * z)


cdef inline double add_gap(const double[:, :, ::1] f, const double[::1] x, Py_ssize_t i, Py_ssize_t j, Py_ssize_t k, double weight,
                           double[::1] g, double[:, ::1] h) noexcept nogil:
    """The same of - weight * log(1 - e^-gap), the gap that between the thresholds j and k."""
    cdef Py_ssize_t r, q
    cdef double gap = 0, rest, barrier
    for r in range(f.shape[0]):
        gap += x[r] * (f[r, i, j] - f[r, i, k])
    rest = -expm1(-gap)
    barrier = weight * (1 - rest) / rest if gap > 0 else INFINITY
    for r in range(f.shape[0]):
        g[r] -= barrier * (f[r, i, j] - f[r, i, k])
        for q in range(f.shape[0]):
            h[r, q] += barrier / rest * (f[r, i, j] - f[r, i, k]) * (f[q, i, j] - f[q, i, k])
    return -weight * log(rest)


def least(loss, x):
    """Where a convex function of one or two numbers from 0 on is least, by Newton's method from x. `loss` gives all derivatives."""
    value, gradient, hessian = loss(x)
    for _ in range(STEPS):
        free = (x > 0) | (gradient < 0)
        step = np.zeros(len(x))
        step[free] = solved(hessian[free][:, free], gradient[free])
        rate = 1.0
        while True:
            new = np.maximum(x - rate * step, 0)
            decrease = float((gradient * (x - new)).sum())
            result = loss(new)
            if not decrease > CLOSE * (1 + abs(value)):
                return x
            if result[0] <= value - SUFFICIENT * decrease:
                break
            rate /= 2
        x, (value, gradient, hessian) = new, result
    return x


def solved(A, b):
    """A^-1 b, for at most two numbers, by Cramer's rule: bits of BLAS depend on the machine."""
    if len(b) < 2:
        return b / A.reshape(-1)
    return np.array([b[0] * A[1, 1] - b[1] * A[0, 1], A[0, 0] * b[1] - A[1, 0] * b[0]]) / (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])


def root(slope) -> float:
    """The positive b at which a rising slope is 0. It is 1 if the slope is 0 everywhere, or no such b is within reach."""
    from scipy.optimize import brentq

    begin, end, before = 1.0, 1.0, slope(1.0)
    factor = STRIDE if before < 0 else 1 / STRIDE
    while slope(end) * before > 0 and 1 / FARTHEST < end < FARTHEST:
        begin, end = end, end * factor
    if not slope(begin) * slope(end) < 0:
        return 1.0
    return math.exp(brentq(lambda log_b: slope(math.exp(log_b)), math.log(begin), math.log(end), xtol=1e-3))
