"""`fit --drop --one-hot --ordinal --date --fill`: the options of the plugin that reads tables as people have them."""

from __future__ import annotations

import csv

from structperc.cli.settings import TABLE_FLAGS, guess
from structperc.errors import OptionError

PLUGIN = "table"
HELP = """\
tables with text, dates and gaps:
  fit --drop, --one-hot, --ordinal, --date and --fill say what becomes of columns that are not numbers throughout. The model keeps
  it, with the levels, medians and dates of the training data; the other commands apply it. A level that the training data lack is 0 in all
  columns of --one-hot, with a warning. The same from Python: plugins=["table"], one_hot=["sex"], fill="median".
    structperc fit cusum visits.csv --target severity --classes none,mild,severe --model visits.model --drop patient --one-hot sex,ward
        --ordinal smoker=never,former,current --date visit --fill median --fill smoker=never
"""


def add(parser) -> None:
    """The flags of `fit`."""
    group = parser.add_argument_group("tables with text, dates and gaps")
    for flag, metavar, text in (
        ("--drop", "A,B", "columns to leave out"),
        ("--one-hot", "A,B", "columns of categories, which become a column of 0 and 1 for each level"),
        ("--ordinal", "A=LOW,...,HIGH", "a column of ordered categories, which becomes their positions"),
        ("--date", "A,B or A=FORM", "columns of dates, which become days since the earliest; FORM such as %%d.%%m.%%Y, else 2024-12-31"),
        ("--fill", "VALUE or A=VALUE", "for missing cells: median, mean, most-frequent, a number or a text"),
    ):
        group.add_argument(flag, metavar=metavar, action="append", default=[], help=f"{text}; may be repeated")
    group.add_argument("--missing-indicators", action="store_true", help="add a column of 0 and 1 that says which cells were missing")


def options_of(arguments) -> dict:
    """The options of the plugin, none where no flag is given."""
    found = {
        "drop": [name for text in arguments.drop for name in split(text)],
        "one_hot": [name for text in arguments.one_hot for name in split(text)],
        "ordinal": dict(order(text) for text in arguments.ordinal),
        "date": {name: form for text in arguments.date for name, form in dates(text)},
        "fill": dict(filling(text) for text in arguments.fill),
        "missing_indicators": arguments.missing_indicators,
    }
    return {name: value for name, value in found.items() if value}


def split(text) -> list[str]:
    """Names parted by commas."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def order(text) -> tuple:
    """A column and its levels."""
    name, equals, levels = text.partition("=")
    if not equals:
        raise OptionError(f"--ordinal {text!r}: expected a column and its levels, lowest first, such as smoker=never,former,current.")
    return name.strip(), split(levels)


def dates(text) -> list[tuple]:
    """Columns, each with its form or None."""
    name, equals, form = text.partition("=")
    return [(name.strip(), form)] if equals else [(name, None) for name in split(text)]


def filling(text) -> tuple:
    """A column, "*" for all others, and what fills it."""
    name, equals, value = text.rpartition("=")
    number = guess(value)
    return name.strip() if equals else "*", number if isinstance(number, (int, float)) and not isinstance(number, bool) else value


__all__ = ["HELP", "PLUGIN", "TABLE_FLAGS", "add", "options_of"]
