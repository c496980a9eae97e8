"""Paths between two nodes: of largest score through an acyclic graph, by dynamic programming in O(arcs); of least cost through any graph.

Typical sizes: 10..1000 nodes, 20..10^5 arcs, an example at a time; about 10 ns per arc.
"""
import numpy as np

from libc.math cimport INFINITY
from structperc.core.errors import DataError

cdef enum:
    CYCLE = -1
    UNREACHED = -2


cdef int in_order(const int *tails, const int *heads, Py_ssize_t n_arcs, int n_nodes, int *first, int *arcs, int *order) noexcept nogil:
    """Arcs by their tails and nodes in topological order; returns how many nodes are in it: fewer than n_nodes where there is a cycle.

    `first`: n_nodes + 1 numbers, arcs of node u are arcs[first[u]:first[u + 1]], in rising order. `order`: n_nodes numbers.
    `arcs`: n_arcs numbers and n_nodes more, the arcs into each node that are left.
    """
    cdef int *left = arcs + n_arcs
    cdef Py_ssize_t a
    cdef int u, done = 0, n = 0
    for u in range(n_nodes + 1):
        first[u] = 0
    for u in range(n_nodes):
        left[u] = 0
    for a in range(n_arcs):
        first[tails[a] + 1] += 1
        left[heads[a]] += 1
    for u in range(n_nodes):
        first[u + 1] += first[u]
    for a in range(n_arcs - 1, -1, -1):         # fills each node's part from its end, which moves first[u + 1] to its beginning
        first[tails[a] + 1] -= 1
        arcs[first[tails[a] + 1]] = <int> a
    for u in range(n_nodes):                    # first[u + 1] is where u begins: back to where u ends
        first[u] = first[u + 1]
    first[n_nodes] = <int> n_arcs
    for u in range(n_nodes):
        if left[u] == 0:
            order[n] = u
            n += 1
    while done < n:
        u = order[done]
        done += 1
        for a in range(first[u], first[u + 1]):
            left[heads[arcs[a]]] -= 1
            if left[heads[arcs[a]]] == 0:
                order[n] = heads[arcs[a]]
                n += 1
    return n


