"""Stored rows, and the kernel between them and the rows of an example.

Rows are stored in slots. Rows to be scored are prepared as queries, sixteen side by side ("lanes"). One pass over a stored
row compares it with all sixteen. A lane depends only on its own row, so a row has the same bits among others as by itself.

Typical sizes: 10^2..10^5 rows of 2..1000 features, or as many trees; 16..256 queries at a time.
"""
import inspect
import numpy as np

from libc.stdint cimport int64_t
from structperc.core.component cimport Component
from structperc.core.rows cimport Example, Rows
from structperc.errors import PluginError
from structperc.plugin_tools import raise_interruption


# ---- kernel rows ----


PROBED = 4                      # rows by which two functions are compared


cdef class Queries:
    """Rows of a data set, prepared to be compared with stored rows; one thread's own."""

    __signature__ = inspect.Signature()

    def __len__(self):
        return self.n


cdef class KernelRows(Component):
    """Base class: rows in slots, and the kernel.

    A subclass overrides what stands here but `values`. `start` is called once, before rows come; what is refused, is refused there or in
    `settle_parameters`, so that `append` can fail only for lack of memory.
    """

    def __cinit__(self, *args, **kwargs):
        self.rows_per_tile = 256

    def start(self, context):
        """Reads the form of the data (n_features, sparse, objects); raises an error if there is no storage for it."""

    def settle_parameters(self, Rows rows):
        """Settles what depends on the first data, such as gamma="scale"; called before any step."""

    def begin_fit(self, rows):
        """Announces the data that every pass of a fit will visit."""

    def end_fit(self):
        """The fit is over: nothing of its data is kept."""

    def empty(self):
        """Stored rows of the same kind and the same settled parameters, without rows."""
        raise self.missing("empty")

    def reserve(self, Py_ssize_t n):
        """Makes room for n rows in all."""
        raise self.missing("reserve")

    def truncate(self, Py_ssize_t n):
        """Forgets the rows from slot n on."""
        self.n = n

    def select(self, slots):
        """Copies of these rows, in this order."""
        raise self.missing("select")

    def copy_slot(self, Py_ssize_t to, Py_ssize_t slot, KernelRows source):
        """Copies a row of `source`, which may be this object itself, over a row of this one."""
        raise self.missing("copy_slot")

    def key(self, Rows rows, Py_ssize_t row):
        """Bytes that equal rows, and only these, have in common; None where rows are not compared."""
        return None

    def queries(self):
        """An empty `Queries` of the kind that `prepare` fills."""
        raise self.missing("queries")

    def prepare(self, Queries q, Rows rows, const int64_t[::1] which):
        """Fills q with these rows (numbers of rows of X), one a lane."""
        raise self.missing("prepare")

    def support(self):
        """The rows as users know them: an array, a sparse matrix or a list."""
        raise self.missing("support")

    def state(self):
        raise self.missing("state")

    def restore(self, state):
        raise self.missing("restore")

    cdef int append_c(self, Example x, Py_ssize_t row, int64_t number) noexcept nogil:
        """Copies row `row` of x, which has this number over all training data, to slot n; room was reserved."""
        with gil:
            self.error = self.missing("append")
        return -1

    cdef int overwrite_c(self, Py_ssize_t slot, Example x, Py_ssize_t row, int64_t number) noexcept nogil:
        """Copies row `row` of x to a slot that is in use."""
        with gil:
            self.error = self.missing("overwrite")
        return -1

    cdef int tile_c(self, Queries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) noexcept nogil:
        """values[i * LANES + lane] = kernel(row in slots[i], query group * LANES + lane).

        Rows that are `expensive` may skip each value that is not NaN.
        """
        with gil:
            self.error = self.missing("tile")
        return -1

    def append(self, Rows rows, Py_ssize_t row, number=None):
        """Copies row `row` of X to slot n. `number` is its number over all training data, by default that in X."""
        cdef Example x = Example()
        x.look_at(rows)
        rows.load_row(row, x)
        self.reserve(self.n + 1)
        if self.append_c(x, 0, row if number is None else number) < 0:
            self.reraise()

    def values(self, Rows rows, which=None):
        """The kernel between rows of X (all, or those with these numbers) and all rows held, (n_rows, n)."""
        cdef Queries q = self.queries()
        cdef int[::1] slots = np.arange(self.n, dtype=np.intc)
        cdef int64_t[::1] numbers = np.arange(rows.n_rows, dtype=np.int64) if which is None else np.array(which, dtype=np.int64)
        cdef double[:, :, ::1] tiles = np.full(((numbers.shape[0] + LANES - 1) // LANES, self.n, LANES), np.nan)
        cdef Py_ssize_t group
        if self.n and numbers.shape[0]:
            self.prepare(q, rows, numbers)
            for group in range(tiles.shape[0]):
                if self.tile_c(q, group, &slots[0], self.n, &tiles[group, 0, 0]) < 0:
                    self.reraise()
        return np.asarray(tiles).transpose(0, 2, 1).reshape(tiles.shape[0] * LANES, self.n)[:numbers.shape[0]]

    def probe(self):
        """Kernel values as a flat fingerprint, to recognise another function of the same name; None if the kernel is no Python function."""
        return None

    def few_values(self):
        """Kernel values between a few of the rows held."""
        few = self.select(np.unique(np.linspace(0, self.n - 1, min(self.n, PROBED)).astype(np.intp)))
        if not few.n:
            return np.zeros(0)
        rows = Rows(few.support())
        return few.values(rows.canonical() if rows.sparse else rows).ravel()

    def reraise(self):
        """Raises why a method failed."""
        raise_interruption()
        error, self.error = self.error, None
        raise error if error is not None else PluginError("the kernel failed; another thread has already raised the reason.")


# ---- listed rows ----
# Stored rows whose slots are the entries of a list: for what is no row of numbers, or compared by a function of Python.
#
# Typical sizes: 10^2..10^5 entries. Cost: 0.1 us to hold one, and what `taken` costs.


cdef class ListedKernelRows(KernelRows):
    """A subclass gives `taken`, and what a `KernelRows` needs besides."""

    def taken(self, rows, row, number):
        """The entry for a row of X with this number over all training data. Raises an error if it cannot be compared."""
        raise self.missing("taken")

    def copy_slot(self, Py_ssize_t to, Py_ssize_t slot, KernelRows source):
        self.held[to] = (<ListedKernelRows> source).held[slot]

    def truncate(self, Py_ssize_t n):
        del self.held[n:]
        self.n = n

    def reserve(self, Py_ssize_t n):
        pass

    cdef int append_c(self, Example x, Py_ssize_t row, int64_t number) noexcept nogil:
        with gil:
            try:
                self.held.append(self.taken(x.source, x.first_row + row, number))
                self.n += 1
                return 0
            except BaseException as error:
                self.error = error
                return -1

    cdef int overwrite_c(self, Py_ssize_t slot, Example x, Py_ssize_t row, int64_t number) noexcept nogil:
        with gil:
            try:
                self.held[slot] = self.taken(x.source, x.first_row + row, number)
                return 0
            except BaseException as error:
                self.error = error
                return -1


# ---- compared rows ----
# Stored rows that Python code compares with rows of X, a tile at a time.
#
# Typical sizes: 10^2..10^4 rows. Cost: a call for 64 stored rows and 16 others at a time.


cdef class RowsQueries(Queries):
    """The data set, and which rows of it stand in the lanes."""


cdef class ComparedKernelRows(ListedKernelRows):
    """Rows that are compared in Python: rows of X with stored entries, many at once. A subclass gives `taken`, `compared` and the rest."""

    def start(self, context):
        self.held, self.n, self.n_features, self.sparse = [], 0, context.n_features, context.sparse

    def empty(self):
        cdef ComparedKernelRows other = self.fresh()
        other.held, other.n, other.expensive, other.n_features, other.sparse = [], 0, self.expensive, self.n_features, self.sparse
        return other

    def select(self, slots):
        cdef ComparedKernelRows other = self.empty()
        other.held, other.n = [self.held[slot] for slot in slots], len(slots)
        return other

    def queries(self):
        return RowsQueries()

    def prepare(self, Queries q, Rows rows, const int64_t[::1] which):
        (<RowsQueries> q).rows, (<RowsQueries> q).which, q.n = rows, np.array(which), which.shape[0]

    def matrix(self, Rows rows, which):
        """Rows of X, sparse where those of the training are."""
        from scipy.sparse import csr_array, issparse
        X = rows.X[which]
        return X if issparse(X) == self.sparse else csr_array(X) if self.sparse else X.toarray()

    def compared(self, Rows rows, which, entries):
        """The kernel between rows of X and entries held, (rows, entries)."""
        raise self.missing("compared")

    cdef int tile_c(self, Queries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) noexcept nogil:
        cdef Py_ssize_t i, lane
        cdef const double[:, :] found
        with gil:
            try:
                which = (<RowsQueries> q).which[group * LANES:(group + 1) * LANES]
                found = self.compared((<RowsQueries> q).rows, which, [self.held[slots[i]] for i in range(n)])
                for i in range(n):
                    for lane in range(LANES):
                        values[i * LANES + lane] = found[min(lane, found.shape[0] - 1), i]
                return 0
            except BaseException as error:
                self.error = error
                return -1
