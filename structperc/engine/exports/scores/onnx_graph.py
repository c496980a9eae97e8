"""ONNX of scores of rows."""

from __future__ import annotations

import numpy as np

from structperc.engine.exports.graphs import serialised
from structperc.extras import require


def written(model, name) -> bytes:
    """The serialised graph: input X (n, d); output scores (n,). Parameters as of `structperc.engine.exports`."""
    onnx = require("onnx", "writing ONNX files", "onnx")
    number = onnx.TensorProto.DOUBLE
    return serialised(onnx, name, model.description, [
        onnx.helper.make_node("MatMul", ["X", "weights"], ["products"]), onnx.helper.make_node("Add", ["products", "bias"], ["scores"])],
                      [("X", number, ["n", len(model.weights)])], [("scores", number, ["n"])],
                      [onnx.numpy_helper.from_array(model.weights, "weights"), onnx.numpy_helper.from_array(np.array(model.bias), "bias")])
