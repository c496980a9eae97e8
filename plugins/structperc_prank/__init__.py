"""PRank: one direction for all ranks, and an ordered threshold between neighbouring ranks.

Provisional: it may change in any minor version.

    Engine("prank", pocket=True, epochs=100)        the best of all rankers that the steps make, by the loss over all rows

With `pocket` a model's loss on its training data never rises with the epochs. Sample weights and costs of examples count. After each
step the ranker is compared on all rows (0.2 ns for each row and column). `pocket="screened"` compares hopeless rankers only on some hundred
rows. This takes a tenth of the time on thousands of rows. `"runs"` hardly takes longer than the steps, and finds worse rankers.
"""

from structperc import Option, hookimpl
from structperc.components import RankOutputs, ThresholdArgmax, ThresholdFeatures
from structperc_prank.all_thresholds import newton_trainer
from structperc_prank.cumulative_logit import PENALTY
from structperc_prank.training import PocketTrainer
from structperc_prank.updates import OriginalUpdate, SingleUpdate

__all__ = ["PENALTY", "newton_trainer"]        # for other packages

also_called = ("proportional-odds", "ordered-logit", "cumulative-link")
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
        ("structured", "original", "single"),
        "'structured': the perceptron step; 'original': Crammer and Singer's, where ties are errors; 'single': of one threshold",
    ),
    "pocket": Option(
        False,
        (False, True, "screened", "runs"),
        "keep the ranker of least cost; 'screened': hopeless ones on few rows; 'runs': compare those right longer in a row",
    ),
    "penalty": PENALTY,
}
# The errors of "single" on 14 small real data sets were 0.97 of those of "structured" on average.
recommended = {"trainer": "until-level", "epochs": 20, "weighting": "visits", "variant": "single", "calibrate": "auto",
               ("pocket", True, "screened", "runs"): {"trainer": "online", "variant": "structured", "calibrate": False},
               ("trainer", "cumulative-logit"): {"calibrate": False}}
updates = ("perceptron",)
trainers = ("cumulative-logit", "all-threshold")


@hookimpl
def structperc_outputs(context):
    return RankOutputs()


@hookimpl
def structperc_features(context):
    return ThresholdFeatures(context.n_labels - 1, context.n_features, feature_major=context.sparse, problem="prank")


@hookimpl
def structperc_argmax(context):
    return ThresholdArgmax(context.n_labels)


@hookimpl
def structperc_update(context):
    variants = {"original": OriginalUpdate, "single": SingleUpdate}
    variant = context.options["variant"]
    return variants[variant]() if context.update == "perceptron" and variant in variants else None


@hookimpl
def structperc_trainer(context):
    trainer = newton_trainer(context)
    if trainer is not None:
        return trainer
    pocket = context.options["pocket"]
    if not pocket or context.trainer != "online":
        return None
    return PocketTrainer(context.options["variant"], "all" if pocket is True else pocket)
