# distutils: extra_compile_args = VECTORS
"""Means and standard deviations of the columns of all rows that a model learns from.

Typical sizes: 10^2..10^7 rows of 10..1000 columns. Adding rows takes about 0.5 ns for each value.
"""
import numpy as np

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from structperc.core.features cimport PADDING
from structperc.core.inner_products cimport (
    SP_CSR_F32_I32, SP_CSR_F64_I32, SP_CSR_F64_I64, SP_DENSE_F32, SP_DENSE_F64, sp_blocks, sp_inner, sp_rows,
)
from structperc.core.inner_products import instruction_sets as instruction_sets  # no-cython-lint
from structperc.core.inner_products import address_of
from structperc.core.rows cimport Example, Rows
from structperc.core.saved_state import read_array


cdef extern from "column_moments_sets.h" nogil:
    ctypedef void (*sp_moments_f64)(const double *, Py_ssize_t, Py_ssize_t, const double *, double *, double *) noexcept nogil
    ctypedef void (*sp_moments_f32)(const float *, Py_ssize_t, Py_ssize_t, const double *, double *, double *) noexcept nogil
    sp_moments_f64 sp_moments_f64_of(int number)
    sp_moments_f32 sp_moments_f32_of(int number)
    int sp_n_sets()


# ---- column sums ----

CONSTANT = 1e-12            # a column whose spread is a smaller part of its mean is constant up to rounding
FIRST = 1000                # rows whose mean is the centre
cdef int MANY = 10          # a row that is far from so many others is looked at more closely,
cdef double FAR = 1e6       # square of its distance in deviations
NONE = np.zeros(0, np.intp)

cdef sp_moments_f64 MOMENTS_F64 = sp_moments_f64_of(sp_n_sets() - 1)
cdef sp_moments_f32 MOMENTS_F32 = sp_moments_f32_of(sp_n_sets() - 1)


ctypedef fused real:
    float
    double


ctypedef fused index_t:
    int32_t
    int64_t


cdef void add_dense(const real *values, Py_ssize_t n, double weight, const double *centre, double *sums, double *squares) noexcept nogil:
    cdef Py_ssize_t j
    cdef double apart, weighted
    for j in range(n):
        apart = values[j] - centre[j]
        weighted = weight * apart
        sums[j] += weighted
        squares[j] += weighted * apart


cdef void add_sparse(const real *values, const index_t *indices, const index_t *starts, Py_ssize_t row, double weight,
                     const double *centre, double *sums, double *squares, double *stored) noexcept nogil:
    cdef Py_ssize_t e
    cdef index_t j
    cdef double apart, weighted
    for e in range(starts[row], starts[row + 1]):
        j = indices[e]
        apart = values[e] - centre[j]
        weighted = weight * apart
        sums[j] += weighted
        squares[j] += weighted * apart
        if stored != NULL and centre[j] != 0:
            stored[j] += weight


cdef void add_row(const sp_rows *x, Py_ssize_t row, double weight, const double *centre, double *sums, double *squares,
                  double *stored) noexcept nogil:
    """Adds each stored value, as a weighted distance from its centre and as a square. Columns with a centre add the weight to `stored`."""
    cdef Py_ssize_t n = x.n_features, first = n - x.n_dense
    if x.layout == SP_DENSE_F64:
        add_dense(<const double *> x.values + row * n, n, weight, centre, sums, squares)
        return
    if x.layout == SP_DENSE_F32:
        add_dense(<const float *> x.values + row * n, n, weight, centre, sums, squares)
        return
    if x.layout == SP_CSR_F64_I32:
        add_sparse(<const double *> x.values, <const int32_t *> x.indices, <const int32_t *> x.indptr, row, weight, centre, sums, squares,
                   stored)
    elif x.layout == SP_CSR_F64_I64:
        add_sparse(<const double *> x.values, <const int64_t *> x.indices, <const int64_t *> x.indptr, row, weight, centre, sums, squares,
                   stored)
    elif x.layout == SP_CSR_F32_I32:
        add_sparse(<const float *> x.values, <const int32_t *> x.indices, <const int32_t *> x.indptr, row, weight, centre, sums, squares,
                   stored)
    else:
        add_sparse(<const float *> x.values, <const int64_t *> x.indices, <const int64_t *> x.indptr, row, weight, centre, sums, squares,
                   stored)
    if x.n_dense and x.dense_layout == SP_DENSE_F64:
        add_dense(<const double *> x.dense + row * x.n_dense, x.n_dense, weight, centre + first, sums + first, squares + first)
    elif x.n_dense:
        add_dense(<const float *> x.dense + row * x.n_dense, x.n_dense, weight, centre + first, sums + first, squares + first)


