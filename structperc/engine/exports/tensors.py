"""Safetensors: a length, a header in JSON, and the arrays as in memory. The header's metadata state their meaning."""

from __future__ import annotations

import json
import struct

import numpy as np

ALIGNMENT = 8


def packed(metadata, arrays) -> bytes:
    """The content of a file of float64 arrays by name; metadata that are no texts become JSON."""
    header = {"__metadata__": {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}}
    data = b""
    for key, array in arrays.items():
        content = np.ascontiguousarray(array, dtype="<f8").tobytes()
        header[key] = {"dtype": "F64", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % ALIGNMENT)
    return struct.pack("<Q", len(text)) + text + data
