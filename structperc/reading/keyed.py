"""Rows whose first columns identify what a row is about and are no features: the two ends of a pair, the time of a slot, a weight."""

from __future__ import annotations

import numpy as np

from structperc.core.arguments import whole_number
from structperc.core.component import argument
from structperc.core.errors import DataError
from structperc.core.rows import Rows
from structperc.core.saved_state import read_array
from structperc.reading.matrices import read
from structperc.reading.readers import InputColumns, Reader


class KeyedRows(Rows):
    """Rows with keys: `Example.keys` has a row of them for each row of the example.

    Parameters
    ----------
    X, offsets, feature_names
        As of `Rows`.
    keys : float64 array of shape (n_rows, n_keys)
    n_items : int array of shape (n_examples,), optional
        How many items each example has, also those that no key names. Default: not known.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import KeyedRows
    >>> rows = KeyedRows(np.array([[0.5], [2.0]]), keys=np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> rows.example(1).keys.tolist()
    [[1.0, 0.0]]
    """

    keys = None                 # not the property of Rows
    key_names = ()

    n_items = None

    def __init__(self, X, offsets=None, feature_names=None, keys=None, n_items=None):
        super().__init__(X, offsets, feature_names)
        self.keys, self.n_items = keys, n_items

    def __reduce__(self):
        return restored_rows, (self.X, self.offsets, self.feature_names, self.keys, self.key_names)

    def like(self, X, offsets, first, last):
        same = offsets is None or len(offsets) == len(self.offsets)
        return KeyedRows(X, offsets, self.feature_names, self.keys[first:last], self.n_items if same else None)

    def part(self, start, stop):
        rows = super().part(start, stop)
        rows.n_items = None if self.n_items is None else self.n_items[start:stop]
        return rows


def restored_rows(X, offsets, feature_names, keys, key_names) -> KeyedRows:
    """Rows that were pickled."""
    rows = KeyedRows(X, offsets, feature_names, keys)
    rows.key_names = key_names
    return rows


class KeyedReader(Reader):
    """Reads what `Reader` reads, and keeps the first columns apart as the keys of the rows.

    Parameters
    ----------
    n_keys : int
        How many of the columns are keys; the others are the features.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import KeyedReader
    >>> x = KeyedReader(2).read([np.array([[0, 1, 0.5], [0, 2, -1.0]])]).example(0)
    >>> x.keys.tolist(), x.rows.tolist()
    ([[0.0, 1.0], [0.0, 2.0]], [[0.5], [-1.0]])
    """

    def __init__(self, n_keys):
        self._n_keys, self._key_names = argument(self, "n_keys", n_keys, whole_number, 1), ()

    def input_columns(self):
        return InputColumns(self._n_keys, self._key_names)

    def learn(self, X, offsets=None):
        self._key_names = ()
        rows = self.read(X, offsets)
        self._key_names = rows.key_names
        return rows

    def read(self, X, offsets=None):
        rows, k = read(X, offsets), self._n_keys
        if rows.objects or rows.n_features <= k:
            came = "a list of objects" if rows.objects else f"{rows.n_features} columns"
            raise DataError(f"X has {came}; expected rows of {k} columns that identify what a row is about, then its features.")
        keys, features = rows.X[:, :k], rows.X[:, k:]
        keys = np.asarray(keys.toarray() if rows.sparse else keys, dtype=float)
        if not np.isfinite(keys).all():
            row, column = (int(v) for v in np.argwhere(~np.isfinite(keys))[0])
            raise DataError(f"row {row} of X has {keys[row, column]} in column {column}, which is the key of the row; expected a "
                            f"finite number.")
        names = rows.feature_names
        if names is not None and self._key_names and names[:k] != self._key_names:
            raise DataError(f"the first columns of X are {', '.join(names[:k])}, but this model was trained with "
                            f"{', '.join(self._key_names)} there. Pass the same columns in the same order.")
        features = features if rows.sparse else np.ascontiguousarray(features)
        keyed = KeyedRows(features, rows.offsets, None if names is None else names[k:], keys)
        keyed.key_names = () if names is None else names[:k]
        return keyed

    def state(self):
        return {"key_names": np.array(self._key_names, dtype=str)}

    def restore(self, state):
        self._key_names = tuple(read_array(state, "key_names", str, (None,)).tolist()) if state else ()
