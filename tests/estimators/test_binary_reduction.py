"""`BinaryReduction` around classifiers of several libraries: constraints of k, scores, probabilities, rows as they come, intervals."""

import io
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import BaggingClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from structperc_boosting.costs import cost_matrix
from structperc_boosting.falling import fall_with_k, grows_trees
from structperc_boosting.reductions import BinaryReduction

from structperc.errors import DataError, DataWarning, OptionError
from structperc.estimators import AdaBoostOR, OrdinalConformal, StructuredClassifier, load

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(240, 3))
Y = np.digitize(2 * np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.5 * RANDOM.logistic(size=240), [-1, 0, 1, 2]) + 1
TREES = {"max_iter": 6, "min_samples_leaf": 5, "early_stopping": False}
HISTOGRAM = HistGradientBoostingClassifier(**TREES)


# ---- classifiers with the parameters of other libraries ----


class StandIn(ClassifierMixin, BaseEstimator):
    """Histogram boosting behind another library's constructor; as these, it has no decision_function."""

    def get_params(self, deep=True):
        return dict(self.parameters)

    def set_params(self, **parameters):
        self.parameters = {**self.parameters, **parameters}
        return self

    def fit(self, X, y, sample_weight=None):
        constraints = self.parameters.get("monotone_constraints")
        assert set(np.unique(y)) <= {0, 1} and (constraints is None or isinstance(constraints, self.taken))
        constraints = list(constraints) if isinstance(constraints, (list, tuple)) else constraints
        self.model_ = HistGradientBoostingClassifier(**TREES, monotonic_cst=constraints).fit(X, y, sample_weight=sample_weight)
        self.classes_ = self.model_.classes_
        return self

    def predict_proba(self, X):
        return self.model_.predict_proba(X)

    def predict(self, X):
        return self.model_.predict(X)


class LikeLightGBM(StandIn):
    """Does not list the constraints."""

    taken = (list, tuple)

    def __init__(self, num_leaves=31, **others):
        self.parameters = {"num_leaves": num_leaves, **others}


class LikeXGBoost(StandIn):
    """Takes tuples and dicts; `get_params` has all parameters."""

    taken = (tuple, dict)

    def __init__(self, *, objective="binary:logistic", **others):
        self.parameters = {"objective": objective, "max_depth": None, "monotone_constraints": None, **others}


class LikeCatBoost(StandIn):
    """Takes lists and dicts; `get_params` has what was set."""

    taken = (list, dict)

    def __init__(self, iterations=None, depth=None, monotone_constraints=None):
        every = {"iterations": iterations, "depth": depth, "monotone_constraints": monotone_constraints}
        self.parameters = {name: value for name, value in every.items() if value is not None}


CONSTRAINED = [HISTOGRAM, RandomForestClassifier(5, max_depth=4, random_state=0), DecisionTreeClassifier(max_depth=4, random_state=0),
               LikeLightGBM(), LikeXGBoost(), LikeCatBoost()]


# ---- falling with k ----


@pytest.mark.parametrize("classifier", CONSTRAINED, ids=lambda classifier: type(classifier).__name__)
def test_probabilities_fall_with_k_by_construction(classifier):
    model = BinaryReduction(classifier, falling=True).fit(X, Y)
    probes = RANDOM.normal(size=(300, 3)) * 2

    assert model.k_is_number_ and (np.diff(model.threshold_scores(probes), axis=1) <= 0).all()
    assert np.array_equal(model.predict_marginals(probes), model._answers(probes, lambda one, rows: one.predict_proba(rows)[:, 1]))
    assert not any(classifier.get_params().get(name) for name in ("monotonic_cst", "monotone_constraints")), "a clone is constrained"
    assert model.score(X, Y) > 0.8


def test_without_it_some_rise_with_k():
    scores = BinaryReduction(HISTOGRAM).fit(X, Y).threshold_scores(RANDOM.normal(size=(500, 3)) * 2)
    assert (np.diff(scores, axis=1) > 0).any()


