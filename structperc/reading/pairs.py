"""Pairs of items as rows: of two tables or within one, listed, all of them, or those that a comparison returns."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import DataError, OptionError, shortened
from structperc.basics.labels import is_real
from structperc.basics.saved_state import read_array
from structperc.reading.keyed import KeyedReader, key_text
from structperc.reading.matrices import as_examples

KINDS = ("between", "unordered", "ordered")


class PairReader(KeyedReader):
    """Reads examples of pairs to rows whose keys are their two items.

    An example is a block of rows `(first item, second item, features)`, or an array `(n, m, d)` with the features of all pairs.
    With `comparison` it is a table or two.

    Parameters
    ----------
    comparison : function or None
        A function of the table, or of the two tables. It returns an array of shape (n, m, d), or row numbers and features of
        the pairs that matter. Their shapes are (k, 2) and (k, d).
    kind : {"between", "unordered", "ordered"}, default "between"
        "between" the items of two tables: an example is two tables, and all entries of an array are pairs. Else of the items of one table,
        numbered from 0, and an array is square: "unordered", the entries above its diagonal; "ordered", all but its diagonal. Texts and
        dates that are items are numbered in their order.
    names : sequence of str, or str with commas, optional
        The names of the columns of both items in a data frame. Default: left and right, or first and second; without these, the first two.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import PairReader
    >>> x = PairReader(kind="unordered").read([np.arange(9.0).reshape(3, 3, 1)]).example(0)
    >>> x.keys.tolist(), x.rows.ravel().tolist()
    ([[0.0, 1.0], [0.0, 2.0], [1.0, 2.0]], [1.0, 2.0, 5.0])
    """

    def __init__(self, comparison=None, kind="between", names=None):
        super().__init__(2, names, ("left", "right") if kind == "between" else ("first", "second"))
        self._n_columns = 0             # of the examples that training has read, for those without a pair
        if kind not in KINDS:
            raise OptionError(f"kind={shortened(kind)}; expected one of {', '.join(map(repr, KINDS))}.")
        if comparison is not None and not callable(comparison):
            raise OptionError(f"comparison={shortened(comparison)}; expected None or a function.")
        self.comparison, self.kind = comparison, kind

    def learn(self, X, offsets=None):
        self._n_columns = 0
        rows = super().learn(X, offsets)
        self._n_columns = 2 + rows.n_features
        return rows

    def state(self):
        return super().state() | {"n_columns": np.array([self._n_columns])}

    def restore(self, state):
        super().restore(state)
        self._n_columns = int(read_array(state, "n_columns", int, (1,))[0])

    def _with_a_feature(self, X):
        return X if self.comparison is not None else super()._with_a_feature(X)       # its tables have no columns of keys

    def read(self, X, offsets=None):
        n_items, X = None, as_examples(X)
        if offsets is None and isinstance(X, (list, tuple)) and len(X):
            if self.comparison is not None:
                n_items = [None if self.kind == "between" else n_records(x) for x in X]
                X = self.with_columns([self.compared(x, i) for i, x in enumerate(X)])
            elif getattr(X[0], "ndim", 0) == 3:
                n_items = [None if self.kind == "between" else n_records(x) for x in X]
                X = [self.all_pairs(x, f"X[{i}]") for i, x in enumerate(X)]
        rows = super().read(X, offsets)
        if n_items is not None and None not in n_items:
            rows.n_items = np.array(n_items, dtype=np.int64)
            refuse_further(rows)
        if self.kind != "between":
            refuse_odd(rows)
        return rows

    def read_one(self, x, objects=False, several_rows=False):
        return self.read([x])

    def compared(self, x, i):
        """The rows of a table, or of a pair of tables.
        Returns a float64 array of shape (n_pairs, 2 + n_features). Both items and the features of each pair.

        Parameters
        ----------
        x : table, or pair of tables
        i : int
            Number of the example, for error messages.
        """
        if self.kind != "between":
            x = (x,)
        elif not isinstance(x, (list, tuple)) or len(x) != 2:
            raise DataError(f"X[{i}] is {shortened(x)}; expected a pair of tables for the comparison.")
        comparison, where = self.comparison(*x), f"the comparison of X[{i}]"
        if not isinstance(comparison, tuple):
            return self.all_pairs(comparison, where)
        try:
            pairs, features = (np.asarray(part, dtype=float) for part in comparison)
            pairs = pairs.reshape(-1, 2)
            if not len(pairs) and features.ndim < 2 and not features.size:
                return None                             # no pair, and no columns
            return np.column_stack([pairs, features])
        except (TypeError, ValueError, OverflowError):
            raise DataError(f"{where} returned {shortened(comparison)}; expected pairs (k, 2) and their features (k, d).") from None

    def with_columns(self, blocks):
        """Blocks where those without a pair have the columns of the others, or of the training examples. Returns a list of array.
        Raises `DataError` if no example has a pair.

        Parameters
        ----------
        blocks : list of array or None
        """
        width = next((block.shape[1] for block in blocks if block is not None), self._n_columns)
        if not width:
            raise DataError("the comparison returned no pair for any example, so how many features a pair has is not known. Return "
                            "features of shape (0, d), or pass an example with a pair.")
        return [np.zeros((0, width)) if block is None else block for block in blocks]

    def all_pairs(self, features, where):
        """Rows (first item, second item, features) of an array (n, m, d).
        Returns a float64 array of shape (n_pairs, 2 + d). All pairs; of one list those of different items.

        Parameters
        ----------
        features : array of shape (n, m, d)
        where : str
            What the array is, for error messages.
        """
        sides = "left items, right items" if self.kind == "between" else "items, items"
        try:
            features = np.asarray(features, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise DataError(f"{where} is {shortened(features)}; expected an array ({sides}, features).") from None
        if features.ndim != 3:
            raise DataError(f"{where} has {features.ndim} dimensions; expected three: {sides}, features.")
        n, m = features.shape[:2]
        if self.kind != "between" and n != m:
            raise DataError(f"{where} has the shape {features.shape}; expected as many columns as rows, the same items.")
        allowed = {"between": np.ones((n, m)), "unordered": np.triu(np.ones((n, m)), 1), "ordered": 1 - np.eye(n, m)}[self.kind]
        first, second = np.nonzero(allowed)
        return np.column_stack([first, second, features[first, second]])


def n_records(table):
    """How many records a table has, None if it has no length."""
    try:
        return len(table)
    except TypeError:
        return None


def refuse_odd(rows):
    """Raises an error for numbers that are no numbers of items."""
    keys = rows.keys
    odd = (keys < 0) | (keys >= 1 << 31) | (keys != np.floor(keys))
    if rows.values is not None:
        odd = np.array([[is_real(key) for key in row] for row in rows.values], dtype=bool).reshape(keys.shape)
    if odd.any():
        row, column = (int(v) for v in np.argwhere(odd)[0])
        key = (keys if rows.values is None else rows.values)[row, column]
        raise DataError(f"row {row} of X has {key_text(key)} in column {column}; expected the number of an item, from 0. Pass other names "
                        f"of items as texts.")


def refuse_further(rows):
    """Raises an error for a pair of an item that the example does not have."""
    largest = rows.keys.max(axis=1, initial=-1)
    limit = np.repeat(rows.n_items, np.diff(rows.offsets))
    if len(limit) == len(largest) and (largest >= limit).any():
        row = int(np.argmax(largest >= limit))
        example = int(np.searchsorted(rows.offsets, row, side="right")) - 1
        raise DataError(f"a pair of X[{example}] names the item {largest[row]:g}, but the example has {limit[row]} items, numbered from 0.")


__all__ = ["PairReader"]
