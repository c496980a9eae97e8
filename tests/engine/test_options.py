"""An option is declared once: signature, docstring, context and model file follow from it. An Option has a range of values."""

import inspect
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from plain import Engine
from sklearn.base import clone

import structperc
from structperc import Option, hookimpl
from structperc.components import (
    Loss,
    OnlineTrainer,
    PassiveAggressiveUpdate,
    PerceptronUpdate,
    PrimalWeights,
    Trainer,
    Update,
    Weights,
    ZeroOneLoss,
)
from structperc.errors import OptionError, PluginError, UnusedOption
from structperc.estimators import CuSumRank, StructuredClassifier
from structperc.fitting.option import option
from structperc.fitting.options import ENGINE_OPTIONS, EngineOptions
from structperc.schedules import inverse, inverse_sqrt

X, Y = [[-2.0], [-1.0], [0.5], [2.0]], [1, 1, 2, 3]


class Patient(Engine):
    """An engine with a further option, and with another default."""

    patience: int = option(3, "epochs without progress", low=1, about="Training ends after them.")
    epochs: int = 7


def test_an_option_of_a_subclass_is_declared_in_one_place(tmp_path):
    parameters = inspect.signature(Patient).parameters
    assert parameters["patience"].default == 3 and parameters["epochs"].default == 7 and parameters["margin"].default is None
    described = inspect.getdoc(Patient)
    assert "patience : int, default 3\n    Epochs without progress. Training ends after them." in described
    assert "epochs : int, default 7\n    Passes over the data, at most." in described
    with pytest.raises(OptionError, match="patience=0; expected a whole number, at least 1"):
        Patient("cusum", patience=0)
    with pytest.raises(OptionError, match="epochs=0; expected a whole number, at least 1"):
        Patient("cusum", epochs=0)
    engine = Patient("cusum", patience=5, epochs=2).fit(X, Y)
    assert repr(engine) == "Patient('cusum', patience=5, epochs=2)" and repr(Patient("cusum")) == "Patient('cusum')"
    assert type(engine.parts_.update).__name__ == "PerceptronUpdate" and engine.model_.context.patience == 5
    engine.save(tmp_path / "model")
    assert Patient.load(tmp_path / "model").patience == 5 and pickle.loads(pickle.dumps(engine)).patience == 5
    assert Engine("cusum").epochs == 1 and "patience" not in ENGINE_OPTIONS


class Careful(CuSumRank):
    """A ranker with a further option, and with another default."""

    care: float = option(0.5, "share of rows that are read twice", low=0)
    epochs: int = 3


def test_an_option_of_an_estimator_is_declared_in_one_place():
    assert "care : float, default 0.5\n    Share of rows that are read twice." in inspect.getdoc(Careful)
    assert "epochs : int, default 3\n    Passes over the data, at most." in inspect.getdoc(Careful)
    model = Careful(care=0.25)
    assert model.get_params()["care"] == 0.25 and model.epochs == 3 and repr(model) == "Careful(care=0.25)"
    assert clone(model).set_params(care=0.75).care == 0.75


DEFINED = re.compile(r"^    (\w+): .*= option\(", re.MULTILINE)


def repeated(text, names) -> list:
    """Options that a source file repeats: as a row of a table, a parameter with a default, or an entry of a docstring."""
    tables = re.findall(r"""["'](\w+)["']: \w*Option\(""", text)
    signatures = [name for head in re.findall(r"def __init__\(([^)]*)\)", text) for name in re.findall(r"(\w+)=", head)]
    entries = re.findall(r"^    (\w+) : .*default", text, re.MULTILINE)
    return sorted({name for name in (*tables, *signatures, *entries) if name in names})


def test_a_repeated_option_is_seen():
    table = "OPTIONS = {\n    'epochs': EngineOption(1),\n}\n"
    signature = "class A:\n    def __init__(self, problem, *, margin=1.0,\n                 decay=0.0):\n"
    docstring = "class B:\n    '''Trains.\n\n    average : bool, default False\n        Mean weights.\n    '''\n"
    names = {"epochs", "margin", "decay", "average"}
    assert repeated(table, names) == ["epochs"] and repeated(signature, names) == ["decay", "margin"]
    assert repeated(docstring, names) == ["average"] and repeated("    epochs: int = option(1)\n", names) == []


