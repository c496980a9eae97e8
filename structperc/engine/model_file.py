"""Models on disk: a zip of arrays and a JSON header; nothing in it is ever executed.

The header has the format and its number, the versions of structperc and of every plugin, and the options. Of functions it has their names.
It also has the features, the labels and the record of training. The arrays are the states of the parts, named `part.key`.
docs/model-files.md describes the format.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from collections import defaultdict

import attrs
import numpy as np

from structperc.core.column_sums import ColumnSums
from structperc.core.component import Component, inherits, located, state_of
from structperc.core.errors import DataError, ModelFormatError, NotFittedError, OptionError, PluginError
from structperc.core.saved_state import SavedState, read_array
from structperc.core.schedules import Schedule
from structperc.engine import archive, scaling
from structperc.engine import plugins as registry
from structperc.engine.assembly import install_model, options_alone
from structperc.engine.builtin import DIRECT
from structperc.engine.header import decoded, encoded, field, generator, generator_state, plain, texts
from structperc.engine.model import KINDS
from structperc.engine.not_finite import overflow
from structperc.engine.option import options_of
from structperc.engine.options import PAPER, changed_options, engine_options, given_parts
from structperc.engine.presets import leave_out, left_out
from structperc.engine.trainers import BOUNDED_SUM
from structperc.engine.writing import readable_path, replace_file
from structperc.version import __version__

FORMAT = "structperc-model"
FORMAT_NUMBER = 2
CODED = ("loss", "random_state", "classes", "plugins")             # options that a header holds in a form of their own
RULES = {"C_schedule": "C", "step_schedule": "step_size", "epsilon_schedule": "epsilon", "decay_schedule": "decay"}    # of files until 0.1
RENAMED = RULES | {"epsilon": "loss_weight", "epsilon_schedule": "loss_weight"}     # of files until 0.1: options that take functions
GONE = ("epsilon", "mixing")        # options of files until 0.1 that have become values of others
EARLIER = {"preset": PAPER}         # of files until 0.1
OBSERVES = ("structperc_epoch_end",)
REQUIRED = ("format", "format_number", "problem", "plugins", "options", "plugin_options", "context", "record")
NOT_FINITE = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}        # sums of losses that JSON has no numbers for


def save(engine, path, notes=None) -> None:
    """Writes a trained engine; an existing file is replaced only once the new one is complete. `notes` replace those of the engine."""
    if isinstance(path, io.TextIOBase):
        raise TypeError("the file was opened as text; open it with mode 'wb'.")
    header, arrays = collect(engine)
    if notes is not None:
        header["notes"] = plain(notes, "notes")
    if hasattr(path, "write"):
        write(path, header, arrays)
    else:
        replace_file(path, lambda file: write(file, header, arrays))


def load(cls, path, plugins=(), options=None):
    """Reads an engine that `save` wrote, from a path or a file opened for bytes.

    `plugins` and `options` are what a file cannot hold: plugin objects, and functions that were given as options, by name.
    """
    if hasattr(path, "read"):
        return read(cls, path, "the file", plugins, options)
    path = readable_path(path)
    try:
        with open(path, "rb") as file:
            return read(cls, file, repr(path), plugins, options)
    except OSError as error:
        raise type(error)(f"the model {path!r} cannot be read: {error.strerror or error}.") from None


def loads(cls, content, plugins=(), source="the model", options=None):
    """The engine that the content of a model file describes."""
    return read(cls, io.BytesIO(content), source, plugins, options)


def read(cls, file, source, plugins=(), options=None):
    """The engine that a file opened for bytes describes; arrays are read as the parts ask for them."""
    with opened(file, source) as (header, arrays):
        return made(cls, header, arrays, plugins, options, source)


def made(cls, header, arrays, plugins=(), options=None, source="the model"):
    """The engine that a header and arrays describe, as `collect` gives them or `opened` finds them."""
    with explained(source):
        engine = _constructed(cls, header, arrays, plugins, _again(header, options or {}, source), source)
    return restore(engine, header, arrays, source)


def dumps(engine) -> bytes:
    """The content of a model file."""
    buffer = io.BytesIO()
    write(buffer, *collect(engine))
    return buffer.getvalue()


def write(file, header, arrays) -> None:
    """Writes what `collect` gave to a file opened for bytes, without another copy of the arrays."""
    archive.write(file, encoded(header), arrays)


def collect(engine) -> tuple[dict, dict]:
    """The header of a model file and its arrays by name, copies that no later training changes."""
    model = engine.model
    if model is None:
        raise NotFittedError("an engine without training cannot be saved; call fit or partial_fit first.")
    return model.lock.read(described, engine, model)


def described(engine, model) -> tuple[dict, dict]:
    """The result of `collect` for this model of the engine."""
    if not model.parts.weights.is_finite():
        raise overflow()
    context, options, arrays, parts = model.context, dict(model.options), {}, given_parts(engine)
    options |= {name: options_of(type(engine))[name].default for name in parts}        # they stand among the plugins
    plain_options = {name: value for name, value in options.items() if name not in CODED}
    option_values = {**plain_options, **engine.plugin_options}
    header = {
        "format": FORMAT,
        "format_number": FORMAT_NUMBER,
        "structperc": __version__,
        "problem": _reference(engine.loaded_plugins[1], engine.problem),
        "plugins": [_reference(p, option_values) for p, option_values in zip(engine.loaded_plugins[2:], engine.plugins, strict=False)
                    if isinstance(option_values, str) or p.hooks != OBSERVES]      # an observer leaves nothing in a model
                   + [_reference(p, part) | {"option": name}
                      for p, (name, part) in zip(engine.loaded_plugins[2 + len(engine.plugins):], parts.items(), strict=True)],
        "options": {name: plain(number_or_text(value), f"the option {name}") for name, value in plain_options.items()
                    if not callable(value)},
        "plugin_options": {name: plain(value, f"the option {name}") for name, value in engine.plugin_options.items()
                           if not callable(value)},
        "functions": {name: _called(function) for name, function in functions_of(option_values).items()},
        "left_out": left_out(engine),
        "notes": plain(engine.notes, "notes"),
        "context": {
            "n_features": context.n_features,
            "sparse": bool(context.sparse),
            "objects": bool(context.objects),
            "feature_names": None if context.feature_names is None else list(context.feature_names),
            "labels": _sequence(context.labels, "labels", "the label", arrays),
            "random": generator_state(context.random),
        },
        "record": {
            "mistakes": [int(m) for m in model.mistakes],
            "loss": float(model.loss) if np.isfinite(model.loss) else repr(float(model.loss)),
            "status": model.status,
            "streaming": model.streaming,
            "weighted": model.weighted,
            "weighed": list(model.visit_totals),
            "temperature": float(model.temperature),
            "spread": float(model.spread),
        },
    }
    loss, seed = options["loss"], options["random_state"]
    header["options"]["loss"] = _sequence(loss, "loss", "the cost", arrays) if isinstance(loss, np.ndarray) else loss
    if isinstance(options["class_weight"], dict):
        header["options"]["class_weight"] = list(map(list, options["class_weight"].items()))    # JSON would make texts of its keys
    header["options"]["classes"] = _sequence(None if options["classes"] is None else context.labels, "classes", "the label", arrays)
    header["options"]["random_state"] = int(seed) if isinstance(seed, (int, np.integer)) else None
    arrays["weights.n_visited"] = np.array(model.parts.weights.n_visited, dtype=np.int64)
    if model.scaling is not None:
        arrays.update({f"scaling.{key}": value for key, value in model.scaling.state().items()})
        arrays["scaling.applied"] = np.array(model.scales)
    elif model.means is not None:
        arrays |= {f"columns.{key}": value for key, value in model.column_sums.state().items()}
    model.parts.warn_of_state()
    for name, part in model.parts.items():
        state = state_of(part)
        if state and inherits(part, Component, "restore"):
            raise PluginError(f"{type(part).__name__} has state() without restore(state), so no model with its {', '.join(state)} can be "
                              f"read again. Add restore, which reads what state returns.")
        arrays |= {f"{name}.{key}": np.asarray(value) for key, value in state.items()}
        answers = part.fingerprint()
        if answers is not None:
            arrays[f"probe.{name}"] = answers
    for name, array in arrays.items():
        if array.dtype.kind not in "biufUSMm":
            raise PluginError(f"the state {name!r} is an array of {'objects' if array.dtype == object else array.dtype}, which a model "
                              f"file does not hold; keep plain numbers or strings.")
    return header, arrays


@contextlib.contextmanager
def opened(file, source):
    """The header and the arrays of a model file; behind it all arrays must have been read."""
    with explained(source):
        if isinstance(file, io.TextIOBase):
            raise ModelFormatError("the file was opened as text; open it with mode 'rb'.")
        if not (hasattr(file, "readinto") and file.seekable()):
            file = io.BytesIO(file.read())
        if file.read(2) != b"PK":
            raise ModelFormatError(f"{source} is not a structperc model; expected a file written by Engine.save.")
        members = archive.Archive(file, source)
        header = header_of(members, source)
    yield header, members.arrays
    members.check_all_read()


@contextlib.contextmanager
def explained(source):
    """Turns all errors of a damaged zip or header into `ModelFormatError`; no list of these errors exists."""
    try:
        yield
    except (PluginError, ModelFormatError, OptionError, OSError):
        raise
    except Exception as error:
        why = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
        raise ModelFormatError(f"{source} is damaged or truncated ({why}); expected a file written by Engine.save.") from None


def header_of(members, source) -> dict:
    """Reads and validates the header of a model file."""
    member = members.header
    text = member.read().tobytes() if member.dtype == np.uint8 else b""
    try:
        header = decoded(text)
        number = field(header, "format_number", int, low=1)
        if header["format"] != FORMAT:
            raise ValueError(header["format"])
    except (ValueError, RecursionError, KeyError) as error:
        raise ModelFormatError(f"the header of {source} is not that of a structperc model: {error!s:.200}.") from None
    if number > FORMAT_NUMBER:
        raise ModelFormatError(f"{source} has format {number}, written by structperc {header.get('structperc', '?')!s:.40}; this version "
                               f"reads formats up to {FORMAT_NUMBER}, so upgrade structperc.")
    if members.has_sums != (number > 1):
        raise ModelFormatError(f"{source} has format {number} {'without' if number > 1 else 'with'} the member {archive.SUMS}; the file "
                               f"was "
                               f"damaged or written by hand.")
    for key in REQUIRED:
        if key not in header:
            raise ModelFormatError(f"the header of {source} lacks {key!r}; the file was damaged or written by hand.")
    return with_options_of_today(header, source)


def with_options_of_today(header, source) -> dict:
    """A header with the options of today, some of which have become values of others."""
    options, functions = dict(field(header, "options", dict)), header.get("functions", {})     # files of older versions have none
    if type(functions) is not dict or not all(type(called) is str for called in functions.values()):
        raise ModelFormatError(f"the header of {source} has impossible functions; the file was damaged or written by hand.")
    join_rules(options)
    if options.get("update") in DIRECT and ("epsilon" in options or "epsilon" in functions):
        options.pop("loss_weight", None)
        options |= {"loss_weight": options["epsilon"]} if "epsilon" in options else {}
    if options.get("mixing") == BOUNDED_SUM:
        options["trainer"] = BOUNDED_SUM
    options = {name: value for name, value in options.items() if name not in GONE}
    return header | {"options": options, "functions": {RENAMED.get(name, name): called for name, called in functions.items()}}


def join_rules(options) -> None:
    """Makes one value of a number and the rule by which it falls, in place. A step size of 1.0 was that of all rules."""
    if options.get("step_schedule") == "constant" and options["step_size"] == 1.0:
        options["step_size"] = None
    for old, name in RULES.items():
        rule = options.pop(old, "constant")
        if rule != "constant":
            options[name] = number_or_text(Schedule(options.get(name, 1.0), name, rule))


def number_or_text(value):
    """A schedule as a header holds it: a text, or the number that a function's results are multiplied by."""
    if not isinstance(value, Schedule):
        return value
    return value.start if callable(value.rule) else repr(value)


