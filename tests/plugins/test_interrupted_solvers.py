"""Ctrl-C within one long kernel value or one long call of a solver: the call ends, and what was learned before it stays."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse
from plain import Engine
from structperc_kernels.object_kernels import SubsequenceKernel, SubsetTreeKernel
from structperc_sequence.chain_features import ChainFeatures
from structperc_sequence.constraints import read_constraints
from structperc_sequence.solver import Viterbi
from ticking import one_signal, ticking

from structperc import hookimpl
from structperc.components import Rows
from structperc.core.component import bind_features
from structperc.solvers.block_steps import short_pairs

LONG = 150_000      # tokens of a sentence whose best labels take several looks for signals, with
LABELS = 50


def long_string(n=4_000):
    return "abcdefgh" * n


def long_tree(n=3_000):
    return ("S", *[("A", *[("B",)] * 30)] * n)


@pytest.mark.parametrize("kernel, make", [(SubsequenceKernel(normalise=False, decay=0.9), long_string), (SubsetTreeKernel(), long_tree)])
def test_ctrl_c_ends_one_kernel_value(kernel, make):
    with pytest.raises(KeyboardInterrupt), ticking(0.02):       # reading takes less
        kernel.encode(make())           # its value with itself
    assert kernel.n_symbols == 0


@pytest.mark.parametrize("kernel, make", [("subsequence", long_string), ("subset-tree", long_tree)])
def test_ctrl_c_within_one_kernel_value_keeps_what_was_learned(kernel, make):
    X, y = [make(n) for n in (2, 4, 3)], [1, 2, 1]
    options = {"classes": [1, 2], "plugins": ["dual-kernel"], "kernel": kernel, "budget": 2}
    expected = Engine("multiclass", **options).partial_fit(X, y)
    engine = Engine("multiclass", **options).partial_fit(X, y)
    with pytest.raises(KeyboardInterrupt), ticking(0.02):
        engine.partial_fit([make()], [2])
    with pytest.raises(KeyboardInterrupt), ticking(0.02):
        engine.predict([make()])
    assert engine.predict(X).tolist() == expected.predict(X).tolist()
    assert engine.atom_scores(X).tolist() == expected.atom_scores(X).tolist()
    for one in (engine, expected):
        one.partial_fit(X, y[::-1])
    assert engine.dual_coef_.tolist() == expected.dual_coef_.tolist()


def problem(T=LONG, L=LABELS):
    x = Rows(np.zeros((T, 1)), np.array([0, T])).example(0)
    x.n_atoms = L * (T + L)
    solver = Viterbi(L, False, False, read_constraints(range(L)))
    bind_features(SimpleNamespace(n_atoms=lambda x: L * (x.n_rows + L)), solver)
    return solver, np.zeros(x.n_atoms), x


@pytest.mark.parametrize("ask, size", [
    (lambda solver, scores, x: solver.argmax(scores, x), (LONG, LABELS)),
    (lambda solver, scores, x: solver.k_best(scores, x, 20), (20_000, 50)),
    (lambda solver, scores, x: solver.marginals(scores, x), (16_000, 100)),
    (lambda solver, scores, x: solver.max_marginals(scores, x), (LONG, LABELS)),
])
def test_ctrl_c_ends_a_long_sentence(ask, size):
    solver, scores, x = problem(*size)
    with pytest.raises(KeyboardInterrupt), ticking():
        ask(solver, scores, x)
    solver, scores, x = problem(3, 2)
    assert solver.argmax(scores, x) == (1, 1, 1)


def test_ctrl_c_within_a_sentence_keeps_the_sentences_before():
    n_short, short = 5, 4
    X = np.random.default_rng(0).normal(size=(n_short * short + LONG, 2))
    y = np.arange(len(X)) % LABELS
    lengths = [short] * n_short
    options = {"classes": list(range(LABELS)), "average": True}
    expected = Engine("sequence", **options).partial_fit(X[:n_short * short], y[:n_short * short], lengths=lengths)
    engine = Engine("sequence", **options)
    with pytest.raises(KeyboardInterrupt), ticking():
        engine.partial_fit(X, y, lengths=[*lengths, LONG])
    assert engine.status_ == "interrupted"
    assert engine.coef_.tobytes() == expected.coef_.tobytes()
    with pytest.raises(KeyboardInterrupt), ticking():
        engine.predict(X, lengths=[*lengths, LONG])
    assert all(map(np.array_equal, engine.predict(X[:8], lengths=[4, 4]), expected.predict(X[:8], lengths=[4, 4])))


@pytest.mark.parametrize("sparse", [False, True])
def test_ctrl_c_ends_the_scoring_of_a_long_sentence(sparse):
    T, d = 20_000, 400
    features = ChainFeatures(4 * LABELS, d, feature_major=sparse)        # so many that one call looks for signals often
    w, rows = np.zeros(features.n_weights), scipy.sparse.csr_array(np.ones((1, d))) if sparse else np.ones((1, d))
    X = scipy.sparse.vstack([rows] * T, format="csr") if sparse else np.ones((T, d))
    x = Rows(X, np.array([0, T])).example(0)
    with pytest.raises(KeyboardInterrupt), ticking():
        features.scores(w, x)
    assert not features.scores(w, Rows(X[:3], np.array([0, 3])).example(0)).any()


def test_the_first_ctrl_c_ends_the_comparison_with_strings():
    held, asked = ["abcdefgh" * 50 + "ab" * n for n in range(24)], ["abcdefgh" * 50] * 32      # two groups of sixteen
    engine = Engine("multiclass", classes=[1, 2], plugins=["dual-kernel"], kernel="subsequence").partial_fit(held, [1, 2] * 12)
    with pytest.raises(KeyboardInterrupt) as caught, ticking(0.05, once=False):         # reading takes less
        engine.predict(asked)
    assert caught.value.args == (1,)


def test_ctrl_c_ends_sums_over_pairs():
    n = 6_000_000
    scores = np.zeros(n)
    levels = (np.arange(n) % 2).astype(np.int32)
    with pytest.raises(KeyboardInterrupt), ticking():
        short_pairs(scores, levels, np.arange(n), np.array([0, n]))


class FirstReport:
    """Sends a signal once a solver has reported its first point."""

    def __init__(self, send):
        self.send = send

    @hookimpl
    def structperc_epoch_end(self, engine, record):
        if record.epoch == 1:
            self.send()


def test_ctrl_c_within_large_margins_keeps_the_last_point():
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 5))
    y = 1 + np.digitize(X[:, 0] * X[:, 1] + random.normal(size=3000), [-0.5, 0.5])
    with one_signal() as send, pytest.raises(KeyboardInterrupt):
        engine = Engine("prank", plugins=["dual-kernel", "large-margin", FirstReport(send)], trainer="svor", kernel="rbf", gamma=2.0, C=1e4,
                        tolerance=1e-12, epochs=10**6)
        engine.fit(X, y)
    assert engine.status_ == "interrupted" and np.isinf(engine.gap_)
    assert engine.predict(X).shape == y.shape and len(engine.mistakes_) >= 1
