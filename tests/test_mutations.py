"""The battery as a mutation test: fifteen faults of plugin authors, each caught with its message."""

import itertools

import numpy as np
import pytest
from test_testing import AlwaysRight, DecodesTheNext, Silent, Subsets, Weightless

from structperc.components import AbsoluteLoss, BlockFeatures, HammingLoss, Outputs, PerceptronUpdate, PrefixArgmax, RankOutputs
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
    """At ties, now the lowest rank and now the highest."""

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


# problem, the faulty part (None: the problem itself), and what the battery says
FAULTS = {
    "augment does nothing": (Subsets(), NothingAdded(), "NothingAdded.augment: with the loss from .* has the largest score . loss"),
    "augment works in place": (Subsets(), AddedInPlace(), "a component changed the atom scores that it was given"),
    "augment returns NaN": (Subsets(), NaNAdded(), "NaNAdded.augment returned nan for atom 0 of example .*; expected finite numbers"),
    "the loss at gold is not 0": ("cusum", CostsWhenRight(), "CostsWhenRight: the loss of .* is right is 1.0; expected 0"),
    "atoms are counted twice": ("cusum", CountsTwice(), "AbsoluteLoss.augment: with the loss from .* but . has the largest score . loss"),
    "decode shows another label": ("cusum", DecodesTheNext(), "DecodesTheNext.decode shows . of example 0 as ., which is encoded as"),
    "steps have the wrong sign": ("cusum", WrongSign(), "more than the bound|a separable set is not learned"),
    "the argmax keeps a state": ("cusum", Remembers(4), "Remembers returned . and later . for example .* with the same atom scores"),
    "enumerate leaves structures out": (Subsets(), Incomplete(), "which Incomplete.enumerate does not list"),
    "the norm is another one": ("cusum", WrongNorm(3, 3), r"WrongNorm.norm is not \|\|sum_a"),
    "the argmax changes its scores": ("cusum", SortsItsScores(4), "a component changed the atom scores that it was given"),
    "add is not in place": ("cusum", AddsElsewhere(3, 3), "AddsElsewhere.(add does not add|scores is not)"),
    "agrees is always true": (Subsets(), AlwaysRight(), r"AlwaysRight.agrees\(.*\) is True for example .*, but they count different atoms"),
    "sample weights are ignored": ("cusum", Weightless(), "Weightless.takes_weights is True, but the sample weights 2, 0.001, 1000, 1 and"),
    "no hook answers": (Silent(), None, "nothing of it was used: structperc_update answered None.*update='perceptron'.* parts in use are"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_caught(fault):
    problem, part, sentence = FAULTS[fault]

    with pytest.raises(AssertionError, match=sentence) as caught:
        check_problem(problem, plugins=[] if part is None else [part])
    print(f"{fault}: {caught.value}")


def test_there_are_fifteen():
    assert len(FAULTS) == 15
