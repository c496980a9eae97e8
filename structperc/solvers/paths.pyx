"""Paths between two nodes: of largest score through an acyclic graph, by dynamic programming in O(arcs); of least cost through any graph.

Provisional: it may change in any minor version.

Typical sizes: 10..1000 nodes, 20..10^5 arcs, an example at a time; about 10 ns per arc.
"""
import numpy as np

from libc.math cimport INFINITY, exp, log1p
from structperc.basics.arguments import COSTS, MOST, SCORES, flag, how_many, real_array, whole_array, whole_number
from structperc.basics.errors import DataError
from structperc.basics.signals cimport interrupted
from structperc.basics.signals import raise_interruption
from structperc.solvers.ranked_paths import RankedPaths

cdef enum:
    CYCLE = -1
    UNREACHED = -2
    INTERRUPTED = -3
    ARC = 32                    # operations: the nodes of large graphs are far apart in memory
    OFTEN = 1 << 16             # arcs between two questions whether to stop


cdef double LOG_2 = 0.6931471805599453


cdef int in_order(const int *tails, const int *heads, Py_ssize_t n_arcs, int n_nodes, int *first, int *arcs, int *order) noexcept nogil:
    """Arcs by their tails and nodes in topological order. Returns the number of these, fewer than n_nodes for a cycle, or INTERRUPTED."""
    # `first`: n_nodes + 1 numbers, arcs of node u are arcs[first[u]:first[u + 1]], in rising order. `order`: n_nodes numbers. `arcs`:
    # n_arcs numbers and n_nodes more, the arcs into each node that are left.
    cdef int *left = arcs + n_arcs
    cdef Py_ssize_t a
    cdef Py_ssize_t since = 0
    cdef int u, done = 0, n = 0
    for u in range(n_nodes + 1):
        first[u] = 0
    for u in range(n_nodes):
        left[u] = 0
    for a in range(n_arcs):
        first[tails[a] + 1] += 1
        left[heads[a]] += 1
        if a % OFTEN == OFTEN - 1 and interrupted(ARC * OFTEN):
            return INTERRUPTED
    for u in range(n_nodes):
        first[u + 1] += first[u]
    for a in range(n_arcs - 1, -1, -1):         # fills each node's part from its end, which moves first[u + 1] to its beginning
        first[tails[a] + 1] -= 1
        arcs[first[tails[a] + 1]] = <int> a
        if a % OFTEN == OFTEN - 1 and interrupted(ARC * OFTEN):
            return INTERRUPTED
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
        since += first[u + 1] - first[u] + 1
        if since > OFTEN:
            if interrupted(ARC * since):
                return INTERRUPTED
            since = 0
    return n


