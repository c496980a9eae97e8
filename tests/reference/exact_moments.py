"""Means of columns and sums of squared differences from them, by fractions and rounded once."""

from fractions import Fraction

import numpy as np


def exact_moments(X, weights=None):
    """Of each column; weights of None are 1."""
    weights = [Fraction(weight) for weight in (np.ones(len(X)) if weights is None else weights).tolist()]
    number, moments = sum(weights), []
    for column in np.asarray(X, dtype=float).T.tolist():
        column = [Fraction(value) for value in column]
        total = sum(weight * value for weight, value in zip(weights, column, strict=True))
        squares = sum(weight * value**2 for weight, value in zip(weights, column, strict=True))
        moments.append((float(total / number), float(squares - total**2 / number)))
    return np.array(moments).T
