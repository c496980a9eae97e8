"""Tests of installed third-party plugins: in pure Python, for one hot spot, in Cython, and freshly generated ones."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from loading import module_at
from plain import Engine

from structperc.cli import new as scaffold
from structperc.errors import DataError, OptionError
from structperc.fitting.builds import own_fingerprint

EXAMPLES = Path(__file__).parents[1] / "examples"
PACKAGES = ("intervals", "asymmetric_loss", "cython_plugin", "dependency_parser", "arow", "label_sets")
STRANGERS = {
    "intervals": "structperc-intervals",
    "asymmetric-loss": "structperc-asymmetric-loss",
    "label-sets": "structperc-label-sets",
    "cython-ranks": "structperc-cython-ranks",
    "dependency-parser": "structperc-dependency-parser",
    "arow": "structperc-arow",
    "largest-rows": "structperc-largest-rows",
}
OTHER_KINDS = [kind for kind in scaffold.KINDS if kind != "problem"]        # "largest-rows" is of the kind "problem"
BUILT_BY_PIP = ("cython_plugin",)
BUILD = """
import os, sys
from setuptools import build_meta
wheels, *folders = sys.argv[1:]
for folder in folders:
    os.chdir(folder)
    build_meta.build_wheel(wheels)
"""
GENERATED = ["structperc-largest-rows", *(f"structperc-new-{kind}" for kind in OTHER_KINDS)]


def run(site, *arguments, folder=None):
    """Runs Python with the packages installed in `site`; returns its output. Compilers run without optimisation."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "CFLAGS": "-O0 -g0"}
    done = subprocess.run([sys.executable, *map(str, arguments)], env=environment, cwd=folder or site, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def checkout(tmp_path_factory):
    """The sources of the example packages and of generated packages."""
    folder = tmp_path_factory.mktemp("strangers")
    for package in PACKAGES:
        shutil.copytree(EXAMPLES / package, folder / package, ignore=shutil.ignore_patterns("build", "*.egg-info", "*.c", "*.so"))
    scaffold.new("largest-rows", folder, "problem")
    for kind in OTHER_KINDS:
        scaffold.new(f"new-{kind}", folder, kind)
    return folder


@pytest.fixture(scope="session")
def site(compiler, checkout, tmp_path_factory):
    """A folder with all packages installed: one from its sources, the others from wheels that one process builds."""
    site, wheels = (tmp_path_factory.mktemp(name) for name in ("site", "wheels"))
    sources = [checkout / package for package in BUILT_BY_PIP]
    others = [checkout / package for package in (*PACKAGES, *GENERATED) if package not in BUILT_BY_PIP]
    run(site, "-c", BUILD, wheels, *others)
    run(site, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", "--no-build-isolation", "--no-deps",
        "--no-compile", "--target", site, *sources, *wheels.glob("*.whl"), folder=checkout)
    return site


def test_strangers_are_found_and_listed(site):
    code = """
import json
from structperc.fitting import plugins as registry
print(json.dumps({p.name: [p.distribution, p.broken] for p in registry.installed()}))
"""
    listed = json.loads(run(site, "-c", code))

    for name, distribution in {**STRANGERS, "cusum": "structperc"}.items():
        assert listed[name] == [distribution, ""]


@pytest.fixture(scope="session")
def batteries(site):
    """The outcomes of `check_problem` for each plugin, or the message of its error."""
    return json.loads(run(site, "-c", f"""
import json
from structperc.testing import check_problem

def outcomes(name):
    try:
        return dict(check_problem(name))
    except AssertionError as error:
        return str(error)

print(json.dumps({{name: outcomes(name) for name in {list(STRANGERS)}}}))
"""))


@pytest.mark.parametrize("name", STRANGERS)
def test_strangers_pass_the_whole_battery(batteries, name):
    assert isinstance(batteries[name], dict), batteries[name]
    idle = {check for check, outcome in batteries[name].items() if outcome != "passed"}
    assert idle == ({"separable_set_is_learned", "primal_equals_dual"} if name == "arow" else set())     # it transforms steps of "pa2"


def test_intervals_are_learned_from_plans_of_other_days(site, checkout):
    printed = run(site, checkout / "intervals" / "plan_a_day.py")

    assert int(re.search(r"(\d+)% of 100 new days", printed)[1]) >= 90


@pytest.mark.parametrize(
    ("chosen", "why"),
    [([0, 1], "overlap"), ([7], "atom 7"), ([-1], "atom -1"), ([2, 2], "twice"), (["first"], "expected a collection of atom numbers")],
)
def test_what_is_no_choice_of_disjoint_intervals_is_refused(chosen, why):
    intervals = module_at("examples/intervals/structperc_intervals.py")
    days = [np.array([[0.0, 1.0], [2.0, 3.0]]), np.array([[0.0, 2.0], [1.0, 3.0], [3.0, 4.0]])]

    engine = Engine(intervals).fit(days, [(0, 1), [2]])
    before = engine.coef_
    for learn in (engine.fit, engine.partial_fit):
        with pytest.raises(DataError, match=rf"y\[1\].*{why}"):
            learn(days, [[0], chosen])
        assert np.array_equal(engine.coef_, before)


def test_label_sets_are_learned_with_the_weights_of_their_pairs(site, checkout):
    printed = run(site, checkout / "label_sets" / "tag_notes.py")

    assert int(re.search(r"(\d+)% of 1000 new notes", printed)[1]) >= 90


def test_a_label_that_no_set_had_is_refused():
    label_sets = module_at("examples/label_sets/structperc_label_sets.py")

    engine = Engine(label_sets).fit(np.eye(3), [["a"], ["b", "a"], []])
    with pytest.raises(DataError, match=r"y has the labels \['c'\]; expected sets of the labels \['a', 'b'\]"):
        engine.partial_fit(np.eye(3), [["a"], ["c"], []])
    assert engine.pair_scores_.shape == (2, 2)


def test_an_asymmetric_loss_changes_what_cusum_predicts(site, checkout):
    printed = run(site, checkout / "asymmetric_loss" / "rate_carefully.py")
    too_high = {kind: int(share) for kind, share in re.findall(r"(\w+) loss: (\d+)% rated too high", printed)}

    assert too_high["asymmetric"] <= too_high["absolute"] - 5


def test_generated_plugins_pass_their_own_tests(site, checkout):
    printed = run(site, "-m", "pytest", "-q", "-p", "no:cacheprovider", *GENERATED, folder=checkout)

    assert f"{2 * len(GENERATED)} passed" in printed


def test_plugins_are_compiled_again_for_another_declaration_and_for_nothing_else(tmp_path, monkeypatch):
    """A patch, other bodies and comments leave the fingerprint of compiled plugins as it is. Each public .pxd and each header change it."""
    root = EXAMPLES.parent
    section = (root / "docs/api.md").read_text().partition("\n## Cython")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE)
    declared = [f"{'plugins/' * name.startswith('structperc_')}{name.replace('.', '/')}.pxd" for name in listed]
    headers = [str(path.relative_to(root)) for folder in ("structperc/include", "plugins/structperc_kernels")
               for path in sorted((root / folder).glob("*.h")) if path.name != "abi.h"]
    for path in [path.relative_to(root) for folder in ("structperc", "plugins") for path in (root / folder).rglob("*.[ph]*")]:
        if path.suffix in (".pxd", ".h") or path.name == "cores.py":
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / path, tmp_path / path)
    monkeypatch.chdir(tmp_path)
    fingerprint = runpy.run_path(str(root / "setup.py"))["fingerprint"]
    same = fingerprint()
    assert own_fingerprint() == f"structperc-abi-{same}".encode()

    (tmp_path / "structperc/version.py").write_text('__version__ = "0.1.1"\n')
    (tmp_path / "structperc/core/weights.pyx").write_text("cdef class Weights:\n    pass\n")
    for path, comment in ((declared[0], "\n# a comment\n"), (headers[0], "\n/* a comment */\n")):
        with (tmp_path / path).open("a") as file:
            file.write(comment)
    assert fingerprint() == same

    for path in map(tmp_path.joinpath, declared + headers):
        text = path.read_text()
        path.write_text(text + "\nint one_more;\n")
        assert fingerprint() != same, path
        path.write_text(text)


