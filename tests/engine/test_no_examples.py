"""Lists without examples have no predictions, and teach and measure nothing; matrices without rows are an error, as in scikit-learn."""

import every_problem
import numpy as np
import pytest
from plain import Engine

from structperc.errors import DataError
from structperc.estimators import DependencyParser, PairMatcher, PathFinder, SegmentTagger, SequenceTagger, StructuredEstimator

WORDS = [[("a", "N"), ("b", "V")], [("c", "N")]]
PAIRS = [np.array([[1, 10, 1.0], [1, 11, -1], [2, 11, 1.0], [2, 10, -1]])] * 2
ARCS = [np.array([[0, 1, 1.0], [1, 2, 1.0], [0, 2, -3.0]])] * 2
LISTS = {
    "parsing": lambda: Engine("parsing", n_hashed=64, random_state=0).fit(WORDS, [[2, 0], [0]]),
    "sequence": lambda: Engine("sequence", random_state=0).fit([[["a"], ["b"]], [["b"]]], [["A", "B"], ["B"]]),
    "segments": lambda: Engine("segments", random_state=0).fit([[["a"], ["b"]], [["b"]]], [[(0, 1, "A")], []]),
    "kernel of texts": lambda: Engine("multiclass", plugins=["dual-kernel"], kernel="subsequence").fit(["aa", "ab", "b"], [1, 1, 2]),
    "kernel of tokens": lambda: Engine("sequence", plugins=["dual-kernel"], kernel="linear").fit([np.eye(2)], [["A", "B"]]),
}
EMPTY = ([], (), np.array([], dtype=object))


def ask_for_nothing(engine):
    for X in EMPTY:
        assert len(engine.predict(X)) == len(engine.margins(X)) == len(engine.predict_k_best(X, 2)) == len(engine.atom_scores(X)) == 0
    with pytest.raises(DataError, match="X is empty"):
        engine.partial_fit([], [])
    with pytest.raises(DataError, match="X is empty|X is an empty list"):
        engine.fit([], [])
    assert engine.model is not None


@pytest.mark.parametrize("name", LISTS)
def test_lists_without_objects(name):
    ask_for_nothing(LISTS[name]())


@pytest.mark.parametrize("name", every_problem.MODELS)
def test_lists_of_rows_without_examples(name):
    engine, *_ = every_problem.engine_and_examples(name)
    if name in every_problem.OF_BLOCKS:
        ask_for_nothing(engine)
        return
    for nothing in EMPTY:
        with pytest.raises(DataError, match="X is an empty list; expected rows and columns, with a minimum of 1 row"):
            engine.predict(nothing)
    with pytest.raises(DataError, match="0 sample.* a minimum of 1"):
        engine.predict(np.zeros((0, engine.n_features_in_)))


ESTIMATORS = {
    "DependencyParser": (DependencyParser(n_hashed=64), WORDS, [[2, 0], [0]]),
    "SequenceTagger": (SequenceTagger(), [[["a"], ["b"]], [["b"]]], [["A", "B"], ["B"]]),
    "SegmentTagger": (SegmentTagger(), [[["a"], ["b"]], [["b"]]], [[(0, 1, "A")], []]),
    "PairMatcher": (PairMatcher(), PAIRS, [[(1, 10), (2, 11)]] * 2),
    "PathFinder": (PathFinder(), ARCS, [[0, 1]] * 2),
    "StructuredEstimator": (StructuredEstimator(problem="path"), ARCS, [[0, 1]] * 2),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_predict_nothing_and_measure_nothing(name):
    estimator, X, y = ESTIMATORS[name]
    estimator.set_params(random_state=0).fit(X, y)
    assert len(estimator.predict([])) == len(estimator.margins([])) == 0
    with pytest.raises(DataError, match="nothing to (measure|score)"):
        estimator.score([], [])
