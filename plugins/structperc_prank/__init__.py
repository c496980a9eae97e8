"""PRank: one direction for all ranks, and an ordered threshold between neighbouring ranks."""

from structperc import Option, hookimpl
from structperc.components import RankOutputs, ThresholdArgmax, ThresholdFeatures
from structperc_prank.original_update import OriginalUpdate

citation = r"""@inproceedings{crammer2001pranking,
  author = {Koby Crammer and Yoram Singer},
  title = {Pranking with Ranking},
  booktitle = {Advances in Neural Information Processing Systems 14},
  pages = {641--647},
  year = {2001}
}"""

options = {
    "variant": Option(
        "structured",
        ("structured", "original"),
        "'structured': the perceptron step between two ranks; 'original': Crammer and Singer's, which also counts ties as errors",
    ),
}
updates = ("perceptron",)


@hookimpl
def structperc_outputs(context):
    return RankOutputs()


@hookimpl
def structperc_features(context):
    return ThresholdFeatures(context.n_labels - 1, context.n_features, feature_major=context.sparse)


@hookimpl
def structperc_argmax(context):
    return ThresholdArgmax(context.n_labels)


@hookimpl
def structperc_update(context):
    if context.update == "perceptron" and context.options["variant"] == "original":
        return OriginalUpdate()
    return None
