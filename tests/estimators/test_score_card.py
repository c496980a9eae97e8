"""Score cards: whole points, the best cut-offs, and predictions from nothing but the table."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from contract import scikit_learns_checks
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from structperc_large_margin.estimators import SVOR

from structperc import metrics
from structperc.errors import DataError, OptionError
from structperc.estimators import CuSumRank, OrdinalConformal, PRank, ScoreCard

NO_ORDER = "the ranks of bare strings are unknown, and alphabetical order is seldom meant"


@pytest.mark.filterwarnings("ignore")       # scikit-learn's checks warn about their own inputs
@pytest.mark.parametrize(("estimator", "check"),
                         list(scikit_learns_checks(ScoreCard(PRank()), failing={"check_classifiers_classes": NO_ORDER})))
def test_scikit_learns_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def patients():
    X, progression = load_diabetes(return_X_y=True, scaled=False, as_frame=True)
    return X, np.digitize(progression, [90, 140, 210]) + 1


@pytest.fixture(scope="module")
def card(patients):
    X, y = patients
    return ScoreCard(PRank(random_state=0), max_points=40).fit(X[:300], y[:300])


def by_hand(card, frame):
    """The sums and ranks that follow from the table and the cut-offs, without the model."""
    sums = np.zeros(len(frame), dtype=int)
    for i, (_, row) in enumerate(frame.iterrows()):
        for line in card.table_:
            value = row[line["feature"]]
            if (line["from"] is None or value >= line["from"]) and (line["below"] is None or value < line["below"]):
                sums[i] += line["points"]
    return sums, 1 + (sums[:, None] >= card.cutoffs_).sum(axis=1)


def test_the_table_alone_decides(card, patients):
    X, y = patients
    sums, ranks = by_hand(card, X)

    assert card.points(X).tolist() == sums.tolist() and card.predict(X).tolist() == ranks.tolist()
    assert all(isinstance(line["points"], int) and line["points"] >= 0 for line in card.table_)
    assert abs(sum(max(line["points"] for line in card.table_ if line["feature"] == name)
                   for name in {line["feature"] for line in card.table_}) - 40) <= 5
    assert (np.diff(card.cutoffs_) >= 0).all() and card.thresholds_.tolist() == card.cutoffs_.tolist()
    for name in X.columns:
        lines = [line for line in card.table_ if line["feature"] == name]
        points = [line["points"] for line in lines]
        assert not lines or 0 in points and np.isclose(sum(line["rows"] for line in lines), 1)
        assert points in (sorted(points), sorted(points, reverse=True)) and len(set(points)) == len(points)


def test_the_loss_is_what_points_cost(card, patients):
    X, y = patients
    scaled = X.to_numpy() / X[:300].to_numpy().std(axis=0)
    for part, loss in ((slice(300), card.loss_), (slice(300, None), card.loss(X[300:], y[300:]))):
        own = metrics.mean_absolute_error(y[part], card.predict(X[part]))
        assert np.isclose(loss, own - metrics.mean_absolute_error(y[part], card.estimator_.predict(scaled[part])))
    assert abs(card.loss_) < 0.1 and card.score(X[300:], y[300:]) > 0.75
    finer = [ScoreCard(PRank(random_state=0), max_points=points).fit(X, y) for points in (3, 1000)]
    assert finer[1].score(X, y) > finer[0].score(X, y)


def test_points_are_rounded_and_cutoffs_lie_halfway_between_sums():
    card = ScoreCard(Upwards(), bins=8, max_points=8, classes=[1, 2]).fit([[0.0], [1.0], [3.0]], [1, 2, 2])
    assert card.points([[0.0], [1.0], [3.0]]).tolist() == [0, 3, 8]         # 2.67 is rounded
    assert card.cutoffs_.tolist() == [2]                                    # halfway from 0 to 3, rounded up


def test_a_card_may_have_one_point():
    card = ScoreCard(Upwards(), max_points=1, classes=[1, 2]).fit([[0.0], [1.0]], [1, 2])
    assert [line.split() for line in str(card).splitlines()[-2:]] == [["1", "0"], ["2", "1"]]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 4)), min_size=2, max_size=9), st.integers(2, 4))
def test_cutoffs_are_the_best_of_all(rows, n_ranks):
    """A single column with as many bins as values. Sums are positions in the column, so the card can use any cut-offs."""
    rows = [(value, min(rank, n_ranks)) for value, rank in rows] + [(7, 1)]
    X, y = np.array([[float(value)] for value, _ in rows]), np.array([rank for _, rank in rows])
    card = ScoreCard(Upwards(), bins=8, max_points=70, classes=list(range(1, n_ranks + 1))).fit(X, y)
    sums = card.points(X)
    assert len(set(sums)) == len(set(X[:, 0]))

    least = min(abs(1 + (sums[:, None] >= cuts).sum(axis=1) - y).sum()
                for cuts in itertools.combinations_with_replacement(range(72), n_ranks - 1) if useful(cuts, sums))
    assert abs(card.predict(X) - y).sum() == least


def useful(cuts, sums):
    return set(cuts) <= {*sums.tolist(), 71}


class Upwards:
    """A ranker of one column."""

    coef_ = np.ones(1)

    def get_params(self, deep=True):
        return {}

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.ones(len(X), dtype=int)


def test_cards_travel_as_json(card, patients):
    X, _ = patients
    sent = json.dumps(card.to_dict())
    received = ScoreCard.from_dict(json.loads(sent))

    assert received.predict(X).tolist() == card.predict(X).tolist() and str(received) == str(card)
    assert json.dumps(received.to_dict()) == sent and received.feature_names_in_.tolist() == list(X.columns)
    with pytest.raises(DataError, match="without the ranker that it was made from"):
        received.loss(X, [1] * len(X))
    column = {**card.to_dict()["columns"][0], "edges": [5.0, 1.0]}
    for damage, sentence in (({"format": "?"}, "its format is '\\?'"), ({"cutoffs": [3, 1, 2]}, "its cut-offs"), ({"columns": None}, "no"),
                             ({"feature_names": ["a"]}, "it names 1 of 10"), ({"cutoffs": [0.5, 1, 2]}, "no whole numbers"),
                             ({"columns": [column]}, "does not fit")):
        with pytest.raises(DataError, match=sentence):
            ScoreCard.from_dict({**card.to_dict(), **damage})


def test_the_text_has_a_line_for_each_bin_and_label(card, patients):
    lines = str(card).splitlines()
    assert len(lines) == 1 + len(card.table_) + 2 + 4 and lines[0].split() == ["column", "value", "points"]
    assert pd.DataFrame(card.table_)["points"].sum() == sum(line["points"] for line in card.table_)
    assert str(ScoreCard(PRank())) == "ScoreCard(estimator=PRank())"


def test_columns_without_weight_are_left_out_and_few_values_have_a_bin_each():
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 3, 200), np.full(200, 7.0), random.normal(size=200)]).astype(float)
    y = np.clip(X[:, 0] + 1, 1, 3).astype(int)
    card = ScoreCard(PRank(random_state=0), max_points=4).fit(X, y)

    bins = [(line["feature"], line["from"], line["below"]) for line in card.table_]
    assert bins[:3] == [("x[0]", None, 1.0), ("x[0]", 1.0, 2.0), ("x[0]", 2.0, None)]
    assert "x[1]" not in {line["feature"] for line in card.table_} and abs(card.predict(X) - y).mean() < 0.1
    constant = ScoreCard(PRank(random_state=0)).fit(np.ones((6, 2)), [1, 2, 2, 2, 3, 2])
    assert constant.table_ == [] and constant.predict(np.zeros((3, 2))).tolist() == [2, 2, 2] and "2" in str(constant)


def test_linear_classifiers_of_two_labels_and_conformal_cards(patients):
    X, y = patients
    assert ScoreCard(SVOR(kernel="linear")).fit(X, y).score(X, y) > 0.75
    card = ScoreCard(LogisticRegression()).fit(X, np.where(y > 2, "high", "low") == "high")
    assert card.classes_.tolist() == [False, True] and card.score(X, y > 2) > 0.7
    model = OrdinalConformal(ScoreCard(PRank()), coverage=0.8, random_state=0).fit(X[:300], y[:300])
    assert metrics.interval_coverage(y[300:], model.predict_interval(X[300:])) > 0.65
    assert model.estimator_.predict(X).tolist() == model.predict(X).tolist()


def test_rankers_without_one_direction_are_refused(patients, card):
    X, y = patients
    with pytest.raises(OptionError, match=r"CuSumRank has a coef_ of shape \(4, 10\)"):
        ScoreCard(CuSumRank()).fit(X, y)
    with pytest.raises(OptionError, match="PRank has no coef_"):
        ScoreCard(PRank(kernel="rbf")).fit(X, y)
    for options in ({"bins": 1}, {"max_points": 0}, {"digits": 1.5}):
        with pytest.raises(OptionError, match="expected a whole number from"):
            ScoreCard(PRank(), **options).fit(X, y)
    with pytest.raises(NotFittedError):
        ScoreCard(PRank()).predict(X)
    with pytest.raises(DataError, match="column 0 of X is 's6', but the card has 'age' there"):
        card.predict(X[X.columns[::-1]])
    before = card.predict(X).tolist()
    with pytest.raises(DataError):
        card.fit(X, y[:-1])
    assert card.predict(X).tolist() == before
    assert clone(card).max_points == 40 and not hasattr(clone(card), "table_")


def test_a_rank_is_explained_by_the_points_that_add_up_to_its_sum():
    random = np.random.default_rng(3)
    X = random.normal(size=(80, 3))
    y = np.digitize(X @ [1, -1, 0.5], [-1, 0, 1]) + 1
    card = ScoreCard(PRank(random_state=0), max_points=20).fit(X, y)
    for row, label, points, margin in zip(X, card.predict(X), card.points(X), card.margins(X), strict=True):
        why = card.explain(row)
        assert why.winner == label and why.margin == margin == min(abs(points - cutoff) for cutoff in card.cutoffs_)
        assert sum(one.value for one in why.contributions) == why.score == why.total == points and why.start == 0
        assert {one.side for one in why.contributions} <= {"raises"} and why.picture.score == points
        assert why.picture.cuts == card.cutoffs_.tolist()
        moved = points - margin - 1 if why.winner > why.runner_up else points + margin
        assert why.runner_up == card.classes_[np.searchsorted(card.cutoffs_, moved, side="right")] != label
    with pytest.raises(DataError, match="x has 2 rows; pass one"):
        card.explain(pd.DataFrame(X[:2]))
