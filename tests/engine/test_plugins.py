"""Plugins are found and ordered. A faulty plugin raises an error that names the plugin, its origin and the hook."""

import contextlib
import copy
import functools
import importlib
import itertools
import pickle
import re
import runpy
import subprocess
import sys
import sysconfig
import types
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np
import pluggy
import pytest
import structperc_cusum
import structperc_multiclass
import structperc_prank
from plain import Engine
from reference.samples import data

from structperc import Option, hookimpl
from structperc.components import (
    AbsoluteLoss,
    BlockFeatures,
    Component,
    PrefixArgmax,
    PrimalWeights,
    RankOutputs,
    ZeroOneLoss,
)
from structperc.errors import DataError, OptionError, PluginError
from structperc.fitting import plugins as registry
from structperc.fitting.builds import check_build, own_fingerprint

X, Y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), [1, 2, 3]

HEADER = "from structperc import Option, hookimpl\nfrom structperc.components import *\n"
LOSS = "def structperc_loss(context):\n    return ZeroOneLoss()\n"
WORKING = HEADER + "@hookimpl\n" + LOSS


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a module as a distribution with one entry point, until the test ends."""
    monkeypatch.syspath_prepend(tmp_path)
    modules = []

    def install(name, source, distribution=None, target=""):
        distribution = distribution or f"{name}-project"
        module = f"stranger_{distribution.replace('-', '_')}"
        modules.append(module)
        (tmp_path / f"{module}.py").write_text(source)
        information = tmp_path / f"{distribution.replace('-', '_')}-2.5.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.5\n")
        (information / "entry_points.txt").write_text(f"[structperc]\n{name} = {module}{target}\n")
        importlib.invalidate_caches()
        registry.discover(refresh=True)

    yield install
    monkeypatch.undo()
    for module in modules:
        sys.modules.pop(module, None)
    importlib.invalidate_caches()
    registry.discover(refresh=True)


def listed(name):
    return next(plugin for plugin in registry.installed() if plugin.name == name)


# ---- finding ----


def test_bundled_plugins_are_found_by_entry_point_with_their_distribution():
    cusum = listed("cusum")

    assert (cusum.distribution, cusum.broken) == ("structperc", "")
    assert repr(cusum) == f"Plugin(name='cusum', plugin={cusum.plugin!r}, distribution='structperc', version={cusum.version!r}, broken='')"
    assert cusum.version and "CuSum" in cusum.summary and cusum.hooks == ("structperc_outputs", "structperc_features", "structperc_argmax")


def test_a_strangers_plugin_is_found_the_same_way(install):
    install("stranger", WORKING)

    assert (listed("stranger").distribution, listed("stranger").version, listed("stranger").broken) == ("stranger-project", "2.5", "")
    engine = Engine("cusum", plugins=["stranger"], epochs=3).fit(*data())
    assert engine.cumulative_loss_ == sum(engine.mistakes_) < Engine("cusum", epochs=3).fit(*data()).cumulative_loss_


def test_a_plugin_installed_meanwhile_is_found(install, monkeypatch):
    assert "latecomer" not in registry.discover()
    with monkeypatch.context() as patch:
        patch.setattr(registry, "discover", lambda refresh: None)
        install("latecomer", WORKING)

    assert Engine("cusum", plugins=["latecomer"]).fit(X, Y).mistakes_


def test_a_broken_plugin_that_was_repaired_is_loaded(install, tmp_path):
    install("fragile", "raise RuntimeError('not yet')")
    with pytest.raises(PluginError, match="fragile.* is broken: RuntimeError: not yet"):
        Engine("cusum", plugins=["fragile"])
    (tmp_path / "stranger_fragile_project.py").write_text(WORKING)
    importlib.invalidate_caches()

    assert Engine("cusum", plugins=["fragile"]).fit(X, Y).mistakes_


@pytest.mark.parametrize("target", [":Part", ":part", ":Plugin", ":plugin"])
def test_an_entry_point_may_name_a_component_a_plugin_or_their_class(install, target):
    install("stranger", HEADER + """
