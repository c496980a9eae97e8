"""The smallest problem over blocks of rows, shared by the tests."""

import numpy as np

from structperc import hookimpl
from structperc.components import Argmax, Outputs, RowFeatures


class Subsets:
    """Choose any rows of an example; y holds their numbers."""

    class Positive(Argmax):
        def argmax(self, scores, x):
            return np.flatnonzero(scores > 0)

    @hookimpl
    def structperc_outputs(self, task):
        return Outputs()

    @hookimpl
    def structperc_features(self, task):
        return RowFeatures(task.n_features)

    @hookimpl
    def structperc_argmax(self, task):
        return self.Positive()
