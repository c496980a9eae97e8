"""Tests of clusters against all clusterings of few items: ties, forbidden and missing pairs, bounds, and error messages."""

import collections

import numpy as np
import pytest
import ticking
from reference.partitions import partitions, totals

from structperc.errors import DataError, OptionError
from structperc.solvers import clusters
from structperc.solvers.clusters import STATUSES, cluster_pairs, max_clusters


def cases(n, whole):
    """Items, pairs and scores."""
    random = np.random.default_rng([n, whole])
    for _ in range(n):
        items = int(random.integers(0, 7))
        first, second = np.triu_indices(items, 1)
        listed = random.random(len(first)) < random.choice([0.6, 1.0])
        first, second = random.permuted(np.array([first[listed], second[listed]]), axis=0)
        scores = random.integers(-2, 3, len(first)).astype(float) if whole else random.normal(size=len(first))
        scores[random.random(len(first)) < 0.15] = -np.inf
        yield items, first, second, scores


def normal(n, signal=0.0, seed=0):
    """A matrix of scores. With a signal, it has clusters of about five items."""
    random = np.random.default_rng(seed)
    kind = random.integers(0, max(n // 5, 2), n)
    scores = np.triu(random.normal(size=(n, n)) + np.where(kind[:, None] == kind, signal, -signal), 1)
    return scores + scores.T


@pytest.mark.parametrize("few", [12, 2], ids=["subsets", "programs"])
@pytest.mark.parametrize("whole", [False, True], ids=["real scores", "ties"])
def test_the_best_of_all_clusterings_is_found_and_bounded(whole, few, monkeypatch):
    monkeypatch.setattr(clusters, "FEW", few)
    met = collections.Counter()
    for n, first, second, scores in cases(250, whole):
        best = totals(n, first, second, scores).max()
        for most_pairs in (None, 0):
            found = cluster_pairs(first, second, scores, n, most_pairs)
            together = found.labels[first] == found.labels[second]
            assert found.score == pytest.approx(scores[together].sum(), abs=1e-12)
            assert found.score <= best + 1e-9 <= found.bound + 1e-5 and found.gap >= 0
            if found.exact:
                assert found.score == pytest.approx(best, abs=1e-9) == found.bound
            assert found.labels.shape == (n,) and (found.labels == partitions(n)).all(axis=1).any()
            met[found.status] += 1
    assert set(met) == set(STATUSES) - ({"exact-lp", "exact-milp"} if few == 12 else {"exact-subsets"})


def test_a_fractional_program_is_refined(monkeypatch):
    """ST-12: the fractional example, a centre joined to three items that repel each other."""
    monkeypatch.setattr(clusters, "FEW", 0)
    star = np.array([[0, 1, 1, 1], [1, 0, -1, -1], [1, -1, 0, -1], [1, -1, -1, 0]])
    found = max_clusters(star)
    assert (found.score, found.status) == (1.0, "exact-milp") and found.labels.tolist() == [0, 0, 1, 2]
    rough = max_clusters(star, most_pairs=0)
    assert (rough.score, rough.status) == (1.0, "local") and rough.bound == pytest.approx(2.0) and rough.gap == pytest.approx(1.0)
    scores = normal(14)
    exact = max_clusters(scores)
    first, second = np.triu_indices(14, 1)
    shuffled = np.random.default_rng(0).permutation(len(first))
    listed = cluster_pairs(second[shuffled], first[shuffled], scores[first, second][shuffled])
    assert exact.score == pytest.approx(listed.score) and exact.exact and listed.exact


def test_long_cycles_contradict_clusters_of_few_pairs():
    n = 40
    first, second = np.arange(n), (np.arange(n) + 1) % n
    scores = np.where(np.arange(n) == 7, -3.0, 1 + np.arange(n) / n)
    found = cluster_pairs(first, second, scores)
    assert found.exact and found.score == pytest.approx(scores[scores > 0].sum() - 1)
    scores[7] = -np.inf
    assert cluster_pairs(first, second, scores).score == pytest.approx(found.score)
    scores[7] = 0.5
    assert cluster_pairs(first, second, scores).labels.max() == 0


def test_nothing_is_joined_at_no_gain():
    assert max_clusters(np.zeros((4, 4))).labels.tolist() == [0, 1, 2, 3]
    assert cluster_pairs([], [], [], 3).labels.tolist() == [0, 1, 2] and cluster_pairs([], [], []).labels.shape == (0,)
    assert max_clusters(np.empty((0, 0))).score == 0 and max_clusters([[5.0]]).labels.tolist() == [0]


def test_large_inputs_are_answered_with_a_bound():
    scores = normal(120, signal=1.0)
    greedy = max_clusters(scores, most_pairs=0)
    assert greedy.status == "local" and 0 < greedy.gap < greedy.score
    limited = max_clusters(normal(17), most_nodes=1)
    assert limited.status == "local" and limited.gap > 0
    assert limited.gap < max_clusters(normal(17), most_pairs=0).gap
    clear = max_clusters(normal(120, signal=4.0), most_pairs=0)
    assert clear.exact and clear.gap == 0
    again = max_clusters(scores, most_pairs=0)
    assert again.labels.tolist() == greedy.labels.tolist()


@pytest.mark.parametrize(("scores", "sentence"), [
    ([[0, np.nan], [np.nan, 0]], r"scores\[0, 1\] is nan; expected a finite number, or -inf to forbid it"),
    ([[0, np.inf], [np.inf, 0]], r"scores\[0, 1\] is inf"),
    ([[0, 1], [2, 0]], r"scores\[0, 1\] is 1.0 but scores\[1, 0\] is 2.0; expected a symmetric matrix"),
    ([[0, -np.inf], [2, 0]], "expected a symmetric matrix"),
    ([1, 2], r"scores has the shape \(2,\); expected \(n_items, n_items\)"),
    ([["a"]], "expected an array of real numbers"),
])  # fmt: skip
def test_matrices_that_are_refused(scores, sentence):
    with pytest.raises(DataError, match=sentence):
        max_clusters(scores)


@pytest.mark.parametrize(("pairs", "sentence"), [
    (([0, 1], [1, 0], [1, 1]), "pair 1, of the items 1 and 0, is listed twice"),
    (([0, 3], [1, 3], [1, 1]), "pair 1 is of the item 3 with itself; expected two items"),
    (([0.5], [1], [1]), r"first\[0\] is 0.5; expected a whole number from 0"),
    (([0], [-1], [1]), r"second\[0\] is -1; expected a whole number from 0"),
    (([0], [1], [1, 2]), r"scores has the shape \(2,\); expected \(1,\)"),
    (([0], [1], [np.nan]), r"scores\[0\] is nan"),
    (([0], [1], [1], None, -1), "most_pairs=-1; expected None or a whole number from 0"),
    (([0], [1], [1], None, None, 0), "most_nodes=0; expected None or a whole number from 1"),
    (([0], [4], [1], 3), "n_items=3; expected a whole number from 5"),
])  # fmt: skip
def test_pairs_that_are_refused(pairs, sentence):
    with pytest.raises((DataError, OptionError), match=sentence):
        cluster_pairs(*pairs)


def test_ctrl_c_ends_long_work():
    scores = normal(1500)
    with ticking.one_signal(0.3) as send, pytest.raises(KeyboardInterrupt):
        send()
        max_clusters(scores, most_pairs=0)
    assert max_clusters(scores[:5, :5]).exact


def test_components_share_no_scale():
    """A triangle of small scores whose greedy clusters are not best, beside a pair of a large score."""
    first, second = np.array([0, 0, 1, 1, 2, 3, 10]), np.array([1, 2, 2, 3, 3, 0, 11])
    for seed in range(40):
        scores = np.random.default_rng(seed).normal(size=7)
        scores[6] = 1.0
        best = cluster_pairs(first, second, scores)
        scores[6] = 1e9
        beside = cluster_pairs(first, second, scores)
        assert beside.labels.tolist() == best.labels.tolist() and beside.exact
