"""Data files of CRFsuite: an item per line, its label and its attributes between tabs, and a blank line behind each sequence."""

from __future__ import annotations

import math
import re

from structperc.core.errors import DataError, shortened
from structperc.files.opening import name_of, opened, refuse_return

PIECE = re.compile(r"(?:[^:\\]|\\.)*")          # up to a colon that is not escaped
ESCAPE = re.compile(r"\\(.)")
EXPECTED = "expected LABEL, a tab, and attributes NAME or NAME:VALUE between tabs"


def read_data(path):
    """Sequences and their labels; see `structperc.crfsuite.read_crfsuite_data`."""
    name = name_of(path)
    X, y, items, labels = [], [], [], []
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            text = decoded(line, name, number)
            if text.strip():
                label, item = item_of(text, f"{name}, line {number}")
                labels.append(label)
                items.append(item)
            elif items:
                X.append(items)
                y.append(labels)
                items, labels = [], []
    if items:
        X.append(items)
        y.append(labels)
    if not X:
        raise DataError(f"{name} has no items; {EXPECTED}.")
    return X, y


def decoded(line, name, number) -> str:
    """A line as text, without its end and a byte order mark."""
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(f"{name}, line {number} is no text in UTF-8 ({error.reason}); convert the file.") from None
    refuse_return(text, f"{name}, line {number}")
    return text


def item_of(text, where) -> tuple:
    """The label and the attributes of a line. Values of equal attributes add up, as in CRFsuite."""
    label, *attributes = text.split("\t")
    if not label:
        raise DataError(f"{where} begins with a tab, so its label is empty; {EXPECTED}.")
    item = {}
    for attribute in attributes:
        if not attribute:
            continue                            # of two tabs, or a tab at the end
        name = PIECE.match(attribute)[0]
        value = 1.0
        if len(name) < len(attribute):
            value = value_of(attribute[len(name) + 1:])
            if value is None:
                raise DataError(f"{where}: the attribute {shortened(attribute)} has no finite number behind its colon; write \\: for a "
                                f"colon in a name.")
        name = unescaped(name)
        item[name] = item.get(name, 0.0) + value
    return unescaped(label), item


def value_of(text):
    """A finite number, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def unescaped(text) -> str:
    return ESCAPE.sub(r"\1", text)