def functions_of(options) -> dict:
    """The functions among options, which no file can hold."""
    rules = {name: value.rule if isinstance(value, Schedule) else value for name, value in options.items()}
    return {name: value for name, value in rules.items() if callable(value)}


def _again(header, options, source) -> dict:
    """The options that the file could not hold, as they are passed again."""
    options = {RENAMED.get(name, name): function for name, function in options.items()}
    needed = header["functions"]
    for name, function in needed.items():
        if name not in options:
            raise PluginError(f"{source} was trained with the option {name}={function}, which a model file cannot hold; pass the same "
                              f"again: Engine.load(path, {name}={function}).")
        if _called(options[name]) != function:
            raise PluginError(f"{source} was trained with the option {name}={function}, but {name}={_called(options[name])} was passed; "
                              f"pass the same again.")
    for name in options:
        if name not in needed:
            raise OptionError(f"{source} holds all its options but {', '.join(needed)}, so {name} cannot be passed again; leave it out."
                              if needed else f"{source} holds all its options, so {name} cannot be passed again; leave it out.")
    return options


def _constructed(cls, header, arrays, plugins, functions, source):
    """An engine with the saved options."""
    by_name = {}
    for plugin in plugins:
        by_name[registry.load(plugin).name] = plugin
    references = [header["problem"], *field(header, "plugins", list)]
    resolved = [_resolved(reference, by_name, source) for reference in references]
    parts = {reference["option"]: part for reference, part in zip(references, resolved, strict=True) if "option" in reference}
    if not set(parts) <= set(registry.NAMED):
        raise ModelFormatError(f"the header of {source} has parts for the options {sorted(parts)}; the file is damaged or written by hand.")
    resolved = [part for reference, part in zip(references, resolved, strict=True) if "option" not in reference]
    for name, plugin in by_name.items():
        if registry.load(plugin).hooks != OBSERVES:
            raise PluginError(f"{source} was trained without the plugin {name!r}; train anew to use it.")
        resolved.append(plugin)
    declared = options_of(cls)
    held = field(header, "options", dict)
    options = {name: option.default for name, option in declared.items() if option.later} | EARLIER | held
    for name in declared:
        if name not in options and name not in functions and name != "plugins":
            raise ModelFormatError(f"the header of {source} lacks the option {name!r}; the file was damaged or written by hand.")
    functions = {name: Schedule(held[name], name, function) if name in held else function for name, function in functions.items()}
    options = {name: value for name, value in options.items() if name not in functions}
    options["loss"], options["classes"] = (_restored(options[name], arrays) for name in ("loss", "classes"))
    if type(options["class_weight"]) is list:
        options["class_weight"] = dict(options["class_weight"])
    saved = field(header, "plugin_options", dict)
    try:
        engine = cls(resolved[0], plugins=resolved[1:], **(options | parts), **saved, **functions)
    except PluginError:
        raise
    except Exception as error:      # a header edited by hand can hold anything
        raise ModelFormatError(f"the header of {source} has options that this version does not take: {error}") from None
    engine.notes = field(header, "notes", dict) if "notes" in header else {}        # files of older versions have none
    leave_out(engine, texts(header, "left_out") or () if "left_out" in header else ())
    engine.chosen = frozenset(changed_options(engine))          # the file has the values of all options
    for plugin, reference in zip(engine.loaded_plugins[1:], references, strict=False):
        for name, option in plugin.options.items():
            if name not in saved and name not in functions and not option.later and plugin.version == reference["version"]:
                raise ModelFormatError(f"the header of {source} lacks the option {name!r} of the plugin {plugin.name!r}; the file was "
                                       f"damaged or written by hand.")
    return engine


