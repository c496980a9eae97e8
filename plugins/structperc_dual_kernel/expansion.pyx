"""Sums of kernel values: the sums of stored rows, each with a coefficient in every block, at other rows.

Typical sizes: 10^2..10^5 rows held, 1..30 blocks. Cost: one kernel value for each row held and each row scored, shared by all blocks.
"""
import hashlib
import itertools
import os

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset
from structperc.core.features cimport PADDING, Features, written_out
from structperc.core.rows cimport Example, Rows
from structperc.core.weights cimport Weights
from structperc.errors import DataError
from structperc.plugin_tools import adapted, map_in_threads, read_array, substate
from structperc_kernels.kernel_rows cimport LANES, KernelRows, Queries
from structperc_kernels.vector_rows cimport best_tiles, sp_tiles


# ---- support set ----
# The support rows, with their coefficients: merged where they repeat, evicted where there is a budget, taken back on demand.
#
# Typical sizes: 10^2..10^5 rows, 1..30 blocks. Cost: a lookup for each step; a removal looks at all rows held.


FIRST_ROOM = 64
KEY_BYTES = 16
NO_KEY = bytes(KEY_BYTES)
MOST = 2**62                    # a saved count must leave room to go on counting


cdef class SupportSet:
    """Slots of a kernel_rows, each with its coefficients.

    Parameters
    ----------
    kernel_rows : KernelRows
        Empty.
    n_blocks : int
    budget : int
        The most rows to hold; 0: no bound.
    removal : {"oldest", "random", "least"}
        Which row is replaced by another: the oldest, a random one, or the one with the smallest ||v||^2 K(x, x). The last is the squared
        length of what the row adds to the weights.

    Notes
    -----
    Only "random" has a mistake bound. It is for the perceptron with two classes, one pass over different rows and K(x, x) <= 1.
    Let u with ||u||^2 < budget separate them by the margin 1. Then the expected number of mistakes is at most
    `2 ||u||^2 / (1 - ||u|| / sqrt(budget))^2`. The other two have no known bound.

    References
    ----------
    G. Cavallanti, N. Cesa-Bianchi and C. Gentile: Tracking the best hyperplane with a simple budget Perceptron. Machine Learning 69,
    pages 143-167, 2007.
    """

    def __init__(self, KernelRows kernel_rows, Py_ssize_t n_blocks, Py_ssize_t budget=0, removal="oldest"):
        self.kernel_rows, self.n_blocks, self.budget, self.removal = kernel_rows, n_blocks, budget, removal
        self.slot_of, self.keys, self.journal, self.evicted, self.vacant = {}, [], None, None, -1
        self.v, self.u = np.zeros((0, n_blocks)), np.zeros((0, n_blocks))
        self.number, self.joined = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self.square = np.zeros(0)

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Makes room for n rows in all."""
        cdef Py_ssize_t room = self.v.shape[0]
        self.kernel_rows.reserve(n)
        if n <= room:
            return 0
        room = max(n, 2 * room, FIRST_ROOM)
        self.v, self.u = grown(self.v, room), grown(self.u, room)
        self.number, self.joined, self.square = grown(self.number, room), grown(self.joined, room), grown(self.square, room)
        return 0

    cdef Py_ssize_t find(self, key) except -2:
        """The slot of an equal row, or -1."""
        return self.slot_of.get(key, -1)

    cdef Py_ssize_t choose_eviction(self, random) except -1:
        """The slot whose row makes room for another; of several that are least, the first. The same until a row has joined there."""
        if self.vacant < 0:
            self.vacant = self.chosen(random)
        return self.vacant

    cdef Py_ssize_t chosen(self, random) except -1:
        cdef Py_ssize_t n = self.kernel_rows.n, slot, block, victim = 0
        cdef double least = INFINITY, size
        cdef bint oldest = self.removal == "oldest"
        if self.removal == "random":
            return random.integers(n)
        for slot in range(n):
            if oldest:
                size = self.joined[slot]
            else:
                size = 0
                for block in range(self.n_blocks):
                    size += self.v[slot, block] * self.v[slot, block]
                size *= self.square[slot]
            if size < least:
                victim, least = slot, size
        return victim

    cdef int remember(self, Py_ssize_t slot) except -1:
        """Called before a slot changes."""
        if self.journal is not None and slot < self.n_before and slot not in self.journal:
            self.journal[slot] = (np.array(self.v[slot]), np.array(self.u[slot]), self.number[slot], self.joined[slot], self.square[slot],
                                  self.keys[slot])
        return 0

    def remember_all(self):
        """Called before all slots change."""
        for slot in range(0 if self.journal is None else self.n_before):
            self.remember(slot)

    cdef int evict(self, Py_ssize_t slot) except -1:
        """Removes the row in a slot, so that another can join there."""
        self.remember(slot)
        if self.journal is not None and slot < self.n_before and slot not in self.evicted:
            self.evicted[slot] = self.kernel_rows.select(np.array([slot]))
        if self.keys[slot] is not None:
            del self.slot_of[self.keys[slot]]
            self.keys[slot] = None
        self.v[slot] = 0
        self.u[slot] = 0
        return 0

    cdef Py_ssize_t join(self, Py_ssize_t slot, Example x, Py_ssize_t row, int64_t number, key) except -1:
        """Puts a row of x in a slot, an evicted one or the next; room was reserved."""
        cdef Py_ssize_t n = len(self.keys)
        if (self.kernel_rows.append_c(x, row, number) if slot == n else self.kernel_rows.overwrite_c(slot, x, row, number)) < 0:
            self.kernel_rows.reraise()
        if self.budget and self.removal == "least":
            try:
                self.measure(slot, x, row)
            except BaseException:
                self.kernel_rows.truncate(n)
                raise
        self.v[slot] = 0
        self.u[slot] = 0
        self.number[slot], self.joined[slot] = number, self.n_joined
        self.n_joined += 1
        if slot == n:
            self.keys.append(key)
        self.keys[slot] = key
        self.slot_of[key] = slot
        self.vacant = -1
        return slot

    cdef int measure(self, Py_ssize_t slot, Example x, Py_ssize_t row) except -1:
        """Finds the kernel of a row of x, which is in this slot, with itself."""
        cdef double values[LANES]
        cdef Queries q = self.kernel_rows.queries()
        cdef int only = <int> slot, lane
        self.kernel_rows.prepare(q, x.source, np.array([x.first_row + row], dtype=np.int64))
        for lane in range(LANES):
            values[lane] = NAN
        if self.kernel_rows.tile_c(q, 0, &only, 1, values) < 0:
            self.kernel_rows.reraise()
        self.square[slot] = values[0]
        return 0

    def clear(self):
        """Removes all rows; this cannot be taken back."""
        self.kernel_rows.truncate(0)
        self.keys, self.slot_of, self.journal, self.evicted, self.vacant = [], {}, None, None, -1

    # ---- taking back ----

    def snapshot(self):
        """From here on changes can be taken back, until the next snapshot."""
        self.journal, self.evicted, self.n_before = {}, {}, len(self.keys)
        return self.n_joined

    def revert(self, n_joined):
        """Takes back what happened since the snapshot."""
        for slot in itertools.chain(self.journal, range(self.n_before, len(self.keys))):
            self.slot_of.pop(self.keys[slot], None)
        self.kernel_rows.truncate(self.n_before)
        del self.keys[self.n_before:]
        for slot, row in self.evicted.items():
            self.kernel_rows.copy_slot(slot, 0, row)
        for slot, (v, u, number, joined, square, key) in self.journal.items():
            np.asarray(self.v)[slot], np.asarray(self.u)[slot] = v, u
            self.number[slot], self.joined[slot], self.square[slot], self.keys[slot] = number, joined, square, key
            if key is not None:
                self.slot_of[key] = slot
        self.journal, self.evicted, self.n_joined, self.vacant = None, None, n_joined, -1

    # ---- as arrays ----

    def arrays(self):
        """Views of v, u and the rows' numbers."""
        n = len(self.keys)
        return np.asarray(self.v)[:n], np.asarray(self.u)[:n], np.asarray(self.number)[:n]

    def state(self):
        v, u, number = (np.array(part) for part in self.arrays())
        n = len(v)
        state = {"coefficients": v, "sums": u, "numbers": number, "joined": np.array(self.joined[:n]), "squares": np.array(self.square[:n]),
                 "n_joined": np.array(self.n_joined, dtype=np.int64),
                 "keys": np.frombuffer(b"".join(key or NO_KEY for key in self.keys), dtype=np.uint8).reshape(n, KEY_BYTES)}
        return {**state, **{f"kernel_rows.{key}": value for key, value in self.kernel_rows.state().items()}}

    def restore(self, state):
        self.kernel_rows.restore(substate(state, "kernel_rows."))
        n = self.kernel_rows.n
        if self.budget and n > self.budget:
            raise DataError(f"{n} rows are saved, more than the budget of {self.budget}.")
        keys = [row.tobytes() for row in read_array(state, "keys", np.uint8, (n, KEY_BYTES))]
        keys = [None if key == NO_KEY else key for key in keys]
        slot_of = {key: slot for slot, key in enumerate(keys) if key is not None}
        if len(slot_of) != n - keys.count(None):
            raise DataError(f"two of the saved keys of {n} rows are equal; expected different digests.")
        self.v, self.u = (read_array(state, name, np.float64, (n, self.n_blocks)) for name in ("coefficients", "sums"))
        self.n_joined = read_array(state, "n_joined", np.int64, low=0, high=MOST)
        self.number = read_array(state, "numbers", np.int64, (n,), low=0, high=MOST)
        self.joined = read_array(state, "joined", np.int64, (n,), low=0, high=self.n_joined)
        self.square = read_array(state, "squares", np.float64, (n,), finite=False)
        self.keys, self.slot_of, self.journal, self.evicted, self.vacant = keys, slot_of, None, None, -1


