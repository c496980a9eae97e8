"""Every estimator and every ability: the ability works, or the estimator gives a reason for its absence."""

import inspect
import pathlib

import numpy as np
import pytest
from fitted_estimators import BLOCKS, EXAMPLES, GROUPS, RANKS, X, estimators, example, fitted
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression

import structperc.estimators
from structperc.errors import DataError, ModelFormatError, NotFittedError, OptionError, PluginError
from structperc.estimators import StructureSet, load

ABILITIES = ("save", "load", "explain", "export", "citation", "margins", "predict_k_best", "log_probability", "partial_fit", "_repr_html_")
BATCH = "it solves one program over all rows"
PAIRS = "its model sees pairs of a row and a threshold: ask estimator_"
STREAM = "a stream goes into partial_calibrate, whose rows the model within has not seen"
POINTS = "its outputs have whole points, and no scores beside them"
REDUCTION = {**dict.fromkeys(("explain", "export", "margins", "predict_k_best", "log_probability"), PAIRS), "partial_fit": BATCH}
LACKING = {
    "AdaBoostOR": {"partial_fit": BATCH},
    "BinaryReduction": REDUCTION,
    "LatentRanker": {"log_probability": "nothing sums over its lists of documents"},
    "ORStump": {"partial_fit": BATCH},
    "OrdinalConformal": {"partial_fit": STREAM},
    "RankerClassifier": REDUCTION,
    "RankingSVM": {"log_probability": "its scores order documents, and fit no probabilities"},
    "SVOR": {"partial_fit": BATCH},
    "ScoreCard": {**dict.fromkeys(("export", "predict_k_best", "log_probability"), POINTS), "partial_fit": BATCH},
    "StructureConformal": {"partial_fit": STREAM},
}  # fmt: skip
NOT_EXPORTED = {"SegmentTagger", "GraphLabeler", "PairMatcher", "PairClusterer", "PathFinder", "DecisionMaker", "DependencyParser",
                "AdaBoostOR", "ORStump"}
NOT_SUMMED = {"DecisionMaker": ("margins", "predict_k_best", "log_probability")}        # only the user's function defines its outputs
RANKERS = {"LatentRanker", "RankingSVM"}


def plain(predicted):
    return [np.asarray(one, dtype=object).tolist() for one in predicted]


def untrained(name):
    """The estimator around that of its example: what a reduction can do may depend on the classifier within."""
    parameters = {key: value for key, value in example(name)[0].items() if key in ("problem", "decide", "estimator")}
    return getattr(structperc.estimators, name)(**parameters)


def test_the_table_has_every_estimator_and_only_abilities_that_it_lacks():
    assert set(LACKING) | set(EXAMPLES) <= set(estimators())
    present = {(name, ability) for name, lacking in LACKING.items() for ability in lacking if hasattr(untrained(name), ability)}
    assert present == set()


@pytest.mark.parametrize("ability", ABILITIES)
@pytest.mark.parametrize("name", estimators())
def test_each_estimator_has_each_ability(name, ability, tmp_path):
    if ability in LACKING.get(name, {}):
        assert not hasattr(untrained(name), ability)
        return
    model, given, y, where = fitted(name)
    if ability in NOT_SUMMED.get(name, ()):
        with pytest.raises(PluginError, match="cannot enumerate"):
            getattr(model, ability)(given, *{"predict_k_best": [2], "log_probability": [y]}.get(ability, []))
    else:
        CHECKS[ability](name, model, given, y, where, tmp_path)


def comes_back(name, model, given, y, where, folder):
    model.save(folder / "model")
    functions = {key: value for key, value in model.get_params(deep=False).items() if inspect.isfunction(value)}
    for again in (load(folder / "model", **functions), type(model).load(folder / "model", **functions)):
        assert type(again) is type(model) and repr(again) == repr(model)
        assert shown(again.predict(given)) == shown(model.predict(given))
        again.save(folder / "again")
    assert (folder / "again").read_bytes() == (folder / "model").read_bytes()


def shown(predicted):
    """Predictions in a form that can be compared. For sets, these are the best output and the atoms."""
    if isinstance(predicted[0], StructureSet):
        return [(plain([one.prediction]), one.certain, one.possible, one.atom_set) for one in predicted]
    return plain(predicted)


def is_explained(name, model, given, y, where, folder):
    try:
        explained = model.explain(X[:5] if name in RANKERS else given[0])
    except PluginError as error:
        assert name == "DecisionMaker" and "cannot enumerate" in str(error)
        return
    assert explained.margin >= 0 and sum(c.value for c in explained.contributions) == pytest.approx(explained.total, abs=1e-6)


