"""Explanations against a baseline: a column contributes its weight times its distance from the mean of the training rows."""

import io
import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import Engine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import structperc
from structperc.errors import DataError, OptionError
from structperc.estimators import PRank

PROBLEMS = ["cusum", "prank", "multiclass"]


def data(n=90, d=4, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * np.array([1, 3, 0.3, 2])[:d] + np.array([4, 5, 2, -7])[:d]
    return X, np.digitize((X - X.mean(axis=0)) @ np.array([1.0, -0.3, 3, 0.5])[:d], [-2, 0, 2]) + 1


def total(found):
    return sum(c.value for c in found.contributions)


def sizes(found):
    return sum(abs(c.value) for c in found.contributions)


def again(engine):
    file = io.BytesIO()
    engine.save(file)
    file.seek(0)
    return Engine.load(file)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("problem", PROBLEMS)
def test_contributions_add_up_to_the_score_or_the_margin_at_every_baseline(problem, scale):
    X, y = data()
    engine = Engine(problem, epochs=5, scale=scale).fit(X, y)
    for x, baseline in itertools.product(X[:6], (None, "mean", "zero", X[-1])):
        found = engine.explain(x, baseline=baseline)
        assert abs(total(found) - found.total) <= 1e-9 * sizes(found)
        for atom, value in found.atoms.items():
            own = [c.value for c in found.contributions if c.atom == atom]
            assert abs(sum(own) - value) <= 1e-9 * sum(map(abs, own))


@settings(deadline=None, max_examples=30)
@given(st.sampled_from(PROBLEMS), st.integers(0, 50), st.lists(st.integers(-20, 20), min_size=4, max_size=4))
def test_a_contribution_is_the_weight_times_the_distance_from_the_mean(problem, seed, x):
    X, y = data(60, seed=seed)
    engine = Engine(problem, epochs=3, classes=[1, 2, 3, 4]).fit(X, y)
    zero, mean = (engine.explain(np.array(x, dtype=float), baseline=baseline) for baseline in ("zero", "mean"))
    rest = {(c.atom, c.column): c.value for c in zero.contributions if c.column >= 0}
    sides = {atom: 1 if side == "for" else -1 for atom, side in mean.sides.items()}
    for c in mean.contributions:
        if c.column >= 0:
            slope = slope_of(engine, c.atom)[c.column] * sides.get(c.atom, 1)
            assert c.value == pytest.approx(slope * (x[c.column] - X[:, c.column].mean()), rel=1e-9, abs=1e-9)
            assert rest.get((c.atom, c.column), 0.0) == pytest.approx(slope * x[c.column], rel=1e-9, abs=1e-9)


def slope_of(engine, atom):
    if engine.problem == "prank":
        return engine.coef_
    return engine.coef_[int(atom.removeprefix("> ")) if engine.problem == "cusum" else engine.classes_.tolist().index(int(atom))]


@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_array])
def test_the_mean_row_has_no_contributions(kind):
    X, y = data()
    for problem in PROBLEMS:
        engine = Engine(problem, epochs=4).fit(kind(X), y)
        mean = engine.model_.means.astype(np.float32 if kind is np.float32 else float)
        found = engine.explain(kind(mean[None]))
        assert {c.feature for c in found.contributions} <= {"(constant)"} and found.baseline == "mean"
        assert total(found) == pytest.approx(found.total, rel=1e-6)


def test_a_winner_and_rival_that_change_places_change_the_sign():
    X, y = data()
    engine = Engine("prank", epochs=5).fit(X, y)
    one, other = X[engine.predict(X) == 1][0], X[engine.predict(X) == 3][0]
    slopes = [{(c.atom, c.column): c.value / (x - engine.model_.means)[c.column]
               for c in engine.explain(x, against=rival).contributions if c.column >= 0} for x, rival in ((one, 3), (other, 1))]
    assert len(slopes[0]) == 8 and slopes[0] == pytest.approx({key: -slope for key, slope in slopes[1].items()})


def shapley(value, d):
    """Shapley values by all subsets."""
    found = np.zeros(d)
    for j in range(d):
        others = [k for k in range(d) if k != j]
        for size in range(d):
            for subset in itertools.combinations(others, size):
                weight = math.factorial(size) * math.factorial(d - size - 1) / math.factorial(d)
                found[j] += weight * (value({*subset, j}) - value(set(subset)))
    return found


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_contributions_are_the_shapley_values_of_the_margin(d):
    X, y = data(40, d)
    engine = Engine("cusum", epochs=4).fit(X, y)
    for x in X[:3]:
        found = engine.explain(x)
        places = [engine.classes_.tolist().index(label) for label in (found.winner, found.runner_up)]

        def lead(rows, places=places):
            scores = np.cumsum(np.column_stack([np.zeros(len(rows)), engine.atom_scores(rows)]), axis=1)
            return scores[:, places[0]] - scores[:, places[1]]

        def value(subset, x=x, lead=lead):
            rows = X.copy()
            rows[:, list(subset)] = x[list(subset)]
            return lead(rows).mean()

        own = np.zeros(d)
        for c in found.contributions:
            own[c.column] += c.value if c.column >= 0 else 0
        assert own == pytest.approx(shapley(value, d), rel=1e-7, abs=1e-7)


