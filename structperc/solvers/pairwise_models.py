"""Labels of the nodes of a graph with scores of labels and of pairs of labels: exact on forests and by minimum cuts, else with a bound.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

from structperc.basics.arguments import choice, edge_array, flag, limit, real_array, seconds, whole_array, whole_number
from structperc.basics.errors import DataError
from structperc.solvers.dominance import Reduced, best_of_all
from structperc.solvers.highs import Clock, OutOfTime
from structperc.solvers.integer_programs import ILP
from structperc.solvers.minimum_cuts import CutGraph, Forest, read_tables
from structperc.solvers.paths import grid_nodes
from structperc.solvers.program_parts import EXACT_LP, EXACT_SUBSETS, RELAXED, STATUSES

TOLERANCE = 1e-12               # of attraction, relative to the largest score of a table: what rounding leaves of 0
AUTO, TREE, CUT, EXPANSION, EXACT = "auto", "tree", "cut", "expansion", "exact"
METHODS = (AUTO, TREE, CUT, EXPANSION, RELAXED, EXACT)
APPROXIMATE = (EXPANSION, RELAXED)


@attrs.frozen(eq=False)
class Labelling:
    """Result of a labelling solver, with a bound on the optimum.

    Attributes
    ----------
    labels : int array of shape (n_nodes,)
        The label of each node.
    score : float
        Their score.
    bound : float
        No labelling has a larger score, up to the solver's rounding.
    status : {"tree", "cut", "exact-lp", "exact-subsets", "exact-milp", "expansion", "relaxed"}
        What proved the labels optimal. "tree": dynamic programming. "cut": a flow that equals its cut. "exact-lp": dominance or the
        linear program. "exact-subsets": all labellings of few nodes. "exact-milp": branch and bound.
        "expansion": no switch of any nodes to one label is better. "relaxed": rounded from a fractional solution.

    Examples
    --------
    >>> from structperc.solvers.pairwise_models import best_labelling
    >>> labelling = best_labelling([[2, 0], [0, 1]], [[0, 1]], [[2, 0], [0, 2]])
    >>> labelling.labels.tolist(), labelling.score, labelling.exact
    ([0, 0], 4.0, True)
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
    """A pairwise Markov random field with fixed edges, for repeated MAP labelling.

    The score of labels y is sum_i unary[i, y_i] + sum_(i,j) pairs[y_i, y_j].
    To label many graphs at once, number their nodes on and make one graph. See also `best_labelling` (one call for one graph).

    Parameters
    ----------
    n_nodes : int
        Number of nodes.
    n_labels : int
        Number of labels K.
    edges : int array-like of shape (n_edges, 2)
        Two different nodes of each edge, numbered from 0. Scores of several edges between the same nodes add up.

    Raises
    ------
    DataError
        If an edge names a node that does not exist, or joins a node with itself.

    Examples
    --------
    >>> from structperc.solvers.pairwise_models import PairwiseModel
    >>> square = PairwiseModel(4, 2, [[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> labelling = square.solve([[3, 0], [0, 1], [0, 1], [0, 1]], [[1, 0], [0, 1]])
    >>> labelling.labels.tolist(), labelling.score, labelling.status
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
        """The score of one labelling. Returns a float. -inf if a label or a pair is forbidden.

        Parameters
        ----------
        labels : int array-like of shape (n_nodes,)
        unary, pairs : array-like
            As in `solve`.
        """
        unary, pairs = self.read(unary, pairs)
        return self._score(whole_array(labels, "labels", (self.n_nodes,), high=self.n_labels - 1), unary, pairs)

    def solve(self, unary, pairs, method=AUTO, most_nodes=None, time_limit=None) -> Labelling:
        """The labels with the largest score (MAP), exactly or with a bound.

        Parameters
        ----------
        unary : array-like of shape (n_nodes, n_labels)
            Scores of labels; -inf forbids a label.
        pairs : array-like of shape (n_labels, n_labels) or (n_edges, n_labels, n_labels)
            Scores by the labels of an edge's first and second node, for all edges or for each. -inf forbids a pair.
        method : {"auto", "tree", "cut", "expansion", "relaxed", "exact"}, default "auto"
            "auto": the first of tree, cut, expansion and relaxed that the scores allow; see Notes.
        most_nodes : int, optional
            With "exact": largest number of nodes of branch and bound. After that you get the best labels so far, with the status
            "relaxed". Larger values are slower and more often optimal. Default: no limit.
        time_limit : float, optional
            With "relaxed" and "exact": seconds, as in `ILP.solve`. Default: no limit.

        Raises
        ------
        DataError
            If a score is NaN or +inf, or every labelling is forbidden. Also if the method does not allow the scores; the message names the
            edge.

        Notes
        -----
        - "tree": dynamic programming on graphs without cycles, O(m K^2). Ties: the lowest label, from the lowest node of each tree on.
        - "cut": a minimum cut, for two labels and edges that attract, T00 + T11 >= T01 + T10. Ties: the labelling with the fewest ones.
        - "expansion": each label in turn takes the nodes whose joint switch is best, by a minimum cut, until no switch gains.
          It needs finite tables with T(a,a) + T(b,c) >= T(b,a) + T(a,c), such as one score for equal labels.
          It starts at the lowest best label of each node, and moves only if that gains.
        - "relaxed": the linear program over the local polytope, rounded if its solution is fractional. Ties: HiGHS chooses.
        - "exact": the same, followed by branch and bound. Components of at most 65536 labellings have all of them looked at.

        "relaxed" and "exact" first leave out labels that another label of their node beats whatever the neighbours have. Connected
        components of the rest are solved apart. So a large score at one node has no effect on the precision at others.

        Repeated calls give the same labels.

        The bound of "expansion": its cost is at most 2 c times the optimal cost. The cost is the distance to the sum of the largest
        scores of all nodes and edges. c is the ratio of the largest to the smallest cost of unequal labels of an edge. Equal labels must
        cost nothing.

        References
        ----------
        Y. Boykov, O. Veksler and R. Zabih: Fast approximate energy minimization via graph cuts. IEEE Transactions on Pattern Analysis and
        Machine Intelligence 23, pages 1222-1239, 2001.
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
        """Log partition function and marginals of a graph without cycles.
        Raises `DataError` if the graph has a cycle, or the scores are invalid as in `solve`.
        Returns log_z, nodes, edges. As `Forest.marginals` returns them.

        Parameters
        ----------
        unary, pairs : array-like
            As in `solve`.
        """
        unary, pairs = self.read(unary, pairs)
        if not self.forest.acyclic:
            raise DataError("marginals are those of graphs without cycles, but this one has a cycle.")
        return self.forest.sums_of(unary, pairs)

    def fitting(self, pairs) -> str:
        """The method that "auto" chooses for these pair scores.

        Parameters
        ----------
        pairs : float64 array
            As `read` returns it.
        """
        if self.forest.acyclic:
            return TREE
        if self.n_labels == 2 and not len(repelling(pairs)):
            return CUT
        return EXPANSION if not len(unexpandable(pairs)) else RELAXED

    def read(self, unary, pairs):
        """Check scores and convert them to float64. Raises `DataError` as in `solve`.

        Parameters
        ----------
        unary, pairs : array-like
            As in `solve`.

        Returns
        -------
        unary : float64 array of shape (n_nodes, n_labels)
        pairs : float64 array of shape (1, n_labels, n_labels) or (n_edges, n_labels, n_labels)
        """
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
        """The best y of two labels, 0 and 1, by scores of nodes and edges, and its score by flow."""
        # An edge (i, j) has the energies A, B, C, D = -T00, -T01, -T10, -T11. They are
        #     A + a y_i + b y_j + c (1 - y_i) y_j + d y_i (1 - y_j)
        # where a + d = C - A, b + c = B - A and c + d = B + C - A - D.
        m = len(self.edges)
        A, B, C, D = (np.broadcast_to(-scores, m) for scores in (T00, T01, T10, T11))
        never, nor = np.isinf(B), np.isinf(C)           # then their energies are free: only c or d forbids the pair
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
            total = self._score(moved, unary, pairs)
            quiet += 1
            if total > score:
                labels, score, quiet = moved, total, 0
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
        settled = shares.max(axis=1) > 0.999
        labels, (first, second), tables = shares.argmax(axis=1), self.edges.T, np.broadcast_to(pairs, (len(self.edges), *pairs.shape[1:]))
        for i in np.flatnonzero(~settled).tolist():
            right, left = np.flatnonzero((first == i) & settled[second]), np.flatnonzero((second == i) & settled[first])
            own = unary[i].copy()
            own += tables[right, :, labels[second[right]]].sum(axis=0) + tables[left, labels[first[left]]].sum(axis=0)
            labels[i], settled[i] = own.argmax(), True
        return labels

    def _programmed(self, unary, pairs, relaxed, most_nodes, time_limit):
        """What dominates is decided first. Then each component has all its labellings looked at, or a program of its own."""
        model, clock = Reduced(unary, self.edges, np.broadcast_to(pairs, (len(self.edges), *pairs.shape[1:]))), Clock(time_limit)
        labels, gap, status = model.labels, 0.0, EXACT_LP
        for nodes, own in model.components():
            edges = np.searchsorted(nodes, model.edges[own])
            best = None if relaxed else best_of_all(model.unary[nodes], edges, model.tables[own])
            if best is not None:
                labels[nodes], status = best, max(status, EXACT_SUBSETS, key=STATUSES.index)
                continue
            part = self if len(nodes) == self.n_nodes and len(own) == len(self.edges) else PairwiseModel(len(nodes), self.n_labels, edges)
            found = by_program(part, model.unary[nodes], model.tables[own], relaxed, most_nodes, clock.left)
            labels[nodes], gap, status = found.labels, gap + found.gap, max(status, found.status, key=STATUSES.index)
        score = self._score(labels, unary, pairs)
        return Labelling(labels, score, score + gap, status)

