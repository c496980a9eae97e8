"""Tests of block Frank-Wolfe steps: convex coefficients reach the optimum of the quadratic program over the known structures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import structural_svm
from structperc_batch.dual_blocks import BlockFrankWolfe

from structperc.errors import DataError
from structperc.solvers.block_steps import block_steps, can_sweep, sweep_blocks


def blocks(seed, n_blocks, d, C, whole):
    """(vectors, losses, alpha, offsets) of random blocks. The first structure of a block is the gold one, with the coefficient C."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 5, n_blocks)
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int64)
    vectors = random.integers(-2, 3, (offsets[-1], d)).astype(float) if whole else random.normal(size=(offsets[-1], d))
    losses, alpha = random.integers(0, 4, offsets[-1]).astype(float), np.zeros(offsets[-1])
    vectors[offsets[:-1]], losses[offsets[:-1]], alpha[offsets[:-1]] = 0, 0, C
    return vectors, losses, alpha, offsets


def dual(alpha, losses, vectors):
    return alpha @ losses - np.sum((alpha @ vectors) ** 2) / 2


def best(vectors, losses, offsets, C):
    examples = [(vectors[a:b], losses[a:b]) for a, b in zip(offsets[:-1], offsets[1:], strict=True)]
    return structural_svm.optimum(examples, C)[1]


@given(seed=st.integers(0, 10**6), n_blocks=st.integers(1, 5), d=st.integers(1, 3), C=st.floats(0.05, 5), whole=st.booleans())
def test_sweeps_reach_the_optimum(seed, n_blocks, d, C, whole):
    vectors, losses, alpha, offsets = blocks(seed, n_blocks, d, C, whole)
    w = alpha @ vectors

    sweeps = sweep_blocks(alpha, losses, vectors, offsets, w, 1e-9)

    assert 1 <= sweeps <= 1000
    assert (alpha >= 0).all()
    np.testing.assert_allclose(np.add.reduceat(alpha, offsets[:-1]), C, rtol=1e-9)
    np.testing.assert_allclose(w, alpha @ vectors, atol=1e-9)
    assert dual(alpha, losses, vectors) == pytest.approx(best(vectors, losses, offsets, C), rel=1e-6, abs=1e-6)


@given(seed=st.integers(0, 10**6), C=st.floats(0.05, 5), whole=st.booleans())
def test_steps_on_one_block_climb_and_close_most_of_its_gap(seed, C, whole):
    vectors, losses, alpha, offsets = blocks(seed, 1, 2, C, whole)
    distance = np.square(vectors[:, None] - vectors[None]).sum(axis=2)
    value, before = losses - vectors @ (alpha @ vectors), dual(alpha, losses, vectors)
    widest = value.max() - value[alpha > 0].min()

    gap = block_steps(alpha, value, distance)

    exact = losses - vectors @ (alpha @ vectors)
    assert gap == pytest.approx(widest)
    assert alpha.sum() == pytest.approx(C) and (alpha >= 0).all()
    assert dual(alpha, losses, vectors) >= before - 1e-12
    np.testing.assert_allclose(value - value[0], exact - exact[0], atol=1e-8)      # up to a constant
    assert exact.max() - exact[alpha > 0].min() <= 0.01 * gap + 1e-9


def test_sweeps_end_when_the_gap_is_small_enough():
    vectors, losses, alpha, offsets = blocks(1, 5, 3, 1.0, False)

    assert sweep_blocks(alpha, losses, vectors, offsets, alpha @ vectors, np.inf) == 1


def test_what_does_not_fit_together_is_refused():
    vectors, losses, alpha, offsets = blocks(1, 5, 3, 1.0, False)
    with pytest.raises(DataError, match=r"has the shape \("):
        sweep_blocks(alpha[1:].copy(), losses, vectors, offsets, np.zeros(3), 1.0)
    with pytest.raises(DataError, match=r"has the shape \("):
        sweep_blocks(alpha, losses, vectors, offsets, np.zeros(2), 1.0)
    with pytest.raises(DataError, match=r"has the shape \("):
        block_steps(alpha, losses, np.zeros((2, 2)))


def test_vectors_that_would_take_much_memory_are_not_swept():
    assert can_sweep(1000, 1000) and not can_sweep(10**5, 1000)


def test_a_damaged_solution_is_refused():
    rule = BlockFrankWolfe()

    assert rule.dual.state() == {}
    with pytest.raises(DataError, match="damaged"):
        rule.restore({"estimate": np.float64(0.0), "counts": np.array([1]), "alpha": np.zeros(0), "loss": np.zeros(0),
                      "sizes": np.zeros(0, dtype=np.int64), "structures": np.zeros(0, dtype=np.intc),
                      "gold_sizes": np.array([-1]), "golds": np.zeros(0, dtype=np.intc)})
