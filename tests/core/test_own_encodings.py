"""Structures in a custom encoding: every comparison, loss and augmented search uses `count`."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from plain import Engine

from structperc import hookimpl
from structperc.components import Argmax, HammingLoss, Outputs, VectorFeatures, ZeroOneLoss
from structperc.errors import DataError, PluginError

FAR = 10**8                     # larger than any number of atoms


class Bits(Outputs):
    """y: 1 for each chosen row, 0 for others. Codes are these bits, plus `shift`."""

    def __init__(self, shift=0):
        self.shift = shift

    def check_structure(self, x, y):
        pass

    def encode(self, y, rows):
        return super().encode([tuple(bit + self.shift for bit in bits) for bits in y], rows)

    def count(self, x, y):
        return np.array(y, dtype=float) - self.shift

    def decode(self, y, x):
        assert len(y) == x.n_rows == x.n_atoms
        return tuple(bit - self.shift for bit in y)

    def enumerate(self, x):
        return itertools.product((self.shift, self.shift + 1), repeat=x.n_rows)


class Sign(Argmax):
    def argmax(self, scores, x):
        return [int(s > 0) + self.outputs.shift for s in scores]


class Rows(VectorFeatures):
    def vectors(self, x):
        return x.rows


class BitProblem:
    name = "bits"

    def __init__(self, outputs=None):
        self.outputs = outputs or Bits()

    @hookimpl
    def structperc_outputs(self, context):
        return self.outputs

    @hookimpl
    def structperc_features(self, context):
        return Rows(context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return Sign()

    def sample(self, random, n_examples):
        return [random.normal(size=(n, 3)) for n in random.integers(1, 6, n_examples)]


def data(n=300, seed=0):
    random = np.random.default_rng(seed)
    w = np.array([1, -2, 0.5])
    X = [random.normal(size=(5, 3)) for _ in range(n)]
    return X, [tuple(int(v > 0) for v in x @ w) for x in X]


def twin(X, y, epochs, loss_weight=0.0):
    """The perceptron on bits: mistakes per epoch, the sum of all Hamming losses, and the weights."""
    w, mistakes, losses = np.zeros(3), [], 0
    for _ in range(epochs):
        mistakes.append(0)
        for x, bits in zip(X, np.array(y), strict=True):
            s = x @ w
            wrong = np.sum((s > 0) != bits)
            mistakes[-1] += wrong > 0
            losses += wrong
            found = s + loss_weight * (1 - 2 * bits) > 0
            w = w + (bits - found) @ x
    return mistakes, losses, w


@pytest.mark.parametrize("shift", [0, FAR])
@pytest.mark.parametrize("loss_weight", [0.0, 1.0])
def test_bits_are_compared_by_what_they_count(shift, loss_weight):
    X, y = data()
    engine = Engine(BitProblem(Bits(shift)), epochs=4, loss_weight=loss_weight).fit(X[:200], y[:200], record_predictions=True)
    mistakes, losses, w = twin(X[:200], y[:200], 4, loss_weight)

    assert engine.mistakes_ == mistakes[:len(engine.mistakes_)] and not any(mistakes[len(engine.mistakes_):])
    assert engine.cumulative_loss_ == losses
    np.testing.assert_allclose(engine.coef_, w, rtol=1e-12, atol=1e-12)
    assert engine.online_predictions_[0] == (0, 0, 0, 0, 0)


def test_bits_are_learned():
    X, y = data()
    engine = Engine(BitProblem(), epochs=20, average=True).fit(X[:200], y[:200])

    assert np.mean([tuple(a) == b for a, b in zip(engine.predict(X[200:]), y[200:], strict=True)]) > 0.95


class Places(Outputs):
    """y[j] is the place of row j; atom 2 j + place."""

    def check_structure(self, x, y):
        pass

    def count(self, x, y):
        c = np.zeros(x.n_atoms)
        c[[2 * j + place for j, place in enumerate(y)]] = 1
        return c


class PlaceProblem(BitProblem):
    def __init__(self):
        super().__init__(Places())

    class Features(Rows):
        def vectors(self, x):
            return np.kron(x.rows, np.eye(2))

    @hookimpl
    def structperc_features(self, context):
        return self.Features(2 * context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        class BestOrder(Argmax):
            def argmax(self, scores, x):
                return (0, 1) if scores[0] + scores[3] >= scores[1] + scores[2] else (1, 0)

        return BestOrder()


@pytest.mark.parametrize("loss", ["hamming", "zero-one"])
def test_a_permutation_is_not_another_one(loss):
    X, y = [np.array([[1.0], [2.0]])], [(1, 0)]
    engine = Engine(PlaceProblem(), loss=loss, epochs=5).fit(X, y)

    assert engine.mistakes_ == [1, 0]
    assert engine.cumulative_loss_ == (4 if loss == "hamming" else 1)
    assert engine.predict(X).tolist() == [(1, 0)]


def started(loss, outputs, x):
    class Parts:
        features = None

    Parts.outputs = outputs
    loss.start(Parts, None)
    return loss


def example(n):
    from structperc.components import Rows

    x = Rows(np.zeros((n, 1)), np.array([0, n])).example(0)
    x.n_atoms = n
    return x


def test_losses_and_comparisons_are_those_of_the_counts():
    x = example(3)
    outputs = Bits()
    hamming, wrong = started(HammingLoss(), outputs, x), started(ZeroOneLoss(), outputs, x)
    s = np.random.default_rng(1).normal(size=3)
    for gold in outputs.enumerate(x):
        added = hamming.augment(gold, s, 0.7, x) - s
        for y in outputs.enumerate(x):
            assert outputs.agrees(gold, y, x) == (gold == y)
            assert hamming.value(gold, y, x) == sum(a != b for a, b in zip(gold, y, strict=True))
            assert wrong.value(gold, y, x) == (gold != y)
            np.testing.assert_allclose(added @ y, 0.7 * (hamming.value(gold, y, x) - sum(gold)), atol=1e-12)
    assert hamming.outputs is outputs


def test_an_own_comparison_may_ask_the_default_one():
    class Mirrored(Bits):
        def agrees(self, gold, y, x):
            return super().agrees(gold, y, x) or super().agrees(gold, y[::-1], x)

    x = example(3)
    outputs = Mirrored()
    loss = started(ZeroOneLoss(), outputs, x)
    assert outputs.agrees((0, 0, 1), (1, 0, 0), x) and loss.value((0, 0, 1), (1, 0, 0), x) == 0
    assert not outputs.agrees((0, 0, 1), (0, 1, 0), x) and loss.value((0, 0, 1), (0, 1, 0), x) == 1


def test_atoms_that_occur_twice_are_measured_but_not_searched_with():
    class Twice(Bits):
        def count(self, x, y):
            return 2 * np.array(y, dtype=float)

    x = example(2)
    loss = started(HammingLoss(), Twice(), x)
    assert loss.value((1, 0), (0, 1), x) == 4
    with pytest.raises(PluginError, match="distinct atoms, but Twice counts atom 0 of the gold output of example 0 2 times"):
        loss.augment((1, 0), np.zeros(2), 1.0, x)
    X, y = data(20)
    with pytest.raises(PluginError, match="distinct atoms"):
        Engine(BitProblem(Twice()), loss_weight=1.0).fit(X, y)


@pytest.mark.parametrize("loss_weight", [0.0, 1.0])
@pytest.mark.parametrize("atom", [-1, 5, FAR])
def test_atoms_that_do_not_exist_are_refused_wherever_the_check_was_dropped(atom, loss_weight):
    """In a process of its own, because a write to such an atom would crash it."""
    code = f"""
