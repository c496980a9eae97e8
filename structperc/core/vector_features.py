"""A feature map written down as vectors: the shortest way to a new Phi in Python."""

import numpy as np

from structperc.core.features import Features


class VectorFeatures(Features):
    """A subclass gives `vectors(x)`; scores, updates, norms and inner products follow.

    Parameters
    ----------
    n_weights : int
        Length of every phi(x, a).

    Examples
    --------
    >>> import numpy as np
    >>> class Pairs(VectorFeatures):            # atoms: neighbouring rows, described by their difference
    ...     def vectors(self, x):
    ...         return np.diff(x.rows, axis=0)
    >>> Pairs(3).n_weights
    3
    """

    def __init__(self, n_weights):
        self.shape(n_weights)

    def vectors(self, x):
        """phi(x, a) for all atoms: array or sparse matrix of shape (n_atoms, n_weights)."""
        raise self.missing("vectors")

    def n_atoms(self, x):
        return self.vectors(x).shape[0]

    def scores(self, w, x):
        return self.vectors(x) @ w

    def add(self, w, x, c):
        w += self.vectors(x).T @ c

    def norm(self, x, c):
        v = self.vectors(x).T @ c
        return float(v @ v)

    def inner(self, x, a, z, b):
        return float(np.dot(np.asarray(self.vectors(x)[a]).ravel(), np.asarray(self.vectors(z)[b]).ravel()))

    def attributes(self, weights):
        return {"coef_": lambda: np.array(weights.vector())}
