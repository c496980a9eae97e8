"""What data leave open: reference levels, columns that depend on each other, levels without rows, and likelihoods without a maximum."""

import io
import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linprog

import structperc
from structperc import Engine
from structperc.errors import DataWarning, OptionError
from structperc.estimators import IntervalPA, PRank
from structperc.fitting.separation import separating
from structperc.plugin_tools import Dependence

NUMBERS = np.arange(120)
FRAME = pd.DataFrame({"arm": np.array(["none", "low", "high"])[(NUMBERS * NUMBERS + NUMBERS // 7) % 3],
                      "sex": np.array(["m", "f"])[NUMBERS // 5 % 2], "age": 50 + 9 * np.sin(NUMBERS)})
Y = 1 + np.digitize(FRAME.age / 9 + 1.2 * (FRAME.arm == "high") - 0.5 * (FRAME.sex == "f") + 1.5 * np.sin(17 * NUMBERS**2), [5.0, 6.2])
LEVELS = {"one_hot": ["arm", "sex"]}
# statsmodels 0.15.0, OrderedModel(distr="logit") without arm=none and sex=f: coefficients, then thresholds; errors of the coefficients
MAXIMUM = {"arm=high": 2.160816323, "arm=low": 0.531293043, "arm=none": 0.0, "sex=f": 0.0, "sex=m": 1.587513815, "age": 0.173708432}
THRESHOLDS, LOG_LIKELIHOOD = [9.101677007, 10.725230656], -97.63438983318844
ERRORS = {"arm=high": 0.5037982, "arm=low": 0.4645081, "arm=none": 0.0, "sex=f": 0.0, "sex=m": 0.4084223, "age": 0.0336349}
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(200, 2))
RANKS = np.digitize(X[:, 0] + RANDOM.logistic(size=200), [-1, 1])
PENALTY = {"penalty": 1.0}


def likely(rows=FRAME, y=Y, estimator=PRank, **options):
    return estimator(trainer="cumulative-logit", plugin_options={**LEVELS, **options}).fit(rows, y)


def named(model, values):
    engine = getattr(model, "engine_", model)
    return {engine.feature_name(j): value for j, value in enumerate(np.asarray(values)[:len(model.coef_)].tolist())}


# ---- reference levels ----


def test_coefficients_and_errors_are_those_of_a_model_without_the_reference_levels():
    model = likely()
    assert named(model, model.coef_) == pytest.approx(MAXIMUM, abs=1e-6)
    assert model.thresholds_ == pytest.approx(THRESHOLDS, abs=1e-6)
    assert named(model, model.engine_.standard_errors_[:6]) == pytest.approx(ERRORS, abs=1e-6)
    assert model.engine_.log_likelihood_ == pytest.approx(LOG_LIKELIHOOD, abs=1e-9)
    effects = structperc.effects(model, FRAME, Y, level=0.8, n_boot=9, scale="log-odds", random_state=0)
    sd = pd.get_dummies(FRAME, prefix_sep="=").astype(float).std(ddof=0)
    assert dict(zip(effects.columns, effects.effect, strict=True)) == pytest.approx({n: c * sd[n] for n, c in MAXIMUM.items()}, abs=1e-6)
    assert effects.remarks == ["", "", "reference", "reference", "", ""]
    assert effects.lower[2] == effects.effect[2] == effects.upper[2] == 0


def forms():
    """The same examples with rows and levels in other orders, and other doors."""
    for order in np.arange(120), np.random.default_rng(0).permutation(120):
        yield likely(FRAME.iloc[order], Y[order]), FRAME.iloc[order], Y[order]
    for arms, sexes in (("none", "high", "low"), "mf"), (("low", "none", "high"), "fm"):
        frame = FRAME.assign(arm=pd.Categorical(FRAME.arm, categories=arms), sex=pd.Categorical(FRAME.sex, categories=list(sexes)))
        yield PRank(trainer="cumulative-logit").fit(frame, Y), frame, Y
    yield likely(y=np.column_stack([Y, Y]), estimator=IntervalPA), FRAME, np.column_stack([Y, Y])
    engine = Engine("prank", trainer="cumulative-logit", plugins=["table"], **LEVELS).fit(FRAME, Y)
    file = io.BytesIO()
    engine.save(file)
    yield Engine.load(io.BytesIO(file.getvalue())), FRAME, Y
    assert np.array_equal(pickle.loads(pickle.dumps(engine)).standard_errors_, engine.standard_errors_)


def test_the_order_of_rows_and_levels_and_the_door_change_nothing():
    first = None
    for model, frame, y in forms():
        effects = structperc.effects(model, frame, y, level=0.8, n_boot=9, scale="log-odds", random_state=0)
        engine = getattr(model, "engine_", model)
        values = [named(model, numbers) for numbers in (model.coef_, engine.standard_errors_, engine.robust_standard_errors_,
                                                        effects.effect, effects.lower, effects.upper)]
        first = values if first is None else first
        for one, other in zip(values, first, strict=True):
            assert one == pytest.approx(other, abs=1e-9)
        assert model.thresholds_ == pytest.approx(THRESHOLDS, abs=1e-6)


def test_logistic_steps_are_compared_with_the_same_levels_and_scored_as_before():
    model = PRank(update="logistic", random_state=0, plugin_options=LEVELS).fit(FRAME, Y)
    coefficients, whole = named(model, model.coef_), model.engine_.parts_.weights.vector()
    assert coefficients["arm=none"] == coefficients["sex=f"] == 0 and np.all(whole != 0)
    assert coefficients["arm=high"] == pytest.approx(whole[0] - whole[2]) and coefficients["sex=m"] == pytest.approx(whole[4] - whole[3])
    dummies = pd.get_dummies(FRAME, prefix_sep="=").astype(float)[list(coefficients)].to_numpy()
    scores = (dummies @ model.coef_)[:, None] - model.thresholds_
    assert scores == pytest.approx(model.engine_.atom_scores(FRAME), abs=1e-9)
    part = PRank(update="logistic", random_state=0, plugin_options=LEVELS, classes=[1, 2, 3]).partial_fit(FRAME, Y).partial_fit(FRAME, Y)
    assert named(part, part.coef_)["arm=none"] == 0


@pytest.mark.parametrize("options", [{"trainer": "cumulative-logit"}, {"trainer": "cumulative-logit", "penalty": 2.0},
                                     {"update": "logistic", "random_state": 0}])
def test_another_reference_changes_no_prediction_and_shifts_all_coefficients(options):
    models = [Engine("prank", plugins=["table"], **LEVELS, **options, **further).fit(FRAME, Y)
              for further in ({}, {"reference": {"arm": "high", "sex": "m"}})]
    assert models[0].predict_proba(FRAME) == pytest.approx(models[1].predict_proba(FRAME), abs=1e-9)
    one, other = (named(model, model.coef_) for model in models)
    assert other["arm=high"] == other["sex=m"] == 0
    assert other["arm=low"] == pytest.approx(one["arm=low"] - one["arm=high"], abs=1e-9)
    effects = [structperc.effects(model, FRAME, Y, level=0.8, n_boot=9, random_state=0) for model in models]
    assert effects[1].remarks == ["reference", "", "", "", "reference", ""] and effects[0].effect[0] > 0 > effects[1].effect[1]
    if "trainer" in options:
        assert models[1].standard_errors_[0] == 0 < models[1].standard_errors_[1]


@pytest.mark.parametrize(("options", "message"), [
    ({"reference": {"arm": "hihg"}}, "reference='hihg' for column 'arm'; its levels are high, low, none. Did you mean 'high'"),
    ({"reference": {"age": "50"}}, "reference='50' for column 'age'; it is no column of categories"),
    ({"reference": {"leg": "left"}}, "no column 'leg'"),
    ({"reference": ["arm"]}, "reference=\\['arm'\\]; expected"),
    ({"reference": {"arm": ["high"]}}, "reference={'arm': \\['high'\\]}; expected"),
    ({"reference": {3: "high"}}, "reference={3: 'high'}; expected"),
])
def test_a_reference_that_cannot_be_is_refused(options, message):
    with pytest.raises(OptionError, match=message):
        Engine("prank", trainer="cumulative-logit", plugins=["table"], **LEVELS, **options).fit(FRAME, Y)


def test_among_equally_frequent_levels_the_smallest_text_is_the_reference():
    for levels in itertools.permutations(["b", "B", "10", "9"]):
        frame = pd.DataFrame({"g": pd.Categorical(np.array(["b", "B", "10", "9"])[NUMBERS % 4], categories=levels)})
        model = PRank(trainer="cumulative-logit").fit(frame, Y)
        assert named(model, model.coef_)["g=10"] == 0


# ---- columns that depend on each other ----


def test_dependences_are_those_of_the_ranks_of_matrices():
    for seed in range(20):
        random = np.random.default_rng(seed)
        base = random.integers(-2, 3, size=(random.integers(3, 30), random.integers(1, 5))).astype(float)
        whole = np.hstack([base, base @ random.integers(-1, 2, size=(base.shape[1], 3)), np.full((len(base), 1), 7.0)])
        whole = whole[:, random.permutation(whole.shape[1])] * 10.0 ** random.integers(-6, 6, whole.shape[1])
        for form in (whole, sparse.csr_array(whole)):
            dependence = Dependence.of(form)
            centred = (whole - whole.mean(axis=0)) / np.where(dependence.spread > 0, dependence.spread, 1)
            assert len(dependence.columns) == np.linalg.matrix_rank(centred, tol=1e-6)
            assert np.abs(centred @ dependence.null).max(initial=0) < 1e-8
            alone = [j for j in range(whole.shape[1]) if dependence.spread[j]
                     and np.linalg.matrix_rank(np.delete(centred, j, axis=1), tol=1e-6) < len(dependence.columns)]
            assert sorted(itertools.chain(*dependence.sets())) == [j for j in np.flatnonzero(dependence.spread) if j not in alone]


DUMMIES = pd.get_dummies(FRAME.arm).to_numpy(dtype=float)
DEPENDENT = {"equal": (np.c_[X, X[:, 0]], {0, 2}), "a sum": (np.c_[X, X.sum(axis=1)], {0, 1, 2}),
             "dummies": (np.c_[np.vstack([DUMMIES, DUMMIES])[:200], X], {0, 1, 2}), "other units": (np.c_[X, 1e6 * X[:, 1] - 1e7], {1, 2})}


@pytest.mark.parametrize("name", DEPENDENT)
def test_dependent_columns_are_named_and_share_the_shortest_solution(name):
    rows, columns = DEPENDENT[name]
    results = []
    for form, order in (np.asarray, np.arange(200)), (np.asarray, np.arange(200)[::-1]), (sparse.csr_array, np.arange(200)):
        with pytest.warns(DataWarning, match=", ".join(rf"x\[{j}\]" for j in sorted(columns)) + " depend on each other"):
            results.append(PRank(trainer="cumulative-logit").fit(form(rows[order]), RANKS[order]))
    sd, effects = rows.std(axis=0), structperc.effects(results[0], rows, RANKS, level=0.8, n_boot=9, random_state=0)
    for model in results[1:]:
        assert model.coef_ * sd == pytest.approx(results[0].coef_ * sd, abs=1e-7)
        assert model.engine_.standard_errors_[:-2] * sd == pytest.approx(results[0].engine_.standard_errors_[:-2] * sd, abs=1e-6)
    null = Dependence.of(rows).null
    assert (results[0].coef_ * sd) @ null == pytest.approx(np.zeros(null.shape[1]), abs=1e-9)
    assert {j for j, remark in enumerate(effects.remarks) if remark == "dependent"} == columns
    assert "so the data determine only some of their sums" in repr(effects) and "dependent" in effects.html()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PRank(trainer="cumulative-logit", **PENALTY).fit(rows, RANKS)


def test_a_level_without_rows_is_named_and_has_no_effect():
    frame = FRAME.assign(arm=pd.Categorical(FRAME.arm, categories=["never", "none", "low", "high"]))
    with pytest.warns(DataWarning, match="no row has arm=never"):
        model = PRank(trainer="cumulative-logit", plugin_options={"one_hot": ["sex"]}).fit(frame, Y)
    assert named(model, model.coef_) == pytest.approx({**MAXIMUM, "arm=never": 0}, abs=1e-6)
    effects = structperc.effects(model, frame, Y, level=0.8, n_boot=9, random_state=0)
    assert effects.rows()[0] == ("arm=never", 0, 0, 0) and effects.remarks[0] == "no rows"
    assert effects.to_frame().loc["arm=never", "remark"] == "no rows"


# ---- likelihoods without a maximum ----


def endless_columns(rows, low, high, n_ranks):
    """The columns with a weight in some separating direction, by two linear programs each over all rows."""
    above, below = low > 1, high < n_ranks
    eye = np.eye(n_ranks - 1)
    ends = np.vstack([np.hstack([rows[above], -eye[low[above] - 2]]), np.hstack([-rows[below], eye[high[below] - 1]])])
    order = np.hstack([np.zeros((n_ranks - 2, rows.shape[1])), np.diff(eye, axis=0)])
    found = []
    for j in range(rows.shape[1]):
        for sign in (1, -1):
            goal = sign * np.eye(ends.shape[1])[j]
            program = linprog(goal, A_ub=-np.vstack([ends, order]), b_ub=np.zeros(len(ends) + len(order)), bounds=(-1, 1))
            if program.fun < -1e-6:
                found.append(j)
    return sorted(set(found))


def test_separating_directions_reach_the_columns_that_linear_programs_find():
    separated = 0
    for seed in range(18):
        random = np.random.default_rng(seed)
        n, d, n_ranks = random.integers(8, 40), random.integers(1, 5), random.integers(2, 5)
        rows = random.integers(-1, 2, size=(n, d)).astype(float)
        score = rows @ random.integers(-2, 3, d) + random.choice([0.0, 0.5, 1.0]) * random.normal(size=n)
        low = high = 1 + np.digitize(score, np.sort(random.normal(size=n_ranks - 1)))
        if seed % 3 == 0:
            low, high = np.maximum(low - random.integers(0, 2, n), 1), np.minimum(high + random.integers(0, 2, n), n_ranks)
        if not ((high == 1).any() and (low == n_ranks).any()):
            continue
        rows = rows[:, Dependence.of(rows).columns]
        directions = separating(rows, low, high, n_ranks)
        reached = np.abs(directions[:rows.shape[1]]).max(axis=1, initial=0) > 1e-6
        assert np.flatnonzero(reached).tolist() == endless_columns(rows, low, high, n_ranks)
        both = np.hstack([directions, separating(sparse.csr_array(rows), low, high, n_ranks)])
        assert (np.linalg.matrix_rank(both) if both.size else 0) == directions.shape[1]
        separated += bool(reached.any())
    assert 3 < separated < 15


@pytest.mark.parametrize(("rank", "form"), [(0, np.asarray), (2, sparse.csr_array)])
def test_a_column_that_one_end_of_the_scale_alone_has_is_named(rank, form):
    rows = np.c_[X, (rank == RANKS) & (np.arange(200) % 2 == 0)].astype(float)
    with pytest.warns(DataWarning, match=r"the likelihood has no maximum: x\[2\] separates some ranks"):
        model = PRank(trainer="cumulative-logit").fit(form(rows), RANKS)
    engine, sign = model.engine_, 1 if rank else -1
    assert np.isinf(engine.standard_errors_).tolist() == [False, False, True, False, False]
    assert np.isinf(engine.robust_standard_errors_).tolist() == [False, False, True, False, False]
    assert sign * model.coef_[2] > 10
    effects = structperc.effects(model, form(rows), RANKS, level=0.8, n_boot=9, scale="log-odds", random_state=0)
    assert effects.remarks == ["", "", "no finite effect"]
    assert (effects.effect[2], effects.lower[2], effects.upper[2]) == (sign * np.inf, -np.inf, np.inf)
    assert np.isfinite([effects.effect[:2], effects.lower[:2], effects.upper[:2]]).all()
    assert "so that the likelihood has no maximum" in repr(effects) and "nan" not in repr(effects) + effects.html()
    if form is np.asarray:
        left, right = effects.plot().get_xlim()
        assert np.isfinite([left, right]).all()
    rest = np.flatnonzero(rows[:, 2] == 0)          # the others are those of the rows that it does not explain
    without = PRank(trainer="cumulative-logit", scale=False).fit(rows[rest, :2], RANKS[rest])
    assert engine.standard_errors_[:2] == pytest.approx(without.engine_.standard_errors_[:2], rel=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        finite = PRank(trainer="cumulative-logit", **PENALTY).fit(form(rows), RANKS)
    assert np.isfinite(finite.engine_.standard_errors_).all()
    assert structperc.effects(finite, form(rows), RANKS, level=0.8, n_boot=9, scale="log-odds", random_state=0).remarks == ["", "", ""]


def test_a_level_that_one_end_alone_has_is_named_and_logistic_steps_show_it():
    frame = pd.DataFrame({"g": np.where((RANKS == 2) & (np.arange(200) % 3 == 0), "sick", np.where(X[:, 1] > 0, "well", "fair"))})
    with pytest.warns(DataWarning, match="the likelihood has no maximum: g=sick separates"):
        model = PRank(trainer="cumulative-logit", plugin_options={"one_hot": ["g"]}).fit(frame, RANKS)
    steps = PRank(update="logistic", random_state=0, plugin_options={"one_hot": ["g"]}).fit(frame, RANKS)
    for trained in (model, steps):
        effects = structperc.effects(trained, frame, RANKS, level=0.8, n_boot=9, scale="log-odds", random_state=0)
        assert dict(zip(effects.columns, effects.remarks, strict=True))["g=sick"] == "no finite effect"


def test_a_model_with_a_maximum_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(4):
            random = np.random.default_rng(seed)
            rows = random.normal(size=(60, 3)) * [1, 1e5, 1e-5] + [0, 1e6, 0]
            y = 1 + np.digitize(rows[:, 0] * random.choice([0.5, 3]) + random.logistic(size=60), [-1, 1])
            effects = structperc.effects(PRank(trainer="cumulative-logit").fit(rows, y), rows, y, level=0.8, n_boot=9, scale="log-odds")
            assert effects.remarks == [""] * 3 and np.isfinite(effects.effect).all()
