"""ONNX of labels in chains: Viterbi as two scans, the boundary of the sentence as one label more."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import PluginError
from structperc.engine.exports.graphs import label_tensor, serialised
from structperc.extras import require


def written(model, name) -> bytes:
    """The serialised graph: input X, the rows of one sentence, at least one; output label, one for each. Parameters as elsewhere."""
    onnx = require("onnx", "writing ONNX files", "onnx")
    if model.names is not None:
        raise PluginError("this model reads tokens of text, for which ONNX's core operators have no tables of names. Export it to "
                          "'numpy', 'c' or 'js'.")
    helper, kinds = onnx.helper, onnx.TensorProto
    node, info = helper.make_node, helper.make_tensor_value_info

    def array(values, called, dtype=float):
        return onnx.numpy_helper.from_array(np.array(values, dtype=dtype), called)

    labels, kind = label_tensor(onnx, model.labels)
    L, d = model.weights.shape
    forward = helper.make_graph([
        node("Unsqueeze", ["before", "last_axis"], ["column"]),
        node("Add", ["column", "pairs"], ["ways"]),
        node("ReduceMax", ["ways"], ["message"], axes=[0], keepdims=0),
        node("ArgMax", ["ways"], ["origin"], axis=0, keepdims=0),
        node("Add", ["message", "token"], ["after"]),
    ], "forward", [info("before", kinds.DOUBLE, [L + 1]), info("token", kinds.DOUBLE, [L + 1])],
        [info("after", kinds.DOUBLE, [L + 1]), info("origin", kinds.INT64, [L + 1])])
    backward = helper.make_graph([
        node("Identity", ["chosen"], ["step"]),
        node("Gather", ["origins_here", "chosen"], ["earlier"], axis=0),
    ], "backward", [info("chosen", kinds.INT64, []), info("origins_here", kinds.INT64, [L + 1])],
        [info("earlier", kinds.INT64, []), info("step", kinds.INT64, [])])
    pairs = np.full((L + 1, L + 1), -np.inf)
    pairs[:L, :L], pairs[L, :L] = model.transitions, model.start
    return serialised(onnx, name, model.description, [
        node("MatMul", ["X", "weights"], ["products"]),
        node("Add", ["products", "bias"], ["tokens"]),
        node("Scan", ["boundary", "tokens"], ["messages", "origins"], body=forward, num_scan_inputs=1),
        node("Add", ["messages", "end"], ["totals"]),
        node("ArgMax", ["totals"], ["best"], axis=0, keepdims=0),
        node("Scan", ["best", "origins"], ["first", "path"], body=backward, num_scan_inputs=1, scan_input_directions=[1],
             scan_output_directions=[1]),
        node("Gather", ["labels", "path"], ["label"], axis=0),
    ], [("X", kinds.DOUBLE, ["n", d])], [("label", kind, ["n"])],
        [array(np.vstack([model.weights, np.zeros(d)]).T, "weights"), array([*model.bias, 0], "bias"), array(pairs, "pairs"),
         array([*np.full(L, -np.inf), 0], "boundary"), array([*model.end, -np.inf], "end"), array([1], "last_axis", np.int64), labels])
