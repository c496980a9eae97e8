"""The temperature of a model: scores divided by it have probabilities that match how often predictions are right.

The temperature t minimises the log loss - sum_i log p(y_i | x_i) of scores. If there are many examples for each free weight, these are the
scores of the training examples. Else the fit cross-fits: models trained without a fold of the examples score that fold. With b = 1 / t the
loss is convex in b. If p(y | x) is proportional to exp(score(y) / t), its slope is sum_i E_b[score] - score(y_i), the expectation under p.
So marginals suffice. Labels have a calibration of their own, and ordered ones a spread (`LabelOutputs`).
"""

from __future__ import annotations

import copy
import functools
import math

import numpy as np

from structperc.basics.errors import DataError, StructPercError
from structperc.core.argmax import marginals_of
from structperc.core.component import adapted
from structperc.core.outputs import LabelOutputs
from structperc.core.probabilities import root
from structperc.core.rows import Rows
from structperc.core.weights import has_vector
from structperc.fitting import answers
from structperc.fitting.assembly import begun_again, clone_model
from structperc.fitting.context import SHARDS_ELSEWHERE
from structperc.fitting.run import TrainingRun
from structperc.fitting.trainers import EARLY_STOPPED

FOLDS = 5
ROWS_PER_WEIGHT = 50            # from so many examples for each free weight on, training scores are as good as those of other examples
ENOUGH = 500                    # held-out examples that make further folds unnecessary
MOST_STRUCTURES = 1000          # outputs of many atoms that are looked at: one number needs no more
MOST_EXAMPLES = 5000            # of training that are looked at: one number needs no more


def check(model, rows, wanted) -> bool:
    """Whether to find a temperature. `wanted` is the option `calibrate`; True raises an error for outputs without probabilities."""
    several = rows.n_examples > 1 or SHARDS_ELSEWHERE.get() is not None        # rows are only the first part of those elsewhere
    if wanted == "auto":
        return several and has_marginals(model, rows)
    if wanted and not several:
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


def calibrate(engine, run, rows, y, costs) -> None:
    """Gives what a run has trained its temperature and its spread."""
    elsewhere = SHARDS_ELSEWHERE.get()
    find = held_out if elsewhere is None else functools.partial(held_out_elsewhere, elsewhere)
    samples = find(engine, run, rows, y, costs)
    if samples:
        b, run.model.spread = least_log_loss(run.model.parts, samples)
        run.model.temperature = 1 / b