def _resolved(reference, by_name, source):
    """The plugin that a file names: as it was passed again, or its name if the installed one is the same."""
    name, is_name, distribution, version = (field(reference, key, kind) for key, kind in (
        ("name", str), ("named", bool), ("distribution", str), ("version", str)))
    if name in by_name:
        return by_name.pop(name)
    if not is_name:
        raise PluginError(f"{source} needs the object {name!r}, which was passed to the engine and has no entry point; "
                          f"pass it again: load(path, plugins=[...]).")
    if not registry.discover().get(name) and not registry.discover(refresh=True).get(name):
        raise PluginError(f"{source} needs the plugin {name!r} of {distribution} {version}, which is not installed; install it.")
    installed = registry.load(name)
    if installed.distribution != distribution:
        raise PluginError(f"{source} needs the plugin {name!r} of {distribution} {version}, but the installed one of this name is of "
                          f"{installed.distribution} {installed.version}. Install the other.")
    if installed.version.partition(".")[0] != version.partition(".")[0]:
        warnings.warn(f"{source} was written with the plugin {name!r} of {distribution} {version}, and {installed.version} is installed. "
                      f"Compare what it predicts, or train anew.", stacklevel=2)
    return name


def restore(engine, header, arrays, source="the model", random=None):
    """Restores the saved training to a constructed engine. `random` is a generator that continues the saved one; the default is a new
    one."""
    try:
        saved, record = header["context"], header["record"]
        names, n_features = texts(saved, "feature_names"), field(saved, "n_features", int, low=0, below=2**63)
        if names is not None and len(names) != n_features:
            raise DataError(f"feature_names does not name {n_features} features.")
        saved_random = generator(field(saved, "random", dict))
        if random is not None:
            random.bit_generator.state = saved_random.bit_generator.state
        context = attrs.evolve(options_alone(engine, saved_random if random is None else random), n_features=n_features,
                               sparse=field(saved, "sparse", bool), objects=field(saved, "objects", bool),
                               feature_names=None if names is None else tuple(names))
        states = states_of(arrays)
        install_model(engine, context, _restored(saved["labels"], arrays), {kind: states[kind] for kind in KINDS}, training_of(record))
        if len(states["scaling"]):
            engine.model.scaling = scaling.restored(states["scaling"], n_features)
            engine.model.scales = read_array(states["scaling"], "applied", np.bool_)
        for name in ("means", "columns"):       # "means" in files of older versions, of which the first ones have neither
            if len(states[name]):
                engine.model.column_sums = ColumnSums.restored(states[name], n_features)
        if "run" in header:             # a checkpoint; the model does without these
            dict(states["run"]), dict(states["observer"])
        check_functions(engine, header, SavedState(arrays), source)
    except (PluginError, ModelFormatError, OSError):
        raise
    except Exception as error:      # a file written by hand can hold anything
        why = str(error) if isinstance(error, DataError) else f"{type(error).__name__}: {error}"
        why = ", ".join((why, *getattr(located(error), "__notes__", ())))
        raise ModelFormatError(f"{source} is damaged: its parts do not fit together ({why}).") from None
    return engine


