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
    def structperc_outputs(self, context):
        return Outputs()

    @hookimpl
    def structperc_features(self, context):
        return RowFeatures(context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return self.Positive()
