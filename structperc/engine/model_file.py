"""Models on disk: one zip of arrays (npz) and a JSON header; nothing in it is ever executed.

The entry `header` holds, as UTF-8 JSON: the format and its number, the versions of structperc and of every plugin, the
options (of functions their names), what is known of the data (features, labels) and the record of training. The other
entries are the state of the parts, named `part.key`.
"""

from __future__ import annotations

import io
import json
import os

import attrs
import numpy as np

from structperc.core.errors import ModelFormatError, NotFittedError, OptionError, PluginError
from structperc.engine import plugins as registry
from structperc.engine.assembly import adopt, options_alone
from structperc.engine.model import Parts
from structperc.engine.options import ENGINE_OPTIONS
from structperc.engine.writing import replace_file
from structperc.version import __version__

FORMAT = "structperc-model"
FORMAT_NUMBER = 1
PLAIN = tuple(name for name in ENGINE_OPTIONS if name not in ("loss", "random_state", "classes", "plugins"))
OBSERVES = ("structperc_epoch_end",)
REQUIRED = ("format", "format_number", "problem", "plugins", "options", "plugin_options", "context", "record")


def save(engine, path) -> None:
    """Writes a trained engine; an existing file is replaced only once the new one is complete."""
    content = dumps(engine)
    if hasattr(path, "write"):
        if isinstance(path, io.TextIOBase):
            raise TypeError("the file was opened as text; open it with mode 'wb'.")
        path.write(content)
        return
    replace_file(path, lambda file: file.write(content))


def load(cls, path, plugins=(), options=None):
    """Reads an engine that `save` wrote, from a path or a file opened for bytes.

    `plugins` and `options` are what a file cannot hold: plugin objects, and functions that were given as options, by name.
    """
    if hasattr(path, "read"):
        content, shown = path.read(), "the file"
        if isinstance(content, str):
            raise ModelFormatError("the file was opened as text; open it with mode 'rb'.")
    else:
        shown = repr(os.fsdecode(path))
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError as error:
            raise type(error)(f"the model {shown} cannot be read: {error.strerror or error}.") from None
    return loads(cls, content, plugins, shown, options)


def loads(cls, content, plugins=(), shown="the model", options=None):
    """The engine that the content of a model file describes."""
    header, arrays = unpack(content, shown)
    return restore(_constructed(cls, header, arrays, plugins, _again(header, options or {}, shown), shown), header, arrays, shown)


def dumps(engine) -> bytes:
    """The content of a model file."""
    buffer = io.BytesIO()
    write(buffer, *collect(engine))
    return buffer.getvalue()


def write(file, header, arrays) -> None:
    """Writes what `collect` gave to a file opened for bytes."""
    text = json.dumps(header, ensure_ascii=False)
    np.savez(file, header=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)


def collect(engine) -> tuple[dict, dict]:
    """The header of a model file and its arrays by name, copies that no later training changes."""
    model = engine.model
    if model is None:
        raise NotFittedError("an engine without training cannot be saved; call fit or partial_fit first.")
    context, options, arrays = model.context, model.options, {}
    header = {
        "format": FORMAT,
        "format_number": FORMAT_NUMBER,
        "structperc": __version__,
        "problem": _reference(engine.loaded_plugins[1], engine.problem),
        "plugins": [_reference(p, given) for p, given in zip(engine.loaded_plugins[2:], engine.plugins, strict=True)
                    if isinstance(given, str) or p.hooks != OBSERVES],     # an observer leaves nothing in a model
        "options": {name: _plain(options[name], f"the option {name}") for name in PLAIN},
        "plugin_options": {name: _plain(value, f"the option {name}") for name, value in engine.plugin_options.items()
                           if not callable(value)},
        "functions": {name: _called(value) for name, value in engine.plugin_options.items() if callable(value)},
        "context": {
            "n_features": context.n_features,
            "sparse": bool(context.sparse),
            "objects": bool(context.objects),
            "feature_names": context.feature_names,
            "labels": _sequence(context.labels, "labels", "the label", arrays),
            "random": _jsonable(context.random.bit_generator.state),
        },
        "record": {
            "mistakes": [int(m) for m in model.mistakes],
            "loss": float(model.loss),
            "status": model.status,
            "streaming": model.streaming,
            "weighted": model.weighted,
        },
    }
    loss, seed = options["loss"], options["random_state"]
    header["options"]["loss"] = _sequence(loss, "loss", "the cost", arrays) if isinstance(loss, np.ndarray) else loss
    header["options"]["classes"] = _sequence(None if options["classes"] is None else context.labels, "classes", "the label", arrays)
    header["options"]["random_state"] = int(seed) if isinstance(seed, (int, np.integer)) else None
    arrays["weights.n_visited"] = np.array(model.parts.weights.n_visited)
    for name, part in model.parts.items():
        for key, value in part.state().items():
            arrays[f"{name}.{key}"] = np.asarray(value)
    objects = [name for name, array in arrays.items() if array.dtype == object]
    if objects:
        raise PluginError(f"the state {objects[0]!r} is an array of objects, which a model file does not hold; "
                          f"keep plain numbers or strings.")
    return header, arrays


