# Columns of the kernel matrix of the training rows, computed sixteen at a time. A cache keeps the most recent ones.
#
# A value has the same bits if it was cached or computed again. Sums of columns have the order of the call. No result depends on the size of
# the cache.
#
# Typical sizes: 10^3..10^5 training rows, 200 MB. Cost: n values of the kernel for a column, 8 n bytes to cache it. Adding a cached column
# needs about 0.1 n ns to 0.3 n ns.


cdef extern from "scans.h" nogil:
    void sp_add_columns(double *sums, Py_ssize_t begin, Py_ssize_t end, const double *const *p, const double *c, Py_ssize_t n) noexcept

cdef enum:
    NOWHERE = -1
    STRIP = 512             # sums that stay in the first-level cache while columns are added
    PIECE = 32              # rows of a tile turned at once


cdef class KernelColumns:
    """Columns K(., i) of the kernel matrix between the rows of X."""
    # kernel_rows: structperc_kernels.KernelRows. Started, settled and empty; receives all rows of X.
    # rows: structperc.components.Rows. `canonical` where X is sparse.
    # cache_bytes: int, default 200 MB. Memory for columns that are kept; at least sixteen are.
    # n, room, n_computed: int. Training rows, columns that are kept, columns computed so far.
    # diagonal: ndarray of shape (n,). K(i, i).
    # DataError: When a K(i, i) is not finite.

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
        """Limits columns to values for the rows at these places in `alive`. So the cache has room for more columns."""
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