def check_functions(engine, header, arrays, source):
    """Raises an error for functions with other values than those of the same names in training."""
    if header["format_number"] == 1:            # such files have no values of functions
        return
    for name, part in engine.model.parts.items():
        values = part.fingerprint()
        if values is not None:
            saved = read_array(arrays, f"probe.{name}", np.float64, values.shape, finite=False)
            if not np.allclose(values, saved, rtol=1e-6, atol=1e-9, equal_nan=True):
                raise PluginError(f"{source} was trained with {', '.join(header['functions'])}, and the function of the same name "
                                  f"returns other values; pass the same again.")


def states_of(arrays) -> dict:
    """The saved states by the names of their parts; nothing is read."""
    states = defaultdict(dict)
    for name, array in arrays.items():
        part, _, key = name.partition(".")
        states[part][key] = array
    return defaultdict(lambda: SavedState({}), {part: SavedState(state) for part, state in states.items()})


def training_of(record) -> dict:
    """The attributes of `Model` that describe the training."""
    loss, mistakes = field(record, "loss", float, int, str), field(record, "mistakes", list)
    if not all(type(m) is int and m >= 0 for m in mistakes):
        raise DataError(f"'mistakes' of the header is {mistakes!r:.60}; expected whole numbers, at least 0.")
    return {"mistakes": mistakes, "loss": NOT_FINITE[loss] if type(loss) is str else float(loss),
            "status": field(record, "status", str, type(None)), "streaming": field(record, "streaming", bool),
            "weighted": field(record, "weighted", bool), "visit_totals": visit_totals_of(record),
            "temperature": temperature_of(record), "spread": spread_of(record)}


