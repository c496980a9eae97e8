"""Scorers of ordered labels in scikit-learn's tools: texts, ordered categoricals, and ranks that a fold has not seen."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc import metrics
from structperc.errors import DataError, OptionError
from structperc.estimators import CuSumRank, IntervalPA, LabelScorer, PRank

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(120, 3))
CODES = np.digitize(X[:, 0] + 0.4 * RANDOM.normal(size=120), [-0.5, 0.7])
LEVELS = ["none", "mild", "severe"]
TEXT = np.array(LEVELS)[CODES]
CATEGORICAL = pd.Series(pd.Categorical(TEXT, LEVELS, ordered=True))
MEASURES = {"mean-absolute-error": lambda y, p: -metrics.mean_absolute_error(y, p), "within-one": metrics.accuracy_within_one,
            "macro-mean-absolute-error": lambda y, p: -metrics.macro_mean_absolute_error(y, p),
            "quadratic-weighted-kappa": metrics.quadratic_weighted_kappa, "macro-f1": metrics.macro_f1}


@pytest.mark.parametrize("measure", MEASURES)
def test_texts_are_measured_as_their_ranks(measure):
    def scores(y, **options):
        model = make_pipeline(StandardScaler(), CuSumRank(random_state=0, epochs=5, **options))
        return cross_val_score(model, X, y, scoring=LabelScorer(measure), cv=KFold(3), error_score="raise")

    expected = cross_val_score(make_pipeline(StandardScaler(), CuSumRank(random_state=0, epochs=5)), X, CODES, cv=KFold(3),
                               scoring=make_scorer(MEASURES[measure]))
    assert np.isfinite(expected).all()
    np.testing.assert_array_equal(scores(TEXT, classes=LEVELS), expected)
    np.testing.assert_array_equal(scores(CATEGORICAL), expected)
    np.testing.assert_array_equal(scores(CODES), expected)


def test_a_search_ranks_candidates_by_it():
    grid = GridSearchCV(PRank(classes=LEVELS, random_state=0), {"epochs": [1, 5]}, scoring={"MAE": LabelScorer(), "kappa": LabelScorer(
        "quadratic-weighted-kappa")}, refit="MAE", cv=3, error_score="raise").fit(X, TEXT)
    assert grid.best_score_ > -0.5 and np.isfinite(grid.cv_results_["mean_test_kappa"]).all()
    named = LabelScorer(classes=LEVELS)(DummyClassifier(strategy="constant", constant="none").fit(X, TEXT), X, TEXT)
    assert named == -CODES.mean(), "classifiers that sort texts by the alphabet are told the order"
    sorts = CalibratedClassifierCV(CuSumRank(classes=LEVELS, random_state=0), cv=2).fit(X, TEXT)
    for model in (sorts, LogisticRegression().fit(X, TEXT), make_pipeline(StandardScaler(), LogisticRegression()).fit(X, TEXT)):
        predicted = model.predict(X)
        with pytest.raises(DataError, match=r"sorts its labels .*rank order is unknown; name it with LabelScorer\(\.\.\., classes="):
            LabelScorer()(model, X, TEXT)
        expected = -metrics.mean_absolute_error(TEXT, predicted, LEVELS)
        assert LabelScorer(classes=LEVELS)(model, X, TEXT) == LabelScorer()(model, X, CATEGORICAL) == expected
        assert LabelScorer("macro-f1")(model, X, TEXT) == metrics.macro_f1(TEXT, predicted), "no order is needed"
    assert repr(LabelScorer("macro-f1")) == "LabelScorer(measure='macro-f1')"


def test_measures_take_the_order_of_a_categorical():
    predicted = np.roll(TEXT, 1)
    expected = metrics.mean_absolute_error(TEXT, predicted, LEVELS)
    assert expected == metrics.mean_absolute_error(CATEGORICAL, predicted) == metrics.mean_absolute_error(CATEGORICAL.array, predicted)
    assert expected == metrics.mean_absolute_error(TEXT, pd.Categorical(predicted, LEVELS, ordered=True))
    with pytest.raises(DataError, match="their rank order is unknown"):
        metrics.mean_absolute_error(TEXT, predicted)


@pytest.mark.parametrize("make", [CuSumRank, PRank, IntervalPA])
def test_a_rank_that_a_fold_has_not_seen_is_a_wrong_prediction(make):
    model = make(random_state=0).fit(X[CODES < 2], CODES[CODES < 2])
    predicted, rows = model.predict(X), CODES < 2
    assert model.score(X, CODES) == pytest.approx(1 - np.abs(predicted - CODES).mean() / 2)
    assert model.score(X[rows], CODES[rows]) == pytest.approx(1 - np.abs(predicted - CODES)[rows].mean()), "of two ranks"
    assert LabelScorer()(model, X, CODES) == pytest.approx(-np.abs(predicted - CODES).mean())
    assert model.score(X, CODES + 10) == pytest.approx(1 - (CODES + 2 - predicted).mean() / 4), "of the ranks 0, 1, 10, 11 and 12"
    assert LabelScorer()(model, X[:1], [2]) == predicted[0] - 2
    with pytest.raises(DataError, match="not one of the labels known"):
        model.score(X, TEXT)
    named = make(random_state=0, classes=["none", "mild"]).fit(X[rows], TEXT[rows])
    assert named.score(X, CATEGORICAL) == pytest.approx(model.score(X, CODES))
    with pytest.raises(DataError, match="'severe', which is not one of the labels known"):
        named.score(X, TEXT)


@pytest.mark.parametrize("scoring", [None, LabelScorer()])
def test_folds_of_unseen_numbers_only_are_measured_too(scoring):
    model, rows, ranks = PRank(random_state=0, epochs=2), X[:10], np.append(np.arange(9) % 3, 5)
    last = clone(model).fit(rows[:-1], ranks[:-1]).predict(rows[-1:])[0]
    for y in (ranks, ranks.astype(object)):
        found = cross_val_score(model, rows, y, scoring=scoring, cv=LeaveOneOut(), error_score="raise")
        assert found[-1] == (last - 3 if scoring else last / 3)
    low = clone(model).fit(rows[:8], np.arange(8) // 2).predict(rows[8:])
    sorted_ranks = cross_val_score(model, rows, np.append(np.arange(8) // 2, [8, 9]), scoring=scoring, cv=KFold(5), error_score="raise")
    assert sorted_ranks[-1] == pytest.approx((low - [4, 5]).mean() if scoring else 1 - ([4, 5] - low).mean() / 5)


def test_what_is_no_measure():
    model = CuSumRank(random_state=0).fit(X, CODES)
    with pytest.raises(OptionError, match="measure='mean-absolute-eror'; expected one of .* Did you mean 'mean-absolute-error'"):
        LabelScorer("mean-absolute-eror")(model, X, CODES)
    with pytest.raises(DataError, match="requires y to be passed"):
        LabelScorer()(model, X, None)
