"""Finding plugins: entry points of the group `structperc`, modules, objects and single components."""

from __future__ import annotations

import difflib
import functools
import importlib.metadata
import inspect
import keyword
import sys
import threading
import time
import types

import attrs
import pluggy

from structperc.basics.errors import PluginError, StructPercError, did_you_mean, shortened
from structperc.basics.signatures import class_signature
from structperc.core.argmax import Argmax
from structperc.core.component import Component
from structperc.core.features import Features
from structperc.core.losses import Loss
from structperc.core.outputs import Outputs
from structperc.core.updates import Update
from structperc.core.weights import Weights
from structperc.fitting import hookspecs
from structperc.fitting.builds import check_build
from structperc.fitting.option import Option
from structperc.fitting.options import ENGINE_OPTIONS
from structperc.fitting.trainers import Trainer
from structperc.later import module_at
from structperc.reading.readers import Reader

GROUP = "structperc"
OWN = "structperc"          # the distribution of this library and its bundled plugins
MOST_SHARED = 64        # managers that are kept
SOON = 1.0              # seconds until an unknown name looks for plugins again
HOOKS = tuple(name for name in vars(hookspecs) if name.startswith("structperc_"))
COMPONENTS = {
    "structperc_reader": Reader,
    "structperc_weights": Weights,
    "structperc_outputs": Outputs,
    "structperc_features": Features,
    "structperc_argmax": Argmax,
    "structperc_loss": Loss,
    "structperc_update": Update,
    "structperc_trainer": Trainer,
}
OBSERVERS = tuple(hook for hook in HOOKS if hook not in COMPONENTS)

# Attributes of a plugin beside its hooks; the table in hookspecs.py describes them.
ATTRIBUTES = {
    "name": (str, "a text"),
    "options": (dict, "a dict from names to structperc.Option"),
    "losses": (tuple, "a tuple or list of texts"),
    "updates": (tuple, "a tuple or list of texts"),
    "trainers": (tuple, "a tuple or list of texts"),
    "recommended": (dict, "a dict from names of options to values"),
    "paper": (dict, "a dict from names of options to values"),
    "citation": (str, "a text, BibTeX"),
    "also_called": (tuple, "a tuple or list of texts"),
    "task": (str, "a text"),
    "problem": (str, "the name of a problem"),
    "sample": (None, "a function sample(random, n_examples)"),
    "observe": (None, "a function observe(random, answers)"),
    "check_options": (dict, "a dict of engine options"),
    "default_template": (None, "a function default_template(n_columns)"),
    "conllu": (dict, "a dict with the names of columns under 'columns' and 'target'"),
}
SIGNATURES = {hook: inspect.signature(getattr(hookspecs, hook)) for hook in HOOKS}
for hook in HOOKS:
    getattr(hookspecs, hook).__signature__ = SIGNATURES[hook]
PLAIN = frozenset((type(None), bool, int, float, str))      # no module is in any of them
LAST = threading.local()        # its `plugin` was the last to return a part from a hook in this thread
NAMED = {"loss": "losses", "update": "updates", "trainer": "trainers"}       # options whose values are names that plugins declare


