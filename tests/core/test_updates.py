"""A step is the solution of the optimisation problem that defines it."""

import numpy as np
import pytest
from plain import Engine
from reference import costs, enumerated, projection
from reference.problems import PROBLEMS
from reference.samples import real

from structperc.components import Schedule
from structperc.errors import DataError, OptionError, UnusedOption
from structperc.schedules import inverse, inverse_sqrt


def flat(engine, problem):
    """The engine's weights in the space of Phi."""
    return np.column_stack([engine.coef_, engine.intercept_]).ravel() if problem.intercept else engine.coef_.ravel()


@pytest.mark.parametrize("augment", [0.0, 0.8])
@pytest.mark.parametrize("update", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("name", ["cusum", "multiclass"])
def test_step_is_the_optimum_of_its_quadratic_program(name, update, augment):
    """Each step of many short streams, against a conic solver that starts from the weights before it."""
    rng = np.random.default_rng([len(name), len(update), augment > 0])
    checked = capped = kept = 0
    while checked < (500 if augment else 200):
        r, d = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        problem = PROBLEMS[name](r, intercept=bool(rng.integers(2)))
        table = costs.random_table(rng, r)
        margin, C = float(rng.uniform(0.3, 2)), float(10.0 ** rng.uniform(-2, 1))
        engine = Engine(name, update=update, loss=table, margin=margin, loss_weight=augment, classes=list(problem.labels),
                        fit_intercept=problem.intercept, **({} if update == "pa" else {"C": C}))
        w = np.zeros(r * (d + problem.intercept))
        for _ in range(12):
            z, gold = rng.normal(size=(1, d)), int(rng.integers(1, r + 1))
            weight = 1.0 if update == "pa" else float(rng.uniform(0.2, 3))
            x = problem.extended(z)[0]
            y, gap = enumerated.best(enumerated.scores(problem, w, x) + augment * table[gold - 1], problem.ties)
            engine.partial_fit(z, [gold], sample_weight=[weight])
            after = flat(engine, problem)
            delta = problem.phi(x, gold) - problem.phi(x, y)
            if gap < 1e-9:
                pass        # either label may have been found
            elif y == gold:
                np.testing.assert_array_equal(after, w)
            else:
                need = margin * table[gold - 1, y - 1]
                best = projection.passive_aggressive(update, w, delta, need, C * weight)
                np.testing.assert_allclose(after, best, rtol=0, atol=1e-8)
                checked += 1
                kept += np.array_equal(after, w)
                capped += after @ delta < need - 1e-9
                if update == "pa":
                    assert after @ delta >= need - 1e-9
            w = after
    assert (capped > 0) == (update != "pa")
    assert augment == 0 or kept > 0


def test_large_aggressiveness_is_plain_passive_aggressive():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(50, 4)), rng.integers(1, 5, 50)
    plain = Engine("cusum", update="pa").fit(X, y)
    np.testing.assert_array_equal(Engine("cusum", update="pa1", C=1e9).fit(X, y).coef_, plain.coef_)
    np.testing.assert_allclose(Engine("cusum", update="pa2", C=1e9).fit(X, y).coef_, plain.coef_, rtol=1e-6)


def test_a_row_is_learned_at_once():
    """After a plain passive-aggressive step the gold label beats the predicted one by exactly the margin."""
    X = [[1.0, 2.0, -1.0]]
    for margin in (0.5, 1.0, 4.0):
        engine = Engine("cusum", update="pa", margin=margin, classes=[1, 2, 3, 4]).fit(X, [4])
        assert engine.atom_scores(X).sum() == pytest.approx(3 * margin, rel=1e-15)


@pytest.mark.parametrize("name", PROBLEMS)
def test_two_labels_are_the_binary_perceptron(name):
    """r = 2: w_2 of cusum, and u with threshold b of prank, follow w += z or w -= z on a mistake."""
    rng = np.random.default_rng(2)
    X, y = rng.integers(-3, 4, (60, 3)).astype(float), rng.integers(1, 3, 60)
    w = np.zeros(4)
    up = (lambda s: s >= 0) if name == "prank" else (lambda s: s > 0)
    for x, label in zip(np.column_stack([X, np.ones(60)]), y, strict=True):
        w += (int(label) - 1 - int(up(w @ x))) * x
    engine = Engine(name).fit(X, y)
    if name == "prank":
        assert engine.coef_.tolist() == w[:3].tolist()
        assert engine.thresholds_.tolist() == [-w[3]]
    else:
        assert engine.coef_[1].tolist() == w[:3].tolist()
        assert engine.intercept_[1] == w[3]
        assert engine.coef_[0].tolist() == ([0, 0, 0] if name == "cusum" else (-w[:3]).tolist())


@pytest.mark.parametrize("schedule", [inverse(0.3), inverse_sqrt(0.3), lambda t: 0.6 / (t + 1)], ids=["inverse", "inverse-sqrt", "own"])
@pytest.mark.parametrize(("problem", "update"), [("cusum", "pa1"), ("multiclass", "pa2"), ("prank", "exact-pa1"), ("cusum", "exact-pa2")])
def test_c_falls_as_its_schedule_says(problem, update, schedule):
    """In one pass the C of the t-th example is C times a weight of it."""
    X, y = real(np.random.default_rng(11), 60, 4, 4)
    options = {"update": update, "classes": [1, 2, 3, 4]}
    falling = Engine(problem, C=schedule, **options).fit(X, y)
    weighed = Engine(problem, C=1.0, **options).fit(X, y, sample_weight=[Schedule(schedule).at(t) for t in range(1, 61)])
    assert np.array_equal(falling.coef_, weighed.coef_)
    assert not np.array_equal(falling.coef_, Engine(problem, C=0.3, **options).fit(X, y).coef_)
    assert not Engine(problem, C=lambda t: 0.0, **options).fit(X, y).coef_.any()


def test_a_schedule_of_c_where_there_is_no_c_is_refused():
    with pytest.raises(UnusedOption, match=r"C=inverse\(0.5\) has no effect with update='pa'"):
        Engine("cusum", update="pa", C=inverse(0.5)).fit([[0.0], [1.0]], [1, 2])
    with pytest.raises(OptionError, match="C='slow'; expected a number greater than 0, inverse"):
        Engine("cusum", update="pa1", C="slow")
    with pytest.raises(DataError, match="returned -1"):
        Engine("cusum", update="pa1", C=lambda t: -1.0).fit([[0.0], [1.0]], [1, 2])
