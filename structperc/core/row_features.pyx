"""Feature maps whose atoms stand on rows of x: blocks of weights, of which each atom has one multiplied with one row.

Typical sizes: 4 blocks of 10..1000 dense features, or of 2^20 sparse ones with 80 non-zeros; 1..1000 rows an example.
Cost: one pass over the rows' values for four blocks at a time (see inner.h). A norm costs what a step does.
"""
import numpy as np

from structperc.basics.arguments import dimension, flag
from structperc.basics.signals cimport interrupted
from structperc.core.bounds cimport Bounds, hold
from structperc.core.component import argument
from structperc.core.features cimport Features, Parameter, StepSizes, Units, adapt_row, take_square
from structperc.core.features import TablePart
from structperc.core.inner_products cimport (SP_CLAIM, best_inner, sp_blocks, sp_end, sp_is_dense, sp_prefetch_blocks, sp_row_of, sp_rows,
                                             sp_start, sp_touched, widest_inner)
from structperc.core.rows cimport Example, Rows

cdef enum:
    OFTEN = 32                  # rows between two questions whether to stop
    AT_ONCE = 2                 # products of a weight and a value in the time of an operation


cdef inline bint moves(const double *c, Py_ssize_t n) noexcept nogil:
    """Whether some coefficient is not 0."""
    cdef Py_ssize_t k
    cdef bint moved = False
    for k in range(n):
        moved |= c[k] != 0
    return moved


cdef inline bint block_moves(const double *c, Py_ssize_t n_rows, Py_ssize_t n_blocks) noexcept nogil:
    """Whether some row has a coefficient for the block that the first one is of."""
    cdef Py_ssize_t t
    cdef bint moved = False
    for t in range(n_rows):
        moved |= c[t * n_blocks] != 0
    return moved