@attrs.frozen(eq=False)
class Plugin:
    """A plugin as the engine registers it."""
    # plugin: object. The module or object that has the hook implementations.
    # distribution, version: str. Where it comes from; empty for an object that was passed in.
    # broken: str. Why it cannot be used, or empty.
    # implementations: dict. The marked callables by attribute name, each with its hook and its arguments; compiled ones too.
    # registered: Registered. What pluggy is shown of it.
    # options, losses, updates, trainers, recommended, paper, citation, also_called, task, problem, sample, observe, check_options,
    # default_template, conllu: its attributes, `None` or empty if it has none; see `structperc.fitting.hookspecs`.

    name: str
    plugin: object = None
    distribution: str = ""
    version: str = ""
    broken: str = ""
    implementations: dict = attrs.field(init=False, repr=False, default=attrs.Factory(lambda self: implementations_of(self.plugin), True))
    registered: Registered = attrs.field(init=False, repr=False, default=attrs.Factory(lambda self: Registered(self), True))

    def __getattr__(self, name):
        if name not in ATTRIBUTES:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        kind, said = ATTRIBUTES[name][0], said_of(self.plugin, name)
        return said if said is not None or kind is None or name == "problem" else kind()

    @property
    def origin(self) -> str:
        return f"plugin {self.name!r}" + (f" (distribution {self.distribution} {self.version})" if self.distribution else "")

    @property
    def hooks(self) -> tuple[str, ...]:
        answered = {hook for hook, *_ in self.implementations.values()}
        return tuple(hook for hook in HOOKS if hook in answered)

    @property
    def observes(self) -> bool:
        """Whether training calls it at ends of epochs or at its own."""
        return not set(OBSERVERS).isdisjoint(self.hooks)

    @property
    def only_observes(self) -> bool:
        """Whether it has no part in a model."""
        return self.observes and set(self.hooks) <= set(OBSERVERS)

    @property
    def is_object(self) -> bool:
        """Whether the user has passed a component, and no plugin that makes one."""
        return isinstance(self.plugin, ComponentPlugin)

    @property
    def summary(self) -> str:
        doc = self.plugin.__doc__ if isinstance(self.plugin, types.ModuleType) else type(self.plugin).__doc__
        return (doc or "").strip().split("\n")[0]


def implementations_of(plugin) -> dict:
    """The marked callables of a plugin by attribute name: hook, callable and its arguments. Every engine asks, so once is enough."""
    implementations = {}
    for name in dir(plugin) if plugin is not None else ():
        hook_like = name.startswith("structperc_")      # other attributes of a stranger's object are not evaluated
        method = getattr(plugin, name, None) if hook_like else inspect.getattr_static(plugin, name, None)
        marked = marker(method) if hook_like or inspect.isroutine(method) else None
        if marked is not None:
            method = method if hook_like else getattr(plugin, name)
            implementations[name] = marked.get("specname") or name, method, arguments_of(method)
    return implementations


def said_of(plugin, name):
    """An attribute of a plugin; a submodule of that name, such as a package's own `losses`, does not count."""
    said = getattr(plugin, name, None)
    return None if isinstance(said, types.ModuleType) else said


def marker(method) -> dict | None:
    """The options that `hookimpl` has left on a callable, or None."""
    options = getattr(method, "structperc_impl", None)
    return options if isinstance(options, dict) else None


class ComponentPlugin:
    """Makes one component a plugin with the hook of its kind."""

    def __init__(self, hook: str, component: Component):
        self.component = component
        self.citation = getattr(component, "citation", "")
        setattr(self, hook, hookspecs.hookimpl(_answer(component)))


def _answer(component):
    def answer(context):
        return component.clone() if isinstance(component, Component) else component

    return answer


@attrs.frozen(eq=False)
class EntryPoints:
    """The entry points of this process and the plugins that were loaded from them.

    Threads share it without a lock: the entry points never change, and a plugin gets its place in one step. A lookup makes another.
    """
    # path: tuple. `sys.path` as it was.
    # time: float. When they were looked up.
    # entries: dict of str to list. Entry points by name.
    # loaded: dict of str to list of Plugin. What was loaded of them; importing is once a process.

    path: tuple
    time: float
    entries: dict[str, list]
    loaded: dict[str, list[Plugin]] = attrs.field(factory=dict, init=False)

    def plugins(self, name) -> list[Plugin]:
        """The plugins of this name, the broken ones with their reasons. Two threads may load one of them, and both get the same."""
        if name not in self.loaded:
            self.loaded.setdefault(name, [from_entry_point(entry) for entry in self.entries[name]])
        return self.loaded[name]

    def all(self) -> list[Plugin]:
        return [plugin for name in sorted(self.entries) for plugin in self.plugins(name)]

    @property
    def is_recent(self) -> bool:
        """Whether it is too early to look for others: a wrong name in a loop costs all threads no more than this."""
        return self.path == tuple(sys.path) and time.monotonic() - self.time < SOON


_known: EntryPoints | None = None


def lookup() -> EntryPoints:
    """The entry points, looked up anew."""
    global _known
    path, now, entries = tuple(sys.path), time.monotonic(), {}
    for entry in importlib.metadata.entry_points(group=GROUP):
        entries.setdefault(entry.name, []).append(entry)
    _known = EntryPoints(path, now, entries)
    return _known


