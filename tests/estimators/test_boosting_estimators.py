"""Boosted rankers and reductions keep scikit-learn's contract, and predict what the engine and the definitions say."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from contract import scikit_learns_checks
from plain import Engine
from scipy import sparse
from sklearn import __version__ as sklearn_version
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from structperc_boosting.costs import threshold_answers
from structperc_boosting.estimators import AdaBoostOR, ORStump
from structperc_boosting.reductions import BinaryReduction, RankerClassifier

from structperc.errors import DataError, OptionError
from structperc.estimators import CuSumRank, IntervalPA, PRank

CHECKED = (ORStump(), AdaBoostOR(), AdaBoostOR(BinaryReduction(LogisticRegression()), n_estimators=3, random_state=0),
           BinaryReduction(LogisticRegression()), RankerClassifier(ORStump()), RankerClassifier(PRank()))
NO_ORDER = "the ranks of bare strings are unknown, and alphabetical order is seldom meant"
DRAWN = "visits are drawn anew for each epoch, twice for a row of weight 2; repeated rows are visited in other orders"
OTHER_LABELS = "the check makes two labels of three by the first row, and its weighted and its repeated rows begin with different ones"
MEDIAN = "predict is the median of predict_proba, and the check expects the mode"


def must_fail(estimator):
    median = isinstance(estimator, BinaryReduction) or isinstance(estimator, AdaBoostOR) and estimator.estimator is None
    unordered = not isinstance(estimator, RankerClassifier)
    online = not unordered and isinstance(estimator.estimator, PRank)
    return (({"check_classifiers_classes": NO_ORDER} if unordered else {}) | ({"check_classifiers_train": MEDIAN} if median else {})
            | ({f"check_sample_weight_equivalence_on_{kind}_data": [DRAWN] for kind in ("dense", "sparse")} if online else
               {"check_sample_weight_equivalence_on_dense_data": OTHER_LABELS} if not unordered and sklearn_version.startswith("1.6.") else
               {}))


@pytest.mark.filterwarnings("ignore")       # scikit-learn's checks warn about their own inputs
@pytest.mark.parametrize(("estimator", "check"), list(scikit_learns_checks(*CHECKED, failing=must_fail)))
def test_scikit_learns_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    X, progression = load_diabetes(return_X_y=True)
    return X, np.digitize(progression, np.quantile(progression, [0.2, 0.4, 0.6, 0.8])) + 1


# ---- boosting ----


def test_boosted_stumps_are_the_engine(data, tmp_path):
    X, y = data
    model = AdaBoostOR(n_estimators=30).fit(X[:300], y[:300])
    engine = Engine("adaboost-or", epochs=30).fit(X[:300], y[:300])

    assert model.predict(X).tolist() == engine.predict(X).tolist()
    assert np.array_equal(model.estimator_weights_, engine.votes_) and np.array_equal(model.errors_, engine.errors_)
    model.save(tmp_path / "model")
    assert Engine.load(tmp_path / "model").predict(X).tolist() == engine.predict(X).tolist()
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == engine.predict(X).tolist()


@pytest.mark.parametrize("estimator", [None, BinaryReduction(LogisticRegression())])
def test_stages_are_the_predictions_of_shorter_ensembles(data, estimator):
    X, y = data
    model = AdaBoostOR(estimator, n_estimators=6, random_state=0).fit(X[:200], y[:200])

    for t, stage in enumerate(model.staged_predict(X), start=1):
        assert stage.tolist() == AdaBoostOR(estimator, n_estimators=t, random_state=0).fit(X[:200], y[:200]).predict(X).tolist()
    assert t == len(model.estimators_) and stage.tolist() == model.predict(X).tolist()


class CountedStump(ORStump):
    """A stump that boosting does not know to be one."""


def test_any_ranker_is_boosted_as_stumps_are(data):
    X, y = data
    one, other = AdaBoostOR(n_estimators=40).fit(X, y), AdaBoostOR(CountedStump(), n_estimators=40).fit(X, y)

    assert type(other.estimators_[0]) is CountedStump and not hasattr(other, "engine_")
    assert other.predict(X).tolist() == one.predict(X).tolist()
    assert np.allclose(other.estimator_weights_, one.estimator_weights_) and np.allclose(other.errors_, one.errors_)
    assert np.allclose(other.threshold_scores(X), one.threshold_scores(X)) and (np.diff(one.threshold_scores(X), axis=1) <= 0).all()
    assert one.predict(X).tolist() == (1 + (one.threshold_scores(X) >= 0).sum(axis=1)).tolist()


def test_boosting_lowers_the_cost_of_its_base(data):
    X, y = data
    for base in (ORStump(), BinaryReduction(DecisionTreeClassifier(max_depth=2), thresholds="number")):
        alone, boosted = clone(base).fit(X, y), AdaBoostOR(base, n_estimators=40, random_state=0).fit(X, y)
        assert abs(boosted.predict(X) - y).mean() < 0.8 * abs(alone.predict(X) - y).mean()


def test_costs_of_examples_take_the_place_of_the_named_cost(data):
    X, y = data
    squared = (np.arange(1.0, 6) - y[:, None]) ** 2

    for make in (ORStump, lambda **kw: AdaBoostOR(n_estimators=5, **kw), lambda **kw: BinaryReduction(SVC(), **kw)):
        named, given = make(cost="squared").fit(X, y), make().fit(X, y, costs=squared)
        assert named.predict(X).tolist() == given.predict(X).tolist()
    with pytest.raises(DataError, match=r"costs\[0, 2\] is 1.0, the cost of the right rank"):
        AdaBoostOR().fit(X, y, costs=np.ones((len(y), 5)))
    with pytest.raises(DataError, match="Costs must not fall on the way from the right rank"):
        ORStump(cost=[[0, 2, 1], [1, 0, 1], [2, 1, 0]]).fit([[0.0], [1.0], [2.0]], [1, 2, 3])


def test_held_out_rows_end_training(data):
    X, y = data
    order = np.random.default_rng(1).permutation(len(X))
    rows, held = np.sort(order[133:]), order[:133]              # 0.3 of 442 rows, rounded up
    whole = AdaBoostOR(n_estimators=60).fit(X[rows], y[rows])
    costs = [abs(stage - y[held]).sum() for stage in whole.staged_predict(X[held])]
    last = next(t for t in range(5, 60) if min(costs[t - 4:t + 1]) >= min(costs[:t - 4]))
    for estimator in (None, CountedStump()):
        model = AdaBoostOR(estimator, n_estimators=400, n_iter_no_change=5, validation_fraction=0.3, random_state=1).fit(X, y)
        assert model.status_ == "early_stopped" and len(model.estimators_) == last + 1
    again = AdaBoostOR(n_estimators=400, n_iter_no_change=5, validation_fraction=0.3, random_state=1).fit(X, y)
    assert len(again.estimators_) == len(model.estimators_) and again.predict(X).tolist() == model.predict(X).tolist()


def test_seeds_reach_the_base_rankers(data):
    X, y = data
    base = BinaryReduction(SGDClassifier(max_iter=5, tol=None))
    one, same, other = (AdaBoostOR(base, n_estimators=3, random_state=seed).fit(X, y) for seed in (0, 0, 1))

    seeds = [ranker.get_params()["estimator__random_state"] for ranker in one.estimators_]
    assert len(set(seeds)) == len(seeds) and None not in seeds
    assert np.array_equal(one.errors_, same.errors_) and not np.array_equal(one.errors_, other.errors_)
    assert base.estimator.random_state is None


def test_labels_may_be_missing_from_y_and_have_any_names():
    X = [[0.0], [1.0], [2.0], [3.0]]
    y = pd.Series(pd.Categorical(["low", "low", "high", "high"], categories=["low", "middle", "high", "top"], ordered=True))

    for model in (ORStump(), AdaBoostOR(), AdaBoostOR(CountedStump()), BinaryReduction(LogisticRegression())):
        assert model.fit(X, y).predict([[0.0], [3.0]]).tolist() == ["low", "high"]
        assert model.levels_.tolist() == ["low", "middle", "high", "top"]
        assert model.classes_.tolist() == ["high", "low", "middle", "top"]
    assert AdaBoostOR(classes=["low", "high"]).fit(X, y.astype(str)).levels_.tolist() == ["low", "high"]


def test_names_of_columns_reach_explanations(data):
    X, y = data
    frame = pd.DataFrame(X, columns=load_diabetes().feature_names)
    model = AdaBoostOR(n_estimators=10, n_iter_no_change=10, random_state=0).fit(frame, y)

    assert {c.feature for c in model.explain(frame.iloc[[0]]).contributions} <= set(frame.columns)


def test_other_rankers_are_not_saved_without_pickle(data, tmp_path):
    X, y = data
    model = AdaBoostOR(BinaryReduction(LogisticRegression()), n_estimators=2).fit(X, y)

    with pytest.raises(OptionError, match="an ensemble of BinaryReduction cannot be saved without pickle, .*since its rankers are objects"):
        model.save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        AdaBoostOR().save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_bases_that_take_no_costs_and_impossible_parameters_are_refused(data):
    X, y = data
    for ranker in (LogisticRegression(), CuSumRank(), IntervalPA(), make_pipeline(ORStump())):
        with pytest.raises(OptionError, match=r"\.fit has no costs, which boosting needs; pass ORStump\(\), PRank\(pocket=True\) or Bin"):
            AdaBoostOR(ranker).fit(X, y)
    with pytest.raises(OptionError, match="AdaBoostOR passes costs to PRank.fit in each round: .*; set pocket=True"):
        AdaBoostOR(PRank()).fit(X, y)
    for ranker in (ORStump(), PRank(pocket=True), BinaryReduction(LogisticRegression())):
        assert AdaBoostOR(ranker, n_estimators=2).fit(X, y).predict(X).shape == (len(X),)
    with pytest.raises(DataError, match="cost is a cost matrix of shape"):
        AdaBoostOR(cost=[[0, 1], [1, 0]]).fit(X, y)
    with pytest.raises(OptionError, match="KNeighborsClassifier.fit has no sample_weight, which the reduction"):
        BinaryReduction(KNeighborsClassifier()).fit(X, y)
    with pytest.raises(OptionError, match="n_estimators=0"):
        AdaBoostOR(n_estimators=0).fit(X, y)
    with pytest.raises(OptionError, match="n_iter_no_change=0"):
        AdaBoostOR(n_iter_no_change=0).fit(X, y)
    with pytest.raises(OptionError, match="thresholds='x'; expected one of 'auto', 'indicators', 'number'"):
        BinaryReduction(SVC(), thresholds="x").fit(X, y)
    with pytest.raises(OptionError, match="cost='mae'"):
        ORStump(cost="mae").fit(X, y)


@pytest.mark.parametrize("model", [AdaBoostOR(n_estimators=5), AdaBoostOR(CountedStump(), n_estimators=5), ORStump(),
                                   BinaryReduction(LogisticRegression())])
def test_a_failed_fit_leaves_what_was_trained(data, model):
    X, y = data
    model = clone(model).fit(X, y)
    before = model.predict(X).tolist()

    with pytest.raises(DataError, match="the cost of the right rank"):
        model.fit(X, y, costs=np.ones((len(y), 5)))
    with pytest.raises(DataError):
        model.fit(X[:3], ["a", "b", "c"])
    assert model.predict(X).tolist() == before


def test_grids_reach_the_base(data):
    X, y = data
    grid = GridSearchCV(AdaBoostOR(BinaryReduction(DecisionTreeClassifier(), thresholds="number"), n_estimators=2, random_state=0),
                        {"estimator__estimator__max_depth": [1, 2], "n_estimators": [1, 2]}, cv=2).fit(X[:100], y[:100])

    assert set(grid.best_params_) == {"estimator__estimator__max_depth", "n_estimators"}


# ---- reductions ----


def test_a_linear_classifier_on_indicators_is_one_direction_with_thresholds(data):
    X, y = data
    model = BinaryReduction(LogisticRegression(C=10)).fit(X, y)
    coef, thresholds = model.estimator_.coef_[0, :10], -model.estimator_.coef_[0, 10:] - model.estimator_.intercept_

    assert model.predict(X).tolist() == (1 + (X @ coef[:, None] >= thresholds).sum(axis=1)).tolist()
    assert (np.diff(thresholds) > 0).all() and model.score(X, y) > 0.7


@pytest.mark.parametrize("thresholds", ["indicators", "number"])
def test_sparse_rows_are_reduced_as_dense_ones(data, thresholds):
    X, y = data[0][:120], data[1][:120]
    X = np.where(np.abs(X) < 0.02, 0, X)
    dense, csr = (BinaryReduction(LogisticRegression(), thresholds=thresholds).fit(form, y) for form in (X, sparse.csr_matrix(X)))

    assert np.allclose(dense.threshold_scores(X), csr.threshold_scores(sparse.csr_matrix(X)), atol=1e-3)


class Table:
    """Keeps the extended examples that it is trained on."""

    def get_params(self, deep=True):
        return {}

    def fit(self, X, y, sample_weight=None):
        Table.seen = X, y, sample_weight
        return self

    def predict(self, X):
        return (X[:, 0] > X[:, 1]).astype(int)


def test_extended_examples_are_those_of_the_definition():
    X, y, costs = [[2.5], [1.5]], [3, 1], [[4.0, 1.0, 0.0], [0.0, 0.0, 3.0]]
    with pytest.raises(DataError, match="costs has 3 columns, but there are 2 labels. Pass a cost for each label, or name labels that y"):
        BinaryReduction(Table()).fit(X, y, costs=costs)
    model = BinaryReduction(Table(), thresholds="number", classes=[1, 2, 3]).fit(X, y, costs=costs, sample_weight=[1.0, 2.0])
    seen_X, z, weights = Table.seen

    assert seen_X.tolist() == [[2.5, 1], [2.5, 2], [1.5, 2]] and z.tolist() == [1, 1, 0] and weights.tolist() == [6, 2, 12]
    assert model.threshold_scores(X).tolist() == [[1, 1], [1, -1]] and model.predict(X).tolist() == [3, 2]
    with pytest.raises(DataError, match="all costs are 0"):
        BinaryReduction(Table(), classes=[1, 2, 3]).fit(X, y, costs=np.zeros((2, 3)))


def test_the_reverse_reduction_answers_by_the_ranker_and_costs_the_binary_error(data):
    X, y = data
    z, k = threshold_answers(y, 5), np.tile(np.arange(1, 5), len(y))
    rows, random = np.repeat(X, 4, axis=0), np.random.default_rng(0)
    weights = random.integers(1, 5, size=len(k)).astype(float)
    model = RankerClassifier(ORStump()).fit(rows, z.ravel(), thresholds=k, sample_weight=weights)

    answers = model.predict(rows, thresholds=k)
    ranks = model.estimator_.predict(X)
    assert answers.reshape(-1, 4).tolist() == threshold_answers(ranks, 5).tolist() and model.n_ranks_ == 5
    assert np.isclose(model.estimator_.cost_, weights[answers != z.ravel()].sum() / 4)
    own = ORStump().fit(X, y, costs=costs_of(z, weights.reshape(-1, 4)))
    assert own.predict(X).tolist() == ranks.tolist(), "all thresholds of a row together are one ordinal example"


def costs_of(z, weights):
    from structperc_boosting.costs import reverse_costs

    return reverse_costs(z, weights)[1]


def test_thresholds_are_checked():
    model = RankerClassifier(ORStump()).fit([[0.0], [1.0], [2.0]], [0, 1, 1], thresholds=[1, 2, 1])

    for thresholds in ([1, 3, 1], [0, 1, 1], [1, 1], [1.0, 1.0, 1.0]):
        with pytest.raises(DataError, match="expected a whole number from 1 to 2 for each of the 3 rows"):
            model.predict([[0.0], [1.0], [2.0]], thresholds=thresholds)
    with pytest.raises(DataError, match="needs two"):
        RankerClassifier(ORStump()).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert RankerClassifier(ORStump()).fit([[0.0], [1.0]], ["no", "yes"]).predict([[5.0]]).tolist() == ["yes"]
