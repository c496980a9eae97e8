"""ONNX: a graph of core operators, its scores in float64."""

from __future__ import annotations

import numpy as np

from structperc.extras import require

OPERATORS = 13          # version of the operator set


def written(model, name) -> bytes:
    """The serialised graph: input X (n, d); outputs label, scores, probabilities. Parameters as of `structperc.engine.exports`."""
    onnx = require("onnx", "writing ONNX files", "onnx")
    helper, array = onnx.helper, onnx.numpy_helper.from_array
    d, kinds = model.weights.shape[1], onnx.TensorProto
    labels = np.array(model.labels)
    kind = {"U": kinds.STRING, "i": kinds.INT64, "b": kinds.BOOL}.get(labels.dtype.kind, kinds.DOUBLE)
    entries = [label.encode() if isinstance(label, str) else label for label in labels.tolist()]
    graph = helper.make_graph([
        helper.make_node("MatMul", ["X", "weights"], ["products"]),
        helper.make_node("Add", ["products", "bias"], ["scores"]),
        helper.make_node("ArgMax", ["scores"], ["best"], axis=1, keepdims=0, select_last_index=int(model.last)),
        helper.make_node("Gather", ["labels", "best"], ["label"], axis=0),
        helper.make_node("Div", ["scores", "temperature"], ["tempered"]),
        helper.make_node("Softmax", ["tempered"], ["probabilities"], axis=1),
    ], name, [helper.make_tensor_value_info("X", kinds.DOUBLE, ["n", d])], [
        helper.make_tensor_value_info("label", kind, ["n"]),
        helper.make_tensor_value_info("scores", kinds.DOUBLE, ["n", len(labels)]),
        helper.make_tensor_value_info("probabilities", kinds.DOUBLE, ["n", len(labels)]),
    ], [array(np.ascontiguousarray(model.weights.T), "weights"), array(model.bias, "bias"),
        array(np.array(model.temperature), "temperature"), helper.make_tensor("labels", kind, labels.shape, entries)],
        doc_string=model.description)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPERATORS)], producer_name="structperc")
    made.ir_version = min(made.ir_version, 8)           # older runtimes read it as well
    onnx.checker.check_model(made)
    return made.SerializeToString()
