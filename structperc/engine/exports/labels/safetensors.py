"""Safetensors of labels of rows."""

from __future__ import annotations

from structperc.engine.exports.tensors import packed


def written(model, name) -> bytes:
    """The file's content: "weights" (n_labels, n_features) and "bias" (n_labels,); parameters as of `structperc.engine.exports`."""
    return packed({"format": "structperc linear labels", "name": name, "problem": model.problem, "labels": model.labels,
                   "columns": model.columns, "tie": "last" if model.last else "first", "temperature": model.temperature,
                   "probabilities": "cumulative" if model.cumulative else "softmax", "spread": model.spreads_of_labels[0],
                   "spread_of_pooled": model.spreads_of_labels[1]},
                  {"weights": model.weights, "bias": model.bias})
