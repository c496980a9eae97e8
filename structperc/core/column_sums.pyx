# distutils: extra_compile_args = VECTORS
"""Means and standard deviations of the columns of all rows that a model learns from.

Sums are exact whole numbers of small units. So parts of the rows add up to the same bits in any order and any number. A column may have a
small spread beside its mean, such as a year. Its squares lose nothing.

Typical sizes: 10^2..10^7 rows of 10..1000 columns. Adding rows takes about 3 ns for each value.
"""
cimport cython
import numpy as np

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int32_t, int64_t
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
    const int SP_LANES, SP_PLANES
    ctypedef struct sp_planes:
        int (*cut_plane)(double *rest, Py_ssize_t n_rows, const double *rounder, double *plane) noexcept nogil
        void (*add_up)(const double *a, Py_ssize_t n_rows, double *sums) noexcept nogil
        void (*add_products)(const double *a, const double *b, Py_ssize_t n_rows, double *sums) noexcept nogil
        void (*multiply_planes)(const double *w, int n_w, const double *x, int n_x, Py_ssize_t n_rows, Py_ssize_t step,
                                const double *rounders, double *to) noexcept nogil
    sp_planes sp_planes_of(int number)
    int sp_n_sets()


# ---- column sums ----

CONSTANT = 1e-12            # a column whose spread is a smaller part of its mean is constant up to rounding
cdef int MANY = 10          # a row that is far from so many others is looked at more closely,
cdef double FAR = 1e6       # square of its distance in deviations
cdef int FEW = 16           # rows that are added cell by cell
cdef int DEPTH = 128        # rows of a plane
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


cdef int add_cell(ColumnSums to, Py_ssize_t j, double x, const int64_t *weight, int n_weight, Py_ssize_t first_weight) except -1 nogil:
    """Adds a value and its square, multiplied by the digits of a weight."""
    cdef int64_t digits[8]
    cdef int64_t product[16]
    cdef Py_ssize_t first, start
    cdef int n, n_product, i, k
    if not fabs(x) < SP_TOO_LARGE:
        to.too_large = True
        return 0
    n = sp_cut(x, &first, digits)
    if n_weight == 1 and weight[0] == 1 and first_weight == 0:
        for i in range(n):
            to.sums.add(j, first - i, digits[i])
            for k in range(i + 1):
                to.squares.add(j, 2 * first - i - k, digits[i] * digits[k] * (2 if k < i else 1))
        return 0
    if n == 0:
        return 0
    n_product, start = sp_multiply(weight, n_weight, digits, n, product), first_weight + first + 1
    for i in range(n_product):
        to.sums.add(j, start - i, product[i])
        for k in range(n):
            to.squares.add(j, start - i + first - k, product[i] * digits[k])
    return 0


cdef int add_dense_cells(ColumnSums to, const real *values, Py_ssize_t n_rows, Py_ssize_t n, Py_ssize_t column,
                         const double *weights) except -1 nogil:
    """Adds dense rows cell by cell."""
    cdef int64_t weight[8]
    cdef Py_ssize_t i, j, first = 0
    cdef int n_weight = 1
    weight[0] = 1
    for i in range(n_rows):
        if weights != NULL:
            n_weight = sp_cut(weights[i], &first, weight)
        if n_weight:
            for j in range(n):
                add_cell(to, column + j, values[i * n + j], weight, n_weight, first)
    return 0


cdef int add_sparse(ColumnSums to, const real *values, const index_t *indices, const index_t *starts, Py_ssize_t n_rows,
                    const double *weights) except -1 nogil:
    """Adds sparse rows; implicit zeros add nothing."""
    cdef int64_t weight[8]
    cdef Py_ssize_t i, e, first = 0
    cdef int n_weight = 1
    weight[0] = 1
    for i in range(n_rows):
        if weights != NULL:
            n_weight = sp_cut(weights[i], &first, weight)
        if n_weight:
            for e in range(starts[i], starts[i + 1]):
                add_cell(to, indices[e], values[e], weight, n_weight, first)
    return 0