def visit_totals_of(record) -> tuple:
    """How many examples were learned from by visits, and the sum of their weights; files of older versions have none."""
    if "weighed" not in record:
        return 0, 0.0
    values = field(record, "weighed", list)
    if len(values) != 2:
        raise DataError(f"'weighed' of the header is {values!r:.60}; expected two numbers.")
    values = dict(zip(("n", "total"), values, strict=True))
    return field(values, "n", int, low=0), float(field(values, "total", float, int, low=0))


def temperature_of(record) -> float:
    """The temperature of a model's probabilities; files of older versions have none."""
    if "temperature" not in record:
        return 1.0
    temperature = float(field(record, "temperature", float, int, low=0))
    if temperature == 0:
        raise DataError("'temperature' of the header is 0; expected a number greater than 0.")
    return temperature


def spread_of(record) -> float:
    """The spread of a model's probabilities; files of older versions have none."""
    return float(field(record, "spread", float, int, low=0)) if "spread" in record else 0.0


def constructor_arguments(engine) -> dict:
    """What the constructor was given beside the problem."""
    return engine_options(engine) | {"plugins": engine.plugins} | engine.plugin_options


def remembered(engine) -> dict:
    """What pickle, copy and skops keep: the constructor's arguments, and the training as in a model file."""
    problem, arguments = registry.portable((engine.problem, constructor_arguments(engine)))
    return {"problem": problem, "arguments": arguments, "chosen": sorted(engine.chosen),
            "training": None if engine.model is None else collect(engine)}


