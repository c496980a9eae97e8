"""Tests of the architecture: imports go down and have no cycles, and plugins, examples and templates import only the public list."""

import importlib
import importlib.metadata
import inspect
import re
import sys
from pathlib import Path

import pytest
from counts import Contract, lines_by_kind, option_places
from counts import main as count_all
from layout import arrows_between, between_rooms, circles, floors, imports_of, main, room_of, sources, waits_between

import structperc
from structperc.fitting import plugins as registry

ROOT = Path(__file__).parents[1]
API = ROOT / "docs/api.md"
MODULES = sources(ROOT)

# From the ground up; rooms on one floor do not import each other.
FLOORS = (
    ("structperc.later", "structperc.version", "structperc.basics"),
    ("structperc.pictures", "structperc.pages", "structperc.errors", "structperc.extras"),
    ("structperc.core",),
    ("structperc.reading", "structperc.solvers", "structperc.pipelines"),
    ("structperc.metrics", "structperc.files"),
    ("structperc.fitting",),
    ("structperc.components", "structperc.plugin_tools"),
    ("structperc.engine",),
    ("structperc.inference", "structperc.counterfactuals", "structperc.problems"),
    ("structperc", "structperc.jax", "structperc.torch", "structperc.callbacks", "structperc.plotting", "structperc.streams",
     "structperc.crfsuite", "structperc.schedules"),
    ("structperc.distributed",),
    ("structperc.testing", "structperc.estimators"),
    ("plugins",),
    ("structperc.cli",),
    ("structperc.__main__",),
)
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}


@pytest.fixture(scope="module")
def files():
    """The arrows between files."""
    return arrows_between(MODULES)


def floor_of(room):
    return FLOOR_OF["plugins" if room.startswith("structperc_") else room]


def test_every_room_has_its_floor():
    rooms = {room_of(module) for module in MODULES}

    assert {room for room in rooms if not room.startswith("structperc_")} == set(FLOOR_OF) - {"plugins"}


def test_no_arrow_points_up(files):
    def beside(room, other):
        return room.startswith("structperc_") and other.startswith("structperc_")       # plugins may import plugins, without cycles

    rising = {(room, other) for room, reached in between_rooms(files).items() for other in reached
              if floor_of(other) >= floor_of(room) and not beside(room, other)}
    assert rising == set()


def test_nothing_imports_in_a_circle(files):
    assert circles(between_rooms(files)) == []
    assert circles(files) == []


def test_threads_that_begin_with_any_two_modules_do_not_wait_for_each_other():
    """A circle of waits is Python's `_DeadlockError`. Threads may begin with every module of structperc, as pickles do, and estimators."""
    declared = {entry.module for entry in importlib.metadata.entry_points(group="structperc.estimators")} & set(MODULES)
    entries = {module for module in MODULES if module.startswith("structperc.")} | declared

    assert circles(waits_between(MODULES, entries)) == []


def test_a_package_that_waits_for_its_module_is_noticed(tmp_path):
    def circles_of(package, module="", other=""):
        for name, text in {"plugins/structperc_a/__init__": package, "plugins/structperc_a/b": module, "structperc/c": other,
                           "structperc/__init__": ""}.items():
            path = tmp_path / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return circles(waits_between(sources(tmp_path), {"structperc.c"}))

    bound = "from structperc_a.b import x\n"
    assert circles_of(bound) == []
    assert circles_of(bound, other="from structperc_a.b import x\n") == [{"structperc_a", "structperc_a.b"}]
    assert circles_of(bound, other="from structperc_a import x\n") == []
    assert circles_of(f"def f():\n    {bound}", other=bound) == []
    assert circles_of(f"if TYPE_CHECKING:\n    {bound}", other=bound) == []


def test_the_first_line_of_a_package_lists_what_it_may_import(files):
    everywhere = {"structperc.later", "structperc.version", "structperc.extras", "structperc.errors"}
    rooms = between_rooms(files)
    lines = {room: path.read_text(encoding="utf-8").partition("\n")[0] for room in rooms
             if (path := ROOT / room.replace(".", "/") / "__init__.py").is_file() and room != "structperc"}
    imports = {room: sorted(other.removeprefix("structperc.") for other in rooms[room] - everywhere) for room in lines}
    right = {room: f"# May import {', '.join(names) or 'nothing'}." for room, names in imports.items()}
    right["structperc.cli"] = "# May import all rooms below."

    assert lines == right


