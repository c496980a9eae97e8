"""Bounds of the weights of one feature map: what the map's option `bounds` is read as, and the projection of one weight."""
import numpy as np

from libc.stdint cimport int64_t, uintptr_t
from structperc.basics.errors import PluginError, shortened


# ---- bounds ----


cdef class Bounds:
    """low <= w <= high for a table of weights.

    Parameters
    ----------
    bounds : pair
        Lowest and largest weights: numbers or arrays that broadcast to the table, -inf and inf where there is none. 0 lies between them:
        training begins there, and decay leads there.
    shape : tuple of int
        Of the weights; all axes but the last become rows of the table.
    """

    def __init__(self, bounds, shape):
        *_, width = shape
        try:
            low, high = bounds
            low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
            self.low, self.high = (np.broadcast_to(side, shape).reshape(-1, width) for side in (low, high))
        except (TypeError, ValueError, OverflowError):
            raise PluginError(f"bounds={shortened(bounds)}; expected (lowest, largest), numbers or arrays that broadcast to the shape "
                              f"{shape} of the weights.") from None
        if not ((low <= 0).all() and (high >= 0).all()):
            raise PluginError(f"bounds={shortened(bounds)}; expected lowest weights up to 0 and largest weights from 0, since training "
                              f"begins at 0.")


# ---- mixing ----
# The changes by a shard's steps, by rows of the weights, and the mixture of several shards' changes.
#
# Typical sizes: 10^2..10^6 changed rows of 1..50 weights, 2..64 shards. Every row is read once; about 1 ns a weight.

ctypedef fused real:
    float
    double


def changed_rows(const double[:, ::1] table, const double[:, ::1] base, const int64_t[::1] where, const int64_t[::1] base_where,
                 double scale, double scale_sum, Py_ssize_t n_visited, Py_ssize_t average, real[:, ::1] steps, real[:, ::1] sums,
                 int64_t[::1] changed):
    """Fills in which rows differ from those of a base, and their steps and sums. Returns how many do."""
    # Of the table, w = scale * v. `average` entries behind v (0: none) is u, and the running sum of w is scale_sum * v - u. The base has w.
    cdef Py_ssize_t k, j, width = steps.shape[1], n = 0
    cdef const double *v
    cdef const double *w
    cdef double step, total
    cdef bint differs
    with nogil:
        for k in range(where.shape[0]):
            v, w, differs = &table[where[k], 0], &base[base_where[k], 0], False
            for j in range(width):
                step = scale * v[j] - w[j]
                steps[n, j] = <real> step
                differs |= step != 0
                if average:
                    total = scale_sum * v[j] - v[j + average] - n_visited * w[j]
                    sums[n, j] = <real> total
                    differs |= total != 0
            changed[n] = k
            n += differs
    return n


def merged(list shards, const double[::1] shares, bint bounded, real[:, ::1] steps, double[:, ::1] sums, int64_t[::1] rows):
    """Adds up what shards have changed, always in their order, into `steps`, `sums` and `rows`. Returns the number of rows."""
    # The steps count by `shares`, the sums as they are. If bounded, a weight moves at most twice the mean step of the shards that moved it.
    cdef Py_ssize_t i, j, n = 0, width = steps.shape[1], m = len(shards), n_sums = sums.shape[1]
    cdef int64_t row
    cdef const int64_t[::1] own_rows
    cdef const real[:, ::1] own
    addresses, lengths, places = np.zeros((m, 3), dtype=np.uintp), np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    for i in range(m):
        if len(shards[i][0]):
            own_rows = shards[i][0]
            addresses[i, 0], lengths[i] = <uintptr_t> &own_rows[0], own_rows.shape[0]
            own = shards[i][1]
            addresses[i, 1] = <uintptr_t> &own[0, 0]
            if n_sums:
                own = shards[i][2]
                addresses[i, 2] = <uintptr_t> &own[0, 0]
    cdef const uintptr_t[:, ::1] at = addresses
    cdef const int64_t[::1] length = lengths
    cdef int64_t[::1] movers = np.zeros(width, dtype=np.int64)
    cdef int64_t[::1] place = places
    cdef const real *values
    with nogil:
        while True:
            row = -1
            for i in range(m):
                if place[i] < length[i] and (row < 0 or (<const int64_t *> at[i, 0])[place[i]] < row):
                    row = (<const int64_t *> at[i, 0])[place[i]]
            if row < 0:
                break
            rows[n] = row
            for i in range(m):
                if place[i] < length[i] and (<const int64_t *> at[i, 0])[place[i]] == row:
                    values = <const real *> at[i, 1] + place[i] * width
                    for j in range(width):
                        steps[n, j] += <real> (shares[i] * values[j])
                        movers[j] += values[j] != 0
                    if n_sums:
                        values = <const real *> at[i, 2] + place[i] * width
                        for j in range(width):
                            sums[n, j] += values[j]
                    place[i] += 1
            for j in range(width):
                if bounded and movers[j] > 2:
                    steps[n, j] = <real> (steps[n, j] * (2.0 / movers[j]))
                movers[j] = 0
            n += 1
    return n


def add_rows(double[:, ::1] table, const int64_t[::1] where, const real[:, ::1] steps, const double[:, ::1] sums, Py_ssize_t average,
             double scale_sum):
    """w += steps, and u such that the running sum grows by `sums`, with this scale_sum."""
    cdef Py_ssize_t k, j, width = steps.shape[1]
    cdef double *v
    with nogil:
        for k in range(where.shape[0]):
            v = &table[where[k], 0]
            for j in range(width):
                v[j] += steps[k, j]
                if average:
                    v[j + average] += scale_sum * steps[k, j] - sums[k, j]


def copy_rows(double[:, ::1] table, const int64_t[::1] where, const double[:, ::1] base, const int64_t[::1] base_where, Py_ssize_t width,
              Py_ssize_t average):
    """w of these rows becomes that of the base, u becomes 0."""
    cdef Py_ssize_t k, j
    cdef double *v
    cdef const double *w
    with nogil:
        for k in range(where.shape[0]):
            v, w = &table[where[k], 0], &base[base_where[k], 0]
            for j in range(width):
                v[j] = w[j]
                if average:
                    v[j + average] = 0