def set_state(engine, state) -> None:
    """Makes a new engine what another one was."""
    problem, arguments = registry.imported((state["problem"], state["arguments"]))
    engine.__init__(problem, **arguments)
    engine.chosen = frozenset(state["chosen"])
    if state["training"] is not None:
        parts = given_parts(engine)
        objects = [plugin for plugin in (problem, *arguments["plugins"], *parts.values()) if not isinstance(plugin, str)]
        option_values = {**engine_options(engine), **dict.fromkeys(parts), **engine.plugin_options}     # parts are among the objects
        kept = made(type(engine), *state["training"], objects, functions_of(option_values), "the pickled model")
        engine.model, engine.notes, engine.preset_values = kept.model, kept.notes, kept.preset_values


def _reference(plugin, argument) -> dict:
    return {"name": plugin.name, "named": isinstance(argument, str), "distribution": plugin.distribution, "version": plugin.version}


def _called(function) -> str:
    """What a function, or an object that can be called like one, is called in a model file."""
    text = getattr(function, "__qualname__", None) or repr(function)
    return type(function).__name__ if " at 0x" in text else text


def _sequence(values, name, one, arrays):
    """An array goes into the file as it is, an array of objects as a JSON list."""
    if values is None:
        return None
    if values.dtype != object:
        arrays[name] = values
        return {"array": name}
    for value in values.tolist():
        if not isinstance(value, (str, int, float)):
            raise PluginError(f"{one} {value!r} cannot be written to a model file; use numbers or strings.")
    return {"list": values.tolist()}


def _restored(reference, arrays):
    """The inverse of `_sequence`."""
    if type(reference) is not dict:
        return reference
    if "list" in reference:
        values = np.empty(len(field(reference, "list", list)), dtype=object)
        values[:] = reference["list"]
        return values
    return SavedState(arrays)[field(reference, "array", str)]
