"""What the formats of text share: numbers that read back to the same bits, and labels."""

from __future__ import annotations

import json

import numpy as np

from structperc.basics.errors import PluginError
from structperc.pages import in_page

EXACT = 2**53               # float64, which numbers of JavaScript are, has all whole numbers up to it


def numbers(values) -> str:
    """Numbers with commas between them, each the shortest text that reads back to the same bits."""
    return ", ".join(map(repr, values.tolist()))


def table(rows, indent="    ", brackets="[]") -> str:
    """Rows of numbers, a line each."""
    left, right = brackets
    return ",\n".join(f"{indent}{left}{numbers(row)}{right}" for row in rows)


def exported_labels(classes) -> list:
    """The labels as numbers, truth values and texts, which every format has. Dates become texts as in ISO 8601. Others raise an error."""
    if classes.dtype.kind == "M":
        unit = next((unit for unit in ("D", "s", "ms", "us") if (classes.astype(f"M8[{unit}]") == classes).all()), "ns")
        return np.datetime_as_string(classes, unit=unit).tolist()
    labels = classes.tolist()
    odd = next((label for label in labels if not isinstance(label, (bool, int, float, str))), None)
    if classes.dtype.kind == "m":           # of nanoseconds numpy makes whole numbers
        odd = classes[0]
    if odd is not None:
        raise PluginError(f"the label {odd!r:.60} is of type {type(odd).__name__}, which no format has. Train with numbers, dates or texts "
                          f"as labels.")
    return labels


def is_whole(label) -> bool:
    return isinstance(label, int) and not isinstance(label, bool)


def label_literals(labels):
    """The type of labels in C, and how each is written. If no type of numbers has all of them, they are texts."""
    if all(isinstance(label, (bool, int)) for label in labels):
        low, high = min(labels), max(labels)
        if -2**31 < low and high < 2**31:
            return "int", [str(int(label)) for label in labels]
        if -2**63 < low and high < 2**63:
            return "long long", [f"{label}LL" for label in labels]
        if low >= 0 and high < 2**64:
            return "unsigned long long", [f"{label}ULL" for label in labels]
    if any(isinstance(label, str) for label in labels) or any(is_whole(label) and abs(label) > EXACT for label in labels):
        return "char *const", [c_string(str(label)) for label in labels]
    return "double", [repr(float(label)) for label in labels]


def label_array(labels) -> str:
    """An expression for the labels as an array of numpy."""
    return f"np.array({labels!r}{'' if np.array(labels).tolist() == labels else ', dtype=object'})"


def script_labels(labels) -> str:
    """The labels in JavaScript: as texts where its numbers would round one."""
    rounded = any(is_whole(label) and abs(label) > EXACT for label in labels)
    return script_safe(list(map(str, labels)) if rounded else labels)


def c_string(text) -> str:
    """A literal of UTF-8 bytes; octal escapes end after three digits, and trigraphs need their question marks together."""
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text.encode()) + '"'


def script_safe(values) -> str:
    """JSON that may stand in a page."""
    return in_page(json.dumps(values))
