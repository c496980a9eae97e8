"""Odds ratios, p values and tests of proportional odds, beside published numbers and a likelihood written out."""

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, sparse
from scipy.stats import chi2
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import structperc
from structperc import Engine
from structperc.errors import DataError, NotFittedError, OptionError, PluginError
from structperc.estimators import AdaBoostOR, CuSumRank, IntervalPA, PRank, StructuredClassifier

# Satisfaction of 1,681 tenants of Copenhagen (Madsen 1976), as printed by Venables and Ripley, Modern Applied Statistics with S, 2002.
INFLUENCE, HOUSE, CONTACT = ("Low", "Medium", "High"), ("Tower", "Apartment", "Atrium", "Terrace"), ("Low", "High")
HOUSING = pd.DataFrame([(i, h, c) for c in CONTACT for h in HOUSE for i in INFLUENCE for _ in range(3)], columns=["Infl", "Type", "Cont"])
SATISFACTION = np.tile([1, 2, 3], 24)
TENANTS = np.array([float(count) for count in """
    21 21 28 34 22 36 10 11 36 61 23 17 43 35 40 26 18 54 13  9 10  8  8 12  6  7  9 18  6  7 15 13 13  7  5 11
    14 19 37 17 23 40  3  5 23 78 46 43 48 45 86 15 25 62 20 23 20 10 22 24  7 10 21 57 23 13 31 21 13  5  6 13""".split()])
# polr of R's MASS 7.3: coefficients, errors, thresholds and their errors; deviance; the ratio tests of dropterm
COEFFICIENTS = {"Infl=Medium": (0.5664, 0.10465), "Infl=High": (1.2888, 0.12716), "Type=Apartment": (-0.5724, 0.11924),
                "Type=Atrium": (-0.3662, 0.15517), "Type=Terrace": (-1.0910, 0.15149), "Cont=High": (0.3603, 0.09554)}
DEVIANCE, AIC = 3479.149, 3495.149
DROPPED = {"Infl": (108.239, 2), "Type": (55.910, 3)}
P_OF_CONTACT = 0.0001554
LEVELS = {"one_hot": ["Infl", "Type", "Cont"], "reference": {"Infl": "Low", "Type": "Tower", "Cont": "Low"}}
LIKELIHOOD = dict(trainer="cumulative-logit")


@pytest.fixture(scope="module")
def housing():
    return PRank(**LIKELIHOOD, plugin_options=LEVELS).fit(HOUSING, SATISFACTION, sample_weight=TENANTS)


@pytest.fixture(scope="module")
def table(housing):
    return structperc.effects(housing, HOUSING, SATISFACTION, scale="log-odds", per="unit", interval="wald", sample_weight=TENANTS)


def drawn(n=250, seed=0, parallel=True):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2)) * [1, 20]
    first = X[:, 0] + random.logistic(size=n) > -0.5
    second = X[:, 0] * (1 if parallel else -1) + X[:, 1] / 20 + random.logistic(size=n) > 0.3
    return pd.DataFrame(X, columns=["dose", "age"]), 1 + first * (1 + second)


def sized(X, y, options=LIKELIHOOD, **given):
    return structperc.effects(PRank(**options).fit(X, y), X, y, **{"scale": "odds-ratio", "interval": "wald", **given})


# ---- published numbers ----


def test_the_housing_table_has_the_published_digits(table):
    numbers = table.to_frame()
    for name, (coefficient, error) in COEFFICIENTS.items():
        row = numbers.loc[name]
        assert row["effect"] == pytest.approx(coefficient, abs=5.1e-5)
        assert (row["upper"] - row["lower"]) / 2 / 1.959963985 == pytest.approx(error, abs=5.1e-6)
    assert -2 * table.fit.log_likelihood == pytest.approx(DEVIANCE, abs=5e-4) and table.fit.aic == pytest.approx(AIC, abs=5e-4)
    assert table.fit.bic == pytest.approx(DEVIANCE + 8 * np.log(1681), abs=5e-4)
    assert {term.name: (round(term.ratio, 3), term.degrees) for term in table.terms} == DROPPED
    assert numbers.loc["Cont=High", "p (ratio)"] == pytest.approx(P_OF_CONTACT, rel=1e-3)
    assert numbers["per"].to_list()[:3] == ["vs Low", "", "vs Low"] and table.remarks.count("reference") == 3


