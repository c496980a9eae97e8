"""Maximum arborescences of graphs with few arcs: Tarjan's algorithm with heaps.

Provisional: it may change in any minor version.

As in `arborescences.pyx`, but the arcs into a node wait in a skew heap. A number that is added to all of them waits at the heap's top. Arcs
from inside a node are dropped when they come up. The arcs of the root are beside the heaps.

Typical sizes: 10^3 to 10^5 nodes of 5 to 50 arcs. O(m log n) for m arcs, about 0.2 us an arc. With one root, each exchanged root arc and
each one that is left adds a step.
"""
import numpy as np
import scipy.sparse

from libc.math cimport INFINITY
from structperc.basics.arguments import flag, refuse_overflow
from structperc.basics.errors import DataError
from structperc.basics.signals cimport interrupted
from structperc.basics.signals import take_interruption
from structperc.basics.signatures import ClassSignature
from structperc.basics.sparse_parts import float_csr
from structperc.solvers.arborescences cimport FOUND, INFEASIBLE, INTERRUPTED, refusal

cdef enum:
    UNVISITED
    ON_PATH
    DONE
    ENTERED


cdef class Graph:
    """One run. Nodes are words 1..n and supernodes from n + 1 on. Arcs count from 1; 0 means none, or the arc from the root."""

    __signature__ = ClassSignature()

    cdef Py_ssize_t n, n_nodes
    cdef int[::1] head, dependent, left, right          # of arcs: ends, and children in the heap
    cdef double[::1] key, waiting                       # reduced scores, and what is to be added to all below
    cdef int[::1] heap, arc, root_word, parent, outer, state, path, hanging     # of nodes
    cdef double[::1] y, root_score
    cdef int rooted

    def __cinit__(self, *args):
        self.head = self.dependent = None
        self.left = self.right = None
        self.key = self.waiting = None
        self.heap = self.arc = None
        self.root_word = self.parent = None
        self.outer = self.state = None
        self.path = self.hanging = None
        self.y = self.root_score = None

    def __init__(self, n, heads, dependents, scores, root_scores):
        nodes, arcs = 2 * n + 2, len(heads) + 1
        self.n, self.n_nodes = n, n + 1
        self.head, self.dependent = with_none(heads), with_none(dependents)
        self.key, self.waiting = np.append(0.0, scores), np.zeros(arcs)
        self.left, self.right = np.zeros(arcs, dtype=np.intc), np.zeros(arcs, dtype=np.intc)
        self.heap, self.arc, self.parent, self.state, self.path, self.hanging = np.zeros((6, nodes), dtype=np.intc)
        self.root_word, self.outer = np.arange(nodes, dtype=np.intc), np.arange(nodes, dtype=np.intc)
        self.y, self.root_score = np.zeros(nodes), np.full(nodes, -INFINITY)
        np.asarray(self.root_score)[1:n + 1] = root_scores

    # ---- heaps ----

    cdef inline bint before(self, int i, int j) noexcept nogil:
        return self.key[i] > self.key[j] or (self.key[i] == self.key[j] and i < j)

    cdef inline void add(self, int i, double x) noexcept nogil:
        if i:
            self.key[i] += x
            self.waiting[i] += x

    cdef inline void settle(self, int i) noexcept nogil:
        """Hands what waits at an arc to its children."""
        self.add(self.left[i], self.waiting[i])
        self.add(self.right[i], self.waiting[i])
        self.waiting[i] = 0

    cdef int meld(self, int a, int b) noexcept nogil:
        cdef int top, t
        if a == 0 or b == 0:
            return a + b
        if self.before(b, a):
            a, b = b, a
        top = a
        while True:
            self.settle(a)
            t = self.right[a]
            self.right[a] = self.left[a]
            if t == 0:
                self.left[a] = b
                return top
            if self.before(b, t):
                t, b = b, t
            self.left[a] = t
            a = t

    # ---- nodes ----

    cdef int outermost(self, int v) noexcept nogil:
        while self.outer[v] != v:
            self.outer[v] = self.outer[self.outer[v]]
            v = self.outer[v]
        return v

    cdef int best_from_words(self, int v) noexcept nogil:
        """The best arc from outside that is not the root's, or 0."""
        cdef int i = self.heap[v]
        while i and self.outermost(self.head[i]) == v:
            self.settle(i)
            i = self.meld(self.left[i], self.right[i])
        self.heap[v] = i
        return i

    cdef bint choose(self, int v) noexcept nogil:
        """Takes the best arc into a node, the root's among equals; whether there is one."""
        cdef int i = self.best_from_words(v)
        if i == 0 or self.root_score[v] >= self.key[i]:
            i = 0
        self.arc[v], self.y[v] = i, self.key[i] if i else self.root_score[v]
        return self.y[v] > -INFINITY

    cdef inline int before_on_path(self, int v) noexcept nogil:
        """The outermost node that the arc into a node comes from."""
        return self.outermost(self.head[self.arc[v]]) if self.arc[v] else 0

    cdef int contract(self, const int *cycle, Py_ssize_t length) noexcept nogil:
        cdef int new = <int> self.n_nodes, v
        cdef Py_ssize_t i
        self.n_nodes += 1
        for i in range(length):
            v = cycle[i]
            self.add(self.heap[v], -self.y[v])
            if self.root_score[v] - self.y[v] > self.root_score[new]:
                self.root_score[new], self.root_word[new] = self.root_score[v] - self.y[v], self.root_word[v]
            self.heap[new] = self.meld(self.heap[new], self.heap[v])
            self.parent[v] = self.outer[v] = new
        return new

    cdef int run(self, bint one_root, int *heads) noexcept nogil:
        cdef Py_ssize_t n = self.n, m, s, length
        cdef int v, t, status
        for m in range(1, self.head.shape[0]):
            self.heap[self.dependent[m]] = self.meld(self.heap[self.dependent[m]], <int> m)
            if interrupted(32):
                return INTERRUPTED
        self.state[0] = DONE
        for s in range(1, n + 1):
            v, length = self.outermost(<int> s), 0
            while self.state[v] != DONE:
                if interrupted(64):
                    return INTERRUPTED
                if not self.choose(v):
                    self.path[0] = v
                    return INFEASIBLE
                self.path[length] = v
                length += 1
                self.state[v] = ON_PATH
                t = self.before_on_path(v)
                if self.state[t] == ON_PATH:
                    m = length
                    while self.path[length - 1] != t:
                        length -= 1
                    length -= 1
                    v = self.contract(&self.path[length], m - length)
                else:
                    v = t
            for m in range(length):
                self.state[self.path[m]] = DONE
        status = self.leave_one_root() if one_root else FOUND
        if status == FOUND:
            self.expand(heads)
        return status

    cdef int leave_one_root(self) noexcept nogil:
        """Exchanges root arcs for other arcs until a single root arc is left; each exchange has the least loss."""
        cdef Py_ssize_t n_hanging = 0, i, best, length, m
        cdef int v, t, other
        cdef double loss, least
        for m in range(1, self.n + 1):
            v = self.outermost(<int> m)
            if self.arc[v] == 0 and self.state[v] == DONE:
                self.state[v] = UNVISITED
                self.hanging[n_hanging] = v
                n_hanging += 1
        while n_hanging > 1:
            if interrupted(4 * n_hanging):
                return INTERRUPTED
            best, least = -1, INFINITY
            for i in range(n_hanging):
                v = self.hanging[i]
                other = self.best_from_words(v)
                loss = self.y[v] - self.key[other] if other else INFINITY
                if loss <= least and other:
                    best, least = i, loss
            if best < 0:
                self.path[0], self.rooted = self.hanging[0], self.hanging[1]
                return INFEASIBLE
            v, length = self.hanging[best], 0
            self.arc[v] = self.heap[v]
            self.y[v], t = self.key[self.arc[v]], v
            while True:
                self.path[length] = t
                length += 1
                t = self.before_on_path(t)
                if t == 0 or t == v:
                    break
            if t:
                v = self.contract(&self.path[0], length)
                self.arc[v], self.y[v], self.hanging[best] = 0, self.root_score[v], v
            else:
                n_hanging -= 1
                for i in range(best, n_hanging):
                    self.hanging[i] = self.hanging[i + 1]
        return FOUND

    cdef void expand(self, int *heads) noexcept nogil:
        """The arc into a supernode replaces those into all that it contains around the word that it enters."""
        cdef int x, v, m, entered
        for x in range(<int> self.n_nodes - 1, <int> self.n, -1):
            if self.state[x] == ENTERED:
                continue
            v = self.dependent[self.arc[x]] if self.arc[x] else self.root_word[x]
            while v != x:
                self.arc[v], self.state[v] = self.arc[x], ENTERED
                v = self.parent[v]
        for m in range(1, <int> self.n + 1):
            entered = self.arc[m]
            heads[m - 1] = self.head[entered] if entered else 0