@pytest.mark.parametrize("folder", ["fitting", "engine", "estimators", "cli"])
def test_nothing_beside_its_field_repeats_an_option(folder):
    files = [path for path in Path(structperc.__file__).with_name(folder).rglob("*.py") if path.name != "trainers.py"]
    assert not {path.name: found for path in files if (found := repeated(path.read_text(), set(ENGINE_OPTIONS)))}


def test_each_option_of_the_engine_is_one_field():
    defined = DEFINED.findall(Path(inspect.getfile(EngineOptions)).read_text())
    assert sorted(defined) == sorted(ENGINE_OPTIONS) and len(ENGINE_OPTIONS) <= 22
    assert all(declared.help for declared in ENGINE_OPTIONS.values())


def test_hooks_are_told_the_options():
    class Watching:
        @hookimpl
        def structperc_update(self, context):
            self.context = context

    watching = Watching()
    Engine("cusum", plugins=[watching], margin=2, update="pa", epochs=np.int8(3)).fit(X, Y)
    told = {name: getattr(watching.context, name) for name, declared in ENGINE_OPTIONS.items() if declared.in_context}
    assert told["margin"] == 2.0 and type(told["margin"]) is float and type(told["epochs"]) is int
    assert told["loss"] == "absolute" and told["trainer"] == "online"
    for name, declared in ENGINE_OPTIONS.items():
        if declared.in_context:
            assert declared.read(name, told[name]) == told[name]
        else:
            assert not hasattr(watching.context, name)
    with pytest.raises(AttributeError, match="a context has no 'agument'. It has the data's n_features, .*; the engine's options update, "):
        _ = watching.context.agument


def test_every_option_comes_back_from_a_file(tmp_path):
    changed = {"update": "pa1", "loss": "squared", "margin": 0.5, "loss_weight": 0.25, "C": inverse_sqrt(0.1), "epochs": 2,
               "average": True, "decay": inverse(0.25), "shuffle": True, "weighting": "visits",
               "class_weight": {1: 2.0, 3: 0.5}, "random_state": 3, "fit_intercept": False, "scale": True, "calibrate": True,
               "n_shards": 2, "trainer": "bounded-sum", "n_jobs": 2, "classes": [1, 2, 3]}
    assert {name for name in ENGINE_OPTIONS if name not in changed} == {"step_size", "plugins", "preset"}
    engine = Engine("cusum", **changed).fit(X, Y)
    engine.save(tmp_path / "model")
    loaded = Engine.load(tmp_path / "model")
    assert {name: list(value) if name == "classes" else value for name in changed for value in [getattr(loaded, name)]} == changed
    latent = Engine("cusum", update="latent", step_size=inverse(0.5)).fit(X, Y)
    latent.save(tmp_path / "model")
    assert repr(Engine.load(tmp_path / "model")) == repr(latent)


@pytest.mark.parametrize(("option", "value", "expected"), [
    (Option(2), "3", "a whole number"), (Option(2), 2.5, "a whole number"), (Option(2), True, "a whole number"),
    (Option(2), None, "a whole n"),
    (Option(0.5), "0.5", "a number"), (Option(0.5), False, "a number"), (Option(0.5), np.nan, "a number"),
    (Option(True), 1, "True or False"), (Option("a"), 3, "a text"), (Option("a", ("a", "b")), "c", "one of 'a', 'b'"),
    (Option("scale", types=(float, str)), None, "a number or a text"), (Option("linear", types=(str, Callable)), 2, "a text or a function"),
    (Option(1, low=1), 0, "a whole number, at least 1"), (Option(0.5, above=0, below=1), 1, "a number greater than 0 and below 1"),
])  # fmt: skip
def test_values_of_a_wrong_type_are_refused(option, value, expected):
    with pytest.raises(OptionError, match=rf"size={re.escape(repr(value))}; expected {re.escape(expected)}"):
        Engine("cusum", plugins=[plugin(option)], size=value)


