"""Probabilities of ordered labels, slowly: pooled scores by the min-max formula, and differences of sigmoids.

The place where pooled scores change their sign is found on the broken line through them.
"""

import numpy as np
from scipy.special import expit


def pooled(s):
    """v_k = min over i <= k of max over j >= k of the mean of s_i .. s_j."""
    m = len(s)
    return np.array([min(max(np.mean(s[i:j + 1]) for j in range(k, m)) for i in range(k + 1)) for k in range(m)])


def crossing(v):
    """Where the broken line through v_0, v_1, ... becomes 0; without such a place the end that is nearer to 0."""
    n_positive = sum(v > 0)
    if n_positive in (0, len(v)):
        return max(0, n_positive - 1)
    before, after = v[n_positive - 1], v[n_positive]
    return n_positive - 1 + before / (before - after)


def cumulative(scores, temperature=1.0, spread=0.0, floor=0.0):
    """P of every label from scores of labels, (n, K): P(y > k) = sigma(v_k / temperature + spread (c - k)), v changing its sign at c."""
    above = []
    for row in scores:
        v = pooled(np.diff(row))
        equal = bool(np.isclose(np.diff(v), 0, atol=1e-9 * (1 + abs(v).max())).any())
        above.append(expit(v / temperature + (max(spread, floor) if equal else spread) * (crossing(v) - np.arange(len(v)))))
    return -np.diff(np.array(above).reshape(len(scores), -1), axis=1, prepend=1, append=0)
