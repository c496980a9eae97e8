"""Outputs that are subsets, as users write them: row numbers or masks, and never one taken for the other."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import DataError, shortened


def is_mask(y) -> bool:
    """Whether an output is an array or a list of True and False."""
    if isinstance(y, np.ndarray):
        return y.ndim > 0 and y.dtype == bool
    if not isinstance(y, (list, tuple)) or not y or not isinstance(y[0], (bool, np.bool_)):         # nearly all: row numbers
        return False
    return all(isinstance(value, (bool, np.bool_)) for value in y)


def is_zero_one(y, n) -> bool:
    """Whether an output of whole numbers may be a 0/1 vector of n rows. Tuples, as `predict` returns, and ranges are row numbers."""
    if n < 2 or isinstance(y, (tuple, range)) or not hasattr(y, "__len__"):
        return False
    try:
        values = np.asarray(y) if len(y) == n else np.empty(0)
    except (TypeError, ValueError):                 # an array of no dimension has no length, a list of unequal lists is no array
        return False
    return values.shape == (n,) and values.dtype.kind in "iuf" and bool(((values == 0) | (values == 1)).all())


def row_numbers(y, n, name):
    """An output as row numbers: the places where a mask is True. A 0/1 vector as long as the example raises an error."""
    if is_mask(y):
        if n and len(y) % n:
            raise DataError(f"{name} is a mask of {len(y)} values, but the example has {n} rows; expected True or False for each.")
        return np.flatnonzero(y).tolist()
    if is_zero_one(y, n):
        raise zero_one(y, name)
    return y


def zero_one(y, name) -> DataError:
    """The error about whole numbers that are row numbers or a 0/1 vector."""
    return DataError(f"{name} is {shortened(y)}, as long as the example: a 0/1 vector, or row numbers, each once. For a 0/1 vector v pass "
                     f"a mask, numpy.asarray(v, dtype=bool). Or pass a tuple of row numbers, such as tuple(numpy.flatnonzero(v)).")


__all__ = ["is_mask", "is_zero_one", "row_numbers", "zero_one"]
