# Labels of the nodes of a forest with scores of labels and of pairs: the best ones, log Z and marginals, by dynamic programming.
#
# Messages go from the leaves to the roots. Then labels, or probabilities conditional on those of the parent, go from the roots down.
#
# Typical sizes: 10 to 10^6 nodes, 2 to 50 labels. O(n K^2): about 1 ns an entry of the pair tables for the best labels, 10 for marginals.

cdef enum:
    OFTEN = 1 << 16             # operations between two questions whether to stop


cdef class Forest:
    """A graph without cycles, for exact labelling and marginals by dynamic programming.
    See also `structperc.solvers.pairwise_models.PairwiseModel` (graphs with cycles).

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    edges : int array of shape (n_edges, 2)
        Nodes of each edge, numbered from 0.

    Attributes
    ----------
    acyclic : bool
        Whether the graph has no cycle. If it has one, the methods raise DataError.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.solvers.minimum_cuts import Forest
    >>> forest = Forest(3, [[0, 1], [1, 2]])
    >>> same = np.eye(2)[None].repeat(2, axis=0)
    >>> forest.best_labels(np.array([[0.0, 3.0], [0.5, 0.0], [1.0, 0.0]]), same).tolist()
    [1, 0, 0]
    """

    __signature__ = ClassSignature()

    cdef readonly Py_ssize_t n_nodes, n_edges
    cdef readonly bint acyclic
    cdef readonly object edges
    cdef int[::1] order             # a parent comes before its children
    cdef int[::1] parent            # -1: a root, which is the lowest node of its tree
    cdef int[::1] above             # the edge to the parent
    cdef signed char[::1] turned    # whether that edge is listed as (node, parent)

    def __init__(self, n_nodes, edges):
        cdef Py_ssize_t n = whole_number(n_nodes, "n_nodes"), e, i, filled = 0, done = 0
        cdef const int[:, ::1] ends = edge_array(edges, n)
        cdef Py_ssize_t m = ends.shape[0]
        cdef int[::1] first = np.zeros(n + 2, dtype=np.intc), leaving = np.empty(2 * m + 1, dtype=np.intc)
        cdef int root, u, v
        self.n_nodes, self.n_edges, self.edges = n, m, np.asarray(ends)
        self.order, self.parent, self.above = (np.empty(n + 1, dtype=np.intc) for _ in range(3))
        self.turned = np.zeros(n + 1, dtype=np.int8)
        if m >= n:
            self.acyclic = n == 0
            return
        for e in range(m):
            first[ends[e, 0] + 2] += 1
            first[ends[e, 1] + 2] += 1
        for v in range(n):
            first[v + 2] += first[v + 1]
        for e in range(m):                  # fills each node's edges, which moves first[v + 1] from their begin to their end
            for i in range(2):
                v = ends[e, i]
                leaving[first[v + 1]] = <int> e
                first[v + 1] += 1
        for v in range(n):
            self.parent[v] = -2
        for root in range(n):
            if self.parent[root] != -2:
                continue
            self.parent[root] = self.above[root] = -1
            self.order[filled] = root
            filled += 1
            while done < filled:
                u = self.order[done]
                done += 1
                for i in range(first[u], first[u + 1]):
                    e = leaving[i]
                    if e == self.above[u]:
                        continue
                    v = ends[e, 0] if ends[e, 1] == u else ends[e, 1]
                    if self.parent[v] != -2:
                        return
                    self.parent[v], self.above[v], self.turned[v] = u, <int> e, ends[e, 0] == v
                    self.order[filled] = v
                    filled += 1
        self.acyclic = True

    def __reduce__(self):
        return Forest, (self.n_nodes, self.edges)

    def best_labels(self, unary, pairs):
        """The labels with the largest score (max-product). Returns an int array of shape (n_nodes,).

        Ties: the lowest label wins, from the lowest node of each tree on. Cost: O(m K^2) for m edges and K labels.

        Parameters
        ----------
        unary : array-like of shape (n_nodes, n_labels)
            Scores of labels; -inf forbids a label.
        pairs : array-like of shape (n_edges, n_labels, n_labels), or (n_labels, n_labels) or (1, n_labels, n_labels) for all edges
            Scores by the labels of an edge's first and second node; -inf forbids a pair.

        Raises
        ------
        DataError
            If a score is NaN or +inf, a shape is wrong, or the graph has a cycle. Also if a node has no label left. The message names the
            node.
        """
        return self.labels_of(*read_tables(unary, pairs, self.n_nodes, self.n_edges))

    def labels_of(self, unary, pairs):
        """`best_labels` of arrays that `read_tables` has checked. Returns an int array of shape (n_nodes,).

        Parameters
        ----------
        unary, pairs : float64 arrays
            As `read_tables` returns them.
        """
        self.check(unary.shape, pairs.shape)
        cdef double[:, ::1] belief = np.array(unary)
        cdef const double[:, :, ::1] table = pairs
        cdef int[::1] labels = np.empty(self.n_nodes + 1, dtype=np.intc)
        cdef Py_ssize_t K = belief.shape[1], i, operations = 0, several = table.shape[0] > 1
        cdef int v, u, e, k, j, best
        cdef double most, value, largest
        cdef int stopped = 0
        with nogil:
            for i in range(self.n_nodes - 1, -1, -1):
                v, u = self.order[i], self.parent[self.order[i]]
                if u < 0:
                    continue
                e = self.above[v] * several
                largest = -INFINITY
                for k in range(K):
                    most = -INFINITY
                    for j in range(K):
                        value = belief[v, j] + (table[e, j, k] if self.turned[v] else table[e, k, j])
                        most = value if value > most else most
                    belief[u, k] += most
                    largest = most if most > largest else largest
                operations += K * K
                if largest == -INFINITY:
                    stopped = v + 1
                    break
                if operations > OFTEN:
                    if interrupted(operations):
                        stopped = -1
                        break
                    operations = 0
            if stopped == 0:
                for i in range(self.n_nodes):
                    v, u = self.order[i], self.parent[self.order[i]]
                    e, most, best = self.above[v] * several, -INFINITY, -1
                    for j in range(K):
                        value = belief[v, j]
                        if u >= 0:
                            value += table[e, j, labels[u]] if self.turned[v] else table[e, labels[u], j]
                        if value > most:
                            most, best = value, j
                    if best < 0:
                        stopped = v + 1
                        break
                    labels[v] = best
        self.refuse(stopped)
        return np.asarray(labels)[:self.n_nodes]

    def marginals(self, unary, pairs):
        """Log partition function and marginals of labels and of pairs of labels (sum-product).

        A labelling has a probability proportional to exp(score). Cost: O(m K^2) for m edges and K labels.
        Raises `DataError` as in `best_labels`.

        Parameters
        ----------
        unary : array-like of shape (n_nodes, n_labels)
            As in `best_labels`.
        pairs : array-like
            As in `best_labels`.

        Returns
        -------
        log_z : float
            Log of the sum of exp(score) over all labellings.
        nodes : float64 array of shape (n_nodes, n_labels)
            Probability of each label.
        edges : float64 array of shape (n_edges, n_labels, n_labels)
            Probability of each pair of labels.

        Notes
        -----
        Sums go up the tree in the log domain. Then p(label) is the sum of p(label of the parent) p(label | label of the parent). Nothing is
        subtracted, so rounding stays small for scores of any size.
        """
        return self.sums_of(*read_tables(unary, pairs, self.n_nodes, self.n_edges))

    def sums_of(self, unary, pairs):
        """`marginals` of arrays that `read_tables` has checked. Returns log_z, nodes, edges. As in `marginals`.

        Parameters
        ----------
        unary, pairs : float64 arrays
            As `read_tables` returns them.
        """
        self.check(unary.shape, pairs.shape)
        cdef double[:, ::1] belief = np.array(unary)
        cdef const double[:, :, ::1] table = pairs
        cdef Py_ssize_t K = belief.shape[1], i, operations = 0, several = table.shape[0] > 1
        nodes, edges = np.zeros((self.n_nodes, K)), np.zeros((self.n_edges, K, K))
        cdef double[:, ::1] p = nodes
        cdef double[:, :, ::1] together = edges
        cdef double[::1] shares = np.empty(K + 1)
        cdef int v, u, e, k, j, stopped = 0
        cdef double most, largest, log_z = 0
        with nogil:
            for i in range(self.n_nodes - 1, -1, -1):
                v, u = self.order[i], self.parent[self.order[i]]
                largest = -INFINITY
                if u < 0:
                    largest = log_sum(&belief[v, 0], NULL, 0, K, &shares[0])
                    log_z += largest
                else:
                    e = self.above[v] * several
                    for k in range(K):
                        most = (log_sum(&belief[v, 0], &table[e, 0, k], K, K, &shares[0]) if self.turned[v] else
                                log_sum(&belief[v, 0], &table[e, k, 0], 1, K, &shares[0]))
                        belief[u, k] += most
                        largest = most if most > largest else largest
                operations += 10 * K * K
                if largest == -INFINITY:
                    stopped = v + 1
                    break
                if operations > OFTEN:
                    if interrupted(operations):
                        stopped = -1
                        break
                    operations = 0
            if stopped == 0:
                for i in range(self.n_nodes):
                    v, u = self.order[i], self.parent[self.order[i]]
                    if u < 0:
                        log_sum(&belief[v, 0], NULL, 0, K, &p[v, 0])
                        continue
                    e = self.above[v] * several
                    for k in range(K):
                        if p[u, k] == 0:
                            continue
                        if self.turned[v]:
                            log_sum(&belief[v, 0], &table[e, 0, k], K, K, &shares[0])
                        else:
                            log_sum(&belief[v, 0], &table[e, k, 0], 1, K, &shares[0])
                        for j in range(K):
                            if self.turned[v]:
                                together[self.above[v], j, k] = p[u, k] * shares[j]
                            else:
                                together[self.above[v], k, j] = p[u, k] * shares[j]
                            p[v, j] += p[u, k] * shares[j]
                    if interrupted(10 * K * K):
                        stopped = -1
                        break
        self.refuse(stopped)
        return log_z, nodes, edges

    cdef check(self, tuple unary, tuple pairs):
        """Raises an error for shapes that do not fit the graph, so that nothing outside of the arrays is read. Their numbers may be any."""
        if not self.acyclic:
            raise DataError("the graph has a cycle; expected a forest. PairwiseModel labels graphs with cycles.")
        if len(unary) != 2 or unary[0] != self.n_nodes or pairs[1:] != (unary[1], unary[1]) or pairs[0] != 1 and pairs[0] != self.n_edges:
            raise DataError(f"unary and pairs have the shapes {unary} and {pairs} for {self.n_nodes} nodes and {self.n_edges} edges. "
                            f"Expected a row for each node, and a table for each edge or for all.")

    cdef refuse(self, int stopped):
        if stopped < 0:
            raise_interruption()
        if stopped > 0:
            raise DataError(f"no labels are allowed: node {stopped - 1} has none left that fits both its own scores and those of the edges "
                            f"around it.")