class Part(ZeroOneLoss):
    pass

class Plugin:
    @hookimpl
    def structperc_loss(self, context):
        return Part()

part, plugin = Part(), Plugin()
""", target=target)

    engine = Engine("cusum", plugins=["stranger"]).fit(X, Y)
    assert engine.cumulative_loss_ == engine.mistakes_[0]


def test_importing_structperc_loads_no_plugin_and_no_big_library():
    code = "import sys, structperc; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert "structperc" in loaded
    assert [module for module in loaded if module.startswith(("structperc_", "sklearn", "pandas", "matplotlib", "scipy"))] == []


# ---- broken plugins ----


BROKEN = {
    "it fails on import": ("import a_module_that_nobody_has", "", "ModuleNotFoundError: No module named 'a_module_that_nobody_has'"),
    "it stops the program": ("import sys; sys.exit('no licence')", "", "SystemExit: no licence"),
    "it is not where it should be": ("", ":Nowhere", "AttributeError: .*Nowhere"),
    "a hook is misspelt": (WORKING.replace("_loss", "_argmx"), "",
                           "has a method structperc_argmx, but there is no such hook; did you mean structperc_argmax"),
    "a hook is unmarked": (HEADER + LOSS, "", "has a method structperc_loss without the marker @structperc.hookimpl"),
    "a hook has a wrong argument": (WORKING.replace("(context)", "(tsk)"), "", r"structperc_loss(.|\n)*tsk"),
    "its class cannot be made": (HEADER + "class Part(Loss):\n    def __init__(self, weight):\n        pass", ":Part",
                                 "TypeError: .*weight"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_stops_no_other_and_is_listed_with_its_reason(install, case):
    source, target, reason = BROKEN[case]
    install("broken", source, target=target)
    install("working", WORKING)

    Engine("cusum", plugins=["working"]).fit(X, Y)
    plugins = {plugin.name: plugin for plugin in registry.installed()}
    assert {name for name, plugin in plugins.items() if plugin.broken} == {"broken"}
    assert plugins["broken"].distribution == "broken-project"
    assert re.search(reason, plugins["broken"].broken)


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_named_with_distribution_and_reason_when_asked_for(install, case):
    source, target, reason = BROKEN[case]
    install("broken", source, target=target)

    with pytest.raises(PluginError, match=r"plugin 'broken' \(distribution broken-project 2\.5\)") as caught:
        Engine("cusum", plugins=["broken"])
    assert re.search(reason, str(caught.value))


OLD = b"\x7fELF .. structperc-abi-0123456789abcdef\0 .."


def test_a_plugin_compiled_against_another_structperc_is_refused_before_it_is_imported(install, tmp_path):
    install("old", "import sys\nraise SystemExit('imported')")
    (tmp_path / "stranger_old_project.py").rename(tmp_path / f"stranger_old_project{EXTENSION_SUFFIXES[0]}").write_bytes(OLD)
    importlib.invalidate_caches()

    with pytest.raises(PluginError, match=r"plugin 'old' \(distribution old-project 2.5\) is broken: stranger_old_project\S+ was compiled "
                                          r"against another structperc than the installed .*; compile it again: pip install"):
        Engine("cusum", plugins=["old"])
    assert "compiled against another" in listed("old").broken


def test_every_compiled_module_of_a_package_must_fit(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "stranger_package" / "inner"
    folder.mkdir(parents=True)
    for package in (folder.parent, folder):
        (package / "__init__.py").write_text(WORKING)
    for number, text in enumerate((b"", b"no part", own_fingerprint())):
        (folder / f"fast{number}{EXTENSION_SUFFIXES[-1]}").write_bytes(text)
    module = importlib.import_module("stranger_package")
    try:
        check_build("stranger_package")
        check_build.cache_clear()
        (folder / f"slow{EXTENSION_SUFFIXES[-1]}").write_bytes(OLD)
        with pytest.raises(PluginError, match=r"slow\S+ was compiled against another structperc"):
            Engine("cusum", plugins=[module])
    finally:
        del sys.modules["stranger_package"]
        check_build.cache_clear()


def test_compiled_parts_contain_the_fingerprint_of_their_classes():
    for kind in (BlockFeatures, structperc_prank.OriginalUpdate):
        assert own_fingerprint() in Path(sys.modules[kind.__module__].__file__).read_bytes()


def test_the_fingerprint_covers_declarations_and_headers(tmp_path, monkeypatch):
    pytest.importorskip("Cython")
    root = Path(__file__).parents[2]
    monkeypatch.chdir(root)
    fingerprint = runpy.run_path("setup.py")["fingerprint"]
    for folder in ("structperc/basics", "structperc/core", "structperc/include", "structperc/solvers", "plugins/structperc_kernels"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)

    def changed(file, *texts):
        found = [(Path("structperc", file).write_text(text), fingerprint())[1] for text in texts]
        return [one != other for one, other in itertools.pairwise(found)]

    Path("structperc/include/inner.h").write_text('#include "outer.h"\n')
    assert changed("core/part.pxd", 'cdef extern from "inner.h" nogil:\n', '# a\ncdef extern from "inner.h":\n') == [True]
    for header in ("include/inner.h", "include/outer.h"):
        text = '#include "outer.h"\ntypedef struct {int a; int b;} blocks;\n'
        assert changed(header, text, f"/* why */ {text}", f"{text}// c\n", text.replace("a", "c")) == [False, False, True]
    assert changed("include/other.h", "int a;", "int b;") == [True]
    assert changed("include/abi.h", "int a;", "int b;") == [False]          # it holds the fingerprint


def test_a_build_removes_what_sources_at_other_places_have_left(tmp_path, monkeypatch):
    pytest.importorskip("Cython")
    monkeypatch.chdir(Path(__file__).parents[2])
    setup = runpy.run_path("setup.py")
    monkeypatch.chdir(tmp_path)
    suffix, translated = sysconfig.get_config_var("EXT_SUFFIX"), setup["TRANSLATED"]
    left = [f"structperc/old{suffix}", f"lib/structperc_own/new{suffix}", f"{translated}/structperc/old.h"]
    kept = [*(f"structperc/{name}" for name in (f"new{suffix}", "new.pyx", f"core/_cyutility{suffix}", "new.h")),
            f"{translated}/structperc/new.h", "plugins/structperc_own/old.pyx",
            *(f"lib/structperc{name}{suffix}" for name in ("/new", "/core/_cyutility", "_own/old"))]
    for path in map(Path, (*left, *kept)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    setup["forget_moved"]("lib")

    assert [path for path in (*left, *kept) if Path(path).exists()] == kept


def test_two_distributions_with_one_name_are_both_named(install):
    install("twice", WORKING, distribution="first-project")
    install("twice", WORKING, distribution="second-project")

    with pytest.raises(PluginError, match="plugin 'twice' is provided by (first|second)-project and (first|second)-project; uninstall"):
        Engine("cusum", plugins=["twice"])


def test_an_unknown_plugin_is_answered_with_the_nearest_name():
    with pytest.raises(PluginError, match="there is no plugin 'cusm'. Did you mean 'cusum'\\? Installed: .*cusum.*prank"):
        Engine("cusm")
    with pytest.raises(PluginError, match="there is no plugin 'zzz'. Installed: "):
        Engine("cusum", plugins=["zzz"])


# ---- plugin objects ----


def plugin(hook, function, name="mine", marker=True, **attributes):
    """A plugin object with one hook."""
    return type("Plugin", (), {"name": name, hook: hookimpl(function) if marker else function, **attributes})()


def test_a_misspelt_hook_is_an_error_with_the_right_name():
    with pytest.raises(PluginError, match="'mine' has a method structperc_los, but there is no such hook; did you mean structperc_loss"):
        Engine("cusum", plugins=[plugin("structperc_los", lambda self, context: None)])


@pytest.mark.parametrize("name", ["options", "losses", "sample"])
def test_an_attribute_that_is_written_as_a_hook_is_an_error_with_the_right_name(name):
    plugin = type("P", (), {f"structperc_{name}": hookimpl(lambda self: {})})()
    with pytest.raises(PluginError, match=f"has a method structperc_{name}, but there is no such hook; write {name} = ... in the plugin"):
        Engine("cusum", plugins=[plugin])


def test_an_unmarked_hook_is_an_error():
    with pytest.raises(PluginError, match="plugin 'mine' has a method structperc_loss without the marker @structperc.hookimpl; add it"):
        Engine("cusum", plugins=[plugin("structperc_loss", lambda self, context: None, marker=False)])


def test_a_wrong_argument_name_is_an_error():
    with pytest.raises(PluginError, match=r"plugin 'mine' cannot be registered: structperc_loss\(problem\) has an argument 'problem', "
                                          r"but the hook is structperc_loss\(context\); rename it"):
        Engine("cusum", plugins=[plugin("structperc_loss", lambda self, problem: None)])


def test_a_hook_may_leave_out_its_arguments():
    engine = Engine("cusum", plugins=[plugin("structperc_loss", lambda self: ZeroOneLoss())]).fit(X, Y)

    assert type(engine.parts_.loss) is ZeroOneLoss


# ---- compiled hooks ----


class Compiled:
    """A callable that is not a Python function, like the functions of a Cython module."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *arguments):
        return self.function(*arguments)


