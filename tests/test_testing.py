"""Tests of `check_problem`: every bundled plugin passes, and plugins with one fault each fail."""

import itertools

import numpy as np
import pytest
from plain import Engine
from reference import chains
from reference.parses import Parses

import structperc
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
from structperc.engine import plugins as registry
from structperc.errors import PluginError, UnusedOption
from structperc.testing import CHECKS, DualWeights, check_problem

BUNDLED = sorted(p.name for p in registry.installed() if p.distribution == "structperc")
NAMES = [check.__name__ for check in CHECKS]


# ---- problems to break ----


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


# ---- plugins that pass ----


OWN_TRAINER = dict.fromkeys(["separable_set_is_learned", "average_is_the_mean", "dense_equals_csr", "primal_equals_dual"],
                            "a trainer of its own drives the examples")
NOT_LISTED = "Outputs.enumerate does not list Y(x), or lists more than 4096 structures"
LEFT_OUT = {        # checks that do not apply to a bundled plugin, with the reason; all others pass
    "adaboost-or": OWN_TRAINER, "batch": OWN_TRAINER, "large-margin": OWN_TRAINER,
    "clusters": {"dense_equals_csr": "X is a list of objects"},
    "decision-rules": {"separable_set_is_learned": "no bound is known for update='perturbed', loss_weight=0.0 and decay=0.0"},
    "decisions": dict.fromkeys(["argmax_maximises", "augmented_argmax_maximises", "further_answers_agree", "losses_of_scores_agree",
                                "separable_set_is_learned"], NOT_LISTED),
    "dual-kernel": dict.fromkeys(["average_is_the_mean", "primal_equals_dual"], "the weights are no vector"),
    "interval-pa": {"separable_set_is_learned": "gold outputs are partial"},
    "latent-ranking": {"separable_set_is_learned": "gold outputs are partial"},
}  # fmt: skip


@pytest.mark.parametrize("name", BUNDLED)
def test_every_bundled_plugin_passes(name):
    report = check_problem(name)

    assert [check for check, _ in report] == NAMES
    assert {check: outcome for check, outcome in report if outcome != "passed"} == {
        check: f"not applicable: {reason}" for check, reason in LEFT_OUT.get(name, {}).items()}


@pytest.mark.parametrize("name", ["cusum", "multiclass"])
@pytest.mark.parametrize(
    "options",
    [
        {"update": "pa", "average": True},
        {"update": "pa1", "C": 0.1, "loss_weight": 1.0},
        {"update": "pa2", "shuffle": True, "random_state": 3},
        {"loss_weight": 0.5, "margin": 1.0, "fit_intercept": False},
        {"loss": "zero-one", "classes": ["low", "middle", "high"]},
        {"decay": 0.01},
        {"loss": "squared", "loss_weight": 1.0},
    ],
    ids=str,
)
def test_options_pass_too(name, options):
    report = dict(check_problem(name, **options))

    left_out = {"separable_set_is_learned"} | ({"sample_weights_act"} if options.get("update") == "pa" else set())
    expected = set(NAMES) - left_out
    assert {name for name, outcome in report.items() if outcome == "passed"} >= expected


def test_prank_with_the_original_update_passes():
    assert dict(check_problem("prank", variant="original", checks=NAMES[:12])) == dict.fromkeys(NAMES[:12], "passed")


@pytest.mark.parametrize("options", [
    {"start": False, "end": False},
    {"start": False, "forbidden_transitions": [("a", "b"), ("c", "c"), (None, "c")]},
    {"end": False, "required_transitions": [("a", "b"), ("c", "c")]},
    {"classes": ["O", "B-X", "I-X"], "forbidden_transitions": "iob2", "fit_intercept": False},
    {"update": "pa", "average": True, "loss": [[0, 1, 2], [3, 0, 1], [0.5, 1, 0]]},
    {"loss_weight": 1.0, "classes": ["a", "b"]},
], ids=str)
def test_sequences_pass(options):
    report = dict(check_problem("sequence", **options))

    if options.get("update") == "pa":
        assert report.pop("sample_weights_act") == "not applicable: these weights raise an error"
    assert set(report) >= set(NAMES) - {"sample_weights_act"} and set(report.values()) == {"passed"}


@pytest.mark.parametrize("options", [{"update": "pa1", "C": 0.1, "loss_weight": 1.0}, {"update": "pa2", "decay": 0.01}], ids=str)
def test_sequences_pass_where_no_bound_is_known(options):
    report = dict(check_problem("sequence", **options))

    assert report.pop("separable_set_is_learned").startswith("not applicable: no bound is known")
    assert set(report.values()) == {"passed"}


