# distutils: extra_compile_args = VECTORS
"""Plain arrays, of numpy's own class, native numbers and C order: `arguments` checks them in one pass, without temporaries.

All other arrays are converted first. Typical sizes: 10 to 10^6 entries; 0.3 us and 0.5 ns per entry.
"""
import numpy as np

from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t


# ---- plain arrays ----

cdef extern from *:
    """
    #include <stdint.h>
    #ifdef __SSE2__
    #include <emmintrin.h>
    #endif
    /* Comparisons are false for NaN. */
    static int sp_are_within(const double *x, Py_ssize_t n, double low, double high) {
        Py_ssize_t i = 0;
    #ifdef __SSE2__                             /* a third of the time: 0.2 ns per entry */
        const __m128d from = _mm_set1_pd(low), to = _mm_set1_pd(high);
        __m128d within = _mm_cmpeq_pd(from, from), a, b;
        for (; i + 4 <= n; i += 4) {
            a = _mm_loadu_pd(x + i), b = _mm_loadu_pd(x + i + 2);
            within = _mm_and_pd(within, _mm_and_pd(_mm_cmpge_pd(a, from), _mm_cmple_pd(a, to)));
            within = _mm_and_pd(within, _mm_and_pd(_mm_cmpge_pd(b, from), _mm_cmple_pd(b, to)));
        }
        if (_mm_movemask_pd(within) != 3) return 0;
    #endif
        for (; i < n; i++)
            if (!(x[i] >= low && x[i] <= high)) return 0;
        return 1;
    }
    static int sp_narrow(const int64_t *x, Py_ssize_t n, int32_t *narrow) {
        int same = 1;
        for (Py_ssize_t i = 0; i < n; i++) {
            const int64_t here = x[i];
            narrow[i] = (int32_t)here, same &= narrow[i] == here;
        }
        return same;
    }
    static int sp_are_from_to(const int32_t *x, Py_ssize_t n, int32_t low, int32_t high) {
        int within = 1;
        for (Py_ssize_t i = 0; i < n; i++) within &= (x[i] >= low) & (x[i] <= high);
        return within;
    }
    """
    bint sp_are_within(const double *x, Py_ssize_t n, double low, double high) noexcept nogil
    bint sp_narrow(const int64_t *x, Py_ssize_t n, int32_t *narrow) noexcept nogil
    bint sp_are_from_to(const int32_t *x, Py_ssize_t n, int32_t low, int32_t high) noexcept nogil

from libc.string cimport memcpy

cdef object ndarray = np.ndarray, empty = np.empty, int32 = np.dtype(np.int32), int64 = np.dtype(np.int64)