class Untold(Compiled):
    """A callable without a readable signature."""

    @property
    def __signature__(self):
        raise ValueError("no signature found")


def module(**attributes):
    made = types.ModuleType("made_for_a_test")
    vars(made).update(attributes)
    return made


@pytest.mark.parametrize("kind", [Compiled, Untold, functools.partial])
def test_a_compiled_hook_is_never_ignored(kind):
    records = []
    made = module(structperc_loss=hookimpl(kind(lambda context: ZeroOneLoss())),
                  structperc_epoch_end=hookimpl(kind(lambda engine, record: records.append((engine, record.epoch)))))

    engine = Engine("cusum", plugins=[made], epochs=2).fit(*data())
    assert type(engine.parts_.loss) is ZeroOneLoss
    assert records == [(engine, 1), (engine, 2)]


def test_a_hook_that_pluggy_would_drop_is_an_error(monkeypatch):
    def parse(self, plugin, name):
        return None if name == "structperc_loss" else getattr(getattr(plugin, name), "structperc_impl", None)

    monkeypatch.setattr(pluggy.PluginManager, "parse_hookimpl_opts", parse)

    with pytest.raises(PluginError, match="plugin '.*' .*marks structperc_loss with @hookimpl, but pluggy .* does not call it"):
        Engine("cusum", plugins=[plugin("structperc_loss", lambda self, context: ZeroOneLoss())])


