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
        *(of_ordered(node, model) if model.cumulative else [
            node("Div", ["scores", "temperature"], ["tempered"]),
            node("Softmax", ["tempered"], ["probabilities"], axis=1)]),
    ], [("X", number, ["n", d])], [("label", kind, ["n"]), ("scores", number, ["n", n]), ("probabilities", number, ["n", n])],
        [array(np.ascontiguousarray(model.weights.T), "weights"), array(model.bias, "bias"),
         array(np.array(model.temperature), "temperature"), *(constants(array, model) if model.cumulative else []), labels])


def pairs_around(K):
    """For each boundary k the pairs (i, j) of labels with i <= k < j. The array has the shape (k + 1, K - 1 - k, 2)."""
    return [np.array([[(i, j) for j in range(k + 1, K)] for i in range(k + 1)]) for k in range(K - 1)]


def constants(array, model):
    """What `of_ordered` multiplies and gathers with."""
    K = len(model.labels)
    pairs = [(i, j) for i in range(K) for j in range(i + 1, K)]
    number, slopes = {pair: p for p, pair in enumerate(pairs)}, np.zeros((K, len(pairs)))
    for p, (i, j) in enumerate(pairs):
        slopes[j, p], slopes[i, p] = 1 / (j - i), -1 / (j - i)
    around = [array(np.array([[number[tuple(pair)] for pair in row] for row in block.tolist()]), f"pairs_{k}")
              for k, block in enumerate(pairs_around(K))]
    whole = {"one_before": [0, 1, 0, 0], "one_after": [0, 0, 0, 1], "first": [0], "second": [1], "last": [K - 2], "end": [K - 1],
             "axis": [1]}
    reals = {"zero": 0.0, "one": 1.0, "relative": 1e-12, "atoms": [list(range(K - 1))],
             **dict(zip(("spread_in_order", "spread_of_pooled"), model.spreads_of_labels, strict=True))}
    return [array(slopes, "slopes"), *around, *(array(np.array(value), name) for name, value in whole.items()),
            *(array(np.array(value, dtype=float), name) for name, value in reals.items())]


def of_ordered(node, model):
    """P(y > k) = sigma(v_k / temperature), v pooled by the min-max formula; see `structperc.core.probabilities`."""
    K = len(model.labels)
    pooled = [step for k in range(K - 1) for step in (
        node("Gather", ["means", f"pairs_{k}"], [f"around_{k}"], axis=1),
        node("ReduceMax", [f"around_{k}"], [f"most_{k}"], axes=[2], keepdims=0),
        node("ReduceMin", [f"most_{k}"], [f"v_{k}"], axes=[1], keepdims=1))]
    real = 11
    return [
        node("MatMul", ["scores", "slopes"], ["means"]), *pooled,
        node("Concat", [f"v_{k}" for k in range(K - 1)], ["v"], axis=1), node("Relu", ["v"], ["positive"]),
        node("Slice", ["v", "first", "last", "axis"], ["before"]), node("Slice", ["v", "second", "end", "axis"], ["after"]),
        node("Slice", ["positive", "first", "last", "axis"], ["left"]), node("Slice", ["positive", "second", "end", "axis"], ["right"]),
        node("Sub", ["before", "after"], ["steps"]), node("Equal", ["steps", "zero"], ["equal"]), node("Sub", ["left", "right"], ["rises"]),
        node("Where", ["equal", "one", "steps"], ["divisors"]), node("Div", ["rises", "divisors"], ["inside"]),
        node("Greater", ["after", "zero"], ["above_zero"]), node("Cast", ["above_zero"], ["whole"], to=real),
        node("Where", ["equal", "whole", "inside"], ["parts"]), node("ReduceSum", ["parts", "axis"], ["place"], keepdims=1),
        node("Pad", ["steps", "one_after", "one"], ["padded"]), node("ReduceMin", ["padded"], ["least"], axes=[1], keepdims=1),
        node("Abs", ["v"], ["sizes"]), node("ReduceMax", ["sizes"], ["largest"], axes=[1], keepdims=1),
        node("Mul", ["largest", "relative"], ["rounding"]), node("Greater", ["least", "rounding"], ["in_order"]),
        node("Where", ["in_order", "spread_in_order", "spread_of_pooled"], ["spread"]),
        node("Sub", ["place", "atoms"], ["distances"]), node("Mul", ["distances", "spread"], ["added"]),
        node("Div", ["v", "temperature"], ["tempered"]), node("Add", ["tempered", "added"], ["odds"]), node("Sigmoid", ["odds"], ["above"]),
        node("Pad", ["above", "one_before", "one"], ["from"]), node("Pad", ["above", "one_after", "zero"], ["to"]),
        node("Sub", ["from", "to"], ["probabilities"]),
    ]
