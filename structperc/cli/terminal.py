"""What the commands print: lines in which names and cells from files cannot act on the terminal."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
import textwrap

from structperc.errors import MissingExtra
from structperc.extras import require
from structperc.pictures.markup import aligned, printable

FLAGS = {       # an argument or a form of y, as messages write it, and the flags of `fit` for it
    "classes=": "--classes A,B,C",
    "pass numbers.": "--labels numbers",
    "groups=": "--group COLUMN, or --group qid of an svmlight file",
    "(lowest, highest)": "two columns, --target LOWEST,HIGHEST",
}

COLOURS = {"red": 31, "blue": 34}

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
    """A value as JSON has it. Numbers that JSON lacks, such as infinity, are null. Dates and the like are texts."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    item = value.item() if hasattr(value, "item") else value
    if item is not None and not isinstance(item, (str, int, float)) or hasattr(value, "astype") and value.dtype.kind in "mM":
        return str(value)
    return None if isinstance(item, float) and not math.isfinite(item) else item


def encodable(text, file) -> str:
    """A text on one line, of letters that a file takes."""
    encoding = getattr(file, "encoding", None) or "utf-8"
    return printable(text).encode(encoding, "backslashreplace").decode(encoding)


def say_table(rows, plain=None, file=None) -> None:
    """Prints a table, its head first: ruled on a terminal where rich is installed, unless NO_COLOR is set; else as plain lines."""
    file = sys.stdout if file is None else file
    if not coloured(file):
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
    """Prints lines with bars and rules. Bars are blue right of the rule and red left of it; letters replace what the encoding lacks."""
    file = sys.stdout if file is None else file
    encoding = getattr(file, "encoding", None) or "utf-8"
    if any(letter.encode(encoding, "replace") == b"?" for letter in LOOKALIKES):
        say(*(line.translate(str.maketrans(LOOKALIKES)) for line in lines), file=file)
        return
    for line in lines:
        rule = line.find("│")
        print(re.sub("█+", lambda bar, rule=rule: styled(bar[0], "blue" if bar.start() > rule else "red", file), encodable(line, file)),
              file=file, flush=True)


def say_fault(name, message) -> None:
    """Prints what is wrong: on one line, on a terminal in lines of its width and the name in colour."""
    file = sys.stderr
    text = encodable(message, file)
    if file.isatty():
        text = textwrap.fill(f"{name}: {text}", shutil.get_terminal_size().columns, subsequent_indent="  ", break_long_words=False,
                             break_on_hyphens=False)[len(name) + 2:]
    print(f"{styled(f'{name}:', 'red', file)} {text}", file=file, flush=True)


def coloured(file) -> bool:
    """Whether a file is a terminal with colours, and NO_COLOR is not set."""
    return file.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def styled(text, colour, file) -> str:
    """A text in bold and in colour, if the file shows colours."""
    return f"\x1b[1;{COLOURS[colour]}m{text}\x1b[0m" if coloured(file) else text


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
    flags = [flag for argument, flag in FLAGS.items() if argument in text]
    return f"{text} Here that is {' or '.join(flags)}." if flags else text
