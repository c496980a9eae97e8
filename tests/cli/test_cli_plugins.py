"""The commands plugins, check and new, and options of plugins."""

import inspect
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from plain import Engine

from structperc import Option
from structperc.cli.settings import ENGINE_OPTIONS, describe_options, read_settings, read_value
from structperc.errors import OptionError

from .lines import one_line

# ---- plugins, new, check, help ----

RICH = '''
    """Rich: many options."""
    from structperc import Option, hookimpl
    options = {"depth": Option(2, help="how deep"), "rate": Option(0.5), "deep": Option(False), "sizes": Option([1, 2]),
               "order": Option("up", ("up", "down"), "which way"), "limit": Option(None), "power": Option(1, (1, 2.5))}
    from structperc.components import AbsoluteLoss
    seen = []
    @hookimpl
    def structperc_loss(context):
        seen.append({name: context.options[name] for name in options})
        return AbsoluteLoss()
'''


def test_plugins_lists_what_is_installed_and_what_is_broken(folder, run, install):
    install("rich", RICH)
    install("shattered", "import no_such_module_anywhere")
    install("misspelt", "def structperc_argmx(context):\n    return None\n")
    code, out, err = run("plugins")
    assert (code, err) == (0, "")
    assert "cusum  (problem, structperc " in out and "rich  (part, acme-rich 1.2)" in out and "    Rich: many options." in out
    assert "hooks    outputs, features, argmax\n" in out and "order=up" in out and "[up | down] which way" in out
    working, broken = out.split("\nbroken\n")
    assert "shattered  (acme-shattered 1.2): ModuleNotFoundError: No module named 'no_such_module_anywhere'" in broken
    assert "misspelt" in broken and "did you mean structperc_argmax?" in broken and "shattered" not in working


def test_a_plugin_with_impossible_options_is_listed_as_broken(folder, run, install):
    install("odd", "options = ['depth']")
    code, out, err = run("plugins")
    assert (code, err) == (0, "") and "odd" in out.split("\nbroken\n")[1] and "cusum  (problem" in out
    assert run("fit", "--help")[0] == 0


def test_plugins_for_programs(folder, run, install):
    install("rich", RICH)
    install("shattered", "import no_such_module_anywhere")
    found = {record["name"]: record for record in json.loads(run("plugins", "--json")[1])}
    assert found["rich"]["options"]["order"] == {"default": "up", "choices": ["up", "down"], "help": "which way"}
    assert found["rich"]["hooks"] == ["structperc_loss"] and found["rich"]["version"] == "1.2" and found["rich"]["broken"] is None
    assert found["prank"]["kind"] == "problem" and "structperc_update" in found["prank"]["hooks"]
    assert "no_such_module_anywhere" in found["shattered"]["broken"]


def test_a_broken_plugin_is_refused_only_by_name(data, run, install):
    install("shattered", "import no_such_module_anywhere")
    assert run("fit", "cusum", "train.csv", "--target", "level", "--model", "m.model")[0] == 0
    code, _, err = run("fit", "shattered", "train.csv", "--target", "level", "--model", "m.model")
    assert code == 2 and "'shattered' (distribution acme-shattered 1.2) is broken: ModuleNotFoundError" in err


def test_options_of_plugins_are_read_by_the_type_of_their_default(data, run, install):
    install("rich", RICH)
    given = ["depth=3", "rate=2", "deep=on", "sizes=[4]", "order=down", "limit=7", "power=2.5"]
    code, _, err = run("fit", "cusum", "train.csv", "--target", "level", "--model", "m.model", "--plugin", "rich",
                       *(text for pair in given for text in ("--set", pair)))
    assert (code, err) == (0, "")
    seen = sys.modules["acme_rich"].seen[-1]
    assert seen == {"depth": 3, "rate": 2.0, "deep": True, "sizes": [4], "order": "down", "limit": 7, "power": 2.5}
    assert type(seen["rate"]) is float
    code, _, err = run("fit", "cusum", "train.csv", "--target", "level", "--model", "m.model", "--plugin", "rich", "--set", "sizes=4")
    assert code == 2 and "--set sizes=4: expected a list in JSON" in err


