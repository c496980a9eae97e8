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
from structperc.core.signals cimport interrupted
from structperc.errors import DataError, PluginError, shortened
from structperc.plugin_tools import check_starts, raise_interruption, read_array
from structperc_kernels.object_kernels cimport Encoded, ObjectKernel


# ---- kernel rows ----


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

        Parameters
        ----------
        rows : Rows
            The first training data.

        Raises
        ------
        DataError
            If the kernel cannot compare these rows.
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
        """Makes storage of the same kind and with the same parameters, without rows.

        Returns
        -------
        KernelRows
        """
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
        """Copies some of the stored rows.

        Parameters
        ----------
        slots : sequence of int

        Returns
        -------
        KernelRows
            The copies, in the order of `slots`.
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

        Parameters
        ----------
        rows : Rows
        row : int

        Returns
        -------
        bytes or None
            The same for equal rows and only for these; None, the default, if rows cannot be compared.
        """
        return None

    def queries(self):
        """Makes an empty object for `prepare` to fill.

        Returns
        -------
        Queries
        """
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
        """Shows the stored rows in the form of X.

        Returns
        -------
        array, sparse array or list
        """
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
        """The kernel between rows of X and all stored rows.

        Parameters
        ----------
        rows : Rows
        which : sequence of int, optional
            Row numbers of X; by default all.

        Returns
        -------
        float64 array of shape (len(which), n)
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

        Returns
        -------
        float64 array or None
            None if the kernel is no Python function.
        """
        return None

    def few_values(self):
        """The kernel between a few of the stored rows.

        Returns
        -------
        float64 array
            Flat, at most 16 values.
        """
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


# ---- listed rows ----
# Stored rows whose slots are the entries of a list: for what is no row of numbers, or compared by a function of Python.
#
# Typical sizes: 10^2..10^5 entries. Cost: 0.1 us to hold one, and what `read_array` costs.


cdef class ListedKernelRows(KernelRows):
    """Base class: stored rows in a Python list. A subclass defines `read_array` and the other methods of `KernelRows`.

    Examples
    --------
    >>> from structperc_kernels import KernelObjects, ListedKernelRows
    >>> issubclass(KernelObjects, ListedKernelRows)
    True
    """

    def copied_row(self, rows, row, number):
        """Makes the list entry for a row of X.

        Parameters
        ----------
        rows : Rows
        row : int
            The row number in X.
        number : int
            The row number in all training data.

        Returns
        -------
        object

        Raises
        ------
        DataError
            If the kernel cannot compare the row.
        """
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
                self.held.append(self.copied_row(x.source, x.first_row + row, number))
                self.n += 1
                return 0
            except BaseException as error:
                self.error = error
                return -1

    cdef int overwrite_c(self, Py_ssize_t slot, Example x, Py_ssize_t row, int64_t number) noexcept nogil:
        with gil:
            try:
                self.held[slot] = self.copied_row(x.source, x.first_row + row, number)
                return 0
            except BaseException as error:
                self.error = error
                return -1


# ---- compared rows ----
# Stored rows that Python code compares with rows of X, a tile at a time.
#
# Typical sizes: 10^2..10^4 rows. Cost: a call for 64 stored rows and 16 others at a time.


cdef class RowsQueries(Queries):
    """The data set, and the numbers of its rows in the lanes."""


