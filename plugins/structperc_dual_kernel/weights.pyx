"""A weight vector that is a sum of rows it has seen: of every step it keeps the rows and their coefficients (Fig. 5 of the CuSum paper).

Typical sizes: 10^3..10^5 examples, a tenth to a half of which come to be held; 1..30 blocks; 1..100 rows an example. A visit costs a kernel
value for each change since the example was last visited, or for each row held, whichever are fewer; a step costs as many as there are
examples left in the block that was looked at ahead.
"""
import threading

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport NAN
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset
from structperc.core.averaging cimport predicting, scale_multiplied_out, shrink
from structperc.core.component cimport Component
from structperc.core.features cimport Features
from structperc.core.weights cimport Weights
from structperc.core.errors import DataError, PluginError
from structperc.core.rows cimport Example, Rows
from structperc.core.schedules cimport Schedule
from structperc.reading.matrices import refuse_not_finite
from structperc_kernels.kernel_rows cimport LANES, KernelRows
from structperc_dual_kernel.expansion cimport TILE, Expansion, ExplicitPart, add_rows
from structperc_dual_kernel.support_set cimport SupportSet
from structperc_dual_kernel.support_set import short
from structperc_dual_kernel.score_cache cimport ScoreCache
from structperc_kernels.vector_rows cimport best_tiles, sp_tiles

COLLINS_DUFFY = """@inproceedings{collins2002new,
  author = {Michael Collins and Nigel Duffy},
  title = {New Ranking Algorithms for Parsing and Tagging: Kernels over Discrete Structures, and the Voted Perceptron},
  booktitle = {Proceedings of ACL},
  pages = {263--270},
  year = {2002}
}"""

cdef enum:
    AFRESH = -1                 # the sums of a group lack everything
    AHEAD = 256                 # rows, or examples, that are looked at ahead

cdef const sp_tiles *TILES = best_tiles()


