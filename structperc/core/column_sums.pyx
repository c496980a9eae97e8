# distutils: extra_compile_args = VECTORS
"""Means and standard deviations of the columns of all rows that a model learns from.

Sums are exact whole numbers of small units. So parts of the rows add up to the same bits in any order and any number. A column may have a
small spread beside its mean, such as a year. Its squares lose nothing.

Typical sizes: 10^2..10^7 rows of 10..1000 columns. Adding rows takes about 2 ns for each value, with weights 20 ns.
"""
cimport cython
import numpy as np

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from structperc.basics.errors import DataError
from structperc.basics.saved_state import read_array
from structperc.core.features cimport PADDING
from structperc.core.inner_products cimport (
    SP_CSR_F32_I32, SP_CSR_F64_I32, SP_CSR_F64_I64, SP_DENSE_F32, SP_DENSE_F64, sp_blocks, sp_inner, sp_rows,
)
from structperc.core.inner_products import instruction_sets as instruction_sets  # no-cython-lint
from structperc.core.inner_products import address_of
from structperc.core.rows cimport Example, Rows


cdef extern from "exact_digits.h" nogil:
    const int SP_MOST, SP_LOW_UNIT, SP_HIGH_UNIT
    const int64_t SP_HALF
    const double SP_TOO_LARGE, SP_TOO_HEAVY
    void sp_begin_units()
    double sp_unit(Py_ssize_t k)
    double sp_rounder(Py_ssize_t k)
    Py_ssize_t sp_first_unit(double size)
    int sp_cut(double x, Py_ssize_t *first, int64_t *digits)
    int sp_multiply(const int64_t *w, int n_w, const int64_t *x, int n_x, int64_t *product)
    void sp_carry(int64_t *digits, Py_ssize_t n)
    double sp_as_double(const int64_t *digits, Py_ssize_t n, Py_ssize_t first)
    double sp_mean(const int64_t *n, Py_ssize_t n_n, Py_ssize_t first_n, const int64_t *s, Py_ssize_t n_s, Py_ssize_t first_s)
    double sp_squares(const int64_t *n, Py_ssize_t n_n, Py_ssize_t first_n, const int64_t *s, Py_ssize_t n_s, Py_ssize_t first_s,
                      const int64_t *q, Py_ssize_t n_q, Py_ssize_t first_q)


cdef extern from "column_planes_sets.h" nogil:
    const int SP_LANES, SP_PLANES, SP_FIVE, SP_SUMS_OF_FIVE
    ctypedef struct sp_planes:
        void (*largest)(const double *cells, Py_ssize_t n_rows, double *most) noexcept nogil
        int (*add_five)(const double *cells, Py_ssize_t n_rows, const double *rounders, double *sums) noexcept nogil
        int (*cut_plane)(double *rest, Py_ssize_t n_rows, const double *rounder, double *plane) noexcept nogil
        void (*add_up)(const double *a, Py_ssize_t n_rows, double *sums) noexcept nogil
        void (*add_products)(const double *a, const double *b, Py_ssize_t n_rows, double *sums) noexcept nogil
        void (*multiply_planes)(const double *w, int n_w, const double *x, int n_x, Py_ssize_t n_rows, Py_ssize_t step,
                                const double *rounders, double *to) noexcept nogil
    sp_planes sp_planes_of(int number)
    void sp_fetch(const void *p)
    int sp_n_sets()


# ---- column sums ----

CONSTANT = 1e-12            # a column whose spread is a smaller part of its mean is constant up to rounding
cdef int MANY = 10          # a row that is far from so many others is looked at more closely,
cdef double FAR = 1e6       # square of its distance in deviations
cdef int FEW = 16           # rows that are added cell by cell, or kept until there are more
cdef Py_ssize_t KEPT = 8192             # cells that are kept
cdef enum:
    DEPTH = 128             # rows of a plane
cdef int PLANES_OF_WEIGHT = 4
cdef Py_ssize_t UNCARRIED = 1 << 18     # rows whose digits add up without an overflow

sp_begin_units()
cdef sp_planes PLANES = sp_planes_of(sp_n_sets() - 1)