@pytest.mark.parametrize(("option", "value", "read"), [
    (Option(2), np.int64(3), 3), (Option(0.5), 2, 2.0), (Option(0.5), np.float32(0.5), 0.5), (Option(False), np.True_, True),
    (Option(()), [1, 2], (1, 2)), (Option(None), "anything", "anything"), (Option("scale", types=(float, str)), 0.5, 0.5),
    (Option("linear", types=(str, Callable)), len, len),
])
def test_values_are_read_as_the_type_of_the_default(option, value, read):
    known = Engine("cusum", plugins=[plugin(option)], size=value).plugin_options["size"]
    assert known == read and type(known) is type(read)


def plugin(option):
    class Sized:
        options = {"size": option}

        @hookimpl
        def structperc_loss(self, context):
            return None

    return Sized()


# ---- no option without an effect ----

Z = np.array([[-2.0, 1.0], [-1.0, 0.0], [0.5, 2.0], [2.0, 1.0]])


def hooked(hook, make, name="mine", **attributes):
    """A plugin whose hook returns make(context)."""
    return type("Hooked", (), {"name": name, f"structperc_{hook}": hookimpl(lambda self, context: make(context)), **attributes})()


class Store(Weights):
    """A store that uses neither average nor decay."""

    def start(self, parts, context):
        super().start(parts, context)
        self.w = np.zeros(self.features.n_weights)

    def scores(self, x):
        return self.features.scores(self.w, x)

    def update(self, x, c):
        self.features.add(self.w, x, c)

    def vector(self):
        return self.w


class AveragingStore(Store):
    pass


class Own(PrimalWeights):
    pass


class Rule(PerceptronUpdate):
    pass


class Weighed(PerceptronUpdate):
    def searches(self, loss_weight):
        return "both", 1.0


class Aimless(Trainer):
    """One epoch. The class neither names nor reads options."""

    def train(self, run):
        run.begin_epoch()
        run.end_epoch(run.run())
        return "once"


class Attentive(Aimless):
    def start(self, parts, context):
        self.epochs = context.epochs


def rule_of_alpha(context):
    return PassiveAggressiveUpdate("pa1", 1.0, context.options["alpha"])


ALPHA = {"alpha": Option(1.0, above=0)}
FIRST = dict(name="first", options=ALPHA)