def best_labelling(unary, edges, pairs, method=AUTO, most_nodes=None, time_limit=None) -> Labelling:
    """MAP labelling of a pairwise Markov random field: the labels of a graph's nodes with the largest score.

    The score of labels y is sum_i unary[i, y_i] + sum_(i,j) pairs[y_i, y_j]. Ties and costs depend on the method; see
    `PairwiseModel.solve`. Raises `DataError` as in `PairwiseModel.solve`.

    Parameters
    ----------
    unary : array-like of shape (n_nodes, n_labels)
        Scores of labels; -inf forbids a label.
    edges : int array-like of shape (n_edges, 2)
        Two different nodes of each edge, numbered from 0.
    pairs : array-like of shape (n_labels, n_labels) or (n_edges, n_labels, n_labels)
        Scores by the labels of an edge's first and second node; -inf forbids a pair.
    method : {"auto", "tree", "cut", "expansion", "relaxed", "exact"}, default "auto"
        As in `PairwiseModel.solve`.
    most_nodes : int, optional
        As in `PairwiseModel.solve`.
    time_limit : float, optional
        Seconds, as in `PairwiseModel.solve`.

    See Also
    --------
    PairwiseModel : many calls for one graph.
    forest_marginals : probabilities of labels.
    grid_edges : the edges of a grid.

    Examples
    --------
    >>> from structperc.solvers.pairwise_models import best_labelling
    >>> labelling = best_labelling([[2, 0], [0, 1], [0, 1]], [[0, 1], [1, 2]], [[1, 0], [0, 1]])
    >>> labelling.labels.tolist(), labelling.score, labelling.status
    ([0, 1, 1], 5.0, 'tree')
    """
    unary = real_array(unary, "unary", ("n_nodes", "n_labels"))
    return PairwiseModel(*unary.shape, edges).solve(unary, pairs, method, most_nodes, time_limit)


