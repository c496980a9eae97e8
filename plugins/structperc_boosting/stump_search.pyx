"""Finds the decision stump of least cost over sorted columns, and stores costs and votes of a boosted ensemble.

Typical sizes: 10^2..10^5 rows, 1..100 columns, K = 2..10 ranks. Cost: O(D n log n) once. Each search costs about 5 ns for each row and
column, O(K) of them each. Memory: 5 bytes for each value of X, 2 K for each row.
"""
import attrs
import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, uint16_t, uint8_t
from libc.string cimport memset
from structperc.core.features cimport Features, Parameter
from structperc.core.inner_products cimport SP_DENSE_F64
from structperc.core.rows cimport Example
from structperc.errors import DataError
from structperc.plugin_tools import read_array
from structperc_boosting.sweep cimport SP_DOWNWARD_ENDS, SP_UPWARD_ENDS, sp_lowest_ranks, sp_sweep


# ---- stump search ----

MOST_RANKS = 2**16 - 1
cdef double ROUNDING = 1e-12        # costs that differ by less of themselves are equal: one row of weight 2 is two rows of weight 1


@attrs.frozen(eq=False)
class Stump:
    """r(x) = min{k : direction * x[feature] < thresholds[k - 1]}, K where there is none.

    Attributes
    ----------
    feature : int
    direction : {1, -1}
    thresholds : ndarray of shape (K - 1,)
        In order; -inf and inf where no value lies below or above.
    cost : float
        Sum of the costs of its predictions for its training rows.
    """

    feature: int
    direction: int
    thresholds: np.ndarray
    cost: float

    def predict(self, X):
        """The ranks 1..K of rows, an int32 array."""
        return 1 + np.searchsorted(self.thresholds, self.direction * X[:, self.feature].astype(float), side="right").astype(np.intc)


def constant_stump(rank, n_ranks):
    """A stump that predicts this rank, from 1, for every x."""
    return Stump(0, 1, np.where(np.arange(1, n_ranks) < rank, -np.inf, np.inf), np.nan)


