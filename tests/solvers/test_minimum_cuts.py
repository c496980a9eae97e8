"""Tests of minimum cuts against all labellings of small graphs, and against scipy's flows on larger ones; error messages."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from ticking import one_signal

from structperc.errors import DataError
from structperc.solvers.minimum_cuts import CutGraph, min_cut
from structperc.solvers.pairwise_models import grid_edges


def problems(n, whole):
    random = np.random.default_rng([n, whole])
    for _ in range(n):
        n_nodes, n_edges = int(random.integers(1, 8)), int(random.integers(0, 12))
        edges = random.integers(0, n_nodes, (n_edges, 2))
        edges = edges[edges[:, 0] != edges[:, 1]]
        if whole:
            terminals, there, back = (random.integers(low, 5, size).astype(float) for low, size in (
                (-4, n_nodes), (0, len(edges)), (0, len(edges))))
        else:
            terminals, there, back = random.normal(size=n_nodes) * 2, *random.random((2, len(edges)))
        there[random.random(len(edges)) < 0.3] = np.inf
        terminals[random.random(n_nodes) < 0.15] = np.inf
        terminals[random.random(n_nodes) < 0.15] = -np.inf
        yield terminals, edges, there, back


def costs(labellings, terminals, edges, there, back):
    """The cost of each labelling: the terminals of its nodes, plus the edges between different labels."""
    with np.errstate(invalid="ignore"):
        own = np.where(labellings == 1, np.maximum(terminals, 0), np.maximum(-terminals, 0))
    first, second = labellings[:, edges[:, 0]], labellings[:, edges[:, 1]]
    return (own.sum(axis=1) + np.where((first == 0) & (second == 1), there, 0).sum(axis=1)
            + np.where((first == 1) & (second == 0), back, 0).sum(axis=1))


@pytest.mark.parametrize("whole", [False, True], ids=["real capacities", "ties"])
def test_the_cheapest_of_all_labellings_is_found(whole):
    refused = 0
    for terminals, edges, there, back in problems(2000, whole):
        every = np.array(list(itertools.product((0, 1), repeat=len(terminals))))
        total = costs(every, terminals, edges, there, back)
        try:
            labels, value = min_cut(terminals, edges, there, back)
        except DataError as error:
            assert total.min() == np.inf and "every labelling costs infinitely much" in str(error)
            refused += 1
            continue
        own = costs(labels[None], terminals, edges, there, back)[0]
        assert own == pytest.approx(total.min(), abs=1e-12) and value == pytest.approx(own, abs=1e-12), "the flow proves it"
        if whole:
            assert own == value and (every[total == own] >= labels).all(), "the labelling with the fewest ones"
    assert 10 < refused < 300


def test_a_refusal_names_two_nodes_that_contradict_each_other():
    with pytest.raises(DataError, match="node 0 must be 0 and node 2 must be 1. Edges of infinite cost"):
        min_cut([np.inf, 1, -np.inf], [[0, 1], [1, 2]], [np.inf, np.inf])


@pytest.mark.parametrize("strength", [3, 30, 300])
def test_whole_capacities_give_the_flow_of_scipy(strength):
    random = np.random.default_rng(strength)
    for n_nodes, edges in ((900, grid_edges(30, 30)), (300, random.integers(0, 300, (1500, 2)))):
        edges = edges[edges[:, 0] != edges[:, 1]]
        terminals = random.integers(-100, 101, n_nodes)
        there, back = random.integers(0, strength, (2, len(edges)))
        plus, minus = np.flatnonzero(terminals > 0), np.flatnonzero(terminals < 0)
        tails = np.concatenate([edges[:, 0], edges[:, 1], np.full(len(plus), n_nodes), minus])
        heads = np.concatenate([edges[:, 1], edges[:, 0], plus, np.full(len(minus), n_nodes + 1)])
        capacities = np.concatenate([there, back, terminals[plus], -terminals[minus]]).astype(np.int32)
        graph = csr_array((capacities, (tails.astype(np.int32), heads.astype(np.int32))), shape=(n_nodes + 2, n_nodes + 2))
        labels, value = min_cut(terminals, edges, there, back)
        assert value == maximum_flow(graph, n_nodes, n_nodes + 1).flow_value
        assert value == costs(labels[None].astype(int), terminals, edges, there, back)[0]


def test_a_kept_graph_answers_as_a_new_one():
    random = np.random.default_rng(0)
    edges = grid_edges(9, 11, diagonal=True)
    graph = CutGraph(99, edges)
    for _ in range(20):
        terminals, capacities = random.normal(size=99), random.random(len(edges))
        labels, value = graph.solve(terminals, capacities, capacities)
        again, same = min_cut(terminals, edges, capacities)
        assert labels.tolist() == again.tolist() and value == same


def test_graphs_without_nodes_or_edges():
    assert min_cut([], [], [])[0].tolist() == [] and min_cut([2.0, -1.0, 0.0], [], [])[0].tolist() == [0, 1, 0]


def test_ctrl_c_is_answered():
    random = np.random.default_rng(0)
    graph, terminals, capacities = CutGraph(10 ** 6, grid_edges(1000, 1000)), random.normal(size=10 ** 6), np.full(2 * 1000 * 999, 2.0)
    with one_signal(0.05) as send:
        send()
        with pytest.raises(KeyboardInterrupt):
            graph.solve(terminals, capacities, capacities)


@pytest.mark.parametrize(("call", "sentence"), [
    (lambda: min_cut([np.nan], [], []), r"terminals\[0\] is nan; expected a number\."),
    (lambda: min_cut([0, 0], [[0, 1]], [-1]), r"forward\[0\] is -1.0; expected a number from 0, or inf"),
    (lambda: min_cut([0, 0], [[0, 1]], [1], [np.nan]), r"backward\[0\] is nan"),
    (lambda: min_cut([0, 0], [[0, 1]], [1, 2]), r"forward has the shape \(2,\); expected \(1,\)"),
    (lambda: min_cut([0, 0], [[0, 2]], [1]), r"edges\[0, 1\] is 2; expected a whole number from 0 to 1"),
    (lambda: min_cut([0, 0], [[1, 1]], [1]), r"edges\[0\] joins node 1 with itself"),
    (lambda: min_cut([0, 0], [[0.5, 1]], [1]), r"edges\[0, 0\] is 0.5; expected a whole number"),
    (lambda: min_cut([[0, 0]], [], []), r"terminals has the shape \(1, 2\); expected \(n_nodes,\)"),
    (lambda: min_cut(["a"], [], []), "terminals is .* expected an array of real numbers"),
])  # fmt: skip
def test_what_is_no_cut_problem_is_said(call, sentence):
    with pytest.raises(DataError, match=sentence):
        call()
