"""What crosses the border of an author's parts: gold structures, masks of a solver, cells of files, names of weights and losses."""

import itertools

import numpy as np
import pytest

from structperc import Engine, hookimpl
from structperc.cli.files import cells_of
from structperc.components import Argmax, BlockFeatures, LabelOutputs, Loss, Outputs, RowFeatures, Structures, VectorFeatures
from structperc.errors import DataError, DataWarning, PluginError
from structperc.metrics import measures_of
from structperc.plotting import plot_weights
from structperc.testing import check_problem

RANDOM = np.random.default_rng(0)
BLOCKS = [RANDOM.normal(size=(4, 2)) for _ in range(6)]
PAIRS, TRIPLES = [(0, 1)] * 6, [(0, 1, 2)] * 6


class Two(Outputs):
    def enumerate(self, x):
        return itertools.combinations(range(x.n_rows), min(2, x.n_rows))


class Largest(Argmax):
    def argmax(self, scores, x):
        return sorted(np.argsort(-scores, kind="stable")[:2].tolist())


class Choice:
    """A problem of parts that a test replaces."""

    name = "choice"

    def __init__(self, outputs=Two, argmax=Largest, features=None, loss=None):
        self.outputs, self.argmax, self.features, self.loss = outputs, argmax, features, loss

    @hookimpl
    def structperc_outputs(self, context):
        return self.outputs()

    @hookimpl
    def structperc_argmax(self, context):
        return self.argmax()

    @hookimpl
    def structperc_features(self, context):
        return RowFeatures(context.n_features) if self.features is None else self.features

    @hookimpl
    def structperc_loss(self, context):
        return self.loss and self.loss()

    def sample(self, random, n_examples):
        return [random.normal(size=(n, 2)) for n in random.integers(1, 5, n_examples)]


class Refilled(Two):
    """Each call writes its counts into the same array."""

    def start(self, parts, context):
        super().start(parts, context)
        self._counts = np.zeros(9)

    def count(self, x, y):
        self._counts[:] = 0
        self._counts[list(y)] = 1
        return self._counts[:x.n_atoms]


def test_counts_may_come_in_one_array():
    X = [np.random.default_rng(i).normal(size=(4, 2)) for i in range(30)]
    y = [tuple(np.argsort(-block[:, 0])[:2].tolist()) for block in X]
    one, other = (Engine(Choice(outputs=outputs), epochs=3, random_state=0).fit(X, y) for outputs in (Two, Refilled))
    assert str(one.explain(X[0])) == str(other.explain(X[0]))
    assert one.predict_k_best(X, 3) == other.predict_k_best(X, 3)
    np.testing.assert_array_equal(one.margins(X), other.margins(X))
    assert check_problem(Choice(outputs=Refilled))


class OneList(Two):
    """Each call fills the same list."""

    def start(self, parts, context):
        super().start(parts, context)
        self._structure, self._answer = [], []

    def enumerate(self, x):
        for self._structure[:] in super().enumerate(x):
            yield self._structure


class Shown(OneList):
    def decode(self, y, x):
        self._answer[:] = y
        return self._answer


def test_predictions_and_listed_structures_may_come_in_one_list():
    one, other = (Engine(Choice(outputs=outputs), epochs=3, random_state=0).fit(BLOCKS, PAIRS) for outputs in (Two, Shown))
    assert list(map(tuple, other.predict(BLOCKS))) == list(one.predict(BLOCKS))
    assert [[(tuple(y), score) for y, score in k_best] for k_best in other.predict_k_best(BLOCKS, 3)] == one.predict_k_best(BLOCKS, 3)
    assert str(other.explain(BLOCKS[0])).replace("[", "(").replace("]", ")") == str(one.explain(BLOCKS[0]))
    assert check_problem(Choice(outputs=OneList))


class OneArray(VectorFeatures):
    """Each call fills the same array."""

    def vectors(self, x):
        self._vectors = getattr(self, "_vectors", np.zeros((9, 2)))
        self._vectors[:x.n_rows] = x.rows
        return self._vectors[:x.n_rows]


class NewArray(VectorFeatures):
    def vectors(self, x):
        return x.rows.copy()


def test_vectors_may_come_in_one_array():
    one, other = (Engine(Choice(features=features(2)), epochs=3, random_state=0).fit(BLOCKS, PAIRS) for features in (NewArray, OneArray))
    assert str(one.explain(BLOCKS[0])) == str(other.explain(BLOCKS[0]))

    class Described(Choice):
        @hookimpl
        def structperc_features(self, context):
            return OneArray(2)

    assert check_problem(Described())


# ---- gold structures ----


class Counted(Two):
    """Pairs whose first atom counts twice."""

    def count(self, x, y):
        counts = np.zeros(x.n_atoms)
        counts[list(y)] = [2, *[1] * len(y)][:len(y)]
        return counts


@pytest.mark.parametrize("outputs", [Two, Counted])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_gold_structures_that_enumerate_does_not_list_are_refused(outputs, method):
    with pytest.raises(DataError, match=r"y\[3\] cannot be used: \w+\.enumerate does not list the structure \(0, 1, 2\)"):
        getattr(Engine(Choice(outputs), epochs=1), method)(BLOCKS, [*PAIRS[:3], TRIPLES[0], *PAIRS[4:]])


def test_gold_structures_in_any_order_and_of_an_author_who_checks_or_moves_them_are_learned():
    class Checked(Two):
        def check_structure(self, x, y):
            pass

    class Moved(Two):
        def admissible(self, gold, rows):
            return Structures.ragged([y[:2] for y in gold])

    for outputs, y in ((Two, [(1, 0)] * 6), (Checked, TRIPLES), (Moved, TRIPLES)):
        assert Engine(Choice(outputs), epochs=1, random_state=0).fit(BLOCKS, y).mistakes_


