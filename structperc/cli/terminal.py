"""What the commands print: lines in which names and cells from files cannot act on the terminal."""

from __future__ import annotations

import sys

from structperc.core.markup import printable

FLAGS = {       # what a message asks for, and the flag of `fit`
    "classes=": "--classes A,B,C",
    "groups=": "--group COLUMN, or --group qid of an svmlight file",
    "give the pair of its lowest": "two columns, --target LOWEST,HIGHEST",
}

LOOKALIKES = {"█": "#", "─": "-", "│": "|", "┼": "+", "●": "o", "←": "<", "→": ">", "…": "~"}


def say(*lines, file=None) -> None:
    """Prints lines; a character that the terminal's encoding lacks is shown as an escape."""
    file = sys.stdout if file is None else file
    encoding = getattr(file, "encoding", None) or "utf-8"
    for line in lines:
        print(printable(line).encode(encoding, "backslashreplace").decode(encoding), file=file, flush=True)


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
