# The rows of the examples that are visited next, scored together.
#
# A block has up to 256 rows of X, sixteen in a group, one row in each lane. Each lane has the sums of its row by block, over support rows:
# coefficients times the kernel. `complete` updates the sums to the current weights by the changes since the row's last visit. It starts
# from scratch if that is less work. `change_c` keeps the sums up to date between steps.
#
# Typical sizes: 16 groups, 1..30 blocks, 10^2..10^5 support rows. Cost: a tile of kernel values for each change and group.

cdef enum:
    AFRESH = -1                 # the sums of a group lack everything
    BLOCK = 256                 # the most rows, or examples, of a block


cdef class LookAhead:
    """A block of examples that are visited next."""

    def __cinit__(self, *args, **kwargs):
        self.example = self.row_at = self.sums = None

    def __init__(self, SupportSet support):
        self.support, self.n_blocks = support, support.n_blocks
        self.window = Example()
        self.begin(None)

    cdef void begin(self, ScoreCache cache) except *:
        """Forgets the block and its data; from now on this cache is used."""
        self.cache, self.rows = cache, None
        self.queries = self.support.kernel_rows.queries()       # the last ones may keep the data
        self.n_groups = 0

    cdef void let_go(self) noexcept:
        """Forgets the block."""
        self.rows = None

    # ---- a new block ----

    cdef Py_ssize_t choose(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) except -1:
        """Chooses the examples of the next block, from position t on; returns the most rows that one of them has."""
        cdef Py_ssize_t i = t, example, n_rows = 0, most = 1, row
        cdef Example x = self.window
        self.rows = None
        self.provide_examples(min(n - t, BLOCK))
        x.look_at(rows)
        while i < n and i - t < BLOCK:
            example = i if order == NULL else order[i]
            rows.load(example, x)
            if n_rows and n_rows + x.block.n_rows > BLOCK:
                break
            self.example[i - t], self.first_place[i - t] = example, n_rows
            self.provide_rows(n_rows + x.block.n_rows)
            for row in range(x.block.n_rows):
                self.row_at[n_rows + row] = x.first_row + row
            n_rows += x.block.n_rows
            most = max(most, x.block.n_rows)
            i += 1
        self.first_place[i - t] = n_rows
        x.look_at(None)
        self.n_examples, self.n_visited = i - t, 0
        return most

    def provide_examples(self, Py_ssize_t n):
        if self.example is None or self.example.shape[0] < n:
            self.example, self.first_place = np.zeros(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)

    def provide_rows(self, Py_ssize_t n):
        if self.row_at is None:
            self.row_at = np.zeros(max(n, BLOCK), dtype=np.int64)
        elif self.row_at.shape[0] < n:
            self.row_at = np.resize(self.row_at, 2 * n)

    cdef int complete(self, Rows rows) except -1:
        """Computes the sums of all rows of the block at the current weights, and reserves memory for the block's changes."""
        cdef Py_ssize_t n = self.support.kernel_rows.n, n_rows = self.first_place[self.n_examples]
        cdef int status
        self.arrange(rows)
        self.support.reserve(n + n_rows)
        if self.cache is not None:
            self.cache.reserve(n_rows, n + n_rows)
        with nogil:
            status = self.complete_c()
        if status < 0:
            self.support.kernel_rows.reraise()
        self.rows = rows
        return 0

    cdef int arrange(self, Rows rows) except -1:
        """Assigns lanes by the age of the cached sums: rows visited at about the same time are neighbours."""
        cdef Py_ssize_t n_rows = self.first_place[self.n_examples], lane, place, block
        cdef Py_ssize_t groups = (n_rows + LANES - 1) // LANES, room = groups * LANES
        cdef const int64_t[::1] order
        self.n_groups, self.uses_cache = groups, self.cache is not None and self.cache.rows is rows
        if n_rows == 0:
            return 0
        if self.sums is None or self.sums.shape[0] < groups:
            self.sums, self.n_unvisited = np.zeros((groups, self.n_blocks, LANES)), np.zeros(groups, dtype=np.int64)
            self.lane_at, self.row_of_lane, self.changes_seen = (np.zeros(room, dtype=np.int64) for _ in range(3))
            self.is_visited, self.first_missing = np.zeros(room, dtype=np.uint8), np.zeros(groups, dtype=np.int64)
        if self.uses_cache:
            order = np.argsort(np.asarray(self.cache.changes_seen)[np.asarray(self.row_at)[:n_rows]], kind="stable")
        for lane in range(room):
            place = lane if lane < n_rows else n_rows - 1       # lanes that are left over hold the last row again
            if self.uses_cache:
                place = order[place]
            if lane < n_rows:
                self.lane_at[place] = lane
            self.row_of_lane[lane], self.is_visited[lane] = self.row_at[place], lane >= n_rows
            self.changes_seen[lane] = -1
            if self.uses_cache:
                self.changes_seen[lane] = self.cache.changes_seen[self.row_at[place]] if lane < n_rows else self.cache.n_changes
            for block in range(self.n_blocks):
                self.sums[lane // LANES, block, lane % LANES] = self.cache.sums[self.row_at[place], block] if self.uses_cache else 0
        for lane in range(groups):
            self.n_unvisited[lane] = min(<Py_ssize_t> LANES, n_rows - lane * LANES)
        self.support.kernel_rows.prepare(self.queries, rows, self.row_of_lane[:n_rows])
        return 0

    cdef int complete_c(self) noexcept nogil:
        """Brings all lanes to the present weights; -1 on an error, which the kernel rows keep."""
        # All groups are compared with as many support rows as a cache holds before the next ones.
        cdef Py_ssize_t group, lane, held = self.support.kernel_rows.n, per_tile = self.support.kernel_rows.rows_per_tile
        cdef int64_t at, n = self.cache.n_changes if self.uses_cache else 0, lowest = n
        for group in range(self.n_groups):
            self.first_missing[group] = AFRESH
            if self.uses_cache:
                at = n
                for lane in range(group * LANES, (group + 1) * LANES):
                    at = min(at, self.changes_seen[lane])
                if at >= self.cache.first_change and n - at <= held:
                    self.first_missing[group] = at
                    lowest = min(lowest, at)
            if self.first_missing[group] == AFRESH:
                memset(&self.sums[group, 0, 0], 0, self.n_blocks * LANES * sizeof(double))
        at = 0
        while at < held:
            for group in range(self.n_groups):
                if self.first_missing[group] == AFRESH and self.add_c(group, at, min(at + per_tile, held), True) < 0:
                    return -1
            at += per_tile
        while lowest < n:
            for group in range(self.n_groups):
                if self.first_missing[group] != AFRESH and \
                        self.add_c(group, max(lowest, self.first_missing[group]), min(lowest + per_tile, n), False) < 0:
                    return -1
            lowest += per_tile
        return 0

    cdef int add_c(self, Py_ssize_t group, int64_t first, int64_t last, bint afresh) noexcept nogil:
        """Adds to the sums of a group the slots (the changes, unless afresh) first .. last - 1; -1 on an error."""
        cdef double values[TILE * LANES]
        cdef const double *coefficients[TILE]
        cdef int slots[TILE]
        cdef Py_ssize_t i, n, at
        while first < last:
            n = min(TILE, last - first)
            for i in range(n):
                if afresh:
                    slots[i], coefficients[i] = <int> (first + i), &self.support.v[first + i, 0]
                else:
                    at = first + i - self.cache.first_change
                    slots[i], coefficients[i] = self.cache.changed_slot[at], &self.cache.change[at, 0]
            if self.tile_c(group, slots, n, values, -1 if afresh else first) < 0:
                return -1
            if afresh:
                TILES.add_weighted(values, n, coefficients, self.n_blocks, &self.sums[group, 0, 0])
            else:
                TILES.add_weighted_since(values, n, coefficients, self.n_blocks, &self.sums[group, 0, 0], first,
                                         &self.changes_seen[group * LANES])
            first += n
        return 0

    cdef int tile_c(self, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values, int64_t first) noexcept nogil:
        """Kernel values of slots with the lanes of a group, as far as they are needed; -1 on an error."""
        # A value is needed if the row is still to be visited. If slot i is change first + i, the row must also lack this change (first -1:
        # any). Expensive values are found only there, and cached if there is room.
        cdef Py_ssize_t i, lane, at = group * LANES, n_cached = self.cache.values.shape[0] if self.uses_cache else 0
        cdef double *value
        cdef bint missing = False
        if not self.support.kernel_rows.expensive:
            return self.support.kernel_rows.tile_c(self.queries, group, slots, n, values)
        for lane in range(LANES):
            for i in range(n):
                value = &values[i * LANES + lane]
                value[0] = NAN
                if self.is_visited[at + lane] or first >= 0 and first + i < self.changes_seen[at + lane]:
                    value[0] = 0
                elif self.row_of_lane[at + lane] < n_cached:
                    value[0] = self.cache.values[self.row_of_lane[at + lane], slots[i]]
                missing |= value[0] != value[0]
        if not missing:
            return 0
        if self.support.kernel_rows.tile_c(self.queries, group, slots, n, values) < 0:
            return -1
        for lane in range(LANES):
            if not self.is_visited[at + lane] and self.row_of_lane[at + lane] < n_cached:
                for i in range(n):
                    if first < 0 or first + i >= self.changes_seen[at + lane]:
                        self.cache.values[self.row_of_lane[at + lane], slots[i]] = values[i * LANES + lane]
        return 0

    # ---- visits ----

    cdef bint is_current(self, Example x) noexcept nogil:
        """Whether x is the example that was visited last."""
        return <void *> self.rows == <void *> x.source and self.n_visited > 0 and self.example[self.n_visited - 1] == x.index

    cdef bint advance(self, Example x) noexcept nogil:
        """Visits x if it is the next example of the block; returns whether it is."""
        if <void *> self.rows == <void *> x.source and self.n_visited < self.n_examples and self.example[self.n_visited] == x.index:
            self.n_visited += 1
            return True
        return False

    cdef Py_ssize_t lane_of(self, Py_ssize_t row) noexcept nogil:
        """The lane of a row of the example that was visited last."""
        return self.lane_at[self.first_place[self.n_visited - 1] + row]

    cdef void take_c(self, Example x, double *sums) noexcept nogil:
        """Copies the sums of the rows of x, which was visited last, to sums and to the cache."""
        cdef Py_ssize_t row, lane, block
        for row in range(x.block.n_rows):
            lane = self.lane_of(row)
            for block in range(self.n_blocks):
                sums[row * self.n_blocks + block] = self.sums[lane // LANES, block, lane % LANES]
            if not self.is_visited[lane]:
                self.is_visited[lane] = True
                self.n_unvisited[lane // LANES] -= 1
            if self.uses_cache:
                memcpy(&self.cache.sums[x.first_row + row, 0], sums + row * self.n_blocks, self.n_blocks * sizeof(double))
                self.cache.changes_seen[x.first_row + row] = self.cache.n_changes

    cdef bint is_full(self) noexcept nogil:
        """Whether the log of changes is full, as after several steps in one visit."""
        return self.cache is not None and self.cache.n_changes - self.cache.first_change == self.cache.changed_slot.shape[0]

    cdef int change_c(self, Py_ssize_t slot, const double *c) noexcept nogil:
        """Lets the cache and the rows of the block know that the coefficients of a slot have grown by c."""
        # -1 on an error, which the kernel rows keep: then the block is forgotten.
        cdef double values[LANES]
        cdef Py_ssize_t group
        cdef int only = <int> slot
        if self.cache is not None:
            self.cache.log(slot, c)
        for group in range(self.n_groups):
            if self.n_unvisited[group] > 0:
                if self.tile_c(group, &only, 1, values, -1) < 0:
                    self.n_groups = 0
                    with gil:
                        self.rows = None
                    return -1
                TILES.add_weighted(values, 1, &c, self.n_blocks, &self.sums[group, 0, 0])
        return 0

    def multiply(self, double scale):
        """Multiplies all that is in the units of the stored coefficients."""
        if self.sums is not None:
            sums = np.asarray(self.sums)
            sums *= scale
        if self.cache is not None:
            self.cache.multiply(scale)
