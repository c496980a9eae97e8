"""ONNX graphs of core operators, with scores in float64."""

from __future__ import annotations

import numpy as np

from structperc.extras import require

OPERATORS = 13          # version of the operator set


def label_tensor(onnx, labels):
    """The labels as a tensor, and its type: texts where no type of numbers has all of them."""
    kinds, array = onnx.TensorProto, np.array(labels)
    if array.dtype == object or array.tolist() != labels:           # one of them would be rounded
        array = np.array(list(map(str, labels)))
    kind = {"U": kinds.STRING, "i": kinds.INT64, "u": kinds.UINT64, "b": kinds.BOOL}.get(array.dtype.kind, kinds.DOUBLE)
    entries = [label.encode() if isinstance(label, str) else label for label in array.tolist()]
    return onnx.helper.make_tensor("labels", kind, array.shape, entries), kind


def serialised(onnx, name, description, nodes, inputs, outputs, constants) -> bytes:
    """The content of a file; inputs and outputs are triples of name, type and shape."""
    helper = onnx.helper
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info(*one) for one in inputs],
                              [helper.make_tensor_value_info(*one) for one in outputs], constants, doc_string=description)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPERATORS)], producer_name="structperc")
    made.ir_version = min(made.ir_version, 8)           # older runtimes read it as well
    onnx.checker.check_model(made)
    return made.SerializeToString()


def from_float32(content) -> bytes:
    """The graph with a float32 input X, which it converts to float64."""
    onnx = require("onnx", "writing ONNX files", "onnx")
    made = onnx.load_model_from_string(content)
    made.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    for node in made.graph.node:
        node.input[:] = ["rows" if name == "X" else name for name in node.input]
    made.graph.node.insert(0, onnx.helper.make_node("Cast", ["X"], ["rows"], to=onnx.TensorProto.DOUBLE))
    onnx.checker.check_model(made)
    return made.SerializeToString()
