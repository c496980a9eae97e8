"""Safetensors of scores of rows."""

from __future__ import annotations

import numpy as np

from structperc.engine.exports.tensors import packed


def written(model, name) -> bytes:
    """The file's content: "weights" (n_features,) and "bias" (1,); parameters as of `structperc.engine.exports`."""
    return packed({"format": "structperc linear scores", "name": name, "problem": model.problem, "columns": model.columns},
                  {"weights": model.weights, "bias": np.array([model.bias])})