cdef int best_path_c(const int *tails, const int *heads, const double *scores, Py_ssize_t n_arcs, int n_nodes, int start, int end,
                     int *work, double *best, int *path) noexcept nogil:
    """Writes the arcs of the best path in order. Returns their number, -1 for a cycle, -2 if no path leads to the end, -3 if interrupted.

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
    cdef int u, v, a, k, i, n = in_order(tails, heads, n_arcs, n_nodes, first, arcs, order)
    cdef Py_ssize_t since = 0
    cdef double score
    if n < n_nodes:
        return n if n == INTERRUPTED else CYCLE
    n = 0
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
        since += first[u + 1] - first[u] + 1
        if since > OFTEN:
            if interrupted(ARC * since):
                return INTERRUPTED
            since = 0
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
    """The path with the largest score through an acyclic graph.

    Ties: of equal paths, the one whose last arc has the lowest number, then the arc before. Cost: O(m) for m arcs.

    Parameters
    ----------
    tails, heads : array-like of int of shape (n_arcs,)
        Nodes, numbered from 0, that each arc leads from and to. Several arcs may join the same nodes.
    scores : array-like of shape (n_arcs,)
        Scores of any sign; -inf forbids an arc.
    start : int
        First node.
    end : int
        Last node.

    Returns
    -------
    arcs : int array
        The path's arcs in order; empty if `start` is `end`.
    best : float64 array of shape (n_nodes,)
        Largest score of a path from the start to each node; -inf if there is none. These potentials prove the path optimal:
        best[head] >= best[tail] + score for every arc.

    Raises
    ------
    DataError
        If a score is NaN or +inf, or the graph has a cycle. Also if no path leads to the end. The message names the nodes of a cycle.

    See Also
    --------
    cheapest_path : any graph with nonnegative costs.
    k_best_paths : the k best paths.
    path_marginals : probabilities of arcs.

    References
    ----------
    T. H. Cormen, C. E. Leiserson, R. L. Rivest and C. Stein: Introduction to Algorithms, third edition, section 24.2. MIT Press, 2009.

    Examples
    --------
    >>> from structperc.solvers.paths import best_path
    >>> arcs, best = best_path([0, 0, 1, 2], [1, 2, 3, 3], [1.0, 2.0, 1.5, 0.4], 0, 3)
    >>> arcs.tolist(), best.tolist()
    ([0, 2], [0.0, 1.0, 2.0, 2.5])
    """
    tails, heads, scores, start, end, n = read_graph(tails, heads, scores, start, end)
    return path_in(tails, heads, scores, start, end, n)


def path_in(const int[::1] tails, const int[::1] heads, const double[::1] scores, int start, int end, int n):
    """`best_path` of arguments that `read_graph` has checked."""
    cdef Py_ssize_t m = tails.shape[0]
    cdef double[::1] best = np.empty(n)
    cdef int[::1] work = np.empty(m + 4 * <Py_ssize_t> n + 1, dtype=np.intc), path = np.empty(n, dtype=np.intc)
    cdef int length
    with nogil:
        length = best_path_c(&tails[0] if m else NULL, &heads[0] if m else NULL, &scores[0] if m else NULL, m, n, start, end, &work[0],
                             &best[0], &path[0])
    if length == INTERRUPTED:
        raise_interruption()
    if length == CYCLE:
        raise cycle_in(tails, heads, n)
    if length == UNREACHED:
        raise DataError(f"no path leads from node {start} to node {end}.")
    return np.asarray(path)[:length], np.asarray(best)


def topological_order(tails, heads, n_nodes):
    """The nodes of an acyclic graph in an order in which every arc leads forward. Returns an int array of shape (n_nodes,).
    Raises `DataError` if the graph has a cycle. The message names its nodes.

    Parameters
    ----------
    tails, heads : int arrays of shape (n_arcs,)
        Nodes that each arc leads from and to.
    n_nodes : int
        Number of nodes.

    Examples
    --------
    >>> from structperc.solvers.paths import topological_order
    >>> import numpy as np
    >>> np.asarray(topological_order(np.array([1, 0], dtype=np.int32), np.array([2, 1], dtype=np.int32), 3)).tolist()
    [0, 1, 2]
    """
    cdef int n = whole_number(n_nodes, "n_nodes")
    cdef const int[::1] from_nodes = whole_array(tails, "tails", ("n_arcs",), high=n - 1)
    cdef Py_ssize_t m = from_nodes.shape[0]
    cdef const int[::1] to_nodes = whole_array(heads, "heads", (m,), high=n - 1)
    cdef int[::1] first = np.empty(n + 1, dtype=np.intc), arcs = np.empty(m + n + 1, dtype=np.intc), order = np.empty(n + 1, dtype=np.intc)
    cdef int ordered = in_order(&from_nodes[0] if m else NULL, &to_nodes[0] if m else NULL, m, n, &first[0], &arcs[0], &order[0])
    if ordered == INTERRUPTED:
        raise_interruption()
    if ordered < n:
        raise cycle_in(from_nodes, to_nodes, n)
    return np.asarray(order)[:n]


def cheapest_path(tails, heads, costs, start, end):
    """Shortest path: the path of least cost through any graph with nonnegative costs (Dijkstra).

    Ties: scipy's `dijkstra` chooses. Cost: O((n + m) log n) for n nodes and m arcs.
    Raises `DataError` if a cost is negative or NaN, or no path leads to the end.
    See also `best_path` (acyclic graphs with scores of any sign).

    Parameters
    ----------
    tails, heads : array-like of int of shape (n_arcs,)
        As in `best_path`; cycles are allowed.
    costs : array-like of shape (n_arcs,)
        Costs, at least 0; inf forbids an arc.
    start : int
        First node.
    end : int
        Last node.

    Returns
    -------
    arcs : int array
        The path's arcs in order.
    distances : float64 array of shape (n_nodes,)
        Least cost of a path from the start to each node; inf if there is none. They prove the path optimal:
        distance[head] <= distance[tail] + cost for every arc.

    References
    ----------
    E. W. Dijkstra: A note on two problems in connexion with graphs. Numerische Mathematik 1, pages 269-271, 1959.

    Examples
    --------
    >>> from structperc.solvers.paths import cheapest_path
    >>> arcs, distances = cheapest_path([0, 1, 1, 2], [1, 0, 2, 1], [1.0, 0.0, 2.0, 0.5], 0, 2)
    >>> arcs.tolist(), distances.tolist()
    ([0, 2], [0.0, 1.0, 3.0])
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    tails, heads, costs, start, end, n = read_graph(tails, heads, costs, start, end, "costs", COSTS)
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
    """The k paths with the largest scores through an acyclic graph, best first.

    The first path is that of `best_path`. Ties: of equal paths, the one whose last arc has the lowest number. With the same last arc, the
    one whose rest comes first. Cost: O(m + k L log m) time for m arcs and paths of at most L arcs. Ctrl-C stops the search.
    Returns a list of (tuple of int, float). Arcs and score of each path. Fewer than k if there are fewer paths.
    Raises `DataError` as in `best_path`. Raises `OptionError` if k is not a whole number from 1.

    Parameters
    ----------
    tails, heads : array-like of int of shape (n_arcs,)
        As in `best_path`.
    scores : array-like of shape (n_arcs,)
        As in `best_path`.
    start : int
        First node.
    end : int
        Last node.
    k : int
        Number of paths, at least 1.

    Notes
    -----
    The recursive enumeration algorithm computes a further path to a node only if a path through that node needs it.
    Memory is O(m + k L), at most about 0.2 kB for each arc of each path.

    References
    ----------
    V. M. Jiménez and A. Marzal: Computing the K shortest paths: a new algorithm and an experimental comparison. Proceedings of WAE, pages
    15-29, 1999.

    Examples
    --------
    >>> from structperc.solvers.paths import k_best_paths
    >>> k_best_paths([0, 0, 1, 2], [1, 2, 3, 3], [1.0, 2.0, 1.5, 0.4], 0, 3, k=5)
    [((0, 2), 2.5), ((1, 3), 2.4)]
    """
    k = how_many(k)
    tails, heads, scores, start, end, n = read_graph(tails, heads, scores, start, end)
    paths = RankedPaths(tails, heads, scores, start, path_in(tails, heads, scores, start, end, n)[1])
    n_paths = 1
    while n_paths < k and paths.add_one(end):
        n_paths += 1
    return [paths.path(end, rank) for rank in range(n_paths)]


