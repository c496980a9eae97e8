"""Intervals of ranks contain the right rank as often as promised, are contiguous, and pass scikit-learn's checks."""

import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from contract import scikit_learns_checks
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from structperc_boosting.estimators import AdaBoostOR, ORStump
from structperc_boosting.reductions import BinaryReduction
from structperc_large_margin.estimators import SVOR

from structperc import metrics
from structperc.errors import DataError, OptionError
from structperc.estimators import CuSumRank, IntervalPA, OrdinalConformal, PRank, StructuredClassifier

NO_ORDER = "the ranks of bare strings are unknown, and alphabetical order is seldom meant"


class OtherStump(ORStump):
    """A stump that boosting does not recognize as a stump."""


RANKERS = (PRank(), CuSumRank(), IntervalPA(), PRank(kernel="rbf", epochs=3), SVOR(), AdaBoostOR(n_estimators=20),
           AdaBoostOR(OtherStump(), n_estimators=10), BinaryReduction(LogisticRegression()), LogisticRegression())


CHECKED = (OrdinalConformal(PRank()), OrdinalConformal(LogisticRegression()))


@pytest.mark.filterwarnings("ignore")       # scikit-learn's checks warn about their own inputs
@pytest.mark.parametrize(("estimator", "check"),
                         list(scikit_learns_checks(*CHECKED, failing={"check_classifiers_classes": NO_ORDER})))
def test_scikit_learns_check(estimator, check):
    check(estimator)


def made(n, seed=0, n_ranks=6, d=4):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    latent = X @ np.arange(d, 0, -1) / d + random.normal(size=n)
    return X, np.digitize(latent, np.linspace(-1.5, 1.5, n_ranks - 1)) + 1


def codes_inside(sets):
    """Whether all rows of a bool array are one run of True."""
    changes = np.diff(np.pad(sets, ((0, 0), (1, 1))).astype(int), axis=1)
    return bool(((changes == 1).sum(axis=1) == 1).all())


# ---- the promise ----


