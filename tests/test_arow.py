"""Tests of the example of a custom weight store: AROW in plain numpy, `check_problem`, averages, model files."""

import io
import pickle

import numpy as np
import pytest
from loading import module_at
from plain import Engine

from structperc.errors import DataError, OptionError
from structperc.testing import check_problem

arow = module_at("examples/arow/structperc_arow.py")


def uneven(n=400, d=6, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * np.logspace(-1, 1, d)
    return X, np.argmax(X @ (random.normal(size=(d, 3)) / np.logspace(-1, 1, d)[:, None]) + 0.3 * random.normal(size=(n, 3)), axis=1) + 1


def engine(**options):
    return Engine("multiclass", **{"plugins": [arow], "update": "pa2", "C": 2.0, "classes": [1, 2, 3], "fit_intercept": False, **options})


def by_hand(X, y, r, epochs=1):
    """AROW for three classes: the weights after each visit, the last variances, and the number of mistakes."""
    w, sigma, after, mistakes = np.zeros((3, X.shape[1])), np.ones((3, X.shape[1])), [], 0
    for x, gold in zip(np.tile(X, (epochs, 1)), np.tile(y, epochs) - 1, strict=True):
        z = int(np.argmax(w @ x))
        if z != gold:
            mistakes += 1
            v = np.zeros_like(w)
            v[gold], v[z] = x, -x
            h, beta = 1 - (w * v).sum(), 1 / ((v**2 * sigma).sum() + r)
            w = w + beta * h * sigma * v
            sigma = 1 / (1 / sigma + v**2 / r)
        after.append(w)
    return np.array(after), sigma, mistakes


@pytest.mark.parametrize("average", [False, True])
def test_it_is_arow(average):
    X, y = uneven()
    trained = engine(average=average, epochs=2).fit(X, y)
    after, sigma, mistakes = by_hand(X, y, 0.25, epochs=2)
    np.testing.assert_allclose(trained.coef_, after.mean(axis=0) if average else after[-1], rtol=1e-9)
    np.testing.assert_allclose(1 / trained.parts_.weights.precision, sigma.ravel(), rtol=1e-9)
    assert sum(trained.mistakes_) == mistakes


def test_variances_are_those_of_the_exact_update_over_diagonals():
    """ST-9: for x = (1, 2), r = 1 the variances are 0.5 and 0.2.

    The diagonal of the full update is 1 - x^2 / (||x||^2 + r), which is 0.833 and 0.333.
    """
    trained, x = engine(C=0.5, classes=[1, 2]).fit([[1.0, 2.0]], [2]), np.array([1.0, 2.0])
    assert 1 / trained.parts_.weights.precision == pytest.approx([0.5, 0.2, 0.5, 0.2])
    assert 1 - x**2 / (x @ x + 1) == pytest.approx([5 / 6, 1 / 3])


@pytest.mark.parametrize("options", [{}, {"average": True}, {"C": 0.1, "loss_weight": 1.0}])
@pytest.mark.parametrize("problem", ["multiclass", "cusum"])
def test_the_battery_is_green(problem, options):
    report = dict(check_problem(problem, plugins=[arow], update="pa2", **options))
    assert report["primal_equals_dual"].startswith("not applicable: the weights transform steps")
    assert report["average_is_the_mean"] == report["saving_keeps_everything"] == "passed"


@pytest.mark.parametrize("average", [False, True])
def test_models_come_back_and_go_on(average):
    X, y = uneven()
    trained, buffer = engine(average=average).fit(X, y), io.BytesIO()
    trained.save(buffer)
    for again in (Engine.load(io.BytesIO(buffer.getvalue()), plugins=[arow]), pickle.loads(pickle.dumps(trained))):
        assert np.array_equal(again.coef_, trained.coef_) and np.array_equal(again.atom_scores(X), trained.atom_scores(X))
        assert again.parts_.weights.n_visited == len(X)
        assert np.array_equal(again.partial_fit(X, y).coef_, pickle.loads(pickle.dumps(trained)).partial_fit(X, y).coef_)


def test_predictions_are_explained():
    X, y = uneven()
    trained = engine(average=True).fit(X, y)
    explained = trained.explain(X[5])
    assert explained.margin == pytest.approx(sum(c.value for c in explained.contributions))
    assert {c.feature for c in explained.contributions} <= {f"x[{j}]" for j in range(6)}


def test_a_failed_chunk_changes_nothing():
    X, y = uneven()
    trained = engine(average=True).fit(X, y)
    before, scores = trained.parts_.weights.n_visited, trained.atom_scores(X)
    broken = X.copy()
    broken[7, 2] = np.nan
    with pytest.raises(DataError, match=r"X\[7, 2\] is nan"):
        trained.partial_fit(broken, y)
    assert trained.parts_.weights.n_visited == before and np.array_equal(trained.atom_scores(X), scores)


def test_what_it_cannot_do_is_refused():
    X, y = uneven(20)
    with pytest.raises(OptionError, match="update='pa1': AROW takes the steps of update='pa2'"):
        engine(update="pa1").fit(X, y)
    with pytest.raises(OptionError, match="decay=0.1 has no effect with AROW"):
        engine(decay=0.1).fit(X, y)


@pytest.mark.filterwarnings("ignore::structperc.errors.ScaleWarning")
def test_uneven_columns_are_its_case():
    X, y = uneven(3000, 20)
    right = [(one.predict(X[2000:]) == y[2000:]).mean()
             for one in (e.fit(X[:2000], y[:2000]) for e in (engine(average=True, C=0.5), engine(average=True, C=0.5, plugins=[])))]
    assert right[0] > right[1] + 0.01
