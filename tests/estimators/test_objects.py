"""Estimators as objects: attributes for Tab and help, names in errors, files, margins and progress."""

import inspect
import io
import json
import pydoc

import numpy as np
import pytest
from plain import Engine
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier

import structperc
from structperc import estimators
from structperc.callbacks import ProgressLines
from structperc.engine import model_file
from structperc.engine.model_file import archive
from structperc.errors import DataError, ModelFormatError, NotFittedError, OptionError, PluginError
from structperc.estimators import CuSumRank, IntervalPA, LatentRanker, PRank, SequenceTagger, StructuredClassifier, StructuredEstimator

PROBLEMS = (CuSumRank, PRank, IntervalPA, StructuredClassifier)
SENTENCES = [[["the"], ["cat"]], [["a"], ["dog"]], [["cat"], ["the"]]], [["D", "N"], ["D", "N"], ["N", "D"]]


@pytest.fixture(scope="module")
def ranks():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    return X, np.digitize(X @ [1, 2, 0] + random.normal(size=60), [-1, 1]) + 1


# ---- attributes ----


def fitted(model):
    return {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}


@pytest.mark.parametrize("make", PROBLEMS)
@pytest.mark.parametrize("options", [{}, {"kernel": "rbf"}], ids=["linear", "kernel"])
def test_dir_lists_what_training_made_known_and_nothing_else(make, options, ranks):
    untrained, model = make(epochs=2, **options), make(epochs=2, **options).fit(*ranks)
    assert fitted(untrained) == set() == fitted(Engine("cusum"))
    assert {"engine_", "classes_", "levels_", "n_iter_", "mistakes_", "status_", "unused_parameters_", "n_features_in_"} <= fitted(model)
    assert ("coef_" in dir(model)) == (not options) and ("dual_coef_" in dir(model)) == bool(options)
    assert ("thresholds_" in dir(model)) == (make in (PRank, IntervalPA))
    assert {"fit", "predict", "predict_proba", "save", "epochs"} <= set(dir(model))
    for owner in (model, model.engine_):
        assert all(getattr(owner, name) is not None for name in fitted(owner))
        assert "online_predictions_" not in dir(owner) and "feature_names_in_" not in dir(owner)
    assert fitted(model) - {"engine_", "levels_", "n_iter_", "unused_parameters_"} == fitted(model.engine_)


def test_dir_of_problems_without_labels_has_no_classes():
    engine = Engine("latent-ranking", k=1).fit([[0.0], [1.0]], [0, 1], groups=[0, 0], record_predictions=True)
    assert "classes_" not in dir(engine) and "online_predictions_" in dir(engine)


@pytest.mark.parametrize(("model", "name", "said"), [
    (CuSumRank(), "thresholds_", "CuSumRank has no thresholds_: each rank has a direction of its own; PRank and IntervalPA cut"),
    (StructuredClassifier(), "thresholds_", "StructuredClassifier has no thresholds_: its labels have no order"),
    (PRank(kernel="rbf"), "coef_", "PRank has no coef_: a kernel compares whole rows"),
    (CuSumRank(), "threshold_", "CuSumRank has no threshold_. It has classes_, coef_, cumulative_loss_, intercept_, "),
    (CuSumRank(), "transform", "'CuSumRank' object has no attribute 'transform'"),
])
def test_errors_name_the_estimator(model, name, said, ranks):
    model = clone(model).set_params(epochs=1).fit(*ranks)
    with pytest.raises(AttributeError) as raised:
        getattr(model, name)
    assert str(raised.value).startswith(said) and "Engine" not in str(raised.value)
    if name.endswith("_"):
        with pytest.raises(AttributeError, match=rf"^Engine\('{model.engine_.problem}'\) has no {name}"):
            getattr(model.engine_, name)


@pytest.mark.parametrize("make", [getattr(estimators, name) for name in estimators.__all__ if name[0].isupper() and name != "StructureSet"])
def test_help_shows_parameters_and_methods_alone(make):
    text = pydoc.render_doc(make, renderer=pydoc.plaintext)
    described = text[text.index(" |  Parameters\n"):text.index(" |  Methods defined here")]
    assert "__attrs_init__" not in text and all(f" |  {name} : " in described for name in inspect.signature(make).parameters)
    assert not any(line.strip().startswith(("texts", "routed", "labelled")) for line in text.splitlines())
    assert list(inspect.signature(make.__init__).parameters)[1:] == list(inspect.signature(make).parameters)


