"""Clusters as sets of pairs, or as hidden trees of pairs, and the loss of trees."""

import itertools

import numpy as np

from structperc.components import Loss, Outputs
from structperc.errors import DataError, PluginError, shortened
from structperc.metrics import cluster_measures
from structperc.pictures import Display
from structperc.plugin_tools import is_listed, is_missing, key_text, key_values
from structperc.solvers.clusters import connected
from structperc.solvers.latent_trees import max_latent_trees

MOST_LISTED = 8             # items of an example whose clusters, or trees, are enumerated


def ends(x):
    """The first and the second item of each pair of an example."""
    return x.keys.T.astype(np.intp)


def n_items(x):
    """As many as the example has; if only its pairs are known, as many as they name."""
    known = x.source.n_items
    return int(x.keys.max(initial=-1)) + 1 if known is None else int(known[x.index])


def clusters(pairs, x):
    """A label for each item of an example: items that these pairs connect share one."""
    first, second = ends(x)
    chosen = np.fromiter(pairs, dtype=np.intp)
    return connected(n_items(x), first[chosen], second[chosen])


def inside(labels, x):
    """The pairs of an example whose items have the same label."""
    first, second = ends(x)
    return np.flatnonzero(labels[first] == labels[second])


class PairDisplay(Display):
    """Pairs by their two items."""

    def atom_names(self, x):
        return [pair_text(pair) for pair in key_values(x)]


class Clusterings(Outputs):
    """Clusters of the items of an example. Atoms are the pairs, a structure is the pairs inside clusters.

    Items of one cluster that no pairs inside it connect count as two clusters: they have the same pairs.
    """
    # shown: {"labels", "rows"}. What outputs are: a label for each item, or rows of X. Labels are numbers from 0 in the order of first
    # items.

    def __init__(self, shown="labels"):
        self.shown = shown

    def decode(self, y, x):
        labels = clusters(y, x)
        return labels if self.shown == "labels" else tuple(inside(labels, x).tolist())

    def encode(self, y, rows):
        if self.shown == "labels" and is_listed(y) and len(y) == rows.n_examples:
            y = [tuple(inside(read_labels(one, rows.example(i)), rows.example(i)).tolist()) for i, one in enumerate(y)]
        return super().encode(y, rows)

    def check_structure(self, x, y):
        super().check_structure(x, y)
        missing = set(inside(clusters(y, x), x).tolist()) - set(y)
        if missing:
            items = pair_text(key_values(x)[min(missing)])
            raise PluginError(f"the pairs {shortened(y)} of example {x.index} make one cluster of the items {items}. "
                              f"The pair {min(missing)} of these is missing.")

    def enumerate(self, x):
        named, places = np.unique(x.keys, return_inverse=True)
        if len(named) > MOST_LISTED:
            return None
        first, second = places.reshape(-1, 2).T
        return {tuple(np.flatnonzero(labels[first] == labels[second]).tolist()): None for labels in partitions(len(named))}

    def display(self):
        return PairDisplay(self)

    def measures(self, y_true, y_pred):
        """Those of all examples' clusters as one clustering."""
        if self.shown != "labels" or not len(y_true):
            return {}
        gold, predicted = [], []
        for i, (one, other) in enumerate(zip(y_true, y_pred, strict=True)):
            gold += [(i, label) for label in entries(one)[:len(other)]]     # listed pairs may name fewer items than y
            predicted += [(i, label) for label in entries(other)]
        return cluster_measures(numbered(gold), numbered(predicted))


