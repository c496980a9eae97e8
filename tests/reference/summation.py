"""The order in which the compiled kernels add products.

Dense rows have eight running sums: lane l adds the features l, l + 8, and so on. A fixed tree adds the lanes. The result is added to
the running sum of the last d mod 8 products. Sparse rows have one running sum in storage order.
"""

import numpy as np

from structperc.core.joined import Joined


def running(products):
    """One running sum over the last axis, from the first product on."""
    if products.shape[-1] == 0:
        return np.zeros(products.shape[:-1])
    return np.cumsum(products, axis=-1)[..., -1]


def in_lanes(products):
    """Eight running sums over the last axis, added by a tree, and the running sum of the rest."""
    d = products.shape[-1]
    full = d - d % 8
    lanes = np.moveaxis(products[..., :full].reshape(*products.shape[:-1], full // 8, 8), -2, -1)
    s = np.moveaxis(running(lanes), -1, 0)
    folded = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
    return running(products[..., full:]) + folded


class Row:
    """A row of X as the kernels read it, widened to float64.

    Attributes
    ----------
    columns : slice or array
        The columns of its values.
    values : float64 array
    add_up : function
        The order of summation of its layout.
    """

    def __init__(self, columns, values, add_up):
        self.columns, self.values, self.add_up = columns, np.asarray(values, dtype=np.float64), add_up

    def in_order(self, add_up):
        """The same row with another order of summation."""
        return Row(self.columns, self.values, add_up)

    def dots(self, w):
        """w_k . x for each row w_k of w."""
        return self.add_up(w[:, self.columns] * self.values)

    def squared_norm(self):
        return float(self.add_up(self.values * self.values))

    def add_to(self, w, factor):
        """w += factor * x, in place."""
        np.add.at(w, self.columns, factor * self.values)


class JoinedRow:
    """A sparse row and the dense row behind it, whose sum is added last. The attributes are those of `Row`."""

    def __init__(self, named, dense):
        self.parts, self.add_up = (named, dense), dense.add_up
        self.columns = np.append(named.columns, dense.columns.start + np.arange(len(dense.values)))
        self.values = np.append(named.values, dense.values)

    def in_order(self, add_up):
        return JoinedRow(self.parts[0], self.parts[1].in_order(add_up))

    def dots(self, w):
        named, dense = (part.dots(w) for part in self.parts)
        return named + dense

    def squared_norm(self):
        return sum(part.squared_norm() for part in self.parts)

    def add_to(self, w, factor):
        for part in self.parts:
            part.add_to(w, factor)


def rows_of(X):
    """The rows of a dense array, a CSR matrix or both joined."""
    if isinstance(X, Joined):
        behind = [Row(slice(X.sparse.shape[1], None), row.values, row.add_up) for row in rows_of(X.dense)]
        return [JoinedRow(*parts) for parts in zip(rows_of(X.sparse), behind, strict=True)]
    if isinstance(X, np.ndarray):
        return [Row(slice(None), x, in_lanes) for x in X]
    return [Row(X.indices[a:b], X.data[a:b], running) for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