cdef class DualWeights(Weights):
    """w = sum over steps i and atoms a of c_i[a] phi(x_i, a), where rows are compared by a kernel instead of their dot product.

    An atom stands on a row of x in a block (`Features.cell`), so that a row i needs one coefficient v[i, block] for each block, and
    the score of an atom of z on row j in this block is sum_i v[i, block] K(x_i, z_j), plus what the atom has besides its row (an intercept,
    a threshold, a transition), whose weights are kept as ever. Averages and decay are those of the primal store:
    w = scale * v, and the mean over the visited examples is (scale_sum * v - u) / n_visited.

    Rows that repeat are held once. With a budget, a row gives way to each further one, and takes its share of the average with it.

    Parameters
    ----------
    kernel_rows : KernelRows
        Empty; knows the kernel.
    average : bool
    decay : float in [0, 1)
        Each step first multiplies w by 1 - decay * r(t).
    decay_schedule : str or function
        r(t) for the t-th example visited, at most 1; see `structperc.core.schedules.Schedule`.
    budget : int
        The most rows to hold; 0: no bound.
    removal : {"oldest", "random", "least"}
        See `structperc_dual_kernel.support_set.SupportSet`.
    cache_bytes : int
        What dear kernel values of the training rows may take.
    """

    citation = COLLINS_DUFFY
    options_used = ("average", "decay", "decay_schedule")

    def __cinit__(self, *args, **kwargs):
        self.example = self.row = self.sums = self.moved = None

    def __init__(self, KernelRows kernel_rows, average=False, double decay=0.0, decay_schedule="constant", budget=0, removal="oldest", cache_bytes=0):
        self.averaging.average, self.averaging.decay = average, decay
        self.schedule = Schedule(decay_schedule, "decay_schedule")
        self.options = kernel_rows, budget, removal, cache_bytes
        self.window = Example()
        self.moving = threading.Lock()

    def start(self, parts, context):
        cdef Features features
        kernel_rows, budget, removal, _ = self.options
        Weights.start(self, parts, context)
        features = self.features
        if features.n_blocks < 1:
            raise PluginError(f"{type(features).__name__} does not say on which row of x each of its atoms stands, so no kernel between "
                              f"rows can take the place of its dot products; give it n_blocks, cell(x, a) and explicit_part().")
        self.n_blocks = features.n_blocks
        self.random = context.random
        kernel_rows = kernel_rows.fresh()
        kernel_rows.start(context)
        self.held = SupportSet(kernel_rows, self.n_blocks, budget, removal)
        self.own = ExplicitPart(features.explicit_part())
        self.queries = kernel_rows.queries()
        self.counted = self.coming = 0
        self.scratch, self.looked = None, False
        self.memory = self._final = self.source = self.attended = None

    @property
    def decay_schedule(self):
        return self.schedule.rule

    options_used = ("average", "decay", "decay_schedule")

    def check(self, context, parts):
        self.schedule.check_decay(self.averaging.decay)

    def prepare(self, Rows rows):
        """Kernels need columns in order, and can make a plain number of an infinite one: that is refused here."""
        refuse_not_finite(rows)
        return rows.canonical() if rows.sparse else rows

    def begin_fit(self, rows):
        self.let_go(rows)
        self.held.kernel_rows.begin_fit(rows)
        self.count(rows)
        if not self.held.budget:
            self.memory = ScoreCache(rows, self.n_blocks, self.options[3] if self.held.kernel_rows.dear else 0)

    def end_fit(self):
        self.let_go(None)
        self.held.kernel_rows.end_fit()

    def let_go(self, rows):
        """Keeps nothing of the data before these."""
        self.attended, self.memory, self.source, self.scratch = rows, None, None, None
        self.queries = self.held.kernel_rows.queries()

    def count(self, rows):
        """Numbers the rows of further data."""
        self.counted = self.held.kernel_rows.counted = self.coming
        self.coming += rows.n_rows

    # ---- visits ----

    cdef Py_ssize_t look_ahead_c(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) noexcept nogil:
        with gil:
            try:
                PyErr_CheckSignals()
                if t == 0 and rows is not self.attended:
                    self.count(rows)
                return self.look_ahead(rows, order, t, n)
            except BaseException as error:
                self.error = error
                return -1

    cdef Py_ssize_t look_ahead(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) except -1:
        """Finds the sums of the rows of the next examples, as the weights stand now; where it stopped."""
        cdef Py_ssize_t i = t, example, n_rows = 0, most = 1, row
        cdef Example x = self.window
        cdef int status = 0
        self.source = self._final = None
        if not self.looked and rows.n_rows:
            self.held.kernel_rows.look_at(rows)
            self.looked, self.scratch = True, None
        if self.scratch is None:
            self.scratch = self.held.kernel_rows.empty()
        self.provide_examples(min(n - t, AHEAD))
        x.look_at(rows)
        while i < n and i - t < AHEAD:
            example = i if order == NULL else order[i]
            rows.load(example, x)
            if n_rows and n_rows + x.block.n_rows > AHEAD:
                break
            self.example[i - t], self.first[i - t] = example, n_rows
            self.provide_rows(n_rows + x.block.n_rows)
            for row in range(x.block.n_rows):
                self.row[n_rows + row] = x.first_row + row
            n_rows += x.block.n_rows
            most = max(most, x.block.n_rows)
            i += 1
        self.first[i - t] = n_rows
        x.look_at(None)
        self.arrange(rows, n_rows)
        self.provide_steps(n_rows, most)
        with nogil:
            status = self.complete()
        if status < 0:
            self.held.kernel_rows.reraise()
        self.n_examples, self.at = i - t, 0
        self.source = rows
        return i

    def provide_examples(self, Py_ssize_t n):
        if self.example is None or self.example.shape[0] < n:
            self.example, self.first = np.zeros(n, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)

    def provide_rows(self, Py_ssize_t n):
        if self.row is None:
            self.row = np.zeros(max(n, AHEAD), dtype=np.int64)
        elif self.row.shape[0] < n:
            self.row = np.resize(self.row, 2 * n)

    def provide_steps(self, Py_ssize_t n_rows, Py_ssize_t most):
        """Makes room for whatever the coming visits may do: hold each row, and compare the rows of an example with each other."""
        cdef Py_ssize_t n = self.held.kernel_rows.n
        self.held.reserve(n + n_rows)
        self.scratch.reserve(most)
        if self.memory is not None:
            self.memory.reserve(n_rows, n + n_rows)
        if self.moved is None or self.moved.shape[0] < most:
            self.moved, self.own_sums = np.zeros((most, self.n_blocks)), np.zeros((most, self.n_blocks))
            self.moves, self.slots = np.zeros(most, dtype=np.uint8), np.zeros(most, dtype=np.intc)
            self.values = np.zeros((most, LANES))

    def arrange(self, Rows rows, Py_ssize_t n_rows):
        """Gives each row a lane, those beside each other that were last visited at about the same time, and what is known of it."""
        cdef Py_ssize_t lane, place, block, groups = (n_rows + LANES - 1) // LANES, room = groups * LANES
        cdef const int64_t[::1] order
        self.n_groups, self.remembers = groups, self.memory is not None and self.memory.rows is rows
        if n_rows == 0:
            return
        if self.sums is None or self.sums.shape[0] < groups:
            self.sums, self.left = np.zeros((groups, self.n_blocks, LANES)), np.zeros(groups, dtype=np.int64)
            self.lane, self.lane_row, self.since = (np.zeros(room, dtype=np.int64) for _ in range(3))
            self.visited, self.lacks = np.zeros(room, dtype=np.uint8), np.zeros(groups, dtype=np.int64)
        if self.remembers:
            order = np.argsort(np.asarray(self.memory.complete)[np.asarray(self.row)[:n_rows]], kind="stable")
        for lane in range(room):
            place = lane if lane < n_rows else n_rows - 1       # lanes that are left over hold the last row again
            if self.remembers:
                place = order[place]
            if lane < n_rows:
                self.lane[place] = lane
            self.lane_row[lane], self.visited[lane] = self.row[place], lane >= n_rows
            self.since[lane] = -1
            if self.remembers:
                self.since[lane] = self.memory.complete[self.row[place]] if lane < n_rows else self.memory.n
            for block in range(self.n_blocks):
                self.sums[lane // LANES, block, lane % LANES] = self.memory.sums[self.row[place], block] if self.remembers else 0
        for lane in range(groups):
            self.left[lane] = min(<Py_ssize_t> LANES, n_rows - lane * LANES)
        self.held.kernel_rows.prepare(self.queries, rows, self.lane_row[:n_rows])

    cdef int complete(self) noexcept nogil:
        """Brings all lanes up to the present weights, by the changes that they lack or, where that is less, afresh; -1 on an error.

        So many rows held as fit in a cache are compared with all groups before the next ones.
        """
        cdef Py_ssize_t group, lane, held = self.held.kernel_rows.n, stretch = self.held.kernel_rows.stretch
        cdef int64_t at, n = self.memory.n if self.remembers else 0, lowest = n
        for group in range(self.n_groups):
            self.lacks[group] = AFRESH
            if self.remembers:
                at = n
                for lane in range(group * LANES, (group + 1) * LANES):
                    at = min(at, self.since[lane])
                if at >= self.memory.forgotten and n - at <= held:
                    self.lacks[group] = at
                    lowest = min(lowest, at)
            if self.lacks[group] == AFRESH:
                memset(&self.sums[group, 0, 0], 0, self.n_blocks * LANES * sizeof(double))
        at = 0
        while at < held:
            for group in range(self.n_groups):
                if self.lacks[group] == AFRESH and self.add(group, at, min(at + stretch, held), True) < 0:
                    return -1
            at += stretch
        while lowest < n:
            for group in range(self.n_groups):
                if self.lacks[group] != AFRESH and self.add(group, max(lowest, self.lacks[group]), min(lowest + stretch, n), False) < 0:
                    return -1
            lowest += stretch
        return 0

    cdef int add(self, Py_ssize_t group, int64_t first, int64_t last, bint afresh) noexcept nogil:
        """Adds what the slots (the changes, unless afresh) first .. last - 1 make to the sums of a group; -1 on an error."""
        cdef double values[TILE * LANES]
        cdef const double *by[TILE]
        cdef int slots[TILE]
        cdef Py_ssize_t i, n, at
        while first < last:
            n = min(TILE, last - first)
            for i in range(n):
                if afresh:
                    slots[i], by[i] = <int> (first + i), &self.held.v[first + i, 0]
                else:
                    at = first + i - self.memory.forgotten
                    slots[i], by[i] = self.memory.changed[at], &self.memory.by[at, 0]
            if self.tile(group, slots, n, values, -1 if afresh else first) < 0:
                return -1
            if afresh:
                TILES.sums(values, n, by, self.n_blocks, &self.sums[group, 0, 0])
            else:
                TILES.sums_from(values, n, by, self.n_blocks, &self.sums[group, 0, 0], first, &self.since[group * LANES])
            first += n
        return 0

    cdef int tile(self, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values, int64_t first) noexcept nogil:
        """Kernel values of slots with the lanes of a group, as far as they matter; -1 on an error.

        They matter where a row is still to be visited and, if slot i stands for change first + i, lacks this change (first -1: any). Dear
        ones are found only there, and kept where there is room.
        """
        cdef Py_ssize_t i, lane, at = group * LANES, n_kept = self.memory.kept.shape[0] if self.remembers else 0
        cdef double *value
        cdef bint missing = False
        if not self.held.kernel_rows.dear:
            return self.held.kernel_rows.tile_c(self.queries, group, slots, n, values)
        for lane in range(LANES):
            for i in range(n):
                value = &values[i * LANES + lane]
                value[0] = NAN
                if self.visited[at + lane] or first >= 0 and first + i < self.since[at + lane]:
                    value[0] = 0
                elif self.lane_row[at + lane] < n_kept:
                    value[0] = self.memory.kept[self.lane_row[at + lane], slots[i]]
                missing |= value[0] != value[0]
        if not missing:
            return 0
        if self.held.kernel_rows.tile_c(self.queries, group, slots, n, values) < 0:
            return -1
        for lane in range(LANES):
            if not self.visited[at + lane] and self.lane_row[at + lane] < n_kept:
                for i in range(n):
                    if first < 0 or first + i >= self.since[at + lane]:
                        self.memory.kept[self.lane_row[at + lane], slots[i]] = values[i * LANES + lane]
        return 0

    cdef bint is_current(self, Example x) noexcept nogil:
        """Whether x is the example that was visited last."""
        return <void *> self.source == <void *> x.source and self.at > 0 and self.example[self.at - 1] == x.index

    cdef int turn_to(self, Example x) noexcept nogil:
        """Makes x the example that was visited last; -1 on an error."""
        cdef int64_t only = x.index
        with gil:
            try:
                self.look_ahead(x.source, &only, 0, 1)
            except BaseException as error:
                self.error = error
                return -1
        self.at = 1
        return 0

    cdef int scores_c(self, Example x, double *s) noexcept nogil:
        cdef Py_ssize_t a, block, row, lane, place
        if <void *> self.source == <void *> x.source and self.at < self.n_examples and self.example[self.at] == x.index:
            self.at += 1
        elif self.turn_to(x) < 0:
            return -1
        place = self.first[self.at - 1]
        for row in range(x.block.n_rows):
            lane = self.lane[place + row]
            for block in range(self.n_blocks):
                self.own_sums[row, block] = self.sums[lane // LANES, block, lane % LANES]
            if not self.visited[lane]:
                self.visited[lane] = True
                self.left[lane // LANES] -= 1
            if self.remembers:
                memcpy(&self.memory.sums[x.first_row + row, 0], &self.own_sums[row, 0], self.n_blocks * sizeof(double))
                self.memory.complete[x.first_row + row] = self.memory.n
        if self.own.scores_c(x, s) < 0:
            return self.failed(self.own.features)
        if add_rows(self.features, x, &self.own_sums[0, 0], s) < 0:
            return self.failed(self.features)
        if self.averaging.scale != 1:
            for a in range(x.n_atoms):
                s[a] *= self.averaging.scale
        return 0

    cdef int failed(self, Component part) noexcept nogil:
        """Keeps the error of a part; -1."""
        with gil:
            self.error, part.error = part.error, None
        return -1

    # ---- steps ----

    cdef int spread(self, Example x, const double *c) noexcept nogil:
        """The coefficients of atoms as those of rows and blocks; -1 on an error."""
        cdef Py_ssize_t a, cell, row
        if not self.is_current(x) and self.turn_to(x) < 0:
            return -1
        memset(&self.moved[0, 0], 0, x.block.n_rows * self.n_blocks * sizeof(double))
        memset(&self.moves[0], 0, x.block.n_rows)
        for a in range(x.n_atoms):
            if c[a] != 0:
                cell = self.features.cell_c(x, a)
                if cell < -1:
                    return self.failed(self.features)
                if cell >= 0:
                    row = cell // self.n_blocks
                    self.moved[row, cell % self.n_blocks] += c[a]
                    self.moves[row] = True
        return 0

    cdef int update_c(self, Example x, const double *c) noexcept nogil:
        cdef Py_ssize_t row, block
        cdef bint moves
        if self.spread(x, c) < 0:
            return -1
        if self.averaging.decay != 0 and self.shrink_c() < 0:
            return -1
        if self.own.add_c(x, c, 1 / self.averaging.scale, self.averaging.scale_sum / self.averaging.scale) < 0:
            return self.failed(self.own.features)
        for row in range(x.block.n_rows):
            moves = False
            for block in range(self.n_blocks if self.moves[row] else 0):
                self.moved[row, block] /= self.averaging.scale
                moves |= self.moved[row, block] != 0
            if moves and self.take_step(x, row, &self.moved[row, 0]) < 0:
                return -1
        return 0 if self.error is None else -1          # of the block ahead, which has been let go; the step is whole

    cdef int take_step(self, Example x, Py_ssize_t row, const double *c) noexcept nogil:
        """v[row] += c; -1 on an error."""
        cdef Py_ssize_t block, slot = self.memory.slot[x.first_row + row] if self.remembers else -1
        cdef bint full = self.memory is not None and self.memory.n - self.memory.forgotten == self.memory.changed.shape[0]
        if slot < 0 or full:                            # full: after several steps for one visit
            with gil:
                try:
                    if full:
                        self.memory.make_room(self.memory.changed.shape[0] + 1)
                    slot = self.slot_for(x, row) if slot < 0 else slot
                except BaseException as error:
                    self.error = error
                    return -1
            if self.remembers:
                self.memory.slot[x.first_row + row] = <int> slot
        for block in range(self.n_blocks):
            self.held.v[slot, block] += c[block]
            self.held.u[slot, block] += c[block] * self.averaging.scale_sum
        self.change(slot, c)
        return 0

    cdef Py_ssize_t slot_for(self, Example x, Py_ssize_t row) except -1:
        """Where row `row` of x is held; it joins if it is not yet, and another one gives way if it must."""
        cdef SupportSet held = self.held
        cdef int64_t number = self.counted + x.first_row + row
        cdef double[::1] leaving
        key = held.kernel_rows.key(x.source, x.first_row + row)
        key = short(b"%d" % number if key is None else key)
        cdef Py_ssize_t slot = held.find(key)
        if slot >= 0:
            held.remember(slot)
            return slot
        slot = held.kernel_rows.n
        if held.budget and slot >= held.budget:
            slot = held.victim(self.random)
            leaving = -np.asarray(held.v[slot])
            with self.moving:
                held.vacate(slot)
            self.change(slot, &leaving[0])
        return held.join(slot, x, row, number, key)

    cdef void change(self, Py_ssize_t slot, const double *c) noexcept nogil:
        """Lets the rows that were looked at ahead know that v[slot] has grown by c; on an error, which it keeps, lets go of them."""
        cdef double values[LANES]
        cdef Py_ssize_t group
        cdef int only = <int> slot
        if self.memory is not None:
            self.memory.log(slot, c)
        for group in range(self.n_groups):
            if self.left[group] > 0:
                if self.tile(group, &only, 1, values, -1) < 0:
                    self.failed(self.held.kernel_rows)
                    self.n_groups = 0
                    with gil:
                        self.source = None
                    return
                TILES.sums(values, 1, &c, self.n_blocks, &self.sums[group, 0, 0])

    cdef int shrink_c(self) noexcept nogil:
        """Multiplies w by what a step leaves of it; -1 on an error."""
        cdef int status = shrink(&self.averaging, self.schedule)
        if status == 0:
            return 0
        with gil:
            try:
                if status < 0:
                    self.error = self.schedule.taken_error()
                else:
                    self.multiply_out()
            except BaseException as error:
                self.error = error
                return -1
        return status

    def multiply_out(self):
        """Multiplies the scale into the coefficients, and into all that is in their units."""
        self.held.remember_all()
        v, u, _ = self.held.arrays()
        own = self.own.vector
        with np.errstate(all="ignore"):                     # what overflows is found in the scores
            for values, accumulated in ((v, u), (own[0], own[1])):
                accumulated -= self.averaging.scale_sum * values      # the running sum moves into -u
                values *= self.averaging.scale
        ahead = np.asarray(self.sums)
        ahead *= self.averaging.scale
        if self.memory is not None:
            self.memory.multiply(self.averaging.scale)
        scale_multiplied_out(&self.averaging)

    # ---- geometry ----

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """Rows compared by the kernel, and what atoms have besides."""
        cdef double total, rows
        if self.spread(x, c) < 0:
            return -1
        total = self.own.norm_c(x, c)
        if total < 0:
            return self.failed(self.own.features)
        rows = self.row_norm(x)
        return -1 if rows < 0 else total + rows

    cdef double row_norm(self, Example x) noexcept nogil:
        """sum over the rows t and t' that have coefficients of (m[t] . m[t']) K(x_t, x_t'); negative on an error."""
        cdef Py_ssize_t row, other, block, lane, i, n = 0, group = -1, place = self.first[self.at - 1]
        cdef double total = 0, product
        with gil:
            self.scratch.truncate(0)
            self.scratch.counted = self.held.kernel_rows.counted
        for row in range(x.block.n_rows):
            if self.moves[row]:
                self.slots[n] = <int> n
                n += 1
                if self.scratch.append_c(x, row) < 0:
                    return self.failed(self.scratch)
        for other in range(x.block.n_rows):
            if not self.moves[other]:
                continue
            lane = self.lane[place + other]
            if lane // LANES != group:
                group = lane // LANES
                for i in range(n * LANES):
                    (&self.values[0, 0])[i] = NAN
                if self.scratch.tile_c(self.queries, group, &self.slots[0], n, &self.values[0, 0]) < 0:
                    return self.failed(self.scratch)
            i = 0
            for row in range(x.block.n_rows):
                if self.moves[row]:
                    product = 0
                    for block in range(self.n_blocks):
                        product += self.moved[row, block] * self.moved[other, block]
                    total += product * self.values[i, lane % LANES]
                    i += 1
        return 0 if total < 0 else total                # NaN stays

    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil:
        cdef double own = self.own.constant_gram_c(x, shared), between
        cdef Py_ssize_t first, second = -1
        if own < 0:
            return self.failed(self.own.features)
        first = self.features.cell_c(x, 0)
        if x.n_atoms > 1:
            second = self.features.cell_c(x, 1)
        if first < -1 or second < -1:
            return self.failed(self.features)
        if first < 0:
            return own
        if not self.is_current(x) and self.turn_to(x) < 0:
            return -1
        memset(&self.moved[0, 0], 0, x.block.n_rows * self.n_blocks * sizeof(double))
        memset(&self.moves[0], 0, x.block.n_rows)
        self.moved[first // self.n_blocks, first % self.n_blocks], self.moves[first // self.n_blocks] = 1, True
        between = self.row_norm(x)
        if between < 0:
            return -1
        if first == second:
            shared[0] += between
            return own
        return own + between

    def inner(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b):
        """phi(x, a) . phi(z, b)"""
        one, other = self.features.cell(x, a), self.features.cell(z, b)
        total = float(self.own.atom(x, a) @ self.own.atom(z, b))
        if one is None or other is None or one[1] != other[1]:
            return total
        kernel_rows = self.held.kernel_rows.empty()
        kernel_rows.append(z.source, z.first_row + other[0])
        return total + float(kernel_rows.values(x.source, [x.first_row + one[0]])[0, 0])

    # ---- what was learned ----

    def mean(self):
        """The coefficients to predict with, (n_held, n_blocks), and the weights of what atoms have besides, flat."""
        v, u, _ = self.held.arrays()
        own = self.own.vector
        return predicting(&self.averaging, v, u), predicting(&self.averaging, own[0], own[1])

    def live(self):
        """Slots of the rows that predictions need, those with a coefficient that is not 0, and all coefficients."""
        coefficients, own = self.mean()
        return np.flatnonzero(coefficients.any(axis=1)), coefficients, own

    def averaged(self):
        n_visited, final = self.averaging.n_visited, self._final              # before the values: another thread may train meanwhile
        if final is None or self._final_visited != n_visited:
            with self.moving:
                slots, coefficients, own = self.live()
                kernel_rows = self.held.kernel_rows.select(slots)
            final = Expansion(self.features, kernel_rows, coefficients[slots], np.stack([own, np.zeros_like(own)]))
            self._final, self._final_visited = final, n_visited
        return final

    def batch_scores(self, rows):
        return self.averaged().batch_scores(rows)

    def attributes(self, weights):
        """support_: the numbers of the rows that predictions need, counted over all data since training began, in the order in which they
        came to be held; n_support_, support_vectors_ and dual_coef_ (n_support, n_blocks) to go with them; gamma_ where the kernel has one.
        """
        known = {
            "support_": lambda: self.held.arrays()[2][self.live()[0]],
            "n_support_": lambda: len(self.live()[0]),
            "support_vectors_": lambda: self.averaged().kernel_rows.support(),
            "dual_coef_": lambda: np.array(self.averaged().coefficients),
        }
        if hasattr(self.held.kernel_rows, "gamma_"):
            known["gamma_"] = lambda: self.held.kernel_rows.gamma_
        return {**known, **self.own.attributes(lambda: self.mean()[1])}

    # ---- persistence and taking back ----

    def state(self):
        return {"own": np.array(self.own.vector), "scales": np.array([self.averaging.scale, self.averaging.scale_sum]),
                "coming": np.array(self.coming), **self.held.state()}

    def restore(self, state):
        if np.shape(state["own"]) != self.own.vector.shape:
            raise DataError(f"the saved weights besides rows have shape {np.shape(state['own'])}; these options need "
                            f"{self.own.vector.shape}.")
        self.held.restore(state)
        self.own.vector[:] = state["own"]
        self.averaging.scale, self.averaging.scale_sum = (float(v) for v in state["scales"])
        self.coming = int(state["coming"])
        self.counted, self.looked = self.coming, True
        self.scratch = self._final = self.source = None

    def snapshot(self, rows):
        random = self.random.bit_generator.state if self.held.budget and self.held.removal == "random" else None
        scalars = self.averaging.scale, self.averaging.scale_sum, self.averaging.n_visited, self.counted, self.coming
        return self.held.snapshot(), np.array(self.own.vector), scalars, random

    def revert(self, token):
        joined, own, scalars, random = token
        with self.moving:
            self.held.revert(joined)
        if random is not None:
            self.random.bit_generator.state = random
        self.own.vector[:] = own
        self.averaging.scale, self.averaging.scale_sum, self.averaging.n_visited, self.counted, self.coming = scalars
        self._final = self.source = None

    def is_finite(self, token=None):
        cdef Py_ssize_t slot, block
        cdef double total = 0
        for slot in range(self.held.kernel_rows.n):
            for block in range(self.n_blocks):
                total += 0 * self.held.v[slot, block] + 0 * self.held.u[slot, block]
        return total == 0 and bool(np.isfinite(self.own.vector).all())