def discover(refresh: bool = False) -> dict[str, list]:
    """Entry points by name; looked up once, loaded by nobody."""
    return known(refresh).entries


def known(refresh: bool = False) -> EntryPoints:
    return lookup() if refresh or _known is None else _known


def from_entry_point(entry) -> Plugin:
    """Loads one plugin; a failure becomes its reason for being broken."""
    distribution = entry.dist.metadata["Name"] if entry.dist else ""
    version = entry.dist.version if entry.dist else ""
    plugin = Plugin(entry.name, None, distribution, version)
    try:
        if distribution != OWN:
            check_build(entry.module.split(".")[0])
        module_at(entry.module)
        plugin = attrs.evolve(plugin, plugin=as_object(entry.load()))
        check(plugin)
        manager([plugin])
    except (Exception, SystemExit) as error:
        reason = str(error) if isinstance(error, PluginError) else f"{type(error).__name__}: {error}"
        return attrs.evolve(plugin, broken=reason)
    return plugin


def as_object(part):
    """A class becomes an instance, a component the plugin that returns it."""
    if hasattr(part, "get_params"):
        name = part.__name__ if isinstance(part, type) else type(part).__name__
        raise PluginError(f"{name} is an estimator, not a plugin. Name a problem or a part, such as 'cusum', or use the estimator.")
    if isinstance(part, type):
        part = instance_of(part)
    if isinstance(part, (Component, Trainer)):
        hook = next((h for h, kind in COMPONENTS.items() if isinstance(part, kind)), None)
        return part if hook is None else ComponentPlugin(hook, part)
    return part


def instance_of(cls):
    """An object of a class that needs no arguments."""
    try:
        return cls()
    except TypeError as error:
        if any(parameter.default is parameter.empty and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
               for parameter in class_signature(cls).parameters.values()):
            raise PluginError(f"{cls.__name__} is a class whose objects need arguments (TypeError: {error}); pass an object, "
                              f"{cls.__name__}(...).") from error
        raise


def all_loaded() -> list[Plugin]:
    """All plugins that `discover` lists, the broken ones with their reasons; loaded once."""
    return known().all()


def installed() -> list[Plugin]:
    """All installed plugins, looked up and loaded anew, the broken ones with their reasons."""
    return lookup().all()


def options_of_parts() -> dict[str, list[str]]:
    """The options of installed plugins that could be added to a problem, each with the names of these plugins."""
    owners = {}
    for plugin in all_loaded():
        if "structperc_argmax" not in plugin.hooks:
            for name in plugin.options:
                owners.setdefault(name, []).append(plugin.name)
    return owners


def parts_with(option) -> list[str]:
    """The installed plugins that declare an option and could be added to a problem."""
    return options_of_parts().get(option, [])


def parts_naming(kind, value) -> list[str]:
    """The installed parts that declare this loss, update or trainer."""
    return [plugin.name for plugin in all_loaded() if "structperc_argmax" not in plugin.hooks and value in getattr(plugin, NAMED[kind])]


def also_called() -> dict:
    """What users may call each installed plugin."""
    return {plugin.name: plugin.also_called for plugin in all_loaded()}


def load(spec) -> Plugin:
    """A plugin from its name, or from the object itself; raises `PluginError` when it cannot be used."""
    if not isinstance(spec, str):
        plugin = as_object(spec)
        name = getattr(plugin, "name", None) or getattr(plugin, "__name__", None)
        inner = getattr(plugin, "component", plugin)
        check_build(home_of(inner))
        plugin = Plugin(str(name or type(inner).__name__), plugin)
        check(plugin)
        if not plugin.hooks:
            raise PluginError(f"{shortened(spec)} implements no hook of structperc; expected a name, a plugin object with @hookimpl "
                              f"methods ({', '.join(HOOKS)}), or a component.")
        return plugin
    registry = with_name(spec)
    entries = registry.entries.get(spec)
    if not entries:
        hint = did_you_mean(spec, registry.entries, also_called())
        hint = elsewhere(spec) or hint
        raise PluginError(f"there is no plugin {shortened(spec)}.{hint} Installed: {', '.join(sorted(registry.entries)) or 'none'}.")
    if len(entries) > 1:
        owners = " and ".join(e.dist.metadata["Name"] if e.dist else "?" for e in entries)
        raise PluginError(f"plugin {shortened(spec)} is provided by {owners}; uninstall one, or pass the plugin object itself.")
    plugin = registry.plugins(spec)[0]
    if plugin.broken:               # its author may have fixed it since
        plugin = from_entry_point(entries[0])
        registry.loaded[spec] = [plugin]
    if plugin.broken:
        raise PluginError(f"{plugin.origin} is broken: {plugin.broken}")
    if not plugin.hooks:
        raise PluginError(f"{plugin.origin} implements no hook of structperc; expected functions with @hookimpl ({', '.join(HOOKS)}).")
    return plugin


