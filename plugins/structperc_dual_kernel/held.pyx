"""The rows that training holds, with their coefficients: merged where they repeat, removed where there is a budget, taken back on demand.

Typical sizes: 10^2..10^5 rows, 1..30 blocks. Cost: a lookup for each step; a removal looks at all rows held.
"""
import hashlib

import numpy as np

from libc.math cimport NAN
from libc.stdint cimport int64_t
from structperc.core.errors import DataError
from structperc.core.rows cimport Example, Rows
from structperc_dual_kernel.bank cimport LANES, Bank, Queries

FIRST_ROOM = 64
KEY_BYTES = 16
NO_KEY = bytes(KEY_BYTES)


cdef class Held:
    """Slots of a bank, each with its coefficients.

    Parameters
    ----------
    bank : Bank
        Empty.
    n_blocks : int
    budget : int
        The most rows to hold; 0: no bound.
    removal : {"oldest", "random", "least"}
        Which row makes room for another: the one that joined first, any, or that of the smallest ||v||^2 K(x, x), which is the squared
        length of what it adds to the weights.
    """

    def __init__(self, Bank bank, Py_ssize_t n_blocks, Py_ssize_t budget=0, removal="oldest"):
        self.bank, self.n_blocks, self.budget, self.removal = bank, n_blocks, budget, removal
        self.slot_of, self.keys, self.journal = {}, [], None
        self.v, self.u = np.zeros((0, n_blocks)), np.zeros((0, n_blocks))
        self.number, self.joined = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        self.square = np.zeros(0)

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Makes room for n rows in all."""
        cdef Py_ssize_t room = self.v.shape[0]
        self.bank.reserve(n)
        if n <= room:
            return 0
        room = max(n, 2 * room, FIRST_ROOM)
        self.v, self.u = grown(self.v, room), grown(self.u, room)
        self.number, self.joined, self.square = grown(self.number, room), grown(self.joined, room), grown(self.square, room)
        return 0

    cdef Py_ssize_t find(self, key) except -2:
        """The slot of an equal row, or -1."""
        return self.slot_of.get(key, -1)

    cdef Py_ssize_t victim(self, random) except -1:
        """Which slot to give up."""
        cdef Py_ssize_t n = self.bank.n
        if self.removal == "random":
            return random.integers(n)
        if self.removal == "oldest":
            return int(np.argmin(self.joined[:n]))
        v = np.asarray(self.v)[:n]
        return int(np.argmin((v * v).sum(axis=1) * self.square[:n]))

    cdef int remember(self, Py_ssize_t slot) except -1:
        """Called before a slot changes."""
        if self.journal is None or slot >= self.before or slot in self.journal:
            return 0
        self.journal[slot] = (np.array(self.v[slot]), np.array(self.u[slot]), self.number[slot], self.joined[slot], self.square[slot],
                              self.keys[slot], self.bank.select(np.array([slot])) if self.budget else None)
        return 0

    cdef int vacate(self, Py_ssize_t slot) except -1:
        """Gives up the row in a slot; another must join there."""
        self.remember(slot)
        if self.keys[slot] is not None:
            del self.slot_of[self.keys[slot]]
        self.v[slot] = 0
        self.u[slot] = 0
        return 0

    cdef Py_ssize_t join(self, Py_ssize_t slot, Example x, Py_ssize_t row, int64_t number, key) except -1:
        """Puts a row of x in a slot, vacated or the next one; room was reserved."""
        cdef double values[LANES]
        cdef Queries q
        cdef int at = <int> slot, lane
        if slot == self.bank.n:
            if self.bank.append_c(x, row) < 0:
                self.bank.reraise()
            self.v[slot] = 0
            self.u[slot] = 0
            self.keys.append(key)
        else:
            if self.bank.overwrite_c(slot, x, row) < 0:
                self.bank.reraise()
            self.keys[slot] = key
        if key is not None:
            self.slot_of[key] = slot
        self.number[slot], self.joined[slot] = number, self.n_joined
        self.n_joined += 1
        if self.removal == "least" and self.budget:
            q = self.bank.queries()
            self.bank.prepare(q, x.source, np.array([x.first_row + row], dtype=np.int64))
            for lane in range(LANES):
                values[lane] = NAN
            if self.bank.tile_c(q, 0, &at, 1, values) < 0:
                self.bank.reraise()
            self.square[slot] = values[0]
        return slot

    # ---- taking back ----

    def checkpoint(self):
        """From here on changes can be taken back, until the next checkpoint."""
        self.journal, self.before = {}, self.bank.n
        return self.n_joined

    def roll_back(self, n_joined):
        """Takes back what happened since the checkpoint."""
        for slot in range(self.bank.n):
            if (slot >= self.before or slot in self.journal) and self.keys[slot] is not None:
                self.slot_of.pop(self.keys[slot], None)
        self.bank.truncate(self.before)
        del self.keys[self.before:]
        for slot, (v, u, number, joined, square, key, row) in self.journal.items():
            np.asarray(self.v)[slot], np.asarray(self.u)[slot] = v, u
            self.number[slot], self.joined[slot], self.square[slot], self.keys[slot] = number, joined, square, key
            if row is not None:
                self.bank.copy_slot(slot, 0, row)
            if key is not None:
                self.slot_of[key] = slot
        self.journal, self.n_joined = None, n_joined

    # ---- as arrays ----

    def arrays(self):
        """Views of v, u and the rows' numbers."""
        n = self.bank.n
        return np.asarray(self.v)[:n], np.asarray(self.u)[:n], np.asarray(self.number)[:n]

    def multiply(self, double scale):
        """v <- scale v"""
        v = np.asarray(self.v)[:self.bank.n]
        v *= scale

    def state(self):
        v, u, number = (np.array(part) for part in self.arrays())
        n = self.bank.n
        state = {"coefficients": v, "sums": u, "numbers": number, "joined": np.array(self.joined[:n]), "squares": np.array(self.square[:n]),
                 "n_joined": np.array(self.n_joined),
                 "keys": np.frombuffer(b"".join(key or NO_KEY for key in self.keys), dtype=np.uint8).reshape(n, KEY_BYTES)}
        return {**state, **{f"bank.{key}": value for key, value in self.bank.state().items()}}

    def restore(self, state):
        self.bank.restore({key[5:]: value for key, value in state.items() if key.startswith("bank.")})
        n = self.bank.n
        shapes = {"coefficients": (n, self.n_blocks), "sums": (n, self.n_blocks), "numbers": (n,), "joined": (n,), "squares": (n,),
                  "keys": (n, KEY_BYTES)}
        for key, shape in shapes.items():
            if np.shape(state[key]) != shape:
                raise DataError(f"the saved {key} have shape {np.shape(state[key])}; the {n} rows saved with them need {shape}.")
        if self.budget and n > self.budget:
            raise DataError(f"{n} rows are saved, more than the budget of {self.budget}.")
        self.v, self.u = (np.array(state[key], dtype=float, order="C") for key in ("coefficients", "sums"))
        self.number, self.joined = (np.array(state[key], dtype=np.int64) for key in ("numbers", "joined"))
        self.square, self.n_joined = np.array(state["squares"], dtype=float), int(state["n_joined"])
        self.keys, self.slot_of, self.journal = [], {}, None
        for slot in range(n):
            key = state["keys"][slot].tobytes()
            self.keys.append(None if key == NO_KEY else key)
            if key != NO_KEY:
                self.slot_of[key] = slot


def short(key):
    """A digest that stands for a key: two keys with one digest do not occur."""
    return None if key is None else hashlib.blake2b(key, digest_size=KEY_BYTES).digest()


def grown(array, room):
    """A longer copy along the first axis."""
    array = np.asarray(array)
    longer = np.zeros((room, *array.shape[1:]), dtype=array.dtype)
    longer[:len(array)] = array
    return longer
