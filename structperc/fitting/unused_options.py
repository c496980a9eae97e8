"""No option without an effect: one that is not at its default has a part in use that reads it, or raises an error."""

from __future__ import annotations

import inspect

from structperc.basics.errors import PluginError, ReplacedOption, UnusedOption, shortened
from structperc.fitting.option import options_of, same
from structperc.fitting.plugins import COMPONENTS, NAMED


def unused_options(engine, context, parts) -> list:
    """The errors of all options that no part uses. Raises that of an idle plugin."""
    for plugin in engine.loaded_plugins[2:]:
        if plugin not in context.reads.called and not plugin.observes:
            kind = kind_of(plugin.hooks[0])
            maker = engine.answered[plugin.hooks[0]]
            if plugin.is_object or maker.is_object:
                raise PluginError(f"{plugin.origin} is not used: {maker.origin} comes later and returns the {kind} "
                                  f"({type(getattr(parts, kind)).__name__}); leave out one of them.")
    return [error for name, value in context.reads.changed.items() if (error := without_effect(engine, context, parts, name, value))]


def without_effect(engine, context, parts, name, value) -> UnusedOption | None:
    """The error of an option that no part uses; None: one does."""
    if name in engine.plugin_options:
        return unused_plugin_option(engine, context, parts, name, value)
    kind = ignoring(engine, context, parts, name, value)
    return unused(engine, context, parts, name, value, kind) if kind else None


def kind_of(hook) -> str:
    return hook.removeprefix("structperc_")


def ignoring(engine, context, parts, name, value) -> str | None:
    """The kind of the part that leaves an engine option without effect; None where it has one."""
    kind, trainer, update, by = options_of(type(engine))[name].part, parts.trainer, parts.update, context.reads.by
    by_trainer = name in trainer.options_used or name in by.get("trainer", ())
    if name == "loss_weight":
        if not by_trainer:
            return "trainer"
        if name not in by.get("update", ()) and update.searches(value) == update.searches(0.0):
            return "update"
    elif kind == "trainer":
        if name != kind and not by_trainer:
            return kind
    elif kind is not None and not by_trainer:
        used = any(name in read for reader, read in by.items() if reader == "weights" or kind == "update")
        if not trainer.online and (kind == "weights" or not used):
            return "trainer"
        if not used:
            return kind
    if name in NAMED and name not in by.get(name, ()):
        own_names = getattr(engine.answered[f"structperc_{name}"], NAMED[name])
        return None if isinstance(value, str) and value in own_names else name
    return None


def unused(engine, context, parts, name, value, kind) -> UnusedOption:
    """The error of an engine option that the part of this kind ignores."""
    part, plugin, declared = getattr(parts, kind), engine.answered[f"structperc_{kind}"], options_of(type(engine))
    default = engine.preset_values.get(name, declared[name].default)
    chosen = f"{kind}={shortened(getattr(context, kind))}" if kind in NAMED else type(part).__name__
    by_name = kind in context.reads.changed and kind in context.reads.by.get(kind, ())
    if plugin not in engine.loaded_plugins[2:] or by_name:
        is_set = kind != "trainer" or context.trainer != declared["trainer"].default
        return UnusedOption(f"{name}={shortened(value)} has no effect with {chosen if is_set else type(part).__name__}; "
                            f"{left(value, default)}.", name)
    own = plugin.is_object
    where = f"the {type(part).__name__} object in plugins" if own else f"{type(part).__name__} of {plugin.origin}"
    why, remedy = "", left(value, default)
    if name == kind:
        why, remedy = f", which is used whatever {name} is", f"{remedy}, or leave out the plugin"
    elif name in inspect.signature(type(part)).parameters:
        why = "" if own else f", whose hook structperc_{kind} does not read context.{name}"
        remedy = f"set it where the object is made, and {remedy}" if own else remedy
    elif kind == "trainer":
        why = f", whose options_used does not name it ({', '.join(part.options_used) or 'it names none'})"
    return ReplacedOption(f"{name}={shortened(value)} has no effect with {where}{why}; {remedy}.", name)


def left(value, default) -> str:
    """What to do with an option without effect; the default of a preset gives way where it is not set."""
    return "leave it out" if same(value, default) else f"leave it at {default!r}"


def unused_plugin_option(engine, context, parts, name, value) -> UnusedOption | None:
    """The error of an option of a plugin that no part in use reads or names. Observers read theirs when they are called."""
    owners = [plugin for plugin in engine.loaded_plugins if name in plugin.options]
    read = any(name in of_part for of_part in context.reads.by.values())
    if read or any(name in part.options_used for _, part in parts.items()) or any(plugin.observes for plugin in owners):
        return None
    what, default = f"{name}={shortened(value)} has no effect", engine.preset_values.get(name, owners[0].options[name].default)
    order = engine.loaded_plugins
    for owner in owners:
        for hook in owner.hooks:
            maker = engine.answered[hook] if hook in COMPONENTS else owner
            if order.index(maker) > order.index(owner):
                return ReplacedOption(f"{what}: it is an option of {owner.origin}, but {maker.origin} comes later. It returns the "
                                     f"{kind_of(hook)} ({type(getattr(parts, kind_of(hook))).__name__}); {left(value, default)}, or leave "
                                     f"out one of the two plugins.", name)
    choices = [f"{option}={value!r}" for option, said in NAMED.items() for value in getattr(owners[0], said)]
    hint = f" {owners[0].origin.capitalize()} is for {' or '.join(choices)}." if choices else ""
    return UnusedOption(f"{what} beside the other options, since no part in use reads it; {left(value, default)}.{hint}", name)
