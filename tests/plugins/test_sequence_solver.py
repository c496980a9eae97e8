"""Tests of the chain solver against all labellings of thousands of small chains, and against dynamic programmes on longer ones.

With whole-numbered scores, all arithmetic is exact and ties are frequent. So the tests also compare labels and their order.
"""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from plain import Engine
from reference import chains, costs
from structperc_sequence.constraints import Constraints
from structperc_sequence.solver import Viterbi

from structperc.components import Rows
from structperc.core.component import bind_features
from structperc.errors import DataError

BOUNDARIES = list(itertools.product([False, True], repeat=2))
BEFORE = 2      # tokens of the sentence before the tested one


def sentence(T, L, start, end, allowed=None):
    """The second sentence of a data set, with T tokens."""
    rows = Rows(np.zeros((BEFORE + T, 1)), np.array([0, BEFORE, BEFORE + T]))
    if allowed is not None:
        rows.restrict(np.vstack([np.zeros((BEFORE, L), dtype=np.uint8), allowed.astype(np.uint8)]))
    x = rows.example(1)
    x.n_atoms = L * (T + L + start + end)
    return x


def solver(L, start, end, rules=None):
    rules = rules or chains.Rules.none(L)
    made = Viterbi(L, start, end, Constraints(rules.pairs, rules.starts, rules.ends))
    bind_features(SimpleNamespace(n_atoms=lambda x: L * (x.n_rows + L + start + end)), made)
    return made


def random_rules(rng, L):
    """Rules that forbid about a third of the pairs, starts and ends."""
    return chains.Rules(rng.random((L, L)) < 0.7, rng.random(L) < 0.7, rng.random(L) < 0.7)


def cases(rng, T, L):
    """(rules, allowed labels): neither, only rules, only allowed labels, and both."""
    yield None, None
    for rules, restricted in [(True, False), (False, True), (True, True), (True, True)]:
        yield random_rules(rng, L) if rules else None, rng.random((T, L)) < 0.7 if restricted else None


def whole_and_real(rng, n_atoms, n):
    """Score vectors: zeros, whole numbers from -2 to 2, and normal numbers."""
    yield np.zeros(n_atoms)
    yield from rng.integers(-2, 3, (n, n_atoms)).astype(float)
    yield from rng.normal(size=(n, n_atoms))


class Listed:
    """Y(x) and its atom counts, in the order of ties."""

    def __init__(self, T, L, start, end, rules, allowed):
        kept = (rules or chains.Rules.none(L)).kept(T, allowed)
        self.labellings = [tuple(y) for y in chains.labellings(T, L)[kept].tolist()]
        self.counts = chains.counts(T, L, start, end)[kept]

    def __len__(self):
        return len(self.labellings)

    def ranked(self, scores):
        totals = self.counts @ scores
        return [(self.labellings[i], totals[i]) for i in np.argsort(-totals, kind="stable")]

    def marginals(self, scores):
        totals = self.counts @ scores
        p = np.exp(totals - totals.max())
        return p / p.sum() @ self.counts

    def max_marginals(self, scores):
        return np.where(self.counts > 0, (self.counts @ scores)[:, None], -np.inf).max(axis=0)


def every_small_chain(rng, n):
    """(solver, x, Y(x), scores) for 2 to 4 labels, 0 to 5 tokens and all boundaries, with and without constraints."""
    for L, T, (start, end) in itertools.product(range(2, 5), range(6), BOUNDARIES):
        for rules, allowed in cases(rng, T, L):
            viterbi, x = solver(L, start, end, rules), sentence(T, L, start, end, allowed)
            listed = Listed(T, L, start, end, rules, allowed)
            for scores in whole_and_real(rng, x.n_atoms, n):
                yield viterbi, x, listed, scores


def is_whole(scores):
    return (scores == np.round(scores)).all()


