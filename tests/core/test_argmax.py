"""The solvers find a structure of largest score, by their tie rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import Engine

from structperc.components import LargestArgmax, PrefixArgmax, Rows, ThresholdArgmax
from structperc.errors import DataError

X = Rows(np.zeros((1, 1))).example(0)
WHOLE = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=12)
ANY = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12)


def prefix_sums(s):
    """Score of each rank: rank y has the atoms 0..y-2."""
    return np.append(0.0, np.cumsum(s))


@given(WHOLE)
def test_ranks_are_brute_force_with_their_tie_rules(s):
    """Prefix: the lowest rank; threshold: the highest."""
    totals = prefix_sums(s)
    winners = np.flatnonzero(totals == totals.max()) + 1
    assert PrefixArgmax(len(s) + 1).argmax(np.array(s), X) == winners[0]
    assert ThresholdArgmax(len(s) + 1).argmax(np.array(s), X) == winners[-1]


@given(ANY)
def test_ranks_are_maximisers_up_to_rounding(s):
    totals = prefix_sums(s)
    for solver in (PrefixArgmax, ThresholdArgmax):
        found = solver(len(s) + 1).argmax(np.array(s), X)
        assert totals[found - 1] >= totals.max() - 1e-9 * (1 + abs(totals).max())


@given(ANY)
def test_falling_scores_are_counted_without_rounding(s):
    """The threshold rule: the smallest k with s[k] < 0."""
    falling = np.sort(s)[::-1].copy()
    assert ThresholdArgmax(len(s) + 1).argmax(falling, X) == 1 + (falling >= 0).sum()


def test_small_scores_count_beside_large_ones():
    """1 + 1e-17 is 1 in a sum, yet the second threshold is reached."""
    assert ThresholdArgmax(3).argmax(np.array([1.0, 1e-17]), X) == 3
    assert ThresholdArgmax(3).argmax(np.array([1.0, -1e-17]), X) == 2


@given(WHOLE)
def test_largest_argmax_is_brute_force_with_the_lowest_class_first(s):
    assert LargestArgmax(len(s)).argmax(np.array(s), X) == int(np.argmax(s)) + 1


def test_scores_are_not_changed():
    s = np.array([1.0, -2.0, 3.0])
    for solver in (PrefixArgmax(4), ThresholdArgmax(4), LargestArgmax(3)):
        solver.argmax(s, X)
    assert s.tolist() == [1.0, -2.0, 3.0]


def engine_of(solver, n_atoms):
    """An engine whose atom scores are the columns of X."""
    problem = "multiclass" if isinstance(solver, LargestArgmax) else "cusum"
    labels = list(range(1, solver.n_labels + 1))
    engine = Engine(problem, classes=labels, fit_intercept=False, plugins=[solver]).fit(np.zeros((1, n_atoms)), [1])
    engine.parts_.weights.assign(np.eye(n_atoms).ravel(), 1)
    return engine


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 6), st.integers(1, 70), st.integers(0, 2**32 - 1), st.booleans())
def test_many_examples_at_once_have_the_answers_of_each_alone(n_atoms, n, seed, ties):
    random = np.random.default_rng(seed)
    S = random.integers(-2, 3, (n, n_atoms)).astype(float) if ties else random.normal(size=(n, n_atoms))
    S[::3] = -np.sort(-S[::3])             # falling, as above ordered thresholds
    for solver in (PrefixArgmax(n_atoms + 1), ThresholdArgmax(n_atoms + 1), LargestArgmax(max(n_atoms, 2))):
        scores = np.hstack([S, S])[:, :max(n_atoms, 2)] if isinstance(solver, LargestArgmax) else S
        engine = engine_of(solver, scores.shape[1])
        answers = [solver.argmax(s.copy(), X) for s in scores]
        assert engine.predict(scores).tolist() == answers
        assert [engine.predict(scores[i:i + 1])[0] for i in range(min(n, 5))] == answers[:5]


def test_scores_whose_sum_over_examples_overflows_are_finite_and_the_first_other_one_is_named():
    engine, S = engine_of(PrefixArgmax(4), 3), np.zeros((40, 3))
    S[:, 0] = 1e308
    assert engine.predict(S).tolist() == [2] * 40
    S[[21, 30], 1] = np.nan, np.inf
    with pytest.raises(DataError, match=r"X\[21, 1\] is nan"):
        engine.predict(S)