cdef int add_dense(ColumnSums to, const real *values, Py_ssize_t n_rows, Py_ssize_t n, Py_ssize_t column, const double *weights) except -1:
    """Adds dense rows by planes: several rows beside each other, so that they fill the lanes."""
    if n_rows < FEW:
        return add_dense_cells(to, values, n_rows, n, column, weights)
    cdef Py_ssize_t size = DEPTH * SP_LANES, abreast = SP_LANES
    while abreast > 1 and abreast // 2 * n % SP_LANES == 0:
        abreast //= 2
    cdef double[::1] room = np.empty((2 + 2 * SP_PLANES + 2 * PLANES_OF_WEIGHT) * size)
    cdef Py_ssize_t i, k, step, lane
    with nogil:
        for i in range(((n_rows + abreast - 1) // abreast + DEPTH - 1) // DEPTH):
            for k in range(abreast * n // SP_LANES):
                step, lane = i * DEPTH, k * SP_LANES
                if not add_planes(to, values, n_rows, n, column, weights, abreast, step, lane, &room[0]):
                    add_block_cells(to, values, n_rows, n, column, weights, abreast, step, lane)
    return 0


cdef int add_block_cells(ColumnSums to, const real *values, Py_ssize_t n_rows, Py_ssize_t n, Py_ssize_t column, const double *weights,
                         Py_ssize_t abreast, Py_ssize_t step, Py_ssize_t lane) except -1 nogil:
    """The cells of `add_planes`, one by one."""
    cdef Py_ssize_t i, c, row
    cdef const double *weight = NULL
    for i in range(step, step + DEPTH):
        for c in range(lane, lane + SP_LANES):
            row = i * abreast + c // n
            if row < n_rows:
                if weights != NULL:
                    weight = weights + row
                add_dense_cells(to, values + row * n + c % n, 1, 1, column + c % n, weight)
    return 0


cdef int add_planes(ColumnSums to, const real *values, Py_ssize_t n_rows, Py_ssize_t n, Py_ssize_t column, const double *weights,
                    Py_ssize_t abreast, Py_ssize_t step, Py_ssize_t lane, double *room) except -1 nogil:
    """Adds cells of eight lanes; returns 0 if they have too many digits."""
    cdef Py_ssize_t size = DEPTH * SP_LANES, depth = min(DEPTH, (n_rows + abreast - 1) // abreast - step)
    cdef double *rest = room
    cdef double *planes = rest + size
    cdef double *weighted = planes + SP_PLANES * size           # digits of products
    cdef double *heavy = weighted + (SP_PLANES + PLANES_OF_WEIGHT) * size       # weights, and their digits
    cdef double *factors = heavy + size
    cdef double[16] most, sums
    cdef Py_ssize_t[16] first, first_weight, first_product
    cdef double[512] rounders
    cdef Py_ssize_t i, c, at, pitch = abreast * n, total = n_rows * n, row
    cdef int n_digits, n_weight = 0, n_product, k, m
    cdef double x, w
    cdef bint odd = False
    for c in range(SP_LANES):
        most[c] = 0
    for i in range(depth):
        at = (step + i) * pitch + lane
        for c in range(SP_LANES):
            x = values[at + c] if at + c < total else 0
            if weights != NULL:
                row = (step + i) * abreast + (lane + c) // n
                w = weights[row] if row < n_rows else 0
                heavy[i * SP_LANES + c] = w
                if w == 0:
                    x = 0
            rest[i * SP_LANES + c] = x
            odd |= not fabs(x) < SP_TOO_LARGE
            most[c] = max(most[c], fabs(x))
    while depth % 4:                            # rows of zeros
        for c in range(SP_LANES):
            rest[depth * SP_LANES + c] = heavy[depth * SP_LANES + c] = 0
        depth += 1
    if odd:
        to.too_large = True
        return 1
    for c in range(SP_LANES):
        first[c] = sp_first_unit(most[c]) if most[c] > 0 else 0
    n_digits = cut(rest, depth, first, SP_PLANES, planes)
    if n_digits < 0:
        return 0
    if weights == NULL:
        for k in range(n_digits):
            PLANES.add_up(planes + k * size, depth, sums)
            add_lanes(to.sums, sums, first, NULL, k, 1, n, column, lane)
            for m in range(k + 1):
                PLANES.add_products(planes + k * size, planes + m * size, depth, sums)
                add_lanes(to.squares, sums, first, first, k + m, 2 if m < k else 1, n, column, lane)
        return 1
    w = 0
    for i in range(depth * SP_LANES):
        w = max(w, heavy[i])
    for c in range(SP_LANES):
        first_weight[c] = sp_first_unit(w)
        first_product[c] = first_weight[c] + first[c] + 1
    n_weight = cut(heavy, depth, first_weight, PLANES_OF_WEIGHT, factors)
    n_product = n_weight + n_digits
    if n_weight < 0:
        return 0
    for c in range(SP_LANES):
        if min(first_product[c], first_product[c] + first[c] - n_digits + 1) - n_product + 1 < SP_LOW_UNIT:
            return 0
        for k in range(n_product):
            rounders[k * SP_LANES + c] = sp_rounder(first_product[c] - k)
    PLANES.multiply_planes(factors, n_weight, planes, n_digits, depth, size, rounders, weighted)
    for k in range(n_product):
        PLANES.add_up(weighted + k * size, depth, sums)
        add_lanes(to.sums, sums, first_product, NULL, k, 1, n, column, lane)
        for m in range(n_digits):
            PLANES.add_products(weighted + k * size, planes + m * size, depth, sums)
            add_lanes(to.squares, sums, first_product, first, k + m, 1, n, column, lane)
    return 1


cdef int cut(double *rest, Py_ssize_t depth, const Py_ssize_t *first, int most, double *planes) noexcept nogil:
    """Cuts numbers into planes; returns how many, or -1 if there would be more than `most` or too low ones."""
    cdef double[16] rounder
    cdef int n = 0
    cdef Py_ssize_t c
    while True:
        for c in range(SP_LANES):
            if first[c] - n < SP_LOW_UNIT // 2:
                return -1
            rounder[c] = sp_rounder(first[c] - n)
        n += 1
        if not PLANES.cut_plane(rest, depth, rounder, planes + (n - 1) * DEPTH * SP_LANES):
            return n
        if n == most:
            return -1


cdef int add_lanes(Digits to, const double *sums, const Py_ssize_t *first, const Py_ssize_t *second, Py_ssize_t down, int times,
                   Py_ssize_t n, Py_ssize_t column, Py_ssize_t lane) except -1 nogil:
    """Adds the sums of a plane, or of products of two, to the numbers of its columns."""
    cdef Py_ssize_t c, unit
    for c in range(SP_LANES):
        if sums[c] != 0:
            unit = first[c] - down + (0 if second == NULL else second[c])
            to.add(column + (lane + c) % n, unit, <int64_t> (sums[c] * sp_unit(-unit)) * times)
    return 0


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
        if x.layout == SP_DENSE_F64:
            return add_dense(self, <const double *> x.values + row * n, n_rows, n, 0, weights)
        if x.layout == SP_DENSE_F32:
            return add_dense(self, <const float *> x.values + row * n, n_rows, n, 0, weights)
        with nogil:
            if x.layout == SP_CSR_F64_I32:
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

    def with_rows(self, Rows rows, weights=None):
        """The sums of these rows too."""
        cdef ColumnSums both = self.copy()
        both.add(rows, weights)
        return both

    cdef ColumnSums copy(self):
        cdef ColumnSums other = ColumnSums.__new__(ColumnSums)
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
