# distutils: extra_compile_args = VECTORS
"""The dual of a chain, by decomposition: some examples with all their coordinates are optimised together, then all scores move at once.

A round scans the coordinates and selects the examples that violate most and half of the last ones. It optimises them among themselves
(working_set.pyx). It adds their columns of the kernel, times the changes of their coefficients, to the scores. Examples that lie safely at
bounds come to rest: their coordinates and columns are left out until the others are done. Then all scores are computed anew. Typical sizes:
10^3..10^5 examples, 1..40 nodes. A round needs at most 1024 columns, 0.2 us n if cached. It adds 0.2 us n to sort scores, and 10 ns
for each coordinate.
"""
import numpy as np

from libc.math cimport INFINITY, NAN, fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from structperc.core.inner_products cimport (
    SP_CSR_F32_I32, SP_CSR_F32_I64, SP_DENSE_F32, best_inner, sp_blocks, sp_index, sp_inner, sp_is_dense, sp_rows, sp_start,
)
from structperc.core.rows cimport Rows
from structperc.core.signals cimport interrupted
from structperc.errors import DataError
from structperc.plugin_tools import CONVERGED, INTERRUPTED, STALLED, raise_interruption
from structperc_kernels.kernel_rows cimport LANES, KernelRows
from structperc_large_margin.solutions import Solution
from structperc_large_margin.thresholds import ChainThresholds


# ---- kernel columns ----
# Columns of the kernel matrix of the training rows, computed sixteen at a time. A cache keeps the most recent ones.
#
# A value has the same bits if it was cached or computed again. Sums of columns have the order of the call. No result depends on the size of
# the cache.
#
# Typical sizes: 10^3..10^5 training rows, 200 MB. Cost: n values of the kernel for a column, 8 n bytes to cache it. Adding a cached column
# needs about 0.1 n ns to 0.3 n ns.

# ---- working set ----
# A few examples whose coordinates are optimised while all others rest: two coordinates at a time, the second of them by second order.
#
# Coordinates are stored node by node, a place for each example at each node. Examples are in the order of their nodes. So the members
# of a node are adjacent if an example has few. Typical sizes: 16..512 examples, 1..40 nodes. Cost of a step: about 0.5 ns for each place
# of the nodes, and 5 ns for each example. Ties: the first node, then the first place.


cdef extern from "scans.h" nogil:
    void sp_extremes(const double *f, const double *up, const double *down, Py_ssize_t n, double *lo, double *hi) noexcept
    Py_ssize_t sp_first_at(const double *f, const double *add, double value) noexcept
    double sp_promises(const double *f, const double *down, const double *row, const double *diagonal, double kappa, double own,
                       double least, Py_ssize_t n, double *promise) noexcept
    void sp_move(double *f, const double *rise, const double *fall, double t, Py_ssize_t n) noexcept

cdef enum:
    NONE = -1

cdef double SAME = 1e-12            # of the squared length: closer directions count as equal
cdef double LEAST = 1e-300


