"""Values of options: from the presets, from the recommendations of plugins, and from the user."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from structperc import Engine, Option, estimators, hookimpl
from structperc.components import BlockFeatures, ClassOutputs, LargestArgmax, PassiveAggressiveUpdate, PerceptronUpdate, PrimalWeights
from structperc.engine.engine import REQUIRED
from structperc.errors import OptionError, PluginError
from structperc.fitting import plugins as registry
from structperc.fitting.options import ENGINE_OPTIONS
from structperc.streams import Slices, fit_stream
from structperc.testing.case import make_case

GENERAL = {"epochs": 10, "average": True, "shuffle": True, "scale": "auto"}
LABELS = {"epochs": 20, "average": True, "shuffle": True, "scale": "auto", "weighting": "visits"}
DOORS = {"prank": estimators.PRank, "cusum": estimators.CuSumRank, "interval-pa": estimators.IntervalPA,
         "multiclass": estimators.StructuredClassifier}
PROBLEMS = sorted(plugin.name for plugin in registry.installed() if not plugin.broken and set(REQUIRED) <= set(plugin.hooks))


@pytest.fixture(scope="module")
def ranks():
    random = np.random.default_rng(0)
    X = random.normal(size=(90, 3)) * [1, 100, 0.01] + [5, 0, 1]
    return X, np.digitize((X - [5, 0, 1]) @ [1, 0.01, 50] + random.normal(size=90) / 2, [-0.7, 0.7]) + 1


class Own:
    """A custom problem."""

    name = "own"
    options = {"depth": Option(1)}

    @hookimpl
    def structperc_outputs(self, context):
        return ClassOutputs()

    @hookimpl
    def structperc_features(self, context):
        return BlockFeatures(context.n_labels, context.n_features, context.fit_intercept)

    @hookimpl
    def structperc_argmax(self, context):
        return LargestArgmax(context.n_labels)


class Recommending(Own):
    recommended = {"update": "pa1", "C": 0.25, "loss_weight": 1.0, "epochs": 3, "depth": 2, ("depth", 4, 5): {"epochs": 6},
                   ("update", "pa2"): {"C": 0.5}}


def values(engine, names):
    return {name: engine.plugin_options[name] if name in engine.plugin_options else getattr(engine, name) for name in names}


# ---- sources of values ----


def test_paper_is_the_declared_defaults():
    for problem in ("prank", "cusum", "sequence", Recommending()):
        engine = Engine(problem, preset="paper")
        declared = {name: option for name, option in ENGINE_OPTIONS.items() if name != "preset"}
        assert values(engine, declared) == {name: option.default for name, option in declared.items()}
        assert engine.plugin_options == {name: option.default for name, option in engine.loaded_plugins[1].options.items()}


def test_own_problems_start_from_the_general_table_and_from_what_they_recommend():
    assert values(Engine(Own()), GENERAL) == GENERAL and Engine(Own()).update == "perceptron"
    recommended = {"update": "pa1", "C": 0.25, "loss_weight": 1.0, "epochs": 3, "depth": 2, "average": True}
    assert values(Engine(Recommending()), recommended) == recommended


def test_what_the_user_sets_comes_last():
    engine = Engine(Recommending(), epochs=1, average=False, depth=3, C=2.0)
    assert (engine.epochs, engine.average, engine.plugin_options["depth"], engine.C) == (1, False, 3, 2.0)
    assert Engine(Recommending(), epochs=None).epochs == 3, "None is the value of the preset"


def test_a_case_holds_where_its_option_has_one_of_its_values():
    assert Engine(Recommending(), depth=4).epochs == 6 and Engine(Recommending(), depth=4, epochs=2).epochs == 2
    assert Engine(Recommending(), update="pa2").C == 0.5


def test_a_chosen_update_or_trainer_leaves_out_what_is_recommended_for_another():
    assert values(Engine(Recommending(), update="exact-pa"), ("C", "loss_weight", "epochs")) == {"C": 1.0, "loss_weight": 0.0, "epochs": 3}
    same = Engine(Recommending(), update="pa1")
    assert (same.C, same.loss_weight) == (0.25, 1.0), "the update that is recommended"
    solved = Engine("cusum", plugins=["batch"], trainer="bcfw")
    assert values(solved, ("update", "average", "weighting", "epochs")) == {
        "update": "perceptron", "average": False, "weighting": "steps", "epochs": 1000}
    own = Engine("cusum", plugins=[PassiveAggressiveUpdate("pa1", 1.0, 0.1)])
    assert (own.loss_weight, own.epochs) == (0.0, 20)


def test_trainers_of_online_passes_leave_out_nothing():
    names = ("update", "loss_weight", "average", "epochs", "weighting")
    expected = values(Engine("cusum"), names)
    assert Engine("cusum").trainer == "until-level" and expected["epochs"] == 20
    assert values(Engine("cusum", trainer="online"), names) == values(Engine("cusum", trainer="bounded-sum", n_shards=2), names) == expected


def test_plugins_recommend_in_their_order():
    class Slower:
        recommended = {"epochs": 50}

        @hookimpl
        def structperc_epoch_end(self, engine, record):
            pass

    assert Engine(Recommending(), plugins=[Slower()]).epochs == 50


@pytest.mark.parametrize(("recommended", "sentence"), [
    ({"epoch": 3}, "`recommended` of plugin 'own' has a value for 'epoch'. Expected is an option of .*Did you mean 'epochs'"),
    ({"classes": [1, 2]}, "has a value for 'classes'"), ({("depht", 1): {}}, "has a value for 'depht'.*'depth'"),
    ({("depth", 1): {"size": 2}}, "has a value for 'size'"), ({"epochs": 0}, "epochs=0; expected a whole number, at least 1"),
    ([("epochs", 3)], "has recommended = .*; expected a dict from names of options to values"),
])  # fmt: skip
def test_impossible_recommendations_are_refused(recommended, sentence):
    plugin = type("Hasty", (Own,), {"recommended": recommended})
    with pytest.raises((OptionError, PluginError), match=sentence):
        Engine(plugin())


def test_an_unknown_preset_is_refused():
    with pytest.raises(OptionError, match="preset='papers'; expected one of 'recommended', 'paper'. Did you mean 'paper'?"):
        Engine("prank", preset="papers")


# ---- presets with the user's options ----


@pytest.mark.parametrize("options", [
    {"update": "exact-pa"}, {"update": "log-loss"}, {"update": "logistic"}, {"update": "adagrad"}, {"n_shards": 2}, {"loss": "squared"},
    {"plugins": ["dual-kernel"], "kernel": "rbf"}, {"plugins": ["dual-kernel"], "budget": 20}, {"plugins": ["batch"], "trainer": "bcfw"},
    {"average": False}, {"scale": True}, {"fit_intercept": False}, {"calibrate": True}, {"decay": 0.01},
], ids=str)  # fmt: skip
@pytest.mark.parametrize("problem", ["cusum", "multiclass"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_each_option_goes_with_the_rest_of_the_preset(problem, options, ranks):
    engine = Engine(problem, random_state=0, **options).fit(*ranks)
    assert len(engine.mistakes_) >= 1 and set(engine.predict(ranks[0])) <= {1, 2, 3}


@pytest.mark.parametrize("options", [
    {"pocket": True}, {"pocket": "runs"}, {"variant": "original"}, {"loss_weight": 1.0}, {"update": "exact-pa1"}, {"penalty": 1.0,
    "trainer": "cumulative-logit"}, {"plugins": ["large-margin"], "trainer": "svor"}, {"n_shards": 3}, {"shuffle": False},
], ids=str)  # fmt: skip
def test_each_option_of_prank_goes_with_the_rest_of_the_preset(options, ranks):
    engine = Engine("prank", random_state=0, **options).fit(*ranks)
    assert (engine.predict(ranks[0]) == ranks[1]).mean() > 0.5


def test_what_the_preset_has_set_gives_way_and_what_the_user_has_set_is_refused(ranks):
    random = np.random.default_rng(0)
    X, relevant, groups = random.normal(size=(60, 3)), random.integers(0, 2, 60), np.repeat(np.arange(5), 12)
    engine = Engine("latent-ranking", loss="average-precision", random_state=0).fit(X, relevant, groups=groups)
    assert engine.loss_weight == 0 and repr(engine) == "Engine('latent-ranking', loss='average-precision', random_state=0)"
    with pytest.raises(PluginError, match="loss_weight=2.0: .* cannot be written over atoms"):
        Engine("latent-ranking", loss="average-precision", loss_weight=2.0).fit(X, relevant, groups=groups)
    pocket = Engine("prank", pocket=True, random_state=0).fit(*ranks)
    assert pocket.average is False and pocket.weighting == "steps"
    plain = Engine("prank", preset="paper", pocket=True, epochs=20, scale="auto", random_state=0).fit(*ranks)
    assert np.array_equal(pocket.coef_, plain.coef_), "means of the weights would be another ranker"
    with pytest.raises(OptionError, match="weighting='visits' has no effect"):
        Engine("prank", preset="paper", pocket=True, weighting="visits").fit(*ranks)


@pytest.mark.parametrize(("problem", "part", "option"), [("prank", PrimalWeights, {"average": True}),
                                                         ("multiclass", PerceptronUpdate, {"update": "pa2"})])
def test_the_value_of_the_preset_is_refused_too_where_the_user_has_set_it(problem, part, option, ranks, tmp_path):
    (name, value), X, y = *option.items(), *ranks
    sentence = f"{name}={value!r} has no effect with .*leave it out"
    assert Engine(problem, plugins=[part()]).fit(X, y).plugins
    engine = Engine(problem, plugins=[part()], **option)
    for one in (engine, pickle.loads(pickle.dumps(engine)), copy.deepcopy(engine)):
        with pytest.raises(OptionError, match=sentence):
            one.fit(X, y)
    with pytest.raises(OptionError, match=sentence):
        DOORS[problem](plugins=[part()], **option).fit(X, y)


def test_a_model_that_was_read_again_gives_way_as_before(ranks, tmp_path):
    Engine("prank", random_state=0).fit(*ranks).save(tmp_path / "m")
    engine = Engine.load(tmp_path / "m")
    fit_stream(engine, iter([ranks]))
    assert engine.epochs == 1


def test_an_iterator_is_read_once(ranks):
    X, y = ranks
    parts = [(X[:45], y[:45]), (X[45:], y[45:])]
    engine = fit_stream(Engine("prank", classes=[1, 2, 3], random_state=0), iter(parts))
    assert len(engine.mistakes_) == 1 and engine.epochs == 1
    with pytest.raises(OptionError, match="epochs=5: an iterator gives its parts only once"):
        fit_stream(Engine("prank", classes=[1, 2, 3], epochs=5), iter(parts))


# ---- command line, engine and estimator ----


def table(ranks, path):
    frame = pd.DataFrame(ranks[0], columns=["a", "b", "c"]).assign(rank=ranks[1])
    frame.to_csv(path, index=False)
    return frame                # numbers are read as they were written, to the bit


@pytest.mark.parametrize("problem", DOORS)
def test_command_engine_and_estimator_learn_the_same_to_the_bit(problem, ranks, tmp_path, run):
    frame = table(ranks, tmp_path / "table.csv")
    code, _, err = run("fit", problem, tmp_path / "table.csv", "--target", "rank", "--model", tmp_path / "m")
    assert (code, err) == (0, "")
    by_command, X, y = Engine.load(tmp_path / "m"), frame[["a", "b", "c"]], frame["rank"]
    by_engine, by_estimator = Engine(problem, random_state=0).fit(X, y), DOORS[problem](random_state=0).fit(X, y)

    for one in (by_engine, by_estimator):
        assert np.array_equal(by_command.coef_, one.coef_) and by_command.mistakes_ == one.mistakes_
        assert np.array_equal(by_command.predict(X), one.predict(X))
    assert repr(by_engine) == repr(by_command) == f"Engine({problem!r}, random_state=0)"
    assert (by_engine.predict(X) == y).mean() > 0.7


@pytest.mark.filterwarnings("ignore::structperc.errors.ScaleWarning")
def test_the_papers_algorithm_comes_through_every_door(ranks, tmp_path, run):
    frame = table(ranks, tmp_path / "table.csv")
    X, y = frame[["a", "b", "c"]], frame["rank"]
    assert run("fit", "prank", tmp_path / "table.csv", "--target", "rank", "--model", tmp_path / "m", "--set", "preset=paper")[0] == 0
    engine = Engine("prank", preset="paper").fit(X, y)
    assert engine.plugin_options["variant"] == "structured" and len(engine.mistakes_) == 1
    for one in (Engine.load(tmp_path / "m"), estimators.PRank(preset="paper").fit(X, y)):
        assert np.array_equal(engine.coef_, one.coef_) and engine.mistakes_ == one.mistakes_


def test_sentences_and_queries_have_two_doors_that_learn_the_same():
    X, y = [[["the"], ["cat"]], [["a"], ["dog"]], [["cat"], ["the"]]] * 9, [["D", "N"], ["D", "N"], ["N", "D"]] * 9
    model, engine = estimators.SequenceTagger(random_state=0).fit(X, y), Engine("sequence", random_state=0).fit(X, y)
    assert np.array_equal(model.coef_, engine.coef_) and np.array_equal(model.start_scores_, engine.start_scores_)
    random = np.random.default_rng(0)
    rows, grades, lengths = random.normal(size=(60, 3)), random.integers(0, 2, 60), [12] * 5
    ranker = estimators.LatentRanker(random_state=0).fit(rows, grades, lengths=lengths)
    engine = Engine("latent-ranking", k=6, random_state=0).fit(rows, grades.reshape(5, 12), lengths=lengths)
    assert np.array_equal(ranker.coef_, engine.coef_) and engine.loss_weight == 5.0


def test_taggers_train_until_they_level_off_at_every_door(tmp_path, run):
    random = np.random.default_rng(3)
    X = [[[f"w{w}"] for w in random.integers(0, 30, 6)] for _ in range(30)]
    y = [random.choice(["A", "B", "O"], 6).tolist() for _ in X]                         # noise, which no number of epochs learns
    lines = (f"{token[0]} {label}\n" for tokens, labels in zip(X, y, strict=True) for token, label in zip(tokens, labels, strict=True))
    (tmp_path / "a.conll").write_text("".join(line + "\n" * (i % 6 == 5) for i, line in enumerate(lines)))
    (tmp_path / "t").write_text("U:%x[0,0]\n")
    engine, model = Engine("sequence", random_state=0).fit(X, y), estimators.SequenceTagger(random_state=0).fit(X, y)
    named = ("--columns", "word,tag", "--template", tmp_path / "t")
    code, _, err = run("fit", "sequence", tmp_path / "a.conll", *named, "--model", tmp_path / "m")
    assert (code, err) == (0, "")
    command = Engine.load(tmp_path / "m")
    assert engine.status_ == model.status_ == command.status_ == "levelled_off" and len(engine.mistakes_) < engine.epochs == 20
    assert engine.mistakes_ == model.mistakes_ == command.mistakes_
    hashed = {"random_state": 0, "shuffle": False, "n_hashed": 64, "classes": ["A", "B", "O"]}
    streamed = fit_stream(Engine("sequence", **hashed), Slices(X, y, rows=7))
    assert streamed.mistakes_ == Engine("sequence", **hashed).fit(X, y).mistakes_ and streamed.status_ == "levelled_off"
    assert Engine("sequence", random_state=0, n_shards=2).fit(X, y).status_ == "levelled_off"
    assert len(Engine("sequence", random_state=0, trainer="online").fit(X, y).mistakes_) == 20
    assert len(Engine("sequence", preset="paper").fit(X, y).mistakes_) == len(Engine("sequence").partial_fit(X, y).mistakes_) == 1


@pytest.mark.parametrize("problem", PROBLEMS)
def test_every_problem_learns_with_what_is_recommended(problem):
    case = make_case(problem, (), {}, 0)
    needed = {name: value for name, value in case.options.items() if name not in ("update", "epochs", "average")}
    engine = Engine(problem, **needed).fit(case.taught.X, case.taught.y, offsets=case.taught.offsets)
    assert engine.preset == "recommended" and len(engine.mistakes_) >= 1 and len(engine.predict(case.data.X, offsets=case.data.offsets))


@pytest.mark.parametrize("problem", DOORS)
def test_streams_start_from_the_same(problem, ranks):
    X, y = ranks
    engine, model = Engine(problem, classes=[1, 2, 3], random_state=0), DOORS[problem](classes=[1, 2, 3], random_state=0)
    for part in (slice(0, 1), slice(1, 50), slice(50, 90)):
        engine.partial_fit(X[part], y[part])
        model.partial_fit(X[part], y[part])
    assert np.array_equal(engine.coef_, model.coef_) and engine.average and engine.model_.scaling.n_rows == 90
    streamed = fit_stream(Engine(problem, classes=[1, 2, 3], random_state=0), Slices(X, y, rows=30))
    assert len(streamed.mistakes_) > 1 and (streamed.predict(X) == y).mean() > 0.7


# ---- repr, model files and pickles ----


def test_repr_shows_what_differs_from_the_preset():
    assert repr(Engine("prank")) == repr(Engine("prank", epochs=20, average=True, variant="single")) == "Engine('prank')"
    assert repr(Engine("prank", epochs=1)) == "Engine('prank', epochs=1)"
    assert repr(Engine("prank", preset="paper", epochs=1)) == "Engine('prank', preset='paper')"
    assert repr(estimators.PRank(epochs=20)) == "PRank(epochs=20)" and estimators.PRank().epochs is None


@pytest.mark.filterwarnings("ignore::structperc.errors.ScaleWarning")
@pytest.mark.parametrize("options", [{}, {"preset": "paper"}, {"update": "exact-pa1", "C": 0.5}, {"pocket": True}, {"average": False}],
                         ids=str)
def test_a_model_file_and_a_pickle_keep_all_values(options, ranks, tmp_path):
    X, y = ranks
    engine = Engine("prank", random_state=0, **options).fit(X, y)
    engine.save(tmp_path / "m")
    for other in (Engine.load(tmp_path / "m"), pickle.loads(pickle.dumps(engine))):
        assert repr(other) == repr(engine) and other.preset == engine.preset
        assert values(other, ENGINE_OPTIONS) == values(engine, ENGINE_OPTIONS) and other.plugin_options == engine.plugin_options
        assert np.array_equal(other.coef_, engine.coef_)
        if "pocket" not in options:
            assert np.array_equal(other.partial_fit(X, y).coef_, pickle.loads(pickle.dumps(engine)).partial_fit(X, y).coef_)


def test_a_subclass_that_names_a_default_keeps_it_with_every_preset():
    class Patient(Engine):
        epochs: int = 7

    assert Patient("prank").epochs == 7 and Patient("prank", preset="paper").epochs == 7 and Patient("prank").average
    assert repr(Patient("prank")) == "Patient('prank')"


def test_help_and_docstrings_say_both_values(run):
    assert "default None\n    Passes over the data" in Engine.__doc__
    assert 'None: the value of `preset`: 1 with "paper", 10 with "recommended" for most problems.' in " ".join(Engine.__doc__.split())
    code, out, err = run("plugins")
    assert "recommends update=exact-pa2 C=0.01 trainer=until-level epochs=20 weighting=visits" in out
    assert "recommends C=0.03 with update=exact-pa1" in out
