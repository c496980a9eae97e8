"""The forms of pairs of items: rows (left item, right item, features), tables of features, and two tables that are compared."""

import numpy as np

from structperc.components import KeyedReader
from structperc.errors import DataError, shortened


class PairReader(KeyedReader):
    """Reads examples of pairs to rows whose keys are their left and right items.

    An example is a block of rows (left number, right number, features); or an array (n, m, d), the features of all pairs of n left and m
    right items; or with `comparison` a pair of tables.

    Parameters
    ----------
    comparison : function or None
        Of two tables as they came; answers with an array (n, m, d), or with pairs (k, 2) of row numbers and their features (k, d): the
        pairs that are worth looking at.
    """

    def __init__(self, comparison=None):
        super().__init__(2)
        self.comparison = comparison

    def read(self, X, offsets=None):
        if offsets is None and isinstance(X, (list, tuple)) and len(X):
            if self.comparison is not None:
                X = [self.compared(x, i) for i, x in enumerate(X)]
            elif getattr(X[0], "ndim", 0) == 3:
                X = [of_all_pairs(x, f"X[{i}]") for i, x in enumerate(X)]
        return super().read(X, offsets)

    def read_one(self, x, objects=False, several_rows=False):
        return self.read([x])

    def compared(self, x, i):
        """The rows of a pair of tables."""
        if not isinstance(x, (list, tuple)) or len(x) != 2:
            raise DataError(f"X[{i}] is {shortened(x)}; expected a pair of tables for the comparison.")
        found, where = self.comparison(*x), f"the comparison of X[{i}]"
        if not isinstance(found, tuple):
            return of_all_pairs(found, where)
        try:
            pairs, features = (np.asarray(part, dtype=float) for part in found)
            return np.column_stack([pairs.reshape(-1, 2), features])
        except (TypeError, ValueError):
            raise DataError(f"{where} answered {shortened(found)}; expected pairs (k, 2) and their features (k, d).") from None


def of_all_pairs(features, where):
    """Rows (left, right, features) of an array (n, m, d)."""
    try:
        features = np.asarray(features, dtype=float)
    except (TypeError, ValueError):
        raise DataError(f"{where} is {shortened(features)}; expected an array (left items, right items, features).") from None
    if features.ndim != 3:
        raise DataError(f"{where} has {features.ndim} dimensions; expected three: left items, right items, features.")
    pairs = np.indices(features.shape[:2]).reshape(2, -1).T
    return np.column_stack([pairs, features.reshape(-1, features.shape[2])])


__all__ = ["PairReader"]