def test_a_compiled_plugin_loads_with_the_next_patch(site):
    printed = run(site, "-c", """
import structperc, structperc.version
structperc.__version__ = structperc.version.__version__ = "0.1.99"
print(structperc.Engine("cusum", plugins=["cython-ranks"]).fit([[0.0], [1.0]], [1, 2]).parts_.argmax)
""")
    assert "structperc_cython_ranks.ScanArgmax" in printed


def test_a_plugin_of_another_structperc_is_refused(site, tmp_path):
    """The bytes of the compiled module, with another fingerprint of the classes that it was compiled against."""
    for path in site.glob("structperc_cython_ranks*"):
        (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / path.name)
    module, = tmp_path.glob("structperc_cython_ranks*.*d" if sys.platform == "win32" else "structperc_cython_ranks*.so")
    text = module.read_bytes()
    module.write_bytes(re.sub(rb"structperc-abi-[0-9a-f]{16}", b"structperc-abi-0123456789abcdef", text))
    assert own_fingerprint() in text

    printed = run(tmp_path, "-c", """
from structperc import Engine
from structperc.errors import PluginError
try:
    Engine("cusum", plugins=["cython-ranks"]).fit([[0.0], [1.0]], [1, 2])
except PluginError as error:
    print(error)
""")
    assert re.match(r"plugin 'cython-ranks' \(distribution structperc-cython-ranks \S+\) is broken: structperc_cython_ranks\S+ "
                    r"was compiled against another structperc than the installed", printed)