def are_reals(values, tuple shape, double low, double high, Py_ssize_t most):
    """Whether values is a plain float64 array of numbers from low to high. Its shape is as in `shaped`, with axes of at most `most`."""
    cdef Py_buffer buffer
    cdef bint within = False
    if opened(values, &buffer):
        if buffer.format[0] == c"d" and fits(&buffer, shape, most):
            within = sp_are_within(<const double *> buffer.buf, buffer.len // 8, low, high)
        PyBuffer_Release(&buffer)
    return within


def copied_wholes(values, tuple shape, int low, int high, Py_ssize_t most):
    """A plain array of int32 or int64 numbers from low to high as a new int32 array, else None. Shape and most are as in `are_reals`."""
    # The copy is checked, not the array, which another thread may change.
    cdef Py_buffer buffer, own
    cdef Py_ssize_t n
    cdef bint within = False
    if not opened(values, &buffer):
        return None
    if buffer.format[0] in b"ilq" and fits(&buffer, shape, most):
        n = buffer.len // buffer.itemsize
        copy = empty(values.shape, int32)
        PyObject_GetBuffer(copy, &own, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
        if buffer.itemsize == 8:
            within = sp_narrow(<const int64_t *> buffer.buf, n, <int32_t *> own.buf)
        else:
            memcpy(own.buf, buffer.buf, buffer.len)
            within = True
        within = within and sp_are_from_to(<const int32_t *> own.buf, n, low, high)
        PyBuffer_Release(&own)
    PyBuffer_Release(&buffer)
    return copy if within else None


cdef bint opened(values, Py_buffer *buffer) except -1:
    """Whether the entries of an array can be read as they are; fills in the buffer, which the caller releases."""
    if type(values) is not ndarray:
        return False
    try:
        PyObject_GetBuffer(values, buffer, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
    except (BufferError, ValueError):       # other orders, and types without a format
        return False
    if buffer.format[1] == 0 and <size_t> buffer.buf % buffer.itemsize == 0:
        return True
    PyBuffer_Release(buffer)
    return False


cdef bint fits(const Py_buffer *buffer, tuple shape, Py_ssize_t most) except -1:
    """Whether an array has a shape; a text means any size, and the same text the same size."""
    cdef Py_ssize_t d, e
    if buffer.ndim != len(shape):
        return False
    for d in range(buffer.ndim):
        if buffer.shape[d] > most:
            return False
        if not isinstance(shape[d], str):
            if buffer.shape[d] != <Py_ssize_t> shape[d]:
                return False
            continue
        for e in range(d):
            if shape[e] == shape[d] and buffer.shape[e] != buffer.shape[d]:
                return False
    return True


# ---- transposing ----
# Columns as rows: what files keep column by column becomes the matrix that training reads row by row.
#
# Typical sizes: 10^4 to 10^6 rows of 10 to 1000 columns. A pass of 1 to 2 ns per number runs without the GIL. So a thread can read the next
# part of a stream during training.

cdef enum:
    WIDE = 8                # columns at a time: as many numbers as a line of cache holds
    TALL = 512              # rows at a time: a page of each column, whose lines the CPU fetches by itself; their rows stay in the cache


ctypedef fused Item:
    int32_t
    int64_t
    double


cdef Py_ssize_t width_of(const Item[:] left, const Item[:] right) noexcept nogil:
    cdef Py_ssize_t i = 0, j, m = 1, n = left.shape[0]
    while m < n and left[m] == left[0]:
        m += 1
    if n % m:
        return 0
    while i < n:
        if i and not left[i] > left[i - m]:
            return 0
        for j in range(m):
            if left[i + j] != left[i] or right[i + j] != right[j] or j and not right[j] > right[j - 1]:     # NaN differs from itself
                return 0
        i += m
    return m


def table_width(left, right):
    """The columns of a full table whose pairs are listed row by row, both sides rising. Returns an int. 0 for other pairs.

    Parameters
    ----------
    left, right : arrays of shape (n_pairs,)
        The ends of each pair. Both of int32, int64 or float64; lists and other types are no such table.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import table_width
    >>> table_width(np.array([3, 3, 8, 8]), np.array([1, 5, 1, 5])), table_width(np.array([3, 3, 8]), np.array([1, 5, 1]))
    (2, 0)
    """
    if not (type(left) is ndarray and type(right) is ndarray and left.ndim == right.ndim == 1 and len(left) == len(right) > 0):
        return 0
    kind = left.dtype
    if right.dtype != kind or not (kind.isnative and left.flags.aligned and right.flags.aligned):
        return 0
    if kind == int64:
        return width_of[int64_t](left, right)
    if kind == np.float64:
        return width_of[double](left, right)
    return width_of[int32_t](left, right) if kind == int32 else 0


def rows_of(columns):
    """A C-ordered float64 matrix (n, d) with these columns of any real type. Also whether all of its numbers are finite."""
    cdef Py_ssize_t n = len(columns[0]), d = len(columns), j
    cdef double[:, ::1] out
    cdef const double[::1] column
    cdef double total
    kept = [np.ascontiguousarray(values, dtype=np.float64) for values in columns]
    rows = np.empty((n, d))
    cdef size_t[::1] starts = np.empty(d, dtype=np.uintp)
    for j in range(d):
        column = kept[j]
        if column.shape[0] != n:
            raise ValueError(f"column {j} has {column.shape[0]} rows; expected {n} rows, as many as in column 0.")
        starts[j] = <size_t>&column[0] if n else 0
    if n == 0:
        return rows, True
    out = rows
    with nogil:
        total = transpose(<const double **>&starts[0], n, d, &out[0, 0])
    return rows, total == 0


cdef double transpose(const double **columns, Py_ssize_t n, Py_ssize_t d, double *out) noexcept nogil:
    """Fills the rows of `out`; 0 where all numbers are finite, else NaN."""
    cdef Py_ssize_t top, end, i, j, k
    cdef double[8] odd
    cdef const double *c0
    cdef const double *c1
    cdef const double *c2
    cdef const double *c3
    cdef const double *c4
    cdef const double *c5
    cdef const double *c6
    cdef const double *c7
    cdef double *row
    cdef double total = 0
    for k in range(WIDE):
        odd[k] = 0
    top = 0
    while top < n:
        end = min(top + TALL, n)
        j = 0
        while j + WIDE <= d:
            c0, c1, c2, c3 = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
            c4, c5, c6, c7 = columns[j + 4], columns[j + 5], columns[j + 6], columns[j + 7]
            row = out + top * d + j
            for i in range(top, end):
                row[0], row[1], row[2], row[3] = c0[i], c1[i], c2[i], c3[i]
                row[4], row[5], row[6], row[7] = c4[i], c5[i], c6[i], c7[i]
                for k in range(WIDE):
                    odd[k] += row[k] - row[k]       # NaN from infinity and NaN, else 0
                row += d
            j += WIDE
        while j < d:
            c0 = columns[j]
            row = out + top * d + j
            for i in range(top, end):
                row[0] = c0[i]
                total += c0[i] - c0[i]
                row += d
            j += 1
        top = end
    for k in range(WIDE):
        total += odd[k]
    return total


# ---- shuffle ----
# A new visiting order for each epoch: Fisher-Yates on the example numbers, 3 ns per example where they fit the cache.
#
# Typical sizes: 10^2..10^7 examples. One 64-bit seed from the fit's generator starts a splitmix64 stream (Steele, Lea and
# Flood 2014). Bounded numbers are drawn without bias (Lemire 2019).


cdef inline uint64_t splitmix(uint64_t *state) noexcept nogil:
    cdef uint64_t z
    state[0] += <uint64_t> 0x9E3779B97F4A7C15
    z = state[0]
    z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
    return z ^ (z >> 31)


cdef inline uint32_t below(uint32_t n, uint64_t *state) noexcept nogil:
    """A number from 0 to n - 1, all equally likely."""
    cdef uint64_t product = (splitmix(state) >> 32) * n
    cdef uint32_t threshold
    if <uint32_t> product < n:
        threshold = (<uint32_t> (0 - n)) % n
        while <uint32_t> product < threshold:
            product = (splitmix(state) >> 32) * n
    return <uint32_t> (product >> 32)


def shuffled(examples, random):
    """The example numbers, or 0 .. n - 1, in a random order as a new int64 array: at most 2^32 - 1, by one 64-bit seed if there are two."""
    cdef int64_t[::1] order = np.arange(examples) if np.isscalar(examples) else np.array(examples, dtype=np.int64)
    cdef uint64_t state = 0
    cdef Py_ssize_t i, n = order.shape[0]
    cdef int64_t held
    cdef uint32_t j
    if n > 1:
        state = random.integers(0, 2**64, dtype=np.uint64)
    if n >= 2**32 - 1:
        raise ValueError(f"{n} examples are too many to shuffle at once; train on chunks with partial_fit.")
    with nogil:
        for i in range(n - 1, 0, -1):
            j = below(<uint32_t> (i + 1), &state)
            held = order[i]
            order[i] = order[j]
            order[j] = held
    return order.base
