"""Tests of `check_problem` by mutation: each fault of a plugin author fails with its message."""

import itertools

import numpy as np
import pytest
from faulty_parts import (
    AlwaysRight,
    Answers,
    BestTwice,
    DecodesTheNext,
    Narrow,
    OutOfRange,
    RankIntervals,
    Silent,
    Subsets,
    Weightless,
    WorstFirst,
)
from plain import Engine

from structperc import hookimpl
from structperc.components import (
    AbsoluteLoss,
    Argmax,
    BlockFeatures,
    HammingLoss,
    Outputs,
    PerceptronUpdate,
    PrefixArgmax,
    RankOutputs,
)
from structperc.errors import PluginError
from structperc.testing import check_problem


class NothingAdded(HammingLoss):
    def augment(self, gold, scores, scale, x=None):
        return scores


class AddedInPlace(HammingLoss):
    def augment(self, gold, scores, scale, x=None):
        scores[:] = super().augment(gold, scores, scale, x)
        return scores


class NaNAdded(HammingLoss):
    def augment(self, gold, scores, scale, x=None):
        return scores * np.nan


class CostsWhenRight(AbsoluteLoss):
    def value(self, gold, y, x=None):
        return 1 + super().value(gold, y, x)


class CountsTwice(RankOutputs):
    def count(self, x, y):
        return 2 * super().count(x, y)


class WrongSign(PerceptronUpdate):
    def step(self, trial):
        return -super().step(trial)


class Remembers(PrefixArgmax):
    """At ties returns the lowest rank once, then the highest twice."""

    calls = itertools.count()

    def argmax(self, scores, x):
        best = np.append(0, np.cumsum(scores))
        return 1 + np.flatnonzero(best == best.max())[-(next(self.calls) % 3 > 0)]


class Incomplete(Outputs):
    def enumerate(self, x):
        return [y for y in Subsets.Outputs().enumerate(x) if y or not x.n_rows]


class WrongNorm(BlockFeatures):
    def norm(self, x, c):
        return 2 * super().norm(x, c)


class SortsItsScores(PrefixArgmax):
    def argmax(self, scores, x):
        y = super().argmax(scores, x)
        np.asarray(scores).sort()
        return y


class AddsElsewhere(BlockFeatures):
    def add(self, w, x, c):
        w = w.copy()
        super().add(w, x, c)


class AtMostTwo(Outputs):
    """Used with an argmax that returns any number of rows."""

    def enumerate(self, x):
        return [y for y in Subsets.Outputs().enumerate(x) if len(y) <= 2]


class AgreesSilently(Outputs):
    def agrees(self, gold, y, x):
        set(gold) == set(y)                                     # noqa: B015  the fault: nothing is returned

    def enumerate(self, x):
        return Subsets.Outputs().enumerate(x)


class ReturnsTheSum(BlockFeatures):
    def add(self, w, x, c):
        w = w.copy()
        super().add(w, x, c)
        return w


class AddsTwice(BlockFeatures):
    def add(self, w, x, c):
        super().add(w, x, 2 * np.asarray(c))


class Subtracts(HammingLoss):
    def augment(self, gold, scores, scale, x=None):
        return 2 * scores - super().augment(gold, scores, scale, x)


class TooMany(Answers):
    def k_best(self, scores, x, k):
        return self.all_ranked(scores)[:k + 1]


class UndefinedZ(Answers):
    def marginals(self, scores, x):
        return np.nan, super().marginals(scores, x)[1]


class NothingRestored(Narrow):
    def restore(self, state):
        pass


class IgnoresAverage(Narrow):
    """Declares `average` but ignores it."""

    def start(self, parts, context):
        super().start(parts, context)
        self.average = False


class Squares(BlockFeatures):
    """`scores` and `add` use squares of rows, but `cell` still names the rows."""

    def __init__(self, n_blocks, n_features):
        super().__init__(n_blocks, n_features, False)
        self.form = n_blocks, n_features

    def scores(self, w, x):
        return np.asarray(w).reshape(self.form) @ (x.rows[0] ** 2)

    def add(self, w, x, c):
        np.asarray(w)[:] += np.outer(c, x.rows[0] ** 2).ravel()


class SquaresPlugin:
    problem = "multiclass"
    check_options = {"fit_intercept": False}

    @hookimpl
    def structperc_features(self, context):
        return Squares(context.n_labels, context.n_features)


class Careful(Argmax):
    """The best label if it is far better than the first, else the first. At ties this agrees with exports."""

    exact = False

    def argmax(self, scores, x):
        best = int(np.argmax(scores))
        return best + 1 if scores[best] > scores[0] + 1 else 1


class PartialInTheBody(RankIntervals):
    class Outputs(RankIntervals.Outputs):
        partial_gold = True

    @hookimpl
    def structperc_outputs(self, context):
        return self.Outputs()


