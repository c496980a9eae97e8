"""Ranks that are texts in another order than the alphabet's: they get what numbers get, with columns in scikit-learn's order."""

import functools
import io
import pickle

import numpy as np
import pandas as pd
import pytest
from contract import needs_1_8
from joblib import parallel_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter
from structperc_boosting.estimators import AdaBoostOR, ORStump
from structperc_boosting.reductions import BinaryReduction, RankerClassifier
from structperc_large_margin.estimators import SVOR

from structperc import Engine, metrics
from structperc.errors import DataError, NotFittedError
from structperc.estimators import CuSumRank, IntervalPA, LeafFeatures, OrdinalConformal, PRank, ScoreCard, StructuredClassifier, load
from structperc.pipelines import levels_of

LEVELS = ["none", "mild", "severe", "awful"]
NAMES = np.array(LEVELS)
PLACES = np.argsort(NAMES)              # of the sorted labels among the levels
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 2))
Y = np.digitize(X @ [2, -1] + RANDOM.logistic(size=120), [-2, 0, 2])
TEXTS = NAMES[Y]
ORDERED = pd.Series(pd.Categorical(TEXTS, categories=LEVELS, ordered=True))

PROBABLE = [CuSumRank(random_state=0), PRank(random_state=0), PRank(trainer="cumulative-logit"), IntervalPA(random_state=0),
            StructuredClassifier(random_state=0), StructuredClassifier(problem="cusum", random_state=0), SVOR(kernel="linear", tol=0.01),
            AdaBoostOR(n_estimators=5), AdaBoostOR(BinaryReduction(LogisticRegression()), n_estimators=1, random_state=0)]
OTHERS = [ORStump(), BinaryReduction(LogisticRegression()), ScoreCard(PRank(random_state=0)),
          OrdinalConformal(PRank(random_state=0), random_state=0)]


numbers_texts = pytest.mark.filterwarnings("ignore:y has the whole numbers:UserWarning")      # scikit-learn does so before it calls fit


def name_of(model):
    return repr(model)[:50]


@functools.cache
def pair(model):
    """The same model of numbers and of texts, fitted once for all tests."""
    return clone(model).fit(X, Y), clone(model).set_params(classes=LEVELS).fit(X, TEXTS)


@pytest.mark.parametrize("model", PROBABLE + OTHERS, ids=name_of)
def test_classes_are_sorted_and_levels_are_ranks(model):
    numbers, texts = pair(model)
    frames = clone(model).fit(X, ORDERED)
    assert texts.levels_.tolist() == frames.levels_.tolist() == levels_of(texts).tolist() == LEVELS
    assert texts.classes_.tolist() == frames.classes_.tolist() == sorted(LEVELS) == np.unique(TEXTS).tolist()
    assert np.array_equal(NAMES[numbers.predict(X)], texts.predict(X)) and np.array_equal(texts.predict(X), frames.predict(X))
    assert numbers.score(X, Y) == texts.score(X, TEXTS) == frames.score(X, ORDERED)
    assert pickle.loads(pickle.dumps(texts)).classes_.tolist() == sorted(LEVELS)


@pytest.mark.parametrize("model", PROBABLE, ids=name_of)
def test_columns_follow_the_classes(model):
    numbers, texts = pair(model)
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        assert np.array_equal(getattr(numbers, method)(X)[:, PLACES], getattr(texts, method)(X)), method
    if hasattr(texts, "engine_"):
        file = io.BytesIO()
        texts.save(file)
        assert np.array_equal(load(io.BytesIO(file.getvalue())).predict_proba(X), texts.predict_proba(X))
        assert np.array_equal(texts.engine_.predict_proba(X), numbers.predict_proba(X)), "engines have the order of ranks"


@pytest.mark.parametrize("model", PROBABLE, ids=name_of)
def test_every_scorer_measures_texts_as_numbers(model):
    numbers, texts = pair(model)
    same = 0
    for name in get_scorer_names():
        try:
            expected = get_scorer(name)(numbers, X, Y)
            got = get_scorer(name)(texts, X, TEXTS)
        except (ValueError, TypeError, AttributeError):     # of two labels, of clusters, of numbers only
            continue
        assert got == pytest.approx(expected, abs=1e-12, nan_ok=True), name
        same += 1
    assert same > 20


