"""Made-up ordinal data of fixed seeds: a linear score, noise, and five ranks cut at its quantiles.

They favour linear threshold models. So their errors show who learns the same thing faster, not who models real data better.
"""

import attrs
import numpy as np
from scipy import sparse, stats

RANKS = 5
EQUAL = (0.2, 0.2, 0.2, 0.2, 0.2)
GRADES = (0.52, 0.32, 0.13, 0.02, 0.01)     # proportions of the five grades in MSLR-WEB10K, a learning-to-rank collection


@attrs.frozen(eq=False)
class Ordinal:
    """Training rows and a held-out fifth; ranks are 0..4."""

    name: str
    X: object
    y: np.ndarray
    X_test: object
    y_test: np.ndarray

    @property
    def n(self):
        return len(self.y)

    @property
    def d(self):
        return self.X.shape[1]

    def in_float32(self):
        return attrs.evolve(self, X=self.X.astype(np.float32), X_test=self.X_test.astype(np.float32))


def dense(n, d, seed, proportions=EQUAL, noise=0.5, heavy_tails=False):
    """n rows of d standard normal features; heavy_tails: half of them log-normal, then standardised."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    if heavy_tails:
        for column in range(d // 2):
            values = np.exp(X[:, column])
            X[:, column] = (values - values.mean()) / values.std()
    direction = random.standard_normal(d) / np.sqrt(d)
    score = X @ direction + noise * random.standard_normal(n)
    return split(f"{n:,} x {d}", X, cut(score, proportions))


def csr(n, d=2**20, stored=80, seed=4):
    """Unit rows of `stored` features of power-law frequency, scattered over d columns; about a tenth of them coincide."""
    random = np.random.default_rng(seed)
    columns = random.permutation(d)
    indices = columns[(d * random.random((n, stored)) ** 4).astype(np.int64)]
    indices.sort(axis=1)
    starts = np.arange(0, n * stored + 1, stored, dtype=np.int32)
    X = sparse.csr_matrix((np.ones(n * stored), indices.ravel().astype(np.int32), starts), shape=(n, d))
    X.sum_duplicates()
    X.data = 1 + np.log(X.data)
    lengths = np.sqrt(np.add.reduceat(X.data**2, X.indptr[:-1]))
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    direction = np.zeros(d)
    direction[columns[:20_000]] = random.standard_normal(20_000)     # the rare features mean nothing
    score = X @ direction
    return split(f"CSR {n:,} x 2^{d.bit_length() - 1}", X, cut(score / score.std() + 0.3 * random.standard_normal(n), EQUAL))


def chunks(n, d, size, seed=6, noise=0.5):
    """n rows in chunks (X, y) of `size`; the same arrays are filled again and again."""
    random = np.random.default_rng(seed)
    direction = random.standard_normal(d) / np.sqrt(d)
    deviation = np.sqrt(direction @ direction + noise**2)
    boundaries = deviation * stats.norm.ppf(np.cumsum(EQUAL)[:-1])
    X, disturbance = np.empty((size, d)), np.empty(size)
    for _ in range(n // size):
        random.standard_normal(out=X)
        random.standard_normal(out=disturbance)
        yield X, np.searchsorted(boundaries, X @ direction + noise * disturbance)


def cut(score, proportions):
    return np.searchsorted(np.quantile(score, np.cumsum(proportions)[:-1]), score)


def split(name, X, y):
    kept = len(y) - len(y) // 5
    return Ordinal(name, X[:kept], y[:kept], X[kept:], y[kept:])
