"""Tests of predict-then-optimise: the structured hinge beside SPO+, worked examples, learning, and rejected costs and decisions."""

from statistics import NormalDist

import numpy as np
import pytest
from plain import Engine
from structperc_decisions import DecisionCost, regret, spo_plus

from structperc import hookimpl
from structperc.callbacks import HeldOutLoss
from structperc.components import VectorOutputs
from structperc.errors import DataError, OptionError, PluginError
from structperc.estimators import DecisionMaker
from structperc.metrics import best_constant, losses, measures
from structperc.solvers.paths import best_path, grid_graph
from structperc.testing import check_problem

GRID = grid_graph(3, 3)
OPTIONS = dict(plugins=[DecisionCost()], loss_weight=1.0, update="latent", step_size=0.1)


def cheapest(costs):
    return best_path(*GRID, -np.asarray(costs), 0, 8)[0]


def most(scores):
    return best_path(*GRID, scores, 0, 8)[0]


def routes(n, seed=0, degree=1):
    """(X, y, costs): grids whose arcs have two features, their cheapest paths, and arc costs that increase with both features."""
    random = np.random.default_rng(seed)
    features = random.uniform(0.1, 1, (n, len(GRID[0]), 2))
    costs = (features @ [2.0, 0.5]) ** degree
    return [np.column_stack([*GRID, one]) for one in features], [cheapest(c).tolist() for c in costs], list(costs)


def test_the_structured_hinge_is_half_of_spo_plus():
    """ST-8: if the loss is half the regret, twice the structured hinge equals SPO+."""
    X, y, costs = routes(30)
    engine = Engine("path", epochs=1, **OPTIONS).fit(X, y, costs=costs)
    rows, parts, random = engine.read(X), engine.parts_, np.random.default_rng(1)
    parts.loss.set_costs(costs, None, len(X))              # the end of the fit has dropped them
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


@pytest.mark.parametrize(("costs", "message"), [
    ([[1.0, np.nan]], r"costs\[0\] is .*; expected a vector of finite numbers"),
    ([[1.0, np.inf]], r"costs\[0\] is .*; expected a vector of finite numbers"),
    ([1.0, 3.0], r"costs\[0\] is 1.0; expected a vector of finite numbers"),
    ([["a", "b"]], r"costs\[0\] is .*; expected a number per atom"),
    ([[0.0, 3.0]], "the best decisions cost 0, and regret is a share of what they cost"),
    ([[1.0, 2.0]] * 2, "costs has 2 vectors, but there are 1 decisions and 1 best ones"),
])  # fmt: skip
def test_costs_without_meaning_have_no_regret(costs, message):
    with pytest.raises(DataError, match=message):
        regret(costs, [[1]], [[0]])


def test_costs_that_overflow_have_no_regret():
    with pytest.raises(DataError, match="costs overflow when they are added up, although each is finite"):
        regret([[1.7e308, 1.7e308, 1.0]], [[0, 1]], [[2]])
    for predicted, costs in (([1e308, 1.0], [1.0, 1.7e308]), ([-1e308, 1e308], [1.0, 2.0]), ([1.0], [1.0, 2.0]), ([np.inf, 1], [1.0, 2.0])):
        with pytest.raises(DataError, match="overflow|predicted"):
            spo_plus(predicted, costs, [0], lambda scores: [int(scores[1] > scores[0])])


def test_two_decisions_worked_by_hand():
    """ST-8: c = (1, 3). For tied costs SPO+ equals the regret of the worst optimal decision."""
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


# ---- the problem "decisions", and rules chosen by name ----


def cheapest_route(costs, x):
    return best_path(*GRID, -costs, 0, 8)[0]


def blends(costs, x):
    """The portfolio v of least cost -r . v with v >= 0, sum v <= 1 and |v| <= 0.8; its amounts are real numbers."""
    gain = np.maximum(-costs, 0)
    low, high = 0.0, gain.max(initial=0.0)
    for _ in range(60):                                     # `price` is the multiplier of the budget
        price = (low + high) / 2
        v = np.maximum(gain - price, 0)
        v = 0.8 * v / max(np.sqrt(v @ v), 1e-300)
        low, high = (price, high) if v.sum() > 1 else (low, price)
    return v


def table(n, items, seed=0):
    """Rows of three features, and costs of `items` items that are linear in the features."""
    random = np.random.default_rng(seed)
    X, weights = random.normal(size=(n, 3)), random.normal(size=(items, 3))
    return X, X @ weights.T


