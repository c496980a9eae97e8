"""Undirected spanning trees and forests: Kruskal's algorithm.

Typical sizes: 10 to 10^4 nodes, up to 10^6 edges. O(m log m): the sort takes most of it.
"""
import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from structperc.core.arguments import edge_array, flag, real_array, whole_number
from structperc.core.errors import DataError
from structperc.core.stopping import raise_interruption
from structperc.core.stopping cimport interrupted


cdef inline int64_t found_root(int64_t *parent, int64_t v) noexcept nogil:
    """The node that stands for the tree of v, with paths halved."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


cdef Py_ssize_t kruskal(const int64_t *edges, const double *scores, const int64_t *order, Py_ssize_t n_edges, Py_ssize_t n_nodes,
                        double least, int64_t *parent, unsigned char *chosen) noexcept nogil:
    """Takes each edge of a score above `least` that closes no cycle, in this order; how many, or -1 where interrupted."""
    cdef Py_ssize_t i, n_chosen = 0
    cdef int64_t u, v, e
    for i in range(n_nodes):
        parent[i] = i
    for i in range(n_edges):
        if interrupted(16):
            return -1
        e = order[i]
        if not scores[e] > least or n_chosen == n_nodes - 1:
            break
        u, v = found_root(parent, edges[2 * e]), found_root(parent, edges[2 * e + 1])
        if u != v:
            parent[max(u, v)] = min(u, v)
            chosen[e] = 1
            n_chosen += 1
    return n_chosen


def max_spanning_tree(edges, scores, n_nodes, forest=False):
    """Maximum spanning tree or forest of an undirected graph (Kruskal's algorithm).

    Ties: edges that come first in the input win. Cost: O(m log m) for m edges.
    For the minimum spanning tree, negate the costs. Parallel edges count separately; a loop is never chosen.

    Parameters
    ----------
    edges : int array of shape (n_edges, 2)
        Nodes of each edge, numbered from 0.
    scores : array of shape (n_edges,)
        Score of each edge; -inf forbids an edge.
    n_nodes : int
        Number of nodes.
    forest : bool, default False
        True: the best set of edges without cycles. Then only edges of positive score are chosen, and the graph need not be connected.

    Returns
    -------
    chosen : int64 array
        Rising numbers of the chosen edges.
    total : float
        The sum of their scores.

    Raises
    ------
    DataError
        If a score is NaN or +inf, an edge is invalid, or the graph is not connected. The message names the edge or a part.

    See Also
    --------
    structperc.solvers.arborescence_sums.arborescence_marginals : log Z and marginals. Use any node as the root and score both directions
    of an edge equally.

    References
    ----------
    J. B. Kruskal: On the shortest spanning subtree of a graph and the traveling salesman problem. Proceedings of the American
    Mathematical Society 7, pages 48-50, 1956.

    Examples
    --------
    >>> from structperc.solvers.spanning_trees import max_spanning_tree
    >>> chosen, total = max_spanning_tree([[0, 1], [1, 2], [0, 2]], [3, -1, 2], n_nodes=3)
    >>> chosen.tolist(), total
    ([0, 2], 5.0)
    """
    cdef Py_ssize_t nodes = whole_number(n_nodes, "n_nodes"), n_edges, n_chosen
    ends = edge_array(edges, nodes, loops=True)
    n_edges = len(ends)
    values = real_array(scores, "scores", (n_edges,))
    forest = flag(forest, "forest")
    cdef int64_t[:, ::1] pairs = np.zeros((n_edges + 1, 2), dtype=np.int64)
    cdef int64_t[::1] order = np.zeros(n_edges + 1, dtype=np.int64), parent = np.zeros(nodes + 1, dtype=np.int64)
    cdef double[::1] value = np.append(values, 0.0)
    cdef unsigned char[::1] chosen = np.zeros(n_edges + 1, dtype=np.uint8)
    cdef double least = 0 if forest else -INFINITY
    np.asarray(pairs)[:n_edges] = ends
    np.asarray(order)[:n_edges] = np.argsort(-values, kind="stable")
    with nogil:
        n_chosen = kruskal(&pairs[0, 0], &value[0], &order[0], n_edges, nodes, least, &parent[0], &chosen[0])
    if n_chosen < 0:
        raise_interruption()
    if not forest and n_chosen < nodes - 1:
        part = [v for v in range(nodes) if found_root(&parent[0], v) == 0]
        raise DataError(f"no edge with a score above -inf joins the {len(part)} nodes {', '.join(map(str, part[:20]))}"
                        f"{', ...' if len(part) > 20 else ''} with the others. Add one, or pass forest=True.")
    taken = np.flatnonzero(np.asarray(chosen)[:n_edges])
    return taken, float(values[taken].sum())