def assert_ranked(found, expected, exact):
    """Compares lists of (labelling, score)."""
    assert [y for y, _ in found] == [y for y, _ in expected]
    np.testing.assert_allclose([s for _, s in found], [s for _, s in expected], rtol=0, atol=0 if exact else 1e-12)


# ---- against all labellings ----


def test_argmax():
    feasible = infeasible = tied = 0
    for viterbi, x, listed, scores in every_small_chain(np.random.default_rng(1), 25):
        if len(listed):
            ranked = listed.ranked(scores)
            assert viterbi.argmax(scores, x) == ranked[0][0]
            feasible += 1
            tied += len(ranked) > 1 and ranked[0][1] == ranked[1][1]
        else:
            with pytest.raises(DataError, match=r"no labels of sentence 1 \(counted from 0\) satisfy the constraints"):
                viterbi.argmax(scores, x)
            infeasible += 1
    assert feasible > 10_000 and tied > 1500 and infeasible > 1000


@pytest.mark.parametrize("loss", ["hamming", "table"])
def test_loss_augmented_argmax(loss):
    """The loss of each token is added to its scores; the result has the largest score + scale * loss."""
    rng = np.random.default_rng(2)
    for L, (start, end) in itertools.product(range(2, 5), BOUNDARIES):
        table = 1 - np.eye(L) if loss == "hamming" else costs.random_table(rng, L, values=4)
        engine = Engine("sequence", classes=list(range(1, L + 1)), loss="hamming" if loss == "hamming" else table, start=start, end=end)
        token_loss = engine.fit([np.zeros((1, 1))], [[1]]).parts_.loss
        for T in range(6):
            for rules, allowed in cases(rng, T, L):
                listed = Listed(T, L, start, end, rules, allowed)
                if len(listed) == 0:
                    continue
                viterbi, x = solver(L, start, end, rules), sentence(T, L, start, end, allowed)
                for scores, scale in itertools.product(whole_and_real(rng, x.n_atoms, 3), [1.0, 2.0]):
                    gold = listed.labellings[rng.integers(len(listed))]
                    losses = np.array([chains.cost(table, gold, y) for y in listed.labellings])
                    augmented = token_loss.augment(gold, scores, scale, x)
                    np.testing.assert_allclose(listed.counts @ augmented, listed.counts @ scores + scale * losses, rtol=1e-12, atol=1e-12)
                    assert viterbi.argmax(augmented, x) == listed.labellings[np.argmax(listed.counts @ scores + scale * losses)]


def test_k_best():
    """If there are few labellings, the test uses every k up to their number and two more."""
    rng = np.random.default_rng(3)
    for viterbi, x, listed, scores in every_small_chain(rng, 3):
        n = len(listed)
        for k in range(1, n + 3) if n <= 16 else [1, 2, int(rng.integers(3, n)), n + 1]:
            if n:
                found = viterbi.k_best(scores, x, k)
                assert_ranked(found, listed.ranked(scores)[:k], is_whole(scores))
                assert found[0][0] == viterbi.argmax(scores, x)
            else:
                with pytest.raises(DataError, match="no labels of sentence 1 "):
                    viterbi.k_best(scores, x, k)


def test_marginals():
    for viterbi, x, listed, scores in every_small_chain(np.random.default_rng(4), 10):
        if len(listed):
            log_z, expected = viterbi.marginals(scores, x)
            np.testing.assert_allclose(expected, listed.marginals(scores), rtol=0, atol=1e-10)
            assert log_z == pytest.approx(np.logaddexp.reduce(listed.counts @ scores), rel=1e-12, abs=1e-12)
        else:
            with pytest.raises(DataError, match="no labels of sentence 1 "):
                viterbi.marginals(scores, x)


def test_max_marginals():
    for viterbi, x, listed, scores in every_small_chain(np.random.default_rng(5), 10):
        if len(listed):
            np.testing.assert_allclose(viterbi.max_marginals(scores, x), listed.max_marginals(scores), rtol=0,
                                       atol=0 if is_whole(scores) else 1e-12)
        else:
            with pytest.raises(DataError, match="no labels of sentence 1 "):
                viterbi.max_marginals(scores, x)


