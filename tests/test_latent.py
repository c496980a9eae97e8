"""Tests of latent variables: partial gold outputs, the update that completes them, schedules, and a custom problem."""

import copy
import runpy
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot
from plain import Engine
from reference import bounds
from structperc_interval_pa.interval_outputs import IntervalOutputs
from structperc_latent_ranking.solver import TopDocuments

from structperc import hookimpl
from structperc.components import LatentUpdate, Outputs, RowFeatures, Rows, Schedule, Structures
from structperc.errors import DataError, OptionError, PluginError
from structperc.schedules import inverse, inverse_sqrt
from structperc.testing import check_problem

PAGE = Path(__file__).parents[1] / "examples/gallery/structures/latent_box.py"


class Example:
    """The problem of a gallery page, and pictures as on that page."""

    def __init__(self, page):
        self.Box, self.places, self.side, self.box = page["Box"], page["PLACES"], page["SIDE"], page["BOX"]

    def pictures(self, n, random):
        """The windows of noisy pictures, and the place of the bright box in each picture, or None. Half of the pictures have a box."""
        seen, boxes = random.normal(scale=0.6, size=(n, self.side, self.side)), [None] * n
        for t in range(0, n, 2):
            i, j = boxes[t] = self.places[random.integers(len(self.places))]
            seen[t, i:i + self.box, j:j + self.box] += 2
        return [np.array([[*picture[i:i + self.box, j:j + self.box].ravel(), 1.0] for i, j in self.places]) for picture in seen], boxes


@pytest.fixture(scope="module")
def box():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pyplot, "show", lambda: pyplot.close("all"))
        return Example(runpy.run_path(str(PAGE)))


def test_boxes_are_found_that_nobody_showed(box):
    random = np.random.default_rng(1)
    (X, boxes), (X_new, boxes_new) = box.pictures(400, random), box.pictures(200, random)
    there = [place is not None for place in boxes]
    options = dict(update="latent", step_size=inverse_sqrt(), loss="zero-one", epochs=15, average=True, shuffle=True, random_state=0)
    engine = Engine(box.Box(), **options).fit(X, there)
    found = engine.predict(X_new)
    assert np.mean([(a is None) == (b is None) for a, b in zip(found, boxes_new, strict=True)]) > 0.9
    assert np.mean([a == b for a, b in zip(found, boxes_new, strict=True) if b is not None]) > 0.9
    assert np.sign(engine.coef_[:4]).tolist() == [1, 1, 1, 1]
    assert engine.explain(X_new[0]).winner == found[0]


def test_the_problem_passes_the_battery(box):
    class Sampled(box.Box):
        def sample(self, random, n_examples):
            return [random.normal(size=(4, 3)) for _ in range(n_examples)]

        def observe(self, random, answers):
            return [answer is not None for answer in answers]

    report = dict(check_problem(Sampled(), update="latent", step_size=inverse()))
    idle = {name for name, outcome in report.items() if outcome != "passed"}
    assert idle == {"augmented_argmax_maximises", "decoding_is_undone", "separable_set_is_learned"}


def twin(box, X, there, epochs):
    """The latent perceptron: the final weights, and the loss and v of each step."""
    w, steps = np.zeros(X[0].shape[1]), []
    for _ in range(epochs):
        for x, yes in zip(X, there, strict=True):
            scores = x @ w
            best = int(np.argmax(scores))
            shown = x[best] if scores[best] > 0 else 0 * w
            if (scores[best] > 0) != yes:
                v = (x[best] if yes else 0 * w) - shown
                steps.append((1.0, v))
                w = w + v
    return w, steps


def test_a_run_is_that_of_the_twin_and_within_its_bounds(box):
    for seed in range(4):
        random = np.random.default_rng([seed, 2])
        X, boxes = box.pictures(60, random)
        there = [place is not None for place in boxes]
        w, steps = twin(box, X, there, 3)
        engine = Engine(box.Box(), update="latent", loss="zero-one", epochs=3).fit(X, there)
        np.testing.assert_allclose(engine.coef_, w, rtol=0, atol=1e-12)
        assert engine.cumulative_loss_ == len(steps)
        ledger = bounds.Ledger()
        for loss, v in steps:
            ledger.note(loss, loss, 0.0, 1.0, v)
        for u in (w, 0.1 * w, 0 * w, *random.normal(size=(3, len(w)))):
            for observed, limit in bounds.perceptron(ledger, u).values():
                assert observed <= limit * (1 + 1e-9) + 1e-9


def test_where_nothing_is_hidden_it_is_the_perceptron():
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    for problem in ("cusum", "multiclass"):
        one, other = (Engine(problem, update=update, epochs=3, loss_weight=0.5).fit(X, y) for update in ("perceptron", "latent"))
        np.testing.assert_array_equal(one.coef_, other.coef_)


def test_a_step_of_nothing_is_no_step():
    """If the completed gold equals the prediction, the step is zero. An epoch of such steps ends training, unless weights decay."""

    class Stubborn(Outputs):
        def __init__(self):
            self.partial_gold = True

        def encode(self, y, rows):
            return Structures.ragged([[0]] * rows.n_examples)

        def agrees(self, gold, y, x):
            return False

        def complete(self, gold, scores, x):
            return (int(np.argmax(scores)),)

        def enumerate(self, x):
            return [(a,) for a in range(x.n_atoms)]

    class Whole:
        @hookimpl
        def structperc_outputs(self, context):
            return Stubborn()

        @hookimpl
        def structperc_features(self, context):
            return RowFeatures(context.n_features)

        @hookimpl
        def structperc_argmax(self, context):
            return TopDocuments(1)

    X = [np.eye(2)] * 3
    latent = Engine(Whole(), update="latent", loss="zero-one", epochs=5).fit(X, [None] * 3)
    assert (latent.status_, latent.mistakes_) == ("stalled", [3])
    decaying = Engine(Whole(), update="latent", loss="zero-one", epochs=5, decay=0.5).fit(X, [None] * 3)
    assert (decaying.status_, decaying.mistakes_) == ("max_epochs", [3] * 5)


