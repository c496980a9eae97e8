"""What dominates in a pairwise model: labels that another label of their node always beats are left out, and decided nodes with them."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from structperc.basics.errors import DataError
from structperc.solvers.few_variables import exact_sums
from structperc.solvers.program_rows import UNIT

MOST_LABELLINGS = 2**16         # of a component, all of which are looked at
ROOM = 16                       # units of rounding by which a label has to win


class Reduced:
    """A pairwise model without labels that lose whatever the other nodes have, and without the nodes that this decides."""
    # unary: float64 array of shape (n_nodes, n_labels)
    # edges: int array of shape (n_edges, 2)
    # tables: float64 array of shape (n_edges, n_labels, n_labels)
    # unary: float64 array. Scores of labels, -inf for those that are out. They include the edges to decided nodes. The best label of a node
    # has 0.
    # labels: int array. Of decided nodes; others have their best label.
    # edges: int array. Those between two open nodes.
    # tables: float64 array. Theirs.
    # open: bool array of shape (n_nodes,)

    def __init__(self, unary, edges, tables):
        self.unary, self.edges, self.tables = unary.copy(), edges, tables
        self.open = np.ones(len(unary), dtype=bool)
        while self._level() and (self._decide() or self._eliminate()):
            pass
        self.labels = self.unary.argmax(axis=1)

    def _level(self):
        """Sets the best label of each node to 0; raises an error where there is none."""
        best = self.unary.max(axis=1, initial=-np.inf)
        if (best == -np.inf).any():
            raise DataError(f"no labels are allowed: the scores of node {int(np.argmin(best))} and of the edges around it contradict each "
                            f"other.")
        self.unary -= best[:, None]
        return True

    def _decide(self):
        """Nodes with one label left, or without edges, are decided; the scores of their edges go to the others. Whether there were any."""
        single = (self.unary > -np.inf).sum(axis=1) == 1
        single |= np.bincount(self.edges.ravel(), minlength=len(self.unary)) == 0
        new = single & self.open
        if not new.any():
            return False
        self.open &= ~new
        labels, closed = self.unary.argmax(axis=1), ~self.open[self.edges]
        for side in (0, 1):
            own = closed[:, side]
            node, other = self.edges[own, side], self.edges[own, 1 - side]
            tables = self.tables[own] if side == 0 else self.tables[own].transpose(0, 2, 1)
            np.add.at(self.unary, other, tables[np.arange(len(node)), labels[node]])
        kept = ~closed.any(axis=1)
        self.edges, self.tables = self.edges[kept], self.tables[kept]
        return True

    def _eliminate(self):
        """Leaves out labels that another one of their node beats whatever the neighbours have. Whether there were any."""
        n, n_labels = self.unary.shape
        allowed, lost = self.unary > -np.inf, np.zeros(self.unary.shape, dtype=bool)
        sides = [(self.edges[:, 0], self.edges[:, 1], self.tables), (self.edges[:, 1], self.edges[:, 0], self.tables.transpose(0, 2, 1))]
        sizes = np.abs(np.where(allowed, self.unary, 0.0)).max(axis=1)
        for node, _, tables in sides:
            np.add.at(sizes, node, 2 * np.abs(np.where(tables > -np.inf, tables, 0.0)).max(axis=(1, 2), initial=0.0))
        with np.errstate(invalid="ignore"):
            for k in range(n_labels):
                lead = self.unary[:, k, None] - self.unary              # of label k over each other one
                for node, other, tables in sides:
                    ahead = tables[:, k, None, :] - tables
                    ahead[(tables == -np.inf) | ~allowed[other][:, None, :]] = np.inf
                    np.add.at(lead, node, ahead.min(axis=2))
                lost |= allowed[:, k, None] & (lead > ROOM * UNIT * sizes[:, None])
        lost &= allowed & self.open[:, None]
        self.unary[lost] = -np.inf
        return bool(lost.any())

    def components(self):
        """The open nodes of each connected component, and its edges by number."""
        graph = csr_array((np.ones(len(self.edges)), tuple(self.edges.T.astype(np.int32))), shape=(len(self.unary),) * 2)
        part = connected_components(graph, directed=False)[1]
        for one in np.unique(part[self.open]):
            yield np.flatnonzero((part == one) & self.open), np.flatnonzero(part[self.edges[:, 0]] == one)


def best_of_all(unary, edges, tables):
    """The best labelling of few nodes, the first at ties; None if there are too many."""
    choices = [np.flatnonzero(row > -np.inf) for row in unary]
    if np.prod([float(len(own)) for own in choices]) > MOST_LABELLINGS:
        return None
    labellings = np.array(list(itertools.product(*choices)), dtype=np.intp)
    terms = np.concatenate([unary[np.arange(len(unary)), labellings],
                            tables[np.arange(len(edges)), labellings[:, edges[:, 0]], labellings[:, edges[:, 1]]]], axis=1)
    totals = terms.sum(axis=1)
    if totals.max() == -np.inf:
        raise DataError("no labels are allowed: the scores of nodes and edges contradict each other.")
    close = totals >= totals.max() - 4 * terms.shape[1] * UNIT * np.abs(terms[totals > -np.inf]).sum(axis=1).max()
    sums, rests = exact_sums(terms[close])
    return labellings[close][np.lexsort((-rests, -sums))[0]]


__all__ = ["Reduced", "best_of_all"]
