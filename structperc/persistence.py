"""Models on disk: one zip of arrays (npz) and a JSON header; nothing in it is ever executed.

The entry `header` holds, as UTF-8 JSON: the format and its number, the versions of structperc and of every plugin, the
options, what is known of the data (features, labels) and the record of training. The other entries are the state of the
parts, named `part.key`.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
import zlib

import attrs
import numpy as np

from structperc import registry
from structperc.core.errors import ModelFormatError, NotFittedError, OptionError, PluginError

FORMAT = "structperc-model"
FORMAT_NUMBER = 1
PLAIN = ("update", "margin", "augment", "C", "epochs", "average", "decay", "shuffle", "fit_intercept")
REQUIRED = ("format", "format_number", "problem", "plugins", "options", "plugin_options", "task", "record")


def save(engine, path) -> None:
    """Writes a trained engine; an existing file is replaced only once the new one is complete."""
    content = dumps(engine)
    if hasattr(path, "write"):
        path.write(content)
        return
    path = os.fspath(path)
    folder = os.path.dirname(path) or "."
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=".structperc-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise type(error)(f"the model cannot be written to {path!r}: {error.strerror or error}; "
                          f"choose a path in a writable folder.") from None


def load(path, plugins=()):
    """Reads an engine that `save` wrote, from a path or a file opened for bytes."""
    if hasattr(path, "read"):
        content, shown = path.read(), "the file"
    else:
        shown = repr(os.fspath(path))
        try:
            with open(path, "rb") as file:
                content = file.read()
        except OSError as error:
            raise type(error)(f"the model {shown} cannot be read: {error.strerror or error}.") from None
    header, arrays = unpack(content, shown)
    return restore(_constructed(header, arrays, plugins, shown), header, arrays, shown)


def dumps(engine) -> bytes:
    """The content of a model file."""
    fitted = engine._fitted
    if fitted is None:
        raise NotFittedError("an engine without training cannot be saved; call fit or partial_fit first.")
    task = fitted.task
    arrays = {}
    header = {
        "format": FORMAT,
        "format_number": FORMAT_NUMBER,
        "structperc": _version(),
        "problem": _reference(engine._plugins[1], engine.problem),
        "plugins": [_reference(p, given) for p, given in zip(engine._plugins[2:], engine.plugins, strict=True)
                    if isinstance(given, str) or p.hooks != ("structperc_epoch_end",)],     # an observer leaves nothing in a model
        "options": {name: _plain(getattr(engine, name), name) for name in PLAIN},
        "plugin_options": {name: _plain(value, name) for name, value in engine.plugin_options.items()},
        "task": {
            "n_features": task.n_features,
            "sparse": bool(task.sparse),
            "objects": bool(task.objects),
            "feature_names": task.feature_names,
            "labels": _sequence(task.labels, "labels", arrays),
            "random": _jsonable(task.random.bit_generator.state),
        },
        "record": {
            "mistakes": [int(m) for m in fitted.mistakes],
            "loss": float(fitted.loss),
            "status": fitted.status,
            "streaming": fitted.streaming,
            "weighted": fitted.weighted,
        },
    }
    header["options"]["loss"] = _sequence(engine.loss, "loss", arrays) if isinstance(engine.loss, np.ndarray) else engine.loss
    header["options"]["classes"] = None if engine.classes is None else _sequence(np.asarray(engine.classes), "classes", arrays)
    header["options"]["random_state"] = int(engine.random_state) if isinstance(engine.random_state, (int, np.integer)) else None
    for name, part in _named_parts(fitted.parts):
        for key, value in part.state().items():
            arrays[f"{name}.{key}"] = np.asarray(value)
    objects = [name for name, array in arrays.items() if array.dtype == object]
    if objects:
        raise PluginError(f"the state {objects[0]!r} is an array of objects, which a model file does not hold; "
                          f"keep plain numbers or strings.")
    text = json.dumps(header, ensure_ascii=False)
    buffer = io.BytesIO()
    np.savez(buffer, header=np.frombuffer(text.encode(), dtype=np.uint8), **arrays)
    return buffer.getvalue()


def unpack(content: bytes, shown: str) -> tuple[dict, dict]:
    """Header and arrays of a model file, or why it is none."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        begins = content[:2] == b"PK"
        what = "is damaged or truncated" if begins else "is not a structperc model"
        raise ModelFormatError(f"{shown} {what} ({type(error).__name__}: {error}); expected a file written by Engine.save.") from None
    if "header" not in arrays:
        raise ModelFormatError(f"{shown} is an npz file without a structperc header; expected a file written by Engine.save.")
    try:
        header = json.loads(arrays.pop("header").tobytes().decode())
        if header["format"] != FORMAT:
            raise KeyError("format")
        number = int(header["format_number"])
    except (UnicodeDecodeError, json.JSONDecodeError, KeyError, TypeError, ValueError):
        raise ModelFormatError(f"the header of {shown} is not that of a structperc model.") from None
    if number > FORMAT_NUMBER:
        raise ModelFormatError(f"{shown} has format {number}, written by structperc {header.get('structperc', '?')}; this version reads "
                               f"formats up to {FORMAT_NUMBER}, so upgrade structperc.")
    for key in REQUIRED:
        if key not in header:
            raise ModelFormatError(f"the header of {shown} lacks {key!r}; the file was damaged or written by hand.")
    return header, arrays


