"""The feature map of an ensemble of stumps: atom "rank > k" of x has the feature 2[k < r_t(x)] - 1 for the stump t. Votes are the weights.

Typical sizes: 100..1000 stumps, K = 2..10 ranks. Cost: about 6 ns for each stump of a row, O(K).
"""
import numpy as np

from libc.string cimport memset
from structperc.core.features cimport Features, Parameter
from structperc.core.inner_products cimport SP_DENSE_F64
from structperc.core.rows cimport Example
from structperc.errors import DataError
from structperc.plugin_tools import read_array

cdef enum:
    ON_STACK = 64               # ranks


cdef class StumpFeatures(Features):
    """phi(x, k)[t] = 2[k < r_t(x)] - 1 for the stumps t that boosting has found, 0 for those still to come.

    The score of the atom "rank > k" is V - 2 W(<= k). W(<= k) is the sum of the votes for ranks up to k, and V the sum of
    all. It falls with k, also in the last bit, and is at least 0 exactly if 2 W(<= k) <= V.

    Parameters
    ----------
    n_ranks, n_features : int
    n_stumps : int
        The most stumps there can be.
    """

    cdef readonly Py_ssize_t n_ranks, n_features, n_stumps
    cdef int[::1] columns
    cdef double[::1] directions
    cdef double[:, ::1] thresholds

    rows_per_example = 1

    def __init__(self, Py_ssize_t n_ranks, Py_ssize_t n_features, Py_ssize_t n_stumps):
        self.n_ranks, self.n_features = n_ranks, n_features
        self.shape(n_stumps, atoms_per_example=n_ranks - 1)
        self.columns, self.directions = np.zeros(n_stumps, dtype=np.intc), np.ones(n_stumps)
        self.thresholds = np.full((n_stumps, n_ranks - 1), np.inf)

    def start(self, parts, context):
        self.n_stumps = 0

    def join(self, weights, stump, double vote, bint alone, n_visited):
        """Adds a stump and its vote to the ensemble; compiled, so that Ctrl-C cannot fall between the two.

        Parameters
        ----------
        weights : Weights
            Of this map: the votes.
        stump : Stump
        vote : float
        alone : bool
            Whether the stump replaces all others.
        n_visited : int
            How many examples have been visited by now.
        """
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
        """What the engine shows.

        votes_ : ndarray of shape (T,)
        stump_features_, stump_directions_ : ndarray of shape (T,)
        stump_thresholds_ : ndarray of shape (T, K - 1)
            The stump t predicts the lowest rank k with direct * x[feature] < threshold k.
        """
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
