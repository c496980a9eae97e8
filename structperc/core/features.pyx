"""Feature maps over rows of X: one weight block per atom, or one atom per row.

Typical sizes: 4 blocks of 10..1000 dense features, or of 2^20 sparse ones with 80 non-zeros; 10..1000 rows an example.
Cost: one pass over the example's values for four blocks at a time (see inner.h).
"""
import numpy as np

from structperc.core.components cimport Features, Parameter
from structperc.core.kernels cimport best_kernels, sp_blocks, sp_prefetch_blocks
from structperc.core.rows cimport Example


cdef class BlockFeatures(Features):
    """Atom a of a one-row example x has x in weight block a: phi(x, a) = e_a (x) x, and a constant feature.

    Dense X keeps the weights as (block, feature), sparse X as (feature, block), so that one non-zero touches one
    contiguous row. The constant feature is +1 here; the papers' -1 only turns the sign of the stored intercept.

    Parameters
    ----------
    n_blocks, n_features : int
    intercept : bool
    feature_major : bool
        Lay the weights out for sparse X.
    """

    single_row = True
    uniform_gram = True

    def __init__(self, Py_ssize_t n_blocks, Py_ssize_t n_features, intercept=True, feature_major=False):
        self.n_blocks, self.n_features = n_blocks, n_features
        self.kernels = best_kernels(n_features)
        self.intercept, self.feature_major = intercept, feature_major
        self.prefetches = feature_major
        if feature_major:       # rows of one or of whole groups of four blocks; the surplus stays 0
            self.room = n_blocks if n_blocks == 1 else (n_blocks + 3) // 4 * 4
            rows = n_features + self.intercept
            self.shape(rows * self.room, rows, fixed_atoms=n_blocks)
        else:
            self.shape(max(n_blocks * (n_features + self.intercept), 1), 1, fixed_atoms=n_blocks)

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p)
        self.kernels.dots[x.block.layout](&x.block, 0, &b, s)
        return 0

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p)
        self.kernels.add[x.block.layout](&x.block, 0, &b, c, to_w, to_u)
        return 0

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """||c||^2 (||x||^2 + 1)"""
        cdef double total = 0
        cdef Py_ssize_t k
        for k in range(self.n_blocks):
            total += c[k] * c[k]
        return total * (self.kernels.norm[x.block.layout](&x.block, 0) + self.intercept)

    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil:
        """[a = b] (x . z + 1)"""
        if a != b:
            return 0
        return self.kernels.row_dot(&x.block, 0, &z.block, 0) + self.intercept

    cdef double own_c(self, Example x, double *shared) noexcept nogil:
        """||x||^2 + 1, and 0: blocks are orthogonal"""
        shared[0] = 0
        return self.kernels.norm[x.block.layout](&x.block, 0) + self.intercept

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        return a

    def without_columns(self):
        return BlockFeatures(self.n_blocks, 0) if self.intercept else None

    cdef void prefetch_c(self, const Parameter *p, Example x) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p)
        sp_prefetch_blocks(&x.block, &b)

    def touched(self, rows):
        if not (self.feature_major and rows.sparse):
            return None
        return np.append(np.unique(rows.X.indices), np.arange(self.n_features, self.n_weight_rows))

    def split(self, w):
        """Weights as (n_blocks, n_features) and intercepts as (n_blocks,), views where the layout allows."""
        w = np.asarray(w)
        if self.feature_major:
            table = w.reshape(-1, self.room)[:, :self.n_blocks]
            return table[:self.n_features].T, (table[self.n_features] if self.intercept else np.zeros(self.n_blocks))
        blocks = w[:self.n_blocks * self.n_features].reshape(self.n_blocks, self.n_features)
        constants = w[self.n_blocks * self.n_features:][:self.n_blocks]
        return blocks, (constants if self.intercept else np.zeros(self.n_blocks))

    def batch_scores(self, w, rows):
        if rows.offsets is not None:
            return None
        blocks, intercepts = self.split(w)
        return rows.X @ blocks.T + intercepts

    def feature_of(self, indices):
        indices = np.asarray(indices)
        feature = indices // self.room if self.feature_major else indices % self.n_features
        constant = indices >= (self.n_features * self.room if self.feature_major else self.n_blocks * self.n_features)
        return np.where(constant, -1, feature)


cdef inline sp_blocks direction(RowFeatures f, const Parameter *p) noexcept nogil:
    cdef sp_blocks b
    b.w, b.bias, b.average, b.n_blocks, b.place, b.n_placed = p.w, NULL, p.average, 1, NULL, NULL
    b.block_step, b.feature_step = f.n_features, 1
    return b


cdef class RowFeatures(Features):
    """Atom a of an example is its row a: phi(x, a) = x_a, one weight per column of X.

    Documents of a query, edges of a graph, candidate intervals: every structure is scored by the sum of its rows.
    """

    def __init__(self, Py_ssize_t n_features):
        self.n_features, self.n_blocks = n_features, 1
        self.kernels = best_kernels(n_features)
        self.shape(max(n_features, 1))

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        return x.block.n_rows

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef sp_blocks b = direction(self, p)
        cdef Py_ssize_t a
        for a in range(x.block.n_rows):
            self.kernels.dots[x.block.layout](&x.block, a, &b, s + a)
        return 0

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        cdef sp_blocks b = direction(self, p)
        cdef Py_ssize_t a
        for a in range(x.block.n_rows):
            if c[a] != 0:
                self.kernels.add[x.block.layout](&x.block, a, &b, c + a, to_w, to_u)
        return 0

    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil:
        return self.kernels.row_dot(&x.block, a, &z.block, b)

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        return a

    def without_columns(self):
        return None

    def max_atoms(self, rows):
        return int(rows.sizes().max())

    def attributes(self, weights):
        return {"coef_": lambda: np.array(weights.vector())}
