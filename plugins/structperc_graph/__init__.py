"""Graphs and images: a label for every node, by the features of nodes and of edges, and by the pairs of neighbouring labels."""

import numpy as np

from structperc import Option, hookimpl
from structperc.components import Argmax, RowPart, TokenLoss
from structperc.errors import DataError, OptionError, UnusedOption
from structperc.solvers import PairwiseModel
from structperc_graph.outputs import GraphOutputs, kinds_of_pairs, n_nodes
from structperc_graph.reading import GraphReader

also_called = ("mrf", "ising", "potts")
citation = """@article{boykov2001fast,
  author = {Yuri Boykov and Olga Veksler and Ramin Zabih},
  title = {Fast Approximate Energy Minimization via Graph Cuts},
  journal = {IEEE Transactions on Pattern Analysis and Machine Intelligence},
  volume = {23},
  number = {11},
  pages = {1222--1239},
  year = {2001}
}"""

EXACT = ("cut", "tree", "exact")

options = {
    "pairs": Option("potts", choices=("potts", "symmetric", "full"),
                    help="pairs of labels with weights: equal labels together, unordered pairs, or ordered pairs"),
    "inference": Option("auto", choices=("auto", "cut", "tree", "relaxed", "expansion", "exact"),
                        help="how labels are found; auto: the first of tree, cut, expansion and relaxed that the scores allow"),
    "attractive": Option(False, help="of pairs=potts: whether neighbours never repel; needs pair features from 0"),
    "most_nodes": Option(None, types=(type(None), int), low=1, help="of inference=exact: where branch and bound stops; none: at the end"),
    "diagonal": Option(False, help="of images: whether diagonal neighbours are joined too"),
    "contrast": Option(False, help="of images: a pair feature that is 1 between equal pixels and falls to 0 between unlike ones"),
}
losses = ("hamming",)


class LabelledGraph(Argmax):
    """The labels of largest score, by `PairwiseModel.solve` and its tie rules. `optimality_gaps` returns how far they may be from best."""
    # inference: str. The method of `PairwiseModel.solve`.
    # most_nodes: int or None
    # exact: bool. Whether every prediction is the best one.

    def __init__(self, inference, most_nodes, exact):
        self.inference, self.most_nodes, self.exact, self._last = inference, most_nodes, exact, None

    def model(self, x):
        """The graph of x; that of the example before where both are the same, as in images of one size."""
        n, last = n_nodes(x.keys), self._last
        edges = x.keys[n:, :2].astype(np.intc)
        if last is None or last.n_nodes != n or not np.array_equal(last.edges, edges):
            self._last = last = PairwiseModel(n, self.outputs.n_tags, edges)
        return last

    def argmax(self, scores, x):
        model = self.model(x)
        try:
            solution = model.solve(*self.outputs.tables(scores, model.n_nodes), self.inference, self.most_nodes)
        except DataError as error:
            raise DataError(f"graph {x.index} cannot be labelled: {error}") from None
        x.bound = solution.gap
        return solution.labels + 1

    def marginals(self, scores, x):
        model = self.model(x)
        if not model.forest.acyclic:
            return None
        log_z, nodes, pairs = model.marginals(*self.outputs.tables(scores, model.n_nodes))
        table, K, n = np.zeros((x.n_rows, self.outputs.width + 1)), self.outputs.n_tags, model.n_nodes
        table[:n, :K] = nodes
        of_pairs = table[n:, K:]                # the last one has no weight
        for kind, p in zip(self.outputs.kinds.ravel(), pairs.reshape(len(pairs), K * K).T, strict=True):
            of_pairs[:, kind] += p
        return log_z, table[:, :-1].ravel()


@hookimpl
def structperc_reader(context):
    options = context.options
    if options["attractive"] and options["pairs"] != "potts":
        raise OptionError(f"attractive=True keeps the weights of equal labels at 0 or above; with pairs={options['pairs']!r} neighbours "
                          f"may "
                          f"repel for all that. Set pairs='potts'.")
    return GraphReader(not context.fit_intercept, options["diagonal"], options["contrast"], options["attractive"])


@hookimpl
def structperc_outputs(context):
    return GraphOutputs(*(context.options[name] for name in ("pairs", "inference", "most_nodes")))


@hookimpl
def structperc_features(context):
    n_blocks, bounds = atoms_per_row(context), None
    if context.options["attractive"]:
        bounds = np.where(np.arange(n_blocks)[:, None] < context.n_labels, -np.inf, 0.0), np.inf
    return RowPart(n_blocks, context.n_features, context.fit_intercept, context.sparse, bounds)


@hookimpl
def structperc_argmax(context):
    inference, most_nodes = context.options["inference"], context.options["most_nodes"]
    if most_nodes is not None and inference != "exact":
        raise UnusedOption(f"most_nodes={most_nodes} stops branch and bound, but inference={inference!r} needs none; set inference='exact' "
                           f"or leave most_nodes out.", "most_nodes")
    cuts = inference == "auto" and context.options["attractive"] and context.n_labels == 2
    return LabelledGraph(inference, most_nodes, cuts or inference in EXACT and most_nodes is None)


@hookimpl
def structperc_loss(context):
    if isinstance(context.loss, np.ndarray):
        return TokenLoss(context.loss, atoms_per_row(context))
    return TokenLoss(width=atoms_per_row(context)) if context.loss == "hamming" else None


def atoms_per_row(context):
    """As many as labels and kinds of pairs."""
    return context.n_labels + int(kinds_of_pairs(context.n_labels, context.options["pairs"]).max()) + 1


check_options = {"classes": ["a", "b", "c"], "inference": "tree", "pairs": "full"}


def sample(random, n_examples):
    """Small forests: rows of nodes, then of edges."""
    blocks = []
    for n in random.integers(1, 4, n_examples):
        ends = np.array([(i, i) for i in range(n)] + [(i, random.integers(i)) for i in range(1, n) if random.random() < 0.8], dtype=float)
        blocks.append(np.column_stack([ends, random.normal(size=(len(ends), 2))]))
    return blocks
