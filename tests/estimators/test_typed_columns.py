"""Columns of categories and dates at the doors that read X before an engine does, or without one."""

import pickle

import numpy as np
import pytest

from structperc.errors import DataError, DataWarning
from structperc.estimators import SVOR, AdaBoostOR, LeafFeatures, ORStump, PRank, RankingSVM

pd = pytest.importorskip("pandas")

N = 40
RANDOM = np.random.default_rng(0)
WARD, BMI = RANDOM.choice(["b", "c", "a"], N), RANDOM.normal(size=N)
RANKS = np.clip(np.round((WARD == "b") + BMI + 1), 0, 2).astype(int) + 1
CODED = np.column_stack([*(WARD == level for level in "abc"), BMI]).astype(float)
QUERIES = np.arange(N) // 8

DOORS = {
    "svor": (lambda: SVOR(), {}, "decision_function"),
    "linear svor": (lambda: SVOR(kernel="linear"), {"sample_weight": np.arange(N) % 3 + 1.0}, "decision_function"),
    "weighted svor": (lambda: SVOR(), {"sample_weight": np.arange(N) % 3 + 1.0}, "decision_function"),
    "ranking svm": (lambda: RankingSVM(), {"groups": QUERIES}, "decision_function"),
    "stump": (lambda: ORStump(), {}, "predict"),
    "stumps": (lambda: AdaBoostOR(n_estimators=5), {}, "decision_function"),
    "held-out stumps": (lambda: AdaBoostOR(n_estimators=9, n_iter_no_change=2, random_state=0), {}, "decision_function"),
    "boosted rankers": (lambda: AdaBoostOR(PRank(pocket=True, random_state=0), n_estimators=2), {}, "decision_function"),
    "leaves": (lambda: LeafFeatures(sparse_output=False), {}, "transform"),
}  # fmt: skip


def frame(levels=None, ward=WARD):
    return pd.DataFrame({"ward": pd.Categorical(ward, categories=levels), "bmi": BMI[:len(ward)]})


@pytest.mark.parametrize("door", DOORS)
def test_categories_are_columns_of_0_and_1_by_their_names(door):
    make, given, method = DOORS[door]
    X, model = frame(), make().fit(frame(), RANKS, **given)
    answers = getattr(model, method)(X)
    np.testing.assert_array_equal(answers, getattr(make().fit(CODED, RANKS, **given), method)(CODED))
    assert (model.n_features_in_, list(model.feature_names_in_)) == (2, ["ward", "bmi"])
    others = [frame(["c", "b", "z", "a"]), X[["bmi", "ward"]], X.assign(ward=WARD), X.iloc[:3].assign(ward=pd.Categorical(WARD[:3]))]
    if door == "boosted rankers":       # scikit-learn's rules about names
        others.pop(1)
    for one in others:
        np.testing.assert_array_equal(getattr(model, method)(one), answers[:len(one)])
    np.testing.assert_array_equal(getattr(pickle.loads(pickle.dumps(model)), method)(X), answers)
    with pytest.warns(DataWarning, match="'z'"):
        getattr(model, method)(frame(ward=["z", "a"]))
    with pytest.raises(DataError, match="'ward': 1 empty cell, the first in row 0"):
        getattr(model, method)(frame(ward=[None, "a"]))
    with pytest.raises(UserWarning if door == "boosted rankers" else DataError, match="named columns|valid feature names"):
        getattr(model, method)(CODED)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", ["numbers", "ordered", "dates"])
def test_types_decide_what_a_column_becomes(door, kind):
    make, given, method = DOORS[door]
    days = np.arange(N)
    column, coded = {
        "numbers": (pd.Categorical(np.where(WARD == "a", 10, 2)), np.column_stack([WARD != "a", WARD == "a"])),
        "ordered": (pd.Categorical(WARD, categories=["c", "a", "b"], ordered=True), np.array([["c", "a", "b"].index(w) for w in WARD])),
        "dates": (pd.Timestamp("2024-03-01") + pd.to_timedelta(days[::-1] % 17, unit="D"), (days[::-1] % 17)),
    }[kind]
    X, coded = pd.DataFrame({"one": column, "bmi": BMI}), np.column_stack([coded, BMI]).astype(float)
    answers = getattr(make().fit(X, RANKS, **given), method)(X)
    np.testing.assert_allclose(answers, getattr(make().fit(coded, RANKS, **given), method)(coded), atol=1e-12)


def test_ranking_svm_learns_on_from_other_categories_with_the_columns_of_the_first():
    X = frame()
    model, coded = (RankingSVM().fit(one, RANKS, groups=QUERIES) for one in (X, CODED))
    model.partial_fit(frame(["c", "b", "a"]), RANKS[::-1], groups=QUERIES)
    np.testing.assert_array_equal(model.coef_, coded.partial_fit(CODED, RANKS[::-1], groups=QUERIES).coef_)