@pytest.mark.parametrize(("plugins", "options", "sentence"), [
    (["dual-kernel", Store()], {"kernel": "rbf"}, r"plugin 'dual-kernel' \(.*\) is not used: plugin 'Store' comes later and returns the "
                                                  r"weights \(Store\); leave out one of them"),
    (["dual-kernel", hooked("weights", lambda context: Store())], {"kernel": "rbf"},
     r"kernel='rbf' has no effect: it is an option of plugin 'dual-kernel' .*, but plugin 'mine' comes later. It returns the weights "
     r"\(Store\); leave it at 'linear', or leave out one of the two plugins"),
    ([Store(), "dual-kernel"], {"kernel": "rbf"},
     r"plugin 'Store' is not used: plugin 'dual-kernel' .* comes later and returns the weights"),
    ([PrimalWeights()], {"average": True},
     "average=True has no effect with the PrimalWeights object in plugins; set it where the object is "
                                           "made, and leave it at False"),
    ([PrimalWeights()], {"decay": 0.1}, "decay=0.1 has no effect with the PrimalWeights object in plugins"),
    ([Own()], {"average": True}, "average=True has no effect with the Own object in plugins"),
    ([hooked("weights", lambda context: Own())], {"average": True},
     "average=True has no effect with Own of plugin 'mine', whose hook structperc_weights does not read context.average; "
     "leave it at False"),
    ([Store()], {"average": True}, "average=True has no effect with the Store object in plugins; leave it at False"),
    ([Store()], {"decay": 0.5}, "decay=0.5 has no effect with the Store object in plugins; leave it at 0.0"),
    ([PassiveAggressiveUpdate("pa1", 1.0, 5.0)], {"update": "pa1", "C": 0.01},
     "update='pa1' has no effect with the PassiveAggressiveUpdate object in plugins, which is used whatever update is; leave it at "
     "'perceptron', or leave out the plugin"),
    ([PassiveAggressiveUpdate("pa1", 1.0, 5.0)], {"C": 0.01},
     "C=0.01 has no effect with the PassiveAggressiveUpdate object in plugins; set "
                                                              "it where the object is made, and leave it at 1.0"),
    ([hooked("update", lambda context: Rule(), "b")], {"update": "pa1"},
     "update='pa1' has no effect with Rule of plugin 'b', which is used whatever update is"),
    ([hooked("update", lambda context: Rule(), "b")], {"margin": 2.0}, "margin=2.0 has no effect with Rule of plugin 'b'; leave it at 1.0"),
    ([ZeroOneLoss()], {"loss": "squared"},
     "loss='squared' has no effect with the ZeroOneLoss object in plugins, which is used whatever loss is"),
    ([hooked("loss", lambda context: ZeroOneLoss(), "b")], {"loss": "squared"},
     "loss='squared' has no effect with ZeroOneLoss of plugin 'b'"),
    ([hooked("trainer", lambda context: OnlineTrainer(), "b")], {"trainer": "bcfw"},
     "trainer='bcfw' has no effect with OnlineTrainer of plugin 'b'"),
    ([hooked("update", rule_of_alpha, **FIRST), hooked("update", lambda context: Rule(), "b")], {"alpha": 3.0},
     r"alpha=3.0 has no effect: it is an option of plugin 'first', but plugin 'b' comes later. It returns the update \(Rule\); "
     "leave it at 1.0"),
    ([hooked("update", lambda context: rule_of_alpha(context) if context.update == "alpha" else None, updates=("alpha",), **FIRST)],
     {"alpha": 3.0},
     "alpha=3.0 has no effect beside the other options, since no part in use reads it; leave it at 1.0. Plugin 'first' is for "
                     "update='alpha'"),
    ([hooked("update", lambda context: rule_of_alpha(context) and None, **FIRST)], {"alpha": 3.0},
     "alpha=3.0 has no effect beside the other"),
    ([Aimless()], {"shuffle": True},
     r"shuffle=True has no effect with the Aimless object in plugins, whose options_used does not name it \(it names none\); leave"),
    ([Aimless()], {"epochs": 3}, "epochs=3 has no effect with the Aimless object"),
    ([Weighed()], {"loss_weight": 2.0}, "loss_weight=2.0 has no effect with the Weighed object in plugins; leave it at 0.0"),
    ([hooked("update", lambda context: Weighed(), "b")], {"loss_weight": 2.0}, "loss_weight=2.0 has no effect with Weighed of plugin 'b'"),
])  # fmt: skip
def test_an_option_that_a_plugin_ignores_is_refused_with_the_plugin_that_is_used(plugins, options, sentence):
    engine = Engine("cusum", plugins=plugins, **options)
    with pytest.raises((OptionError, PluginError), match=sentence):
        engine.fit(Z, Y)
    assert not hasattr(engine, "coef_")


@pytest.mark.parametrize(("options", "error", "sentences"), [
    ({"epochs": 0, "margin": "a", "epoch": 3, "rate": 1}, OptionError,
     ["epochs=0; expected a whole number, at least 1.", "margin='a'; expected a number",
      "unknown option 'epoch'. Did you mean 'epochs'?", "unknown option 'rate'. Did you mean 'step_size'? The plugins in use (cusum)"]),
    ({"plugins": ["dual-kernel"], "degree": "a", "coef0": "b"}, OptionError, ["degree='a'; expected", "coef0='b'; expected"]),
    ({"plugins": 3, "rate": 1, "epochs": 0}, OptionError, ["plugins=3; expected a list", "epochs=0; expected"]),
    ({"plugins": ["dual-kernel"], "kernel": "linear", "gamma": 2.0, "degree": 2, "length": 5}, UnusedOption,
     ["gamma=2.0 has no effect with kernel='linear'", "degree=2 has no effect", "length=5 has no effect"]),
    ({"update": "perceptron", "C": 2.0, "margin": 2.0}, UnusedOption, ["C=2.0 has no effect", "margin=2.0 has no effect"]),
    ({"update": "no", "loss": "none", "plugins": ["dual-kernel"], "gamma": 2.0}, PluginError,
     ["loss='none' is unknown", "update='no' is unknown", "gamma=2.0 has no effect"]),
])
def test_one_error_names_all_wrong_options(options, error, sentences):
    with pytest.raises(error) as raised:
        Engine("cusum", **options).fit(Z, Y)
    found = str(raised.value).split(" Also ")
    assert len(found) == len(sentences) and all(one.startswith(start) for one, start in zip(found, sentences, strict=True)), found


