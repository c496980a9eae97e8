"""Minimum cuts: the labelling with 0 and 1 of least cost, exact for capacities of any size, by incremental breadth-first search.

Provisional: it may change in any minor version.

Two trees grow level by level, one from the source, one towards the sink. Where they touch, flow is pushed along a shortest path. Nodes
whose arc to the tree is full look for another one. Else they move to a later level or leave the tree.

Typical sizes: 10 to 10^6 nodes, 2 to 26 edges a node. At most O(n^2 m) operations, on grids near linear. A grid of 30 x 30 nodes takes 0.1
to 0.5 ms. One of 100 x 100 takes 2 to 10 ms.

Goldberg, Hed, Kaplan, Tarjan, Werneck (2011), European Symposium on Algorithms.
"""
import threading

import numpy as np

from libc.math cimport INFINITY, exp, log
from structperc.basics.arguments import COSTS, FORCED, MOST, edge_array, number_array, real_array, refuse_overflow, whole_number
from structperc.basics.errors import DataError
from structperc.basics.signals cimport interrupted
from structperc.basics.signals import raise_interruption
from structperc.basics.signatures import ClassSignature


cdef enum:
    FREE = -1
    SOURCE = 0
    SINK = 1
    AT_TERMINAL = -1            # in the place of an arc to the parent
    NO_PARENT = -2

cdef double STOPPED = -1.0      # in the place of a flow
cdef double UNBOUNDED = INFINITY


cdef inline double *into(Cut *g, bint side, int arc) noexcept nogil:
    """The capacity left of an arc of a node: from its parent (tree of the source) or to it (tree of the sink)."""
    return &g.residual[arc] if side == SINK else &g.residual[g.sister[arc]]


cdef inline bint hangs(Cut *g, bint side, int v) noexcept nogil:
    """Whether v can be a child of its terminal."""
    return g.terminal[v] < 0 if side == SINK else g.terminal[v] > 0


cdef inline void orphan(Cut *g, int v) noexcept nogil:
    cdef Py_ssize_t at = g.first_orphan + g.n_orphans
    g.parent[v] = NO_PARENT
    g.orphans[at if at <= g.n_nodes else at - g.n_nodes - 1] = v
    g.n_orphans += 1


cdef inline void list_at(Cut *g, bint side, int v, int *nodes, Py_ssize_t *length, int level) noexcept nogil:
    """Notes once that v is at this level."""
    if g.listed[side * g.n_nodes + v] < level:
        g.listed[side * g.n_nodes + v] = level
        nodes[length[0]] = v
        length[0] += 1


cdef double push(Cut *g, int arc) noexcept nogil:
    """Sends as much as fits from the source's tree over this arc to the sink's. Queues the nodes that lose their parent."""
    cdef int u = g.head[g.sister[arc]], v = g.head[arc], i, p
    cdef double flow = g.residual[arc]
    i = u
    while g.parent[i] >= 0:
        flow = min(flow, g.residual[g.sister[g.parent[i]]])
        i = g.head[g.parent[i]]
    flow = min(flow, g.terminal[i])
    g.source_end = i
    i = v
    while g.parent[i] >= 0:
        flow = min(flow, g.residual[g.parent[i]])
        i = g.head[g.parent[i]]
    flow = min(flow, -g.terminal[i])
    g.sink_end = i
    if flow == INFINITY:
        return UNBOUNDED
    g.residual[arc] -= flow
    g.residual[g.sister[arc]] += flow
    i = u
    while g.parent[i] >= 0:
        p = g.parent[i]
        g.residual[g.sister[p]] -= flow
        g.residual[p] += flow
        if g.residual[g.sister[p]] == 0:
            orphan(g, i)
        i = g.head[p]
    g.terminal[i] -= flow
    if g.terminal[i] == 0:
        orphan(g, i)
    i = v
    while g.parent[i] >= 0:
        p = g.parent[i]
        g.residual[p] -= flow
        g.residual[g.sister[p]] += flow
        if g.residual[p] == 0:
            orphan(g, i)
        i = g.head[p]
    g.terminal[i] += flow
    if g.terminal[i] == 0:
        orphan(g, i)
    return flow


