# distutils: extra_compile_args = GLUE
"""Stored objects that are no rows of numbers, compared pair by pair.

Typical sizes: 10^2..10^5 trees or strings. Cost: 0.1 to 50 us a value for compiled kernels; a function of Python adds 0.1 us.
"""
import numpy as np

from libc.stdint cimport int64_t
from structperc.core.rows cimport Rows
from structperc.core.signals cimport interrupted
from structperc.errors import DataError, PluginError, shortened
from structperc.plugin_tools import check_starts, read_array
from structperc_kernels.kernel_rows cimport LANES, ComparedKernelRows, KernelRows, ListedKernelRows, Queries
from structperc_kernels.object_kernels cimport Encoded, ObjectKernel


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
        found = self.encode(rows, row)
        self.largest = max(self.largest, self.size(found))
        return found

    cdef encode(self, Rows rows, Py_ssize_t row):
        if self.compiled is None:
            return rows.X[row]
        cdef dict known = self.of_fit if rows is self.fit_rows else self.of_block if rows is self.block_rows else {}
        found = known.get(row)
        if found is None:
            try:
                found = self.compiled.encode(rows.X[row], self.learns)
            except DataError as error:
                raise DataError(f"X[{row}]: {error}") from None
            if rows is self.fit_rows:
                known[row] = found
        return found

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
        found = self.kernel(self.matrix(rows, which), stacked(entries))
        found = found.toarray() if hasattr(found, "toarray") else np.asarray(found)     # of sparse rows it may be sparse
        if found.shape != (len(which), len(entries)) or found.dtype.kind not in "fiub":
            raise PluginError(f"the kernel {self.kernel!r} returned an array of shape {found.shape} and type {found.dtype} for "
                              f"{len(which)} and {len(entries)} rows. Return numbers of shape {(len(which), len(entries))}.")
        return found.astype(float)

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
