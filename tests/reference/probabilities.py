"""Probabilities of ordered labels, slowly: pooled scores by the min-max formula, and differences of sigmoids."""

import numpy as np
from scipy.special import expit


def pooled(s):
    """v_k = min over i <= k of max over j >= k of the mean of s_i .. s_j."""
    m = len(s)
    return np.array([min(max(np.mean(s[i:j + 1]) for j in range(k, m)) for i in range(k + 1)) for k in range(m)])


def cumulative(scores, temperature=1.0):
    """P of every label where P(y > k) = sigma(v_k / temperature), from scores of labels, (n, K)."""
    above = np.array([expit(pooled(np.diff(row)) / temperature) for row in scores]).reshape(len(scores), -1)
    return -np.diff(above, axis=1, prepend=1, append=0)
