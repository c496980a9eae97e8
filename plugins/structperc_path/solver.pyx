"""The best path of an example through an acyclic graph, and the probabilities of its arcs.

Typical sizes: 20 .. 1000 arcs. Cost: about a microsecond an example to look up its graph, and that of `best_path_c`.
"""
import numpy as np

from libc.math cimport isfinite
from structperc.core.argmax cimport Argmax
from structperc.core.rows cimport Example
from structperc.errors import DataError
from structperc.plugin_tools import of_keys
from structperc.solvers.paths cimport best_path_c
from structperc.solvers.paths import best_path, k_best_paths, path_marginals

__all__ = ["BestPath", "solved"]


cdef class Graph:
    """The arcs of an example, as compiled code reads them."""

    cdef const int[::1] tails, heads
    cdef int n_nodes, start, end

    def __init__(self, tails, heads, int start, int end):
        self.tails, self.heads, self.start, self.end = tails, heads, start, end
        self.n_nodes = max(int(max(tails.max(), heads.max())), start, end) + 1


cdef class BestPath(Argmax):
    """The path of largest score, by dynamic programming. Of equal ones that whose last arc has the lowest number, then the one before."""

    cdef Py_ssize_t workspace_size_c(self, Py_ssize_t n_atoms, bint marginals) noexcept nogil:
        cdef Py_ssize_t n_nodes = 2 * n_atoms + 2
        return n_nodes + (n_atoms + 4 * n_nodes + 1) // 2 + 1           # doubles, then integers

    cdef Py_ssize_t argmax_c(self, Example x, const double *s, int *y) noexcept nogil:
        with gil:
            try:
                return self.search(x, s, y)
            except BaseException as error:
                self.error = error
                return -1

    cdef Py_ssize_t search(self, Example x, const double *s, int *y) except -1:
        cdef Graph graph = of_keys(x, "arcs", self.graph)
        cdef double *best = x.work
        cdef Py_ssize_t n
        with nogil:
            n = best_path_c(&graph.tails[0], &graph.heads[0], s, x.n_atoms, graph.n_nodes, graph.start, graph.end,
                            <int *> (best + graph.n_nodes), best, y)
        if n < 0 or not isfinite(best[graph.end]):
            n = 0
            for a in solved(self, best_path, scores_of(x, s), x)[0].tolist():         # raises the error, also that of an interruption
                y[n] = a
                n += 1
        return n

    def graph(self, x):
        """The graph of an example that nobody has looked at."""
        return Graph(*self.outputs.graph(x))

    cdef int marginals_c(self, Example x, const double *s, double *expected, double *log_z) noexcept nogil:
        with gil:
            try:
                return self.sums(x, s, expected, log_z)
            except BaseException as error:
                self.error = error
                return -1

    cdef int sums(self, Example x, const double *s, double *expected, double *log_z) except -1:
        cdef Py_ssize_t a
        log_z[0], marginals = solved(self, path_marginals, scores_of(x, s), x)
        cdef const double[::1] probabilities = marginals
        for a in range(x.n_atoms):
            expected[a] = probabilities[a]
        return 0

    def k_best(self, scores, Example x, k):
        return solved(self, k_best_paths, scores, x, k)


cdef scores_of(Example x, const double *s):
    """A copy of the scores of an example."""
    return np.array(<const double[:x.n_atoms]> s) if x.n_atoms else np.zeros(0)


def solved(solver, solve, scores, x, *more):
    """The result of a function for the graph of x. An error names the example."""
    tails, heads, start, end = solver.outputs.graph(x)
    try:
        return solve(tails, heads, np.asarray(scores), start, end, *more)
    except DataError as error:
        raise DataError(f"example {x.index} cannot be predicted: {error} Nodes are counted from 0 in their order.") from None
