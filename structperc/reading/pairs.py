"""Pairs of items as rows: of two tables or within one, listed, all of them, or those that a comparison returns."""

from __future__ import annotations

import numpy as np

from structperc.core.errors import DataError, OptionError, shortened
from structperc.reading.keyed import KeyedReader

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
        numbered from 0, and an array is square: "unordered", the entries above its diagonal; "ordered", all but its diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import PairReader
    >>> x = PairReader(kind="unordered").read([np.arange(9.0).reshape(3, 3, 1)]).example(0)
    >>> x.keys.tolist(), x.rows.ravel().tolist()
    ([[0.0, 1.0], [0.0, 2.0], [1.0, 2.0]], [1.0, 2.0, 5.0])
    """

    def __init__(self, comparison=None, kind="between"):
        super().__init__(2)
        if kind not in KINDS:
            raise OptionError(f"kind={shortened(kind)}; expected one of {', '.join(map(repr, KINDS))}.")
        if comparison is not None and not callable(comparison):
            raise OptionError(f"comparison={shortened(comparison)}; expected None or a function.")
        self.comparison, self.kind = comparison, kind

    def read(self, X, offsets=None):
        if offsets is None and isinstance(X, (list, tuple)) and len(X):
            if self.comparison is not None:
                X = [self.compared(x, i) for i, x in enumerate(X)]
            elif getattr(X[0], "ndim", 0) == 3:
                X = [self.all_pairs(x, f"X[{i}]") for i, x in enumerate(X)]
        rows = super().read(X, offsets)
        if self.kind != "between":
            odd = (rows.keys < 0) | (rows.keys >= 1 << 31) | (rows.keys != np.floor(rows.keys))
            if odd.any():
                row, column = (int(v) for v in np.argwhere(odd)[0])
                raise DataError(f"row {row} of X has {rows.keys[row, column]:g} in column {column}; expected the number of an item, from "
                                f"0.")
        return rows

    def read_one(self, x, objects=False, several_rows=False):
        return self.read([x])

    def compared(self, x, i):
        """The rows of a table, or of a pair of tables.

        Parameters
        ----------
        x : table, or pair of tables
        i : int
            Number of the example, for error messages.

        Returns
        -------
        float64 array of shape (n_pairs, 2 + n_features)
            Both items and the features of each pair.
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
            return np.column_stack([pairs.reshape(-1, 2), features])
        except (TypeError, ValueError, OverflowError):
            raise DataError(f"{where} returned {shortened(comparison)}; expected pairs (k, 2) and their features (k, d).") from None

    def all_pairs(self, features, where):
        """Rows (first item, second item, features) of an array (n, m, d).

        Parameters
        ----------
        features : array of shape (n, m, d)
        where : str
            What the array is, for error messages.

        Returns
        -------
        float64 array of shape (n_pairs, 2 + d)
            All pairs; of one list those of different items.
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


__all__ = ["PairReader"]
