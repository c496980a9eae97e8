"""Losses: their values, and augmented atom scores, which add the loss to the score of every label, up to a constant."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain import Engine
from reference import costs
from scipy.sparse import csr_array

from structperc.components import (
    AbsoluteLoss,
    ClassOutputs,
    CostLoss,
    ExampleCosts,
    HammingLoss,
    Outputs,
    RankOutputs,
    Rows,
    SquaredLoss,
    ZeroOneLoss,
)
from structperc.core.losses import is_additive
from structperc.errors import DataError, PluginError

NAMED = {"absolute": AbsoluteLoss, "squared": SquaredLoss, "zero-one": ZeroOneLoss}
OUTPUTS = {"ranks": RankOutputs, "classes": ClassOutputs}


def label_outputs(kind, r):
    outputs = OUTPUTS[kind]()
    outputs.find_labels([1], list(range(1, r + 1)))
    return outputs


def examples(outputs, n=1):
    """n examples of the outputs' atoms."""
    rows = Rows(np.zeros((n, 1)))
    found = [rows.example(i) for i in range(n)]
    for x in found:
        x.n_atoms = outputs.n_labels - isinstance(outputs, RankOutputs)
    return found


def assert_additive(loss, outputs, x, gold, scale, rng):
    """For every label z: score of the augmented atoms = score + scale * loss(gold, z) + a constant."""
    s = rng.normal(size=x.n_atoms)
    augmented = loss.augment(gold, s, scale, x)
    surplus = [outputs.count(x, z) @ (augmented - s) - scale * loss.value(gold, z, x) for z in outputs.enumerate(x)]
    np.testing.assert_allclose(surplus, surplus[0], atol=1e-9 * (1 + scale * 100))


@pytest.mark.parametrize("kind", OUTPUTS)
@pytest.mark.parametrize("name", NAMED)
def test_named_losses(name, kind):
    rng = np.random.default_rng(1)
    for r in (2, 3, 7):
        outputs = label_outputs(kind, r)
        loss = NAMED[name]()
        loss.start(SimpleNamespace(outputs=outputs), None)
        assert is_additive(loss)
        table = costs.table(name, r)
        (x,) = examples(outputs)
        for gold in outputs.enumerate(x):
            assert [loss.value(gold, z, x) for z in outputs.enumerate(x)] == table[gold - 1].tolist()
            for scale in (0.0, 0.5, 3.0):
                assert_additive(loss, outputs, x, gold, scale, rng)


@pytest.mark.parametrize("kind", OUTPUTS)
@given(st.integers(2, 6), st.integers(0, 10**6), st.floats(0, 10))
def test_cost_tables(kind, r, seed, scale):
    rng = np.random.default_rng(seed)
    outputs = label_outputs(kind, r)
    matrix = costs.random_table(rng, r)
    loss = CostLoss(matrix)
    loss.start(SimpleNamespace(outputs=outputs), None)
    (x,) = examples(outputs)
    for gold in outputs.enumerate(x):
        assert [loss.value(gold, z, x) for z in outputs.enumerate(x)] == matrix[gold - 1].tolist()
        assert_additive(loss, outputs, x, gold, scale, rng)


@pytest.mark.parametrize("kind", OUTPUTS)
@given(st.integers(2, 6), st.integers(0, 10**6), st.floats(0, 10))
def test_costs_of_each_example(kind, r, seed, scale):
    rng = np.random.default_rng(seed)
    outputs = label_outputs(kind, r)
    y = rng.integers(1, r + 1, 4)
    each = np.array([costs.random_table(rng, r)[k - 1] for k in y])
    loss = ExampleCosts()
    loss.start(SimpleNamespace(outputs=outputs), None)
    rows = examples(outputs, 4)
    loss.set_costs(each, outputs.encode(y, Rows(np.zeros((4, 1)))), 4)
    for x, gold in zip(rows, y.tolist(), strict=True):
        assert [loss.value(gold, z, x) for z in outputs.enumerate(x)] == each[x.index].tolist()
        assert_additive(loss, outputs, x, gold, scale, rng)


