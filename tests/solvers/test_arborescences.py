"""Tests of maximum arborescences against enumeration, a slow twin and dual certificates."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.trees import arborescences, is_tree, tarjan, tree_scores

from structperc.errors import DataError
from structperc.solvers.arborescences import arborescence_certificate, k_best_arborescences, max_arborescence

INF = float("inf")


def random_scores(random, n, kind):
    """Real scores, integer ones with ties, and both with forbidden arcs."""
    scores = random.normal(size=(n + 1, n + 1)) if kind % 2 else random.integers(-2, 3, size=(n + 1, n + 1)).astype(float)
    scores[random.random(scores.shape) < (0.0, 0.0, 0.3, 0.6)[kind // 2]] = -INF
    return scores


@pytest.mark.parametrize("one_root", [False, True])
def test_the_best_of_all_trees(one_root):
    random = np.random.default_rng(0)
    refused = 0
    for i in range(4000):
        scores = random_scores(random, int(random.integers(1, 6)), i % 8)
        n = len(scores) - 1
        best = tree_scores(scores, arborescences(n, one_root)).max()
        if best == -INF:
            refused += 1
            with pytest.raises(DataError, match="leaves no tree"):
                max_arborescence(scores, one_root)
            continue
        heads, total = max_arborescence(scores, one_root)
        assert is_tree(heads) and (not one_root or (heads == 0).sum() == 1)
        assert total == pytest.approx(best, abs=1e-12) and total == pytest.approx(scores[heads, np.arange(1, n + 1)].sum(), abs=1e-12)
    assert refused > 100


@pytest.mark.parametrize("one_root", [False, True])
def test_the_slow_twin_gives_the_same_heads_among_equals_too(one_root):
    random = np.random.default_rng(1)
    for i in range(600):
        n = int(random.integers(1, 30))
        scores = random_scores(random, n, i % 6)
        expected = tarjan(scores, one_root)
        if expected is None:
            with pytest.raises(DataError, match="leaves no tree"):
                max_arborescence(scores, one_root)
        else:
            assert max_arborescence(scores, one_root)[0].tolist() == expected[0].tolist()


def test_roots_where_they_are_one_too_many():
    """ST-1: the best tree has two roots and the score 23. With one root, two trees have the best score, 19."""
    scores = np.array([[0, 9, 8, 0], [0, 0, 4, 3], [0, 5, 0, 6], [0, 1, 2, 0]], dtype=float)
    assert max_arborescence(scores)[0].tolist() == [0, 0, 2] and max_arborescence(scores)[1] == 23
    assert max_arborescence(scores, one_root=True)[0].tolist() == [0, 1, 2] and max_arborescence(scores, one_root=True)[1] == 19
    trees = arborescences(3, one_root=True)
    assert sorted(tree_scores(scores, trees))[-3:] == [16, 19, 19]
    assert sorted(map(tuple, trees[tree_scores(scores, trees) == 19])) == [(0, 1, 2), (2, 0, 2)]


def test_a_root_penalty_would_round_the_scores_away():
    """ST-1: after a penalty of 2^58 the root scores 3 and 0.5 are equal."""
    scores = np.array([[0, 3, 0.5], [0, 0, 1], [0, 1, 0]])
    assert max_arborescence(scores, one_root=True)[0].tolist() == [0, 1]
    rounded = scores.copy()
    rounded[0] -= 2.0**58
    assert rounded[0, 1] == rounded[0, 2]


def test_equal_scores():
    for n in (1, 2, 5, 40):
        scores = np.zeros((n + 1, n + 1))
        assert max_arborescence(scores)[0].tolist() == [0] * n
        assert max_arborescence(scores, one_root=True)[0].tolist() == [0] + [1] * (n - 1)


def test_no_words():
    heads, total = max_arborescence(np.zeros((1, 1)))
    assert len(heads) == 0 and total == 0


@given(st.lists(st.integers(0, 12), max_size=6), st.booleans(), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_many_sentences_in_one_call(sizes, one_root, seed):
    random = np.random.default_rng(seed)
    sentences = [random.integers(-3, 4, size=(n + 1, n + 1)).astype(float) for n in sizes if n or not one_root]
    heads, totals = max_arborescence(sentences, one_root)
    assert len(heads) == len(totals) == len(sentences)
    for scores, found, total in zip(sentences, heads, totals, strict=True):
        alone, alone_total = max_arborescence(scores, one_root)
        assert found.tolist() == alone.tolist() and total == alone_total


def test_forms_of_scores():
    random = np.random.default_rng(2)
    stack = random.integers(-9, 9, size=(5, 8, 8))
    expected = [max_arborescence(scores)[0].tolist() for scores in stack.astype(float)]
    for given_scores in (stack, stack.astype(np.float32), list(stack), np.asfortranarray(stack), [scores.tolist() for scores in stack]):
        assert [heads.tolist() for heads in max_arborescence(given_scores)[0]] == expected
    assert max_arborescence([])[0] == []


def test_column_0_and_the_diagonal_are_not_read():
    scores = np.random.default_rng(3).normal(size=(7, 7))
    expected = max_arborescence(scores)[0].tolist()
    scores[:, 0] = np.nan
    np.fill_diagonal(scores, INF)
    assert max_arborescence(scores)[0].tolist() == expected


def test_words_that_no_tree_enters_are_named():
    scores = np.zeros((5, 5))
    scores[[0, 1, 4], 2] = scores[[0, 1, 4], 3] = -INF
    with pytest.raises(DataError, match=r"enter the 2 words 2, 3 from outside have the score -inf"):
        max_arborescence(scores)
    scores[0, 2] = 0
    scores[[2, 3, 4], 1] = -INF
    with pytest.raises(DataError, match=r"word 1 .*the 2 words 2, 3|the 2 words 2, 3 .*word 1"):
        max_arborescence(scores, one_root=True)


# ---- certificates ----

@pytest.mark.parametrize("one_root", [False, True])
def test_prices_prove_the_tree(one_root):
    """The prices prove that no other tree is better; for integer scores the bound is exact."""
    random = np.random.default_rng(5)
    proved = several = 0
    for i in range(400):
        n = int(random.integers(1, 30))
        scores = random_scores(random, n, i % 6)
        try:
            proof = arborescence_certificate(scores, one_root)
        except DataError:
            continue
        heads, total = max_arborescence(scores, one_root)
        assert proof.heads.tolist() == heads.tolist() and proof.total == total
        assert is_tree(proof.heads) and total == pytest.approx(scores[heads, np.arange(1, n + 1)].sum())
        size = 0.0 if i % 2 == 0 else 1e-12
        assert proof.violation(scores) <= size and abs(proof.bound - proof.total) <= size * n
        proved += 1
        several += proof.root_price > 0
    assert proved > 200 and (not one_root or several > 20)


def test_prices_of_the_slow_twin():
    scores = np.random.default_rng(6).integers(-3, 4, size=(12, 12)).astype(float)
    proof = arborescence_certificate(scores)
    expected = {frozenset(words): price for words, price in tarjan(scores)[1]}
    assert {frozenset(words): price for words, price in zip(proof.sets, proof.prices, strict=True)} == expected


def test_a_wrong_proof_is_seen():
    scores = np.random.default_rng(7).normal(size=(9, 9))
    proof = arborescence_certificate(scores)
    better = scores.copy()
    better[3, 4] += 50
    assert proof.violation(better) > 40
    raised = proof._replace(prices=[*proof.prices[:-1], 2.0], sets=[*proof.sets[:-1], (1, 2)])
    assert raised.violation(scores) >= 2


def test_large_sentences():
    random = np.random.default_rng(8)
    for one_root in (False, True):
        for scores in (random.normal(size=(151, 151)), random.integers(0, 4, size=(121, 121))):
            proof = arborescence_certificate(scores, one_root)
            assert proof.violation(scores) < 1e-11 and proof.bound == pytest.approx(proof.total, abs=1e-10)


# ---- the k best ----

@pytest.mark.parametrize("one_root", [False, True])
def test_the_best_few_of_all_trees(one_root):
    """ST-2: the k best trees include those with parallel arcs of contracted cycles."""
    random = np.random.default_rng(9)
    for i in range(250):
        n = int(random.integers(1, 5))
        scores = random_scores(random, n, i % 8)
        totals = np.sort(tree_scores(scores, arborescences(n, one_root)))[::-1]
        totals = totals[totals > -INF]
        k = int(random.integers(1, 12))
        if not len(totals):
            with pytest.raises(DataError, match="leaves no tree"):
                k_best_arborescences(scores, k, one_root)
            continue
        heads, found = k_best_arborescences(scores, k, one_root)
        assert found == pytest.approx(totals[:k], abs=1e-12) and heads.shape == (min(k, len(totals)), n)
        assert len(np.unique(heads, axis=0)) == len(heads) and tree_scores(scores, heads) == pytest.approx(found)
        assert heads[0].tolist() == max_arborescence(scores, one_root)[0].tolist()
        assert all(is_tree(tree) and (not one_root or (tree == 0).sum() == 1) for tree in heads)


def test_all_trees_are_listed():
    for one_root, n_trees in ((False, 125), (True, 64)):
        assert len(k_best_arborescences(np.zeros((5, 5)), 1000, one_root)[0]) == n_trees
    heads, totals = k_best_arborescences(np.zeros((1, 1)), 3)
    assert heads.shape == (1, 0) and totals.tolist() == [0]


def test_pruning_a_root_by_its_best_arc_is_another_problem():
    """ST-1: keeping only the best root arc of the unconstrained tree often misses the best tree with one root."""
    random = np.random.default_rng(10)
    worse = tried = 0
    for _ in range(300):
        scores = random.normal(size=(7, 7))
        heads, _ = max_arborescence(scores)
        roots = np.flatnonzero(heads == 0) + 1
        if len(roots) == 1:
            continue
        tried += 1
        kept = scores.copy()
        kept[0, np.setdiff1d(np.arange(1, 7), roots[np.argmax(scores[0, roots])])] = -INF
        worse += max_arborescence(kept, one_root=True)[1] < max_arborescence(scores, one_root=True)[1] - 1e-9
    assert worse > tried / 5
