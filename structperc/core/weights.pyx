"""The primal weight store: one vector w, averaged and decayed lazily, with memory for the rows that steps touch.

Typical sizes: 50 .. 10^8 weights. A step costs what the feature map's `add` costs; averaging and decay add two scalar
operations. Nothing is allocated after `start`.
"""
import numpy as np

from libc.string cimport memcpy
from libc.stdint cimport int64_t
from structperc.core.component import bound
from structperc.core.component cimport Component
from structperc.core.errors import DataError
from structperc.core.features cimport Features, pointer, room_for, written_out
from structperc.core.rows cimport Example, Rows
from structperc.core.schedules cimport Schedule

cdef enum:
    LINE = 8                            # doubles of a cache line
    MOST_PLACES = 2147483647

cdef double SMALLEST = 1e-100           # below, the scale is multiplied into the weights
cdef double SMALLEST_AVERAGING = 1e-4   # the same, before scale_sum * v - u loses digits to cancellation


cdef class Weights(Component):
    """The weight store w: scores an example's atoms and takes additive steps.

    The loop counts `n_visited` (examples visited) for averaging.
    """

    primal = False
    options_used = ("average", "decay")

    def __cinit__(self, *args, **kwargs):
        self.scale = 1.0

    def start(self, parts, context):
        """Takes the feature map."""
        self.features = bound(parts.features)

    cdef int scores_c(self, Example x, double *s) noexcept nogil:
        with gil:
            self.error = self.missing("scores")
        return -1

    cdef int update_c(self, Example x, const double *c) noexcept nogil:
        with gil:
            self.error = self.missing("update")
        return -1

    cdef double norm_c(self, Example x, const double *c) noexcept nogil:
        """||sum_a c[a] phi(x, a)||^2; negative on an error."""
        return self.features.norm_c(x, c)

    cdef double constant_gram_c(self, Example x, double *shared) noexcept nogil:
        """phi(x, a) . phi(x, b) = shared + [a = b] own, of maps with a uniform Gram; negative on an error."""
        return self.features.constant_gram_c(x, shared)

    cdef double inner_c(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b) noexcept nogil:
        return self.features.inner_c(x, a, z, b)

    cdef Py_ssize_t look_ahead_c(self, Rows rows, const int64_t *order, Py_ssize_t t, Py_ssize_t n) noexcept nogil:
        """Told that the examples from t on (in file order, or order[t], ...) are visited next, up to n; until which it need not be told.

        A store that scores many examples faster than one by one does that here. -1 on an error.
        """
        return n

    cdef void prefetch_c(self, Example x) noexcept nogil:
        pass

    def begin_fit(self, rows):
        """Told which data all passes of a fit will visit, before the first of them; None: the fit is over."""

    def norm(self, Example x, c):
        """||sum_a c[a] phi(x, a)||^2"""
        cdef double[::1] padded = room_for(c, self.features, x)
        cdef double total = self.norm_c(x, &padded[0])
        self.reraise()
        return total

    def inner(self, Example x, Py_ssize_t a, Example z, Py_ssize_t b):
        """phi(x, a) . phi(z, b)"""
        cdef double value = self.inner_c(x, a, z, b)
        self.reraise()
        return value

    def scores(self, Example x):
        """s[a] = w . phi(x, a) for every atom of x."""
        cdef Py_ssize_t n = self.features.n_atoms(x)
        cdef double[::1] s = np.zeros(max(n, self.features.room, 1))
        x.n_atoms = n
        if self.scores_c(x, &s[0]) < 0:
            self.reraise()
        return np.asarray(s)[:n]

    def update(self, Example x, c):
        """w <- (1 - decay) w + sum_a c[a] phi(x, a)."""
        cdef double[::1] padded = room_for(c, self.features, x)
        if self.update_c(x, &padded[0]) < 0:
            self.reraise()

    def averaged(self):
        """The store to predict with: the averaged one when averaging, else this one."""
        return self

    def batch_scores(self, rows):
        """Atom scores of a whole data set, or None where examples must be scored one by one."""
        return None

    def state(self):
        """What must be saved, a dict of arrays; `restore` takes it back."""
        raise self.missing("state")

    def restore(self, state):
        raise self.missing("restore")

    def snapshot(self, rows):
        """Something from which `revert` undoes every step on these examples."""
        return self.state()

    def revert(self, token):
        self.restore(token)

    def is_finite(self, token=None):
        """Whether no step has overflowed since the checkpoint (or ever)."""
        return True

    def reraise(self):
        self.error, self.features.error = self.error or self.features.error, None
        if self.error is not None:
            self.raised()


