"""Estimators with a kernel: the engine with the plugin "dual-kernel" behind scikit-learn's interface, on rows and on lists of objects."""

import inspect
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from plain import Engine
from reference.kernels import rbf
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from structperc_kernels.object_kernels import SubsequenceKernel

from structperc import estimators
from structperc.errors import DataError, OptionError, PluginError
from structperc.estimators import CuSumRank, IntervalPA, LatentRanker, PRank, SequenceTagger, StructuredClassifier, lookup

ON_ROWS = (CuSumRank, PRank, IntervalPA, StructuredClassifier)
THRESHOLDS = (PRank, IntervalPA)
PROBLEMS = {CuSumRank: "cusum", PRank: "prank", StructuredClassifier: "multiclass", SequenceTagger: "sequence"}
EPOCHS = 5


@pytest.fixture(scope="module")
def rings():
    """Ranks by the distance from the center, which no linear score separates."""
    random = np.random.default_rng(0)
    X = random.normal(size=(90, 2))
    return X, np.digitize(np.hypot(*X.T), [0.8, 1.5]) + 1


@pytest.fixture(scope="module")
def words():
    """Words of two languages that share only one letter."""
    random = np.random.default_rng(1)
    letters = np.where(np.arange(40) % 2, "abcx", "defx")
    return ["".join(random.choice(list(known), size=7)) for known in letters], np.where(np.arange(40) % 2, "one", "other").tolist()


def made(make, **options):
    return make(**{"random_state": 0, "epochs": EPOCHS, **options})


@pytest.mark.parametrize("make", [CuSumRank, PRank, StructuredClassifier])
def test_it_learns_what_the_engine_learns_with_the_plugin(make, rings):
    X, y = rings
    model = made(make, kernel="rbf", gamma=0.7, plugin_options={"budget": 40}).fit(X, y)
    engine = made(partial(Engine, PROBLEMS[make]), preset="recommended", plugins=["dual-kernel"], kernel="rbf", gamma=0.7, budget=40)
    engine.fit(X, y)
    assert np.array_equal(model.atom_scores(X), engine.atom_scores(X))
    assert model.mistakes_ == engine.mistakes_ and model.n_support_ == engine.n_support_ <= 40
    assert model.support_vectors_.shape == (model.n_support_, 2) and not hasattr(model, "coef_")
    assert "Collins and Nigel Duffy" in model.citation() and "Collins and Nigel Duffy" not in make().citation()


@pytest.mark.parametrize("make", ON_ROWS)
def test_a_kernel_tells_rings_apart(make, rings):
    X, y = rings
    plain, kernel = (cross_val_score(made(make, epochs=10, **options), X, y, cv=3, error_score="raise").mean()
                     for options in ({}, {"kernel": "rbf", "gamma": 0.7}))
    assert kernel > 0.8 and kernel > plain + 0.1


@pytest.mark.parametrize("make", [*ON_ROWS, SequenceTagger])
def test_kernels_are_parameters_of_every_estimator(make):
    defaults = {"kernel": None, "gamma": "scale", "degree": 3, "coef0": 0.0}
    assert {name: inspect.signature(make).parameters[name].default for name in defaults} == defaults
    model = make(kernel="polynomial", degree=2)
    assert "degree=2" in repr(model) and clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(("options", "why"), [
    ({"kernel": "rbv"}, "kernel='rbv'. Expected one of 'linear', "),
    ({"kernel": "rbf", "plugin_options": {"gamma": 0.1}}, "plugin_options names 'gamma', which is a parameter of CuSumRank; set it there"),
    ({"kernel": "rbf", "plugins": "cusum"}, "plugins='cusum'; expected a list"),
    ({"plugin_options": {"budget": 10}}, "unknown option 'budget'"),
])
def test_impossible_options_are_refused_when_training_begins(options, why, rings):
    model = CuSumRank(**options)
    with pytest.raises(OptionError, match=why):
        model.fit(*rings)
    assert not hasattr(model, "engine_")


