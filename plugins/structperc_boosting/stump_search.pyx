"""Finds the decision stump of least cost over sorted columns, and stores costs and votes of a boosted ensemble.

Typical sizes: 10^2..10^5 rows, 1..100 columns, K = 2..10 ranks. Cost: O(D n log n) once. Each search costs about 5 ns for each row and
column, O(K) of them each. Memory: 5 bytes for each value of X, 2 K for each row.
"""
import attrs
import numpy as np

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, uint8_t, uint16_t
from cpython.exc cimport PyErr_CheckSignals
from structperc_boosting.sweep cimport SP_DOWNWARD_ENDS, SP_UPWARD_ENDS, sp_lowest_ranks, sp_sweep
from structperc.errors import DataError

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
    """The columns of X, sorted once for all searches.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        float32 or float64, free of NaN; kept, not copied.
    """

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
        """The stump of least cost, and its predictions.

        Of stumps of equal cost, up to rounding: the first feature, direction 1 before -1, and the lowest ranks.

        Parameters
        ----------
        costs : float64 array of shape (n_rows, K)
            Of predicting rank k + 1 for a row, any finite numbers.

        Returns
        -------
        Stump, int32 array of shape (n_rows,)
        """
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
    """The costs of the next round, in place: c[k] + growth * min(c[k], c[r]) on the side of y where r lies, times scale.

    Parameters
    ----------
    costs : (n, K) array
    y, ranks : int32 arrays of shape (n,)
        The right ranks and the predictions of the round, from 1.
    growth, scale : float

    Returns
    -------
    float
        The sum of the costs of both ends of the scale.
    """
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
    """Adds a ranker's vote for its predictions, and writes those of the ensemble to `answers`, if it is given.

    The prediction is min{k : 2 W(<= k) > V}, where W(<= k) are the votes for ranks up to k and V is their sum.

    Parameters
    ----------
    votes : (n, K) array
        The sums of votes so far.
    ranks : int32 array of shape (n,)
    vote : float
    answers : int32 array of shape (n,), optional
    """
    cdef Py_ssize_t n = votes.shape[0], n_ranks = votes.shape[1], i, k
    cdef int[::1] found = answers
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
            found[i] = <int> n_ranks
            for k in range(n_ranks):
                below += votes[i, k]
                if 2 * below > total:
                    found[i] = <int> k + 1
                    break