def test_standardised_columns_have_the_contributions_of_raw_ones():
    X, y = data()
    raw = PRank(scale=True, epochs=5, random_state=0).fit(X, y)
    piped = make_pipeline(StandardScaler(), PRank(scale=False, epochs=5, random_state=0)).fit(X, y)
    for x in X[:5]:
        one, other = raw.explain(x), structperc.explain(piped, x[None])
        values = [{(c.atom, c.column): c.value for c in found.contributions} for found in (one, other)]
        assert values[0] == pytest.approx(values[1], rel=1e-6, abs=1e-9)


def test_absent_columns_of_a_sparse_row_are_one_term():
    X = (sparse.random(80, 300, density=0.02, format="csr", random_state=0) > 0).astype(float)
    engine = Engine("multiclass", epochs=3).fit(X, np.arange(80) % 3)
    dense = Engine("multiclass", epochs=3).fit(X.toarray(), np.arange(80) % 3)
    found, expected = engine.explain(X[5]), dense.explain(X[5].toarray())
    held = {f"x[{j}]" for j in X[5].indices}
    assert {c.feature for c in found.contributions} <= held | {"(constant)", "(absent columns)"}
    for atom in found.atoms:
        absent = sum(c.value for c in found.contributions if (c.atom, c.feature) == (atom, "(absent columns)"))
        assert absent == pytest.approx(sum(c.value for c in expected.contributions
                                           if c.atom == atom and c.column >= 0 and c.feature not in held), rel=1e-9)
    assert abs(total(found) - found.margin) <= 1e-9 * sizes(found)


def table(seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": random.integers(20, 80, 90), "city": random.choice(["Rome", "Bern", "Oslo"], 90)})
    return frame, np.digitize(frame["age"] + 20 * (frame["city"] == "Rome"), [40, 60]) + 1


def test_the_columns_of_one_text_column_are_one_term():
    frame, y = table()
    engine = Engine("prank", plugins=["table"], one_hot=["city"], scale=True, epochs=5).fit(frame, y)
    found = engine.explain(frame[frame["city"] == "Oslo"].iloc[[0]])
    assert {c.feature for c in found.contributions} <= {"age", "city=Oslo", "(constant)"}
    names = list(engine.model_.context.feature_names)
    weights = engine.coef_[[j for j, name in enumerate(names) if name.startswith("city=")]]
    shares = np.array([(frame["city"] == name.removeprefix("city=")).mean() for name in names if name.startswith("city=")])
    expected = weights[names.index("city=Oslo") - 1] - weights @ shares
    ups = [c for c in found.contributions if c.feature == "city=Oslo"]
    assert ups and all(abs(c.value) == pytest.approx(abs(expected), rel=1e-9) for c in ups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")         # an unknown level
        unknown = engine.explain(frame.iloc[[0]].assign(city="Wien"))
    assert {c.feature for c in unknown.contributions} <= {"age", "city", "(constant)"}


def test_named_groups_are_added_up():
    X, y = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    engine = Engine("prank", epochs=5).fit(frame, y)
    single, grouped = engine.explain(frame.iloc[[0]]), engine.explain(frame.iloc[[0]], groups={"ends": ["a", 3]})
    for atom in single.atoms:
        values = {c.feature: c.value for c in single.contributions if c.atom == atom}
        sums = {c.feature: c.value for c in grouped.contributions if c.atom == atom}
        assert sums == pytest.approx({"ends": values["a"] + values["d"], **{k: v for k, v in values.items() if k not in "ad"}})
    piped = make_pipeline(StandardScaler(), PRank(epochs=3, random_state=0)).fit(frame, y)
    assert "ends" in {c.feature for c in structperc.explain(piped, frame.iloc[0], groups={"ends": ["a", "d"]}).contributions}


@pytest.mark.parametrize(("options", "message"), [
    ({"baseline": "means"}, "baseline='means'; expected 'mean', 'zero' or a row"),
    ({"groups": {"g": ["e"]}}, "names 'e', which is no column"),
    ({"groups": {"g": [9]}}, "names 9, which is no column"),
    ({"groups": {"g": "a"}}, "expected a list of columns"),
    ({"groups": {"g": [0, 1], "h": [1]}}, "which is in the group 'g' too"),
])
def test_what_is_no_baseline_or_group_is_refused(options, message):
    X, y = data()
    engine = Engine("prank").fit(X, y)
    with pytest.raises(OptionError, match=message):
        engine.explain(X[0], **options)
    with pytest.raises(DataError, match="4"):
        engine.explain(X[0], baseline=[1.0, 2.0])


# ---- which means ----


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, np.float32, sparse.csr_array])
def test_means_are_those_of_the_training_rows_weighted(kind, scale):
    X, y = data()
    weights = np.arange(len(X)) % 3 + 0.5
    weights[::7] = 0
    engine = Engine("cusum", scale=scale).fit(kind(X), y, sample_weight=weights)
    assert engine.model_.means == pytest.approx(np.average(X, axis=0, weights=weights), rel=1e-6)


