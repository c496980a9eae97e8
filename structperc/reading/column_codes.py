"""How one column of a table becomes columns of numbers: learned from the first data, applied to all later ones."""

from __future__ import annotations

import datetime
import numbers
from decimal import Decimal
from itertools import pairwise

import attrs
import numpy as np

from structperc.basics.errors import DataError, OptionError, did_you_mean, shortened
from structperc.basics.labels import is_missing
from structperc.reading.cells import MISSING_WORDS, TRUTH, canonical, number_in, to_number
from structperc.reading.column_faults import find_fault
from structperc.reading.frames import as_time, days_of

KINDS = ("number", "date", "ordinal", "one_hot")
STATISTICS = ("median", "mean", "most-frequent")
UNKNOWN = -1.0              # the code of a level that training did not know
TRUE_AND_FALSE = ("True", "False"), ("1", "0")


class Unusable(Exception):
    """A column has cells that its code does not accept; `fault` names them."""

    def __init__(self, fault):
        self.fault = fault


@attrs.frozen
class ColumnCode:
    """What a column of the table becomes."""
    # kind: {"number", "date", "ordinal", "one_hot"}. A number as it is. Days since `origin`. The position among `levels`, from 0. A column
    # of 0 and 1 for each of the levels.
    # levels: tuple of str
    # origin: float. Days since 1970.
    # fill: float. The value of a missing number, date or position. NaN: a missing cell raises an error.
    # indicated: bool. Whether a column of 0 and 1 marks missing cells.
    # date_format: str or None. As of `datetime.datetime.strptime`; None: ISO 8601.
    # decimal: str or None. The character before decimals of numbers as people write them; None: numbers as programs write them.
    # missing: frozenset of str. Texts of cells in which nothing is known.
    # reference: str or None. The level of one_hot with which log odds compare the others; None: the most frequent.

    name: str
    kind: str
    levels: tuple = ()
    origin: float = 0.0
    fill: float = np.nan
    indicated: bool = False
    date_format: str | None = None
    decimal: str | None = None
    missing: frozenset = MISSING_WORDS
    reference: str | None = None

    @property
    def feature_names(self) -> tuple:
        """The names of the columns that it becomes."""
        own = tuple(f"{self.name}={level}" for level in self.levels) if self.kind == "one_hot" else (self.name,)
        return (*own, f"{self.name} missing") if self.indicated else own

    def values(self, column) -> np.ndarray:
        """The cells as numbers, days since `origin` or positions: NaN for a missing cell, `UNKNOWN` for an unknown level of one_hot."""
        if self.kind == "number":
            return numbers_of(column, self.decimal, self.missing)
        if self.kind == "date":
            return days_in(column, self.date_format, self.missing) - self.origin
        places = self.places()
        levels = [level_of(cell) for cell in column.cells()]
        values = np.array([self.place_of(level, places) for level in levels], dtype=np.float64)
        if self.kind == "ordinal" and (values == UNKNOWN).any():
            raise self.unknown_level(levels[int(np.argmax(values == UNKNOWN))], int(np.argmax(values == UNKNOWN)))
        return values

    def places(self) -> dict:
        """The position of each level by its name, and by other names of the same truth value or number."""
        places = {canonical(level): i for i, level in reversed(list(enumerate(self.levels)))}
        for one, other in (TRUE_AND_FALSE, TRUE_AND_FALSE[::-1]):
            if set(places) <= set(one):
                places |= {name: places[level] for level, name in zip(one, other, strict=True) if level in places}
        return places | {level: i for i, level in enumerate(self.levels)}

    def named(self, text):
        """The position of the level that a text names; None: no level."""
        places = self.places()
        return places.get(text, places.get(canonical(text)))

    def place_of(self, level, places) -> float:
        """The position of a level, NaN where nothing is known. A word that is a level is no missing cell."""
        if level is None or level in self.missing and level not in places:
            return np.nan
        place = places.get(level)
        return float(places.get(canonical(level), UNKNOWN) if place is None else place)

    def first_of_new_levels(self, column) -> list:
        """The first row of each level of a column that the code lacks."""
        first, places = {}, self.places()
        for row, level in enumerate(map(level_of, column.cells())):
            if self.place_of(level, places) == UNKNOWN:
                first.setdefault(level, row)
        return list(first.values())

    def encode(self, column, out) -> dict:
        """Writes the columns that it becomes, and returns the unknown levels and how often each occurs; raises as `values`."""
        values = self.values(column)
        missing = np.isnan(values)
        if missing.any() and np.isnan(self.fill):
            cells = column.cells() if self.levels else [""] * len(missing)
            words = [cell if isinstance(cell, str) and cell.strip() in MISSING_WORDS else "" for cell in cells]
            fault = find_fault(self.name, [word if gone else 0.0 for word, gone in zip(words, missing.tolist(), strict=True)])
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
        strange = (values == UNKNOWN) & ~missing
        if self.kind != "one_hot" or not strange.any():
            return {}
        levels, counts = np.unique([level_of(column.cells()[i]) for i in np.flatnonzero(strange)], return_counts=True)
        return dict(zip(levels.tolist(), counts.tolist(), strict=True))

    def unknown_level(self, level, row) -> DataError:
        hint = did_you_mean(level, self.levels)
        return DataError(f"row {row} of column {self.name!r} is {level!r:.60}. Its levels are {', '.join(self.levels)}.{hint} "
                         f"Correct the cell, or name all levels in training by ordinal.")


