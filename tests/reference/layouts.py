"""The six ways in which X can be stored."""

import numpy as np
from scipy.sparse import csr_array

LAYOUTS = ("dense64", "dense32", "csr64-int32", "csr64-int64", "csr32-int32", "csr32-int64")


def stored(X, layout):
    """X as a dense array or CSR matrix of the named layout; rounded where it is narrower."""
    kind, _, index = layout.partition("-")
    X = np.ascontiguousarray(X, dtype=np.float32 if kind.endswith("32") else np.float64)
    if kind.startswith("dense"):
        return X
    matrix = csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def widened(X):
    """The numbers of X as a dense float64 array."""
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)
