"""Tests of paths against all paths of small graphs: best, cheapest, k best, sums over all paths, and errors."""

import signal

import numpy as np
import pytest
from ticking import one_signal, ticking

from structperc.errors import DataError
from structperc.solvers.paths import best_path, cheapest_path, grid_graph, k_best_paths, path_marginals, topological_order


def paths(tails, heads, usable, start, end, seen=()):
    """All simple paths over usable arcs."""
    if start == end:
        yield ()
        return
    for a in np.flatnonzero((tails == start) & usable).tolist():
        if heads[a] not in seen:
            yield from ((a, *rest) for rest in paths(tails, heads, usable, heads[a], end, (*seen, start)))


def graphs(n, whole, acyclic=True):
    random = np.random.default_rng([n, whole])
    for _ in range(n):
        n_nodes, n_arcs = int(random.integers(1, 7)), int(random.integers(0, 12))
        ends = random.integers(0, n_nodes, (n_arcs, 2))
        if acyclic:
            ends = np.sort(ends, axis=1)
            ends = random.permutation(n_nodes)[ends[ends[:, 0] < ends[:, 1]]]
        scores = random.integers(-2, 3, len(ends)).astype(float) if whole else random.normal(size=len(ends))
        scores[random.random(len(ends)) < 0.1] = -np.inf
        yield ends[:, 0], ends[:, 1], scores, *map(int, random.integers(0, n_nodes, 2))


@pytest.mark.parametrize("whole", [False, True], ids=["real scores", "ties"])
def test_the_best_of_all_paths_is_found(whole):
    refused = 0
    for tails, heads, scores, start, end in graphs(800, whole):
        every = list(paths(tails, heads, scores > -np.inf, start, end))
        totals = np.array([sum(scores[list(arcs)]) for arcs in every])
        try:
            arcs, best = best_path(tails, heads, scores, start, end)
        except DataError as error:
            assert not every and f"no path leads from node {start} to node {end}" in str(error)
            refused += 1
            continue
        assert tuple(arcs.tolist()) in every and best[end] == pytest.approx(totals.max(), abs=1e-12)
        if whole:
            tied = [path for path, total in zip(every, totals, strict=True) if total == totals.max()]
            assert tuple(arcs.tolist()) == min(tied, key=lambda path: path[::-1])
        usable = scores > -np.inf
        assert (best[heads[usable]] >= best[tails[usable]] + scores[usable] - 1e-12).all(), "the potentials prove it"

        ranked = k_best_paths(tails, heads, scores, start, end, 4)
        assert ranked[0][0] == tuple(arcs.tolist()) and len({path for path, _ in ranked}) == len(ranked)
        np.testing.assert_allclose([score for _, score in ranked], np.sort(totals)[::-1][:4], atol=1e-12)

        log_z, marginals = path_marginals(tails, heads, scores, start, end)
        share = np.exp(totals - log_z)
        assert share.sum() == pytest.approx(1)
        np.testing.assert_allclose(marginals, sum(p * np.isin(np.arange(len(tails)), path) for p, path in zip(share, every, strict=True)),
                                   atol=1e-12)
    assert 100 < refused < 700


@pytest.mark.parametrize("whole", [False, True], ids=["real costs", "ties"])
def test_the_cheapest_of_all_paths_is_found_in_graphs_with_cycles(whole):
    for tails, heads, scores, start, end in graphs(500, whole, acyclic=False):
        costs = np.abs(scores)
        every = list(paths(tails, heads, costs < np.inf, start, end))
        try:
            arcs, distances = cheapest_path(tails, heads, costs, start, end)
        except DataError as error:
            assert not every and "no path leads" in str(error)
            continue
        assert tuple(arcs.tolist()) in every
        assert costs[arcs].sum() == pytest.approx(min(sum(costs[list(path)]) for path in every), abs=1e-12)
        assert (distances[heads] <= distances[tails] + costs + 1e-12).all()


def test_grids_are_acyclic():
    tails, heads = grid_graph(3, 4)
    assert len(tails) == 3 * 3 + 2 * 4 and topological_order(tails, heads, 12).tolist()[0] == 0
    assert list(zip(*grid_graph(2, 2, diagonal=True), strict=True)) == [(0, 1), (2, 3), (0, 2), (1, 3), (0, 3)]
    assert len(best_path(*grid_graph(30, 30), np.zeros(2 * 30 * 29), 0, 899)[0]) == 58


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: best_path([0, 1, 2, 1], [1, 2, 1, 3], [0] * 4, 0, 3), "the graph has a cycle among the nodes 1, 2; expected an acyclic one"),
    (lambda: best_path([0, 1], [1, 1], [0, 0], 0, 1), "a cycle among the nodes 1;"),
    (lambda: best_path([0], [1], [np.nan], 0, 1), r"scores\[0\] is nan"),
    (lambda: best_path([0], [1], [np.inf], 0, 1), r"scores\[0\] is inf"),
    (lambda: best_path([0], [1], [1], 0, 2), "no path leads from node 0 to node 2"),
    (lambda: best_path([0], [1.5], [1], 0, 1), r"heads\[0\] is 1.5; expected a whole number from 0\."),
    (lambda: best_path([0], [-1], [1], 0, 1), r"heads\[0\] is -1; expected a whole number from 0\."),
    (lambda: best_path([0], [1], [1, 2], 0, 1), r"scores has the shape \(2,\); expected \(1,\)"),
    (lambda: best_path([0], ["a"], ["b"], 0, 1), "expected an array of real numbers"),
    (lambda: cheapest_path([0], [1], [-1], 0, 1), r"costs\[0\] is -1.0; expected a number from 0"),
    (lambda: cheapest_path([0], [1], [np.inf], 0, 1), "no path leads from node 0 to node 1"),
    (lambda: topological_order([0, 1], [1, 0], 2), "a cycle among the nodes 0, 1"),
])  # fmt: skip
def test_what_has_no_path_is_said(call, sentence):
    with pytest.raises(DataError, match=sentence):
        call()


def test_a_start_that_is_the_end_has_an_empty_path():
    assert best_path([0], [1], [1.0], 1, 1)[0].tolist() == [] and cheapest_path([0], [1], [1.0], 0, 0)[0].tolist() == []


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_ctrl_c_ends_the_search_of_a_long_path_and_of_many_paths():
    nodes = np.arange(3_000_000)
    with pytest.raises(KeyboardInterrupt), ticking():
        best_path(nodes, nodes + 1, np.zeros(len(nodes)), 0, len(nodes))
    tails, heads = grid_graph(40, 40)
    with pytest.raises(KeyboardInterrupt), one_signal(0.05) as send:
        send()
        k_best_paths(tails, heads, np.zeros(len(tails)), 0, 1599, 10**7)
    assert best_path([0], [1], [2.0], 0, 1)[0].tolist() == [0]


@pytest.mark.parametrize("scale", [1e6, 1e12, 1e15, 1e17, 1e300])
def test_marginals_at_large_scores_are_those_of_the_best_path(scale):
    tails, heads = grid_graph(6, 6, True)
    scores = np.random.default_rng(0).normal(size=len(tails)) * scale
    marginals = path_marginals(tails, heads, scores, 0, 35)[1]
    assert np.flatnonzero(marginals).tolist() == sorted(best_path(tails, heads, scores, 0, 35)[0])
    assert marginals.max() == 1 and path_marginals([0, 0], [1, 1], [scale, scale], 0, 1)[1].tolist() == [0.5, 0.5]
