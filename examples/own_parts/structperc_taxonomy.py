"""Labels that are leaves of a tree, "kingdom/species": an error within the same kingdom costs less."""

import numpy as np

from structperc import hookimpl
from structperc.components import Argmax, BlockFeatures, LabelOutputs, Loss


class Leaves(LabelOutputs):
    """A label has two atoms: its kingdom and itself."""

    def find_labels(self, y, classes):
        labels = super().find_labels(y, classes)
        kingdoms = sorted({label.split("/")[0] for label in labels.tolist()})
        of_kingdom = [[label.split("/")[0] == kingdom for kingdom in kingdoms] for label in labels.tolist()]
        self.paths = np.hstack([np.array(of_kingdom, dtype=float), np.eye(len(labels))])
        return labels

    def count(self, x, y):
        return self.paths[y - 1]


class BestLeaf(Argmax):
    """The leaf whose path has the largest score; at a tie the first."""

    def argmax(self, scores, x):
        return int(np.argmax(self.outputs.paths @ scores)) + 1


class Distance(Loss):
    """How many nodes are on one of the two paths only: 2 within a kingdom, else 4."""

    def value(self, gold, y, x=None):
        return float(np.abs(self.outputs.paths[gold - 1] - self.outputs.paths[y - 1]).sum())


class Nodes(BlockFeatures):
    """A block of weights for each node."""


@hookimpl
def structperc_outputs(context):
    return Leaves()


@hookimpl
def structperc_features(context):
    kingdoms = {label.split("/")[0] for label in context.labels.tolist()}
    return Nodes(len(kingdoms) + context.n_labels, context.n_features, feature_major=context.sparse)


@hookimpl
def structperc_argmax(context):
    return BestLeaf()


@hookimpl
def structperc_loss(context):
    return Distance() if context.loss == "zero-one" else None


def sample(random, n_examples):
    """Rows of numbers, and labels."""
    return random.normal(size=(n_examples, 3)), random.permutation(["animal/cat", "animal/dog", "tree/oak", "tree/elm"] * (n_examples // 4))
