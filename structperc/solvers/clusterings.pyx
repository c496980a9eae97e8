"""Clusterings of pairs with scores: all of few items, bounds by cycles that contradict one, and good ones by joining and moving."""
import numpy as np

from libc.math cimport INFINITY
from structperc.basics.signals cimport interrupted
from structperc.basics.signals import take_interruption


# ---- heaps ----
# A binary heap of numbered items with keys that change.
#
# Typical sizes: 10 to 10^6 items. O(log n) a change.


cdef class KeyHeap:
    """Items 0..n-1, the one of largest key on top; among equals, the one of lowest tie."""

    cdef readonly Py_ssize_t size
    cdef double[::1] key            # of each item
    cdef int[::1] tie               # among equal keys the lowest comes first
    cdef int[::1] heap, place       # items in the heap; the place of each, or -1

    def __init__(self, Py_ssize_t n):
        self.size = 0
        self.key, self.tie = np.zeros(n), np.zeros(n, dtype=np.intc)
        self.heap, self.place = np.zeros(n, dtype=np.intc), np.full(n, -1, dtype=np.intc)

    cdef inline bint before(self, int a, int b) noexcept nogil:
        return self.key[a] > self.key[b] or (self.key[a] == self.key[b] and self.tie[a] < self.tie[b])

    cdef void put(self, int item, double key, int tie) noexcept nogil:
        self.key[item], self.tie[item] = key, tie
        if self.place[item] < 0:
            self.heap[self.size], self.place[item] = item, <int> self.size
            self.size += 1
        self.rise(self.place[item])
        self.sink(self.place[item])

    cdef int top(self) noexcept nogil:
        return self.heap[0]

    cdef void remove(self, int item) noexcept nogil:
        cdef Py_ssize_t i = self.place[item]
        cdef int last
        if i < 0:
            return
        self.place[item] = -1
        self.size -= 1
        last = self.heap[self.size]
        if last != item:
            self.heap[i], self.place[last] = last, <int> i
            self.rise(i)
            self.sink(self.place[last])

    cdef void clear(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.size):
            self.place[self.heap[i]] = -1
        self.size = 0

    cdef void rise(self, Py_ssize_t i) noexcept nogil:
        cdef int item = self.heap[i], other
        while i > 0:
            other = self.heap[(i - 1) // 2]
            if not self.before(item, other):
                break
            self.heap[i], self.place[other] = other, <int> i
            i = (i - 1) // 2
        self.heap[i], self.place[item] = item, <int> i

    cdef void sink(self, Py_ssize_t i) noexcept nogil:
        cdef int item = self.heap[i]
        cdef Py_ssize_t child
        while 2 * i + 1 < self.size:
            child = 2 * i + 1
            if child + 1 < self.size and self.before(self.heap[child + 1], self.heap[child]):
                child += 1
            if not self.before(self.heap[child], item):
                break
            self.heap[i], self.place[self.heap[child]] = self.heap[child], <int> i
            i = child
        self.heap[i], self.place[item] = item, <int> i


# ---- best partitions ----
# The best clusters of few items: all their subsets, by dynamic programming.
#
# Typical sizes: 2 to 12 items. O(3^n): 2 us for 6 items, 0.5 ms for 12.


def best_partition(const double[:, ::1] scores):
    """A cluster number for each item, by scores (n, n) where -inf forbids. A cluster is larger only where that gains something."""
    # best[S] = max over the subsets T of S with the lowest item of S: sum of T's pairs + best[S - T].
    cdef Py_ssize_t n = scores.shape[0], i, j
    cdef size_t every = (<size_t> 1 << n) - 1, s, rest, part, low
    cdef double[::1] inside = np.zeros(every + 1), best = np.zeros(every + 1)
    cdef int[::1] chosen = np.zeros(every + 1, dtype=np.intc), labels = np.zeros(n, dtype=np.intc)
    cdef double total
    cdef int label = 0
    with nogil:
        for s in range(1, every + 1):
            i = 0
            while not s >> i & 1:
                i += 1
            low = <size_t> 1 << i
            rest = s ^ low
            total = inside[rest]
            for j in range(i + 1, n):
                if rest >> j & 1:
                    total += scores[i, j]
            inside[s], best[s] = total, -INFINITY
            part = 0
            while True:                                 # the subsets of the rest, rising
                total = inside[part | low] + best[rest ^ part]
                if total > best[s]:
                    best[s], chosen[s] = total, <int> (part | low)
                if part == rest:
                    break
                part = (part - rest) & rest
        s = every
        while s:
            for i in range(n):
                if chosen[s] >> i & 1:
                    labels[i] = label
            label += 1
            s ^= <size_t> chosen[s]
    return np.asarray(labels)


# ---- conflicts ----
# Cycles of pairs that contradict a clustering: a negative pair whose ends a path of positive pairs connects.
#
# `packed` takes such cycles out of the scores until none is left. Each costs every clustering its least score. So their sum bounds
# all clusterings. `violated` finds the cycles that a fractional solution violates, by shortest paths.
#
# Typical sizes: 10 to 10^5 items, 10 to 10^6 pairs. Triangles of n items of d pairs: O(n d^2), 1 ns each; violated cycles: shortest paths
# from every item, cut off early.


cdef enum:
    MOST_VISITED = 2000         # items on the way from one end of a negative pair to the other


cdef class PairGraph:
    """Whom items are paired with, and a walk from one item."""
    # starts, neighbours, pairs: int32 arrays of shape (n + 1,), (2 n_pairs,), (2 n_pairs,). Whom item i is paired with, and the numbers of
    # the pairs, from starts[i] to starts[i + 1].

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
        """Whether positive pairs with something left lead from i to j. The shortest way is in `before` and `by`."""
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
        cdef bint any_chord = False
        while True:
            on[k] = 1
            if k == i:
                break
            k = self.before[k]
        k = j
        while k != i and not any_chord:
            for a in range(self.starts[k], self.starts[k + 1]):
                v = self.neighbours[a]
                if on[v] and v != self.before[k] and self.before[v] != k and not (k == j and v == i):
                    any_chord = True
                    break
            k = self.before[k]
        k = j
        while True:
            on[k] = 0
            if k == i:
                return any_chord
            k = self.before[k]


def packed(starts, neighbours, pairs, const double[::1] scores):
    """How much the cycles through each negative pair cost every clustering, a float64 array over pairs; 0 for other pairs."""
    # Triangles first, then longer cycles; the pairs in order. A search that has reached 2000 items ends, so the sum may be less than it
    # could be.
    cdef PairGraph graph = PairGraph(starts, neighbours, pairs)
    cdef double[::1] left = np.abs(scores), cost = np.zeros(scores.shape[0])
    cdef int status
    with nogil:
        status = graph.pack(scores, left, cost)
    if status < 0:
        raise take_interruption()
    return np.asarray(cost)


def violated(starts, neighbours, pairs, const double[::1] apart, double tolerance):
    """Cycles whose first pair is further apart than the sum of the others: lists of pairs, at most one for each first pair."""
    # A cycle with a chord is left out, since the chord splits it into two of which one is violated.
    cdef PairGraph graph = PairGraph(starts, neighbours, pairs)
    cdef Py_ssize_t n = graph.starts.shape[0] - 1, i, a
    cdef KeyHeap heap = KeyHeap(n)
    cdef unsigned char[::1] on = np.zeros(n, dtype=np.uint8)
    cdef int j, k, status
    cycles, split = [], []
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
                (split if graph.has_chord(<int> i, j, on) else cycles).append(cycle)
    return cycles or split


# ---- contraction ----
# Clusters by joining and moving items: good ones without a proof, for any number of items.
#
# `joined` contracts the pair of largest score while it is positive; pairs that become parallel are added up. `moved` takes items one by one
# to the cluster that they gain most in. Scores of -inf add up to -inf, so such pairs are never in one cluster.
#
# Typical sizes: 10 to 10^6 items, 10 to 10^7 pairs. Contraction of n items of d pairs each: O(n d) at most n times, 0.2 to 1 us a pair in
# practice; a sweep of moves: 5 ns a pair.


cdef enum:
    MOST_SWEEPS = 100


cdef class Contraction:
    """Pairs as two half-pairs each, 2e and 2e + 1, in a list for each item. A joined item's list becomes part of the other's."""

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
    """A cluster number, of 0..n-1, for each item: pairs contracted by falling score; at a tie the pair listed earlier."""
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
    """Moves items, in order and again and again, to the cluster where they gain most, at least `least`. Whether any was moved."""
    # At a tie the item goes to the cluster met first among its neighbours. It goes to a new one only if that is better than all.
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
    """The components of a graph. Returns an int32 array of shape (n,). A label for each item, from 0 in the order of first items.

    Parameters
    ----------
    n : int
        How many items there are.
    first, second : int arrays of shape (n_pairs,)
        Items, from 0 to n - 1.

    Examples
    --------
    >>> from structperc.solvers.clusters import connected
    >>> connected(5, [0, 3], [1, 4]).tolist()
    [0, 0, 1, 2, 2]
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