def path_marginals(tails, heads, scores, start, end):
    """Log partition function of all paths through an acyclic graph, and the probability of each arc.

    A path has a probability proportional to exp(score). Cost: O(m) for m arcs, by sums forward and backward in the log domain.
    Raises `DataError` as in `best_path`.

    Parameters
    ----------
    tails, heads : array-like of int of shape (n_arcs,)
        As in `best_path`.
    scores : array-like of shape (n_arcs,)
        As in `best_path`.
    start : int
        First node.
    end : int
        Last node.

    Returns
    -------
    log_z : float
        Log of the sum of exp(score) over all paths.
    marginals : float64 array of shape (n_arcs,)
        Probability of each arc.

    Examples
    --------
    >>> from structperc.solvers.paths import path_marginals
    >>> log_z, marginals = path_marginals([0, 0, 1, 2], [1, 2, 3, 3], [0.0, 0.0, 0.0, 0.0], 0, 3)
    >>> round(log_z, 4), marginals.tolist()
    (0.6931, [0.5, 0.5, 0.5, 0.5])
    """
    tails, heads, scores, start, end, n = read_graph(tails, heads, scores, start, end)
    path_in(tails, heads, scores, start, end, n)        # raises an error if there is no path
    order = topological_order(tails, heads, n)
    place = np.empty(n, dtype=np.intp)
    place[order] = np.arange(n)
    sums, visited, marginals = np.full(n, -np.inf), np.zeros(n), np.zeros(len(scores))
    sums[start], visited[end] = 0, 1
    sum_along(np.argsort(place[tails], kind="stable"), tails, heads, scores, sums)
    share_out(np.argsort(-place[heads], kind="stable"), tails, heads, scores, sums, visited, marginals)
    return float(sums[end]), marginals


cdef sum_along(const Py_ssize_t[::1] arcs, const int[::1] begins, const int[::1] ends, const double[::1] scores, double[::1] sums):
    """Adds up exp(score) of all ways in the log domain, arc by arc; `sums` has those to each node."""
    cdef Py_ssize_t i, a
    cdef double way, total
    with nogil:
        for i in range(arcs.shape[0]):
            a = arcs[i]
            way, total = sums[begins[a]] + scores[a], sums[ends[a]]
            if way == total:
                sums[ends[a]] = total + LOG_2
            elif way > total:
                sums[ends[a]] = way + log1p(exp(total - way))
            else:
                sums[ends[a]] = total + log1p(exp(way - total))
            if i % OFTEN == OFTEN - 1 and interrupted(ARC * OFTEN):
                break
    raise_interruption()


