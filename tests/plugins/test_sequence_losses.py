"""Tests of losses of chains, which add up over tokens: Hamming, cost matrices, totals, augmented search, rejected losses."""

import itertools

import numpy as np
import pytest
from plain import Engine
from reference import chains, costs

from structperc.core.losses import is_additive
from structperc.errors import DataError, PluginError

LABELS = ["a", "b", "c"]


def data(rng, n=30, d=3):
    X = [rng.integers(-2, 3, (size, d)).astype(float) for size in rng.integers(0, 5, n)]
    return X, [list(rng.choice(LABELS, len(x))) for x in X]


def codes(labels):
    return tuple(LABELS.index(label) + 1 for label in labels)


def parts(loss, L=3, **options):
    """The loss of an engine, and one example of every length from 0 to 4."""
    engine = Engine("sequence", classes=list(range(1, L + 1)), loss=loss, **options).fit([np.zeros((1, 1))], [[1]])
    rows = engine.parts_.reader.read(np.zeros((10, 1)), np.array([0, 0, 1, 3, 6, 10]))
    examples = [rows.example(i) for i in range(5)]
    for x in examples:
        x.n_atoms = engine.parts_.features.n_atoms(x)
    return engine.parts_.loss, examples


@pytest.mark.parametrize("kind", ["hamming", "table"])
@pytest.mark.parametrize("L", [2, 3])
def test_values_are_the_sums_of_the_tokens_costs(L, kind):
    """The row of the matrix is the correct label."""
    table = 1 - np.eye(L) if kind == "hamming" else costs.random_table(np.random.default_rng(L), L)
    loss, examples = parts("hamming" if kind == "hamming" else table, L)
    assert is_additive(loss)
    for x in examples:
        for gold, y in itertools.product(map(tuple, chains.labellings(x.n_rows, L).tolist()), repeat=2):
            assert loss.value(gold, y, x) == pytest.approx(sum(table[g - 1, k - 1] for g, k in zip(gold, y, strict=True)), rel=1e-15)


def test_a_matrix_need_not_be_symmetric():
    """Label b costs 5 if the correct label is a. Label a costs 1 if the correct label is b."""
    loss, examples = parts(np.array([[0.0, 5.0], [1.0, 0.0]]), 2)
    assert loss.value((1, 1), (2, 1), examples[2]) == 5
    assert loss.value((2, 1), (1, 1), examples[2]) == 1


@pytest.mark.parametrize("loss", ["hamming", "table", "zero-one"])
@pytest.mark.parametrize("augment", [0.0, 1.0])
def test_totals_are_those_of_the_online_predictions(loss, augment):
    rng = np.random.default_rng(1)
    X, y = data(rng)
    table = 1 - np.eye(3) if loss != "table" else costs.random_table(rng, 3)
    engine = Engine("sequence", loss=table if loss == "table" else loss, loss_weight=augment, epochs=3).fit(X, y, record_predictions=True)
    per_sentence = [chains.cost(table, codes(right), codes(found)) for right, found in zip(y * 3, engine.online_predictions_, strict=True)]
    if loss == "zero-one":
        per_sentence = np.sign(per_sentence)
    assert engine.cumulative_loss_ == pytest.approx(sum(per_sentence), rel=1e-12)
    assert sum(engine.mistakes_) == np.count_nonzero(per_sentence)


def test_hamming_is_the_default_and_the_matrix_of_ones():
    X, y = data(np.random.default_rng(2))
    options = dict(update="pa1", C=0.1, loss_weight=0.5, epochs=2)
    default, *others = (Engine("sequence", **options, **given).fit(X, y) for given in ({}, {"loss": "hamming"}, {"loss": 1 - np.eye(3)}))
    for other in others:
        assert other.cumulative_loss_ == default.cumulative_loss_
        np.testing.assert_array_equal(other.coef_, default.coef_)


def test_costs_decide_what_is_learned_from():
    """The augmented search returns the wrong label of the highest cost."""
    table = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    engine = Engine("sequence", classes=LABELS, loss=table, loss_weight=1.0).fit([np.ones((1, 1))], [["a"]], record_predictions=True)
    assert engine.online_predictions_.tolist() == [["a"]] and engine.mistakes_ == [0]
    np.testing.assert_array_equal(engine.coef_, [[1], [0], [-1]])


def test_margins_follow_the_loss():
    """After the passive-aggressive step, the correct labels lead by the margin times the costs of the tokens."""
    rng = np.random.default_rng(3)
    table = costs.random_table(rng, 3)
    for _ in range(20):
        x, gold = rng.normal(size=(3, 4)), list(rng.choice(LABELS[1:], 3))
        engine = Engine("sequence", classes=LABELS, update="pa", loss=table, margin=1.7).fit([x], [gold])
        ranked = chains.counts(3, 3) @ engine.atom_scores([x])[0]
        listed = [tuple(y) for y in chains.labellings(3, 3).tolist()]
        ahead = ranked[listed.index(codes(gold))] - ranked[listed.index((1, 1, 1))]
        assert ahead == pytest.approx(1.7 * chains.cost(table, codes(gold), (1, 1, 1)), rel=1e-12)


# ---- rejected losses ----


@pytest.mark.parametrize(("matrix", "sentence"), [
    (np.zeros((2, 2)), r"loss is a cost matrix of shape \(2, 2\), but there are 3 labels; expected \(3, 3\)"),
    (np.ones((3, 3)), r"loss\[0, 0\] is 1.0, the cost of a right label; it must be 0"),
    (np.eye(3)[::-1], r"loss\[1, 1\] is 1.0"),
    (np.eye(3) - 1, r"loss\[0, 1\] is -1.0; costs must be finite and not negative"),
    (np.full((3, 3), np.nan), r"loss\[0, 0\] is nan"),
])
def test_what_is_no_cost_matrix_is_refused(matrix, sentence):
    with pytest.raises(DataError, match=sentence):
        Engine("sequence", classes=LABELS, loss=matrix).fit([np.ones((1, 1))], [["a"]])


@pytest.mark.parametrize("loss", ["absolute", "squared", "costs"])
def test_losses_of_single_labels_are_refused(loss):
    X, y = data(np.random.default_rng(4))
    with pytest.raises(PluginError, match=f"loss='{loss}'"):
        Engine("sequence", loss=loss).fit(X, y, **({"costs": np.ones((len(X), 3))} if loss == "costs" else {}))


def test_unknown_losses_are_named():
    with pytest.raises(PluginError, match="loss='haming' is unknown to the plugins sequence. Did you mean 'hamming'.* They know "
                       "absolute, squared, zero-one, hamming, costs\\.$"):
        Engine("sequence", classes=LABELS, loss="haming").fit([np.ones((1, 1))], [["a"]])
