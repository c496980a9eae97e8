"""Values that JSON gives back as they were."""

from __future__ import annotations

import math

import numpy as np

from structperc.basics.labels import refuse_missing

# the types of a JSON list of labels, by kind of dtype. Texts of floats are those that Python lacks
TYPES = {"b": (bool,), "i": (int,), "u": (int,), "f": (int, float, str), "m": (int,), "M": (int,), "U": (str,), "S": (str,),
         "O": (bool, int, float, str)}


def is_plain(value) -> bool:
    """Whether JSON has the value and gives it back."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(type(key) is str and is_plain(entry) for key, entry in value.items())
    return value is None or type(value) in (bool, int, str) or type(value) is float and math.isfinite(value)


def noted_labels(labels):
    """An array of labels as JSON has it: a list, or with its type where `np.array` would make other labels of the list."""
    dtype, values = labels.dtype, labels.tolist()
    if dtype.kind not in "mM" and is_plain(values) and list(map(repr, np.array(values).tolist())) == list(map(repr, values)):
        return values
    if dtype.kind in "mM":
        values = labels.astype(np.int64).tolist()
    elif dtype.kind == "S":
        values = np.char.decode(labels, "latin-1").tolist()
    elif dtype.kind == "f":
        values = labels.astype(str).tolist()
    return {"type": dtype.kind if dtype.kind in "OSU" else dtype.str, "values": values}


def is_noted(value) -> bool:
    """Whether a value is a dict of `noted_labels`."""
    return isinstance(value, dict) and value.keys() == {"type", "values"}


def labels_noted(note) -> np.ndarray:
    """The labels that `noted_labels` wrote. Raises `ValueError`, `TypeError` or `OverflowError` for what it does not write."""
    if isinstance(note, list):
        note = {"type": np.array(note).dtype.str, "values": note}
    dtype, values = np.dtype(note["type"]), note["values"]
    if dtype.kind not in TYPES or type(values) is not list or not all(type(value) in TYPES[dtype.kind] for value in values):
        raise ValueError(f"{note!r:.80} are no labels")
    if dtype.kind == "O":
        labels = np.empty(len(values), dtype=object)
        labels[:] = values
    else:
        labels = np.char.encode(values, "latin-1") if dtype.kind == "S" else np.array(values, dtype=dtype)
    refuse_missing(labels, "labels")
    if len(set(labels.tolist())) < max(len(labels), 1):
        raise ValueError(f"{note!r:.80} has no labels, or one of them twice")
    return labels
