"""Finding plugins: entry points of the group `structperc`, modules, objects and single components."""

from __future__ import annotations

import difflib
import importlib.metadata
import types

import attrs
import pluggy

from structperc.core.argmax import Argmax
from structperc.core.component import Component
from structperc.core.errors import PluginError, StructPercError
from structperc.core.features import Features
from structperc.core.losses import Loss
from structperc.core.outputs import Outputs
from structperc.core.updates import Update
from structperc.core.weights import Weights
from structperc.engine import hookspecs
from structperc.engine.options import Option
from structperc.engine.trainers import Trainer
from structperc.reading.readers import Reader

GROUP = "structperc"
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


@attrs.frozen(eq=False)
class Plugin:
    """A plugin as the engine registers it.

    Attributes
    ----------
    name : str
    plugin : object
        The module or object that has the hook implementations.
    distribution, version : str
        Where it comes from; empty for an object that was passed in.
    broken : str
        Why it cannot be used, or empty.
    """

    name: str
    plugin: object = None
    distribution: str = ""
    version: str = ""
    broken: str = ""

    @property
    def origin(self) -> str:
        return f"plugin {self.name!r}" + (f" (distribution {self.distribution} {self.version})" if self.distribution else "")

    @property
    def hooks(self) -> tuple[str, ...]:
        return tuple(h for h in HOOKS if getattr(self.plugin, h, None) is not None) if self.plugin is not None else ()

    @property
    def options(self) -> dict[str, Option]:
        return dict(getattr(self.plugin, "options", None) or {})

    @property
    def citation(self) -> str:
        return getattr(self.plugin, "citation", "") or ""

    @property
    def summary(self) -> str:
        doc = self.plugin.__doc__ if isinstance(self.plugin, types.ModuleType) else type(self.plugin).__doc__
        return (doc or "").strip().split("\n")[0]


class ComponentPlugin:
    """Makes one component a plugin that answers the hook of its kind."""

    def __init__(self, hook: str, component: Component):
        self.component = component
        self.citation = getattr(component, "citation", "")
        setattr(self, hook, hookspecs.hookimpl(_answer(component)))


def _answer(component):
    def answer(context):
        return component.fresh() if isinstance(component, Component) else component

    return answer


_found: dict[str, list] = {}            # entry points by name, and the plugins loaded from them: importing is once a process
_loaded: dict[str, Plugin] = {}


def discover(refresh: bool = False) -> dict[str, list]:
    """Entry points by name; looked up once, loaded by nobody."""
    if refresh or not _found:
        _found.clear()
        _loaded.clear()
        for entry in importlib.metadata.entry_points(group=GROUP):
            _found.setdefault(entry.name, []).append(entry)
    return _found


def from_entry_point(entry) -> Plugin:
    """Loads one plugin; a failure becomes its reason for being broken."""
    distribution = entry.dist.metadata["Name"] if entry.dist else ""
    version = entry.dist.version if entry.dist else ""
    plugin = Plugin(entry.name, None, distribution, version)
    try:
        plugin = attrs.evolve(plugin, plugin=as_object(entry.load()))
        check(plugin)
        manager([plugin])       # pluggy checks the arguments of its hooks
    except (Exception, SystemExit) as error:
        reason = str(error) if isinstance(error, PluginError) else f"{type(error).__name__}: {error}"
        return attrs.evolve(plugin, broken=reason)
    return plugin


def as_object(found):
    """A class becomes an instance, a component the plugin that answers with it."""
    if isinstance(found, type):
        found = found()
    if isinstance(found, (Component, Trainer)):
        hook = next((h for h, kind in COMPONENTS.items() if isinstance(found, kind)), None)
        return found if hook is None else ComponentPlugin(hook, found)
    return found


def installed() -> list[Plugin]:
    """All installed plugins, loaded, the broken ones with their reasons."""
    plugins = []
    for _, entries in sorted(discover(refresh=True).items()):
        plugins += [from_entry_point(entry) for entry in entries]
    return plugins


