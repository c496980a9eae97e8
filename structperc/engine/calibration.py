"""The temperature of a model: scores divided by it have probabilities that match how often answers are right.

The temperature t minimises the log loss - sum_i log p(y_i | x_i) of scores. Where examples are many beside the free weights these are the
scores of the training examples. Else the fit cross-fits: models trained without a fold of the examples score that fold. With b = 1 / t
the loss is convex in b. Where p(y | x) is proportional to exp(score(y) / t) its slope is sum_i E_b[score] - score(y_i), the expectation
under p, so marginals are all that it needs; labels know their own (`LabelOutputs`).
"""

from __future__ import annotations

import copy
import math

import numpy as np

from structperc.core.argmax import marginals_of
from structperc.core.errors import DataError, StructPercError
from structperc.core.outputs import LabelOutputs
from structperc.engine import answers
from structperc.engine.assembly import clone_model
from structperc.engine.context import SHARDS_ELSEWHERE
from structperc.engine.run import TrainingRun
from structperc.engine.trainers import EARLY_STOPPED

FOLDS = 5
ROWS_PER_WEIGHT = 50            # from so many examples for each free weight on, training scores are as good as those of other examples
ENOUGH = 1000                   # held-out examples of one fold that make the others unnecessary
MOST_STRUCTURES = 1000          # outputs of many atoms that are looked at: one number needs no more
MOST_EXAMPLES = 5000            # of training that are looked at: one number needs no more
STRIDE, FARTHEST = 8.0, 1e30    # how 1 / t is sought


def check(model, rows, wanted) -> bool:
    """Whether a temperature is to be found; `wanted` is the option `calibrate`, of which True refuses what has no probabilities."""
    if wanted == "auto":
        return rows.n_examples > 1 and has_marginals(model, rows)
    if wanted and rows.n_examples < 2:
        raise DataError("calibrate=True compares models that have not seen all examples, and there is one example; give more, or leave it "
                        "out.")
    if wanted and not isinstance(model.parts.outputs, LabelOutputs):
        x = model.example(rows, 0)
        try:
            answers.marginals(model.parts, np.zeros(x.n_atoms), x)
        except StructPercError as error:
            raise type(error)(f"calibrate=True needs probabilities of outputs: {error}") from None
    return bool(wanted)


