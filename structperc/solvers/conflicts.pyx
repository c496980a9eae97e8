"""Cycles of pairs that contradict a clustering: a negative pair whose ends a path of positive pairs connects.

`packed` takes such cycles out of the scores until none is left; each costs every clustering its least score, so that their sum bounds
all clusterings. `violated` finds the cycles that a fractional solution violates, by shortest paths.

Typical sizes: 10 to 10^5 items, 10 to 10^6 pairs. Triangles of n items of d pairs: O(n d^2), 1 ns each; violated cycles: shortest paths
from every item, cut off early.
"""
import numpy as np

from structperc.core.stopping cimport interrupted
from structperc.core.stopping import take_interruption
from structperc.solvers.heaps cimport KeyHeap

cdef enum:
    MOST_VISITED = 2000         # items on the way from one end of a negative pair to the other


cdef class PairGraph:
    """Whom items are paired with, and a walk from one item.

    Parameters
    ----------
    starts, neighbours, pairs : int32 arrays of shape (n + 1,), (2 n_pairs,), (2 n_pairs,)
        Whom item i is paired with, and the numbers of the pairs, from starts[i] to starts[i + 1].
    """

    cdef const int[::1] starts, neighbours, pairs
    cdef int[::1] before, by, queue     # of items: the one before on the way, and the pair between them; items that were reached
    cdef Py_ssize_t n_reached

    def __init__(self, starts, neighbours, pairs):
        n = len(starts) - 1
        self.starts, self.neighbours, self.pairs = starts, neighbours, pairs
        self.before, self.by, self.queue = (np.full(n, -1, dtype=np.intc) for _ in range(3))
        self.n_reached = 0

    cdef inline void reach(self, int v, int u, int e) noexcept nogil:
        """v is reached from u by the pair e."""
        if self.before[v] < 0:
            self.queue[self.n_reached] = v
            self.n_reached += 1
        self.before[v], self.by[v] = u, e

    cdef inline void forget(self) noexcept nogil:
        """Ends a walk."""
        cdef Py_ssize_t i
        for i in range(self.n_reached):
            self.before[self.queue[i]] = -1
        self.n_reached = 0

    cdef bint connects(self, int i, int j, const double[::1] scores, const double[::1] left) noexcept nogil:
        """Whether positive pairs with something left lead from i to j; the shortest way stands in `before` and `by`."""
        cdef Py_ssize_t at = 0, a
        cdef int u, v
        self.forget()
        self.reach(i, i, -1)
        while at < self.n_reached and self.n_reached < MOST_VISITED:
            u = self.queue[at]
            at += 1
            for a in range(self.starts[u], self.starts[u + 1]):
                v = self.neighbours[a]
                if self.before[v] < 0 and scores[self.pairs[a]] > 0 and left[self.pairs[a]] > 0:
                    self.reach(v, u, self.pairs[a])
                    if v == j:
                        return True
        return False

    cdef int pack(self, const double[::1] scores, double[::1] left, double[::1] cost) noexcept nogil:
        """Triangles, then longer cycles; -1 after Ctrl-C."""
        cdef Py_ssize_t n = self.starts.shape[0] - 1, i, a, b
        cdef int e, f, g, j, k
        cdef double least
        for i in range(n):
            for a in range(self.starts[i], self.starts[i + 1]):
                if scores[self.pairs[a]] > 0:
                    self.by[self.neighbours[a]] = self.pairs[a]
            for a in range(self.starts[i], self.starts[i + 1]):
                e, j = self.pairs[a], self.neighbours[a]
                if j < i or not scores[e] < 0:
                    continue
                if interrupted(self.starts[j + 1] - self.starts[j]):
                    return -1
                for b in range(self.starts[j], self.starts[j + 1]):
                    f, g = self.by[self.neighbours[b]], self.pairs[b]
                    if f >= 0 and scores[g] > 0 and left[f] > 0 and left[g] > 0:
                        least = min(left[e], min(left[f], left[g]))
                        left[f] -= least
                        left[g] -= least
                        left[e] -= least
                        cost[e] += least
                        if not left[e] > 0:
                            break
            for a in range(self.starts[i], self.starts[i + 1]):
                self.by[self.neighbours[a]] = -1
        for i in range(n):
            for a in range(self.starts[i], self.starts[i + 1]):
                e, j = self.pairs[a], self.neighbours[a]
                while i < j and scores[e] < 0 and left[e] > 0 and self.connects(<int> i, j, scores, left):
                    least, k = left[e], j
                    while k != i:
                        least, k = min(least, left[self.by[k]]), self.before[k]
                    k = j
                    while k != i:
                        left[self.by[k]] -= least
                        k = self.before[k]
                    left[e] -= least
                    cost[e] += least
                    if interrupted(self.n_reached):
                        return -1
                if interrupted(self.n_reached):
                    return -1
        return 0

    cdef int shortest(self, int i, const double[::1] apart, double tolerance, KeyHeap heap) noexcept nogil:
        """Ways from i shorter than the longest pair of i with a later item; among equals those of fewest pairs. -1 after Ctrl-C."""
        cdef Py_ssize_t a
        cdef int u, v
        cdef double most = 0, length
        for a in range(self.starts[i], self.starts[i + 1]):
            if self.neighbours[a] > i:
                most = max(most, apart[self.pairs[a]])
        most -= tolerance
        self.forget()
        heap.clear()
        self.reach(i, i, -1)
        heap.put(i, 0, 0)
        while heap.size:
            u = heap.top()
            heap.remove(u)
            if interrupted(self.starts[u + 1] - self.starts[u]):
                return -1
            for a in range(self.starts[u], self.starts[u + 1]):
                v, length = self.neighbours[a], apart[self.pairs[a]] - heap.key[u]
                if length < most and (self.before[v] < 0 or -length > heap.key[v]
                                      or (-length == heap.key[v] and heap.tie[u] + 1 < heap.tie[v])):
                    self.reach(v, u, self.pairs[a])
                    heap.put(v, -length, heap.tie[u] + 1)
        return 0

    cdef bint has_chord(self, int i, int j, unsigned char[::1] on) noexcept nogil:
        """Whether two items of the way from i to j are paired, neighbours and its two ends apart."""
        cdef int k = j, v
        cdef Py_ssize_t a
        cdef bint found = False
        while True:
            on[k] = 1
            if k == i:
                break
            k = self.before[k]
        k = j
        while k != i and not found:
            for a in range(self.starts[k], self.starts[k + 1]):
                v = self.neighbours[a]
                if on[v] and v != self.before[k] and self.before[v] != k and not (k == j and v == i):
                    found = True
                    break
            k = self.before[k]
        k = j
        while True:
            on[k] = 0
            if k == i:
                return found
            k = self.before[k]