# problem, the faulty part (None: the problem itself), and the pattern of the message
FAULTS = {
    "augment does nothing": (Subsets(), NothingAdded(), "NothingAdded.augment: with the loss from .* has the largest score . loss"),
    "augment works in place": (Subsets(), AddedInPlace(), "a component changed the atom scores that it was given"),
    "augment returns NaN": (Subsets(), NaNAdded(), "NaNAdded.augment returned nan for atom 0 of example .*; expected finite numbers"),
    "the loss at gold is not 0": ("cusum", CostsWhenRight(), "CostsWhenRight: the loss of .* is right is 1.0; expected 0"),
    "atoms are counted twice": ("cusum", CountsTwice(), "PrefixArgmax.marginals is not how often each atom is expected"),
    "decode shows another label": ("cusum", DecodesTheNext(), "DecodesTheNext.decode shows . of example 0 as ., which is encoded as"),
    "steps have the wrong sign": ("cusum", WrongSign(), "more than the bound|a separable set is not learned"),
    "the argmax keeps a state": ("cusum", Remembers(4), "Remembers returned . and later . for example .* with the same atom scores"),
    "enumerate leaves structures out": (Subsets(), Incomplete(), "which Incomplete.enumerate does not list"),
    "the norm is another one": ("cusum", WrongNorm(3, 3), r"WrongNorm.norm is not \|\|sum_a"),
    "the argmax changes its scores": ("cusum", SortsItsScores(4), "a component changed the atom scores that it was given"),
    "add is not in place": ("cusum", AddsElsewhere(3, 3), "AddsElsewhere.(add does not add|scores is not)"),
    "agrees is always true": (Subsets(), AlwaysRight(), r"AlwaysRight.agrees\(.*\) is True for example .*, but they count different atoms"),
    "sample weights are ignored": ("cusum", Weightless(), "the sample weights 2, 0.001, 1000, 1 and"),
    "an answer is no label": ("cusum", OutOfRange(4), "5 is not a label of example 0"),
    "an answer is outside Y(x)": (Subsets(), AtMostTwo(), r"Argmax returned \(.*\) for .*, which AtMostTwo.enumerate does not list"),
    "agrees returns None": (Subsets(), AgreesSilently(), "AgreesSilently.agrees"),
    "add returns the sum": ("cusum", ReturnsTheSum(3, 3), "ReturnsTheSum.add returned array.*; expected None"),
    "add has a factor": ("cusum", AddsTwice(3, 3), "AddsTwice.(add does not add|scores is not|norm is not)"),
    "augment has the wrong sign": (Subsets(), Subtracts(), "Subtracts.augment: with the loss from .* has the largest score . loss"),
    "k_best is not sorted": ("cusum", WorstFirst(4), "WorstFirst.k_best returned the score .* after .*expected the best structures first"),
    "k_best lists one twice": ("cusum", BestTwice(4), "BestTwice.k_best lists a structure twice"),
    "k_best lists too many": ("cusum", TooMany(4), "TooMany.k_best returned 2 structures for example 0 and k=1; expected at most k"),
    "log Z is NaN": ("cusum", UndefinedZ(4), "UndefinedZ.marginals returned log Z = nan for example 0; expected a finite number"),
    "restore does nothing": ("cusum", NothingRestored(), "its member .* is not asked for by any part"),
    "average is ignored": ("cusum", IgnoresAverage(), "the averaged weights differ from the mean of the weights"),
    "no hook answers": (Silent(), None, "nothing of it was used: structperc_update returned None.*update='perceptron'.* parts in use are"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_caught(fault):
    problem, part, sentence = FAULTS[fault]

    with pytest.raises(AssertionError, match=sentence) as caught:
        check_problem(problem, plugins=[] if part is None else [part])
    print(f"{fault}: {caught.value}")


# ---- faults that raise an error or have no effect ----


def test_a_kernel_does_not_go_around_the_scores_of_a_map():
    X = np.random.default_rng(0).normal(size=(40, 3))
    kernel = Engine("multiclass", plugins=[SquaresPlugin(), "dual-kernel"], kernel="linear", fit_intercept=False)

    with pytest.raises(PluginError, match="Squares does not define the row of x of each atom"):
        kernel.fit(X, (X**2).argmax(axis=1))


def test_an_export_does_not_go_around_the_argmax(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    engine = Engine("multiclass", plugins=[Careful()]).fit(X, X.argmax(axis=1))

    with pytest.raises(PluginError, match="Careful of plugin 'Careful' replaces the argmax part"):
        engine.export(tmp_path / "careful.py", "numpy")


def test_partial_gold_in_the_body_of_a_class_acts():
    X, y = np.array([[1.0], [-1.0], [0.5], [0.25], [2.0]]), np.array([[1, 4], [2, 2], [1, 3], [1, 4], [4, 4]])

    def mistakes(plugin):
        return Engine(plugin, classes=[1, 2, 3, 4]).fit(X, y).mistakes_

    assert mistakes(PartialInTheBody()) == mistakes(RankIntervals())
