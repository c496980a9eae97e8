"""Ranks known to lie in an interval: one direction, ordered thresholds, and exact passive-aggressive steps."""

import numpy as np
from structperc.core.argmax import ThresholdArgmax
from structperc.core.threshold_features import ThresholdFeatures

from structperc import hookimpl
from structperc_interval_pa.intervals import IntervalLoss, IntervalOutputs

losses = ("absolute", "squared")


@hookimpl
def structperc_outputs(task):
    return IntervalOutputs()


@hookimpl
def structperc_features(task):
    return ThresholdFeatures(task.n_labels - 1, task.n_features, feature_major=task.sparse, problem="interval-pa")


@hookimpl
def structperc_argmax(task):
    return ThresholdArgmax(task.n_labels)


@hookimpl
def structperc_loss(task):
    return IntervalLoss(task.loss) if isinstance(task.loss, np.ndarray) or task.loss in losses else None


def observe(random, answers):
    """Intervals around the right answers."""
    answers = np.asarray(answers)
    return np.column_stack([np.maximum(answers - random.integers(0, 2, len(answers)), 1),
                            np.minimum(answers + random.integers(0, 2, len(answers)), 4)])