def _constructed(header, arrays, plugins, shown):
    """An engine with the saved options."""
    from structperc.engine import Engine

    given = {}
    for plugin in plugins:
        given[registry.load(plugin).name] = plugin

    def resolve(reference):
        name = reference["name"]
        if name in given:
            return given[name]
        if not reference["named"]:
            raise PluginError(f"{shown} needs the object {name!r}, which was passed to the engine and has no entry point; "
                              f"pass it again: Engine.load(path, plugins=[...]).")
        if not registry.discover().get(name) and not registry.discover(refresh=True).get(name):
            raise PluginError(f"{shown} needs the plugin {name!r} of {reference['distribution']} {reference['version']}, "
                              f"which is not installed; install it.")
        return name

    try:
        options = dict(header["options"])
        options["loss"] = _restored(options["loss"], arrays)
        options["classes"] = _restored(options["classes"], arrays)
        return Engine(resolve(header["problem"]), plugins=[resolve(r) for r in header["plugins"]], **options, **header["plugin_options"])
    except (KeyError, TypeError, OptionError) as error:
        if isinstance(error, PluginError):
            raise
        raise ModelFormatError(f"the header of {shown} has options that this version does not take: {error}") from None


def restore(engine, header, arrays, shown="the model"):
    """Gives a constructed engine the saved training."""
    try:
        saved, record = header["task"], header["record"]
        random = np.random.default_rng()
        random.bit_generator.state = saved["random"]
        names = saved["feature_names"]
        task = attrs.evolve(engine._task(random), n_features=int(saved["n_features"]), sparse=bool(saved["sparse"]),
                            objects=bool(saved["objects"]), feature_names=None if names is None else tuple(names))
        outputs = engine._ask("structperc_outputs", task)
        labels = outputs.find_labels(None, _restored(saved["labels"], arrays))
        fitted = engine._assemble(task, outputs, labels)
        for name, part in _named_parts(fitted.parts):
            prefix = f"{name}."
            part.restore({key[len(prefix):]: array for key, array in arrays.items() if key.startswith(prefix)})
        fitted.mistakes = [int(m) for m in record["mistakes"]]
        fitted.loss, fitted.status, fitted.streaming = float(record["loss"]), record["status"], bool(record["streaming"])
        fitted.weighted = bool(record["weighted"])
    except (KeyError, IndexError, AttributeError, ValueError, TypeError) as error:
        if isinstance(error, (PluginError, ModelFormatError)):
            raise
        raise ModelFormatError(f"{shown} is damaged: its parts do not fit together ({type(error).__name__}: {error}).") from None
    engine._fitted = fitted
    return engine


def pickled(engine):
    """What pickle and copy keep: the constructor's arguments, and the training as the bytes of a model file."""
    arguments = {name: getattr(engine, name) for name in (*PLAIN, "loss", "classes", "random_state", "plugins")}
    arguments.update(engine.plugin_options)
    return _unpickled, (engine.problem, arguments, None if engine._fitted is None else dumps(engine))


def _unpickled(problem, arguments, content):
    from structperc.engine import Engine

    engine = Engine(problem, **arguments)
    return engine if content is None else restore(engine, *unpack(content, "the pickled model"))


def _named_parts(parts):
    return [(name, part) for name, part in attrs.asdict(parts, recurse=False).items() if hasattr(part, "state")]


def _reference(plugin, given) -> dict:
    return {"name": plugin.name, "named": isinstance(given, str), "distribution": plugin.distribution, "version": plugin.version}


def _plain(value, name):
    """Numbers, strings and the like as JSON has them."""
    value = value.item() if isinstance(value, np.generic) else value
    try:
        json.dumps(value)
    except TypeError:
        raise PluginError(f"the option {name}={value!r} cannot be written to a model file; "
                          f"only numbers, strings, lists and None can.") from None
    return value


def _jsonable(state):
    """The state of a bit generator, whose arrays become lists."""
    if isinstance(state, dict):
        return {k: _jsonable(v) for k, v in state.items()}
    return state.tolist() if isinstance(state, (np.ndarray, np.generic)) else state


def _sequence(values, name, arrays):
    """An array goes into the file as it is, an array of objects as a JSON list."""
    if values is None:
        return None
    if values.dtype != object:
        arrays[name] = values
        return {"array": name}
    return {"list": [_plain(v, name) for v in values.tolist()]}


def _restored(reference, arrays):
    if not isinstance(reference, dict):
        return reference
    if "list" in reference:
        values = np.empty(len(reference["list"]), dtype=object)
        values[:] = reference["list"]
        return values
    return arrays[reference["array"]]


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _version() -> str:
    from structperc import __version__

    return __version__
