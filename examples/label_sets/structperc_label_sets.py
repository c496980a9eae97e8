"""Label sets: an example has any of a few labels. There is a weight for each label and feature, and one for each pair of labels."""

from itertools import combinations

import numpy as np

from structperc import hookimpl
from structperc.components import Argmax, BlockFeatures, Outputs, TablePart
from structperc.errors import DataError


class LabelSets(Outputs):
    """Y(x): all sets of labels. The atoms of a set are its labels and, after all labels, its pairs (i, j), i before j."""

    def find_labels(self, y, classes):
        self.labels = sorted(set().union(*y)) if classes is None else np.asarray(classes).tolist()
        return np.array(self.labels)

    def atoms(self, chosen):
        n = len(self.labels)
        return (*chosen, *(n + i * n + j for i, j in combinations(chosen, 2)))

    def encode(self, y, rows):
        if unknown := set().union(*y) - set(self.labels):
            raise DataError(f"y has the labels {sorted(unknown)}; expected sets of the labels {self.labels}.")
        return super().encode([self.atoms(sorted(map(self.labels.index, set(labels)))) for labels in y], rows)

    def decode(self, y, x=None):
        return tuple(self.labels[a] for a in y if a < len(self.labels))

    def enumerate(self, x):
        return (self.atoms(chosen) for m in range(len(self.labels) + 1) for chosen in combinations(range(len(self.labels)), m))


class BestSet(Argmax):
    """Compares the scores of all sets; at a tie the first wins, smaller sets before larger ones."""

    def start(self, parts, context):
        super().start(parts, context)
        self.sets = list(parts.outputs.enumerate(None))
        self.counts = np.array([np.eye(parts.features.layout.atoms_per_example)[list(y)].sum(axis=0) for y in self.sets])

    def argmax(self, scores, x):
        return self.sets[np.argmax(self.counts @ scores)]


@hookimpl
def structperc_outputs(context):
    return LabelSets()


@hookimpl
def structperc_features(context):
    n = context.n_labels
    return BlockFeatures(n, context.n_features, context.fit_intercept, context.sparse) + TablePart((n, n), "pair_scores_")


@hookimpl
def structperc_argmax(context):
    return BestSet()