def held_out(engine, run, rows, y, costs) -> list:
    """Samples of training examples, or of each fold by a model that has not seen it. No samples of fewer than two examples."""
    weights = np.ones(rows.n_examples) if run.weights is None else np.asarray(run.weights)
    active = np.arange(rows.n_examples) if run.active is None else np.asarray(run.active)
    if len(active) < 2:
        return []
    random, share = copy.deepcopy(run.context.random), 1 / (len(active) + 1)
    shuffled = random.permutation(active)
    if len(active) > ROWS_PER_WEIGHT * n_free(run.model.parts):
        return [sample(run.model, run, shuffled[:MOST_EXAMPLES], weights, share)]
    folds, samples, clone = dealt(run, shuffled), [], None
    folds = folds[:math.ceil(ENOUGH / len(folds[0]))]
    for fold in folds:
        absent = weights.copy()
        absent[fold] = 0                                # as if these examples were absent
        try:
            part = trained_again(engine, run, rows, y, costs, absent, random, clone)
        except DataError:
            continue                                    # the trainer needs each label, and this fold has all examples of one
        clone = part.model
        samples.append(sample(clone, part, fold, weights, share, MOST_STRUCTURES // len(folds)))
    return samples


def trained_again(engine, run, rows, y, costs, weights, random, clone=None):
    """The run of another model on these data, with these weights of examples and as many epochs. It may use the parts of `clone`."""
    epochs = run.best_epoch or (run.epoch if run.model.status == EARLY_STOPPED else run.context.epochs)
    random = np.random.default_rng(random.integers(2**63))
    if clone is None:
        model, context = clone_model(engine, run.model, rows, weights, epochs, random)
    else:
        model, context = begun_again(engine, clone, run.model, rows, weights, random)
    part = TrainingRun(model, context, rows, y, costs, observers=lambda record: None, engine=engine)
    model.parts.weights.announce(part.rows)
    try:
        model.parts.trainer.train(part)
    finally:
        model.parts.weights.announce(None)
    return part


def held_out_elsewhere(elsewhere, engine, run, rows, y, costs) -> list:
    """The same of what shards elsewhere have trained: some training examples, or a fifth of them by a model without these."""
    model, left_out = run.model, elsewhere.n_examples <= ROWS_PER_WEIGHT * n_free(run.model.parts)
    if left_out:
        with elsewhere.leaving_out(FOLDS):
            model = trained_again(engine, run, rows, y, costs, run.weights, copy.deepcopy(run.context.random)).model
    most = MOST_EXAMPLES if isinstance(model.parts.outputs, LabelOutputs) else MOST_STRUCTURES
    drawn = elsewhere.sample(engine, model, FOLDS if left_out else 1, most)
    if drawn is None:
        return []
    weights = np.ones(drawn.n_examples) if drawn.weights is None else np.asarray(drawn.weights)
    active = np.flatnonzero(weights)
    return [sample(model, drawn, active, weights, 1 / (len(active) + 1))]


def n_free(parts) -> float:
    """How many weights training may choose; infinitely many with a kernel, whose weights grow with the examples."""
    return parts.features.n_weights if has_vector(parts.weights) else math.inf


def dealt(run, shuffled) -> list:
    """The examples in folds, each label evenly."""
    if isinstance(run.model.parts.outputs, LabelOutputs):
        codes = np.asarray(run.gold.values).reshape(len(run.gold), -1)[:, 0]        # of intervals the lower end
        shuffled = shuffled[np.argsort(codes[shuffled], kind="stable")]
    return [shuffled[k::FOLDS] for k in range(min(FOLDS, len(shuffled)))]


def sample(model, run, examples, weights, share, most=MOST_STRUCTURES):
    """What the log loss of some examples by a model needs: of labels the arguments of `LabelOutputs.calibration`, else its slope."""
    # `share` of the loss is that of one more output, drawn at random: else the temperature of right outputs were 0.
    if isinstance(model.parts.outputs, LabelOutputs):
        return label_scores(model, run.rows, examples), right_labels(model, run, examples), weights[examples], share
    return structures_slope(model, run, examples[:most], weights[examples[:most]], share)


def label_scores(model, rows, examples):
    """The scores of these examples: of rows of numbers the others are not scored. Kernels have scored all rows in training."""
    alone = type(rows) is Rows and rows.offsets is None and not rows.objects and rows.allowed is None and rows.first_stage is None
    if not alone or 2 * len(examples) > len(rows) or math.isinf(n_free(model.parts)):
        return model.label_scores(rows)[examples]
    return model.label_scores(rows.like(rows.X[examples], None, 0, len(examples)))


def least_log_loss(parts, samples) -> tuple:
    """1 / t and the spread of least log loss of all samples."""
    if isinstance(parts.outputs, LabelOutputs):
        return answers.calibration(parts, *(np.concatenate(arrays) for arrays in list(zip(*samples, strict=True))[:3]), samples[0][3])
    return root(lambda b: sum(slope(b) for slope in samples)), 0.0


def right_labels(model, run, examples):
    """Which labels are right, a bool array (n, n_labels): several where more than one is admissible."""
    outputs, codes = model.parts.outputs, np.asarray(run.gold.values).reshape(len(run.gold), -1)[examples]
    if not outputs.partial_gold:
        return codes == np.arange(1, outputs.n_labels + 1)
    _, first, which = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    right = np.zeros((len(first), outputs.n_labels), dtype=bool)
    for row, i in enumerate(examples[first].tolist()):
        x = model.example(run.rows, i)
        right[row] = [outputs.agrees(run.gold[i], y, x) for y in range(1, outputs.n_labels + 1)]
    return right[which.reshape(-1)]


def structures_slope(model, run, fold, weights, share):
    """The slope of the log loss of outputs of many atoms, a function of b = 1 / t. Of a partial output its best completion counts."""
    parts, examples = model.parts, []
    store = adapted(parts.weights.averaged())
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