@pytest.mark.parametrize(("classifier", "name"), [
    (HistGradientBoostingClassifier(**TREES, monotonic_cst=[1, 0, 0]), "monotonic_cst"),
    (LikeLightGBM(monotone_constraints=[1, 0, 0]), "monotone_constraints"),
    (LikeXGBoost(monotone_constraints=(1, 0, 0)), "monotone_constraints"),
    (LikeCatBoost(monotone_constraints=[1, 0, 0]), "monotone_constraints")], ids=lambda value: type(value).__name__)
def test_constraints_of_columns_stay(classifier, name):
    model = BinaryReduction(classifier, falling=True).fit(X, Y)
    line = np.zeros((50, 3))
    line[:, 0] = np.linspace(-3, 3, 50)

    assert list(model.estimator_.get_params()[name]) == [1, 0, 0, -1]
    assert (np.diff(model.threshold_scores(line), axis=0) >= 0).all()


def test_constraints_by_name_or_number():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = BinaryReduction(HistGradientBoostingClassifier(**TREES, monotonic_cst={"a": 1}), falling=True).fit(frame, Y)
    assert model.estimator_.monotonic_cst == {"a": 1, "above_rank": -1} and (np.diff(model.threshold_scores(frame), axis=1) <= 0).all()
    for k_name in ("above_rank", None):
        classifier = LikeCatBoost(monotone_constraints={0: 1})
        fall_with_k(classifier, 3, k_name)
        assert classifier.get_params()["monotone_constraints"] == {0: 1, 3: -1}
    light = LikeLightGBM(mc=[0, 1])
    fall_with_k(light, 2)
    assert list(light.get_params()["mc"]) == [0, 1, -1] and "monotone_constraints" not in light.get_params(), "LightGBM reads one of both"


@pytest.mark.parametrize(("model", "said"), [
    (BinaryReduction(LogisticRegression(), falling=True), "LogisticRegression has no monotone constraints, .* leave falling out"),
    (BinaryReduction(make_pipeline(StandardScaler(), HISTOGRAM), falling=True), "Pipeline.fit has no sample_weight.*inside the Pipeline, "),
    (BinaryReduction(GridSearchCV(HISTOGRAM, {"max_iter": [2]}), falling=True), "GridSearchCV.fit has no sample_weight"),
    (BinaryReduction(BaggingClassifier(HISTOGRAM), falling=True), "BaggingClassifier has no .*inside the BaggingClassifier, instead"),
    (BinaryReduction(HISTOGRAM, falling=True, thresholds="indicators"), "constrains k as a number, but thresholds='indicators'"),
    (BinaryReduction(LikeCatBoost(monotone_constraints="(1,0,0)"), falling=True), "give -1, 0 or 1 for the 3 columns of X in a list"),
    (BinaryReduction(LikeLightGBM(monotone_constraints=[1, 0]), falling=True), "give -1, 0 or 1 for the 3 columns of X in a list"),
])
def test_what_cannot_fall_is_refused(model, said):
    with pytest.raises(OptionError, match=said):
        model.fit(X, Y)
    assert not hasattr(model, "levels_") and not hasattr(model, "n_features_in_")


def test_the_advice_for_pipelines_and_searches_works():
    inner = BinaryReduction(HISTOGRAM, falling=True)
    for outer in (make_pipeline(StandardScaler(), inner), GridSearchCV(inner, {"estimator__max_iter": [2, 4]}, cv=2)):
        outer.fit(X, Y)
        assert (np.diff(outer.predict_proba(X).cumsum(axis=1)) >= -1e-12).all()


def test_the_form_of_k_follows_the_classifier():
    for trees in (*CONSTRAINED, GradientBoostingClassifier(), BaggingClassifier(DecisionTreeClassifier())):
        assert grows_trees(trees)
    for other in (LogisticRegression(), SVC(), SGDClassifier(), make_pipeline(StandardScaler(), LogisticRegression())):
        assert not grows_trees(other)
    assert BinaryReduction(DecisionTreeClassifier(max_depth=2)).fit(X, Y).estimator_.n_features_in_ == 4
    assert BinaryReduction(LogisticRegression()).fit(X, Y).estimator_.n_features_in_ == 3 + 4
    assert BinaryReduction(DecisionTreeClassifier(max_depth=2), thresholds="indicators").fit(X, Y).estimator_.n_features_in_ == 7