@pytest.mark.parametrize("seed", range(5))
def test_structures_pass(seed):
    assert dict(check_problem(Subsets(), random_state=seed)) == dict.fromkeys(NAMES, "passed")


@pytest.mark.parametrize(
    "options", [{"update": "pa"}, {"update": "pa1", "loss_weight": 1.0, "average": True}, {"loss": "zero-one"}], ids=str
)
def test_structures_pass_with_other_updates_and_losses(options):
    report = dict(check_problem(Subsets(), **options))

    assert report["compiled_equals_python"] == report["primal_equals_dual"] == "passed"


def test_objects_pass():
    report = dict(check_problem(Words()))

    assert report.pop("dense_equals_csr") == "not applicable: X is a list of objects"
    assert set(report.values()) == {"passed"}


def test_partial_gold_outputs_pass():
    report = dict(check_problem(RankIntervals()))

    assert report.pop("separable_set_is_learned") == "not applicable: gold outputs are partial"
    assert set(report.values()) == {"passed"}


def test_answers_may_be_nested():
    report = dict(check_problem(Parses()))

    assert report.pop("dense_equals_csr") == "not applicable: X is a list of objects"
    assert set(report.values()) == {"passed"}


class Narrow(Weights):
    """w as a vector of float32, with the sum of its past values."""

    options_used = ("average",)

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

    options_used = ()


@pytest.mark.parametrize("problem", ["cusum", Subsets()], ids=["cusum", "subsets"])
def test_a_store_of_float32_passes(problem):
    report = dict(check_problem(problem, plugins=[Narrow()]))

    assert report["average_is_the_mean"] == report["primal_equals_dual"] == "passed"


def test_a_store_that_does_not_average_passes():
    report = dict(check_problem("cusum", plugins=[NarrowLast()]))

    assert report["average_is_the_mean"] == ("not applicable: average=True has no effect with the NarrowLast object in plugins, "
                                              "whose options_used does not name it (it names none); leave it at False.")
    assert report["primal_equals_dual"] == report["saving_keeps_everything"] == "passed"


def test_the_report_prints_as_a_table():
    lines = str(check_problem("cusum", checks=["argmax_maximises", "features_add_up"])).splitlines()

    assert [line.split() for line in lines] == [["argmax_maximises", "passed"], ["features_add_up", "passed"]]


# ---- checks that do not apply ----


class Approximate(PrefixArgmax):
    exact = False


class Unlisted(RankOutputs):
    def enumerate(self, x):
        return None


class OwnTrainer(Trainer):
    def train(self, run):
        run.run()
        return "max_epochs"


