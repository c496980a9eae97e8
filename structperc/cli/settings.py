"""`--set key=value`: values have the type of their option; unknown keys raise an error."""

from __future__ import annotations

import json

from structperc import Option
from structperc.basics.errors import OptionErrors, nearest
from structperc.errors import OptionError, did_you_mean
from structperc.fitting import options as engine_options
from structperc.fitting import plugins as registry
from structperc.fitting.builtin import BuiltinParts
from structperc.fitting.options import plugin_defaults

FLAGS = {"classes": "--classes", "plugins": "--plugin", "problem": "the first argument", "target": "--target"}
ENGINE_OPTIONS = {name: option for name, option in engine_options.ENGINE_OPTIONS.items() if name not in FLAGS}
COLUMN_FLAGS = {"template": "--template", "columns": "--columns"}
VECTORS = {"vectors": "--vectors"}
TABLE_FLAGS = {"drop": "--drop", "one_hot": "--one-hot", "ordinal": "--ordinal", "date": "--date", "number": "--number",
               "missing": "--missing", "reference": "--reference", "fill": "--fill", "missing_indicators": "--missing-indicators"}
TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
EXPECTED = {bool: "true or false", int: "a whole number", float: "a number", tuple: "a list in JSON"}


def read_settings(pairs, plugins) -> dict:
    """Engine options from texts like "epochs=10", of which a later one of the same key wins. The plugins declare further options."""
    if not pairs:
        return {}
    options = {**ENGINE_OPTIONS, **plugin_defaults([registry.load(name) for name in plugins])}
    flags = FLAGS | flags_of(options) | (VECTORS if flags_of(options) else {}) | (TABLE_FLAGS if set(TABLE_FLAGS) <= set(options) else {})
    settings, unknown, errors = {}, [], OptionErrors()
    for pair in pairs:
        key, equals, text = (part.strip() for part in pair.partition("="))
        with errors:
            if not equals:
                raise OptionError(f"--set {pair}: expected key=value, for instance --set epochs=10.")
            if key in flags:
                raise OptionError(f"--set {pair}: {key} is set with {flags[key]}.")
            if key in options:
                settings[key] = read_value(key, text, options[key])
            else:
                hint = did_you_mean(key, options) or "".join(f" It comes with --plugin {name}." for name in registry.parts_with(key))
                unknown.append(f"--set {pair}: there is no option {key!r}.{hint}")
    if unknown:
        errors.append(OptionError(f"{' Also '.join(unknown)} structperc help {plugins[0]} and structperc help options list what can be "
                                  f"set."))
    errors.raise_all()
    return settings


def unknown_arguments(unknown, flags, settable) -> str:
    """What is wrong with the arguments that a command does not have, and what to write. `settable`: the command has --set."""
    places = [k for k, text in enumerate(unknown) if text.startswith("--")]
    if not places:
        return f"{unknown[0]!r} is one argument too many."
    return " Also ".join(unknown_flag(unknown[k], unknown[k + 1:][:1], flags, settable) for k in places)


def unknown_flag(flag, after, flags, settable) -> str:
    """The sentence about a flag that a command does not have. `after` is a list of the argument behind it, or empty."""
    name, equals, value = flag.removeprefix("--").partition("=")
    value = value if equals else "".join(text for text in after if not text.startswith("-"))
    option = name.replace("-", "_")
    parts = registry.parts_with(option) if settable else []
    near = None if option in ENGINE_OPTIONS or parts else nearest(name, [candidate.removeprefix("--") for candidate in flags])
    if near:
        return f"there is no flag --{name}. Did you mean --{near}?"
    if settable and not parts:
        option = option if option in ENGINE_OPTIONS else nearest(option, ENGINE_OPTIONS)
    if not settable or option is None:
        return f"there is no flag --{name}."
    value = value or ("true" if option in ENGINE_OPTIONS and ENGINE_OPTIONS[option].default is False else "VALUE")
    return f"there is no flag --{name}. Options are set: {''.join(f'--plugin {part} ' for part in parts[:1])}--set {option}={value}."


def flags_of(options) -> dict[str, str]:
    """The flags that set some of these options: those of a problem that learns from files of columns, which declares both."""
    return COLUMN_FLAGS if set(COLUMN_FLAGS) <= set(options) else {}


def read_value(key: str, text: str, option: Option):
    """The value of a text, by the option's choices or the type of its default."""
    for choice in option.choices or ():
        if str(choice) == text:
            return choice
    kind = type(option.default)
    try:
        if option.default is None:
            return guess(text)
        if kind is bool:
            return TRUTH[text.lower()]
        value = guess(text)
        if option.types is not None and option.fits(value):
            return value
        if option.falls and isinstance(value, str):
            return value
        if kind in (int, float, str):
            return kind(text)
        if isinstance(value, str) and value.isidentifier():     # the name of such a value, which the plugin knows
            return value
        if not isinstance(value, (list, dict)):
            raise TypeError
        return kind(value)
    except (KeyError, TypeError, ValueError):
        raise OptionError(f"--set {key}={text}: expected {EXPECTED.get(kind, f'a {kind.__name__} in JSON')}.") from None


def guess(text: str):
    """A value without a known type: none, a truth value, a number, JSON, else the text itself."""
    if text.lower() in ("none", "null"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def write_value(value) -> str:
    """As it would be typed."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, (list, tuple, dict)) else str(value)


def describe_options(options: dict[str, Option]) -> list[str]:
    """One line per option: name, value if nothing is set, choices and help."""
    settings = {name: f"{name}={write_value(option.default if option.recommended is None else option.recommended)}"
                for name, option in options.items()}
    width = max(map(len, settings.values()), default=0)
    lines = []
    for name, option in options.items():
        choices = f"[{' | '.join(map(write_value, option.choices))}] " if option.choices else ""
        of_paper = "" if option.recommended is None else f"; paper: {write_value(option.default)}"
        lines.append(f"{settings[name]:<{width}}  {choices}{option.help}{of_paper}{values_of(name, option)}".rstrip())
    return lines


def values_of(name, option) -> str:
    """The names that an engine option takes: those of every engine, and those of each installed plugin."""
    if name not in registry.NAMED or option is not ENGINE_OPTIONS.get(name):
        return ""
    declared = registry.NAMED[name]
    own = list(getattr(BuiltinParts, declared))
    others = [f"{plugin.name}: {', '.join(new)}" for plugin in registry.installed()
              if (new := [value for value in getattr(plugin, declared) if value not in own])]
    return f". Names: {', '.join(own)}" + "".join(f"; of {other}" for other in others)


def describe_preset(values) -> list[str]:
    """What a plugin declares for a preset, in lines of settings."""
    plain = {name: value for name, value in values.items() if isinstance(name, str)}
    cases = [f"{' '.join(settings_of(inner))} with {name[0]}={' or '.join(map(write_value, name[1:]))}"
             for name, inner in values.items() if isinstance(name, tuple)]
    return [*([" ".join(settings_of(plain))] if plain else []), *cases]


def settings_of(values) -> list[str]:
    return [f"{name}={write_value(value)}" for name, value in values.items()]