def test_means_of_a_stream_run_along_and_are_kept_in_the_file():
    X, y = data()
    engine = Engine("cusum", classes=[1, 2, 3, 4])
    for at in (slice(0, 1), slice(1, 40), slice(40, 41)):
        engine.partial_fit(X[at], y[at])
    engine = again(engine).partial_fit(X[41:], y[41:])
    assert engine.model_.means == pytest.approx(X.mean(axis=0), rel=1e-12)
    assert again(engine).model_.means.tolist() == engine.model_.means.tolist()
    before = engine.model_.means.tolist()
    with pytest.raises(DataError):
        engine.partial_fit([[1.0, 2.0, 3.0, np.nan]], [1])
    assert engine.model_.means.tolist() == before


def test_blocks_have_the_mean_of_their_rows():
    random = np.random.default_rng(0)
    X = [random.normal(size=(n, 3)) + 5 for n in (2, 9, 4)]
    engine = Engine("sequence", classes=["a", "b"], epochs=3).fit(X, [["a", "b"] * (len(x) // 2) + ["a"] * (len(x) % 2) for x in X])
    assert engine.model_.means == pytest.approx(np.concatenate(X).mean(axis=0))
    found = engine.explain(X[1])
    assert found.baseline == "mean" and abs(total(found) - found.margin) <= 1e-9 * sizes(found)
    mean = np.tile(engine.model_.means, (4, 1))
    assert {c.feature for c in engine.explain(mean).contributions} <= {"(constant)"}


def test_named_features_keep_zero_and_have_no_mean():
    engine = Engine("sequence", epochs=2).fit([[["the"], ["cat"]]], [["D", "N"]])
    assert engine.explain([["the"], ["cat"]]).baseline == "zero" and engine.model_.means is None
    with pytest.raises(OptionError, match="baseline='mean': the rows have named features"):
        engine.explain([["the"], ["cat"]], baseline="mean")


def test_a_model_of_an_older_file_compares_with_zero():
    X, y = data()
    engine = Engine("prank").fit(X, y)
    expected = engine.explain(X[0], baseline="zero").rows()
    engine.model_.column_sums = None        # as files of before have it
    older = again(engine)
    assert older.explain(X[0]).baseline == "zero" and older.explain(X[0]).rows() == expected
    with pytest.raises(OptionError, match="this model has no means"):
        older.explain(X[0], baseline="mean")
    assert older.partial_fit(X[:5], y[:5]).model_.means is None


# ---- what is shown ----


def test_what_is_left_out_is_said():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 9))
    engine = Engine("prank", epochs=5).fit(X, (X.sum(axis=1) > 0) + 1)
    found = engine.explain(X[0])
    columns = [c.value for c in found.contributions if c.side != "start"]
    rest = sum(columns[5:])
    assert f"{len(columns) - 5} others" in found.text() and f"{rest:+.2f}" in found.text()
    assert found.text().split("\n")[1] == "compared with the mean of the training rows"
    assert "compared with the mean of the training rows" in found.html() and f"{rest:+.2f}" in found.html()
    drawn = [value for _, bars in found.bars().groups for _, value in bars]
    assert found.start + sum(drawn) == pytest.approx(found.score)


def test_estimators_of_plugins_explain_against_a_row():
    from structperc_boosting.estimators import AdaBoostOR
    from structperc_parsing.estimators import DependencyParser

    random = np.random.default_rng(0)
    X, sentences = random.normal(size=(60, 3)), [random.normal(size=(n, 4)) for n in (3, 4, 3)]
    ranker = AdaBoostOR(n_estimators=5).fit(X, 1 + np.digitize(X @ [1, -2, 0.5], [-1, 0, 1]))
    parser = DependencyParser(tokens="vectors", random_state=0).fit(sentences, [[2, 0, 2], [2, 0, 2, 3], [2, 0, 2]])
    for model, x, row in ((ranker, X[0], X[1]), (parser, sentences[0], np.ones(4))):
        found = model.explain(x, baseline=row)
        assert found.baseline == "row" and sum(c.value for c in found.contributions) == pytest.approx(found.total)
    assert [c.feature for c in ranker.explain(X[0], baseline=X[0]).contributions] == ["(constant)"]
