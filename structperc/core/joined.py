"""A matrix whose first columns are sparse and whose last ones are dense, for tokens with names and an embedding."""

from __future__ import annotations

import numpy as np


class Joined:
    """Sparse columns, and dense ones behind them."""
    # sparse: CSR matrix of shape (n_rows, n_sparse), of float32 or float64. In canonical format.
    # dense: C-contiguous array of shape (n_rows, n_dense), of float32 or float64

    ndim = 2
    has_canonical_format = False        # of CSR, which it becomes by `tocsr`

    def __init__(self, sparse, dense):
        self.sparse, self.dense = sparse, dense

    @property
    def shape(self):
        return self.sparse.shape[0], self.sparse.shape[1] + self.dense.shape[1]

    @property
    def nnz(self):
        """How many values are stored."""
        return self.sparse.nnz + self.dense.size

    def __getitem__(self, rows):
        """Some rows: a slice, or an array of their numbers."""
        return Joined(self.sparse[rows], np.ascontiguousarray(self.dense[rows]))

    def tocsr(self, copy=False):
        """The same as CSR, in which each value of the dense columns is stored."""
        from scipy.sparse import csr_array, hstack

        n, d = self.dense.shape
        behind = csr_array((self.dense.ravel(), np.tile(np.arange(d), n), np.arange(n + 1) * d), shape=(n, d))
        return csr_array(hstack([self.sparse, behind], format="csr"))

    def toarray(self):
        return np.hstack([self.sparse.toarray(), self.dense])
