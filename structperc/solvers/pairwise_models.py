"""Labels of the nodes of a graph with scores of labels and of pairs of labels: exact on forests and by minimum cuts, else with a bound."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

from structperc.core.arguments import choice, edge_array, flag, limit, real_array, seconds, whole_array, whole_number
from structperc.core.errors import DataError
from structperc.solvers.integer_programs import ILP, RELAXED, OutOfTime
from structperc.solvers.labelled_forests import Forest, read_tables
from structperc.solvers.minimum_cuts import CutGraph
from structperc.solvers.paths import grid_nodes

TOLERANCE = 1e-12               # of attraction, relative to the largest score of a table: what rounding leaves of 0
AUTO, TREE, CUT, EXPANSION, EXACT = "auto", "tree", "cut", "expansion", "exact"
METHODS = (AUTO, TREE, CUT, EXPANSION, RELAXED, EXACT)
APPROXIMATE = (EXPANSION, RELAXED)


@attrs.frozen(eq=False)
class Labelling:
    """The labels that a solver found, and how far they are from the optimum at most.

    Attributes
    ----------
    labels : int array of shape (n_nodes,)
    score : float
    bound : float
        No labelling scores more, up to the solver's rounding.
    status : {"tree", "cut", "exact-lp", "exact-milp", "expansion", "relaxed"}
        What proved the labels best: dynamic programming, a flow that equals its cut, the linear program, or branch and bound. After
        "expansion" no switch of any nodes to one label is better; "relaxed" labels are rounded from a fractional vertex.
    """

    labels: np.ndarray
    score: float
    bound: float
    status: str

    @property
    def exact(self) -> bool:
        """Whether the labels are best."""
        return self.status not in APPROXIMATE

    @property
    def gap(self) -> float:
        """bound - score; 0 where the labels are best."""
        return 0.0 if self.exact else max(self.bound - self.score, 0.0)


class PairwiseModel:
    """A graph whose nodes are labelled again and again, with other scores: sum_i unary[i, y_i] + sum_(i,j) pairs[y_i, y_j].

    Many graphs are labelled at once as one graph, with their nodes numbered on.

    Parameters
    ----------
    n_nodes, n_labels : int
    edges : int array-like of shape (n_edges, 2)
        Nodes from 0; an edge joins different ones. Several edges may join the same nodes; their scores add up.

    Raises
    ------
    DataError
        Where an edge has no such node, or joins a node with itself.

    Examples
    --------
    >>> from structperc.solvers.pairwise_models import PairwiseModel
    >>> square = PairwiseModel(4, 2, [[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> found = square.solve([[3, 0], [0, 1], [0, 1], [0, 1]], [[1, 0], [0, 1]])
    >>> found.labels.tolist(), found.score, found.status
    ([0, 1, 1, 1], 8.0, 'cut')
    """

    def __init__(self, n_nodes, n_labels, edges):
        self.n_nodes, self.n_labels = whole_number(n_nodes, "n_nodes"), whole_number(n_labels, "n_labels", 1)
        self.edges = edge_array(edges, self.n_nodes)

    @cached_property
    def forest(self) -> Forest:
        return Forest(self.n_nodes, self.edges)

    @cached_property
    def cut_graph(self) -> CutGraph:
        return CutGraph(self.n_nodes, self.edges)

    @cached_property
    def polytope(self) -> ILP:
        """The local polytope: shares of labels and of pairs that agree with each other."""
        n, m, K = self.n_nodes, len(self.edges), self.n_labels
        single = hstack([kron(eye_array(n), np.ones((1, K))), csr_array((n, m * K * K))])
        sides = []
        for side, sums in enumerate((np.kron(np.eye(K), np.ones((1, K))), np.kron(np.ones((1, K)), np.eye(K)))):
            of_node = csr_array((np.ones(m), (np.arange(m), self.edges[:, side])), shape=(m, n))
            sides.append(hstack([kron(of_node, -np.eye(K)), kron(eye_array(m), sums)]))
        rows = csr_array(vstack([single, *sides] if m else [single]))
        return ILP(A_eq=rows, b_eq=np.append(np.ones(n), np.zeros(rows.shape[0] - n)))

    def score(self, labels, unary, pairs) -> float:
        """The score of one labelling; -inf where a forbidden label or pair is in it."""
        unary, pairs = self.read(unary, pairs)
        return self._score(whole_array(labels, "labels", (self.n_nodes,), high=self.n_labels - 1), unary, pairs)

    def solve(self, unary, pairs, method=AUTO, most_nodes=None, time_limit=None) -> Labelling:
        """The labels of largest score, or good ones with a bound.

        Parameters
        ----------
        unary : array-like of shape (n_nodes, n_labels)
            -inf forbids a label.
        pairs : array-like of shape (n_labels, n_labels) or (n_edges, n_labels, n_labels)
            By the label of an edge's first and of its second node, for all edges alike or for each; -inf forbids a pair.
        method : {"auto", "tree", "cut", "expansion", "relaxed", "exact"}, default "auto"
            "tree": dynamic programming on graphs without cycles, O(m K^2). "cut": a minimum cut, for two labels and edges that attract,
            T00 + T11 >= T01 + T10. "expansion": every label in turn takes over the nodes whose switch is best together, by a minimum cut,
            until none gains; for finite tables with T(a,a) + T(b,c) >= T(b,a) + T(a,c), such as one score for equal labels. "relaxed": the
            linear program over the local polytope, rounded where its vertex is fractional. "exact": branch and bound after that.
            "auto": the first of tree, cut, expansion and relaxed that the scores allow.
        most_nodes : int, optional
            Of "exact": branch and bound stops after so many nodes with the best labels found so far, then "relaxed".
        time_limit : float, optional
            Of "relaxed" and "exact": seconds, as in `ILP.solve`.

        Raises
        ------
        DataError
            For NaN or +inf, for scores that the method does not take, with the edge, and where every labelling is forbidden.

        Notes
        -----
        Ties: "tree" takes the lowest label, from the lowest node of each tree on; "cut" the labelling with the fewest ones; "expansion"
        begins with the lowest best label of each node alone and moves only where that gains; linear programs leave it to HiGHS. All are the
        same each time. After "expansion" the distance from the score to the sum of all largest scores of nodes and edges is at most
        2 * max(c) times as long as that of the best labels, c the ratio of the largest to the smallest cost of unequal labels of an edge,
        where equal labels cost nothing: the bound.

        Boykov, Veksler, Zabih (2001), IEEE Transactions on Pattern Analysis and Machine Intelligence 23.
        """
        unary, pairs = self.read(unary, pairs)
        method, most_nodes, time_limit = choice(method, "method", METHODS), limit(most_nodes, "most_nodes"), seconds(time_limit)
        if method == AUTO:
            method = self.fitting(pairs)
        if method == TREE:
            if not self.forest.acyclic:
                raise DataError("method='tree' takes graphs without cycles, but this one has a cycle; use method='auto'.")
            labels = self.forest.labels_of(unary, pairs)
            score = self._score(labels, unary, pairs)
            return Labelling(labels, score, score, TREE)
        if method == CUT:
            return self._cut(unary, pairs)
        if method == EXPANSION:
            return self._expanded(unary, pairs)
        return self._programmed(unary, pairs, method == RELAXED, most_nodes, time_limit)

    def marginals(self, unary, pairs):
        """log Z and marginals of a graph without cycles, as `Forest.marginals` answers them; parameters as of `solve`."""
        unary, pairs = self.read(unary, pairs)
        if not self.forest.acyclic:
            raise DataError("marginals are those of graphs without cycles, but this one has a cycle.")
        return self.forest.sums_of(unary, pairs)

    def fitting(self, pairs) -> str:
        """The method that "auto" takes for these pair scores, as `read` answers them."""
        if self.forest.acyclic:
            return TREE
        if self.n_labels == 2 and not len(repelling(pairs)):
            return CUT
        return EXPANSION if not len(unexpandable(pairs)) else RELAXED

    def read(self, unary, pairs):
        """Checked scores as float64 arrays, pairs as one table for all edges (1, K, K) or one for each."""
        return read_tables(unary, pairs, self.n_nodes, len(self.edges), self.n_labels)

    def _score(self, labels, unary, pairs):
        ends = labels[self.edges]
        return float(unary[np.arange(self.n_nodes), labels].sum() + chosen(pairs, ends[:, 0], ends[:, 1]).sum())

    def _cut(self, unary, pairs):
        """Two labels on edges that attract, by a minimum cut."""
        if self.n_labels != 2:
            raise DataError(f"method='cut' takes two labels, but there are {self.n_labels}; use method='expansion'.")
        wrong = repelling(pairs)
        if len(wrong):
            e = int(wrong[0])
            raise DataError(f"method='cut' takes edges that attract, but edge {e} has the scores {pairs[e].tolist()}, T00 + T11 < T01 + "
                            f"T10; use method='relaxed' or 'exact'.")
        own, tables = unary, pairs
        if pairs.min(initial=0.0) == -np.inf:
            own, tables = self._opened(unary, pairs)
        barred = (own == -np.inf).all(axis=1)
        if barred.any():
            raise DataError(f"no labels are allowed: node {int(np.argmax(barred))} has none left that fits both its own scores and those "
                            f"of the edges around it.")
        labels, bound = self._switched(own[:, 0], own[:, 1], *tables.reshape(-1, 4).T)
        score = self._score(labels, unary, pairs)
        return Labelling(labels, score, max(bound, score), CUT)

    def _opened(self, unary, pairs):
        """The same scores where labels that an edge forbids whatever the other one is are forbidden at the node: T00, T11 > -inf."""
        own, tables = unary.copy(), np.repeat(pairs, 1 if len(pairs) == len(self.edges) else len(self.edges), axis=0)
        empty = (tables == -np.inf).all(axis=(1, 2))
        if empty.any():
            raise DataError(f"no labels are allowed: edge {int(np.argmax(empty))} forbids all pairs.")
        for side, turned in enumerate((tables, tables.transpose(0, 2, 1))):
            for k in (0, 1):
                closed = (turned[:, k] == -np.inf).all(axis=1)
                own[self.edges[closed, side], k] = -np.inf
                turned[closed, k] = turned[closed, 1 - k]
        return own, tables

    def _switched(self, keep, switch, T00, T01, T10, T11):
        """The best y of two labels with these scores of nodes and edges, as 0 and 1, and its score by the flow.

        The energies A, B, C, D = -T00, -T01, -T10, -T11 of an edge (i, j) are A + a y_i + b y_j + c (1 - y_i) y_j + d y_i (1 - y_j) where
        a + d = C - A, b + c = B - A, c + d = B + C - A - D.
        """
        m = len(self.edges)
        A, B, C, D = (np.broadcast_to(-scores, m) for scores in (T00, T01, T10, T11))
        never, nor = np.isinf(B), np.isinf(C)           # then their energies are free: c or d alone forbids the pair
        B, C = (np.where(never, np.where(nor, A, A + D - C), B), np.where(nor, np.where(never, D, A + D - B), C))
        half = np.maximum(B + C - A - D, 0.0) / 2
        a, b, c, d = C - A - half, B - A - half, np.where(never, np.inf, half), np.where(nor, np.inf, half)
        moved = np.bincount(self.edges[:, 0], a, self.n_nodes) + np.bincount(self.edges[:, 1], b, self.n_nodes)
        terminals = keep - switch + moved
        labels, flow = self.cut_graph.solve(terminals, c, d)
        cost, free = moved - switch, keep > -np.inf
        cost[free] = np.minimum(terminals[free], 0.0) - keep[free]
        return labels.astype(np.intp), -float(cost.sum() + A.sum() + flow)

    def _expanded(self, unary, pairs):
        """Moves to one label after the other, each a minimum cut, until none gains."""
        wrong = unexpandable(pairs)
        if len(wrong):
            e = int(wrong[0])
            raise DataError(f"method='expansion' takes finite tables with T(a,a) + T(b,c) >= T(b,a) + T(a,c), but edge {e} has the scores "
                            f"{pairs[e].tolist()}; use method='relaxed' or 'exact'.")
        barred = (unary == -np.inf).all(axis=1)
        if barred.any():
            raise DataError(f"no labels are allowed: node {int(np.argmax(barred))} has none.")
        labels = unary.argmax(axis=1)
        score, quiet, label, nodes = self._score(labels, unary, pairs), 0, 0, np.arange(self.n_nodes)
        while quiet < self.n_labels:
            first, second = labels[self.edges].T
            switch, _ = self._switched(unary[nodes, labels], unary[:, label], chosen(pairs, first, second), chosen(pairs, first, label),
                                       chosen(pairs, label, second), pairs[:, label, label])
            moved = np.where(switch == 1, label, labels)
            found = self._score(moved, unary, pairs)
            quiet += 1
            if found > score:
                labels, score, quiet = moved, found, 0
            label = (label + 1) % self.n_labels
        return Labelling(labels, score, max(score, self._expansion_bound(score, unary, pairs)), EXPANSION)

    def _expansion_bound(self, score, unary, pairs):
        """What no labels exceed: the energy to the sum of all largest scores is at most 2 c times the least one."""
        costs = pairs.max(axis=(1, 2), keepdims=True, initial=-np.inf) - pairs
        unequal = costs[:, ~np.eye(self.n_labels, dtype=bool)]
        least, most = unequal.min(axis=1, initial=np.inf), unequal.max(axis=1, initial=0.0)
        top = self._top(unary, pairs)
        if (np.diagonal(costs, axis1=1, axis2=2) > 0).any() or (least[most > 0] == 0).any():
            return top
        ratio = (most[most > 0] / least[most > 0]).max(initial=1.0)
        return top - (top - score) / (2 * float(ratio))

    def _top(self, unary, pairs):
        """The sum of all largest scores of nodes and edges."""
        return float(unary.max(axis=1).sum() + np.broadcast_to(pairs.max(axis=(1, 2), initial=-np.inf), len(self.edges)).sum())

    def _rounded(self, shares, unary, pairs):
        """Whole shares are kept; the other nodes, in order, take the best label beside those that are known."""
        known = shares.max(axis=1) > 0.999
        labels, (first, second), tables = shares.argmax(axis=1), self.edges.T, np.broadcast_to(pairs, (len(self.edges), *pairs.shape[1:]))
        for i in np.flatnonzero(~known).tolist():
            right, left = np.flatnonzero((first == i) & known[second]), np.flatnonzero((second == i) & known[first])
            own = unary[i].copy()
            own += tables[right, :, labels[second[right]]].sum(axis=0) + tables[left, labels[first[left]]].sum(axis=0)
            labels[i], known[i] = own.argmax(), True
        return labels

    def _programmed(self, unary, pairs, relaxed, most_nodes, time_limit):
        """The linear program over the local polytope, branch and bound after it unless `relaxed`."""
        m, K = len(self.edges), self.n_labels
        scores = np.append(unary, np.broadcast_to(pairs, (m, K, K)))
        try:
            found = self.polytope.solve(scores, relaxed, most_nodes, time_limit)
        except OutOfTime:
            shares, bound, status = np.zeros(unary.size), self._top(unary, pairs), RELAXED
        else:
            shares, bound, status = found.v, found.bound, found.status
        labels = self._rounded(shares[:unary.size].reshape(-1, K), unary, pairs)
        score = self._score(labels, unary, pairs)
        if score == -np.inf:
            raise DataError("the linear program's labels are fractional, and rounded ones are forbidden; use method='exact'.")
        return Labelling(labels, score, max(bound, score), status)


def best_labelling(unary, edges, pairs, method=AUTO, most_nodes=None, time_limit=None) -> Labelling:
    """The labels of largest score of a graph's nodes, sum_i unary[i, y_i] + sum_(i,j) pairs[y_i, y_j], or good ones with a bound.

    A `PairwiseModel` keeps the graph for many calls.

    Parameters
    ----------
    unary : array-like of shape (n_nodes, n_labels)
        -inf forbids a label.
    edges : int array-like of shape (n_edges, 2)
    pairs : array-like of shape (n_labels, n_labels) or (n_edges, n_labels, n_labels)
    method, most_nodes, time_limit
        As in `PairwiseModel.solve`.

    Returns
    -------
    Labelling

    Raises
    ------
    DataError

    Examples
    --------
    >>> from structperc.solvers.pairwise_models import best_labelling
    >>> found = best_labelling([[2, 0], [0, 1], [0, 1]], [[0, 1], [1, 2]], [[1, 0], [0, 1]])
    >>> found.labels.tolist(), found.score, found.status
    ([0, 1, 1], 5.0, 'tree')
    """
    unary = real_array(unary, "unary", ("n_nodes", "n_labels"))
    return PairwiseModel(*unary.shape, edges).solve(unary, pairs, method, most_nodes, time_limit)


def forest_marginals(unary, edges, pairs):
    """log Z and marginals of the labels of a graph without cycles, as `Forest.marginals`; parameters as of `best_labelling`."""
    unary = real_array(unary, "unary", ("n_nodes", "n_labels"))
    return PairwiseModel(*unary.shape, edges).marginals(unary, pairs)


def grid_edges(n_rows, n_columns, diagonal=False):
    """The edges of a grid whose nodes are numbered row by row: to the right, then down, then diagonally to the right and to the left.

    Examples
    --------
    >>> from structperc.solvers.pairwise_models import grid_edges
    >>> grid_edges(2, 2).tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    """
    nodes = grid_nodes(n_rows, n_columns)
    parts = [(nodes[:, :-1], nodes[:, 1:]), (nodes[:-1], nodes[1:])]
    if flag(diagonal, "diagonal"):
        parts += [(nodes[:-1, :-1], nodes[1:, 1:]), (nodes[:-1, 1:], nodes[1:, :-1])]
    return np.concatenate([np.stack([first.ravel(), second.ravel()], axis=1) for first, second in parts])


def chosen(pairs, first, second):
    """The score of a pair of labels at each edge, of tables for all edges alike or for each."""
    return pairs[0, first, second] if len(pairs) == 1 else pairs[np.arange(len(pairs)), first, second]


def repelling(pairs):
    """The edges of two labels that do not attract."""
    with np.errstate(invalid="ignore"):
        lack = pairs[:, 0, 1] + pairs[:, 1, 0] - (pairs[:, 0, 0] + pairs[:, 1, 1])          # NaN: -inf on both sides
    wrong = np.flatnonzero(lack > 0)
    return wrong[lack[wrong] > allowances(pairs[wrong])]


def unexpandable(pairs):
    """The edges for which a switch to one label is no minimum cut."""
    if not np.isfinite(pairs).all():
        return np.flatnonzero(~np.isfinite(pairs).all(axis=(1, 2)))
    found = []
    for label in range(pairs.shape[1]):
        lack = pairs[:, :, label, None] + pairs[:, label, None, :] - pairs - pairs[:, label, label, None, None]
        if (lack > 0).any():
            found.append(np.flatnonzero(lack.max(axis=(1, 2)) > allowances(pairs)))
    return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=int)


def allowances(pairs):
    """What rounding may leave of 0, by the largest finite score of each table."""
    return TOLERANCE * np.abs(np.where(np.isfinite(pairs), pairs, 0.0)).max(axis=(1, 2), initial=0.0)


__all__ = ["Labelling", "PairwiseModel", "best_labelling", "forest_marginals", "grid_edges"]