def test_the_table_of_folders_goes_up_from_the_ground(files):
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    rows = text[text.index("| folder | content |"):text.index("Nothing in `structperc` imports a plugin")].splitlines()[2:]
    place = {name.replace("/", "."): number for number, row in enumerate(rows)
             for name in re.findall(r"`(structperc/\w+)(?:\.py)?`", row.split(" | ")[0])}
    rooms = {room: reached for room, reached in between_rooms(files).items() if room in FLOOR_OF and room.count(".")}

    assert set(place) - {"structperc.include"} == set(rooms) - {"structperc.__main__"}
    assert [(room, other) for room in place for other in rooms.get(room, ()) if place.get(other, 0) > place[room]] == []


def test_structperc_names_no_plugin(files):
    assert {other for module, reached in files.items() for other in reached
            if module.startswith("structperc.") and other.startswith("structperc_")} == set()


ENTRIES = importlib.metadata.entry_points(group="structperc")
WORDS = {"path", "table", "clusters", "segments", "ilp"}         # names of plugins that mean other things too


def named_plugins(path) -> set:
    """The plugins that a file names in its code, where texts have double quotes. Sentences for users have names in single ones."""
    code = re.sub(r'(?s)""".*?"""|#[^\n]*', "", path.read_text(encoding="utf-8"))
    used = re.findall(r'(?:[!=]= |\bin [(](?:"\S+", )*|problem=|plugins?=[([]?|Engine[(]|load[(])"([a-z-]+)"', code)
    return {*used, *(set(re.findall(r'"([a-z-]+)"', code)) - WORDS)} & {entry.name for entry in ENTRIES}


def test_nothing_below_estimators_knows_a_plugin_by_name(tmp_path):
    """Estimators, layers and commands are made for problems that they name. All else asks the plugins for what they declare."""
    top = {"structperc.torch", "structperc.crfsuite", "structperc.estimators", "structperc.cli"}
    below = [path for module, paths in MODULES.items() for path in paths if room_of(module) in FLOOR_OF and room_of(module) not in top]
    assert len(below) > 300 and {str(path): names for path in below if (names := named_plugins(path))} == {}
    file = tmp_path / "m.py"
    file.write_text('"""A "prank"."""\nif name in ("sequence", "segments"):  # "cusum"\n    Engine("table", kind="dual-kernel")\n')
    assert named_plugins(file) == {"sequence", "segments", "table", "dual-kernel"}


def above_fitting(path):
    """What a file imports from the floor of the engine or higher. Names of `structperc` count as their modules."""
    reached = [structperc.MODULE_OF.get(name, "structperc.version") if given.module == "structperc" else given.module
               for given in imports_of(path) for name in given.names or ("",) if given.module.split(".")[0] == "structperc"]
    return sorted({module for module in reached if floor_of(room_of(module)) >= FLOOR_OF["structperc.engine"]})


def test_of_a_plugin_only_its_estimators_reach_the_engine():
    declared = {entry.module for entry in importlib.metadata.entry_points(group="structperc.estimators")}
    reaching = {module: above for module, paths in MODULES.items() if module.startswith("structperc_")
                if (above := [other for path in paths for other in above_fitting(path)])}

    assert {module for module in reaching if module not in declared} == {"structperc_dual_kernel.nystroem"}, "to_primal makes an engine"
    assert reaching["structperc_parsing.estimators"] == ["structperc.engine.engine", "structperc.estimators.keeping",
                                                         "structperc.estimators.rankers"]


def test_circles_and_rising_arrows_would_be_noticed(files):
    house = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "c"}}

    assert circles(house) == [{"b", "c"}] and floors(house) == {"b": 1, "c": 1, "a": 2, "d": 3}
    assert "structperc.core.rows" in files["structperc.core.loop"]
    assert "structperc.core.features" in files["structperc_dual_kernel.expansion"]
    assert "structperc.reading.matrices" in files["structperc.fitting.model"], "from structperc.reading import matrices"


def from_the_end(text):
    """The lines of compiled code that index from the end although a directive excludes that."""
    if re.search(r"^# cython:.*wraparound=True", text, re.MULTILINE):
        return []
    code = re.sub(r'(?s:""".*?""")|#.*|"[^"\n]*"', "", text)
    return re.findall(r"^.*[\w\])]\[-\d+\].*$", code, re.MULTILINE)


def test_compiled_code_indexes_from_the_start():
    """With `wraparound=False` a negative index reaches the array as it is, and arrays of numpy 2.5 raise an IndexError."""
    compiled = [path for paths in MODULES.values() for path in paths if path.suffix in (".pyx", ".pxi")]

    assert len(compiled) > 50
    assert {str(path): lines for path in compiled if (lines := from_the_end(path.read_text(encoding="utf-8")))} == {}


