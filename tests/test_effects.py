"""Effects: relative weights per standard deviation with bootstrap intervals."""

import warnings

import attrs
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from plain import Engine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import structperc
from structperc.errors import DataError, DataWarning, OptionError, PluginError
from structperc.estimators import CuSumRank, IntervalPA, PRank, StructuredClassifier
from structperc.inference import refits

BETA = np.array([1.0, -0.5, 0.25, 0.0])
LOGISTIC = dict(update="logistic", step_size="inverse_sqrt(0.1)", epochs=5, average=True, shuffle=True, scale=True,
                random_state=0)
LIKELIHOOD = dict(trainer="cumulative-logit", scale=True)


def data(n=150, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    score = X @ BETA + random.logistic(size=n)
    return X, 1 + np.digitize(score, np.quantile(score, [0.2, 0.4, 0.6, 0.8]))


def found(X, y, options=LIKELIHOOD, **given):
    return structperc.effects(Engine("prank", **options).fit(X, y), X, y, **{"n_boot": 39, "random_state": 0, **given})


def values(effects):
    return np.array([effects.effect, effects.lower, effects.upper])


@pytest.mark.parametrize("options", [LOGISTIC, LIKELIHOOD], ids=["logistic", "cumulative-logit"])
@pytest.mark.parametrize("scale", ["direction", "log-odds"])
def test_the_unit_of_a_column_changes_no_effect(options, scale):
    X, y = data()
    one, other = (values(found(X * units, y, options, scale=scale)) for units in (1, [1000, 1, 1e-3, 1]))
    assert other == pytest.approx(one, rel=1e-4)


def test_a_column_that_changes_its_sign_changes_that_of_its_effect():
    X, y = data()
    one, other = found(X, y), found(X * [1, -1, 1, 1], y)
    assert other.effect == pytest.approx(one.effect * [1, -1, 1, 1], rel=1e-6)
    assert other.lower[1] == pytest.approx(-one.upper[1], rel=1e-6) and other.upper[1] == pytest.approx(-one.lower[1], rel=1e-6)


def test_weights_of_one_give_the_model_itself(monkeypatch):
    X, y = data()
    monkeypatch.setattr("structperc.inference.refits.draw", lambda random, clusters, labels, weights: np.ones(len(X)))
    model = found(X, y)
    assert model.lower.tolist() == model.effect.tolist() == model.upper.tolist()
    for options in (LOGISTIC, {"update": "exact-pa1", "epochs": 3, "shuffle": True, "random_state": 0}):
        engine = Engine("prank", **options).fit(X, y)               # orders are drawn anew, so this one is drawn as before
        again = refits.untrained(engine)
        again.random_state = 0
        assert again.fit(X, y, sample_weight=np.ones(len(X))).coef_.tolist() == engine.coef_.tolist()


def test_effects_are_the_weights_per_standard_deviation():
    X, y = data()
    X[:, 1] *= 50
    engine = Engine("prank", **LIKELIHOOD).fit(X, y)
    per_deviation = engine.coef_ * X.std(axis=0)
    assert found(X, y, scale="log-odds").effect == pytest.approx(per_deviation)
    assert found(X, y).effect == pytest.approx(per_deviation / np.linalg.norm(per_deviation))
    assert found(sparse.csr_array(X), y, {"update": "exact-pa1", "epochs": 3}).effect @ np.ones(4) != 0


def test_a_constant_column_has_no_effect():
    X, y = data()
    X[:, 2] = 7.1
    effects = found(X, y, {"update": "exact-pa1", "epochs": 3, "scale": True})
    assert [effects.effect[2], effects.lower[2], effects.upper[2]] == [0, 0, 0]
    assert np.linalg.norm(effects.effect) == pytest.approx(1)


def test_the_same_seed_gives_the_same_table_and_another_one_another():
    X, y = data()
    first = found(X, y, LOGISTIC)
    assert values(found(X, y, LOGISTIC)).tolist() == values(first).tolist()
    assert values(found(X, y, LOGISTIC, random_state=1)).tolist() != values(first).tolist()


@pytest.mark.parametrize("options", [{"update": "exact-pa1", "C": 0.1, "epochs": 3, "average": True}, LOGISTIC],
                         ids=["exact-pa1", "logistic"])
def test_intervals_hold_the_direction_about_as_often_as_they_say(options):
    truth, held = BETA / np.linalg.norm(BETA), []
    for seed in range(12):
        X, y = data(120, seed)
        effects = found(X, y, options, random_state=seed)
        held.append((effects.lower <= truth) & (truth <= effects.upper))
    assert 0.88 <= np.mean(held) <= 1


def test_the_ends_are_order_statistics_of_the_refits(monkeypatch):
    X, y = data()
    numbers = iter(np.random.default_rng(0).permutation(39))
    first = refits.scaled
    monkeypatch.setattr(refits, "scaled", lambda engine, *rest: np.full(4, float(next(numbers, 99))) if engine.shuffle else first(
        engine, *rest))
    effects = found(X, y, {"update": "exact-pa1"})
    assert effects.lower.tolist() == [0.0] * 4 and effects.upper.tolist() == [38.0] * 4


# ---- which models ----


def test_groups_get_one_weight_each():
    X, y = data(60)
    whole, alone = found(np.repeat(X, 5, axis=0), np.repeat(y, 5), groups=np.repeat(np.arange(60), 5)), found(X, y)
    split = found(np.repeat(X, 5, axis=0), np.repeat(y, 5))
    width = [(effects.upper - effects.lower).mean() for effects in (whole, alone, split)]
    assert width[0] == pytest.approx(width[1], rel=1e-4) and width[2] < 0.7 * width[0]


def test_estimators_pipelines_frames_and_intervals_have_effects():
    X, y = data()
    frame = pd.DataFrame(X, columns=["age", "bmi", "dose", "noise"])
    effects = structperc.effects(PRank(epochs=3, random_state=0).fit(frame, y), frame, y, n_boot=39, random_state=0)
    assert effects.columns == list(frame) and effects.lower[0] > 0.3
    piped = make_pipeline(StandardScaler(), PRank(epochs=3, random_state=0)).fit(frame, y)
    assert structperc.effects(piped, frame, y, n_boot=39, random_state=0).columns == list(frame)
    ends = np.column_stack([y, np.minimum(y + 1, 5)])
    assert structperc.effects(IntervalPA(epochs=3, random_state=0).fit(X, ends), X, ends, n_boot=39, random_state=0).effect[0] > 0.5


def test_the_fit_of_the_model_is_left_as_it_was():
    X, y = data()
    engine = Engine("prank", **LOGISTIC).fit(X, y)
    before = engine.coef_.tolist()
    structperc.effects(engine, X, y, n_boot=39)
    assert engine.coef_.tolist() == before and engine.shuffle and engine.weighting == "steps"


def test_a_rare_label_is_in_every_refit():
    X, y = data()
    y[:] = np.minimum(y, 4)
    y[7] = 5
    assert np.isfinite(values(found(X, y))).all()           # without one, this likelihood would have no maximum


@pytest.mark.parametrize(("problem", "options", "given", "message"), [
    ("prank", {}, {"scale": "odds"}, "scale='odds'; expected 'direction', 'log-odds' or 'odds-ratio'"),
    ("prank", {}, {"scale": "log-odds"}, "needs update='logistic' or trainer='cumulative-logit'"),
    ("prank", {}, {"level": 95}, "level=95; expected a number between 0 and 1"),
    ("prank", {}, {"n_boot": 38}, "at least 39"),
    ("prank", {}, {"groups": [1, 2]}, "expected an entry for each of 150 examples"),
    ("cusum", {}, {}, "needs one direction for all ranks"),
    ("multiclass", {}, {}, "effects are those of ordered labels"),
])
def test_what_has_no_effects_is_refused(problem, options, given, message):
    X, y = data()
    engine = Engine(problem, **options).fit(X, y)
    with pytest.raises((OptionError, PluginError, DataError), match=message):
        structperc.effects(engine, X, y, **{"n_boot": 39, **given})


@pytest.mark.parametrize(("function", "estimator", "message"), [
    (structperc.effects, CuSumRank, "This model of CuSumRank has no such coef_; use PRank or IntervalPA without a kernel."),
    (structperc.effects, StructuredClassifier, "and StructuredClassifier predicts other outputs; use PRank or IntervalPA."),
    (structperc.proportional_odds, StructuredClassifier, "and StructuredClassifier predicts other outputs; use PRank or CuSumRank."),
])
def test_the_advice_to_users_of_estimators_names_estimators(function, estimator, message):
    X, y = data()
    with pytest.raises(PluginError, match=message):
        function(make_pipeline(StandardScaler(), estimator()).fit(X, y), X, y)


# ---- what is shown ----


def test_the_table_says_what_its_numbers_mean():
    X, y = data()
    direction, odds = found(X, y), found(X, y, LOGISTIC, scale="log-odds")
    assert "Relative weights per standard deviation; their squares add up to 1" in repr(direction)
    assert "the log odds of a higher rank rise by the effect (95 % bootstrap interval of 39 refits), of the model that has" in odds.html()
    penalised = found(X, y, {**LIKELIHOOD, "penalty": 5.0}, scale="log-odds")
    assert repr(penalised).endswith("of the penalised model.")
    assert not any("significant" in repr(one) + one.html() for one in (direction, odds, penalised))
    frame = direction.to_frame()
    assert list(frame.columns) == ["effect", "lower", "upper"] and frame["effect"].tolist() == direction.effect.tolist()
    ax = direction.plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == [direction.columns[j] for j in np.argsort(-direction.effect)]
    assert [text.get_text() for text in direction.plot(sort=False).get_yticklabels()] == direction.columns
    assert attrs.evolve(direction, columns=["c"] * 40).size()[1] > 40 * 10 / 72, "a line of 10 points for each name"
    for name, *cells in direction.cells():
        assert all(cell in repr(direction) and cell in direction.html() for cell in (name, *cells))


def test_a_name_of_a_column_is_no_markup():
    X, y = data()
    frame = pd.DataFrame(X, columns=["<b>", "b", "c", "d"])
    with warnings.catch_warnings():
        assert "&lt;b&gt;" in found(frame, y).html()


def test_odds_of_a_tiny_unit_are_infinite_without_a_warning():
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = found(X * [1e-8, 1, 1, 1], y, scale="odds-ratio", interval="wald")
    assert table.effect[0] == np.inf and np.isfinite(table.effect[1:]).all()


def test_other_data_than_those_of_training_are_noticed():
    random = np.random.default_rng(3)
    X, weights = random.normal(size=(120, 2)), 1.0 + np.arange(120) % 3
    y = np.digitize(X[:, 0] + random.logistic(size=120), [-1, 1])
    model = Engine("prank", trainer="cumulative-logit").fit(X, y, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        structperc.effects(model, X, y, scale="log-odds", interval="wald", sample_weight=weights)
    for rows, weights_of_rows in ((slice(None), None), (slice(60), weights[:60])):
        with pytest.warns(DataWarning, match="they are not what the model was trained with.*Pass these, also the weights"):
            structperc.effects(model, X[rows], y[rows], scale="log-odds", interval="wald", sample_weight=weights_of_rows)
