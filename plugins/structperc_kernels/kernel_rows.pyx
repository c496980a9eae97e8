# distutils: extra_compile_args = CALLS
"""Stored rows, and the kernel between them and the rows of an example.

Rows are stored in slots. Rows to be scored are prepared as queries, sixteen side by side ("lanes"). One pass over a stored
row compares it with all sixteen. A lane depends only on its own row, so a row has the same bits among others as by itself.

Typical sizes: 10^2..10^5 rows of 2..1000 features, or as many trees; 16..256 queries at a time.
"""
import inspect

import numpy as np

from libc.stdint cimport int64_t
from structperc.basics.signals cimport interrupted
from structperc.core.component cimport Component
from structperc.core.rows cimport Example, Rows
from structperc.errors import DataError, PluginError, shortened
from structperc.plugin_tools import check_starts, raise_interruption, read_array
from structperc_kernels.object_kernels cimport Encoded, ObjectKernel


PROBED = 4                      # rows by which two functions are compared


cdef class Queries:
    """Rows of a data set, prepared to be compared with stored rows; one thread's own.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from structperc.components import Rows
    >>> from structperc_kernels import DenseKernelRows
    >>> kernel_rows = DenseKernelRows("linear")
    >>> kernel_rows.start(SimpleNamespace(n_features=2, objects=False))
    >>> queries = kernel_rows.queries()
    >>> kernel_rows.prepare(queries, Rows(np.eye(2)), np.array([1]))
    >>> len(queries)
    1
    """

    __signature__ = inspect.Signature()

    def __len__(self):
        return self.n


cdef class KernelRows(Component):
    """Base class: rows in slots, and the kernel.

    A subclass overrides these methods except `values`. `start` is called once, before the first row. Check the data there or in
    `settle_parameters`, so that `append` can fail only for lack of memory.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from structperc.components import Rows
    >>> from structperc_kernels import DenseKernelRows, KernelRows
    >>> kernel_rows = DenseKernelRows("linear")
    >>> isinstance(kernel_rows, KernelRows)
    True
    >>> kernel_rows.start(SimpleNamespace(n_features=2, objects=False))
    >>> rows = Rows(np.array([[1.0, 0.0], [3.0, 4.0]]))
    >>> kernel_rows.append(rows, 1)
    >>> kernel_rows.values(rows, which=[0]).tolist()
    [[3.0]]
    """

    def __cinit__(self, *args, **kwargs):
        self.rows_per_tile = 256

    def start(self, context):
        """Reads the form of the data (n_features, sparse, objects); raises an error if there is no storage for it."""

    def settle_parameters(self, Rows rows) -> None:
        """Sets the parameters that depend on the first data, such as gamma="scale"; called before any step.
        Raises `DataError` if the kernel cannot compare these rows.

        Parameters
        ----------
        rows : Rows
            The first training data.
        """

    def begin_fit(self, rows) -> None:
        """Announces the data that every pass of a fit visits.

        Parameters
        ----------
        rows : Rows
        """

    def end_fit(self) -> None:
        """Releases the data of a fit when it is over."""

    def empty(self):
        """Makes storage of the same kind and with the same parameters, without rows. Returns `KernelRows`."""
        raise self.missing("empty")

    def reserve(self, Py_ssize_t n) -> None:
        """Makes room for n rows in all.

        Parameters
        ----------
        n : int
        """
        raise self.missing("reserve")

    def truncate(self, Py_ssize_t n) -> None:
        """Removes the rows from slot n on.

        Parameters
        ----------
        n : int
        """
        self.n = n

    def select(self, slots):
        """Copies some of the stored rows. Returns `KernelRows`. The copies, in the order of `slots`.

        Parameters
        ----------
        slots : sequence of int
        """
        raise self.missing("select")

    def copy_slot(self, Py_ssize_t to, Py_ssize_t slot, KernelRows source) -> None:
        """Overwrites a stored row with a copy of another.

        Parameters
        ----------
        to : int
            The slot that is overwritten.
        slot : int
            The slot of `source` that is copied.
        source : KernelRows
            Of the same kind; may be this object.
        """
        raise self.missing("copy_slot")

    def key(self, Rows rows, Py_ssize_t row):
        """Identifies a row, so that equal rows can be merged.
        Returns a bytes or None. The same for equal rows and only for these; None, the default, if rows cannot be compared.

        Parameters
        ----------
        rows : Rows
        row : int
        """
        return None

    def queries(self):
        """Makes an empty object for `prepare` to fill. Returns `Queries`."""
        raise self.missing("queries")

    def prepare(self, Queries q, Rows rows, const int64_t[::1] which) -> None:
        """Fills queries with rows of X, one a lane.

        Parameters
        ----------
        q : Queries
        rows : Rows
        which : int64 array
            Row numbers of X.
        """
        raise self.missing("prepare")

    def support(self):
        """Shows the stored rows in the form of X. Returns an array, sparse array or list."""
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

    def append(self, Rows rows, Py_ssize_t row, number=None) -> None:
        """Stores a copy of a row of X in slot n.

        Parameters
        ----------
        rows : Rows
        row : int
            The row number in X.
        number : int, optional
            The row number in all training data; by default `row`.
        """
        cdef Example x = Example()
        x.look_at(rows)
        rows.load_row(row, x)
        self.reserve(self.n + 1)
        if self.append_c(x, 0, row if number is None else number) < 0:
            self.reraise()

    def values(self, Rows rows, which=None):
        """The kernel between rows of X and all stored rows. Returns a float64 array of shape (len(which), n).

        Parameters
        ----------
        rows : Rows
        which : sequence of int, optional
            Row numbers of X; by default all.
        """
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

    def fingerprint(self):
        """Kernel values as a flat fingerprint, to recognise another function of the same name.
        Returns a float64 array or None. None if the kernel is no Python function.
        """
        return None

    def few_values(self):
        """The kernel between a few of the stored rows. Returns a float64 array. Flat, at most 16 values."""
        few = self.select(np.unique(np.linspace(0, self.n - 1, min(self.n, PROBED)).astype(np.intp)))
        if not few.n:
            return np.zeros(0)
        rows = Rows(few.support())
        return few.values(rows.canonical() if rows.sparse else rows).ravel()

    def reraise(self) -> None:
        """Raises the error of a compiled method that failed.

        Raises
        ------
        KeyboardInterrupt
            If Ctrl-C was pressed.
        Exception
            The error that the method kept.
        """
        raise_interruption()
        error, self.error = self.error, None
        raise error if error is not None else PluginError("the kernel failed; another thread has already raised the reason.")


include "kernel_rows.listed.pxi"
include "kernel_rows.compared.pxi"
include "kernel_rows.objects.pxi"
include "kernel_rows.callables.pxi"
include "kernel_rows.precomputed.pxi"
