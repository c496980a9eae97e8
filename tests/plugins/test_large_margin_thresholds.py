"""Thresholds for fixed scores equal a linear program's, tie by tie, and the dual vertex has their value."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from structperc_large_margin.chain import Chain
from structperc_large_margin.thresholds import ChainThresholds, dual_vertex, thresholds

from structperc.errors import DataError


def a_chain(rows, n_examples, offset, gain, open_arcs):
    """A chain from rows (example, node, sign, cap), in this order."""
    example, node, sign, cap = (np.array(column) for column in zip(*rows, strict=True))
    return Chain(example=example.astype(np.int32), node=node.astype(np.int32), sign=sign.astype(np.int8), cap=cap.astype(float),
                           n_examples=n_examples, n_nodes=len(offset), offset=np.array(offset, dtype=float), gain=float(gain),
                           open_arcs=open_arcs, start=np.zeros(len(rows)))


def ranked(y, cap, gain=1.0, open_arcs=False, sums=False):
    """Adjacent ranks around each threshold; `sums`: the planes a_1, b_1, a_2, .. of the sum of margins."""
    rows, n_ranks = [], max(y)
    for i, rank in enumerate(y):
        for j, sign in ((rank, 1), (rank - 1, -1)):
            if 1 <= j < n_ranks:
                rows.append((i, (2 * (j - 1) + (sign < 0)) if sums else j - 1, sign, cap))
    n_nodes = (n_ranks - 1) * (2 if sums else 1)
    offset = [1.0, -1.0] * (n_nodes // 2) if sums else [0.0] * n_nodes
    return a_chain(rows, len(y), offset, 0.0 if sums else gain, open_arcs or sums)


def as_program(chain, scores):
    """min cap . e + d . z over (z, e >= 0), e_c >= p + g_c (f_c - z_m): the linear program, and its variables' bounds."""
    n, m = len(chain.cap), chain.n_nodes
    A = np.zeros((n, m + n))
    A[np.arange(n), chain.node] = -chain.sign
    A[np.arange(n), m + np.arange(n)] = -1
    b = -(chain.gain + chain.sign * np.asarray(scores)[chain.example])
    if chain.open_arcs:
        order = np.zeros((m - 1, m + n))
        order[np.arange(m - 1), np.arange(m - 1)], order[np.arange(m - 1), np.arange(1, m)] = 1, -1
        A, b = np.vstack([A, order]), np.append(b, np.zeros(m - 1))
    return np.append(chain.offset, chain.cap), A, b, [(None, None)] * m + [(0, None)] * n


def least_value(chain, scores):
    c, A, b, bounds = as_program(chain, scores)
    found = linprog(c, A, b, bounds=bounds)
    return -np.inf if found.status in (3, 4) else found.fun


def check_vertex(chain, scores, mu, value):
    flows = np.bincount(chain.node, chain.sign * mu, chain.n_nodes) - chain.offset
    scale = 1 + chain.cap.sum()
    assert (mu >= 0).all() and (mu <= chain.cap).all()
    assert abs(flows.sum()) <= 1e-12 * scale
    assert (np.cumsum(flows) >= -1e-12 * scale).all() if chain.open_arcs else (abs(flows) <= 1e-12 * scale).all()
    assert mu @ (chain.sign * np.asarray(scores)[chain.example] + chain.gain) == pytest.approx(value, abs=1e-10 * scale)


@st.composite
def chains(draw, integral=True):
    """Small chains of all kinds with many ties: both gains, both kinds of arcs, empty sides, caps that are whole, or weights in tenths."""
    n, m, gain = draw(st.integers(1, 6)), draw(st.integers(1, 4)), draw(st.sampled_from([0.0, 1.0]))
    cell = st.tuples(st.integers(0, n - 1), st.integers(0, m - 1), st.sampled_from([-1, 1]),
                     st.integers(1, 3) if integral else st.integers(1, 30).map(lambda tenths: tenths / 10))
    rows = draw(st.lists(cell, min_size=1, max_size=12, unique_by=lambda row: row[:3]))
    offset = [draw(st.integers(-1, 1)) for _ in range(m)] if gain == 0 else [0] * m
    scores = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    return a_chain(rows, n, offset, gain, draw(st.booleans())), scores


@given(chains())
def test_values_and_vertices_are_those_of_the_linear_program(case):
    chain, scores = case
    found, least = thresholds(chain, scores), least_value(chain, scores)

    if least == -np.inf:
        assert found.value == -np.inf
        with pytest.raises(DataError, match="no dual solution is feasible"):
            dual_vertex(chain, scores)
        return
    assert found.value == pytest.approx(least, abs=1e-9)
    assert not chain.open_arcs or (np.diff(found.values) >= 0).all()
    assert ChainThresholds(chain).value_at(scores, found.values) == found.value
    check_vertex(chain, scores, dual_vertex(chain, scores), least)


@given(chains(integral=False))
def test_caps_that_are_rounded_lose_no_tie(case):
    chain, scores = case
    found, least = thresholds(chain, scores), least_value(chain, scores)
    if np.isfinite(least):
        assert found.value == pytest.approx(least, abs=1e-8)
        check_vertex(chain, scores, dual_vertex(chain, scores), least)


