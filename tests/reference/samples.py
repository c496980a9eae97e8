"""Data sets: whole numbers, on which all arithmetic is exact and ties are frequent, and real ones, which do not tie."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


def whole(rng, n, d, r, most=2):
    """Whole-number inputs with zero rows and repeated rows, and labels 1..r."""
    X = rng.integers(-most, most + 1, (n, d)).astype(float)
    X[rng.random(n) < 0.1] = 0
    X[rng.random((n, d)) < 0.3] = 0
    again = rng.random(n) < 0.2
    X[again] = X[rng.integers(0, n, again.sum())]
    return X, rng.integers(1, r + 1, n)


def real(rng, n, d, r, noise=0.3):
    """Normal inputs, a fifth of them 0, and labels from a noisy direction; contradictory enough to keep learning going."""
    X = rng.normal(size=(n, d))
    X[rng.random((n, d)) < 0.2] = 0
    score = X @ rng.normal(size=d) / np.sqrt(d) + noise * rng.normal(size=n)
    return X, 1 + np.searchsorted(np.linspace(-1.0, 1.0, r - 1), score)


def data(n=60, d=4, seed=0):
    """Normal rows with ranks 1..4 that have nothing to do with them: training never converges."""
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)), random.permutation(np.arange(n) % 4 + 1)


def taught(rng, n, d, r, margin=0.1):
    """Inputs, ranks and the margin-1 teacher (u, b) with sign(y > k) (u . z - b_k) >= 1 for all k."""
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    b = np.sort(rng.normal(size=r - 1))
    Z = rng.normal(size=(20 * n, d)) * rng.uniform(0.5, 1.5)
    apart = abs((Z @ u)[:, None] - b)
    Z = Z[(apart >= margin).all(axis=1)][:n]
    y = 1 + (Z @ u >= b[:, None]).sum(axis=0)
    reached = abs((Z @ u)[:, None] - b).min()
    return Z, y, u / reached, b / reached


def small_sets(max_r=4):
    """Hypothesis: (X, y, r) with few whole-number rows, zero rows and repetitions among them."""
    return st.integers(2, max_r).flatmap(lambda r: st.tuples(st.integers(1, 8), st.integers(1, 4)).flatmap(
        lambda shape: st.tuples(arrays(np.float64, shape, elements=st.integers(-2, 2).map(float)),
                                arrays(np.int64, shape[0], elements=st.integers(1, r)), st.just(r))))
