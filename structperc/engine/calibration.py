"""The temperature of a model: scores divided by it have probabilities that match how often answers are right.

A fit cross-fits: models trained without a fold of the examples score that fold, and the temperature t minimises the log loss of all these
scores, - sum_i log p(y_i | x_i). With b = 1 / t the loss is convex in b. Where p(y | x) is proportional to exp(score(y) / t) its slope is
sum_i E_b[score] - score(y_i), the expectation under p, so marginals are all that it needs; labels know their own (`LabelOutputs`).
"""

from __future__ import annotations

import math

import numpy as np

from structperc.core.errors import DataError, StructPercError
from structperc.core.outputs import LabelOutputs
from structperc.engine import answers
from structperc.engine.assembly import again
from structperc.engine.run import TrainingRun
from structperc.engine.trainers import EARLY_STOPPED

FOLDS = 5
MOST_STRUCTURES = 1000          # held-out outputs of many atoms: one number needs no more
STRIDE, FARTHEST = 8.0, 1e30    # how 1 / t is sought


def check(model, rows) -> None:
    """Refuses, before training, what no temperature can be found for."""
    if rows.n_examples < 2:
        raise DataError("calibrate=True compares models that have not seen all examples, and there is one example; give more, or leave it "
                        "out.")
    if not isinstance(model.parts.outputs, LabelOutputs):
        x = model.example(rows, 0)
        try:
            answers.marginals(model.parts, np.zeros(x.n_atoms), x)
        except StructPercError as error:
            raise type(error)(f"calibrate=True needs probabilities of outputs: {error}") from None


def temperature(engine, run, rows, y, costs) -> float:
    """The temperature of what a run has trained.

    Parameters
    ----------
    engine : Engine
        In the middle of its fit.
    run : TrainingRun
        Which has ended.
    rows : Rows
        As they were read.
    y, costs
        As `fit` takes them.
    """
    weights = np.ones(rows.n_examples) if run.weights is None else np.asarray(run.weights)
    active = np.arange(rows.n_examples) if run.active is None else np.asarray(run.active)
    if len(active) < 2:
        return 1.0
    random = np.random.default_rng(run.context.random.integers(2**63))
    labels, folds = isinstance(run.model.parts.outputs, LabelOutputs), dealt(run, active, random)
    held_out = held_out_labels if labels else held_out_structures
    epochs = run.epoch if run.model.status == EARLY_STOPPED else run.context.epochs
    slopes, share = [], 1 / (len(active) + 1)           # one more output, drawn at random: else the temperature of right answers were 0
    for fold in folds:
        absent = weights.copy()
        absent[fold] = 0                                # as if these examples were absent
        model, context = again(engine, run.model, rows, absent, epochs, np.random.default_rng(random.integers(2**63)))
        part = TrainingRun(model, context, rows, y, costs, observers=lambda record: None, engine=engine)
        model.parts.weights.begin_fit(part.rows)
        try:
            model.parts.trainer.train(part)
        finally:
            model.parts.weights.end_fit()
        if not labels:
            fold = fold[:MOST_STRUCTURES // len(folds)]
        slopes.append(held_out(model, part, fold, weights[fold], share))
    return 1 / root(lambda b: sum(slope(b) for slope in slopes))


def dealt(run, active, random) -> list:
    """The examples in folds, each label evenly."""
    shuffled = random.permutation(active)
    if isinstance(run.model.parts.outputs, LabelOutputs):
        codes = np.asarray(run.gold.values).reshape(len(run.gold), -1)[:, 0]        # of intervals the lower end
        shuffled = shuffled[np.argsort(codes[shuffled], kind="stable")]
    return [shuffled[k::FOLDS] for k in range(min(FOLDS, len(active)))]


def held_out_labels(model, run, fold, weights, share):
    """The slope of the log loss of the examples of a fold, a function of b; of outputs that are one label."""
    outputs = model.parts.outputs
    scores = model.label_scores(run.rows)[fold]
    right = np.zeros(scores.shape, dtype=bool)
    for row, i in enumerate(fold.tolist()):
        if outputs.partial_gold:
            x = model.example(run.rows, i)
            right[row] = [outputs.agrees(run.gold[i], y, x) for y in range(1, outputs.n_labels + 1)]
        else:
            right[row, run.gold[i] - 1] = True

    slope = answers.log_loss_slope(model.parts, scores, right, share)
    return lambda b: float(weights @ slope(b))


def held_out_structures(model, run, fold, weights, share):
    """The same of outputs of many atoms; of a partial one its best completion counts."""
    parts, examples = model.parts, []
    store = parts.weights.averaged()
    for weight, i in zip(weights.tolist(), fold.tolist(), strict=True):
        x = model.example(run.rows, i)
        scores = store.scores(x)
        examples.append((weight, x, scores, run.gold[i], float(scores @ answers.marginals(parts, np.zeros(x.n_atoms), x))))

    def slope(b):
        total = 0.0
        for weight, x, scores, gold, mean in examples:
            y = parts.outputs.complete(gold, b * scores, x) if parts.outputs.partial_gold else gold
            expected = scores @ answers.marginals(parts, b * scores, x)
            total += weight * (expected - (1 - share) * float(scores @ parts.outputs.count(x, y)) - share * mean)
        return total

    return slope


def root(slope) -> float:
    """The positive b at which a rising slope is 0; 1 where it is 0 everywhere, or there is no such b within reach."""
    from scipy.optimize import brentq

    begin, end, before = 1.0, 1.0, slope(1.0)
    factor = STRIDE if before < 0 else 1 / STRIDE
    while slope(end) * before > 0 and 1 / FARTHEST < end < FARTHEST:
        begin, end = end, end * factor
    if not slope(begin) * slope(end) < 0:
        return 1.0
    return math.exp(brentq(lambda log_b: slope(math.exp(log_b)), math.log(begin), math.log(end), xtol=1e-3))