cdef void mean_of_rows(const real *values, Py_ssize_t n_rows, Py_ssize_t n, double *mean) noexcept nogil:
    """The mean of each column, row after row added to zeros; 0 where it is not finite."""
    cdef Py_ssize_t row, j
    for row in range(n_rows):
        for j in range(n):
            mean[j] += values[row * n + j]
    for j in range(n):
        mean[j] = mean[j] / n_rows if fabs(mean[j]) < INFINITY else 0


cdef void find_centre(const sp_rows *x, Py_ssize_t n_rows, double *centre) noexcept nogil:
    """The mean of the dense columns of the first rows."""
    cdef Py_ssize_t n = x.n_features
    if n_rows == 0:
        return
    if x.layout == SP_DENSE_F64:
        mean_of_rows(<const double *> x.values, n_rows, n, centre)
    elif x.layout == SP_DENSE_F32:
        mean_of_rows(<const float *> x.values, n_rows, n, centre)
    elif x.n_dense and x.dense_layout == SP_DENSE_F64:
        mean_of_rows(<const double *> x.dense, n_rows, x.n_dense, centre + n - x.n_dense)
    elif x.n_dense:
        mean_of_rows(<const float *> x.dense, n_rows, x.n_dense, centre + n - x.n_dense)


cdef centre_of(Rows rows, weights):
    """The mean of each column in the first rows with a weight. It is 0 for sparse columns that one of these rows lacks."""
    centre = np.zeros(rows.n_features)
    cdef double[::1] written = centre
    dense, sparse, counted = rows.dense_part, rows.sparse_part, None
    if weights is not None and not np.all(np.asarray(weights) > 0):
        counted = np.asarray(weights) > 0
        counted = (counted if rows.offsets is None else np.repeat(counted, np.diff(rows.offsets))).nonzero()[0][:FIRST]
    if counted is None:
        find_centre(&rows.whole, min(rows.n_rows, <Py_ssize_t> FIRST), &written[0])
    elif dense is not None:
        centre[rows.n_features - dense.shape[1]:] = finite_or_zero(dense[counted].sum(axis=0, dtype=float), len(counted))
    if sparse is not None:
        first = sparse[:FIRST] if counted is None else sparse[counted]
        stored = np.bincount(first.indices, minlength=sparse.shape[1]) == first.shape[0]
        centre[:sparse.shape[1]] = stored * finite_or_zero(np.bincount(first.indices, first.data, sparse.shape[1]), first.shape[0])
    return centre


cdef finite_or_zero(sums, n):
    with np.errstate(all="ignore"):
        mean = sums / max(n, 1)
    return np.where(np.isfinite(mean), mean, 0)


cdef class ColumnSums:
    """Sums of each column over rows of training, weighted as their examples are.

    They are sums of distances from a centre, the mean of the first rows with a weight. Squares of the values lose digits if a column, such
    as a year, has a small spread beside its mean. Zeros that sparse rows do not store are added together, once for each call.

    Parameters
    ----------
    rows : Rows
        Like those that `add` adds.
    """

    def __init__(self, Rows rows):
        self.begin(np.zeros(rows.n_features), True)

    cdef begin(self, centre, bint squared):
        """No rows yet."""
        self._centre, self._sums, self._squares = centre, np.zeros(len(centre)), np.zeros(len(centre))
        self.squared, self._away, self._stored = squared, None, None

    cdef int add(self, Rows rows, weights) except -1:
        """Adds rows, weighted by their examples; None: each example once."""
        cdef Py_ssize_t first, last, n
        if not self.n_rows:
            self._centre, self._away = centre_of(rows, weights), None
        if weights is not None or rows.whole.layout > SP_DENSE_F32:
            return add_each(self, rows, weights)
        first = 0 if rows.starts == NULL else rows.starts[0]
        last = rows.n_rows if rows.starts == NULL else rows.starts[rows.n_examples]
        n = rows.n_features
        if rows.whole.layout == SP_DENSE_F64:
            MOMENTS_F64(<const double *> rows.whole.values + first * n, last - first, n, &self._centre[0], &self._sums[0],
                        &self._squares[0])
        else:
            MOMENTS_F32(<const float *> rows.whole.values + first * n, last - first, n, &self._centre[0], &self._sums[0],
                        &self._squares[0])
        self.n_rows += last - first
        return 0

    cdef away_from_zero(self, Rows rows):
        """The sparse columns of rows whose centre is not 0, in order."""
        if rows.whole.layout <= SP_DENSE_F32:
            return NONE
        if self._away is None:
            self._away = np.flatnonzero(self._centre)
            self._stored = np.zeros(len(self._centre)) if len(self._away) else None
        return self._away[:np.searchsorted(self._away, rows.n_features - rows.whole.n_dense)]

    @property
    def mean(self):
        """Of each column, a float64 array; None: not known, as sums overflow or there were no rows."""
        return finite(np.asarray(self._centre) + np.asarray(self._sums) / self.n_rows) if self.n_rows else None

    @property
    def spread(self):
        """The standard deviation of each column, 0 of constant ones; None: not known."""
        mean = self.mean
        if mean is None or not self.squared:
            return None
        with np.errstate(all="ignore"):
            apart = np.asarray(self._sums) / self.n_rows
            spread = finite(np.sqrt(np.maximum(np.asarray(self._squares) / self.n_rows - apart * apart, 0)))
        return None if spread is None else np.where(spread > CONSTANT * np.abs(mean), spread, 0.0)

    def joined(self, ColumnSums other):
        """The sums of both, about the centre of the first."""
        cdef ColumnSums both = ColumnSums.__new__(ColumnSums)
        apart, sums = np.subtract(other._centre, self._centre), np.asarray(other._sums)
        both.begin(np.array(self._centre), self.squared and other.squared)
        both._sums = np.add(self._sums, sums + other.n_rows * apart)
        both._squares = np.add(self._squares, np.asarray(other._squares) + apart * (2 * sums + other.n_rows * apart))
        both.n_rows = self.n_rows + other.n_rows
        return both

    def __reduce__(self):
        return ColumnSums.restored, (self.state(), len(self._centre))

    def state(self):
        """What a model file holds."""
        held = {"centre": np.array(self._centre), "sums": np.array(self._sums), "n_rows": np.array(self.n_rows)}
        return held | ({} if self.spread is None else {"squares": np.array(self._squares)})

    @classmethod
    def restored(cls, state, n_features):
        """What `state` returned; files of older versions hold sums of the values and no more."""
        cdef ColumnSums sums = cls.__new__(cls)
        shape, zeros = (n_features,), np.zeros(n_features)
        sums.begin(read_array(state, "centre", np.float64, shape) if "centre" in state else zeros, "squares" in state)
        sums._sums = read_array(state, "sums", np.float64, shape).copy()
        sums.n_rows = read_array(state, "n_rows", np.float64, low=0)
        if sums.squared:
            sums._squares = read_array(state, "squares", np.float64, shape, low=0).copy()
        return sums


