"""PRank: one direction for all ranks, and an ordered threshold between neighbouring ranks."""

from structperc.core.argmax import ThresholdArgmax
from structperc.core.outputs import RankOutputs
from structperc.core.threshold_features import ThresholdFeatures

from structperc import Option, hookimpl
from structperc_prank.original import OriginalUpdate

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
def structperc_outputs(task):
    return RankOutputs()


@hookimpl
def structperc_features(task):
    return ThresholdFeatures(task.n_labels - 1, task.n_features, feature_major=task.sparse)


@hookimpl
def structperc_argmax(task):
    return ThresholdArgmax(task.n_labels)


@hookimpl
def structperc_update(task):
    if task.update == "perceptron" and task.options["variant"] == "original":
        return OriginalUpdate()
    return None
