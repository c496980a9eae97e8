"""cusum, multiclass and prank equal their twins over atoms to the last bit: every layout, update rule, search and average."""

import itertools

import numpy as np
import pytest
from plain import Engine
from reference import atoms, costs
from reference.layouts import LAYOUTS, stored
from reference.problems import PROBLEMS
from reference.samples import real, whole

from structperc.components import PrefixArgmax, ThresholdArgmax

pytestmark = pytest.mark.blas

RULES = [(problem, rule) for problem in ("cusum", "multiclass") for rule in ("perceptron", "pa", "pa1", "pa2")] + [("prank", "perceptron")]


def fitted(problem, X, y, *, fit=None, **options):
    """The engine trained on X, its labels being 1..r, with its online predictions."""
    engine = Engine(problem.name, classes=list(problem.labels), fit_intercept=problem.intercept or problem.name == "prank", **options)
    return engine.fit(X, y, record_predictions=True, **(fit or {}))


def assert_same_bits(engine, run):
    for name, value in run.shown.items():
        np.testing.assert_array_equal(getattr(engine, name), value, err_msg=name)
    assert engine.mistakes_ == run.mistakes
    assert engine.online_predictions_.tolist() == run.online
    assert engine.cumulative_loss_ == run.loss
    assert engine.status_ == ("max_epochs" if not run.converged else "stalled" if run.mistakes[-1] else "converged")


@pytest.mark.parametrize("augment", [0.0, 0.7])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "update"), RULES)
def test_weights_predictions_and_mistakes(name, update, layout, average, augment):
    rng = np.random.default_rng([RULES.index((name, update)), LAYOUTS.index(layout), average, augment > 0])
    for make, d, r in [(whole, 3, 4), (real, 11, 5), (real, 17, 3), (whole, 8, 2)]:
        X, y = make(rng, 20, d, r)
        X = stored(X, layout)
        problem = PROBLEMS[name](r)
        options = dict(update=update, margin=0.8, C=0.4, loss_weight=augment, epochs=3)
        run = atoms.learn(problem, X, y, costs.of_examples(problem.loss, y, r), average=average, **options)
        if update == "perceptron":
            del options["margin"], options["C"]
        elif update == "pa":
            del options["C"]
        assert_same_bits(fitted(problem, X, y, average=average, **options), run)
        assert run.updates > 5