@given(chains())
def test_both_ends_are_the_least_and_the_greatest_best_solutions(case):
    """Breakpoints, and a number beyond them on each side for unbounded ends, hold a best solution of every kind."""
    chain, scores = case
    found = thresholds(chain, scores)
    if not np.isfinite(found.value):
        return
    places = sorted({float(f + p) for f in scores for p in (-chain.gain, chain.gain)})
    places = [places[0] - 7, *places, places[-1] + 7]
    measure = ChainThresholds(chain).value_at
    best = [z for z in itertools.product(places, repeat=chain.n_nodes)
            if not (chain.open_arcs and (np.diff(z) < 0).any()) and measure(scores, z) <= found.value + 1e-9]
    lower, upper = np.min(best, axis=0), np.max(best, axis=0)
    assert found.lower.tolist() == np.where(lower == places[0], -np.inf, lower).tolist()
    assert found.upper.tolist() == np.where(upper == places[-1], np.inf, upper).tolist()


@pytest.mark.parametrize("n", [1, 3, 7, 10, 49, 1000])
def test_a_cap_of_one_nth_counts_as_the_nth(n):
    """Sum of margins, C = 1/n: each plane is undetermined between the n-th example and the next (5.2); at C_min the finite end (5.3)."""
    y = [1] * n + [2] * (2 * n)
    scores = np.arange(3.0 * n)
    found = thresholds(ranked(y, 1 / n, sums=True), scores)
    assert found.lower.tolist() == [-np.inf, 2 * n - 1] and found.upper.tolist() == [0, 2 * n]
    assert found.values.tolist() == [0, 2 * n - 0.5]
    assert found.value == pytest.approx(sum(range(n)) / n - sum(range(n, 2 * n)) / n)


def test_a_class_with_fewer_than_two_over_C_members_has_no_slab():
    """Ranks 1^4 2^2 3^4 at 0..3 | 10, 11 | 20..23: C = 0.9 gives width 0, C = 1.1 width 1 (5.2)."""
    y, scores = [1] * 4 + [2] * 2 + [3] * 4, [0, 1, 2, 3, 10, 11, 20, 21, 22, 23]
    narrow, wide = (thresholds(ranked(y, C, sums=True), scores) for C in (0.9, 1.1))
    assert narrow.values[1] == narrow.values[2]
    assert wide.values.tolist() == [3, 10, 11, 20]


def test_fixed_margin_comes_out_disordered_and_pooling_orders_it():
    """SL-7: x = 0, 1 | 2 | 3, 4 at C = 0.1 and w = 0.2: b_1 in [1, 1.2], b_2 in [-0.4, -0.2] (3.3)."""
    y, x = [1, 1, 2, 3, 3], np.arange(5.0)
    free = thresholds(ranked(y, 0.1), 0.2 * x)
    assert free.lower.tolist() == pytest.approx([1, -0.4]) and free.upper.tolist() == pytest.approx([1.2, -0.2])
    assert 0.02 + free.value == pytest.approx(0.38)

    pooled = thresholds(ranked(y, 0.1, open_arcs=True), 0.5 * x)
    assert pooled.values.tolist() == [1, 1] and 0.125 + pooled.value == pytest.approx(0.425)


def test_thresholds_without_any_example_take_the_neighbours_value():
    chain = a_chain([(0, 1, 1, 1.0), (1, 1, -1, 1.0)], 2, [0, 0, 0], 1, False)
    found = thresholds(chain, [0.0, 1.0])
    assert found.lower.tolist() == [-np.inf, 0, -np.inf] and found.upper.tolist() == [np.inf, 1, np.inf]
    assert found.values.tolist() == [0.5, 0.5, 0.5]


def test_many_examples_keep_every_unit():
    random = np.random.default_rng(0)
    y, scores = random.integers(1, 6, 20000), random.normal(size=20000).round(2)
    for sums in (False, True):
        chain = ranked(y.tolist(), 0.1, sums=sums)
        found = thresholds(chain, scores)
        mu = dual_vertex(chain, scores)
        assert mu @ (chain.sign * scores[chain.example] + chain.gain) == pytest.approx(found.value, rel=1e-12)
        for m in range(0 if sums else chain.n_nodes):
            here = chain.node == m
            breakpoints = np.sort(scores[chain.example[here]] + chain.sign[here])
            left = (chain.sign[here] > 0).sum()
            assert (found.lower[m], found.upper[m]) == (breakpoints[left - 1], breakpoints[left])


@pytest.mark.parametrize(("scores", "words"), [([1.0], r"expected \(2,\)"), ([[1.0, 2.0]], r"expected \(2,\)"),
                                               ([1.0, np.nan], "weights overflow"), ([1.0, np.inf], "weights overflow")])
def test_scores_that_are_not_finite_numbers_for_all_examples_are_refused(scores, words):
    with pytest.raises(DataError, match=words):
        thresholds(ranked([1, 2], 1.0), scores)
