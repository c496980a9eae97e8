"""Kernels between the rows of two matrices, from their definitions. Each function returns an array (rows of Q, rows of S)."""

import numpy as np

from reference.summation import running


def dots(Q, S):
    """q . s, one running sum over the features."""
    return running(Q[:, None, :] * S[None, :, :])


def squared_distances(Q, S):
    return ((Q[:, None, :] - S[None, :, :]) ** 2).sum(axis=-1)


def absolute_distances(Q, S):
    return abs(Q[:, None, :] - S[None, :, :]).sum(axis=-1)


def linear(Q, S, **_):
    return dots(Q, S)


def polynomial(Q, S, gamma, degree, coef0, **_):
    return (gamma * dots(Q, S) + coef0) ** degree


def rbf(Q, S, gamma, **_):
    return np.exp(-gamma * squared_distances(Q, S))


def laplacian(Q, S, gamma, **_):
    return np.exp(-gamma * absolute_distances(Q, S))


def perceptron(Q, S, offset, **_):
    return offset - np.sqrt(squared_distances(Q, S))


def stump(Q, S, offset, **_):
    return offset - absolute_distances(Q, S)


KERNELS = {f.__name__: f for f in (linear, polynomial, rbf, laplacian, perceptron, stump)}


def sums(values, c, total, counts):
    """total[b, lane] + sum over i, in order, of c[i, b] * values[i, lane] if counts[i, lane], and of 0 otherwise."""
    total = total.copy()
    for row, coefficients, here in zip(values, c, counts, strict=True):
        total += coefficients[:, None] * np.where(here, row, 0.0)
    return total