def test_options_changed_to_wrong_values_are_named_in_one_error_and_nothing_changes():
    engine = Engine("cusum", random_state=0).fit(Z, Y)
    before = engine.model_
    engine.epochs, engine.margin = 0, np.int64(2)
    engine.shuffle = "no"
    with pytest.raises(OptionError, match=r"epochs=0; .* Also shuffle='no'; expected True or False"):
        engine.fit(Z, Y)
    assert engine.model_ is before and type(engine.margin) is np.int64


def test_the_original_prank_refuses_to_be_another_rule():
    with pytest.raises(UnusedOption, match="variant='original' has no effect beside the other options"):
        Engine("prank", update="exact-pa1", variant="original").fit(Z, Y)


@pytest.mark.parametrize(("plugins", "options"), [
    ([hooked("weights", lambda context: PrimalWeights(context.average, context.decay))], {"average": True, "decay": 0.1}),
    ([hooked("weights", lambda context: AveragingStore() if context.average else None)], {"average": True}),
    ([Attentive()], {"epochs": 3}),
    ([hooked("update", lambda context: context.C and Rule())], {"C": 0.5}),
    ([hooked("trainer", lambda context: context.epochs and Aimless())], {"epochs": 3}),
    ([hooked("update", lambda context: Rule() if context.update == "mine" else None)], {"update": "mine"}),
    ([hooked("update", lambda context: Rule(), updates=("mine",))], {"update": "mine"}),
    ([hooked("update", rule_of_alpha, **FIRST)], {"alpha": 3.0}),
    ([hooked("features", lambda context: context.options.get("alpha") and None, **FIRST), hooked("update", rule_of_alpha, "b")],
     {"alpha": 3.0}),
    ([type("Observer", (), {"options": ALPHA, "structperc_epoch_end": hookimpl(lambda self, engine: engine.plugin_options["alpha"])})()],
     {"alpha": 3.0}),
])  # fmt: skip
def test_an_option_that_a_part_in_use_reads_is_accepted(plugins, options):
    assert Engine("cusum", plugins=plugins, **options).fit(Z, Y).status_


def test_a_part_may_read_options_when_it_starts():
    class Late(Rule):
        def start(self, parts, context):
            self.C, self.alpha = context.C, context.options["alpha"]

    plugin = hooked("update", lambda context: Late(), **FIRST)
    update = Engine("cusum", plugins=[plugin], C=0.5, alpha=3.0).fit(Z, Y).parts_.update
    assert (update.C, update.alpha) == (0.5, 3.0)


def test_a_part_may_name_an_option_of_its_plugin_that_it_reads_later():
    class Named(Rule):
        options_used = ("alpha",)

    plugin = hooked("update", lambda context: Named(), **FIRST)
    assert Engine("cusum", plugins=[plugin], alpha=3.0).fit(Z, Y).status_


def test_a_wrapper_reads_options_too():
    plugin = type("Wrapping", (), {"options": ALPHA})
    plugin.structperc_update = hookimpl(wrapper=True)(wrapped)
    assert Engine("cusum", plugins=[plugin()], update="pa1", C=0.5, alpha=3.0).fit(Z, Y).status_


def wrapped(self, context):
    update = yield
    return update if context.options["alpha"] else None


def test_an_estimator_refuses_what_its_user_has_set_beside_an_object_and_leaves_out_what_is_recommended():
    assert StructuredClassifier(plugins=[PrimalWeights()]).fit(Z, Y).unused_parameters_ == ()
    for options, sentence in [({"kernel": "rbf"}, "plugin 'dual-kernel' .* is not used"),
                              ({"kernel": "linear"}, "plugin 'dual-kernel' .* is not"),
                              ({"decay": 0.1}, "decay=0.1 has no effect with the PrimalWeights object")]:
        with pytest.raises((OptionError, PluginError), match=sentence):
            StructuredClassifier(plugins=[PrimalWeights()], **options).fit(Z, Y)
    with pytest.raises(OptionError, match="kernel='rbf' has no effect: it is an option of plugin 'dual-kernel'"):
        StructuredClassifier(kernel="rbf", plugins=[hooked("weights", lambda context: Store())]).fit(Z, Y)
    with pytest.raises(OptionError, match="update='pa1' has no effect with the PassiveAggressiveUpdate object"):
        StructuredClassifier(update="pa1", plugins=[PassiveAggressiveUpdate("pa1", 1.0, 5.0)]).fit(Z, Y)


