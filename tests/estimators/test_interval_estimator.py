"""IntervalPA keeps scikit-learn's contract, learns what the engine learns, and scores by the distance to intervals."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from contract import scikit_learns_checks
from plain import Engine
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc.errors import DataError, NotFittedError, PluginError
from structperc.estimators import BinaryReduction, CuSumRank, IntervalPA, OrdinalConformal, PRank
from structperc.metrics import interval_absolute_error

LEVELS = ["none", "mild", "severe"]
DRAWN = "visits are drawn anew for each epoch, twice for a row of weight 2; repeated rows are visited in other orders"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": DRAWN,
    "check_sample_weight_equivalence_on_sparse_data": DRAWN,
    "check_classifiers_classes": "the ranks of bare strings are unknown: classes= or an ordered categorical says them",
    "check_classifiers_train": "predict is the median of predict_proba, and the check expects the mode",
}

@pytest.mark.filterwarnings("ignore")       # scikit-learn's checks warn about their own inputs
@pytest.mark.parametrize(("estimator", "check"), list(scikit_learns_checks(IntervalPA(), failing=EXPECTED_FAILURES)))
def test_scikit_learns_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def diabetes():
    """Disease progression in 5 levels of equal size, and intervals around half of them."""
    X, progression = load_diabetes(return_X_y=True)
    y = np.digitize(progression, np.quantile(progression, [0.2, 0.4, 0.6, 0.8])) + 1
    random = np.random.default_rng(0)
    known = random.random(len(y)) < 0.5
    low, high = (np.where(known, y, y + side * random.integers(0, 2, len(y))) for side in (-1, 1))
    return StandardScaler().fit_transform(X), y, np.column_stack([low, high]).clip(1, 5)


@pytest.fixture(scope="module")
def model(diabetes):
    X, _, intervals = diabetes
    return IntervalPA(random_state=0).fit(X, intervals)


def test_it_learns_exactly_what_the_engine_learns(diabetes, model):
    X, _, intervals = diabetes
    dropped = ("plugin_options", "verbose", "C", "kernel", "gamma", "degree", "coef0")
    options = {name: value for name, value in model.get_params().items() if name not in dropped}
    engine = Engine("interval-pa", C=0.01, **options).fit(X, intervals)
    assert np.array_equal(model.coef_, engine.coef_) and np.array_equal(model.thresholds_, engine.thresholds_)
    assert np.array_equal(model.predict(X), engine.predict(X))
    assert model.mistakes_ == engine.mistakes_ and model.classes_.tolist() == [1, 2, 3, 4, 5]
    assert model.thresholds_.shape == (4,) and (np.diff(model.thresholds_) >= 0).all()


def test_predictions_cut_the_latent_score_at_the_thresholds(diabetes, model):
    X = diabetes[0]
    assert np.array_equal(model.classes_[np.searchsorted(model.thresholds_, model.latent_score(X), side="right")], model.predict(X))
    np.testing.assert_allclose(model.latent_score(sparse.csr_array(X)), X @ model.coef_, atol=1e-12)
    with pytest.raises(DataError, match="X has 1 features, but IntervalPA is expecting 10 features as input"):
        model.latent_score(X[:, :1])


def test_intervals_teach_exact_ranks(diabetes):
    X, y, intervals = diabetes
    error = [np.abs(IntervalPA(random_state=0).fit(X[a], intervals[a]).predict(X[b]) - y[b]).mean() for a, b in KFold(5).split(X)]
    assert np.mean(error) < np.abs(y - np.median(y)).mean() - 0.3


@pytest.mark.parametrize("update", ["exact-pa", "exact-pa1", "exact-pa2", "perceptron"])
def test_every_update_takes_effect(diabetes, update):
    X, y, intervals = diabetes
    model = IntervalPA(update=update, random_state=0).fit(X, intervals)
    others = [IntervalPA(update=other, random_state=0).fit(X, intervals) for other in ("exact-pa", "exact-pa1", "perceptron")
              if other != update]
    assert interval_absolute_error(y, model.predict(X)) < 1
    assert not any(np.array_equal(model.coef_, other.coef_) for other in others)


@pytest.mark.parametrize("make", [PRank, CuSumRank])
@pytest.mark.parametrize("update", ["exact-pa", "exact-pa1", "exact-pa2"])
def test_estimators_of_exact_ranks_take_the_exact_updates(diabetes, make, update):
    X, y, _ = diabetes
    step = {} if update == "exact-pa" else {"C": 0.03}
    assert make(update=update, loss_weight=0.0, random_state=0, **step).fit(X, y).score(X, y) > 0.75
    with pytest.raises(PluginError, match="leave loss_weight out"):
        make(update=update, loss_weight=1.0).fit(X, y)


def test_prank_and_interval_pa_are_one_on_exact_ranks(diabetes):
    X, y, _ = diabetes
    for options in ({"update": "exact-pa"}, {"update": "exact-pa1", "C": 0.1}, {"update": "exact-pa2", "C": 0.1}):
        one, other = (make(random_state=0, **options).fit(X, y) for make in (PRank, IntervalPA))
        assert np.array_equal(one.coef_, other.coef_) and np.array_equal(one.thresholds_, other.thresholds_)


def test_the_score_is_the_distance_to_the_intervals():
    X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
    model = IntervalPA(classes=[1, 2, 3, 4, 5], update="exact-pa", epochs=200, random_state=0).fit(X, [1, 2, 3, 4, 5])
    assert model.predict(X).tolist() == [1, 2, 3, 4, 5]
    assert model.score(X, np.column_stack([np.arange(1, 6), [5] * 5])) == 1
    assert model.score(X, [(3, 5), 2, (1, 2), (None, 4), (5, None)]) == pytest.approx(1 - (2 + 1) / 5 / 4)
    assert model.score(X[:2], [(3, 5), 2], sample_weight=[3, 1]) == pytest.approx(1 - 3 * 2 / 4 / 4)
    assert model.score(X, [5, 2, 3, 4, 1]) == pytest.approx(1 - 8 / 5 / 4)
    with pytest.raises(DataError, match=r"y\[1\] is 9"):
        model.score(X[:2], [(1, 2), (1, 9)])


def test_every_estimator_of_ranks_scores_intervals():
    X, y = np.linspace(-1, 1, 60)[:, None], np.repeat([1, 2, 3], 20)
    intervals = np.column_stack([y, np.minimum(y + 1, 3)])
    for model in (PRank(random_state=0), OrdinalConformal(IntervalPA(random_state=0), random_state=0), BinaryReduction(GaussianNB())):
        model.fit(X, y if isinstance(model, PRank) else intervals)
        distance = interval_absolute_error(intervals, model.predict(X))
        assert model.score(X, intervals) == model.score(X, pd.DataFrame(intervals)) == pytest.approx(1 - distance / 2)
        assert model.score(X, np.column_stack([y, y])) == model.score(X, y) != model.score(X, intervals)


def test_weights_of_rows_without_ends_are_left_out_of_the_score():
    X, y, weights = np.linspace(-1, 1, 60)[:, None], np.repeat([1, 2, 3], 20), np.random.default_rng(0).random(60)
    rated = np.arange(60) % 7 > 0
    labels = [int(label) if known else None for label, known in zip(y, rated, strict=True)]
    model = IntervalPA(unrated="skip", random_state=0, epochs=1).fit(X, labels)
    for form in (labels, [[label, label] for label in labels]):
        assert model.score(X, form, weights) == model.score(X[rated], y[rated], weights[rated])
        assert model.score(X, form) == model.score(X, form, 2.0) == model.score(X[rated], y[rated])
        for wrong in (weights[:-1], weights[rated], -weights, "many"):
            with pytest.raises(DataError, match="sample_weight"):
                model.score(X, form, wrong)


def test_scikit_learns_tools(diabetes):
    X, y, intervals = diabetes
    scores = cross_val_score(make_pipeline(StandardScaler(), IntervalPA(random_state=0)), X, intervals, cv=5)
    assert scores.min() > 0.75
    halves = np.where(intervals == 5, np.nan, intervals)[np.arange(len(y)) % 5 > 0]
    halves[:, 0][np.isnan(halves[:, 0])] = 5
    model = IntervalPA(classes=[1, 2, 3, 4, 5], random_state=0)
    assert np.isfinite(cross_val_score(model, X[np.arange(len(y)) % 5 > 0], halves, cv=KFold(3))).all()
    search = GridSearchCV(IntervalPA(random_state=0), {"C": [0.01, 0.1], "update": ["exact-pa1", "exact-pa2"]}, cv=3, error_score="raise")
    assert search.fit(X, intervals).best_score_ > 0.75


def test_parameters_clones_and_copies(diabetes, model):
    X, _, intervals = diabetes
    assert IntervalPA().get_params() | {"C": 1.0} == clone(IntervalPA(C=1.0)).get_params()
    assert repr(IntervalPA(C=0.1, epochs=3)) == "IntervalPA(C=0.1, epochs=3)"
    assert "fit_intercept" not in inspect.signature(IntervalPA).parameters
    restored = pickle.loads(pickle.dumps(model))
    assert np.array_equal(restored.predict(X), model.predict(X)) and restored.score(X, intervals) == model.score(X, intervals)
    with pytest.raises(NotFittedError, match="This IntervalPA is not fitted yet"):
        clone(model).latent_score(X)


def test_forms_of_y():
    X = np.array([[-3.0], [-2.5], [0.1], [0.4], [2.0], [3.0]])
    pairs = [("none", "none"), ("none", "mild"), ("mild", "mild"), ("mild", None), ("severe", "severe"), ("severe", "severe")]
    named = IntervalPA(classes=LEVELS, random_state=0).fit(X, pairs)
    frame = pd.DataFrame(pairs, dtype=pd.CategoricalDtype(LEVELS, ordered=True))
    assert np.array_equal(IntervalPA(random_state=0).fit(X, frame).coef_, named.coef_)
    assert named.score(X, frame) == named.score(X, pairs)
    mixed = ["none", ("none", "mild"), "mild", ("mild", None), "severe", "severe"]
    assert np.array_equal(IntervalPA(classes=LEVELS, random_state=0).fit(X, mixed).coef_, named.coef_)
    cut = IntervalPA(random_state=0).fit(X, pd.arrays.IntervalArray.from_tuples([(1, 1), (1, 2), (2, 2), (2, 3), (3, 3), (3, 3)], "both"))
    assert np.array_equal(cut.coef_, named.coef_) and cut.classes_.tolist() == [1, 2, 3]


def test_what_is_wrong_with_y():
    X = [[0.0], [1.0]]
    with pytest.raises(DataError, match=r"y\[1\] is the set of 1, 3, which lacks 2"):
        IntervalPA(classes=[1, 2, 3]).fit(X, [1, {1, 3}])
    with pytest.raises(DataError, match="Unknown label type: continuous"):
        IntervalPA().fit(X, [[0.5, 1.0], [1.0, 2.0]])
    assert IntervalPA(classes=[0.5, 1.0, 2.0]).fit(X, [[0.5, 1.0], [1.0, 2.0]]).classes_.tolist() == [0.5, 1.0, 2.0]
    with pytest.raises(DataError, match="IntervalPA requires y to be passed"):
        IntervalPA().fit(X, None)


def test_chunks_of_intervals(diabetes):
    X, _, intervals = diabetes
    model = IntervalPA(shuffle=False, scale=False)
    for start in range(0, len(X), 100):
        model.partial_fit(X[start:start + 100], intervals[start:start + 100], classes=[1, 2, 3, 4, 5])
    assert np.array_equal(model.coef_, IntervalPA(shuffle=False, scale=False, epochs=1).fit(X, intervals).coef_)


@pytest.mark.parametrize("update", ["exact-pa1", "exact-pa2"])
def test_equal_weights_are_a_larger_C(update, diabetes):
    X, _, intervals = diabetes
    fixed = {"update": update, "epochs": 3, "random_state": 0, "weighting": "steps"}
    weighted = IntervalPA(C=0.01, **fixed).fit(X, intervals, sample_weight=np.full(len(X), 3.0))
    larger = IntervalPA(C=0.03, **fixed).fit(X, intervals)
    np.testing.assert_allclose(weighted.coef_, larger.coef_, rtol=1e-9)