def test_each_part_of_a_compiled_module_is_included_by_it():
    """`x.idea.pxi` is a part of x.pyx and of no other module, which has the imports."""
    parts = [path for paths in MODULES.values() for path in paths if path.suffix == ".pxi"]
    included = [path.with_name(name) for paths in MODULES.values() for path in paths if path.suffix == ".pyx"
                for name in re.findall(r'^include "(.*)"$', path.read_text(encoding="utf-8"), re.MULTILINE)]

    assert len(parts) > 20 and sorted(included) == sorted(parts)
    assert [path for path in parts if not path.with_name(f"{path.name.partition('.')[0]}.pyx").exists()] == []
    assert [path for path in parts if re.search(r"^(from|import|cimport) ", path.read_text(encoding="utf-8"), re.MULTILINE)] == []


def test_no_file_has_more_than_700_lines():
    """CONTRIBUTING has the number; long modules are divided by idea."""
    files = [path for folder in ("structperc", "plugins", "tests", "benchmarks", "examples") for path in (ROOT / folder).rglob("*")
             if path.suffix in (".py", ".pyx", ".pxd", ".pxi", ".h")]

    assert len(files) > 700
    assert {str(path): n for path in files if (n := path.read_text(encoding="utf-8").count("\n")) > 700} == {}


def test_an_index_from_the_end_is_noticed():
    text = 'def f(a):\n    """a[-1]"""\n    return a[-1]      # a[-2]\n'

    assert [line.strip() for line in from_the_end(text)] == ["return a[-1]"]
    assert from_the_end("# cython: boundscheck=True, wraparound=True\n" + text) == []


def test_the_script_prints_the_figures(capsys):
    main(ROOT)
    printed = capsys.readouterr().out

    assert re.search(r"arrows that do not go down 0, circles of rooms 0, circles of files 0", printed)
    assert re.search(r"floor 2: .*structperc.pictures", printed)
    with pytest.raises(SystemExit, match="expected the folder of a checkout"):
        main(ROOT / "structperc/core")


def test_an_option_stands_in_one_place_and_a_repetition_is_noticed(tmp_path):
    places = option_places(ROOT)

    assert {option: where for option, where in places.items() if len(where) != 1} == {} and len(places) <= 22

    (tmp_path / "plugins").mkdir()
    (tmp_path / "structperc/fitting").mkdir(parents=True)
    (tmp_path / "structperc/fitting/options.py").write_text("""class Speeds(Options):
    rate: float = option(1.0, "how fast")
    size: int = option(1, "how large")
""")
    (tmp_path / "structperc/ranker.py").write_text('class Ranker(Base):\n    rate: float = 2.0\n\nclass Base(Speeds):\n'
                                                   '    """Ranks.\n\n    Parameters\n    ----------\n    size, other : int\n    """\n')
    (tmp_path / "structperc/other.py").write_text("class Other:\n    rate: float = 2.0\n")
    assert option_places(tmp_path) == {"rate": ["Speeds:2", "Ranker:2"], "size": ["Speeds:3", "Base:4"]}


def test_the_counts_of_a_contract_are_those_of_its_class(tmp_path):
    (tmp_path / "part.pyx").write_text('''cdef class Part(Component):
    """A method = none."""
    heeds = False

    def scores(self, x):
        pass

    def _hidden(self):
        pass

    @property
    def size(self):
        return 1

    cdef int scores_c(self, Example x) noexcept nogil:
        return 0


def outside(x):
    pass
''', encoding="utf-8")
    (tmp_path / "part.pxd").write_text("cdef class Part(Component):\n    cdef readonly int width, height\n    cdef bint fast   # private\n"
                                       "    cdef double[::1] scratch\n", encoding="utf-8")
    contract = Contract(tmp_path, "Part", "part.pyx")

    assert contract.methods == {"scores"} and contract.compiled == {"scores_c"}
    assert contract.flags == {"heeds", "size", "width", "height", "fast"}


def test_each_line_is_of_one_kind(tmp_path):
    (tmp_path / "module.py").write_text('"""One.\n\nThree."""\n\nimport a\nfrom b import (\n    c,\n)\n# why\nx = 1\n', encoding="utf-8")

    assert lines_by_kind([tmp_path / "module.py"]) == {"code": 1, "imports": 4, "docstrings": 3, "comments": 1, "blank": 1}


