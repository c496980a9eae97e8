"""The forms of graphs: rows of nodes and edges, (node features, edges, pair features), and images as grids."""

import numpy as np

from structperc.components import KeyedReader
from structperc.errors import DataError, shortened
from structperc.plugin_tools import as_examples, read_array
from structperc.solvers import grid_edges


class GraphReader(KeyedReader):
    """Reads graphs to rows whose keys are (i, i, width) of node i and (i, j, width) of an edge. The width is that of an image, else 0.

    An example is a tuple (node features (n, d), edges (m, 2)). Pair features (m, p) may be its third entry. An image (h, w, d) has its
    pixels as the nodes of a grid. A block of rows (i, j, features) has the nodes first, in order, with i = j.
    """
    # constant: bool. Whether edges without features get a constant one: where no intercept is one already.
    # diagonal: bool. Whether diagonal neighbours in images are joined too.
    # contrast: bool. Whether the edges of images have the feature exp(-|x_i - x_j|^2 / (2 mean)). The mean is that of |x_i - x_j|^2 in the
    # image.
    # attractive: bool. Whether pair features below 0 raise an error.

    def __init__(self, constant=False, diagonal=False, contrast=False, attractive=False):
        super().__init__(2)
        self.constant, self.diagonal, self.contrast, self.attractive = constant, diagonal, contrast, attractive
        self.columns = None             # features of nodes and of pairs, where examples come as tuples or images

    def learn(self, X, offsets=None):
        self.columns = None
        rows = super().learn(X, offsets)
        self.columns = rows.columns
        return rows

    def read(self, X, offsets=None):
        widths, columns, X = None, None, as_examples(X)
        if offsets is None and isinstance(X, (list, tuple)) and len(X) and (isinstance(X[0], tuple) or getattr(X[0], "ndim", 0) == 3):
            graphs = [self.graph(x, i) for i, x in enumerate(X)]
            sizes = [(nodes.shape[1], pairs.shape[1]) for nodes, _, pairs, _ in graphs]
            columns = self.columns or sizes[0]
            wrong = next((i for i, size in enumerate(sizes) if size != columns), None)
            if wrong is not None:
                raise DataError(f"X[{wrong}] has {sizes[wrong][0]} features of nodes and {sizes[wrong][1]} of pairs; expected {columns[0]} "
                                f"and {columns[1]}.")
            X, widths = [in_rows(*graph[:3]) for graph in graphs], [graph[3] for graph in graphs]
        rows = super().read(X, offsets)
        self.check_graphs(rows)
        rows.keys = np.column_stack([rows.keys, np.zeros(rows.n_rows) if widths is None else np.repeat(widths, rows.sizes())])
        rows.columns = columns
        return rows

    def read_one(self, x, objects=False, several_rows=False):
        return self.read([x])

    def graph(self, x, i):
        """Features of nodes, edges, features of pairs, and the width of an image or 0."""
        if getattr(x, "ndim", 0) == 3:
            image, width = as_floats(x, f"X[{i}]"), x.shape[1]
            nodes, edges = image.reshape(-1, image.shape[2]), grid_edges(*image.shape[:2], self.diagonal)
            pairs = contrasts(nodes, edges) if self.contrast else None
        elif isinstance(x, tuple) and len(x) in (2, 3):
            nodes, edges, width = as_floats(x[0], f"X[{i}][0]"), np.asarray(x[1]), 0
            edges = edges.reshape(-1, 2) if edges.size == 0 else edges
            pairs = as_floats(x[2], f"X[{i}][2]") if len(x) == 3 and x[2] is not None else None
        else:
            raise DataError(f"X[{i}] is {shortened(x)}; expected (node features, edges) or (node features, edges, pair features), or an "
                            f"image (height, width, features).")
        if nodes.ndim != 2 or edges.ndim != 2 or edges.shape[1] != 2 or pairs is not None and (pairs.ndim != 2 or len(pairs) != len(edges)):
            raise DataError(f"X[{i}] has the shapes {nodes.shape}, {edges.shape}{'' if pairs is None else f', {pairs.shape}'}. "
                            f"Expected: node features (n, d), edges (m, 2), and optional pair features (m, p).")
        if pairs is None:
            pairs = np.ones((len(edges), int(self.constant)), dtype=nodes.dtype)
        return nodes, edges, pairs, width

    def check_graphs(self, rows):
        """Raises an error for rows that are no graph, and pair features below 0 where pairs shall attract."""
        (first, second), sizes = rows.keys.T, rows.sizes()
        begin = np.cumsum(sizes) - sizes
        example = np.repeat(np.arange(len(sizes)), sizes)
        place, is_node = np.arange(len(first)) - begin[example], first == second
        n = np.bincount(example[is_node], minlength=len(sizes))[example]
        wrong = np.flatnonzero(is_node & ((first != place) | (place >= n)))
        if len(wrong):
            t = int(wrong[0])
            raise DataError(f"row {place[t]} of graph {example[t]} names node {first[t]:g}. Expected the rows of its nodes first, (0, 0), "
                            f"(1, 1) and so on.")
        whole = (np.minimum(first, second) >= 0) & (np.maximum(first, second) < n) & (rows.keys == np.floor(rows.keys)).all(axis=1)
        wrong = np.flatnonzero(~is_node & ~whole)
        if len(wrong):
            t = int(wrong[0])
            raise DataError(f"row {place[t]} of graph {example[t]} joins the nodes {first[t]:g} and {second[t]:g}; the graph has the nodes "
                            f"0..{n[t] - 1}.")
        empty = np.flatnonzero(sizes == 0)
        if len(empty):
            raise DataError(f"graph {empty[0]} of X has no nodes; leave it out.")
        if self.attractive:
            of_edges = rows.X[np.flatnonzero(~is_node)]
            low = (of_edges.min(axis=1).toarray().ravel() if rows.sparse else of_edges.min(axis=1)) if of_edges.shape[0] else np.zeros(0)
            wrong = np.flatnonzero(low < 0)
            if len(wrong):
                t = int(np.flatnonzero(~is_node)[wrong[0]])
                raise DataError(f"the edge {first[t]:g} to {second[t]:g} of graph {example[t]} has the feature {low[wrong[0]]:g}; "
                                f"attractive=True takes pair features from 0.")

    def state(self):
        return super().state() | ({} if self.columns is None else {"columns": np.array(self.columns)})

    def restore(self, state):
        super().restore({key: value for key, value in state.items() if key != "columns"})
        self.columns = tuple(read_array(state, "columns", int, (2,)).tolist()) if "columns" in state else None


def as_floats(values, where):
    """An array of float32 or float64."""
    try:
        floats = np.asarray(values)
        return floats if floats.dtype in (np.float32, np.float64) else floats.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{where} is {shortened(values)}; expected an array of numbers.") from None


def contrasts(nodes, edges):
    """exp(-|x_i - x_j|^2 / (2 mean)) of each edge, 1 if all nodes are equal."""
    apart = ((nodes[edges[:, 0]] - nodes[edges[:, 1]]) ** 2).sum(axis=1, keepdims=True)
    return np.exp(-apart / (2 * apart.mean() or 1.0)) if len(apart) else apart


def in_rows(nodes, edges, pairs):
    """Rows (i, i, features) of nodes, then (i, j, features) of edges; the shorter ones end with zeros."""
    n, m = len(nodes), len(edges)
    rows = np.zeros((n + m, 2 + max(nodes.shape[1], pairs.shape[1])), dtype=np.result_type(nodes, pairs))
    rows[:n, :2], rows[n:, :2] = np.arange(n)[:, None], edges
    rows[:n, 2:2 + nodes.shape[1]], rows[n:, 2:2 + pairs.shape[1]] = nodes, pairs
    return rows


__all__ = ["GraphReader"]