def test_check_runs_the_battery(folder, run):
    code, out, err = run("check", "prank")
    assert (code, err) == (0, "") and out.count("passed") > 5
    parts, *checks = out.splitlines()
    assert parts.split()[0] == "parts" and "outputs RankOutputs, features ThresholdFeatures" in parts
    assert all("passed" in line or "not applicable" in line for line in checks)


def test_check_fails_with_exit_code_1(folder, run, install):
    install("wrong", """
        from structperc import hookimpl
        from structperc.components import Loss
        problem = "cusum"
        class Generous(Loss):
            def value(self, gold, y, x=None):
                return 1.0
        @hookimpl
        def structperc_loss(context):
            return Generous()
    """)
    code, out, err = run("check", "wrong")
    assert code == 1 and "wrong" in err and "Traceback" not in err


def test_check_of_an_unknown_plugin(folder, run):
    code, _, err = run("check", "cusm")
    assert code == 2 and "Did you mean 'cusum'?" in err and one_line(err)


def test_new_writes_a_package(folder, run):
    code, out, err = run("new", "ranked-pairs", "--kind", "problem", "elsewhere")
    assert (code, err) == (0, "")
    path = Path(out.split(" is a plugin package")[0])
    assert (path / "pyproject.toml").is_file() and path.resolve().is_relative_to(folder / "elsewhere")
    assert f"pip install -e {path}" in out and "structperc check ranked-pairs" in out
    code, _, err = run("new", "ranked-pairs", "elsewhere")
    assert code == 2 and one_line(err)


def test_help_lists_problems_and_options(folder, run, install):
    install("rich", RICH)
    install("shattered", "import no_such_module_anywhere")
    assert "variant=structured" in run("help", "prank")[1] and "[structured | original" in run("help", "prank")[1]
    assert "CuSum Rank" in run("help", "cusum")[1] and "depth=2" in run("help", "rich")[1]
    assert "average=true" in run("help", "options")[1] and "loss_weight=1" in run("help", "cusum")[1]
    topics = run("help")[1]
    assert "cusum" in topics and "rich" in topics and "shattered" not in topics


def test_version(folder, run):
    import structperc

    assert run("--version") == (0, f"structperc {structperc.__version__}\n", "")


def test_options_described_are_those_of_the_engine():
    parameters = inspect.signature(Engine).parameters.values()
    declared = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY and p.name not in ("classes", "plugins")}
    assert {name: option.unset for name, option in ENGINE_OPTIONS.items()} == declared | {"preset": "recommended"}
    assert all(option.help for option in ENGINE_OPTIONS.values())
    assert len(describe_options(ENGINE_OPTIONS)) == len(ENGINE_OPTIONS)


@pytest.mark.parametrize(("text", "value"), [
    ("none", None), ("7", 7), ("0.5", 0.5), ("true", True), ("[[0,1],[2,0]]", [[0, 1], [2, 0]]), ("absolute", "absolute"), ("1e", "1e"),
])  # fmt: skip
def test_a_value_whose_default_is_none_is_guessed(text, value):
    read = read_value("loss", text, Option(None))
    assert read == value and type(read) is type(value)


def test_a_cost_matrix_is_taken_from_the_command_line(data, run):
    costs = "[[0,1,4],[2,0,1],[9,3,0]]"
    arguments = ("fit", "cusum", "train.csv", "--target", "level", "--model", "m.model", "--set", "loss_weight=1", "--set")
    assert run(*arguments, f"loss={costs}")[0] == 0
    same = Engine("cusum", loss=json.loads(costs), loss_weight=1.0).fit(data.drop(columns="level")[:60], data["level"][:60])
    assert np.array_equal(Engine.load("m.model").coef_, same.coef_)


def test_a_later_setting_wins():
    assert read_settings(["epochs=2", "epochs=3"], ["cusum"]) == {"epochs": 3}
    with pytest.raises(OptionError, match="expected key=value"):
        read_settings(["epochs"], ["cusum"])
