"""The ONNX graph with an input of float32, as most servers send."""

from __future__ import annotations

from structperc.engine.exports.graphs import from_float32
from structperc.engine.exports.scores import onnx_graph


def written(model, name) -> bytes:
    """The serialised graph; parameters as of `structperc.engine.exports`."""
    return from_float32(onnx_graph.written(model, name))
