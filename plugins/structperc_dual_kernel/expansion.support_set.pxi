# The support rows, with their coefficients: merged where they repeat, evicted where there is a budget, taken back on demand.
#
# Typical sizes: 10^2..10^5 rows, 1..30 blocks. Cost: a lookup for each step; a removal looks at all rows held.


FIRST_ROOM = 64
KEY_BYTES = 16
NO_KEY = bytes(KEY_BYTES)
MOST = 2**62                    # a saved count must leave room to go on counting


cdef class SupportSet:
    """Slots of a kernel_rows, each with its coefficients."""
    # kernel_rows: KernelRows. Empty.
    # budget: int. The most rows to hold; 0: no bound.
    # removal: {"oldest", "random", "least"}. Which row is replaced by another: the oldest, a random one, or the one with the smallest
    # ||v||^2 K(x, x). The last is the squared length of what the row adds to the weights.
    # Only "random" has a mistake bound. It is for the perceptron with two classes, one pass over different rows and K(x, x) <= 1. Let u
    # with ||u||^2 < budget separate them by the margin 1. Then the expected number of mistakes is at most `2 ||u||^2 / (1 - ||u|| /
    # sqrt(budget))^2`. The other two have no known bound.
    # G. Cavallanti, N. Cesa-Bianchi and C. Gentile: Tracking the best hyperplane with a simple budget Perceptron. Machine Learning 69,
    # pages 143-167, 2007.

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
        saved = read_array(state, "keys", np.uint8, (None, KEY_BYTES))
        n = len(saved)
        if self.budget and n > self.budget:
            raise DataError(f"{n} rows are saved, more than the budget of {self.budget}.")
        keys = [row.tobytes() for row in saved]
        keys = [None if key == NO_KEY else key for key in keys]
        slot_of = {key: slot for slot, key in enumerate(keys) if key is not None}
        if len(slot_of) != n - keys.count(None):
            raise DataError(f"two of the saved keys of {n} rows are equal; expected different digests.")
        v, u = (read_array(state, name, np.float64, (n, self.n_blocks)) for name in ("coefficients", "sums"))
        n_joined = read_array(state, "n_joined", np.int64, low=0, high=MOST)
        number = read_array(state, "numbers", np.int64, (n,), low=0, high=MOST)
        joined = read_array(state, "joined", np.int64, (n,), low=0, high=n_joined)
        square = read_array(state, "squares", np.float64, (n,), finite=False)
        self.kernel_rows.restore(substate(state, "kernel_rows."))
        if self.kernel_rows.n != n:
            raise DataError(f"{self.kernel_rows.n} rows and {n} keys of rows are saved; expected the same number.")
        self.v, self.u, self.n_joined, self.number, self.joined, self.square = v, u, n_joined, number, joined, square
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