@pytest.mark.parametrize("decide", [cheapest_route, blends])
@pytest.mark.parametrize("rule", [{}, {"update": "perturbed", "step_size": 0.1, "sigma": 0.5},
                                  {"loss": "decision-cost", "loss_weight": 1.0, "update": "latent", "step_size": 0.3}])
def test_any_function_makes_a_problem(decide, rule):
    X, costs = table(70, len(GRID[0]))
    y = [decide(c, None) for c in costs]
    engine = Engine("decisions", decide=decide, items=len(GRID[0]), average=True, epochs=8, random_state=0, **rule)
    engine.fit(X[:40], y[:40], costs=costs[:40] if "loss" in rule else None)
    found = engine.predict(X[40:])
    untrained = regret(costs[40:], [decide(np.zeros(len(GRID[0])), None)] * 30, y[40:])
    assert -1e-9 <= regret(costs[40:], found, y[40:]) < untrained / 4
    assert found[0].shape == (len(GRID[0]),) and found[0].dtype == float


def test_the_problem_is_that_of_the_solver_itself():
    """Training takes the same steps as the problem "path" on the same rows."""
    X, y, costs = routes(30)
    rows = [x[:, 2:] for x in X]
    for options in ({}, {"loss": "decision-cost", "loss_weight": 1.0, "update": "latent"}, {"update": "perturbed", "random_state": 3}):
        given = {"costs": costs} if "loss" in options else {}
        one = Engine("path", plugins=["decision-rules"], fit_intercept=False, epochs=3, **options).fit(X, y, **given)
        other = Engine("decisions", decide=cheapest_route, fit_intercept=False, epochs=3, **options).fit(rows, y, **given)
        np.testing.assert_array_equal(one.coef_, other.coef_)
        assert one.mistakes_ == other.mistakes_


def test_the_perturbed_step_is_the_gradient_of_its_fenchel_young_loss():
    """For two items, the mean of 10,000 perturbed steps equals the closed form, up to sampling error."""
    def cheaper(costs, x):
        return [int(costs[1] < costs[0])]

    random, sigma, samples = np.random.default_rng(0), 0.7, 10_000
    options = dict(items=2, fit_intercept=False, update="perturbed", samples=samples, sigma=sigma, random_state=1)
    engine = Engine("decisions", decide=cheaper, **options)
    engine.fit([[1.0]], [[0]])
    # at w = 0 half of the draws choose each item, so w = gold - 1/2
    np.testing.assert_allclose(engine.coef_.ravel(), [0.5, -0.5], atol=4 * 0.5 / np.sqrt(samples))
    start = random.normal(size=2)
    engine = Engine("decisions", decide=cheaper, **options)
    engine.fit([[0.0]], [[0]])
    engine.model.parts.weights.assign(start, 1)
    engine.partial_fit([[1.0]], [[1]])
    share = NormalDist().cdf((start[1] - start[0]) / (sigma * np.sqrt(2)))      # of the draws that choose item 1
    np.testing.assert_allclose(engine.coef_.ravel() - start, [share - 1, 1 - share], atol=4 * 0.5 / np.sqrt(samples))


def test_each_visit_draws_new_noise():
    """The steps are so small that scores stay near 0. Without new noise, all steps would be equal."""
    engine = Engine("decisions", decide=lambda costs, x: [int(costs[1] < costs[0])], items=2, fit_intercept=False, update="perturbed",
                    samples=20, step_size=1e-9, random_state=0)
    weights = [engine.partial_fit([[1.0]], [[0]]).coef_.ravel() for _ in range(6)]
    assert len({tuple(step.round(12)) for step in np.diff(weights, axis=0)}) > 1


def test_the_step_size_is_that_of_the_visit():
    """Tiny steps keep all scores near 0, so each step is proportional to its step size."""
    def steps(step_size):
        engine = Engine("decisions", decide=lambda costs, x: [int(costs[1] < costs[0])], items=2, fit_intercept=False, update="perturbed",
                        samples=20, step_size=step_size, random_state=0)
        return np.diff([[0.0, 0.0], *(engine.partial_fit([[1.0]], [[0]]).coef_.ravel() for _ in range(4))], axis=0)

    constant = steps(1e-9)
    assert constant[:, 0].all()
    np.testing.assert_allclose(steps(lambda t: 1e-9 / t), constant / [[1], [2], [3], [4]], rtol=1e-6)


