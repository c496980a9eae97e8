"""phi(x, a) of every feature map as rows of a matrix, written from the definitions. x is an array (n_rows, d).

The order of weights may differ from that of the map. Inner products of vectors are the same.
"""

import numpy as np


def rows(x, n_blocks, intercept=False):
    """Atom (t, k): row t, with a constant 1 behind it, in block k."""
    extended = np.column_stack([x, np.ones(len(x))]) if intercept else x
    vectors = [np.kron(unit, row) for row in extended for unit in np.eye(n_blocks)]
    return np.array(vectors).reshape(len(x) * n_blocks, n_blocks * extended.shape[1])


def table(x, length, per_row=False, value=1.0):
    """Atom k has weight k for itself. With `per_row` each row has such atoms, and all rows share the weights."""
    return value * np.tile(np.eye(length), (len(x) if per_row else 1, 1))


def thresholds(x, length):
    """Atom "rank > k" of a row: the row, and -1 at threshold k."""
    return np.column_stack([np.tile(x[0], (length, 1)), -np.eye(length)])


def together(*parts):
    """The atoms of all parts one after the other; parts share no weights."""
    width, before = sum(part.shape[1] for part in parts), 0
    found = []
    for part in parts:
        found.append(np.pad(part, ((0, 0), (before, width - before - part.shape[1]))))
        before += part.shape[1]
    return np.concatenate(found)
