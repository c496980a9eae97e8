"""Maximum arborescences of sparse graphs against the dense solver, which is tested against enumeration."""

import numpy as np
import pytest
from reference.trees import is_tree
from scipy import sparse

from structperc.errors import DataError
from structperc.solvers.arborescences import max_arborescence
from structperc.solvers.sparse_arborescences import max_sparse_arborescence

INF = float("inf")


def as_sparse(scores):
    heads, dependents = np.nonzero(scores > -INF)
    return sparse.coo_array((scores[heads, dependents], (heads, dependents)), shape=scores.shape)


@pytest.mark.parametrize("one_root", [False, True])
def test_the_dense_solver_finds_the_same_scores(one_root):
    random = np.random.default_rng(0)
    refused = 0
    for i in range(1500):
        n = int(random.integers(1, 14))
        scores = random.normal(size=(n + 1, n + 1)) if i % 2 else random.integers(-2, 3, size=(n + 1, n + 1)).astype(float)
        scores[random.random(scores.shape) < (0.0, 0.4, 0.7, 0.8)[i // 2 % 4]] = -INF
        try:
            _, best = max_arborescence(scores, one_root)
        except DataError:
            refused += 1
            with pytest.raises(DataError, match="leaves no tree"):
                max_sparse_arborescence(as_sparse(scores), one_root)
            continue
        heads, total = max_sparse_arborescence(as_sparse(scores), one_root)
        assert total == pytest.approx(best, abs=1e-11) and scores[heads, np.arange(1, n + 1)].sum() == pytest.approx(best, abs=1e-11)
        assert is_tree(heads) and (not one_root or (heads == 0).sum() == 1)
    assert refused > 100


@pytest.mark.parametrize("one_root", [False, True])
def test_long_cycles(one_root):
    """Every word likes the next best: one cycle of all, entered at the word that loses least."""
    n = 3000
    words = np.arange(1, n + 1)
    heads = np.concatenate([np.roll(words, 1), np.zeros(n, dtype=int)])
    dependents = np.concatenate([words, words])
    values = np.concatenate([np.full(n, 5.0), np.where(words == 1234, -1.0, -2.0)])
    found, total = max_sparse_arborescence(sparse.coo_array((values, (heads, dependents)), shape=(n + 1, n + 1)), one_root)
    assert np.flatnonzero(found == 0).tolist() == [1233] and total == 5 * (n - 1) - 1


def test_equal_scores_and_no_words():
    for n in (1, 2, 6):
        scores = as_sparse(np.zeros((n + 1, n + 1)))
        assert max_sparse_arborescence(scores)[0].tolist() == [0] * n
        assert max_sparse_arborescence(scores, one_root=True)[0].tolist() == [0] + [1] * (n - 1)
    empty = sparse.csr_array((1, 1))
    assert max_sparse_arborescence(empty) == (pytest.approx([]), 0)


def test_words_that_no_tree_enters_are_named():
    scores = np.full((4, 4), -INF)
    scores[0, 1] = scores[2, 3] = scores[3, 2] = 0
    with pytest.raises(DataError, match="enter the 2 words 2, 3 from outside"):
        max_sparse_arborescence(as_sparse(scores))
    scores[0, 2] = 0
    with pytest.raises(DataError, match="the 2 words 2, 3"):
        max_sparse_arborescence(as_sparse(scores), one_root=True)
    scores[1, 1] = scores[2, 0] = np.nan                # not read
    assert max_sparse_arborescence(as_sparse(scores))[0].tolist() == [0, 0, 2]