cdef class WorkingSet:
    """Room for so many examples, at so many nodes."""

    def __init__(self, Py_ssize_t room, Py_ssize_t n_nodes, double gain, bint open_arcs):
        self.room, self.n_nodes, self.gain, self.open_arcs = room, n_nodes, gain, open_arcs
        self.f, self.before, self.diagonal, self.promise = (np.zeros(room) for _ in range(4))
        self.gram = np.zeros(room * room)
        self.mu, self.cap, self.sign, self.up, self.down = (np.zeros(room * n_nodes) for _ in range(5))
        self.lo, self.hi, self.flow = (np.zeros(n_nodes) for _ in range(3))
        self.first, self.end = (np.zeros(n_nodes, dtype=np.intp) for _ in range(2))

    cdef void free_sides(self, Py_ssize_t c) noexcept nogil:
        """Where the coordinate may go: section 6, up(c) and down(c)."""
        cdef bint below = self.mu[c] < self.cap[c], above = self.mu[c] > 0
        cdef double kappa = self.sign[c] * self.gain
        if self.sign[c] < 0:
            below, above = above, below
        self.up[c] = kappa if below and self.sign[c] != 0 else -INFINITY
        self.down[c] = kappa if above and self.sign[c] != 0 else INFINITY

    cdef void step(self, Py_ssize_t c, double change) noexcept nogil:
        """Moves mu by so much, onto a bound where it comes within rounding of one."""
        cdef double mu = self.mu[c] + change
        if mu < 1e-14 * self.cap[c]:
            mu = 0
        elif mu > self.cap[c] * (1 - 1e-14):
            mu = self.cap[c]
        self.mu[c] = mu
        self.free_sides(c)

    cdef void look(self, Py_ssize_t m) noexcept nogil:
        """lo and hi of a node as they are now."""
        cdef Py_ssize_t a = self.first[m]
        sp_extremes(&self.f[a], &self.up[m * self.q + a], &self.down[m * self.q + a], self.end[m] - a, &self.lo[m], &self.hi[m])

    cdef double violation(self, Py_ssize_t *node, Py_ssize_t *other) noexcept nogil:
        """The largest lo_m - hi_m' of an admissible pair of nodes, as far as their bounds are known."""
        cdef Py_ssize_t m, from_lo = 0, to_hi = 0
        cdef double v, best = -INFINITY
        for m in range(self.n_nodes):
            if not self.open_arcs:
                from_lo = to_hi = m
            else:
                if self.lo[m] > self.lo[from_lo]:           # the largest lo up to m reaches every node from m on
                    from_lo = m
                if m and self.flow[m - 1] <= 0 or self.hi[m] < self.hi[to_hi]:      # and lo_m those back to the last flow of 0
                    to_hi = m
            v = self.lo[from_lo] - self.hi[m]
            if v > best:
                best, node[0], other[0] = v, from_lo, m
            v = self.lo[m] - self.hi[to_hi]
            if v > best:
                best, node[0], other[0] = v, m, to_hi
        return best

    cdef Py_ssize_t partner(self, Py_ssize_t node, Py_ssize_t i, double kappa, Py_ssize_t *other) noexcept nogil:
        """The place of the second coordinate, and its node: where the step promises the largest decrease."""
        cdef Py_ssize_t m, a, j = NONE, low = node, high = node + 1
        cdef double best = 0, decrease
        if self.open_arcs:
            high = self.n_nodes
            while low > 0 and self.flow[low - 1] > 0:
                low -= 1
        for m in range(low, high):
            a = self.first[m]
            decrease = sp_promises(&self.f[a], &self.down[m * self.q + a], &self.gram[i * self.q + a], &self.diagonal[a], kappa,
                                   self.diagonal[i], SAME * self.diagonal[i] + LEAST, self.end[m] - a, &self.promise[a])
            if decrease > best:
                best, other[0], j = decrease, m, a
                while self.promise[j] != decrease:
                    j += 1
        return j

    cdef Py_ssize_t optimise(self, double enough, Py_ssize_t most) noexcept nogil:
        """Steps until no admissible pair is violated by more than `enough`; returns how many, or -1 after Ctrl-C.

        Before a step, only the nodes of the last worst pair are checked again.
        """
        cdef Py_ssize_t steps = 0, m = 0, m2 = 0, i, j, k, a, b, q = self.q
        cdef bint all_current = False
        cdef double kappa, v, t, distance
        for m in range(self.n_nodes):
            self.lo[m], self.hi[m] = INFINITY, -INFINITY
        while steps < most:
            if interrupted(4 * q):
                return -1
            if not self.violation(&m, &m2) > enough:
                if all_current:
                    break
                for k in range(self.n_nodes):
                    self.look(k)
                all_current = True
                continue
            if not all_current:
                self.look(m)
                if m2 != m:
                    self.look(m2)
                if not self.lo[m] - self.hi[m2] > enough:
                    continue
            all_current = False
            kappa = self.lo[m]
            i = self.first[m] + sp_first_at(&self.f[self.first[m]], &self.up[m * q + self.first[m]], kappa)
            j = self.partner(m, i, kappa, &m2)
            if j == NONE:
                break
            a, b = m * q + i, m2 * q + j
            v = kappa - (self.f[j] + self.down[b])
            distance = self.diagonal[i] + self.diagonal[j] - 2 * self.gram[i * q + j]
            t = v / distance if distance > SAME * self.diagonal[i] + LEAST else INFINITY
            t = min(t, self.cap[a] - self.mu[a] if self.sign[a] > 0 else self.mu[a])
            t = min(t, self.mu[b] if self.sign[b] > 0 else self.cap[b] - self.mu[b])
            for k in range(m2, m):
                t = min(t, self.flow[k])
            self.step(a, self.sign[a] * t)
            self.step(b, -self.sign[b] * t)
            for k in range(m, m2):
                self.flow[k] += t
            for k in range(m2, m):
                self.flow[k] -= t
            sp_move(&self.f[0], &self.gram[j * q], &self.gram[i * q], t, q)
            steps += 1
        return steps


# ---- kernel columns ----


cdef extern from "scans.h" nogil:
    void sp_add_columns(double *sums, Py_ssize_t begin, Py_ssize_t end, const double *const *p, const double *c, Py_ssize_t n) noexcept

cdef enum:
    NOWHERE = -1
    STRIP = 512             # sums that stay in the first-level cache while columns are added
    PIECE = 32              # rows of a tile turned at once


