"""PRank's own steps: the original one and that of one threshold, O(K) each."""
import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t
from structperc.basics.signals cimport interrupted
from structperc.core.updates cimport Trial, Update
from structperc.errors import ConflictingOption
from structperc.plugin_tools import check_whole_steps
from structperc.plugin_tools import raise_interruption, read_array


# ---- original update ----
# PRank's original update, O(K).


cdef class OriginalUpdate(Update):
    """Crammer and Singer's step: every threshold with (f - b_k) y_k <= 0 moves, also those that only tie.

    It differs from the structured step exactly when a threshold below both ranks ties with f.
    """

    def check_order(self, context, parts):
        check_whole_steps(context, parts)

    def check(self, context, parts):
        if context.loss_weight:
            raise ConflictingOption(f"prank with variant='original' and loss_weight={context.loss_weight}: its step is defined only by "
                                    f"the prediction; use variant='structured'.", "variant")

    cdef int step_c(self, Trial trial) noexcept nogil:
        """c_k = weight * y_k where (f - b_k) y_k <= 0, with y_k = 1 for k < y and -1 for k >= y"""
        cdef Py_ssize_t k
        cdef int moved = 0
        for k in range(trial.x.n_atoms):
            if k < trial.gold_code.at[0] - 1:
                trial.c[k] = trial.weight if trial.s[k] <= 0 else 0
            else:
                trial.c[k] = -trial.weight if trial.s[k] >= 0 else 0
            moved |= trial.c[k] != 0
        return moved


# ---- single update ----
# PRank's step of one threshold, O(K).


cdef class SingleUpdate(Update):
    """Moves only the violated threshold next to the prediction: b_y down if y < gold, b_{y-1} up if y > gold, and u by x or -x.

    Thresholds that are whole numbers stay in order: the prediction lies strictly below the threshold that falls, and not below the one
    that rises.
    """

    def check_order(self, context, parts):
        check_whole_steps(context, parts)

    def check(self, context, parts):
        if context.loss_weight:
            raise ConflictingOption(f"prank with variant='single' and loss_weight={context.loss_weight}: its step is defined only by "
                                    f"the prediction; use variant='structured'.", "variant")

    cdef int step_c(self, Trial trial) noexcept nogil:
        cdef Py_ssize_t k
        cdef int gold = trial.gold_code.at[0], y = trial.y_code.at[0]
        for k in range(trial.x.n_atoms):
            trial.c[k] = 0
        trial.c[y - 1 if y < gold else y - 2] = trial.weight if y < gold else -trial.weight
        return 1


# ---- pocket ----
# The pocket algorithm with ratchet for rankers of one direction: perceptron steps on drawn examples, and the best ranker on all of them.
#
# After a step the costs of the ranker over all rows are summed. The sum stops if it reaches that of the pocket or is hopeless. Costs
# are whole multiples of one 2^52nd of their sum, a power of two. So sums are exact in any order, and rows of high cost come first.
#
# Typical sizes: 10^2..10^5 rows, 5..100 features, K = 5..10 ranks. A draw costs 10 ns and O(features). A step costs at most 0.2 ns for
# each row and column, and as much for each row and threshold. Sparse rows cost 1 ns for each value. Memory: 8 (features + 2 K) bytes a row
# beside X.

cdef extern from "pocket_sets.h" nogil:
    enum:
        SP_TILE
    ctypedef double (*sp_pocket)(const double *, const double *, Py_ssize_t, Py_ssize_t, Py_ssize_t, const double *, const double *,
                                 double, double *, const double *) noexcept nogil
    bint sp_hopeless(Py_ssize_t tile, double above, double *behind, double *squares) noexcept
    int sp_pockets(sp_pocket *sets, const char **names) noexcept

cdef enum:
    STRUCTURED, ORIGINAL, SINGLE

VARIANTS = {"structured": STRUCTURED, "original": ORIGINAL, "single": SINGLE}
DIGITS = 52             # costs add up to 2^52 of their units at most


