"""Data files of CRFsuite: an item per line, its label and its attributes between tabs, and a blank line behind each sequence."""

from __future__ import annotations

import math
import re

import attrs

from structperc.basics.errors import DataError, shortened
from structperc.files.conll import PART_CHARACTERS, blocks
from structperc.files.formats import ITEMS, TextFile, checked_rows
from structperc.files.opening import opened

PIECE = re.compile(r"(?:[^:\\]|\\.)*")          # up to a colon that is not escaped
ESCAPE = re.compile(r"\\(.)")
EXPECTED = "expected LABEL, a tab, and attributes NAME or NAME:VALUE between tabs"


@attrs.frozen(eq=False)
class ItemFile:
    """What a data file of CRFsuite, or a part of it, holds."""
    # path: str. As messages name the file.
    # X: list of list of dict from str to float. Sequences of items.
    # y: list of list of str
    # first: int. Number of sequences before this part.
    # texts: list of str. The lines of each sequence with their ends, and the blank ones behind it.
    # lines: list of int. The number of the first line of each text.

    path: str
    X: list = attrs.field(factory=list)
    y: list = attrs.field(factory=list)
    first: int = 0
    texts: list = attrs.field(factory=list)
    lines: list = attrs.field(factory=list)

    @property
    def n_tokens(self) -> int:
        return sum(map(len, self.X))

    def place(self, i, t=0) -> str:
        """Where item t of sequence i of this part is, for messages."""
        numbers = [number for number, line in enumerate(self.texts[i].split("\n"), start=self.lines[i]) if is_item(line)]
        return f"line {numbers[min(t, len(numbers) - 1)]} of {self.path}"


def is_item(line) -> bool:
    """Whether a line is no blank one."""
    return bool(line.strip(" \t\r\ufeff"))


class CrfsuiteFile(TextFile):
    """A data file of CRFsuite under reading: tokens as dicts of attributes, and their labels."""
    # A line is an item: its label, then attributes `name` or `name:value`, with tabs between them. An attribute without a value has 1. A
    # colon in a name is written `\:`, a backslash `\\`. A blank line ends a sequence.

    holds = ITEMS

    def parts(self, *, rows=None):
        """Parts of at most so many sequences, and about 4 MiB of text."""
        rows, name, size = checked_rows(rows), self.name, 0
        part = ItemFile(name)
        with opened(self.path) as file:
            for start, lines, text in blocks(name, file):
                if not lines:                                   # blank lines at the end
                    if part.texts:
                        part.texts[-1] += text
                    continue
                if rows is not None and part.X and (len(part.X) >= rows or size >= PART_CHARACTERS):
                    yield part
                    part, size = ItemFile(name, first=part.first + len(part.X)), 0
                items = [item_of(line, f"{name}, line {number}") for number, line in lines]
                part.X.append([item for _, item in items])
                part.y.append([label for label, _ in items])
                part.texts.append(text)
                part.lines.append(start)
                size += len(text)
        if not part.X:
            raise DataError(f"{name} has no items; {EXPECTED}.")
        yield part


def write_labels(file, part, labels) -> None:
    """Writes the lines of a part again, byte for byte but for the labels. The file leaves the ends of lines as they are."""
    for text, own in zip(part.texts, labels, strict=True):
        own = iter(own)
        file.write("\n".join(with_label(line, next(own)) if is_item(line) else line for line in text.split("\n")))


def with_label(line, label) -> str:
    """An item's line with another label."""
    label = str(label)
    if not label or any(mark in label for mark in "\t\r\n"):
        raise DataError(f"the label {shortened(label)} is no label of a data file of CRFsuite; rename it.")
    before = "\ufeff" if line.startswith("\ufeff") else ""
    end = line[len(line.rstrip("\r")):]
    _, tab, attributes = line[:len(line) - len(end)].partition("\t")
    return before + label.replace("\\", "\\\\") + tab + attributes + end


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
