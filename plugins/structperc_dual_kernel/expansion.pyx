"""Sums of kernel values: the sums of stored rows, each with a coefficient in every block, at other rows.

Typical sizes: 10^2..10^5 rows held, 1..30 blocks. Cost: one kernel value for each row held and each row scored, shared by all blocks.
"""
import hashlib
import itertools

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, NAN
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset
from structperc.core.features cimport PADDING, Features, written_out
from structperc.core.rows cimport Example, Rows
from structperc.core.weights cimport Weights
from structperc.errors import DataError
from structperc.plugin_tools import adapted, available_cores, map_in_threads, read_array, substate
from structperc_kernels import KernelObjects
from structperc_kernels.kernel_rows cimport LANES, KernelRows, Queries
from structperc_kernels.vector_rows cimport best_tiles, sp_tiles


include "expansion.support_set.pxi"
include "expansion.score_cache.pxi"


cdef enum:
    CHUNK = 256                 # rows that are prepared at a time
    WORTH_A_THREAD = 1 << 19    # kernel values

cdef const sp_tiles *TILES = best_tiles()


cdef int add_slots(KernelRows kernel_rows, Queries q, Py_ssize_t group, Py_ssize_t first, Py_ssize_t last,
                   const double *c, Py_ssize_t n_blocks,
                   double *r) noexcept nogil:
    """r[block, lane] += sum over the slots first .. last - 1 of their coefficients c[slot, block] times the kernel; -1 on an error."""
    cdef double values[TILE * LANES]
    cdef const double *rows[TILE]
    cdef int slots[TILE]
    cdef Py_ssize_t i, n
    while first < last:
        n = min(TILE, last - first)
        for i in range(n):
            slots[i] = <int> (first + i)
            rows[i] = c + (first + i) * n_blocks
        for i in range(n * LANES):
            values[i] = NAN
        if kernel_rows.tile_c(q, group, slots, n, values) < 0:
            return -1
        TILES.add_weighted(values, n, rows, n_blocks, r)
        first += n
    return 0


cdef int add_rows(Features features, Example x, const double *sums, double *s) noexcept nogil:
    """s[a] += the sum of the row and block of atom a, sums[row * n_blocks + block]; -1 on an error."""
    cdef Py_ssize_t a, cell
    for a in range(x.n_atoms):
        cell = features.cell_c(x, a)
        if cell >= 0:
            s[a] += sums[cell]
        elif cell < -1:
            return -1
    return 0