def packed(starts, neighbours, pairs, const double[::1] scores):
    """How much the cycles through each negative pair cost every clustering, a float64 array over pairs; 0 for other pairs.

    Parameters
    ----------
    starts, neighbours, pairs
        As of `PairGraph`.
    scores : float64 array of shape (n_pairs,)

    Notes
    -----
    Triangles first, then longer cycles; the pairs in order. A search that has reached 2000 items ends, so the sum may be less than it could
    be.
    """
    cdef PairGraph graph = PairGraph(starts, neighbours, pairs)
    cdef double[::1] left = np.abs(scores), cost = np.zeros(scores.shape[0])
    cdef int status
    with nogil:
        status = graph.pack(scores, left, cost)
    if status < 0:
        raise take_interruption()
    return np.asarray(cost)


def violated(starts, neighbours, pairs, const double[::1] apart, double tolerance):
    """Cycles whose first pair is further apart than the sum of the others: lists of pairs, at most one for each first pair.

    A cycle with a chord is left out, since the chord splits it into two of which one is violated.

    Parameters
    ----------
    starts, neighbours, pairs
        As of `PairGraph`.
    apart : float64 array of shape (n_pairs,)
        0 to 1.
    tolerance : float
        Smaller violations do not count.
    """
    cdef PairGraph graph = PairGraph(starts, neighbours, pairs)
    cdef Py_ssize_t n = graph.starts.shape[0] - 1, i, a
    cdef KeyHeap heap = KeyHeap(n)
    cdef unsigned char[::1] on = np.zeros(n, dtype=np.uint8)
    cdef int j, k, status
    found, split = [], []
    for i in range(n):
        with nogil:
            status = graph.shortest(<int> i, apart, tolerance, heap)
        if status < 0:
            raise take_interruption()
        for a in range(graph.starts[i], graph.starts[i + 1]):
            j = graph.neighbours[a]
            if j > i and graph.before[j] >= 0 and -heap.key[j] < apart[graph.pairs[a]] - tolerance:
                cycle, k = [graph.pairs[a]], j
                while k != i:
                    cycle.append(graph.by[k])
                    k = graph.before[k]
                (split if graph.has_chord(<int> i, j, on) else found).append(cycle)
    return found or split
