"""How one column of a table becomes columns of numbers: learned from the first data, applied to all later ones."""

from __future__ import annotations

import datetime
import numbers

import attrs
import numpy as np

from structperc.core.errors import DataError, OptionError, did_you_mean, shortened
from structperc.core.labels import is_missing
from structperc.reading.column_faults import find_fault, to_number
from structperc.reading.frames import days_of

KINDS = ("number", "date", "ordinal", "one_hot")
STATISTICS = ("median", "mean", "most-frequent")
UNKNOWN = -1.0              # the code of a level that training did not know


class Unusable(Exception):
    """A column has cells that its code does not accept; `fault` names them."""

    def __init__(self, fault):
        self.fault = fault


@attrs.frozen
class ColumnCode:
    """What a column of the table becomes.

    Attributes
    ----------
    name : str
    kind : {"number", "date", "ordinal", "one_hot"}
        A number as it is. Days since `origin`. The position among `levels`, from 0. A column of 0 and 1 for each of the levels.
    levels : tuple of str
    origin : float
        Days since 1970.
    fill : float
        The value of a missing number, date or position. NaN: a missing cell raises an error.
    indicated : bool
        Whether a column of 0 and 1 marks missing cells.
    date_format : str or None
        As of `datetime.datetime.strptime`; None: ISO 8601.
    """

    name: str
    kind: str
    levels: tuple = ()
    origin: float = 0.0
    fill: float = np.nan
    indicated: bool = False
    date_format: str | None = None

    @property
    def feature_names(self) -> tuple:
        """The names of the columns that it becomes."""
        own = tuple(f"{self.name}={level}" for level in self.levels) if self.kind == "one_hot" else (self.name,)
        return (*own, f"{self.name} missing") if self.indicated else own

    def values(self, column) -> np.ndarray:
        """The cells as numbers, days since `origin` or positions: NaN where a cell is missing, `UNKNOWN` for an unknown level of one_hot.

        Raises
        ------
        Unusable
            For cells that are none of this.
        """
        if self.kind == "number":
            return numbers_of(column)
        if self.kind == "date":
            return days_in(column, self.date_format) - self.origin
        position = {level: float(i) for i, level in enumerate(self.levels)}
        levels = [level_of(cell) for cell in column.cells()]
        values = np.array([np.nan if level is None else position.get(level, UNKNOWN) for level in levels], dtype=np.float64)
        if self.kind == "ordinal" and (values == UNKNOWN).any():
            raise self.unknown_level(levels[int(np.argmax(values == UNKNOWN))], int(np.argmax(values == UNKNOWN)))
        return values

    def encode(self, column, out) -> dict:
        """Writes the columns that it becomes, and returns the unknown levels and how often each occurs; raises as `values`."""
        values = self.values(column)
        missing = np.isnan(values)
        if missing.any() and np.isnan(self.fill):
            fault = find_fault(self.name, ["" if gone else 0.0 for gone in missing.tolist()])
            raise Unusable(attrs.evolve(fault, has_levels=bool(self.levels)))
        if not np.isfinite(values[~missing]).all():
            raise Unusable(find_fault(self.name, column.cells()))
        values = np.where(missing, self.fill, values)
        if self.kind == "one_hot":
            out[:, :len(self.levels)] = values[:, None] == np.arange(len(self.levels))
        else:
            out[:, 0] = values
        if self.indicated:
            out[:, -1] = missing
        if self.kind != "one_hot" or not (values == UNKNOWN).any():
            return {}
        levels, counts = np.unique([level_of(column.cells()[i]) for i in np.flatnonzero(values == UNKNOWN)], return_counts=True)
        return dict(zip(levels.tolist(), counts.tolist(), strict=True))

    def unknown_level(self, level, row) -> DataError:
        hint = did_you_mean(level, self.levels)
        return DataError(f"row {row} of column {self.name!r} is {level!r:.60}, which is none of its levels {', '.join(self.levels)}.{hint} "
                         f"Name all levels in order.")


