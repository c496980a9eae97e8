# distutils: extra_compile_args = VECTORS
"""The dual of a chain, by decomposition: some examples with all their coordinates are optimised together, then all scores move at once.

A round scans the coordinates and selects the examples that violate most and half of the last ones. It optimises them among themselves
(working_set.pyx). It adds their columns of the kernel, times the changes of their coefficients, to the scores. Examples that lie safely at
bounds come to rest: their coordinates and columns are left out until the others are done. Then all scores are computed anew. Typical sizes:
10^3..10^5 examples, 1..40 nodes. A round needs at most 1024 columns, 0.2 us n if cached. It adds 0.2 us n to sort scores, and 10 ns
for each coordinate.
"""
import numpy as np

from libc.math cimport INFINITY, NAN, fabs, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from structperc.basics.signals cimport interrupted
from structperc.core.inner_products cimport (
    SP_CSR_F32_I32, SP_CSR_F32_I64, SP_DENSE_F32, best_inner, sp_blocks, sp_index, sp_inner, sp_is_dense, sp_rows, sp_start,
)
from structperc.core.rows cimport Rows
from structperc.errors import DataError
from structperc.plugin_tools import CONVERGED, INTERRUPTED, STALLED, raise_interruption
from structperc_kernels.kernel_rows cimport LANES, KernelRows
from structperc_large_margin.solutions import Solution
from structperc_large_margin.thresholds import ChainThresholds


include "chain_solver.working_set.pxi"
include "chain_solver.columns.pxi"
include "chain_solver.linear.pxi"


MAX_ITERATIONS, STOPPED, DEGENERATE = "max_iterations", "stopped", "degenerate"

cdef enum:
    MOST_EXAMPLES = 1024        # of a working set
    STEPS_AN_EXAMPLE = 100      # at most, in a round
    MOST_IDLE = 20              # rounds without a better dual value: rounding leaves none

cdef double WORTHWHILE = 0.6        # of the examples awake: so few must be left before others come to rest
cdef double NEARLY = 2.0            # times the tolerance: with a smaller gap none comes to rest any more
cdef double SHARE = 0.1         # of the violation: what a working set may leave
cdef double NO_DIRECTION = 1e-3     # ||w|| of the longest phi(x): of p = 0, a shorter w is none; less where the tolerance is


def solve(chain, columns, tolerance=1e-3, max_iterations=-1, start=None, progress=None, shrinking=True):
    """Solves the dual of a chain: min 1/2 ||w||^2 - p sum mu, from `start` or the chain's own, to a gap of `tolerance` times the primal."""
    # The gap has recomputed scores. For p = 0 it is that of the directions w / ||w||, times ||w||. Ctrl-C, also out of `progress`, stops it
    # within 0.1 s, with the last feasible point as the solution. Ties: the first node, then the first example in the order of a working
    # set, the order of the examples' nodes. Working sets: Fan, Chen and Lin, Journal of Machine Learning Research 6, 1889-1918, 2005. The
    # chain: Chu and Keerthi, Neural Computation 19, 792-815, 2007. `progress(n_iterations, mu, scores)` comes about every n_examples steps,
    # and a true result ends the solution. Scores of examples at rest may be some rounds old. The optimum is the same without shrinking.
    return ChainSolver(chain, columns, chain.start if start is None else start).solve(tolerance, max_iterations, progress, shrinking)