def test_a_marked_method_may_have_another_name_than_its_hook():
    mine = plugin("a_loss", None, marker=False)
    type(mine).a_loss = hookimpl(lambda self, context: ZeroOneLoss(), specname="structperc_loss")

    assert type(Engine("cusum", plugins=[mine]).fit(X, Y).parts_.loss) is ZeroOneLoss


def test_a_marked_method_that_is_no_hook_is_an_error():
    with pytest.raises(PluginError, match="plugin 'mine' marks los with @hookimpl, but there is no hook los; did you mean structperc_loss"):
        Engine("cusum", plugins=[plugin("los", lambda self, context: None)])


def test_no_other_attribute_of_a_plugin_is_evaluated():
    class Careful:
        name = "careful"
        size = property(lambda self: 1 / 0)

        @hookimpl
        def structperc_loss(self, context):
            return ZeroOneLoss()

    assert type(Engine("cusum", plugins=[Careful()]).fit(X, Y).parts_.loss) is ZeroOneLoss


@pytest.mark.parametrize("answer", ["loss", None, KeyError("out of order")])
def test_a_hook_is_asked_once_also_where_its_answer_is_wrong(answer):
    asked = []

    def answers(self, context):
        asked.append(context)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with pytest.raises(PluginError) if answer else contextlib.nullcontext():
        Engine("cusum", plugins=[plugin("structperc_loss", answers)]).fit(X, Y)
    assert len(asked) == 1


