# distutils: extra_compile_args = GLUE
"""The output space of a graph: one label per node. Encoding and counting take about 20 ns per node and edge."""
import itertools

import numpy as np

from structperc.core.outputs cimport Outputs
from structperc.errors import DataError, PluginError, shortened
from structperc.components import Structures
from structperc.pictures import Display
from structperc.plugin_tools import LabelCodes, encode_nested, find_labels, is_listed, plain_labels
from structperc.core.rows cimport Example
from structperc.metrics import token_measures
from structperc.solvers import PairwiseModel


class GraphDisplay(Display):
    """The labels of each node."""

    def atom_names(self, Example x):
        cdef GraphOutputs outputs = self.outputs
        keys, names = x.keys, [str(name) for name in plain_labels(outputs.labels)]
        n, kinds = n_nodes(keys), outputs.kinds
        of_kind = ["equal"] if outputs.pairs == "potts" else [
            " and ".join((names[k], names[j])) if outputs.pairs == "symmetric" else f"{names[k]} to {names[j]}"
            for k, j in (np.argwhere(kinds == kind)[0] for kind in range(outputs.width - outputs.n_tags))]
        names_of_atoms = []
        for t, (i, j) in enumerate(keys[:, :2].astype(int).tolist()):
            place = f"node {i}" if t < n else f"edge {i} to {j}"
            names_of_atoms += [f"{place}: {name}" if (t < n) == (b < outputs.n_tags) else f"{place}: none"
                               for b, name in enumerate(names + of_kind)]
        return names_of_atoms

    def marginals(self, Example x, expected):
        n, width, n_tags = n_nodes(x.keys), int(x.keys[0, 2]), self.outputs.n_tags
        of_nodes = expected.reshape(-1, self.outputs.width)[:n, :n_tags]
        return of_nodes.reshape(-1, width, n_tags) if width else of_nodes

    def local_atoms(self, Example x):
        return (np.arange(n_nodes(x.keys))[:, None] * self.outputs.width + np.arange(self.outputs.n_tags)).ravel()