@pytest.mark.parametrize("size", [1e-3, 30.0, 1e3, 1e6])
def test_marginals_of_small_and_large_scores(size):
    rng = np.random.default_rng(6)
    for T, L in [(1, 3), (4, 3), (5, 2)]:
        viterbi, x, listed = solver(L, True, True), sentence(T, L, True, True), Listed(T, L, True, True, None, None)
        for scores in size * rng.normal(size=(10, x.n_atoms)):
            np.testing.assert_allclose(viterbi.marginals(scores, x)[1], listed.marginals(scores), rtol=0, atol=1e-12 + 1e-14 * size)


def test_only_the_chain_of_the_sentence_is_read():
    """The result does not depend on the allowed labels of the sentence before, even if it allows none."""
    allowed = np.array([[True, False], [False, True], [True, True]])
    viterbi = solver(2, False, False)
    scores = np.array([0, 5, 5, 0, 0, 1, 0, 0, 0, 0.0])
    assert viterbi.argmax(scores, sentence(3, 2, False, False, allowed)) == (1, 2, 2)
    assert viterbi.argmax(scores, sentence(3, 2, False, False)) == (2, 1, 2)


# ---- longer chains, wider registers ----


def longer_chains(rng):
    """(solver, x, chain of the twin, scores). From 64 labels on, the widest registers are used; odd numbers need overlapping ones."""
    for L, T in [(2, 60), (3, 1), (5, 20), (9, 12), (22, 8), (33, 4), (65, 3), (70, 4)]:
        for (start, end), constrained in [(BOUNDARIES[0], False), (BOUNDARIES[3], False), (BOUNDARIES[2], True)]:
            rules = chains.Rules(rng.random((L, L)) < 0.8, rng.random(L) < 0.8, rng.random(L) < 0.8) if constrained else None
            allowed = rng.random((T, L)) < 0.8 if constrained else None
            if constrained:     # label 0 is always possible
                rules.pairs[:, 0] = rules.pairs[0] = rules.starts[0] = rules.ends[0] = True
                allowed[:, 0] = True
            viterbi, x = solver(L, start, end, rules), sentence(T, L, start, end, allowed)
            for scores in whole_and_real(rng, x.n_atoms, 1):
                yield viterbi, x, chains.Chain.of(scores, T, L, start, end, rules, allowed), scores


def test_longer_chains():
    for viterbi, x, chain, scores in longer_chains(np.random.default_rng(7)):
        y, score = chains.viterbi(chain)
        assert viterbi.argmax(scores, x) == y
        assert viterbi.max_marginals(scores, x).max() == pytest.approx(score, rel=1e-12)
        k = 2 if x.n_atoms > 2000 else 7
        assert_ranked(viterbi.k_best(scores, x, k), chains.k_best(chain, k), is_whole(scores))


def test_marginals_of_longer_chains():
    for viterbi, x, chain, scores in longer_chains(np.random.default_rng(8)):
        start, end = viterbi.has_start, viterbi.has_end
        np.testing.assert_allclose(viterbi.marginals(scores, x)[1], chains.marginals(chain, start, end), rtol=0, atol=1e-9)
        np.testing.assert_allclose(viterbi.max_marginals(scores, x), chains.max_marginals(chain, start, end), rtol=1e-12, atol=1e-12)


