"""CuSum Rank: every rank has its own direction, and a rank's score is the sum of its prefix."""

import numpy as np

from structperc import hookimpl
from structperc.components import BlockFeatures, PrefixArgmax, RankOutputs, TablePart

also_called = ("ordinal", "regression", "ordinal-regression", "ordinal_regression", "ranks")
citation = r"""@misc{milidiu2019cumulative,
  author = {Ruy Luiz Milidi{\'u} and Rafael Henrique Santos Rocha},
  title = {Cumulative Sum Ranking},
  year = {2019},
  eprint = {1911.11255},
  archivePrefix = {arXiv}
}"""

# Of 13 small real data sets, held-out parts, columns as they are and standardised.
recommended = {"update": "pa2", "loss_weight": 1.0, "trainer": "until-level", "epochs": 20, "weighting": "visits", "calibrate": "auto"}


def with_zero_row(block):
    return np.concatenate([np.zeros_like(block[:1]), block])


class Intercepts(TablePart):
    """The intercepts, and that of the papers' w_1 = 0 as the first."""

    def table(self, values):
        return with_zero_row(super().table(values))


class CuSumFeatures(BlockFeatures):
    """x in block k for the atom "rank > k"; shows the papers' w_1 = 0 as the first row of coef_."""

    def explicit_part(self):
        return Intercepts(self.layout.n_blocks, "intercept_") if self.intercept else None

    def attributes(self, weights):
        functions = {name: lambda show=show: with_zero_row(show()) for name, show in super().attributes(weights).items()}
        return {"thresholds_": "each rank has a direction of its own; PRank and IntervalPA cut one direction by thresholds_", **functions}


@hookimpl
def structperc_outputs(context):
    return RankOutputs()


@hookimpl
def structperc_features(context):
    return CuSumFeatures(context.n_labels - 1, context.n_features, context.fit_intercept, feature_major=context.sparse)


@hookimpl
def structperc_argmax(context):
    return PrefixArgmax(context.n_labels)
