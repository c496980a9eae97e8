"""SVOR keeps scikit-learn's contract, and is the engine with its parameters."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from contract import scikit_learns_checks
from plain import Engine
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from structperc_boosting.estimators import AdaBoostOR
from structperc_large_margin.estimators import SVOR

from structperc.errors import DataError, OptionError

CHECKED = (SVOR(), SVOR("explicit", kernel="linear"), SVOR("fixed-margin", disordered="pool"))
EXPECTED = {            # to fail; those with a list may pass
    "check_classifiers_classes": "the ranks of bare strings are unknown, and alphabetical order is seldom meant",
    "check_classifiers_train": "predict is the median of predict_proba, and the check expects the mode",
    "check_sample_weight_equivalence_on_dense_data": ["equal up to the tolerance of the gap alone"],
    "check_sample_weight_equivalence_on_sparse_data": ["equal up to the tolerance of the gap alone"],
}


@pytest.mark.filterwarnings("ignore")       # scikit-learn's checks warn about their own inputs
@pytest.mark.parametrize(("estimator", "check"), list(scikit_learns_checks(*CHECKED, failing=EXPECTED)))
def test_scikit_learns_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, progression = load_diabetes(return_X_y=True)
    return StandardScaler().fit_transform(X)[:200], np.digitize(progression, np.quantile(progression, [0.25, 0.5, 0.75]))[:200] + 1


# ---- the engine behind it ----


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_it_is_the_engine_with_its_parameters(kernel, data):
    X, y = data
    model = SVOR(kernel=kernel, C=0.5, tol=1e-4).fit(X, y)
    options = {} if kernel == "linear" else {"kernel": "rbf"}
    plugins = ["large-margin"] if kernel == "linear" else ["dual-kernel", "large-margin"]
    engine = Engine("prank", plugins=plugins, trainer="svor", C=0.5, tolerance=1e-4, epochs=10**6, scale="auto", **options).fit(X, y)

    assert np.array_equal(model.predict(X), engine.predict(X)) and model.n_iter_ == len(engine.mistakes_) >= 1
    for name in ("thresholds_", "margins_", "objective_", "dual_objective_", "gap_", "status_", "classes_"):
        assert np.array_equal(getattr(model, name), getattr(engine, name))
    assert hasattr(model, "coef_") == (kernel == "linear")
    assert hasattr(model, "dual_coef_") == hasattr(model, "support_") == (kernel == "rbf")


def test_the_attributes_rebuild_the_predictions(data):
    X, y = data
    linear, rbf = SVOR(kernel="linear").fit(X, y), SVOR(gamma=0.1, scale=False).fit(X, y)
    distances = ((X[:, None] - X[rbf.support_]) ** 2).sum(axis=2)

    assert linear.latent_score(X) == pytest.approx(X @ linear.coef_)
    assert rbf.latent_score(X) == pytest.approx(np.exp(-0.1 * distances) @ rbf.dual_coef_[:, 0])
    for model in (linear, rbf):
        ranks = 1 + (model.latent_score(X)[:, None] >= model.thresholds_).sum(axis=1)
        assert np.array_equal(model.predict(X), model.levels_[ranks - 1])
        assert np.array_equal(model.engine_.label_scores(X).argmax(axis=1), ranks - 1)


def test_two_labels_have_one_column_of_decisions(data):
    X, y = data
    model = SVOR(classes=["low", "high"]).fit(X, np.where(y > 2, "high", "low"))

    assert model.decision_function(X).shape == (len(X),)
    assert np.array_equal(model.predict(X) == "low", model.decision_function(X) > 0), "the second label of classes_"
    svc = SVC(C=1.0, gamma="scale", tol=1e-6).fit(X, y > 2)
    exact = SVOR(tol=1e-8, scale=False).fit(X, y > 2)
    assert exact.decision_function(X) == pytest.approx(svc.decision_function(X), abs=1e-2), "k = 2 is the C-SVM"


@pytest.mark.parametrize("method, C", [("implicit", 1.0), ("explicit", 1.0), ("fixed-margin", 1.0), ("sum-of-margins", 0.025)])
@pytest.mark.parametrize("kernel", ["linear", "polynomial", "laplacian", "precomputed"])
@pytest.mark.filterwarnings("ignore:the planes around:UserWarning")
def test_every_method_takes_every_kernel(method, C, kernel, data):
    X, y = data
    given = (1 + X @ X.T) if kernel == "precomputed" else X
    model = SVOR(method, C=C, kernel=kernel, gamma=0.05, coef0=1.0, degree=2).fit(given, y)

    assert model.status_ == "converged" and abs(model.predict(given) - y).mean() < 0.75
    assert 0 <= model.gap_ <= 1e-3 * abs(model.objective_) * (1 + 1e-9)


def test_sentences_and_functions_are_compared_whole():
    words, y = ["ab", "abb", "ba", "xy", "yyx", "xx"] * 3, ["early", "early", "early", "late", "late", "late"] * 3
    for kernel, options in (("subsequence", {"length": 2}), (lambda a, b: float(len(set(a) & set(b))), None)):
        model = SVOR(kernel=kernel, kernel_options=options, classes=["early", "late"]).fit(words, y, sample_weight=np.ones(18))
        assert model.predict(words).tolist() == y
    def dot(A, B):
        return A @ B.T

    X = np.array([[0.0], [1.0], [2.0]])
    assert SVOR(kernel=dot, C=10.0).fit(X, [1, 2, 3]).predict(X).tolist() == [1, 2, 3]


# ---- labels, costs and weights ----


def test_ordered_categories_and_named_classes_give_the_order(data):
    X, y = data
    names = np.array(["none", "mild", "severe", "worst"])
    expected = SVOR().fit(X, y)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])
    categorical = pd.Series(pd.Categorical.from_codes(y - 1, names, ordered=True))
    for model in (SVOR().fit(frame, categorical), SVOR(classes=names.tolist()).fit(frame, names[y - 1])):
        assert np.array_equal(model.predict(frame), names[expected.predict(X) - 1]) and model.levels_.tolist() == names.tolist()
        assert model.feature_names_in_.tolist() == frame.columns.tolist()
    with pytest.raises(DataError, match="ordered categorical"):
        SVOR().fit(X, names[y - 1])


def test_costs_take_the_place_of_the_named_cost(data):
    X, y = data
    squared = (np.arange(1.0, 5) - y[:, None]) ** 2
    named, given = SVOR(cost="squared").fit(X, y), SVOR().fit(X, y, costs=squared)

    assert np.array_equal(named.predict(X), given.predict(X)) and named.objective_ != SVOR().fit(X, y).objective_
    matrix = SVOR(cost=(np.arange(4.0) - np.arange(4.0)[:, None]) ** 2).fit(X, y)
    assert matrix.objective_ == pytest.approx(named.objective_)
    with pytest.raises(DataError, match="the cost of the right"):
        SVOR().fit(X, y, costs=np.ones((len(y), 4)))


def test_weights_are_as_repeated_rows_also_for_the_width_of_the_kernel(data):
    X, y = data
    weight = np.random.default_rng(0).integers(0, 3, size=len(y))
    X = X * np.arange(1, 11)
    for given, scale in itertools.product((X, csr_array(X)), (False, True)):
        repeated = given[np.repeat(np.arange(len(y)), weight)]
        weighted = SVOR(tol=1e-7, scale=scale).fit(given, y, sample_weight=weight)
        repeated = SVOR(tol=1e-7, scale=scale).fit(repeated, np.repeat(y, weight))
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_columns_in_their_own_units_are_scaled(kernel, data):
    X, y = data
    X = np.delete(X, 1, axis=1)                 # two values are divided by half their difference
    raw = X * 10.0 ** np.arange(-5, 4) + 7
    standardised = SVOR(kernel=kernel, tol=1e-6, scale=False).fit(StandardScaler().fit_transform(raw), y)
    model = SVOR(kernel=kernel, tol=1e-6).fit(raw, y)

    assert model.objective_ == pytest.approx(standardised.objective_, rel=1e-5)
    assert model.margins_.mean(axis=1) == pytest.approx(model.thresholds_)
    if kernel == "linear":
        assert model.latent_score(raw) == pytest.approx(raw @ model.coef_)


def test_it_is_a_base_of_boosting(data):
    X, y = data
    model = AdaBoostOR(SVOR(kernel="linear"), n_estimators=3, random_state=0).fit(X, y)

    assert 1 < len(model.estimators_) <= 3 and type(model.estimators_[0]) is SVOR
    assert abs(model.predict(X) - y).mean() < 0.8


# ---- around it ----


def test_grids_and_pickles(data, tmp_path):
    X, y = data
    grid = GridSearchCV(SVOR(), {"C": [0.1, 1.0], "kernel": ["linear", "rbf"]}, cv=3).fit(X, y)
    copy = pickle.loads(pickle.dumps(grid.best_estimator_))

    assert np.array_equal(copy.predict(X), grid.predict(X)) and clone(copy).get_params() == copy.get_params()
    copy.engine_.save(tmp_path / "model")
    assert np.array_equal(Engine.load(tmp_path / "model").predict(X), grid.predict(X))


def test_passes_are_bounded_on_request(data):
    X, y = data
    short = SVOR(C=100.0, tol=1e-9, max_iter=1, kernel="linear").fit(X, y)

    assert short.status_ == "max_epochs" and short.n_iter_ == 1 and short.gap_ > 1e-9 * short.objective_
    with pytest.raises(OptionError, match="max_iter=-2"):
        SVOR(max_iter=-2).fit(X, y)


def test_nu_is_in_the_place_of_C(data):
    X, y = data
    model = SVOR(nu=0.7).fit(X, y)

    assert model.status_ == "converged" and model.objective_ < 0
    with pytest.raises(OptionError, match="at most"):
        SVOR(nu=9.0).fit(X, y)


def test_a_refit_forgets_the_attributes_of_the_other_kernel(data):
    X, y = data
    model = SVOR().fit(X, y)
    model.set_params(kernel="linear").fit(X, y)

    assert not hasattr(model, "dual_coef_") and model.coef_.shape == (X.shape[1],)


def test_one_class_is_refused():
    with pytest.raises(DataError, match="class"):
        SVOR().fit([[0.0], [1.0]], [1, 1])
