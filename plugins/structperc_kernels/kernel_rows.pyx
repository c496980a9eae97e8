"""Stored rows, and the kernel between them and the rows of an example.

Rows are stored in slots. Rows to be scored are prepared as queries, sixteen side by side ("lanes"), so that one pass over a stored
row compares it with sixteen. What stands in a lane depends on the row in this lane alone: a row has the same bits among others as alone.

Typical sizes: 10^2..10^5 rows of 2..1000 features, or as many trees; 16..256 queries at a time.
"""
import inspect
import numpy as np

from libc.stdint cimport int64_t
from structperc.core.component cimport Component
from structperc.errors import PluginError
from structperc.plugin_tools import raise_interruption
from structperc.core.rows cimport Example, Rows

PROBED = 4                      # rows that tell whether a function is the same


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
        """Takes the form of the data (n_features, sparse, objects); refuses data without a storage form."""

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
        """Puts a copy of a row of `source`, perhaps this object itself, in place of a row of this one."""
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

        Rows that are `expensive` may leave alone each value that is not NaN.
        """
        with gil:
            self.error = self.missing("tile")
        return -1

    def append(self, Rows rows, Py_ssize_t row, number=None):
        """Copies row `row` of X to slot n; `number` is its number over all training data, by default that in X."""
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
        """Kernel values by which another function of the same name is told, flat; None where the kernel is no function of Python."""
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
