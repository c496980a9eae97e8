"""What a command of `structperc` is, and arguments that several commands have."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import attrs

WIDTH = 80                  # of help texts, at most
FILE, SETTING = "file", "setting"           # what completes an argument, beside "problem", "part" and "plugin"
LOOKS = 1 / 16              # of an epoch, after which it is asked whether so many minutes have passed


@attrs.frozen
class Command:
    """A command: its module has it beside the function that runs, and `structperc.cli.parser` has its name and summary."""
    # run: function of the arguments that returns the exit code.
    # declare: function of a parser, to which it adds the arguments.
    # examples: str. Below its help.

    run: Callable
    declare: Callable
    examples: str


def path(text) -> str:
    """A path that can be."""
    if "\0" in text or not text:
        raise argparse.ArgumentTypeError(f"{text!r} is no path")
    return text


def positive(text) -> int:
    """A whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def interval(text) -> tuple:
    """How far checkpoints are apart: a number of epochs or parts, and of minutes if that is what the text has."""
    number = text.removesuffix("min")
    try:
        return (float(text), None) if number == text else (LOOKS, float(number))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of epochs or parts, such as 16, nor of minutes, such as 10min") from None


def reading(made, examples=True) -> None:
    """Flags of the data; `examples`: they may be sentences or groups too."""
    from structperc.files import formats  # with numpy, which the overview of commands does without

    choices = list(formats.FORMATS) if examples else formats.that_hold(formats.COLUMNS, formats.FEATURES)
    made.add_argument("--format", choices=choices, help="of the data; default: by the ending of the file")
    made.add_argument("--separator", metavar="CHAR", help="between cells of a CSV file; default ','; or 'tab'")
    made.add_argument("--decimal", metavar="CHAR", help="decimal mark of a CSV file; default '.'")
    made.add_argument("--encoding", metavar="NAME", help="of a CSV file, such as cp1252; default utf-8")
    made.add_argument("--query", metavar="SQL", help=f"rows of a database: {formats.endings_of('duckdb', 'sqlite')}")
    if examples:
        made.add_argument("--group", metavar="COLUMN", help="rows with the same entry are one example; svmlight: qid")
        made.add_argument("--columns", metavar="A,B,C", help="names of the columns of a conll file, _ to ignore one")
    else:
        made.set_defaults(group=None, columns=None)


def completed(action, what) -> None:
    """Sets what shells complete an argument by."""
    action.completes = what