def elsewhere(name) -> str:
    """Where an installed package declares a plugin of this name in a misspelt group, as a sentence."""
    for entry in importlib.metadata.entry_points(name=name):
        if difflib.get_close_matches(entry.group, [GROUP], 1):
            return f" An installed package declares it in the group {entry.group!r}; write [project.entry-points.{GROUP}]."
    return ""


def with_name(name) -> EntryPoints:
    """The entry points, looked up anew if none has this name."""
    registry = known()
    return registry if registry.entries.get(name) or registry.is_recent else lookup()


def home_of(plugin) -> str:
    """The package of a module, or of the class of an object."""
    return (plugin.__name__ if isinstance(plugin, types.ModuleType) else type(plugin).__module__).split(".")[0]


def lacks_self(method, hook) -> bool:
    """Whether a method names the argument of its hook first, where `self` belongs."""
    code = getattr(getattr(method, "__func__", None), "__code__", None)
    return code is not None and hook in HOOKS and code.co_argcount > 0 and code.co_varnames[0] in arguments_of(getattr(hookspecs, hook))


def check(plugin: Plugin) -> None:
    """Raises an error for misspelt and unmarked hooks, arguments that a hook does not have, and impossible attributes."""
    check_attributes(plugin)
    check_declared(plugin)
    check_methods(plugin)
    check_hooks(plugin)


def check_attributes(plugin) -> None:
    for name, (kind, expected) in ATTRIBUTES.items():
        said = said_of(plugin.plugin, name)
        fits = callable(said) if kind is None else isinstance(said, (tuple, list) if kind is tuple else kind)
        if said is not None and not (fits and (kind is not tuple or all(isinstance(value, str) for value in said))):
            raise PluginError(f"{plugin.origin} has {name} = {shortened(said, 80)}; expected {expected}.")


def check_methods(plugin) -> None:
    """Raises an error for methods with the name of a hook that is misspelt or unmarked."""
    for name in dir(plugin.plugin):
        if not name.startswith("structperc_"):
            continue
        method = getattr(plugin.plugin, name)
        if isinstance(method, types.ModuleType) or not callable(method):
            continue
        if name not in HOOKS and (marker(method) or {}).get("specname") not in HOOKS:
            raise PluginError(f"{plugin.origin} has a method {name}, but there is no such hook; {suggested(name)}")
        if marker(method) is None:
            raise PluginError(f"{plugin.origin} has a method {name} without the marker @structperc.hookimpl; add it, or rename the method.")


def check_hooks(plugin) -> None:
    """Raises an error for marked methods of no hook, without `self`, or with arguments that the hook does not have."""
    for name, (hook, _, arguments) in plugin.implementations.items():
        if lacks_self(getattr(plugin.plugin, name), hook):
            raise PluginError(f"{plugin.origin} has a method {name} without `self`; write {name}(self, ...).")
        if hook not in HOOKS:
            raise PluginError(f"{plugin.origin} marks {name} with @hookimpl, but there is no hook {hook}; {suggested(hook)}")
        for argument in arguments or ():
            if argument not in arguments_of(getattr(hookspecs, hook)):
                raise PluginError(f"{plugin.origin} cannot be registered: {name}({', '.join(arguments)}) has an argument "
                                  f"{argument!r}, but the hook is {hook}({', '.join(arguments_of(getattr(hookspecs, hook)))}); rename it.")


def suggested(name) -> str:
    bare = name.removeprefix("structperc_")
    if bare in ATTRIBUTES:
        return f"write {bare} = ... in the plugin, {ATTRIBUTES[bare][1]}."
    near = difflib.get_close_matches(bare, [hook.removeprefix("structperc_") for hook in HOOKS], 1)
    return f"did you mean structperc_{near[0]}?" if near else f"the hooks are {', '.join(HOOKS)}."