# ---- scores and probabilities ----


@pytest.mark.parametrize("classifier", [RandomForestClassifier(10, max_depth=4, random_state=0), LikeXGBoost(), DecisionTreeClassifier()],
                         ids=lambda classifier: type(classifier).__name__)
def test_scores_are_log_odds_without_a_decision_function(classifier):
    model = BinaryReduction(classifier).fit(X[:160], Y[:160])
    scores = model.threshold_scores(X[160:])
    above = model._answers(X[160:], lambda one, rows: one.predict_proba(rows)[:, 1])

    assert np.isfinite(scores).all()
    np.testing.assert_allclose(1 / (1 + np.exp(-scores)), above, atol=1e-12)
    assert model.predict(X[160:]).tolist() == (1 + (above >= 0.5).sum(axis=1)).tolist()


def test_intervals_of_a_forest_are_shorter_than_the_scale():
    forest = BinaryReduction(RandomForestClassifier(20, max_depth=5, random_state=0)).fit(X[:120], Y[:120])
    sets = OrdinalConformal(forest, prefit=True, coverage=0.8).fit(X[120:180], Y[120:180]).predict_set(X[180:])
    assert sets.sum(axis=1).mean() < 4


@pytest.mark.parametrize("classifier", [LogisticRegression(), HISTOGRAM, LikeLightGBM(), RandomForestClassifier(5, random_state=0)],
                         ids=lambda classifier: type(classifier).__name__)
def test_the_median_of_the_probabilities_is_the_prediction(classifier):
    model = BinaryReduction(classifier).fit(X, Y)
    marginals, probabilities = model.predict_marginals(X), model.predict_proba(X)

    assert marginals.shape == (240, 4) and (np.diff(marginals, axis=1) <= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(1 - probabilities.cumsum(axis=1)[:, :-1], marginals, atol=1e-12)
    assert model.predict(X).tolist() == (1 + (marginals >= 0.5).sum(axis=1)).tolist()
    with np.errstate(divide="ignore"):
        assert np.array_equal(model.predict_log_proba(X), np.log(probabilities))


def test_probabilities_of_texts_follow_classes():
    names = np.array(["low", "middle", "high"], dtype=object)
    y = np.minimum(Y, 3)
    numbers = BinaryReduction(HISTOGRAM).fit(X, y).predict_proba(X)
    texts = BinaryReduction(HISTOGRAM, classes=names.tolist()).fit(X, names[y - 1])
    assert texts.classes_.tolist() == ["high", "low", "middle"] and np.array_equal(texts.predict_proba(X), numbers[:, [2, 0, 1]])


def test_where_probabilities_are_none_of_ranks_there_is_no_predict_proba():
    lacking = BinaryReduction(SGDClassifier(max_iter=5, tol=None))
    uneven = (*(BinaryReduction(LogisticRegression(), cost=cost).fit(X, Y) for cost in ("squared", "zero-one")),
              BinaryReduction(LogisticRegression()).fit(X, Y, costs=cost_matrix("squared", 5)[Y - 1]))
    for model in (lacking, *uneven):
        for name in ("predict_proba", "predict_log_proba", "predict_marginals"):
            with pytest.raises(AttributeError) as raised:
                getattr(model, name)
            assert isinstance(raised.value.__cause__, OptionError)
    prices = np.abs(np.subtract.outer([0.0, 1, 3, 4, 9], [0.0, 1, 3, 4, 9]))
    for even in (BinaryReduction(LogisticRegression(), cost=prices).fit(X, Y), clone(uneven[0]).set_params(cost="absolute").fit(X, Y)):
        assert even.predict_proba(X).shape == (240, 5)


def test_a_classifier_of_one_label_has_its_probability():
    model = BinaryReduction(DecisionTreeClassifier(), classes=[1, 2, 3]).fit(X[:9], np.full(9, 3))
    assert model.predict(X[:2]).tolist() == [3, 3] and model.predict_proba(X[:2]).tolist() == [[0, 0, 1]] * 2


def test_a_saved_reduction_has_its_probabilities():
    model, file = BinaryReduction(StructuredClassifier(random_state=0)).fit(X, Y), io.BytesIO()
    model.save(file)
    again = load(io.BytesIO(file.getvalue()))
    assert np.array_equal(again.predict_marginals(X), model.predict_marginals(X)) and np.array_equal(again.predict(X), model.predict(X))


# ---- rows as the classifier takes them ----


def test_gaps_and_categories_reach_the_classifier():
    frame = pd.DataFrame(X[:, :2].copy(), columns=["a", "b"])
    frame["c"] = pd.Categorical(np.where(Y > 3, "u", np.where(Y < 2, "v", "w")))
    frame.iloc[::7, 0] = np.nan
    within = HistGradientBoostingClassifier(**TREES, categorical_features="from_dtype")
    for model in (BinaryReduction(within), BinaryReduction(within, falling=True), BinaryReduction(within, thresholds="indicators")):
        model.fit(frame, Y)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"] and model.estimator_.is_categorical_[2]
        assert model.score(frame, Y) > BinaryReduction(HISTOGRAM).fit(frame[["a", "b"]], Y).score(frame[["a", "b"]], Y)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[["c", "b", "a"]])


