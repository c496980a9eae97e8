"""Safetensors: a length, a header in JSON, and the arrays as they lie in memory; what they mean stands in the header's metadata."""

from __future__ import annotations

import json
import struct

import numpy as np

ALIGNMENT = 8


def written(model, name) -> bytes:
    """The file's content: "weights" (n_labels, n_features) and "bias" (n_labels,); parameters as of `structperc.engine.exports`."""
    header = {"__metadata__": {
        "format": "structperc linear labels", "name": name, "problem": model.problem, "labels": json.dumps(model.labels),
        "columns": json.dumps(model.columns), "tie": "last" if model.last else "first", "temperature": repr(model.temperature)}}
    data = b""
    for key, array in (("weights", model.weights), ("bias", model.bias)):
        content = np.ascontiguousarray(array, dtype="<f8").tobytes()
        header[key] = {"dtype": "F64", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    return struct.pack("<Q", len(text)) + text + data