def check_declared(plugin) -> None:
    """Raises an error for options that could never be set."""
    for name, option in plugin.options.items():
        if not isinstance(option, Option):
            raise PluginError(f"{plugin.origin} has options = {shortened(plugin.options, 80)}; expected a dict from names to "
                              f"structperc.Option.")
        if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
            raise PluginError(f"{plugin.origin} declares an option {name!r}; expected a Python name, as in Engine(..., NAME=value).")
        if name in ENGINE_OPTIONS or name == "problem":
            raise PluginError(f"{plugin.origin} declares an option {name!r}, but that is an option of the engine itself. Hooks read it "
                              f"as context.{name}; choose another name.")


def check_together(plugins) -> None:
    """Raises an error for what would make one plugin silently stand in another's place."""
    names, owners = set(), {}
    for plugin in plugins:
        if plugin.name in names or any(plugin.plugin is other.plugin for other in plugins if other is not plugin):
            raise PluginError(f"{plugin.origin} is named twice; name every plugin once.")
        names.add(plugin.name)
        for name, option in plugin.options.items():
            owner = owners.setdefault(name, plugin)
            if owner.options[name] is not option:
                raise PluginError(f"the option {name!r} is declared by {owner.origin} and by {plugin.origin}, so one value would set both. "
                                  f"Use one of the two plugins, or let them share one Option object if it is the same option.")


def arguments_of(method) -> tuple[str, ...] | None:
    """The names of the arguments that a call fills. None if a callable has any, or is compiled without a signature."""
    try:
        parameters = inspect.signature(method).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty)


class Registered:
    """What pluggy is shown of a plugin: its marked callables, compiled ones too, each in a Python function.

    pluggy 1.7 and later drop hooks that are no Python functions, without a word. The functions also know whose hook they call:
    they name the plugin in errors, and store it in `LAST`. They are made once for all engines of a plugin.
    """

    def __init__(self, plugin):
        for name, (hook, method, arguments) in plugin.implementations.items():
            if hook not in SIGNATURES:          # `check` raises an error for it
                continue
            function = (answering if hook in COMPONENTS else told)(plugin, hook, method, arguments)
            function.structperc_impl = {**marker(method), "specname": hook}
            function.__signature__ = SIGNATURES[hook]           # known, so that no engine has them found out
            setattr(self, name, function)

    def __dir__(self):
        return vars(self)           # pluggy looks at each of these names


def answering(plugin, hook, method, arguments):
    """A hook that returns a component: `method` in a Python function, with its result checked."""
    accepted = slice(0, 1 if arguments is None else len(arguments))

    def wrapper(context):
        if context.reads is not None:
            context.reads.called.add(plugin)
        return (yield from method(*(context,)[accepted]))

    def implementation(context):
        kind, reads = COMPONENTS[hook], context.reads
        if reads is not None:
            reads.called.add(plugin)
            n_read = len(reads.current)
        try:
            component = method(*(context,)[accepted])
        except StructPercError:
            raise
        except Exception as error:
            raise PluginError(f"{hook} of {plugin.origin} failed: {type(error).__name__}: {error}") from error
        if component is None:
            if reads is not None:
                reads.keep(n_read)
            return None
        if not isinstance(component, kind):
            raise PluginError(f"{hook} of {plugin.origin} returned {shortened(component, 80)} of type {type(component).__name__}; "
                              f"expected a structperc.components.{kind.__name__}.")
        LAST.plugin = plugin
        return component

    return wrapper if wraps(method) else implementation


def told(plugin, hook, method, arguments):
    """A hook without a result: `method` in a Python function. pluggy reads the names of the function's own arguments."""
    names = tuple(SIGNATURES[hook].parameters)
    places = [names.index(name) for name in (names if arguments is None else arguments) if name in names]      # `check` raises for others

    def call(*values):
        return method(*(values[place] for place in places))

    def after_epoch(engine, record):
        return call(engine, record)

    def around_epoch(engine, record):
        return (yield from call(engine, record))

    def after_training(engine, status):
        return call(engine, status)

    def around_training(engine, status):
        return (yield from call(engine, status))

    functions = {"structperc_epoch_end": (after_epoch, around_epoch), "structperc_training_end": (after_training, around_training)}
    return functions[hook][wraps(method)]


