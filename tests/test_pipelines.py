"""Models behind other steps: explained and drawn in the names of the columns that their last step reads."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import structperc
from structperc import plotting
from structperc.errors import NotFittedError, OptionError
from structperc.estimators import CuSumRank, PRank, StructuredClassifier


@pytest.fixture(scope="module")
def patients():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"age": random.normal(50, 10, 80), "bmi": random.normal(25, 4, 80), "sex": random.choice(["f", "m"], 80)})
    return table, np.digitize(table["age"] + 5 * (table["sex"] == "m"), [45, 55]) + 1


def encoded(last):
    return make_pipeline(make_column_transformer((OneHotEncoder(), ["sex"]), (StandardScaler(), ["age", "bmi"]),
                                                 verbose_feature_names_out=False), last)


@pytest.mark.parametrize("last", [CuSumRank(epochs=3, random_state=0), PRank(epochs=3, random_state=0)], ids=repr)
def test_a_row_is_explained_in_the_names_of_the_last_steps_columns(last, patients):
    X, y = patients
    model = encoded(last).fit(X, y)
    for row in (X[3:4], X.iloc[3]):
        found = structperc.explain(model, row)
        assert found.winner == model.predict(X[3:4])[0]
        assert {c.feature for c in found.contributions} - {"(constant)"} <= {"sex_f", "sex_m", "age", "bmi"}
        assert sum(c.value for c in found.contributions) == pytest.approx(found.total, abs=1e-12)
    own = model[-1].explain(model[:-1].transform(X[3:4]))
    assert [c.value for c in own.contributions] == [c.value for c in found.contributions] and own.contributions[0].feature != "age"
    rival = next(k for k in (1, 2, 3) if k != found.winner)
    assert structperc.explain(model, X[3:4], against=rival).runner_up == rival


def test_rows_come_as_arrays_and_texts_too(patients):
    X, y = patients[0][["age", "bmi"]].to_numpy(), patients[1]
    model = make_pipeline(StandardScaler(), CuSumRank(epochs=2, random_state=0)).fit(X, y)
    expected = structperc.explain(model, X[:1]).rows()
    assert structperc.explain(model, X[0]).rows() == expected == structperc.explain(model, X[0].tolist()).rows()
    assert {row["feature"] for row in expected} <= {"x0", "x1", "(constant)"}
    words = make_pipeline(CountVectorizer(), StructuredClassifier(epochs=2)).fit(["good food", "bad food"], ["+", "-"])
    assert {c.feature for c in structperc.explain(words, "good").contributions} == {"good", "(absent columns)", "(constant)"}
    nameless = make_pipeline(FunctionTransformer(np.sqrt), PRank(epochs=2)).fit(np.abs(X), y)
    assert {c.feature for c in structperc.explain(nameless, np.abs(X[0])).contributions} <= {"x[0]", "x[1]", "(constant)"}


def test_searches_engines_and_estimators_are_explained_alike(patients):
    X, y = patients
    search = GridSearchCV(encoded(CuSumRank(random_state=0)), {"cusumrank__epochs": [2, 3]}, cv=2).fit(X, y)
    assert "age" in str(structperc.explain(search, X[:1]))
    model = CuSumRank(epochs=2, random_state=0).fit(X[["age", "bmi"]], y)
    row = X[["age", "bmi"]][:1]
    assert str(structperc.explain(model, row)) == str(structperc.explain(model.engine_, row)) == str(model.explain(row))
    assert str(structperc.explain(make_pipeline(model), row)) == str(model.explain(row))


def test_what_cannot_be_explained_or_drawn_is_a_sentence(patients):
    X, y = patients
    other = encoded(LogisticRegression()).fit(X, y)
    with pytest.raises(OptionError, match="LogisticRegression explains nothing; expected an engine or estimator of structperc"):
        structperc.explain(other, X[:1])
    for draw in (plotting.plot_learning_curve, plotting.plot_weights, lambda model: plotting.plot_thresholds(model, X, y)):
        with pytest.raises(OptionError, match="LogisticRegression has no engine_, which a picture needs. Pass a fitted engine"):
            draw(other)
    with pytest.raises(NotFittedError):
        plotting.plot_learning_curve(CuSumRank())


def test_pictures_take_the_last_step_and_carry_X_through_those_before(patients):
    import matplotlib

    matplotlib.use("Agg")
    X, y = patients
    model = encoded(PRank(epochs=3, random_state=0)).fit(X, y)
    ax = plotting.plot_thresholds(model, X, y)
    direct = plotting.plot_thresholds(model[-1], model[:-1].transform(X), y)
    assert [text.get_text() for text in ax.texts] == ["1|2", "2|3"]
    assert np.array_equal(ax.lines[0].get_ydata(), direct.lines[0].get_ydata())
    names = [text.get_text() for text in plotting.plot_weights(model).get_yticklabels()]
    assert set(names) == {"age", "bmi", "sex_f", "sex_m"}
    assert plotting.plot_learning_curve(model).get_xlabel() == "epoch"
    matplotlib.pyplot.close("all")