def learned(column, options, weights=None) -> ColumnCode:
    """The code of a column. The weights are what rows count for the value that fills gaps."""
    kind, missing = options.kind(column), options.missing_words(column.name)
    levels, fill = options.levels(column.name), options.filling(column.name, kind)
    if kind in ("ordinal", "one_hot") and levels is None:
        levels = levels_in(column, missing)
    levels = tuple(levels or ())
    fill = as_level(fill) if kind == "one_hot" and fill is not None and fill not in STATISTICS else fill
    if kind == "one_hot" and isinstance(fill, str) and fill not in STATISTICS and ColumnCode(column.name, kind, levels).named(fill) is None:
        levels = (*levels, fill)
    code = ColumnCode(column.name, kind, levels, **options.forms(column.name))
    if code.reference is not None and (kind != "one_hot" or code.reference not in levels):
        why = {"one_hot": f"its levels are {', '.join(levels)}.{did_you_mean(code.reference, levels)}",
               "ordinal": "its levels are ordered, and become positions. To compare each level with the reference, name the column by "
                          "one_hot."}
        raise OptionError(f"reference={code.reference!r:.60} for column {column.name!r}; "
                          + why.get(kind, "it is no column of categories. Name it by one_hot."))
    values = code.values(column)
    present = ~np.isnan(values)
    present_values = values[present]
    if kind == "date" and len(present_values):
        code, present_values = attrs.evolve(code, origin=float(present_values.min())), present_values - present_values.min()
    if fill is not None:
        code = attrs.evolve(code, fill=filler(code, fill, present_values, None if weights is None else weights[present]))
    indicated = options.missing_indicators and len(present_values) < len(values) and fill is not None
    return attrs.evolve(code, indicated=bool(indicated))


def widened(code, column, options) -> ColumnCode:
    """The code of a column after further data, which may have further levels, earlier dates and the first missing cells."""
    if code.levels and options.levels(code.name) is None:
        levels = merged(code, levels_in(column, code.missing))
        places = [levels.index(level) for level in code.levels]
        fill = float(np.interp(code.fill, np.arange(len(places)), places))          # a mean may lie between two levels
        code = attrs.evolve(code, levels=levels, fill=code.fill if code.fill == UNKNOWN else fill)
    values = code.values(column)
    present_values = values[~np.isnan(values)]
    if code.kind == "date" and len(present_values) and present_values.min() < 0:
        code = attrs.evolve(code, origin=code.origin + float(present_values.min()), fill=code.fill - float(present_values.min()))
    indicated = options.missing_indicators and len(present_values) < len(values) and not np.isnan(code.fill)
    return attrs.evolve(code, indicated=bool(code.indicated or indicated))


def statistic(name, numbers, weights) -> float:
    """One of `STATISTICS`. A weight of 2 counts a number twice. NaN without numbers."""
    if weights is not None:
        numbers, weights = numbers[weights > 0], weights[weights > 0]
        weights = None if (weights == weights[:1]).all() else weights
    if not len(numbers):
        return np.nan
    if name == "mean":
        return float(np.average(numbers, weights=weights))
    distinct, codes = np.unique(numbers, return_inverse=True)
    totals = np.bincount(codes, weights)
    if name == "most-frequent":
        return float(distinct[np.argmax(totals)])
    if weights is None:
        return float(np.median(numbers))
    below = np.cumsum(totals)
    middle = np.searchsorted(below, below[-1] / 2)
    return float(distinct[middle:middle + 1 + (below[middle] == below[-1] / 2)].mean())


def levels_in(column, missing) -> tuple:
    """The levels of a column: its categories, or all that its cells hold, sorted. A column of truth values has True and False."""
    if column.categories is not None:
        return tuple(level for level in map(level_of, column.categories) if level is not None)
    levels = {level_of(cell) for cell in column.cells()} - {None} - missing
    return tuple(sorted({*map(canonical, levels)} if levels <= TRUTH.keys() else levels))