cdef bint adopt(Cut *g, int v, int last) noexcept nogil:
    """Finds another parent for v, at its level or at a later one up to `last`, else frees it. Returns whether its level has changed."""
    cdef bint side = g.tree[v] == SINK
    cdef int p, u, level = g.level[v], best = last, parent = NO_PARENT
    if level > 1:
        for p in range(g.current[v], g.first[v + 1]):
            u = g.head[p]
            if g.tree[u] == side and g.level[u] == level - 1 and into(g, side, p)[0] > 0:
                g.parent[v] = g.current[v] = p
                return False
    if hangs(g, side, v):
        best, parent = 0, AT_TERMINAL
    for p in range(g.first[v], g.first[v + 1]):
        u = g.head[p]
        if g.tree[u] != side:
            continue
        if g.level[u] < best and into(g, side, p)[0] > 0:
            best, parent = g.level[u], p
        if g.parent[u] == g.sister[p]:
            orphan(g, u)
    g.parent[v] = parent
    if parent == NO_PARENT:
        g.tree[v] = FREE
    else:
        g.level[v] = best + 1
        g.current[v] = g.first[v] if parent == AT_TERMINAL else parent
    return True


cdef class CutGraph:
    """A graph for repeated minimum cuts with other capacities. Not thread-safe. See also `min_cut` (one call for one graph).

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    edges : int array of shape (n_edges, 2)
        Two different nodes of each edge, numbered from 0. Several edges may join the same nodes.

    Raises
    ------
    DataError
        If an edge names a node that does not exist, or joins a node with itself.

    Examples
    --------
    >>> from structperc.solvers.minimum_cuts import CutGraph
    >>> graph = CutGraph(3, [[0, 1], [1, 2]])
    >>> labels, value = graph.solve([3.0, -1.0, -2.0], [1.0, 1.0], [1.0, 1.0])
    >>> labels.tolist(), value
    ([0, 1, 1], 1.0)
    """

    __signature__ = ClassSignature()

    def __init__(self, n_nodes, edges):
        cdef Py_ssize_t n = whole_number(n_nodes, "n_nodes"), e
        ends = edge_array(edges, n)
        cdef const int[:, ::1] nodes = ends
        cdef Py_ssize_t m = nodes.shape[0]
        cdef int[::1] numbers
        cdef double[::1] amounts
        cdef signed char[::1] trees
        cdef Cut *g = &self.cut
        cdef int *at
        cdef int u, v, there, back
        if 2 * m > MOST:
            raise DataError(f"the graph has {n} nodes and {m} edges; expected fewer than 2^30 edges.")
        self.n_nodes, self.n_edges, self.edges, self.lock = n, m, ends, threading.Lock()
        g.n_nodes, g.n_edges = n, m
        numbers, amounts, trees = np.zeros(11 * n + 5 * m + 4, dtype=np.intc), np.zeros(n + 2 * m + 1), np.zeros(n + 1, dtype=np.int8)
        self.held = numbers, amounts, trees
        at = &numbers[0]
        g.first = at                        # n + 2 numbers while the arcs are counted
        g.head = g.first + n + 2
        g.sister = g.head + 2 * m
        g.place = g.sister + 2 * m
        g.parent = g.place + m
        g.level = g.parent + n
        g.current = g.level + n
        g.orphans = g.current + n
        g.listed = g.orphans + n + 1
        g.lists = g.listed + 2 * n
        g.residual = &amounts[0]
        g.terminal = g.residual + 2 * m
        g.tree = &trees[0]
        for e in range(m):
            g.first[nodes[e, 0] + 2] += 1
            g.first[nodes[e, 1] + 2] += 1
        for v in range(n):
            g.first[v + 2] += g.first[v + 1]
        for e in range(m):                  # fills each node's arcs, which moves first[v + 1] from their begin to their end
            u, v = nodes[e, 0], nodes[e, 1]
            there, back = g.first[u + 1], g.first[v + 1]
            g.first[u + 1] += 1
            g.first[v + 1] += 1
            g.head[there], g.head[back] = v, u
            g.sister[there], g.sister[back] = back, there
            g.place[e] = there

    cdef double solve_c(self, const double *terminals, const double *forward, const double *backward, unsigned char *labels) noexcept nogil:
        """The least cost of a labelling, which `labels` receives; inf where each costs infinitely much, -1 where interrupted."""
        cdef Cut *g = &self.cut
        cdef Py_ssize_t n = g.n_nodes, e, k, operations = 0
        cdef Py_ssize_t length[2]
        cdef Py_ssize_t more[2]
        cdef int *front[2]
        cdef int *behind[2]
        cdef int depth[2]
        cdef int v, u, p, w, arc
        cdef bint side
        cdef double flow = 0, pushed
        g.first_orphan = g.n_orphans = 0
        for e in range(g.n_edges):
            p = g.place[e]
            g.residual[p], g.residual[g.sister[p]] = forward[e], backward[e]
        for k in range(2):
            front[k], behind[k] = &g.lists[2 * k * n], &g.lists[(2 * k + 1) * n]
            length[k], more[k], depth[k] = 0, 0, 1
        for v in range(n):
            g.terminal[v], g.tree[v], g.parent[v] = terminals[v], FREE, NO_PARENT
            g.listed[v] = g.listed[n + v] = 0
            if terminals[v] != 0:
                side = terminals[v] < 0
                g.tree[v], g.parent[v], g.level[v], g.current[v] = side, AT_TERMINAL, 1, g.first[v]
                list_at(g, side, v, front[side], &length[side], 1)
        while length[SOURCE] > 0 and length[SINK] > 0:
            side = length[SINK] < length[SOURCE]
            k = 0
            while k < length[side]:                 # grows by nodes that orphans turn into
                v = front[side][k]
                k += 1
                p = g.first[v]
                while p < g.first[v + 1] and g.tree[v] == side and g.level[v] == depth[side]:
                    operations += 1
                    u = g.head[p]
                    arc = g.sister[p] if side == SINK else p
                    if g.tree[u] == side or not g.residual[arc] > 0:
                        p += 1
                        continue
                    if g.tree[u] == FREE:
                        g.tree[u], g.level[u] = side, depth[side] + 1
                        g.parent[u] = g.current[u] = g.sister[p]
                        list_at(g, side, u, behind[side], &more[side], depth[side] + 1)
                        p += 1
                        continue
                    pushed = push(g, arc)
                    if pushed == UNBOUNDED:
                        return UNBOUNDED
                    flow += pushed
                    operations += 8 * (depth[SOURCE] + depth[SINK])
                    while g.n_orphans > 0:
                        w = g.orphans[g.first_orphan]
                        g.first_orphan = g.first_orphan + 1 if g.first_orphan < n else 0
                        g.n_orphans -= 1
                        operations += 4 * (g.first[w + 1] - g.first[w])
                        if adopt(g, w, depth[<int> g.tree[w]] + (g.tree[w] == side)) and g.tree[w] != FREE:
                            u = g.tree[w]
                            if g.level[w] == depth[u]:
                                list_at(g, u, w, front[u], &length[u], depth[u])
                            elif g.level[w] > depth[u]:
                                list_at(g, u, w, behind[u], &more[u], depth[u] + 1)
                if operations > 100000:
                    if interrupted(operations):
                        return STOPPED
                    operations = 0
            depth[side] += 1
            front[side], behind[side] = behind[side], front[side]
            length[side], more[side] = more[side], 0
        if interrupted(operations):
            return STOPPED
        # label 1: flow can still reach the sink, so no cut of the same cost has fewer ones
        k = e = 0
        for v in range(n):
            labels[v] = g.terminal[v] < 0
            if labels[v]:
                g.lists[e] = v
                e += 1
        while k < e:
            v = g.lists[k]
            k += 1
            for p in range(g.first[v], g.first[v + 1]):
                u = g.head[p]
                if not labels[u] and g.residual[g.sister[p]] > 0:
                    labels[u] = 1
                    g.lists[e] = u
                    e += 1
        return flow

    def __reduce__(self):
        return CutGraph, (self.n_nodes, self.edges)

    def solve(self, terminals, forward, backward):
        """The 0/1 labels of least cost, as `min_cut` returns them.

        Parameters
        ----------
        terminals : array-like of shape (n_nodes,)
            Cost of label 1 minus cost of label 0, for each node.
        forward : array-like of shape (n_edges,)
            Cost of label 0 at an edge's first node and 1 at its second.
        backward : array-like of shape (n_edges,)
            Cost of label 1 at an edge's first node and 0 at its second.

        Returns
        -------
        labels : uint8 array of shape (n_nodes,)
            As in `min_cut`.
        value : float
            As in `min_cut`.
        """
        cdef const double[::1] a = real_array(terminals, "terminals", (self.n_nodes,), FORCED)
        cdef const double[::1] there = real_array(forward, "forward", (self.n_edges,), COSTS)
        cdef const double[::1] back = there if backward is forward else real_array(backward, "backward", (self.n_edges,), COSTS)
        labelling = np.zeros(self.n_nodes + 1, dtype=np.uint8)
        cdef unsigned char[::1] labels = labelling
        cdef double value
        with self.lock, nogil:
            value = self.solve_c(&a[0] if self.n_nodes else NULL, &there[0] if self.n_edges else NULL,
                                 &back[0] if self.n_edges else NULL, &labels[0])
        if value == STOPPED:
            raise_interruption()
        if value == UNBOUNDED:
            raise DataError(f"every labelling costs infinitely much: node {self.cut.source_end} must be 0 and node "
                            f"{self.cut.sink_end} must be 1. Edges of infinite cost between them forbid a change "
                            f"from 0 to 1.")
        return labelling[:self.n_nodes], value