cdef int best_path_c(const int *tails, const int *heads, const double *scores, Py_ssize_t n_arcs, int n_nodes, int start, int end,
                     int *work, double *best, int *path) noexcept nogil:
    """Writes the arcs of the best path in order; returns how many, -1 for a cycle, -2 where no path leads to the end.

    Parameters
    ----------
    work : n_arcs + 4 * n_nodes + 1 numbers
    best : n_nodes numbers
        Receives the largest score of a path from the start to each node, -inf where there is none: the potentials.
    path : n_nodes numbers
    """
    cdef int *first = work
    cdef int *order = first + n_nodes + 1
    cdef int *into = order + n_nodes            # the last arc of the best path to each node
    cdef int *arcs = into + n_nodes
    cdef int u, v, a, k, i, n = 0
    cdef double score
    if in_order(tails, heads, n_arcs, n_nodes, first, arcs, order) < n_nodes:
        return CYCLE
    for u in range(n_nodes):
        best[u] = -INFINITY
        into[u] = -1
    best[start] = 0
    for i in range(n_nodes):
        u = order[i]
        if best[u] == -INFINITY:
            continue
        for k in range(first[u], first[u + 1]):
            a = arcs[k]
            v, score = heads[a], best[u] + scores[a]
            if score > best[v] or score == best[v] and score > -INFINITY and a < into[v]:
                best[v], into[v] = score, a
    if best[end] == -INFINITY:
        return UNREACHED
    while end != start:
        path[n] = into[end]
        n += 1
        end = tails[into[end]]
    for i in range(n // 2):
        path[i], path[n - 1 - i] = path[n - 1 - i], path[i]
    return n


def best_path(tails, heads, scores, start, end):
    """The path of largest score through an acyclic graph.

    Parameters
    ----------
    tails, heads : array-like of int, shape (n_arcs,)
        The nodes that each arc leads from and to, by numbers from 0. Several arcs may join the same nodes.
    scores : array-like of shape (n_arcs,)
        Of any sign; -inf forbids an arc.
    start, end : int

    Returns
    -------
    arcs : int array
        The path's arcs in order; empty where start is end. Of equal paths that whose last arc has the lowest number, then the one before.
    best : float64 array of shape (n_nodes,)
        The potentials, which prove it: the largest score of a path from the start to each node, so best[head] >= best[tail] + score for
        every arc; -inf where no path leads.

    Raises
    ------
    DataError
        For NaN or +inf, for a graph with a cycle, whose nodes it names, and where no path leads to the end.

    Examples
    --------
    >>> from structperc.solvers.paths import best_path
    >>> arcs, best = best_path([0, 0, 1, 2], [1, 2, 3, 3], [1.0, 2.0, 1.5, 0.4], 0, 3)
    >>> arcs.tolist(), best.tolist()
    ([0, 2], [0.0, 1.0, 2.0, 2.5])
    """
    tails, heads, scores, n = read_graph(tails, heads, scores, start, end)
    cdef int[::1] from_nodes = tails, to_nodes = heads
    cdef double[::1] s = scores, best = np.empty(n)
    cdef int[::1] work = np.empty(len(tails) + 4 * n + 1, dtype=np.intc), path = np.empty(n, dtype=np.intc)
    cdef Py_ssize_t m = len(tails)
    cdef int first = start, last = end, found, n_nodes = n
    with nogil:
        found = best_path_c(&from_nodes[0] if m else NULL, &to_nodes[0] if m else NULL, &s[0] if m else NULL, m, n_nodes, first, last,
                            &work[0], &best[0], &path[0])
    if found == CYCLE:
        raise cycle_in(tails, heads, n)
    if found == UNREACHED:
        raise DataError(f"no path leads from node {start} to node {end}.")
    return np.asarray(path)[:found], np.asarray(best)


def topological_order(tails, heads, n_nodes):
    """The nodes 0..n_nodes - 1 in an order in which every arc leads forward; a DataError names the nodes of a cycle."""
    tails, heads = np.ascontiguousarray(tails, dtype=np.intc), np.ascontiguousarray(heads, dtype=np.intc)
    cdef int[::1] from_nodes = tails, to_nodes = heads
    cdef Py_ssize_t m = len(tails)
    cdef int n = n_nodes
    cdef int[::1] first = np.empty(n + 1, dtype=np.intc), arcs = np.empty(m + n + 1, dtype=np.intc), order = np.empty(n + 1, dtype=np.intc)
    if in_order(&from_nodes[0] if m else NULL, &to_nodes[0] if m else NULL, m, n, &first[0], &arcs[0], &order[0]) < n:
        raise cycle_in(tails, heads, n)
    return np.asarray(order)[:n]


def cheapest_path(tails, heads, costs, start, end):
    """The path of least cost through any graph, cycles included, by scipy's `dijkstra`.

    Parameters
    ----------
    tails, heads, start, end
        As in `best_path`.
    costs : array-like of shape (n_arcs,)
        At least 0; inf forbids an arc.

    Returns
    -------
    arcs : int array
    distances : float64 array of shape (n_nodes,)
        The least cost of a path from the start to each node, inf where none leads: distance[head] <= distance[tail] + cost proves it.

    Raises
    ------
    DataError
        For a negative cost, and where no path leads to the end.

    Examples
    --------
    >>> from structperc.solvers.paths import cheapest_path
    >>> arcs, distances = cheapest_path([0, 1, 1, 2], [1, 0, 2, 1], [1.0, 0.0, 2.0, 0.5], 0, 2)
    >>> arcs.tolist(), distances.tolist()
    ([0, 2], [0.0, 1.0, 3.0])
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    tails, heads, scores, n = read_graph(tails, heads, -np.asarray(costs, dtype=float), start, end)
    costs = -scores
    if (costs < 0).any():
        a = int(np.argmax(costs < 0))
        raise DataError(f"the cost of arc {a} is {costs[a]}; expected costs from 0. best_path takes any through an acyclic graph.")
    order = np.lexsort((np.arange(len(costs)), costs, heads, tails))
    order = order[costs[order] < np.inf]
    joined = np.stack([tails[order], heads[order]])
    cheapest = order                                    # of arcs that join the same nodes
    if len(order):
        cheapest = order[np.append(True, (np.diff(joined, axis=1) != 0).any(axis=0))]
    graph = csr_array((costs[cheapest], (tails[cheapest], heads[cheapest])), shape=(n, n))
    distances, before = dijkstra(graph, indices=start, return_predecessors=True)
    if distances[end] == np.inf:
        raise DataError(f"no path leads from node {start} to node {end}.")
    arc_between, arcs = dict(zip(zip(tails[cheapest].tolist(), heads[cheapest].tolist()), cheapest.tolist())), []
    while end != start:
        arcs.append(arc_between[int(before[end]), int(end)])
        end = before[end]
    return np.array(arcs[::-1], dtype=np.intc), distances


def k_best_paths(tails, heads, scores, start, end, k):
    """The k paths of largest score through an acyclic graph, best first, as (arcs, score); fewer where there are fewer; O(k m log k).

    The first is what `best_path` finds; parameters as there.
    """
    first, _ = best_path(tails, heads, scores, start, end)
    tails, heads, scores, n = read_graph(tails, heads, scores, start, end)
    leaving = [[] for _ in range(n)]
    for a, tail in enumerate(tails.tolist()):
        if scores[a] > -np.inf:
            leaving[tail].append(a)
    ranked = [[] for _ in range(n)]
    ranked[start].append((0.0, ()))
    for u in topological_order(tails, heads, n).tolist():
        ranked[u] = sorted(ranked[u], key=lambda found: (-found[0], found[1][::-1]))[:k]
        for a in leaving[u]:
            ranked[heads[a]].extend((score + scores[a], (*arcs, a)) for score, arcs in ranked[u])
    found = [(arcs, float(score)) for score, arcs in ranked[end]]
    best = tuple(first.tolist())
    return sorted(found, key=lambda path: path[0] != best)[:k]


def path_marginals(tails, heads, scores, start, end):
    """log Z over all paths through an acyclic graph, and how probable each arc is where p(path) is proportional to exp(score).

    Returns
    -------
    log_z : float
    marginals : float64 array of shape (n_arcs,)

    Notes
    -----
    Sums forward and backward in the log domain, O(m); parameters and errors as in `best_path`.
    """
    best_path(tails, heads, scores, start, end)         # refuses what has no path
    tails, heads, scores, n = read_graph(tails, heads, scores, start, end)
    order = topological_order(tails, heads, n)
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n)
    forward, backward = np.full(n, -np.inf), np.full(n, -np.inf)
    forward[start] = backward[end] = 0
    for a in np.argsort(place[tails], kind="stable").tolist():
        forward[heads[a]] = np.logaddexp(forward[heads[a]], forward[tails[a]] + scores[a])
    for a in np.argsort(-place[heads], kind="stable").tolist():
        backward[tails[a]] = np.logaddexp(backward[tails[a]], backward[heads[a]] + scores[a])
    return float(forward[end]), np.exp(forward[tails] + scores + backward[heads] - forward[end])


def grid_graph(n_rows, n_columns, diagonal=False):
    """Tails and heads of the arcs right and down, and diagonally between them, of a grid whose nodes are numbered row by row: acyclic.

    Arcs to the right come first, row by row, then those down, then diagonal ones.
    """
    nodes = np.arange(n_rows * n_columns, dtype=np.intc).reshape(n_rows, n_columns)
    pairs = [(nodes[:, :-1], nodes[:, 1:]), (nodes[:-1], nodes[1:])] + [(nodes[:-1, :-1], nodes[1:, 1:])] * bool(diagonal)
    return np.concatenate([tail.ravel() for tail, _ in pairs]), np.concatenate([head.ravel() for _, head in pairs])


def read_graph(tails, heads, scores, start, end):
    """Checked arcs as int32 arrays, scores as float64, and the number of nodes."""
    try:
        tails, heads = (np.asarray(nodes) for nodes in (tails, heads))
        scores = np.ascontiguousarray(scores, dtype=float)
    except (TypeError, ValueError):
        raise DataError("tails, heads or scores are no arrays of numbers.") from None
    if tails.ndim != 1 or not tails.shape == heads.shape == scores.shape:
        raise DataError(f"tails, heads and scores have the shapes {tails.shape}, {heads.shape} and {scores.shape}; expected one of each "
                        f"for an arc.")
    nodes = np.concatenate([tails, heads, [start, end]])
    if (nodes != np.floor(nodes)).any() or nodes.min() < 0 or nodes.max() >= 2**31 - 1:
        raise DataError("nodes must be whole numbers from 0.")
    bad = ~(scores < np.inf)
    if bad.any():
        a = int(np.argmax(bad))
        raise DataError(f"the score of arc {a} is {scores[a]}; expected a finite number, or -inf to forbid it.")
    return np.ascontiguousarray(tails, dtype=np.intc), np.ascontiguousarray(heads, dtype=np.intc), scores, int(nodes.max()) + 1


def cycle_in(tails, heads, n):
    """An error that names the nodes of a cycle: from a node on it, each node's arc into it is followed back."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    part = connected_components(csr_array((np.ones(len(tails)), (tails, heads)), shape=(n, n)), connection="strong")[1]
    inside = part[tails] == part[heads]                 # an arc that a cycle goes through
    nodes = np.flatnonzero(part == part[tails[inside][0]])
    shown = ", ".join(map(str, nodes[:8].tolist())) + (", ..." if len(nodes) > 8 else "")
    return DataError(f"the graph has a cycle among the nodes {shown}; expected an acyclic one, or costs from 0 for cheapest_path.")


__all__ = ["best_path", "cheapest_path", "grid_graph", "k_best_paths", "path_marginals", "topological_order"]
