"""PRank as printed in Crammer and Singer, "Pranking with Ranking" (2001), figure 1."""

import numpy as np


def predicted(w, b, x):
    """min { r : w . x - b_r < 0 } with b_k = infinity."""
    below = np.flatnonzero(w @ x - b < 0)
    return int(below[0]) + 1 if len(below) else len(b) + 1


def step(w, b, x, y):
    """The new (w, b), and the sum of |tau|."""
    if predicted(w, b, x) == y:
        return w, b, 0
    signs = np.where(np.arange(1, len(b) + 1) >= y, -1.0, 1.0)
    tau = np.where((w @ x - b) * signs <= 0, signs, 0.0)
    return w + tau.sum() * x, b - tau, int(abs(tau).sum())


def learn(X, y, k, epochs=1):
    """(w, b, predictions made before each step, mean of w, mean of b)."""
    w, b = np.zeros(X.shape[1]), np.zeros(k - 1)
    sum_w, sum_b, online = np.zeros_like(w), np.zeros_like(b), []
    for _ in range(epochs):
        for x, label in zip(X, y, strict=True):
            online.append(predicted(w, b, x))
            w, b, _ = step(w, b, x, label)
            sum_w, sum_b = sum_w + w, sum_b + b
    return w, b, online, sum_w / len(online), sum_b / len(online)
