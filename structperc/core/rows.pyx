"""Examples as blocks of rows of X, read in place.

Typical sizes: 10^2..10^7 examples of one row, or 10^4 of 10..100 rows. Pointing at an example costs about 1 ns.
"""
import numpy as np

from cpython.buffer cimport (PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_STRIDES, PyBuffer_IsContiguous, PyBuffer_Release,
                             PyObject_GetBuffer)
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc, qsort
from libc.string cimport memset
from structperc.basics.errors import PluginError, shortened
from structperc.basics.signatures import ClassSignature
from structperc.core.inner_products cimport (SP_DENSE_F64, SP_DENSE_F32, SP_CSR_F64_I32, SP_CSR_F64_I64, SP_CSR_F32_I32,
                                             SP_CSR_F32_I64, SP_OBJECTS, sp_blocks, sp_inner, widest_inner)
from structperc.core.joined import Joined


cdef enum:
    INDPTR = 0
    OFFSETS = 1
    SHOWN = 10              # offsets in a message
    IN_CACHE = 1 << 15      # values of a block that is turned into rows
    TALL = 512              # its rows: a page of each column, whose lines the CPU fetches by itself


ctypedef fused index_t:
    int32_t
    int64_t


cdef int refuse_layout(X) except -1:
    """Raises an error for an array that is no C-contiguous matrix of float64 or float32."""
    if X.ndim != 2 or X.dtype not in (np.float64, np.float32) or not X.flags.c_contiguous:
        order = "" if X.flags.c_contiguous else ", not in C order"
        raise PluginError(f"Rows was given an array of shape {X.shape} and type {X.dtype}{order}; "
                          f"expected a C-contiguous matrix of float64 or float32.")
    return 0


cdef int refuse_starts(const index_t *starts, Py_ssize_t n_starts, Py_ssize_t n_parts, Py_ssize_t n, bint offsets) except -1:
    """Raises an error unless neighbouring numbers bound parts of n rows (`offsets`) or entries."""
    cdef Py_ssize_t i
    cdef int64_t before = 0
    cdef bint right = n_starts == n_parts + 1
    for i in range(n_starts):
        right &= before <= starts[i]
        before = starts[i]
    if right and before <= n:
        return 0
    listing = shortened([starts[i] for i in range(n_starts)] if n_starts <= SHOWN else [*[starts[i] for i in range(SHOWN)], before])
    what, unit = ("offsets", "rows") if offsets else ("indptr of X", "entries")
    raise PluginError(f"Rows was given the {what} {listing}; expected {n_parts + 1} numbers that never fall, from 0 to {n} {unit}.")