def test_a_subclass_adds_parameters_to_those_of_its_base():
    class Doubled(CuSumRank):
        factor: float = 2.0

    model = Doubled(factor=3.0, epochs=2)
    assert repr(model) == "Doubled(epochs=2, factor=3.0)" and "factor" not in vars(Doubled)
    assert clone(model).factor == 3.0 and "factor" not in CuSumRank().get_params()
    with pytest.raises(OptionError, match="Doubled has no parameter 'factors'. Did you mean 'factor'?"):
        Doubled(factors=1)
    with pytest.raises(TypeError, match="CuSumRank takes its parameters by name, but got 5 without one"):
        CuSumRank(5)


# ---- files ----


@pytest.mark.parametrize("model", [
    CuSumRank(epochs=3, classes=[1, 2, 3]), PRank(pocket=True, epochs=2), IntervalPA(C=0.1, epochs=2),
    CuSumRank(kernel="rbf", gamma=0.5, epochs=2, plugin_options={"budget": 20}), StructuredClassifier(problem="prank", update="perceptron"),
    StructuredClassifier(update="perceptron", C=3.0, loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]], classes=np.array([1, 2, 3])),
], ids=repr)
def test_a_saved_estimator_comes_back_whatever_its_class(model, ranks, tmp_path):
    X, y = ranks
    model = clone(model).set_params(random_state=np.random.default_rng(0)).fit(X, y)
    for writer in (model, model.engine_):
        writer.save(tmp_path / "a.model")
        for again in (estimators.load(tmp_path / "a.model"), type(model).load(tmp_path / "a.model")):
            assert type(again) is type(model) and again.unused_parameters_ == model.unused_parameters_
            assert np.array_equal(again.decision_function(X), model.decision_function(X)) and again.mistakes_ == model.mistakes_
            for name, value in model.get_params().items():
                assert name == "random_state" or np.array_equal(getattr(again, name.partition("__")[0]), value) or "__" in name, name
            again.fit(X, y)
    assert isinstance(Engine.load(tmp_path / "a.model"), Engine)
    if not getattr(model, "pocket", False):
        again.partial_fit(X, y)


def test_structures_come_back_too(tmp_path):
    X, y = SENTENCES
    for model in (SequenceTagger(epochs=2, random_state=0, forbidden_transitions=[["N", "N"]]),
                  StructuredEstimator(problem="sequence", plugin_options={"start": True}, random_state=0)):
        model.fit(X, y).save(tmp_path / "a.model")
        again = estimators.load(tmp_path / "a.model")
        assert repr(again) == repr(model) and again.predict(X) == model.predict(X)
    rows = [[0.1, 1.0], [0.9, 0.2], [0.8, 0.9]]
    LatentRanker(k=1, epochs=2).fit(rows, [0, 1, 0], lengths=[3]).save(tmp_path / "b.model")
    assert np.argmax(estimators.load(tmp_path / "b.model").predict(rows)) == 1


def linear(a, b):
    return np.asarray(a) @ np.asarray(b).T


def test_functions_are_passed_again(ranks, tmp_path):
    model = CuSumRank(kernel=linear, epochs=2).fit(*ranks)
    model.save(tmp_path / "a.model")
    with pytest.raises(PluginError, match="trained with the option kernel=linear, which a model file cannot hold"):
        estimators.load(tmp_path / "a.model")
    assert CuSumRank.load(tmp_path / "a.model", kernel=linear).kernel is linear


class Own(PRank):
    """A class that is in no installed package."""


def test_files_of_others_are_told_apart(ranks, tmp_path):
    path = tmp_path / "a.model"
    with pytest.raises(NotFittedError, match="This PRank is not fitted yet"):
        PRank().save(path)
    PRank(epochs=1).fit(*ranks).save(path)
    with pytest.raises(ModelFormatError, match="written by structperc.estimators:PRank, not by CuSumRank; structperc"):
        CuSumRank.load(path)
    Engine("prank").fit(*ranks).save(path)
    assert type(estimators.load(path)) is structperc.Engine
    with pytest.raises(ModelFormatError, match="the model file has no estimator"):
        PRank.load(path)
    Own(epochs=1).fit(*ranks).save(path)
    assert type(Own.load(path)) is Own
    with pytest.raises(ModelFormatError, match=r"No installed plugin has this class; read the file with that class, Own\.load\(path\)"):
        estimators.load(path)


