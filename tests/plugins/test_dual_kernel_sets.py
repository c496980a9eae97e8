"""Tests of kernels: data that no linear model learns, mistake bounds in feature space, and the linear kernel on real data.

On n rows a kernel depends only on their Gram matrix. So the rows of a square root of it represent them in a feature space of n dimensions.
Bounds and separators for vectors apply there without change.
"""

import itertools
import os

import numpy as np
import pytest
from plain import Engine
from reference import bounds, costs, kernels, projection
from reference.problems import PROBLEMS
from reference.samples import real

from structperc.errors import MissingData
from structperc.files import datasets

from .recording import recording

DUAL = {"plugins": ["dual-kernel"]}
KERNELS = {"rbf": {"gamma": 1.0}, "polynomial": {"gamma": 1.0, "degree": 2, "coef0": 1.0}}
FOUR = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 1.0], [2.0, 1.0]]), np.array([1, 2, 2, 3])       # u . (x_2 - x_1) = -u . (x_4 - x_3)
XOR = np.array(list(itertools.product([-1.0, 1.0], repeat=2)))
GRID = np.array(list(itertools.product([-1.0, 0.0, 1.0], repeat=2)))
SETS = {"four points": FOUR, "xor": (XOR, 1 + (XOR.prod(axis=1) < 0)), "rings": (GRID, 1 + abs(GRID).sum(axis=1).astype(int)),
        "repeated xor": (np.repeat(XOR, 5, axis=0), np.repeat(1 + (XOR.prod(axis=1) < 0), 5))}
LEARNERS = [("cusum", "perceptron"), ("cusum", "pa"), ("cusum", "exact-pa"), ("prank", "perceptron"), ("prank", "exact-pa"),
            ("multiclass", "perceptron"), ("multiclass", "pa"), ("interval-pa", "exact-pa"), ("interval-pa", "perceptron")]


def embedded(K):
    """The rows of a square root of a Gram matrix."""
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0))


def separators(problem, X, y):
    """(differences, losses): a separator by the loss has a margin of at least the loss on each difference."""
    table = costs.table(problem.loss, problem.r)
    return zip(*[(problem.phi(x, gold) - problem.phi(x, z), table[gold - 1, z - 1])
                 for x, gold in zip(problem.extended(X), y, strict=True) for z in problem.labels if z != gold], strict=True)


def gram(kernel, X):
    return kernels.KERNELS[kernel](X, X, **KERNELS[kernel])


@pytest.mark.parametrize("name", SETS)
def test_no_linear_model_separates_the_sets(name):
    """The four points are an exception for CuSum and for classes: two directions separate their ranks, but no single direction does."""
    X, y = SETS[name]
    for problem in PROBLEMS.values():
        differences, margins = separators(problem(y.max()), X, y)
        separable = projection.smallest_separator(differences, margins) is not None
        assert separable == (name == "four points" and problem is not PROBLEMS["prank"])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("problem, update", LEARNERS)
@pytest.mark.parametrize("name", SETS)
def test_kernels_learn_them_to_zero_mistakes(name, problem, update, kernel):
    X, y = SETS[name]
    target = np.column_stack([y, y]) if problem == "interval-pa" else y
    classes = list(range(1, y.max() + 1))
    engine = Engine(problem, **DUAL, kernel=kernel, **KERNELS[kernel], update=update, classes=classes, epochs=500).fit(X, target)
    assert engine.status_ == "converged" or update != "perceptron"         # margins are reached up to rounding
    assert engine.mistakes_[-1] == 0
    assert engine.predict(X).tolist() == y.tolist()
    linear = Engine(problem, **DUAL, update=update, classes=classes, epochs=20).fit(X, target)
    if name != "four points" or problem in ("prank", "interval-pa"):
        assert linear.mistakes_[-1] > 0


@pytest.mark.parametrize("augment", [0.0, 1.0])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_perceptron_bounds_in_the_feature_space(name, kernel, augment):
    """sum of losses <= (R^2 + 2 augment) ||u||^2 for the smallest u in the span that separates by the loss."""
    for X, y in SETS.values():
        problem = PROBLEMS[name](y.max())
        E = embedded(gram(kernel, X))
        u = projection.smallest_separator(*separators(problem, E, y))
        rule = recording("perceptron", problem, E)
        options = dict(kernel=kernel, **KERNELS[kernel], classes=list(problem.labels), loss_weight=augment, epochs=10_000)
        engine = Engine(name, plugins=["dual-kernel", rule], **options).fit(X, y)
        ledger = rule.ledger
        assert engine.status_ == "converged"
        assert len(ledger.loss) > 0
        radius = max((delta**2).sum() / loss for delta, loss in zip(ledger.delta, ledger.loss, strict=True))
        assert sum(ledger.loss) <= (radius + 2 * augment) * (u @ u) * (1 + 1e-9)
        assert engine.cumulative_loss_ <= sum(ledger.loss)
        learned = sum(ledger.delta)
        for v in (u, learned, 0.1 * learned):
            for observed, limit in bounds.perceptron(ledger, v, augment).values():
                assert observed <= limit * (1 + 1e-9)


