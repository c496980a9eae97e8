# distutils: extra_compile_args = VECTORS
"""Columns as rows: what files keep column by column becomes the matrix that training reads row by row.

Typical sizes: 10^4 to 10^6 rows of 10 to 1000 columns. A pass of 1 to 2 ns per number runs without the GIL. A thread can thus read the next
part of a stream during training.
"""
import numpy as np

cdef enum:
    WIDE = 8                # columns at a time: as many numbers as a line of cache holds
    TALL = 512              # rows at a time: a page of each column, whose lines the CPU fetches by itself; their rows stay in the cache


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
    cdef Py_ssize_t n = len(columns[0]), d = len(columns), j
    cdef double[:, ::1] out
    cdef const double[::1] column
    cdef double total
    kept = [np.ascontiguousarray(given, dtype=np.float64) for given in columns]
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