def load(spec) -> Plugin:
    """A plugin from its name, or from the object itself; raises `PluginError` when it cannot be used."""
    if not isinstance(spec, str):
        plugin = as_object(spec)
        named = getattr(plugin, "name", None) or getattr(plugin, "__name__", None)
        inner = getattr(plugin, "component", plugin)
        plugin = Plugin(str(named or type(inner).__name__), plugin)
        check(plugin)
        if not plugin.hooks:
            raise PluginError(f"{spec!r} implements no hook of structperc; expected a name, a plugin object with @hookimpl methods "
                              f"({', '.join(HOOKS)}), or a component.")
        return plugin
    if spec in _loaded:
        return _loaded[spec]
    entries = discover().get(spec) or discover(refresh=True).get(spec)
    if not entries:
        near = difflib.get_close_matches(spec, discover(), 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise PluginError(f"there is no plugin {spec!r}.{hint} Installed: {', '.join(sorted(discover())) or 'none'}.")
    if len(entries) > 1:
        owners = " and ".join(e.dist.metadata["Name"] if e.dist else "?" for e in entries)
        raise PluginError(f"plugin {spec!r} is provided by {owners}; uninstall one, or pass the plugin object itself.")
    plugin = from_entry_point(entries[0])
    if plugin.broken:
        raise PluginError(f"{plugin.origin} is broken: {plugin.broken}")
    _loaded[spec] = plugin
    return plugin


def check(plugin: Plugin) -> None:
    """Refuses misspelt and unmarked hooks and impossible options; pluggy checks arguments when it registers."""
    options = getattr(plugin.plugin, "options", None) or {}
    if not isinstance(options, dict) or not all(isinstance(option, Option) for option in options.values()):
        raise PluginError(f"{plugin.origin} has options = {options!r:.80}; expected a dict from names to structperc.Option.")
    for name in dir(plugin.plugin):
        if not name.startswith("structperc_"):
            continue
        method = getattr(plugin.plugin, name)
        if isinstance(method, types.ModuleType) or not callable(method):
            continue
        if name not in HOOKS:
            near = difflib.get_close_matches(name, HOOKS, 1)
            hint = f"did you mean {near[0]}?" if near else f"the hooks are {', '.join(HOOKS)}."
            raise PluginError(f"{plugin.origin} has a method {name}, but there is no such hook; {hint}")
        if getattr(method, "structperc_impl", None) is None:
            raise PluginError(f"{plugin.origin} has a method {name} without the marker @structperc.hookimpl; add it, or rename the method.")


class Manager(pluggy.PluginManager):
    """Looks only at attributes that can be hooks; reading others of a stranger's object could have side effects."""

    def parse_hookimpl_opts(self, plugin, name):
        return super().parse_hookimpl_opts(plugin, name) if name.startswith("structperc_") else None


def manager(plugins: list[Plugin]) -> pluggy.PluginManager:
    """A plugin manager of their own for these plugins, in this order."""
    pm = Manager("structperc")
    pm.add_hookspecs(hookspecs)
    for plugin in plugins:
        try:
            pm.register(plugin.plugin, name=plugin.name)
        except pluggy.PluginValidationError as error:
            raise PluginError(f"{plugin.origin} cannot be registered: {error}") from None
        except ValueError:
            raise PluginError(f"{plugin.origin} is named twice; name every plugin once.") from None
    pm.check_pending()
    return pm


def ask(pm: pluggy.PluginManager, plugins: list[Plugin], hook: str, context):
    """The component that the plugins answer this hook with, checked; None when nobody does."""
    kind = COMPONENTS[hook]
    try:
        component = getattr(pm.hook, hook)(context=context)
    except StructPercError:
        raise
    except Exception as error:
        raise PluginError(f"{hook} of {_who(pm, plugins, hook, context)} failed: {type(error).__name__}: {error}") from error
    if component is not None and not isinstance(component, kind):
        raise PluginError(f"{hook} of {_who(pm, plugins, hook, context)} answered with {component!r:.80} of type {type(component).__name__}; "
                          f"expected a {kind.__module__}.{kind.__name__}.")
    return component


def _who(pm, plugins, hook, context) -> str:
    """Which plugin gives or fails to give the answer."""
    origins = {p.name: p.origin for p in plugins}
    for implementation in reversed(getattr(pm.hook, hook).get_hookimpls()):
        if implementation.wrapper or implementation.hookwrapper:
            continue
        origin = origins.get(implementation.plugin_name, implementation.plugin_name)
        try:
            if implementation.function(*([context] if implementation.argnames else [])) is not None:
                return origin
        except Exception:
            return origin
    return "a plugin"
