"""What is declared in one place is known everywhere: names of parts, formats and exports in help texts, synonyms, ready-made parts.

Each ordinary addition is made here, by a stranger's plugin or a line of a table. `pytest -rP` shows how many files and lines each needs.
"""

import contextlib
import inspect
import json

import numpy as np
import pandas as pd
import pytest

from structperc import Engine, Option, components, files, hookimpl
from structperc.cli import main
from structperc.errors import PluginError
from structperc.files.formats import FORMATS, Format
from structperc.files.frames import FrameFile
from structperc.fitting import builtin
from structperc.fitting import plugins as registry

X, Y = np.arange(6.0)[:, None], [1, 1, 2, 2, 3, 3]


def report(what, *pieces):
    """Prints the lines of an addition, without docstrings and blank ones."""
    lines = [line for piece in pieces for line in inspect.getsource(piece).splitlines() if line.strip() and '"""' not in line]
    print(f"{what}: 1 file, {len(lines)} lines")


class JsonLines(FrameFile):
    @classmethod
    @contextlib.contextmanager
    def opened(cls, path):
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        made = cls(str(path), list(rows[0]))
        made.rows = rows
        yield made

    def frames(self, rows, columns, text=(), numbers=()):
        step = rows or len(self.rows)
        for first in range(0, len(self.rows), step):
            yield pd.DataFrame(self.rows[first:first + step])[columns]


def test_a_format_is_a_class_and_a_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(files, "json_lines", inspect.getmodule(JsonLines), raising=False)
    monkeypatch.setitem(__import__("sys").modules, "structperc.files.json_lines", inspect.getmodule(JsonLines))
    monkeypatch.setitem(FORMATS, "jsonl", Format("a file of JSON lines", "json_lines:JsonLines", (".jsonl",), "An object on each line."))
    path = tmp_path / "t.JSONL"
    path.write_text("".join(json.dumps({"a": float(a), "y": y}) + "\n" for a, y in zip(X[:, 0], Y, strict=True)))
    assert files.read(path, target="y").y.tolist() == Y
    assert [len(part.y) for part in files.stream(path, target="y", rows=4)] == [4, 2]
    for flags in ([], ["--stream"]):
        assert main(["fit", "cusum", str(path), "--target", "y", "--model", str(tmp_path / "m"), "--quiet", *flags]) == 0
    assert main(["evaluate", str(tmp_path / "m"), str(path)]) == 0
    capsys.readouterr()
    assert main(["help", "data"]) == 0 and "  jsonl     A file of JSON lines. An object on each line." in capsys.readouterr().out
    report("format", JsonLines)


class Stranger:
    """Adds an update rule, a loss, a trainer and an option of its own."""

    name = "stranger"
    also_called = ("unheard-of", "outlandish")
    updates, losses, trainers = ("odd-step",), ("odd-loss",), ("odd-loop",)
    options = {"oddness": Option(2.0, help="how odd the steps are")}

    @hookimpl
    def structperc_update(self, context):
        return OddStep(context.options["oddness"]) if context.update == "odd-step" else None

    @hookimpl
    def structperc_loss(self, context):
        return OddLoss() if context.loss == "odd-loss" else None

    @hookimpl
    def structperc_trainer(self, context):
        return OddLoop() if context.trainer == "odd-loop" else None


class OddStep(components.Update):
    def __init__(self, oddness):
        self.oddness = oddness

    def step(self, trial):
        return self.oddness * trial.weight * trial.difference()


class OddLoss(components.Loss):
    def value(self, gold, y, x=None):
        return float((gold - y) ** 2)


class OddLoop(components.OnlineTrainer):
    pass


def test_a_rule_a_loss_a_trainer_and_an_option_of_a_stranger():
    engine = Engine("cusum", plugins=[Stranger()], update="odd-step", oddness=3.0, loss="odd-loss", trainer="odd-loop", epochs=2,
                    random_state=0)
    assert engine.fit(X, Y).predict(X).shape == (6,) and isinstance(engine.parts_.trainer, OddLoop)
    with pytest.raises(PluginError, match="They know .*odd-loss"):
        Engine("cusum", plugins=[Stranger()], loss="even-loss").fit(X, Y)
    for what, piece in {"update rule": OddStep, "loss": OddLoss, "trainer": OddLoop}.items():
        report(what, piece)
    report("plugin with an option, and the names of all three", Stranger)


@pytest.fixture
def installed(monkeypatch):
    """A stranger's plugin as if it were installed."""
    plugin = registry.load(Stranger())
    everything = [*registry.installed(), plugin]
    monkeypatch.setattr(registry, "all_loaded", lambda: everything)
    monkeypatch.setattr(registry, "installed", lambda: everything)


def test_help_texts_have_the_names_of_all_parts(installed, capsys):
    assert main(["help", "options"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for kind in registry.NAMED.values():
        for plugin in (builtin.BuiltinParts, *registry.installed()):
            assert all(name in text for name in getattr(plugin, kind))
    assert "of stranger: odd-step" in text and "of stranger: odd-loss" in text and "of stranger: odd-loop" in text


@pytest.mark.parametrize(("word", "name"), [("CRF", "sequence"), ("unheard-of", "stranger"), ("ordered-logit", "prank")])
def test_a_synonym_of_a_plugin_leads_to_it(installed, capsys, word, name):
    assert main(["help", word]) == 2 and f"Did you mean {name!r}?" in capsys.readouterr().err
    with pytest.raises(PluginError, match=f"Did you mean '{name}'" if name != "stranger" else "there is no plugin"):
        registry.load(word)


def test_components_have_every_ready_made_part():
    made = {value for value in vars(builtin).values() if isinstance(value, type) and issubclass(value, components.Component)}
    assert made and all(getattr(components, kind.__name__, None) is kind and kind.__name__ in components.__all__ for kind in made)


def test_only_trainers_name_options():
    """All other parts use what their hook or `start` reads: nobody declares an option that a hook reads."""
    parts = {value for value in vars(components).values() if isinstance(value, type) and issubclass(value, components.Component)}
    assert {kind for kind in parts if kind.options_used and not issubclass(kind, components.Trainer)} == set()
