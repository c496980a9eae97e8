"""Augmented search with losses that are no sum over atoms: by the solver's k best or by its own method, against all structures."""

import itertools

import numpy as np
import pytest
from plain import Engine
from structperc_sequence import Viterbi
from structperc_sequence.constraints import read_constraints
from subsets import Subsets

from structperc import hookimpl
from structperc.components import Argmax, Loss, Rows, ZeroOneLoss
from structperc.core.losses import is_additive
from structperc.errors import PluginError

LABELS = ["a", "b", "c"]


class F1Loss(Loss):
    """1 - F1 of the tokens with a label other than the first: no sum over tokens."""

    largest = 1.0

    def value(self, gold, y, x):
        right = sum(g == k != 1 for g, k in zip(gold, y, strict=True))
        named = sum(g != 1 for g in gold) + sum(k != 1 for k in y)
        return 1 - 2 * right / named if named else 0.0


class FewWrong(Loss):
    """min(2, wrong tokens)."""

    largest = 2.0

    def value(self, gold, y, x):
        return min(2, sum(g != k for g, k in zip(gold, y, strict=True)))


LOSSES = {"zero-one": ZeroOneLoss, "f1": F1Loss, "few": FewWrong}


def sentences(rng, n=12):
    X = [rng.integers(-2, 3, size=(rng.integers(1, 5), 2)).astype(float) for _ in range(n)]
    return X, [[LABELS[k] for k in rng.integers(0, 3, len(x))] for x in X]


def parts_and_examples(loss, X, y, **options):
    engine = Engine("sequence", plugins=[] if isinstance(loss, ZeroOneLoss) else [loss], classes=LABELS,
                    loss="zero-one" if isinstance(loss, ZeroOneLoss) else None, **options).fit(X, y)
    rows = engine.parts_.reader.read(X)
    examples = [rows.example(i) for i in range(len(X))]
    for x in examples:
        x.n_atoms = engine.parts_.features.n_atoms(x)
    return engine.parts_, examples


@pytest.mark.parametrize("whole", [False, True], ids=["real scores", "whole scores with ties"])
@pytest.mark.parametrize("name", LOSSES)
def test_the_k_best_find_what_all_structures_would(name, whole):
    rng = np.random.default_rng(5)
    X, y = sentences(rng)
    parts, examples = parts_and_examples(LOSSES[name](), X, y)
    argmax, outputs, loss = parts.argmax, parts.outputs, parts.loss
    assert argmax.searches_with(loss) and not is_additive(loss)
    for x in examples:
        structures = list(outputs.enumerate(x))
        counts = np.array([outputs.count(x, z) for z in structures])
        for scale in (0.5, 1.0, 4.0):
            s = rng.integers(-1, 2, x.n_atoms).astype(float) if whole else rng.normal(size=x.n_atoms)
            gold = structures[rng.integers(len(structures))]
            kept = s.copy()
            wanted = counts @ s + scale * np.array([loss.value(gold, z, x) for z in structures])
            found = argmax.argmax_augmented(s, x, gold, loss, scale)
            assert wanted[structures.index(found)] >= wanted.max() - 1e-12
            assert found == argmax.argmax_augmented(s, x, gold, loss, scale) and np.array_equal(s, kept)


def twin(X, y, name, scale, epochs):
    """The perceptron with a search of all labellings, on whole numbers. Among equals, it chooses the first in the solver's list."""
    options = read_constraints(LABELS)
    solver, steps = Viterbi(3, False, False, options), []
    weights = np.zeros(3 * 2 + 3 + 9)
    loss = LOSSES[name]()

    def phi(x, z):
        total = np.zeros_like(weights)
        for row, k in zip(x, z, strict=True):
            total[2 * (k - 1):2 * k] += row
            total[6 + k - 1] += 1
        for a, b in zip(z, z[1:], strict=False):
            total[9 + 3 * (a - 1) + b - 1] += 1
        return total

    for _ in range(epochs):
        for i, (x, labels) in enumerate(zip(X, y, strict=True)):
            gold = tuple(LABELS.index(label) + 1 for label in labels)
            T = len(x)
            atoms = np.concatenate([(x @ weights[:6].reshape(3, 2).T + weights[6:9]).ravel(), weights[9:]])
            example = Rows(x, np.array([0, T])).example(0)
            ranked = solver.k_best(atoms, example, 3**T)
            values = [score + scale * (float(z != gold) if name == "zero-one" else loss.value(gold, z, example)) for z, score in ranked]
            z = ranked[int(np.argmax(values))][0]
            if z != gold:
                weights += phi(x, gold) - phi(x, z)
                steps.append(i)
    return weights, steps


