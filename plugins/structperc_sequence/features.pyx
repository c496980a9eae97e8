"""The feature map of a linear chain: a token's row in the block of its label, a weight per pair of neighbouring labels.

Typical sizes: 10..30 tokens of 20 non-zeros in 3e5 features, or of 100 dense ones; 22 labels. Cost: one pass over the tokens' values,
then O(L^2) for the transitions; a step touches only the tokens and transitions that change.
"""
import numpy as np

from libc.string cimport memcpy, memset
from structperc.core.features cimport Parameter, written_out
from structperc.core.errors import DataError
from structperc.core.features cimport BlockFeatures, blocks_of
from structperc.core.inner_products cimport sp_blocks, sp_index, sp_is_dense, sp_prefetch_blocks, sp_row_of, sp_rows, sp_start
from structperc.core.rows cimport Example


cdef inline bint moves(const double *c, Py_ssize_t n) noexcept nogil:
    """Whether some coefficient is not 0."""
    cdef Py_ssize_t k
    cdef bint moved = False
    for k in range(n):
        moved |= c[k] != 0
    return moved


cdef class ChainFeatures(BlockFeatures):
    """Atoms (t, l): x_t in block l and a constant; (l, l'): one weight; likewise the first and the last label, where wanted.

    The atoms of T tokens and L labels are numbered t * L + l, then T * L + l * L + l', then the L starts and the L ends.
    An atom (l, l') occurs as often as l' follows l.

    Parameters
    ----------
    n_labels, n_features : int
    intercept : bool
        A constant feature in every token: a weight per label.
    feature_major : bool
        Lay the weights out for sparse X: rows of n_labels weights, rounded up to a multiple of four.
    start, end : bool
        Whether the first and the last label have weights of their own.
    """

    single_row = False
    uniform_gram = False
    adds_repeated = True
    cdef readonly bint has_start, has_end
    cdef Py_ssize_t first               # row (dense X: place) of the first transition
    cdef int[::1] scratch_place
    cdef int scratch_rows

    def __cinit__(self, *args, **kwargs):
        self.scratch_place = None

    def __init__(self, Py_ssize_t n_labels, Py_ssize_t n_features, intercept=True, feature_major=False, start=False, end=False):
        cdef Py_ssize_t rows
        BlockFeatures.__init__(self, n_labels, n_features, intercept, feature_major)
        self.has_start, self.has_end, self.prefetches = start, end, False
        rows = n_labels + self.has_start + self.has_end
        if feature_major:
            self.first = n_features + self.intercept
            self.shape((self.first + rows) * self.room, self.first + rows, on_demand_rows=n_features)
        else:
            self.first = n_labels * (n_features + self.intercept)
            self.shape(self.first + rows * n_labels)        # transitions at least, so never none

    def check(self, context, parts):
        if context.objects:
            raise DataError(f"X is a list of objects, but {type(self).__name__} describes rows of numbers; pass an array (tokens, "
                            f"features) for each sentence, or a list of tokens, each a dict or a list of feature names.")

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        return self.n_blocks * (x.block.n_rows + self.n_blocks + self.has_start + self.has_end)

    cdef double *pairs(self, const Parameter *p, Py_ssize_t row) noexcept nogil:
        """The weights of the transitions from label `row`; then those of the starts and of the ends."""
        return p.fixed + (self.intercept + row) * p.pitch if self.feature_major else p.w + self.first + row * self.n_blocks

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p), ahead = b
        cdef sp_rows following
        cdef Py_ssize_t t, row, n = x.block.n_rows, n_labels = self.n_blocks
        cdef bint sparse = self.feature_major and not sp_is_dense(&x.block)
        ahead.average = 0                                   # scores do not look at the averages
        for t in range(n):
            if sparse and t + 1 < n:
                following = sp_row_of(&x.block, t + 1)
                sp_prefetch_blocks(&following, &ahead)
            self.kernels.dots[x.block.layout](&x.block, t, &b, s + t * n_labels)    # may write into the next row, which comes later
        s += n * n_labels
        for row in range(n_labels + self.has_start + self.has_end):
            memcpy(s + row * n_labels, self.pairs(p, row), n_labels * sizeof(double))
        return 0

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p)
        cdef Py_ssize_t t, row, k, n = x.block.n_rows, n_labels = self.n_blocks
        cdef double *w
        b.n_blocks = n_labels
        for t in range(n):
            if moves(c + t * n_labels, n_labels):
                self.kernels.add[x.block.layout](&x.block, t, &b, c + t * n_labels, to_w, to_u)
        c += n * n_labels
        for row in range(n_labels + self.has_start + self.has_end):
            w = self.pairs(p, row)
            for k in range(n_labels):
                if c[row * n_labels + k] != 0:
                    w[k] += c[row * n_labels + k] * to_w
                    if p.average:
                        w[k + p.average] += c[row * n_labels + k] * to_u
        return 0

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """Tokens share blocks, so the sum is written down, with rows only for the features that it touches."""
        cdef Parameter p
        cdef Py_ssize_t fixed = self.n_weight_rows - self.on_demand_rows, q
        cdef double total
        if self.scratch is None:
            with gil:
                self.scratch = np.zeros((1, self.n_weights + self.row_width))       # the system gives memory where it is used
                self.scratch_place = np.zeros(max(self.on_demand_rows, 1), dtype=np.intc)
        p = written_out(self, &self.scratch[0, 0])
        if self.on_demand_rows == 0:
            return -1 if self.add_c(&p, x, c, 1.0, 0.0) < 0 else taken(p.w, self.n_weight_rows * self.row_width)
        self.scratch_rows = <int> fixed + 1
        p.fixed, p.place, p.n_placed = p.w + p.pitch, &self.scratch_place[0], &self.scratch_rows
        if self.add_c(&p, x, c, 1.0, 0.0) < 0:
            return -1
        total = taken(p.w, self.scratch_rows * p.pitch)
        if sp_is_dense(&x.block):
            memset(p.place, 0, self.on_demand_rows * sizeof(int))
        else:
            for q in range(sp_start(&x.block, 0), sp_start(&x.block, x.block.n_rows)):
                p.place[sp_index(&x.block, q)] = 0
        return total

    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil:
        """[l = m] (x_t . z_u + 1) for the atoms (t, l) and (u, m); 1 for the same transition, start or end"""
        cdef Py_ssize_t n_labels = self.n_blocks, ends_x = x.block.n_rows * n_labels, ends_z = z.block.n_rows * n_labels
        if a >= ends_x or b >= ends_z:
            return 1 if a >= ends_x and b >= ends_z and a - ends_x == b - ends_z else 0
        if a % n_labels != b % n_labels:
            return 0
        return self.kernels.row_dot(&x.block, a // n_labels, &z.block, b // n_labels) + self.intercept

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        return a if a < x.block.n_rows * self.n_blocks else -1

    def explicit_part(self):
        return ChainFeatures(self.n_blocks, 0, self.intercept, False, self.has_start, self.has_end)

    def max_atoms(self, rows):
        return self.n_blocks * (int(rows.sizes().max()) + self.n_blocks + self.has_start + self.has_end)

    def check_rows(self, rows):
        if rows.objects:
            raise DataError(f"X is a list of {type(rows.X[0]).__name__}; expected sentences as rows of numbers, or lists of tokens, each "
                            f"a dict or a list of feature names.")

    def batch_scores(self, w, rows):
        return None

    def further(self, w, Py_ssize_t row, Py_ssize_t n_rows):
        """Weights of transitions, starts or ends, (n_rows, n_labels)."""
        if self.feature_major:
            return np.array(w.reshape(-1, self.room)[self.first + row:self.first + row + n_rows, :self.n_blocks])
        at = self.first + row * self.n_blocks
        return np.array(w[at:at + n_rows * self.n_blocks].reshape(n_rows, self.n_blocks))

    def attributes(self, weights):
        n_labels = self.n_blocks
        found = {
            "coef_": lambda: np.array(self.split(weights.vector())[0]),
            "intercept_": lambda: np.array(self.split(weights.vector())[1]),
            "transition_scores_": lambda: self.further(weights.vector(), 0, n_labels),
        }
        if self.has_start:
            found["start_scores_"] = lambda: self.further(weights.vector(), n_labels, 1)[0]
        if self.has_end:
            found["end_scores_"] = lambda: self.further(weights.vector(), n_labels + self.has_start, 1)[0]
        return found


cdef double taken(double *v, Py_ssize_t n) noexcept nogil:
    """The sum of squares of n numbers, which are then set to 0."""
    cdef Py_ssize_t j
    cdef double total = 0
    for j in range(n):
        total += v[j] * v[j]
    memset(v, 0, n * sizeof(double))
    return total