# ---- declarations of a plugin ----


def test_unknown_names_are_answered_with_those_that_the_plugins_declare():
    mine = plugin("structperc_loss", lambda self, context: None, losses=("edges",), updates=["mira"])

    with pytest.raises(PluginError, match="loss='edge' is unknown to the plugins cusum, mine. Did you mean 'edges'\\? They know .*edges"):
        Engine("cusum", plugins=[mine], loss="edge").fit(X, Y)
    with pytest.raises(PluginError, match="update='mirra' is unknown .* Did you mean 'mira'\\? They know perceptron, .*mira"):
        Engine("cusum", plugins=[mine], update="mirra").fit(X, Y)
    slow = plugin("structperc_trainer", lambda self, context: None, trainers=("annealed",))
    with pytest.raises(PluginError, match="is unknown .* 'annealed'\\? They know online, until-level, bounded-sum, annealed"):
        Engine("cusum", plugins=[slow], trainer="aneal").fit(X, Y)


IMPOSSIBLE = {
    "options": [("size", 3), "a dict from names to structperc.Option"],
    "losses": ["edges", "a tuple or list of texts"],
    "updates": [(1, 2), "a tuple or list of texts"],
    "citation": [["@article"], "a text, BibTeX"],
    "sample": [[[1.0]], r"a function sample\(random, n_examples\)"],
    "check_options": ["classes", "a dict of engine options"],
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_attributes_are_refused(name):
    value, expected = IMPOSSIBLE[name]

    with pytest.raises(PluginError, match=f"plugin 'mine' has {name} = .*; expected {expected}"):
        Engine("cusum", plugins=[plugin("structperc_loss", lambda self, context: None, **{name: value})])


def test_options_that_could_never_be_set_are_refused():
    for name, why in {"C": "an option of the engine itself. Hooks read it as context.C", "problem": "an option of the engine itself",
                      "two words": "expected a Python name", "lambda": "expected a Python name"}.items():
        with pytest.raises(PluginError, match=f"plugin 'mine' declares an option '{name}'.*{why}"):
            Engine("cusum", plugins=[plugin("structperc_loss", lambda self, context: None, options={name: Option(1)})])
    with pytest.raises(PluginError, match="expected a dict from names to structperc.Option"):
        Engine("cusum", plugins=[plugin("structperc_loss", lambda self, context: None, options={"size": 3})])


def test_two_plugins_cannot_take_one_option_but_may_share_it():
    def sized(name, option):
        return plugin("structperc_loss", lambda self, context: None, name=name, options={"size": option})

    with pytest.raises(PluginError, match="the option 'size' is declared by plugin 'first' and by plugin 'second', so one value would"):
        Engine("cusum", plugins=[sized("first", Option(1)), sized("second", Option(1))])
    shared = Option(1)
    assert Engine("cusum", plugins=[sized("first", shared), sized("second", shared)], size=5).plugin_options == {"size": 5}


def test_an_engine_with_modules_as_plugins_can_be_pickled(tmp_path):
    engine = Engine(structperc_cusum, plugins=[structperc_multiclass, structperc_prank]).fit(X, Y)

    for again in (pickle.loads(pickle.dumps(engine)), copy.deepcopy(engine)):
        assert again.problem is structperc_cusum and again.plugins == (structperc_multiclass, structperc_prank)
        assert np.array_equal(again.predict(X), engine.predict(X))
    with pytest.raises(PluginError, match="the module 'made_for_a_test' is a plugin of this engine, but cannot be imported by that name"):
        pickle.dumps(Engine("cusum", plugins=[module(structperc_loss=hookimpl(lambda context: None))]))


@pytest.mark.parametrize("error", [RuntimeError, ValueError, KeyError, TypeError, ZeroDivisionError])
def test_a_hook_that_raises_is_named(error):
    def fails(self, context):
        raise error("out of order")

    with pytest.raises(PluginError, match=f"structperc_loss of plugin 'mine' failed: {error.__name__}: .*out of order") as caught:
        Engine("cusum", plugins=[plugin("structperc_loss", fails)]).fit(X, Y)
    assert isinstance(caught.value.__cause__, error)


def test_what_a_hook_raises_on_purpose_is_passed_on():
    def refuses(self, context):
        raise DataError("these data are too old.")

    with pytest.raises(DataError, match="^these data are too old.$"):
        Engine("cusum", plugins=[plugin("structperc_loss", refuses)]).fit(X, Y)


def test_a_hook_that_raises_in_an_installed_plugin_is_named_with_its_distribution(install):
    install("failing", WORKING.replace("ZeroOneLoss()", "1 / 0"))

    with pytest.raises(PluginError, match=r"structperc_loss of plugin 'failing' \(distribution failing-project 2.5\) failed: ZeroDivision"):
        Engine("cusum", plugins=["failing"]).fit(X, Y)


WRONG_KINDS = {
    "structperc_weights": RankOutputs(),
    "structperc_outputs": PrimalWeights(),
    "structperc_features": "features",
    "structperc_argmax": ZeroOneLoss(),
    "structperc_loss": PrefixArgmax(3),
    "structperc_update": lambda step: None,
    "structperc_trainer": ZeroOneLoss,
}


@pytest.mark.parametrize("hook", WRONG_KINDS)
def test_a_wrong_kind_of_component_is_named(hook):
    with pytest.raises(PluginError, match=f"{hook} of plugin 'mine' returned .* of type .*; expected a structperc"):
        Engine("cusum", plugins=[plugin(hook, lambda self, context: WRONG_KINDS[hook])]).fit(X, Y)


def test_a_wrong_answer_is_not_blamed_on_a_wrapper():
    def wraps(self, context):
        return (yield)

    wrapper = type("Wrapper", (), {"name": "wrapper", "structperc_loss": hookimpl(wrapper=True)(wraps)})()

    with pytest.raises(PluginError, match="structperc_loss of plugin 'mine' returned"):
        Engine("cusum", plugins=[plugin("structperc_loss", lambda self, context: "loss"), wrapper]).fit(X, Y)


def test_a_missing_hot_spot_is_named_with_the_plugins_that_lack_it():
    outputs = plugin("structperc_outputs", lambda self, context: RankOutputs())

    with pytest.raises(PluginError, match=r"no part for structperc_features: none of the plugins \(mine, AbsoluteLoss\) implements it"):
        Engine(outputs, plugins=[AbsoluteLoss()])
    with pytest.raises(PluginError, match=r"no part for structperc_outputs: none .* \(AbsoluteLoss\) implements it. Name a problem first"):
        Engine(AbsoluteLoss())


def test_a_hot_spot_that_nobody_answers_for_this_task_is_named():
    class Declines:
        name = "declines"

        @hookimpl
        def structperc_outputs(self, context):
            return RankOutputs()

        @hookimpl
        def structperc_features(self, context):
            return BlockFeatures(2, context.n_features) if context.sparse else None

        @hookimpl
        def structperc_argmax(self, context):
            return PrefixArgmax(3)

    with pytest.raises(PluginError, match=r"no part for structperc_features: none of the plugins \(declines\) returns one for"):
        Engine(Declines()).fit(X, Y)


@pytest.mark.parametrize("again", ["cusum", "prank"])
def test_a_plugin_named_twice_is_an_error(again):
    with pytest.raises(PluginError, match=f"plugin '{again}' .*is named twice; name every plugin once"):
        Engine("cusum", plugins=["prank", again])


def test_an_object_without_hooks_is_no_plugin():
    for thing in (object(), 42, {}):
        with pytest.raises(PluginError, match="implements no hook of structperc; expected a name, a plugin object"):
            Engine("cusum", plugins=[thing])


def test_an_installed_plugin_without_hooks_is_told(install):
    install("nohook", "nothing = 1\n")
    with pytest.raises(PluginError, match="nohook.* implements no hook of structperc; expected functions with @hookimpl"):
        Engine("cusum", plugins=["nohook"])


def test_a_component_of_no_kind_is_no_plugin():
    with pytest.raises(PluginError, match="implements no hook of structperc"):
        Engine("cusum", plugins=[Component()])


# ---- options ----


def test_unknown_options_are_refused_with_the_nearest_name():
    with pytest.raises(OptionError, match="unknown option 'varient'. Did you mean 'variant'\\? The plugins in use .prank. have variant"):
        Engine("prank", varient="original")
    with pytest.raises(OptionError, match="unknown option 'epoch'. Did you mean 'epochs'\\? The plugins in use .cusum. have no options"):
        Engine("cusum", epoch=3)
    with pytest.raises(OptionError, match="unknown option 'variant'"):
        Engine("cusum", variant="original")


def test_a_value_that_is_no_choice_is_refused():
    with pytest.raises(OptionError, match="variant='old'; expected one of 'structured', 'original'"):
        Engine("prank", variant="old")


def test_hooks_are_told_the_options_with_defaults_filled_in():
    seen = []
    options = {"depth": Option(3), "width": Option(1.5)}
    teller = plugin("structperc_loss", lambda self, context: seen.append(dict(context.options)) or ZeroOneLoss(), options=options)
    Engine("cusum", plugins=[teller], depth=7).fit(X, Y)

    assert seen == [{"depth": 7, "width": 1.5}]


# ---- order ----


def test_the_later_plugin_wins_and_one_that_declines_leaves_it_to_the_earlier():
    def answers(name, component):
        return plugin("structperc_loss", lambda self, context: component, name=name)

    first, second, declines = answers("first", AbsoluteLoss()), answers("second", ZeroOneLoss()), answers("declines", None)

    def loss_of(*plugins):
        engine = Engine("cusum", classes=[1, 2, 3], plugins=plugins).fit([[1.0]], [3], record_predictions=True)
        assert engine.online_predictions_.tolist() == [1]
        return engine.cumulative_loss_

    assert loss_of(first, second) == loss_of(second) == loss_of(first, second, declines) == 1
    assert loss_of(second, first) == loss_of(declines) == loss_of() == 2


def test_a_plugin_replaces_one_hot_spot_of_a_whole_problem():
    engine = Engine("cusum", plugins=["multiclass", "prank"], epochs=5).fit(X, Y)

    assert engine.thresholds_.shape == (2,)


def test_each_hook_is_asked_once_per_fit_first_the_reader_then_the_outputs():
    asked = []

    def asks(hook):
        return hookimpl(lambda self, context: asked.append((hook, context.n_labels)), specname=hook)

    spy = type("Spy", (), {hook: asks(hook) for hook in registry.COMPONENTS})()
    Engine("cusum", plugins=[spy], epochs=4).fit(X, Y)

    assert sorted(hook for hook, _ in asked) == sorted(registry.COMPONENTS)
    assert asked[:2] == [("structperc_reader", 0), ("structperc_outputs", 0)] and {n for _, n in asked[2:]} == {3}
