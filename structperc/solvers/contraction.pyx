"""Clusters by joining and moving items: good ones without a proof, for any number of items.

`joined` contracts the pair of largest score while it is positive; pairs that become parallel are added up. `moved` takes items one by one
to the cluster that they gain most in. Scores of -inf add up to -inf, so such pairs are never in one cluster.

Typical sizes: 10 to 10^6 items, 10 to 10^7 pairs. Contraction of n items of d pairs each: O(n d) at most n times, 0.2 to 1 us a pair in
practice; a sweep of moves: 5 ns a pair.
"""
import numpy as np

from structperc.core.stopping cimport interrupted
from structperc.core.stopping import take_interruption
from structperc.solvers.heaps cimport KeyHeap

cdef enum:
    MOST_SWEEPS = 100


cdef class Contraction:
    """Pairs as two half-pairs each, 2e and 2e + 1, in a list for each item; a joined item's list becomes part of the other's."""

    cdef double[::1] score
    cdef int[::1] item, following, before           # of half-pairs
    cdef int[::1] first, degree, slot, cluster      # of items
    cdef KeyHeap waiting

    def __init__(self, Py_ssize_t n, const int[::1] first, const int[::1] second, const double[::1] scores):
        cdef Py_ssize_t e, m = scores.shape[0]
        self.score = np.array(scores)
        self.item, self.following, self.before = (np.full(2 * m, -1, dtype=np.intc) for _ in range(3))
        self.first, self.slot = np.full(n, -1, dtype=np.intc), np.full(n, -1, dtype=np.intc)
        self.degree, self.cluster = np.zeros(n, dtype=np.intc), np.arange(n, dtype=np.intc)
        self.waiting = KeyHeap(m)
        for e in range(m):
            self.enter(<int> (2 * e), first[e])
            self.enter(<int> (2 * e) + 1, second[e])
            if scores[e] > 0:
                self.waiting.put(<int> e, scores[e], <int> e)

    cdef inline void enter(self, int h, int u) noexcept nogil:
        self.item[h], self.before[h], self.following[h] = u, -1, self.first[u]
        if self.first[u] >= 0:
            self.before[self.first[u]] = h
        self.first[u] = h
        self.degree[u] += 1

    cdef inline void leave(self, int h) noexcept nogil:
        cdef int u = self.item[h], left = self.before[h], right = self.following[h]
        if left >= 0:
            self.following[left] = right
        else:
            self.first[u] = right
        if right >= 0:
            self.before[right] = left
        self.degree[u] -= 1

    cdef bint run(self) noexcept nogil:
        """Joins until no pair has a positive score; 0 after Ctrl-C."""
        cdef int e, f, h, next, u, v
        while self.waiting.size:
            e = self.waiting.top()
            u, v = self.item[2 * e], self.item[2 * e + 1]
            if self.degree[v] > self.degree[u]:
                u, v = v, u
            if interrupted(4 * self.degree[u]):
                return 0
            self.waiting.remove(e)
            self.leave(2 * e)
            self.leave(2 * e + 1)
            self.cluster[v] = u
            h = self.first[u]
            while h >= 0:
                self.slot[self.item[h ^ 1]] = h
                h = self.following[h]
            h = self.first[v]
            while h >= 0:
                next, f = self.following[h], self.slot[self.item[h ^ 1]] >> 1
                if f >= 0:
                    self.leave(h ^ 1)
                    self.waiting.remove(h >> 1)
                    self.score[f] += self.score[h >> 1]
                    if self.score[f] > 0:
                        self.waiting.put(f, self.score[f], f)
                    else:
                        self.waiting.remove(f)
                else:
                    self.enter(h, u)
                h = next
            self.first[v] = -1
            h = self.first[u]
            while h >= 0:
                self.slot[self.item[h ^ 1]] = -1
                h = self.following[h]
        return 1

    cdef void name(self) noexcept nogil:
        """Every item's cluster, by the item that all others of it were joined to."""
        cdef Py_ssize_t i
        for i in range(self.cluster.shape[0]):
            self.cluster[i] = top(self.cluster, <int> i)