cdef class ComparedKernelRows(ListedKernelRows):
    """Base class: stored rows that Python code compares with many rows of X at once. A subclass defines `read_array` and `compared`.

    Examples
    --------
    >>> from structperc_kernels import ComparedKernelRows, PrecomputedKernelRows
    >>> issubclass(PrecomputedKernelRows, ComparedKernelRows)
    True
    """

    def start(self, context):
        self.held, self.n, self.n_features, self.sparse = [], 0, context.n_features, context.sparse

    def empty(self):
        cdef ComparedKernelRows other = self.clone()
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
        """Rows of X in the format of the training data.

        Parameters
        ----------
        rows : Rows
        which : slice or int array
            Row numbers of X.

        Returns
        -------
        array or scipy.sparse.csr_array of shape (len(which), n_features)
            Sparse if the training data are.
        """
        from scipy.sparse import csr_array, issparse
        X = rows.X[which]
        return X if issparse(X) == self.sparse else csr_array(X) if self.sparse else X.toarray()

    def compared(self, Rows rows, which, entries):
        """The kernel between rows of X and stored entries.

        Parameters
        ----------
        rows : Rows
        which : int array
            Row numbers of X.
        entries : list
            Results of `read_array`.

        Returns
        -------
        float64 array of shape (len(which), len(entries))
        """
        raise self.missing("compared")

    cdef int tile_c(self, Queries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) noexcept nogil:
        cdef Py_ssize_t i, lane
        cdef const double[:, :] kernel_values
        with gil:
            try:
                which = (<RowsQueries> q).which[group * LANES:(group + 1) * LANES]
                kernel_values = self.compared((<RowsQueries> q).rows, which, [self.held[slots[i]] for i in range(n)])
                for i in range(n):
                    for lane in range(LANES):
                        values[i * LANES + lane] = kernel_values[min(lane, kernel_values.shape[0] - 1), i]
                return 0
            except BaseException as error:
                self.error = error
                return -1


# ---- kernel objects ----
# Stored objects that are no rows of numbers, compared pair by pair.
#
# Typical sizes: 10^2..10^5 trees or strings. Cost: 0.1 to 50 us a value for compiled kernels; a function of Python adds 0.1 us.

# ---- kernel objects ----


cdef enum:
    OFTEN = 1 << 9              # operations of a value that does not ask whether to stop


cdef class ObjectQueries(Queries):
    """Encoded objects, and the scratch space to compare them in."""

    cdef list encoded
    cdef double[::1] work

    def __cinit__(self):
        self.work = None