cdef double log_sum(const double *a, const double *b, Py_ssize_t step, Py_ssize_t n, double *shares) noexcept nogil:
    """log(sum_j exp(a[j] + b[j * step])), b left out where it is NULL; `shares`: the part of each j."""
    cdef Py_ssize_t j
    cdef double most = -INFINITY, total = 0
    for j in range(n):
        shares[j] = a[j] + (0 if b == NULL else b[j * step])
        most = shares[j] if shares[j] > most else most
    if most == -INFINITY:
        return most
    for j in range(n):
        shares[j] = exp(shares[j] - most)
        total += shares[j]
    for j in range(n):
        shares[j] /= total
    return most + log(total)


def read_tables(unary, pairs, n_nodes, n_edges, n_labels="n_labels"):
    """Checked scores of a graph's labels as float64 arrays. Pairs are one table for all edges, (1, K, K), or one for each."""
    unary = real_array(unary, "unary", (n_nodes, n_labels))
    K = unary.shape[1]
    tables = pairs if type(pairs) is np.ndarray else number_array(pairs, "pairs")
    passed = tables.shape
    if tables.ndim == 2:
        tables = tables[None]
    shape = tables.shape
    if shape != (n_edges, K, K) and shape != (1, K, K):
        raise DataError(f"pairs has the shape {passed}. Expected ({K}, {K}) or ({n_edges}, {K}, {K}), a table of pairs of labels "
                        f"for all edges or for each.")
    tables = real_array(tables, "pairs", shape)
    if len(tables) < n_edges:
        refuse_overflow(tables, "pairs", n_edges)
    return unary, tables