cdef class PocketSearch:
    """Perceptron steps on examples drawn by their largest costs; keeps the ranker of least total cost that was checked."""
    # X: ndarray or csr_matrix of shape (n, n_features). Free of NaN.
    # y: int array of shape (n,). Ranks, from 1.
    # costs: float64 array of shape (n, K). Of all predictions for each row.
    # variant: {"structured", "original", "single"}. The step, as of the option.
    # compared: {"all", "screened", "runs"}. The rankers to compare with the pocket. "all". "screened": all, but a comparison
    # ends if the costs of the first rows are above the pocket's by three standard deviations. "runs": those with a longer run of right
    # predictions than the pocket's.
    # seed: int. Of the draws, below 2^64.
    # cost: float. Of the ranker in the pocket, over all rows.

    cdef readonly Py_ssize_t n_rows, n_features, n_ranks
    cdef readonly int64_t updates
    cdef double unit, pocket_cost
    cdef int variant
    cdef bint runs, screened, dense
    cdef bint compared, in_pocket                # whether the total cost of the ranker is known; whether it is the one in the pocket
    cdef int64_t run_length, pocket_run         # right predictions in a row
    cdef Py_ssize_t n_checked                   # operations of a check
    cdef uint64_t seed
    cdef double[::1] ranker, pocket             # u and then the thresholds
    cdef const double[:, ::1] X
    cdef const double[::1] values
    cdef const int64_t[::1] indices, starts
    cdef const int[::1] y
    cdef double[:, ::1] costs                   # in units
    cdef double[::1] sure                       # of the alias method: the part of a cell that is its own row's
    cdef int64_t[::1] other                     # and the row of the rest
    cdef double[::1] tiles, tile_costs
    cdef int64_t[::1] order                     # of the rows of a check
    cdef double[::1] sums, beside               # the costs of the first tiles, of the ranker at hand and of the pocket's
    cdef Py_ssize_t n_tiles
    cdef sp_pocket check_tiles

    def __init__(self, X, y, costs, str variant, str compared, seed, str instruction_set=None):
        self.n_rows, self.n_features = X.shape
        self.n_ranks = costs.shape[1]
        self.y, self.variant, self.runs, self.seed = np.ascontiguousarray(y, dtype=np.intc), VARIANTS[variant], compared == "runs", seed
        self.screened = compared == "screened"
        largest = costs.max(axis=1)
        self.unit = 2.0 ** (np.frexp(largest.sum())[1] - DIGITS)
        self.costs = np.rint(costs / self.unit)
        largest = np.rint(largest / self.unit)
        self.sure, self.other = alias_table(largest)
        self.n_tiles = (self.n_rows + SP_TILE - 1) // SP_TILE
        order = np.argsort(-largest, kind="stable")
        if self.screened:                       # every tile gets rows of high and of low cost
            order = np.concatenate([order[t::self.n_tiles] for t in range(self.n_tiles)])
        self.order = order
        self.sums, self.beside = np.zeros(self.n_tiles), np.zeros(self.n_tiles)
        self.dense = isinstance(X, np.ndarray)
        if self.dense:
            self.X = np.ascontiguousarray(X, dtype=float)
            self.values, self.indices, self.starts = np.zeros(1), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
            self.make_tiles()
            self.check_tiles = named_set(instruction_set)
        else:
            self.X = np.zeros((1, 1))
            self.values = np.append(X.data.astype(float), 0.0)
            self.indices, self.starts = np.append(X.indices, 0).astype(np.int64), X.indptr.astype(np.int64)
        self.ranker, self.pocket = np.zeros(self.n_features + self.n_ranks - 1), np.zeros(self.n_features + self.n_ranks - 1)
        self.pocket_cost = INFINITY
        self.pocket_cost = self.total()
        self.beside[:] = self.sums
        self.compared = self.in_pocket = True
        self.n_checked = (X.size if self.dense else X.nnz) // 8 + self.n_rows * self.n_ranks // 8

    @property
    def cost(self):
        return self.pocket_cost * self.unit

    cdef make_tiles(self):
        """Packs rows and costs for the check, in its order; rows without costs fill up the last tile."""
        cdef Py_ssize_t n = self.n_rows
        X, costs = np.zeros((self.n_tiles * SP_TILE, self.n_features)), np.zeros((self.n_tiles * SP_TILE, self.n_ranks))
        X[:n] = np.asarray(self.X)[self.order]
        costs[:n] = np.diff(np.asarray(self.costs)[self.order], axis=1, prepend=0)
        self.tiles, self.tile_costs = tiled(X), tiled(costs)

    def epoch(self, weights, n_visited, answers=None, drawn=None):
        """Makes as many draws as rows. Then sets the weights to the pocket's ranker, also after Ctrl-C. Returns draws, faults and costs."""
        # `answers` and `drawn` receive the predictions before each step, and the rows that were drawn.
        cdef int[::1] predictions = answers
        cdef int64_t[::1] rows = drawn
        cdef Py_ssize_t t, i, n = self.n_rows, made = 0, mistakes = 0
        cdef int y, r
        cdef double loss = 0
        with nogil:
            for t in range(n):
                i = self.draw()
                r = self.answer(i)
                y = self.y[i]
                made += 1
                if predictions is not None:
                    predictions[t], rows[t] = r, i
                if r == y:
                    self.run_length += 1
                    if self.runs and self.run_length > self.pocket_run:
                        self.compare()
                else:
                    mistakes += 1
                    loss += self.costs[i, r - 1]
                    self.step(i, y, r)
                    if not self.runs:
                        self.compare()
                if self.pocket_cost == 0 or interrupted(self.n_features + 20):
                    break
        weights.assign(self.pocket, n_visited + made)
        raise_interruption()
        return made, mistakes, loss * self.unit

    cdef inline Py_ssize_t draw(self) noexcept nogil:
        """A row, by the alias method (Walker 1977, Vose 1991) from one number of splitmix64."""
        cdef uint64_t z
        cdef double place
        cdef Py_ssize_t i
        self.seed += <uint64_t> 0x9E3779B97F4A7C15
        z = self.seed
        z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
        z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
        z = z ^ (z >> 31)
        place = <double> (z >> 11) * (1.0 / 9007199254740992.0) * <double> self.n_rows
        i = min(<Py_ssize_t> place, self.n_rows - 1)
        return i if place - <double> i < self.sure[i] else self.other[i]

    cdef inline double score(self, Py_ssize_t i) noexcept nogil:
        cdef const double *u = &self.ranker[0]
        cdef Py_ssize_t j
        cdef double f = 0
        if self.dense:
            for j in range(self.n_features):
                f += u[j] * self.X[i, j]
        else:
            for j in range(self.starts[i], self.starts[i + 1]):
                f += u[self.indices[j]] * self.values[j]
        return f

    cdef inline int answer(self, Py_ssize_t i) noexcept nogil:
        """1 + how many thresholds the score reaches."""
        cdef const double *b = &self.ranker[self.n_features]
        cdef double f = self.score(i)
        cdef Py_ssize_t k
        cdef int r = 1
        for k in range(self.n_ranks - 1):
            r += f >= b[k]
        return r

    cdef void step(self, Py_ssize_t i, int y, int r) noexcept nogil:
        """b_k -= z_k and u += z_k x with z_k = 1 for k < y, else -1."""
        # k runs over the thresholds of the variant: between the ranks, violated, or next to the prediction.
        cdef double *u = &self.ranker[0]
        cdef double *b = &self.ranker[self.n_features]
        cdef Py_ssize_t k, j, total = 0
        cdef double f
        cdef int z
        self.updates += 1
        self.run_length, self.compared, self.in_pocket = 0, False, False
        if self.variant == ORIGINAL:
            f = self.score(i)
            for k in range(self.n_ranks - 1):
                z = 1 if k + 1 < y else -1
                if z * (f - b[k]) <= 0:
                    b[k] -= z
                    total += z
        elif self.variant == SINGLE:
            z = 1 if y > r else -1
            b[r - 1 if y > r else r - 2] -= z
            total = z
        else:
            z, total = 1 if y > r else -1, y - r
            for k in range(min(y, r) - 1, max(y, r) - 1):
                b[k] -= z
        if self.dense:
            for j in range(self.n_features):
                u[j] += total * self.X[i, j]
        else:
            for j in range(self.starts[i], self.starts[i + 1]):
                u[self.indices[j]] += total * self.values[j]

    cdef void compare(self) noexcept nogil:
        """Puts the ranker into the pocket where its total cost is smaller than the pocket's."""
        cdef double cost
        cdef Py_ssize_t j
        if not self.compared:
            self.compared = True
            cost = self.total()
            if cost < self.pocket_cost:
                self.pocket_cost, self.in_pocket = cost, True
                for j in range(self.n_tiles):
                    self.beside[j] = self.sums[j]
                for j in range(self.ranker.shape[0]):
                    self.pocket[j] = self.ranker[j]
            interrupted(self.n_checked)
        if self.in_pocket:
            self.pocket_run = self.run_length

    cdef double total(self) noexcept nogil:
        """The ranker's cost over all rows, or what is not below the pocket's."""
        cdef const double *beside = &self.beside[0] if self.screened and self.pocket_cost < INFINITY else NULL
        cdef double total = 0, behind = 0, squares = 0
        cdef Py_ssize_t i, t, row
        if self.dense:
            return self.check_tiles(&self.tiles[0], &self.tile_costs[0], self.n_tiles, self.n_features, self.n_ranks - 1, &self.ranker[0],
                                    &self.ranker[self.n_features], self.pocket_cost, &self.sums[0], beside)
        for t in range(self.n_tiles):
            for i in range(t * SP_TILE, min((t + 1) * SP_TILE, self.n_rows)):
                row = self.order[i]
                total += self.costs[row, self.answer(row) - 1]
            self.sums[t] = total
            if total >= self.pocket_cost or beside != NULL and sp_hopeless(t, total - beside[t], &behind, &squares):
                return self.pocket_cost
        return total

    def state(self):
        return {"ranker": np.array(self.ranker), "pocket": np.array(self.pocket), "seed": np.array(self.seed, dtype=np.uint64),
                "cost": np.array(self.pocket_cost),
                "counts": np.array([self.updates, self.run_length, self.pocket_run, self.compared, self.in_pocket], dtype=np.int64)}

    def restore(self, state):
        n = self.ranker.shape[0]
        ranker, pocket = (read_array(state, name, np.float64, (n,)) for name in ("ranker", "pocket"))
        cost, seed = read_array(state, "cost", np.float64, low=0), read_array(state, "seed", np.uint64)
        self.updates, self.run_length, self.pocket_run, compared, in_pocket = read_array(state, "counts", np.int64, (5,), low=0).tolist()
        self.ranker, self.pocket, self.pocket_cost, self.seed = ranker, pocket, cost, seed
        self.compared, self.in_pocket = compared, in_pocket
        self.measure_pocket()

    cdef measure_pocket(self):
        """The sums of the pocket's ranker over the first tiles."""
        ranker, cost = self.ranker, self.pocket_cost
        self.ranker, self.pocket_cost = self.pocket, INFINITY
        self.total()
        self.ranker, self.pocket_cost = ranker, cost
        self.beside[:] = self.sums