def forest_marginals(unary, edges, pairs):
    """Log partition function and marginals of the labels of a graph without cycles (sum-product).
    Raises `DataError` if the graph has a cycle, or the scores are invalid as in `best_labelling`.

    Parameters
    ----------
    unary : array-like of shape (n_nodes, n_labels)
        Scores of labels; -inf forbids a label.
    edges : int array-like of shape (n_edges, 2)
        Nodes of each edge, numbered from 0.
    pairs : array-like of shape (n_labels, n_labels) or (n_edges, n_labels, n_labels)
        Scores by the labels of an edge's first and second node.

    Returns
    -------
    log_z : float
        Log of the sum of exp(score) over all labellings.
    nodes : float64 array of shape (n_nodes, n_labels)
        Probability of each label.
    edges : float64 array of shape (n_edges, n_labels, n_labels)
        Probability of each pair of labels.

    Examples
    --------
    >>> from structperc.solvers.pairwise_models import forest_marginals
    >>> log_z, nodes, edges = forest_marginals([[0, 0], [0, 0]], [[0, 1]], [[0, 0], [0, 0]])
    >>> round(log_z, 4), nodes.tolist()
    (1.3863, [[0.5, 0.5], [0.5, 0.5]])
    """
    unary = real_array(unary, "unary", ("n_nodes", "n_labels"))
    return PairwiseModel(*unary.shape, edges).marginals(unary, pairs)