cdef class KernelColumns:
    """Columns K(., i) of the kernel matrix between the rows of X.

    Parameters
    ----------
    kernel_rows : structperc_kernels.KernelRows
        Started, settled and empty; receives all rows of X.
    rows : structperc.components.Rows
        `canonical` where X is sparse.
    cache_bytes : int, default 200 MB
        Memory for columns that are kept; at least sixteen are.

    Attributes
    ----------
    n, room, n_computed : int
        Training rows, columns that are kept, columns computed so far.
    diagonal : ndarray of shape (n,)
        K(i, i).

    Raises
    ------
    DataError
        When a K(i, i) is not finite.
    """

    def __init__(self, KernelRows kernel_rows, Rows rows, Py_ssize_t cache_bytes=209715200):
        cdef Py_ssize_t i, n = rows.n_rows
        kernel_rows.reserve(n)
        for i in range(n):
            kernel_rows.append(rows, i)
        self.kernel_rows, self.rows, self.n = kernel_rows, rows, n
        self.queries = kernel_rows.queries()
        self.memory = np.empty(max(min(cache_bytes // (8 * max(n, 1)), n), LANES) * n)     # pages are taken when they are first written
        self.place = np.full(n, NOWHERE, dtype=np.intc)
        self.owner, self.newer, self.older = (np.full(max(n, LANES), NOWHERE, dtype=np.intc) for _ in range(3))
        self.tile = np.empty(max(min(kernel_rows.rows_per_tile, 256), LANES) * LANES)
        self.widen()
        self.diagonal = self._diagonal()

    def _diagonal(self):
        """K(i, i), from tiles of sixteen rows and themselves."""
        cdef Py_ssize_t first, i, m
        cdef double[::1] diagonal = np.empty(self.n)
        for first in range(0, self.n, LANES):
            m = min(self.n - first, <Py_ssize_t> LANES)
            self.kernel_rows.prepare(self.queries, self.rows, np.arange(first, first + m, dtype=np.int64))
            self.tile[:] = 0                            # expensive values are computed if the entry is NaN
            for i in range(m):
                self.tile[i * LANES + i] = NAN
            if self.kernel_rows.tile_c(self.queries, 0, &self.alive[first], m, &self.tile[0]) < 0:
                self.kernel_rows.reraise()
            for i in range(m):
                diagonal[first + i] = self.tile[i * LANES + i]
        squares = np.asarray(diagonal)
        for row in np.flatnonzero(~np.isfinite(squares))[:1]:
            raise DataError(f"the kernel of row {row} of X with itself is {squares[row]}; expected finite values. Scale the features.")
        return squares

    def widen(self):
        """Columns have values for all rows again; those kept so far are forgotten."""
        self.alive = np.arange(self.n, dtype=np.intc)
        self.place[:] = NOWHERE
        self.used, self.newest, self.oldest = 0, NOWHERE, NOWHERE
        self.measure()

    def narrow(self, const Py_ssize_t[::1] kept):
        """Limits columns to values for some rows, so that the cache has room for more columns.

        Parameters
        ----------
        kept : intp array
            Their places in `alive`, in ascending order.
        """
        cdef Py_ssize_t slot, i, n = self.alive.shape[0], fewer = kept.shape[0]
        cdef double *column
        cdef double *to
        with nogil:
            for slot in range(self.used):
                column, to = &self.memory[slot * n], &self.memory[slot * fewer]         # to the front: nothing is overwritten unread
                for i in range(fewer):
                    to[i] = column[kept[i]]
        self.alive = np.asarray(self.alive)[np.asarray(kept)]
        self.measure()

    def measure(self):
        """How many columns there is room for."""
        self.room = min(max(self.memory.shape[0] // max(self.alive.shape[0], 1), LANES), self.owner.shape[0])

    def scores(self, const double[::1] coefficients):
        """K c for coefficients c of all rows, which may be 0. Afterwards columns have values for all rows."""
        held = np.flatnonzero(coefficients).astype(np.intc)
        cdef const int[::1] which = held
        cdef const double[::1] few = np.asarray(coefficients)[held]
        cdef double[::1] sums = np.zeros(self.n)
        if self.alive.shape[0] < self.n:
            self.widen()
        if which.shape[0]:
            self.add(&which[0], &few[0], which.shape[0], &sums[0])
        return np.asarray(sums)

    cdef int fill(self, Py_ssize_t group, const int *slots, Py_ssize_t m) except -1:
        """The kernel between a group of prepared rows and m stored ones, as many as the tile holds."""
        cdef Py_ssize_t i
        if self.kernel_rows.expensive:
            for i in range(m * LANES):
                self.tile[i] = NAN
        if self.kernel_rows.tile_c(self.queries, group, slots, m, &self.tile[0]) < 0:
            self.kernel_rows.reraise()
        return 0

    cdef int compute(self, const int *which, Py_ssize_t q, double **to, const int *slots, Py_ssize_t n) except -1:
        """to[a][i] = kernel(row which[a], row slots[i])."""
        cdef Py_ssize_t a, group, first, m, lanes, most = self.tile.shape[0] // LANES
        cdef int64_t[::1] numbers = np.empty(q, dtype=np.int64)
        for a in range(q):
            numbers[a] = which[a]
        self.kernel_rows.prepare(self.queries, self.rows, numbers)
        for group in range((q + LANES - 1) // LANES):
            lanes = min(q - group * LANES, <Py_ssize_t> LANES)
            for first in range(0, n, most):
                m = min(n - first, most)
                self.fill(group, slots + first, m)
                with nogil:
                    stand_upright(&self.tile[0], m, to + group * LANES, lanes, first)
        self.n_computed += q
        return 0

    # ---- what the solver asks for; `which` counts the rows in `alive` ----

    cdef int gram(self, const int *which, Py_ssize_t q, double *values) except -1:
        """values[a * q + b] = kernel(row which[a], row which[b]); reads columns that are kept and keeps no others."""
        cdef Py_ssize_t a, b, m = 0
        cdef int[::1] missing = np.empty(q, dtype=np.intc), rows = np.empty(q, dtype=np.intc)
        cdef double **to = <double **> malloc(q * sizeof(void *))
        cdef const double *column
        if to == NULL:
            raise MemoryError
        try:
            for a in range(q):
                rows[a] = self.alive[which[a]]
                if self.place[rows[a]] == NOWHERE:
                    missing[m], to[m] = rows[a], values + a * q
                    m += 1
                else:
                    column = self.column(rows[a])
                    for b in range(q):
                        values[a * q + b] = column[which[b]]
            if m:
                self.compute(&missing[0], m, to, &rows[0], q)
                self.n_computed -= m
        finally:
            free(to)
        return 0

    cdef int add(self, const int *which, const double *coefficients, Py_ssize_t q, double *sums) except -1:
        """sums[i] += sum over a of coefficients[a] * kernel(row which[a], row i), in the order of a."""
        cdef Py_ssize_t first, m, i, end, n = self.alive.shape[0]
        cdef const double **columns = <const double **> malloc(q * sizeof(void *))
        if columns == NULL:
            raise MemoryError
        try:
            for first in range(0, q, self.room):
                m = min(q - first, self.room)
                self.bring(which + first, m, columns)
                with nogil:
                    i = 0
                    while i < n:
                        end = min(i + STRIP, n)
                        sp_add_columns(sums, i, end, columns, coefficients + first, m)
                        i = end
                if interrupted(m * n // 2):
                    raise_interruption()
        finally:
            free(columns)
        return 0

    cdef int bring(self, const int *which, Py_ssize_t q, const double **columns) except -1:
        """Where these columns are kept, at most as many as there is room for; computes those that are not."""
        cdef Py_ssize_t a, m = 0
        cdef int[::1] missing = np.empty(q, dtype=np.intc)
        cdef double **to = <double **> columns          # its first entries serve the missing columns until all are there
        cdef int row
        for a in range(q):
            row = self.alive[which[a]]
            if self.place[row] == NOWHERE:
                missing[m] = row
                m += 1
            else:
                self.touch(self.place[row])
        try:
            for a in range(m):
                self.claim(missing[a])
                to[a] = self.column(missing[a])
            if m:
                self.compute(&missing[0], m, to, &self.alive[0], self.alive.shape[0])
        except BaseException:
            for a in range(m):
                self.disown(missing[a])
            raise
        for a in range(q):
            columns[a] = self.column(self.alive[which[a]])
        return 0

    cdef double *column(self, int row) noexcept nogil:
        """Where the column of this row is kept."""
        return &self.memory[self.place[row] * self.alive.shape[0]]

    # ---- slots, from the newest to the oldest ----

    cdef void touch(self, int slot) noexcept nogil:
        """Makes the column in a slot the newest."""
        cdef int newer = self.newer[slot], older = self.older[slot]
        if slot == self.newest:
            return
        self.older[newer] = older
        if older == NOWHERE:
            self.oldest = newer
        else:
            self.newer[older] = newer
        self.link(slot)

    cdef void link(self, int slot) noexcept nogil:
        self.newer[slot], self.older[slot] = NOWHERE, self.newest
        if self.newest == NOWHERE:
            self.oldest = slot
        else:
            self.newer[self.newest] = slot
        self.newest = slot

    cdef int claim(self, int row) noexcept nogil:
        """A slot for the column of this row: an empty one, or that of the oldest column."""
        cdef int slot
        if self.used < self.room:
            slot = <int> self.used
            self.used += 1
            self.link(slot)
        else:
            slot = self.oldest
            if self.owner[slot] != NOWHERE:
                self.place[self.owner[slot]] = NOWHERE
            self.touch(slot)
        self.owner[slot], self.place[row] = row, slot
        return slot

    cdef void disown(self, int row) noexcept nogil:
        """The column of this row is not there after all."""
        if self.place[row] != NOWHERE:
            self.owner[self.place[row]] = NOWHERE
            self.place[row] = NOWHERE


cdef void stand_upright(const double *tile, Py_ssize_t m, double **to, Py_ssize_t lanes, Py_ssize_t first) noexcept nogil:
    """to[a][first + i] = tile[i * LANES + a], in pieces that stay in the first-level cache."""
    cdef Py_ssize_t begin = 0, end, i, a
    cdef double *column
    while begin < m:
        end = min(begin + PIECE, m)
        for a in range(lanes):
            column = to[a] + first
            for i in range(begin, end):
                column[i] = tile[i * LANES + a]
        begin = end


# ---- linear passes ----
# Passes over the rows of X and the coordinates of a chain, for Newton steps. The same bits on every machine.
#
# Typical sizes: n = 10^2..10^6 rows of d = 10..10^5 columns, N = 2 n .. 20 n coordinates. A sum of rows costs O(nonzeros), at the speed of
# memory. A table of products costs O(d^2) a row; a pass over the coordinates 2 ns each. Memory: 24 bytes a coordinate.


cdef void blocks_at(sp_blocks *b, double *w, Py_ssize_t n_blocks, Py_ssize_t n_features) noexcept nogil:
    b.w, b.bias, b.average, b.place, b.n_placed = w, NULL, 0, NULL, NULL
    b.block_step, b.feature_step, b.n_blocks = n_features, 1, n_blocks


cdef inline double value_at(const sp_rows *x, Py_ssize_t at) noexcept nogil:
    if x.layout == SP_DENSE_F32 or x.layout == SP_CSR_F32_I32 or x.layout == SP_CSR_F32_I64:
        return (<const float *> x.values)[at]
    return (<const double *> x.values)[at]


def squared_norms(Rows rows):
    """x . x of every row."""
    cdef const sp_inner *inner = best_inner(rows.n_features)
    cdef double[::1] out = np.empty(rows.n_rows)
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.n_rows):
            out[i] = inner.norm[rows.whole.layout](&rows.whole, i)
            if interrupted(rows.n_features):
                break
    raise_interruption()
    return np.asarray(out)


def products(Rows rows, const int64_t[::1] at, const double[::1] w):
    """w . x of the rows `at`."""
    cdef const sp_inner *inner = best_inner(rows.n_features)
    cdef double[::1] out = np.empty(len(at) + 3)
    cdef Py_ssize_t k, n = len(at)
    cdef sp_blocks b
    blocks_at(&b, <double *> &w[0], 1, rows.n_features)
    with nogil:
        for k in range(n):
            inner.dots[rows.whole.layout](&rows.whole, at[k], &b, &out[k])
            if interrupted(rows.n_features):
                break
    raise_interruption()
    return np.asarray(out)[:n]


def sum_of_rows(Rows rows, const int64_t[::1] at, const double[::1] coefficients):
    """sum_k coefficients[k] x_at[k]."""
    cdef const sp_inner *inner = best_inner(rows.n_features)
    cdef double[::1] w = np.zeros(rows.n_features)
    cdef Py_ssize_t k, n = len(at)
    cdef sp_blocks b
    blocks_at(&b, &w[0], 1, rows.n_features)
    with nogil:
        for k in range(n):
            inner.add[rows.whole.layout](&rows.whole, at[k], &b, &coefficients[k], 1, 0)
            if interrupted(rows.n_features):
                break
    raise_interruption()
    return np.asarray(w)


def sum_of_squares(Rows rows, const int64_t[::1] at, const double[::1] coefficients):
    """sum_k coefficients[k] x_at[k]^2, column by column."""
    cdef double[::1] out = np.zeros(rows.n_features)
    cdef Py_ssize_t k, q, j, n = len(at), d = rows.n_features
    cdef const sp_rows *x = &rows.whole
    cdef double value
    with nogil:
        for k in range(n):
            if sp_is_dense(x):
                for j in range(d):
                    value = value_at(x, at[k] * d + j)
                    out[j] += coefficients[k] * (value * value)
            else:
                for q in range(sp_start(x, at[k]), sp_start(x, at[k] + 1)):
                    value = value_at(x, q)
                    out[sp_index(x, q)] += coefficients[k] * (value * value)
            if interrupted(d):
                break
    raise_interruption()
    return np.asarray(out)


def sums_by_node(Rows rows, const int32_t[::1] example, const int32_t[::1] node, const double[::1] coefficients, Py_ssize_t n_nodes):
    """For every node the sum of the rows of its coordinates, each times its coefficient, (n_nodes, n_features)."""
    cdef const sp_inner *inner = best_inner(rows.n_features)
    cdef double[:, ::1] sums = np.zeros((n_nodes, rows.n_features))
    cdef Py_ssize_t k, n = len(example)
    cdef sp_blocks b
    with nogil:
        for k in range(n):
            blocks_at(&b, &sums[node[k], 0], 1, rows.n_features)
            inner.add[rows.whole.layout](&rows.whole, example[k], &b, &coefficients[k], 1, 0)
            if interrupted(rows.n_features):
                break
    raise_interruption()
    return np.asarray(sums)


def products_of_columns(Rows rows, const int64_t[::1] at, const double[::1] coefficients):
    """sum_k coefficients[k] x_at[k] x_at[k]', (n_features, n_features)."""
    cdef const sp_inner *inner = best_inner(rows.n_features)
    cdef Py_ssize_t k, n = len(at), d = rows.n_features
    cdef double[:, ::1] out = np.zeros((d, d))
    cdef double[::1] scaled = np.zeros(d)
    cdef double one
    cdef sp_blocks table, row
    blocks_at(&table, &out[0, 0], d, d)
    blocks_at(&row, &scaled[0], 1, d)
    with nogil:
        for k in range(n):
            scaled[:] = 0
            one = coefficients[k]
            inner.add[rows.whole.layout](&rows.whole, at[k], &row, &one, 1, 0)
            inner.add[rows.whole.layout](&rows.whole, at[k], &table, &scaled[0], 1, 0)
            if interrupted(d * d):
                break
    raise_interruption()
    return np.asarray(out)


def inner_product(const double[::1] a, const double[::1] b):
    """a . b in a fixed order."""
    cdef double total = 0
    cdef Py_ssize_t i
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


def solve_positive(H, right):
    """H^-1 right for a positive definite H, whose memory it takes; a direction without curvature left counts for nothing."""
    cdef double[:, ::1] L = H
    cdef double[::1] v = np.array(right, dtype=float), scale = np.array(np.diagonal(H))
    cdef Py_ssize_t i, j, k, n = len(v)
    cdef double t
    with nogil:
        for i in range(n):
            for j in range(i + 1):
                t = L[i, j]
                for k in range(j):
                    t -= L[i, k] * L[j, k]
                if j < i:
                    L[i, j] = t * L[j, j]
                else:
                    L[i, i] = 1 / sqrt(t) if t > 1e-15 * scale[i] else 0        # its reciprocal
            if interrupted(i * i):
                break
        for i in range(n):
            for k in range(i):
                v[i] -= L[i, k] * v[k]
            v[i] *= L[i, i]
        for i in range(n - 1, -1, -1):
            v[i] *= L[i, i]
            for k in range(i):
                v[k] -= L[i, k] * v[i]
    raise_interruption()
    return np.asarray(v)


cdef class SmoothHinges:
    """The hinges of a chain, each smoothed within a width around a multiplier at hand: the proximal method of multipliers.

        psi_c(r) = max over 0 <= mu <= cap of mu r - width / (2 cap) (mu - centre)^2,   r = p + g (f - b)

    Parameters
    ----------
    chain : structperc_large_margin.chain.Chain
    centre : array of shape (n_coordinates,)

    Attributes
    ----------
    centre, mu : ndarray of shape (n_coordinates,)
        The multipliers at hand, and those that are best at the point evaluated last.
    """

    cdef readonly object centre, mu
    cdef const int32_t[::1] example, node
    cdef const signed char[::1] sign
    cdef const double[::1] cap
    cdef double[::1] residual, _centre, _mu
    cdef Py_ssize_t n_examples, n_nodes
    cdef double gain

    def __init__(self, chain, centre):
        self.example, self.node, self.sign, self.cap = chain.example, chain.node, chain.sign, chain.cap
        self.n_examples, self.n_nodes, self.gain = chain.n_examples, chain.n_nodes, chain.gain
        self.centre, self.mu = np.array(centre, dtype=float), np.empty(len(chain.cap))
        self.residual, self._centre, self._mu = np.empty(len(chain.cap)), self.centre, self.mu

    def evaluate(self, const double[::1] f, const double[::1] b, double width):
        """Multipliers at this point: beta (n_examples,), sums of g mu by node (n_nodes,), the sum of mu, the sum of the hinges."""
        cdef double[::1] beta = np.zeros(self.n_examples), flow = np.zeros(self.n_nodes)
        cdef Py_ssize_t c, n = len(self.cap)
        cdef double r, m, signed, total = 0, hinges = 0, steepness = 1 / width
        with nogil:
            for c in range(n):
                r = f[self.example[c]] - b[self.node[c]]
                r = self.gain + (r if self.sign[c] > 0 else -r)
                self.residual[c] = r
                hinges += self.cap[c] * (r if r > 0 else 0)
                m = self._centre[c] + r * self.cap[c] * steepness
                m = 0 if m < 0 else self.cap[c] if m > self.cap[c] else m
                self._mu[c] = m
                total += m
                signed = m if self.sign[c] > 0 else -m
                beta[self.example[c]] -= signed
                flow[self.node[c]] += signed
        return np.asarray(beta), np.asarray(flow), total, hinges

    def slope(self, const double[::1] df, const double[::1] db, double width, double step):
        """Of the sum of the smoothed hinges along a direction, from the point evaluated last."""
        cdef Py_ssize_t c, n = len(self.cap)
        cdef double change, m, total = 0, steepness = 1 / width
        with nogil:
            for c in range(n):
                change = df[self.example[c]] - db[self.node[c]]
                change = change if self.sign[c] > 0 else -change
                m = self._centre[c] + (self.residual[c] + step * change) * self.cap[c] * steepness
                m = 0 if m < 0 else self.cap[c] if m > self.cap[c] else m
                total += m * change
        return total

    def advance(self):
        """Takes the multipliers of the point evaluated last as those at hand."""
        self._centre[:] = self._mu


# ---- chain solver ----

MAX_ITERATIONS, STOPPED, DEGENERATE = "max_iterations", "stopped", "degenerate"

cdef enum:
    MOST_EXAMPLES = 1024        # of a working set
    STEPS_AN_EXAMPLE = 100      # at most, in a round
    MOST_IDLE = 20              # rounds without a better dual value: rounding leaves none

cdef double WORTHWHILE = 0.6        # of the examples awake: so few must be left before others come to rest
cdef double NEARLY = 2.0            # times the tolerance: with a smaller gap none comes to rest any more
cdef double SHARE = 0.1         # of the violation: what a working set may leave
cdef double NO_DIRECTION = 1e-3     # ||w|| of the longest phi(x): of p = 0, a shorter w is none; less where the tolerance is


def solve(chain, columns, tolerance=1e-3, max_iterations=-1, start=None, progress=None, shrinking=True):
    """Solves the dual of a chain: min 1/2 ||w||^2 - p sum mu.

    Stops if the duality gap is at most `tolerance` times the primal objective, with recomputed scores. For p = 0 the gap is that of the
    directions w / ||w||, times ||w||. Ctrl-C stops it within 0.1 s, with the last feasible point as the solution.

    Parameters
    ----------
    chain : structperc_large_margin.chain.Chain
    columns : structperc_large_margin.chain_solver.KernelColumns
        Of the examples, in their order.
    tolerance : float, default 1e-3
    max_iterations : int, default -1
        The most steps of two coordinates; -1: no limit.
    start : float64 array of shape (N,), optional
        A feasible mu to begin with; by default that of the chain.
    progress : callable, optional
        `progress(n_iterations, mu, scores)` about every n_examples steps; a true result ends the solution. A KeyboardInterrupt that it
        raises counts as Ctrl-C. Scores of examples at rest may be some rounds old.
    shrinking : bool, default True
        Whether examples come to rest. The optimum is the same.

    Returns
    -------
    Solution

    Notes
    -----
    Ties: the first node, then the first example in the order of a working set, the order of the examples' nodes.

    References
    ----------
    R.-E. Fan, P.-H. Chen and C.-J. Lin: Working set selection using second order information for training support vector machines. Journal
    of Machine Learning Research 6, pages 1889-1918, 2005.

    W. Chu and S. S. Keerthi: Support vector ordinal regression. Neural Computation 19, pages 792-815, 2007.
    """
    return ChainSolver(chain, columns, chain.start if start is None else start).solve(tolerance, max_iterations, progress, shrinking)


cdef class ChainSolver:
    cdef object chain, thresholds, recent       # recent: the last working set, newest members in front
    cdef KernelColumns columns
    cdef WorkingSet local
    cdef Py_ssize_t n, n_nodes, steps
    cdef double gain
    cdef bint open_arcs
    cdef const int32_t[::1] example, node       # by coordinate, in the order of the nodes
    cdef int32_t[::1] listed                    # coordinates in the order of the examples,
    cdef Py_ssize_t[::1] begin, node_begin      # where those of an example begin, and those of a node
    cdef const double[::1] sign, cap
    cdef double[::1] mu, f, flow, z, above, below
    cdef object awake                           # examples that take part, in ascending order
    cdef int32_t[::1] place                     # of an example among those, or NONE
    cdef unsigned char[::1] busy                # whether an example is not safe at bounds
    cdef double violation, gap, goal, dual, squared     # goal: what the gap is compared with; squared: ||w||^2
    cdef int[4] extreme                         # examples of the largest lo and the smallest hi of the pair that violates most

    def __init__(self, chain, KernelColumns columns, start):
        self.chain, self.columns, self.thresholds = chain, columns, ChainThresholds(chain)
        self.n, self.n_nodes, self.gain, self.open_arcs = chain.n_examples, chain.n_nodes, chain.gain, chain.open_arcs
        self.example, self.node = (np.ascontiguousarray(part, dtype=np.int32) for part in (chain.example, chain.node))
        self.sign, self.cap = (np.ascontiguousarray(part, dtype=float) for part in (chain.sign, chain.cap))
        self.mu = np.array(start, dtype=float)
        self.flow = np.cumsum(np.bincount(chain.node, chain.sign * np.asarray(self.mu), minlength=self.n_nodes) - chain.offset)
        if self.open_arcs:
            self.flow = np.maximum(self.flow, 0)
        self.listed = np.argsort(chain.example, kind="stable").astype(np.int32)
        self.begin = np.searchsorted(np.sort(chain.example), np.arange(self.n + 1)).astype(np.intp)
        self.node_begin = np.searchsorted(chain.node, np.arange(self.n_nodes + 1)).astype(np.intp)
        self.z, self.above, self.below = np.zeros(self.n_nodes), np.zeros(self.n), np.zeros(self.n)
        self.local = WorkingSet(min(MOST_EXAMPLES, self.n), self.n_nodes, self.gain, self.open_arcs)
        self.recent = np.zeros(0, dtype=np.intp)
        self.f, self.busy = np.zeros(self.n), np.zeros(self.n, dtype=np.uint8)
        self.wake()

    def solve(self, tolerance, max_iterations, progress, shrinking):
        cdef Py_ssize_t most = max_iterations if max_iterations >= 0 else np.iinfo(np.intp).max, last_report = 0, idle = 0
        status, interruption, drifted, best = None, None, False, -np.inf
        try:
            while status is None:
                if not drifted:
                    self.wake()
                self.look()
                if progress is not None and self.steps >= last_report + self.n:
                    last_report = self.steps
                    if progress(self.steps, np.asarray(self.mu), np.asarray(self.f)):
                        self.wake()
                        status = STOPPED
                        break
                idle, best = (0, self.dual) if self.dual > best else (idle + 1, best)
                if self.gain == 0 and self.squared <= min(tolerance, NO_DIRECTION)**2 * self.columns.diagonal.max(initial=0.0):
                    status = DEGENERATE
                elif self.gap <= tolerance * self.goal:
                    status = CONVERGED
                elif self.steps >= most:
                    status = MAX_ITERATIONS
                elif idle >= MOST_IDLE:
                    status = STALLED
                else:
                    if shrinking and self.gap > NEARLY * tolerance * self.goal:
                        self.let_rest()
                    if self.improve(most - self.steps):
                        drifted = True
                    else:
                        status = STALLED
                if status is not None and drifted:      # once more, with scores that are complete and computed anew
                    status, drifted, idle = None, False, 0
        except KeyboardInterrupt as error:
            status, interruption = INTERRUPTED, error
        return Solution(np.asarray(self.mu), self.beta(), np.asarray(self.f), self.steps, status, interruption)

    def beta(self):
        """w = - sum_c g_c mu_c phi(x_e(c))."""
        return -np.bincount(self.chain.example, np.asarray(self.sign) * np.asarray(self.mu), minlength=self.n)

    # ---- who takes part ----

    def wake(self):
        """All examples take part, with scores computed anew."""
        self.awake, self.place = np.arange(self.n), np.arange(self.n, dtype=np.int32)
        self.f = self.columns.scores(self.beta())

    def let_rest(self):
        """Examples take no part that are at bounds and farther from every threshold than the largest violation."""
        busy = np.asarray(self.busy)
        busy[self.recent] = True
        kept = np.flatnonzero(busy[self.awake])
        if len(kept) <= WORTHWHILE * len(self.awake):
            self.columns.narrow(kept)
            self.awake = self.awake[kept]
            self.place[:] = NONE
            np.asarray(self.place)[self.awake] = np.arange(len(kept))

    # ---- a look at all coordinates ----

    def look(self):
        """The duality gap, the largest violation, and how far each example violates the thresholds from above and below."""
        best = self.thresholds.best(self.f)
        self.z = best.values
        self.look_at_bounds()
        self.look_at_examples()
        self.squared = (self.beta() * np.asarray(self.f)).sum()            # not by BLAS, whose threads wait in a loop
        self.dual = self.gain * np.asarray(self.mu).sum() - 0.5 * self.squared
        self.gap = 0.5 * self.squared + best.value - self.dual
        self.goal = self.gap + self.dual if self.gain else self.squared

    cdef void look_at_bounds(self) noexcept nogil:
        """lo and hi of every node, and the admissible pair that violates most: section 6."""
        cdef Py_ssize_t m, c
        cdef int e, at_lo, at_hi, from_lo = -1, to_hi = -1
        cdef double kappa, lo, hi, most = -INFINITY, least = INFINITY
        cdef bint below, above
        self.violation = -INFINITY
        self.extreme[0] = self.extreme[1] = 0
        for m in range(self.n_nodes):
            lo, hi, at_lo, at_hi = -INFINITY, INFINITY, -1, -1
            for c in range(self.node_begin[m], self.node_begin[m + 1]):
                e = self.example[c]
                if self.place[e] == NONE:
                    continue
                kappa = self.f[e] + self.sign[c] * self.gain
                below, above = self.mu[c] < self.cap[c], self.mu[c] > 0
                if self.sign[c] < 0:
                    below, above = above, below
                if below and kappa > lo:
                    lo, at_lo = kappa, e
                if above and kappa < hi:
                    hi, at_hi = kappa, e
            if not self.open_arcs:
                most, least = -INFINITY, INFINITY
            elif m and self.flow[m - 1] <= 0:
                least = INFINITY
            if lo > most:
                most, from_lo = lo, at_lo
            if hi < least:
                least, to_hi = hi, at_hi
            if most - hi > self.violation:
                self.violation, self.extreme[0], self.extreme[1] = most - hi, from_lo, at_hi
            if lo - least > self.violation:
                self.violation, self.extreme[0], self.extreme[1] = lo - least, at_lo, to_hi

    cdef void look_at_examples(self) noexcept nogil:
        cdef Py_ssize_t m, c
        cdef int e
        cdef double s, room
        self.above[:] = 0
        self.below[:] = 0
        self.busy[:] = False
        for m in range(self.n_nodes):
            for c in range(self.node_begin[m], self.node_begin[m + 1]):
                e = self.example[c]
                if self.place[e] == NONE:
                    continue
                s = self.sign[c] * (self.f[e] - self.z[m]) + self.gain          # g (kappa - z)
                room = self.cap[c] - self.mu[c] if s > 0 else self.mu[c]
                if room > 0 or fabs(s) <= self.violation:
                    self.busy[e] = True
                if room > 0:
                    if (s > 0) == (self.sign[c] > 0):
                        self.above[e] = max(self.above[e], fabs(s))
                    else:
                        self.below[e] = max(self.below[e], fabs(s))

    # ---- a round ----

    def chosen(self):
        """The next working set: all awake, or those that violate most on either side and half of the last ones while they violate."""
        cdef Py_ssize_t q = self.local.room
        above, below = np.asarray(self.above), np.asarray(self.below)
        kept = self.recent[(above[self.recent] > 0) | (below[self.recent] > 0)][:q // 2]
        half = (q - len(kept)) // 2 - 1
        joined = np.union1d(farthest(above, half), farthest(below, half))
        joined = np.union1d(joined, [self.extreme[0], self.extreme[1]])
        joined = np.setdiff1d(joined, kept, assume_unique=True)
        self.recent = np.concatenate([joined, kept]).astype(np.intp)
        return self.recent

    cdef bint improve(self, Py_ssize_t most) except -1:
        """Optimises one working set; returns whether anything moved."""
        cdef WorkingSet local = self.local
        cdef Py_ssize_t i, c, k, q, steps, n_moved = 0
        cdef double change
        members = self.chosen()
        q = local.q = len(members)
        cdef int[::1] which = self.in_order(members), moved = np.empty(q, dtype=np.intc)
        cdef const int[::1] places = np.asarray(self.place)[np.asarray(which)]
        cdef double[::1] changes = np.empty(q)
        cdef const double[::1] diagonal = self.columns.diagonal
        self.columns.gram(&places[0], q, &local.gram[0])
        with nogil:
            self.fill(local, which)
            for i in range(q):
                local.diagonal[i] = diagonal[which[i]]
            steps = local.optimise(SHARE * self.violation, min(most, STEPS_AN_EXAMPLE * q))
        if steps < 0:
            raise_interruption()
        for i in range(q):
            change = 0
            for k in range(self.begin[which[i]], self.begin[which[i] + 1]):
                c = self.listed[k]
                change -= self.sign[c] * (local.mu[self.node[c] * q + i] - self.mu[c])
            if change != 0:
                moved[n_moved], changes[n_moved] = places[i], change
                n_moved += 1
        cdef double[::1] scores = np.asarray(self.f)[self.awake]
        if n_moved:
            self.columns.add(&moved[0], &changes[0], n_moved, &scores[0])
        np.asarray(self.f)[self.awake] = scores
        self.steps += steps
        for i in range(q):
            for k in range(self.begin[which[i]], self.begin[which[i] + 1]):
                c = self.listed[k]
                self.mu[c] = local.mu[self.node[c] * q + i]
        self.flow[:] = local.flow
        return steps > 0

    def in_order(self, members):
        """By first node, last node and number: the members of a node stand side by side where an example has few nodes."""
        begin, listed, node = np.asarray(self.begin), np.asarray(self.listed), np.asarray(self.node)
        return members[np.lexsort((members, node[listed[begin[members + 1] - 1]], node[listed[begin[members]]]))].astype(np.intc)

    cdef void fill(self, WorkingSet local, const int[::1] which) noexcept nogil:
        """Copies the coordinates and scores of these examples into the working set."""
        cdef Py_ssize_t i, k, c, m, q = local.q
        for m in range(self.n_nodes):
            local.first[m], local.end[m] = q, 0
            local.flow[m] = self.flow[m]
        for c in range(self.n_nodes * q):
            local.sign[c] = local.mu[c] = local.cap[c] = 0
        for i in range(q):
            local.f[i] = self.f[which[i]]
            for k in range(self.begin[which[i]], self.begin[which[i] + 1]):
                c = self.listed[k]
                m = self.node[c]
                local.sign[m * q + i], local.mu[m * q + i], local.cap[m * q + i] = self.sign[c], self.mu[c], self.cap[c]
                local.first[m], local.end[m] = min(local.first[m], i), max(local.end[m], i + 1)
        for m in range(self.n_nodes):
            local.first[m] = min(local.first[m], local.end[m])
        for c in range(self.n_nodes * q):
            local.free_sides(c)


def farthest(values, Py_ssize_t n):
    """Where the n largest values are that are above 0; of equal ones the first."""
    if n <= 0:
        return np.zeros(0, dtype=np.intp)
    if n >= len(values):
        return np.flatnonzero(values > 0)
    least = np.partition(values, len(values) - n)[len(values) - n]
    if least <= 0:
        return np.flatnonzero(values > 0)
    beyond = np.flatnonzero(values > least)
    return np.union1d(beyond, np.flatnonzero(values == least)[:n - len(beyond)])