def is_exported(name, model, given, y, where, folder):
    if name in NOT_EXPORTED:
        with pytest.raises(PluginError):
            model.export(folder / "model.py", to="numpy")
        assert not (folder / "model.py").exists()
    else:
        model.export(folder / "model.py")
        assert f"def {'order' if name in RANKERS else 'predict'}(" in pathlib.Path(folder / "model.py").read_text()


def cites(name, model, given, y, where, folder):
    assert model.citation().startswith("@")
    assert untrained(name).citation().startswith("@")


def has_margins(name, model, given, y, where, folder):
    margins = model.margins(given, **where)
    assert margins.shape == (len(set(GROUPS)) if name in RANKERS else len(given),) and (margins >= 0).all()


def lists_the_best(name, model, given, y, where, folder):
    ranked, margins = model.predict_k_best(given, 2, **where), model.margins(given, **where)
    assert type(ranked) is list and len(ranked) == len(margins)
    for outputs, margin in zip(ranked, margins, strict=True):
        assert type(outputs) is list and len(outputs) == 1 + np.isfinite(margin)
        assert len(outputs) == 1 or outputs[0][1] - outputs[1][1] == pytest.approx(margin)
    if name == "StructureConformal":
        assert plain(outputs[0][0] for outputs in ranked) == plain(model.estimator_.predict(given))
    elif name not in RANKERS:
        assert plain(outputs[0][0] for outputs in ranked) == plain(model.predict(given))


def has_probabilities(name, model, given, y, where, folder):
    predicted = (model.estimator_ if name == "StructureConformal" else model).predict(given)
    found = model.log_probability(given, predicted)
    assert found.shape == (len(given),) and (found <= 0).all()
    for output, second, p in zip(predicted, model.predict_k_best(given, 2), found, strict=True):
        assert len(second) == 2 or p == pytest.approx(0, abs=1e-9), output
    if hasattr(model, "predict_log_proba"):
        np.testing.assert_allclose(found, model.predict_log_proba(given)[np.arange(len(given)), RANKS * 0 + np.searchsorted(
            model.classes_, predicted)], atol=1e-12)


def goes_on(name, model, given, y, where, folder):
    if name == "PRank":
        assert not hasattr(type(model)(pocket=True), "partial_fit")
    if name == "RankingSVM":            # each call creates a new engine
        before = model.coef_
        assert (model.partial_fit(given[:10], y[:10], groups=GROUPS[:10]).coef_ != before).any()
        return
    visited = model.engine_.parts_.weights.n_visited
    model.partial_fit(given, y, **where)
    assert model.engine_.parts_.weights.n_visited > visited


def is_shown(name, model, given, y, where, folder):
    assert "<" in model._repr_html_() and name in model._repr_html_()


CHECKS = dict(zip(ABILITIES, (comes_back, comes_back, is_explained, is_exported, cites, has_margins, lists_the_best, has_probabilities,
                              goes_on, is_shown), strict=True))


@pytest.mark.parametrize("name", estimators())
def test_each_class_has_a_signature_and_its_clones_have_its_parameters(name):
    parameters = example(name)[0]
    model = getattr(structperc.estimators, name)(**parameters)
    copied = clone(model)
    assert repr(copied) == repr(model) and set(inspect.signature(type(model)).parameters) == set(model.get_params(deep=False))
    assert isinstance(model, BaseEstimator) or hasattr(model, "__sklearn_clone__")


@pytest.mark.parametrize("name", ["CuSumRank", "StructuredClassifier", "SequenceTagger", "StructuredEstimator", "SegmentTagger",
                                  "GraphLabeler", "PathFinder", "DecisionMaker", "PairMatcher"])
def test_options_of_a_rule_are_parameters(name):
    """With AdaGrad, another step_size gives other scores."""
    parameters, given, y, _ = example(name)
    make = getattr(structperc.estimators, name)
    chosen = {"update": "adagrad", "loss_weight": 0.0, "epochs": 2, "random_state": 0}
    scores = [make(**parameters, **chosen, step_size=step).fit(given, y).engine_.atom_scores(given) for step in (0.1, 0.1, 0.5)]
    first, again, other = (np.concatenate([np.ravel(one) for one in score]) for score in scores)
    assert (first == again).all() and (first != other).any()


