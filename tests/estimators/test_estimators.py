"""The estimators keep scikit-learn's contract, add nothing to the engine's learning, and say in sentences what is wrong."""

import inspect
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
import structperc_cusum
from contract import APART, checks_of, needs_1_8, scikit_learns_checks
from plain import Engine
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc import estimators, hookimpl
from structperc.components import Argmax, Loss, Outputs, VectorFeatures
from structperc.errors import DataError, OptionError, PluginError
from structperc.estimators import CuSumRank, PRank, StructuredClassifier

ALL = (CuSumRank, PRank, StructuredClassifier)
RANKS = (CuSumRank, PRank)
LEVELS = ["none", "mild", "severe"]

# ---- scikit-learn's own checks ----

DRAWN = "visits are drawn anew for each epoch, twice for a row of weight 2; repeated rows are visited in other orders"
NO_ORDER = "the ranks of bare strings are unknown, and alphabetical order is seldom meant: classes= or an ordered categorical says it"
MEDIAN = "predict is the median of predict_proba, and the check expects the mode"
EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (ALL, DRAWN),
    "check_sample_weight_equivalence_on_sparse_data": (ALL, DRAWN),
    "check_classifiers_classes": (RANKS, NO_ORDER),
    "check_classifiers_train": ((PRank,), MEDIAN),
}
CHECKED = (*(make() for make in ALL), PRank(pocket=True), CuSumRank(kernel="rbf"), StructuredClassifier(kernel="polynomial"))


def must_fail(estimator):
    """The checks that are declared to fail, with their reasons."""
    strict = estimator.kernel is None           # kernels fit the few rows of a check so well that repeated ones may not matter
    failing = {name: reason if strict else [reason] for name, (owners, reason) in EXPECTED_FAILURES.items() if type(estimator) in owners}
    if isinstance(estimator, RANKS) and not strict:
        failing["check_classifiers_train"] = [MEDIAN]
    return failing


@pytest.mark.filterwarnings("ignore")       # scikit-learn's checks warn about their own inputs
@pytest.mark.parametrize(("estimator", "check"), list(scikit_learns_checks(*CHECKED, failing=must_fail)))
def test_scikit_learns_check(estimator, check):
    check(estimator)