cdef class GraphOutputs(Outputs):
    """A label for each node, as the tuple of their codes 1..K. Images have arrays (height, width), other graphs lists.

    In gold outputs None means an unlabelled node; its code is 0. Training completes it by the best labels of the others.

    Row t of an example has the atoms `t * (K + n_pairs) + b`. For a node, b < K is the label; for an edge, b - K is the kind of pair.
    """
    # pairs: {"potts", "symmetric", "full"}. Which pairs of labels have weights: equal labels together, unordered pairs, or ordered pairs.
    # inference, most_nodes: How `PairwiseModel.solve` completes graphs of which some labels are known.

    cdef readonly object labels, pairs
    cdef readonly Py_ssize_t n_tags             # how many labels there are
    cdef readonly Py_ssize_t width              # atoms of a row
    cdef object codes, names, inference, most_nodes
    cdef int[:, ::1] kind                       # of a pair of labels: its number behind those of the labels; -1: no atom

    def __cinit__(self, *args, **kwargs):
        self.kind = None

    def __init__(self, pairs, inference="auto", most_nodes=None):
        self.pairs, self.inference, self.most_nodes = pairs, inference, most_nodes

    def find_labels(self, y, classes):
        self.partial_gold = False
        if classes is None:
            y = list(self.labels_in(y))
        self.labels = find_labels(y, classes, ordered=False)
        self.n_tags, self.codes, self.names = len(self.labels), LabelCodes(self.labels), plain_labels(self.labels)
        self.kind = kinds_of_pairs(self.n_tags, self.pairs)
        self.width = self.n_tags + np.asarray(self.kind).max() + 1
        return self.labels

    @property
    def kinds(self):
        """The number of each pair of labels among the kinds of pairs, int array (K, K); -1: it has no weight."""
        return np.asarray(self.kind)

    def encode(self, y, rows):
        refuse_no_list(y)
        if len(y) != rows.n_examples:
            raise DataError(f"y has the labels of {len(y)} graph{'s' * (len(y) != 1)} but X has {rows.n_examples}; give the labels of each "
                            f"graph's nodes.")
        y = [flat(labels, i) for i, labels in enumerate(y)]
        offsets = np.zeros(len(y) + 1, dtype=np.int64)
        for i, labels in enumerate(y):
            n = n_nodes(rows.example(i).keys)
            if len(labels) != n:
                raise DataError(f"y[{i}] has {len(labels)} label{'s' * (len(labels) != 1)} but graph {i} of X has {n} node"
                                f"{'s' * (n != 1)}; give one label per node.")
            offsets[i + 1] = offsets[i] + n
        codes = np.zeros(int(offsets[len(y)]), dtype=np.intc)
        unknown = encode_nested({**self.codes.code_of, None: 0}, y, codes, offsets)
        if unknown is not None:
            i, j, label = unknown
            self.codes.refuse(f"y[{i}][{j}]", label)
        return Structures(codes, offsets)

    def is_partial(self, codes):
        return self.partial_gold or not np.all(codes)

    def encode_answers(self, answers, rows):
        structures = self.encode(answers, rows)
        if not structures.values.all():
            raise DataError("a prediction has the label None; only right outputs may leave nodes open.")
        return structures

    def labels_in(self, y):
        refuse_no_list(y)
        return (label for i, labels in enumerate(y) for label in flat(labels, i) if label is not None)

    def check_partial(self, Example x, gold):
        n = n_nodes(x.keys)
        if len(gold) != n or not all(0 <= k <= self.n_tags for k in gold):
            raise PluginError(f"{shortened(gold)} is no gold output of graph {x.index}: expected {n} ints from 0 to {self.n_tags}.")

    def check_structure(self, Example x, y):
        n = n_nodes(x.keys)
        if not isinstance(y, tuple) or len(y) != n or not all(isinstance(k, int) and 1 <= k <= self.n_tags for k in y):
            raise PluginError(f"{shortened(y)} is no labelling of graph {x.index}: expected {n} ints from 1 to {self.n_tags}.")

    def decode(self, y, Example x):
        if x.keys[0, 2]:
            return self.shaped(self.labels[np.asarray(y, dtype=np.intp) - 1], x)
        return [self.names[k - 1] for k in y]

    def shaped(self, values, Example x):
        """Values of the nodes as users see them: of an image an array (height, width, ...), else a list."""
        width = int(x.keys[0, 2])
        return np.asarray(values).reshape(-1, width, *np.shape(values)[1:]) if width else values.tolist()

    def measures(self, y_true, y_pred):
        return token_measures(*([flat(labels, i) for i, labels in enumerate(y)] for y in (y_true, y_pred)))

    def max_code_length(self, n_atoms):
        return n_atoms // self.width

    def enumerate(self, Example x):
        return itertools.product(range(1, self.n_tags + 1), repeat=n_nodes(x.keys))

    def display(self):
        return GraphDisplay(self)

    cdef int count_c(self, Example x, const int *y, Py_ssize_t n, double sign, double *c) noexcept nogil:
        cdef Py_ssize_t t
        cdef const double[:, :] keys
        cdef int kind
        with gil:
            keys = x.keys
        for t in range(n):
            c[t * self.width + y[t] - 1] += sign
        for t in range(n, x.block.n_rows):
            kind = self.kind[y[<Py_ssize_t> keys[t, 0]] - 1, y[<Py_ssize_t> keys[t, 1]] - 1]
            if kind >= 0:
                c[t * self.width + self.n_tags + kind] += sign
        with gil:
            keys = None
        return 0

    cdef int agrees_c(self, Example x, const int *gold, Py_ssize_t n_gold, const int *y, Py_ssize_t n) noexcept nogil:
        cdef Py_ssize_t t
        for t in range(n):
            if y[t] != gold[t] and gold[t] != 0:
                return 0
        return 1

    cdef Py_ssize_t complete_c(self, Example x, const int *gold, Py_ssize_t n_gold, const double *s, int *y) noexcept nogil:
        """The best labels, by the solver of predictions, among those with all that are known."""
        cdef Py_ssize_t t
        with gil:
            try:
                labels = self.completed(x, np.array([gold[t] for t in range(n_gold)]), np.array([s[t] for t in range(x.n_atoms)]))
                for t in range(n_gold):
                    y[t] = labels[t]
            except BaseException as error:
                self.error = self.error or error
                return -1
        return n_gold

    def completed(self, Example x, known, scores):
        """The best labels where `known`, (n_nodes,) from 1, is 0, beside those that it has."""
        n, rows = len(known), np.flatnonzero(known)
        unary, pairs = self.tables(scores, n)
        unary, given = np.array(unary), unary[rows, known[rows] - 1]
        unary[rows] = -np.inf
        unary[rows, known[rows] - 1] = given
        model = PairwiseModel(n, self.n_tags, x.keys[n:, :2].astype(np.intc))
        return np.where(known > 0, known, model.solve(unary, pairs, self.inference, self.most_nodes).labels + 1)

    def tables(self, scores, n):
        """Scores of the n nodes by labels, (n, n_labels), and of edges by pairs of labels, (n_edges, n_labels, n_labels)."""
        s, K = np.asarray(scores).reshape(-1, self.width), self.n_tags
        of_pairs = np.append(s[n:, K:], np.zeros((len(s) - n, 1)), axis=1)        # the last one has no weight
        return s[:n, :K], of_pairs[:, self.kinds]


def n_nodes(keys):
    """How many of an example's rows are nodes: those that name one twice."""
    return int((keys[:, 0] == keys[:, 1]).sum())


def kinds_of_pairs(K, pairs):
    """The number of each pair of labels among the kinds of pairs, int array (K, K); -1: it has no weight."""
    if pairs == "potts":
        return np.where(np.eye(K), 0, -1).astype(np.intc)
    kinds = np.arange(K * K, dtype=np.intc).reshape(K, K)
    if pairs == "symmetric":
        rows, columns = np.triu_indices(K)
        kinds[rows, columns] = kinds[columns, rows] = np.arange(len(rows))
    return kinds


def flat(labels, i):
    """The labels of one graph, or of an image row by row, as a list."""
    if isinstance(labels, np.ndarray):
        return labels.ravel().tolist()
    if not is_listed(labels):
        raise DataError(f"y[{i}] is {shortened(labels)}; expected a list of labels, one for each node, or an array (height, width).")
    return list(labels)


def refuse_no_list(y):
    if not is_listed(y):
        raise DataError(f"y is {shortened(y)}; expected the labels of each graph's nodes.")
