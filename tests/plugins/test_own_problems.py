"""Ten problems written from docs/write-a-problem.md and docs/replace-a-part.md, each against brute force and at the doors of an engine."""

import itertools
import pickle

import numpy as np
import pytest
from loading import module_at

from structperc import Engine, hookimpl
from structperc.components import Argmax, BlockFeatures, KeyedReader, LabelOutputs, Loss, Outputs, RowFeatures, RowPart, VectorFeatures
from structperc.errors import PluginError
from structperc.testing import check_problem

CHECKS = ["answers_are_structures", "fits_are_alike", "units_are_the_maps_business", "argmax_maximises", "features_add_up",
          "agreeing_is_counting_the_same", "decoding_is_undone", "loss_is_zero_at_gold", "augmented_argmax_maximises",
          "further_answers_agree", "saving_keeps_everything"]


class Problem:
    """What the ten share: the hooks, which return what the classes of the problem make."""

    columns = 3

    @property
    def name(self):
        return type(self).__name__.lower()

    @hookimpl
    def structperc_outputs(self, context):
        return self.Y()

    @hookimpl
    def structperc_features(self, context):
        return self.features(context)

    @hookimpl
    def structperc_argmax(self, context):
        return self.Best()

    def features(self, context):
        return RowFeatures(context.n_features)

    def sample(self, random, n_examples):
        return [random.normal(size=(n, self.columns)) for n in random.integers(1, 5, n_examples)]


class ByScore(Argmax):
    """Brute force over `enumerate`; at a tie the first."""

    def argmax(self, scores, x):
        return max(self.outputs.enumerate(x), key=lambda y: round(float(self.outputs.count(x, y) @ scores), 9))


class Packs(Problem):
    """Sets of rows that weigh at most 12; column 0 is the weight, in the users' units."""

    class Y(Outputs):
        def check_structure(self, x, y):
            super().check_structure(x, y)
            if x.rows[list(y), 0].sum() > 12:
                raise PluginError(f"{y} weighs too much.")

        def enumerate(self, x):
            return (y for n in range(x.n_rows + 1) for y in itertools.combinations(range(x.n_rows), n) if x.rows[list(y), 0].sum() <= 12)

    Best = ByScore

    def sample(self, random, n_examples):
        return [np.column_stack([random.integers(2, 9, n), random.normal(size=(n, 2))]) for n in random.integers(1, 5, n_examples)]


class Knapsack(Problem):
    """The same by a dynamic program; the weight is a key of the row."""

    class Y(Outputs):
        def enumerate(self, x):
            return (y for n in range(x.n_rows + 1) for y in itertools.combinations(range(x.n_rows), n) if x.keys[list(y), 0].sum() <= 9)

    class Best(Argmax):
        """Of equal sums the set that is found first."""

        def argmax(self, scores, x):
            best = {0: (0.0, ())}
            for row, score in enumerate(scores):
                for weight, (total, y) in list(best.items()):
                    heavier = weight + int(x.keys[row, 0])
                    if heavier <= 9 and total + score > best.get(heavier, (-np.inf,))[0]:
                        best[heavier] = total + score, (*y, row)
            return max(best.values(), key=lambda found: found[0])[1]

    @hookimpl
    def structperc_reader(self, context):
        return KeyedReader(1)

    def sample(self, random, n_examples):
        return [np.column_stack([random.integers(1, 7, n), random.normal(size=(n, 2))]) for n in random.integers(1, 5, n_examples)]


class Orders(Problem):
    """An order of three rows: atom 3 * row + place."""

    class Y(Outputs):
        def check_structure(self, x, y):
            if sorted(y) != [0, 1, 2]:
                raise PluginError(f"{y} is no order.")

        def count(self, x, y):
            counts = np.zeros(9)
            counts[[3 * row + place for place, row in enumerate(y)]] = 1
            return counts

        def enumerate(self, x):
            return itertools.permutations(range(3))

    class Best(Argmax):
        def argmax(self, scores, x):
            from scipy.optimize import linear_sum_assignment

            return tuple(linear_sum_assignment(-np.reshape(scores, (3, 3)).T)[1].tolist())

    def features(self, context):
        return RowPart(3, context.n_features)

    def sample(self, random, n_examples):
        return [random.normal(size=(3, 2)) for _ in range(n_examples)]


PATHS = np.array([[1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 0, 1]])


