"""Tests of losses for JAX: equal to batches of numpy, under jit, grad and vmap; what cannot be."""

import subprocess
import sys

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed: pip install structperc[jax]")

from structperc import Problem  # noqa: E402
from structperc.errors import DataError, OptionError, PluginError  # noqa: E402
from structperc.jax import structured_loss  # noqa: E402

PROBLEM = Problem("sequence", classes=["B", "I", "O"], forbidden_transitions="iob2")
BATCH = PROBLEM.batch(lengths=[3, 1], y=[["B", "I", "O"], ["O"]])
SCORES = np.random.default_rng(0).normal(size=BATCH.offsets[-1]).astype(np.float32)


@pytest.mark.parametrize("loss", ["perceptron", "hinge", "log-loss", "softmax-margin", "sparsemap"])
def test_values_and_gradients_are_those_of_batches(loss):
    function, weights = structured_loss(PROBLEM, loss), np.array([1.0, 3.0], dtype=np.float32)
    values, gradient = BATCH.loss(SCORES, loss)
    for compiled in (lambda f: f, jax.jit):
        own = compiled(lambda s: function(s, BATCH))(SCORES)
        slope = compiled(jax.grad(lambda s: (function(s, BATCH) * weights).sum()))(SCORES)
        assert np.asarray(own) == pytest.approx(values, rel=1e-6)
        assert np.asarray(slope) == pytest.approx(gradient * np.repeat(weights, np.diff(BATCH.offsets)), rel=1e-5, abs=1e-7)


def test_tables_of_scores_and_many_of_them_are_solved():
    problem = Problem("cusum", classes=[1, 2, 3])
    batch, function = problem.batch(y=[3, 1]), structured_loss(problem)
    tables = np.random.default_rng(1).normal(size=(4, 2, 2)).astype(np.float32)

    wanted = np.array([batch.loss(s)[0] for s in tables])
    assert np.asarray(jax.vmap(lambda s: function(s, batch))(tables)) == pytest.approx(wanted, rel=1e-6)
    assert jax.grad(lambda s: function(s, batch).sum())(tables[0]).shape == (2, 2)


def test_what_jax_cannot_do_is_one_sentence():
    function = structured_loss(PROBLEM)
    with pytest.raises(PluginError, match="first derivatives only"):
        jax.grad(lambda s: jax.grad(lambda t: function(t, BATCH).sum())(s).sum())(SCORES)
    with pytest.raises(OptionError, match="Did you mean 'hinge'"):
        structured_loss(PROBLEM, "hing")
    with pytest.raises(DataError, match="random_state=0"):
        structured_loss(PROBLEM, "perturbed")
    with pytest.raises(DataError, match="expected floats"):
        function(np.zeros(3, dtype=int), BATCH)
    with pytest.raises(Exception, match="has the score nan"):
        function(SCORES * np.nan, BATCH).block_until_ready()


def test_the_library_imports_no_jax():
    subprocess.run([sys.executable, "-c", "import sys, structperc; structperc.Problem; assert 'jax' not in sys.modules"], check=True)
