"""The check that a problem on given scores (`structperc.Problem`) agrees with an enumeration of Y(x)."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.errors import PluginError
from structperc.core.features import is_constrained
from structperc.core.outputs import encoded_gold, listed_structures
from structperc.fitting.answers import totals
from structperc.fitting.assembly import new_model
from structperc.problems.batches import Batch
from structperc.problems.losses import SEARCHES
from structperc.problems.prepared import Prepared

FEW = 3                         # examples, of which each loss is computed several times
MOST_STRUCTURES = 1000
STEP = 1e-5                     # of differences
OF_FREE_SCORES = ("perturbed", "sparsemap", "spo+", "direct")        # which change scores, so that a feature map may not allow them
DRAWS = {"sigma": 0.7, "n_draws": 2, "random_state": 7}


@attrs.define(eq=False)
class Example:
    """One example of a batch, and all of its Y(x)."""
    # counts: float64 array of shape (n_structures, n_atoms)
    # right: bool array of shape (n_structures,). Which structures agree with the gold output.
    # losses: float64 array of shape (n_structures,). Of each structure, if the gold output is right.
    # signs: float64 array of shape (n_atoms,) or None
    # part: slice. The atoms of the example in flat arrays.

    counts: np.ndarray
    right: np.ndarray
    losses: np.ndarray
    signs: np.ndarray | None
    part: slice

    def gold(self, s):
        """The counts of the best structure that agrees with gold, and its score."""
        scores = np.where(self.right, totals(self.counts, s), -np.inf)
        return self.counts[np.argmax(scores)], scores.max()

    def best(self, s, scale=0.0):
        """The largest score + scale * loss of a structure."""
        return (totals(self.counts, s) + scale * self.losses).max()

    def log_sum(self, s, scale=0.0):
        """The log of the sum of exp(score + scale * loss)."""
        return np.logaddexp.reduce(totals(self.counts, s) + scale * self.losses)


def examples_of(case):
    """A batch of few examples, and all of Y(x) of each; None if Y(x) is not listed, or too large."""
    data = case.taught
    indices = [x.index for x in case.examples if (listed := case.structures(x)) is not None and 1 < len(listed) <= MOST_STRUCTURES][:FEW]
    if not indices:
        return None
    some = data.take(indices)
    engine = case.engine()
    model, rows = new_model(engine, some.X, some.offsets, None)[:2]
    parts = model.parts
    gold = encoded_gold(parts.outputs, some.y, rows, parts.features)
    costs = [case.random.standard_normal(parts.features.n_atoms(rows.example(i))) for i in range(rows.n_examples)]
    prepared, examples = Prepared(engine, model, rows, gold, costs), []
    for i in range(rows.n_examples):
        x = prepared.example(i)
        structures = listed_structures(parts.outputs, x, MOST_STRUCTURES)
        counts = np.array([parts.outputs.count(x, y) for y in structures], dtype=float).reshape(len(structures), x.n_atoms)
        right = np.array([bool(case.outputs.agrees(gold[i], y, x)) for y in structures])
        losses = np.array([parts.loss.value(gold[i], y, x) for y in structures], dtype=float)
        signs = None if prepared.partial else np.where(counts[np.argmax(right)] > 0, 1.0, -1.0)
        examples.append(Example(counts, right, losses, signs, slice(int(prepared.offsets[i]), int(prepared.offsets[i + 1]))))
    return Batch(prepared), examples


def expected_value(loss, example, s, costs, draws):
    """The value of a loss of one example by enumeration; None: there is no formula for all structures."""
    gold, score = example.gold(s)
    if loss in ("perceptron", "hinge"):
        return example.best(s, float(loss == "hinge")) - score
    if loss in ("log-loss", "softmax-margin"):
        return example.log_sum(s, float(loss == "softmax-margin")) - score
    if loss == "perturbed":
        return float(np.mean([example.best(noisy) - example.gold(noisy)[1] for noisy in draws]))
    if loss == "spo+":
        return example.best(2 * s + costs) - example.gold(2 * s + costs)[1]
    if loss == "direct":
        return example.losses[np.argmax(totals(example.counts, s))]
    if loss == "logistic" and example.signs is not None:
        return np.logaddexp(0, -example.signs * s).sum()
    if loss == "cumulative-logit" and example.signs is not None:
        above = 1 / (1 + np.exp(-np.concatenate([[np.inf], s, [-np.inf]])))
        level = int((example.signs > 0).sum())
        return -np.log(above[level] - above[level + 1])
    return None


def expected_gradient(loss, example, s):
    """The gradient of a loss of one example where an enumeration has it; None elsewhere."""
    gold, _ = example.gold(s)
    if loss in ("log-loss", "softmax-margin"):
        scores = totals(example.counts, s) + (example.losses if loss == "softmax-margin" else 0)
        p = np.exp(scores - scores.max())
        return p / p.sum() @ example.counts - gold
    if loss in ("perceptron", "hinge"):
        best = the_best(example, totals(example.counts, s) + (example.losses if loss == "hinge" else 0))
        return None if best is None else best - gold
    if loss == "direct":
        more, less = (the_best(example, totals(example.counts, s) + sign * example.losses) for sign in (1, -1))
        return None if more is None or less is None else (more - less) / 2
    return None


def the_best(example, scores):
    """The counts of the output of largest score; None at a tie, where each solver has its own rule."""
    counts = example.counts[scores >= scores.max() - 1e-9 * (1 + abs(scores.max()))]
    return counts[0] if (counts == counts[0]).all() else None


def fault_of(case, batch, examples, loss, s):
    """What is wrong with a loss at these scores, a sentence; None: nothing."""
    parameters = DRAWS if loss == "perturbed" else {}
    values, gradient = batch.loss(s, loss, **parameters)
    draws = []
    if loss == "perturbed":
        random = np.random.default_rng(DRAWS["random_state"])
        draws = [s + DRAWS["sigma"] * random.standard_normal(len(s)) for _ in range(DRAWS["n_draws"])]
    costs = batch._costs()
    for i, example in enumerate(examples):
        part = example.part
        wanted = expected_value(loss, example, s[part], costs[part], [noisy[part] for noisy in draws])
        if wanted is not None and not near(values[i], wanted):
            return f"the loss {loss!r} of example {i} is {values[i]:.9g} at the scores {s[part]}; by enumeration {wanted:.9g}"
        slope = expected_gradient(loss, example, s[part])
        if slope is not None and not near(gradient[part], slope):
            return f"the gradient of {loss!r} of example {i} is {gradient[part]} at the scores {s[part]}; by enumeration {slope}"
        if loss == "sparsemap":
            mu = gradient[part] + example.gold(s[part])[0]
            rest = s[part] - mu
            lead = totals(example.counts, rest).max() - totals(mu, rest)
            if not lead <= 1e-6 * (1 + np.abs(rest[rest > -np.inf]).max(initial=0)):
                return f"the mean of 'sparsemap' of example {i} is {mu} at the scores {s[part]}; another structure leads it by {lead:.3g}"
    if loss == "direct" or is_constrained(case.parts.features):
        return None
    way = np.ones(len(s)) if loss == "cumulative-logit" else case.random.standard_normal(len(s))      # its scores go on falling
    high, low = (batch.loss(s + sign * STEP * way, loss, **parameters)[0].sum() for sign in (1, -1))
    slope, wanted = gradient @ way, (high - low) / (2 * STEP)
    if not abs(slope - wanted) <= 1e-4 * (1 + abs(wanted)):
        return f"the gradient of {loss!r} in the direction {way} at the scores {s} is {slope:.9g}; by differences {wanted:.9g}"
    return None


def near(one, other) -> bool:
    return bool(np.allclose(one, other, rtol=1e-8, atol=1e-8))


def is_refused(case, batch, loss, unusable) -> bool:
    """Whether a problem cannot have a loss, or its feature map does not allow the scores of its searches."""
    if unusable and loss in (*SEARCHES, "softmax-margin") or loss in OF_FREE_SCORES and is_constrained(case.parts.features):
        return True
    try:
        batch.take([]).loss([], loss)
    except PluginError:
        return True
    return False


def scores_for(case, batch, loss):
    """Drawn scores of all examples, flat; falling ones for a loss that needs them."""
    prepared = batch._prepared
    s = [case.scores(prepared.example(i), case.random.standard_normal) for i in range(len(batch))]
    return np.concatenate([np.sort(one)[::-1] if loss == "cumulative-logit" else one for one in s])


def fault_of_answers(batch, examples, s):
    """What is wrong with best outputs and marginals; None: nothing."""
    outputs, found = batch.argmax(s), batch.marginals(s)
    structures, _ = batch._best(s, 1)
    counts = batch._counted([structures[i] for i in range(len(batch))])
    for i, example in enumerate(examples):
        part = example.part
        if not near(counts[part] @ s[part], example.best(s[part])):
            return f"argmax returns {outputs[i]} for example {i}, which does not have the largest score, at the scores {s[part]}"
        gold = expected_gradient("log-loss", example, s[part]) + example.gold(s[part])[0]
        if not near(found[part], gold):
            return f"marginals are {found[part]} for example {i} at the scores {s[part]}; by enumeration {gold}"
    return None