cdef class RowPart(Features):
    """Each row of x has an atom for every block: phi(x, t * n_blocks + k) = e_k (x) x_t, with an optional constant feature.

    Parameters
    ----------
    n_blocks : int
        Number of blocks of weights.
    n_features : int
        Columns of X.
    intercept : bool, default False
        Whether every row has a constant feature +1: one weight for each block.
    feature_major : bool, default False
        Store the weights for sparse X.
    bounds : pair, optional
        Smallest and largest weights: numbers or arrays that broadcast to (n_blocks, n_features + intercept), -inf and inf for none. 0 is
        between them.

    Notes
    -----
    Dense X has the weights as (block, feature), sparse X as (feature, block): one nonzero then touches one contiguous row. With sparse X
    a feature gets memory when a step first touches it. The papers' constant feature is -1, which changes only the sign of the intercept.

    Examples
    --------
    >>> from structperc.components import RowPart
    >>> RowPart(3, 4, intercept=True).n_weights
    15
    """

    def __init__(self, n_blocks: int, n_features: int, intercept: bool = False, feature_major: bool = False, bounds=None):
        self.n_blocks = n_blocks = argument(self, "n_blocks", n_blocks, dimension)
        self.n_features = n_features = argument(self, "n_features", n_features, dimension)
        self.kernels = best_inner(n_features)
        self.intercept = argument(self, "intercept", intercept, flag)
        self.feature_major = argument(self, "feature_major", feature_major, flag)
        if self.feature_major:  # rows of one or of whole groups of four blocks; the surplus stays 0
            rows = n_features + self.intercept
            self.shape(rows * (n_blocks if n_blocks == 1 else (n_blocks + 3) // 4 * 4), rows)
            self.on_demand_rows = n_features
        else:
            self.shape(max(n_blocks * (n_features + self.intercept), 1))
        if bounds is not None:
            self.bounds = Bounds(bounds, (n_blocks, n_features + self.intercept))

    cdef Py_ssize_t n_atoms_c(self, Example x) noexcept nogil:
        return self.n_blocks * x.block.n_rows

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p), ahead = b
        cdef sp_rows following
        cdef Py_ssize_t t, first = 0, last, n = x.block.n_rows
        cdef bint dense = sp_is_dense(&x.block), sparse = self.feature_major and not dense
        ahead.average = 0                                   # scores do not look at the averages
        while True:
            last = min(first + OFTEN, n)
            for t in range(first, last):
                if sparse and t + 1 < n:
                    following = sp_row_of(&x.block, t + 1)
                    sp_prefetch_blocks(&following, &ahead)
                self.kernels.dots[x.block.layout](&x.block, t, &b, s + t * self.n_blocks)   # may write into the next row, which comes later
            if last == n:
                return 0
            if interrupted((last - first) * (self.n_features if dense else x.block.n_dense) * self.n_blocks // AT_ONCE
                           + (0 if dense else sp_start(&x.block, last) - sp_start(&x.block, first)) * self.n_blocks // AT_ONCE):
                return -1
            first = last

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p)
        b.n_blocks = self.n_blocks
        self.add_rows(x, c, &b, to_w, to_u)
        return 0

    cdef int clip(self, const Parameter *p, Example x, double to_w, double to_u) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p)
        cdef Py_ssize_t j, q
        if x is None or sp_is_dense(&x.block):
            for j in range(self.n_features):
                self.hold_column(&b, j, to_w, to_u)
        else:
            for q in range(sp_start(&x.block, 0), sp_end(&x.block, x.block.n_rows)):
                self.hold_column(&b, sp_touched(&x.block, x.block.n_rows, q), to_w, to_u)
        if self.intercept:
            for j in range(self.n_blocks):
                hold(self.bounds, j, self.n_features, b.bias + j, b.average, to_w, to_u)
        return 0

    cdef void hold_column(self, const sp_blocks *b, Py_ssize_t feature, double to_w, double to_u) noexcept nogil:
        """Moves the weights of one column of X within their bounds."""
        cdef Py_ssize_t k, row = b.place[feature] if b.place != NULL else feature
        for k in range(self.n_blocks):
            hold(self.bounds, k, feature, b.w + k * b.block_step + row * b.feature_step, b.average, to_w, to_u)

    cdef void add_rows(self, Example x, const double *c, const sp_blocks *b, double to_w, double to_u) noexcept nogil:
        """Adds the rows with coefficients to blocks of weights, wherever these stand."""
        cdef Py_ssize_t t
        for t in range(x.block.n_rows):
            if moves(c + t * self.n_blocks, self.n_blocks):
                self.kernels.add[x.block.layout](&x.block, t, b, c + t * self.n_blocks, to_w, to_u)

    cdef int rescale_c(self, const Parameter *p, const Units *units) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p)
        cdef Py_ssize_t k, j, row
        cdef double *w
        if b.bias == NULL and moves(units.shift, self.n_features):
            return 0
        for j in range(self.n_features):
            row = b.place[j] if b.place != NULL else j
            if b.place != NULL and row == 0:
                continue                    # no step has touched it
            for k in range(self.n_blocks):
                w = b.w + k * b.block_step + row * b.feature_step
                w[0] /= units.spread[j]
                if b.bias != NULL:
                    b.bias[k] -= w[0] * units.shift[j]
        return 1

    cdef int adapt_c(self, const Parameter *p, Example x, const double *c, const StepSizes *sizes) noexcept nogil:
        cdef sp_blocks change, b, ahead
        cdef sp_rows row
        cdef int n_placed
        cdef Py_ssize_t t, q, k, feature, width = self.n_blocks
        cdef double *w
        cdef double *d
        if sp_is_dense(&x.block):
            return Features.adapt_c(self, p, x, c, sizes) if self.feature_major else adapt_blocks(self, p, x, c, sizes)
        b = ahead = blocks_of(self, p)
        ahead.average = sizes.squares                       # asks for the memory of all numbers up to these while the rows are summed up
        for t in range(x.block.n_rows):
            if moves(c + t * width, width):
                row = sp_row_of(&x.block, t)
                sp_prefetch_blocks(&row, &ahead)
        change = self.summed(x, c, &n_placed)
        for t in range(x.block.n_rows):
            if not moves(c + t * width, width):
                continue
            for q in range(sp_start(&x.block, t), sp_end(&x.block, t + 1)):
                feature = sp_touched(&x.block, t + 1, q)
                if change.place[feature] == 0:
                    continue                                # an earlier row has it too
                w, d = b.w + SP_CLAIM(&b, feature) * b.feature_step, change.w + change.place[feature] * width
                change.place[feature] = 0
                if b.block_step == 1:
                    adapt_row(self, w, width, p, d, sizes)
                else:
                    for k in range(width):
                        adapt_row(self, w + k * b.block_step, 1, p, d + k, sizes)
        if self.intercept:
            adapt_row(self, b.bias, width, p, change.w, sizes)
        return 0

    cdef sp_blocks summed(self, Example x, const double *c, int *n_placed) noexcept nogil:
        """The sum of sparse rows with coefficients, at their features, after the constant feature's. Leave zeros there."""
        cdef sp_blocks b
        n_placed[0] = 1
        self.scratch_for((self.n_features + 1) * self.n_blocks, self.n_features)
        b.w, b.average, b.n_placed = &self.scratch[0], 0, n_placed
        b.place = b.marks = &self.scratch_place[0]
        b.block_step, b.feature_step, b.n_blocks = 1, self.n_blocks, self.n_blocks
        b.bias = b.w if self.intercept else NULL
        self.add_rows(x, c, &b, 1, 0)
        return b

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """Rows share blocks, so the sum is written down; of sparse rows only the features that it touches."""
        cdef sp_blocks b
        cdef int n_placed
        cdef Py_ssize_t t, q
        if self.on_demand_rows > 0 or sp_is_dense(&x.block):
            return Features.norm_c(self, x, c)
        b = self.summed(x, c, &n_placed)
        for t in range(x.block.n_rows):
            if moves(c + t * self.n_blocks, self.n_blocks):
                for q in range(sp_start(&x.block, t), sp_end(&x.block, t + 1)):
                    b.place[sp_touched(&x.block, t + 1, q)] = 0
        return take_square(b.w, n_placed * self.n_blocks)

    cdef Py_ssize_t cell_c(self, Example x, Py_ssize_t a) noexcept nogil:
        return a

    def explicit_part(self):
        return TablePart(self.n_blocks, "intercept_", per_row=True) if self.intercept else None

    def vector(self, Example x, c, sparse=False):
        if not (sparse and x.used().sparse):
            return Features.vector(self, x, c, sparse)
        c = np.asarray(c, dtype=float).reshape(x.n_rows, self.n_blocks)
        rows, blocks = np.nonzero(c)
        moved = x.sparse_rows.astype(float)[rows].tocoo()
        feature, block = moved.col, blocks[moved.row]
        values = moved.data * c[rows, blocks][moved.row]
        if self.intercept:
            feature, block = np.append(feature, np.full(len(rows), self.n_features)), np.append(block, blocks)
            values = np.append(values, c[rows, blocks])
        where, at = np.unique(self.weight_of(feature, block), return_inverse=True)
        values = np.bincount(at, values, len(where))
        return where[values != 0], values[values != 0]

    def weight_of(self, feature, block):
        """Numbers of the weights of features in blocks. Returns an int or int array.

        Parameters
        ----------
        feature : int or int array
            Columns of X; n_features is the constant feature.
        block : int or int array
            Blocks.
        """
        if self.feature_major:
            return feature * self.row_width + block
        return np.where(feature < self.n_features, block * self.n_features + feature, self.n_blocks * self.n_features + block)

    def max_atoms(self, rows):
        return self.n_blocks * int(rows.sizes().max(initial=0)) if self.fixed_atoms < 0 else self.fixed_atoms

    cdef touched_rows(self, Rows rows):
        if not (self.feature_major and rows.sparse):
            return None
        return np.append(rows.stored_columns(), np.arange(self.n_features, self.n_weight_rows))

    def split(self, w):
        """Weights and intercepts as arrays, views if the layout allows it.

        Parameters
        ----------
        w : float64 array of shape (n_weights,)

        Returns
        -------
        weights : array of shape (n_blocks, n_features)
        intercepts : array of shape (n_blocks,)
        """
        w = np.asarray(w)
        if self.feature_major:
            table = w.reshape(-1, self.row_width)[:, :self.n_blocks]
            return table[:self.n_features].T, (table[self.n_features] if self.intercept else np.zeros(self.n_blocks))
        blocks = w[:self.n_blocks * self.n_features].reshape(self.n_blocks, self.n_features)
        constants = w[self.n_blocks * self.n_features:][:self.n_blocks]
        return blocks, (constants if self.intercept else np.zeros(self.n_blocks))

    def column_of(self, indices):
        indices = np.asarray(indices)
        feature = indices // self.row_width if self.feature_major else indices % max(self.n_features, 1)
        constant = indices >= (self.n_features * self.row_width if self.feature_major else self.n_blocks * self.n_features)
        return np.where(constant, -1, feature)

    def attributes(self, weights):
        return {
            "coef_": lambda: np.array(self.split(weights.vector())[0]),
            "intercept_": lambda: np.array(self.split(weights.vector())[1]),
        }


