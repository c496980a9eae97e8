"""What the options are that nobody sets: the algorithm of the problem's paper, or what has been measured to predict well.

Both presets begin with the default that each option declares. "recommended" goes on with `Option.recommended`. The plugins' values for
the preset follow, from their attribute `recommended` or `paper`, then what the user sets. docs/presets.md has the values and their
measurements.
"""

from __future__ import annotations

import functools

import attrs

from structperc.basics.errors import ConflictingOption, OptionErrors, PluginError, ReplacedOption, UnusedOption, did_you_mean
from structperc.fitting.option import options_of, same
from structperc.fitting.options import ENGINE_OPTIONS, RECOMMENDED, own_copy, plugin_defaults
from structperc.fitting.trainers import ONLINE

OF = {"update": {"update"}, "trainer": {"update", "weights", "trainer"}}    # parts, and the options whose values are only for these
LIKE = {"update": (), "trainer": ONLINE}        # parts that the values for one of them suit


@attrs.frozen
class Table:
    """The values of a preset that some plugins declare."""
    # cases: list of (name, values, dict). Further values where an option has one of these values.

    values: dict
    cases: list


def settle(engine, own, of_plugins) -> dict:
    """Gives the options that the user has not set the values of the engine's preset, and returns these."""
    # If the user chooses an update or a trainer, values for another one are left out. Trainers that make online passes count as the same.
    values = values_of(engine, options_of(type(engine)), own | of_plugins)
    for name, default in declared_values(type(engine)).items():
        if name not in own:
            setattr(engine, name, values[name] if name in values else default)
    for name in engine.plugin_options:
        if name in values and name not in of_plugins:
            engine.plugin_options[name] = values[name]
    return values


@functools.cache
def declared_values(cls) -> dict:
    """The declared defaults of the options that a preset may change."""
    return {name: option.default for name, option in options_of(cls).items() if option.by_preset}


def values_of(engine, own, passed) -> dict:
    """The values of the engine's preset beside the options that the user has set."""
    table = table_of(type(engine), engine.preset, *engine.loaded_plugins[1:])
    left_out = set()
    for kind, kinds in OF.items():
        before = table.values.get(kind, own[kind].default)
        is_other = kind in passed and not same(passed[kind], before) and not {passed[kind], before} <= {*LIKE[kind]}
        if is_other or any(plugin.is_object and f"structperc_{kind}" in plugin.hooks for plugin in engine.loaded_plugins[2:]):
            left_out |= kinds
    values = {name: value for name, value in table.values.items() if name not in own or own[name].part not in left_out}
    for name, wanted, further in table.cases:
        default = own[name].default if name in own else engine.plugin_options[name]
        value = passed.get(name, values.get(name, default))
        if any(same(value, one) for one in wanted):
            values |= further
    return values


def table_of(cls, preset, *plugins) -> Table:
    """The values of a preset that these plugins declare, for engines of a class."""
    if all(plugin.distribution for plugin in plugins):
        return shared_table(cls, preset, *plugins)
    return new_table(cls, preset, *plugins)


def new_table(cls, preset, *plugins) -> Table:
    options = {name: option for name, option in ENGINE_OPTIONS.items() if option.by_preset} | plugin_defaults(plugins)
    values, cases = {}, []
    if preset == RECOMMENDED:
        values = {name: option.recommended for name, option in options.items() if option.recommended is not None}
    for plugin in plugins:
        for name, value in getattr(plugin, preset).items():
            if isinstance(name, tuple):
                cases.append((read_name(plugin, preset, name[0], options), [options[name[0]].read(name[0], one) for one in name[1:]],
                              {inner: read_value(plugin, preset, inner, one, options) for inner, one in value.items()}))
            else:
                values[name] = read_value(plugin, preset, name, value, options)
    settled = {name for name, option in options_of(cls).items() if not option.by_preset}        # by the class
    return Table({name: value for name, value in values.items() if name not in settled},
                 [(name, wanted, {inner: value for inner, value in further.items() if inner not in settled})
                  for name, wanted, further in cases])


shared_table = functools.lru_cache(64)(new_table)


def read_value(plugin, preset, name, value, options):
    """A value that a plugin declares for a preset, as parts see it."""
    return options[read_name(plugin, preset, name, options)].read(name, value)


def read_name(plugin, preset, name, options):
    """The name of an option that a plugin declares a value for."""
    if name not in options:
        raise PluginError(f"`{preset}` of {plugin.origin} has a value for {name!r}. Expected is an option of the engine or of the plugins."
                          f"{did_you_mean(name, options)} These are {', '.join(options)}.")
    return name


def default_of(engine, name):
    """The declared default of an option of an engine or of its plugins."""
    own = options_of(type(engine))
    return (own if name in own else plugin_defaults(engine.loaded_plugins))[name].default


def left_out(engine) -> list:
    """The options that the preset leaves at their declared defaults, those that have given way among them."""
    return [name for name, value in engine.preset_values.items() if same(value, default_of(engine, name))]


def leave_out(engine, names) -> None:
    """The inverse of `left_out`, of an engine whose values have been set."""
    engine.preset_values = {name: default_of(engine, name) if name in names else value for name, value in engine.preset_values.items()}


def give_way(engine, name) -> bool:
    """Sets an option to its declared default if its value is impossible. Returns False if that would change a value of the user."""
    if not is_of_preset(engine, name):
        return False
    set_option(engine, name, default_of(engine, name))
    leave_out(engine, [*left_out(engine), name])
    return True


def is_of_preset(engine, name) -> bool:
    """Whether an option has a value of the preset, and not its declared default."""
    if name in engine.chosen or name not in engine.preset_values:
        return False
    value = engine.plugin_options[name] if name in engine.plugin_options else getattr(engine, name)
    return same(value, engine.preset_values[name]) and not same(value, default_of(engine, name))


def set_option(engine, name, value) -> None:
    if name in engine.plugin_options:
        engine.plugin_options[name] = value
    else:
        setattr(engine, name, value)


def leave_out_or_raise(engine, errors) -> None:
    """Leaves out the options of errors that may be left out. Raises the other errors."""
    OptionErrors(error for error in errors if not may_leave_out(engine, error)).raise_all()
    leave_out_unused(engine, [error.option for error in errors])


def may_leave_out(engine, error) -> bool:
    """Whether the option of an error is left out instead: one of the preset, or what an estimator's user has set without effect."""
    if not isinstance(error, (ConflictingOption, UnusedOption)):
        return False
    if is_of_preset(engine, error.option):
        return True
    lenient = isinstance(error, UnusedOption) and engine.needed is not None and error.option in engine.chosen
    return lenient and not (isinstance(error, ReplacedOption) and error.option in engine.needed)


def leave_out_unused(engine, names) -> None:
    """Leaves out options that have no effect: those of the user have the preset's value, those of the preset their default."""
    of_user = [name for name in names if name in engine.chosen]
    for name in set(names).difference(of_user):
        give_way(engine, name)
    if of_user:
        engine.unused += tuple(of_user)
        engine.chosen = engine.chosen.difference(of_user)
        for name in of_user:
            set_option(engine, name, own_copy(default_of(engine, name)))
        own = {name: getattr(engine, name) for name in engine.chosen if name in options_of(type(engine))}
        engine.preset_values = settle(engine, own, {name: engine.plugin_options[name] for name in engine.chosen if name not in own})
