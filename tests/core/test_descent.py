"""The updates "log-loss" and "direct": steps are gradients, optima equal those of exact solvers, and problems need marginals."""

import numpy as np
import pytest
from plain import Engine
from scipy.optimize import minimize

from structperc.callbacks import History
from structperc.components import PrefixArgmax, Update
from structperc.errors import DataError, OptionError, PluginError, UnusedOption
from structperc.schedules import inverse
from structperc.testing.case import make_case

WITH_MARGINALS = ("multiclass", "cusum", "sequence", "parsing", "path", "graph", "segments", "disjoint-intervals")
SEARCHED = (*WITH_MARGINALS, "matching", "ilp")
STEP = 0.25


class Totals:
    """The scores of all structures of a case's examples as functions of w, by enumeration."""

    def __init__(self, problem, seed):
        self.case = case = make_case(problem, (), {}, seed)
        self.w = case.teacher()
        golds = case.answers(case.teacher(), case.examples, noise=1.0)
        self.examples = []
        for x, gold in zip(case.examples, golds, strict=True):
            structures = case.structures(x)
            losses = np.array([case.loss.value(gold, y, x) for y in structures])
            self.examples.append((x, case.counts(x, structures), case.counts(x, [gold])[0], losses))
        self.data = case.teach(case.data, golds)

    def sums(self, w, shown):
        """shown(totals, gold total, losses) of every example."""
        found = []
        for x, counts, gold, losses in self.examples:
            s = self.case.features.scores(w, x)
            found.append(shown(counts @ s, gold @ s, losses))
        return np.array(found)

    def step(self, i, **options):
        """The change of w in a visit of example i, divided by the step size, and the recorded loss."""
        engine, one = self.case.engine(step_size=STEP, **options), self.data.take([i])
        engine.partial_fit(one.X, one.y, offsets=one.offsets)
        engine.model_.parts.weights.assign(self.w, 1)
        before = engine.cumulative_loss_
        engine.partial_fit(one.X, one.y, offsets=one.offsets)
        return (engine.model_.parts.weights.vector() - self.w) / STEP, engine.cumulative_loss_ - before

    def derivative(self, shown, direction, h=1e-6):
        return (self.sums(self.w + h * direction, shown) - self.sums(self.w - h * direction, shown)) / (2 * h)


def log_loss(totals, gold, losses):
    return np.logaddexp.reduce(totals) - gold


@pytest.mark.parametrize("problem", WITH_MARGINALS)
def test_a_step_of_log_loss_is_the_gradient_of_the_negative_log_likelihood(problem):
    case = Totals(problem, 0)
    direction = np.random.default_rng(1).normal(size=len(case.w))
    slopes, losses = case.derivative(log_loss, direction), case.sums(case.w, log_loss)
    for i in range(0, len(case.examples), 3):
        step, loss = case.step(i, update="log-loss")
        assert step @ direction == pytest.approx(-slopes[i], rel=1e-6, abs=1e-6)
        assert loss == pytest.approx(losses[i], rel=1e-9, abs=1e-9)


EPSILON = 0.5
SURROGATES = {      # finite differences that approximate the loss of the prediction: from below, and central
    "direct-better": lambda s, gold, losses: (s.max() - (s - EPSILON * losses).max()) / EPSILON,
    "direct": lambda s, gold, losses: ((s + EPSILON * losses).max() - (s - EPSILON * losses).max()) / (2 * EPSILON),
}


@pytest.mark.parametrize("update", SURROGATES)
@pytest.mark.parametrize("problem", SEARCHED)
def test_a_direct_step_is_the_gradient_of_a_finite_difference_around_the_loss(problem, update):
    """ST-10: the signs of both directions."""
    case = Totals(problem, 2)
    direction = np.random.default_rng(3).normal(size=len(case.w))
    slopes = case.derivative(SURROGATES[update], direction)
    predicted = case.sums(case.w, lambda s, gold, losses: losses[s.argmax()])
    below, between = (case.sums(case.w, SURROGATES[name]) for name in ("direct-better", "direct"))
    assert (below <= predicted + 1e-9).all() and (2 * between - below >= predicted - 1e-9).all()        # bounds from below and above
    for i in range(0, len(case.examples), 5):
        step, loss = case.step(i, update=update, loss_weight=EPSILON)
        assert step @ direction == pytest.approx(-slopes[i], rel=1e-5, abs=1e-5)
        assert loss == pytest.approx(predicted[i])


def test_log_loss_with_decay_reaches_the_optimum_of_a_convex_solver():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    y = (X @ random.normal(size=(3, 3)) + random.gumbel(size=(40, 3))).argmax(axis=1)
    strength = 0.05

    def objective(w):
        W = w.reshape(3, 3)
        scores = X @ W.T
        p = np.exp(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))
        value = -np.log(p[np.arange(40), y]).mean() + strength / 2 * w @ w
        return value, ((p - np.eye(3)[y]).T @ X / 40 + strength * W).ravel()

    best = minimize(objective, np.zeros(9), jac=True, tol=1e-12)
    falling = 10.0
    engine = Engine("multiclass", update="log-loss", fit_intercept=False, epochs=2500, shuffle=True, random_state=0,
                    step_size=lambda t: falling / (falling + strength * t) * 0.5,
                    decay=lambda t: strength * falling / (falling + strength * t) * 0.5).fit(X, y)
    value, _ = objective(np.ravel(engine.coef_))
    assert value - best.fun < 1e-4
    np.testing.assert_allclose(np.ravel(engine.coef_), best.x, atol=0.02)