def run_python(code, **environment):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env={**os.environ, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@needs_1_8
def test_scikit_learns_check_of_array_api_input():
    code = f"""
from sklearn.utils.estimator_checks import estimator_checks_generator
from structperc.estimators import CuSumRank, PRank, StructuredClassifier
for estimator in (CuSumRank(), PRank(), StructuredClassifier()):
    for _, check in estimator_checks_generator(estimator):
        inner = check
        while hasattr(inner, "func"):
            inner = inner.func
        if inner.__name__ == {APART!r}:
            check(estimator)
            print(type(estimator).__name__)
"""
    assert run_python(code, SCIPY_ARRAY_API="1") == [make.__name__ for make in ALL]
    assert all(APART in {name for name, _, _ in checks_of(make())} for make in ALL)


# ---- data ----


@pytest.fixture(scope="module")
def diabetes():
    """Disease progression in 5 levels of equal size, a quarter held out."""
    X, progression = load_diabetes(return_X_y=True)
    y = np.digitize(progression, np.quantile(progression, [0.2, 0.4, 0.6, 0.8])) + 1
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def small():
    """Whole numbers, so that sums are exact, and three ranks that no predictor gets all right."""
    random = np.random.default_rng(5)
    X = random.integers(-4, 5, size=(60, 3)).astype(float)
    return X, np.digitize(X[:, 0] - X[:, 1] + random.integers(-2, 3, size=60), [-2, 2]) + 1


def made(make, **options):
    return make(random_state=0, **options)


def options_of(make, **changed):
    """What the engine is told: the estimator's own parameters, without those of a kernel."""
    options = {**make().get_params(), **({"variant": "single"} if make is PRank else {}), **changed}
    dropped = ("problem", "plugin_options", "verbose", "kernel", "gamma", "degree", "coef0")
    return {name: value for name, value in options.items() if name not in dropped}


PROBLEMS = {CuSumRank: "cusum", PRank: "prank", StructuredClassifier: "multiclass"}


# ---- parameters ----


@pytest.mark.parametrize("make", ALL)
def test_fit_changes_no_parameter(make, small):
    given = {"loss": [[0, 1, 5], [1, 0, 1], [5, 1, 0]], "classes": [1, 2, 3], "random_state": np.random.RandomState(3), "plugins": [],
             "plugin_options": {}}
    model = make(**given)
    before = model.get_params()
    model.fit(*small).partial_fit(*small)
    assert all(model.get_params()[name] is value for name, value in before.items())
    assert given["loss"] == [[0, 1, 5], [1, 0, 1], [5, 1, 0]] and given["classes"] == [1, 2, 3]


def test_what_a_problem_lacks_is_no_parameter():
    assert "fit_intercept" not in inspect.signature(PRank).parameters
    assert "variant" not in inspect.signature(CuSumRank).parameters
    with pytest.raises(OptionError, match="PRank has no parameter 'fit_intercept'. Its parameters are C, "):
        PRank(fit_intercept=False)
    with pytest.raises(OptionError, match="CuSumRank has no parameter 'epoch'. Did you mean 'epochs'?"):
        CuSumRank(epoch=5)


def test_repr_shows_what_was_changed():
    assert repr(CuSumRank()) == "CuSumRank()"
    assert repr(PRank(variant="original", epochs=5)) == "PRank(epochs=5, variant='original')"
    assert repr(StructuredClassifier(problem="cusum", average=False)) == "StructuredClassifier(average=False, problem='cusum')"
    pipeline = make_pipeline(StandardScaler(), CuSumRank(epochs=7))
    assert "CuSumRank(epochs=7)" in repr(pipeline)
    assert "CuSumRank" in pipeline._repr_html_()


def test_an_unknown_parameter_is_refused_by_name():
    with pytest.raises(OptionError, match="Invalid parameter 'epoch' for estimator PRank.*'epochs'"):
        PRank().set_params(epoch=3)
    with pytest.raises(OptionError, match=r"plugin_options names 'rate'.* Also Invalid parameter 'epoch' .* Invalid parameter 'zzz' "):
        PRank().set_params(epoch=3, zzz=4, plugin_options__rate=1)
    with pytest.raises(OptionError, match=r"PRank has no parameter 'epoch'. Did you mean 'epochs'\? PRank has no parameter 'zzz' and no "
                                          "'yyy'. Its parameters are"):
        PRank(epoch=3, zzz=4, yyy=2)
    model = PRank(epochs=4)
    with pytest.raises(OptionError):
        model.set_params(epochs=9, epoch=3)
    assert model.epochs == 4


class Asymmetric(Loss):
    """Predicting too high costs ten times as much as too low."""

    def value(self, gold, y, x=None):
        return 10.0 * (y - gold) if y > gold else float(gold - y)


@pytest.mark.parametrize("plugin", [Asymmetric(), Asymmetric, structperc_cusum], ids=["object", "class", "module"])
def test_clones_share_plugins_and_copy_the_rest(plugin, small):
    model = CuSumRank(plugins=[plugin], classes=[1, 2, 3], random_state=np.random.RandomState(0))
    copy = clone(model)
    assert copy is not model and copy.plugins is model.plugins
    assert copy.classes == model.classes and copy.classes is not model.classes
    assert copy.random_state is not model.random_state
    assert not hasattr(clone(CuSumRank().fit(*small)), "engine_")


def test_a_plugin_takes_effect(small):
    X, y = small
    plain = made(CuSumRank, classes=[1, 2, 3]).fit(X, y).predict(X)
    for plugin in (Asymmetric(), Asymmetric):
        careful = clone(made(CuSumRank, classes=[1, 2, 3], plugins=[plugin])).fit(X, y).predict(X)
        assert careful.sum() < plain.sum()


# ---- learning: the engine's, and nothing else ----


@pytest.mark.parametrize("make", ALL)
def test_it_learns_exactly_what_the_engine_learns(make, diabetes):
    X, y = diabetes
    model = made(make, epochs=4).fit(X, y)
    engine = Engine(PROBLEMS[make], **options_of(make, epochs=4, random_state=0)).fit(X, y)
    assert np.array_equal(model.coef_, engine.coef_)
    assert np.array_equal(model.predict(X), engine.predict(X))
    assert np.array_equal(model.atom_scores(X), engine.atom_scores(X))
    assert model.mistakes_ == engine.mistakes_ and model.n_iter_ == len(engine.mistakes_)
    assert model.status_ == engine.status_ in ("max_epochs", "levelled_off")
    assert model.n_features_in_ == X.shape[1] and model.classes_.tolist() == [1, 2, 3, 4, 5]
    assert model.explain(X[0]).winner == model.predict(X[:1])[0]


@pytest.mark.parametrize("make", RANKS)
def test_levels_of_diabetes_are_predicted_better_than_by_their_median(make, diabetes):
    X, y = diabetes
    baseline = 1 - np.abs(y - np.median(y)).mean() / 4
    scores = cross_val_score(make_pipeline(StandardScaler(), made(make)), X, y, cv=5)
    assert scores.mean() > baseline + 0.05


def test_wine_is_classified():
    X, y = load_wine(return_X_y=True)
    names = np.array(["barolo", "grignolino", "barbera"])[y]
    scores = cross_val_score(make_pipeline(StandardScaler(), made(StructuredClassifier)), X, names, cv=5)
    assert scores.mean() > 0.95


def test_grid_search_over_updates(diabetes):
    X, y = diabetes
    search = GridSearchCV(made(CuSumRank), [{"update": ["perceptron", "pa"]}, {"update": ["pa1"], "C": [0.01, 1.0]}],
                          cv=StratifiedKFold(3), error_score="raise").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert search.predict(X).shape == y.shape


def test_an_epoch_without_mistake_ends_training():
    model = made(CuSumRank, update="perceptron", epochs=500).fit([[-2.0], [0.0], [2.0]], [1, 2, 3])
    assert model.status_ == "converged" and model.n_iter_ < 500 and model.mistakes_[-1] == 0


@pytest.mark.parametrize("make", ALL)
def test_sparse_rows_give_what_dense_rows_give(make, small):
    X, y = small
    dense = made(make, scale=False).fit(X, y)
    for layout in (sparse.csr_matrix, sparse.csr_array, sparse.csc_array):
        from_sparse = made(make).fit(layout(X), y)              # "auto" leaves sparse rows as they are
        np.testing.assert_allclose(from_sparse.coef_, dense.coef_, rtol=1e-9, atol=1e-9)
        assert (from_sparse.predict(layout(X)) == dense.predict(X)).mean() > 0.98


def test_prank_cuts_its_latent_score_at_the_thresholds(small):
    X, y = small
    for model in (made(PRank), made(PRank, average=False), made(PRank, variant="original", average=False)):
        model.fit(X, y)
        cut = np.searchsorted(model.thresholds_, model.latent_score(X), side="right")
        assert np.array_equal(model.classes_[cut], model.predict(X))
        np.testing.assert_allclose(model.latent_score(sparse.csr_array(X)), X @ model.coef_, atol=1e-12)
    with pytest.raises(DataError, match="X has 1 features, but PRank is expecting 3 features as input"):
        model.latent_score(X[:, :1])


def test_pranks_variant_takes_effect(small):
    plain = {"average": False, "shuffle": False, "epochs": 1}
    assert not np.array_equal(PRank(**plain).fit(*small).coef_, PRank(variant="original", **plain).fit(*small).coef_)
    with pytest.raises(OptionError, match="variant='none'; expected one of 'structured', 'original'"):
        PRank(variant="none").fit(*small)


# ---- any label problem ----


@pytest.mark.parametrize("make", RANKS)
def test_a_classifier_of_a_named_problem_is_that_problems_estimator(make, small):
    X, y = small
    own = made(make).fit(X, y)
    variant = {"variant": "single"} if make is PRank else None
    general = made(StructuredClassifier, problem=PROBLEMS[make], update=own.update, loss_weight=own.loss_weight,
                   plugin_options=variant).fit(X, y)
    assert np.array_equal(own.coef_, general.coef_)
    assert general.score(X, y) == (own.predict(X) == y).mean()


def test_plugin_options_reach_the_plugin(small):
    options = {"problem": "prank", "update": "perceptron", "average": False, "loss_weight": 0.0}
    general = made(StructuredClassifier, plugin_options={"variant": "original"}, **options).fit(*small)
    own = made(PRank, variant="original", average=False).fit(*small)
    assert np.array_equal(general.coef_, own.coef_) and np.array_equal(general.thresholds_, own.thresholds_)
    with pytest.raises(OptionError, match="unknown option 'varient'. Did you mean 'variant'?"):
        made(StructuredClassifier, plugin_options={"varient": "original"}, **options).fit(*small)


class AtMostOne(Argmax):
    def argmax(self, s, x):
        return (int(np.argmax(s)),) if s.max() > 0 else ()


class OneAtom(VectorFeatures):
    def vectors(self, x):
        return x.rows


class Sets:
    """Structures that are sets of atoms: no labels."""

    @hookimpl
    def structperc_outputs(self, context):
        return Outputs()

    @hookimpl
    def structperc_features(self, context):
        return OneAtom(context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return AtMostOne()


def test_structures_without_labels_are_refused():
    X, y = [np.eye(3), -np.eye(3)], [(0, 1), (0, 1)]
    Engine(Sets()).fit(X, y)
    model = StructuredClassifier(problem=Sets(), loss_weight=0.0, update="perceptron")
    with pytest.raises(OptionError, match="predicts one label per row.*use structperc.Engine"):
        model.fit(X, y)
    assert not hasattr(model, "engine_")
    with pytest.raises(DataError, match="y is ragged"):
        StructuredClassifier().fit(X, [(0, 1), ()])
    with pytest.raises(PluginError, match="no plugin 'multiklass'. Did you mean 'multiclass'?"):
        StructuredClassifier(problem="multiklass").fit(X, [1, 2])


# ---- labels ----


def test_ordered_categories_are_the_ranks():
    X = np.array([[-3.0], [-2.5], [0.1], [0.4], [2.0], [3.0]])
    categories = pd.Categorical(["severe", "severe", "mild", "mild", "none", "none"], categories=LEVELS, ordered=True)
    for y in (categories, pd.Series(categories), pd.DataFrame({"level": categories})):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataConversionWarning)
            model = made(PRank).fit(X, y)
        assert model.levels_.tolist() == LEVELS and model.classes_.tolist() == sorted(LEVELS)
        assert model.coef_[0] < 0       # severity falls with x
        assert model.predict([[-9.0], [9.0]]).tolist() == ["severe", "none"]
    assert model.score(X, categories) == model.score(X, list(categories)) > 0.9
    named = made(PRank, classes=LEVELS).fit(X, list(categories))
    assert np.array_equal(named.coef_, model.coef_)


def test_ordered_categories_survive_cross_validation():
    X = np.arange(30.0)[:, None]
    y = pd.Series(pd.Categorical(np.repeat(LEVELS, 10), categories=LEVELS, ordered=True))
    assert cross_val_score(make_pipeline(StandardScaler(), made(CuSumRank)), X, y, cv=5).mean() > 0.8


@pytest.mark.parametrize("make", RANKS)
def test_bare_strings_have_no_order(make):
    with pytest.raises(DataError, match="rank order is unknown.*classes=.*ordered categorical"):
        make().fit([[0.0], [1.0]], ["low", "high"])


@pytest.mark.parametrize("make", ALL)
def test_real_numbers_are_a_regression_target_unless_they_are_named(make):
    X, y = [[0.0], [1.0], [2.0]], [0.5, 1.0, 1.5]
    with pytest.raises(DataError, match=r"Unknown label type: continuous. y\[0\] is 0.5; cut y into levels"):
        make().fit(X, y)
    model = make(classes=[0.5, 1.0, 1.5]).fit(X, y)
    assert model.classes_.tolist() == y
    assert make().fit(X, [1.0, 2.0, 3.0]).classes_.tolist() == [1.0, 2.0, 3.0]


def test_y_is_asked_for():
    with pytest.raises(DataError, match="PRank requires y to be passed, but the target y is None."):
        PRank().fit([[0.0], [1.0]])
    pairs = zip([[0.0], [1.0]], [1, 2], strict=True)
    for estimator in (PRank(), estimators.RankingSVM(), estimators.SequenceTagger(), estimators.OrdinalConformal(PRank())):
        with pytest.raises(DataError, match=rf"{type(estimator).__name__} requires y.* X is a zip; of pairs, pass both halves"):
            estimator.fit(pairs)


# ---- columns ----


def test_names_of_columns_are_kept_and_compared(small):
    X, y = small
    frame = pd.DataFrame(X, columns=["age", "dose", "pulse"])
    model = made(CuSumRank).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["age", "dose", "pulse"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(model.predict(frame), made(CuSumRank).fit(X, y).predict(X))
    with pytest.warns(UserWarning, match="X does not have valid feature names, but CuSumRank was fitted with feature names"):
        model.predict(X)
    with pytest.raises(DataError, match="column 0 of X is 'dose', but this model was trained with 'age' there"):
        model.predict(frame[["dose", "age", "pulse"]])
    nameless = made(CuSumRank).fit(X, y)
    assert not hasattr(nameless, "feature_names_in_")
    for use in (nameless.predict, nameless.atom_scores, lambda X: nameless.partial_fit(X, y)):
        with pytest.warns(UserWarning, match="X has feature names, but CuSumRank was fitted without feature names"):
            use(frame)


def test_a_pipeline_can_pass_data_frames_on(small):
    X, y = small
    scaler = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(scaler, made(PRank)).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert pipeline[-1].feature_names_in_.tolist() == ["a", "b", "c"]


# ---- scores ----


@pytest.mark.parametrize("make", RANKS)
def test_the_score_of_ranks_is_how_near_they_are(make):
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    model = made(make, classes=["a", "b", "c", "d", "e"]).fit(X, ["a", "b", "d", "e"])
    predicted = model.predict(X)
    assert model.score(X, predicted) == 1.0
    ends = X[[0, 0]]
    first = "abcde".index(predicted[0])
    assert model.score(ends, ["a", "e"]) == 1 - (first + 4 - first) / 2 / 4
    assert model.score(ends, ["a", "e"], sample_weight=[3, 1]) == pytest.approx(1 - (3 * first + 4 - first) / 4 / 4)
    with pytest.raises(DataError, match="'f'"):
        model.score(X, ["a", "b", "c", "f"])


def test_the_score_of_classes_is_their_accuracy():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    model = made(StructuredClassifier).fit(X, ["l", "l", "r", "r"])
    assert model.score(X, ["l", "l", "r", "l"]) == 0.75
    assert model.score(X, ["l", "l", "r", "l"], sample_weight=[1, 1, 1, 3]) == 0.5
    assert model.score(X, ["l", "l", "r", "never seen"]) == 0.75
    with pytest.raises(DataError, match="y has 3 labels but X has 4 rows"):
        model.score(X, ["l", "l", "r"])
    with pytest.raises(DataError, match="y has none of the labels.*for instance 1"):
        model.score(X, [1, 1, 2, 2])
    with pytest.raises(DataError, match="all sample weights are 0"):
        model.score(X, ["l", "l", "r", "l"], sample_weight=np.zeros(4))


def test_folds_are_those_of_a_classifier():
    assert all(is_classifier(make()) for make in ALL)


# ---- sample weights ----


@pytest.mark.parametrize("make", ALL)
def test_weight_zero_is_absence(make, small):
    X, y = small
    weight = np.arange(len(y)) % 3 != 0
    kept = made(make).fit(X[weight], y[weight])
    weighted = made(make).fit(X, y, sample_weight=weight.astype(float))
    assert np.array_equal(kept.coef_, weighted.coef_) and kept.mistakes_ == weighted.mistakes_


@pytest.mark.parametrize("make", ALL)
def test_weight_one_is_no_weight(make, small):
    X, y = small
    assert np.array_equal(made(make).fit(X, y).coef_, made(make).fit(X, y, sample_weight=np.ones(len(y))).coef_)


@pytest.mark.parametrize("make", ALL)
def test_equal_weights_lengthen_all_perceptron_steps_alike(make, small):
    X, y = small
    steps = {"update": "perceptron", "loss_weight": 0.0, "weighting": "steps"}
    plain, twice = made(make, **steps).fit(X, y), made(make, **steps).fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(twice.coef_, 2 * plain.coef_, rtol=1e-12)
    assert twice.mistakes_ == plain.mistakes_ and np.array_equal(twice.predict(X), plain.predict(X))


@pytest.mark.parametrize("make", [CuSumRank, StructuredClassifier])
@pytest.mark.parametrize("update", ["pa1", "pa2"])
def test_equal_weights_are_a_larger_C(make, update, small):
    X, y = small
    weighted = made(make, update=update, C=0.01, weighting="steps").fit(X, y, sample_weight=np.full(len(y), 3.0))
    np.testing.assert_allclose(weighted.coef_, made(make, update=update, C=0.03).fit(X, y).coef_, rtol=1e-9)


# ---- learning on ----


@pytest.mark.parametrize("make", ALL)
def test_chunks_are_one_pass(make, small):
    X, y = small
    model = made(make, shuffle=False, scale=False)
    for start in range(0, 60, 20):
        assert model.partial_fit(X[start:start + 20], y[start:start + 20], classes=[1, 2, 3]) is model
    whole = made(make, shuffle=False, scale=False, epochs=1).fit(X, y)
    assert np.array_equal(model.coef_, whole.coef_) and model.mistakes_ == whole.mistakes_
    assert model.n_iter_ == 1


def test_partial_fit_continues_a_fit(small):
    X, y = small
    model = made(CuSumRank, epochs=3).fit(X, y)
    before = model.coef_.copy()
    model.partial_fit(X, y)
    engine = Engine("cusum", **options_of(CuSumRank, epochs=3, random_state=0)).fit(X, y).partial_fit(X, y)
    assert np.array_equal(model.coef_, engine.coef_) and not np.array_equal(model.coef_, before)


def test_partial_fit_agrees_on_the_classes(small):
    X, y = small
    with pytest.raises(DataError, match=r"classes=\[3, 2, 1\] is not the same as \[1, 2, 3\], which the option classes named"):
        CuSumRank(classes=[1, 2, 3]).partial_fit(X, y, classes=[3, 2, 1])
    model = CuSumRank().partial_fit(X[:5], [1, 1, 2, 1, 2], classes=[1, 2, 3])
    assert model.classes_.tolist() == [1, 2, 3]
    model.partial_fit(X, y, classes=np.array([1, 2, 3]))
    with pytest.raises(DataError, match=r"classes=\[1, 2\] is not the same as \[1, 2, 3\], which the earlier calls named"):
        model.partial_fit(X, y, classes=[1, 2])
    with pytest.raises(DataError, match="4"):
        model.partial_fit(X[:1], [4])


def test_partial_fit_ignores_no_changed_parameter(small):
    model = CuSumRank(C=2.0).partial_fit(*small)
    model.set_params(C=2.0).partial_fit(*small)
    with pytest.raises(OptionError, match="C was 2.0 when training began and is 0.5 now.*set it back"):
        model.set_params(C=0.5).partial_fit(*small)
    model.fit(*small).partial_fit(*small)


# ---- state ----


@pytest.mark.parametrize("make", ALL)
def test_pickles_predict_and_learn_on(make, small):
    X, y = small
    model = made(make, classes=[1, 2, 3], shuffle=False).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X)) and again.status_ == model.status_
    assert np.array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)
    assert repr(pickle.loads(pickle.dumps(make(epochs=3)))) == repr(make(epochs=3))