@pytest.mark.parametrize("told", [{}, {"categorical_features": [1]}, {"categorical_features": ["ward"]}, {"monotonic_cst": (1, 0)},
                                  {"categorical_features": np.array([False, True]), "monotonic_cst": [1, 0]},
                                  {"categorical_features": None}])
def test_numbers_that_are_categories_and_lists_by_column_act_as_without_the_reduction(told):
    wards = pd.Categorical(10 * (np.abs(X[:, 1]) * 3).astype(int))
    frame, above = pd.DataFrame({"a": X[:, 0], "ward": wards}), Y > 2
    alone = HistGradientBoostingClassifier(**TREES, **told)
    expected = clone(alone).fit(frame, above).predict_proba(frame)[:, 1]
    for thresholds in ("number", "indicators"):
        model = BinaryReduction(alone, thresholds=thresholds)
        assert np.array_equal(model.fit(frame, above).predict_marginals(frame)[:, 0], expected)
        assert model.fit(frame, Y).predict_proba(frame).shape == (240, 5) and alone.get_params() == {**alone.get_params(), **told}
    assert (np.diff(BinaryReduction(alone, falling=True).fit(frame, Y).threshold_scores(frame)) <= 0).all()


@pytest.mark.parametrize("form", [np.asarray, lambda gaps: pd.DataFrame(gaps), lambda gaps: pd.DataFrame(gaps, columns=["a", "b", "c"]),
                                  lambda gaps: pd.DataFrame(gaps, columns=["above_rank", "above_rank_", "c"], index=np.arange(240)[::-1])],
                         ids=["array", "numbers", "names", "same-names"])
def test_gaps_in_every_form(form):
    gaps = np.where(RANDOM.random(X.shape) < 0.1, np.nan, X)
    expected = BinaryReduction(HISTOGRAM).fit(gaps, Y).threshold_scores(gaps)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BinaryReduction(HISTOGRAM).fit(form(gaps), Y)
        assert np.array_equal(model.threshold_scores(form(gaps)), expected)
    for inner, allowed in ((HISTOGRAM, True), (LogisticRegression(), False)):
        assert BinaryReduction(inner).__sklearn_tags__().input_tags.allow_nan == allowed