def merged(code, others) -> tuple:
    """The levels of a code and of further data."""
    return common_levels(code.name, [code.levels, others], code.kind == "ordinal")


def common_levels(name, all_levels, ordered) -> tuple:
    """The levels of a column of several tables, in an order that does not depend on which table came first."""
    if all(tuple(levels) == tuple(all_levels[0]) for levels in all_levels):
        return tuple(all_levels[0])
    if not ordered:
        return tuple(sorted({level for levels in all_levels for level in levels}))
    order = joined_orders(all_levels)
    if order is None:
        orders = " and ".join(" < ".join(map(str, levels)) for levels in all_levels)
        raise DataError(f"column {name!r} has levels in the orders {orders}, which are no parts of one order. Name all levels in order by "
                        f"the option ordinal.")
    return order


def joined_orders(orders):
    """The one order of which all of these are parts, None if there is none or more than one."""
    above = {}
    for order in orders:
        for level in order:
            above.setdefault(level, set())
        for lower, higher in pairwise(order):
            above[lower].add(higher)
    joined, below = [], {level: sum(level in others for others in above.values()) for level in above}
    while len(joined) < len(above):
        free = [level for level, n in below.items() if n == 0 and level not in joined]
        if len(free) != 1:
            return None
        joined += free
        for level in above[free[0]]:
            below[level] -= 1
    return tuple(joined)


def filler(code, fill, numbers, weights=None) -> float:
    """What means a missing cell, among the values of a code; NaN where nothing is known."""
    if fill in STATISTICS:
        return statistic("most-frequent" if code.kind == "one_hot" else fill, numbers, weights)
    if code.kind in ("ordinal", "one_hot"):
        place = code.named(as_level(fill))
        if place is None:
            raise OptionError(f"fill={shortened(fill)} for column {code.name!r}; its levels are {', '.join(code.levels)}.")
        return float(place)
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


def numbers_of(column, decimal=None, missing=MISSING_WORDS) -> np.ndarray:
    """A column as numbers, NaN where a cell is missing."""
    if column.kind == "number":
        return column.values
    cells = [None if isinstance(cell, str) and cell.strip() in missing or is_missing(cell) else cell for cell in column.cells()]
    form = {} if decimal is None else {"decimal": decimal, "as_written": True}
    numbers = [np.nan if cell is None else number_in(cell, **form) for cell in cells]
    if None in numbers or not np.isfinite([number for number, cell in zip(numbers, cells, strict=True) if cell is not None]).all():
        raise Unusable(find_fault(column.name, cells, **form))
    return np.array(numbers, dtype=np.float64)


def days_in(column, date_format, missing=MISSING_WORDS) -> np.ndarray:
    """A column of dates as days since 1970, NaN where a cell is missing."""
    if column.kind == "date":
        return column.values
    cells = [None if isinstance(cell, str) and cell.strip() in missing or is_missing(cell) else cell for cell in column.cells()]
    days = [np.nan if cell is None else to_day(cell, date_format) for cell in cells]
    if None in days:
        row = days.index(None)
        expected = f"a date like {date_format}" if date_format else "a date as in ISO 8601, 2024-12-31"
        raise DataError(f"row {row} of column {column.name!r} is {shortened(cells[row])}; expected {expected}. Name another form by the "
                        f"option date, such as %d.%m.%Y. Name texts of missing cells by the option missing.")
    return np.array(days, dtype=np.float64)


def to_day(cell, date_format):
    """A text or date as days since 1970, None if it is no date. A Z behind a form without zone means Greenwich."""
    if isinstance(cell, datetime.date):
        return days_of(cell)
    if not isinstance(cell, str):
        return None
    for text in (cell.strip(), cell.strip().removesuffix("Z")):
        try:
            return days_of(datetime.datetime.strptime(text, date_format) if date_format else datetime.datetime.fromisoformat(text))
        except ValueError:
            continue
    return None


def level_of(cell) -> str | None:
    """How a level is called: a text without blanks around it, a whole number without a point; None where nothing is known."""
    if isinstance(cell, str):
        return cell.strip() or None
    return None if is_missing(cell) else as_level(cell)


def as_level(value) -> str:
    """A value that is known, as a level. Decimals have no zeros behind them, and times no midnight."""
    if isinstance(value, Decimal):
        text = f"{value:f}"
        return text.rstrip("0").rstrip(".") if "." in text else text
    if isinstance(value, datetime.date):
        return as_time(days_of(value))
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()