def short(key):
    """A digest of a key; collisions do not occur in practice."""
    return hashlib.blake2b(key, digest_size=KEY_BYTES).digest()


def grown(array, room):
    """A longer copy along the first axis."""
    array = np.asarray(array)
    longer = np.zeros((room, *array.shape[1:]), dtype=array.dtype)
    longer[:len(array)] = array
    return longer


# ---- score cache ----
# What training keeps of the rows of a fit from one visit to the next: their sums, the changes since, and expensive kernel values.
#
# Typical sizes: 10^3..10^6 rows, 1..30 blocks, as many changes as there are steps in an epoch. A row's sums are completed by the changes
# since its last visit. After the first epoch these are far fewer than the support rows.


FIRST_VALUES = 256


cdef class ScoreCache:
    """Of the data that all passes of a fit visit.

    Parameters
    ----------
    rows : Rows
    n_blocks : int
    most_values : int
        Bytes that kernel values may take: those of the first rows of X, as many as fit. 0: none.
    """

    def __init__(self, Rows rows, Py_ssize_t n_blocks, Py_ssize_t most_values=0):
        self.rows = rows
        self.sums = np.zeros((rows.n_rows, n_blocks))
        self.changes_seen = np.full(rows.n_rows, -1, dtype=np.int64)
        self.slot = np.full(rows.n_rows, -1, dtype=np.intc)
        self.changed_slot, self.change = np.zeros(0, dtype=np.intc), np.zeros((0, n_blocks))
        self.first_change = self.n_changes = 0
        self.values, self.most_values = np.zeros((0, 0)), most_values // 8

    cdef int reserve(self, Py_ssize_t further, Py_ssize_t n_stored) except -1:
        """Reserves memory for further changes and kernel values of slots, and drops changes that cost more than they save."""
        cdef Py_ssize_t n = self.n_changes - self.first_change, most = 2 * (n_stored + further), room
        if n > most:
            self.changed_slot, self.change = np.array(self.changed_slot[n - most // 2:n]), np.array(self.change[n - most // 2:n])
            self.first_change += n - most // 2
            n = most // 2
        self.make_room(n + further)
        if self.most_values and n_stored > self.values.shape[1]:
            room = max(n_stored, 2 * self.values.shape[1], FIRST_VALUES)
            values = np.full((min(self.rows.n_rows, self.most_values // room), room), np.nan)
            before = np.asarray(self.values)[:len(values)]
            values[:len(before), :before.shape[1]] = before
            self.values = values
        return 0

    cdef int make_room(self, Py_ssize_t n) except -1:
        """Makes room for n changes in all."""
        if n > self.changed_slot.shape[0]:
            n = max(n, 2 * self.changed_slot.shape[0], FIRST_VALUES)
            self.changed_slot, self.change = grown(self.changed_slot, n), grown(self.change, n)
        return 0

    cdef void log(self, Py_ssize_t slot, const double *c) noexcept nogil:
        """A change of a slot's coefficients by c; room was made."""
        cdef Py_ssize_t at = self.n_changes - self.first_change
        self.changed_slot[at] = <int> slot
        memcpy(&self.change[at, 0], c, self.change.shape[1] * sizeof(double))
        self.n_changes += 1

    def multiply(self, double scale):
        """Everything that is in the units of the stored coefficients, times scale."""
        sums, change = np.asarray(self.sums), np.asarray(self.change)
        sums *= scale
        change *= scale


# ---- expansion ----


cdef enum:
    CHUNK = 256                 # rows that are prepared at a time
    WORTH_A_THREAD = 1 << 19    # kernel values

cdef const sp_tiles *TILES = best_tiles()


cdef int add_slots(KernelRows kernel_rows, Queries q, Py_ssize_t group, Py_ssize_t first, Py_ssize_t last,
                   const double *c, Py_ssize_t n_blocks,
                   double *r) noexcept nogil:
    """r[block, lane] += sum over the slots first .. last - 1 of their coefficients c[slot, block] times the kernel; -1 on an error."""
    cdef double values[TILE * LANES]
    cdef const double *rows[TILE]
    cdef int slots[TILE]
    cdef Py_ssize_t i, n
    while first < last:
        n = min(TILE, last - first)
        for i in range(n):
            slots[i] = <int> (first + i)
            rows[i] = c + (first + i) * n_blocks
        for i in range(n * LANES):
            values[i] = NAN
        if kernel_rows.tile_c(q, group, slots, n, values) < 0:
            return -1
        TILES.add_weighted(values, n, rows, n_blocks, r)
        first += n
    return 0


cdef int add_rows(Features features, Example x, const double *sums, double *s) noexcept nogil:
    """s[a] += the sum of the row and block of atom a, sums[row * n_blocks + block]; -1 on an error."""
    cdef Py_ssize_t a, cell
    for a in range(x.n_atoms):
        cell = features.cell_c(x, a)
        if cell >= 0:
            s[a] += sums[cell]
        elif cell < -1:
            return -1
    return 0


cdef class ExplicitPart:
    """What atoms have besides their rows (intercepts, thresholds, transitions), as weights like any others.

    Parameters
    ----------
    described : Features or None
        The map of X without columns.
    vector : float64 array of shape (2, n_weights), optional
        The weights, and the sums that averaging needs; zeros without it.
    """

    def __init__(self, described, vector=None):
        cdef double[:, ::1] w
        cdef Features features
        self.described = described
        if described is None:
            self.vector = np.zeros((2, 0))
            return
        self.features = features = adapted(described)
        self.vector = w = np.zeros((2, features.n_weights)) if vector is None else vector
        self.p = written_out(features, &w[0, 0])
        self.p.average = features.n_weights
        self.blank = Rows(np.zeros((1, 0))).example(0)

    cdef void look_at(self, Example x) noexcept nogil:
        """Makes `blank` what x is without its columns."""
        self.blank.index, self.blank.n_atoms, self.blank.block.n_rows = x.index, x.n_atoms, x.block.n_rows

    cdef int scores_c(self, Example x, double *s) noexcept nogil:
        if self.features is None:
            memset(s, 0, x.n_atoms * sizeof(double))
            return 0
        self.look_at(x)
        return self.features.scores_c(&self.p, self.blank, s)

    cdef int add_c(self, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        if self.features is None:
            return 0
        self.look_at(x)
        return self.features.add_c(&self.p, self.blank, c, to_w, to_u)

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        if self.features is None:
            return 0
        self.look_at(x)
        return self.features.norm_c(self.blank, c)

    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil:
        shared[0] = 0
        if self.features is None:
            return 0
        self.look_at(x)
        return self.features.constant_gram_c(self.blank, shared)

    def atom(self, Example x, a):
        """The vector of what atom a has besides its row."""
        if self.features is None:
            return np.zeros(0)
        self.look_at(x)
        return self.features.vector(self.blank, np.arange(x.n_atoms) == a)

    def attributes(self, values):
        """What the feature map would show of these weights, but for `coef_`."""
        if self.described is None:
            return {}
        return {name: value for name, value in self.described.attributes(Shown(values)).items() if name != "coef_"}


class Shown:
    """Weights that a feature map shows to users."""

    def __init__(self, values):
        self.values = values

    def vector(self):
        return self.values()


cdef class Expansion(Weights):
    """A finished weight vector: rows with coefficients, and what atoms have besides.

    Nothing in it changes, so that several threads may use it.

    Parameters
    ----------
    features : Features
        Whose atoms stand on rows (`Features.n_blocks`).
    kernel_rows : KernelRows
    coefficients : float64 array of shape (kernel_rows.n, n_blocks)
    own : array of shape (2, n) or None
        Weights of what atoms have besides their row.
    """

    def __init__(self, Features features, KernelRows kernel_rows, coefficients, own):
        self.features, self.kernel_rows = features, kernel_rows
        self.coefficients = np.ascontiguousarray(coefficients, dtype=float)
        self.explicit = ExplicitPart(features.explicit_part(), own)

    cdef int scores_c(self, Example x, double *s) noexcept nogil:
        cdef Py_ssize_t a
        cdef const double[::1] scores
        with gil:
            try:
                rows = np.arange(x.first_row, x.first_row + x.block.n_rows, dtype=np.int64)
                scores = self.from_rows(x, self.row_scores(x.source, rows))
                for a in range(x.n_atoms):
                    s[a] = scores[a]
                return 0
            except BaseException as error:
                self.error = error
                return -1

    def from_rows(self, Example x, const double[:, ::1] sums):
        """Atom scores of x from the sums of its rows, (n_rows, n_blocks)."""
        cdef ExplicitPart own = ExplicitPart(self.explicit.described, self.explicit.vector)      # with a blank example of this thread's own
        cdef double[::1] s = np.zeros(x.n_atoms + PADDING)
        if own.scores_c(x, &s[0]) < 0:
            own.features.raised()
        if add_rows(self.features, x, &sums[0, 0], &s[0]) < 0:
            self.features.raised()
        return np.asarray(s)[:x.n_atoms]

    def row_scores(self, Rows rows, const int64_t[::1] which):
        """The sums of these rows of X in every block, (n_rows, n_blocks)."""
        cdef Queries q = self.kernel_rows.queries()
        cdef Py_ssize_t n_blocks = self.features.n_blocks, group, n = which.shape[0], first = 0, last
        cdef double[:, :, ::1] r = np.zeros(((n + LANES - 1) // LANES, n_blocks, LANES))
        cdef const double[:, ::1] c = self.coefficients
        cdef int status = 0
        if self.kernel_rows.n:
            self.kernel_rows.prepare(q, rows, which)
            with nogil:
                while status == 0 and first < self.kernel_rows.n:
                    last = min(first + self.kernel_rows.rows_per_tile, self.kernel_rows.n)
                    for group in range(r.shape[0]):
                        status = add_slots(self.kernel_rows, q, group, first, last, &c[0, 0], n_blocks, &r[group, 0, 0])
                        if status < 0:
                            break
                    first = last
            if status < 0:
                self.kernel_rows.reraise()
        return np.ascontiguousarray(np.asarray(r).transpose(0, 2, 1).reshape(-1, n_blocks)[:n])

    def batch_scores(self, Rows rows):
        """Atom scores of a whole data set: (n_examples, n_atoms), or the flat scores and where each example's begin."""
        cdef Example x = Example()
        cdef ExplicitPart own = ExplicitPart(self.explicit.described, self.explicit.vector)
        cdef Py_ssize_t i, n = rows.n_examples, fixed = self.features.fixed_atoms
        cdef int64_t[::1] starts = np.zeros(n + 1, dtype=np.int64)
        cdef const double[:, ::1] sums = np.ascontiguousarray(self.all_rows(rows))
        cdef double[::1] flat
        x.look_at(rows)
        for i in range(n):
            rows.load(i, x)
            starts[i + 1] = starts[i] + (fixed if fixed >= 0 else self.features.n_atoms(x))
        flat = np.zeros(starts[n] + PADDING)
        for i in range(n):
            rows.load(i, x)
            x.n_atoms = starts[i + 1] - starts[i]
            if own.scores_c(x, &flat[starts[i]]) < 0:
                own.features.raised()
            if add_rows(self.features, x, &sums[x.first_row, 0], &flat[starts[i]]) < 0:
                self.features.raised()
        scores = np.asarray(flat)[:starts[n]]
        return scores.reshape(n, fixed) if fixed >= 0 else (scores, np.asarray(starts))

    def all_rows(self, Rows rows):
        """`row_scores` of all rows of X, chunk by chunk and, where it is worth it, on all cores."""
        starts = range(0, rows.n_rows, CHUNK)
        chunks = [np.arange(start, min(start + CHUNK, rows.n_rows), dtype=np.int64) for start in starts]
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = min(cores, len(chunks), 1 + rows.n_rows * self.kernel_rows.n // WORTH_A_THREAD)
        if threads > 1:
            return np.concatenate(map_in_threads(lambda chunk: self.row_scores(rows, chunk), chunks, threads))
        parts = [np.zeros((0, self.features.n_blocks))]
        for chunk in chunks:
            parts.append(self.row_scores(rows, chunk))
            PyErr_CheckSignals()
        return np.concatenate(parts)


# ---- look ahead ----
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
    """A block of examples that are visited next.

    Parameters
    ----------
    support : SupportSet
    """

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
        """Brings all lanes to the present weights; -1 on an error, which the kernel rows keep.

        All groups are compared with as many support rows as a cache holds before the next ones.
        """
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
        """Kernel values of slots with the lanes of a group, as far as they are needed; -1 on an error.

        A value is needed if the row is still to be visited. If slot i is change first + i, the row must also lack this change (first -1:
        any). Expensive values are found only there, and cached if there is room.
        """
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
        """Lets the cache and the rows of the block know that the coefficients of a slot have grown by c.

        -1 on an error, which the kernel rows keep: then the block is forgotten.
        """
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
