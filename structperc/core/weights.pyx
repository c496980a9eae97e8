"""The primal weight store: one vector w, averaged and decayed lazily.

Typical sizes: 50 .. 10^7 weights. A step costs what the feature map's `add` costs; averaging and decay add two scalar
operations. Nothing is allocated after `start`.
"""
import numpy as np

from libc.string cimport memcpy
from structperc.core.components cimport Features, Parameter, Weights
from structperc.core.errors import DataError
from structperc.core.rows cimport Example

cdef double SMALLEST = 1e-100           # below, the scale is multiplied into the weights
cdef double SMALLEST_AVERAGING = 1e-4   # the same, before scale_sum * v - u loses digits to cancellation


cdef class PrimalWeights(Weights):
    """w as a vector, with the sum of its past values when averaging.

    The weights are stored as v with w = scale * v. The running sum of w over the visited examples is
    scale_sum * v - u, where a step v += d adds scale_sum * d to u: averaging costs nothing between steps
    (math of the lazy form: mean = w_T - (1/T) sum_s (s - 1) Delta_s).

    Parameters
    ----------
    average : bool
    decay : float in [0, 1)
        Each step first multiplies w by 1 - decay.
    """

    primal = True

    cdef readonly bint average
    cdef readonly double decay
    cdef Parameter p
    cdef double[::1] buffer, saved
    cdef object _final, _mean               # kept from one prediction to the next
    cdef Py_ssize_t _final_ticks, _mean_ticks

    def __init__(self, average=False, double decay=0.0):
        self.average, self.decay = average, decay

    def start(self, Features features, task):
        self.features = features
        copies = 2 if self.average else 1
        space = np.zeros(features.n_weights * copies + 8)
        begin = (-space.ctypes.data % 64) // 8          # rows of 8 doubles on one cache line each
        self.buffer = space[begin:begin + features.n_weights * copies]
        self.p.w = &self.buffer[0]
        self.p.pitch = features.row_width * copies
        self.p.average = features.row_width if self.average else 0
        self.scale, self.scale_sum, self.ticks = 1.0, 0.0, 0
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
            self.shrink()
            return self.features.add_c(&self.p, x, c, 1 / self.scale, self.scale_sum / self.scale)
        return self.features.add_c(&self.p, x, c, 1, self.scale_sum)

    cdef void shrink(self) noexcept nogil:
        cdef Py_ssize_t row, j, width = self.features.row_width
        cdef double *v
        self.scale *= 1 - self.decay
        if self.scale >= (SMALLEST_AVERAGING if self.average else SMALLEST):
            return
        for row in range(self.features.n_weight_rows):
            v = self.p.w + row * self.p.pitch
            for j in range(width):
                if self.average:
                    v[j + self.p.average] -= self.scale_sum * v[j]      # the running sum moves into -u
                v[j] *= self.scale
        if self.average:
            self.scale_sum = 0
        self.scale = 1

    cdef void prefetch_c(self, Example x) noexcept nogil:
        self.features.prefetch_c(&self.p, x)

    def _parts(self):
        """Views of the stored weights and of the averaging accumulators, (n_weight_rows, row_width) each."""
        table = np.asarray(self.buffer).reshape(self.features.n_weight_rows, -1)
        width = self.features.row_width
        return table[:, :width], (table[:, width:] if self.average else None)

    def vector(self):
        """The weights to predict with, flat, length n_weights: the mean over the visited examples when averaging."""
        v, u = self._parts()
        if self.average and self.ticks:
            if self._mean is None or self._mean_ticks != self.ticks:
                self._mean, self._mean_ticks = ((self.scale_sum * v - u) / self.ticks).ravel(), self.ticks
                self._mean.flags.writeable = False
            return self._mean
        return v.ravel() * self.scale if self.scale != 1 else v.ravel()

    def final(self):
        if not self.average and self.scale == 1:
            return self
        if self._final is None or self._final_ticks != self.ticks:
            mean = self.fresh()             # of its own class, which may score in a way of its own
            (<PrimalWeights> mean).average, (<PrimalWeights> mean).decay = False, 0
            PrimalWeights.start(mean, self.features, None)
            np.asarray((<PrimalWeights> mean).buffer)[:] = self.vector()
            self._final, self._final_ticks = mean, self.ticks
        return self._final

    def batch_scores(self, rows):
        return self.features.batch_scores(self.vector(), rows)

    def state(self):
        return {"weights": np.array(self.buffer), "scales": np.array([self.scale, self.scale_sum]),
                "ticks": np.array(self.ticks)}

    def restore(self, state):
        weights = np.asarray(state["weights"], dtype=float)
        if weights.shape != (self.buffer.shape[0],):
            raise DataError(f"the saved weights have shape {weights.shape}; these options need ({self.buffer.shape[0]},).")
        np.asarray(self.buffer)[:] = weights
        self.scale, self.scale_sum = (float(v) for v in state["scales"])
        self.ticks = int(state["ticks"])
        self._final = self._mean = None

    def checkpoint(self, rows):
        """Saves what steps on these rows can touch: everything, or for few sparse rows their features' weights."""
        cdef Py_ssize_t n = self.buffer.shape[0]
        scalars = (self.scale, self.scale_sum, self.ticks)
        few = rows.sparse and self.features.n_weight_rows > rows.X.nnz and self.decay == 0
        touched = self.features.touched(rows) if few else None
        if touched is not None:
            table = np.asarray(self.buffer).reshape(self.features.n_weight_rows, -1)
            return scalars, touched, table[touched]
        if self.saved is None:
            self.saved = np.empty(n)
        memcpy(&self.saved[0], &self.buffer[0], n * sizeof(double))
        return scalars, None, None

    def finite(self, token=None):
        """Whether all weights (that the token says were touched) are finite; a quarter of a nanosecond each."""
        cdef Py_ssize_t j, n = self.buffer.shape[0]
        cdef double a = 0, b = 0, c = 0, d = 0
        if token is not None and token[1] is not None:
            return bool(np.isfinite(np.asarray(self.buffer).reshape(self.features.n_weight_rows, -1)[token[1]]).all())
        for j in range(0, n - 3, 4):
            a += 0 * self.buffer[j]
            b += 0 * self.buffer[j + 1]
            c += 0 * self.buffer[j + 2]
            d += 0 * self.buffer[j + 3]
        for j in range(n - n % 4, n):
            a += 0 * self.buffer[j]
        return a + b + c + d == 0

    def roll_back(self, token):
        scalars, touched, part = token
        if touched is None:
            memcpy(&self.buffer[0], &self.saved[0], self.buffer.shape[0] * sizeof(double))
        else:
            np.asarray(self.buffer).reshape(self.features.n_weight_rows, -1)[touched] = part
        self.scale, self.scale_sum, self.ticks = scalars
        self._final = self._mean = None
