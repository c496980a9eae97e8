"""Right outputs that are no structure raise an error with the example at every door, and are no model's mistakes."""

import numpy as np
import pytest
from plain import Engine
from structperc_parsing.estimators import DependencyParser

from structperc import metrics
from structperc.errors import DataError
from structperc.estimators import PairMatcher, PathFinder, StructureConformal, StructuredEstimator

PAIRS = np.array([[1, 10, 1.0], [1, 11, -1], [2, 11, 1.0], [2, 10, -1]])
ARCS = np.array([[0, 1, 1.0], [0, 2, -1.0], [1, 3, 1.0], [2, 3, -1.0]])
TIMES = np.array([[0, 2, 1.0], [1, 3, -1.0], [3, 4, 1.0]])
WORDS = [("the", "D"), ("dog", "N"), ("barks", "V")]
CASES = {       # a problem, an example, its right output, and outputs that are none
    "matching": (PAIRS, [0, 2], [[0, 1], [0, 9], [-1, 2], [0, 0]]),
    "path": (ARCS, [0, 2], [[0, 1], [0], [0, 2, 3]]),
    "disjoint-intervals": (TIMES, [0, 2], [[0, 1], [5]]),
    "parsing": (WORDS, [2, 3, 0], [[2, 1, 0], [2, 3, 9], [1, 3, 0]]),
}


def pairs_of():
    return [(name, wrong) for name, (_, _, others) in CASES.items() for wrong in others]


@pytest.mark.parametrize(("problem", "wrong"), pairs_of())
def test_each_door_names_the_example(problem, wrong):
    x, right, _ = CASES[problem]
    options = {"n_hashed": 2**10} if problem == "parsing" else {}
    estimator = StructuredEstimator(problem=problem, epochs=3, random_state=0, plugin_options=options).fit([x] * 4, [right] * 4)
    engine, X, y = estimator.engine_, [x] * 2, [right, wrong]
    for call in (lambda: Engine(problem, epochs=3, **options).fit(X, y), lambda: estimator.score(X, y),
                 lambda: metrics.measures(engine, X, y), lambda: metrics.losses(engine, X, y),
                 lambda: metrics.compare(engine, engine, X, y), lambda: StructureConformal(engine).calibrate(X, y)):
        with pytest.raises(DataError, match=r"y\[1\]"):
            call()
    with pytest.raises(DataError):
        assert wrong in StructureConformal(engine, coverage=0.5).calibrate([x] * 9, [right] * 9).predict([x])[0]
    assert right in StructureConformal(engine, coverage=0.5).calibrate([x] * 9, [right] * 9).predict([x])[0]


@pytest.mark.parametrize(("estimator", "problem"), [(PairMatcher, "matching"), (PathFinder, "path")])
def test_estimators_of_one_problem_too(estimator, problem):
    x, right, others = CASES[problem]
    model = estimator(epochs=3, random_state=0).fit([x] * 4, [right] * 4)
    for wrong in others:
        with pytest.raises(DataError, match=r"y\[0\]"):
            model.score([x], [wrong])


def test_trees_of_words():
    parser = DependencyParser(n_hashed=64, epochs=2, random_state=0)
    with pytest.raises(DataError, match=r"y\[0\]\[0\] has no label; give each word of all sentences one, or learn only heads"):
        parser.fit([[("a", "N"), ("b", "V")]] * 2, [[(2, None), (0, "root")], [(2, "x"), (0, "root")]])
    with pytest.raises(DataError, match=r"y\[0\]\[0\] has no label"):
        parser.fit([[("a", "N"), ("b", "V")]], [[(2, None), (0, None)]])
    for tree in ([(2, "x"), (None, "root")], [(2, "x"), None], [2, None], [2, float("nan")], [None, None]):      # _ of a file is None here
        with pytest.raises(DataError, match=r"y\[0\]\[[01]\] has no head; a tree has one for each word. Fill it in, or leave"):
            parser.fit([[("a", "N"), ("b", "V")]], [tree])
    parser.fit([[("a", "N"), ("b", "V")]] * 2, [[(2, "x"), (0, "root")]] * 2)
    for wrong in ([(9, "x"), (-1, "root")], [(9, "strange"), (0, "root")], [(2, "x"), (1, "root")], [(0, "x"), (0, "root")]):
        for call in (parser.score, parser.attachment):
            with pytest.raises(DataError, match=r"y\[0\]"):
                call([[("a", "N"), ("b", "V")]], [wrong])
    for call in (parser.score, parser.attachment):
        with pytest.raises(DataError, match=r"\[0\]\[1\] has no head"):
            call([[("a", "N"), ("b", "V")]], [[(2, "x"), (None, "root")]])


def test_predictions_are_checked_beside_labels_that_the_model_does_not_know():
    X, y = [np.eye(2)] * 2, [[(0, 2, "a")], [(0, 1, "a"), (1, 2, "b")]]
    engine = Engine("segments", epochs=2).fit(X, y)
    with pytest.raises(DataError, match=r"y\[1\]\[0\] is 7; expected \(start, stop, label\)"):
        metrics.measures(engine, X, [[(0, 2, "new")], y[1]], predicted=[y[0], [7]])
    with pytest.raises(DataError, match="y has 1 outputs for 2 examples; give one for each"):
        metrics.measures(engine, X, [[(0, 2, "new")]])


def test_flat_predictions_beside_labels_that_the_model_does_not_know_are_parted_as_y_is():
    X, lengths = np.eye(3), [2, 1]
    engine = Engine("sequence", epochs=2).fit(X, [["a", "b"], ["a"]], lengths=lengths)
    flat, nested = (metrics.measures(engine, X, y, lengths=lengths, predicted=predicted)
                    for y, predicted in ((["a", "new", "a"], ["a", "b", "a"]), ([["a", "new"], ["a"]], [["a", "b"], ["a"]])))
    assert flat == nested and flat["token accuracy"] == 2 / 3


def test_no_examples_have_no_losses():
    engine = Engine("cusum", plugins=["dual-kernel"], kernel="subsequence", length=2).fit(["aa", "ab", "bb"], [1, 2, 3])
    assert metrics.losses(engine, [], []).tolist() == []
    with pytest.raises(DataError, match="X has no examples; at least one is needed to measure anything"):
        metrics.measures(engine, [], [])


def test_relevances_of_a_query_have_an_order():
    engine = Engine("latent-ranking", k=1, epochs=2).fit(np.eye(3), [0, 1, 0], lengths=[2, 1])
    with pytest.raises(DataError, match=r"y\[1\] is frozenset\(\{1\}\); expected a list of 1 relevances"):
        metrics.measures(engine, np.eye(3), [[0, 1], frozenset({1})], lengths=[2, 1])
