"""Problems that pass `check_problem`, and parts with one fault each; BROKEN has the checks that they fail."""

import itertools

import numpy as np
from reference import chains

from structperc import hookimpl
from structperc.components import (
    AbsoluteLoss,
    Argmax,
    BlockFeatures,
    ClassOutputs,
    HammingLoss,
    LargestArgmax,
    Loss,
    OnlineTrainer,
    Outputs,
    PerceptronUpdate,
    PrefixArgmax,
    PrimalWeights,
    RankOutputs,
    RowFeatures,
    Structures,
    Trainer,
    Update,
    VectorFeatures,
    Weights,
)


class Subsets:
    """A structure is any set of rows; its score is the sum of the scores of these rows."""

    name = "subsets"

    class Outputs(Outputs):
        def enumerate(self, x):
            return [y for n in range(x.n_rows + 1) for y in itertools.combinations(range(x.n_rows), n)]

    class Argmax(Argmax):
        def argmax(self, scores, x):
            return np.flatnonzero(scores > 0)

    @hookimpl
    def structperc_outputs(self, context):
        return self.Outputs()

    @hookimpl
    def structperc_features(self, context):
        return RowFeatures(context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return self.Argmax()

    def sample(self, random, n_examples):
        sizes = random.integers(0, 6, n_examples)
        return random.normal(size=(sizes.sum(), 3)), np.append(0, np.cumsum(sizes))


class Words:
    """Objects instead of rows: one of three classes of a word, from its letters."""

    name = "words"
    check_options = {"classes": ["noun", "verb", "other"]}

    class Features(VectorFeatures):
        def vectors(self, x):
            counts = np.bincount([ord(c) - ord("a") for c in x.object["word"]], minlength=5)
            return np.kron(np.eye(3), counts)

    @hookimpl
    def structperc_outputs(self, context):
        return ClassOutputs()

    @hookimpl
    def structperc_features(self, context):
        return self.Features(15)

    @hookimpl
    def structperc_argmax(self, context):
        return LargestArgmax(context.n_labels)

    def sample(self, random, n_examples):
        return [{"word": "".join(random.choice(list("abcde"), size=random.integers(1, 9)))} for _ in range(n_examples)]


class RankIntervals:
    """Partial gold outputs: the lowest and highest admissible rank."""

    name = "rank-intervals"

    class Outputs(RankOutputs):
        def encode(self, y, rows):
            return Structures(np.ascontiguousarray(np.ravel(y), dtype=np.intc), np.arange(0, 2 * len(y) + 1, 2))

        def agrees(self, gold, y, x):
            return gold[0] <= y <= gold[1]

        def complete(self, gold, scores, x):
            prefix = np.append(0, np.cumsum(scores))[gold[0] - 1:gold[1]]
            return gold[0] + int(np.argmax(prefix))

    class Loss(Loss):
        def value(self, gold, y, x=None):
            return max(gold[0] - y, y - gold[1], 0)

    @hookimpl
    def structperc_outputs(self, context):
        outputs = self.Outputs()
        outputs.partial_gold = True
        return outputs

    @hookimpl
    def structperc_features(self, context):
        return BlockFeatures(context.n_labels - 1, context.n_features, feature_major=context.sparse)

    @hookimpl
    def structperc_argmax(self, context):
        return PrefixArgmax(context.n_labels)

    @hookimpl
    def structperc_loss(self, context):
        return self.Loss()

    def observe(self, random, answers):
        return np.stack([answers, np.minimum(answers + random.integers(0, 2, len(answers)), 4)], axis=1)


class Narrow(Weights):
    """w as a vector of float32, with the sum of its past values."""

    def start(self, parts, context):
        super().start(parts, context)
        self.average = context.average
        self.w, self.late = np.zeros((2, self.features.n_weights), dtype=np.float32)

    def scores(self, x):
        return self.features.scores(self.w.astype(float), x)

    def update(self, x, c):
        step = self.features.vector(x, c)
        self.w += step.astype(np.float32)
        self.late += (self.n_visited * step).astype(np.float32)

    def vector(self):
        return self.w - self.late / np.float32(self.n_visited) if self.average and self.n_visited else self.w

    def averaged(self):
        mean = type(self)()
        mean.features, mean.average, mean.w = self.features, False, self.vector()
        return mean

    def state(self):
        return {"w": self.w.copy(), "late": self.late.copy()}

    def restore(self, state):
        self.w, self.late = (np.array(state[name], dtype=np.float32) for name in ("w", "late"))


class NarrowLast(Narrow):
    """Does not average weights."""

    average = False

    def start(self, parts, context):
        Weights.start(self, parts, context)
        self.w, self.late = np.zeros((2, self.features.n_weights), dtype=np.float32)


class WithoutStarts(Argmax):
    """The best labels of a sentence but for the scores of the first label."""

    def argmax(self, scores, x):
        tokens_and_pairs, ends = scores[:3 * x.n_rows + 9], scores[-3:]
        totals = chains.counts(x.n_rows, 3, end=True) @ np.append(tokens_and_pairs, ends)
        return chains.labellings(x.n_rows, 3)[totals.argmax()]


class OffByOne(PrefixArgmax):
    def argmax(self, scores, x):
        return super().argmax(scores, x) % 4 + 1


class OutOfRange(PrefixArgmax):
    def argmax(self, scores, x):
        return 5


class Wavering(PrefixArgmax):
    """A maximiser that at ties returns the lowest rank once, then the highest twice."""

    lowest = itertools.cycle([True, False, False])

    def argmax(self, scores, x):
        prefix = np.append(0, np.cumsum(scores))
        return 1 + np.flatnonzero(prefix == prefix.max())[0 if next(self.lowest) else -1]


class NoEmptyChoice(Outputs):
    def enumerate(self, x):
        return [y for y in Subsets.Outputs().enumerate(x) if y or not x.n_rows]


class NotLinear(BlockFeatures):
    def scores(self, w, x):
        return np.asarray(super().scores(w, x)) + 1


class NotAdditive(BlockFeatures):
    """The first two atoms together have an additional feature."""

    def add(self, w, x, c):
        super().add(w, x, c)
        w[0] += c[0] * c[1]


class Overwriting(BlockFeatures):
    def add(self, w, x, c):
        w[:] = 0
        super().add(w, x, c)


class WrongNorm(BlockFeatures):
    def norm(self, x, c):
        return 2 * super().norm(x, c)


class WrongInner(BlockFeatures):
    def inner(self, x, a, z, b):
        return super().inner(x, a, z, b) if a == b else 1.0


class WrongBatch(BlockFeatures):
    def batch_scores(self, w, rows):
        return np.array([self.scores(w, rows.example(i)) for i in range(rows.n_examples)])[:, ::-1]


class Unrescaled(BlockFeatures):
    def rescaled(self, w, shift, spread):
        return w


class OnTheSphere(BlockFeatures):
    def project(self, w, x=None):
        w /= np.sqrt(w @ w) or 1


class OnlyTheFirst(BlockFeatures):
    def project(self, w, x=None):
        w[slice(0, 1 if x else None)] = 0


class CostsOneWhenRight(AbsoluteLoss):
    def value(self, gold, y, x=None):
        return 1 + super().value(gold, y, x)


class Rewarding(AbsoluteLoss):
    def value(self, gold, y, x=None):
        return gold - y


class WeighedHamming(HammingLoss):
    """Changes the value, but not the augmentation of Hamming."""

    def value(self, gold, y, x=None):
        return sum(1 + a for a in set(gold) ^ set(y))


class Remembering(PerceptronUpdate):
    """Keeps its steps in the class."""

    steps = []

    def step(self, trial):
        self.steps.append(1)
        return trial.difference() * len(self.steps)


class ByItsSource(PrefixArgmax):
    """Reads a column as training sees it."""

    def argmax(self, scores, x):
        return 4 if x.source.X[x.first_row, 0] > 0.9 else 1 if x.source.X[x.first_row, 0] < -0.9 else super().argmax(scores, x)


class Unscaled(AbsoluteLoss):
    def augment(self, gold, scores, scale, x=None):
        return super().augment(gold, scores, 3.0, x)


class Answers(PrefixArgmax):
    """Correct k best lists, marginals and max-marginals, for faulty subclasses."""

    def all_ranked(self, scores):
        totals = np.append(0, np.cumsum(scores))
        return [(int(i) + 1, totals[i]) for i in np.argsort(-totals, kind="stable")]

    def k_best(self, scores, x, k):
        return self.all_ranked(scores)[:k]

    def marginals(self, scores, x):
        p = np.exp(np.append(0, np.cumsum(scores)))
        return np.log(p.sum()), 1 - np.cumsum(p / p.sum())[:-1]

    def max_marginals(self, scores, x):
        totals = np.append(0, np.cumsum(scores))
        return np.array([totals[k:].max() for k in range(1, len(totals))])


class WorstFirst(Answers):
    def k_best(self, scores, x, k):
        return self.all_ranked(scores)[::-1][:k]


class BestTwice(Answers):
    def k_best(self, scores, x, k):
        ranked = self.all_ranked(scores)
        return [ranked[0], *ranked][:min(k, len(ranked))]


class NeverTheLowest(Answers):
    def k_best(self, scores, x, k):
        ranked = self.all_ranked(scores)
        return [ranked[0], *(one for one in ranked[1:] if one[0] > 1)][:k]


class SecondIsThird(Answers):
    def k_best(self, scores, x, k):
        best, second, third, *others = self.all_ranked(scores)
        return [best, third, second, *others][:k]


class Unscored(Answers):
    def k_best(self, scores, x, k):
        return [(y, 0.0) for y, _ in super().k_best(scores, x, k)]


class DoubledZ(Answers):
    def marginals(self, scores, x):
        log_z, expected = super().marginals(scores, x)
        return log_z + np.log(2), expected


class CertainMarginals(Answers):
    def marginals(self, scores, x):
        return 0.0, (np.arange(1, len(scores) + 1) < self.argmax(scores, x)).astype(float)


class PrefixMarginals(Answers):
    """The score up to each atom, without the best continuation."""

    def max_marginals(self, scores, x):
        return np.cumsum(scores)


class SortingArgmax(PrefixArgmax):
    def argmax(self, scores, x):
        y = super().argmax(scores, x)
        np.asarray(scores).sort()
        return y


class ScalingFeatures(BlockFeatures):
    def scores(self, w, x):
        s = super().scores(w, x)
        np.asarray(w)[:] *= 2
        return s


class WordEating(Words):
    class Features(Words.Features):
        def vectors(self, x):
            vectors = super().vectors(x)
            x.object["word"] = x.object["word"][:-1]
            return vectors


class ShiftingOutputs(RankOutputs):
    def encode(self, y, rows):
        gold = super().encode(y, rows)
        y.sort()
        return gold


class LearningByLooking(PrimalWeights):
    def scores(self, x):
        s = super().scores(x)
        super().update(x, np.ones(x.n_atoms))
        return s


class PositionArgmax(PrefixArgmax):
    def argmax(self, scores, x):
        return super().argmax(scores, x) if x.index < 5 else 1


class Backwards(PerceptronUpdate):
    def step(self, trial):
        return -super().step(trial)


class Idle(Update):
    def step(self, trial):
        return None


class LastWeights(PrimalWeights):
    """Declares averages, but `vector` returns the last weights."""

    def vector(self):
        return self.state()["weights"][:self.features.n_weights]


class InterceptOnlyWhenDense:
    @hookimpl
    def structperc_features(self, context):
        return BlockFeatures(context.n_labels - 1, context.n_features, intercept=not context.sparse)


class DoublingEverySecond(PrimalWeights):
    steps = 0

    def update(self, x, c):
        self.steps += 1
        super().update(x, c * (1 + self.steps % 2))


class Drifting(PerceptronUpdate):
    clock = itertools.count(1)

    def step(self, trial):
        return super().step(trial) * next(self.clock)


class Forgetful(PrimalWeights):
    def state(self):
        return {**super().state(), "weights": np.zeros_like(super().state()["weights"])}


class Swallowing(OnlineTrainer):
    def train(self, run):
        try:
            return super().train(run)
        except KeyboardInterrupt:
            return "max_epochs"


class Silent:
    """None of its hooks returns a component for the default update rule."""

    problem = "multiclass"

    @hookimpl
    def structperc_update(self, context):
        return PerceptronUpdate() if context.update == "mine" else None


class AlwaysRight(Outputs):
    def agrees(self, gold, y, x):
        return True

    def enumerate(self, x):
        return Subsets.Outputs().enumerate(x)


class DecodesTheNext(RankOutputs):
    def decode(self, y, x):
        return self.labels[y % self.n_labels]


class Weightless(Update):
    """Sample weights change nothing."""

    def step(self, trial):
        return trial.difference()


class WrongCell(BlockFeatures):
    def cell(self, x, a):
        row, block = super().cell(x, a)
        return row, min(block, 1)


class Unweighing(Trainer):
    """The final weights do not depend on sample weights."""

    online = False
    options_used = ("epochs", "shuffle")

    def train(self, run):
        run.begin_epoch()
        passed = run.run(run.order())
        run.model.parts.weights.assign(np.arange(run.model.parts.features.n_weights, dtype=float), run.n_examples)
        run.end_epoch(passed)
        return "constant"


def averaging(kind):
    class Averaging:
        @hookimpl
        def structperc_weights(self, context):
            return kind(average=context.average)

    return Averaging()


BROKEN = [
    ("linear_kernel_equals_weights", "cusum", WrongCell(3, 3), "WrongCell.scores and the linear kernel over the rows that WrongCell.cell"),
    ("plugin_is_used", Silent(), None, "nothing of it was used: structperc_update returned None"),
    ("agreeing_is_counting_the_same", Subsets(), AlwaysRight(), "AlwaysRight.agrees"),
    ("decoding_is_undone", "cusum", DecodesTheNext(), "DecodesTheNext.decode shows 4 of example 0 as 1, which is encoded as 1"),
    ("sample_weights_act", "cusum", Weightless(), "the sample weights 2, 0.001, 1000, 1 and 1000 in turn train the same"),
    ("sample_weights_act", "cusum", Unweighing(), "Unweighing makes the steps, and the sample weights 2, 0.001, 1000, 1 and 1000 in"),
    ("argmax_maximises", "cusum", OffByOne(4), "OffByOne returned 1 of score"),
    ("argmax_maximises", "cusum", OutOfRange(4), "5 is not a label of example 0"),
    ("answers_are_structures", "cusum", Wavering(4), "with the same atom scores"),
    ("argmax_maximises", "sequence", WithoutStarts(), "WithoutStarts returned"),
    ("answers_are_structures", Subsets(), NoEmptyChoice(), "NoEmptyChoice.enumerate does not list"),
    ("fits_are_alike", "cusum", Remembering(), "A part, or its class, keeps something from one fit to the next"),
    ("units_are_the_maps_business", "cusum", ByItsSource(4), "it reads columns on one scale. Read x.rows"),
    ("features_add_up", "cusum", NotLinear(3, 3), "NotLinear.scores is not w . phi(x, a)"),
    ("features_add_up", "cusum", NotAdditive(3, 3), "NotAdditive.add does not add"),
    ("features_add_up", "cusum", Overwriting(3, 3), "Overwriting.add does not add"),
    ("features_add_up", "cusum", WrongNorm(3, 3), "WrongNorm.norm is not"),
    ("features_add_up", "cusum", WrongInner(3, 3), "WrongInner.inner is not"),
    ("constraints_hold", "cusum", OnTheSphere(3, 3), "OnTheSphere.project does not find the nearest weights of a convex set"),
    ("constraints_hold", "cusum", OnlyTheFirst(3, 3), "OnlyTheFirst.project(w, x) leaves weights outside that a step on example 0"),
    ("features_add_up", "cusum", Unrescaled(3, 3), "Unrescaled.rescaled does not return weights that score example 0"),
    ("features_add_up", "cusum", WrongBatch(3, 3), "WrongBatch.batch_scores differs from scores"),
    ("loss_is_zero_at_gold", "cusum", CostsOneWhenRight(), "is right is 1.0; expected 0"),
    ("loss_is_zero_at_gold", "cusum", Rewarding(), "Rewarding.value returned"),
    ("augmented_argmax_maximises", "cusum", Unscaled(), "has the largest score + loss"),
    ("further_answers_agree", "cusum", WorstFirst(4), "expected the best structures first"),
    ("further_answers_agree", "cusum", BestTwice(4), "lists a structure twice"),
    ("further_answers_agree", "cusum", NeverTheLowest(4), "of 4 structures NeverTheLowest.k_best lists"),
    ("further_answers_agree", "cusum", SecondIsThird(4), "expected the best structures first"),
    ("further_answers_agree", "cusum", Unscored(4), "best score"),
    ("further_answers_agree", "cusum", CertainMarginals(4), "CertainMarginals.marginals is not"),
    ("further_answers_agree", "cusum", DoubledZ(4), "log Z of DoubledZ.marginals is"),
    ("further_answers_agree", "cusum", PrefixMarginals(4), "PrefixMarginals.max_marginals is not"),
    ("losses_of_scores_agree", "cusum", DoubledZ(4), "the loss 'log-loss' of example 0 is"),
    ("losses_of_scores_agree", "cusum", CertainMarginals(4), "the loss 'log-loss' of example 0 is"),
    ("losses_of_scores_agree", "cusum", Unscaled(), "the loss 'hinge' of example 2 is"),
    ("inputs_are_untouched", "cusum", SortingArgmax(4), "a component changed the atom scores"),
    ("inputs_are_untouched", "cusum", ScalingFeatures(3, 3), "a component changed the weights"),
    ("inputs_are_untouched", WordEating(), None, "changed the user's X"),
    ("inputs_are_untouched", "cusum", ShiftingOutputs(), "changed the user's y"),
    ("predicting_changes_nothing", Subsets(), LearningByLooking(), "predicting changed 'weights'"),
    ("predictions_follow_from_scores", "cusum", PositionArgmax(4), "among the others and as"),
    ("separable_set_is_learned", "cusum", Backwards(), "more than the bound"),
    ("separable_set_is_learned", Subsets(), Idle(), "a separable set is not learned"),
    ("average_is_the_mean", "cusum", averaging(LastWeights), "differ from the mean of the weights"),
    ("dense_equals_csr", "cusum", InterceptOnlyWhenDense(), "dense and CSR"),
    ("primal_equals_dual", "cusum", DoublingEverySecond(), "primal and dual: prediction"),
    ("compiled_equals_python", "cusum", Drifting(), "compiled and called from Python"),
    ("saving_keeps_everything", "cusum", averaging(Forgetful), "a loaded model predicts differently"),
    ("interrupting_keeps_what_was_learned", "cusum", Swallowing(), "Ctrl-C during training was swallowed"),
]
