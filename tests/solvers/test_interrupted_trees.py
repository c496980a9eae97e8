"""Ctrl-C ends long work of the tree solvers, and leaves nothing behind."""

import signal

import numpy as np
import pytest
from scipy import sparse
from ticking import one_signal

from structperc.solvers.arborescences import arborescence_marginals, k_best_arborescences, max_arborescence
from structperc.solvers.projective import projective_marginals, projective_tree
from structperc.solvers.sparse_arborescences import max_sparse_arborescence


def normal(n, scale=1.0):
    return np.random.default_rng(0).normal(size=(n + 1, n + 1)) * scale


def some_arcs(n, degree):
    random = np.random.default_rng(0)
    heads = np.concatenate([np.zeros(n, dtype=int), random.integers(1, n + 1, n * degree)])
    dependents = np.concatenate([np.arange(1, n + 1), random.integers(1, n + 1, n * degree)])
    return sparse.csr_array(sparse.coo_array((random.normal(size=len(heads)), (heads, dependents)), shape=(n + 1, n + 1)))


LONG = {
    max_arborescence: lambda: ([normal(150)] * 10_000,),            # three times what is solved between two checks of signals
    projective_tree: lambda: ([normal(100)] * 5_000,),
    projective_marginals: lambda: (normal(500),),
    arborescence_marginals: lambda: (normal(250, scale=1000),),
    k_best_arborescences: lambda: (normal(30), 10**6),
    max_sparse_arborescence: lambda: (some_arcs(100_000, 10),),
}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
@pytest.mark.parametrize("solver", LONG)
def test_ctrl_c(solver):
    arguments = LONG[solver]()
    with pytest.raises(KeyboardInterrupt), one_signal(0.05) as send:
        send()
        solver(*arguments)
    assert max_arborescence(np.zeros((3, 3)))[0].tolist() == [0, 0]
    assert projective_tree(np.zeros((3, 3)))[0].tolist() == [0, 1]
