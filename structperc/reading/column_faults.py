"""Why columns of a table are no columns of finite numbers, and what fixes each: all columns in one sentence."""

from __future__ import annotations

import datetime
import math
import re

import attrs

from structperc.core.errors import DataError
from structperc.core.labels import is_missing

MISSING_WORDS = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL"})        # what files write where nothing is known
DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ][\d:.+Z-]+)?|\d{1,2}[./]\d{1,2}[./]\d{4}")
NAMED = 3                   # different texts that a message names all,
SOME = 50                   # and so many at most that columns of 0 and 1 are advised for
KINDS = ("empty cell", "infinite number", "date", "number with a decimal comma", "text")
BY_HAND = {                 # what fixes columns without the plugin "table", by the option that would
    "drop": "drop {}", "one_hot": "make columns of 0 and 1 of {}, for instance by pandas.get_dummies",
    "date": "turn the dates of {} into days since the first", "decimal": "read {} with decimal=','",
    "fill": "fill the gaps of {}, for instance by sklearn.impute.SimpleImputer",
}  # fmt: skip


@attrs.frozen
class Fault:
    """Of one column.

    Attributes
    ----------
    name : str
    cells : dict of str to list of int
        The rows at fault, counted from 0, by the kind of their cell: one of `KINDS`.
    texts : dict of str to None
        The different texts.
    n_rows : int
    first : object
        The first cell at fault.
    has_levels : bool
        Whether the column is read as levels.
    """

    name: str
    cells: dict
    texts: dict
    n_rows: int
    first: object
    has_levels: bool = False

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
        """Whether the column has numbers but for a few cells, which you fix one by one."""
        return "text" in self.cells and len(self.cells["text"]) <= 0.05 * (self.n_rows - self.n_cells)

    @property
    def identifies(self) -> bool:
        """Whether the texts are names of rows, and no property of them."""
        return len(self.texts) > max(NAMED, len(self.cells["text"]) // 2) or len(self.texts) > SOME

    @property
    def mends(self) -> list[str]:
        """The options of `structperc.components.TableReader` that make numbers of the column."""
        if self.one_by_one:
            return []
        if len(self.cells.get(KINDS[0], ())) == self.n_rows:
            return ["drop"]
        mend = {"text": "drop" if "text" in self.cells and self.identifies else "one_hot", "date": "date",
                 "number with a decimal comma": "decimal"}.get(self.kind)
        filled = mend != "drop" and self.cells.keys() & set(KINDS[:2])
        return [option for option in (mend, "fill" if filled else None) if option]

    def describe(self, place) -> str:
        """The column in words. `place(row)` returns where a row is."""
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
        examples = ", ".join(f"{text!r:.40}" for text in texts[:NAMED])
        return f"{k} text{'s' * (k > 1)} ({examples}{', ...' if k > NAMED else ''})"


class ColumnError(DataError):
    """Columns of a table that cannot be used: all of them, and what fixes each.

    Parameters
    ----------
    faults : sequence of Fault
    trained : bool
        Whether a model has an encoding of each column already.
    where : str
        What holds the columns.
    place : function of int
        Returns where a row is that is counted from 0.
    advise : function of (faults, encoded)
        Returns which options fix them.
    encoded : bool
        Whether the plugin "table" has read the columns.
    """

    def __init__(self, faults, trained=False, where="X", place="row {}".format, advise=None, encoded=False):
        self.faults, self.trained, self.encoded = tuple(faults), trained, encoded
        n = len(self.faults)
        columns = "; ".join(fault.describe(place) for fault in self.faults)
        advice = "fill these cells or drop their rows, as the model has learned nothing else for them" if trained else (
            in_engine if advise is None else advise)(self.faults, encoded)
        super().__init__(f"{where} has {n} column{'s' * (n > 1)} that {'are' if n > 1 else 'is'} not numbers throughout: {columns}. "
                         f"{advice[0].upper()}{advice[1:]}.")

    def advised(self, advise, **where):
        """The same error with other advice, and for the command line with another `where` and `place`."""
        return type(self)(self.faults, self.trained, advise=advise, encoded=self.encoded, **where)


def in_engine(faults, encoded) -> str:
    """The options that fix columns, as an engine has them."""
    options = options_of(faults)
    return advice(faults, [*plugin_of(encoded), *(f"{name}={value!r}" for name, value in options.items())] if options else [])


def in_estimator(faults, encoded) -> str:
    """The options that fix columns, as an estimator of the engine has them."""
    options = options_of(faults)
    return advice(faults, [f"plugin_options={options!r}"] if options else [])


def in_a_frame(faults, encoded) -> str:
    """What fixes columns before an estimator without plugins reads them."""
    mends = mends_of(faults)
    ways = [f"{way.format(', '.join(map(repr, mends[option])))}" for option, way in BY_HAND.items() if option in mends]
    return " and ".join([*ways, *one_by_one(faults)])


def plugin_of(encoded) -> list:
    return [] if encoded else ["plugins=['table']"]


def advice(faults, options) -> str:
    """A call's options, and what they do not fix."""
    decimals = ", ".join(map(repr, mends_of(faults).get("decimal", ())))
    return " and ".join([*[f"pass {', '.join(options)}"] * bool(options), *[f"read {decimals} with decimal=','"] * bool(decimals),
                         *one_by_one(faults)])


def options_of(faults) -> dict:
    """The options of `structperc.components.TableReader` that fix columns."""
    mends = mends_of(faults)
    options = {name: mends[name] for name in ("drop", "one_hot", "date") if name in mends}
    return options | ({"fill": fill_of(faults)} if "fill" in mends else {})


def fill_of(faults):
    """What fills their gaps: the median, which is the most frequent level where columns have levels; by name where all have levels."""
    gaps = [fault for fault in faults if "fill" in fault.mends]
    if all(fault.has_levels or "one_hot" in fault.mends for fault in gaps):
        return {fault.name: "most-frequent" for fault in gaps}
    return "median"


def mends_of(faults) -> dict:
    """The columns that each option of `structperc.components.TableReader` fixes."""
    mends = {}
    for fault in faults:
        for option in fault.mends:
            mends.setdefault(option, []).append(fault.name)
    return mends


def one_by_one(faults) -> list:
    """The faults to fix in the table itself."""
    names = [repr(fault.name) for fault in faults if fault.one_by_one]
    return [f"correct the cells of {', '.join(names)}, or drop {'it' if len(names) == 1 else 'them'}"] if names else []


def find_fault(name, cells) -> Fault | None:
    """What is wrong with a column, None if nothing is.

    Parameters
    ----------
    name : str
    cells : list
        Its entries.
    """
    rows_by_kind, texts, first = {}, {}, None
    for row, cell in enumerate(cells):
        kind = kind_of(cell)
        if kind is not None:
            first = cell if not rows_by_kind else first
            rows_by_kind.setdefault(kind, []).append(row)
            if kind == "text":
                texts.setdefault(str(cell).strip())
    return Fault(name, rows_by_kind, texts, len(cells), first) if rows_by_kind else None


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