def has_marginals(model, rows) -> bool:
    """Whether outputs have probabilities that need no list of all structures."""
    if isinstance(model.parts.outputs, LabelOutputs):
        return True
    x = model.example(rows, 0)
    return marginals_of(model.parts.argmax, np.zeros(x.n_atoms), x) is not None


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
    elsewhere = SHARDS_ELSEWHERE.get()
    if elsewhere is not None:
        return temperature_elsewhere(engine, run, rows, y, costs, elsewhere)
    weights = np.ones(rows.n_examples) if run.weights is None else np.asarray(run.weights)
    active = np.arange(rows.n_examples) if run.active is None else np.asarray(run.active)
    if len(active) < 2:
        return 1.0
    random, share = copy.deepcopy(run.context.random), 1 / (len(active) + 1)
    shuffled = random.permutation(active)
    if len(active) > ROWS_PER_WEIGHT * n_free(run.model.parts):
        return 1 / root(held_out(run.model, run, shuffled[:MOST_EXAMPLES], weights, share))
    folds, slopes = dealt(run, shuffled), []
    folds = folds[:1] if len(folds[0]) >= ENOUGH else folds
    for fold in folds:
        absent = weights.copy()
        absent[fold] = 0                                # as if these examples were absent
        part = trained_again(engine, run, rows, y, costs, absent, random)
        slopes.append(held_out(part.model, part, fold, weights, share, MOST_STRUCTURES // len(folds)))
    return 1 / root(lambda b: sum(slope(b) for slope in slopes))


def trained_again(engine, run, rows, y, costs, weights, random):
    """The run of another model on these data, with these weights of examples and as many epochs."""
    epochs = run.best_epoch or (run.epoch if run.model.status == EARLY_STOPPED else run.context.epochs)
    model, context = clone_model(engine, run.model, rows, weights, epochs, np.random.default_rng(random.integers(2**63)))
    part = TrainingRun(model, context, rows, y, costs, observers=lambda record: None, engine=engine)
    model.parts.weights.announce(part.rows)
    try:
        model.parts.trainer.train(part)
    finally:
        model.parts.weights.announce(None)
    return part


def temperature_elsewhere(engine, run, rows, y, costs, elsewhere) -> float:
    """The temperature of what shards elsewhere have trained: by some training examples, or by a model without a fifth of the examples."""
    model, left_out = run.model, elsewhere.n_examples <= ROWS_PER_WEIGHT * n_free(run.model.parts)
    if left_out:
        with elsewhere.leaving_out(FOLDS):
            model = trained_again(engine, run, rows, y, costs, run.weights, copy.deepcopy(run.context.random)).model
    most = MOST_EXAMPLES if isinstance(model.parts.outputs, LabelOutputs) else MOST_STRUCTURES
    sample = elsewhere.sample(engine, model, FOLDS if left_out else 1, most)
    if sample is None:
        return 1.0
    weights = np.ones(sample.n_examples) if sample.weights is None else np.asarray(sample.weights)
    active = np.flatnonzero(weights)
    return 1 / root(held_out(model, sample, active, weights, 1 / (len(active) + 1)))


def n_free(parts) -> float:
    """How many weights training may choose; infinitely many with a kernel, whose weights grow with the examples."""
    return math.inf if parts.weights.vector() is None else parts.features.n_weights


def dealt(run, shuffled) -> list:
    """The examples in folds, each label evenly."""
    if isinstance(run.model.parts.outputs, LabelOutputs):
        codes = np.asarray(run.gold.values).reshape(len(run.gold), -1)[:, 0]        # of intervals the lower end
        shuffled = shuffled[np.argsort(codes[shuffled], kind="stable")]
    return [shuffled[k::FOLDS] for k in range(min(FOLDS, len(shuffled)))]


def held_out(model, run, examples, weights, share, most=MOST_STRUCTURES):
    """The slope of the log loss of some examples by a model, a function of b = 1 / t.

    Parameters
    ----------
    model : Model
    run : TrainingRun
        Whose rows and gold outputs these are.
    examples : int64 array
    weights : float64 array
        Of all examples of the run.
    share : float
        How much of the loss is that of one more output, drawn at random: else the temperature of right outputs were 0.
    most : int
        So many structures of many atoms are looked at.
    """
    if isinstance(model.parts.outputs, LabelOutputs):
        return held_out_labels(model, run, examples, weights[examples], share)
    return held_out_structures(model, run, examples[:most], weights[examples[:most]], share)


def held_out_labels(model, run, fold, weights, share):
    """The same of outputs that are one label."""
    scores = model.label_scores(run.rows)[fold]
    right = right_labels(model, run, fold)
    slope = answers.log_loss_slope(model.parts, scores, right, share)
    return lambda b: float(weights @ slope(b))


def right_labels(model, run, examples):
    """Which labels are right, a bool array (n, n_labels): several where more than one is admissible."""
    outputs, codes = model.parts.outputs, np.asarray(run.gold.values).reshape(len(run.gold), -1)[examples]
    if not outputs.partial_gold:
        return codes == np.arange(1, outputs.n_labels + 1)
    _, first, which = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    found = np.zeros((len(first), outputs.n_labels), dtype=bool)
    for row, i in enumerate(examples[first].tolist()):
        x = model.example(run.rows, i)
        found[row] = [outputs.agrees(run.gold[i], y, x) for y in range(1, outputs.n_labels + 1)]
    return found[which.reshape(-1)]


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
