"""What is declared in one place is known everywhere: names of parts, formats and exports in help texts, synonyms, ready-made parts.

Each ordinary addition is made here: by a stranger's plugin, by a line of a table, or in a scratch copy of the library.
`pytest -rP` shows how many files and lines each needs.
"""

import contextlib
import inspect
import json
import os
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from structperc import Engine, Option, components, estimators, files, hookimpl
from structperc.cli import main
from structperc.errors import PluginError
from structperc.estimators import lookup
from structperc.estimators.labels import LabelEstimator
from structperc.files.formats import FORMATS, Format
from structperc.files.frames import FrameFile
from structperc.fitting import builtin
from structperc.fitting import plugins as registry
from structperc.fitting.option import option

ROOT = Path(__file__).parents[1]
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


class OddClassifier(LabelEstimator):
    problem: str = option("cusum", "the problem")
    oddness: float = option(2.0, "how odd the steps are")

    def _engine(self, **changed):
        return super()._engine(C=self.oddness, **changed)


def test_an_estimator_is_a_class_and_an_entry_point(monkeypatch):
    entry = EntryPoint("OddClassifier", f"{__name__}:OddClassifier", lookup.GROUP)
    monkeypatch.setattr(lookup, "addresses", lambda: {entry.name: entry})
    model = getattr(estimators, entry.name)(oddness=3.0, random_state=0, update="pa1").fit(X, Y)
    assert model.predict(X).tolist() == Y and model.engine_.C == 3.0 == model.get_params()["oddness"]
    assert set(estimators.__all__) > {"OddClassifier"} and repr(model) and entry.name in dir(estimators)
    report("estimator", OddClassifier)


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


# The new file of each addition, its text, and its line in a table of the library: (file, line before, new line).
ADDITIONS = {
    "metric": ("structperc/metrics/odd.py", """
def odd_share(y_true):
    return sum(y % 2 for y in y_true) / len(y_true)
""", ("structperc/metrics/__init__.py", "MODULES = {\n", '    "odd": ("odd_share",),\n')),
    "export": ("structperc/engine/exports/labels/odd.py", """
def written(model, name):
    return f"{name} is {model.description}".encode()
""", ("structperc/engine/exports/formats.py", "FORMATS = {\n", '    "odd": ("odd", ".odd"),\n')),
    "command": ("structperc/cli/odd.py", """
from structperc.cli.commands import Command, path
from structperc.cli.terminal import say

def odd(arguments):
    say(f"{arguments.data} is odd")
    return 0

def arguments_of_odd(made):
    made.add_argument("data", metavar="DATA", type=path, help="the data")

ODD = Command(odd, arguments_of_odd, "example: structperc odd d.csv")
""", ("structperc/cli/parser.py", "COMMANDS = {", '"odd": ("odd:ODD", "find what is odd"),')),
    "problem": ("structperc_odd.py", """
from structperc import hookimpl
from structperc.components import BlockFeatures, ClassOutputs, LargestArgmax

@hookimpl
def structperc_outputs(context):
    return ClassOutputs()

@hookimpl
def structperc_features(context):
    return BlockFeatures(context.n_labels, context.n_features, context.fit_intercept)

@hookimpl
def structperc_argmax(context):
    return LargestArgmax(context.n_labels)
""", ("odd-1.dist-info/entry_points.txt", "[structperc]\n", "odd-problem = structperc_odd\n")),
    "engine option": ("structperc/fitting/builtin.py", ("patience = PATIENCE if", "patience = context.patience if"),
                      ("structperc/fitting/options.py", '    # ---- how examples are visited ----\n\n',
                       '    patience: int = option(3, "epochs without a lower loss", low=1, part="trainer")\n')),
}
USE = """
import structperc, sys
from structperc import Engine, metrics
from structperc.cli import main
from structperc.errors import OptionError, UnusedOption

assert structperc.__file__.startswith(sys.path[0]), structperc.__file__
X, y = [[0.0], [1.0], [2.0], [3.0]] * 3, ["a", "a", "b", "b"] * 3
assert metrics.odd_share([1, 2]) == 0.5
engine = Engine("odd-problem", random_state=0, patience=2, trainer="until-level").fit(X, y)
assert engine.predict([[0.0], [3.0]]).tolist() == ["a", "b"] and engine.parts_.trainer.patience == 2
engine.export("m.odd")
assert open("m.odd").read() == "m is odd-problem: 1 columns, 2 labels"
try:
    Engine("odd-problem", patience=2).fit(X, y)
except UnusedOption as error:
    assert str(error) == "patience=2 has no effect with OnlineTrainer; leave it at 3.", error
assert main(["odd", "d.csv"]) == 0 and main(["help", "odd"]) == 0
"""


def test_five_additions_in_a_scratch_copy(tmp_path):
    shutil.copytree(ROOT / "structperc", tmp_path / "structperc", copy_function=os.symlink)
    (tmp_path / "odd-1.dist-info").mkdir()
    (tmp_path / "odd-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1\n")
    (tmp_path / "odd-1.dist-info/entry_points.txt").write_text("[structperc]\n")
    for what, (file, text, (table, before, line)) in ADDITIONS.items():
        if isinstance(text, tuple):
            change(tmp_path / file, *text)
        else:
            (tmp_path / file).write_text(text)
        change(tmp_path / table, before, before + line)
        lines = 1 if isinstance(text, tuple) else len([line for line in text.splitlines() if line])
        print(f"{what}: 1 file, {lines} lines, and 1 line of {table}")
    code = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{USE}"]
    done = subprocess.run(code, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "d.csv is odd" in done.stdout and "find what is odd" in done.stdout.lower()


def change(path, old, new):
    """Replaces a text that a file has once, in a copy of the file that is no link."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path, old)
    path.unlink()
    path.write_text(text.replace(old, new), encoding="utf-8")
