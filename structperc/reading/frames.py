"""Columns of data frames of any library (pandas, polars, pyarrow, by narwhals): numbers, days, or cells of text."""

from __future__ import annotations

import datetime
import re

import attrs
import numpy as np

from structperc.basics.errors import DataError
from structperc.basics.labels import has_half_pair, is_missing, is_real
from structperc.extras import require
from structperc.reading.cells import EXACT
from structperc.reading.other_libraries import as_table

DAY = 86_400_000        # milliseconds
TYPED = re.compile("categor|enum|dict|date|time|dura")      # in the names of such types, of any library
OF_PANDAS = re.compile(r"pandas\.(interval|period)")      # types that pandas stores in tables of other libraries
KINDS = ("number", "date", "text")


@attrs.frozen(eq=False)
class Column:
    """A column of a table."""
    # kind: {"number", "date", "text"}
    # values: float64 array or list. Numbers, or days since 1970, with NaN where nothing is known; of a text the cells as they came.
    # categories: tuple or None. Of a categorical all that its cells can be, in order.
    # ordered: bool. Whether the order of the categories has a meaning.
    # entries: list or None. Of numbers that are truth values, or whole numbers beyond 2**53: the cells as they came.

    name: str
    kind: str
    values: object
    categories: tuple | None = None
    ordered: bool = False
    entries: list | None = None

    def __len__(self):
        return len(self.values)

    def cells(self) -> list:
        """The entries as a message or a name shows them: numbers, dates or texts, None where nothing is known."""
        if self.kind == "text":
            return self.values
        if self.entries is not None:
            return self.entries
        show = as_time if self.kind == "date" else float
        return [None if value != value else show(value) for value in self.values.tolist()]


def is_frame(X) -> bool:
    """Whether X has named columns of any kind."""
    return not isinstance(X, np.ndarray) and len(getattr(X, "shape", ())) == 2 and (hasattr(X, "columns") or hasattr(X, "column_names"))


def columns_of(X) -> dict:
    """The columns of a data frame by name. A name raises an error if it is no text, is repeated, or cannot be saved in a file."""
    narwhals = require("narwhals.stable.v2", "reading tables", "tables")
    X = as_table(X)
    names = frame_names(X)
    frame = narwhals.from_native(X, eager_only=True)
    return {name: read_column(narwhals, name, frame.get_column(name)) for name in names}


def frame_names(X) -> list:
    """The names of the columns, all different texts."""
    names = list(X.column_names if hasattr(X, "column_names") else X.columns)
    for i, name in enumerate(names):
        if not isinstance(name, str):
            raise DataError(f"column {i} of X is called {name!r:.60}, which is no text; rename it, or pass X.to_numpy() for columns "
                            f"without names.")
        if has_half_pair(name):
            raise DataError(f"X has a column {name!r:.60} with half of a surrogate pair in its name, which no file can store. Read it with "
                            f"the right encoding, or rename it.")
        if names.index(name) < i:
            raise DataError(f"X has two columns {name!r:.60}, {names.index(name)} and {i}; give every column a name of its own.")
    return names


def read_column(narwhals, name, series) -> Column:
    """A series of narwhals as a column."""
    series = narwhals.from_native(in_its_library(name, series.to_native()), series_only=True)
    dtype = series.dtype
    if dtype.is_numeric() or dtype == narwhals.Boolean:
        as_they_are = dtype.is_integer() and series.implementation.is_pyarrow()         # which casts no whole number beyond 2**53
        values = np.array((series if as_they_are else series.cast(narwhals.Float64)).to_numpy(), dtype=np.float64)
        exact = dtype != narwhals.Boolean and (dtype.is_float() or not (np.abs(values) >= EXACT).any())
        return Column(name, "number", values, entries=None if exact else series.to_list())
    if dtype in (narwhals.Date, narwhals.Datetime):
        return Column(name, "date", np.array(series.dt.timestamp("ms").cast(narwhals.Float64).to_numpy(), dtype=np.float64) / DAY)
    if dtype == narwhals.Duration:
        microseconds = series.dt.total_microseconds().cast(narwhals.Float64).to_numpy()
        return Column(name, "number", np.array(microseconds, dtype=np.float64) / (1000 * DAY))
    if dtype in (narwhals.Categorical, narwhals.Enum):
        categories = tuple(series.cat.get_categories().to_list())
        return Column(name, "text", cells_of(series, categories), categories, bool(narwhals.is_ordered_categorical(series)))
    return read_cells(name, series.to_list())