def test_ratios_are_powers_of_log_odds_and_a_reference_has_one(housing, table):
    ratios = structperc.effects(housing, HOUSING, SATISFACTION, scale="odds-ratio", interval="wald", sample_weight=TENANTS)
    assert ratios.effect == pytest.approx(np.exp(table.effect)) and ratios.upper == pytest.approx(np.exp(table.upper))
    assert ratios.effect[table.columns.index("Type=Tower")] == 1 and np.isnan(ratios.p_wald[table.columns.index("Type=Tower")])
    repeated = HOUSING.loc[HOUSING.index.repeat(TENANTS.astype(int))], np.repeat(SATISFACTION, TENANTS.astype(int))
    again = structperc.effects(PRank(**LIKELIHOOD, plugin_options=LEVELS).fit(*repeated), *repeated, scale="odds-ratio", interval="wald")
    assert again.p_ratio == pytest.approx(ratios.p_ratio, rel=1e-6, nan_ok=True) and again.fit.bic == pytest.approx(ratios.fit.bic)


def test_the_tests_of_the_housing_table_agree_with_logits_fitted_one_by_one(housing):
    tests = structperc.proportional_odds(housing, HOUSING, SATISFACTION, sample_weight=TENANTS)
    X = np.column_stack([(HOUSING[name.split("=")[0]] == name.split("=")[1]).to_numpy(float) for name in COEFFICIENTS])
    assert tests.brant[0] == pytest.approx(slow_brant(X, SATISFACTION, TENANTS), rel=1e-4)
    assert tests.ratio[0] == pytest.approx(slow_ratio(X, SATISFACTION, TENANTS), abs=1e-4)
    assert dict(zip(tests.columns, tests.degrees.tolist(), strict=True))["Type"] == 3 and tests.degrees[0] == 6


def slow_brant(X, y, weights):
    """Brant's statistic with a general optimiser and the covariance row by row."""
    Z = np.column_stack([np.ones(len(X)), X])
    fits, chances = [], []
    for k in (1, 2):
        sign = np.where(y > k, 1.0, -1.0)
        fits.append(optimize.minimize(lambda w, s=sign: weights @ np.logaddexp(0, -s * (Z @ w)), np.zeros(Z.shape[1]), method="BFGS",
                                      jac=lambda w, s=sign: -Z.T @ (weights * s / (1 + np.exp(s * (Z @ w)))), options={"gtol": 1e-8}).x)
        chances.append(1 / (1 + np.exp(-Z @ fits[-1])))
    inverse = [np.linalg.inv(sum(w * p * (1 - p) * np.outer(z, z) for w, p, z in zip(weights, chance, Z, strict=True)))
               for chance in chances]
    between = sum(w * q * (1 - p) * np.outer(z, z) for w, p, q, z in zip(weights, *chances, Z, strict=True))
    across = inverse[0] @ between @ inverse[1]
    difference = (fits[1] - fits[0])[1:]
    return difference @ np.linalg.solve((inverse[0] + inverse[1] - across - across.T)[1:, 1:], difference)


def slow_ratio(X, y, weights):
    """Twice the gain of a direction for each of two thresholds, with a general optimiser."""
    d = X.shape[1]

    def loss(theta, free):
        first = X @ theta[:d] - theta[d]
        second = X @ (theta[d + 2:] if free else theta[:d]) - theta[d + 1]
        p, q = 1 / (1 + np.exp(-first)), 1 / (1 + np.exp(-second))
        chance = np.select([y == 1, y == 2], [1 - p, p - q], q)
        return -(weights @ np.log(np.maximum(chance, 1e-12)))

    common = optimize.minimize(loss, np.append(np.zeros(d), [-0.5, 0.5]), args=(False,), method="BFGS")
    free = optimize.minimize(loss, np.append(common.x, common.x[:d]), args=(True,), method="BFGS", options={"gtol": 1e-6})
    return 2 * (common.fun - free.fun)


# ---- effects ----


