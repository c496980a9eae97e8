"""Safetensors of labels in chains."""

from __future__ import annotations

from structperc.engine.exports.tensors import packed


def written(model, name) -> bytes:
    """The file: "weights" (n_labels, n_features), "bias", "transitions" (n_labels, n_labels), "start" and "end", -inf where forbidden."""
    return packed({"format": "structperc linear chain", "name": name, "problem": model.problem, "labels": model.labels,
                   "columns": model.columns, "names": model.names, "template": model.lines},
                  {"weights": model.weights, "bias": model.bias, "transitions": model.transitions, "start": model.start, "end": model.end})