cdef class ChainSolver:
    cdef object chain, thresholds, recent       # recent: the last working set, newest members in front
    cdef KernelColumns columns
    cdef WorkingSet local
    cdef Py_ssize_t n, n_nodes, steps
    cdef double gain
    cdef bint open_arcs
    cdef const int32_t[::1] example, node       # by coordinate, in the order of the nodes
    cdef int32_t[::1] listed                    # coordinates in the order of the examples,
    cdef Py_ssize_t[::1] begin, node_begin      # where those of an example begin, and those of a node
    cdef const double[::1] sign, cap
    cdef double[::1] mu, f, flow, z, above, below
    cdef object awake                           # examples that take part, in ascending order
    cdef int32_t[::1] place                     # of an example among those, or NONE
    cdef unsigned char[::1] busy                # whether an example is not safe at bounds
    cdef double violation, gap, goal, dual, squared     # goal: what the gap is compared with; squared: ||w||^2
    cdef int[4] extreme                         # examples of the largest lo and the smallest hi of the pair that violates most

    def __init__(self, chain, KernelColumns columns, start):
        self.chain, self.columns, self.thresholds = chain, columns, ChainThresholds(chain)
        self.n, self.n_nodes, self.gain, self.open_arcs = chain.n_examples, chain.n_nodes, chain.gain, chain.open_arcs
        self.example, self.node = (np.ascontiguousarray(part, dtype=np.int32) for part in (chain.example, chain.node))
        self.sign, self.cap = (np.ascontiguousarray(part, dtype=float) for part in (chain.sign, chain.cap))
        self.mu = np.array(start, dtype=float)
        self.flow = np.cumsum(np.bincount(chain.node, chain.sign * np.asarray(self.mu), minlength=self.n_nodes) - chain.offset)
        if self.open_arcs:
            self.flow = np.maximum(self.flow, 0)
        self.listed = np.argsort(chain.example, kind="stable").astype(np.int32)
        self.begin = np.searchsorted(np.sort(chain.example), np.arange(self.n + 1)).astype(np.intp)
        self.node_begin = np.searchsorted(chain.node, np.arange(self.n_nodes + 1)).astype(np.intp)
        self.z, self.above, self.below = np.zeros(self.n_nodes), np.zeros(self.n), np.zeros(self.n)
        self.local = WorkingSet(min(MOST_EXAMPLES, self.n), self.n_nodes, self.gain, self.open_arcs)
        self.recent = np.zeros(0, dtype=np.intp)
        self.f, self.busy = np.zeros(self.n), np.zeros(self.n, dtype=np.uint8)
        self.wake()

    def solve(self, tolerance, max_iterations, progress, shrinking):
        cdef Py_ssize_t most = max_iterations if max_iterations >= 0 else np.iinfo(np.intp).max, last_report = 0, idle = 0
        status, interruption, drifted, best = None, None, False, -np.inf
        try:
            while status is None:
                if not drifted:
                    self.wake()
                self.look()
                if progress is not None and self.steps >= last_report + self.n:
                    last_report = self.steps
                    if progress(self.steps, np.asarray(self.mu), np.asarray(self.f)):
                        self.wake()
                        status = STOPPED
                        break
                idle, best = (0, self.dual) if self.dual > best else (idle + 1, best)
                if self.gain == 0 and self.squared <= min(tolerance, NO_DIRECTION)**2 * self.columns.diagonal.max(initial=0.0):
                    status = DEGENERATE
                elif self.gap <= tolerance * self.goal:
                    status = CONVERGED
                elif self.steps >= most:
                    status = MAX_ITERATIONS
                elif idle >= MOST_IDLE:
                    status = STALLED
                else:
                    if shrinking and self.gap > NEARLY * tolerance * self.goal:
                        self.let_rest()
                    if self.improve(most - self.steps):
                        drifted = True
                    else:
                        status = STALLED
                if status is not None and drifted:      # once more, with scores that are complete and computed anew
                    status, drifted, idle = None, False, 0
        except KeyboardInterrupt as error:
            status, interruption = INTERRUPTED, error
        return Solution(np.asarray(self.mu), self.beta(), np.asarray(self.f), self.steps, status, interruption)

    def beta(self):
        """w = - sum_c g_c mu_c phi(x_e(c))."""
        return -np.bincount(self.chain.example, np.asarray(self.sign) * np.asarray(self.mu), minlength=self.n)

    # ---- who takes part ----

    def wake(self):
        """All examples take part, with scores computed anew."""
        self.awake, self.place = np.arange(self.n), np.arange(self.n, dtype=np.int32)
        self.f = self.columns.scores(self.beta())

    def let_rest(self):
        """Examples take no part that are at bounds and farther from every threshold than the largest violation."""
        busy = np.asarray(self.busy)
        busy[self.recent] = True
        kept = np.flatnonzero(busy[self.awake])
        if len(kept) <= WORTHWHILE * len(self.awake):
            self.columns.narrow(kept)
            self.awake = self.awake[kept]
            self.place[:] = NONE
            np.asarray(self.place)[self.awake] = np.arange(len(kept))

    # ---- a look at all coordinates ----

    def look(self):
        """The duality gap, the largest violation, and how far each example violates the thresholds from above and below."""
        best = self.thresholds.best(self.f)
        self.z = best.values
        self.look_at_bounds()
        self.look_at_examples()
        self.squared = (self.beta() * np.asarray(self.f)).sum()            # not by BLAS, whose threads wait in a loop
        self.dual = self.gain * np.asarray(self.mu).sum() - 0.5 * self.squared
        self.gap = 0.5 * self.squared + best.value - self.dual
        self.goal = self.gap + self.dual if self.gain else self.squared

    cdef void look_at_bounds(self) noexcept nogil:
        """lo and hi of every node, and the admissible pair that violates most: section 6."""
        cdef Py_ssize_t m, c
        cdef int e, at_lo, at_hi, from_lo = -1, to_hi = -1
        cdef double kappa, lo, hi, most = -INFINITY, least = INFINITY
        cdef bint below, above
        self.violation = -INFINITY
        self.extreme[0] = self.extreme[1] = 0
        for m in range(self.n_nodes):
            lo, hi, at_lo, at_hi = -INFINITY, INFINITY, -1, -1
            for c in range(self.node_begin[m], self.node_begin[m + 1]):
                e = self.example[c]
                if self.place[e] == NONE:
                    continue
                kappa = self.f[e] + self.sign[c] * self.gain
                below, above = self.mu[c] < self.cap[c], self.mu[c] > 0
                if self.sign[c] < 0:
                    below, above = above, below
                if below and kappa > lo:
                    lo, at_lo = kappa, e
                if above and kappa < hi:
                    hi, at_hi = kappa, e
            if not self.open_arcs:
                most, least = -INFINITY, INFINITY
            elif m and self.flow[m - 1] <= 0:
                least = INFINITY
            if lo > most:
                most, from_lo = lo, at_lo
            if hi < least:
                least, to_hi = hi, at_hi
            if most - hi > self.violation:
                self.violation, self.extreme[0], self.extreme[1] = most - hi, from_lo, at_hi
            if lo - least > self.violation:
                self.violation, self.extreme[0], self.extreme[1] = lo - least, at_lo, to_hi

    cdef void look_at_examples(self) noexcept nogil:
        cdef Py_ssize_t m, c
        cdef int e
        cdef double s, room
        self.above[:] = 0
        self.below[:] = 0
        self.busy[:] = False
        for m in range(self.n_nodes):
            for c in range(self.node_begin[m], self.node_begin[m + 1]):
                e = self.example[c]
                if self.place[e] == NONE:
                    continue
                s = self.sign[c] * (self.f[e] - self.z[m]) + self.gain          # g (kappa - z)
                room = self.cap[c] - self.mu[c] if s > 0 else self.mu[c]
                if room > 0 or fabs(s) <= self.violation:
                    self.busy[e] = True
                if room > 0:
                    if (s > 0) == (self.sign[c] > 0):
                        self.above[e] = max(self.above[e], fabs(s))
                    else:
                        self.below[e] = max(self.below[e], fabs(s))

    # ---- a round ----

    def chosen(self):
        """The next working set: all awake, or those that violate most on either side and half of the last ones while they violate."""
        cdef Py_ssize_t q = self.local.room
        above, below = np.asarray(self.above), np.asarray(self.below)
        kept = self.recent[(above[self.recent] > 0) | (below[self.recent] > 0)][:q // 2]
        half = (q - len(kept)) // 2 - 1
        joined = np.union1d(farthest(above, half), farthest(below, half))
        joined = np.union1d(joined, [self.extreme[0], self.extreme[1]])
        joined = np.setdiff1d(joined, kept, assume_unique=True)
        self.recent = np.concatenate([joined, kept]).astype(np.intp)
        return self.recent

    cdef bint improve(self, Py_ssize_t most) except -1:
        """Optimises one working set; returns whether anything moved."""
        cdef WorkingSet local = self.local
        cdef Py_ssize_t i, c, k, q, steps, n_moved = 0
        cdef double change
        members = self.chosen()
        q = local.q = len(members)
        cdef int[::1] which = self.in_order(members), moved = np.empty(q, dtype=np.intc)
        cdef const int[::1] places = np.asarray(self.place)[np.asarray(which)]
        cdef double[::1] changes = np.empty(q)
        cdef const double[::1] diagonal = self.columns.diagonal
        self.columns.gram(&places[0], q, &local.gram[0])
        with nogil:
            self.fill(local, which)
            for i in range(q):
                local.diagonal[i] = diagonal[which[i]]
            steps = local.optimise(SHARE * self.violation, min(most, STEPS_AN_EXAMPLE * q))
        if steps < 0:
            raise_interruption()
        for i in range(q):
            change = 0
            for k in range(self.begin[which[i]], self.begin[which[i] + 1]):
                c = self.listed[k]
                change -= self.sign[c] * (local.mu[self.node[c] * q + i] - self.mu[c])
            if change != 0:
                moved[n_moved], changes[n_moved] = places[i], change
                n_moved += 1
        cdef double[::1] scores = np.asarray(self.f)[self.awake]
        if n_moved:
            self.columns.add(&moved[0], &changes[0], n_moved, &scores[0])
        np.asarray(self.f)[self.awake] = scores
        self.steps += steps
        for i in range(q):
            for k in range(self.begin[which[i]], self.begin[which[i] + 1]):
                c = self.listed[k]
                self.mu[c] = local.mu[self.node[c] * q + i]
        self.flow[:] = local.flow
        return steps > 0

    def in_order(self, members):
        """By first node, last node and number: the members of a node stand side by side where an example has few nodes."""
        begin, listed, node = np.asarray(self.begin), np.asarray(self.listed), np.asarray(self.node)
        return members[np.lexsort((members, node[listed[begin[members + 1] - 1]], node[listed[begin[members]]]))].astype(np.intc)

    cdef void fill(self, WorkingSet local, const int[::1] which) noexcept nogil:
        """Copies the coordinates and scores of these examples into the working set."""
        cdef Py_ssize_t i, k, c, m, q = local.q
        for m in range(self.n_nodes):
            local.first[m], local.end[m] = q, 0
            local.flow[m] = self.flow[m]
        for c in range(self.n_nodes * q):
            local.sign[c] = local.mu[c] = local.cap[c] = 0
        for i in range(q):
            local.f[i] = self.f[which[i]]
            for k in range(self.begin[which[i]], self.begin[which[i] + 1]):
                c = self.listed[k]
                m = self.node[c]
                local.sign[m * q + i], local.mu[m * q + i], local.cap[m * q + i] = self.sign[c], self.mu[c], self.cap[c]
                local.first[m], local.end[m] = min(local.first[m], i), max(local.end[m], i + 1)
        for m in range(self.n_nodes):
            local.first[m] = min(local.first[m], local.end[m])
        for c in range(self.n_nodes * q):
            local.free_sides(c)


def farthest(values, Py_ssize_t n):
    """Where the n largest values are that are above 0; of equal ones the first."""
    if n <= 0:
        return np.zeros(0, dtype=np.intp)
    if n >= len(values):
        return np.flatnonzero(values > 0)
    least = np.partition(values, len(values) - n)[len(values) - n]
    if least <= 0:
        return np.flatnonzero(values > 0)
    beyond = np.flatnonzero(values > least)
    return np.union1d(beyond, np.flatnonzero(values == least)[:n - len(beyond)])
