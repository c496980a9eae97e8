"""What the formats of text share: numbers that read back to the same bits, and labels."""

from __future__ import annotations

import json

from structperc.pages import in_page


def numbers(values) -> str:
    """Numbers with commas between them, each the shortest text that reads back to the same bits."""
    return ", ".join(map(repr, values.tolist()))


def table(rows, indent="    ", brackets="[]") -> str:
    """Rows of numbers, a line each."""
    left, right = brackets
    return ",\n".join(f"{indent}{left}{numbers(row)}{right}" for row in rows)


def label_literals(labels):
    """The type of labels in C and how each is written."""
    if all(isinstance(label, (bool, int)) for label in labels) and max(map(abs, labels)) < 2**31:
        return "int", [str(int(label)) for label in labels]
    if any(isinstance(label, str) for label in labels):
        return "char *const", [c_string(str(label)) for label in labels]
    return "double", [repr(float(label)) for label in labels]


def c_string(text) -> str:
    """A literal of UTF-8 bytes; octal escapes end after three digits, and trigraphs need their question marks together."""
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in text.encode()) + '"'


def script_safe(values) -> str:
    """JSON that may stand in a page."""
    return in_page(json.dumps(values))