def min_cut(terminals, edges, capacities, backward=None):
    """Minimum cut between a source and a sink: the 0/1 labels of least cost.

    The source has the label 0 and the sink the label 1.
    Ties: of labellings of equal cost, the one with the fewest ones; it is 0 wherever an optimal labelling is 0.
    Cost: incremental breadth-first search, O(n^2 m) at most. To solve many graphs at once, number their nodes on and pass one graph.
    Raises `DataError` for NaN, negative capacities and invalid edges, and if every labelling costs infinitely much.
    See also `CutGraph` (one graph with many capacities) and `structperc.solvers.pairwise_models.best_labelling` (more than two labels).

    Parameters
    ----------
    terminals : array-like of shape (n,)
        Cost of label 1 minus cost of label 0, for each node: the capacity from the source (positive) or to the sink (negative).
        inf fixes label 0, -inf fixes label 1.
    edges : int array-like of shape (m, 2)
        Two different nodes of each edge, numbered from 0. The costs of several edges between the same nodes add up.
    capacities : array-like of shape (m,)
        Cost of label 0 at an edge's first node and 1 at its second, at least 0. inf forbids it.
    backward : array-like of shape (m,), optional
        Cost of label 1 at an edge's first node and 0 at its second. Default: `capacities`.

    Returns
    -------
    labels : uint8 array of shape (n,)
        The label of each node.
    value : float
        The flow, which proves the labels optimal: their cost is value + sum(min(terminals, 0)), and no labels cost less.
        Exact for whole numbers; for others up to rounding.

    References
    ----------
    A. V. Goldberg, S. Hed, H. Kaplan, R. E. Tarjan and R. F. Werneck: Maximum flows by incremental breadth-first search. Proceedings of
    ESA, pages 457-468, 2011.

    Examples
    --------
    >>> from structperc.solvers.minimum_cuts import min_cut
    >>> labels, value = min_cut([3, -1, -2], [[0, 1], [1, 2]], [1, 1])
    >>> labels.tolist(), value
    ([0, 1, 1], 1.0)
    """
    terminals = real_array(terminals, "terminals", ("n_nodes",), FORCED)
    return CutGraph(len(terminals), edges).solve(terminals, capacities, capacities if backward is None else backward)


include "minimum_cuts.forests.pxi"


__all__ = ["CutGraph", "Forest", "min_cut"]