@pytest.mark.parametrize(("options", "unused"), [
    ({"gamma": 0.1}, ("gamma",)), ({"degree": 2, "coef0": 1.0}, ("degree", "coef0")), ({"kernel": "rbf", "degree": 2}, ("degree",)),
    ({"kernel": "linear", "gamma": 0.1, "coef0": 1.0}, ("gamma", "coef0")), ({"kernel": "rbf", "gamma": 0.1}, ()),
])
def test_parameters_of_other_kernels_are_left_out_and_named(options, unused, rings):
    X, y = rings
    model = made(CuSumRank, **options).fit(X, y)
    plain = made(CuSumRank, **{name: value for name, value in options.items() if name not in unused}).fit(X, y)
    assert model.unused_parameters_ == unused and plain.unused_parameters_ == ()
    assert np.array_equal(model.atom_scores(X), plain.atom_scores(X))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), plain.predict(X))


def test_defaults_may_be_written_out(rings):
    assert CuSumRank(gamma="scale", degree=np.int64(3), coef0=0).fit(*rings).score(*rings) > 0


def test_the_users_plugins_come_after_the_kernels(rings):
    with pytest.raises(PluginError, match="'dual-kernel'.*is named twice"):
        CuSumRank(kernel="rbf", plugins=["dual-kernel"]).fit(*rings)
    X, y = rings
    by_name = made(CuSumRank, plugins=["dual-kernel"]).fit(X, y)
    assert np.array_equal(by_name.atom_scores(X), made(CuSumRank, kernel="linear").fit(X, y).atom_scores(X))


@pytest.mark.parametrize("make", THRESHOLDS)
def test_a_latent_score_needs_no_coefficients(make, rings):
    X, y = rings
    model = made(make, kernel="rbf", gamma=0.7).fit(X, y)
    cut = np.searchsorted(model.thresholds_, model.latent_score(X), side="right")
    assert np.array_equal(model.classes_[cut], model.predict(X))
    linear, plain = (made(make, scale=False, **kernel).fit(X, y) for kernel in ({"kernel": "linear"}, {}))
    np.testing.assert_allclose(linear.latent_score(X), plain.latent_score(X), rtol=1e-9, atol=1e-9)