def moments_with_row(const real[::1] x, double n_rows, const double[::1] mean, const double[::1] squares, const double[::1] low,
                     const double[::1] high, bint centred, bint absorbs):
    """Moments of the columns with one more row: streams of single rows, where calls of numpy would take most of the time.

    Parameters
    ----------
    x : float64 or float32 array of shape (n_features,)
        The row, of weight 1.
    n_rows : float
        How many rows the moments are of.
    mean, squares : float64 arrays of shape (n_features,)
        Of squares: the sum of the squared differences from the mean.
    low, high : float64 arrays of shape (n_features,)
        The lowest and the highest value.
    centred : bool
        Whether scaling subtracts the mean.
    absorbs : bool
        Whether an intercept does what a constant column would.

    Returns
    -------
    (mean, squares, low, high, deviation, spread, shift and spread of the way back) or None
        Arrays; see `structperc.engine.scaling.Scaling`. None: a value is not finite, or far from all before.
    """
    cdef Py_ssize_t j, n = x.shape[0]
    cdef double total = n_rows + 1, least = CONSTANT, apart, deviation, share, wide, back
    cdef bint whole = True
    moved = np.empty((8, n))
    cdef double[:, ::1] to = moved
    for j in range(n):
        apart = x[j] - mean[j]
        to[0, j] = mean[j] + apart * (1 / total)
        to[1, j] = squares[j] + apart * apart * (n_rows / total)
        to[2, j] = x[j] if x[j] < low[j] else low[j]
        to[3, j] = x[j] if x[j] > high[j] else high[j]
        deviation = sqrt(to[1, j] / total)
        if deviation > least * fabs(to[0, j]):
            share = deviation / 2
            wide = deviation / (to[0, j] - to[2, j]) * share + deviation / (to[3, j] - to[0, j]) * share
            back = to[5, j] = wide if wide > deviation else deviation
        else:
            deviation = 0
            to[5, j] = INFINITY if absorbs or to[0, j] == 0 else fabs(to[0, j])
            back = to[5, j] if to[5, j] < INFINITY else 1
        to[4, j] = deviation
        to[6, j] = -(to[0, j] if centred else 0) / back
        to[7, j] = 1 / back
        whole &= (fabs(to[0, j]) < INFINITY and to[1, j] < INFINITY
                  and not (n_rows > MANY and apart * apart > FAR * squares[j] / n_rows > 0))
    return tuple(moved) if whole else None