@pytest.mark.parametrize("coverage", [0.5, 0.9])
@pytest.mark.parametrize("base", [PRank(epochs=3, random_state=0), CuSumRank(epochs=3, random_state=0), LogisticRegression()])
def test_intervals_hold_the_right_rank_as_often_as_promised(base, coverage):
    """Draws of 29 held-out rows and 20 new ones. The coverage is at least `coverage`, and without ties at most 1/30 more."""
    X, y = made(400)
    base = clone(base).fit(X[:100], y[:100])
    m, n_new, draws = 29, 20, 120
    hits = np.empty(draws)
    for draw in range(draws):
        X_drawn, y_drawn = made(m + n_new, seed=1000 + draw)
        model = OrdinalConformal(base, coverage=coverage, prefit=True).fit(X_drawn[:m], y_drawn[:m])
        inside = model.predict_set(X_drawn[m:])
        hits[draw] = inside[np.arange(n_new), y_drawn[m:] - 1].mean()
    slack = 3.5 * hits.std() / np.sqrt(draws)
    exact = Fraction(-(-(m + 1) * Fraction(str(coverage)) // 1), m + 1)
    assert hits.mean() >= coverage - slack
    if coverage > 0.6:                                      # at 0.5 most distances are 0, those of right predictions
        assert abs(hits.mean() - float(exact)) <= slack


@given(st.lists(st.integers(0, 5), min_size=1, max_size=25), st.sampled_from(["0.1", "0.5", "0.75", "0.8", "0.9"]))
def test_the_quantile_is_exact(distances, coverage):
    """The distances are the whole numbers by which latent scores exceed the only threshold of their rank."""
    X = np.append(np.array(distances, dtype=float), [0])[:, None]
    model = OrdinalConformal(Latent(), coverage=float(coverage), prefit=True).calibrate(X, np.ones(len(X), dtype=int))

    n, k = len(X), -(-(len(X) + 1) * Fraction(coverage) // 1)
    expected = sorted(X[:, 0])[int(k) - 1] if k <= n else np.inf
    assert model.quantile_ == expected and model.n_calibration_ == n
    if np.isinf(expected):
        assert model.predict_set([[7.0]]).all() and model.predict_interval([[7.0]]).tolist() == [[1, 3]]


class Latent:
    """Thresholds 0 and 10 on the only feature."""

    classes_, thresholds_ = np.array([1, 2, 3]), np.array([0.0, 10.0])

    def latent_score(self, X):
        return np.asarray(X, dtype=float)[:, 0]

    def predict(self, X):
        return 1 + (self.latent_score(X)[:, None] >= self.thresholds_).sum(axis=1)


def test_distances_are_those_of_the_latent_score_to_the_ranks_interval():
    model = OrdinalConformal(Latent(), coverage=0.5, prefit=True).calibrate([[3.0], [12.0], [-2.0]], [1, 2, 3])

    assert sorted(model._distances) == [2.0, 3.0, 12.0] and model.quantile_ == 3.0
    assert model.predict_interval([[-4.0], [-3.0], [2.0], [5.0], [7.0], [13.0], [13.5]]).tolist() == [
        [1, 1], [1, 2], [1, 2], [2, 2], [2, 3], [2, 3], [3, 3]]


class Bumpy:
    """Scores of three boundaries in any order, and predictions that do not depend on them."""

    classes_ = np.array([1, 2, 3, 4])

    def atom_scores(self, X):
        return np.asarray(X, dtype=float)[:, :3]

    def predict(self, X):
        return np.asarray(X)[:, 3].astype(int)


@given(st.lists(st.tuples(*[st.integers(-4, 4)] * 3, st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=12))
def test_sets_grow_outwards_from_the_answer_whatever_the_scores(rows):
    rows = np.array(rows)
    X, y = rows[:, :4], rows[:, 4]
    before = np.zeros((len(X), 4), dtype=bool)
    for coverage in (0.05, 0.3, 0.6, 0.9):
        sets = OrdinalConformal(Bumpy(), coverage=coverage, prefit=True).calibrate(X, y).predict_set(X)
        assert codes_inside(sets) and sets[np.arange(len(X)), X[:, 3] - 1].all() and (sets >= before).all()
        before = sets


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_every_ranker_can_be_asked_how_sure_it_is(ranker):
    X, y = made(500)
    model = OrdinalConformal(ranker, coverage=0.8, random_state=0).fit(X[:300], y[:300])
    low, high = model.predict_interval(X[300:]).T
    sets, answers = model.predict_set(X[300:]), model.predict(X[300:])

    assert codes_inside(sets) and (low <= answers).all() and (answers <= high).all()
    assert sets.sum(axis=1).tolist() == (high - low + 1).tolist()
    found = metrics.interval_coverage(y[300:], np.column_stack([low, high]))
    assert found > 0.8 - 4 * np.sqrt(0.16 / 90 + 0.16 / 200) and 1 < metrics.mean_interval_width(model.predict_interval(X[300:])) < 5
    assert answers.tolist() == model.estimator_.predict(X[300:]).tolist() and model.score(X[300:], y[300:]) > 0.7


def test_an_engine_is_measured_as_it_is():
    X, y = made(300)
    engine = Engine("prank", variant="single", epochs=5, average=True).fit(X[:150], y[:150])
    model = OrdinalConformal(engine, prefit=True).fit(X[150:], y[150:])
    same = OrdinalConformal(PRank(epochs=5, shuffle=False, scale=False).fit(X[:150], y[:150]), prefit=True).calibrate(X[150:], y[150:])

    assert model.estimator_ is engine and model.quantile_ == pytest.approx(same.quantile_)
    assert model.predict_interval(X).tolist() == same.predict_interval(X).tolist()


# ---- weights and streams ----


def test_whole_weights_count_as_copies_and_small_ones_as_doubt():
    X, y = made(200)
    base = PRank(epochs=3, random_state=0).fit(X[:100], y[:100])
    weights = np.random.default_rng(0).integers(0, 4, 100)
    model = OrdinalConformal(base, prefit=True).calibrate(X[100:], y[100:], sample_weight=weights)
    copies = OrdinalConformal(base, prefit=True).calibrate(np.repeat(X[100:], weights, axis=0), np.repeat(y[100:], weights))

    assert model.quantile_ == copies.quantile_ < np.inf
    assert model.calibrate(X[100:], y[100:], sample_weight=np.full(100, 0.05)).quantile_ == np.inf, "5 rows are too few for 0.9"


def test_a_stream_forgets():
    """The noise triples half-way. With decay, intervals reach the new width. Without it, they stay too narrow for long."""
    random = np.random.default_rng(0)
    base, n = Wide(), 1200
    scale = np.where(np.arange(n) < n / 2, 1.0, 3.0)
    X = np.column_stack([random.uniform(10, 40, n)])
    y = np.clip(np.floor(X[:, 0] + scale * random.normal(size=n)), 0, 49).astype(int)
    hits = {}
    for decay in (0.0, 0.02):
        model, inside = OrdinalConformal(base, prefit=True, decay=decay), []
        for start in range(0, n, 10):
            part = slice(start, start + 10)
            if start:
                sets = model.predict_set(X[part])
                inside += sets[np.arange(10), y[part]].tolist()
            model.partial_calibrate(X[part], y[part])
        hits[decay] = np.mean(inside[n // 2 + 100:])
    assert hits[0.0] < 0.85 and hits[0.02] > 0.87
    assert model.n_calibration_ < n + 1 and len(model._weights) == model.n_calibration_


class Wide:
    """50 ranks, thresholds at the whole numbers."""

    classes_, thresholds_ = np.arange(50), np.arange(1.0, 50)

    def latent_score(self, X):
        return X[:, 0]

    def predict(self, X):
        return np.clip(np.floor(X[:, 0]), 0, 49).astype(int)


def test_the_newest_row_counts_less_than_the_one_to_be_predicted():
    """The distances 3, 1 and 2 weigh 1/8, 1/4 and 1/2, and the new row weighs 1. No distance covers half of the sum."""
    rows = np.full((3, 1), 5.0), [1, 3, 2]
    model = OrdinalConformal(Wide(), prefit=True, decay=0.5, coverage=0.5).partial_calibrate(*rows)
    assert model._distances.tolist() == [3, 1, 2] and model.quantile_ == np.inf
    assert OrdinalConformal(Wide(), prefit=True, decay=0.5, coverage=0.3).partial_calibrate(*rows).quantile_ == 2


def test_parts_of_a_stream_are_one_calibration():
    X, y = made(200)
    base = PRank(epochs=3, random_state=0).fit(X[:100], y[:100])
    for decay in (0.0, 0.01):
        parts = OrdinalConformal(base, prefit=True, decay=decay)
        for start in (100, 130, 131):
            parts.partial_calibrate(X[start:{100: 130, 130: 131, 131: 200}[start]], y[start:{100: 130, 130: 131, 131: 200}[start]])
        once = OrdinalConformal(base, prefit=True, decay=decay).partial_calibrate(X[100:], y[100:])
        assert parts.quantile_ == once.quantile_ and parts.n_calibration_ == once.n_calibration_ == 100
    plain = OrdinalConformal(base, prefit=True).calibrate(X[100:], y[100:])
    assert OrdinalConformal(base, prefit=True).partial_calibrate(X[100:], y[100:]).quantile_ == plain.quantile_
    fading = (1 - 0.01) ** np.arange(100, 0, -1.0)
    assert once.quantile_ == plain.calibrate(X[100:], y[100:], sample_weight=fading).quantile_


# ---- forms of data, parameters, errors ----


def test_labels_frames_and_sparse_rows():
    X, y = made(300, n_ranks=3)
    names = np.array(["low", "middle", "high"])
    labels = pd.Series(pd.Categorical(names[y - 1], categories=names, ordered=True))
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = OrdinalConformal(PRank(random_state=0), random_state=0).fit(frame, labels)

    assert model.levels_.tolist() == names.tolist() and model.feature_names_in_.tolist() == list("abcd") and model.n_features_in_ == 4
    numbers = OrdinalConformal(PRank(random_state=0), random_state=0).fit(X, y)
    assert (names[numbers.predict_interval(X) - 1] == model.predict_interval(frame)).all()
    csr, dense = (OrdinalConformal(PRank(random_state=0, scale=False), random_state=0).fit(Z, y) for Z in (sparse.coo_matrix(X), X))
    assert csr.predict_interval(sparse.csr_matrix(X)).tolist() == dense.predict_interval(X).tolist()
    assert metrics.interval_coverage(labels, model.predict_interval(frame), classes=names) > 0.85
    texts = OrdinalConformal(PRank(kernel="subsequence", epochs=2), random_state=0)
    texts.fit(["a", "ab", "abc", "b", "bb"] * 6, [1, 2, 3, 1, 2] * 6)
    assert texts.predict_interval(["ab"]).shape == (1, 2)


def test_parameters_nest_clone_and_pickle():
    X, y = made(200)
    model = OrdinalConformal(make_pipeline(StandardScaler(), LogisticRegression()), random_state=0)
    grid = GridSearchCV(model, {"estimator__logisticregression__C": [0.1, 1.0], "coverage": [0.8]}, cv=2).fit(X, y)
    assert grid.best_estimator_.estimator.named_steps["logisticregression"].C in (0.1, 1.0)
    copy = clone(OrdinalConformal(PRank(epochs=7), coverage=0.7).set_params(estimator__C=0.5))
    assert (copy.estimator.C, copy.estimator.epochs, copy.coverage) == (0.5, 7, 0.7) and "estimator__C" in copy.get_params()
    with pytest.raises(OptionError, match="Invalid parameter 'estimatr'"):
        copy.set_params(estimatr=1)
    fitted = copy.fit(X, y)
    assert pickle.loads(pickle.dumps(fitted)).predict_interval(X).tolist() == fitted.predict_interval(X).tolist()
    assert repr(copy) == "OrdinalConformal(coverage=0.7, estimator=PRank(C=0.5, epochs=7))"


def test_what_cannot_be_measured_is_refused():
    X, y = made(60)
    for options, sentence in (({"coverage": 1.0}, "coverage=1.0; expected a number between 0 and 1"),
                              ({"decay": 1}, "decay=1; expected a number from 0 to below 1"),
                              ({"calibration_size": 1.5}, "calibration_size=1.5; expected a share between 0 and 1"),
                              ({"calibration_size": 1.0}, "calibration_size=1.0; expected a share between 0 and 1")):
        with pytest.raises(OptionError, match=sentence):
            OrdinalConformal(PRank(), **options).fit(X, y)
    with pytest.raises(DataError, match="leaves nothing to learn from"):
        OrdinalConformal(PRank(), calibration_size=60).fit(X, y)
    with pytest.raises(OptionError, match="KMeans has no score of the boundaries"):
        OrdinalConformal(KMeans(), prefit=True).fit(X, y)
    with pytest.raises(OptionError, match="Its labels have no order"):
        OrdinalConformal(StructuredClassifier()).fit(X, y)
    once = np.where(np.arange(60) == 0, 3, np.where(y < 4, 1, 2))
    for seed in range(20):
        model = OrdinalConformal(LogisticRegression(), random_state=seed)
        try:
            model.fit(X, once)
        except DataError as error:
            assert "3 is not among both; train it on rows of every label, or hold out fewer rows" in str(error)
            break
    else:
        raise AssertionError("no split held the only row of a label out")
    assert OrdinalConformal(PRank(), random_state=seed).fit(X, once).classes_.tolist() == [1, 2, 3]
    for call in (lambda m: m.predict(X), lambda m: m.predict_set(X), lambda m: m.calibrate(X, y)):
        with pytest.raises(NotFittedError):
            call(OrdinalConformal(PRank()))
    with pytest.raises(NotFittedError, match="prefit=True"):
        OrdinalConformal(LogisticRegression(), prefit=True).fit(X, y)


class KMeans:
    classes_ = np.arange(1, 7)

    def predict(self, X):
        return np.ones(len(X), dtype=int)


def test_a_failed_call_leaves_what_was_measured():
    X, y = made(100)
    model = OrdinalConformal(PRank(random_state=0), random_state=0).fit(X, y)
    before = model.predict_interval(X).tolist()
    for call in (lambda: model.fit(X, y[:-1]), lambda: model.calibrate(X, np.full(100, 77)), lambda: model.partial_calibrate(X[:0], y[:0])):
        with pytest.raises(DataError):
            call()
    assert model.predict_interval(X).tolist() == before


# ---- intervals of labels ----


def test_labels_known_as_intervals_are_covered_as_often_as_promised():
    """The right label is somewhere in the interval of its row. The promise is about the right label."""
    covered, n_draws, n_new = 0, 30, 50
    for seed in range(n_draws):
        random = np.random.default_rng(seed)
        X = random.normal(size=(200 + n_new, 2))
        y = np.digitize(X @ [2, -1] + random.normal(size=len(X)), [-2, 0, 2]) + 1
        known = np.column_stack([np.maximum(y - random.integers(0, 2, len(y)), 1), np.minimum(y + random.integers(0, 2, len(y)), 4)])
        model = OrdinalConformal(IntervalPA(random_state=0), coverage=0.8, random_state=seed).fit(X[:200], known[:200])
        low, high = model.predict_interval(X[200:]).T
        covered += ((low <= y[200:]) & (y[200:] <= high)).sum()
    assert covered / (n_draws * n_new) > 0.8 - 4 * np.sqrt(0.16 / (n_draws * n_new))


def test_the_distance_of_an_interval_is_that_of_its_farthest_label():
    X, y = np.linspace(-3, 3, 60)[:, None], np.repeat([1, 2, 3], 20)
    ranker = IntervalPA(random_state=0).fit(X, y)
    low, high = [OrdinalConformal(ranker, prefit=True, coverage=0.9).fit(X, ends)._distances for ends in (np.ones(60), np.full(60, 2))]
    both = OrdinalConformal(ranker, prefit=True, coverage=0.9).fit(X, [(1, 2)] * 60)
    assert both._distances.tolist() == np.maximum(low, high).tolist()


def test_intervals_of_one_label_calibrate_as_labels():
    X, y = np.linspace(-3, 3, 60)[:, None], np.repeat([1, 2, 3], 20)
    plain = OrdinalConformal(IntervalPA(random_state=0), random_state=0).fit(X, y)
    pairs = OrdinalConformal(IntervalPA(random_state=0), random_state=0).fit(X, np.column_stack([y, y]))
    assert plain.quantile_ == pairs.quantile_ and plain.predict_interval(X).tolist() == pairs.predict_interval(X).tolist()
