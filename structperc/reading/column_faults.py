"""Why columns of a table are no columns of finite numbers, and what mends each: all columns in one sentence."""

from __future__ import annotations

import datetime
import math
import re

import attrs

from structperc.core.labels import is_missing

MISSING_WORDS = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL"})        # what files write where nothing is known
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ][\d:.+Z-]+)?|\d{1,2}[./]\d{1,2}[./]\d{4}")
NAMED = 3                   # different texts that a message names all,
SOME = 50                   # and so many at most that columns of 0 and 1 are advised for
KINDS = ("empty cell", "infinite number", "date", "number with a decimal comma", "text")


@attrs.frozen
class Fault:
    """Of one column.

    Attributes
    ----------
    name : str
    cells : dict of str to list of int
        The rows at fault, counted from 0, by what stands there: one of `KINDS`.
    texts : dict of str to None
        The different texts.
    n_rows : int
    first : object
        The first cell at fault.
    """

    name: str
    cells: dict
    texts: dict
    n_rows: int
    first: object

    @property
    def row(self) -> int:
        """The first row at fault."""
        return min(rows[0] for rows in self.cells.values())

    @property
    def n_cells(self) -> int:
        return sum(map(len, self.cells.values()))

    @property
    def kind(self) -> str:
        """What most of the cells at fault hold that are not empty."""
        return max(self.cells, key=lambda kind: (kind != KINDS[0], len(self.cells[kind])))

    @property
    def one_by_one(self) -> bool:
        """Whether the column holds numbers but for a few cells, which are mended one by one."""
        return "text" in self.cells and len(self.cells["text"]) <= 0.05 * (self.n_rows - self.n_cells)

    @property
    def identifies(self) -> bool:
        """Whether the texts name the rows rather than tell something of them."""
        return len(self.texts) > max(NAMED, len(self.cells["text"]) // 2) or len(self.texts) > SOME

    @property
    def mends(self) -> list[str]:
        """The options of `structperc.components.TableReader` that make numbers of the column."""
        if self.one_by_one:
            return []
        found = {"text": "drop" if "text" in self.cells and self.identifies else "one_hot", "date": "date",
                 "number with a decimal comma": "decimal"}.get(self.kind)
        filled = found != "drop" and self.cells.keys() & set(KINDS[:2])
        return [option for option in (found, "fill" if filled else None) if option]

    def describe(self, place) -> str:
        """The column in words; `place(row)` says where a row stands."""
        parts = []
        for kind in reversed(KINDS):
            rows = self.cells.get(kind)
            if rows:
                where = f", the first in {place(rows[0])}" if kind in KINDS[:2] or self.one_by_one else ""
                parts.append(f"{self.counted(kind, len(rows))}{where}")
        return f"{self.name!r}: {' and '.join(parts)}"

    def counted(self, kind, n) -> str:
        if kind != "text":
            return f"{n} {kind}s" if n > 1 and "with" not in kind else f"{n} {kind.replace('number ', 'numbers ') if n > 1 else kind}"
        k, texts = len(self.texts), list(self.texts)
        if k == n > 1:
            return f"{n} texts, all different"
        shown = ", ".join(f"{text!r:.40}" for text in texts[:NAMED])
        return f"{k} text{'s' * (k > 1)} ({shown}{', ...' if k > NAMED else ''})"


def listing(faults, place) -> str:
    """All faulty columns in words, and what to do; `place(row)` says where a row stands."""
    columns = "; ".join(fault.describe(place) for fault in faults)
    n = len(faults)
    return (f"{n} column{'s' * (n > 1)} that {'are' if n > 1 else 'is'} not numbers throughout: {columns}. Drop columns that name the "
            f"rows, turn texts into columns of 0 and 1 and dates into days, and fill or drop empty cells.")


def find_fault(name, cells) -> Fault | None:
    """What is wrong with a column, None if nothing is.

    Parameters
    ----------
    name : str
    cells : list
        Its entries.
    """
    found, texts, first = {}, {}, None
    for row, cell in enumerate(cells):
        kind = kind_of(cell)
        if kind is not None:
            first = cell if not found else first
            found.setdefault(kind, []).append(row)
            if kind == "text":
                texts.setdefault(str(cell).strip())
    return Fault(name, found, texts, len(cells), first) if found else None


def kind_of(cell) -> str | None:
    """One of `KINDS`, None for a finite number."""
    if isinstance(cell, str):
        cell = cell.strip()
        if cell in MISSING_WORDS:
            return "empty cell"
    elif isinstance(cell, (datetime.date, datetime.timedelta)) or getattr(getattr(cell, "dtype", None), "kind", None) in ("m", "M"):
        return "date" if not is_missing(cell) else "empty cell"
    elif is_missing(cell):
        return "empty cell"
    number = to_number(cell)
    if number is not None:
        return None if math.isfinite(number) else "infinite number"
    if isinstance(cell, str) and DATE.fullmatch(cell):
        return "date"
    return "number with a decimal comma" if isinstance(cell, str) and to_number(cell.replace(",", ".", 1)) is not None else "text"


def to_number(cell):
    """A cell as a number, None if it is none."""
    try:
        return None if isinstance(cell, str) and "_" in cell else float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
