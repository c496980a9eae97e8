"""Rows of numbers and the kernels between them: what dense and sparse rows share.

Every kernel is a function of the dot product of two rows or of their L1 distance. It needs a table of rows, norms for some kernels, and
a description of the kernel. tiles.h compares sixteen queries at a time with it, in a fixed order of sums.

Typical sizes: 10^2..10^5 rows of 2..1000 dense features, or of 80 non-zeros among 2^20.
Cost: appending copies a row. An RBF value needs about 2 ns for 20 dense features, 8 for 136, and 9 for 80 nonzeros. With
dtype="float32" it needs 0.8, 3.4 and 6 ns.
"""
import math

import numpy as np
from scipy.sparse import csr_array

from cpython.buffer cimport PyBUF_WRITE
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.memoryview cimport PyMemoryView_FromMemory
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memmove, memset
from structperc.core.inner_products cimport sp_rows
from structperc.core.rows cimport Example, Rows
from structperc.core.signals cimport interrupted
from structperc.errors import DataError, OptionError, shortened
from structperc.plugin_tools import check_starts, read_array
from structperc_kernels.kernel_rows cimport LANES, KernelRows, Queries
from structperc_kernels.statistics import moments, variance, widths


# ---- instruction sets ----
# Which instruction set compares rows, and a Python face of its functions for tests. See tiles.h.

cdef extern from "tiles_sets.h" nogil:
    int sp_tiles_available(const sp_tiles **sets) noexcept


cdef const sp_tiles *best_tiles() noexcept:
    cdef const sp_tiles *sets[4]
    return sets[sp_tiles_available(sets) - 1]


cdef const sp_tiles *named_tiles(str name) except NULL:
    cdef const sp_tiles *sets[4]
    cdef int i
    for i in range(sp_tiles_available(sets)):
        if sets[i].name.decode() == name:
            return sets[i]
    raise ValueError(f"instruction set {name!r} is not available here; there are {', '.join(instruction_sets())}.")


def instruction_sets():
    """Names of the sets that this machine can run, from the narrowest registers to the widest."""
    cdef const sp_tiles *sets[4]
    return [sets[i].name.decode() for i in range(sp_tiles_available(sets))]