import numpy as np
from structperc import Engine, hookimpl
from structperc.components import Argmax, Outputs, RowFeatures

class Unchecked(Outputs):
    def check_structure(self, x, y):
        pass

class Rows:
    name = "rows"
    @hookimpl
    def structperc_outputs(self, context):
        return Unchecked()
    @hookimpl
    def structperc_features(self, context):
        return RowFeatures(context.n_features)
    @hookimpl
    def structperc_argmax(self, context):
        class Positive(Argmax):
            def argmax(self, scores, x):
                return np.flatnonzero(scores > 0)
        return Positive()

try:
    Engine(Rows(), loss_weight={loss_weight}).fit([np.ones((5, 2))], [[0, {atom}]])
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"PluginError atom {atom} in the structure (0, {atom}) of example 0, which has the atoms 0..4." in done.stdout


@pytest.mark.parametrize(("problem", "y"), [("cusum", [1, 2, 9]), ("multiclass", [0, 1, 2])])
def test_codes_of_an_own_encode_must_be_labels(problem, y):
    from structperc.components import ClassOutputs, RankOutputs, Structures

    class Codes(RankOutputs if problem == "cusum" else ClassOutputs):
        def encode(self, y, rows):
            return Structures(np.array(y, dtype=np.intc))

    with pytest.raises(PluginError, match="Codes.encode returned the codes .* expected ints from 1 to 3"):
        Engine(problem, classes=[1, 2, 3], plugins=[Codes()]).fit([[0.0], [1.0], [2.0]], y)