def in_its_library(name, column):
    """A column as its library reads it: of pyarrow if it has a type of Arrow in pandas. Types of pandas elsewhere raise an error."""
    kind = getattr(column, "dtype", getattr(column, "type", None))
    if hasattr(kind, "pyarrow_dtype"):
        return require("pyarrow", "reading columns of Arrow types", "parquet").chunked_array([column])
    if OF_PANDAS.search(str(kind)):
        raise DataError(f"column {name!r} of X holds intervals or periods of pandas, of which other libraries have only the parts. Pass "
                        f"the frame of pandas, or make texts of the column there by astype(str).")
    return column


def cells_of(series, categories) -> list:
    """The cells of a categorical, by their codes in pandas. Beside a gap it lists whole numbers as real ones, also those of intervals."""
    if not series.implementation.is_pandas_like():
        return series.to_list()
    return [None if code < 0 else categories[code] for code in series.to_native().cat.codes.tolist()]


def read_cells(name, cells) -> Column:
    """A column of Python objects: numbers, dates or durations where all are, else text."""
    present = [cell for cell in cells if not is_missing(cell)]
    if present and all(map(is_real, present)):
        values = np.array([np.nan if is_missing(cell) else cell for cell in cells], dtype=np.float64)
        exact = not all(isinstance(cell, (bool, np.bool_)) for cell in present) and not (np.abs(values) >= EXACT).any()
        return Column(name, "number", values, entries=None if exact else cells)
    if present and all(isinstance(cell, datetime.timedelta) for cell in present):
        day = datetime.timedelta(days=1)
        return Column(name, "number", np.array([np.nan if is_missing(cell) else cell / day for cell in cells]))
    if present and all(isinstance(cell, datetime.date) for cell in present):
        return Column(name, "date", np.array([np.nan if is_missing(cell) else days_of(cell) for cell in cells]))
    return Column(name, "text", cells)


def has_typed_columns(X) -> bool:
    """Whether X is a data frame with a column of categories, dates or durations.

    Parameters
    ----------
    X : object
        As users pass it.

    Examples
    --------
    >>> import pandas as pd
    >>> from structperc.plugin_tools import has_typed_columns
    >>> has_typed_columns(pd.DataFrame({"sex": pd.Categorical(["f", "m"])})), has_typed_columns(pd.DataFrame({"bmi": [21.0, 30.0]}))
    (True, False)
    """
    if not is_frame(X):
        return False
    kinds = getattr(X, "dtypes", None)
    kinds = getattr(getattr(X, "schema", None), "types", ()) if kinds is None else kinds
    return any(TYPED.search(str(kind).lower()) for kind in kinds)


def days_of(date) -> float:
    """Days since 1970 of a date, or of a time; times with a zone count from midnight in Greenwich."""
    if not isinstance(date, datetime.datetime):
        return float(date.toordinal() - datetime.date(1970, 1, 1).toordinal())
    zone = None if date.tzinfo is None else datetime.timezone.utc
    return (date - datetime.datetime(1970, 1, 1, tzinfo=zone)) / datetime.timedelta(days=1)


def as_time(days, date_format=None) -> str:
    """The time so many days since 1970, to the millisecond, as users write it: a day, unless it has hours."""
    if date_format is not None:
        return (datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=round(days * DAY))).strftime(date_format)
    time = np.datetime64(round(days * DAY), "ms")
    day = time.astype("M8[D]")
    return str(day) if day == time else str(time).replace("T", " ").removesuffix(".000")
