"""What `import structperc` brings along."""

import importlib.metadata
import pickle
import re
import runpy
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import structperc
from structperc.errors import DataError, MissingExtra, OptionError
from structperc.extras import require
from structperc.files.frames import NoRows
from structperc.fitting.weighing import NothingWeighs
from structperc.solvers.highs import OutOfTime
from structperc.solvers.integer_programs import Infeasible

PACKAGE = Path(structperc.__file__).parent
BIG = ("sklearn", "scipy", "pandas", "matplotlib", "tqdm")
BUNDLED = ("structperc_cusum", "structperc_prank", "structperc_multiclass")


def modules_after(code):
    """Names of the modules that a new interpreter has loaded after running some lines."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", f"{code}\nimport sys; print(*sys.modules)"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def of(modules, *packages):
    return [name for name in modules if name.split(".")[0] in packages]


def test_importing_brings_neither_plugins_nor_big_libraries():
    modules = modules_after("import structperc, structperc.components, structperc.errors, structperc.callbacks")
    assert "structperc.core.loop" in modules
    assert of(modules, *BUNDLED, *BIG) == []


def test_commands_are_listed_without_their_modules_and_declared_without_big_libraries():
    listed = modules_after("from structperc.cli.parser import build\nassert '\\n    predict ' in build().format_help()")
    declared = modules_after("from structperc.cli.parser import build\nassert all(build().commands.values())")
    assert of(listed, *BIG, "numpy") == [] and "structperc.cli.predicting" not in listed
    assert of(declared, *BIG) == [] and "structperc.cli.predicting" in declared


def test_training_brings_one_plugin_and_saving_none():
    modules = modules_after("""
import io
from structperc import Engine
engine = Engine("cusum", calibrate=False, random_state=0).fit([[0.0], [1.0], [2.0]], [1, 2, 3])
file = io.BytesIO()
engine.save(file)
file.seek(0)
Engine.load(file).partial_fit([[1.0]], [2]).predict([[1.0]]), engine.explain([1.0]), engine.citation(), repr(engine)
""")
    assert of(modules, *BUNDLED) == ["structperc_cusum"]
    assert of(modules, *BIG) == []


def test_commands_on_files_of_numbers_bring_no_big_libraries(tmp_path):
    (tmp_path / "visits.csv").write_text("age,bmi,level\n31,20.5,low\n40,21.25,low\n58,24,high\n62,31.5,high\n")
    modules = modules_after(f"""
import contextlib, io, os
from structperc.cli.running import main
os.chdir({str(tmp_path)!r})
with contextlib.redirect_stdout(io.StringIO()):
    for command in ("fit cusum FILE --target level --classes low,high --model m", "predict m FILE --probabilities --keep level",
                    "evaluate m FILE --target level", "explain m FILE", "fit multiclass FILE --target level --model m --stream",
                    "evaluate m FILE --target level"):
        assert main(command.replace("FILE", "visits.csv").split()) == 0
""")
    assert "numpy" in modules and of(modules, *BIG, "narwhals", "pyarrow") == []


def test_a_source_tree_without_compiled_modules_says_what_to_do(tmp_path):
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "structperc", ignore=ignored)
    done = subprocess.run([sys.executable, "-c", "import structperc"], capture_output=True, text=True, cwd=tmp_path,
                          env={"PYTHONPATH": str(tmp_path), "PATH": ""})
    assert done.returncode == 1
    assert re.search(r"ImportError: .* is a source tree of structperc whose compiled modules have not been built", done.stderr), done.stderr
    assert "pip install -e ." in done.stderr


def test_the_metadata_name_the_versions_of_python_that_are_built():
    metadata = importlib.metadata.metadata("structperc")
    named = {line.rpartition(" ")[2] for line in metadata.get_all("Classifier") if "Python :: 3." in line}
    built = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert named == {f"3.{minor}" for minor in re.findall(r"cp3(\d+)-\*", built)}


def test_links_of_the_index_page_leave_it(monkeypatch):
    root, description = Path(__file__).parents[1], importlib.metadata.metadata("structperc")["Description"]
    assert "# structperc" in description and not re.search(r"\]\((?!https://)", description)
    monkeypatch.chdir(root)
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]*)\)", runpy.run_path("setup.py")["index_page"]("https://host/structperc"))
    assert len(links) > 20
    for picture, link in links:
        path = link.removeprefix(f"https://host/structperc/{'raw' if picture else 'blob'}/")
        assert path != link and (root / path.partition("/")[2]).exists() or not (root / "benchmarks").exists(), link


def test_importing_prints_nothing():
    done = subprocess.run([sys.executable, "-W", "error", "-c", "import structperc"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_the_package_offers():
    assert structperc.__version__ == importlib.metadata.version("structperc")
    for name in structperc.__all__:
        assert getattr(structperc, name).__doc__
    include = Path(structperc.get_include())
    assert (include / "inner.h").is_file() and (PACKAGE / "core/component.pxd").is_file()
    assert (PACKAGE / "py.typed").is_file()


def test_errors_and_engines_are_shown_with_their_public_names():
    kinds = [kind for name in structperc.errors.__all__ if isinstance(kind := getattr(structperc.errors, name), type)]
    shown = "".join(traceback.format_exception_only(OptionError, OptionError("why")))

    assert {kind.__module__ for kind in kinds} == {"structperc.errors"} and shown == "structperc.errors.OptionError: why\n"
    assert pickle.loads(pickle.dumps(structperc.Engine)) is structperc.Engine and structperc.Engine.__module__ == "structperc"
    assert pickle.loads(pickle.dumps(OptionError("why"))).args == ("why",)


@pytest.mark.parametrize("kind", [NoRows, NothingWeighs, Infeasible, OutOfTime])
def test_a_private_kind_of_error_is_shown_as_the_public_one_and_sent_as_it_is(kind):
    again = pickle.loads(pickle.dumps(kind("why")))
    assert traceback.format_exception_only(kind, kind("why")) == ["structperc.errors.DataError: why\n"] and type(again) is kind
    assert str(again) == "why" and not issubclass(DataError, kind)


def test_no_kind_of_error_has_a_private_name():
    kinds, of_library = [structperc.errors.StructPercError], set()
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        of_library |= {kind.__name__} if kind.__module__.startswith("structperc.") else set()
    assert of_library - {"OfOption"} <= set(structperc.errors.__all__)
    for kind in (structperc.errors.UnusedOption, structperc.errors.ReplacedOption, structperc.errors.ConflictingOption):
        assert pickle.loads(pickle.dumps(kind("why", "C"))).option == "C"


def test_ctrl_c_within_the_import_of_a_library_is_not_a_missing_library(tmp_path, monkeypatch):
    (tmp_path / "half_there.py").write_text("try:\n    raise KeyboardInterrupt\nexcept BaseException:\n    raise ImportError('no array')\n")
    (tmp_path / "broken_there.py").write_text("raise ImportError('no array')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        require("half_there", "a test", "cli")
    with pytest.raises(MissingExtra, match=r"a test needs broken_there; install structperc\[cli\]"):
        require("broken_there", "a test", "cli")