cdef class KernelObjects(ListedKernelRows):
    """Objects and a kernel on them. It stores `Encoded` objects, or the objects themselves if the kernel is a Python function.

    Parameters
    ----------
    kernel : ObjectKernel or callable
        A callable returns a number for two objects. It must be symmetric and positive semidefinite, which is not checked.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from structperc.components import Rows
    >>> from structperc_kernels import KernelObjects, SubsequenceKernel
    >>> words = KernelObjects(SubsequenceKernel(length=2, decay=0.5))
    >>> words.start(SimpleNamespace(objects=True))
    >>> rows = Rows(["cat", "car", "bat"])
    >>> words.append(rows, 0)
    >>> words.support(), words.values(rows).round(3).tolist()
    (['cat'], [[1.0], [0.444], [0.444]])
    """

    cdef readonly object kernel
    cdef ObjectKernel compiled              # None: a function of Python
    cdef bint learns                        # whether the kernel is to know the symbols of what it is asked about
    cdef Py_ssize_t largest                 # of the sizes of objects held
    cdef Rows fit_rows                      # the data of a fit, and
    cdef dict of_fit                        # of these, what was encoded
    cdef Rows block_rows                    # the data of the last queries, and
    cdef dict of_block                      # these

    def __init__(self, kernel):
        self.kernel = kernel

    def start(self, context):
        if not context.objects:
            raise DataError(f"X has rows of numbers, but the kernel {self.kernel!r} compares objects; pass a list of them.")
        self.begin(self.kernel.clone() if isinstance(self.kernel, ObjectKernel) else self.kernel, True)

    cdef begin(self, kernel, bint learns):
        self.compiled = kernel if isinstance(kernel, ObjectKernel) else None
        self.kernel, self.learns = kernel, learns
        self.held, self.n, self.largest, self.expensive = [], 0, 0, True
        self.end_fit()

    def begin_fit(self, rows):
        self.fit_rows, self.of_fit = rows, {}

    def end_fit(self):
        self.fit_rows = self.block_rows = None
        self.of_fit, self.of_block = {}, {}

    def empty(self):
        cdef KernelObjects other = KernelObjects(self.kernel)
        other.begin(self.kernel, self.learns)
        other.fit_rows, other.of_fit = self.fit_rows, self.of_fit
        return other

    def select(self, slots):
        cdef KernelObjects other = self.empty()
        other.end_fit()
        other.learns = False
        other.hold([self.held[slot] for slot in slots])
        return other

    cdef hold(self, objects):
        self.held, self.n = objects, len(objects)
        self.largest = max([self.size(one) for one in objects], default=0)

    cdef Py_ssize_t size(self, one) except -1:
        return (<Encoded> one).size if self.compiled is not None else 0

    def copy_slot(self, Py_ssize_t to, Py_ssize_t slot, KernelRows source):
        ListedKernelRows.copy_slot(self, to, slot, source)
        self.largest = max(self.largest, self.size(self.held[to]))

    def copied_row(self, Rows rows, Py_ssize_t row, number):
        entry = self.encode(rows, row)
        self.largest = max(self.largest, self.size(entry))
        return entry

    cdef encode(self, Rows rows, Py_ssize_t row):
        if self.compiled is None:
            return rows.X[row]
        cdef dict cache = self.of_fit if rows is self.fit_rows else self.of_block if rows is self.block_rows else {}
        entry = cache.get(row)
        if entry is None:
            try:
                entry = self.compiled.encode(rows.X[row], self.learns)
            except DataError as error:
                raise DataError(f"X[{row}]: {error}") from None
            if rows is self.fit_rows:
                cache[row] = entry
        return entry

    def key(self, Rows rows, Py_ssize_t row):
        """Objects are the same where their symbols are; those that only a function of Python knows are not compared."""
        if self.compiled is None:
            return None
        return repr((<Encoded> self.encode(rows, row)).key()).encode("utf-8", "surrogatepass")

    def queries(self):
        return ObjectQueries()

    def prepare(self, Queries q, Rows rows, const int64_t[::1] which):
        cdef ObjectQueries queries = <ObjectQueries> q
        cdef Py_ssize_t largest, held
        queries.encoded = [self.encode(rows, which[i]) for i in range(which.shape[0])]
        queries.n = which.shape[0]
        if self.learns and self.compiled is not None:
            self.block_rows, self.of_block = rows, dict(zip(which, queries.encoded, strict=True))
        if self.compiled is not None:
            largest = max([self.size(one) for one in queries.encoded], default=0)
            held = max(self.largest, largest)                   # rows may join while these queries are in use
            if queries.work is None or queries.work.shape[0] <= self.compiled.room_c(largest, held):
                queries.work = self.scratch(largest, held)

    def scratch(self, Py_ssize_t size, Py_ssize_t held):
        """Allocates the scratch space of a comparison with stored objects.

        Parameters
        ----------
        size, held : int
            The largest `Encoded.size` of the queries, and of the stored objects.

        Returns
        -------
        float64 array

        Raises
        ------
        DataError
            If there is not enough memory.
        """
        try:
            return self.compiled.scratch(size, held)
        except DataError as error:
            raise DataError(f"the largest object of X cannot be compared: {error}") from None

    cdef int tile_c(self, Queries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) noexcept nogil:
        if interrupted(n * LANES * OFTEN):
            return -1
        with gil:
            try:
                return self.compare(<ObjectQueries> q, group, slots, n, values)
            except BaseException as error:
                self.error = error
                return -1

    cdef int compare(self, ObjectQueries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) except? -1:
        """The values of `tile_c`; -1 where one was interrupted."""
        cdef Py_ssize_t i, lane, first = group * LANES, lanes = min(<Py_ssize_t> LANES, q.n - group * LANES)
        cdef const void *queries[LANES]
        cdef const void *one
        cdef double *value
        cdef double *work
        if self.compiled is None:
            for i in range(n):
                for lane in range(LANES):
                    value = &values[i * LANES + lane]
                    if value[0] != value[0]:
                        value[0] = 0 if lane >= lanes else self.asked(q.encoded[first + lane], self.held[slots[i]])
            return 0
        work = &q.work[0]
        for lane in range(lanes):
            queries[lane] = (<Encoded> q.encoded[first + lane]).at
        for i in range(n):
            one = (<Encoded> self.held[slots[i]]).at
            with nogil:
                for lane in range(LANES):
                    value = &values[i * LANES + lane]
                    if value[0] != value[0]:
                        value[0] = 0 if lane >= lanes else self.compiled.value_c(queries[lane], one, work)
                        if value[0] != value[0]:
                            return -1
        return 0

    def asked(self, a, b):
        """Calls the user's function.

        Parameters
        ----------
        a, b : object
            Entries of X.

        Returns
        -------
        float

        Raises
        ------
        PluginError
            If the function returns no number.
        """
        value = self.kernel(a, b)
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            raise PluginError(f"the kernel {self.kernel!r} returned {shortened(value, 80)} for two objects; expected a number.") from None

    def support(self):
        return [one.original if self.compiled is not None else one for one in self.held]

    def state(self):
        if self.compiled is not None:
            return self.compiled.state(self.held)
        other = [one for one in self.held if not isinstance(one, str) or one.endswith("\0")]
        if other:
            raise PluginError(f"objects such as {shortened(other[0], 80)} cannot be written to a model file. If the kernel is a Python "
                              f"function, objects must be strings that do not end in a zero character.")
        return {"objects": np.array(self.held, dtype=str)}

    def fingerprint(self):
        return None if self.compiled is not None else self.few_values()

    def restore(self, state):
        self.hold(read_array(state, "objects", str, (None,)).tolist() if self.compiled is None else self.compiled.restore(state))


