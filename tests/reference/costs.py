"""Losses as tables: entry (y - 1, z - 1) is the cost of the prediction z for the correct label y."""

import numpy as np


def table(loss, r):
    """The (r, r) table of a named loss; returns a table unchanged."""
    if not isinstance(loss, str):
        return np.asarray(loss, dtype=float)
    right, answer = np.indices((r, r))
    return {
        "absolute": abs(right - answer),
        "squared": (right - answer) ** 2,
        "zero-one": right != answer,
    }[loss].astype(float)


def of_examples(loss, y, r):
    """The (n, r) costs of examples with labels y in 1..r."""
    return table(loss, r)[np.asarray(y) - 1]


def random_table(rng, r, values=None):
    """A random table: positive costs, 0 on the diagonal. If `values` is set, costs are whole numbers below it."""
    costs = rng.uniform(0.1, 3.0, (r, r)) if values is None else rng.integers(1, values, (r, r)).astype(float)
    np.fill_diagonal(costs, 0)
    return costs
