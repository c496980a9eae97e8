"""The formats, and the file of a model in one of them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from structperc.basics.errors import OptionError, PluginError, StructPercError, did_you_mean, shortened
from structperc.basics.writing import replace_file
from structperc.core.outputs import LabelOutputs
from structperc.engine.exports.chains import LinearChain, linear_chain
from structperc.engine.exports.graphs import from_float32
from structperc.engine.exports.labels import LinearLabels, linear_labels
from structperc.engine.exports.names import identifier
from structperc.engine.exports.networks import after_network
from structperc.engine.exports.own_parts import refuse_other_plugins
from structperc.engine.exports.scores import LinearScores, linear_scores
from structperc.files.opening import ending_of

# Of each format the module, and the ending of file names that chooses it.
FORMATS = {
    "numpy": ("numpy_module", ".py"),
    "c": ("c_source", ".c"),
    "js": ("javascript", ".js"),
    "onnx": ("onnx_graph", ".onnx"),
    "onnx-float32": ("onnx_graph", None),
    "safetensors": ("safetensors", ".safetensors"),
    "html": ("web_page", ".html"),
}
CONVERSIONS = {"onnx-float32": from_float32}        # of what the module has written
ALSO_CALLED = {"numpy": ("python", "py")}
ENDINGS = {ending: name for name, (_, ending) in FORMATS.items() if ending}


def export(engine, path, to) -> None:
    """Writes a model as a file of another language; see `Engine.export`."""
    if to is None:
        to = ENDINGS.get(ending_of(path))
        if to is None:
            raise OptionError(f"the ending of {path} names no format; pass `to` (structperc export: --to), or end it with "
                              f"{', '.join(ENDINGS)}.")
    if to not in FORMATS:
        raise OptionError(f"to={shortened(to)}; expected {', '.join(map(repr, FORMATS))}.{did_you_mean(to, FORMATS, ALSO_CALLED)}")
    model = described(engine)
    module = f"{type(model).__module__}.{FORMATS[to][0]}"
    if find_spec(module) is None:
        raise PluginError(f"to={to!r} only shows ranks and classes, and this model of {engine.problem} has other outputs; choose another "
                          f"format.")
    if model.network is not None and FORMATS[to][0] != "onnx_graph":
        raise PluginError(f"to={to!r} holds linear scores, and a network computes those of this model. Choose 'onnx', which holds the "
                          f"network too.")
    content = import_module(module).written(model, identifier(Path(path).stem, to))
    content = CONVERSIONS.get(to, bytes)(content if model.network is None else after_network(content, model.network))
    replace_file(path, lambda file: file.write(content))


def described(engine) -> LinearLabels | LinearChain | LinearScores:
    """The form of a trained model, by its scores, so of any problem. It is compared with the model's predictions of drawn rows."""
    engine.model_.parts.trainer.check_answers()
    refuse_other_plugins(engine)
    try:
        chain = linear_chain(engine)
        if chain is not None:
            return chain
        return (linear_labels if isinstance(engine.model_.parts.outputs, LabelOutputs) else linear_scores)(engine)
    except StructPercError as error:
        raise PluginError(f"this model of {engine.problem} cannot be exported: exports need one label for each row, a chain of labels, or "
                          f"rows in the order of scores. Scores must be linear in numbers or named features. {error}") from None
