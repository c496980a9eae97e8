"""Rows of any library: how many there are, and as a dense array."""

import numpy as np


def count_rows(values) -> int:
    """How many rows or entries an array, a data frame or a list has. Sparse matrices have no `len`."""
    return values.shape[0] if hasattr(values, "shape") else len(values if hasattr(values, "__len__") else np.asarray(values))


def entries_at(values, numbers):
    """The entries of a list, an array, a series or a data frame of any library at these places."""
    if hasattr(values, "iloc"):
        return values.iloc[numbers]
    if hasattr(values, "to_pylist"):            # of pyarrow
        return values.take(numbers)
    return values[numbers] if hasattr(values, "shape") else [values[i] for i in numbers]


def to_dense(rows):
    """Sparse rows as an array, other rows as they are. Returns an ndarray.

    Parameters
    ----------
    rows : sparse matrix or ndarray

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from structperc.plugin_tools import to_dense
    >>> to_dense(csr_array([[0, 2], [1, 0]])).tolist()
    [[0, 2], [1, 0]]
    """
    return rows.toarray() if hasattr(rows, "toarray") else rows
