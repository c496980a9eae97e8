"""Rankers under scikit-learn's tools: groups reach fit and score, searches compare models of different k, predictions are put together."""

import numpy as np
import pytest
from contract import needs_1_8
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from structperc import metrics
from structperc.errors import DataError, OptionError
from structperc.estimators import LatentRanker, RankingScorer, RankingSVM

RANDOM = np.random.default_rng(0)
SIZES = RANDOM.integers(3, 9, 30)
GROUPS = np.repeat(RANDOM.permutation(30), SIZES)
X = RANDOM.normal(size=(len(GROUPS), 4))
Y = np.digitize(X @ [1, -1, 0.5, 0] + 0.3 * RANDOM.normal(size=len(X)), [0.3, 1.5])
FOLDS = GroupKFold(3)
RANKERS = [LatentRanker(k=3, epochs=3, random_state=0), RankingSVM(C=0.01)]


@pytest.fixture(autouse=True)
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def by_hand(model, measure):
    """Scores and predictions of the folds."""
    scores, predicted = [], np.zeros(len(Y))
    for train, test in FOLDS.split(X, Y, GROUPS):
        predicted[test] = model.fit(X[train], Y[train], groups=GROUPS[train]).predict(X[test])
        scores.append(measure(Y[test], predicted[test], groups=GROUPS[test]))
    return scores, predicted


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_groups_reach_fit_and_score(ranker):
    """Nothing is requested: a ranker always asks for groups."""
    scores, predicted = by_hand(ranker, metrics.ndcg_at_k)
    assert cross_val_score(ranker, X, Y, params={"groups": GROUPS}, cv=FOLDS).tolist() == scores
    assert cross_val_predict(ranker, X, Y, params={"groups": GROUPS}, cv=FOLDS).tolist() == predicted.tolist()


@needs_1_8
@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_groups_reach_a_ranker_in_a_pipeline(ranker):
    pipeline = make_pipeline(StandardScaler(), ranker)
    assert np.isfinite(cross_val_score(pipeline, X, Y, params={"groups": GROUPS}, cv=FOLDS)).all()
    assert pipeline.fit(X, Y, groups=GROUPS).score(X, Y, groups=GROUPS) == metrics.ndcg_at_k(Y, pipeline.predict(X), groups=GROUPS)


def test_other_names_are_requested():
    ranker = RankingSVM(C=0.01).set_fit_request(groups=False, qid=True).set_score_request(groups=False, qid="query")
    found = cross_validate(ranker, X, Y, params={"groups": GROUPS, "qid": GROUPS, "query": GROUPS}, cv=FOLDS)
    assert found["test_score"].tolist() == by_hand(RankingSVM(C=0.01), metrics.ndcg_at_k)[0]


@needs_1_8
def test_a_search_over_k_and_over_rankers():
    pipeline = Pipeline([("scale", StandardScaler()), ("ranker", LatentRanker(epochs=3, random_state=0))])
    search = GridSearchCV(pipeline, [{"ranker__k": [1, 2, 4]}, {"ranker": [RankingSVM()], "ranker__C": [1e-3, 1e-2]}], cv=FOLDS)
    search.fit(X, Y, groups=GROUPS)
    assert search.best_score_ > 0.9 and search.score(X, Y, groups=GROUPS) > 0.9
    assert np.ptp(search.cv_results_["mean_test_score"]) < 0.1


SCORERS = {
    "ndcg": (RankingScorer("ndcg", k=3), lambda *a, **q: metrics.ndcg_at_k(*a, 3, **q)),
    "gains": (RankingScorer("ndcg", k=None, gains=(0, 1, 9)), lambda *a, **q: metrics.ndcg_at_k(*a, None, gains=(0, 1, 9), **q)),
    "precision": (RankingScorer("precision", k=2, relevant=2), lambda *a, **q: metrics.precision_at_k(*a, 2, relevant=2, **q)),
    "average": (RankingScorer("average-precision", k=None), metrics.mean_average_precision),
    "pairs": (RankingScorer("pairs"), metrics.pair_accuracy),
}  # fmt: skip


def test_scorers_measure_any_estimator_whose_predictions_are_scores():
    scoring = {name: scorer for name, (scorer, _) in SCORERS.items()}
    found = cross_validate(RANKERS[1], X, Y, scoring=scoring, params={"groups": GROUPS}, cv=FOLDS)
    for name, (_, measure) in SCORERS.items():
        assert found[f"test_{name}"].tolist() == by_hand(RANKERS[1], measure)[0]
    straight = cross_val_score(LinearRegression(), X, Y, scoring=SCORERS["ndcg"][0], params={"groups": GROUPS}, cv=FOLDS)
    assert (straight > 0.75).all()
    assert repr(RankingScorer("precision", k=2)) == "RankingScorer(k=2, measure='precision')"
    with pytest.raises(OptionError, match="measure='mrr'; expected one of 'ndcg', 'precision', 'average-precision', 'pairs'"):
        RankingScorer("mrr")(RANKERS[1], X, Y, groups=GROUPS)


