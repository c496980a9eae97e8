"""What kernels settle from the first data: means, variances and widths of the columns of X.

Cost: one or two passes over X, in pieces of a million numbers.
"""

import numpy as np

CHUNK = 1 << 20             # numbers of X looked at together


def chunks(rows):
    """X in pieces of whole rows, as float64."""
    step = max(CHUNK // max(rows.n_features, 1), 1)
    for first in range(0, rows.n_rows, step):
        yield np.asarray(rows.X[first:first + step], dtype=np.float64)


def moments(rows):
    """Mean and variance of every column of dense X."""
    total, squares = np.zeros(rows.n_features), np.zeros(rows.n_features)
    for part in chunks(rows):
        total += part.sum(axis=0)
    mean = total / rows.n_rows
    for part in chunks(rows):
        squares += ((part - mean) ** 2).sum(axis=0)
    return mean, squares / rows.n_rows


def variance(rows):
    """Variance of all entries of X together, the zeros of sparse X among them."""
    size = rows.n_rows * rows.n_features
    if not rows.sparse:
        mean, squares = moments(rows)
        return float((squares + (mean - mean.mean()) ** 2).mean())
    values = np.asarray(rows.X.data, dtype=np.float64)
    mean = values.sum() / size
    return float((((values - mean) ** 2).sum() + (size - len(values)) * mean ** 2) / size)


def widths(rows):
    """Largest minus smallest entry of every column of X."""
    if rows.sparse:
        high, low = (np.asarray(side.toarray(), dtype=np.float64).ravel() for side in (rows.X.max(axis=0), rows.X.min(axis=0)))
        return high - low
    low, high = np.full(rows.n_features, np.inf), np.full(rows.n_features, -np.inf)
    for part in chunks(rows):
        low, high = np.minimum(low, part.min(axis=0)), np.maximum(high, part.max(axis=0))
    return high - low