@pytest.mark.parametrize("update", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["cusum", "multiclass"])
def test_passive_aggressive_bounds_in_the_feature_space(name, kernel, update):
    for X, y in SETS.values():
        problem = PROBLEMS[name](y.max())
        E = embedded(gram(kernel, X))
        u = projection.smallest_separator(*separators(problem, E, y))
        C = {"pa": 1.0, "pa1": 0.05, "pa2": 0.5}[update]
        rule = recording(update, problem, E, 1.0, C)
        options = dict(kernel=kernel, **KERNELS[kernel], classes=list(problem.labels), epochs=300)
        Engine(name, plugins=["dual-kernel"], update=rule, **options).fit(X, y)
        assert min(np.array(rule.ledger.hinge) - rule.ledger.margin) >= -1e-9
        for v in (u, 0.3 * u):
            for found in (bounds.passive_aggressive, bounds.required_margins):
                observed, limit = found(update, rule.ledger, v, C)
                assert 0 < observed <= limit * (1 + 1e-9)


# ---- real data ----


def loaded(load, *arguments):
    """Loads a data set, or skips the test if the files are missing; tests download nothing."""
    if not os.environ.get("STRUCTPERC_DATA"):
        pytest.skip("STRUCTPERC_DATA names no folder with data sets")
    try:
        return load(*arguments, download=False)
    except MissingData as error:
        pytest.skip(str(error))


def graded(n, r=5):
    """Scaled rows of the Parkinson's telemonitoring data, and their scores in r ranks of about equal size."""
    table = loaded(datasets.load_numbers, "parkinsons")
    chosen = np.random.default_rng(0).permutation(len(table.values))[:n]
    X = table.without("subject#", "motor_UPDRS", "total_UPDRS")[chosen]
    score = table.column("total_UPDRS")[chosen]
    return (X - X.mean(axis=0)) / X.std(axis=0), 1 + np.searchsorted(np.quantile(score, np.arange(1, r) / r), score)


def same_run(problem, X, y, where=(), **options):
    """Trains both stores; all online predictions and all scores must agree."""
    where = dict(where)
    primal = Engine(problem, **options).fit(X, y, **where, record_predictions=True)
    dual = Engine(problem, **DUAL, **options).fit(X, y, **where, record_predictions=True)
    assert list(map(str, dual.online_predictions_)) == list(map(str, primal.online_predictions_))
    assert list(map(str, dual.predict(X, **where))) == list(map(str, primal.predict(X, **where)))
    for one, other in zip(dual.atom_scores(X, **where), primal.atom_scores(X, **where), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * abs(other).max())


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("problem, update", [("cusum", "perceptron"), ("cusum", "pa1"), ("multiclass", "pa2"), ("prank", "perceptron"),
                                             ("prank", "exact-pa1"), ("cusum", "exact-pa2")])
def test_the_linear_kernel_is_the_primal_store_on_real_rows(problem, update, average):
    X, y = graded(300)
    C = {"C": 0.1} if update[-1] in "12" else {}
    same_run(problem, X, y, update=update, average=average, epochs=3, shuffle=average, random_state=1, **C)


@pytest.mark.parametrize("average", [False, True])
def test_the_linear_kernel_is_the_primal_store_on_real_sentences(average):
    """A token has few features: its part of speech, a capital first letter, and the endings "ing" and "ed"."""
    sentences = loaded(datasets.load_conll2000).train[:60]
    tags = sorted({token[1] for sentence in sentences for token in sentence})
    X = np.array([[*(tag == pos for pos in tags), word[0].isupper(), word.endswith("ing"), word.endswith("ed")]
                  for sentence in sentences for word, tag, _ in sentence], dtype=float)
    y = [[chunk for *_, chunk in sentence] for sentence in sentences]
    where = {"lengths": [len(sentence) for sentence in sentences]}
    for update in ("perceptron", "pa1"):
        same_run("sequence", X, y, where=where, update=update, average=average, epochs=2)


@pytest.mark.parametrize("name", PROBLEMS)
def test_perceptron_bounds_on_real_rows(name):
    """(P0) to (P2) for multiples of the learned vector. The bounds apply to separable and to other data."""
    X, y = graded(150)
    K = kernels.rbf(X, X, gamma=0.1)
    problem = PROBLEMS[name](5)
    rule = recording("perceptron", problem, embedded(K))
    engine = Engine(name, plugins=["dual-kernel", rule], kernel="rbf", gamma=0.1, classes=list(problem.labels), epochs=3).fit(X, y)
    learned, reached = sum(rule.ledger.delta), []
    assert engine.cumulative_loss_ == sum(rule.ledger.loss)
    for length in (0.01, 0.1, 0.5, 1, 2):
        for observed, limit in bounds.perceptron(rule.ledger, length * learned).values():
            assert observed <= limit * (1 + 1e-9)
            reached.append(observed / limit)
    assert max(reached) > 0.1


@pytest.mark.filterwarnings("ignore::structperc.errors.ScaleWarning")
def test_random_data_beside_their_square_root():
    """Training with a kernel equals primal training on the rows of a square root of the Gram matrix."""
    X, y = real(np.random.default_rng(3), 50, 3, 4)
    for kernel, options in KERNELS.items():
        kernel_run = Engine("cusum", **DUAL, kernel=kernel, **options, classes=[1, 2, 3, 4], epochs=3).fit(X, y, record_predictions=True)
        E = embedded(gram(kernel, X))
        primal = Engine("cusum", classes=[1, 2, 3, 4], epochs=3).fit(E, y, record_predictions=True)
        assert kernel_run.online_predictions_.tolist() == primal.online_predictions_.tolist()
        np.testing.assert_allclose(kernel_run.atom_scores(X), primal.atom_scores(E), atol=1e-6)