def test_unknown_names_of_plugin_options_come_with_a_suggestion():
    plugin = hooked("update", lambda context: context.options["alhpa"], **FIRST)
    with pytest.raises(PluginError, match="the plugins have no option 'alhpa'. Did you mean 'alpha'"):
        Engine("cusum", plugins=[plugin]).fit(Z, Y)


# ---- parts as values of options ----


class Half(Update):
    """The perceptron's step, half as long."""

    def step(self, trial):
        return 0.5 * trial.difference()


class Twice(Loss):
    """Twice the difference of the ranks."""

    def value(self, gold, y, x=None):
        return 2.0 * abs(gold - y)


class Once(OnlineTrainer):
    """The online trainer under another class name."""


@pytest.mark.parametrize(("name", "make"), [("update", Half), ("loss", Twice), ("trainer", Once)])
def test_a_part_is_the_value_of_the_option_that_names_such_parts(name, make, tmp_path):
    named = Engine("cusum", plugins=[make()], epochs=2).fit(Z, Y)
    for part in (make(), make):
        engine = Engine("cusum", epochs=2, **{name: part}).fit(Z, Y)
        assert type(getattr(engine.parts_, name)) is make and getattr(engine, name) is part
        assert np.array_equal(engine.coef_, named.coef_) and engine.cumulative_loss_ == named.cumulative_loss_
        assert repr(engine).startswith(f"Engine('cusum', {name}=") or name == "trainer"
        engine.save(tmp_path / "a.model")
        with pytest.raises(PluginError, match=f"needs the object {make.__name__!r}"):
            Engine.load(tmp_path / "a.model")
        again = Engine.load(tmp_path / "a.model", plugins=[part])
        assert getattr(again, name) is part and again.plugins == () and np.array_equal(again.coef_, engine.coef_)
        assert np.array_equal(pickle.loads(pickle.dumps(engine)).coef_, engine.coef_)


@pytest.mark.parametrize("name", ["update", "loss", "trainer"])
def test_a_part_of_another_kind_is_refused(name):
    with pytest.raises(OptionError, match=f"{name}=.*; expected a name, or an object of a subclass of .*components.{name.title()}"):
        Engine("cusum", **{name: PrimalWeights()})
    with pytest.raises(OptionError, match=f"{name}=.*expected a name"):
        Engine("cusum", **{name: object()})


def test_a_part_beside_a_plugin_that_makes_the_same_part_is_refused():
    engine = Engine("cusum", plugins=[hooked("update", lambda context: Rule(), "b")], update=Half())
    with pytest.raises(PluginError, match=r"plugin 'b' is not used: plugin 'Half' comes later and returns the update \(Half\); leave"):
        engine.fit(Z, Y)
    with pytest.raises(PluginError, match="plugin 'Rule' is not used"):
        Engine("cusum", plugins=[Rule()], update=Half).fit(Z, Y)
    with pytest.raises(UnusedOption, match="C=0.5 has no effect with the Half object in plugins"):
        Engine("cusum", update=Half(), C=0.5).fit(Z, Y)


def test_estimators_take_parts_too_and_their_clones_share_them(tmp_path):
    rule = Half()
    model = clone(CuSumRank(update=rule, loss_weight=0.0, random_state=0)).fit(Z, Y)
    assert model.update is rule and type(model.engine_.parts_.update) is Half
    model.save(tmp_path / "a.model")
    again = CuSumRank.load(tmp_path / "a.model", plugins=[rule])
    assert again.update is rule and np.array_equal(again.fit(Z, Y).coef_, model.coef_)


def test_a_default_that_is_no_choice_raises_where_the_option_is_declared():
    with pytest.raises(OptionError, match=r"an option has the default 'fast'; expected one of 'exact', 'greedy'\. Add it to choices="):
        Option("fast", choices=("exact", "greedy"))
    assert Option(None, choices=("exact", "greedy")).default is None
    assert Option(2, choices=(1, 2)).read("level", 1) == 1