@pytest.mark.parametrize("layout", ["dense64", "csr64-int32"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_number_of_features_and_labels(name, layout):
    """d = 1..40 has every tail of eight lanes; r = 2..12 every remainder of four blocks, with averages beside them."""
    rng = np.random.default_rng(5)
    for d in range(1, 41):
        r = 2 + d % 11
        X, y = real(rng, 25, d, r, noise=1.0)
        X = stored(X, layout)
        problem = PROBLEMS[name](r)
        run = atoms.learn(problem, X, y, costs.of_examples(problem.loss, y, r), average=True, epochs=2)
        assert_same_bits(fitted(problem, X, y, average=True, epochs=2), run)


@pytest.mark.parametrize("layout", ["dense64", "dense32", "csr64-int64"])
@pytest.mark.parametrize("update", ["perceptron", "pa2"])
@pytest.mark.parametrize("name", ["cusum", "multiclass"])
def test_without_intercepts(name, update, layout):
    rng = np.random.default_rng(6)
    for r in (2, 5):
        X, y = whole(rng, 40, 5, r)
        X = stored(X, layout)
        problem = PROBLEMS[name](r, intercept=False)
        run = atoms.learn(problem, X, y, costs.of_examples(problem.loss, y, r), update=update, average=True, epochs=2)
        assert_same_bits(fitted(problem, X, y, update=update, average=True, epochs=2), run)


@pytest.mark.parametrize("name", PROBLEMS)
def test_many_labels(name):
    rng = np.random.default_rng(7)
    X, y = real(rng, 150, 6, 50)
    problem = PROBLEMS[name](50)
    run = atoms.learn(problem, X, y, costs.of_examples(problem.loss, y, 50), loss_weight=1.0, epochs=2)
    assert_same_bits(fitted(problem, X, y, loss_weight=1.0, epochs=2), run)


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one", "table", "examples"])
@pytest.mark.parametrize("update", ["perceptron", "pa1"])
@pytest.mark.parametrize("name", ["cusum", "multiclass"])
def test_losses(name, update, loss):
    rng = np.random.default_rng(8)
    for augment, average in itertools.product([0.0, 1.3], [False, True]):
        r = 4
        X, y = real(rng, 40, 9, r)
        problem = PROBLEMS[name](r)
        if loss == "table":
            option, given = costs.random_table(rng, r), {}
            expected = costs.of_examples(option, y, r)
        elif loss == "examples":
            expected = np.array([costs.random_table(rng, r)[k - 1] for k in y])
            option, given = "costs", {"costs": expected}
        else:
            option, given, expected = loss, {}, costs.of_examples(loss, y, r)
        options = dict(update=update, loss_weight=augment, average=average, epochs=3)
        run = atoms.learn(problem, X, y, expected, **options)
        assert_same_bits(fitted(problem, X, y, loss=option, fit=given, **options), run)


@pytest.mark.filterwarnings("ignore::structperc.errors.WeightWarning")
@pytest.mark.parametrize("layout", ["dense64", "csr64-int32"])
@pytest.mark.parametrize(("name", "update", "weights"), [
    ("cusum", "perceptron", [0, 0.3, 1, 2.5]), ("multiclass", "perceptron", [0, 0.3, 1, 2.5]), ("prank", "perceptron", [0, 1]),
    ("cusum", "pa", [0, 1]), ("cusum", "pa1", [0, 0.3, 1, 2.5]), ("multiclass", "pa2", [0, 0.3, 1, 2.5]),
])
def test_sample_weights(name, update, weights, layout):
    rng = np.random.default_rng(9)
    for average in (False, True):
        X, y = real(rng, 60, 10, 4)
        X = stored(X, layout)
        weight = rng.choice(weights, 60)
        problem = PROBLEMS[name](4)
        options = dict(update=update, average=average, epochs=2)
        run = atoms.learn(problem, X, y, costs.of_examples(problem.loss, y, 4), sample_weight=weight, **options)
        assert_same_bits(fitted(problem, X, y, fit={"sample_weight": weight}, **options), run)


@pytest.mark.parametrize("layout", ["dense64", "csr64-int32"])
@pytest.mark.parametrize("update", ["perceptron", "pa1"])
@pytest.mark.parametrize("name", ["cusum", "multiclass"])
def test_decay(name, update, layout):
    rng = np.random.default_rng(10)
    for average in (False, True):
        X, y = real(rng, 60, 10, 4)
        X = stored(X, layout)
        problem = PROBLEMS[name](4)
        options = dict(update=update, average=average, decay=0.01, epochs=2)
        run = atoms.learn(problem, X, y, costs.of_examples(problem.loss, y, 4), **options)
        assert_same_bits(fitted(problem, X, y, **options), run)


class _Watched:
    """Notes which example each search is for: the public way to see the order of visiting."""

    def __init__(self, n_labels):
        super().__init__(n_labels)
        self.visits = []

    def argmax(self, scores, x):
        self.visits.append(x.index)
        return super().argmax(scores, x)


class WatchedPrefix(_Watched, PrefixArgmax):
    pass


class WatchedThreshold(_Watched, ThresholdArgmax):
    pass


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ["cusum", "prank"])
def test_shuffled(name, layout):
    """The order in which one engine visits the examples explains another engine of the same seed to the last bit."""
    rng = np.random.default_rng(11)
    n, epochs = 50, 4
    X, y = real(rng, n, 10, 4)
    X = stored(X, layout)
    problem = PROBLEMS[name](4)
    options = dict(shuffle=True, random_state=3, average=True, epochs=epochs)
    watched = WatchedPrefix(4) if name == "cusum" else WatchedThreshold(4)
    fitted(problem, X, y, plugins=[watched], **options)
    orders = np.array(watched.visits).reshape(-1, n)
    assert len(orders) == epochs
    assert (np.sort(orders, axis=1) == np.arange(n)).all()
    assert len({tuple(order) for order in orders}) == epochs
    run = atoms.learn(problem, X, y, costs.of_examples("absolute", y, 4), average=True, epochs=epochs, orders=orders)
    assert_same_bits(fitted(problem, X, y, **options), run)