def test_a_loss_of_labels_is_refused_where_outputs_have_none():
    with pytest.raises(OptionError, match="PathFinder has no parameter 'classes'"):
        structperc.estimators.PathFinder(classes=["a"])


@pytest.mark.parametrize("make", [
    lambda inner: structperc.estimators.OrdinalConformal(structperc.estimators.ScoreCard(inner), random_state=0),
    lambda inner: structperc.estimators.OrdinalConformal(inner.fit(X, RANKS), prefit=True),
    lambda inner: structperc.estimators.OrdinalConformal(inner.fit(X, RANKS).engine_, prefit=True),
    lambda inner: structperc.estimators.ScoreCard(structperc.estimators.OrdinalConformal(inner).estimator, max_points=9),
])
def test_estimators_within_others_come_back_from_one_file(make, tmp_path):
    inner = structperc.estimators.PRank(random_state=0, epochs=3)
    model = make(inner).fit(X, RANKS)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert type(again) is type(model) and type(again.estimator) is type(model.estimator) and type(again.estimator_) is type(
        model.estimator_)
    assert again.predict(X).tolist() == model.predict(X).tolist()
    if hasattr(model, "predict_interval"):
        assert again.predict_interval(X).tolist() == model.predict_interval(X).tolist() and again.quantile_ == model.quantile_
        assert again.partial_calibrate(X, RANKS).quantile_ == model.partial_calibrate(X, RANKS).quantile_
    if inner.__dict__.get("engine_") is not None:            # the inner estimator can still be saved
        inner.save(tmp_path / "inner")
        assert type(load(tmp_path / "inner")) is structperc.estimators.PRank
    assert repr(clone(again)) == repr(clone(model)) or isinstance(model.estimator, structperc.Engine)


def test_what_a_file_cannot_hold_is_refused_in_a_sentence(tmp_path):
    model = structperc.estimators.OrdinalConformal(LogisticRegression(), random_state=0).fit(X, RANKS)
    assert not hasattr(model, "explain") and not hasattr(model, "export") and model.citation().startswith("@book{vovk")
    with pytest.raises(OptionError, match="a model file cannot hold LogisticRegression. .*; pickle"):
        model.save(tmp_path / "model")
    tagger = structperc.estimators.SequenceTagger(random_state=0)
    sets = structperc.estimators.StructureConformal(tagger, category=len, scale=None).set_params(category=lambda x: 0)
    sets.fit(BLOCKS, RANKS.reshape(8, 5).tolist())
    with pytest.raises(OptionError, match="a model file cannot hold category=.* of StructureConformal; pickle it"):
        sets.save(tmp_path / "model")
    card = structperc.estimators.ScoreCard.from_dict(structperc.estimators.ScoreCard(structperc.estimators.PRank()).fit(X, RANKS).to_dict())
    with pytest.raises(DataError, match="read from a dict, without the ranker"):
        card.save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        structperc.estimators.OrdinalConformal(structperc.estimators.PRank()).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("damage", [
    lambda note: note.pop("trained"), lambda note: note.update(estimator=3), lambda note: note["fitted"].pop("weights"),
    lambda note: note["fitted"].update(distances=[1.0]), lambda note: note["fitted"].update(weights="text"),
    lambda note: note["trained"].update({"class": "os:system"}), lambda note: note["parameters"].update(coverages=1),
])
def test_a_note_that_was_changed_by_hand_is_refused(damage, tmp_path):
    structperc.estimators.OrdinalConformal(structperc.estimators.PRank(random_state=0), random_state=0).fit(X, RANKS).save(tmp_path / "m")
    engine = structperc.Engine.load(tmp_path / "m")
    damage(engine.notes["estimator"])
    engine.save(tmp_path / "changed")
    with pytest.raises(ModelFormatError):
        load(tmp_path / "changed")


@pytest.mark.parametrize("name", estimators())
def test_metadata_is_routed_to_each_estimator(name):
    """Weights and the arguments that group rows into examples are requested by name, and clones keep the requests."""
    parameters = example(name)[0]
    make = getattr(structperc.estimators, name)
    arguments = set(inspect.signature(make.fit).parameters) & {"sample_weight", "groups", "lengths", "costs"}
    for argument in arguments:
        with config_context(enable_metadata_routing=True):
            model = clone(make(**parameters).set_fit_request(**{argument: True}))
            requests = model.get_metadata_routing()
            requests = getattr(requests, "_self_request", requests)
            assert requests.fit.requests[argument] is True
