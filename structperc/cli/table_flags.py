"""Flags of `fit` from `--drop` to `--missing-indicators`: the options of the plugin that reads tables as people have them."""

from __future__ import annotations

import csv
import io

from structperc.cli.settings import TABLE_FLAGS, guess
from structperc.errors import OptionError
from structperc.files.frames import quoted
from structperc.reading.cells import MISSING_WORDS
from structperc.reading.column_faults import either, fill_of, marks_of, mends_of, number_of, one_by_one, other_points, with_words
from structperc.reading.table_options import REST

PLUGIN = "table"


def add(parser) -> None:
    """The flags of `fit`."""
    group = parser.add_argument_group("tables with text, dates and missing values")
    for flag, metavar, text in (
        ("--drop", "A,B", "columns to ignore"),
        ("--one-hot", "A,B or A=X", "categories: a column of 0 and 1 for each level"),
        ("--ordinal", "A=X,..,Z", "ordered categories: their positions"),
        ("--date", "A,B or A=FORM", "dates: days since the earliest; FORM as %%d.%%m.%%Y"),
        ("--number", "A,B", "numbers as 1,000 or $5; A=, for a decimal comma"),
        ("--missing", "X,Y", "further texts for missing values; A=X: in A only X"),
        ("--reference", "A=LEVEL", "the level that log odds compare the others with"),
        ("--fill", "X or A=X", "for missing values: median, mean, most-frequent, ..."),
    ):
        group.add_argument(flag, metavar=metavar, action="append", default=[], help=text)
    group.add_argument("--missing-indicators", action="store_true", help="add columns of 0 and 1: was the value missing?")


def options_of(arguments) -> dict:
    """The options of the plugin, none where no flag is given."""
    options = {
        "drop": [name for text in arguments.drop for name in split(text)],
        "one_hot": {name: levels for text in arguments.one_hot for name, levels in categories(text)},
        "ordinal": dict(order(text) for text in arguments.ordinal),
        "date": {name: form for text in arguments.date for name, form in dates(text)},
        "number": {name: point or "." for text in arguments.number for name, point in dates(text)},
        "missing": missing(arguments.missing),
        "reference": dict(reference(text) for text in arguments.reference),
        "fill": dict(filling(text) for text in arguments.fill),
        "missing_indicators": arguments.missing_indicators,
    }
    return {name: value for name, value in options.items() if value}


def split(text) -> list[str]:
    """Names parted by commas."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def categories(text) -> list[tuple]:
    """Columns, each with its levels or None."""
    name, equals, levels = text.partition("=")
    return [(name.strip(), split(levels))] if equals else [(name, None) for name in split(text)]


def missing(texts):
    """Texts that mean that nothing is known: a list of further ones, or all of them by column."""
    parts = [text.partition("=") for text in texts]
    further = [word for text, (name, equals, _) in zip(texts, parts, strict=True) if not (name and equals) for word in split(text)]
    by_column = {name.strip(): [word for word in split(words) if word] for name, equals, words in parts if name and equals}
    return {REST: [*MISSING_WORDS, *further], **by_column} if by_column else further


def order(text) -> tuple:
    """A column and its levels."""
    name, equals, levels = text.partition("=")
    if not equals:
        raise OptionError(f"--ordinal {text!r}: expected a column and its levels, lowest first, such as smoker=never,former,current.")
    return name.strip(), split(levels)


def reference(text) -> tuple:
    """A column and one of its levels."""
    name, equals, level = text.partition("=")
    if not equals:
        raise OptionError(f"--reference {text!r}: expected a column and one of its levels, such as smoker=never.")
    return name.strip(), level.strip()


def dates(text) -> list[tuple]:
    """Columns, each with its form or None."""
    name, equals, form = text.partition("=")
    return [(name.strip(), form)] if equals else [(name, None) for name in split(text)]


def filling(text) -> tuple:
    """A column, "*" for all others, and what fills it."""
    name, equals, value = text.rpartition("=")
    number = guess(value)
    return name.strip() if equals else "*", number if isinstance(number, (int, float)) and not isinstance(number, bool) else value


def in_flags(faults, encoded) -> str:
    """The options that fix columns, as the commands take them."""
    mends, fill = mends_of(faults), fill_of(faults)
    options = [flag(name.replace("_", "-"), joined(mends[name])) for name in ("drop", "one_hot", "date") if name in mends]
    if "number" in mends:
        numbers = number_of(faults)
        options += [flag("number", joined(numbers))] if isinstance(numbers, list) else [
            flag("number", f"{name}={point}") for name, point in numbers.items()]
    options += [flag("missing", joined(marks_of(faults)))] if "missing" in mends else []
    fills = [] if "fill" not in mends else [fill] if isinstance(fill, str) else [f"{name}={value}" for name, value in fill.items()]
    options += [flag("fill", value) for value in fills]
    return either([*[f"pass {' '.join(options)}"] * bool(options), *one_by_one(faults)],
                  [flag("number", f"{name}={point}") for name, point in other_points(faults)],
                  [flag("missing", f"{name}=") for name in with_words(faults)])


def flag(name, value) -> str:
    """A flag with its value as a shell and argparse take them."""
    return f"--{name}{'=' if value.startswith('-') and value != '-' else ' '}{quoted(value)}"


def joined(names) -> str:
    """Names with commas between them, as a flag takes them."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


__all__ = ["PLUGIN", "TABLE_FLAGS", "add", "in_flags", "options_of"]