@pytest.mark.parametrize("classes", [["yes", "no"], ["no", "yes"]])
@pytest.mark.parametrize("model", [PRank(random_state=0), SVOR(kernel="linear", tol=0.01), AdaBoostOR(n_estimators=5),
                                   StructuredClassifier(random_state=0)], ids=name_of)
def test_of_two_texts_the_decision_is_for_the_second_class(model, classes):
    model = model.set_params(classes=classes).fit(X, np.array(classes)[(Y > 1).astype(int)])
    decision = model.decision_function(X)
    assert model.classes_.tolist() == ["no", "yes"] and decision.shape == (120,)
    assert np.array_equal(model.predict(X) == "yes", decision > 0)
    assert np.array_equal(model.predict_proba(X)[:, 1] > 0.5, decision > 0)


@numbers_texts
@pytest.mark.parametrize("method", ["predict_proba", "decision_function", "predict_log_proba"])
def test_cross_val_predict_has_the_columns_of_sorted_labels(method):
    numbers = cross_val_predict(PRank(random_state=0), X, Y, cv=2, method=method)
    texts = cross_val_predict(PRank(random_state=0, classes=LEVELS), X, TEXTS, cv=2, method=method)
    assert np.array_equal(numbers[:, PLACES], texts)


@numbers_texts
@pytest.mark.parametrize("method", ["sigmoid", "isotonic", pytest.param("temperature", marks=needs_1_8)])
@pytest.mark.parametrize("make", [PRank, CuSumRank, StructuredClassifier])
def test_calibration_by_scikit_learn_keeps_accuracy(method, make):
    random = np.random.default_rng(1)
    Z = random.normal(size=(500, 2))
    y = np.digitize(Z[:, 0] - Z[:, 1] + 0.3 * random.logistic(size=500), [-1.5, 0, 1.5])
    plain = make(random_state=0).fit(Z[:250], y[:250])
    options = {"method": method, "cv": 2, "ensemble": method != "isotonic"}
    numbers = CalibratedClassifierCV(make(random_state=0), **options).fit(Z[:250], y[:250])
    texts = CalibratedClassifierCV(make(random_state=0, classes=LEVELS), **options).fit(Z[:250], NAMES[y[:250]])
    right = [(model.predict(Z[250:]) == y[250:]).mean() for model in (plain, numbers)]
    assert right[1] > right[0] - 0.05
    assert np.allclose(numbers.predict_proba(Z)[:, PLACES], texts.predict_proba(Z), atol=1e-6)


# ---- estimators around others ----


def encoders(ranker):
    return [BaggingClassifier(ranker, n_estimators=2, random_state=0), VotingClassifier([("ranker", ranker)]),
            StackingClassifier([("ranker", ranker)], cv=2)]


@pytest.mark.parametrize("k", range(3))
def test_ensembles_take_ranks_as_numbers_or_the_order_of_texts(k):
    """They number the sorted texts, which `classes` undoes, with a warning. Labels that do not occur, or other numbers, cannot be told."""
    ranks = [LEVELS.index(label) for label in TEXTS]
    numbers = encoders(PRank(random_state=0))[k].fit(X, ranks)
    with pytest.warns(UserWarning, match="taken as places among the sorted texts, 0 as 'awful'.*leave classes out"):
        texts = encoders(PRank(random_state=0, classes=LEVELS, class_weight={"none": 1.0}))[k].fit(X, TEXTS)
    if k == 1:
        assert np.array_equal(NAMES[numbers.predict(X)], texts.predict(X))
    assert abs(numbers.predict(X) - Y).mean() < 0.8 > abs(np.array([LEVELS.index(label) for label in texts.predict(X)]) - Y).mean()
    for classes, y in (([*LEVELS, "worst"], TEXTS), ([1, 2, 3, 4], Y + 1)):
        with pytest.raises(DataError, match=r"StackingClassifier, number sorted labels from 0.*leave classes out"):
            encoders(PRank(random_state=0, classes=classes))[k].fit(X, y)


