"""Ordinal examples and weighted binary ones say the same, exactly."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from structperc_boosting.costs import check_v_shape, cost_matrix, ranks_of_answers, reduce_costs, reverse_costs, threshold_answers
from structperc_boosting.reductions import BinaryReduction

from structperc.errors import DataError, OptionError

NUMBERS = st.integers(0, 9) | st.fractions(0, 9, max_denominator=7)


@st.composite
def v_shaped(draw, steps=NUMBERS):
    """A right rank, and costs that grow away from it, exact numbers."""
    n_ranks = draw(st.integers(2, 6))
    y, given = draw(st.integers(1, n_ranks)), draw(st.lists(steps, min_size=n_ranks - 1, max_size=n_ranks - 1))
    return y, [sum(given[min(k, y) - 1:max(k, y) - 1], Fraction(0)) for k in range(1, n_ranks + 1)]


@given(v_shaped())
def test_reversing_undoes_reducing_exactly(example):
    y, c = example
    right, costs = reverse_costs(*reduce_costs([y], np.array([c], dtype=object)))

    assert right.tolist() == [y] and costs.tolist() == [c]


@given(v_shaped())
def test_the_cost_of_a_ranker_is_its_weighted_binary_error(example):
    y, c = example
    n_ranks = len(c)
    z, weights = reduce_costs([y], np.array([c], dtype=object))

    for r in range(1, n_ranks + 1):
        wrong = threshold_answers([r], n_ranks) != z
        assert Fraction(weights[wrong].sum()) == (n_ranks - 1) * c[r - 1]
    assert Fraction(weights.sum()) == (n_ranks - 1) * (c[0] + c[-1])


@given(st.integers(2, 9), st.data())
def test_the_ranks_of_a_rankers_answers_are_the_rankers(n_ranks, data):
    ranks = data.draw(st.lists(st.integers(1, n_ranks), min_size=1, max_size=5))

    assert ranks_of_answers(threshold_answers(ranks, n_ranks)).tolist() == ranks


@pytest.mark.parametrize("n_ranks", [2, 3, 4, 5])
def test_binary_errors_bound_the_cost_of_the_rank_for_convex_costs_or_falling_answers(n_ranks):
    """LL-5: convex from 2 to K - 1."""
    falling = [list(a) for a in product([1, -1], repeat=n_ranks - 1) if sorted(a, reverse=True) == list(a)]
    for steps in product(range(3), repeat=n_ranks - 1):
        for y in range(1, n_ranks + 1):
            c = [sum(steps[min(k, y) - 1:max(k, y) - 1]) for k in range(1, n_ranks + 1)]
            z, weights = reduce_costs([y], np.array([c]))
            convex = all(c[k + 1] - c[k] >= c[k] - c[k - 1] for k in range(1, n_ranks - 1))     # k = 2 .. K - 1 from 1
            for g in (product([1, -1], repeat=n_ranks - 1) if convex else falling):
                error = weights[0][z[0] != np.array(g)].sum()
                assert (n_ranks - 1) * c[ranks_of_answers([g])[0] - 1] <= error


# ---- in expectation ----


def distribution(seed, convex):
    """Four inputs of unequal probability, each with a few ranks and whole costs, in exact arithmetic: [(p, [(q, y, c), ...]), ...]."""
    random = np.random.default_rng([seed, 13])
    n_ranks = int(random.integers(2, 6))
    inputs = []
    for share in random.integers(1, 6, 4).tolist():
        cases = []
        for weight in random.integers(1, 5, int(random.integers(1, 4))).tolist():
            y = int(random.integers(1, n_ranks + 1))
            down, up = (random.integers(0, 4, size).tolist() for size in (y - 1, n_ranks - y))
            down, up = (sorted(down, reverse=True), sorted(up)) if convex else (down, up)
            cases.append((Fraction(weight), y, [*np.cumsum([0, *down[::-1]])[::-1].tolist(), *np.cumsum(up).tolist()]))
        total = sum(weight for weight, *_ in cases)
        inputs.append((Fraction(share), [(weight / total, y, c) for weight, y, c in cases]))
    total = sum(share for share, _ in inputs)
    return n_ranks, [(share / total, cases) for share, cases in inputs]


def binary_error(cases, g):
    """The expected weighted error of the labels g of one input, divided by K - 1."""
    error = Fraction(0)
    for q, y, c in cases:
        z, weights = reduce_costs([y], np.array([c], dtype=object))
        error += q * Fraction(int(weights[0][z[0] != np.array(g)].sum())) / len(g)
    return error


def expected_cost(cases, rank):
    return sum(q * c[rank - 1] for q, _, c in cases)


@pytest.mark.parametrize("seed", range(12))
def test_expected_costs_and_regrets_are_at_most_those_of_the_binary_classifier(seed):
    """Theorems 2 and 3 on a distribution: all falling labels of an input, and all labels if each cost vector is convex."""
    convex = seed % 2 == 0
    n_ranks, inputs = distribution(seed, convex)
    everything = list(product([1, -1], repeat=n_ranks - 1))
    tried, attained = everything if convex else [g for g in everything if sorted(g, reverse=True) == list(g)], 0
    for _, cases in inputs:         # the bounds of an input, and so those of the expectation over inputs
        best_rank = min(expected_cost(cases, r) for r in range(1, n_ranks + 1))
        best_binary = min(binary_error(cases, g) for g in everything)
        for g in tried:
            cost, error = expected_cost(cases, int(ranks_of_answers([g])[0])), binary_error(cases, g)
            assert cost <= error
            assert cost - best_rank <= error - best_binary
            attained += cost == error
    assert attained, "a ranker's own labels attain the bound"


@pytest.mark.parametrize("seed", range(6))
def test_the_costs_of_trained_reductions_are_at_most_the_weighted_errors(seed):
    """Theorems 1 and 2 at `BinaryReduction`: any classifier with convex costs, one direction with any V-shaped costs."""
    random = np.random.default_rng([seed, 14])
    X = random.normal(size=(60, 2))
    y = 1 + np.digitize(X[:, 0] + random.normal(size=60), [-1, 0, 1])
    for cost, classifier in (("absolute", DecisionTreeClassifier(max_depth=2, random_state=0)), ("squared", LogisticRegression()),
                             ("zero-one", LogisticRegression())):
        model = BinaryReduction(classifier, cost=cost).fit(X, y)
        answers = np.where(model.threshold_scores(X) >= 0, 1, -1)
        if cost == "zero-one" and (np.diff(answers, axis=1) > 0).any():
            continue                # labels that rise with k, and costs that are not convex
        costs = cost_matrix(cost, 4)[y - 1]
        z, weights = reduce_costs(y, costs)
        assert (3 * costs[np.arange(60), model.predict(X) - 1] <= (weights * (z != answers)).sum(axis=1) + 1e-9).all()


def test_without_convexity_the_binary_error_is_no_bound():
    """LL-5: K = 3, y = 1, c = (0, 1, 1), g = (-1, +1)."""
    z, weights = reduce_costs([1], np.array([[0, 1, 1]]))
    g = np.array([[-1, 1]])

    assert ranks_of_answers(g).tolist() == [2] and weights[z != g].sum() == 0, "the rank costs 1, the answers nothing"


def test_the_published_counterexample_of_the_reverse_reduction():
    """LL-1: y = 3 and the weights 4, 2 are the costs 3, 1, 0; the printed indicator gives 1, 0, 0."""
    y, costs = reverse_costs([[1, 1]], [[4, 2]])

    assert y.tolist() == [3] and costs.tolist() == [[3.0, 1.0, 0.0]]


def test_a_score_of_zero_goes_up():
    """LL-6: as in (6)."""
    assert ranks_of_answers([[0.0, -1e-300], [-0.0, 0.0], [1.0, -1.0]]).tolist() == [2, 3, 2]


def test_costs_by_name_and_matrix():
    assert cost_matrix("squared", 3).tolist() == [[0, 1, 4], [1, 0, 1], [4, 1, 0]]
    assert cost_matrix("zero-one", 2).tolist() == [[0, 1], [1, 0]] == cost_matrix([[0, 1], [1, 0]], 2).tolist()
    with pytest.raises(OptionError, match="'absolut'; expected one of 'absolute', 'squared', 'zero-one', or a matrix"):
        cost_matrix("absolut", 3)
    with pytest.raises(DataError, match=r"shape \(2, 2\), but there are 3 labels"):
        cost_matrix([[0, 1], [1, 0]], 3)


@pytest.mark.parametrize(("costs", "y", "said"), [
    ([[0, 1, -1]], [1], r"costs\[0, 2\] is -1.0; costs must be finite and not negative"),
    ([[0, np.nan, 1]], [1], r"costs\[0, 1\] is nan"),
    ([[0, 1, 2], [0, 1, 2]], [1, 2], r"costs\[1, 1\] is 1.0, the cost of the right rank; it must be 0"),
    ([[0, 2, 1]], [1], r"costs\[0\] goes from 2.0 to 1.0 between the ranks 2 and 3, but rank 1 is right"),
    ([[1, 2, 0]], [3], r"costs\[0\] goes from 1.0 to 2.0 between the ranks 1 and 2, but rank 3 is right"),
    ([[0, 1]], [3], r"the right ranks are 3..3, but costs has 2 columns"),
    ([[0, 1]], [1, 2], r"costs has 1 rows, but there are 2 examples"),
])
def test_costs_without_the_shape_of_a_v_are_refused(costs, y, said):
    with pytest.raises(DataError, match=said):
        check_v_shape(costs, y)


def test_binary_examples_of_no_rank_are_refused():
    with pytest.raises(DataError, match=r"z\[1\] has the rank above a threshold and not above a lower one"):
        reverse_costs([[1, -1], [-1, 1]], np.ones((2, 2)))
    with pytest.raises(DataError, match="weights are negative"):
        reverse_costs([[1, -1]], [[1, -2]])
    with pytest.raises(DataError, match=r"z has shape \(1, 2\) and weights \(1, 1\)"):
        reverse_costs([[1, -1]], [[1]])