def test_draws_follow_from_the_seed_and_go_on_from_a_file(tmp_path):
    X, y, _ = routes(20)
    options = dict(plugins=["decision-rules"], update="perturbed", sigma=2.0, samples=3)
    one, other, third = (Engine("path", random_state=seed, **options).fit(X, y) for seed in (5, 5, 6))
    assert np.array_equal(one.coef_, other.coef_) and not np.array_equal(one.coef_, third.coef_)
    one.save(tmp_path / "model")
    loaded = Engine.load(tmp_path / "model")
    for each in (one, loaded):
        each.partial_fit(X, y)
    assert np.array_equal(one.coef_, loaded.coef_)


@pytest.mark.parametrize(("decision", "sentence"), [
    ([0.5, 0.5], "the decision .0.5, 0.5. over 3 atoms. Expected: 3 finite amounts with a point"), ([0, 1, 1], "each once"),
    ([3], "from 0"),
    ([0.0, np.inf, 0.0], "finite amounts"), ("abc", "Expected: 3 finite"), (7, "Expected: 3 finite"), ([[0]], "Expected: 3 finite"),
])  # fmt: skip
def test_what_is_no_decision_is_refused(decision, sentence):
    X, y = np.ones((2, 1)), [[0], [1.0, 0.0, 0.5]]
    with pytest.raises(DataError, match=rf"y\[1\] cannot be used: .*{sentence}"):
        Engine("decisions", decide=lambda costs, x: [0], items=3).fit(X, [[0], decision])
    with pytest.raises(DataError, match=rf"decide\(costs, x\) for example 0: .*{sentence}"):
        Engine("decisions", decide=lambda costs, x: decision, items=3).fit(X, y)


def test_without_a_function_there_is_no_problem():
    with pytest.raises(OptionError, match="pass a function decide"):
        Engine("decisions").fit([[1.0]], [[0]])


@pytest.mark.parametrize("options", [{"update": "perturbed", "samples": 2}, {"items": 4}])
def test_the_battery(options):
    X = np.random.default_rng(0).normal(size=(24, 3))

    class Rows:
        name, problem = "rows", "decisions"

        def sample(self, random, n_examples):
            return X

        @hookimpl
        def structperc_outputs(self, context):
            return VectorOutputs()

    plugin = Rows() if "items" in options else "decisions"
    assert {outcome.split(":")[0] for _, outcome in check_problem(plugin, **options)} == {"passed", "not applicable"}


# ---- costs of training examples are those of no others ----


def test_costs_of_training_examples_measure_no_others():
    random = np.random.default_rng(0)
    X = list(random.normal(size=(60, 4, 2)))
    costs = [day @ [1.0, 0.5] + random.normal(size=4) for day in X]
    y = [[int(np.argmin(one))] for one in costs]
    model = DecisionMaker(decide=lambda c, x: [int(np.argmin(c))], loss="decision-cost", loss_weight=1.0, update="latent", random_state=0)
    model.fit(X[:20], y[:20], costs=costs[:20])
    for days in ([X[30]], X[:20], X):
        assert losses(model.engine_, days, [[0]] * len(days)) is None
    assert "mean loss (decision-cost)" not in measures(model.engine_, X[20:], y[20:])
    assert best_constant(model.engine_, X[20:], y[20:]) is None
    with pytest.raises(DataError, match=r"only has the costs of training examples.*score\(X, y, costs=...\)"):
        model.score(X[20:], y[20:])
    assert model.score(X[20:], y[20:], costs=costs[20:]) <= 0
    loss = model.engine_.parts_.loss
    assert loss.training_only and loss._atom_costs is None
    with pytest.raises(PluginError, match="knows the costs of training examples only"):
        loss.value((1,), (0,), model.engine_.read(X).example(0))
    with pytest.raises(OptionError, match="cannot measure loss='decision-cost' on held-out"):
        Engine("decisions", decide=model.decide, loss="decision-cost", loss_weight=1.0, update="latent",
               plugins=[HeldOutLoss(X[20:], y[20:])]).fit(X[:20], y[:20], costs=costs[:20])
    model.partial_fit(X[20:], y[20:], costs=costs[20:])
    assert loss._atom_costs is None


def test_a_solver_that_maximises_is_told_of_it_in_amounts():
    X = [np.eye(3)] * 2
    with pytest.raises(DataError, match=r"the amounts \[.*\] cost less than y\[0\] by 2\. y must .* which are minimised"):
        Engine("decisions", decide=lambda c, x: np.eye(3)[np.argmax(c)], loss="decision-cost", loss_weight=1.0, update="latent",
               random_state=0).fit(X, [np.eye(3)[2]] * 2, costs=[[1.0, 2.0, 3.0]] * 2)
