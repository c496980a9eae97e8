"""Encoded gold outputs of a data set."""

import numpy as np


class Gold:
    """Structures of all examples, end to end.

    Parameters
    ----------
    values : int32 array
        The integers of all structures.
    offsets : int64 array of shape (n_examples + 1,), optional
        Where each structure begins; without it every structure is one integer.
    """

    __slots__ = ("values", "offsets")

    def __init__(self, values, offsets=None):
        self.values, self.offsets = values, offsets

    @classmethod
    def ragged(cls, structures):
        """From a list of lists of integers."""
        offsets = np.zeros(len(structures) + 1, dtype=np.int64)
        np.cumsum([len(y) for y in structures], out=offsets[1:])
        values = np.fromiter((a for y in structures for a in y), dtype=np.intc, count=int(offsets[-1]))
        return cls(values, offsets)

    def __len__(self):
        return len(self.values) if self.offsets is None else len(self.offsets) - 1

    def __getitem__(self, i):
        if self.offsets is None:
            return int(self.values[i])
        return tuple(self.values[self.offsets[i]:self.offsets[i + 1]].tolist())
