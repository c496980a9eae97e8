"""ONNX of labels of rows."""

from __future__ import annotations

import numpy as np

from structperc.engine.exports.graphs import label_tensor, serialised
from structperc.extras import require


def written(model, name) -> bytes:
    """The serialised graph: input X (n, d); outputs label, scores, probabilities. Parameters as of `structperc.engine.exports`."""
    onnx = require("onnx", "writing ONNX files", "onnx")
    node, array, number = onnx.helper.make_node, onnx.numpy_helper.from_array, onnx.TensorProto.DOUBLE
    labels, kind = label_tensor(onnx, model.labels)
    n, d = model.weights.shape
    return serialised(onnx, name, model.description, [
        node("MatMul", ["X", "weights"], ["products"]),
        node("Add", ["products", "bias"], ["scores"]),
        node("ArgMax", ["scores"], ["best"], axis=1, keepdims=0, select_last_index=int(model.last)),
        node("Gather", ["labels", "best"], ["label"], axis=0),
        node("Div", ["scores", "temperature"], ["tempered"]),
        node("Softmax", ["tempered"], ["probabilities"], axis=1),
    ], [("X", number, ["n", d])], [("label", kind, ["n"]), ("scores", number, ["n", n]), ("probabilities", number, ["n", n])],
        [array(np.ascontiguousarray(model.weights.T), "weights"), array(model.bias, "bias"),
         array(np.array(model.temperature), "temperature"), labels])