def test_one_loop_drives_python_cython_and_bundled_parts_to_the_same_model(site):
    code = """
import json
import numpy as np
from structperc import Engine
from structperc.components import Argmax, Loss

class PythonArgmax(Argmax):
    def argmax(self, scores, x):
        return 1 + int(np.argmax(np.append(0, np.cumsum(scores))))

class PythonLoss(Loss):
    def value(self, gold, y, x=None):
        return abs(gold - y)

random = np.random.default_rng(0)
X, y = random.integers(-3, 4, size=(300, 4)).astype(float), random.integers(1, 6, 300)
found, used = {}, {}
for name, plugins in {"bundled": [], "cython": ["cython-ranks"], "python": [PythonArgmax(), PythonLoss()]}.items():
    engine = Engine("cusum", preset="paper", loss_weight=1.0, epochs=3, plugins=plugins).fit(X, y, record_predictions=True)
    used[name] = [type(engine.parts_.argmax).__name__, type(engine.parts_.loss).__name__]
    found[name] = [engine.coef_.tolist(), engine.mistakes_, engine.cumulative_loss_, engine.predict(X).tolist(),
                   engine.online_predictions_.tolist()]
print(json.dumps([found, used]))
"""
    found, used = json.loads(run(site, "-c", code))

    assert used == {"bundled": ["PrefixArgmax", "AbsoluteLoss"], "cython": ["ScanArgmax", "DistanceLoss"],
                    "python": ["PythonArgmax", "PythonLoss"]}

    assert found["cython"] == found["bundled"] == found["python"]
    assert 0 < sum(found["bundled"][1]) < 900


def test_the_examples_are_short():
    lines = {module.stem: len(module.read_text().splitlines()) for module in EXAMPLES.glob("*/structperc_*.py")}

    assert lines["structperc_intervals"] <= 60
    assert len([line for line in (EXAMPLES / "label_sets/structperc_label_sets.py").read_text().splitlines() if line]) <= 40
    assert lines["structperc_asymmetric_loss"] <= 20


# ---- structperc new ----


@pytest.mark.parametrize("name", ["Rows", "two words", "1st", "a--b", "-a", "a_b", "", None, "../rows"])
def test_names_that_no_plugin_can_have_are_refused(tmp_path, name):
    with pytest.raises(OptionError, match="cannot name a plugin; expected lower-case letters"):
        scaffold.new(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_is_refused(tmp_path):
    with pytest.raises(OptionError, match="there is a plugin 'cusum' installed already"):
        scaffold.new("cusum", tmp_path)


def test_an_existing_folder_is_left_alone(tmp_path):
    (tmp_path / "structperc-rows").mkdir()

    with pytest.raises(OptionError, match="exists already; choose another name or folder"):
        scaffold.new("rows", tmp_path)
    assert list((tmp_path / "structperc-rows").iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")

    with pytest.raises(OptionError, match="structperc-rows' cannot be written: "):
        scaffold.new("rows", tmp_path / "file")


def test_a_kind_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(OptionError, match="kind='solver'; expected one of problem, loss, update, weights, features, reader, cython"):
        scaffold.new("rows", tmp_path, "solver")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", scaffold.KINDS)
def test_a_new_plugin_says_what_it_is(tmp_path, kind):
    path = scaffold.new("two-words", tmp_path, kind)

    source = "structperc_two_words.pyx" if kind == "cython" else "structperc_two_words.py"
    names = {"README.md", "pyproject.toml", source, "test_structperc_two_words.py"} | ({"setup.py"} if kind == "cython" else set())
    assert {file.name for file in path.iterdir()} == names
    assert all("@" not in file.read_text().replace("@hookimpl", "") for file in path.iterdir())
    assert (path / source).read_text().startswith('"""two-words: ')
    assert "structperc check two-words" in (path / "README.md").read_text()


def test_a_new_plugin_has_everything_a_package_needs(tmp_path):
    path = scaffold.new("two-words", tmp_path / "made" / "on the way")

    assert path == tmp_path / "made" / "on the way" / "structperc-two-words"
    names = sorted(file.name for file in path.iterdir())
    assert names == ["README.md", "pyproject.toml", "structperc_two_words.py", "test_structperc_two_words.py"]
    assert 'two-words = "structperc_two_words"' in (path / "pyproject.toml").read_text()
    for file in path.iterdir():
        assert not re.search(r"\{\w+\}\}|\{\{|\{name\}|\{module\}", file.read_text())