# ---- callable rows ----
# Rows that the user's function compares.
#
# Typical sizes: 10^2..10^4 rows. Cost: the function is called for 64 stored rows and 16 others at a time.


FLOATS, INTEGERS = (np.float64, np.float32), (np.int32, np.int64)


cdef class CallableKernelRows(ComparedKernelRows):
    """Rows that a Python function compares.

    Parameters
    ----------
    kernel : callable
        kernel(A, B) for matrices of shapes (m, d) and (n, d), sparse if X is, returns an (m, n) array. It must be symmetric and positive
        semidefinite, which is not checked.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from structperc.components import Rows
    >>> from structperc_kernels import CallableKernelRows
    >>> kernel_rows = CallableKernelRows(lambda A, B: A @ B.T)
    >>> kernel_rows.start(SimpleNamespace(n_features=2, sparse=False))
    >>> rows = Rows(np.array([[1.0, 0.0], [3.0, 4.0]]))
    >>> kernel_rows.append(rows, 1)
    >>> kernel_rows.values(rows).tolist()
    [[3.0], [25.0]]
    """

    cdef object kernel

    def __init__(self, kernel):
        self.kernel, self.expensive = kernel, True

    def copied_row(self, Rows rows, Py_ssize_t row, number):
        return self.matrix(rows, slice(row, row + 1)).copy()

    def key(self, Rows rows, Py_ssize_t row):
        X = self.matrix(rows, slice(row, row + 1))
        if isinstance(X, np.ndarray):
            return (X + 0.0).astype(float).tobytes()            # -0.0 + 0.0 = 0.0
        there = X.data != 0
        return X.indices[there].astype(np.int64).tobytes() + X.data[there].astype(float).tobytes()

    def compared(self, Rows rows, which, entries):
        values = self.kernel(self.matrix(rows, which), stacked(entries))
        values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)     # of sparse rows it may be sparse
        if values.shape != (len(which), len(entries)) or values.dtype.kind not in "fiub":
            raise PluginError(f"the kernel {self.kernel!r} returned an array of shape {values.shape} and type {values.dtype} for "
                              f"{len(which)} and {len(entries)} rows. Return numbers of shape {(len(which), len(entries))}.")
        return values.astype(float)

    def support(self):
        return stacked(self.held) if self.held else np.zeros((0, self.n_features))

    def state(self):
        rows = self.support()
        return {"rows": rows} if isinstance(rows, np.ndarray) else {"values": rows.data, "indices": rows.indices, "indptr": rows.indptr}

    def fingerprint(self):
        return self.few_values()

    def restore(self, state):
        if self.sparse == ("rows" in state):
            raise DataError(f"the saved rows are {'dense' if self.sparse else 'sparse'}, but the rows of the training are not.")
        rows = self.saved_csr(state) if self.sparse else read_array(state, "rows", FLOATS, (None, self.n_features))
        self.held, self.n = [rows[i:i + 1] for i in range(rows.shape[0])], rows.shape[0]

    def saved_csr(self, state):
        """Reads the sparse rows of a saved state.

        Parameters
        ----------
        state : dict of arrays
            "values", "indices" and "indptr", as `state` returns them.

        Returns
        -------
        scipy.sparse.csr_array of shape (n, n_features)

        Raises
        ------
        DataError
            If an array is missing or invalid.
        """
        from scipy.sparse import csr_array
        values = read_array(state, "values", FLOATS, (None,))
        indices = read_array(state, "indices", INTEGERS, (len(values),), low=0, high=self.n_features - 1)
        starts = read_array(state, "indptr", INTEGERS, (None,))
        check_starts("row starts", starts, len(values))
        return csr_array((values, indices, starts), shape=(len(starts) - 1, self.n_features))