def with_none(values):
    return np.append(0, values).astype(np.intc)


def max_sparse_arborescence(scores, one_root=False):
    """Maximum arborescence of a graph with few arcs, from a sparse score matrix.

    Use it if at most one arc in about 30 exists; for fuller matrices `max_arborescence` is faster.
    Ties: the root's arc wins, then the arc with the lowest head, then with the lowest dependent.
    Trees may differ from those of `max_arborescence`; scores do not. Cost: O(m log n) for m arcs.
    Raises `DataError` if a score is NaN or +inf, or no tree exists. The message names the arc or the words.
    See also `structperc.solvers.arborescences.max_arborescence` (full matrices).

    Parameters
    ----------
    scores : scipy.sparse matrix or array of shape (n + 1, n + 1)
        scores[h, m] of the arc from the head h to word m; 0 is the root. An arc without an entry is forbidden; a stored 0 is a score.
        Column 0 and the diagonal are ignored.
    one_root : bool, default False
        Exactly one word has the head 0.

    Returns
    -------
    heads : int32 array of shape (n,)
        The heads of words 1..n.
    total : float
        The sum of the scores.

    References
    ----------
    H. N. Gabow, Z. Galil, T. Spencer and R. E. Tarjan: Efficient algorithms for finding minimum spanning trees in undirected and directed
    graphs. Combinatorica 6, pages 109-122, 1986.

    H. N. Gabow and R. E. Tarjan: Efficient algorithms for a family of matroid intersection problems. Journal of Algorithms 5, pages
    80-131, 1984.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import coo_array
    >>> from structperc.solvers.sparse_arborescences import max_sparse_arborescence
    >>> scores = coo_array(([9.0, 4.0, 6.0, 5.0], ([0, 1, 2, 3], [1, 2, 3, 2])), shape=(4, 4))
    >>> heads, total = max_sparse_arborescence(scores)
    >>> heads.tolist(), total
    ([0, 1, 2], 19.0)
    """
    if not scipy.sparse.issparse(scores):
        raise DataError(f"scores is a {type(scores).__name__}; expected a scipy.sparse matrix. Pass full matrices to max_arborescence.")
    if scores.ndim != 2 or scores.shape[0] != scores.shape[1] or not scores.shape[0] or scores.dtype.kind not in "fiub":
        raise DataError(f"scores has the shape {scores.shape} and the dtype {scores.dtype}. Expected real numbers of shape (n + 1, n + 1) "
                        f"for n words and the root, rows for heads.")
    table = float_csr(scores, "scores").sorted_indices()
    rows = table.tocoo()
    cdef Py_ssize_t n = scores.shape[0] - 1, m
    heads, dependents, values = rows.row, rows.col, np.asarray(rows.data, dtype=float)
    refuse_overflow(values, "scores")
    read = (dependents != 0) & (heads != dependents)
    wrong = np.flatnonzero(read & ~(values < INFINITY))
    if len(wrong):
        h, m = heads[wrong[0]], dependents[wrong[0]]
        raise DataError(f"scores[{h}, {m}] is {values[wrong[0]]}; expected a number, or no entry where word {m} may not have the "
                        f"head {h}.")
    read &= values > -INFINITY
    of_root, between = read & (heads == 0), read & (heads != 0)
    root_scores = np.full(n, -INFINITY)
    root_scores[dependents[of_root] - 1] = values[of_root]
    cdef Graph graph = Graph(n, heads[between], dependents[between], values[between], root_scores)
    cdef int[::1] tree = np.zeros(n + 1, dtype=np.intc)
    cdef bint one = flag(one_root, "one_root")
    cdef int status = INFEASIBLE
    if n or not one_root:
        with nogil:
            status = graph.run(one, &tree[0])
    if status == INTERRUPTED:
        raise take_interruption()
    if status != FOUND:
        for m in range(n):
            v = graph.outermost(<int> m + 1)
            tree[m] = -1 if v == graph.path[0] else -2 if v == graph.rooted else 0
        raise refusal(status, NULL, 0, n, &tree[0], "scores")
    answer = np.asarray(tree)[:n]
    return answer, float(sum(table[answer, np.arange(1, n + 1)].tolist())) if n else 0.0


__all__ = ["max_sparse_arborescence"]