def unpack(content: bytes, shown: str) -> tuple[dict, dict]:
    """Header and arrays of a model file, or why it is none."""
    if content[:2] != b"PK":
        raise ModelFormatError(f"{shown} is not a structperc model; expected a file written by Engine.save.")
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as error:      # what a damaged zip can raise is not written down anywhere
        raise ModelFormatError(f"{shown} is damaged or truncated ({type(error).__name__}: {error}); "
                               f"expected a file written by Engine.save.") from None
    if "header" not in arrays:
        raise ModelFormatError(f"{shown} is an npz file without a structperc header; expected a file written by Engine.save.")
    try:
        header = json.loads(arrays.pop("header").tobytes().decode())
        if header["format"] != FORMAT:
            raise KeyError("format")
        number = int(header["format_number"])
        if number < 1:
            raise ValueError(number)
    except (AttributeError, UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError):
        raise ModelFormatError(f"the header of {shown} is not that of a structperc model.") from None
    if number > FORMAT_NUMBER:
        raise ModelFormatError(f"{shown} has format {number}, written by structperc {header.get('structperc', '?')}; this version reads "
                               f"formats up to {FORMAT_NUMBER}, so upgrade structperc.")
    for key in REQUIRED:
        if key not in header:
            raise ModelFormatError(f"the header of {shown} lacks {key!r}; the file was damaged or written by hand.")
    return header, arrays


def _again(header, options, shown) -> dict:
    """The options that the file could not hold, as they are passed again."""
    needed = header.get("functions", {})        # files of older versions have none
    if not isinstance(needed, dict):
        raise ModelFormatError(f"the header of {shown} has impossible functions; the file was damaged or written by hand.")
    for name, function in needed.items():
        if name not in options:
            raise PluginError(f"{shown} was trained with the option {name}={function}, which a model file cannot hold; pass the same "
                              f"again: Engine.load(path, {name}={function}).")
        if _called(options[name]) != function:
            raise PluginError(f"{shown} was trained with the option {name}={function}, but {name}={_called(options[name])} was passed; "
                              f"pass the same again.")
    for name in options:
        if name not in needed:
            raise OptionError(f"{shown} holds all its options but {', '.join(needed)}, so {name} cannot be passed again; leave it out."
                              if needed else f"{shown} holds all its options, so {name} cannot be passed again; leave it out.")
    return options


def _constructed(cls, header, arrays, plugins, functions, shown):
    """An engine with the saved options."""
    given = {}
    for plugin in plugins:
        given[registry.load(plugin).name] = plugin

    def resolve(reference):
        name = reference["name"]
        if name in given:
            return given.pop(name)
        if not reference["named"]:
            raise PluginError(f"{shown} needs the object {name!r}, which was passed to the engine and has no entry point; "
                              f"pass it again: Engine.load(path, plugins=[...]).")
        if not registry.discover().get(name) and not registry.discover(refresh=True).get(name):
            raise PluginError(f"{shown} needs the plugin {name!r} of {reference['distribution']} {reference['version']}, "
                              f"which is not installed; install it.")
        return name

    try:
        options = {name: option.default for name, option in ENGINE_OPTIONS.items() if option.later} | header["options"]
        for name in (*PLAIN, "loss", "classes", "random_state"):
            if name not in options:
                raise ModelFormatError(f"the header of {shown} lacks the option {name!r}; the file was damaged or written by hand.")
        options["loss"] = _restored(options["loss"], arrays)
        options["classes"] = _restored(options["classes"], arrays)
        problem, named = resolve(header["problem"]), [resolve(reference) for reference in header["plugins"]]
        for name, plugin in given.items():
            if registry.load(plugin).hooks != OBSERVES:
                raise PluginError(f"{shown} was trained without the plugin {name!r}; train anew to use it.")
            named.append(plugin)
        return cls(problem, plugins=named, **options, **header["plugin_options"], **functions)
    except (PluginError, ModelFormatError):
        raise
    except Exception as error:      # a header edited by hand can hold anything
        raise ModelFormatError(f"the header of {shown} has options that this version does not take: {error}") from None


