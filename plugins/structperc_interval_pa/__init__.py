"""Ranks known to lie in an interval: one direction, ordered thresholds, and exact passive-aggressive steps."""

import numpy as np
from structperc_prank import PENALTY, newton_trainer

from structperc import Option, hookimpl
from structperc.components import ThresholdArgmax, ThresholdFeatures
from structperc_interval_pa.interval_outputs import IntervalLoss, IntervalOutputs

losses = ("absolute", "squared")
options = {"unrated": Option("refuse", choices=("refuse", "skip"),
                             help="rows without both ends: raise an error, or leave them out"),
           "penalty": PENALTY}
# Held-out parts of eight small real data sets, cut into five ranks in two ways. Half of the training rows are intervals of two or three
# ranks. The mean absolute error is 0.579 with "exact-pa1", 0.578 with "exact-pa2", 0.588 with "exact-pa". With exact labels of 14 sets the
# errors of both are equal on average. Those of "exact-pa2" are nowhere worse than mord's on the six largest. Results hardly change for C
# from 0.01 to 0.1.
recommended = {"update": "exact-pa2", "C": 0.01, "trainer": "until-level", "epochs": 20, "weighting": "visits", "calibrate": "auto",
               ("update", "exact-pa1"): {"C": 0.03}, ("trainer", "cumulative-logit"): {"calibrate": False}}
paper = {"update": "exact-pa"}       # PA; PA-I and PA-II are "exact-pa1" and "exact-pa2"
check_options = {"update": "exact-pa1"}         # which takes sample weights
trainers = ("cumulative-logit", "all-threshold")


@hookimpl
def structperc_outputs(context):
    return IntervalOutputs(context.options["unrated"])


@hookimpl
def structperc_features(context):
    return ThresholdFeatures(context.n_labels - 1, context.n_features, feature_major=context.sparse, problem="interval-pa")


@hookimpl
def structperc_argmax(context):
    return ThresholdArgmax(context.n_labels)


@hookimpl
def structperc_loss(context):
    return IntervalLoss(context.loss) if isinstance(context.loss, np.ndarray) or context.loss in losses else None


@hookimpl
def structperc_trainer(context):
    return newton_trainer(context)


def observe(random, answers):
    """Intervals around the right outputs."""
    answers = np.asarray(answers)
    return np.column_stack([np.maximum(answers - random.integers(0, 2, len(answers)), 1),
                            np.minimum(answers + random.integers(0, 2, len(answers)), 4)])