def test_grids_search_over_kernels_and_their_options(rings):
    X, y = rings
    grid = [{"kernel": [None]}, {"kernel": ["rbf"], "gamma": [0.001, 0.7, 500.0]},
            {"kernel": ["polynomial"], "degree": [2], "coef0": [1.0]}]
    search = GridSearchCV(made(CuSumRank), grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_["kernel"] is not None and search.best_params_.get("gamma", 0.7) == 0.7
    assert search.predict(X).shape == y.shape
    assert make_pipeline(StandardScaler(), made(CuSumRank, kernel="rbf")).fit(X, y).score(X, y) > 0.8


# ---- kernel values beforehand, and functions ----


@pytest.mark.parametrize("make", ON_ROWS)
def test_folds_cut_the_columns_of_kernel_values_as_well(make, rings):
    X, y = rings
    values = rbf(X, X, gamma=0.7)
    model = made(make, kernel="precomputed")
    assert get_tags(model).input_tags.pairwise and not get_tags(made(make, kernel="rbf")).input_tags.pairwise
    folds = KFold(3, shuffle=True, random_state=0)
    by_rows = cross_val_predict(made(make, kernel="rbf", gamma=0.7, scale=False), X, y, cv=folds)
    assert np.array_equal(cross_val_predict(model, values, y, cv=folds), by_rows)


def dot(A, B):
    return A @ B.T


def common_letters(a, b):
    return float(len(set(a) & set(b)))


def test_a_function_is_a_kernel(rings):
    X, y = rings
    model = made(CuSumRank, kernel=dot)
    assert clone(model).kernel is dot
    np.testing.assert_allclose(model.fit(X, y).atom_scores(X), made(CuSumRank, kernel="linear").fit(X, y).atom_scores(X), atol=1e-9)
    again = pickle.loads(pickle.dumps(model))
    assert again.kernel is dot and np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(again.partial_fit(X, y).atom_scores(X), model.partial_fit(X, y).atom_scores(X))


# ---- lists of objects ----


@pytest.mark.parametrize("options", [{"kernel": "subsequence", "plugin_options": {"length": 2}}, {"kernel": common_letters},
                                     {"kernel": SubsequenceKernel(length=1)}], ids=["by name", "function", "object"])
@pytest.mark.parametrize("make", [StructuredClassifier, CuSumRank])
def test_lists_of_strings_are_read(make, options, words):
    X, y = words
    model = made(make, classes=["one", "other"], **options)
    assert cross_val_score(model, X, y, cv=KFold(4), error_score="raise").mean() > 0.9
    assert cross_val_score(model, X, y, cv=4, error_score="raise").mean() > 0.9       # stratified
    model.fit(X, y)
    assert model.predict(X).tolist() == y and model.score(X, y) == 1.0
    assert set(model.support_vectors_) <= set(X) and model.n_features_in_ == 0
    assert np.array_equal(model.partial_fit(X[:3], y[:3]).predict(X[:2]), y[:2])


@pytest.mark.parametrize("form", [np.array, pd.Series, lambda words: np.array(words, dtype=object), tuple])
def test_arrays_and_series_of_strings_are_lists_of_them(form, words):
    X, y = words
    model, plain = (made(StructuredClassifier, kernel="subsequence").fit(given, y) for given in (form(X), X))
    assert np.array_equal(model.atom_scores(form(X)), plain.atom_scores(X))
    assert cross_val_score(model, form(X), y, cv=3, error_score="raise").mean() > 0.9


def test_trees_are_read():
    X = ["(S (A a) (B b))", "(S (A a) (C c))", "(S (D d) (E e))", "(S (D d) (F f))"] * 6
    y = ["left", "left", "right", "right"] * 6
    grid = {"plugin_options": [{"kernel_decay": 0.2}, {"normalise": False}]}
    search = GridSearchCV(made(StructuredClassifier, kernel="subset-tree"), grid, cv=KFold(3), error_score="raise")
    assert search.fit(X, y).score(X, y) == 1.0


def test_objects_and_rows_are_not_confused(words, rings):
    model = made(StructuredClassifier, kernel="subsequence").fit(*words)
    with pytest.raises(DataError, match="X has rows of numbers, but this model was trained on a list of objects"):
        model.predict(rings[0])
    with pytest.raises(DataError, match="X is a list of objects.*a kernel on such objects"):
        StructuredClassifier().fit(*words)
    with pytest.raises(DataError, match="rbf kernel compares rows of numbers"):
        StructuredClassifier(kernel="rbf").fit(*words)


# ---- sentences ----


def test_a_tagger_compares_tokens():
    random = np.random.default_rng(2)
    X = [random.normal(size=(n, 2)) for n in random.integers(1, 7, size=40)]
    y = [np.where(np.hypot(*x.T) < 1.1, "in", "out").tolist() for x in X]
    tagger = made(SequenceTagger, kernel="rbf", gamma=0.7).fit(X[:30], y[:30])
    assert tagger.score(X[30:], y[30:]) > max(0.8, made(SequenceTagger).fit(X[:30], y[:30]).score(X[30:], y[30:]) + 0.1)
    assert tagger.transition_scores_.shape == (2, 2)
    flat = tagger.predict(np.concatenate(X[30:]), lengths=[len(x) for x in X[30:]])
    assert flat.tolist() == sum(tagger.predict(X[30:]), [])
    assert pickle.loads(pickle.dumps(tagger)).predict(X) == tagger.predict(X)
    with pytest.raises(DataError, match="top_features shows weights of features"):
        tagger.top_features("in")


def test_rankings_bend_too():
    """Documents far from the center are relevant, which no linear score can rank."""
    random = np.random.default_rng(0)
    X, queries = random.normal(size=(600, 3)), np.repeat(np.arange(60), 10)
    relevant = (np.abs(X[:, 0]) > 1).astype(int)
    bent, straight = (made(LatentRanker, k=3, **options).fit(X[:400], relevant[:400], groups=queries[:400])
                      for options in ({"kernel": "rbf", "gamma": 0.5}, {}))
    assert bent.score(X[400:], relevant[400:], groups=queries[400:]) > 0.15 + straight.score(X[400:], relevant[400:], groups=queries[400:])
    assert np.array_equal(pickle.loads(pickle.dumps(bent)).decision_function(X), bent.decision_function(X))


def test_all_estimators_are_looked_at():
    without = {"LabelScorer", "LeafFeatures", "OrdinalConformal", "RankingSVM", "RankingScorer", "ScoreCard",
               "StructureConformal", "StructureSet", "StructuredEstimator"}                       # files of their own
    own = {name for name in estimators.__all__ if name not in lookup.addresses()} - {"load"}
    assert {make.__name__ for make in (*ON_ROWS, SequenceTagger, LatentRanker)} == own - without