def restore(engine, header, arrays, shown="the model"):
    """Gives a constructed engine the saved training."""
    try:
        saved, record = header["context"], header["record"]
        names, n_features = saved["feature_names"], int(saved["n_features"])
        if names is not None and (len(names) != n_features or not all(isinstance(name, str) for name in names)):
            raise ValueError(f"feature_names does not name {n_features} features")
        context = attrs.evolve(options_alone(engine, _generator(saved["random"])), n_features=n_features, sparse=bool(saved["sparse"]),
                               objects=bool(saved["objects"]), feature_names=None if names is None else tuple(names))
        states = {}
        for key, array in arrays.items():
            part, _, name = key.partition(".")
            states.setdefault(part, {})[name] = array
        training = {"mistakes": [int(m) for m in record["mistakes"]], "loss": float(record["loss"]), "status": record["status"],
                    "streaming": bool(record["streaming"]), "weighted": bool(record["weighted"])}
        labels = _restored(saved["labels"], arrays)
        adopt(engine, context, labels, {kind: states.get(kind, {}) for kind in Parts.kinds()}, training)
    except (PluginError, ModelFormatError):
        raise
    except Exception as error:      # as above
        raise ModelFormatError(f"{shown} is damaged: its parts do not fit together ({type(error).__name__}: {error}).") from None
    return engine


def _generator(state):
    """A generator of the saved kind in the saved state."""
    kinds = {kind.__name__: kind for kind in (np.random.MT19937, np.random.PCG64, np.random.PCG64DXSM, np.random.Philox, np.random.SFC64)}
    bits = kinds[state["bit_generator"]]()
    bits.state = {key: _arrays(value, np.uint32 if isinstance(bits, np.random.MT19937) else np.uint64) for key, value in state.items()}
    return np.random.Generator(bits)


def _arrays(value, dtype):
    """Lists of a JSON document as the arrays they were."""
    if isinstance(value, dict):
        return {key: _arrays(inner, dtype) for key, inner in value.items()}
    return np.array(value, dtype=dtype) if isinstance(value, list) else value


def pickled(engine):
    """What pickle and copy keep: the constructor's arguments, and the training as the content of a model file."""
    arguments = {name: getattr(engine, name) for name in (*PLAIN, "loss", "classes", "random_state", "plugins")}
    arguments.update(engine.plugin_options)
    problem, arguments = registry.portable((engine.problem, arguments))
    return _unpickled, (type(engine), problem, arguments, None if engine.model is None else dumps(engine))


def _unpickled(cls, problem, arguments, content):
    problem, arguments = registry.imported((problem, arguments))
    engine = cls(problem, **arguments)
    if content is not None:
        objects = [plugin for plugin in (problem, *arguments["plugins"]) if not isinstance(plugin, str)]
        functions = {name: value for name, value in engine.plugin_options.items() if callable(value)}
        engine.model = loads(cls, content, objects, "the pickled model", functions).model
    return engine


def _reference(plugin, given) -> dict:
    return {"name": plugin.name, "named": isinstance(given, str), "distribution": plugin.distribution, "version": plugin.version}


def _called(function) -> str:
    """What a function, or an object that can be called like one, is called in a model file."""
    shown = getattr(function, "__qualname__", None) or repr(function)
    return type(function).__name__ if " at 0x" in shown else shown


def _plain(value, name):
    """Numbers, strings and the like as JSON has them."""
    value = value.item() if isinstance(value, np.generic) else value
    try:
        json.dumps(value)
    except TypeError:
        raise PluginError(f"{name}={value!r} cannot be written to a model file; use numbers, strings, lists, None or a "
                          f"function.") from None
    return value


def _jsonable(state):
    """The state of a bit generator, whose arrays become lists."""
    if isinstance(state, dict):
        return {k: _jsonable(v) for k, v in state.items()}
    return state.tolist() if isinstance(state, (np.ndarray, np.generic)) else state


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
    if not isinstance(reference, dict):
        return reference
    if "list" in reference:
        values = np.empty(len(reference["list"]), dtype=object)
        values[:] = reference["list"]
        return values
    return arrays[reference["array"]]
