"""What the commands print: lines in which names and cells from files cannot act on the terminal."""

from __future__ import annotations

import json
import math
import os
import sys

from structperc.core.markup import aligned, printable
from structperc.errors import MissingExtra
from structperc.extras import require

FLAGS = {       # what a message asks for, and the flag of `fit`
    "classes=": "--classes A,B,C",
    "groups=": "--group COLUMN, or --group qid of an svmlight file",
    "give the pair of its lowest": "two columns, --target LOWEST,HIGHEST",
}

LOOKALIKES = {"█": "#", "─": "-", "│": "|", "┼": "+", "●": "o", "←": "<", "→": ">", "…": "~"}


def say(*lines, file=None) -> None:
    """Prints lines; a character that the terminal's encoding lacks is shown as an escape."""
    file = sys.stdout if file is None else file
    for line in lines:
        print(encodable(line, file), file=file, flush=True)


def say_json(record) -> None:
    """Prints one JSON object on a line of its own, in ASCII."""
    print(json.dumps(plain(record), allow_nan=False), flush=True)


def plain(value):
    """A value as JSON has it; numbers that JSON lacks, such as infinity, are null."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def encodable(text, file) -> str:
    """A text on one line, of letters that a file takes."""
    encoding = getattr(file, "encoding", None) or "utf-8"
    return printable(text).encode(encoding, "backslashreplace").decode(encoding)


def say_table(rows, plain=None, file=None) -> None:
    """Prints a table, its head first: ruled on a terminal where rich is installed, unless NO_COLOR is set; else as plain lines."""
    file = sys.stdout if file is None else file
    if not file.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        say(*(aligned(rows) if plain is None else plain), file=file)
        return
    try:
        table, console = require("rich.table", "a table", "cli"), require("rich.console", "a table", "cli")
    except MissingExtra:
        say(*(aligned(rows) if plain is None else plain), file=file)
        return
    text = require("rich.text", "a table", "cli").Text
    head, *body = [[text(encodable(cell, file)) for cell in row] for row in rows]
    ruled = table.Table(box=require("rich.box", "a table", "cli").SIMPLE_HEAD, pad_edge=False)
    for j, cell in enumerate(head):
        ruled.add_column(cell, justify="right" if j else "left")
    for row in body:
        ruled.add_row(*row)
    console.Console(file=file, highlight=False).print(ruled)


def say_drawn(*lines, file=None) -> None:
    """Prints lines with bars and rules; where the encoding lacks these, with letters that look like them."""
    file = sys.stdout if file is None else file
    encoding = getattr(file, "encoding", None) or "utf-8"
    lacking = any(letter.encode(encoding, "replace") == b"?" for letter in LOOKALIKES)
    say(*(line.translate(str.maketrans(LOOKALIKES)) if lacking else line for line in lines), file=file)


class Shown:
    """A text file in front of a terminal: lines and tabs stay, what else is not printable is shown as an escape."""

    def __init__(self, file):
        self.file = file

    def write(self, text) -> None:
        self.file.write("".join(c if c in "\n\t" else printable(c) for c in text))

    def writelines(self, lines) -> None:
        self.write("".join(lines))


def with_flags(message) -> str:
    """A message of the library, with the flags of `fit` for what it asks for."""
    text = str(message)
    flags = [flag for words, flag in FLAGS.items() if words in text]
    return f"{text} Here that is {' or '.join(flags)}." if flags else text