cdef int add_each(ColumnSums to, Rows rows, const double[::1] weights) except -1:
    """`ColumnSums.add`, row by row."""
    cdef Py_ssize_t i, j, row, first, last
    cdef double weight = 1, total = 0, seen = 0, lacking
    cdef const Py_ssize_t[::1] away = to.away_from_zero(rows)
    cdef double *stored = &to._stored[0] if away.shape[0] else NULL
    with nogil:
        for i in range(rows.n_examples):
            first = i if rows.starts == NULL else rows.starts[i]
            last = i + 1 if rows.starts == NULL else rows.starts[i + 1]
            if weights is not None:
                weight = weights[i]
            if weight > 0:
                for row in range(first, last):
                    add_row(&rows.whole, row, weight, &to._centre[0], &to._sums[0], &to._squares[0], stored)
                    seen += weight                      # in the order of `stored`: equal for a column that no row lacks
                total += weight * (last - first)
        for i in range(away.shape[0]):
            j = away[i]
            lacking, stored[j] = seen - stored[j], 0
            to._sums[j] -= lacking * to._centre[j]
            to._squares[j] += lacking * to._centre[j] * to._centre[j]
    to.n_rows += total
    return 0


cdef finite(values):
    return values if np.isfinite(values).all() else None


# ---- instruction sets ----
# A Python face of each instruction set of the inner products, for tests. See inner.h.

cdef const sp_inner *inner_of(str name) except NULL:
    return <const sp_inner *> <size_t> address_of(name)


def dots(str name, Example x, double[:, ::1] w, bint feature_major=False):
    """w_k . x of the example's first row; w is (blocks, features), or (features, blocks) when feature_major."""
    cdef sp_blocks b = blocks(w, feature_major)
    cdef double[::1] out = np.zeros(b.n_blocks)
    inner_of(name).dots[x.block.layout](&x.block, 0, &b, &out[0])
    return np.asarray(out)


def dots_of_rows(str name, Rows rows, double[:, ::1] w, Py_ssize_t first=0, bint feature_major=False):
    """w_k . x of the rows from `first` on, (rows, blocks); w as of `dots`."""
    cdef sp_blocks b = blocks(w, feature_major)
    cdef Py_ssize_t n = rows.n_rows - first
    cdef double[::1] out = np.zeros(n * b.n_blocks + PADDING)
    inner_of(name).dots_of_rows[rows.whole.layout](&rows.whole, first, n, &b, &out[0], b.n_blocks)
    return np.asarray(out)[:n * b.n_blocks].reshape(n, b.n_blocks)


def add(str name, Example x, double[:, ::1] w, const double[::1] c, bint feature_major=False):
    """w_k += c_k x, in place."""
    cdef sp_blocks b = blocks(w, feature_major)
    inner_of(name).add[x.block.layout](&x.block, 0, &b, &c[0], 1.0, 0.0)


def squared_norm(str name, Example x):
    """||x||^2 of the example's first row."""
    return inner_of(name).norm[x.block.layout](&x.block, 0)


def moments(int number, const real[:, ::1] X, const double[::1] centre):
    """Sums over rows: distances from a centre, and their squares. `number` is that of an instruction set."""
    sums, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    cdef double[::1] to_sums = sums, to_squares = squares
    if real is double:
        sp_moments_f64_of(number)(&X[0, 0], X.shape[0], X.shape[1], &centre[0], &to_sums[0], &to_squares[0])
    else:
        sp_moments_f32_of(number)(&X[0, 0], X.shape[0], X.shape[1], &centre[0], &to_sums[0], &to_squares[0])
    return sums, squares


def max_plus(str name, const double[::1] a, const double[::1] e, const double[:, ::1] t):
    """max_i (a[i] + e[i]) + t[i, j] for every j: the product of a vector and a table over the semiring (max, +)."""
    cdef double[::1] out = np.zeros(t.shape[1])
    inner_of(name).max_plus(&a[0], &e[0], t.shape[0], &t[0, 0], t.shape[1], t.shape[1], &out[0])
    return np.asarray(out)


def plus_times(str name, const double[::1] a, const double[::1] e, const double[:, ::1] t):
    """sum_i (a[i] * e[i]) * t[i, j] for every j."""
    cdef double[::1] out = np.zeros(t.shape[1])
    inner_of(name).plus_times(&a[0], &e[0], t.shape[0], &t[0, 0], t.shape[1], t.shape[1], &out[0])
    return np.asarray(out)


cdef sp_blocks blocks(double[:, ::1] w, bint feature_major):
    cdef sp_blocks b
    cdef Py_ssize_t rows = w.shape[0], columns = w.shape[1]
    b.w, b.bias, b.average, b.place, b.n_placed = &w[0, 0], NULL, 0, NULL, NULL
    b.block_step = 1 if feature_major else columns
    b.feature_step = columns if feature_major else 1
    b.n_blocks = columns if feature_major else rows
    return b
