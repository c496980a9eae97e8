"""Writing model files: what a header and the arrays hold of a trained engine."""

from __future__ import annotations

import io

import numpy as np

from structperc.basics.errors import NotFittedError, PluginError
from structperc.basics.writing import replace_file
from structperc.core.component import Component, inherits, state_of
from structperc.core.schedules import Schedule
from structperc.engine.model_file import archive
from structperc.engine.model_file.header import encoded, generator_state, plain, sequence_to_header
from structperc.engine.model_file.record import record_of
from structperc.fitting.not_finite import overflow
from structperc.fitting.option import options_of
from structperc.fitting.options import given_parts
from structperc.fitting.presets import left_out
from structperc.version import __version__

FORMAT = "structperc-model"
TREES_FORMAT = "structperc-trees"              # without an engine: trees of another library, and notes
FORMAT_NUMBER = 1
CODED = ("loss", "random_state", "classes", "plugins")             # options that a header holds in a form of their own


def save(engine, path, notes=None) -> None:
    """Writes a trained engine; an existing file is replaced only once the new one is complete. `notes` replace those of the engine."""
    header, arrays = collect(engine)
    if notes is not None:
        header["notes"] = plain(notes, "notes")
    write_whole(path, header, arrays)


def save_trees(path, header, arrays) -> None:
    """Writes trees of another library."""
    write_whole(path, {"format": TREES_FORMAT, "format_number": FORMAT_NUMBER, "structperc": __version__, **header}, arrays)


def write_whole(path, header, arrays) -> None:
    """Writes a file, or replaces it once the new one is complete."""
    if isinstance(path, io.TextIOBase):
        raise TypeError("the file was opened as text; open it with mode 'wb'.")
    if hasattr(path, "write"):
        write(path, header, arrays)
    else:
        replace_file(path, lambda file: write(file, header, arrays))


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
        "problem": reference_to(engine.loaded_plugins[1], engine.problem),
        "plugins": [reference_to(p, option_values) for p, option_values in zip(engine.loaded_plugins[2:], engine.plugins, strict=False)
                    if isinstance(option_values, str) or not p.only_observes]      # an observer leaves nothing in a model
                   + [reference_to(p, part) | {"option": name}
                      for p, (name, part) in zip(engine.loaded_plugins[2 + len(engine.plugins):], parts.items(), strict=True)],
        "options": {name: plain(number_or_text(value), f"the option {name}") for name, value in plain_options.items()
                    if not callable(value)},
        "plugin_options": {name: plain(value, f"the option {name}") for name, value in engine.plugin_options.items()
                           if not callable(value)},
        "functions": {name: name_of_function(function) for name, function in functions_of(option_values).items()},
        "left_out": left_out(engine),
        "notes": plain(engine.notes, "notes"),
        "context": {
            "n_features": context.n_features,
            "sparse": bool(context.sparse),
            "objects": bool(context.objects),
            "feature_names": None if context.feature_names is None else list(context.feature_names),
            "labels": sequence_to_header(context.labels, "labels", "the label", arrays),
            "random": generator_state(context.random),
        },
        "record": record_of(model),
    }
    if own := engine._own_parameters():
        header["parameters"] = {name: plain(value, f"the parameter {name}") for name, value in own.items()}
    loss, seed = options["loss"], options["random_state"]
    header["options"]["loss"] = sequence_to_header(loss, "loss", "the cost", arrays) if isinstance(loss, np.ndarray) else loss
    if isinstance(options["class_weight"], dict):
        header["options"]["class_weight"] = list(map(list, options["class_weight"].items()))    # JSON would make texts of its keys
    classes = None if options["classes"] is None else context.labels
    header["options"]["classes"] = sequence_to_header(classes, "classes", "the label", arrays)
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


def number_or_text(value):
    """A schedule as a header holds it: a text, or the number that a function's results are multiplied by."""
    if not isinstance(value, Schedule):
        return value
    return value.start if callable(value.rule) else repr(value)


def functions_of(options) -> dict:
    """The functions among options, which no file can hold."""
    rules = {name: value.rule if isinstance(value, Schedule) else value for name, value in options.items()}
    return {name: value for name, value in rules.items() if callable(value)}


def reference_to(plugin, argument) -> dict:
    return {"name": plugin.name, "named": isinstance(argument, str), "distribution": plugin.distribution, "version": plugin.version}


def name_of_function(function) -> str:
    """What a function, or an object that can be called like one, is called in a model file."""
    text = getattr(function, "__qualname__", None) or repr(function)
    return type(function).__name__ if " at 0x" in text else text