ctypedef fused real:
    float
    double


ctypedef fused index_t:
    int32_t
    int64_t


@cython.final
cdef class Digits:
    """Whole numbers of units, one for each column."""

    def __init__(self, Py_ssize_t n):
        self.hold(np.zeros((n, 0), dtype=np.int64), 0)

    cdef int hold(self, array, Py_ssize_t first) except -1:
        self.array = self.table = array
        self.first, self.width = first, self.table.shape[1]
        return 0

    cdef int reach(self, Py_ssize_t unit) except -1:
        """Makes room for digits of this unit."""
        cdef Py_ssize_t first = min(self.first, unit) if self.width else unit, last = max(self.first + self.width, unit + 1)
        table = np.zeros((self.table.shape[0], (last if self.width else unit + 1) - first), dtype=np.int64)
        if self.width:
            table[:, self.first - first:self.first - first + self.width] = self.array
        return self.hold(table, first)

    cdef int add(self, Py_ssize_t j, Py_ssize_t unit, int64_t digit) except -1 nogil:
        if unit < self.first or unit >= self.first + self.width:
            if digit == 0 or unit < SP_LOW_UNIT:
                return 0
            with gil:
                self.reach(unit)
        self.table[j, unit - self.first] += digit
        return 0

    cdef int carry(self) except -1:
        """Makes each digit small; the same numbers have the same digits then."""
        cdef Py_ssize_t j
        cdef int64_t most
        while self.width:
            most = 0
            for j in range(self.table.shape[0]):
                sp_carry(&self.table[j, 0], self.width)
                most = max(most, max(self.table[j, self.width - 1] + 1, -self.table[j, self.width - 1]))
            if most <= SP_HALF:
                break
            self.reach(self.first + self.width)
        return 0

    cdef Digits copy(self):
        cdef Digits other = Digits.__new__(Digits)
        other.hold(self.array.copy(), self.first)
        return other

    cdef int add_all(self, Digits other) except -1:
        """Adds numbers whose digits are carried."""
        cdef Py_ssize_t j, k
        for j in range(other.table.shape[0]):
            for k in range(other.width):
                self.add(j, other.first + k, other.table[j, k])
        return self.carry()

    cdef state(self):
        """The lowest unit, and the digits of all units that any number has."""
        self.carry()
        table = self.array
        used = np.flatnonzero(table.any(axis=0))
        first, last = (used[0], used.max() + 1) if len(used) else (0, 0)
        return self.first + first, table[:, first:last].astype(np.int32)

    cdef int restore(self, state, name, Py_ssize_t place) except -1:
        cdef Py_ssize_t n = self.table.shape[0], width
        table = read_array(state, name, np.int32, (n, None), low=-SP_HALF, high=SP_HALF)
        width = table.shape[1]
        if not SP_LOW_UNIT <= place <= place + width <= 3 * SP_HIGH_UNIT:
            raise DataError(f"{name}: units {place} to {place + width}")
        self.hold(table.astype(np.int64), place)
        return self.carry()


include "column_sums.adding.pxi"


cdef row_weights(Rows rows, weights):
    """The weight of each row; None: all are 1."""
    if weights is None:
        return None
    weights = np.ascontiguousarray(weights, dtype=float)
    if (weights == 1).all():
        return None
    return weights if rows.offsets is None else np.repeat(weights, np.diff(rows.offsets))


