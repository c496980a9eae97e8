"""Measures against values computed by hand, and the ones that an engine gets."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine
from sklearn.metrics import cohen_kappa_score, f1_score

from structperc import hookimpl
from structperc.components import Argmax, Outputs, RowFeatures
from structperc.errors import DataError
from structperc.metrics import (
    accuracy,
    accuracy_within_one,
    confusion_matrix,
    interval_absolute_error,
    interval_distances,
    interval_measures,
    losses,
    macro_f1,
    macro_mean_absolute_error,
    mean_absolute_error,
    measures,
    ordered_labels,
    quadratic_weighted_kappa,
    token_measures,
    unseen_labels,
)

TRUE = [1, 2, 2, 3, 4, 4]
PREDICTED = [1, 3, 2, 1, 4, 3]      # 0, 1, 0, 2, 0, 1 ranks off

class Incomparable:
    """A label whose == with another one is an array."""

    __hash__ = object.__hash__

    def __eq__(self, other):
        return self is other or np.zeros(2)

    def __ne__(self, other):
        return self is not other


pairs_of_ranks = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=30)


def test_mean_absolute_error():
    assert mean_absolute_error(TRUE, PREDICTED) == pytest.approx(4 / 6)


def test_macro_mean_absolute_error():
    assert macro_mean_absolute_error(TRUE, PREDICTED) == pytest.approx((0 + 0.5 + 2 + 0.5) / 4)


def test_accuracy():
    assert accuracy(TRUE, PREDICTED) == pytest.approx(3 / 6)


def test_accuracy_within_one():
    assert accuracy_within_one(TRUE, PREDICTED) == pytest.approx(5 / 6)


def test_quadratic_weighted_kappa():
    # observed 0 + 1 + 0 + 4 + 0 + 1 = 6; by chance (18 + 2 * 8 + 10 + 2 * 24) / 6 = 92 / 6
    assert quadratic_weighted_kappa(TRUE, PREDICTED) == pytest.approx(1 - 6 / (92 / 6))


def test_kappa_of_one_single_rank_is_undefined():
    assert np.isnan(quadratic_weighted_kappa([2, 2], [2, 2], classes=[1, 2, 3]))
    assert quadratic_weighted_kappa([2, 2], [3, 3], classes=[1, 2, 3]) == 0


def test_macro_f1():
    # a: 2 / (2 + 1 + 1), b: 4 / (4 + 1), c: 0
    assert macro_f1(list("aabbc"), list("abbba"), classes=list("abc")) == pytest.approx((0.5 + 0.8 + 0) / 3)


def test_confusion_matrix():
    assert confusion_matrix(TRUE, PREDICTED).tolist() == [[1, 0, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0], [0, 0, 1, 1]]


def test_distances_are_ranks_not_differences_of_labels():
    assert mean_absolute_error([1, 100], [100, 1], classes=[1, 10, 100]) == 2
    assert mean_absolute_error(["low", "high"], ["low", "low"], classes=["low", "middle", "high"]) == 1


@given(pairs_of_ranks)
def test_relations_that_always_hold(pairs):
    true, predicted = zip(*pairs, strict=True)
    classes = range(1, 6)
    error = mean_absolute_error(true, predicted, classes)
    assert 0 <= error <= 4
    assert 1 - accuracy(true, predicted) <= error + 1e-12
    assert accuracy(true, predicted) <= accuracy_within_one(true, predicted, classes)
    matrix = confusion_matrix(true, predicted, classes)
    distance = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    assert matrix.sum() == len(true)
    assert error == pytest.approx((matrix * distance).sum() / len(true))


@pytest.mark.parametrize("measure", [mean_absolute_error, macro_mean_absolute_error, accuracy_within_one, quadratic_weighted_kappa])
def test_broken_input_is_answered(measure):
    with pytest.raises(DataError, match="y_true has 2 labels but y_pred has 1"):
        measure([1, 2], [1])
    with pytest.raises(DataError, match="y_true is empty"):
        measure([], [])
    with pytest.raises(DataError, match="is 9, which is not one of the labels"):
        measure([1, 2], [1, 9], classes=[1, 2])
    with pytest.raises(DataError, match="rank order is unknown"):
        measure(["low", "high"], ["low", "low"])


def test_accuracy_refuses_different_lengths():
    with pytest.raises(DataError, match="same number of labels"):
        accuracy([1, 2], [1])


def test_one_rank_alone_is_measured():
    assert mean_absolute_error([7, 7], [7, 7]) == 0


@given(pairs_of_ranks)
def test_kappa_and_macro_f1_are_those_of_scikit_learn(pairs):
    true, predicted = np.array(pairs).T
    assert macro_f1(true, predicted, range(1, 6)) == f1_score(true, predicted, average="macro", zero_division=0)
    if len(set(true) | set(predicted)) > 1:
        kappa = quadratic_weighted_kappa(true, predicted, range(1, 6))
        assert kappa == cohen_kappa_score(true, predicted, labels=range(1, 6), weights="quadratic")


# ---- of an engine ----


def problem(n=60, d=3, r=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    return X, random.integers(1, r + 1, n)


def test_measures_of_ranks():
    X, y = problem()
    engine = Engine("cusum", epochs=3).fit(X, y)
    answers = engine.predict(X)
    assert measures(engine, X, y) == {
        "mean absolute error": mean_absolute_error(y, answers, [1, 2, 3, 4]),
        "macro mean absolute error": macro_mean_absolute_error(y, answers, [1, 2, 3, 4]),
        "accuracy": accuracy(y, answers),
        "accuracy within one rank": accuracy_within_one(y, answers, [1, 2, 3, 4]),
        "quadratic weighted kappa": quadratic_weighted_kappa(y, answers, [1, 2, 3, 4]),
        "mean loss (absolute)": mean_absolute_error(y, answers, [1, 2, 3, 4]),
    }


def test_measures_of_classes():
    X, y = problem()
    words = np.array(["a", "b", "c", "d"])[y - 1]
    engine = Engine("multiclass", epochs=3).fit(X, words)
    answers = engine.predict(X)
    assert measures(engine, X, words) == {
        "accuracy": accuracy(words, answers),
        "macro F1": macro_f1(words, answers, ["a", "b", "c", "d"]),
        "mean loss (zero-one)": pytest.approx(1 - accuracy(words, answers)),
    }


def test_losses_are_those_of_the_engine():
    X, y = problem()
    squared = Engine("cusum", loss="squared").fit(X, y)
    assert losses(squared, X, y).tolist() == ((squared.predict(X) - y) ** 2).tolist()
    costs = np.arange(16.0).reshape(4, 4) * (1 - np.eye(4))
    matrix = Engine("multiclass", loss=costs).fit(X, y)
    assert losses(matrix, X, y).tolist() == costs[y - 1, matrix.predict(X) - 1].tolist()
    assert "mean loss (cost matrix)" in measures(matrix, X, y)


def test_losses_of_each_examples_own_costs_are_unknown_elsewhere():
    X, y = problem()
    engine = Engine("cusum", loss="costs").fit(X, y, costs=np.abs(np.arange(1, 5) - y[:, None]))
    assert losses(engine, X, y) is None
    assert not [name for name in measures(engine, X, y) if name.startswith("mean loss")]


class AboveZero(Argmax):
    """Any set of rows: the best one holds the rows that score above 0."""

    def argmax(self, scores, x):
        return tuple(np.flatnonzero(np.asarray(scores) > 0).tolist())


class Subsets:
    name = "subsets"

    @hookimpl
    def structperc_outputs(self, context):
        return Outputs()

    @hookimpl
    def structperc_features(self, context):
        return RowFeatures(context.n_features)

    @hookimpl
    def structperc_argmax(self, context):
        return AboveZero()


def test_structures_have_their_loss_alone():
    X = [np.array([[1.0], [-1.0]]), np.array([[2.0], [1.0], [-3.0]])]
    engine = Engine(Subsets(), epochs=3).fit(X, [(0,), (0, 1)])
    assert engine.predict(X).tolist() == [(0,), (0, 1)]
    right, wrong = [(0,), (0, 1)], [(1,), (0, 1, 2)]      # two atoms differ, one atom differs
    assert measures(engine, X, right) == {"mean loss (hamming)": 0}
    assert losses(engine, X, wrong).tolist() == [2, 1]
    assert measures(engine, X, wrong) == {"mean loss (hamming)": 1.5}


# ---- of labels of tokens ----


def test_token_measures_worked_out_by_hand():
    true, predicted = [["D", "N", "V"], ["V"], ["D", "N"]], [["D", "N", "N"], ["V"], ["D", "N"]]
    assert token_measures(true, predicted) == {"token accuracy": 5 / 6, "whole sentences right": 2 / 3}
    assert token_measures([[1, 2]], [[1, 1]]) == {"token accuracy": 0.5, "whole sentences right": 0}


def test_sentences_without_a_known_label_are_not_counted():
    true, predicted = [[None]] * 8 + [["D"], ["D"], [None, "N"]], [["N"]] * 9 + [["D"], ["D", "N"]]
    assert token_measures(true, predicted) == {"token accuracy": 2 / 3, "whole sentences right": 2 / 3}
    assert token_measures([[None], ["D"]], [["N"], ["N"]]) == {"token accuracy": 0, "whole sentences right": 0}
    assert token_measures([[], ["D"]], [[], ["N"]]) == {"token accuracy": 0, "whole sentences right": 0.5}


def test_phrases_are_measured_where_labels_are_their_tags():
    true, predicted = [["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "B-NP", "O"]]
    # true NP 0-1, VP 3; predicted NP 0-1, NP 2
    assert token_measures(true, predicted) == {"token accuracy": 0.5, "whole sentences right": 0, "phrase precision": 0.5,
                                               "phrase recall": 0.5, "phrase F1": 0.5}


def test_flat_labels_are_parted_as_the_predictions_are():
    nested, predicted = [["a", "b"], ["b"]], np.empty(2, dtype=object)
    predicted[:] = [["a", "a"], ["b"]]
    for flat in (["a", "b", "b"], np.array(["a", "b", "b"])):
        assert token_measures(flat, predicted) == token_measures(nested, predicted)
    assert token_measures(flat, predicted) == {"token accuracy": 2 / 3, "whole sentences right": 0.5}


@pytest.mark.parametrize(("true", "predicted", "message"), [
    ([["a"], ["b", "b"]], [["a"], ["b"]], r"y_true\[1\] has 2 labels but sentence 1 of y_pred has 1 tokens; give one label per token"),
    ([["a"]], [["a"], ["b"]], "y_true has 1 sentences but y_pred has 2"),
    (["a", "b"], [["a"]], "y_true has 2 labels but y_pred has 1 tokens"),
    ([[]], [[]], "y_true has no tokens"),
    ([["a", ["b"]]], [["a", "b"]], "y_true or y_pred contains lists or the like"),
    ([["a", "b"]], [["a", np.zeros(2)]], "y_true or y_pred contains lists or the like"),
    ([[Incomparable(), "b"]], [["a", "b"]], "labels of these types cannot be compared"),
])  # fmt: skip
def test_tokens_that_do_not_match_are_answered(true, predicted, message):
    with pytest.raises(DataError, match=message):
        token_measures(true, predicted)


def test_labels_that_a_model_does_not_know_are_counted():
    assert unseen_labels([["a", "x"], ["y", "x"]], np.array(["a", "b"])) == {"x": 2, "y": 1}
    assert list(unseen_labels(["y", "x", "x"], ["a"])) == ["x", "y"]
    assert unseen_labels([["a"], ["b"]], ["a", "b"]) == {}
    days = pd.to_datetime(pd.Series(["2026-01-31", "2026-02-28"]))
    assert unseen_labels([days[0], pd.Timestamp("2026-03-31")], days) == {pd.Timestamp("2026-03-31"): 1}
    with pytest.raises(DataError, match="labels is .*; expected the labels that the model knows"):
        unseen_labels(["a"], np.timedelta64(1, "D"))


def test_measures_of_tokens():
    X = [np.array([[1.0], [-1.0]]), np.array([[2.0], [1.0], [-3.0]])]
    y = [["B-X", "O"], ["B-X", "B-X", "O"]]
    engine = Engine("sequence", epochs=5).fit(X, y)
    predicted = engine.predict(X).tolist()
    assert predicted == y
    assert measures(engine, X, y) == {"token accuracy": 1, "whole sentences right": 1, "phrase precision": 1, "phrase recall": 1,
                                      "phrase F1": 1, "mean loss (hamming)": 0}
    other = [["O", "O"], ["B-X", "O", "B-X"]]
    expected = {**token_measures(other, y), "mean loss (hamming)": 1.5}
    assert measures(engine, X, other) == measures(engine, X, other, predicted=predicted) == expected
    rows, flat = np.concatenate(X), np.concatenate(other)
    assert measures(engine, rows, flat, lengths=[2, 3]) == measures(engine, rows, flat, groups=[0, 0, 1, 1, 1]) == expected
    assert measures(engine, X, [["O", "B-Y"], ["B-X", "B-X", "O"]]) == {
        "token accuracy": 3 / 5, "whole sentences right": 0.5, "phrase precision": 2 / 3, "phrase recall": 2 / 3, "phrase F1": 2 / 3}


# ---- intervals of ranks ----


def test_interval_absolute_error():
    assert interval_absolute_error([[1, 2], [2, 4], [3, 3], [1, 4]], [4, 1, 3, 2]) == pytest.approx((2 + 1 + 0 + 0) / 4)
    assert interval_absolute_error([(3, None), (None, 2), 1], [1, 4, 4]) == pytest.approx((2 + 2 + 3) / 3)
    assert interval_absolute_error([("low", "middle"), "low"], ["high", "high"], classes=["low", "middle", "high"]) == 1.5
    assert interval_absolute_error([[1, 2], [2, 10]], [10, 1]) == 1.0       # 1, 2 and 10 are one rank apart
    assert interval_absolute_error([2, 2], [2, 2]) == 0


@given(pairs_of_ranks)
def test_the_interval_error_of_exact_ranks_is_the_absolute_error(pairs):
    true, predicted = np.array(pairs).T
    for y in (true, np.column_stack([true, true])):
        assert interval_absolute_error(y, predicted, range(1, 6)) == mean_absolute_error(true, predicted, range(1, 6))


@given(pairs_of_ranks, st.data())
def test_the_interval_error_is_the_distance_to_the_nearest_admissible_rank(pairs, data):
    predicted = [data.draw(st.integers(1, 5)) for _ in pairs]
    ends = np.sort(np.array(pairs), axis=1)
    nearest = [min(abs(k - p) for k in range(low, high + 1)) for (low, high), p in zip(ends.tolist(), predicted, strict=True)]
    assert interval_absolute_error(ends, predicted, range(1, 6)) == pytest.approx(np.mean(nearest))


def test_intervals_that_cannot_be_measured():
    with pytest.raises(DataError, match="y_low_high has 1 rows but y_pred has 2"):
        interval_absolute_error([[1, 2]], [1, 2])
    with pytest.raises(DataError, match="y_low_high is empty"):
        interval_absolute_error(np.empty((0, 2)), [])
    with pytest.raises(DataError, match=r"y\[1\] runs from 2 to 1"):
        interval_absolute_error([[1, 2], [2, 1]], [1, 2])


def test_measures_of_intervals():
    assert interval_measures([[1, 2], [2, 4], [3, 3], [1, 4]], [4, 1, 3, 2]) == {"mean interval error": 0.75, "inside the interval": 0.5}
    found = interval_measures([[k, k] for k in TRUE], PREDICTED)
    assert found["mean absolute error"] == mean_absolute_error(TRUE, PREDICTED)
    assert found["quadratic weighted kappa"] == quadratic_weighted_kappa(TRUE, PREDICTED)
    assert interval_measures([2, 2], [2, 2])["accuracy"] == 1.0


def test_measures_of_an_engine_that_learns_from_intervals():
    X = np.arange(-3.0, 4.0)[:, None]
    y = np.array([[1, 1], [1, 2], [2, 2], [2, 3], [3, 3], [3, 4], [4, 4]])
    engine = Engine("interval-pa", update="exact-pa1", C=0.05).fit(X, y)
    predicted = engine.predict(X)
    error = np.maximum(0, np.maximum(y[:, 0] - predicted, predicted - y[:, 1]))
    assert error.any()
    found = measures(engine, X, y)
    assert list(found) == ["mean interval error", "inside the interval", "mean loss (absolute)"]
    assert found["mean interval error"] == found["mean loss (absolute)"] == pytest.approx(error.mean())
    assert found["inside the interval"] == pytest.approx((error == 0).mean())
    assert losses(engine, X, y).tolist() == error.tolist()
    exact = measures(engine, X, y[:, 0])
    assert exact == measures(engine, X, y[:, [0, 0]]) and "macro mean absolute error" in exact
    squared = Engine("interval-pa", update="exact-pa1", C=0.05, loss="squared").fit(X, y)
    assert losses(squared, X, y).tolist() == (error**2).tolist()


@pytest.mark.parametrize("measured", [
    lambda classes: mean_absolute_error(["a", "b"], ["a", "a"], classes=classes),
    lambda classes: confusion_matrix(["a", "b"], ["a", "a"], classes=classes),
    lambda classes: interval_absolute_error([["a", "a"]], ["c"], classes=classes),
    lambda classes: ordered_labels(["a"], np.array(["a", "b"]), classes),
])
@pytest.mark.parametrize("classes", [["a", "b", "c", "a"], ["b", "a", "a", "c"], pd.Series(["a", "a", "b", "c"])])
def test_a_label_that_classes_repeat_would_be_two_levels(measured, classes):
    with pytest.raises(DataError, match="classes names 'a' more than once"):
        measured(classes)
    measured(["a", "b", "c"])


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int64, np.float64])
def test_distances_from_intervals_are_those_of_whole_numbers(dtype):
    low, high, predicted = (np.array(levels, dtype=dtype) for levels in ([1, 2, 5], [2, 2, 6], [4, 2, 1]))
    assert interval_distances(low, high, predicted).tolist() == [2, 0, 4]
    with pytest.raises(DataError, match="low has the dtype bool; expected whole numbers"):
        interval_distances([True], [True], [True])