cdef class PrimalWeights(Weights):
    """w as a vector, with the sum of its past values when averaging.

    The weights are stored as v with w = scale * v. The running sum of w over the visited examples is
    scale_sum * v - u, where a step v += d adds scale_sum * d to u: averaging costs nothing between steps
    (math of the lazy form: mean = w_T - (1/T) sum_s (s - 1) Delta_s).

    Where the feature map allows it (`Features.on_demand_rows`) and a row with its averages is longer than a cache line, rows stand in
    the order in which steps first touch them, after one row of zeros for all the others: memory and caches hold only features
    that were ever learned from.

    Parameters
    ----------
    average : bool
    decay : float in [0, 1)
        Each step first multiplies w by 1 - decay * r(t).
    decay_schedule : str or function, default "constant"
        r(t) for the t-th example visited, at most 1; see `structperc.core.schedules.Schedule`.
    """

    primal = True
    options_used = ("average", "decay", "decay_schedule")

    def __init__(self, average=False, double decay=0.0, decay_schedule="constant"):
        self.average, self.decay = average, decay
        self.schedule = Schedule(decay_schedule, "decay_schedule")

    @property
    def decay_schedule(self):
        return self.schedule.rule

    def check(self, context, parts):
        self.schedule.check_decay(self.decay)

    def __cinit__(self, *args, **kwargs):
        self.place = None

    def start(self, parts, context):
        self.allocate(bound(parts.features))

    def allocate(self, Features features):
        """Room for the weights of this map, all 0."""
        cdef Py_ssize_t width = features.row_width * (2 if self.average else 1), rows = features.n_weight_rows
        cdef bint lazy = features.on_demand_rows > 0 and 2 * features.row_width > LINE and rows < MOST_PLACES    # with averages or not
        self.features = features
        rows += lazy
        space = np.zeros(rows * width + 8)              # the system gives memory where it is first used
        begin = (-space.ctypes.data % 64) // 8          # rows of 8 doubles on one cache line each
        self.buffer = space[begin:begin + rows * width]
        self.p = written_out(features, &self.buffer[0])
        self.p.pitch = width
        self.p.average = features.row_width if self.average else 0
        self.p.fixed = self.p.w + (1 if lazy else features.on_demand_rows) * width
        self.place, self.n_placed = None, <int> min(rows, MOST_PLACES)
        if lazy:
            self.place = np.zeros(features.on_demand_rows, dtype=np.intc)
            self.n_placed = <int> (rows - features.on_demand_rows)
            self.p.place, self.p.n_placed = &self.place[0], &self.n_placed
        self.scale, self.scale_sum, self.n_visited = 1.0, 0.0, 0
        self._final = self._mean = self.saved = None

    cdef int scores_c(self, Example x, double *s) noexcept nogil:
        cdef Py_ssize_t a
        if self.features.scores_c(&self.p, x, s) < 0:
            return -1
        if self.scale != 1:
            for a in range(x.n_atoms):
                s[a] *= self.scale
        return 0

    cdef int update_c(self, Example x, const double *c) noexcept nogil:
        if self.decay != 0:
            if self.shrink() < 0:
                return -1
            return self.features.add_c(&self.p, x, c, 1 / self.scale, self.scale_sum / self.scale)
        return self.features.add_c(&self.p, x, c, 1, self.scale_sum)

    cdef int shrink(self) noexcept nogil:
        """Multiplies w by what a step leaves of it; -1 on an error."""
        cdef Py_ssize_t row, j, width = self.features.row_width
        cdef double *v
        cdef double left = self.schedule.left_c(self.decay, self.n_visited + 1)
        if left < 0:
            with gil:
                self.error = self.schedule.taken_error()
            return -1
        self.scale *= left
        if self.scale >= (SMALLEST_AVERAGING if self.average else SMALLEST):
            return 0
        for row in range(self.rows_in_use()):
            v = self.p.w + row * self.p.pitch
            for j in range(width):
                if self.average:
                    v[j + self.p.average] -= self.scale_sum * v[j]      # the running sum moves into -u
                v[j] *= self.scale
        if self.average:
            self.scale_sum = 0
        self.scale = 1
        return 0

    cdef void prefetch_c(self, Example x) noexcept nogil:
        self.features.prefetch_c(&self.p, x)

    cdef Py_ssize_t rows_in_use(self) noexcept nogil:
        return self.n_placed if self.place is not None else self.features.n_weight_rows

    def _table(self):
        """The rows in use, (rows, pitch), as they are stored."""
        return np.asarray(self.buffer)[:self.rows_in_use() * self.p.pitch].reshape(-1, self.p.pitch)

    def _where(self, rows):
        """Where these rows of weights stand in the table; 0 where no step has touched them."""
        if self.place is None:
            return rows
        lazy, rows = self.features.on_demand_rows, np.asarray(rows)
        return np.where(rows < lazy, np.asarray(self.place)[np.minimum(rows, lazy - 1)], rows - lazy + 1)

    def _values(self):
        """The weights to predict with, by rows as they are stored: the mean over the visited examples when averaging."""
        table, width = self._table(), self.features.row_width
        if self.average and self.n_visited:
            return (self.scale_sum * table[:, :width] - table[:, width:]) / self.n_visited
        return table[:, :width] * self.scale if self.scale != 1 else table[:, :width]

    def vector(self):
        """The weights to predict with, flat, length n_weights: the mean over the visited examples when averaging."""
        if not self.average or not self.n_visited:
            return self._in_order(self._values())
        n_visited, mean = self.n_visited, self._mean            # before the values: another thread may train meanwhile
        if mean is None or self._mean_visited != n_visited:
            mean = self._in_order(self._values())
            mean.flags.writeable = False
            self._mean, self._mean_visited = mean, n_visited
        return mean

    def _in_order(self, values):
        if self.place is None:
            return values.ravel()
        where = self._where(np.arange(self.features.n_weight_rows))
        return values[np.where(where < len(values), where, 0)].ravel()      # another thread may have placed more since

    def averaged(self):
        if not self.average and self.scale == 1:
            return self
        n_visited, mean = self.n_visited, self._final           # as in `vector`
        if mean is None or self._final_visited != n_visited:
            mean = self.fresh()             # of its own class, which may score in a way of its own
            (<PrimalWeights> mean).average, (<PrimalWeights> mean).decay = False, 0
            (<PrimalWeights> mean).allocate(self.features)
            (<PrimalWeights> mean).take(self, self._values())
            self._final, self._final_visited = mean, n_visited
        return mean

    cdef take(self, PrimalWeights other, values):
        """Stores these values in the rows that another store with the same features has in use."""
        if self.place is None:
            np.asarray(self.buffer)[:] = values.ravel()
            return
        place = np.asarray(other.place)
        np.asarray(self.place)[:] = np.where(place < len(values), place, 0)
        self.n_placed = <int> len(values)
        self._table()[:] = values

    def batch_scores(self, rows):
        return self.features.batch_scores(self.vector(), rows)

    def state(self):
        state = {"weights": np.array(self._table().ravel()), "scales": np.array([self.scale, self.scale_sum]),
                 "n_visited": np.array(self.n_visited)}
        if self.place is not None:
            state["place"] = np.array(self.place)
        return state

    def restore(self, state):
        weights = np.asarray(state["weights"], dtype=float)
        if self.place is None:
            expected = self.buffer.shape[0]
        else:
            place = np.asarray(state["place"])
            fixed = self.features.n_weight_rows - self.features.on_demand_rows + 1
            used = place[place != 0]
            if place.shape != (self.features.on_demand_rows,) or not np.array_equal(np.sort(used), np.arange(fixed, fixed + len(used))):
                raise DataError(f"the saved places of weights, of shape {place.shape}, do not fit {self.features.on_demand_rows} rows.")
            expected = (fixed + len(used)) * self.p.pitch
        if weights.shape != (expected,):
            raise DataError(f"the saved weights have shape {weights.shape}; these options need ({expected},).")
        if self.place is not None:
            np.asarray(self.buffer)[:] = 0
            np.asarray(self.place)[:] = place
            self.n_placed = <int> (expected // self.p.pitch)
        np.asarray(self.buffer)[:expected] = weights
        self.scale, self.scale_sum = (float(v) for v in state["scales"])
        self.n_visited = int(state["n_visited"])
        self._final = self._mean = None

    def snapshot(self, rows):
        """Saves what steps on these rows can touch: everything, or for few sparse rows their features' weights."""
        cdef Py_ssize_t n = self.rows_in_use() * self.p.pitch
        scalars = (self.scale, self.scale_sum, self.n_visited, self.n_placed)
        few = rows.sparse and self.features.n_weight_rows > rows.X.nnz and self.decay == 0
        touched = self.features.touched_rows(rows) if few else None
        if touched is not None:
            where = self._where(touched)
            return scalars, touched, where, self._table()[where]
        if self.saved is None or self.saved.shape[0] < n:
            self.saved = np.empty(n)
        memcpy(&self.saved[0], &self.buffer[0], n * sizeof(double))
        return scalars, None, None if self.place is None else np.array(self.place), None

    def is_finite(self, token=None):
        """Whether all weights (that the token says were touched) are finite; a quarter of a nanosecond each."""
        cdef Py_ssize_t j, n = self.rows_in_use() * self.p.pitch
        cdef double a = 0, b = 0, c = 0, d = 0
        if token is not None and token[1] is not None:
            return bool(np.isfinite(self._table()[self._where(token[1])]).all())
        for j in range(0, n - 3, 4):
            a += 0 * self.buffer[j]
            b += 0 * self.buffer[j + 1]
            c += 0 * self.buffer[j + 2]
            d += 0 * self.buffer[j + 3]
        for j in range(n - n % 4, n):
            a += 0 * self.buffer[j]
        return a + b + c + d == 0

    def revert(self, token):
        scalars, touched, where, part = token
        before = scalars[3]
        if self.place is not None:
            self._table()[before:] = 0
            if touched is None:
                np.asarray(self.place)[:] = where
            else:
                np.asarray(self.place)[touched[(where == 0) & (touched < self.features.on_demand_rows)]] = 0
            self.n_placed = before
        if touched is None:
            memcpy(&self.buffer[0], &self.saved[0], self.rows_in_use() * self.p.pitch * sizeof(double))
        else:
            self._table()[where] = part
        self.scale, self.scale_sum, self.n_visited = scalars[:3]
        self._final = self._mean = None