@pytest.mark.parametrize("k", range(3))
@pytest.mark.parametrize("model", [PRank(random_state=0), make_pipeline(StandardScaler(), CuSumRank(random_state=0)),
                                   GridSearchCV(PRank(random_state=0), {"C": [0.1]}, cv=2), SVOR(kernel="linear", tol=0.01),
                                   OrdinalConformal(PRank(random_state=0), random_state=0)], ids=name_of)
def test_an_order_that_ensembles_lose_raises_an_error(model, k):
    """The ensemble has the sorted texts of a categorical, its rankers have numbers. Classes have no order to lose."""
    with pytest.raises(ValueError, match=r"ingClassifier made of the sorted texts 'awful'.*order of the ranks is lost"):
        encoders(model)[k].fit(X, ORDERED)
    encoders(StructuredClassifier(random_state=0, epochs=1))[k].fit(X, ORDERED)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("model", [PRank(random_state=0), make_pipeline(StandardScaler(), CuSumRank(random_state=0)),
                                   OrdinalConformal(PRank(random_state=0), random_state=0)], ids=name_of)
def test_an_order_that_ensembles_lose_on_the_way_to_another_thread_or_process_raises_an_error(model, k):
    """There the ensemble is no caller of the ranker. An ensemble that met texts before takes numbers."""
    ensemble = encoders(model)[k].set_params(n_jobs=2)
    with parallel_config("threading"):
        bagged = [BaggingClassifier(ensemble, n_estimators=1)] * has_fit_parameter(model, "sample_weight")      # older ones pass weights
        for cloned in (ensemble, clone(ensemble), *bagged):
            with pytest.raises(DataError, match=r"Classifier made of the sorted texts 'awful'.*order of the ranks is lost"):
                cloned.fit(X, ORDERED)
        if hasattr(model, "predict_proba"):
            with pytest.raises(DataError, match="cross_val_predict made of the sorted texts"):
                cross_val_predict(model, X, ORDERED, cv=2, method="predict_proba", n_jobs=2)
        for again in (ensemble, clone(ensemble)):
            assert abs(again.fit(X, Y).predict(X) - Y).mean() < 1
        assert np.isfinite(cross_val_score(ensemble, X, Y, cv=2)).all()


def test_the_tool_that_made_a_clone_is_pickled_with_it():
    kept = []

    class Keeping(PRank):
        def fit(self, X, y, sample_weight=None):
            kept.append(self)
            return super().fit(X, np.asarray(y) > 1, sample_weight)

    VotingClassifier([("ranker", Keeping(random_state=0))]).fit(X, ORDERED)
    ranker = PRank(random_state=0)
    vars(ranker).update({name: value for name, value in vars(kept[0]).items() if name.startswith("_numbered")})
    with pytest.raises(DataError, match="VotingClassifier made of the sorted texts"):
        pickle.loads(pickle.dumps(ranker)).fit(X, np.unique(TEXTS, return_inverse=True)[1])


def test_an_order_that_cross_val_predict_loses_raises_an_error():
    with pytest.raises(DataError, match=r"cross_val_predict made of the sorted texts.*pass cross_val_predict the ranks as numbers"):
        cross_val_predict(PRank(random_state=0), X, ORDERED, cv=2, method="predict_proba")
    assert set(cross_val_predict(PRank(random_state=0), X, ORDERED, cv=2)) <= set(LEVELS)
    assert set(OneVsRestClassifier(PRank(random_state=0)).fit(X, ORDERED).predict(X)) <= set(LEVELS)       # two ranks have no order to lose
    bagging = BaggingClassifier(PRank(random_state=0), n_estimators=2, random_state=0)
    with pytest.raises(DataError, match="BaggingClassifier"):
        bagging.fit(X, ORDERED)
    numbers = bagging.fit(X, Y).predict(X)              # its texts are those of this fit
    with pytest.warns(UserWarning, match="taken as places"):
        texts = bagging.set_params(estimator__classes=LEVELS).fit(X, ORDERED).predict(X)
    assert abs(np.array([LEVELS.index(text) for text in texts]) - Y).mean() < abs(numbers - Y).mean() + 0.1


