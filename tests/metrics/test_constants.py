"""The best constant prediction: no label has a smaller mean loss, and its measures are those of predictions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine

from structperc import metrics
from structperc.errors import DataError

X = np.arange(12.0)[:, None]


@given(st.lists(st.integers(1, 4), min_size=4, max_size=12), st.sampled_from([
    ("cusum", None), ("multiclass", None), ("cusum", "squared"), ("prank", "zero-one"),
    ("cusum", [[0, 9, 9, 1], [1, 0, 1, 1], [2, 1, 0, 1], [9, 9, 1, 0]])]))
def test_no_label_has_less_loss(y, problem):
    rows = X[:len(y)]
    engine = Engine(problem[0], loss=problem[1], classes=[1, 2, 3, 4]).fit(rows, y)
    found = metrics.best_constant(engine, rows, y)
    losses = [metrics.losses(engine, rows, y, predicted=np.full(len(y), label)).mean() for label in (1, 2, 3, 4)]

    assert found.answer == 1 + int(np.argmin(np.round(losses, 12)))
    measures = metrics.measures(engine, rows, y, predicted=np.full(len(y), found.answer))
    assert found.measures == pytest.approx(measures, nan_ok=True)


def test_the_constant_of_intervals_is_nearest_to_them():
    y = [[1, 2], [2, 2], [2, 4], [4, 4]]
    engine = Engine("interval-pa", update="exact-pa", classes=[1, 2, 3, 4]).fit(X[:4], y)
    assert metrics.best_constant(engine, X[:4], y).answer == 2


def test_tokens_have_the_most_frequent_label_throughout():
    words, tags = [[["a"], ["b"], ["a"]], [["b"]], [["a"], ["a"]]], [["D", "N", "D"], ["N"], ["D", "D"]]
    found = metrics.best_constant(Engine("sequence", epochs=3).fit(words, tags), words, tags)
    assert found.answer == "D" and found.measures["token accuracy"] == pytest.approx(4 / 6)
    assert found.measures["mean loss (hamming)"] == pytest.approx(2 / 3)


def test_structures_without_labels_and_costs_of_single_examples_have_none():
    relevance = (np.arange(12) % 3 == 0).astype(int)
    ranking = Engine("latent-ranking", k=1).fit(X, relevance, lengths=[6, 6])
    assert metrics.best_constant(ranking, X, relevance, lengths=[6, 6]) is None
    costs = Engine("cusum", loss="costs", loss_weight=1.0, classes=[1, 2]).fit(X, [1, 2] * 6, costs=1 - np.tile(np.eye(2), (6, 1)))
    assert metrics.best_constant(costs, X, [1, 2] * 6) is None


@pytest.mark.parametrize(("y", "sentence"), [
    (5, "y is 5; expected the right output of each example"),
    ([[["a"], "b"], ["a"]], "y contains lists or the like as labels"),
])  # fmt: skip
def test_labels_that_are_none_are_refused(y, sentence):
    tagger = Engine("sequence").fit(X[:3], [["a", "b"], ["a"]], lengths=[2, 1])
    for call in (metrics.best_constant, metrics.measures):
        with pytest.raises(DataError, match=sentence):
            call(tagger, X[:3], y, lengths=[2, 1])


def test_what_is_no_engine_and_answers_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="engine is 3; expected a trained Engine"):
        metrics.best_constant(3, X, [1] * 12)
    with pytest.raises(DataError):
        metrics.best_constant(Engine("cusum", classes=[1, 2]).fit(X, [1, 2] * 6), X, [1, 2, 3])
