# distutils: extra_compile_args = GLUE
"""A Python face of each instruction set of the inner products, for tests. See inner.h."""
import numpy as np

from structperc.core.inner_products cimport sp_blocks, sp_inner
from structperc.core.inner_products import address_of
from structperc.core.inner_products import instruction_sets as instruction_sets  # no-cython-lint
from structperc.core.features cimport PADDING
from structperc.core.rows cimport Example, Rows


cdef const sp_inner *named(str name) except NULL:
    return <const sp_inner *> <size_t> address_of(name)


def dots(str name, Example x, double[:, ::1] w, bint feature_major=False):
    """w_k . x of the example's first row; w is (blocks, features), or (features, blocks) when feature_major."""
    cdef sp_blocks b = blocks(w, feature_major)
    cdef double[::1] out = np.zeros(b.n_blocks)
    named(name).dots[x.block.layout](&x.block, 0, &b, &out[0])
    return np.asarray(out)


def dots_of_rows(str name, Rows rows, double[:, ::1] w, Py_ssize_t first=0, bint feature_major=False):
    """w_k . x of the rows from `first` on, (rows, blocks); w as of `dots`."""
    cdef sp_blocks b = blocks(w, feature_major)
    cdef Py_ssize_t n = rows.n_rows - first
    cdef double[::1] out = np.zeros(n * b.n_blocks + PADDING)
    named(name).dots_of_rows[rows.whole.layout](&rows.whole, first, n, &b, &out[0], b.n_blocks)
    return np.asarray(out)[:n * b.n_blocks].reshape(n, b.n_blocks)


def add(str name, Example x, double[:, ::1] w, const double[::1] c, bint feature_major=False):
    """w_k += c_k x, in place."""
    cdef sp_blocks b = blocks(w, feature_major)
    named(name).add[x.block.layout](&x.block, 0, &b, &c[0], 1.0, 0.0)


def squared_norm(str name, Example x):
    """||x||^2 of the example's first row."""
    return named(name).norm[x.block.layout](&x.block, 0)


def max_plus(str name, const double[::1] a, const double[::1] e, const double[:, ::1] t):
    """max_i (a[i] + e[i]) + t[i, j] for every j: the product of a vector and a table over the semiring (max, +)."""
    cdef double[::1] out = np.zeros(t.shape[1])
    named(name).max_plus(&a[0], &e[0], t.shape[0], &t[0, 0], t.shape[1], t.shape[1], &out[0])
    return np.asarray(out)


def plus_times(str name, const double[::1] a, const double[::1] e, const double[:, ::1] t):
    """sum_i (a[i] * e[i]) * t[i, j] for every j."""
    cdef double[::1] out = np.zeros(t.shape[1])
    named(name).plus_times(&a[0], &e[0], t.shape[0], &t[0, 0], t.shape[1], t.shape[1], &out[0])
    return np.asarray(out)


cdef sp_blocks blocks(double[:, ::1] w, bint feature_major):
    cdef sp_blocks b
    cdef Py_ssize_t rows = w.shape[0], columns = w.shape[1]
    b.w, b.bias, b.average, b.place, b.n_placed = &w[0, 0], NULL, 0, NULL, NULL
    b.block_step = 1 if feature_major else columns
    b.feature_step = columns if feature_major else 1
    b.n_blocks = columns if feature_major else rows
    return b