class LatentTrees(Clusterings):
    """Trees of arcs whose items are clusters. Atoms are the arcs, a structure is the arcs of all trees; one item of each has no arc.

    Gold outputs are clusters, encoded as the arcs inside them: which trees they have is hidden.
    """

    default_loss, hidden = "links", True

    def __init__(self, shown="labels"):
        super().__init__(shown)
        self.partial_gold = True

    def admissible(self, gold, rows):
        for i in range(rows.n_examples):
            x = rows.example(i)
            x.n_atoms = x.n_rows
            try:
                Clusterings.check_structure(self, x, gold[i])
                self.complete(gold[i], np.zeros(x.n_atoms), x)
            except (DataError, PluginError) as error:
                raise DataError(f"y[{i}] cannot be used: {error}") from None
        return gold

    def check_structure(self, x, y):
        Outputs.check_structure(self, x, y)
        _, second = ends(x)
        chosen = list(y)
        if len(set(second[chosen].tolist())) < len(chosen):
            raise PluginError(f"the arcs {shortened(y)} of example {x.index} lead to an item twice.")
        if clusters(y, x).max(initial=-1) + 1 + len(chosen) != n_items(x):
            raise PluginError(f"the arcs {shortened(y)} of example {x.index} make a cycle.")

    def encode_answers(self, answers, rows):
        """Trees that have these clusters. The tree of a prediction is hidden, too."""
        gold = self.encode(answers, rows)
        trees = [self.complete(gold[i], np.zeros(rows.example(i).n_rows), rows.example(i)) for i in range(rows.n_examples)]
        return Outputs.encode(self, trees, rows)

    def agrees(self, gold, y, x):
        return np.array_equal(clusters(gold, x), clusters(y, x))

    def complete(self, gold, scores, x):
        return tuple(max_latent_trees(*x.keys.T, np.asarray(scores), n_items(x), clusters(gold, x)).tolist())

    def enumerate(self, x):
        n, (_, second) = n_items(x), ends(x)
        if len(np.unique(x.keys)) > MOST_LISTED:
            return None
        into = [[None, *np.flatnonzero(second == item).tolist()] for item in range(n)]
        sets = (tuple(sorted(a for a in arcs if a is not None)) for arcs in itertools.product(*into))
        return (arcs for arcs in sets if clusters(arcs, x).max(initial=-1) + 1 + len(arcs) == n)


class LinkLoss(Loss):
    """Arcs between different gold clusters, and `missing` for each that is needed inside gold clusters and not there.

    A gold cluster of k items needs k - 1 arcs. The loss is 0 for trees of the gold clusters only, whichever trees these are.
    """

    def __init__(self, missing=1.0):
        self.missing = missing

    def value(self, gold, y, x):
        right = len(set(gold) & set(y))
        needed = n_items(x) - 1 - clusters(gold, x).max(initial=-1)
        return len(y) - right + self.missing * (needed - right)

    def augment(self, gold, scores, scale, x):
        """A wrong arc costs 1, one inside saves `missing`; the constant is what all that are needed cost."""
        scores = np.array(scores) + scale
        scores[list(gold)] -= scale * (1 + self.missing)
        return scores


def read_labels(labels, x):
    """A number for each item of an example, the same for equal labels."""
    expected = f"expected a label for each of its {n_items(x)} items, or with show='rows' the rows of X within clusters"
    if not is_listed(labels) or getattr(labels, "ndim", 1) != 1 or len(labels) < n_items(x):
        raise DataError(f"y[{x.index}] is {shortened(labels)}; {expected}.")
    if x.source.n_items is not None and len(labels) > n_items(x):
        raise DataError(f"y[{x.index}] has {len(labels)} labels, but the example has {n_items(x)} items; expected a label for each.")
    values = entries(labels)
    if any(map(is_missing, values)):
        raise DataError(f"y[{x.index}] holds NaN or None; {expected}.")
    try:
        return numbered(values)
    except TypeError:
        raise DataError(f"y[{x.index}] is {shortened(labels)}, with labels that can change, such as lists; {expected}.") from None


def entries(labels) -> list:
    """The labels of items as values of Python."""
    return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)


def numbered(labels):
    """A number for each label, the same for equal ones."""
    place = {}
    return np.fromiter((place.setdefault(label, len(place)) for label in labels), dtype=np.intp)


def partitions(n):
    """All clusterings of n items, as labels."""
    labellings = [()]
    for _ in range(n):
        labellings = [(*labels, label) for labels in labellings for label in range(max(labels, default=-1) + 2)]
    return map(np.array, labellings) if n else [np.zeros(0, dtype=int)]


def pair_text(pair):
    return " with ".join(map(key_text, pair))


__all__ = ["Clusterings", "LatentTrees", "LinkLoss", "clusters", "inside", "n_items"]