@pytest.mark.parametrize("model", [CuSumRank(random_state=0, class_weight={"mild": 2.0}), ORStump(class_weight={"mild": 2.0}),
                                   SVOR(kernel="linear", tol=0.01, class_weight={"mild": 2.0}), AdaBoostOR(n_estimators=3),
                                   BinaryReduction(LogisticRegression(), class_weight={"mild": 2.0}),
                                   ScoreCard(PRank(random_state=0)), OrdinalConformal(PRank(random_state=0), random_state=0)], ids=name_of)
def test_numbers_of_sorted_texts_are_read_by_every_ranker(model):
    _, codes = np.unique(TEXTS, return_inverse=True)
    texts = clone(model).set_params(classes=LEVELS).fit(X, TEXTS)
    with pytest.warns(UserWarning, match="taken as places among the sorted texts"):
        numbered = clone(model).set_params(classes=LEVELS).fit(X, codes)
    assert np.array_equal(texts.classes_[numbered.predict(X)], texts.predict(X)) and numbered.classes_.tolist() == [0, 1, 2, 3]
    assert texts.classes_[numbered.levels_].tolist() == LEVELS


def test_ensembles_that_pass_labels_on_take_texts():
    numbers, texts = (AdaBoostClassifier(PRank(random_state=0, **named), n_estimators=3, random_state=0).fit(X, y)
                      for named, y in (({}, Y), ({"classes": LEVELS}, TEXTS)))
    assert np.array_equal(NAMES[numbers.predict(X)], texts.predict(X))
    assert np.allclose(numbers.predict_proba(X)[:, PLACES], texts.predict_proba(X))


@pytest.mark.parametrize("outer", [
    lambda ranker: OrdinalConformal(ranker, random_state=0), lambda ranker: ScoreCard(ranker, random_state=0),
    lambda ranker: OrdinalConformal(make_pipeline(StandardScaler(), ranker), random_state=0),
    lambda ranker: OrdinalConformal(GridSearchCV(ranker, {"C": [0.1]}, cv=2), random_state=0),
    lambda ranker: OrdinalConformal(ScoreCard(ranker), random_state=0)], ids=["conformal", "card", "pipeline", "search", "conformal-card"])
def test_the_order_of_the_ranker_within_is_taken(outer):
    numbers, within, around = (outer(PRank(random_state=0)).fit(X, Y), outer(PRank(random_state=0, classes=LEVELS)).fit(X, TEXTS),
                               outer(PRank(random_state=0)).set_params(classes=LEVELS).fit(X, TEXTS))
    for texts in (within, around):
        assert texts.levels_.tolist() == LEVELS and np.array_equal(NAMES[numbers.predict(X)], texts.predict(X))
        if isinstance(texts, OrdinalConformal):
            assert np.array_equal(NAMES[numbers.predict_interval(X)], texts.predict_interval(X))
            assert np.array_equal(numbers.predict_set(X)[:, PLACES], texts.predict_set(X))
            assert metrics.interval_coverage(TEXTS, texts.predict_interval(X), classes=texts.levels_) > 0.8
    with pytest.raises(DataError, match="is not the same as"):
        outer(PRank(classes=LEVELS)).set_params(classes=LEVELS[::-1]).fit(X, TEXTS)
    with pytest.raises(DataError, match="rank order is unknown"):
        outer(PRank()).fit(X, TEXTS)


def test_boosting_and_reductions_take_the_order_of_the_ranker_within():
    for outer in (lambda ranker: AdaBoostOR(ranker, n_estimators=2), BinaryReduction):
        inner = ORStump()
        numbers = outer(clone(inner)).fit(X, Y)
        texts = outer(clone(inner).set_params(classes=LEVELS)).fit(X, TEXTS)
        assert texts.levels_.tolist() == LEVELS and np.array_equal(NAMES[numbers.predict(X)], texts.predict(X))
    above = np.where(Y > 1, "yes", "no")
    reverse = RankerClassifier(ORStump(classes=LEVELS)).fit(X, above, thresholds=np.full(120, 2))
    assert reverse.classes_.tolist() == ["no", "yes"] and set(reverse.predict(X, thresholds=np.full(120, 2))) == {"no", "yes"}