def grid_edges(n_rows, n_columns, diagonal=False):
    """The edges of a grid whose nodes are numbered row by row. Returns an int array of shape (n_edges, 2).

    Order: edges to the right, then down, then diagonally to the right and to the left.

    Parameters
    ----------
    n_rows : int
        Rows of the grid.
    n_columns : int
        Columns of the grid.
    diagonal : bool, default False
        Add diagonal edges: 8 neighbours instead of 4.

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


def by_program(model, unary, pairs, relaxed, most_nodes, time_limit):
    """The linear program over the local polytope, branch and bound after it unless `relaxed`."""
    m, K = len(model.edges), model.n_labels
    scores = np.append(unary, np.broadcast_to(pairs, (m, K, K)))
    try:
        solution = model.polytope.solve(scores, relaxed, most_nodes, time_limit)
    except OutOfTime:
        shares, bound, status = np.zeros(unary.size), model._top(unary, pairs), RELAXED
    else:
        shares, bound, status = solution.v, solution.bound, solution.status
    labels = model._rounded(shares[:unary.size].reshape(-1, K), unary, pairs)
    score = model._score(labels, unary, pairs)
    if score == -np.inf:
        raise DataError("the linear program's labels are fractional, and rounded ones are forbidden; use method='exact'.")
    return Labelling(labels, score, max(bound, score), status)


def chosen(pairs, first, second):
    """The score of each edge's pair of labels. Edges share one table or have a table each."""
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
    pairs_of = []
    for label in range(pairs.shape[1]):
        lack = pairs[:, :, label, None] + pairs[:, label, None, :] - pairs - pairs[:, label, label, None, None]
        if (lack > 0).any():
            pairs_of.append(np.flatnonzero(lack.max(axis=(1, 2)) > allowances(pairs)))
    return np.unique(np.concatenate(pairs_of)) if pairs_of else np.zeros(0, dtype=int)


def allowances(pairs):
    """What rounding may leave of 0, by the largest finite score of each table."""
    return TOLERANCE * np.abs(np.where(np.isfinite(pairs), pairs, 0.0)).max(axis=(1, 2), initial=0.0)


__all__ = ["Labelling", "PairwiseModel", "best_labelling", "forest_marginals", "grid_edges"]