def test_the_classifier_refuses_what_it_does_not_take():
    frame = pd.DataFrame({"a": X[:, 0], "grade": np.where(X[:, 1] > 0, "u", "v")})
    model = BinaryReduction(LogisticRegression()).fit(X, Y)
    with pytest.raises(ValueError, match="LogisticRegression does not accept missing values"):
        model.fit(np.where(X > 2, np.nan, X)[:, :2], Y)
    with pytest.raises(DataError, match="1 column that is not numbers.*'grade'"):
        model.fit(frame, Y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(frame, Y[:-1])
    assert model.n_features_in_ == 3 and not hasattr(model, "feature_names_in_") and model.predict(X).shape == (240,)
    with pytest.raises(ValueError, match="infinity"):
        model.predict(np.where(X > 2, np.inf, X))


# ---- intervals of labels ----


class Table(BaseEstimator):
    """Keeps the extended examples that it is trained on."""

    def fit(self, X, y, sample_weight=None):
        Table.seen = X.tolist(), y.tolist(), sample_weight.tolist()
        return self


def test_thresholds_inside_an_interval_have_no_weight():
    rows = [[5.0], [6.0], [7.0]]
    for y in ([[1, 3], [2, 2], [3, 4]], [(1, 3), 2, (3, 4)], np.array([[1, 3], [2, 2], [3, 4]]), [[None, 3], [2, 2], [3, None]],
              pd.DataFrame({"low": [1, 2, 3], "high": [3, 2, 4]}), [{1, 2, 3}, 2, {3, 4}]):
        for form in (np.asarray, sparse.csr_matrix):
            Table.seen = None
            keeps = type("Dense", (Table,), {"fit": lambda self, X, y, sample_weight=None: Table.fit(
                self, X.toarray() if sparse.issparse(X) else X, y, sample_weight)})
            BinaryReduction(keeps(), thresholds="number", classes=[1, 2, 3, 4]).fit(form(rows), y, sample_weight=[1, 2, 1])
            assert Table.seen == ([[6, 1], [7, 1], [6, 2], [7, 2], [5, 3], [6, 3]], [1, 1, 0, 1, 0, 0], [6, 3, 6, 3, 3, 6])
    BinaryReduction(Table(), thresholds="number", cost="squared", classes=[1, 2, 3, 4]).fit(rows[:1], [[2, 3]])
    assert Table.seen == ([[5, 1], [5, 3]], [1, 0], [3, 3])
    BinaryReduction(Table(), thresholds="number", classes=[1, 2, 3, 4]).fit(rows[:1], [[2, 3]], costs=[[2, 0, 0, 5]])
    assert Table.seen == ([[5, 1], [5, 3]], [1, 0], [6, 15])


def test_intervals_of_one_label_are_labels():
    plain, pairs = (BinaryReduction(LikeLightGBM(), falling=True).fit(X, y) for y in (Y, np.column_stack([Y, Y])))
    assert np.array_equal(plain.predict_proba(X), pairs.predict_proba(X))
    wide = np.column_stack([np.maximum(Y - (X[:, 2] > 0), 1), np.minimum(Y + (X[:, 2] < 0), 5)])
    assert BinaryReduction(HISTOGRAM, falling=True).fit(X, wide).score(X, Y) > 0.8


def test_intervals_that_mean_nothing_are_refused():
    model = BinaryReduction(LogisticRegression()).fit(X, Y)
    with pytest.raises(DataError, match=r"y\[0\] runs from 3 to 2, which is lower"):
        model.fit(X[:2, :2], [[3, 2], [1, 1]])
    with pytest.raises(DataError, match="y has 2 rows but X has 3"):
        model.fit(X[:3], [[1, 2], [1, 3]])
    with pytest.raises(DataError, match="the right rank"):
        model.fit(X[:2], [[1, 2], [3, 3]], costs=[[0, 1, 2], [1, 1, 0]])
    with pytest.raises(OptionError, match="y has intervals of labels. Leave class_weight out"):
        clone(model).set_params(class_weight="balanced").fit(X[:2], [[1, 2], [3, 3]])
    with pytest.raises(DataError, match="all costs are 0"):
        model.fit(X[:2], [[1, 3], [1, 3]])
    with pytest.warns(DataWarning, match=r"y\[1\] is at least 3, and 3 is the highest"):
        clone(model).fit(X[:3], [[1, 2], [3, None], [1, 1]])
    assert model.n_features_in_ == 3 and model.predict_proba(X).shape == (240, 5)


def test_boosting_takes_the_reduction_of_trees():
    base = BinaryReduction(DecisionTreeClassifier(max_depth=3, random_state=0), falling=True)
    assert AdaBoostOR(base, n_estimators=3, random_state=0).fit(X, Y).score(X, Y) > 0.8
