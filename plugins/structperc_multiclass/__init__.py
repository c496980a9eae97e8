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

    def without_columns(self):
        return ClassFeatures(self.n_blocks, 0) if self.intercept else None

    def attributes(self, weights):
        if not weights.primal:
            return {}
        return {
            "coef_": lambda: np.array(self.split(weights.vector())[0]),
            "intercept_": lambda: np.array(self.split(weights.vector())[1]),
        }


@hookimpl
def structperc_outputs(task):
    return ClassOutputs()


@hookimpl
def structperc_features(task):
    return ClassFeatures(task.n_labels, task.n_features, task.fit_intercept, feature_major=task.sparse)


@hookimpl
def structperc_argmax(task):
    return LargestArgmax(task.n_labels)
