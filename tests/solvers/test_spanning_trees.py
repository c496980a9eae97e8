"""Spanning trees and forests against enumeration and the inequalities of swaps."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structperc.errors import DataError
from structperc.solvers.arborescence_sums import arborescence_marginals
from structperc.solvers.spanning_trees import max_spanning_tree

INF = float("inf")


def without_cycles(edges, n_nodes):
    part = list(range(n_nodes))
    for u, v in edges:
        if part[u] == part[v]:
            return False
        part = [part[u] if p == part[v] else p for p in part]
    return True


def all_forests(edges, n_nodes):
    for size in range(n_nodes):
        for chosen in itertools.combinations(range(len(edges)), size):
            if without_cycles(edges[list(chosen)], n_nodes):
                yield chosen


graphs = st.integers(1, 5).flatmap(lambda n: st.tuples(st.just(n), st.lists(
    st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.sampled_from([-INF, -1.0, 0.0, 1.0, 2.0])), max_size=8)))


@given(graphs, st.booleans())
def test_enumeration_and_the_rule_for_ties(graph, forest):
    """Of all best ones, the list of edges sorted from the best is the first in lexicographic order."""
    n, listed = graph
    edges = np.array([edge[:2] for edge in listed], dtype=int).reshape(-1, 2)
    scores = np.array([edge[2] for edge in listed])
    rank = np.empty(len(scores), dtype=int)
    rank[np.argsort(-scores, kind="stable")] = np.arange(len(scores))
    allowed = [c for c in all_forests(edges, n) if (scores[list(c)] > (0 if forest else -INF)).all() and (forest or len(c) == n - 1)]
    if not allowed:
        with pytest.raises(DataError, match="joins the"):
            max_spanning_tree(edges, scores, n)
        return
    best = max(scores[list(c)].sum() for c in allowed)
    expected = min(sorted(rank[list(c)].tolist()) for c in allowed if scores[list(c)].sum() == best)
    chosen, total = max_spanning_tree(edges, scores, n, forest)
    assert total == best and sorted(rank[chosen].tolist()) == expected


@pytest.mark.parametrize("tied", [False, True])
def test_no_swap_is_better(tied):
    random = np.random.default_rng(0)
    n = 40
    edges = np.array(list(itertools.combinations(range(n), 2)))
    scores = random.integers(0, 5, size=len(edges)).astype(float) if tied else random.normal(size=len(edges))
    chosen, _ = max_spanning_tree(edges, scores, n)
    assert len(chosen) == n - 1 and without_cycles(edges[chosen], n)
    for removed in chosen:
        part = np.arange(n)
        for u, v in edges[np.setdiff1d(chosen, [removed])]:
            part[part == part[v]] = part[u]
        joins = part[edges[:, 0]] != part[edges[:, 1]]
        assert scores[joins].max() <= scores[removed]


def test_log_z_and_marginals_are_those_of_directed_trees():
    random = np.random.default_rng(1)
    n = 5
    edges = np.array(list(itertools.combinations(range(n), 2)))
    scores = random.normal(size=len(edges))
    table = np.zeros((n, n))
    table[edges[:, 0], edges[:, 1]] = table[edges[:, 1], edges[:, 0]] = scores
    log_z, arcs = arborescence_marginals(table)
    trees = [list(c) for c in all_forests(edges, n) if len(c) == n - 1]
    weights = np.exp([scores[c].sum() for c in trees])
    assert len(trees) == 125 and log_z == pytest.approx(np.log(weights.sum()))
    for e, (u, v) in enumerate(edges):
        assert arcs[u, v] + arcs[v, u] == pytest.approx(weights[[e in c for c in trees]].sum() / weights.sum())


def test_forests_leave_what_costs():
    edges, scores = [[0, 1], [1, 2], [0, 2]], [1.0, 0.0, -1.0]
    assert max_spanning_tree(edges, scores, 3, forest=True)[0].tolist() == [0]
    assert max_spanning_tree(edges, scores, 3)[0].tolist() == [0, 1]
    assert max_spanning_tree([], [], 1)[1] == 0 and max_spanning_tree([], [], 4, forest=True)[1] == 0
    assert max_spanning_tree([[0, 0], [0, 1]], [9, 1], 2)[0].tolist() == [1]


@pytest.mark.parametrize(("edges", "scores", "message"), [
    ([[0, 1]], [1], "joins the 2 nodes 0, 1 with the others"), ([[0, 1]], [np.nan], r"scores\[0\] is nan"),
    ([[0, 1], [1, 2]], [0, INF], r"scores\[1\] is inf"), ([[0, 3]], [1], r"edges\[0, 1\] is 3; expected a whole number from 0 to 2"),
    ([[0, -1]], [1], r"edges\[0, 1\] is -1"),
    ([[0, 1]], [1, 2], r"scores has the shape \(2,\); expected \(1,\)"),
    ([[0.5, 1.0]], [1], r"edges\[0, 0\] is 0.5; expected a whole number"),
    ([0, 1], [1, 2], r"expected \(n_edges, 2\)"),
])
def test_refusals(edges, scores, message):
    with pytest.raises(DataError, match=message):
        max_spanning_tree(edges, scores, 3)
