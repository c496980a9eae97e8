"""Cells that no spreadsheet runs: `--safe-cells` of commands that write CSV."""

from __future__ import annotations

from numbers import Number

from structperc.files.tables import as_cell

BEGINNINGS = ("=", "+", "-", "@", "\t", "\r")       # of what spreadsheets take for a formula


def add_flag(command) -> None:
    """Adds the flag to a command."""
    command.add_argument("--safe-cells", action="store_true", help="in CSV, put ' before texts that a spreadsheet would run as formulas")


def safe_cell(value):
    """A text that a spreadsheet would run, behind an apostrophe; numbers and all else as they are."""
    return f"'{value}" if isinstance(value, str) and value.startswith(BEGINNINGS) and not is_number(value) else value


def is_number(text) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def safe_columns(columns) -> dict:
    """Columns by name, with safe names and cells."""
    return {safe_cell(name): [value if isinstance(value, Number) else safe_cell(as_cell(value)) for value in values]
            for name, values in columns.items()}


def safe_frame(frame):
    """A data frame with safe names of rows and columns, and safe cells."""
    return frame.rename(index=safe_cell, columns=safe_cell).map(safe_cell)