cdef class SortedColumns:
    """The columns of X, sorted once for all searches."""
    # X: ndarray of shape (n_rows, n_features). float32 or float64, free of NaN; kept, not copied.

    cdef readonly Py_ssize_t n_rows, n_features
    cdef object X
    cdef const int32_t[:, ::1] order
    cdef const uint8_t[:, ::1] ends
    cdef uint16_t[:, ::1] best

    def __init__(self, X):
        self.n_rows, self.n_features = X.shape
        if self.n_rows == 0 or self.n_features == 0:
            raise DataError(f"X has shape {X.shape}; a stump needs at least one row and one column.")
        if self.n_rows >= 2**31:
            raise DataError(f"X has {self.n_rows} rows; stumps are found over fewer than {2**31}.")
        self.X, self.best = X, None
        order = np.empty((self.n_features, self.n_rows), dtype=np.int32)
        ends = np.empty(order.shape, dtype=np.uint8)
        last = np.ones(self.n_rows, dtype=bool)
        for j in range(self.n_features):
            order[j] = np.argsort(X[:, j], kind="stable")
            values = X[order[j], j]
            np.not_equal(values[1:], values[:-1], out=last[:-1])
            first = np.concatenate([[True], last[:-1]])
            ends[j] = SP_UPWARD_ENDS * last + SP_DOWNWARD_ENDS * first[::-1]
            PyErr_CheckSignals()
        self.order, self.ends = order, ends

    def search(self, const double[:, ::1] costs):
        """The stump of least cost for costs (n_rows, K) of ranks, and its predictions."""
        # Of stumps of equal cost, up to rounding: the first feature, direction 1 before -1, and the lowest ranks.
        cdef Py_ssize_t j, n = self.n_rows, n_ranks = costs.shape[1]
        cdef double least[2]
        cdef double best = INFINITY, margin = 0
        cdef Py_ssize_t feature = 0
        cdef int direction = 1
        if costs.shape[0] != n or not 2 <= n_ranks <= MOST_RANKS:
            raise DataError(f"costs has shape ({costs.shape[0]}, {n_ranks}); expected {n} rows and 2 to {MOST_RANKS} ranks.")
        space = np.empty(2 * n_ranks + 1)
        cdef double[::1] room = space[space.ctypes.data % 16 // 8:]
        for j in range(self.n_features):
            with nogil:
                sp_sweep(&self.order[j, 0], &self.ends[j, 0], &costs[0, 0], n, <int> n_ranks, &room[0], least)
            if least[0] < best - margin:
                best, feature, direction = least[0], j, 1
                margin = ROUNDING * fabs(best)
            if least[1] < best - margin:
                best, feature, direction = least[1], j, -1
                margin = ROUNDING * fabs(best)
            PyErr_CheckSignals()
        if best == INFINITY:
            raise DataError("the costs are too large to be added up, or NaN; divide them by a number.")
        ranks = self.ranks_of(costs, feature, direction)
        return Stump(feature, direction, self.thresholds_of(ranks, feature, direction, n_ranks), best), ranks

    cdef ranks_of(self, const double[:, ::1] costs, Py_ssize_t feature, int direction):
        """The lowest ranks of a stump of least cost with this feature and direction, by row."""
        cdef Py_ssize_t n_ranks = costs.shape[1]
        cdef double[::1] sums = np.empty(n_ranks)
        cdef int[::1] ranks = np.empty(self.n_rows, dtype=np.intc)
        if self.best is None or self.best.shape[1] != n_ranks:
            self.best = np.empty((self.n_rows, n_ranks), dtype=np.uint16)
        with nogil:
            sp_lowest_ranks(&self.order[feature, 0], &self.ends[feature, 0], SP_UPWARD_ENDS if direction == 1 else SP_DOWNWARD_ENDS,
                            &costs[0, 0], self.n_rows, <int> n_ranks, &sums[0], &self.best[0, 0], &ranks[0])
        return np.asarray(ranks)

    def thresholds_of(self, ranks, Py_ssize_t feature, int direction, Py_ssize_t n_ranks):
        """Between the last value of rank <= k and the next: the midpoint where that lies above the lower, else the upper value."""
        order = np.asarray(self.order[feature])[::direction]
        below = np.bincount(ranks, minlength=n_ranks + 1)[1:n_ranks].cumsum()      # rows of rank <= k
        low, high = (direction * self.X[order[where], feature].astype(float)
                     for where in (np.maximum(below - 1, 0), np.minimum(below, self.n_rows - 1)))
        low[below == 0], high[below == self.n_rows] = -INFINITY, INFINITY
        middle = low / 2 + high / 2
        return np.where((low < middle) & (middle <= high) | (below == 0), middle, high)


def reweigh(double[:, ::1] costs, const int[::1] y, const int[::1] ranks, double growth, double scale):
    """The costs of the next round, in place, times scale. Returns the sum of the costs of both ends of the scale."""
    # On the side of y where r lies, c[k] becomes c[k] + growth * min(c[k], c[r]).
    cdef Py_ssize_t n = costs.shape[0], n_ranks = costs.shape[1], i, k, r, right
    cdef double *c
    cdef double own, total = 0
    with nogil:
        for i in range(n):
            c, r, right = &costs[i, 0], ranks[i] - 1, y[i] - 1
            own = growth * c[r]
            if r > right:
                for k in range(right + 1, n_ranks):
                    c[k] += min(growth * c[k], own)
            elif r < right:
                for k in range(right):
                    c[k] += min(growth * c[k], own)
            for k in range(n_ranks):
                c[k] *= scale
            total += c[0] + c[n_ranks - 1]
    return total


def tally(double[:, ::1] votes, const int[::1] ranks, double vote, answers=None):
    """Adds a ranker's vote for its predictions, and writes those of the ensemble to `answers`, if it is given."""
    # The prediction is min{k : 2 W(<= k) > V}, where W(<= k) are the votes for ranks up to k and V is their sum.
    cdef Py_ssize_t n = votes.shape[0], n_ranks = votes.shape[1], i, k
    cdef int[::1] ensemble_ranks = answers
    cdef double total, below
    for i in range(n):
        votes[i, ranks[i] - 1] += vote
    if answers is None:
        return
    with nogil:
        for i in range(n):
            total = 0
            for k in range(n_ranks):
                total += votes[i, k]
            below = 0
            ensemble_ranks[i] = <int> n_ranks
            for k in range(n_ranks):
                below += votes[i, k]
                if 2 * below > total:
                    ensemble_ranks[i] = <int> k + 1
                    break


# ---- ensemble ----
# The feature map of an ensemble of stumps: atom "rank > k" of x has the feature 2[k < r_t(x)] - 1 for the stump t. Votes are the weights.
#
# Typical sizes: 100..1000 stumps, K = 2..10 ranks. Cost: about 6 ns for each stump of a row, O(K).

cdef enum:
    ON_STACK = 64               # ranks


cdef class StumpFeatures(Features):
    """phi(x, k)[t] = 2[k < r_t(x)] - 1 for the stumps t that boosting has found, 0 for those still to come.

    The score of the atom "rank > k" is V - 2 W(<= k). W(<= k) is the sum of the votes for ranks up to k, and V the sum of
    all. It falls with k, also in the last bit, and is at least 0 exactly if 2 W(<= k) <= V.
    """
    # n_stumps: int. The most stumps there can be.

    cdef readonly Py_ssize_t n_ranks, n_features, n_stumps
    cdef int[::1] columns
    cdef double[::1] directions
    cdef double[:, ::1] thresholds

    def __init__(self, Py_ssize_t n_ranks, Py_ssize_t n_features, Py_ssize_t n_stumps):
        self.n_ranks, self.n_features = n_ranks, n_features
        self.shape(n_stumps, atoms_per_example=n_ranks - 1, rows_per_example=1)
        self.columns, self.directions = np.zeros(n_stumps, dtype=np.intc), np.ones(n_stumps)
        self.thresholds = np.full((n_stumps, n_ranks - 1), np.inf)

    def start(self, parts, context):
        self.n_stumps = 0

    def join(self, weights, stump, double vote, bint alone, n_visited):
        """Adds a stump and its vote to the ensemble, or replaces all others. Compiled: Ctrl-C cannot fall between the two."""
        cdef Py_ssize_t t = 0 if alone else self.n_stumps
        votes = np.array(weights.vector())
        if alone:
            votes[:] = 0
        votes[t] = vote
        self.columns[t], self.directions[t] = stump.feature, stump.direction
        np.asarray(self.thresholds)[t] = stump.thresholds
        self.n_stumps = t + 1
        weights.assign(votes, n_visited)

    cdef inline double value(self, Example x, Py_ssize_t t) noexcept nogil:
        """What the stump t compares with its thresholds."""
        if x.block.layout == SP_DENSE_F64:
            return self.directions[t] * (<const double *> x.block.values)[self.columns[t]]
        return self.directions[t] * <double> (<const float *> x.block.values)[self.columns[t]]

    cdef inline Py_ssize_t above(self, Example x, Py_ssize_t t) noexcept nogil:
        """How many thresholds of the stump t are reached: its rank less 1."""
        cdef const double *threshold = &self.thresholds[t, 0]
        cdef double value = self.value(x, t)
        cdef Py_ssize_t k, n = 0
        for k in range(self.n_ranks - 1):           # no branch to mispredict
            n += value >= threshold[k]
        return n

    cdef int scores_c(self, const Parameter *p, Example x, double *s) noexcept nogil:
        cdef Py_ssize_t t, k, n = self.n_ranks - 1
        cdef double top = 0, total = 0, below = 0, finite = 0
        memset(s, 0, n * sizeof(double))
        for t in range(self.n_stumps):
            k = self.above(x, t)
            finite += 0 * self.value(x, t)
            if k < n:
                s[k] += p.w[t]
            else:
                top += p.w[t]
        for k in range(n):
            total += s[k]
        total += top + finite                       # NaN where a value is not finite
        for k in range(n):
            below += s[k]
            s[k] = total - 2 * below
        return 0

    cdef int add_c(self, const Parameter *p, Example x, const double *c, double to_w, double to_u) noexcept nogil:
        cdef Py_ssize_t t, k, n
        cdef double step
        for t in range(self.n_stumps):
            n, step = self.above(x, t), 0
            for k in range(self.n_ranks - 1):
                step += c[k] if k < n else -c[k]
            p.w[t] += step * to_w
            if p.average:
                p.w[t + p.average] += step * to_u
        return 0

    def check_rows(self, rows):
        super().check_rows(rows)
        if rows.objects:
            raise DataError("X is a list of objects, but stumps compare numbers; pass a matrix.")
        if rows.sparse:
            raise DataError("X is a sparse matrix, but stumps compare the values of whole columns; pass X.toarray().")

    def column_of(self, indices):
        return np.where(np.asarray(indices) < self.n_stumps, np.asarray(self.columns)[indices], -1)

    def attributes(self, weights):
        """The votes_ of the stumps, their features, directions and thresholds (T, K - 1)."""
        # The stump t predicts the lowest rank k with direct * x[feature] < threshold k.
        return {
            "votes_": lambda: np.array(weights.vector()[:self.n_stumps]),
            "stump_features_": lambda: np.array(self.columns[:self.n_stumps]),
            "stump_directions_": lambda: np.array(self.directions[:self.n_stumps]).astype(np.int64),
            "stump_thresholds_": lambda: np.array(self.thresholds[:self.n_stumps]),
        }

    def state(self):
        show = self.attributes(None)
        return {name: show[f"stump_{name}_"]() for name in ("features", "directions", "thresholds")}

    def restore(self, state):
        columns = read_array(state, "features", np.int32, (None,), low=0, high=self.n_features - 1)
        n = len(columns)
        directions = read_array(state, "directions", np.int64, (n,), low=-1, high=1)
        thresholds = read_array(state, "thresholds", np.float64, (n, self.n_ranks - 1), finite=False)
        if n > self.n_weights:
            raise DataError(f"{n} stumps are saved, but these options allow {self.n_weights}.")
        if not directions.all() or np.isnan(thresholds).any() or (thresholds[:, 1:] < thresholds[:, :-1]).any():
            raise DataError("the saved stumps have thresholds out of order, or directions other than 1 and -1.")
        for mine, saved in ((self.columns, columns), (self.directions, directions), (self.thresholds, thresholds)):
            np.asarray(mine)[:n] = saved
        self.n_stumps = n