@pytest.mark.parametrize(
    ("replacement", "reasons"),
    [
        (Approximate(4), {"argmax_maximises": "declares itself approximate", "separable_set_is_learned": "declares itself approximate"}),
        (Approximate(4), dict.fromkeys(["further_answers_agree", "losses_of_scores_agree"], "declares itself approximate")),
        (Unlisted(), {"argmax_maximises": "does not list Y(x)", "augmented_argmax_maximises": "does not list Y(x)"}),
        (Unlisted(), dict.fromkeys(["further_answers_agree", "losses_of_scores_agree"], "does not list Y(x)")),
        (OwnTrainer(), {"separable_set_is_learned": "a trainer of its own", "average_is_the_mean": "a trainer of its own"}),
        (DualWeights(), {"primal_equals_dual": "no vector", "average_is_the_mean": "no vector"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_does_not_apply_is_said(replacement, reasons):
    report = dict(check_problem("cusum", plugins=[replacement], checks=list(reasons)))

    for check, reason in reasons.items():
        assert report[check].startswith("not applicable: ") and reason in report[check]


def test_a_loss_that_is_only_measured_is_said_to_be():
    class Measured(Loss):
        def value(self, gold, y, x=None):
            return float(set(gold) != set(y))

    report = check_problem(Subsets(), plugins=[Measured()])

    assert dict(report)["augmented_argmax_maximises"] == "not applicable: Measured is only measured"


def test_more_structures_than_can_be_looked_at_do_not_apply():
    class Large(Subsets):
        def sample(self, random, n_examples):
            return [random.normal(size=(13, 2)) for _ in range(3)]

    report = check_problem(Large(), checks=["argmax_maximises"])

    assert "lists more than 4096 structures" in report[0][1]


# ---- faults ----


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
    options_used = ("epochs", "shuffle", "random_state")

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


def test_what_is_broken_here_is_otherwise_right():
    assert check_problem("cusum", plugins=[Answers(4)], checks=["further_answers_agree"]) == [("further_answers_agree", "passed")]


@pytest.mark.parametrize(("check", "problem", "broken", "found"), BROKEN, ids=[f"{c}-{type(b or p).__name__}" for c, p, b, _ in BROKEN])
def test_broken_plugins_are_caught(check, problem, broken, found):
    with pytest.raises(AssertionError) as caught:
        check_problem(problem, plugins=[] if broken is None else [broken], checks=[check])

    assert found in str(caught.value)
    assert str(caught.value).startswith("plugin '") and f"fails {check}: " in str(caught.value)


def test_a_loss_that_no_search_can_use_is_only_measured():
    class Twice(Subsets):
        """The same sets, whose atoms count twice."""

        @hookimpl
        def structperc_outputs(self, context):
            class Counted(type(super().structperc_outputs(context))):
                def count(self, x, y):
                    return 2 * np.isin(np.arange(x.n_atoms), y)

            return Counted()

    for problem, loss, reason in ((Subsets(), WeighedHamming(), "WeighedHamming is only measured"),
                                  (Twice(), None, "HammingLoss is only measured: search with loss='hamming' needs distinct atoms")):
        report = check_problem(problem, plugins=[] if loss is None else [loss])
        assert dict(report)["augmented_argmax_maximises"].startswith(f"not applicable: {reason}")


def test_an_export_that_predicts_otherwise_is_caught(monkeypatch):
    def export(engine, path, to):
        path.write_text("def predict(X):\n    return [1] * len(X)\n")

    monkeypatch.setattr(structperc.Engine, "export", export)
    with pytest.raises(AssertionError, match="predict returns [234] for .*, but the exported module returns 1. Raise an error"):
        check_problem("cusum", checks=["export_predicts_the_same"])


def test_every_check_has_been_seen_to_fail():
    elsewhere = {"export_predicts_the_same", "cells_are_read_back"}         # above, and in test_borders_of_authors

    assert {check for check, *_ in BROKEN} == set(NAMES) - elsewhere


@pytest.mark.parametrize("broken", [OffByOne(4), NotLinear(3, 3), CostsOneWhenRight(), Backwards(), DoublingEverySecond()])
def test_the_whole_battery_stops_at_the_first_failure(broken):
    with pytest.raises(AssertionError, match="plugin 'cusum' .* fails "):
        check_problem("cusum", plugins=[broken])


# ---- plugins that cannot be checked ----


def test_a_single_hot_spot_needs_a_problem():
    with pytest.raises(PluginError, match="implements structperc_loss, but a whole problem implements .* attribute `problem`"):
        check_problem(AbsoluteLoss())


def test_a_single_hot_spot_can_name_its_problem():
    class Loss:
        problem = "cusum"

        @hookimpl
        def structperc_loss(self, context):
            return CostsOneWhenRight()

    with pytest.raises(AssertionError, match="plugin 'Loss' fails loss_is_zero_at_gold"):
        check_problem(Loss())


def test_structures_without_a_sample_are_refused():
    class NoSample(Subsets):
        sample = property()

    with pytest.raises(PluginError, match=r"no examples can be made up for plugin 'subsets': .* sample\(random, n_examples\)"):
        check_problem(NoSample())


def test_a_sample_that_is_no_data_is_refused():
    class Ragged(Subsets):
        def sample(self, random, n_examples):
            return [[1.0, 2.0], [3.0]], None

    with pytest.raises(PluginError, match="the sample of plugin 'subsets' cannot be read: X is ragged"):
        check_problem(Ragged())


def test_unknown_checks_and_plugins_are_refused():
    with pytest.raises(ValueError, match="there is no check 'argmax'; the checks are plugin_is_used"):
        check_problem("cusum", checks=["argmax"])
    with pytest.raises(PluginError, match="Did you mean 'cusum'"):
        check_problem("cusumm")


# ---- the explicit dual store ----


@pytest.mark.parametrize("average", [False, True])
def test_the_dual_store_scores_as_the_primal_one(average):
    random = np.random.default_rng(1)
    X, y = random.integers(-3, 4, size=(30, 2)).astype(float), random.integers(1, 4, 30)
    options = {"average": average, "epochs": 2, "classes": [1, 2, 3]}
    primal, dual = Engine("cusum", **options).fit(X, y), Engine("cusum", plugins=[DualWeights()], **options).fit(X, y)

    np.testing.assert_allclose(dual.atom_scores(X), primal.atom_scores(X), rtol=1e-12, atol=1e-12)


def test_the_dual_store_refuses_decay():
    with pytest.raises(UnusedOption, match="decay=0.1 has no effect with the DualWeights object"):
        Engine("cusum", decay=0.1, plugins=[DualWeights()]).fit([[0.0], [1.0]], [1, 2])