@pytest.mark.parametrize("name", LOSSES)
def test_sequences_are_trained_with_it(name):
    X, y = sentences(np.random.default_rng(8), 30)
    plugins = [] if name == "zero-one" else [LOSSES[name]()]
    engine = Engine("sequence", classes=LABELS, loss="zero-one" if name == "zero-one" else None, loss_weight=1.0, epochs=3, plugins=plugins)
    engine.fit(X, y)
    weights, steps = twin(X, y, name, 1.0, 3)

    assert len(steps) > 20
    found = np.concatenate([engine.coef_.ravel(), engine.intercept_, engine.transition_scores_.ravel()])
    np.testing.assert_allclose(found, weights, atol=1e-12)


@pytest.mark.parametrize("update", ["perceptron", "pa1"])
def test_the_battery_searches_with_it(update):
    from structperc.testing import check_problem

    checks = ["augmented_argmax_maximises", "compiled_equals_python", "inputs_are_untouched"]
    for plugins, options in (([], {"loss": "zero-one"}), ([F1Loss()], {})):
        report = check_problem("sequence", plugins=plugins, loss_weight=1.0, update=update, checks=checks, **options)
        assert {outcome for _, outcome in report} == {"passed"}


def test_a_bound_that_is_exceeded_is_said():
    class Larger(FewWrong):
        largest = 1.0

    X, y = sentences(np.random.default_rng(2))
    with pytest.raises(PluginError, match="Larger is 2.0 for example .*, but its `largest` is 1.0; correct `largest`"):
        Engine("sequence", classes=LABELS, plugins=[Larger()], loss_weight=1.0, epochs=3).fit(X, y)


# ---- a custom solver ----


class OwnSearch(Argmax):
    """The solver of Subsets. With a loss, it enumerates all subsets."""

    seen = []

    def argmax(self, scores, x):
        return np.flatnonzero(scores > 0)

    def argmax_augmented(self, scores, x, gold, loss, scale):
        self.seen.append((x.index, gold, loss, scale))
        listed = [y for n in range(x.n_rows + 1) for y in itertools.combinations(range(x.n_rows), n)]
        return max(listed, key=lambda y: scores[list(y)].sum() + scale * loss.value(gold, y, x))


class Missed(Loss):
    def value(self, gold, y, x):
        return float(not set(gold) <= set(y))


def test_an_own_search_is_told_gold_loss_and_scale():
    X, y = [np.array([[1.0, 2.0], [-1.0, 0.5]]), np.array([[0.5, -1.0]])], [[0], [0]]
    loss = Missed()
    OwnSearch.seen.clear()
    engine = Engine(Subsets(), plugins=[OwnSearch(), loss], loss_weight=0.25, epochs=1).fit(X, y)

    assert [(i, gold, scale) for i, gold, _, scale in OwnSearch.seen] == [(0, (0,), 0.25), (1, (0,), 0.25)]
    assert all(told is engine.parts_.loss for _, _, told, _ in OwnSearch.seen)


def test_a_loss_that_nothing_searches_with_is_refused_with_the_ways_out():
    sentence = (r"Missed cannot be written over atoms, so Positive cannot search with it. It can only be measured \(loss_weight=0\). A "
                "search needs a method `augment` of Missed, or its bound `largest` and a method `k_best` of Positive. Or a method "
                "`argmax_augmented` of Positive")
    with pytest.raises(PluginError, match=sentence):
        Engine(Subsets(), plugins=[Missed()], loss_weight=1.0).fit([np.ones((2, 2))], [[0]])


# ---- hooks that replace only the search ----


def test_replacing_the_argmax_alone_reaches_the_augmented_search():
    class Refusing:
        @hookimpl
        def structperc_argmax(self, context):
            class Never(Viterbi):
                def argmax(self, scores, x):
                    return tuple(min(k, 2) for k in super().argmax(scores, x))

            return Never(context.n_labels, False, False, read_constraints(context.labels))

    X, y = sentences(np.random.default_rng(4), 20)
    engine = Engine("sequence", classes=LABELS, plugins=[Refusing()], loss_weight=5.0).fit(X, y, record_predictions=True)
    assert "c" not in {label for labels in engine.online_predictions_ for label in labels}
