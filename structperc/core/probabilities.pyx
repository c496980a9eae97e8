# distutils: extra_compile_args = GLUE
"""From scores of labels to probabilities, and the slope of the log loss by which a temperature is found.

Classes: P(y) is proportional to exp(score / T). Ordered labels, by the scores s_k of the atoms "rank > k": P(y > k) = sigma(v_k / T), v the
scores pooled into falling order. The median of these probabilities is the best prefix, at every T.
Typical sizes: 4 atoms, 10^4 rows. Cost: O(n K).
"""
import numpy as np


def log_softmax(scores):
    """log p, where p is proportional to exp(score) in each row."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def softmax_slope(scores, right, share, b):
    """d/db of each row's log loss, where P(y) is proportional to exp(b * score): E[score] - E[score | right].

    Parameters
    ----------
    scores : array of shape (n, K)
    right : bool array of shape (n, K)
        The labels that are right; their probabilities are added up.
    share : float in [0, 1]
        How much of the loss is the mean of the losses of all labels.
    b : float
        Positive. The slope rises with b.
    """
    expected = (np.exp(log_softmax(b * scores)) * scores).sum(axis=1)
    gold = (np.exp(log_softmax(np.where(right, b * scores, -np.inf))) * scores).sum(axis=1)
    return expected - (1 - share) * gold - share * scores.mean(axis=1)


def pooled(scores):
    """The falling sequence nearest to each row, by pooling adjacent violators: slopes of the least concave majorant of its prefix sums.

    Parameters
    ----------
    scores : array of shape (n, K - 1)

    Returns
    -------
    float64 array of shape (n, K - 1)
        The number of positive entries of a row is the length of its best prefix, the shortest at a tie.
    """
    cdef const double[:, ::1] s = np.ascontiguousarray(scores, dtype=float)
    cdef Py_ssize_t n = s.shape[0], m = s.shape[1], i, k, n_blocks, at
    answer = np.empty((n, m))
    cdef double[:, ::1] v = answer
    cdef double[::1] total = np.empty(m)            # of each block, which ends before `end`
    cdef Py_ssize_t[::1] size = np.empty(m, dtype=np.intp)
    for i in range(n):
        n_blocks = 0
        for k in range(m):
            total[n_blocks], size[n_blocks] = s[i, k], 1
            n_blocks += 1
            while n_blocks > 1 and total[n_blocks - 2] * size[n_blocks - 1] < total[n_blocks - 1] * size[n_blocks - 2]:
                total[n_blocks - 2] += total[n_blocks - 1]
                size[n_blocks - 2] += size[n_blocks - 1]
                n_blocks -= 1
        at = 0
        for k in range(n_blocks):
            v[i, at:at + size[k]] = total[k] / size[k]
            at += size[k]
    return answer


def cumulative_log_probabilities(v, inverse_temperature, floor):
    """log P(y = k), where P(y > k) = sigma(inverse_temperature * v_k), and `floor` of it spread with the same median.

    Parameters
    ----------
    v : array of shape (n, K - 1)
        Rows that fall, as `pooled` makes them.
    inverse_temperature : float
        Positive.
    floor : float in [0, 1)
        Pooled atoms leave no probability for the labels between them. In such rows, half of this share goes to the median, and half
        evenly to all labels. So none has probability 0, and the median stays.

    Returns
    -------
    float64 array of shape (n, K)

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import cumulative_log_probabilities
    >>> np.exp(cumulative_log_probabilities(np.array([[1.0, -1.0]]), 1.0, 0.0)).round(2).tolist()
    [[0.27, 0.46, 0.27]]
    """
    n, m = v.shape
    ends = np.full((n, m + 2), np.inf)
    ends[:, 1:-1], ends[:, -1] = inverse_temperature * v, -np.inf
    A, B = ends[:, :-1], ends[:, 1:]
    with np.errstate(divide="ignore"):              # log 0 of labels between pooled atoms
        log_p = -np.logaddexp(0, -A) - np.logaddexp(0, B) + np.log(-np.expm1(B - A))
    short = np.flatnonzero((A == B).any(axis=1)) if floor else ()
    if len(short):
        p = (1 - floor) * np.exp(log_p[short]) + floor / (2 * (m + 1))
        p[np.arange(len(short)), (v[short] > 0).sum(axis=1)] += floor / 2
        log_p[short] = np.log(p)
    return log_p


def cumulative_slope(v, right, share, b):
    """The same if P(y > k) = sigma(b v_k), for falling rows.

    Labels whose probability is 0 at every b count 0. `right` has the labels of one interval in each row.
    """
    n, m = v.shape
    ends = np.full((n, m + 2), np.inf)
    ends[:, 1:-1], ends[:, -1] = v, -np.inf
    rows, low, high = np.arange(n), right.argmax(axis=1), m + 1 - right[:, ::-1].argmax(axis=1)
    gold = interval_slope(ends[rows, low], ends[rows, high], b)
    return (1 - share) * gold + share * interval_slope(ends[:, :-1], ends[:, 1:], b).mean(axis=1)


def sigma(v):
    """1 / (1 + exp(-v)), without overflow. `scipy.special.expit` would load SciPy with every import of structperc."""
    return np.exp(-np.logaddexp(0, -v))


def interval_slope(A, B, b):
    """d/db of - log(sigma(b A) - sigma(b B)), ends that are open being infinite."""
    with np.errstate(all="ignore"):
        gap = A - B
        low = np.where(np.isinf(A), 0.0, -A * sigma(-b * A))
        high = np.where(np.isinf(B), 0.0, B * sigma(b * B))
        return np.where(gap > 0, low + high - np.where(np.isinf(gap), 0.0, gap / np.expm1(b * gap)), 0.0)