@pytest.mark.parametrize(("note", "said"), [
    ({"class": "os:system"}, "No installed plugin"), ({"class": 5}, "has no estimator"), ("PRank", "has no estimator"),
    ({"class": "structperc.estimators:nothing"}, "No installed plugin"), ({"class": "structperc.estimators:load"}, "is no estimator"),
    ({"class": "structperc.estimators:PRank"}, "this version cannot make"),
    ({"class": "structperc.estimators:PRank", "parameters": {"colour": 1}, "held": [], "plugin_options": {}, "held_plugin_options": [],
      "unused": []}, "PRank has no parameter 'colour'"),
    ({"class": "structperc.estimators:PRank", "parameters": {}, "held": ["__init__"], "plugin_options": {}, "held_plugin_options": [],
      "unused": []}, "this version cannot make"),
])
def test_a_hostile_note_imports_nothing_and_is_a_sentence(note, said, ranks):
    header, arrays = model_file.collect(PRank(epochs=1).fit(*ranks).engine_)
    header["notes"]["estimator"] = note
    file = io.BytesIO()
    archive.write(file, json.dumps(header).encode(), arrays)
    file.seek(0)
    with pytest.raises(ModelFormatError, match=said):
        estimators.load(file)


# ---- margins and marginals ----


@pytest.mark.parametrize("make", PROBLEMS)
def test_margins_and_marginals_are_those_of_scores_and_probabilities(make, ranks):
    X, y = ranks
    model = make(epochs=3, random_state=0).fit(X, y)
    scores = np.sort(model.engine_.label_scores(X), axis=1)
    assert model.margins(X) == pytest.approx(scores[:, -1] - scores[:, -2])
    proba, marginals = model.predict_proba(X), model.predict_marginals(X)
    expected = proba if make is StructuredClassifier else 1 - np.cumsum(proba, axis=1)[:, :-1]
    assert marginals == pytest.approx(expected, abs=1e-12)
    with pytest.raises(DataError, match=f"X has 2 features, but {make.__name__} is expecting 3"):
        model.margins(X[:, :2])
    rival = next(label for label in (1, 2, 3) if label != model.predict(X[:1])[0])
    assert model.explain(X[0], against=rival).runner_up == rival


# ---- progress ----


def test_verbose_tells_of_every_tenth_and_changes_nothing(ranks, capsys):
    quiet = CuSumRank(epochs=40, trainer="online", random_state=0).fit(*ranks)
    assert capsys.readouterr() == ("", "")
    told = CuSumRank(epochs=40, trainer="online", random_state=0, verbose=1).fit(*ranks)
    out, err = capsys.readouterr()
    assert out == "" and err.splitlines()[0].startswith("epoch 1 of 40: ") and err.count("\n") == 11
    assert np.array_equal(told.coef_, quiet.coef_) and told.engine_.plugin_options == quiet.engine_.plugin_options
    VotingClassifier([("a", told)]).fit(*ranks)


def test_lines_wait_and_begin_anew_with_each_training(ranks):
    file = io.StringIO()
    lines = ProgressLines(file=file)
    engine = Engine("cusum", epochs=2, plugins=[lines])
    engine.fit(*ranks)
    engine.fit(*ranks)
    assert [line.partition(":")[0] for line in file.getvalue().splitlines()] == ["epoch 1 of 2", "epoch 2 of 2"] * 2
    late = io.StringIO()
    Engine("cusum", epochs=2, plugins=[ProgressLines(delay=60, file=late)]).fit(*ranks)
    assert late.getvalue() == ""


def test_rows_have_no_groups():
    with pytest.raises(OptionError, match="fit has no argument 'groups'. Each row has a label of its own"):
        CuSumRank().fit([[1.0], [2.0]], [1, 2], groups=[0, 1])
