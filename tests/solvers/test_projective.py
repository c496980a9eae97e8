"""Tests of projective trees against enumeration: the best tree, log Z and marginals, with scores of arcs and of siblings."""

import numpy as np
import pytest
from reference.trees import (
    arborescences,
    eisner,
    is_projective,
    is_tree,
    marginals_of,
    projective_trees,
    sibling_scores,
    tree_scores,
)

from structperc.errors import DataError
from structperc.solvers.arborescences import max_arborescence
from structperc.solvers.projective import projective_marginals, projective_tree
from structperc.solvers.ranked_projective import k_best_projective

INF = float("inf")


def random_scores(random, shape, kind):
    """Real scores, integer ones with ties, and both with forbidden parts."""
    scores = random.normal(size=shape) if kind % 2 else random.integers(-2, 3, size=shape).astype(float)
    scores[random.random(shape) < (0.0, 0.2, 0.4)[kind // 2]] = -INF
    return scores


def drawn(n_cases, seed, most_words=5):
    random = np.random.default_rng(seed)
    for i in range(n_cases):
        n = int(random.integers(1, most_words + 1))
        yield random_scores(random, (n + 1, n + 1), i % 6), random_scores(random, (n + 1, n + 1, n + 1), (i + 1) % 6)


def test_how_many_there_are():
    assert [len(projective_trees(n)) for n in range(1, 6)] == [1, 3, 12, 55, 273]
    assert [len(projective_trees(n, True)) for n in range(1, 6)] == [1, 2, 7, 30, 143]
    for n in range(1, 6):
        for one_root in (False, True):
            log_z, _ = projective_marginals(np.zeros((n + 1, n + 1)), one_root=one_root)
            assert np.exp(log_z) == pytest.approx(len(projective_trees(n, one_root)))


@pytest.mark.parametrize("with_siblings", [False, True])
@pytest.mark.parametrize("one_root", [False, True])
def test_the_best_of_all_trees_and_sums_over_them(one_root, with_siblings):
    refused = 0
    for scores, siblings in drawn(600, seed=0):
        n = len(scores) - 1
        trees = projective_trees(n, one_root)
        totals = tree_scores(scores, trees)
        if with_siblings:
            totals = totals + sibling_scores(siblings, trees)
        arguments = {"siblings": siblings if with_siblings else None, "one_root": one_root}
        if totals.max() == -INF:
            refused += 1
            for solver in (projective_tree, projective_marginals):
                with pytest.raises(DataError, match="leaves no"):
                    solver(scores, **arguments)
            continue
        heads, total = projective_tree(scores, **arguments)
        assert total == pytest.approx(totals.max(), abs=1e-12)
        assert totals[(trees == heads).all(axis=1)] == pytest.approx(total, abs=1e-12)
        for found, expected in zip(projective_marginals(scores, **arguments), marginals_of(totals, trees, n), strict=False):
            assert found == pytest.approx(expected, abs=1e-11)
    assert refused > 20


@pytest.mark.parametrize("with_siblings", [False, True])
@pytest.mark.parametrize("one_root", [False, True])
def test_the_slow_twin_gives_the_same_heads_among_equals_too(one_root, with_siblings):
    random = np.random.default_rng(5)
    for _ in range(60):
        n = int(random.integers(1, 13))
        scores, siblings = random.integers(-1, 2, size=(n + 1, n + 1)), random.integers(-1, 2, size=(n + 1, n + 1, n + 1))
        siblings = siblings if with_siblings else None
        assert projective_tree(scores, siblings, one_root)[0].tolist() == eisner(scores, siblings, one_root)


def test_long_sentences():
    """The tree has the returned score, which is at most that of the best unrestricted tree. Sibling scores of 0 change nothing."""
    random = np.random.default_rng(1)
    for n in (9, 17, 40):
        for one_root in (False, True):
            scores = random.normal(size=(n + 1, n + 1))
            heads, total = projective_tree(scores, one_root=one_root)
            assert is_tree(heads) and is_projective(heads) and (not one_root or (heads == 0).sum() == 1)
            assert tree_scores(scores, heads[None])[0] == pytest.approx(total)
            assert total <= max_arborescence(scores, one_root)[1] + 1e-9
            zeros = np.zeros((n + 1, n + 1, n + 1))
            assert projective_tree(scores, zeros, one_root)[0].tolist() == heads.tolist()
            siblings = random.normal(size=zeros.shape)
            heads, total = projective_tree(scores, siblings, one_root)
            assert tree_scores(scores, heads[None])[0] + sibling_scores(siblings, heads[None])[0] == pytest.approx(total)
            log_z, arcs, parts = projective_marginals(scores, siblings, one_root)
            assert log_z >= total and arcs[:, 1:].sum(axis=0) == pytest.approx(1) and parts.sum(axis=2) == pytest.approx(arcs)
            assert not one_root or arcs[0].sum() == pytest.approx(1)


@pytest.mark.parametrize("with_siblings", [False, True])
def test_marginals_are_the_derivatives_of_log_z(with_siblings):
    random = np.random.default_rng(2)
    scores, siblings = random.normal(size=(8, 8)), random.normal(size=(8, 8, 8)) if with_siblings else None
    _, arcs, *_ = projective_marginals(scores, siblings)
    for h, m in ((0, 3), (5, 1), (2, 7)):
        shifted = [scores.copy(), scores.copy()]
        shifted[0][h, m] += 1e-5
        shifted[1][h, m] -= 1e-5
        up, down = (projective_marginals(s, siblings)[0] for s in shifted)
        assert (up - down) / 2e-5 == pytest.approx(arcs[h, m], abs=1e-8)


def test_equal_scores_make_a_chain():
    for n in (1, 2, 12):
        for siblings in (None, np.zeros((n + 1, n + 1, n + 1))):
            for one_root in (False, True):
                assert projective_tree(np.zeros((n + 1, n + 1)), siblings, one_root)[0].tolist() == list(range(n))


def test_no_words():
    assert projective_tree(np.zeros((1, 1)))[1] == 0 and projective_marginals(np.zeros((1, 1)))[0] == 0


def test_several_roots_are_common_without_the_constraint():
    """ST-4: without the constraint, more than a fifth of the best trees over five words have several roots."""
    random = np.random.default_rng(3)
    several = sum((projective_tree(random.normal(size=(6, 6)))[0] == 0).sum() > 1 for _ in range(300))
    assert several > 60


def test_many_sentences_in_one_call():
    random = np.random.default_rng(4)
    sentences = [random.normal(size=(n + 1, n + 1)) for n in (3, 0, 7, 1)]
    tensors = [random.normal(size=(len(s),) * 3) for s in sentences]
    for siblings in (None, tensors):
        heads, totals = projective_tree(sentences, siblings)
        for i, scores in enumerate(sentences):
            alone, total = projective_tree(scores, None if siblings is None else siblings[i])
            assert heads[i].tolist() == alone.tolist() and totals[i] == total


def test_what_cannot_be_is_refused_by_name():
    scores, siblings = np.zeros((4, 4)), np.zeros((4, 4, 4))
    siblings[0, 3, 2] = INF
    with pytest.raises(DataError, match=r"siblings\[0, 3, 2\] is inf"):
        projective_tree(scores, siblings)
    siblings[:] = 0
    siblings[0, 2, 3] = siblings[2, 3, 0] = np.nan      # outside the arc, so not read
    assert projective_tree(scores, siblings)[1] == 0
    with pytest.raises(DataError, match=r"siblings has the shape \(4, 4\); expected \(4, 4, 4\)"):
        projective_tree(scores, scores)
    with pytest.raises(DataError, match="1 tensors for 2 sentences"):
        projective_tree([scores, scores], [siblings])
    siblings = np.full((4, 4, 4), -INF)
    with pytest.raises(DataError, match="no projective tree with these siblings"):
        projective_tree(scores, siblings)


def test_crossing_arcs_alone_leave_no_projective_tree():
    scores = np.full((5, 5), -INF)
    scores[0, 2] = scores[2, 4] = scores[4, 1] = scores[2, 3] = 0
    scores[2, 3], scores[1, 3] = -INF, 0
    assert max_arborescence(scores)[0].tolist() == [4, 0, 1, 2]
    with pytest.raises(DataError, match="the heads 4, 0, 1, 2. All others have arcs that cross"):
        projective_tree(scores)
    assert len(arborescences(4)) == 125


@pytest.mark.parametrize("one_root", [True, False])
def test_the_k_best_trees_are_those_of_enumeration(one_root):
    for scores, siblings in drawn(60, seed=5, most_words=4):
        trees = projective_trees(len(scores) - 1, one_root)
        for tensor in (None, siblings):
            totals = tree_scores(scores, trees) + (0 if tensor is None else sibling_scores(tensor, trees))
            every = np.sort(totals[totals > -INF])[::-1]
            for k in (3, len(trees) + 5) if len(every) else ():
                heads, found = k_best_projective(scores, k, tensor, one_root)
                assert found == pytest.approx(every[:k])
                assert len(set(map(tuple, heads.tolist()))) == len(heads)
                again = tree_scores(scores, heads) + (0 if tensor is None else sibling_scores(tensor, heads))
                assert again == pytest.approx(found)


@pytest.mark.parametrize("scale", [1e8, 1e13, 1e16, 1e30])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("one_root", [False, True])
def test_marginals_of_scores_of_any_size_are_probabilities(scale, order, one_root):
    """Sums this large are rounded, so that log Z has no room for how many trees are equal."""
    random = np.random.default_rng(0)
    for _ in range(20):
        scores, siblings = scale * random.integers(-3, 4, (5, 5)), scale * random.integers(-1, 2, (5, 5, 5))
        arcs = projective_marginals(scores, siblings if order == 2 else None, one_root)[1]
        heads = projective_tree(scores, siblings if order == 2 else None, one_root)[0]
        assert arcs[:, 1:].sum(axis=0) == pytest.approx(1) and arcs.min() >= 0
        assert (arcs[heads, np.arange(1, 5)] > 0).all()