cdef int adapt_blocks(RowPart f, const Parameter *p, Example x, const double *c, const StepSizes *sizes) noexcept nogil:
    """`adapt_c` of dense rows: looks at the blocks that move, and takes neighbours among them in one go."""
    cdef Parameter change
    cdef Py_ssize_t k = 0, first, width = f.n_features
    if f.write_c(x, c, &change) < 0:
        return -1
    while k < f.n_blocks:
        first = k
        while k < f.n_blocks and block_moves(c + k, x.block.n_rows, f.n_blocks):
            k += 1
        if first < k:
            adapt_row(f, p.w + first * width, (k - first) * width, p, change.w + first * width, sizes)
        k += 1
    if f.intercept:
        adapt_row(f, p.w + f.n_blocks * width, f.n_blocks, p, change.w + f.n_blocks * width, sizes)
    return 0


cdef class BlockFeatures(RowPart):
    """One weight vector for each atom of a one-row example: phi(x, a) = e_a (x) x, with a constant feature.

    Parameters
    ----------
    n_blocks : int
        Number of atoms, such as classes.
    n_features : int
        Columns of X.
    intercept : bool, default True
        Whether there is a constant feature.
    feature_major : bool, default False
        Store the weights for sparse X.
    bounds : pair, optional
        As in `RowPart`.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import BlockFeatures, Rows
    >>> x = Rows(np.array([[1.0, 2.0]])).example(0)
    >>> BlockFeatures(2, 2).vector(x, np.array([1.0, -1.0])).tolist()
    [1.0, 2.0, -1.0, -2.0, 1.0, -1.0]
    """

    def __init__(self, n_blocks: int, n_features: int, intercept: bool = True, feature_major: bool = False, bounds=None):
        RowPart.__init__(self, n_blocks, n_features, intercept, feature_major, bounds)
        self.shape(self.n_weights, self.n_weight_rows, atoms_per_example=self.n_blocks, rows_per_example=1)
        self.on_demand_rows = 0         # four weights and their averages fill a cache line; more memory is not saved

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p)
        self.kernels.dots[x.block.layout](&x.block, 0, &b, s)
        return 0

    cdef int batch_scores_c(self, const Parameter *p, Example x, Py_ssize_t first, Py_ssize_t n, double *s) noexcept nogil:
        cdef sp_blocks b
        if <void *> self.scores_c != <void *> BLOCKS.scores_c:          # a derived class scores in a way of its own
            return Features.batch_scores_c(self, p, x, first, n, s)
        b = blocks_of(self, p)
        widest_inner().dots_of_rows[x.block.layout](&x.source.whole, first, n, &b, s, self.n_blocks)
        return 0

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        cdef sp_blocks b = blocks_of(self, p)
        if p.followed:
            b.n_blocks = self.n_blocks          # else the coefficients behind are 0, and whole groups of blocks take a step faster
        self.kernels.add[x.block.layout](&x.block, 0, &b, c, to_w, to_u)
        return 0

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """||c||^2 (||x||^2 + 1)"""
        cdef double total = 0
        cdef Py_ssize_t k
        for k in range(self.n_blocks):
            total += c[k] * c[k]
        return total * (self.kernels.norm[x.block.layout](&x.block, 0) + self.intercept)

    cdef double constant_gram_c(self, Example x, double *off_diagonal) noexcept nogil:
        """||x||^2 + 1, and 0: blocks are orthogonal"""
        off_diagonal[0] = 0
        return self.kernels.norm[x.block.layout](&x.block, 0) + self.intercept

    cdef void prefetch_c(self, const Parameter *p, Example x) noexcept nogil:
        cdef sp_blocks b
        if self.feature_major:
            b = blocks_of(self, p)
            sp_prefetch_blocks(&x.block, &b)