# ---- conformal prediction around a trained ranker ----


def test_calibrate_without_fit_measures_a_trained_ranker():
    half = slice(0, 60)
    for trained in (PRank(random_state=0, classes=LEVELS), AdaBoostOR(n_estimators=5, classes=LEVELS), SVOR(tol=0.01, classes=LEVELS),
                    make_pipeline(StandardScaler(), PRank(random_state=0, classes=LEVELS)), Engine("prank", classes=LEVELS)):
        trained.fit(X[half], TEXTS[half])
        expected = OrdinalConformal(trained, prefit=True).fit(X[60:], TEXTS[60:])
        for model in (OrdinalConformal(trained).calibrate(X[60:], TEXTS[60:]),
                      OrdinalConformal(trained).partial_calibrate(X[60:], TEXTS[60:])):
            assert model.quantile_ == expected.quantile_ and model.levels_.tolist() == LEVELS
            assert np.array_equal(model.predict_interval(X), expected.predict_interval(X))
    with pytest.raises(NotFittedError, match="PRank has no classes_, so it is not fitted. Fit it before, on other rows; or call fit"):
        OrdinalConformal(PRank()).calibrate(X, Y)


def test_sorted_texts_of_other_libraries_are_no_ranks():
    logistic = LogisticRegression().fit(X, TEXTS)
    for prefit in (True, False):
        with pytest.raises(DataError, match="sorts its labels .*rank order is unknown; name it with OrdinalConformal"):
            OrdinalConformal(logistic, prefit=prefit).calibrate(X, TEXTS)
    numbers = OrdinalConformal(LogisticRegression().fit(X, Y), prefit=True).fit(X, Y)
    texts = OrdinalConformal(logistic, classes=LEVELS).calibrate(X, TEXTS)
    assert (NAMES[numbers.predict_interval(X)] == texts.predict_interval(X)).mean() > 0.98


# ---- leaves, and measures ----


def test_leaves_take_texts_before_a_ranker():
    frame = pd.DataFrame(X, columns=["a", "b"])
    for rows, y, options in ((X, TEXTS, {"classes": LEVELS}), (frame, TEXTS, {"classes": LEVELS}), (frame, ORDERED, {}), (frame, Y, {})):
        model = make_pipeline(LeafFeatures(), PRank(random_state=0, **options)).fit(rows, y)        # no warning about names of columns
        assert model.score(rows, y) > 0.9
    assert np.array_equal(LeafFeatures().fit(frame, ORDERED).transform(frame).toarray(), LeafFeatures().fit(X, Y).transform(X).toarray())
    with pytest.raises(ValueError, match="NaN"):
        LeafFeatures().fit(X, Y).transform(np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="feature names should match"):
        LeafFeatures().fit(frame, Y).transform(frame.rename(columns={"a": "c"}))
    with pytest.raises(DataError, match="n_samples = 1: trees need two rows"):
        LeafFeatures().fit([[1.0, 2.0]], [1])


def test_measures_ask_for_an_order_only_if_they_use_it():
    assert metrics.macro_f1(["cat", "dog"], ["dog", "dog"]) == pytest.approx(1 / 3)
    assert metrics.confusion_matrix(["cat", "dog"], ["dog", "dog"]).tolist() == [[0, 1], [0, 1]]
    assert metrics.confusion_matrix(ORDERED, ORDERED).diagonal().tolist() == np.bincount(Y).tolist()
    with pytest.raises(DataError, match="rank order is unknown"):
        metrics.mean_absolute_error(["cat", "dog"], ["dog", "dog"])
    other = pd.Categorical(TEXTS, categories=LEVELS[::-1], ordered=True)
    with pytest.raises(DataError, match="name one order with classes"):
        metrics.mean_absolute_error(ORDERED, other)
    assert metrics.mean_absolute_error(ORDERED, other, classes=LEVELS) == 0 and metrics.macro_f1(ORDERED, other) == 1