@given(st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1)))), st.floats(0.1, 5))
def test_hamming_on_sets_of_atoms(sets, scale):
    """All subsets of the atoms."""
    n, gold = sets
    outputs = Outputs()
    loss = HammingLoss()
    loss.start(SimpleNamespace(outputs=outputs), None)
    x = Rows(np.zeros((n, 1)), np.array([0, n])).example(0)
    x.n_atoms = n
    s = np.random.default_rng(n).normal(size=n)
    augmented = loss.augment(tuple(gold), s, scale, x)
    for code in range(2**n):
        z = tuple(a for a in range(n) if code >> a & 1)
        value = loss.value(tuple(gold), z, x)
        assert value == len(gold ^ set(z))
        added = sum(augmented[a] - s[a] for a in z)
        np.testing.assert_allclose(added, scale * (value - len(gold)), atol=1e-9)


@pytest.mark.parametrize(("problem", "meaning"), [("cusum", costs.table("absolute", 3)), ("multiclass", 2 * costs.table("zero-one", 3))])
def test_hamming_on_labels_is_refused_or_counts_their_atoms(problem, meaning):
    """The loss must not read the labels 1..r as numbers of atoms."""
    rng = np.random.default_rng(2)
    X, y = csr_array(rng.normal(size=(40, 3))), rng.integers(1, 4, 40)
    try:
        hamming = Engine(problem, loss="hamming", loss_weight=1.0).fit(X, y)
    except PluginError as error:
        assert "hamming" in str(error).lower()
    else:
        twin = Engine(problem, loss=meaning, loss_weight=1.0).fit(X, y)
        np.testing.assert_array_equal(hamming.coef_, twin.coef_)
        assert hamming.cumulative_loss_ == twin.cumulative_loss_


@pytest.mark.parametrize(("matrix", "words"), [
    ([[0, 1], [1, 0]], r"shape \(2, 2\), but there are 3 labels"),
    ([[0, 1, 1], [1, 0.5, 1], [1, 1, 0]], r"loss\[1, 1\] is 0.5.*must be 0"),
    ([[0, 1, 1], [1, 0, -1], [1, 1, 0]], r"loss\[1, 2\] is -1.0"),
    ([[0, 1, np.nan], [1, 0, 1], [1, 1, 0]], r"loss\[0, 2\] is nan"),
])
def test_impossible_tables_are_refused(matrix, words):
    with pytest.raises(DataError, match=words):
        Engine("multiclass", loss=matrix).fit([[1.0], [2.0], [3.0]], [1, 2, 3])


@pytest.mark.parametrize(("given_costs", "words"), [
    (None, r"loss='costs' needs the costs of each example"),
    ([[0, 1]], r"costs has shape \(1, 2\); expected \(2, 2\)"),
    ([[0, 1], [1, 2]], r"costs\[1, 1\] is 2.0, the cost of the right label"),
    ([[0, np.inf], [1, 0]], r"costs\[0, 1\] is inf"),
])
def test_impossible_costs_are_refused(given_costs, words):
    with pytest.raises(DataError, match=words):
        Engine("multiclass", loss="costs").fit([[1.0], [2.0]], [1, 2], costs=given_costs)


@pytest.mark.parametrize("loss", ["absolute", "squared", "zero-one", np.array([[0, 1, 5.0], [2, 0, 1], [3, 1, 0]]), "costs"])
def test_costs_of_all_labels_are_the_values_one_by_one(loss):
    X, y = np.arange(4.0)[:, None], [1, 2, 3, 2]
    costs = np.array([[0, 1, 2], [4, 0, 4], [2, 1, 0], [1, 0, 7.0]]) if isinstance(loss, str) and loss == "costs" else None
    parts = Engine("prank", loss=loss).fit(X, y, costs=costs).parts_
    rows = Rows(X)
    if costs is not None:                   # the end of a fit forgets them
        parts.loss.set_costs(costs, parts.outputs.encode(y, rows), 4)
    table = parts.loss.costs_of(np.array(y), rows)

    assert table.shape == (4, 3)
    assert table.tolist() == [[parts.loss.value(gold, k, rows.example(i)) for k in (1, 2, 3)] for i, gold in enumerate(y)]