def test_no_long_list_is_enumerated():
    class Eager(Two):
        def enumerate(self, x):
            assert x.n_rows <= 12
            return list(super().enumerate(x))

    Engine(Choice(Eager), epochs=1).fit([np.ones((30, 2)), np.eye(2)], [(0, 1, 2), (0, 1)])


# ---- masks of a solver ----


def masked(kind, n_more=0):
    class Mask(Largest):
        def argmax(self, scores, x):
            mask = np.isin(np.arange(len(scores) + n_more), super().argmax(scores, x))
            return kind(mask)

    return Mask


@pytest.mark.parametrize("kind", [np.asarray, np.ndarray.tolist, lambda mask: tuple(mask.tolist())])
def test_a_solver_returns_a_mask(kind):
    one, other = (Engine(Choice(argmax=argmax), epochs=3, random_state=0).fit(BLOCKS, PAIRS) for argmax in (Largest, masked(kind)))
    assert list(one.predict(BLOCKS)) == list(other.predict(BLOCKS)) and one.mistakes_ == other.mistakes_


def test_a_mask_of_another_length_is_refused():
    with pytest.raises(PluginError, match="is a mask of 5 values; expected True or False for each of 4 atoms"):
        Engine(Choice(argmax=masked(np.asarray, 1)), epochs=1).fit(BLOCKS, PAIRS)


# ---- the suite ----


class Missed(Loss):
    def value(self, gold, y, x=None):
        return float(len(set(gold) ^ set(y)))

    def augment(self, gold, scores, scale, x=None):
        return np.asarray(scores) + scale * np.where(np.isin(np.arange(len(scores)), gold), -1, 1)


class Inexact(Largest):
    exact = False


def test_augment_beside_an_inexact_solver_is_compared_with_value():
    class Badly(Missed):
        def augment(self, gold, scores, scale, x=None):
            return np.asarray(scores) - 100 * scale * np.arange(len(scores))

    checks = ["augmented_argmax_maximises"]
    check_problem(Choice(argmax=Inexact, loss=Missed), checks=checks)
    with pytest.raises(AssertionError, match=r"Badly\.augment"):
        check_problem(Choice(argmax=Inexact, loss=Badly), checks=checks)


class Marks(Two):
    def read_cells(self, cells):
        return tuple(np.flatnonzero([cell == 1 for cell in cells]).tolist())

    def write_cells(self, answer, n_rows):
        return [int(a in answer) for a in range(n_rows)]


class Inverted(Marks):
    def write_cells(self, answer, n_rows):
        return [1 - cell for cell in super().write_cells(answer, n_rows)]


class Texts(Marks):
    def write_cells(self, answer, n_rows):
        return ["yes" if a in answer else "no" for a in range(n_rows)]


def test_cells_are_read_back():
    check_problem(Choice(Marks), checks=["cells_are_read_back"])
    for outputs in (Inverted, Texts):
        with pytest.raises(AssertionError, match=rf"{outputs.__name__}\.write_cells writes .* Make one the inverse of the other"):
            check_problem(Choice(outputs), checks=["cells_are_read_back"])


def test_cells_of_sentences_are_lists_already():
    assert cells_of([["0", "_"], ["1"]], None) == [["0", "_"], ["1"]]
    assert cells_of(np.array([1, 2]), None) == [[1], [2]] and cells_of(np.array([1, 2, 3]), [0, 1, 3]) == [[1], [2, 3]]


# ---- names ----


def test_the_mean_loss_has_the_name_of_the_loss_that_is_measured():
    for loss, name in ((None, "mean loss (hamming)"), (Missed, "mean loss (Missed)")):
        engine = Engine(Choice(loss=loss), epochs=1, random_state=0).fit(BLOCKS, PAIRS)
        assert name in measures_of(engine.model_, engine.read(BLOCKS), PAIRS, engine.predict(BLOCKS))


class Wide(VectorFeatures):
    def vectors(self, x):
        rows = np.asarray(x.rows)
        return np.column_stack([rows, rows ** 2])

    def feature_name(self, j):
        return f"power {j}"


def test_weights_of_a_map_have_the_names_of_the_map():
    pandas, pyplot = pytest.importorskip("pandas"), pytest.importorskip("matplotlib.pyplot")
    frame = pandas.DataFrame(np.vstack(BLOCKS), columns=["a", "b"])
    engine = Engine(Choice(features=Wide(4)), epochs=3, random_state=0).fit(frame, [(2, 3)] * 6, offsets=np.arange(7) * 4)
    names = [label.get_text() for label in plot_weights(engine).get_yticklabels()]
    pyplot.close("all")
    assert names and set(names) <= {f"power {j}" for j in range(4)}
    assert "power " in engine._repr_html_()


def test_labels_that_count_the_same_atoms_are_named():
    class Labels(LabelOutputs):
        def count(self, x, y):
            return np.eye(2)[min(y, 2) - 1]

    class First(Argmax):
        def argmax(self, scores, x):
            return 1 + int(scores[1] > scores[0])

    engine = Engine(Choice(Labels, First, BlockFeatures(2, 2)), epochs=1)
    with pytest.warns(DataWarning, match=r"Labels\.count counts the same atoms for the labels 'b' and 'c'"):
        engine.fit(np.eye(3)[:, :2], ["a", "b", "c"])
