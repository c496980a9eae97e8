"""The table of engine options against signature, docstring, context and model file; the values that an Option accepts."""

import inspect
import json
import re
from collections.abc import Callable

import numpy as np
import pytest

from structperc import Engine, Option, hookimpl
from structperc.engine.options import ENGINE_OPTIONS
from structperc.errors import OptionError

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