class Taxonomy(Problem):
    """Leaves of a tree, made of the nodes on their paths. The loss is the distance in the tree."""

    class Y(LabelOutputs):
        def count(self, x, y):
            return PATHS[y - 1]

    class Best(Argmax):
        def argmax(self, scores, x):
            return int(np.argmax(PATHS @ scores)) + 1

    class Distance(Loss):
        def value(self, gold, y, x=None):
            return float(np.abs(PATHS[gold - 1] - PATHS[y - 1]).sum())

    @hookimpl
    def structperc_loss(self, context):
        return self.Distance()

    def features(self, context):
        return BlockFeatures(6, context.n_features)

    def sample(self, random, n_examples):
        return random.normal(size=(n_examples, 3)), random.permutation(["a/x", "a/y", "b/x", "b/y"] * (n_examples // 4))


class Teams(Problem):
    """Unordered pairs of three people: labels whose atoms repeat if one person is the whole pair."""

    PAIRS = list(itertools.combinations_with_replacement(range(3), 2))

    class Y(LabelOutputs):
        def count(self, x, y):
            return np.bincount(Teams.PAIRS[y - 1], minlength=3)

    class Best(Argmax):
        def argmax(self, scores, x):
            return int(np.argmax([scores[a] + scores[b] for a, b in Teams.PAIRS])) + 1

    def features(self, context):
        return BlockFeatures(3, context.n_features)

    def sample(self, random, n_examples):
        return random.normal(size=(n_examples, 3)), [f"{a}{b}" for a, b in Teams.PAIRS] * (n_examples // 6)


class Signs(Problem):
    """A bit per row, with a bonus if neighbours are equal; a beam of one, which is not exact."""

    class Y(Outputs):
        def check_structure(self, x, y):
            if len(y) != x.n_rows or not set(y) <= {0, 1}:
                raise PluginError(f"{y} has no bit for each row.")

        def count(self, x, y):
            return np.array([*y, sum(a == b for a, b in itertools.pairwise(y))], dtype=float)

        def enumerate(self, x):
            return itertools.product((0, 1), repeat=x.n_rows)

    class Best(Argmax):
        exact = False

        def argmax(self, scores, x):
            y = []
            for score in scores[:-1]:
                y.append(int(score + (scores[-1] * (2 * y[-1] - 1) if y else 0) > 0))
            return tuple(y)

    class Wrong(Loss):
        def value(self, gold, y, x=None):
            return float(np.sum(np.not_equal(gold, y)))

        def augment(self, gold, scores, scale, x=None):
            return scores + scale * np.array([*(1 - 2 * np.array(gold)), 0])

    @hookimpl
    def structperc_loss(self, context):
        return self.Wrong()

    def features(self, context):
        class Pairs(VectorFeatures):
            def vectors(self, x):
                return np.vstack([np.column_stack([x.rows, np.zeros(x.n_rows)]), [0, 0, 0, 1]])

        return Pairs(context.n_features + 1)


class Stretch(Problem):
    """The rows from `start` up to `stop`: the largest sum of neighbours, which may be empty."""

    class Y(Outputs):
        def check_structure(self, x, y):
            if len(y) != 2 or not 0 <= y[0] <= y[1] <= x.n_rows or y[0] == y[1] != 0:
                raise PluginError(f"{y} is no stretch.")

        def count(self, x, y):
            return (np.arange(x.n_rows) >= y[0]) & (np.arange(x.n_rows) < y[1])

        def max_code_length(self, n_atoms):
            return 2

        def enumerate(self, x):
            return [(0, 0), *itertools.combinations(range(x.n_rows + 1), 2)]

    class Best(Argmax):
        def argmax(self, scores, x):
            sums = np.append(0, np.cumsum(scores))
            return max(self.outputs.enumerate(x), key=lambda y: sums[y[1]] - sums[y[0]])

    class Rows(Loss):
        def value(self, gold, y, x=None):
            return float(len(set(range(*gold)) ^ set(range(*y))))

        def augment(self, gold, scores, scale, x=None):
            inside = np.isin(np.arange(len(scores)), range(*gold))
            return scores + scale * np.where(inside, -1, 1)

    @hookimpl
    def structperc_loss(self, context):
        return self.Rows()


class Forest(Problem):
    """Rows are edges between four nodes, whose numbers are keys: the best forest, by Kruskal's rule."""

    class Y(Outputs):
        def enumerate(self, x):
            return (y for n in range(x.n_rows + 1) for y in itertools.combinations(range(x.n_rows), n) if is_forest(x, y))

    class Best(Argmax):
        def argmax(self, scores, x):
            y = []
            for row in np.argsort(-scores, kind="stable").tolist():
                if scores[row] > 0 and is_forest(x, [*y, row]):
                    y.append(row)
            return sorted(y)

    @hookimpl
    def structperc_reader(self, context):
        return KeyedReader(2)

    def sample(self, random, n_examples):
        pairs = np.array(list(itertools.combinations(range(4), 2)))
        return [np.column_stack([random.permutation(pairs)[:n], random.normal(size=(n, 2))]) for n in random.integers(1, 6, n_examples)]


def is_forest(x, rows):
    tree = list(range(4))
    for a, b in x.keys[list(rows)].astype(int):
        if tree[a] == tree[b]:
            return False
        tree = [tree[a] if node == tree[b] else node for node in tree]
    return True


class Cut(Problem):
    """Where a word ends in two parts: examples are texts, an atom is a place, users give the two parts."""

    class Y(Outputs):
        def encode(self, y, rows):
            from structperc.components import Structures

            return Structures.ragged([[len(first) - 1] for first, _ in y])

        def decode(self, y, x):
            return x.object[: y[0] + 1], x.object[y[0] + 1:]

        def enumerate(self, x):
            return [(place,) for place in range(len(x.object) - 1)]

    class Best(Argmax):
        def argmax(self, scores, x):
            return (int(np.argmax(scores)),)

    def features(self, context):
        class Letters(VectorFeatures):
            def vectors(self, x):
                codes = [ord(letter) - 97 for letter in x.object]
                return np.array([[*np.eye(26)[a], *np.eye(26)[b]] for a, b in itertools.pairwise(codes)])

        return Letters(52)

    def sample(self, random, n_examples):
        return ["".join(random.choice(list("abcde"), n)) for n in random.integers(2, 6, n_examples)]


class Rising(Problem):
    """A rank 1..3 for each row that never falls; a rank is the atoms of the steps below it."""

    class Y(Outputs):
        def check_structure(self, x, y):
            if len(y) != x.n_rows or not set(y) <= {1, 2, 3} or sorted(y) != list(y):
                raise PluginError(f"{y} does not rise.")

        def count(self, x, y):
            return np.array([[rank > 1, rank > 2] for rank in y], dtype=float).ravel()

        def max_code_length(self, n_atoms):
            return n_atoms // 2

        def enumerate(self, x):
            return itertools.combinations_with_replacement((1, 2, 3), x.n_rows)

    Best = ByScore

    def features(self, context):
        return RowPart(2, context.n_features)


PROBLEMS = Packs, Knapsack, Orders, Taxonomy, Teams, Signs, Stretch, Forest, Cut, Rising
MEASURED = {"augmented_argmax_maximises"}


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.__name__)
def test_the_suite_passes(problem):
    report = dict(check_problem(problem(), checks=CHECKS))

    left_out = {check for check, outcome in report.items() if outcome != "passed"}
    inexact = {"argmax_maximises", "augmented_argmax_maximises", "further_answers_agree"} if problem is Signs else set()
    assert left_out <= inexact | {"units_are_the_maps_business", "decoding_is_undone"}


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.__name__)
def test_every_door_is_open(problem, tmp_path):
    random, plugin = np.random.default_rng(0), problem()
    sample = plugin.sample(random, 24)
    X, labels = sample if isinstance(sample, tuple) else (sample, None)
    teacher = Engine(plugin, epochs=1, classes=None if labels is None else sorted(set(labels)))
    first = [plugin.Y().decode((0,), Word(text)) for text in X] if problem is Cut else None
    y = labels if labels is not None else first or [first_of(plugin, block) for block in X]
    engine = teacher.fit(X, y)
    answers = list(map(str, engine.predict(X)))

    engine.save(tmp_path / "model")
    loaded = Engine.load(tmp_path / "model", plugins=[plugin])
    assert list(map(str, loaded.predict(X))) == answers == list(map(str, pickle.loads(pickle.dumps(engine.predict(X)))))
    assert list(map(str, engine.partial_fit(X[:3], y[:3]).predict(X[:1])))
    assert str(engine.explain(X[:1] if problem is Cut else X[0])) or True
    if problem is not Signs:
        assert len(engine.predict_k_best(X[:2], 2)) == 2


class Word:
    def __init__(self, text):
        self.object = text


def first_of(plugin, block):
    """Some structure of the example."""
    from structperc.components import Rows

    keys = {"Knapsack": 1, "Forest": 2}.get(type(plugin).__name__)
    rows = Rows(block, np.array([0, len(block)])) if keys is None else KeyedReader(keys).read([block])
    return list(plugin.Y().enumerate(rows.example(0)))[-1]


def example(name):
    return module_at(f"examples/own_parts/structperc_{name}.py")


@pytest.mark.parametrize("name", ["taxonomy", "knapsack", "beam"])
def test_the_examples_pass(name):
    report = dict(check_problem(example(name), checks=CHECKS))

    inexact = {"argmax_maximises", "augmented_argmax_maximises", "further_answers_agree"} if name == "beam" else set()
    assert {check for check, outcome in report.items() if outcome != "passed"} <= inexact


def test_the_example_trainer_and_observer_act():
    worst = example("worst_epoch").WorstEpoch()
    engine = Engine("cusum", plugins=[example("patient"), worst], trainer="patient", preset="paper", epochs=50)
    engine.fit([[0.0], [1.0], [2.0]], [1, 2, 3])

    assert engine.status_ == "converged" and engine.mistakes_[-2:] == [0, 0] and worst.mistakes == max(engine.mistakes_)
