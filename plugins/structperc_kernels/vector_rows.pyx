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
from structperc.basics.signals cimport interrupted
from structperc.core.inner_products cimport sp_rows
from structperc.core.rows cimport Example, Rows
from structperc.errors import DataError, OptionError, shortened
from structperc.plugin_tools import check_starts, read_array
from structperc_kernels.kernel_rows cimport LANES, KernelRows, Queries
from structperc_kernels.statistics import moments, variance, widths


include "vector_rows.instruction_sets.pxi"
include "vector_rows.buffer.pxi"


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
        """Checks the number of columns of X. Raises `DataError` if the rows are objects or have another number of columns.

        Parameters
        ----------
        rows : Rows
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
        """Checks the number of a slot. Raises `IndexError` if no row is stored in the slot.

        Parameters
        ----------
        slot : int
        """
        if not 0 <= slot < self.n:
            raise IndexError(f"slot {slot} of {self.n}")

    def check_state(self, state):
        """Reads the parameters of a saved state. Raises `DataError` if one is missing or invalid.

        Parameters
        ----------
        state : dict of arrays
            "gamma" and "offset", as `state` returns them.

        Returns
        -------
        gamma, offset : float
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


include "vector_rows.dense.pxi"
include "vector_rows.sparse.pxi"
