# distutils: extra_compile_args = VECTORS
"""Columns as rows: what files keep column by column becomes the matrix that training reads row by row.

Typical sizes: 10^4 to 10^6 rows of 10 to 1000 columns. A pass of about 2 ns per number, without the GIL, so that a thread reads the next
part of a stream while one is learned from.
"""
import numpy as np

cdef enum:
    WIDE = 8                # columns at a time: as many numbers as a line of cache holds
    TALL = 128              # rows at a time: their lines of the matrix stay in the cache from one group of columns to the next


def rows_of(columns):
    """A C-ordered matrix with these columns.

    Parameters
    ----------
    columns : list of arrays of shape (n,)
        Numbers of any real type; at least one column.

    Returns
    -------
    rows : float64 array of shape (n, d)
    finite : bool
        Whether all of its numbers are.
    """
    cdef Py_ssize_t n = len(columns[0]), d = len(columns)
    cdef double[:, ::1] out
    cdef double total
    kept = [np.ascontiguousarray(column, dtype=np.float64) for column in columns]
    if any(column.shape != (n,) for column in kept):
        raise ValueError(f"the columns have {sorted({len(column) for column in kept})} rows; expected {n} rows in each.")
    rows = np.empty((n, d))
    if n == 0:
        return rows, True
    out = rows
    cdef size_t[::1] starts = np.array([column.ctypes.data for column in kept], dtype=np.uintp)
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
