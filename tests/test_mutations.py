"""Tests of `check_problem` by mutation: each fault of a plugin author fails with its message. `faulty_parts.BROKEN` has others."""

import numpy as np
import pytest
from faulty_parts import Answers, Narrow, RankIntervals, Subsets
from plain import Engine

from structperc import hookimpl
from structperc.components import Argmax, BlockFeatures, HammingLoss, Outputs, RankOutputs
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


class CountsTwice(RankOutputs):
    def count(self, x, y):
        return 2 * super().count(x, y)


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


# problem, the faulty part, and the pattern of the message
FAULTS = {
    "augment does nothing": (Subsets(), NothingAdded(), "NothingAdded.augment: with the loss from .* has the largest score . loss"),
    "augment works in place": (Subsets(), AddedInPlace(), "a component changed the atom scores that it was given"),
    "augment returns NaN": (Subsets(), NaNAdded(), "NaNAdded.augment returned nan for atom 0 of example .*; expected finite numbers"),
    "atoms are counted twice": ("cusum", CountsTwice(), "PrefixArgmax.marginals is not how often each atom is expected"),
    "add is not in place": ("cusum", AddsElsewhere(3, 3), "AddsElsewhere.(add does not add|scores is not)"),
    "an answer is outside Y(x)": (Subsets(), AtMostTwo(), r"Argmax returned \(.*\) for .*, which AtMostTwo.enumerate does not list"),
    "agrees returns None": (Subsets(), AgreesSilently(), "AgreesSilently.agrees"),
    "add returns the sum": ("cusum", ReturnsTheSum(3, 3), "ReturnsTheSum.add returned array.*; expected None"),
    "add has a factor": ("cusum", AddsTwice(3, 3), "AddsTwice.(add does not add|scores is not|norm is not)"),
    "augment has the wrong sign": (Subsets(), Subtracts(), "Subtracts.augment: with the loss from .* has the largest score . loss"),
    "k_best lists too many": ("cusum", TooMany(4), "TooMany.k_best returned . structures for example 0 and k=.; expected at most k"),
    "log Z is NaN": ("cusum", UndefinedZ(4), "UndefinedZ.marginals returned log Z = nan for example 0; expected a finite number"),
    "restore does nothing": ("cusum", NothingRestored(), "its member .* is not asked for by any part"),
    "average is ignored": ("cusum", IgnoresAverage(), "the averaged weights differ from the mean of the weights"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_caught(fault):
    problem, part, sentence = FAULTS[fault]

    with pytest.raises(AssertionError, match=sentence) as caught:
        check_problem(problem, plugins=[part])
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