def joined(n, first, second, scores):
    """A cluster number, of 0..n-1, for each item: pairs contracted by falling score; at a tie the pair listed earlier.

    Parameters
    ----------
    n : int
    first, second : int32 arrays of shape (n_pairs,)
    scores : float64 array of shape (n_pairs,)
    """
    cdef Contraction contraction = Contraction(n, first, second, scores)
    cdef bint done
    with nogil:
        done = contraction.run()
        if done:
            contraction.name()
    if not done:
        raise take_interruption()
    return np.asarray(contraction.cluster)


def moved(int[::1] labels, const int[::1] starts, const int[::1] neighbours, const double[::1] scores, double least):
    """Moves items, in order and again and again, to the cluster where they gain most; whether any was moved.

    Parameters
    ----------
    labels : int32 array of shape (n,)
        A number of 0..n-1 for each item; changed in place.
    starts, neighbours, scores : arrays of shape (n + 1,), (2 n_pairs,), (2 n_pairs,)
        Whom item i is paired with, and the scores, from starts[i] to starts[i + 1].
    least : float
        What a move gains at least.

    Notes
    -----
    At a tie the item goes to the cluster met first among its neighbours, to a new one only where that is better than all.
    """
    cdef Py_ssize_t n = labels.shape[0], v, i
    cdef Py_ssize_t sweep = 0, n_free = 0, n_met
    cdef double[::1] total = np.zeros(n)
    cdef int[::1] size = np.zeros(n, dtype=np.intc), free = np.zeros(n + 1, dtype=np.intc), met = np.zeros(n + 1, dtype=np.intc)
    cdef unsigned char[::1] seen = np.zeros(n, dtype=np.uint8)
    cdef bint moves = True, any = False, stopped = False
    cdef int c, own, best
    cdef double here, most
    with nogil:
        for v in range(n):
            size[labels[v]] += 1
        for c in range(<int> n - 1, -1, -1):
            if size[c] == 0:
                free[n_free] = c
                n_free += 1
        while moves and sweep < MOST_SWEEPS and not stopped:
            moves = False
            sweep += 1
            for v in range(n):
                if interrupted(starts[v + 1] - starts[v]):
                    stopped = True
                    break
                own, n_met = labels[v], 0
                for i in range(starts[v], starts[v + 1]):
                    c = labels[neighbours[i]]
                    if not seen[c]:
                        seen[c] = 1
                        total[c] = 0
                        met[n_met] = c
                        n_met += 1
                    total[c] += scores[i]
                here = total[own] if seen[own] else 0
                best, most = -1, 0
                for i in range(n_met):
                    c = met[i]
                    seen[c] = 0
                    if c != own and total[c] > most:
                        best, most = c, total[c]
                if best < 0 and (size[own] == 1 or n_free == 0):
                    continue
                if most > here + least:
                    if best < 0:
                        n_free -= 1
                        best = free[n_free]
                    labels[v] = best
                    size[best] += 1
                    size[own] -= 1
                    if size[own] == 0:
                        free[n_free] = own
                        n_free += 1
                    moves = any = True
    if stopped:
        raise take_interruption()
    return any


def connected(Py_ssize_t n, first, second):
    """The components of a graph.

    Parameters
    ----------
    n : int
        How many items there are.
    first, second : int arrays of shape (n_pairs,)
        Items, from 0 to n - 1.

    Returns
    -------
    int32 array of shape (n,)
        A label for each item, from 0 in the order of first items.
    """
    cdef const int[::1] ends = np.ascontiguousarray(first, dtype=np.intc), others = np.ascontiguousarray(second, dtype=np.intc)
    cdef int[::1] parent = np.arange(n, dtype=np.intc), labels = np.full(n, -1, dtype=np.intc)
    cdef Py_ssize_t e
    cdef int u, v, label = 0
    with nogil:
        for e in range(ends.shape[0]):
            u, v = top(parent, ends[e]), top(parent, others[e])
            if u < v:
                parent[v] = u
            else:
                parent[u] = v
        for u in range(<int> n):                        # the lowest item of each component is its top
            v = top(parent, u)
            if v == u:
                labels[u] = label
                label += 1
            else:
                labels[u] = labels[v]
    return np.asarray(labels)


cdef inline int top(int[::1] parent, int u) noexcept nogil:
    while parent[u] != u:
        parent[u] = parent[parent[u]]
        u = parent[u]
    return u