def tiled(values):
    """The values of 32 rows at a time, column by column."""
    return np.ascontiguousarray(values.reshape(-1, SP_TILE, values.shape[1]).transpose(0, 2, 1)).reshape(-1)


def alias_table(weights):
    """Tables for drawing rows: each row's share of its cell, and the row with the rest. A row is drawn with probability ~ its weight."""
    cdef Py_ssize_t n = len(weights), i, few, many
    cdef double[::1] part = weights * (n / weights.sum())
    cdef int64_t[::1] other = np.arange(n), below = np.empty(n, dtype=np.int64), above = np.empty(n, dtype=np.int64)
    cdef Py_ssize_t n_below = 0, n_above = 0
    for i in range(n):
        if part[i] < 1:
            below[n_below] = i
            n_below += 1
        else:
            above[n_above] = i
            n_above += 1
    while n_below and n_above:
        n_below -= 1
        few, many = below[n_below], above[n_above - 1]
        other[few] = many
        part[many] -= 1 - part[few]
        if part[many] < 1:
            n_above -= 1
            below[n_below] = many
            n_below += 1
    for i in range(n_above):
        part[above[i]] = 1
    for i in range(n_below):                    # by rounding
        part[below[i]] = 1
    return part, other


def instruction_sets():
    """Names of the sets of compiled checks that this machine can run, from the narrowest registers to the widest."""
    cdef sp_pocket sets[3]
    cdef const char *names[3]
    return [names[i].decode() for i in range(sp_pockets(sets, names))]


cdef sp_pocket named_set(name) except NULL:
    cdef sp_pocket sets[3]
    cdef const char *names[3]
    cdef int n = sp_pockets(sets, names)
    return sets[n - 1 if name is None else instruction_sets().index(name)]
