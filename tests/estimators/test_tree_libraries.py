"""`BinaryReduction` over trees of other libraries: explanations by TreeSHAP, and model files in the libraries' own formats."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from fuzz.targets.model_files import as_npy, summed, zipped
from numpy.lib import format as npy
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from structperc import Engine
from structperc.errors import DataError, ModelFormatError, OptionError, PluginError
from structperc.estimators import BinaryReduction, OrdinalConformal, PRank, load
from structperc.estimators.tree_libraries import explain_levels

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(160, 3))
Y = np.digitize(2 * np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.5 * RANDOM.logistic(size=160), [-1, 0.5, 2]) + 1
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(grade=pd.Categorical(np.where(X[:, 2] > 0, "u", "v")))
FRAME.iloc[::7, 0] = np.nan
BOOSTERS = {"lightgbm": ("LGBMClassifier", {"n_estimators": 6, "verbose": -1, "n_jobs": 1}),
            "xgboost": ("XGBClassifier", {"n_estimators": 6, "n_jobs": 1, "enable_categorical": True}),
            "catboost": ("CatBoostClassifier", {"iterations": 6, "verbose": 0, "thread_count": 1, "allow_writing_files": False})}
OF_SCIKIT_LEARN = [HistGradientBoostingClassifier(max_iter=4), GradientBoostingClassifier(n_estimators=4),
                   RandomForestClassifier(4, max_depth=4), ExtraTreesClassifier(4, max_depth=4), DecisionTreeClassifier(max_depth=4)]


def booster(library, **options):
    name, given = BOOSTERS[library]
    return getattr(pytest.importorskip(library), name)(**given, **options)


def saved(model) -> bytes:
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def again(model):
    return load(io.BytesIO(saved(model)))


# ---- explanations ----


def check(model, x, scores):
    """The contributions of one row add up to its scores, and name its columns."""
    way = model.explain(x)
    assert way.total == pytest.approx(scores.mean()) and sum(c.value for c in way.contributions) == pytest.approx(way.total)
    assert way.winner == 1 + (scores >= 0).sum() and way.margin == pytest.approx(min(abs(scores)))
    assert {c.feature for c in way.contributions if c.column >= 0} <= set(getattr(model, "feature_names_in_", ["x[0]", "x[1]", "x[2]"]))
    assert way.start == pytest.approx(way.total - sum(c.value for c in way.contributions if c.side != "start"))
    other = 1 if way.winner > 1 else 4
    apart = model.explain(x, against=other)
    low, high = sorted((way.winner, other))
    assert apart.margin == pytest.approx(np.sign(way.winner - other) * scores[low - 1:high - 1].sum()) == apart.total
    assert sum(c.value for c in apart.contributions) == pytest.approx(apart.margin) and len(apart.atoms) == high - low
    return way


@pytest.mark.parametrize("library", BOOSTERS)
@pytest.mark.parametrize(("thresholds", "falling"), [("number", True), ("indicators", False)])
def test_contributions_of_columns_add_up_to_log_odds(library, thresholds, falling):
    model = BinaryReduction(booster(library), thresholds="auto" if falling else thresholds, falling=falling).fit(X, Y)
    for row in range(0, 40, 8):
        check(model, X[row], model.threshold_scores(X[row:row + 1])[0])


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_explanations_take_rows_as_the_classifier_does(library):
    model = BinaryReduction(booster(library), falling=True).fit(FRAME, Y)
    check(model, FRAME.iloc[7:8], model.threshold_scores(FRAME.iloc[7:8])[0])
    rows = sparse.csr_matrix(np.where(abs(X) > 1, X, 0))
    model = BinaryReduction(booster(library)).fit(rows, Y)
    check(model, rows[3], model.threshold_scores(rows[3:4])[0])


@pytest.mark.parametrize("classifier", OF_SCIKIT_LEARN, ids=lambda classifier: type(classifier).__name__)
def test_trees_of_scikit_learn_need_shap(classifier, monkeypatch):
    model = BinaryReduction(classifier).fit(X, Y)
    with monkeypatch.context() as patched:
        patched.setitem(__import__("sys").modules, "shap", None)
        with pytest.raises(ImportError, match=r"explain of scikit-learn's trees needs shap; install structperc\[trees\]"):
            model.explain(X[0])
    pytest.importorskip("shap")
    boosted = "Gradient" in type(classifier).__name__
    scores = model.threshold_scores(X[:3]) if boosted else 1 / (1 + np.exp(-model.threshold_scores(X[:3]))) - 0.5
    for x, own in zip(X, scores, strict=False):
        check(model, x, own)


def test_only_trees_are_explained():
    model = BinaryReduction(LogisticRegression()).fit(X, Y)
    with pytest.raises(AttributeError) as raised:
        model.explain(X[0])
    assert "LogisticRegression has no explanations" in str(raised.value.__cause__) and not hasattr(model, "explain")


def test_sums_that_are_not_the_scores_are_refused():
    columns, start = [[1.0, 0.5], [0.0, 0.5]], [0.5, -1.5]
    why = explain_levels([1, 2, 3], [2.0, -1.0], columns, start, ["a", "b"])
    assert (why.winner, why.runner_up, why.margin, why.score, why.start) == (2, 3, 1.0, 0.5, -0.5)
    assert "compared with the mean score of the training rows" in why.text()
    assert explain_levels([1, 2, 3], [2.0, -2.0], columns, [0.5, -2.5], ["a", "b"]).runner_up == 1, "the lower label at a tie"
    with pytest.raises(PluginError, match="add up to -1 for labels above 2, but the score is 1"):
        explain_levels([1, 2, 3], [2.0, 1.0], columns, start, ["a", "b"])
    for against, said in ((2, "the prediction itself"), (7, "no label of this model. Expected one of")):
        with pytest.raises(DataError, match=said):
            explain_levels([1, 2, 3], [2.0, -1.0], columns, start, ["a", "b"], against)
    with pytest.raises(DataError, match="has one label"):
        explain_levels([1], [], np.zeros((0, 2)), [], ["a", "b"])


# ---- model files ----


@pytest.mark.parametrize("library", BOOSTERS)
def test_a_model_file_predicts_the_same_bits(library, tmp_path):
    model = BinaryReduction(booster(library), falling=True).fit(X, Y)
    model.save(tmp_path / "ranks.model")
    loaded = BinaryReduction.load(tmp_path / "ranks.model")

    for method in ("predict", "predict_proba", "threshold_scores"):
        assert np.array_equal(getattr(loaded, method)(X), getattr(model, method)(X))
    assert loaded.explain(X[0]).total == pytest.approx(model.explain(X[0]).total)
    assert repr(loaded) == repr(model) and saved(loaded) == saved(again(loaded))
    assert loaded.fit(X, Y).predict(X).tolist() == model.predict(X).tolist(), "the classifier's parameters are in the file"
    with pytest.raises(ModelFormatError, match=f"trees of {library} and no engine; structperc.estimators.load reads it"):
        Engine.load(tmp_path / "ranks.model")
    with pytest.raises(ModelFormatError, match="not by PRank"):
        PRank.load(tmp_path / "ranks.model")


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_files_keep_names_gaps_and_categories(library):
    model = BinaryReduction(booster(library, monotone_constraints=(1, 0, 0, 0)), falling=True, classes=[1, 2, 3, 4]).fit(FRAME, Y)
    loaded = again(model)
    assert loaded.feature_names_in_.tolist() == [*FRAME] and np.array_equal(loaded.predict_proba(FRAME), model.predict_proba(FRAME))
    assert np.array_equal(loaded.fit(FRAME, Y).predict_proba(FRAME), model.predict_proba(FRAME))


@pytest.mark.parametrize(("library", "told"), [
    ("lightgbm", {}), ("lightgbm", {"monotone_constraints": [1, 0]}), ("xgboost", {}), ("xgboost", {"feature_types": ["q", "c"]}),
    ("xgboost", {"monotone_constraints": (1, 0)}), ("catboost", {"cat_features": (1,)}), ("catboost", {"cat_features": ("ward",)}),
])
def test_numbers_that_are_categories_act_as_without_the_reduction(library, told):
    wards = pd.Categorical(10 * (np.abs(X[:, 1]) * 3).astype(int))
    frame, above = pd.DataFrame({"a": X[:, 0], "ward": wards}), Y > 2
    alone = booster(library, **told)
    model = BinaryReduction(alone).fit(frame, above)
    assert np.array_equal(model.predict_marginals(frame)[:, 0], clone(alone).fit(frame, above).predict_proba(frame)[:, 1])
    several = BinaryReduction(alone, falling=True).fit(frame, Y)
    assert np.array_equal(again(several).predict_proba(frame), several.predict_proba(frame))
    few = frame[frame["ward"].isin([0, 10])]
    few = few.assign(ward=few["ward"].cat.remove_unused_categories())
    assert np.array_equal(several.predict(few), several.predict(frame)[few.index])


def test_files_keep_conformal_intervals():
    model = OrdinalConformal(BinaryReduction(booster("lightgbm"), falling=True), random_state=0).fit(X, Y)
    loaded = again(model)
    assert np.array_equal(loaded.predict_set(X), model.predict_set(X)) and loaded.explain(X[0]).winner == model.explain(X[0]).winner
    prefit = OrdinalConformal(model.estimator_, prefit=True).fit(X[:80], Y[:80])
    assert np.array_equal(again(prefit).predict_set(X), prefit.predict_set(X)) and again(prefit).estimator is not None


def test_what_a_file_cannot_hold_is_refused(tmp_path):
    lightgbm = booster("lightgbm")
    lines = [(BinaryReduction(HistGradientBoostingClassifier(max_iter=2)), "cannot hold HistGradientBoostingClassifier.*pickle the whole"),
             (BinaryReduction(type("Own", (type(lightgbm),), {})(n_estimators=2, verbose=-1)), "cannot hold Own"),
             (BinaryReduction(lightgbm.set_params(objective=lambda y, s: (1 / (1 + np.exp(-s)) - y, np.ones(len(s))))),
              "cannot hold objective=.* of LGBMClassifier; pickle it")]
    for model, said in lines:
        model.fit(X, Y)
        with pytest.raises(OptionError, match=said):
            model.save(tmp_path / "none.model")
    assert not list(tmp_path.iterdir())


def rewritten(content, change) -> io.BytesIO:
    """A model file whose header is changed, with valid sums."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    header = json.loads(npy.read_array(io.BytesIO(parts["header.npy"])).tobytes())
    change(header, parts)
    parts["header.npy"] = as_npy(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    return io.BytesIO(zipped(summed(parts).items()))


@pytest.mark.parametrize(("change", "said"), [
    (lambda header, parts: header.update(library="os"), "cannot read: DataError: it is of 'os'"),
    (lambda header, parts: header.update(library="sklearn", classifier="RandomForestClassifier"), "it is of 'sklearn'"),
    (lambda header, parts: header.update(classifier="Booster"), "and 'Booster', which hold no trees"),
    (lambda header, parts: header.update(library=[]), "cannot read"),
    (lambda header, parts: header.pop("classes"), "lacks 'classes'"),
    (lambda header, parts: header.update(notes={}), "has no estimator"),
    (lambda header, parts: header["notes"]["estimator"].update({"class": "structperc.estimators:PRank"}), "it has no engine"),
    (lambda header, parts: header["notes"]["estimator"]["estimator"].update(library="os"), "this version cannot make"),
    (lambda header, parts: parts.pop("trees.npy"), "trees"),
    (lambda header, parts: parts.update({"other.npy": parts["trees.npy"]}), "'other.npy' is not asked for"),
])  # fmt: skip
def test_files_written_by_hand_are_refused(change, said):
    content = saved(BinaryReduction(booster("lightgbm")).fit(X, Y))
    with pytest.raises(ModelFormatError, match=said):
        load(rewritten(content, change))
