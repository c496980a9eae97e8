"""Networks before linear scores: what they compute, compared with the model's own scores, and one graph of both."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import PluginError
from structperc.extras import require

SIZES = 0.1, 1.0, 10.0          # of drawn rows, in deviations of the columns
N_ROWS = 12                     # of each size
ROUNDING = 1e-4                 # of float32, relative to the largest score: batches are summed in another order


def network_of(model):
    """The network whose outputs the scores are linear in; None: they are linear in X itself. See `Weights.network`."""
    zeros, scaling = np.zeros(model.context.n_features), model.scaling if model.scales else None
    return model.parts.weights.network(*((zeros, zeros + 1) if scaling is None else (scaling.shift, scaling.spread)))


def drawn(model):
    """Rows near those of training."""
    random, d, scaling = np.random.default_rng(0), model.context.n_features, model.scaling
    rows = np.concatenate([size * random.normal(size=(N_ROWS, d)) for size in SIZES])
    return rows if scaling is None else scaling.mean + scaling.deviation * rows


def allowance(scores) -> float:
    """By how much rounding may change these scores."""
    return ROUNDING * (1 + np.abs(scores).max(initial=0.0))


def check_together(scores, own) -> None:
    """Raises an error if a network scores rows together otherwise than the model scores each example."""
    if scores.shape != own.shape or not (np.abs(scores - own) <= allowance(own)).all():
        raise PluginError("The network scores rows of a table otherwise than one by one, so one file cannot repeat it. Its scores of a row "
                          "may depend only on that row.")


def after_network(content, network) -> bytes:
    """A graph behind the network that computes its input."""
    onnx = require("onnx", "writing ONNX files", "onnx")
    made, before = onnx.load_model_from_string(content), onnx.load_model_from_string(network.graph())
    before = onnx.compose.add_prefix(before, "network/")
    columns, = (one.name for one in before.graph.output)
    rows, = (one.name for one in before.graph.input)
    for node in made.graph.node:
        node.input[:] = [columns if name == "X" else name for name in node.input]
    for node in before.graph.node:
        node.input[:] = ["X" if name == rows else name for name in node.input]
    nodes = [*before.graph.node, *made.graph.node]
    del made.graph.node[:]
    made.graph.node.extend(nodes)
    made.graph.initializer.extend(before.graph.initializer)
    shape = made.graph.input[0].type.tensor_type.shape
    shape.dim[1].dim_value = before.graph.input[0].type.tensor_type.shape.dim[1].dim_value
    made.opset_import[0].version = max(made.opset_import[0].version, *(one.version for one in before.opset_import if not one.domain))
    made.ir_version = max(made.ir_version, min(before.ir_version, 8))
    onnx.checker.check_model(made)
    return made.SerializeToString()
