# distutils: extra_compile_args = VECTORS
"""Columns of the kernel matrix of the training rows, computed sixteen at a time. A cache keeps the most recent ones.

A value has the same bits if it was cached or computed again. Sums of columns have the order of the call. No result depends on the size of
the cache.

Typical sizes: 10^3..10^5 training rows, 200 MB. Cost: n values of the kernel for a column, 8 n bytes to cache it. Adding a cached column
needs about 0.1 n ns to 0.3 n ns.
"""
import numpy as np

from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from structperc.core.rows cimport Rows
from structperc.core.signals cimport interrupted
from structperc.errors import DataError
from structperc.plugin_tools import raise_interruption
from structperc_kernels.kernel_rows cimport LANES, KernelRows


# ---- working set ----
# A few examples whose coordinates are optimised while all others rest: two coordinates at a time, the second of them by second order.
#
# Coordinates are stored node by node, a place for each example at each node. Examples are in the order of their nodes, so that the members
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
        cdef double best = 0, found
        if self.open_arcs:
            high = self.n_nodes
            while low > 0 and self.flow[low - 1] > 0:
                low -= 1
        for m in range(low, high):
            a = self.first[m]
            found = sp_promises(&self.f[a], &self.down[m * self.q + a], &self.gram[i * self.q + a], &self.diagonal[a], kappa,
                                self.diagonal[i], SAME * self.diagonal[i] + LEAST, self.end[m] - a, &self.promise[a])
            if found > best:
                best, other[0], j = found, m, a
                while self.promise[j] != found:
                    j += 1
        return j

    cdef Py_ssize_t optimise(self, double enough, Py_ssize_t most) noexcept nogil:
        """Steps until no admissible pair is violated by more than `enough`; returns how many, or -1 after Ctrl-C.

        Before a step, only the nodes of the last worst pair are checked again.
        """
        cdef Py_ssize_t steps = 0, m = 0, m2 = 0, i, j, k, a, b, q = self.q
        cdef bint known = False
        cdef double kappa, v, t, distance
        for m in range(self.n_nodes):
            self.lo[m], self.hi[m] = INFINITY, -INFINITY
        while steps < most:
            if interrupted(4 * q):
                return -1
            if not self.violation(&m, &m2) > enough:
                if known:
                    break
                for k in range(self.n_nodes):
                    self.look(k)
                known = True
                continue
            if not known:
                self.look(m)
                if m2 != m:
                    self.look(m2)
                if not self.lo[m] - self.hi[m2] > enough:
                    continue
            known = False
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
        found = np.asarray(diagonal)
        for row in np.flatnonzero(~np.isfinite(found))[:1]:
            raise DataError(f"the kernel of row {row} of X with itself is {found[row]}; expected finite values. Scale the features.")
        return found

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