cdef class Example:
    """One example as the parts see it: a block of rows of X, or one object.

    The loop uses the same `Example` again and again; do not keep it after the call that received it.

    Attributes
    ----------
    index : int
        Number of the example in the data set, from 0.
    rows : ndarray of shape (n_rows, n_features)
        Its rows: a read-only view of dense X, a dense copy of sparse X (see `sparse_rows`). They are in the units of the user. Only feature
        maps and weight stores see them on one scale while a model is trained with `scale`.
    sparse_rows : scipy.sparse.csr_array
        Its rows in sparse form.
    keys : float64 array of shape (n_rows, n_keys)
        Keys of the rows apart from the features, from `structperc.components.KeyedReader`.
    object : object
        The example itself, if X is a list of objects.
    n_rows, n_features, n_atoms : int
        Numbers of its rows, columns and atoms.
    bound : float
        Upper bound on how much larger another structure's score may be than that of the last search. 0 if the solver is exact. An
        approximate solver sets it in each search, to infinity if it is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import Rows
    >>> x = Rows(np.array([[1.0, 2.0], [3.0, 4.0]])).example(1)
    >>> x.index, x.rows.tolist()
    (1, [[3.0, 4.0]])
    """

    __signature__ = ClassSignature()

    def __cinit__(self, *args, **kwargs):
        self._work = self._counts = None

    def __init__(self, Rows source=None, index: int = 0):
        cdef Py_ssize_t number
        if source is not None:
            self.look_at(source)
            try:
                number = index
            except (TypeError, OverflowError):
                raise PluginError(f"Example was given the index {shortened(index)}; expected a whole number from 0 to "
                                  f"{source.n_examples - 1}.") from None
            if not 0 <= number < source.n_examples:
                raise IndexError(f"example {index} of {source.n_examples}")
            if source.strided:                  # one of rows that compiled code can read
                self.look_at(source.part(number, number + 1).in_row_order())
                self.source.load(0, self)
                self.index = number
            else:
                source.load(number, self)

    def doubted(self):
        """The source of scores that are not finite, as the first half of a message; None if unknown. Returns a str or None."""
        return self.doubt[1] if self.doubt is not None and self.doubt[0] == self.index else None

    cdef int provide(self, Py_ssize_t n) except -1:
        """Makes sure that there is room for n doubles at `work`."""
        if n > 0 and (self._work is None or self._work.shape[0] < n):
            self._work = np.empty(n)
            self.work = &self._work[0]
        return 0

    cdef double *zeros(self) noexcept nogil:
        """n_atoms zeros for counts over atoms, until the next call; NULL where memory is short. Allocates only for more atoms."""
        if self._counts is None or self._counts.shape[0] < self.n_atoms:
            with gil:
                try:
                    self._counts = np.empty(max(self.n_atoms, 1))
                except MemoryError:
                    return NULL
        memset(&self._counts[0], 0, self.n_atoms * sizeof(double))
        return &self._counts[0]

    @property
    def n_rows(self):
        return self.block.n_rows

    @property
    def n_features(self):
        return self.block.n_features

    cdef Rows used(self):
        """The rows that it looks at; raises an error once it is no longer in use."""
        if self.source is None:
            raise PluginError("this example is no longer in use: copy what you need of it before the call that received it ends.")
        return self.source

    cdef shown(self):
        """The rows as whoever looks at them sees them."""
        cdef Rows source = self.used()
        if source.objects:
            raise TypeError("this example is an object, not rows: read x.object")
        if source.own is not None and not self.by_map:
            source = source.own
        part = source.X[self.first_row:self.first_row + self.block.n_rows]
        return np.ascontiguousarray(part) if source.strided else part

    @property
    def rows(self):
        part = self.shown()
        if not isinstance(part, np.ndarray):
            return part.toarray()
        part.flags.writeable = False
        return part

    @property
    def sparse_rows(self):
        from scipy.sparse import csr_array
        part = self.shown()
        return csr_array(part if isinstance(part, np.ndarray) else part.tocsr())

    @property
    def keys(self):
        keys = self.used().keys
        if keys is None:
            raise PluginError("the rows of this example have no keys; return a KeyedReader from structperc_reader.")
        return keys[self.first_row:self.first_row + self.block.n_rows]

    @property
    def blank(self):
        """Whether all its features are 0; False of an object."""
        if self.used().objects:
            return False
        part = self.source.X[self.first_row:self.first_row + self.block.n_rows]
        return not (part.tocsr().data if self.source.sparse else part).any()

    @property
    def object(self):
        return self.used().X[self.index]