def test_the_record_counts_negative_log_likelihood_and_wrong_predictions():
    X, y, history = [np.array([[1.0], [2.0]]), np.array([[-1.0]])], [["a", "b"], ["b"]], History()
    engine = Engine("sequence", update="log-loss", step_size=0.5, epochs=3, plugins=[history]).fit(X, y)
    assert history.records[0].loss > history.records[-1].loss > 0
    assert engine.cumulative_loss_ == pytest.approx(sum(record.loss for record in history.records))
    first = Engine("sequence", update="log-loss", step_size=1e-12).fit(X, y)        # all labellings are equally probable
    assert first.cumulative_loss_ == pytest.approx(np.log(4) + np.log(2))


def test_sample_weights_scale_steps_and_are_no_losses():
    case = make_case("cusum", (), {}, 0)
    X, y = case.taught.X, case.taught.y
    for update in ("log-loss", "direct"):
        half = Engine("cusum", update=update, step_size=0.5).fit(X, y)
        weighted = Engine("cusum", update=update, step_size=1.0).fit(X, y, sample_weight=np.full(len(X), 0.5))
        np.testing.assert_array_equal(half.coef_, weighted.coef_)
        assert half.cumulative_loss_ == weighted.cumulative_loss_


class OwnMarginals(PrefixArgmax):
    """Marginals in Python."""

    def marginals(self, scores, x):
        totals = np.append(0, np.cumsum(scores))
        log_z = np.logaddexp.reduce(totals)
        return log_z, np.cumsum(np.exp(totals - log_z)[::-1])[::-1][1:]


class GradientStep(Update):
    """The step of log-loss, in Python."""

    when, needs = "always", {"marginals"}

    def step(self, trial):
        log_z, expected = trial.marginals()
        gold = np.arange(trial.x.n_atoms) < trial.gold - 1
        trial.loss = log_z - gold @ trial.scores
        return STEP * (gold - expected)


class TowardsBetter(Update):
    """The step of direct-better, in Python."""

    when, needs = "always", {"search"}

    def step(self, trial):
        better, atoms = trial.search(-EPSILON), np.arange(trial.x.n_atoms)
        return STEP / EPSILON * ((atoms < better - 1) * 1.0 - (atoms < trial.y - 1))


@pytest.mark.parametrize("plugins, update, exact", [([OwnMarginals(4)], "log-loss", False), ([GradientStep()], "log-loss", True),
                                                    ([TowardsBetter()], "direct-better", True)])
def test_solvers_and_rules_in_python_train_the_same_model(plugins, update, exact):
    data = make_case("cusum", (), {}, 0).taught
    options = {"classes": [1, 2, 3, 4], "update": update, "epochs": 3, "step_size": STEP}
    if update != "log-loss":
        options["loss_weight"] = EPSILON
    compiled = Engine("cusum", **options).fit(data.X, data.y)
    named = {} if isinstance(plugins[0], OwnMarginals) else {"update": "perceptron", "step_size": None}
    options.pop("loss_weight", None)
    python = Engine("cusum", plugins=plugins, **{**options, **named}).fit(data.X, data.y)
    np.testing.assert_allclose(python.coef_, compiled.coef_, rtol=0, atol=0 if exact else 1e-12)
    assert python.mistakes_ == compiled.mistakes_ and python.cumulative_loss_ == pytest.approx(compiled.cumulative_loss_)


@pytest.mark.parametrize("answer, wanted", [(np.array([0.5, 0.5, 0.5]), "a pair"), ((0.0, np.zeros(2)), r"expected \(3,\)"),
                                            (None, "a pair")])
def test_marginals_of_another_form_are_refused(answer, wanted):
    class Wrong(PrefixArgmax):
        def marginals(self, scores, x):
            return answer

    with pytest.raises(PluginError, match=wanted):
        Engine("cusum", plugins=[Wrong(4)], update="log-loss").fit([[0.0], [1.0], [2.0], [3.0]], [1, 2, 3, 4])


def test_what_cannot_be_descended_is_refused_in_a_sentence():
    case = make_case("matching", (), {}, 0)
    with pytest.raises(PluginError, match="learns from marginals, but .* finds none. Write its method"):
        case.fit(update="log-loss")
    X, y = [[0.0], [1.0]], [1, 2]
    for update in ("log-loss", "direct"):
        with pytest.raises(PluginError, match="thresholds"):
            Engine("prank", update=update).fit(X, y)
    with pytest.raises(UnusedOption, match="loss_weight=1.0 has no effect with update="):
        Engine("cusum", update="log-loss", loss_weight=1.0).fit(X, y)
    with pytest.raises(OptionError, match=r"loss_weight=inverse\(0.0\); expected a number greater than 0"):
        Engine("cusum", update="direct", loss_weight=inverse(0.0)).fit(X, y)
    with pytest.raises(DataError, match="the width of the finite difference is 0.0 .* from loss_weight="):
        Engine("cusum", update="direct", loss_weight=lambda t: 0.0).fit(X, y)
    with pytest.raises(OptionError, match=r"inverse\(1.0\) falls with the examples visited, but this part needs one number"):
        Engine("cusum", update="pa1", loss_weight=inverse(1.0)).fit(X, y)


def test_the_width_of_direct_is_the_weight_of_the_loss():
    data = make_case("cusum", (), {}, 0).taught
    options = {"classes": [1, 2, 3, 4], "update": "direct", "epochs": 3, "step_size": STEP}
    without, ten, three, falling = (Engine("cusum", loss_weight=width, **options).fit(data.X, data.y) for width in (
        None, 10, 3.0, inverse(10.0)))
    assert np.array_equal(without.coef_, ten.coef_) and not np.array_equal(ten.coef_, three.coef_)
    assert not np.array_equal(ten.coef_, falling.coef_)
