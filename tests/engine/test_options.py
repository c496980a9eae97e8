"""The table of engine options against signature, docstring, context and model file; the values that an Option accepts."""

import inspect
import json
import re
from collections.abc import Callable

import numpy as np
import pytest

from structperc import Engine, Option, hookimpl
from structperc.components import (
    OnlineTrainer,
    PassiveAggressiveUpdate,
    PerceptronUpdate,
    PrimalWeights,
    Trainer,
    Weights,
    ZeroOneLoss,
)
from structperc.engine.options import ENGINE_OPTIONS
from structperc.errors import OptionError, PluginError, UnusedOption
from structperc.estimators import StructuredClassifier

X, Y = [[-2.0], [-1.0], [0.5], [2.0]], [1, 1, 2, 3]


def test_signature_and_docstring_are_those_of_the_table():
    parameters = [p for p in inspect.signature(Engine).parameters.values() if p.kind is p.KEYWORD_ONLY]
    assert {p.name: p.default for p in parameters} == {name: option.default for name, option in ENGINE_OPTIONS.items()}
    described = Engine.__doc__.split("Parameters\n")[1].split("Attributes\n")[0]
    entries = re.findall(r"^    (\w+) : (.*)$", described, re.MULTILINE)
    assert [name for name, _ in entries] == ["problem", *(p.name for p in parameters)]
    for name, text in entries[1:]:
        if "default" in text:
            assert text.rsplit("default ", 1)[1] == json.dumps(ENGINE_OPTIONS[name].default).replace("null", "None").replace(
                "true", "True").replace("false", "False")


def test_hooks_are_told_the_options():
    class Watching:
        @hookimpl
        def structperc_update(self, context):
            self.context = context

    watching = Watching()
    Engine("cusum", plugins=[watching], margin=2, update="pa", epochs=np.int8(3)).fit(X, Y)
    told = {name: getattr(watching.context, name) for name, option in ENGINE_OPTIONS.items() if option.told}
    assert told["margin"] == 2.0 and type(told["margin"]) is float and type(told["epochs"]) is int
    assert told["loss"] == "absolute" and told["trainer"] == "online"
    for name, option in ENGINE_OPTIONS.items():
        if option.told:
            assert option.read(name, told[name]) == told[name]
        else:
            assert not hasattr(watching.context, name)
    with pytest.raises(AttributeError, match="a context has no 'agument'; the engine's options in it are update, "):
        _ = watching.context.agument


def test_every_option_comes_back_from_a_file(tmp_path):
    changed = {"update": "pa1", "loss": "squared", "margin": 0.5, "loss_weight": 0.25, "C": 0.1, "C_schedule": "inverse-sqrt", "epochs": 2,
               "average": True, "decay": 0.25, "decay_schedule": "inverse", "shuffle": True, "weighting": "visits",
               "class_weight": {1: 2.0, 3: 0.5}, "random_state": 3, "fit_intercept": False, "scale": True, "calibrate": True,
               "n_shards": 2, "mixing": "bounded-sum", "n_jobs": 2, "classes": [1, 2, 3]}
    assert {name for name in ENGINE_OPTIONS if name not in changed} == {"step_size", "step_schedule", "epsilon", "epsilon_schedule",
                                                                       "trainer", "plugins"}
    engine = Engine("cusum", **changed).fit(X, Y)
    engine.save(tmp_path / "model")
    loaded = Engine.load(tmp_path / "model")
    assert {name: list(value) if name == "classes" else value for name in changed for value in [getattr(loaded, name)]} == changed
    latent = Engine("cusum", update="latent", step_size=0.5, step_schedule="inverse").fit(X, Y)
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
    """A store that knows neither average nor decay."""

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
    options_used = ("average",)


class Own(PrimalWeights):
    pass


class Rule(PerceptronUpdate):
    options_used = None


class Weighed(PerceptronUpdate):
    loss_weight = 1.0


class Aimless(Trainer):
    """One epoch; it names no options, and reads none."""

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
     r"kernel='rbf' has no effect: it is an option of plugin 'dual-kernel' .*, but plugin 'mine' comes later and returns the weights "
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
    ([hooked("weights", lambda context: context.average and Store())], {"average": True},
     r"average=True has no effect with Store of plugin 'mine', whose options_used does not name it \(it names none\)"),
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
     r"alpha=3.0 has no effect: it is an option of plugin 'first', but plugin 'b' comes later and returns the update \(Rule\); "
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


def test_the_original_prank_refuses_to_be_another_rule():
    with pytest.raises(UnusedOption, match="variant='original' has no effect beside the other options"):
        Engine("prank", update="exact-pa1", variant="original").fit(Z, Y)


@pytest.mark.parametrize(("plugins", "options"), [
    ([hooked("weights", lambda context: PrimalWeights(context.average, context.decay))], {"average": True, "decay": 0.1}),
    ([hooked("weights", lambda context: AveragingStore() if context.average else None)], {"average": True}),
    ([Attentive()], {"epochs": 3}),
    ([hooked("update", lambda context: context.C and Rule())], {"C": 0.5}),
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


def test_an_estimator_refuses_what_its_user_has_set_beside_an_object_and_leaves_out_its_own_defaults():
    assert StructuredClassifier(plugins=[PrimalWeights()]).fit(Z, Y).unused_parameters_ == ("average",)
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