def learned(column, kind, levels=None, date_format=None, fill=None, indicate=False) -> ColumnCode:
    """The code of a column.

    Parameters
    ----------
    column : Column
    kind : one of `KINDS`
    levels : sequence of str, optional
        In order; without it those of the column.
    date_format : str, optional
    fill : {"median", "mean", "most-frequent"}, number, str, or None
    indicate : bool
        Whether missing cells, if there are any, get a column of their own.

    Raises
    ------
    Unusable, OptionError
    """
    if kind in ("ordinal", "one_hot") and levels is None:
        own_levels = {level_of(cell) for cell in column.cells()} - {None}
        levels = tuple(map(level_of, column.categories)) if column.categories is not None else sorted(own_levels)
    levels = tuple(levels or ())
    fill = as_level(fill) if kind == "one_hot" and fill is not None and fill not in STATISTICS else fill
    if kind == "one_hot" and isinstance(fill, str) and fill not in STATISTICS and fill not in levels:
        levels = (*levels, fill)
    code = ColumnCode(column.name, kind, levels, date_format=date_format)
    values = code.values(column)
    present_values = values[~np.isnan(values)]
    if kind == "date" and len(present_values):
        code, present_values = attrs.evolve(code, origin=float(present_values.min())), present_values - present_values.min()
    if fill is not None:
        code = attrs.evolve(code, fill=filler(code, fill, present_values))
    return attrs.evolve(code, indicated=bool(indicate and len(present_values) < len(values) and fill is not None))


def filler(code, fill, numbers) -> float:
    """What means a missing cell, among the values of a code; NaN where nothing is known."""
    if fill in STATISTICS:
        if not len(numbers):
            return np.nan
        if code.kind == "one_hot" or fill == "most-frequent":
            distinct, counts = np.unique(numbers, return_counts=True)
            return float(distinct[np.argmax(counts)])
        return float(np.median(numbers) if fill == "median" else np.mean(numbers))
    if code.kind in ("ordinal", "one_hot"):
        if as_level(fill) not in code.levels:
            raise OptionError(f"fill={fill!r:.60} for column {code.name!r}; its levels are {', '.join(code.levels)}.")
        return float(code.levels.index(as_level(fill)))
    if code.kind == "date":
        day = to_day(fill, code.date_format)
        if day is None:
            raise OptionError(f"fill={shortened(fill)} for the dates of column {code.name!r}; expected median, mean, most-frequent or a "
                              f"date.")
        return day - code.origin
    number = to_number(fill)
    if number is None or not np.isfinite(number):
        raise OptionError(f"fill={shortened(fill)} for the numbers of column {code.name!r}; expected median, mean, most-frequent or a "
                          f"number.")
    return number


def numbers_of(column) -> np.ndarray:
    """A column as numbers, NaN where a cell is missing."""
    if column.kind == "number":
        return column.values
    fault = find_fault(column.name, column.cells())
    if fault is not None and fault.cells.keys() - {"empty cell", "infinite number"}:
        raise Unusable(fault)
    numbers = [to_number(cell) for cell in column.cells()]
    return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)


def days_in(column, date_format) -> np.ndarray:
    """A column of dates as days since 1970, NaN where a cell is missing."""
    if column.kind == "date":
        return column.values
    days = [None if level_of(cell) is None else to_day(cell, date_format) for cell in column.cells()]
    for row, (cell, day) in enumerate(zip(column.cells(), days, strict=True)):
        if day is None and level_of(cell) is not None:
            expected = f"a date like {date_format}" if date_format else "a date as in ISO 8601, 2024-12-31"
            raise DataError(f"row {row} of column {column.name!r} is {shortened(cell)}; expected {expected}. Name another form as in "
                            f"%d.%m.%Y.")
    return np.array([np.nan if day is None else day for day in days], dtype=np.float64)


def to_day(cell, date_format):
    """A text or date as days since 1970, None if it is no date."""
    if isinstance(cell, datetime.date):
        return days_of(cell)
    if not isinstance(cell, str):
        return None
    text = cell.strip().removesuffix("Z")
    try:
        return days_of(datetime.datetime.strptime(text, date_format) if date_format else datetime.datetime.fromisoformat(text))
    except ValueError:
        return None


def level_of(cell) -> str | None:
    """How a level is called: a text without blanks around it, a whole number without a point; None where nothing is known."""
    if isinstance(cell, str):
        return cell.strip() or None
    return None if is_missing(cell) else as_level(cell)


def as_level(value) -> str:
    """A value that is known, as a level."""
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()