def test_thousands_of_tokens():
    """Sums over 5000 tokens do not overflow, and marginals stay accurate. If pairs score 0, each token has its own best label."""
    rng = np.random.default_rng(9)
    T, L = 5000, 4
    viterbi, x = solver(L, False, False), sentence(T, L, False, False)
    tokens = rng.integers(-2, 3, (T, L)).astype(float)
    scores = np.append(tokens.ravel(), np.zeros(L * L))
    assert viterbi.argmax(scores, x) == tuple((tokens.argmax(axis=1) + 1).tolist())
    marginals = viterbi.marginals(scores, x)[1][:T * L].reshape(T, L)
    np.testing.assert_allclose(marginals, np.exp(tokens) / np.exp(tokens).sum(axis=1)[:, None], rtol=0, atol=1e-9)
    best, second = viterbi.k_best(scores, x, 2)
    assert best == (viterbi.argmax(scores, x), tokens.max(axis=1).sum()) and best[1] - second[1] in (0, 1)


# ---- the twin itself ----


def test_the_twin_is_right():
    rng = np.random.default_rng(10)
    for T, L, (start, end) in itertools.product([0, 1, 3, 4], [2, 3], BOUNDARIES):
        for rules, allowed in cases(rng, T, L):
            listed = Listed(T, L, start, end, rules, allowed)
            for scores in whole_and_real(rng, L * (T + L + start + end), 2):
                chain = chains.Chain.of(scores, T, L, start, end, rules, allowed)
                found = chains.k_best(chain, 5)
                assert_ranked(found, listed.ranked(scores)[:5], is_whole(scores))
                assert chains.viterbi(chain) == (found[0] if len(listed) else None)
                if len(listed) and T:
                    np.testing.assert_allclose(chains.marginals(chain, start, end), listed.marginals(scores), rtol=0, atol=1e-12)
                    np.testing.assert_allclose(chains.max_marginals(chain, start, end), listed.max_marginals(scores), rtol=0, atol=1e-12)


# ---- errors ----


@pytest.mark.parametrize(("rules", "allowed", "place"), [
    (chains.Rules(np.ones((2, 2), dtype=bool), np.zeros(2, dtype=bool), np.ones(2, dtype=bool)), None, "none is left for its token 0"),
    (chains.Rules(np.zeros((2, 2), dtype=bool), np.ones(2, dtype=bool), np.ones(2, dtype=bool)), None, "none is left for its token 1"),
    (chains.Rules(np.ones((2, 2), dtype=bool), np.ones(2, dtype=bool), np.zeros(2, dtype=bool)), None, "none may end it"),
    (chains.Rules(np.eye(2, dtype=bool), np.ones(2, dtype=bool), np.ones(2, dtype=bool)), [[1, 1], [0, 1], [1, 0]], "for its token 2"),
])
@pytest.mark.parametrize("boundaries", BOUNDARIES)
def test_the_error_names_the_sentence_and_the_token(boundaries, rules, allowed, place):
    viterbi = solver(2, *boundaries, rules)
    x = sentence(3, 2, *boundaries, None if allowed is None else np.array(allowed))
    for method in (viterbi.argmax, viterbi.marginals, viterbi.max_marginals):
        with pytest.raises(DataError, match=rf"sentence 1 .*{place}.*Allow more labels or transitions"):
            method(np.zeros(x.n_atoms), x)
    with pytest.raises(DataError, match="sentence 1 "):
        viterbi.k_best(np.zeros(x.n_atoms), x, 2)


def test_scores_must_be_those_of_the_sentence():
    """Scores of another length raise an error. The solver computes the number of atoms of the sentence itself."""
    for T, (start, end) in itertools.product([0, 3], BOUNDARIES):
        viterbi, x = solver(2, start, end), sentence(T, 2, start, end)
        expected = x.n_atoms
        for n in (0, expected - 2, expected + 2, 100):
            for method, further in [(viterbi.argmax, ()), (viterbi.k_best, (2,)), (viterbi.marginals, ()), (viterbi.max_marginals, ())]:
                with pytest.raises(DataError, match=f"{n} atom scores for example 1; expected {expected} for its {T} tokens"):
                    method(np.zeros(n), x, *further)
        x.n_atoms = 0
        assert viterbi.argmax(np.zeros(expected), x) == (1,) * T
