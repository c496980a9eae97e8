"""Sums over all arborescences against enumeration, where determinants fail too."""

import numpy as np
import pytest
from reference.trees import arborescences, marginals_of, tree_scores

from structperc.errors import DataError
from structperc.solvers.arborescences import arborescence_marginals, max_arborescence

INF = float("inf")


@pytest.mark.parametrize("one_root", [False, True])
def test_enumeration(one_root):
    """Scores of any size, as numbers and as logarithms, forbidden arcs included."""
    random = np.random.default_rng(0)
    refused = 0
    for i in range(300):
        n = int(random.integers(1, 6))
        scores = random.normal(size=(n + 1, n + 1)) * (1, 20, 300)[i % 3]
        if i % 2:
            scores[random.random(scores.shape) < 0.4] = -INF
        trees = arborescences(n, one_root)
        totals = tree_scores(scores, trees)
        if totals.max() == -INF:
            refused += 1
            with pytest.raises(DataError, match="leaves no tree"):
                arborescence_marginals(scores, one_root)
            continue
        log_z, arcs = arborescence_marginals(scores, one_root)
        expected, probabilities, _ = marginals_of(totals, trees, n)
        assert log_z == pytest.approx(expected, rel=1e-12, abs=1e-12)
        assert arcs == pytest.approx(probabilities, abs=1e-12)
    assert refused > 20


@pytest.mark.parametrize("gap", [36, 40, 300, 1e5])
def test_confident_scores(gap):
    """ST-3: Two words that like each other: the determinant has lost all digits at 40."""
    scores = np.zeros((3, 3))
    scores[0] = -gap
    log_z, arcs = arborescence_marginals(scores)
    assert log_z == pytest.approx(np.log(2) - gap, rel=1e-13) and arcs[0].tolist() == pytest.approx([0, 0.5, 0.5], abs=1e-12)
    laplacian = np.array([[1 + np.exp(-gap), -1], [-1, 1 + np.exp(-gap)]])
    assert gap != 36 or abs(np.log(np.linalg.det(laplacian)) - log_z) > 0.01


@pytest.mark.parametrize("one_root", [False, True])
@pytest.mark.parametrize("scale", [1.0, 30.0, 3000.0])
def test_long_sentences(scale, one_root):
    random = np.random.default_rng(1)
    for n in (8, 33):
        scores = random.normal(size=(n + 1, n + 1)) * scale
        log_z, arcs = arborescence_marginals(scores, one_root)
        best = max_arborescence(scores, one_root)[1]
        assert best - 1e-9 <= log_z <= best + (n - 1) * np.log(n + 1) + 1e-9
        assert arcs[:, 1:].sum(axis=0) == pytest.approx(1) and (arcs >= 0).all()
        assert not one_root or arcs[0].sum() == pytest.approx(1)
        assert not arcs[:, 0].any() and not arcs.diagonal().any()
        h, m = np.unravel_index(random.integers(1, n) * (n + 1) + 1, arcs.shape)
        up, down = scores.copy(), scores.copy()
        up[h, m] += 1e-4
        down[h, m] -= 1e-4
        slope = (arborescence_marginals(up, one_root)[0] - arborescence_marginals(down, one_root)[0]) / 2e-4
        assert slope == pytest.approx(arcs[h, m], abs=1e-6)


def test_how_many_trees_there_are():
    for n in (1, 2, 5, 30):
        scores = np.zeros((n + 1, n + 1))
        assert arborescence_marginals(scores)[0] == pytest.approx((n - 1) * np.log(n + 1))
        assert arborescence_marginals(scores, one_root=True)[0] == pytest.approx((n - 1) * np.log(n))


def test_a_word_that_only_the_root_enters():
    scores = np.zeros((4, 4))
    scores[1:, 2] = -INF
    for scale in (1, 1e4):
        log_z, arcs = arborescence_marginals(scores * scale, one_root=True)
        assert arcs[0].tolist() == pytest.approx([0, 0, 1, 0]) and np.exp(log_z) == pytest.approx(3)


@pytest.mark.parametrize("one_root", [False, True])
def test_large_finite_masks(one_root):
    """Arcs that a large finite score forbids: the sums are those of -inf, also where only the root is left as a head."""
    random = np.random.default_rng(2)
    tried = only_root = 0
    for i in range(150):
        n = int(random.integers(2, 5))
        scores = random.normal(size=(n + 1, n + 1)) * (1, 200)[i % 2]
        masked = random.random(scores.shape) < (0.2, 0.5)[i % 2]
        masked[1:, 1 + i % n] = i % 3 == 0
        trees = arborescences(n, one_root)
        totals = tree_scores(np.where(masked, -INF, scores), trees)
        if totals.max() == -INF:
            continue
        expected, probabilities, _ = marginals_of(totals, trees, n)
        for mask in (-1e4, -1e15, -1e30, float(np.finfo(np.float32).min), -1e300):
            log_z, arcs = arborescence_marginals(np.where(masked, mask, scores), one_root)
            assert log_z == pytest.approx(expected, rel=1e-12, abs=1e-12) and arcs == pytest.approx(probabilities, abs=1e-12)
        tried, only_root = tried + 1, only_root + (i % 3 == 0)
    assert tried > 80 and only_root > 20


def test_no_words():
    assert arborescence_marginals(np.zeros((1, 1)))[0] == 0
