"""Tests of latent trees against all trees over few items, with and without given clusters; clusters without a tree."""

import itertools

import numpy as np
import pytest
from reference.partitions import partitions

from structperc.errors import DataError
from structperc.solvers.clusters import connected
from structperc.solvers.latent_trees import max_latent_trees


def trees(n, heads, dependents):
    """All sets of arcs with at most one into an item and without a cycle."""
    into = [[None, *np.flatnonzero(dependents == item).tolist()] for item in range(n)]
    for arcs in itertools.product(*into):
        head = [-1 if a is None else int(heads[a]) for a in arcs]
        if all(rooted(head, item, n) for item in range(n)):
            yield [a for a in arcs if a is not None]


def rooted(head, item, n):
    for _ in range(n):
        if head[item] < 0:
            return True
        item = head[item]
    return False


def cases(n_cases, whole):
    random = np.random.default_rng([n_cases, whole])
    for _ in range(n_cases):
        n = int(random.integers(0, 5))
        heads, dependents = np.nonzero(~np.eye(n, dtype=bool) & (random.random((n, n)) < 0.7))
        scores = random.integers(-2, 3, len(heads)).astype(float) if whole else random.normal(size=len(heads))
        scores[random.random(len(heads)) < 0.1] = -np.inf
        yield n, heads, dependents, scores, random


@pytest.mark.parametrize("whole", [False, True], ids=["real scores", "ties"])
def test_the_best_of_all_trees_is_found(whole):
    refused = 0
    for n, heads, dependents, scores, random in cases(150, whole):
        every = list(trees(n, heads, dependents))
        totals = np.array([scores[arcs].sum() for arcs in every])
        clusters = np.array([connected(n, heads[arcs], dependents[arcs]) for arcs in every]).reshape(len(every), n)
        found = max_latent_trees(heads, dependents, scores, n)
        assert found.tolist() in [sorted(arcs) for arcs in every] and scores[found].sum() == pytest.approx(totals.max())
        assert (scores[found] > 0).all()
        gold = random.choice(partitions(n))
        its = np.flatnonzero((clusters == gold).all(axis=1) & (totals > -np.inf))
        if len(its) == 0:
            with pytest.raises(DataError, match="have no tree: too few arcs lead from one of them to the others"):
                max_latent_trees(heads, dependents, scores, n, gold)
            refused += 1
            continue
        found = max_latent_trees(heads, dependents, scores, n, gold)
        assert scores[found].sum() == pytest.approx(totals[its].max())
        assert sorted(found.tolist()) in [sorted(every[i]) for i in its]
    assert 5 < refused < 100


def test_the_clusters_of_given_trees_keep_one_root_each():
    """ST-5: the result would be different without scores of root arcs, or with several roots for a cluster."""
    found = max_latent_trees([0, 1], [1, 0], [2 - 5.0, 1.0], labels=[0, 0])
    assert found.tolist() == [1]
    found = max_latent_trees([0, 1], [1, 0], [-3.0, -1.0], labels=[5, 5])
    assert found.tolist() == [1] and max_latent_trees([0, 1], [1, 0], [-3.0, -1.0]).tolist() == []


@pytest.mark.parametrize(("arguments", "sentence"), [
    (([0, 0], [1, 1], [1, 1]), "pair 1, of the items 0 and 1, is listed twice"),
    (([0], [1], [np.inf]), r"scores\[0\] is inf"),
    (([0], [1], [1.0], 3, [0, 0]), r"labels has the shape \(2,\); expected \(3,\)"),
])  # fmt: skip
def test_what_is_refused(arguments, sentence):
    with pytest.raises(DataError, match=sentence):
        max_latent_trees(*arguments)
