"""A Python module that only needs numpy."""

from __future__ import annotations

from structperc.engine.exports.text import numbers

SOURCE = '''"""{description}; exported by structperc, needs only numpy."""

import numpy as np

COLUMNS = {columns!r}
WEIGHTS = np.array([{weights}])
BIAS = {bias!r}


def scores(X):
    """The score of each row, shape (n_rows,)."""
    return np.asarray(X, dtype=float) @ WEIGHTS + BIAS


def order(X):
    """The rows of one query, the best first; equal ones in their order."""
    return np.argsort(-scores(X), kind="stable")
'''


def written(model, name) -> bytes:
    """The module; parameters as of `structperc.engine.exports`."""
    return SOURCE.format(description=model.description, columns=model.columns, weights=numbers(model.weights),
                         bias=model.bias).encode()
