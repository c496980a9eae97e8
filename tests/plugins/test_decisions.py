"""Predict, then optimise: the hinge of the loss of decisions is SPO+, worked examples, what is learned, what is refused."""

import numpy as np
import pytest
from structperc.solvers.paths import best_path, grid_graph
from structperc_decisions import DecisionCost, regret, spo_plus

from structperc import Engine
from structperc.errors import DataError, PluginError

GRID = grid_graph(3, 3)
OPTIONS = dict(plugins=[DecisionCost()], loss_weight=1.0, update="latent", step_size=0.1)


def cheapest(costs):
    return best_path(*GRID, -np.asarray(costs), 0, 8)[0]


def most(scores):
    return best_path(*GRID, scores, 0, 8)[0]


def routes(n, seed=0, degree=1):
    """Grids whose arcs have two features, and costs that grow with the first."""
    random = np.random.default_rng(seed)
    features = random.uniform(0.1, 1, (n, len(GRID[0]), 2))
    costs = (features @ [2.0, 0.5]) ** degree
    return [np.column_stack([*GRID, one]) for one in features], [cheapest(c).tolist() for c in costs], list(costs)


def test_the_structured_hinge_is_half_of_spo_plus():
    X, y, costs = routes(30)
    engine = Engine("path", epochs=1, **OPTIONS).fit(X, y, costs=costs)
    rows, parts, random = engine.read(X), engine.parts_, np.random.default_rng(1)
    for i, (gold, true) in enumerate(zip(y, costs, strict=True)):
        x = rows.example(i)
        x.n_atoms = x.n_rows
        predicted = random.normal(size=len(true))
        found = list(parts.argmax.argmax_augmented(-predicted, x, tuple(gold), parts.loss, 1.0))
        hinge = -predicted[found].sum() + parts.loss.value(tuple(gold), tuple(found), x) + predicted[gold].sum()
        assert 2 * hinge == pytest.approx(spo_plus(predicted, true, gold, most))
        decided = cheapest(predicted)
        assert spo_plus(predicted, true, gold, most) >= true[decided].sum() - true[gold].sum() - 1e-12
        assert spo_plus(true, true, gold, most) == pytest.approx(0, abs=1e-12)


def test_two_decisions_worked_by_hand():
    def best(scores):
        return [int(scores[1] > scores[0])]

    true = [1.0, 3.0]
    assert spo_plus([3, 1], true, [0], best) == 6 and spo_plus([2, 2.5], true, [0], best) == 1 and spo_plus([0, 0], true, [0], best) == 2
    assert regret([true, [2.0, 2.0]], [[1], [1]], [[0], [0]]) == pytest.approx(2 / 3)


def test_it_learns_what_decisions_need():
    X, y, costs = routes(80)
    engine = Engine("path", epochs=10, average=True, **OPTIONS).fit(X[:40], y[:40], costs=costs[:40])
    untrained = regret(costs[40:], [most(np.zeros(len(GRID[0])))] * 40, y[40:])
    found = engine.predict(X[40:])
    assert 0 <= regret(costs[40:], found, y[40:]) < untrained / 5
    assert engine.coef_[0] < 0, "scores are minus the costs"


def test_decisions_with_equal_costs_are_equally_good():
    X, _, _ = routes(1)
    flat = np.ones(len(GRID[0]))
    engine = Engine("path", **OPTIONS).fit(X, [cheapest(flat).tolist()], costs=[flat])
    assert engine.cumulative_loss_ == 0


@pytest.mark.parametrize(("costs", "sentence"), [
    (None, "DecisionCost needs the true costs"),
    ([[1.0] * 12], "costs has 1 vectors but X has 2 examples"),
    ([[1.0] * 12, [1.0] * 5], r"costs\[1\] has 5 costs, but the example has 12 atoms"),
    ([[1.0] * 12, "abc"], r"costs\[1\] is 'abc'; expected a number per atom"),
    ([[1.0] * 12, [np.nan] * 12], r"costs\[1\] is .*; expected a vector of finite numbers"),
])  # fmt: skip
def test_costs_that_do_not_fit_are_refused(costs, sentence):
    X, y, _ = routes(2)
    with pytest.raises(DataError, match=sentence):
        Engine("path", **OPTIONS).fit(X, y, costs=costs)


def test_gold_decisions_must_be_the_best():
    X, y, costs = routes(5)
    with pytest.raises(DataError, match="y must hold the best decision under the costs"):
        Engine("path", epochs=5, **OPTIONS).fit(X, [most(c).tolist() for c in costs], costs=costs)


def test_a_loaded_model_goes_on_with_new_costs(tmp_path):
    X, y, costs = routes(10)
    engine = Engine("path", **OPTIONS).fit(X, y, costs=costs)
    engine.save(tmp_path / "model")
    loaded = Engine.load(tmp_path / "model", plugins=[DecisionCost()])
    assert loaded.predict(X).tolist() == engine.predict(X).tolist()
    for each in (engine, loaded):
        each.partial_fit(X, y, costs=costs)
    assert np.array_equal(loaded.coef_, engine.coef_)
    x = loaded.read(X).example(0)
    with pytest.raises(PluginError, match="knows the costs of training examples only"):
        type(loaded.parts_.loss)().of(x)
