"""Reading model files: nothing in them is ever executed, and everything is checked before an engine uses it."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections import defaultdict

import attrs
import numpy as np

from structperc.basics.errors import DataError, ModelFormatError, OptionError, PluginError
from structperc.basics.saved_state import SavedState, read_array
from structperc.basics.writing import readable_path
from structperc.core.column_sums import ColumnSums
from structperc.core.component import located
from structperc.core.schedules import Schedule
from structperc.engine.model_file import archive
from structperc.engine.model_file.header import decoded, field, generator, sequence_from_header, texts
from structperc.engine.model_file.record import read_record
from structperc.engine.model_file.saving import FORMAT, FORMAT_NUMBER, TREES_FORMAT, name_of_function
from structperc.fitting import plugins as registry
from structperc.fitting import scaling
from structperc.fitting.assembly import install_model, options_alone
from structperc.fitting.model import KINDS
from structperc.fitting.option import options_of
from structperc.fitting.options import changed_options
from structperc.fitting.presets import leave_out
from structperc.version import __version__

REQUIRED = """format format_number problem plugins options plugin_options functions left_out notes context record structperc""".split()
REQUIRED_OF_TREES = "format format_number structperc library classifier parameters classes notes".split()


def load(cls, path, plugins=(), options=None):
    """Reads an engine that `save` wrote, from a path or an open file. Plugins and options are the objects that a file cannot hold."""
    return read_from(path, lambda file, source: read(cls, file, source, plugins, options))


def read_from(path, read):
    """The result of `read(file, what messages call it)` for a path or an open file."""
    if hasattr(path, "read"):
        return read(path, "the file")
    path = readable_path(path)
    try:
        with open(path, "rb") as file:
            return read(file, repr(path))
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
    if header["format"] == TREES_FORMAT:
        raise ModelFormatError(f"{source} has trees of {header['library']!s:.20} and no engine; structperc.estimators.load reads it.")
    with explained(source):
        engine = constructed(cls, header, arrays, plugins, functions_passed_again(header, options or {}, source), source)
    return restore(engine, header, arrays, source)


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


def header_in(file, source) -> dict:
    """The header of a model file, whose arrays are not read."""
    with explained(source):
        return header_of(archive.Archive(file, source), source)


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
        required = {FORMAT: REQUIRED, TREES_FORMAT: REQUIRED_OF_TREES}.get(field(header, "format", str))
        if required is None:
            raise ValueError(header["format"])
    except (ValueError, RecursionError, KeyError) as error:
        raise ModelFormatError(f"the header of {source} is not that of a structperc model: {error!s:.200}.") from None
    if number > FORMAT_NUMBER:
        raise ModelFormatError(f"{source} has format {number}, written by structperc {header.get('structperc', '?')!s:.40}; this version "
                               f"reads format {FORMAT_NUMBER}, so upgrade structperc.")
    for key in required:
        if key not in header:
            raise ModelFormatError(f"the header of {source} lacks {key!r}; the file was damaged or written by hand.")
    if not members.has_sums:
        raise ModelFormatError(f"{source} lacks the member {archive.SUMS}; the file was damaged or written by hand.")
    functions = header.get("functions", {})
    if type(functions) is not dict or not all(type(called) is str for called in functions.values()):
        raise ModelFormatError(f"the header of {source} has impossible functions; the file was damaged or written by hand.")
    return header


def functions_passed_again(header, options, source) -> dict:
    """The options that the file could not hold, as they are passed again."""
    needed = header["functions"]
    for name, function in needed.items():
        if name not in options:
            raise PluginError(f"{source} was trained with the option {name}={function}, which a model file cannot hold; pass the same "
                              f"again: Engine.load(path, {name}={function}).")
        passed = name_of_function(options[name])
        if passed != function:
            raise PluginError(f"{source} was trained with the option {name}={function}, but {name}={passed} was passed; pass the same "
                              f"again.")
    for name in options:
        if name not in needed:
            raise OptionError(f"{source} holds all its options but {', '.join(needed)}, so {name} cannot be passed again; leave it out."
                              if needed else f"{source} holds all its options, so {name} cannot be passed again; leave it out.")
    return options


def constructed(cls, header, arrays, plugins, functions, source):
    """An engine with the saved options."""
    by_name = {}
    for plugin in plugins:
        by_name[registry.load(plugin).name] = plugin
    references = [header["problem"], *field(header, "plugins", list)]
    resolved = [resolve(reference, by_name, source) for reference in references]
    parts = {reference["option"]: part for reference, part in zip(references, resolved, strict=True) if "option" in reference}
    if not set(parts) <= set(registry.NAMED):
        raise ModelFormatError(f"the header of {source} has parts for the options {sorted(parts)}; the file is damaged or written by hand.")
    resolved = [part for reference, part in zip(references, resolved, strict=True) if "option" not in reference]
    for name, plugin in by_name.items():
        if not registry.load(plugin).only_observes:
            raise PluginError(f"{source} was trained without the plugin {name!r}; train anew to use it.")
        resolved.append(plugin)
    declared = options_of(cls)
    held = field(header, "options", dict)
    for name in declared:           # another version may lack some
        if name not in held and name not in functions and name != "plugins" and header["structperc"] == __version__:
            raise ModelFormatError(f"the header of {source} lacks the option {name!r}; the file was damaged or written by hand.")
    functions = {name: Schedule(held[name], name, function) if name in held else function for name, function in functions.items()}
    options = {name: value for name, value in held.items() if name not in functions}
    options["loss"], options["classes"] = (sequence_from_header(options[name], arrays) for name in ("loss", "classes"))
    if type(options["class_weight"]) is list:
        options["class_weight"] = dict(options["class_weight"])
    saved = field(header, "plugin_options", dict)
    try:
        own = field(header, "parameters", dict) if "parameters" in header else {}
        engine = cls.__new__(cls)._begin(resolved[0], {"plugins": resolved[1:], **options, **parts, **saved, **functions}, own)
    except PluginError:
        raise
    except Exception as error:      # a header edited by hand can hold anything
        raise ModelFormatError(f"the header of {source} has options that this version does not take: {error}") from None
    engine.notes = field(header, "notes", dict)
    leave_out(engine, texts(header, "left_out") or ())
    engine.chosen = frozenset(changed_options(engine))          # the file has the values of all options
    for plugin, reference in zip(engine.loaded_plugins[1:], references, strict=False):
        for name in plugin.options:
            if name not in saved and name not in functions and plugin.version == reference["version"]:
                raise ModelFormatError(f"the header of {source} lacks the option {name!r} of the plugin {plugin.name!r}; the file was "
                                       f"damaged or written by hand.")
    return engine


def resolve(reference, by_name, source):
    """The plugin that a file names: as it was passed again, or its name if the installed one is the same."""
    name, is_name, distribution, version = (field(reference, key, kind) for key, kind in (
        ("name", str), ("named", bool), ("distribution", str), ("version", str)))
    if name in by_name:
        return by_name.pop(name)
    if not is_name:
        raise PluginError(f"{source} needs the object {name!r}, which was passed to the engine and has no entry point; "
                          f"pass it again: load(path, plugins=[...]).")
    if name not in registry.with_name(name).entries:
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
    """Restores the saved training to a constructed engine. `random` continues the saved generator; the default is a new one."""
    try:
        saved, record = header["context"], header["record"]
        names, n_features = texts(saved, "feature_names"), field(saved, "n_features", int, low=0, below=2**63)
        if names is not None and len(names) != n_features:
            raise DataError(f"feature_names does not name {n_features} features.")
        saved_random = generator(field(saved, "random", dict))
        random, random_state = saved_random if random is None else random, saved_random.bit_generator.state
        random.bit_generator.state = random_state
        context = attrs.evolve(options_alone(engine, random), n_features=n_features,
                               sparse=field(saved, "sparse", bool), objects=field(saved, "objects", bool),
                               feature_names=None if names is None else tuple(names))
        states = states_of(arrays)
        labels = sequence_from_header(saved["labels"], arrays)
        install_model(engine, context, labels, {kind: states[kind] for kind in KINDS}, read_record(record))
        restore_columns(engine.model, states, n_features)
        random.bit_generator.state = random_state           # parts may draw from it as they start
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


def restore_columns(model, states, n_features) -> None:
    """Gives a model what the saved training knew of all rows: units, means and spreads of the columns."""
    if len(states["scaling"]):
        model.scaling = scaling.restored(states["scaling"], n_features)
        model.scales = read_array(states["scaling"], "applied", np.bool_)
    if len(states["columns"]):
        model.column_sums = ColumnSums.restored(states["columns"], n_features)


def check_functions(engine, header, arrays, source):
    """Raises an error for functions with other values than those of the same names in training."""
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