def test_units_deviations_and_own_units_are_one_model():
    X, y = drawn()
    unit, deviation, ten = (sized(X, y, per=per) for per in (None, "deviation", {"age": 10}))
    assert deviation.effect == pytest.approx(unit.effect ** X.std(ddof=0).to_numpy())
    assert ten.effect[1] == pytest.approx(unit.effect[1] ** 10) and ten.effect[0] == unit.effect[0]
    assert (unit.per, ten.per) == (["1", "1"], ["1", "10"]) and deviation.per[1].startswith("SD ")
    assert ten.p_wald == pytest.approx(unit.p_wald) and ten.p_ratio.tolist() == unit.p_ratio.tolist()
    scaled = structperc.effects(make_pipeline(StandardScaler(), PRank(**LIKELIHOOD)).fit(X, y), X, y, scale="odds-ratio", interval="wald")
    assert scaled.effect == pytest.approx(deviation.effect, rel=1e-5) and scaled.columns == ["dose", "age"]


def test_p_values_are_those_of_models_without_a_column():
    X, y = drawn()
    effects = sized(X, y)
    whole, without = (PRank(**LIKELIHOOD).fit(X[columns], y).engine_.log_likelihood_ for columns in (["dose", "age"], ["age"]))
    assert effects.p_ratio[0] == pytest.approx(float(chi2.sf(2 * (whole - without), 1)), rel=1e-6)
    assert effects.fit.degrees == 2 and effects.fit.n_parameters == 4
    boot = sized(X, y, interval="bootstrap", n_boot=39, random_state=0)
    assert boot.p_wald.tolist() == effects.p_wald.tolist() and boot.lower != pytest.approx(effects.lower) and boot.n_boot == 39
    robust = sized(X, y, interval="robust")
    assert robust.p_wald != pytest.approx(effects.p_wald) and robust.p_ratio.tolist() == effects.p_ratio.tolist()
    ends = structperc.effects(IntervalPA(**LIKELIHOOD).fit(X, np.column_stack([y, y])), X, np.column_stack([y, y]), scale="odds-ratio",
                              interval="wald")
    assert ends.p_ratio == pytest.approx(effects.p_ratio, rel=1e-5) and ends.fit.aic == pytest.approx(effects.fit.aic)


def test_what_the_data_leave_open_has_no_p_value():
    X, y = drawn()
    more = X.assign(twin=X["age"], one=3.0, top=(y == 3) & (X["dose"] > 0))
    with pytest.warns(UserWarning):
        model = PRank(**LIKELIHOOD).fit(more, y)
    effects = structperc.effects(model, more, y, scale="odds-ratio", interval="wald")
    assert effects.remarks == ["", "dependent", "dependent", "constant", "no finite effect"]
    assert np.isnan(effects.p_wald).tolist() == [False, True, True, True, True] and np.isnan(effects.p_ratio).tolist()[-1] is False
    assert (effects.effect[4], effects.lower[4], effects.upper[4]) == (np.inf, 0, np.inf) and effects.p_ratio[4] < 0.001
    assert effects.effect[3] == effects.upper[3] == 1 and effects.fit.n_parameters == 5