def powers_of_two(str name, x):
    """2^x for x <= 0 as the kernels compute it, of doubles or floats."""
    cdef Py_ssize_t n = len(x)
    padded = np.zeros((n + LANES - 1) // LANES * LANES, dtype=x.dtype)
    padded[:n] = x
    out = np.empty_like(padded)
    cdef size_t source = padded.ctypes.data, to = out.ctypes.data
    if x.dtype == np.float64:
        named_tiles(name).powers_f64(<const double *> source, len(padded), <double *> to)
    else:
        named_tiles(name).powers_f32(<const float *> source, len(padded), <float *> to)
    return out[:n]


def add_weighted(str name, const double[:, ::1] values, const double[:, ::1] c, double[:, ::1] total, first=0,
                 const int64_t[::1] start=None):
    """total[b, lane] += sum over i of c[i, b] * values[i, lane], in place; with `start`, over i with first + i >= start[lane]."""
    cdef Py_ssize_t n = values.shape[0]
    cdef size_t[::1] at = np.asarray(c).ctypes.data + np.arange(n + 1, dtype=np.uintp) * (c.shape[1] * 8)
    cdef const double *const *pointers = <const double *const *> &at[0]
    cdef const double *v = &values[0, 0] if n else NULL
    if start is None:
        named_tiles(name).add_weighted(v, n, pointers, c.shape[1], &total[0, 0])
    else:
        named_tiles(name).add_weighted_since(v, n, pointers, c.shape[1], &total[0, 0], first, &start[0])


# ---- aligned buffer ----
# Memory that grows and begins on a cache line, for tables that compiled kernels read.
#
# Typical sizes: 10^3..10^9 bytes. Growing costs a copy, and takes half as much again.


cdef enum:
    LINE = 64                                   # bytes of a cache line


cdef class AlignedBuffer:
    """Memory that grows and begins on a cache line."""

    cdef int provide(self, Py_ssize_t size) noexcept nogil:
        """Grows the buffer to `size` bytes and keeps its content; -1: out of memory."""
        cdef char *whole
        cdef char *at
        cdef size_t before = <size_t> self.at - <size_t> self.whole
        if size <= self.size and self.at != NULL:
            return 0
        size = max(size, self.size + self.size // 2, <Py_ssize_t> LINE)
        whole = <char *> realloc(self.whole, size + LINE)
        if whole == NULL:
            return -1
        at = whole + (LINE - <size_t> whole % LINE)
        if self.size and <size_t> (at - whole) != before:
            memmove(at, whole + before, self.size)
        self.whole, self.at, self.size = whole, at, size
        return 0

    def __dealloc__(self):
        free(self.whole)


cdef object copied(const void *at, shape, dtype):
    """An array with a copy of the buffer."""
    array = np.empty(shape, dtype=dtype)
    cdef size_t to = array.ctypes.data
    if array.size:
        memcpy(<void *> to, at, array.nbytes)
    return array


cdef object viewed(void *at, shape, dtype):
    """An array on this memory, which must outlive it."""
    cdef Py_ssize_t size = math.prod(shape) * np.dtype(dtype).itemsize
    if size == 0:
        return np.empty(shape, dtype=dtype)
    return np.frombuffer(PyMemoryView_FromMemory(<char *> at, size, PyBUF_WRITE), dtype=dtype).reshape(shape)


cdef object room_for(AlignedBuffer buffer, shape, dtype):
    """An array on memory of the buffer, grown where that is needed."""
    if buffer.provide(math.prod(shape) * np.dtype(dtype).itemsize) < 0:
        out_of_memory()
    return viewed(buffer.at, shape, dtype)


cdef int out_of_memory() except -1:
    raise MemoryError("the rows that the kernel is computed with do not fit into memory; set a budget.")


# ---- vector rows ----


KERNELS = ("linear", "polynomial", "rbf", "laplacian", "perceptron", "stump")      # in the order of tiles.h
DTYPES = ("float64", "float32")

cdef enum:
    MOST_FEATURES = 2147483647


cdef class VectorQueries(Queries):
    """Rows of X in panels of sixteen."""

    def __cinit__(self, *args):
        self.panels, self.norms = AlignedBuffer(), AlignedBuffer()


cdef class VectorKernelRows(KernelRows):
    """What dense and sparse rows share: the kernel and its parameters, and slots that are copied from one to another.

    Parameters
    ----------
    kernel : str
        "linear", x . z; "polynomial", (gamma x . z + coef0)^degree; "rbf", exp(-gamma ||x - z||^2); "laplacian", exp(-gamma ||x - z||_1);
        "perceptron", offset - ||x - z||, and "stump", offset - ||x - z||_1: inner products of infinitely many perceptrons and stumps.
    gamma : float > 0, "scale" or "auto"
        "scale": 1 / (n_features * variance of X), as scikit-learn defines it, 1 where X is constant; "auto": 1 / n_features.
    degree : int >= 1
    coef0 : float
    offset : float, optional
        By default the smallest number with nonnegative values between any two points of the box around the first data: the length
        of its diagonal, in the norm of the kernel; 1 if that is 0.
    dtype : "float64" or "float32"
        The type in which rows are kept and compared; values are float64 in any case. float32 halves memory and time, and keeps about
        six digits.

    Attributes
    ----------
    gamma_, offset_ : float
        What they came to when the first data were seen.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from structperc.components import Rows
    >>> from structperc_kernels import DenseKernelRows
    >>> rows = Rows(np.array([[0.0, 0.0], [3.0, 4.0]]))
    >>> kernel_rows = DenseKernelRows("perceptron", offset=7.0)
    >>> kernel_rows.start(SimpleNamespace(n_features=2, objects=False, sparse=False))
    >>> kernel_rows.append(rows, 0)
    >>> kernel_rows.values(rows).tolist()
    [[7.0], [2.0]]

    Notes
    -----
    Values that overflow are infinite or NaN. Sparse rows must name every feature once.

    References
    ----------
    H.-T. Lin and L. Li: Support vector machinery for infinite ensemble learning. Journal of Machine Learning Research 9, pages 285-312,
    2008.
    """

    def __cinit__(self, *args, **kwargs):
        self.stored, self.norms = AlignedBuffer(), AlignedBuffer()
        self.tiles = best_tiles()

    def __init__(self, kernel="linear", gamma="scale", degree=3, coef0=0.0, offset=None, dtype="float64"):
        if kernel not in KERNELS:
            raise OptionError(f"kernel={kernel!r} is no kernel between rows; there are {', '.join(KERNELS)}.")
        if dtype not in DTYPES:
            raise OptionError(f"dtype={shortened(dtype)} is not possible; rows are kept as 'float64' or 'float32'.")
        if isinstance(gamma, str) and gamma not in ("scale", "auto") or not isinstance(gamma, str) and not 0 < gamma < np.inf:
            raise OptionError(f"gamma={shortened(gamma)} must be a finite number > 0, 'scale' or 'auto'.")
        if degree != int(degree) or not 1 <= degree <= 1000:
            raise OptionError(f"degree={shortened(degree)} must be a whole number from 1 to 1000.")
        if not np.isfinite(coef0):
            raise OptionError(f"coef0={shortened(coef0)} must be a finite number.")
        if offset is not None and not np.isfinite(offset):
            raise OptionError(f"offset={shortened(offset)} must be a finite number, or None for one that fits the data.")
        self.kernel, self.gamma, self.offset, self.dtype = kernel, gamma, offset, dtype
        self.narrow, self.value_size = dtype == "float32", 4 if dtype == "float32" else 8
        self.function.kind, self.function.degree, self.function.coef0 = KERNELS.index(kernel), degree, coef0
        self.function.gamma = 1.0 if isinstance(gamma, str) else gamma
        self.function.offset = 0.0 if offset is None else offset

    @property
    def gamma_(self):
        return self.function.gamma

    @property
    def offset_(self):
        return self.function.offset

    def use(self, str instruction_set) -> None:
        """Selects the instruction set; values have the same bits with each.

        Parameters
        ----------
        instruction_set : str
            A name of `instruction_sets`.
        """
        self.tiles = named_tiles(instruction_set)

    def start(self, context):
        if context.objects:
            raise DataError(f"X is a list of objects, but the {self.kernel} kernel compares rows of numbers. Pass a matrix, or choose "
                            "a kernel for these objects.")
        if not 1 <= context.n_features <= MOST_FEATURES:
            raise DataError(f"X has {context.n_features} columns; the {self.kernel} kernel compares rows of 1 to {MOST_FEATURES} columns.")
        self.n_features = self.held.n_features = context.n_features
        self.fitted = False
        self.truncate(0)
        if self.gamma == "auto":
            self.function.gamma = 1.0 / self.n_features

    def settle_parameters(self, Rows rows):
        if self.fitted:
            return
        with np.errstate(all="ignore"):         # what is not finite in X is found where the scores are
            self.check_width(rows)
            if self.gamma == "scale" and self.kernel in ("polynomial", "rbf", "laplacian"):
                spread = variance(rows)
                self.function.gamma = 1 / (self.n_features * spread) if spread else 1.0
            if self.offset is None and self.kernel in ("perceptron", "stump"):
                sides = widths(rows)
                self.function.offset = float(sides.sum() if self.kernel == "stump" else np.sqrt((sides ** 2).sum())) or 1.0
        self.fitted = True

    def check_width(self, Rows rows) -> None:
        """Checks the number of columns of X.

        Parameters
        ----------
        rows : Rows

        Raises
        ------
        DataError
            If the rows are objects or have another number of columns.
        """
        if rows.objects or rows.n_features != self.n_features:
            what = "is a list of objects" if rows.objects else f"has {rows.n_features} columns"
            raise DataError(f"X {what}, but the kernel was started with {self.n_features} columns.")

    def empty(self):
        cdef VectorKernelRows other = self.clone()
        other.n_features, other.held.n_features, other.fitted = self.n_features, self.n_features, self.fitted
        other.function, other.tiles = self.function, self.tiles
        return other

    def select(self, slots):
        cdef VectorKernelRows other = self.empty()
        cdef Py_ssize_t slot
        slots = [int(slot) for slot in slots]
        for slot in slots:
            self.check_slot(slot)
        other.reserve(len(slots))
        for slot in slots:
            if other.copy(other.n, self, slot) < 0:
                out_of_memory()
            other.n += 1
        return other

    def copy_slot(self, Py_ssize_t to, Py_ssize_t slot, KernelRows source):
        cdef VectorKernelRows other = source
        self.check_slot(to)
        other.check_slot(slot)
        if (type(self) is not type(source) or self.dtype != other.dtype or self.n_features != other.n_features
                or self.function.kind != other.function.kind):
            raise ValueError("the banks are not of the same kind.")
        if self.copy(to, source, slot) < 0:
            out_of_memory()

    def check_slot(self, Py_ssize_t slot) -> None:
        """Checks the number of a slot.

        Parameters
        ----------
        slot : int

        Raises
        ------
        IndexError
            If no row is stored in the slot.
        """
        if not 0 <= slot < self.n:
            raise IndexError(f"slot {slot} of {self.n}")

    def check_state(self, state):
        """Reads the parameters of a saved state.

        Parameters
        ----------
        state : dict of arrays
            "gamma" and "offset", as `state` returns them.

        Returns
        -------
        gamma, offset : float

        Raises
        ------
        DataError
            If one is missing or invalid.
        """
        gamma, offset = read_array(state, "gamma", np.float64, low=0), read_array(state, "offset", np.float64)
        if gamma == 0:
            raise DataError("the saved kernel has gamma = 0; gamma must be > 0.")
        return gamma, offset

    cdef int put(self, Py_ssize_t slot, const sp_rows *x, Py_ssize_t row) noexcept nogil:
        """Copies row `row` of x to a slot; -1: no memory."""
        return -1

    cdef int copy(self, Py_ssize_t slot, VectorKernelRows source, Py_ssize_t other) noexcept nogil:
        """Copies a slot of a kernel_rows of the same kind; -1: no memory."""
        return -1

    cdef void measure(self, Py_ssize_t slot, const void *row, Py_ssize_t n) noexcept nogil:
        """Sets the norm of a slot whose numbers stand at `row`."""
        if not sp_is_distance(&self.function):
            return
        if self.narrow:
            (<float *> self.norms.at)[slot] = sp_norm_of_f32(&self.function, <const float *> row, n, 1)
        else:
            (<double *> self.norms.at)[slot] = sp_norm_of_f64(&self.function, <const double *> row, n, 1)

    cdef int full(self) noexcept nogil:
        with gil:
            self.error = MemoryError("the rows that the kernel is computed with do not fit into memory; set a budget.")
        return -1

    cdef int append_c(self, Example x, Py_ssize_t row, int64_t number) noexcept nogil:
        if self.put(self.n, &x.block, row) < 0:
            return self.full()
        self.n += 1
        return 0

    cdef int overwrite_c(self, Py_ssize_t slot, Example x, Py_ssize_t row, int64_t number) noexcept nogil:
        return self.full() if self.put(slot, &x.block, row) < 0 else 0


# ---- dense rows ----
# Dense rows, and the kernels between them.
#
# Typical sizes: 10^2..10^5 rows of 2..1000 features. Cost: appending copies a row; see vector_rows.pyx for the values.


FAR = {"float64": 8.0, "float32": 1.0}          # a mean of more than so many deviations costs digits; the row type with more can spare some

cdef enum:
    CACHED = 49152                              # values that may stay in the second-level cache while they are compared with queries


cdef class DenseKernelRows(VectorKernelRows):
    """Dense rows, and a kernel between them; the parameters are those of `VectorKernelRows`.

    Parameters
    ----------
    kernel : str, default "linear"
    gamma : float > 0, "scale" or "auto", default "scale"
    degree : int >= 1, default 3
    coef0 : float, default 0.0
    offset : float, optional
    dtype : "float64" or "float32", default "float64"

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> from structperc.components import Rows
    >>> from structperc_kernels import DenseKernelRows
    >>> kernel_rows = DenseKernelRows("polynomial", gamma=1.0, degree=2)
    >>> kernel_rows.start(SimpleNamespace(n_features=2, objects=False))
    >>> rows = Rows(np.array([[1.0, 0.0], [3.0, 4.0]]))
    >>> kernel_rows.append(rows, 0)
    >>> kernel_rows.values(rows).tolist()
    [[1.0], [9.0]]
    """

    def __cinit__(self, *args, **kwargs):
        self.origin = None

    def start(self, context):
        VectorKernelRows.start(self, context)
        self.origin, self.rows_per_tile = np.zeros(self.n_features), min(max(CACHED // self.n_features, 64), 1024)

    def settle_parameters(self, Rows rows):
        """Distances do not depend on the origin, but their digits do: it is moved to the mean where that is far away."""
        if not self.fitted and sp_is_distance(&self.function) and not rows.objects and not rows.sparse:
            self.check_width(rows)
            with np.errstate(all="ignore"):
                mean, squares = moments(rows)
                far = np.abs(mean) > FAR[self.dtype] * np.sqrt(squares)
                self.origin = np.where(far & np.isfinite(mean), mean, 0)
        VectorKernelRows.settle_parameters(self, rows)

    def empty(self):
        cdef DenseKernelRows other = VectorKernelRows.empty(self)
        other.origin, other.rows_per_tile = self.origin, self.rows_per_tile
        return other

    def reserve(self, Py_ssize_t n):
        if self.stored.provide(n * self.n_features * self.value_size) < 0 or self.norms.provide(n * self.value_size) < 0:
            out_of_memory()
        self.held.values, self.held.norms = self.stored.at, self.norms.at

    cdef int put(self, Py_ssize_t slot, const sp_rows *x, Py_ssize_t row) noexcept nogil:
        cdef char *to = self.stored.at + slot * self.n_features * self.value_size
        if self.narrow:
            sp_keep_dense_f32(x, row, &self.origin[0], <float *> to, 1)
        else:
            sp_keep_dense_f64(x, row, &self.origin[0], <double *> to, 1)
        self.measure(slot, to, self.n_features)
        return 0

    cdef int copy(self, Py_ssize_t slot, VectorKernelRows source, Py_ssize_t other) noexcept nogil:
        cdef Py_ssize_t size = self.n_features * self.value_size
        memmove(self.stored.at + slot * size, source.stored.at + other * size, size)
        self.measure(slot, self.stored.at + slot * size, self.n_features)
        return 0

    def key(self, Rows rows, Py_ssize_t row):
        cdef Example x = Example()
        cdef bytes key = PyBytes_FromStringAndSize(NULL, self.n_features * self.value_size)
        x.look_at(rows)
        rows.load_row(row, x)
        if self.narrow:
            sp_keep_dense_f32(&x.block, 0, &self.origin[0], <float *> PyBytes_AS_STRING(key), 1)
        else:
            sp_keep_dense_f64(&x.block, 0, &self.origin[0], <double *> PyBytes_AS_STRING(key), 1)
        return key

    def queries(self):
        return VectorQueries()

    def prepare(self, Queries q, Rows rows, const int64_t[::1] which):
        cdef VectorQueries v = q
        cdef Py_ssize_t i, d = self.n_features, n = which.shape[0], padded = (n + LANES - 1) // LANES * LANES
        cdef char *to
        cdef Example x = Example()
        self.check_width(rows)
        x.look_at(rows)
        v.n = 0
        if v.panels.provide(padded * d * self.value_size) < 0 or v.norms.provide(padded * self.value_size) < 0:
            out_of_memory()
        with nogil:
            for i in range(padded):
                rows.load_row(which[min(i, n - 1)], x)
                to = v.panels.at + (i // LANES * d * LANES + i % LANES) * self.value_size
                if self.narrow:
                    sp_keep_dense_f32(&x.block, 0, &self.origin[0], <float *> to, LANES)
                    (<float *> v.norms.at)[i] = sp_norm_of_f32(&self.function, <float *> to, d, LANES)
                else:
                    sp_keep_dense_f64(&x.block, 0, &self.origin[0], <double *> to, LANES)
                    (<double *> v.norms.at)[i] = sp_norm_of_f64(&self.function, <double *> to, d, LANES)
        v.n = n

    cdef int tile_c(self, Queries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) noexcept nogil:
        cdef sp_panel panel
        if interrupted(n * LANES * self.n_features):
            return -1
        panel.panel = (<VectorQueries> q).panels.at + group * self.n_features * LANES * self.value_size
        panel.norms = (<VectorQueries> q).norms.at + group * LANES * self.value_size
        panel.place = NULL
        self.tiles.dense[self.narrow](&self.function, &self.held, &panel, slots, n, values)
        return 0

    def support(self):
        """The rows held, an array (n, n_features) of the type in which they are kept."""
        return (self._rows() + np.asarray(self.origin)).astype(self.dtype)

    def _rows(self):
        return copied(self.stored.at, (self.n, self.n_features), self.dtype)

    def state(self):
        return {"rows": self._rows(), "origin": np.array(self.origin), "gamma": np.array(self.function.gamma),
                "offset": np.array(self.function.offset)}

    def restore(self, state):
        cdef Py_ssize_t i, n
        cdef AlignedBuffer stored = AlignedBuffer()
        gamma, offset = self.check_state(state)
        rows = read_array(state, "rows", self.dtype, (None, self.n_features), into=lambda shape: room_for(stored, shape, self.dtype))
        self.origin = read_array(state, "origin", np.float64, (self.n_features,))
        n = len(rows)
        self.stored = stored
        self.reserve(n)
        self.function.gamma, self.function.offset, self.fitted = gamma, offset, True
        for i in range(n):
            self.measure(i, self.stored.at + i * self.n_features * self.value_size, self.n_features)
        self.n = n


# ---- sparse rows ----
# Sparse rows, and the kernels between them.
#
# Typical sizes: 10^2..10^5 rows of 80 non-zeros among 2^20. Cost: appending copies a row; see vector_rows.pyx for the values.


cdef enum:
    FEW = 4096                                  # entries that are not worth gathering


cdef class SparseQueries(VectorQueries):
    """Rows of X in panels of only those features that occur in a group of sixteen rows."""

    def __cinit__(self, *args):
        self.features, self.begin, self.place = AlignedBuffer(), AlignedBuffer(), AlignedBuffer()
        self.current = -1

    cdef void show(self, Py_ssize_t group) noexcept nogil:
        """Makes `place` that of this group, or of none (-1): 0 for features that do not occur."""
        cdef int32_t *place = <int32_t *> self.place.at
        cdef const int32_t *features = <const int32_t *> self.features.at
        cdef const int64_t *begin = <const int64_t *> self.begin.at
        cdef Py_ssize_t r
        if self.current >= 0:
            for r in range(begin[self.current] + 1, begin[self.current + 1]):
                place[features[r]] = 0
        if group >= 0:
            for r in range(begin[group] + 1, begin[group + 1]):
                place[features[r]] = <int32_t> (r - begin[group])
        self.current = group


cdef class SparseKernelRows(VectorKernelRows):
    """Sparse rows, and a kernel between them; the parameters are those of `VectorKernelRows`.

    Parameters
    ----------
    kernel : str, default "linear"
    gamma : float > 0, "scale" or "auto", default "scale"
    degree : int >= 1, default 3
    coef0 : float, default 0.0
    offset : float, optional
    dtype : "float64" or "float32", default "float64"

    Examples
    --------
    >>> from types import SimpleNamespace
    >>>     >>> from structperc.components import Rows
    >>> from structperc_kernels import SparseKernelRows
    >>> kernel_rows = SparseKernelRows("linear")
    >>> kernel_rows.start(SimpleNamespace(n_features=2, objects=False))
    >>> rows = Rows(csr_array([[1.0, 0.0], [3.0, 4.0]]))
    >>> kernel_rows.append(rows, 0)
    >>> kernel_rows.values(rows).tolist()
    [[1.0], [3.0]]
    """

    def __cinit__(self, *args, **kwargs):
        self.begin, self.length, self.indices = AlignedBuffer(), AlignedBuffer(), AlignedBuffer()

    def reserve(self, Py_ssize_t n):
        """Makes room for n rows in all; their non-zeros get room as they come."""
        if self.begin.provide(n * 8) < 0 or self.length.provide(n * 4) < 0 or self.norms.provide(n * self.value_size) < 0:
            out_of_memory()
        if self.indices.provide(0) < 0 or self.stored.provide(0) < 0:       # an address, also for rows of zeros
            out_of_memory()
        self.held.begin, self.held.length = <int64_t *> self.begin.at, <int32_t *> self.length.at
        self.held.norms = self.norms.at

    def truncate(self, Py_ssize_t n):
        cdef Py_ssize_t slot
        for slot in range(n, self.n):
            self.wasted += self.held.length[slot]
        self.n = n
        if n == 0:
            self.used = self.wasted = 0

    cdef int claim(self, Py_ssize_t slot, Py_ssize_t n) noexcept nogil:
        """Gives a slot room for n non-zeros, not yet written; -1: no memory."""
        cdef int64_t *begin = <int64_t *> self.begin.at
        cdef int32_t *length = <int32_t *> self.length.at
        if slot >= self.n:
            begin[slot], length[slot] = 0, 0
        if n > length[slot]:
            if self.wasted > self.used // 2 and self.used > FEW and self.gather() < 0:
                return -1
            if self.indices.provide((self.used + n) * 4) < 0 or self.stored.provide((self.used + n) * self.value_size) < 0:
                return -1
            self.wasted += length[slot]
            begin[slot], length[slot] = self.used, <int32_t> n
            self.used += n
        self.held.indices, self.held.values = <int32_t *> self.indices.at, self.stored.at
        return 0

    cdef void settle(self, Py_ssize_t slot, Py_ssize_t n) noexcept nogil:
        """Gives back what was claimed and not written."""
        cdef int32_t *length = <int32_t *> self.length.at
        cdef int64_t start = self.held.begin[slot]
        if start + length[slot] == self.used:
            self.used -= length[slot] - n
        else:
            self.wasted += length[slot] - n
        length[slot] = <int32_t> n
        self.measure(slot, self.stored.at + start * self.value_size, n)

    cdef int gather(self) noexcept with gil:
        """Moves the non-zeros of all slots together; -1: no memory."""
        cdef Py_ssize_t slot, size = self.value_size, at = 0, live = self.used - self.wasted
        cdef int64_t *begin = <int64_t *> self.begin.at
        cdef const int32_t *length = <int32_t *> self.length.at
        cdef AlignedBuffer indices = AlignedBuffer(), values = AlignedBuffer()
        if indices.provide(live * 4) < 0 or values.provide(live * size) < 0:
            return -1
        for slot in range(self.n):
            memcpy(indices.at + at * 4, self.indices.at + begin[slot] * 4, length[slot] * 4)
            memcpy(values.at + at * size, self.stored.at + begin[slot] * size, length[slot] * size)
            begin[slot] = at
            at += length[slot]
        self.indices, self.stored = indices, values
        self.used, self.wasted = at, 0
        return 0

    cdef int put(self, Py_ssize_t slot, const sp_rows *x, Py_ssize_t row) noexcept nogil:
        cdef Py_ssize_t n
        cdef int64_t start
        if self.claim(slot, sp_n_values(x, row)) < 0:
            return -1
        start = self.held.begin[slot]
        if self.narrow:
            n = sp_keep_sparse_f32(x, row, <int32_t *> self.indices.at + start, <float *> self.stored.at + start)
        else:
            n = sp_keep_sparse_f64(x, row, <int32_t *> self.indices.at + start, <double *> self.stored.at + start)
        self.settle(slot, n)
        return 0

    cdef int copy(self, Py_ssize_t slot, VectorKernelRows source, Py_ssize_t other) noexcept nogil:
        cdef Py_ssize_t n = source.held.length[other]
        cdef int64_t start, begin
        if source is self and slot == other:
            return 0
        if self.claim(slot, n) < 0:
            return -1
        start, begin = self.held.begin[slot], source.held.begin[other]
        memcpy(self.indices.at + start * 4, (<SparseKernelRows> source).indices.at + begin * 4, n * 4)
        memcpy(self.stored.at + start * self.value_size, source.stored.at + begin * self.value_size, n * self.value_size)
        self.settle(slot, n)
        return 0

    def key(self, Rows rows, Py_ssize_t row):
        cdef Example x = Example()
        cdef Py_ssize_t n
        cdef AlignedBuffer indices = AlignedBuffer(), values = AlignedBuffer()
        x.look_at(rows)
        rows.load_row(row, x)
        n = sp_n_values(&x.block, 0)
        if indices.provide(n * 4) < 0 or values.provide(n * self.value_size) < 0:
            out_of_memory()
        if self.narrow:
            n = sp_keep_sparse_f32(&x.block, 0, <int32_t *> indices.at, <float *> values.at)
        else:
            n = sp_keep_sparse_f64(&x.block, 0, <int32_t *> indices.at, <double *> values.at)
        return indices.at[:n * 4] + values.at[:n * self.value_size]

    def queries(self):
        return SparseQueries()

    def prepare(self, Queries q, Rows rows, const int64_t[::1] which):
        cdef SparseQueries s = q
        cdef Py_ssize_t n = which.shape[0], padded = (n + LANES - 1) // LANES * LANES, size = self.value_size
        cdef Py_ssize_t group, lane, i, e, r, kept, most = 0, longest = 0, end = 0
        cdef int64_t *begin
        cdef int32_t *place
        cdef int32_t *features
        cdef int32_t *index
        cdef char *value
        cdef Example x = Example()
        cdef AlignedBuffer indices = AlignedBuffer(), values = AlignedBuffer()
        self.check_width(rows)
        x.look_at(rows)
        s.show(-1)
        s.n = 0
        for i in range(padded):
            rows.load_row(which[min(i, n - 1)], x)
            kept = sp_n_values(&x.block, 0)
            most, longest = most + kept, max(longest, kept)
        most += padded // LANES                 # a row of zeros each
        e = s.place.size if s.place.at != NULL else 0
        if (s.place.provide(self.n_features * 4) < 0 or s.begin.provide((padded // LANES + 1) * 8) < 0
                or s.features.provide(most * 4) < 0 or s.panels.provide(most * LANES * size) < 0
                or s.norms.provide(padded * size) < 0 or indices.provide(longest * 4) < 0 or values.provide(longest * size) < 0):
            out_of_memory()
        if s.place.size != e:
            memset(s.place.at, 0, s.place.size)
        begin, place, features = <int64_t *> s.begin.at, <int32_t *> s.place.at, <int32_t *> s.features.at
        index, value = <int32_t *> indices.at, values.at
        with nogil:
            begin[0] = 0
            for group in range(padded // LANES):
                memset(s.panels.at + end * LANES * size, 0, LANES * size)
                end += 1
                for lane in range(LANES):
                    i = group * LANES + lane
                    rows.load_row(which[min(i, n - 1)], x)
                    if self.narrow:
                        kept = sp_keep_sparse_f32(&x.block, 0, index, <float *> value)
                        (<float *> s.norms.at)[i] = sp_norm_of_f32(&self.function, <float *> value, kept, 1)
                    else:
                        kept = sp_keep_sparse_f64(&x.block, 0, index, <double *> value)
                        (<double *> s.norms.at)[i] = sp_norm_of_f64(&self.function, <double *> value, kept, 1)
                    for e in range(kept):
                        r = place[index[e]]
                        if r == 0:
                            r = end - begin[group]
                            place[index[e]], features[end] = <int32_t> r, index[e]
                            memset(s.panels.at + end * LANES * size, 0, LANES * size)
                            end += 1
                        memcpy(s.panels.at + ((begin[group] + r) * LANES + lane) * size, value + e * size, size)
                begin[group + 1] = end
                s.current = group               # so that `show` clears them
                s.show(-1)
        s.n = n

    cdef int tile_c(self, Queries q, Py_ssize_t group, const int *slots, Py_ssize_t n, double *values) noexcept nogil:
        cdef sp_panel panel
        if interrupted(n * LANES * self.held.length[slots[0]]):
            return -1
        if (<SparseQueries> q).current != group:
            (<SparseQueries> q).show(group)
        panel.panel = (<VectorQueries> q).panels.at + (<int64_t *> (<SparseQueries> q).begin.at)[group] * LANES * self.value_size
        panel.norms = (<VectorQueries> q).norms.at + group * LANES * self.value_size
        panel.place = <int32_t *> (<SparseQueries> q).place.at
        self.tiles.sparse[self.narrow](&self.function, &self.held, &panel, slots, n, values)
        return 0

    def support(self):
        """The rows held, a scipy CSR array (n, n_features) of the type in which they are kept."""
        return csr_array(self._parts(), shape=(self.n, self.n_features))

    def _parts(self):
        """Values, features and row starts of the rows held, one after the other."""
        begin, length = copied(self.begin.at, self.n, np.int64), copied(self.length.at, self.n, np.int32)
        starts = np.concatenate([[0], np.cumsum(length, dtype=np.int64)])
        at = np.repeat(begin - starts[:self.n], length) + np.arange(starts[self.n])
        return copied(self.stored.at, self.used, self.dtype)[at], copied(self.indices.at, self.used, np.int32)[at], starts

    def state(self):
        values, indices, starts = self._parts()
        return {"values": values, "indices": indices, "starts": starts, "gamma": np.array(self.function.gamma),
                "offset": np.array(self.function.offset)}

    def restore(self, state):
        cdef Py_ssize_t i, n
        cdef AlignedBuffer columns = AlignedBuffer(), stored = AlignedBuffer()
        gamma, offset = self.check_state(state)
        values = read_array(state, "values", self.dtype, (None,), into=lambda shape: room_for(stored, shape, self.dtype))
        indices = read_array(state, "indices", np.int32, (len(values),), low=0, high=self.n_features - 1,
                             into=lambda shape: room_for(columns, shape, np.int32))
        starts = read_array(state, "starts", np.int64, (None,))
        check_starts("row starts", starts, len(values))
        falls = np.flatnonzero(np.diff(indices) <= 0) + 1
        if not np.isin(falls, starts).all():
            raise DataError("the saved features of a row are not in ascending order.")
        n = len(starts) - 1
        self.truncate(0)
        self.indices, self.stored = columns, stored
        self.reserve(n)
        lengths = np.diff(starts).astype(np.int32)
        viewed(self.begin.at, (n,), np.int64)[:], viewed(self.length.at, (n,), np.int32)[:] = starts[:n], lengths
        self.function.gamma, self.function.offset, self.fitted = gamma, offset, True
        self.held.indices, self.held.values = <int32_t *> self.indices.at, self.stored.at
        self.n, self.used = n, len(values)
        for i in range(n):
            self.measure(i, self.stored.at + self.held.begin[i] * self.value_size, self.held.length[i])