def test_weights_of_rows_are_cut_with_the_folds_and_are_those_of_their_queries():
    of_query = np.random.default_rng(1).integers(1, 5, 30).astype(float)
    rows, of_rows = np.random.default_rng(2).permutation(len(X)), of_query[GROUPS]
    scorer = RankingScorer("ndcg", k=3).set_score_request(sample_weight=True)
    ranker = RankingSVM(C=0.01).set_fit_request(sample_weight=False)
    found = cross_val_score(ranker, X[rows], Y[rows], scoring=scorer, cv=FOLDS, error_score="raise",
                            params={"groups": GROUPS[rows], "sample_weight": of_rows[rows]})
    expected = []
    for train, test in FOLDS.split(X[rows], Y[rows], GROUPS[rows]):
        train, test = rows[train], rows[test]
        scores, first = RANKERS[1].fit(X[train], Y[train], groups=GROUPS[train]).predict(X[test]), dict.fromkeys(GROUPS[test].tolist())
        expected.append(metrics.ndcg_at_k(Y[test], scores, 3, groups=GROUPS[test], sample_weight=of_query[list(first)]))
    assert found.tolist() == expected

    ranker.fit(X, Y, groups=GROUPS)
    weighed = ranker.score(X, Y, groups=GROUPS, sample_weight=of_query[list(dict.fromkeys(GROUPS.tolist()))])
    assert weighed == ranker.score(X, Y, groups=GROUPS, sample_weight=of_rows.tolist()) != ranker.score(X, Y, groups=GROUPS)
    assert weighed == ranker.score(X, Y, lengths=SIZES, sample_weight=of_rows)
    of_rows[1] += 1
    with pytest.raises(DataError, match=r"sample_weight\[1\] is .*, and sample_weight\[0\] of the same query is .*; expected one weight"):
        ranker.score(X, Y, groups=GROUPS, sample_weight=of_rows)
    with pytest.raises(DataError, match="sample_weight"):
        ranker.score(X, Y, groups=GROUPS, sample_weight=of_rows[:-1])


def test_what_cannot_be_is_said():
    """Without metadata routing nothing hands groups on, and a ranking has no classes."""
    with config_context(enable_metadata_routing=False):
        with pytest.raises(ValueError, match=r"the rows of X have no queries.*sklearn.set_config\(enable_metadata_routing=True\)"):
            cross_val_score(RANKERS[0], X, Y, groups=GROUPS, cv=FOLDS)
        with pytest.warns(UserWarning, match=r"the rows of X have no queries.*sklearn.set_config\(enable_metadata_routing=True\)"):
            found = cross_val_score(RANKERS[1], X, Y, groups=GROUPS, params={"groups": GROUPS}, cv=FOLDS)
        assert np.isnan(found).all()
    for ranker in RANKERS:
        with pytest.raises(AttributeError, match="no classes_.*cross_val_predict (with|takes) method=.predict"):
            cross_val_predict(ranker, X, Y, params={"groups": GROUPS}, cv=FOLDS, method="decision_function")
        with pytest.raises(DataError, match="the rows of X have no queries"):
            ranker.fit(X, Y, groups=GROUPS).score(X, Y)


@pytest.mark.parametrize("ranker", [RankingSVM(), LatentRanker(random_state=0), LatentRanker(random_state=0, n_iter_no_change=2)],
                         ids=["svm", "latent", "held out"])
def test_rankers_learn_from_weights_of_rows(ranker):
    random = np.random.default_rng(0)
    X, groups, weights = random.normal(size=(60, 3)), random.permutation(np.arange(60) % 10), np.arange(1.0, 11.0)
    y = np.digitize(X[:, 0], [0, 1])
    _, first = np.unique(groups, return_index=True)
    seen = groups[np.sort(first)]                               # queries in the order of their first rows
    for method in ("fit", "partial_fit"):
        one, other = (getattr(clone(ranker), method)(X, y, groups=groups, sample_weight=given).engine_.coef_
                      for given in (weights[seen], weights[groups]))
        np.testing.assert_array_equal(one, other)
    blocks = np.split(X, 10), np.split(y, 10)
    one, other = (clone(ranker).fit(*blocks, sample_weight=given).engine_.coef_ for given in (weights, np.repeat(weights, 6)))
    np.testing.assert_array_equal(one, other)
    with pytest.raises(DataError, match="expected one weight for all rows of a query"):
        clone(ranker).fit(X, y, groups=groups, sample_weight=np.arange(60.0))
    with pytest.raises(DataError, match=r"sample_weight has shape \(7,\); expected \(10,\)"):
        clone(ranker).fit(X, y, groups=groups, sample_weight=np.ones(7))
