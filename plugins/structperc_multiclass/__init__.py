"""Multiclass: every class has its own direction, and the largest score wins."""

import numpy as np
from structperc.core.argmax import LargestArgmax
from structperc.core.features import BlockFeatures
from structperc.core.outputs import ClassOutputs

from structperc import hookimpl

citation = r"""@article{crammer2003ultraconservative,
  author = {Koby Crammer and Yoram Singer},
  title = {Ultraconservative Online Algorithms for Multiclass Problems},
  journal = {Journal of Machine Learning Research},
  volume = {3},
  pages = {951--991},
  year = {2003}
}"""


class ClassFeatures(BlockFeatures):
    """x in the block of its class."""

    def explicit_part(self):
        return ClassFeatures(self.n_blocks, 0) if self.intercept else None

    def attributes(self, weights):
        return {
            "coef_": lambda: np.array(self.split(weights.vector())[0]),
            "intercept_": lambda: np.array(self.split(weights.vector())[1]),
        }


@hookimpl
def structperc_outputs(context):
    return ClassOutputs()


@hookimpl
def structperc_features(context):
    return ClassFeatures(context.n_labels, context.n_features, context.fit_intercept, feature_major=context.sparse)


@hookimpl
def structperc_argmax(context):
    return LargestArgmax(context.n_labels)