def test_pickles_keep_plugins_that_are_named_or_classes(small):
    X, y = small
    model = made(CuSumRank, plugins=[Asymmetric]).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.plugins == [Asymmetric] and np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(again.fit(X, y).coef_, model.coef_)


class Interrupting:
    """Ctrl-C at the end of the second epoch."""

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == 2:
            raise KeyboardInterrupt


def test_an_interrupted_fit_keeps_what_it_learned(small):
    X, y = small
    model = made(CuSumRank, plugins=[Interrupting()])
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_ == "interrupted" and model.n_iter_ == 2
    assert np.array_equal(model.predict(X), made(CuSumRank, epochs=2).fit(X, y).predict(X))


def test_metadata_routing_passes_sample_weights_on(small):
    X, y = small
    weight = (np.arange(len(y)) % 3 != 0).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        model = clone(made(PRank).set_fit_request(sample_weight=True).set_score_request(sample_weight=False))
        scaler = StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=False)
        routed = make_pipeline(scaler, model).fit(X, y, sample_weight=weight)
        found = cross_validate(model, X, y, cv=2, params={"sample_weight": weight}, return_estimator=True)
        renamed = made(PRank).set_partial_fit_request(sample_weight="importance").set_fit_request(sample_weight="importance")
        aliased = make_pipeline(scaler, renamed).fit(X, y, importance=weight)
    direct = made(PRank).fit(X, y, sample_weight=weight)
    assert np.array_equal(routed[-1].coef_, direct.coef_) and np.array_equal(aliased[-1].coef_, direct.coef_)
    assert not np.array_equal(direct.coef_, made(PRank).fit(X, y).coef_)
    train, _ = next(StratifiedKFold(2).split(X, y))
    by_hand = made(PRank).fit(X[train], y[train], sample_weight=weight[train])
    assert np.array_equal(found["estimator"][0].coef_, by_hand.coef_)
    with sklearn.config_context(enable_metadata_routing=True), pytest.raises(TypeError, match="Unexpected args: {'groups'} in partial_fit"):
        PRank().set_partial_fit_request(groups=True)


def test_citations_name_the_methods_in_use(small):
    assert "Cumulative Sum Ranking" in CuSumRank().citation()
    assert "Pranking with Ranking" in PRank().citation()
    unfitted, fitted = StructuredClassifier().citation(), StructuredClassifier().fit(*small).citation()
    assert "Ultraconservative" in unfitted and unfitted == fitted


