"""Joint features and enumerated outputs of the three problems.

A problem defines labels 1..r, the vector Phi(x, y), a rule for ties, and the fitted attributes of the engine.
"""

import numpy as np


class CuSum:
    """Phi(x, y) = (x, ..., x, 0, ..., 0) with y copies of x; ties to the lowest rank."""

    name, ties, loss = "cusum", "lowest", "absolute"

    def __init__(self, r, intercept=True):
        self.r, self.intercept = r, intercept
        self.labels = range(1, r + 1)

    def extended(self, X):
        """X with the constant feature 1, if the problem has intercepts."""
        return np.column_stack([X, np.ones(len(X))]) if self.intercept else np.asarray(X)

    def copies(self, y):
        """The blocks of Phi(x, y), of r, that contain x."""
        return slice(0, y)

    def phi(self, x, y):
        blocks = np.zeros((self.r, len(x)))
        blocks[self.copies(y)] = x
        return blocks.ravel()

    def shown(self, w):
        """The fitted attributes: one direction and one intercept per label."""
        table = w.reshape(self.r, -1)
        if self.intercept:
            return {"coef_": table[:, :-1], "intercept_": table[:, -1]}
        return {"coef_": table, "intercept_": np.zeros(self.r)}


class Multiclass(CuSum):
    """Phi(x, y) = (0, ..., x, ..., 0) with x in block y; ties to the lowest class."""

    name, loss = "multiclass", "zero-one"

    def copies(self, y):
        return slice(y - 1, y)


class PRank:
    """Phi(z, y) = ((y - 1) z, -1, ..., -1, 0, ..., 0) with y - 1 times -1; ties to the highest rank."""

    name, ties, loss, intercept = "prank", "highest", "absolute", False

    def __init__(self, r):
        self.r = r
        self.labels = range(1, r + 1)

    def extended(self, X):
        return np.asarray(X)

    def phi(self, z, y):
        return np.concatenate([(y - 1) * z, -(np.arange(1, self.r) < y).astype(float)])

    def shown(self, w):
        """The fitted attributes: the shared direction and the r - 1 thresholds."""
        split = len(w) - (self.r - 1)
        # Augmented search with a cost table can leave thresholds out of order; thresholds_ is their running maximum.
        return {"coef_": w[:split], "thresholds_": np.maximum.accumulate(w[split:])}


PROBLEMS = {"cusum": CuSum, "prank": PRank, "multiclass": Multiclass}