def test_models_without_a_likelihood_have_ratios_and_no_p_values():
    X, y = drawn()
    for options in ({"update": "logistic"}, {**LIKELIHOOD, "penalty": 2.0}):
        effects = sized(X, y, options, interval="bootstrap", n_boot=39, random_state=0)
        assert effects.p_wald is None and effects.fit is None and effects.effect[0] > 1
        with pytest.raises(PluginError, match="without penalty, whose likelihood has a covariance"):
            sized(X, y, options)
    visits = sized(X, y, interval="bootstrap", n_boot=39, groups=np.arange(len(y)) // 2)
    assert visits.p_wald is None and "no p values, since rows of a group depend" in repr(visits)


@pytest.mark.parametrize(("given", "message"), [
    ({"scale": "odds"}, "expected 'direction', 'log-odds' or 'odds-ratio'"),
    ({"interval": "profile"}, "interval='profile'; expected 'bootstrap', 'wald' or 'robust'"),
    ({"per": "sd"}, "per='sd'; expected 'unit', 'deviation', or numbers by column"),
    ({"per": {"age": 0}}, r"per=\{'age': 0\}; expected a number above 0"),
    ({"per": {"agee": 10}}, "per names 'agee', which is no column; did you mean 'age'"),
    ({"scale": "direction", "interval": "bootstrap", "per": "unit"}, "comparable per standard deviation only"),
    ({"groups": np.arange(250)}, "takes rows for independent"),
])
def test_what_cannot_be_reported_is_an_error(given, message):
    with pytest.raises((OptionError, PluginError), match=message):
        sized(*drawn(), **given)


def test_a_level_has_no_rise_of_its_own(housing):
    with pytest.raises(OptionError, match="levels are compared with a reference level"):
        structperc.effects(housing, HOUSING, SATISFACTION, scale="odds-ratio", interval="wald", per={"Type=Atrium": 2})


def test_columns_of_a_frame_are_reported_by_their_types():
    typed = pd.DataFrame({"Infl": pd.Categorical(HOUSING["Infl"], INFLUENCE, ordered=True), "Type": HOUSING["Type"].astype("category"),
                          "Cont": pd.Categorical((HOUSING["Cont"] == "High") * 10),
                          "Since": pd.Timestamp("2024-01-31") - pd.to_timedelta(np.arange(72) % 7, "D")})
    by_hand = pd.DataFrame({"Infl": typed["Infl"].cat.codes, **{house: HOUSING["Type"] == house for house in HOUSE[1:]},
                            "Cont": HOUSING["Cont"] == "High", "Since": -(np.arange(72) % 7)}).astype(float)
    told = {"scale": "log-odds", "interval": "wald", "sample_weight": TENANTS}
    model = PRank(**LIKELIHOOD, plugin_options={"reference": {"Type": "Tower", "Cont": "0"}})
    model.fit(typed, SATISFACTION, sample_weight=TENANTS)
    other = PRank(**LIKELIHOOD).fit(by_hand, SATISFACTION, sample_weight=TENANTS)
    table, expected = (structperc.effects(one, X, SATISFACTION, per="unit", **told) for one, X in ((model, typed), (other, by_hand)))
    assert table.per == ["1 level", "vs Tower", "vs Tower", "vs Tower", "", "", "vs 0", "1 day"]
    kept = [j for j, remark in enumerate(table.remarks) if remark != "reference"]
    for name in ("effect", "lower", "upper", "p_wald", "p_ratio"):
        assert getattr(table, name)[kept] == pytest.approx(getattr(expected, name), abs=1e-7)
    sd = structperc.effects(model, typed, SATISFACTION, **told)
    assert sd.per[0][:3] == "SD " and sd.per[1].endswith("vs Tower") and sd.per[4] == "" and sd.unit() == " per standard deviation"


def test_rows_with_levels_that_the_model_lacks_are_not_those_of_its_training(housing):
    other = HOUSING.assign(Type=HOUSING["Type"].replace("Atrium", "Villa"))
    for report in (structperc.effects, structperc.proportional_odds):
        with pytest.warns(structperc.errors.DataWarning), pytest.raises(DataError, match="X has levels of 'Type' that the model has not"):
            report(housing, other, SATISFACTION, sample_weight=TENANTS)


def test_a_level_that_is_a_position_is_no_reference():
    ordered = HOUSING.assign(Infl=pd.Categorical(HOUSING["Infl"], INFLUENCE, ordered=True))
    with pytest.raises(OptionError, match="reference='Low' for column 'Infl'; its levels are ordered, and become positions"):
        PRank(**LIKELIHOOD, plugin_options={**LEVELS, "one_hot": ["Type", "Cont"]}).fit(ordered, SATISFACTION)


def test_reports_have_every_number_of_the_table(table):
    assert table.latex().count(r"\\") == 1 + len(table.columns) and r"\textless{}0.001" in table.latex() and "_" not in table.latex()
    for text in (repr(table), table.html(), table.latex()):
        assert all(cell in text for cell in ("Infl=Medium", "+0.566", "vs Low", "0.018"))
        assert "AIC 3495.149" in text and "All levels of Infl: chi-square 108.24 on 2 degrees of freedom" in text
    assert list(table.to_frame().columns) == ["per", "effect", "lower", "upper", "p (Wald)", "p (ratio)", "remark"]
    ax = table.plot()
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names[:3] == ["Infl=High", "Infl=Medium", "Infl=Low"]
    assert names[-4:] == ["Type=Tower", "Type=Atrium", "Type=Apartment", "Type=Terrace"]
    assert ax.get_title(loc="left") == "Effects of 9 columns, 95 % intervals"
    assert "+0.57 (+0.36 to +0.77)" in [text.get_text() for text in ax.texts]
    assert sized(*drawn()).plot().get_xscale() == "log"


# ---- proportional odds ----


def test_a_column_whose_effect_turns_is_named():
    X, y = drawn(400, parallel=False)
    for model in (PRank(**LIKELIHOOD), PRank(), CuSumRank(), AdaBoostOR(n_estimators=5)):
        tests = structperc.proportional_odds(model.fit(X, y), X, y)
        assert tests.columns == ["all columns", "dose", "age"] and tests.degrees.tolist() == [2, 1, 1]
        assert "Brant's test rejects it" in repr(tests) and "The evidence is strongest for dose (p < 0.001)." in tests.conclusion()
    random = np.random.default_rng(0)
    ranks = np.digitize(X["dose"] + random.logistic(size=400), [-1, 1])
    level = structperc.proportional_odds(PRank().fit(X, ranks), X, ranks, level=0.999)
    assert "finds no evidence" in level.conclusion()[0] and "proves nothing" in level.conclusion()[-1]
    numbers = structperc.proportional_odds(Engine("cusum").fit(sparse.csr_array(X.to_numpy()), y), sparse.csr_array(X.to_numpy()), y)
    assert numbers.brant == pytest.approx(tests.brant) and numbers.ratio == pytest.approx(tests.ratio, abs=1e-6)
    assert all(cell in tests.html() and cell in tests.latex() for cell in ("dose", f"{tests.brant[0]:.2f}"))
    assert tests.to_frame().loc["age", "degrees"] == 1


def test_units_and_names_of_ranks_do_not_change_the_tests():
    X, y = drawn()
    tests = structperc.proportional_odds(PRank().fit(X, y), X, y)
    other = structperc.proportional_odds(PRank(classes=["a", "b", "never", "c"]).fit(X * [1e4, 1e-4] + 7, np.array(list("abc"))[y - 1]),
                                         X * [1e4, 1e-4] + 7, np.array(list("abc"))[y - 1])
    assert other.brant == pytest.approx(tests.brant, rel=1e-6) and other.ratio == pytest.approx(tests.ratio, abs=1e-6)


def test_false_alarms_are_as_rare_as_they_should_be():
    rejected = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        X = random.normal(size=(150, 2))
        y = np.digitize(X[:, 0] + random.logistic(size=150), [-1, 0.5])
        tests = structperc.proportional_odds(Engine("prank", epochs=1).fit(X, y), X, y)
        rejected.append([tests.p_brant[0] < 0.1, tests.p_ratio[0] < 0.1])
    assert np.all(np.mean(rejected, axis=0) < 0.2) and np.any(rejected)


def test_ranks_that_a_column_separates_leave_the_ratio():
    X, y = drawn()
    X = X.assign(top=(y == 3) & (X["dose"] > 0))
    tests = structperc.proportional_odds(PRank().fit(X, y), X, y)
    assert np.isnan(tests.brant).all() and np.isfinite(tests.ratio).all() and "Brant's test has no value" in tests.conclusion()[0]


@pytest.mark.parametrize(("model", "y", "error", "message"), [
    (StructuredClassifier(), drawn()[1], PluginError, "odds are those of ordered labels"),
    (PRank(), np.minimum(drawn()[1], 2), DataError, "at least three ranks"),
    (IntervalPA(), np.column_stack([drawn()[1], np.minimum(drawn()[1] + 1, 3)]), DataError, "is an interval of ranks"),
])
def test_what_has_no_proportional_odds_is_an_error(model, y, error, message):
    X, _ = drawn()
    with pytest.raises(NotFittedError):
        structperc.proportional_odds(model, X, y)
    with pytest.raises(error, match=message):
        structperc.proportional_odds(model.fit(X, y), X, y)


def test_columns_without_variation_and_too_many_are_errors():
    X, y = drawn()
    with pytest.raises(DataError, match="no column of X varies"):
        structperc.proportional_odds(PRank().fit(X, y), X * 0, y)
    with pytest.raises(OptionError, match="expected a number between 0 and 1"):
        structperc.proportional_odds(PRank().fit(X, y), X, y, level=95)
    wide = np.random.default_rng(0).normal(size=(300, 260))
    with pytest.raises(PluginError, match="260 columns at 2 thresholds have 520 odds ratios, more than 500; test fewer columns"):
        structperc.proportional_odds(PRank().fit(wide, y[np.arange(300) % 250]), wide, y[np.arange(300) % 250])