cdef class ExplicitPart:
    """What atoms have besides their rows (intercepts, thresholds, transitions), as weights like any others."""
    # described: Features or None. The map of X without columns.
    # vector: float64 array of shape (2, n_weights), optional. The weights, and the sums that averaging needs; zeros without it.

    def __init__(self, described, vector=None):
        cdef double[:, ::1] w
        cdef Features features
        self.described = described
        if described is None:
            self.vector = np.zeros((2, 0))
            return
        self.features = features = adapted(described)
        self.vector = w = np.zeros((2, features.n_weights)) if vector is None else vector
        self.p = written_out(features, &w[0, 0])
        self.p.average = features.n_weights
        self.blank = Rows(np.zeros((1, 0))).example(0)

    cdef void look_at(self, Example x) noexcept nogil:
        """Makes `blank` what x is without its columns."""
        self.blank.index, self.blank.n_atoms, self.blank.block.n_rows = x.index, x.n_atoms, x.block.n_rows

    cdef int scores_c(self, Example x, double *s) noexcept nogil:
        if self.features is None:
            memset(s, 0, x.n_atoms * sizeof(double))
            return 0
        self.look_at(x)
        return self.features.scores_c(&self.p, self.blank, s)

    cdef int add_c(self, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        if self.features is None:
            return 0
        self.look_at(x)
        return self.features.add_c(&self.p, self.blank, c, to_w, to_u)

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        if self.features is None:
            return 0
        self.look_at(x)
        return self.features.norm_c(self.blank, c)

    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil:
        shared[0] = 0
        if self.features is None:
            return 0
        self.look_at(x)
        return self.features.constant_gram_c(self.blank, shared)

    def atom(self, Example x, a):
        """The vector of what atom a has besides its row."""
        if self.features is None:
            return np.zeros(0)
        self.look_at(x)
        return self.features.vector(self.blank, np.arange(x.n_atoms) == a)

    def attributes(self, values):
        """What the feature map would show of these weights, but for `coef_`."""
        if self.described is None:
            return {}
        return {name: value for name, value in self.described.attributes(Shown(values)).items() if name != "coef_"}


class Shown:
    """Weights that a feature map shows to users."""

    def __init__(self, values):
        self.values = values

    def vector(self):
        return self.values()


cdef class Expansion(Weights):
    """A finished weight vector: rows with coefficients, and what atoms have besides.

    Nothing in it changes, so that several threads may use it.
    """
    # features: Features. The feature map, with atoms on rows (`Features.n_blocks`).
    # coefficients: float64 array of shape (kernel_rows.n, n_blocks)
    # own: array of shape (2, n) or None. Weights of what atoms have besides their row.

    def __init__(self, Features features, KernelRows kernel_rows, coefficients, own):
        self.features, self.kernel_rows = features, kernel_rows
        self.coefficients = np.ascontiguousarray(coefficients, dtype=float)
        self.explicit = ExplicitPart(features.explicit_part(), own)

    cdef int scores_c(self, Example x, double *s) noexcept nogil:
        cdef Py_ssize_t a
        cdef const double[::1] scores
        with gil:
            try:
                rows = np.arange(x.first_row, x.first_row + x.block.n_rows, dtype=np.int64)
                scores = self.from_rows(x, self.row_scores(x.source, rows))
                for a in range(x.n_atoms):
                    s[a] = scores[a]
                return 0
            except BaseException as error:
                self.error = error
                return -1

    def scores(self, Example x):
        if not x.source.objects or not isinstance(self.kernel_rows, KernelObjects):
            return Weights.scores(self, x)
        x.n_atoms = self.features.fixed_atoms       # the kernel reads objects, and the map only has the places of atoms
        return self.from_rows(x, self.row_scores(x.source, np.arange(x.first_row, x.first_row + x.block.n_rows, dtype=np.int64)))

    cdef from_rows(self, Example x, const double[:, ::1] sums):
        """Atom scores of x from the sums of its rows, (n_rows, n_blocks)."""
        cdef ExplicitPart own = ExplicitPart(self.explicit.described, self.explicit.vector)      # with a blank example of this thread's own
        cdef double[::1] s = np.zeros(x.n_atoms + PADDING)
        if own.scores_c(x, &s[0]) < 0:
            own.features.raised()
        if add_rows(self.features, x, &sums[0, 0], &s[0]) < 0:
            self.features.raised()
        return np.asarray(s)[:x.n_atoms]

    cdef row_scores(self, Rows rows, const int64_t[::1] which):
        """The sums of these rows of X in every block, (n_rows, n_blocks)."""
        cdef Queries q = self.kernel_rows.queries()
        cdef Py_ssize_t n_blocks = self.features.n_blocks, group, n = which.shape[0], first = 0, last
        cdef double[:, :, ::1] r = np.zeros(((n + LANES - 1) // LANES, n_blocks, LANES))
        cdef const double[:, ::1] c = self.coefficients
        cdef int status = 0
        if self.kernel_rows.n:
            self.kernel_rows.prepare(q, rows, which)
            with nogil:
                while status == 0 and first < self.kernel_rows.n:
                    last = min(first + self.kernel_rows.rows_per_tile, self.kernel_rows.n)
                    for group in range(r.shape[0]):
                        status = add_slots(self.kernel_rows, q, group, first, last, &c[0, 0], n_blocks, &r[group, 0, 0])
                        if status < 0:
                            break
                    first = last
            if status < 0:
                self.kernel_rows.reraise()
        return np.ascontiguousarray(np.asarray(r).transpose(0, 2, 1).reshape(-1, n_blocks)[:n])

    def batch_scores(self, Rows rows):
        """Atom scores of a whole data set: (n_examples, n_atoms), or the flat scores and where each example's begin."""
        cdef Example x = Example()
        cdef ExplicitPart own = ExplicitPart(self.explicit.described, self.explicit.vector)
        cdef Py_ssize_t i, n = rows.n_examples, fixed = self.features.fixed_atoms
        cdef int64_t[::1] starts = np.zeros(n + 1, dtype=np.int64)
        cdef const double[:, ::1] sums = np.ascontiguousarray(self.all_rows(rows))
        cdef double[::1] flat
        x.look_at(rows)
        for i in range(n):
            rows.load(i, x)
            starts[i + 1] = starts[i] + (fixed if fixed >= 0 else self.features.n_atoms(x))
        flat = np.zeros(starts[n] + PADDING)
        for i in range(n):
            rows.load(i, x)
            x.n_atoms = starts[i + 1] - starts[i]
            if own.scores_c(x, &flat[starts[i]]) < 0:
                own.features.raised()
            if add_rows(self.features, x, &sums[x.first_row, 0], &flat[starts[i]]) < 0:
                self.features.raised()
        scores = np.asarray(flat)[:starts[n]]
        return scores.reshape(n, fixed) if fixed >= 0 else (scores, np.asarray(starts))

    def all_rows(self, Rows rows):
        """`row_scores` of all rows of X, chunk by chunk and, where it is worth it, on all cores."""
        starts = range(0, rows.n_rows, CHUNK)
        chunks = [np.arange(start, min(start + CHUNK, rows.n_rows), dtype=np.int64) for start in starts]
        threads = min(available_cores(), len(chunks), 1 + rows.n_rows * self.kernel_rows.n // WORTH_A_THREAD)
        if threads > 1:
            return np.concatenate(map_in_threads(lambda chunk: self.row_scores(rows, chunk), chunks, threads))
        parts = [np.zeros((0, self.features.n_blocks))]
        for chunk in chunks:
            parts.append(self.row_scores(rows, chunk))
            PyErr_CheckSignals()
        return np.concatenate(parts)


include "expansion.look_ahead.pxi"
