"""Tests of masks: arrays of True and False are subsets, and 0/1 vectors are never row numbers."""

import numpy as np
import pytest
from plain import Engine

from structperc.errors import DataError
from structperc.solvers import ILP

ROWS = np.array([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]])
PROBLEMS = {
    "ilp": (ROWS[:2], dict(constraints=ILP([[1, 1]], [2]))),
    "decisions": (ROWS[:2], dict(decide=lambda costs, x: np.asarray(costs) < 0)),
    "matching": (np.array([[0, 0, 1.0], [1, 1, 0.5]]), {}),
    "disjoint-intervals": (np.array([[0, 1, 1.0], [1, 2, -1.0]]), {}),
    "path": (np.array([[0, 1, 1.0], [1, 2, -1.0]]), {}),
}


def gold_of(problem, y):
    """The atoms of y in the engine's own encoding, as numbers of rows."""
    x, options = PROBLEMS[problem]
    engine = Engine(problem, epochs=1, random_state=0, **options).fit([x], [y])
    outputs, rows = engine.parts_.outputs, engine.read([x])
    code = outputs.encode([y], rows)[0]
    return np.flatnonzero(outputs.count(rows.example(0), code)).tolist() if problem == "decisions" else sorted(code)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_masks_are_subsets_and_zero_one_vectors_are_refused(problem):
    masks = [[True, True]] if problem == "path" else [[True, True], [False, True], [True, False]]
    for mask in masks:
        for form in (np.array(mask), mask, tuple(np.flatnonzero(mask).tolist())):
            assert gold_of(problem, form) == np.flatnonzero(mask).tolist()
    for vector in ([0, 1], [1, 0], np.array([0, 1]), np.array([1, 0], dtype=np.int8)):
        with pytest.raises(DataError, match=r"0/1 vector, or row numbers.* pass a mask, numpy.asarray\(v, dtype=bool\)"):
            gold_of(problem, vector)


def test_longer_zero_one_vectors_and_short_masks_are_refused():
    with pytest.raises(DataError, match=r"decide\(costs, x\) for example 0: the decision .* 0/1 vector, or row numbers"):
        Engine("decisions", decide=lambda costs, x: (np.asarray(costs) < 0).astype(int)).fit([ROWS], [[0]])
    with pytest.raises(DataError, match="0/1 vector, or row numbers"):
        Engine("ilp", constraints=ILP([[1, 1, 1]], [2])).fit([ROWS], [[0, 1, 1]])
    with pytest.raises(DataError, match="is a mask of 2 values, but the example has 3 rows"):
        Engine("ilp", constraints=ILP([[1, 1, 1]], [2])).fit([ROWS], [np.array([True, False])])


@pytest.mark.parametrize("kind", [bool, float])
def test_decisions_of_two_items_are_learned_in_any_form_but_whole_numbers(kind):
    days = list(np.random.default_rng(0).normal(size=(40, 2, 2)))
    cheap = lambda costs, x: np.array([costs[0] < costs[1], costs[0] >= costs[1]]).astype(kind)      # noqa: E731
    y = [cheap(day @ [1.0, 0.5], None) for day in days]
    model = Engine("decisions", decide=cheap, random_state=0).fit(days, y)
    assert np.mean([np.array_equal(a, b) for a, b in zip(model.predict(days), y, strict=True)]) > 0.9


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("output", [np.array(True), np.array(1), np.array([[True, False]]), np.array("a"), True, [True, None], [[0], [1]]])
def test_what_is_no_list_of_rows_is_an_error_in_a_sentence(problem, output):
    with pytest.raises(DataError, match=r"y\[0\]"):
        gold_of(problem, output)