cdef BlockFeatures BLOCKS = BlockFeatures(1, 1)         # whose methods a derived class replaces


cdef class RowFeatures(RowPart):
    """Atom a of an example is its row a: phi(x, a) = x_a, one weight for each column of X.

    For documents of a query, edges of a graph or candidate intervals: a structure's score is the sum of the scores of its rows.

    Parameters
    ----------
    n_features : int
        Columns of X.
    intercept : bool, default False
        Whether every row has a constant feature, so that each chosen row adds the same amount.
    bounds : pair, optional
        As in `RowPart`. Use (-inf, 0) for nonnegative costs of nonnegative features.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import RowFeatures, Rows
    >>> x = Rows(np.array([[1.0, 2.0], [3.0, 5.0]]), offsets=np.array([0, 2])).example(0)
    >>> RowFeatures(2).vector(x, np.array([1.0, -1.0])).tolist()
    [-2.0, -3.0]
    """

    def __init__(self, n_features: int, intercept: bool = False, bounds=None):
        RowPart.__init__(self, 1, n_features, intercept, bounds=bounds)

    def attributes(self, weights):
        fitted = {"coef_": lambda: np.array(self.split(weights.vector())[0][0])}
        return fitted | ({"intercept_": lambda: float(self.split(weights.vector())[1][0])} if self.intercept else {})