def test_fewer_gold_structures_than_examples_are_refused():
    from structperc.components import Structures

    class Fewer(Bits):
        def encode(self, y, rows):
            return Structures.ragged([list(bits) for bits in y[:-1]])

    X, y = data(4)
    with pytest.raises((PluginError, DataError), match="3 gold outputs for 4 examples"):
        Engine(BitProblem(Fewer())).fit(X, y)


def test_what_is_counted_must_be_finite_and_of_the_right_length():
    class Unknown(Bits):
        def count(self, x, y):
            return np.full(x.n_atoms, np.nan)

    class Short(Bits):
        def count(self, x, y):
            return np.zeros(2)

    X, y = data(4)
    with pytest.raises(PluginError, match="Unknown.count returned nan for atom 0 of example 0; expected finite numbers"):
        Engine(BitProblem(Unknown())).fit(X, y)
    with pytest.raises(PluginError, match=r"Short.count returned an array of shape \(2,\) for example 0; expected \(5,\)"):
        Engine(BitProblem(Short())).fit(X, y)


def test_large_structures_are_compared_in_any_order():
    n = 20_000

    class Everything(Argmax):
        def argmax(self, scores, x):
            return range(n - 1, -1, -1)

    class Problem(BitProblem):
        def __init__(self):
            super().__init__(Outputs())

        @hookimpl
        def structperc_argmax(self, context):
            return Everything()

    engine = Engine(Problem(), epochs=2).fit([np.ones((n, 1))], [range(n)])
    assert engine.mistakes_ == [0] and engine.cumulative_loss_ == 0


class Plain(Outputs):
    """Bits as users pass them, without `encode` and `decode`."""

    def check_structure(self, x, y):
        if len(y) != x.n_rows or not set(y) <= {0, 1}:
            raise PluginError(f"{y} has no bit for each row.")

    def count(self, x, y):
        return np.array(y, dtype=float)

    def enumerate(self, x):
        return itertools.product((0, 1), repeat=x.n_rows)


class Lights(Argmax):
    def argmax(self, scores, x):
        return [int(s > 0) for s in scores]


class Lit(BitProblem):
    @hookimpl
    def structperc_argmax(self, context):
        return Lights()


@pytest.mark.parametrize("form", [list, tuple, np.array, lambda y: np.array(y, dtype=float), lambda y: list(map(np.int64, y))])
def test_a_structure_of_0_and_1_is_no_mask_in_another_encoding(form):
    random = np.random.default_rng(0)
    X = [random.normal(size=(3, 3)) for _ in range(40)]
    y = [(block[:, 0] > 0).astype(int).tolist() for block in X]
    engine = Engine(Lit(Plain()), epochs=20).fit(X, [form(bits) for bits in y])

    assert np.mean([list(a) == b for a, b in zip(engine.predict(X), y, strict=True)]) > 0.8
    for wrong in ("010", [0.5, 0, 1], ["0", "1", "0"], 3):
        with pytest.raises(DataError, match=r"y\[0\] is .*; expected a collection of integers"):
            Engine(Lit(Plain())).fit(X[:1], [wrong])


def test_a_set_of_atoms_is_shown_in_one_order_whatever_the_solver():
    class Pairs(Outputs):
        def enumerate(self, x):
            return itertools.combinations(range(x.n_rows), 2)

    class Best(Argmax):
        def __init__(self, step):
            self.step = step

        def argmax(self, scores, x):
            return np.argsort(-scores, kind="stable")[:2][::self.step]

    class Problem(BitProblem):
        def __init__(self, step):
            super().__init__(Pairs())
            self.step = step

        @hookimpl
        def structperc_argmax(self, context):
            return Best(self.step)

    X = [np.random.default_rng(0).normal(size=(4, 3)) for _ in range(10)]
    y = [tuple(sorted(np.argsort(-block[:, 0])[:2].tolist())) for block in X]
    first, second = (list(Engine(Problem(step), epochs=5).fit(X, y).predict(X)) for step in (1, -1))

    assert first == second == [tuple(sorted(pair)) for pair in first]