cdef share_out(const Py_ssize_t[::1] arcs, const int[::1] tails, const int[::1] heads, const double[::1] scores, const double[::1] sums,
               double[::1] visited, double[::1] marginals):
    """From the end on, each node's probability, divided among its arcs in proportion to their ways."""
    # Not exp(forward + score + backward - log Z), whose rounding grows with the scores: shares add up to 1 at any size.
    cdef double[::1] totals = np.zeros(sums.shape[0])
    cdef Py_ssize_t i, a
    with nogil:
        for a in range(arcs.shape[0]):
            if sums[heads[a]] > -INFINITY:
                marginals[a] = exp((sums[tails[a]] + scores[a]) - sums[heads[a]])
                totals[heads[a]] += marginals[a]
        for i in range(arcs.shape[0]):
            a = arcs[i]
            if marginals[a] > 0:
                marginals[a] *= visited[heads[a]] / totals[heads[a]]
                visited[tails[a]] += marginals[a]
            if i % OFTEN == OFTEN - 1 and interrupted(ARC * OFTEN):
                break
    raise_interruption()


def grid_graph(n_rows, n_columns, diagonal=False):
    """Tails and heads of the arcs of an acyclic grid whose nodes are numbered row by row.

    Order: arcs to the right, row by row, then down, then diagonally down to the right.

    Parameters
    ----------
    n_rows : int
        Rows of the grid.
    n_columns : int
        Columns of the grid.
    diagonal : bool, default False
        Add diagonal arcs.

    Returns
    -------
    tails, heads : int arrays of shape (n_arcs,)

    Examples
    --------
    >>> from structperc.solvers.paths import grid_graph
    >>> tails, heads = grid_graph(2, 2)
    >>> tails.tolist(), heads.tolist()
    ([0, 2, 0, 1], [1, 3, 2, 3])
    """
    nodes = grid_nodes(n_rows, n_columns)
    pairs = [(nodes[:, :-1], nodes[:, 1:]), (nodes[:-1], nodes[1:])] + [(nodes[:-1, :-1], nodes[1:, 1:])] * flag(diagonal, "diagonal")
    return np.concatenate([tail.ravel() for tail, _ in pairs]), np.concatenate([head.ravel() for _, head in pairs])


def grid_nodes(n_rows, n_columns):
    """The numbers of the nodes of a grid, row by row, an int32 array of shape (n_rows, n_columns)."""
    n_rows, n_columns = whole_number(n_rows, "n_rows"), whole_number(n_columns, "n_columns")
    if n_rows * n_columns > MOST:
        raise DataError(f"a grid of {n_rows} rows and {n_columns} columns has {n_rows * n_columns} nodes; expected at most {MOST}.")
    return np.arange(n_rows * n_columns, dtype=np.intc).reshape(n_rows, n_columns)


def read_graph(tails, heads, scores, start, end, name="scores", policy=SCORES):
    """Checked arcs as int32 arrays that nobody else changes, scores as float64, start and end, and the number of nodes."""
    tails = whole_array(tails, "tails", ("n_arcs",))
    heads = whole_array(heads, "heads", tails.shape)
    scores = real_array(scores, name, tails.shape, policy)
    start, end = whole_number(start, "start"), whole_number(end, "end")
    return tails, heads, scores, start, end, max(start, end, last_node(tails), last_node(heads)) + 1


cdef int last_node(const int[::1] nodes) noexcept:
    cdef Py_ssize_t a
    cdef int last = 0
    for a in range(nodes.shape[0]):
        last = max(last, nodes[a])
    return last


def cycle_in(tails, heads, n):
    """An error that names the nodes of a cycle: from a node on it, each node's arc into it is followed back."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    tails, heads = np.asarray(tails), np.asarray(heads)
    part = connected_components(csr_array((np.ones(len(tails)), (tails, heads)), shape=(n, n)), connection="strong")[1]
    inside = part[tails] == part[heads]                 # an arc that a cycle goes through
    nodes = np.flatnonzero(part == part[tails[inside][0]])
    listing = ", ".join(map(str, nodes[:8].tolist())) + (", ..." if len(nodes) > 8 else "")
    return DataError(f"the graph has a cycle among the nodes {listing}; expected an acyclic one, or costs from 0 for cheapest_path.")


__all__ = ["best_path", "cheapest_path", "grid_graph", "k_best_paths", "path_marginals", "topological_order"]