def wraps(method) -> bool:
    options = marker(method)
    return bool(options.get("wrapper") or options.get("hookwrapper"))


class Manager(pluggy.PluginManager):
    """The plugin manager of one or more engines with the same plugins."""

    def __init__(self):
        super().__init__("structperc")

    def parse_hookimpl_opts(self, plugin, name):
        """Nothing but the functions of a `Registered` can be a hook."""
        return super().parse_hookimpl_opts(plugin, name) if name in vars(plugin) else None


def manager(plugins: list[Plugin]) -> Manager:
    """The plugin manager of these plugins, in this order; installed ones, which stay the same, share it with other engines."""
    return shared_manager(*plugins) if all(plugin.distribution for plugin in plugins) else new_manager(*plugins)


def new_manager(*plugins: Plugin) -> Manager:
    """A plugin manager; every marked hook is among those it calls."""
    check_together(plugins)
    pm = Manager()
    pm.add_hookspecs(hookspecs)
    for plugin in plugins:
        registered = plugin.registered
        try:
            pm.register(registered, name=plugin.name)
        except pluggy.PluginValidationError as error:
            raise PluginError(f"{plugin.origin} cannot be registered: {error}") from None
        called = {implementation.function for caller in pm.get_hookcallers(registered) or () for implementation in caller.get_hookimpls()}
        for name, function in vars(registered).items():
            if function not in called:
                raise PluginError(f"{plugin.origin} marks {name} with @hookimpl, but pluggy {pluggy.__version__} does not call it. "
                                  f"Please report this, and use another version of pluggy until it is fixed.")
    return pm


shared_manager = functools.lru_cache(MOST_SHARED)(new_manager)      # making one takes 0.1 ms, a quarter of the smallest fit


def ask_hook(pm: Manager, hook: str, context):
    """The checked component that the plugins return from this hook; None if all return None. `LAST` has the plugin."""
    kind = COMPONENTS[hook]
    LAST.plugin = None
    component = getattr(pm.hook, hook)(context=context)
    if component is not None and not isinstance(component, kind):
        raise PluginError(f"a wrapper of {hook} returned {shortened(component, 80)} of type {type(component).__name__}; "
                          f"expected a structperc.components.{kind.__name__}.")
    return component


def unanswered(plugins, hook, context) -> PluginError:
    """The error of a hook without a result for this context; it lists the names that the plugins declare."""
    names = ", ".join(plugin.name for plugin in plugins[1:])
    kind = hook.removeprefix("structperc_")
    if kind in NAMED:
        value = getattr(context, kind)
        choices = list(dict.fromkeys(name for plugin in plugins for name in getattr(plugin, NAMED[kind])))
        hint = did_you_mean(value, choices) or "".join(f" It comes with plugins=[{part!r}]." for part in parts_naming(kind, value))
        return PluginError(f"{kind}={shortened(value)} is unknown to the plugins {names}.{hint} They know {', '.join(choices)}.")
    return PluginError(f"no part for {hook}: none of the plugins ({names}) returns one for this context. "
                       f"A problem must implement structperc_outputs, structperc_features and structperc_argmax.")


# ---- plugins in pickles ----


@attrs.frozen
class Imported:
    """A module in a pickle: its name, by which it is imported again."""

    name: str


def portable(value):
    """`value` with every module in it named, so that it can be pickled; looks into tuples, lists and dicts."""
    if isinstance(value, types.ModuleType):
        if sys.modules.get(value.__name__) is not value:
            raise PluginError(f"the module {value.__name__!r} is a plugin of this engine, but cannot be imported by that name. So the "
                              f"engine cannot be pickled; put the module where Python finds it.")
        return Imported(value.__name__)
    return inside(value, portable)


def imported(value):
    """What `portable` was given."""
    return module_at(value.name) if isinstance(value, Imported) else inside(value, imported)


def inside(value, change):
    if type(value) in (tuple, list):
        return type(value)(map(change, value))
    if type(value) is not dict:
        return value
    return {key: entry if type(entry) in PLAIN else change(entry) for key, entry in value.items()}