cdef class ColumnSums:
    """Sums of each column over rows of training, and of its squares, weighted as their examples are.

    They are exact. So their bits depend neither on the order of the rows nor on their parts.
    """
    # n_features: int. Number of columns.

    def __init__(self, Py_ssize_t n_features):
        self.number, self.sums, self.squares, self.squared = Digits(1), Digits(n_features), Digits(n_features), True

    cdef int make_room(self, Py_ssize_t n_rows) except -1:
        """Carries digits that so many rows more could make too large."""
        self.since += n_rows
        if self.since > UNCARRIED:
            self.sums.carry()
            self.squares.carry()
            self.number.carry()
            self.since = n_rows
        return 0

    cdef int add(self, Rows rows, weights) except -1:
        """Adds rows, weighted by their examples; None: each example once."""
        cdef Rows block
        if not rows.strided:
            return self.add_block(rows, weights)
        for start, block in rows.blocks():
            self.add_block(block, None if weights is None else weights[start:start + block.n_examples])
        return 0

    cdef int add_block(self, Rows rows, weights) except -1:
        """The same of rows in row order."""
        cdef Py_ssize_t row, first = 0 if rows.starts == NULL else rows.starts[0], last, n
        cdef const double[::1] its
        cdef const double *at = NULL
        cdef sp_rows *x = &rows.whole
        cdef Py_ssize_t k, start = 0
        cdef int64_t weight[8]
        cdef int i, n_digits
        last = rows.n_rows if rows.starts == NULL else rows.starts[rows.n_examples]
        weights = row_weights(rows, weights)
        if weights is not None:
            its = weights
        row, n = first, 0
        while row < last:
            n = min(last - row, UNCARRIED // 2)
            self.make_room(n)
            if weights is None:
                self.number.add(0, 0, n)
            else:
                at = &its[row - first]
                for k in range(n):
                    if not at[k] < SP_TOO_HEAVY:
                        self.too_large = True
                        return 0
                    n_digits = sp_cut(at[k], &start, weight)
                    for i in range(n_digits):
                        self.number.add(0, start - i, weight[i])
            self.add_rows(x, row, n, at)
            row += n
        return 0

    cdef int add_rows(self, const sp_rows *x, Py_ssize_t row, Py_ssize_t n_rows, const double *weights) except -1:
        cdef Py_ssize_t n = x.n_features, m = x.n_dense
        if n_rows < FEW and weights == NULL and (x.layout == SP_DENSE_F64 or x.layout == SP_DENSE_F32):
            return self.keep(x, row, n_rows)
        with nogil:
            if x.layout == SP_DENSE_F64:
                add_dense(self, <const double *> x.values + row * n, n_rows, n, 0, weights)
            elif x.layout == SP_DENSE_F32:
                add_dense(self, <const float *> x.values + row * n, n_rows, n, 0, weights)
            elif x.layout == SP_CSR_F64_I32:
                add_sparse(self, <const double *> x.values, <const int32_t *> x.indices, <const int32_t *> x.indptr + row, n_rows, weights)
            elif x.layout == SP_CSR_F64_I64:
                add_sparse(self, <const double *> x.values, <const int64_t *> x.indices, <const int64_t *> x.indptr + row, n_rows, weights)
            elif x.layout == SP_CSR_F32_I32:
                add_sparse(self, <const float *> x.values, <const int32_t *> x.indices, <const int32_t *> x.indptr + row, n_rows, weights)
            else:
                add_sparse(self, <const float *> x.values, <const int64_t *> x.indices, <const int64_t *> x.indptr + row, n_rows, weights)
            if m and x.dense_layout == SP_DENSE_F64:
                add_dense(self, <const double *> x.dense + row * m, n_rows, m, n - m, weights)
            elif m:
                add_dense(self, <const float *> x.dense + row * m, n_rows, m, n - m, weights)
        return 0

    cdef int keep(self, const sp_rows *x, Py_ssize_t row, Py_ssize_t n_rows) except -1:
        """Keeps a few dense rows until there are enough to fill planes: cell by cell takes twenty times as long."""
        cdef Py_ssize_t n = x.n_features, i
        cdef double *to
        if not self.most_kept:
            self.most_kept = max(FEW, min(<Py_ssize_t> DEPTH, KEPT // max(n, 1)))
            self.kept = np.empty((self.most_kept, n))
        if self.n_kept + n_rows > self.most_kept:
            self.add_kept()
        to = &self.kept[0, 0] + self.n_kept * n
        if x.layout == SP_DENSE_F64:
            memcpy(to, <const double *> x.values + row * n, n_rows * n * sizeof(double))
        else:
            for i in range(n_rows * n):
                to[i] = (<const float *> x.values)[row * n + i]
        self.n_kept += n_rows
        return 0

    cdef int add_kept(self) except -1:
        """Adds the rows that were kept."""
        if self.n_kept:
            add_dense(self, &self.kept[0, 0], self.n_kept, self.kept.shape[1], 0, NULL)
            self.n_kept = 0
        return 0

    def with_rows(self, Rows rows, weights=None):
        """The sums of these rows too."""
        cdef ColumnSums both = self.copy()
        both.add(rows, weights)
        return both

    cdef ColumnSums copy(self):
        cdef ColumnSums other = ColumnSums.__new__(ColumnSums)
        self.add_kept()
        other.number, other.sums, other.squares = self.number.copy(), self.sums.copy(), self.squares.copy()
        other.squared, other.too_large, other.since = self.squared, self.too_large, self.since
        return other

    @property
    def n_rows(self):
        """How many rows, or the sum of their weights."""
        self.number.carry()
        return sp_as_double(&self.number.table[0, 0], self.number.width, self.number.first) if self.number.width else 0.0

    def moments(self):
        """The mean of each column, and the sum of squared differences from it; zeros of no rows. None: too large, or not known."""
        cdef Py_ssize_t j, n = self.sums.table.shape[0]
        cdef Digits number = self.number, sums = self.sums, squares = self.squares
        self.add_kept()
        if self.too_large:
            return None, None
        mean, apart = np.zeros(n), np.zeros(n)
        cdef double[::1] its_mean = mean, its_squares = apart
        if not sums.width:              # all sums are 0, the squares are not
            sums.reach(0)
        for digits in (number, sums, squares):
            (<Digits> digits).carry()
        if self.n_rows:
            for j in range(n):
                its_mean[j] = sp_mean(&number.table[0, 0], number.width, number.first, &sums.table[j, 0], sums.width, sums.first)
                if squares.width:
                    its_squares[j] = sp_squares(&number.table[0, 0], number.width, number.first, &sums.table[j, 0], sums.width,
                                                sums.first, &squares.table[j, 0], squares.width, squares.first)
        return mean, apart if self.squared else None

    @property
    def mean(self):
        """Of each column, a float64 array; None: not known, as values are too large or there were no rows."""
        return self.moments()[0] if self.n_rows else None

    @property
    def spread(self):
        """The standard deviation of each column, 0 of constant ones; None: not known."""
        mean, squares = self.moments()
        if not self.n_rows or squares is None:
            return None
        spread = np.sqrt(squares / self.n_rows)
        return np.where(spread > CONSTANT * np.abs(mean), spread, 0.0)

    def joined(self, ColumnSums other):
        """The sums of both."""
        cdef ColumnSums both = self.copy()
        other.add_kept()
        for mine, its in ((both.number, other.number), (both.sums, other.sums), (both.squares, other.squares)):
            (<Digits> mine).carry()
            (<Digits> its).carry()
            (<Digits> mine).add_all(its)
        both.squared, both.too_large, both.since = self.squared and other.squared, self.too_large or other.too_large, 0
        return both

    def __reduce__(self):
        return ColumnSums.restored, (self.state(), self.sums.table.shape[0])

    def state(self):
        """What a model file holds: whole numbers, and the lowest unit of each kind."""
        self.add_kept()
        number, sums, squares = self.number.state(), self.sums.state(), self.squares.state()
        held = {"units": np.array([number[0], sums[0], squares[0]], dtype=np.int32), "number": number[1], "totals": sums[1],
                "too_large": np.array(self.too_large)}
        return held | ({"totals_of_squares": squares[1]} if self.squared else {})

    @classmethod
    def restored(cls, state, n_features):
        """What `state` returned."""
        cdef ColumnSums sums = cls(n_features)
        units = read_array(state, "units", np.int32, (3,)).tolist()
        sums.number.restore(state, "number", units[0])
        sums.sums.restore(state, "totals", units[1])
        sums.squared = "totals_of_squares" in state
        if sums.squared:
            sums.squares.restore(state, "totals_of_squares", units[2])
        sums.too_large = bool(read_array(state, "too_large", np.bool_))
        return sums

    @classmethod
    def of_moments(cls, double n_rows, const double[::1] mean, squares):
        """Sums of rows with these moments. Squares of None are unknown."""
        cdef ColumnSums sums = cls(len(mean))
        cdef int64_t weight[8]
        cdef int64_t digits[8]
        cdef Py_ssize_t j, first, start
        cdef int i, n, n_weight = sp_cut(n_rows, &first, weight)
        sums.squared = squares is not None
        for i in range(n_weight):
            sums.number.add(0, first - i, weight[i])
        for j in range(len(mean)):
            add_cell(sums, j, mean[j], weight, n_weight, first)
            if squares is not None:
                n = sp_cut(squares[j], &start, digits)
                for i in range(n):
                    sums.squares.add(j, start - i, digits[i])
        return sums


def units_with_row(const real[::1] x, double n_rows, const double[::1] mean, const double[::1] squares, const double[::1] low,
                   const double[::1] high, const double[::1] new_mean, const double[::1] new_squares, bint centred, bint absorbs):
    """Units of the columns with one more row x of weight 1. None if a value is far from all before, or too large."""
    # Streams of single rows need it, where calls of numpy would take most of the time. `squares` are the sums of squared differences from
    # the mean, before the row.
    cdef Py_ssize_t j, n = x.shape[0]
    cdef double total = n_rows + 1, least = CONSTANT, apart, deviation, share, wide, back
    cdef bint far = False
    moved = np.empty((6, n))
    cdef double[:, ::1] to = moved
    for j in range(n):
        apart = x[j] - mean[j]
        to[0, j] = x[j] if x[j] < low[j] else low[j]
        to[1, j] = x[j] if x[j] > high[j] else high[j]
        deviation = sqrt(new_squares[j] / total)
        if deviation > least * fabs(new_mean[j]):
            share = deviation / 2
            wide = deviation / (new_mean[j] - to[0, j]) * share + deviation / (to[1, j] - new_mean[j]) * share
            back = to[3, j] = wide if wide > deviation else deviation
        else:
            deviation = 0
            to[3, j] = INFINITY if absorbs or new_mean[j] == 0 else fabs(new_mean[j])
            back = to[3, j] if to[3, j] < INFINITY else 1
        to[2, j] = deviation
        to[4, j] = -(new_mean[j] if centred else 0) / back
        to[5, j] = 1 / back
        far |= n_rows > MANY and apart * apart > FAR * squares[j] / n_rows > 0 or not new_squares[j] < INFINITY
    return None if far else tuple(moved)


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


def plane_sums(int number, const double[:, ::1] X, const double[:, ::1] rest, const double[::1] rounder):
    """Of eight columns, by the set of this number: a digit and what is left, their sums, the sums of their products, digits of products."""
    cdef sp_planes planes = sp_planes_of(number)
    cdef Py_ssize_t n = X.shape[0]
    left, digit, sums, product = np.array(X), np.empty((n, 8)), np.empty((3, 8)), np.empty((2, n, 8))
    cdef double[:, ::1] its_left = left, its_digit = digit, its_sums = sums
    cdef double[:, :, ::1] its_product = product
    cdef double[:, ::1] rounders = np.array([rounder, rounder])
    planes.cut_plane(&its_left[0, 0], n, &rounder[0], &its_digit[0, 0])
    planes.add_up(&its_digit[0, 0], n, &its_sums[0, 0])
    planes.add_products(&its_digit[0, 0], &rest[0, 0], n, &its_sums[1, 0])
    planes.multiply_planes(&its_digit[0, 0], 1, &rest[0, 0], 1, n, n * 8, &rounders[0, 0], &its_product[0, 0, 0])
    return left, digit, sums[:2], product


def sums_of_five(int number, const double[:, ::1] X, const double[:, ::1] rounders):
    """Of eight columns, by the set of this number: largest sizes, sums of five digits and of their products, whether that is all."""
    cdef sp_planes planes = sp_planes_of(number)
    most, sums = np.empty(SP_LANES), np.empty((SP_SUMS_OF_FIVE, SP_LANES))
    cdef double[::1] its_most = most
    cdef double[:, ::1] its_sums = sums
    planes.largest(&X[0, 0], X.shape[0], &its_most[0])
    left = planes.add_five(&X[0, 0], X.shape[0], &rounders[0, 0], &its_sums[0, 0])
    return most, sums, not left


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