cdef class Rows:
    """A data set: X, and where each example's rows begin.

    Layout, type and offsets are checked. The columns of a sparse X are checked when weights first read it (`summed`).
    `structperc.reading.matrices` checks and converts what users pass.

    Parameters
    ----------
    X : C-contiguous float32 or float64 array (n_rows, n_features), scipy CSR of float32 or float64, Joined, or list of objects
        Read in place, never copied or changed.
    offsets : int64 array of shape (n_examples + 1,), optional
        Rows of example i are offsets[i]:offsets[i + 1]. Default: each row is an example.
    feature_names : tuple of str, optional
        Names of the columns.

    Raises
    ------
    PluginError
        If layout, type or offsets are wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import Rows
    >>> rows = Rows(np.arange(6.0).reshape(3, 2), offsets=np.array([0, 2, 3]))
    >>> rows.n_examples, rows.example(0).rows.shape
    (2, (2, 2))
    """

    __signature__ = ClassSignature()

    def __init__(self, X, offsets=None, feature_names=None):
        cdef Py_buffer view
        if feature_names is not None and not isinstance(feature_names, tuple):
            raise PluginError(f"Rows was given the feature_names {shortened(feature_names)}; expected None or a tuple of texts.")
        self.feature_names = feature_names
        if isinstance(X, np.ndarray):
            refuse_layout(X)
            PyObject_GetBuffer(X, &view, PyBUF_C_CONTIGUOUS)
            self.attach_dense(X, &view)
            PyBuffer_Release(&view)             # X itself is kept alive
        elif isinstance(X, list):
            self.attach(X, len(X), 0, SP_OBJECTS)
        elif not (isinstance(X, Joined) or getattr(X, "format", "") == "csr"):
            raise PluginError(f"Rows was given {shortened(X)}; expected a matrix, a CSR matrix of SciPy, or a list of objects.")
        else:
            self.attach(X, X.shape[0], X.shape[1], 0)
            sparse_part = self.sparse_part
            self._attach_sparse(sparse_part.data, sparse_part.indices, sparse_part.indptr)
            if isinstance(X, Joined):
                refuse_layout(X.dense)
                PyObject_GetBuffer(X.dense, &view, PyBUF_C_CONTIGUOUS)
                self.whole.dense, self.whole.n_dense = view.buf, view.shape[1]
                self.whole.dense_layout = SP_DENSE_F64 if view.itemsize == 8 else SP_DENSE_F32
                PyBuffer_Release(&view)
        self.begin_examples(offsets)

    cdef int begin_examples(self, offsets) except -1:
        cdef const int64_t[::1] starts
        self.offsets = offsets
        if offsets is None:
            return 0
        try:
            starts = offsets
        except (TypeError, ValueError):
            raise PluginError(f"Rows was given the offsets {shortened(offsets)}; expected an int64 array.") from None
        refuse_starts(<const int64_t *> &starts[0], starts.shape[0], max(starts.shape[0] - 1, 0), self.n_rows, OFFSETS)
        self.starts = &starts[0]
        self.n_examples = starts.shape[0] - 1
        return 0

    cdef void attach(self, X, Py_ssize_t n_rows, Py_ssize_t n_features, int layout) noexcept:
        self.X, self.n_rows, self.n_examples, self.n_features = X, n_rows, n_rows, n_features
        self.whole.n_rows, self.whole.n_features, self.whole.layout = n_rows, n_features, layout

    cdef void attach_dense(self, X, const Py_buffer *view) noexcept:
        self.attach(X, view.shape[0], view.shape[1], SP_DENSE_F64 if view.itemsize == 8 else SP_DENSE_F32)
        self.whole.values, self.value_size = view.buf, view.itemsize

    def _attach_sparse(self, values, indices, indptr):
        cdef const double[::1] f64
        cdef const float[::1] f32
        cdef const int[::1] i32
        cdef const int64_t[::1] i64
        cdef Py_ssize_t n = min(len(values), len(indices))
        self._kept = (values, indices, indptr)
        self.value_size, self.index_size = values.itemsize, indices.itemsize
        if self.value_size == 8:
            f64 = values
            self.whole.values = &f64[0] if f64.shape[0] else NULL
        else:
            f32 = values
            self.whole.values = &f32[0] if f32.shape[0] else NULL
        if self.index_size == 4:
            i32 = indices
            self.whole.indices = &i32[0] if i32.shape[0] else NULL
            i32 = indptr
            refuse_starts(<const int32_t *> &i32[0], i32.shape[0], self.n_rows, n, INDPTR)
            self.whole.indptr = &i32[0]
            self.whole.layout = SP_CSR_F64_I32 if self.value_size == 8 else SP_CSR_F32_I32
        else:
            i64 = indices
            self.whole.indices = &i64[0] if i64.shape[0] else NULL
            i64 = indptr
            refuse_starts(<const int64_t *> &i64[0], i64.shape[0], self.n_rows, n, INDPTR)
            self.whole.indptr = &i64[0]
            self.whole.layout = SP_CSR_F64_I64 if self.value_size == 8 else SP_CSR_F32_I64

    def restrict(self, allowed) -> None:
        """Restrict Y(x) to the labels allowed for each row.

        Parameters
        ----------
        allowed : uint8 array of shape (n_rows, n_labels) or None
            allowed[i, k]: whether row i may have label k + 1. None: no restriction.
        """
        cdef const unsigned char[:, ::1] table
        self.allowed, self.allowed_at, self.allowed_width = None, NULL, 0
        if allowed is not None:
            table = allowed
            if table.shape[0] != self.n_rows:
                raise ValueError(f"allowed has {table.shape[0]} rows, but X has {self.n_rows}")
            self.allowed, self.allowed_width = allowed, table.shape[1]
            self.allowed_at = &table[0, 0] if table.shape[0] else NULL

    def condition(self, given) -> None:
        """Set what features of some atoms depend on, such as heads if labels are predicted.

        Parameters
        ----------
        given : int array of shape (n_rows,) or None
        """
        cdef const int[::1] answers
        self.first_stage, self.first_stage_at = None, NULL
        if given is not None:
            answers = given
            if answers.shape[0] != self.n_rows:
                raise ValueError(f"{answers.shape[0]} values are given, but X has {self.n_rows} rows")
            self.first_stage, self.first_stage_at = given, &answers[0] if answers.shape[0] else NULL

    def __len__(self):
        return self.n_examples

    def __reduce__(self):
        return type(self), (self.in_row_order().X, self.offsets, self.feature_names)

    @property
    def keys(self):
        """What each row is about, beside its features; None: nothing is known."""
        return None

    def part(self, start, stop):
        """The examples start..stop - 1, read in place. Returns `Rows`.

        Parameters
        ----------
        start, stop : int
        """
        first, last = (start, stop) if self.offsets is None else (self.offsets[start], self.offsets[stop])
        rows = self.like(self.X[first:last], None if self.offsets is None else self.offsets[start:stop + 1] - first, first, last)
        if self.allowed is not None:
            rows.restrict(self.allowed[first:last])
        if self.first_stage is not None:
            rows.condition(self.first_stage[first:last])
        rows.own = None if self.own is None else self.own.part(start, stop)
        return rows

    def like(self, X, offsets, first, last):
        """Rows of the same class over another X, instead of these rows first..last - 1. Returns `Rows`.

        Parameters
        ----------
        X : array, sparse matrix or list
        offsets : int64 array or None
        first, last : int
        """
        return in_any_order(X, offsets, self.feature_names) if self.strided else Rows(X, offsets, self.feature_names)

    def blocks(self):
        """Returns an iterator over pairs of a first example's number and `Rows` in row order.
        Rows in another order come as blocks that fit the cache."""
        cdef Py_ssize_t start = 0, stop, most
        if not self.strided:
            yield 0, self
            return
        most = max(1, min(TALL, IN_CACHE // max(1, self.n_features)))
        while start < self.n_examples:
            stop = start + most
            if self.offsets is not None:        # as many whole examples as have so many rows, at least one
                stop = max(start + 1, np.searchsorted(self.offsets, self.offsets[start] + most, side="right") - 1)
            stop = min(stop, self.n_examples)
            yield start, self.part(start, stop).in_row_order()
            start = stop

    cpdef Rows in_row_order(self):
        """Rows that compiled code reads in place. Returns `Rows`. These, or a copy of a matrix in another order."""
        cdef Rows rows
        if not self.strided:
            return self
        rows = Rows(as_rows(self.X), self.offsets, self.feature_names)
        rows.restrict(self.allowed)
        rows.condition(self.first_stage)
        rows.own = self.own
        return rows

    @property
    def sparse(self):
        return SP_CSR_F64_I32 <= self.whole.layout <= SP_CSR_F32_I64

    @property
    def objects(self):
        return self.whole.layout == SP_OBJECTS

    @property
    def sparse_part(self):
        """The CSR matrix of the sparse columns; None of dense rows and of objects."""
        return self.X.sparse if isinstance(self.X, Joined) else None if isinstance(self.X, (np.ndarray, list)) else self.X

    @property
    def dense_part(self):
        """The array of the dense columns, which are the last ones; None where there are none."""
        return self.X.dense if isinstance(self.X, Joined) else self.X if isinstance(self.X, np.ndarray) else None

    def stored_columns(self):
        """The columns in which some row has a value, ascending; all columns of dense rows. Returns an int array."""
        sparse, dense = self.sparse_part, self.dense_part
        first = self.n_features - (0 if dense is None else dense.shape[1])
        return np.append(np.empty(0, dtype=np.int64) if sparse is None else np.unique(sparse.indices), np.arange(first, self.n_features))

    def example(self, Py_ssize_t index):
        """One example. Returns `Example`.

        Parameters
        ----------
        index : int
            Number from 0.
        """
        return Example(self, index)

    def summed(self):
        """Rows in which each column occurs at most once.
        Returns `Rows`. These, or a copy in which the entries of a sparse row for one column are summed.
        """
        cdef bint once = True
        cdef Py_ssize_t width
        if SP_CSR_F64_I32 <= self.whole.layout <= SP_CSR_F32_I64:
            width = self.sparse_part.shape[1]
            if self.index_size == 4:
                once = names_once(<const int32_t *> self.whole.indptr, <const int32_t *> self.whole.indices, self.n_rows, width)
            else:
                once = names_once(<const int64_t *> self.whole.indptr, <const int64_t *> self.whole.indices, self.n_rows, width)
        return self if once else self.canonical()

    def canonical(self):
        """Sparse rows with sorted columns, each at most once. Returns `Rows`. These, or a copy."""
        if self.X.has_canonical_format:
            return self
        csr = self.X.tocsr(copy=True)
        csr.sum_duplicates()
        rows = self.like(csr, self.offsets, 0, self.n_rows)
        rows.restrict(self.allowed)
        rows.condition(self.first_stage)
        rows.own = self.own
        return rows

    def products(self, const double[:, ::1] w not None):
        """The products w_k . x of all rows x with all rows w_k of w. A row's bits do not depend on the other rows.
        Returns a float64 array of shape (n_rows, n).

        Parameters
        ----------
        w : float64 array of shape (n, n_features)
        """
        cdef const sp_inner *inner = widest_inner()
        cdef Py_ssize_t k = w.shape[0], first
        cdef double[::1] out = np.zeros(self.n_rows * k + 3)
        cdef sp_blocks b
        cdef Rows rows
        if w.shape[1] != self.n_features or self.objects:
            raise PluginError(f"Rows.products was given weights of shape ({k}, {w.shape[1]}); expected {self.n_features} columns.")
        if k == 0 or w.shape[1] == 0:
            return np.zeros((self.n_rows, k))
        b.w, b.bias, b.average, b.place, b.n_placed = <double *> &w[0, 0], NULL, 0, NULL, NULL
        b.block_step, b.feature_step, b.n_blocks = w.shape[1], 1, k
        for start, rows in self.blocks():
            first = start if self.offsets is None else self.offsets[start]
            with nogil:
                inner.dots_of_rows[rows.whole.layout](&rows.whole, 0, rows.n_rows, &b, &out[first * k], k)
        return np.asarray(out)[:self.n_rows * k].reshape(self.n_rows, k)

    def sizes(self):
        """Number of rows of each example. Returns an int64 array of shape (n_examples,)."""
        if self.offsets is None:
            return np.ones(self.n_examples, dtype=np.int64)
        return np.diff(self.offsets)


cdef int by_size(const void *a, const void *b) noexcept nogil:
    cdef int64_t left = (<const int64_t *> a)[0], right = (<const int64_t *> b)[0]
    return (left > right) - (left < right)


cdef inline int refuse_columns(Py_ssize_t row, int64_t low, int64_t high, Py_ssize_t n_columns) except -1:
    """Raises an error for a row with entries outside of X."""
    if low < 0 or high >= n_columns:
        raise PluginError(f"row {row} of a sparse X has entries for the columns {low}..{high}; X has the columns 0..{n_columns - 1}.")
    return 0


cdef bint names_once(const index_t *indptr, const index_t *indices, Py_ssize_t n_rows, Py_ssize_t n_columns) except -1:
    """Whether no row names a column twice, once all columns are known to be in X: 0.3 ns per entry of a row in order, else 20 ns."""
    cdef Py_ssize_t row, e, first, n
    cdef int64_t low, high
    cdef bint rising, once = True
    cdef int64_t *sorted_row
    for row in range(n_rows):
        first, n, rising = indptr[row], indptr[row + 1] - indptr[row], True
        for e in range(first + 1, first + n):
            rising &= indices[e - 1] < indices[e]
        if rising:
            if n > 0:
                refuse_columns(row, indices[first], indices[first + n - 1], n_columns)
            continue
        sorted_row = <int64_t *> malloc(n * sizeof(int64_t))
        if sorted_row == NULL:
            raise MemoryError(f"a row of {n} entries could not be sorted.")
        for e in range(n):
            sorted_row[e] = indices[first + e]
        qsort(sorted_row, n, sizeof(int64_t), by_size)
        low, high = sorted_row[0], sorted_row[n - 1]
        for e in range(1, n):
            once &= sorted_row[e - 1] < sorted_row[e]
        free(sorted_row)
        refuse_columns(row, low, high, n_columns)
        if not once:
            return False
    return True


def as_rows(X):
    """A C-ordered copy of a matrix, made in pieces whose rows stay in the cache: 1.3 ns for each value."""
    rows = np.empty(X.shape, X.dtype)
    for start in range(0, len(X), TALL):
        rows[start:start + TALL] = X[start:start + TALL]
    return rows


cpdef Rows in_any_order(X, offsets=None, feature_names=None):
    """`Rows` over a float32 or float64 matrix in any order of memory. A matrix that fits the cache is copied at once."""
    cdef Rows rows
    if X.flags.c_contiguous or X.size <= IN_CACHE:
        return Rows(np.ascontiguousarray(X), offsets, feature_names)
    rows = Rows.__new__(Rows)
    rows.attach(X, X.shape[0], X.shape[1], SP_DENSE_F64 if X.itemsize == 8 else SP_DENSE_F32)
    rows.value_size, rows.strided, rows.feature_names = X.itemsize, True, feature_names
    rows.begin_examples(offsets)
    return rows


cpdef Rows in_place(X):
    """`Rows` over a non-empty C-ordered float32 or float64 matrix, or None when X is something else; 0.1 us."""
    cdef Py_buffer view
    cdef Rows rows = None
    if type(X) is not np.ndarray:
        return None
    try:
        PyObject_GetBuffer(X, &view, PyBUF_STRIDES | PyBUF_FORMAT)
    except (BufferError, ValueError):           # of a type that no buffer has, such as dates
        return None
    if (view.ndim == 2 and view.format[0] in (b"d", b"f") and view.format[1] == 0 and view.shape[0] > 0 and view.shape[1] > 0
            and PyBuffer_IsContiguous(&view, b"C")):
        rows = Rows.__new__(Rows)
        rows.attach_dense(X, &view)
    PyBuffer_Release(&view)
    return rows