def stacked(rows):
    """Rows, each a matrix of one row, as one matrix."""
    from scipy.sparse import vstack
    return np.concatenate(rows) if isinstance(rows[0], np.ndarray) else vstack(rows, format="csr")


# ---- precomputed rows ----
# All kernel values beforehand: X[i, j] is the kernel of row i with row j of the training data.
#
# Typical sizes: 10^2..10^4 rows. Cost: reading a value.


cdef class PrecomputedKernelRows(ComparedKernelRows):
    """Precomputed kernel values: X[i, j] is the kernel of row i with row j of all training data. A slot has a column's number.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from structperc.components import Rows
    >>> from structperc_kernels import PrecomputedKernelRows
    >>> kernel_rows = PrecomputedKernelRows()
    >>> kernel_rows.start(SimpleNamespace(n_features=2, sparse=False, objects=False))
    >>> rows = Rows(np.array([[1.0, 0.25], [0.25, 1.0]]))
    >>> kernel_rows.append(rows, 1)
    >>> kernel_rows.values(rows).tolist()
    [[0.25], [1.0]]
    """

    def start(self, context):
        if context.sparse or context.objects:
            raise DataError(f"X is {'sparse' if context.sparse else 'a list of objects'}, but kernel='precomputed' needs an array of "
                            f"kernel values. Pass a row for each example and a column for each training example.")
        ComparedKernelRows.start(self, context)

    def settle_parameters(self, Rows rows):
        if rows.n_features < rows.n_rows:
            raise DataError(f"kernel='precomputed': X has {rows.n_rows} rows and {rows.n_features} columns; training needs a column for "
                            f"each row.")

    def copied_row(self, Rows rows, Py_ssize_t row, number):
        if number >= rows.n_features:
            raise DataError(f"kernel='precomputed': row {row} of X is row {number} of all training data. X has no column for it; it "
                            f"has {rows.n_features}.")
        return number

    def compared(self, Rows rows, which, entries):
        return self.matrix(rows, which)[:, entries].astype(float)

    def support(self):
        return np.array(self.held, dtype=np.int64)

    def state(self):
        return {"columns": self.support()}

    def restore(self, state):
        self.held = read_array(state, "columns", np.int64, (None,), low=0, high=self.n_features - 1).tolist()
        self.n = len(self.held)