# ---- schedules ----


def test_schedules_fall_from_their_first_number():
    assert [Schedule(value).at(4) for value in (0.5, inverse(2.0), inverse_sqrt(2.0), "inverse(2)", "inverse-sqrt(2)")] == [
        0.5, 0.5, 1.0, 0.5, 1.0]
    assert Schedule(lambda t: 3 / t).at(6) == 0.5 and float(Schedule(0.25)) == 0.25
    assert inverse(0.1) == Schedule("inverse(0.1)") != inverse_sqrt(0.1) and len({inverse(0.1), inverse(0.1), inverse(0.2)}) == 2
    assert repr(inverse_sqrt(0.1)) == "inverse_sqrt(0.1)" and copy.deepcopy(inverse(0.1)) == inverse(0.1)
    with pytest.raises(OptionError, match=r"inverse\(0.5\) falls with the examples visited, but this part needs one number"):
        float(inverse(0.5))
    with pytest.raises(OptionError, match="inverse=-1; expected a number"):
        inverse(-1)


@pytest.mark.parametrize("value", ["fast", "", True, -1.0, "inverse(x)", "inverse(-1)", float("nan")])
def test_what_is_no_schedule(value):
    with pytest.raises(OptionError, match=r"step_size=.*; expected a number greater than 0, inverse\(number\), inverse_sqrt\(number\) or"):
        Engine("cusum", step_size=value)
    with pytest.raises(OptionError, match="decay=.*; expected a number at least 0 and below 1, inverse"):
        Engine("cusum", decay=value)


def test_a_schedule_begins_within_the_bounds_of_its_option():
    with pytest.raises(OptionError, match=r"decay=inverse\(1.0\); expected a number at least 0 and below 1"):
        Engine("cusum", decay=inverse())
    with pytest.raises(OptionError, match=r"C=inverse_sqrt\(0.0\); expected a number greater than 0"):
        Engine("cusum", C=inverse_sqrt(0))


def test_a_part_that_needs_one_number_refuses_a_schedule():
    with pytest.raises(OptionError, match=r"inverse\(0.5\) falls with the examples visited, but this part needs one number"):
        Engine("multiclass", plugins=["batch"], trainer="bcfw", C=inverse(0.5)).fit([[0.0], [1.0]], [1, 2])


def test_errors_of_a_schedule_leave_the_engine_as_it_was():
    X = np.random.default_rng(0).normal(size=(80, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])

    def late(t):
        if t > 100:
            raise ZeroDivisionError("so late")
        return 1.0

    engine = Engine("multiclass", update="latent", step_size=late).fit(X, y)
    before = engine.coef_.copy()
    with pytest.raises(ZeroDivisionError, match="so late"):
        engine.partial_fit(X, y)
    np.testing.assert_array_equal(engine.coef_, before)
    with pytest.raises(DataError, match="returned nan for example"):
        Engine("multiclass", update="latent", step_size=lambda t: float("nan")).fit(X, y)
    with pytest.raises(DataError, match="returned -0.5 for example"):
        Engine("multiclass", decay=lambda t: -0.5).fit(X, y)


def test_a_perceptron_with_falling_decay():
    """Falling decay also applies to other rules: w <- (1 - decay) w + step."""
    X = np.random.default_rng(3).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    w, total = np.zeros((2, 3)), np.zeros((2, 3))
    for t, (x, gold) in enumerate(zip(np.column_stack([X, np.ones(60)]), y, strict=True), start=1):
        found = int(np.argmax(w @ x))
        if found != gold:
            w *= 1 - 0.3 / np.sqrt(t)
            w[gold] += x
            w[found] -= x
        total += w
    for average, expected in ((False, w), (True, total / 60)):
        engine = Engine("multiclass", decay=inverse_sqrt(0.3), average=average).fit(X, y)
        np.testing.assert_allclose(np.column_stack([engine.coef_, engine.intercept_]), expected, rtol=1e-12, atol=1e-12)


def fading(t):
    return 0.5 ** t


# ---- components for partial outputs ----


def test_completion_can_be_called_from_python():
    outputs = IntervalOutputs()
    outputs.find_labels(None, [1, 2, 3, 4])
    x = Rows(np.zeros((1, 1))).example(0)
    x.n_atoms = 3
    assert outputs.complete((2, 4), np.array([0.0, 1.0, -2.0]), x) == 3
    with pytest.raises(PluginError, match="does not implement complete"):
        Outputs().complete((0,), np.zeros(3), x)


def test_what_an_answer_is_beside_a_partial_gold_output():
    X = np.linspace(-2, 2, 30)[:, None]
    y = np.digitize(X[:, 0], [-0.7, 0.7])
    engine = Engine("interval-pa", update="exact-pa", epochs=20).fit(X, np.column_stack([y, y]))
    against = engine.explain(X[:1], against=2)
    assert (against.winner, against.runner_up) == (0, 2) and against.margin > engine.explain(X[:1], against=1).margin > 0

    class Silent(Outputs):
        def __init__(self):
            self.partial_gold = True

    with pytest.raises(PluginError, match="Silent learns from partial outputs and has no encoding of its predictions"):
        Silent().encode_answers([()], Rows(X))
    assert LatentUpdate("inverse(2.0)").step_size == inverse(2.0)