def test_every_base_is_counted(capsys):
    count_all([ROOT])
    printed = capsys.readouterr().out

    assert not re.search(r"(?m): methods, flags, compiled +0", printed)
    assert int(re.search(r"options of an engine +(\d+)", printed)[1]) > 20


def private_names(path):
    """What a file imports of other libraries that these keep for themselves."""
    return [f"{given.module}: {name}" for given in imports_of(path) for name in given.names or ("",)
            if not given.module.startswith(("structperc", "_", "."))
            and re.search(r"(^|\.)_(?!_)", f"{given.module}.{name}")]


def test_no_private_names_of_other_libraries_are_imported(tmp_path):
    found = {str(path): names for paths in MODULES.values() for path in paths if (names := private_names(path))}
    (tmp_path / "module.py").write_text("from sklearn.utils import _safe_indexing\nimport scipy._lib\nfrom __future__ import annotations\n")

    assert found == {} and private_names(tmp_path / "module.py") == ["sklearn.utils: _safe_indexing", "scipy._lib: "]


# ---- the public list ----


def listed(title):
    """The first column of the table in a section of the page."""
    section = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", API.read_text(), re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE)


PUBLIC, DECLARED = set(listed("Python")), set(listed("Cython"))
NEEDED = {"structperc.jax": "jax", "structperc.torch": "torch"}       # by public modules that import them at once
CLIENTS = sorted(path for folder in ("plugins", "examples", "structperc/cli/templates") for path in (ROOT / folder).rglob("*")
                 if path.name.removesuffix(".txt").endswith((".py", ".pyx", ".pxd", ".pxi")))


def strangers(path):
    """The imports of a file from structperc or other packages of this repository that are not on the public list."""
    relative = path.relative_to(ROOT).parts
    own = relative[1] if relative[0] == "plugins" else None
    found = []
    for given in imports_of(path):
        package = given.module.split(".")[0]
        ours = package == "structperc" or package.startswith("structperc_") and (ROOT / "plugins" / package).is_dir()
        if package == own or not ours:
            continue
        allowed = DECLARED if given.compiled else PUBLIC
        names = {f"{given.module}.{name}" for name in given.names}
        if given.module not in allowed and not (names and names <= allowed):
            found.append(f"{'cimport' if given.compiled else 'import'} {given.module}: {', '.join(given.names)}")
    return found


def test_plugins_examples_and_templates_import_the_public_list_alone():
    assert {path: found for path in CLIENTS if (found := strangers(path))} == {}


def test_imports_beyond_the_list_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    folder = tmp_path / "plugins/structperc_mine"
    folder.mkdir(parents=True)
    (folder / "part.pyx").write_text("from structperc.core.loop cimport Loop\nfrom structperc.core.rows cimport Example\n"
                                     "from structperc_mine.other import x\n"
                                     "def f():\n    from structperc.basics.labels import (\n        a,\n        b)\n")
    (folder / "part.py").write_text("import structperc.fitting.run\nfrom structperc import Engine\nfrom structperc.files import conll\n")

    assert strangers(folder / "part.pyx") == ["cimport structperc.core.loop: Loop", "import structperc.basics.labels: a, b"]
    assert strangers(folder / "part.py") == ["import structperc.fitting.run: "]


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_module_is_there_and_documents_its_names(name):
    pytest.importorskip(NEEDED.get(name, "structperc"))
    module = importlib.import_module(name)
    names = getattr(module, "__all__", None) or [
        key for key, value in vars(module).items() if not key.startswith("_") and getattr(value, "__module__", None) == name]

    assert inspect.getdoc(module)
    for name in names:
        value = getattr(module, name)
        if callable(value) and not isinstance(value, str):
            assert inspect.getdoc(value), name


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_a_public_declaration_is_installed_beside_its_module(name):
    package, _, file = name.rpartition(".")

    assert Path(importlib.import_module(package).__file__).parent.joinpath(f"{file}.pxd").is_file()


def test_every_base_class_can_be_subclassed_in_python_and_in_cython():
    from structperc import components

    for kind in registry.COMPONENTS.values():
        assert getattr(components, kind.__name__) is kind
        assert not kind.__module__.startswith("structperc.core") or kind.__module__ in DECLARED, kind


def test_attributes_of_plugins_are_those_of_the_page():
    assert set(listed("Hooks and attributes of plugins")) == set(registry.ATTRIBUTES)
    documented = re.findall(r"^    (\w+) {2,}\S", (ROOT / "structperc/fitting/hookspecs.py").read_text(), re.MULTILINE)
    assert documented == list(registry.ATTRIBUTES)
