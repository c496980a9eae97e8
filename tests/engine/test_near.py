"""Structures near the prediction, and their possible and certain atoms, equal those of an enumeration, for every bundled problem."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structperc.engine.counting import labellings_within
from structperc.engine.near import Near
from structperc.testing.case import make_case

PROBLEMS = {
    "cusum": {}, "multiclass": {}, "sequence": {}, "sequence, starts and ends": {"start": True, "end": True}, "segments": {}, "graph": {},
    "graph, exact": {"inference": "exact", "pairs": "potts"}, "parsing": {}, "parsing, projective": {"projective": True},
    "matching": {}, "matching, perfect": {"perfect": True}, "path": {}, "disjoint-intervals": {}, "latent-ranking": {},
    "clusters": {}, "ilp": {},
}


def case_of(name):
    return make_case(name.partition(",")[0], (), PROBLEMS[name], 0)


def drawn(name, seed):
    """Examples of a problem with whole scores, which tie often."""
    case, random = case_of(name), np.random.default_rng(seed)
    for x in case.examples:
        structures = case.structures(x)
        if structures is not None and 0 < len(structures) <= 300:
            yield case.parts, x, np.round(case.scores(x, lambda n: random.integers(-3, 4, n).astype(float))), structures


@pytest.mark.parametrize("name", PROBLEMS)
def test_members_and_atoms_are_those_of_an_enumeration(name):
    n_compared = 0
    for i, (parts, x, scores, structures) in enumerate(drawn(name, 1)):
        near = Near(parts, x, scores)
        counts = np.array([near.counted(y) for y in structures])
        totals = counts @ scores
        assert near.best == pytest.approx(totals.max())
        for distance in (0.0, 1.0, 2.5, 6.0, np.inf)[i % 2::2]:
            inside = counts[totals >= totals.max() - distance - 1e-9] > 0
            found = near.atoms(distance)
            shown = near.local_atoms()

            assert found.exact
            np.testing.assert_array_equal(found.possible[shown], inside.any(axis=0)[shown])
            np.testing.assert_array_equal(found.certain[shown], inside.all(axis=0)[shown])
            for limit in (1, 3, 1000):
                members, scored, whole = near.members(distance, limit)
                distinct = len(np.unique(counts[totals >= totals.max() - distance - 1e-9], axis=0))
                assert whole == (distinct <= limit) and len(members) == min(limit, distinct)
                np.testing.assert_allclose(scored, [scores @ near.counted(y) for y in members], atol=1e-9)
                assert (np.diff(scored) <= 1e-9).all()
            n_compared += 1
    assert n_compared > 10


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_distance_of_an_atom_is_that_of_the_best_structure_with_it(name):
    for parts, x, scores, structures in drawn(name, 2):
        near = Near(parts, x, scores)
        counts = np.array([near.counted(y) for y in structures])
        totals = counts @ scores
        for y in structures[::max(1, len(structures) // 5)]:
            own = near.counted(y)
            chosen = near.local_atoms()[own[near.local_atoms()] > 0]
            wanted = [totals.max() - totals[counts[:, a] > 0].max() for a in chosen]
            np.testing.assert_allclose(near.distances_of(own, chosen), wanted, atol=1e-9)


@pytest.mark.parametrize("name, options", [("graph", {"inference": "relaxed", "pairs": "full"}),
                                           ("clusters", {"solver": "greedy"}), ("ilp", {"most_nodes": 1})])
def test_an_approximate_solver_leaves_bounds_on_both_sides(name, options):
    case, random, n_open = make_case(name, (), options, 0), np.random.default_rng(3), 0
    for x in case.examples:
        structures = case.structures(x)
        scores = np.round(case.scores(x, lambda n: random.integers(-3, 4, n).astype(float)))
        if structures is None or not 0 < len(structures) <= 300:
            continue
        near = Near(case.parts, x, scores)
        counts = np.array([near.counted(y) for y in structures])
        for distance in (0.0, 2.5, np.inf):
            inside = counts[counts @ scores >= near.best - distance - 1e-9] > 0
            found, shown = near.atoms(distance), near.local_atoms()

            assert (found.possible >= inside.any(axis=0))[shown].all() and (found.certain <= inside.all(axis=0))[shown].all()
            if found.exact:
                np.testing.assert_array_equal(found.possible[shown], inside.any(axis=0)[shown])
                np.testing.assert_array_equal(found.certain[shown], inside.all(axis=0)[shown])
            n_open += not found.exact
    assert n_open or name != "clusters"


@pytest.mark.parametrize("name", ["multiclass", "path", "matching, perfect"])
def test_the_doubt_is_that_of_an_enumeration(name):
    sizes = set()
    for parts, x, scores, structures in drawn(name, 5):
        near = Near(parts, x, scores)
        below = np.sort(scores @ np.array([near.counted(y) for y in structures]).T - near.best)[::-1]
        assert name == "matching, perfect" or near.log_share() == pytest.approx(np.log(np.exp(below).sum()), abs=1e-9)
        assert near.log_share_of_two() == pytest.approx(np.log(np.exp(below[:2]).sum()), abs=1e-9)
        sizes.add(min(len(structures), 2))
    assert sizes == ({2} if name == "multiclass" else {1, 2})


@pytest.mark.parametrize("seed", range(20))
def test_counts_of_labellings_bound_those_of_an_enumeration(seed):
    random = np.random.default_rng(seed)
    n_labels, n_tokens, distance = random.integers(2, 4), random.integers(1, 7), random.uniform(0.5, 6)
    rows, pairs = random.normal(size=(n_tokens, n_labels)), random.normal(size=(n_labels, n_labels))
    start, end = random.normal(size=(2, n_labels))
    pairs[0, 1] = -np.inf if seed % 3 else 0.0
    losses = []
    for labels in itertools.product(range(n_labels), repeat=n_tokens):
        losses.append(start[labels[0]] + end[labels[-1]] + sum(rows[i, label] for i, label in enumerate(labels))
                      + sum(pairs[one, other] for one, other in itertools.pairwise(labels)))
    losses = max(losses) - np.array(losses)
    least, most = labellings_within((rows, pairs, start, end), distance)
    assert 1 <= least <= (losses <= distance).sum() <= most <= (losses <= distance * (1 + n_tokens / 256) + 1e-9).sum()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=4, max_size=4), st.floats(0.01, 100), st.floats(0, 8))
def test_the_scale_of_scores_moves_no_border(scores, factor, distance):
    """Scores and the distance are scaled by the same factor. Distances of ties are left out."""
    parts, x, _, _ = next(example for example in drawn("matching", 4) if example[1].n_atoms == 4)
    one, other = (Near(parts, x, np.array(scores, dtype=float) * times).atoms(distance * times) for times in (1.0, factor))

    assert one.exact and other.exact
    if min(abs(distance - value) for value in range(40)) > 1e-6:
        np.testing.assert_array_equal(one.possible, other.possible)
        np.testing.assert_array_equal(one.certain, other.certain)
