"""Features learned by regression: the outputs of one hidden layer, trained by gradient descent until held-out rows no longer gain."""

import numpy as np

UNITS, STEP, PATIENCE = 1000, 0.001, 100            # as published
BATCH, HELD_OUT, MOST = 10, 0.2, 5000               # not published: rows of a step, the share of rows held out, the most epochs


class HiddenLayer:
    """Least-squares regression of the rank by a layer of tanh units.

    Steps of STEP follow the gradient of half the squared error, the mean of BATCH rows. Each epoch draws a new order. Training ends when
    the mean absolute error of held-out rows has not improved for PATIENCE epochs. The weights of the best epoch are kept. Weights
    start uniform in ±1/√(inputs), the output at the mean rank.
    """

    def __init__(self, seed):
        self.seed = seed

    def fit(self, X, y):
        random = np.random.default_rng(self.seed)
        order = random.permutation(len(X))
        held, rows = np.split(order, [max(1, round(HELD_OUT * len(X)))])
        X, y = np.asarray(X, dtype=np.float32), np.asarray(y, dtype=np.float32)
        inner = random.uniform(-1, 1, (X.shape[1] + 1, UNITS)).astype(np.float32) / np.float32(np.sqrt(X.shape[1]))
        outer = random.uniform(-1, 1, UNITS).astype(np.float32) / np.float32(np.sqrt(UNITS))
        shift, X, step = np.float32(y[rows].mean()), with_constant(X), np.float32(STEP)
        least, since = np.inf, 0
        self.epochs = 0
        while since < PATIENCE and self.epochs < MOST:
            random.shuffle(rows)
            for start in range(0, len(rows), BATCH):
                some = rows[start:start + BATCH]
                hidden = np.tanh(X[some] @ inner)
                error = (hidden @ outer + shift - y[some]) / np.float32(len(some))
                back = np.outer(error, outer) * (1 - hidden * hidden)
                outer -= step * (error @ hidden)
                shift -= step * error.sum()
                inner -= step * (X[some].T @ back)
            found = np.abs(np.tanh(X[held] @ inner) @ outer + shift - y[held]).mean()
            self.epochs, since = self.epochs + 1, since + 1
            if found < least:
                least, since, best = found, 0, (inner.copy(), outer.copy(), shift)
        self.inner, self.outer, self.shift = best
        return self

    def transform(self, X):
        """The outputs of the units, shape (n, UNITS)."""
        return np.tanh(with_constant(np.asarray(X, dtype=np.float32)) @ self.inner)

    def predict(self, X):
        """The regression itself, not rounded."""
        return self.transform(X) @ self.outer + self.shift


def with_constant(X):
    return np.hstack([X, np.ones((len(X), 1), dtype=X.dtype)])
