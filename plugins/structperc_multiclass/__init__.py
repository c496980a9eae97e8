"""Multiclass: every class has its own direction, and the largest score wins."""

from structperc import hookimpl
from structperc.components import BlockFeatures, ClassOutputs, LargestArgmax

also_called = ("classification", "classifier")
citation = r"""@article{crammer2003ultraconservative,
  author = {Koby Crammer and Yoram Singer},
  title = {Ultraconservative Online Algorithms for Multiclass Problems},
  journal = {Journal of Machine Learning Research},
  volume = {3},
  pages = {951--991},
  year = {2003}
}"""

# Of 13 small real data sets, held-out parts, columns as they are and standardised.
recommended = {"update": "pa2", "loss_weight": 1.0, "trainer": "until-level", "epochs": 20, "weighting": "visits", "calibrate": "auto"}


@hookimpl
def structperc_outputs(context):
    return ClassOutputs()


@hookimpl
def structperc_features(context):
    return BlockFeatures(context.n_labels, context.n_features, context.fit_intercept, feature_major=context.sparse)


@hookimpl
def structperc_argmax(context):
    return LargestArgmax(context.n_labels)
