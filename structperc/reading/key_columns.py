"""Columns of keys: taken off a table before it becomes numbers, and numbered in their order where they are no numbers themselves."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal

import attrs
import numpy as np

from structperc.basics.errors import DataError, shortened
from structperc.basics.labels import is_missing, is_real
from structperc.extras import require
from structperc.reading.cells import EXACT
from structperc.reading.frames import is_frame
from structperc.reading.matrices import as_examples, is_row
from structperc.reading.other_libraries import header_of

EXACT_FLOAT32 = 2.0**24         # from here on float32 does not hold all whole numbers, as float64 from EXACT on
WRITTEN = re.compile(r"[+-]?\d+(\.\d*)?")       # a text that is a number, for the order of keys


@attrs.frozen(eq=False)
class Keyed:
    """A table without its columns of keys, and these."""
    # table: object. What is left of X.
    # columns: list of ndarray. Over all rows of X: numbers, or objects as users pass them.
    # names: tuple of str. Empty if the columns have none.

    table: object
    columns: list
    names: tuple = ()


def of_frames(X, choose) -> Keyed | None:
    """The keys of a data frame, or of one for each example; None for anything else. `choose` returns their places among the names."""
    X = as_examples(X)
    frames = list(X) if isinstance(X, (list, tuple)) else [X]
    if not frames or not all(map(is_frame, frames)):
        return None
    header = list(header_of(frames[0]))
    for i, frame in enumerate(frames):
        if list(header_of(frame)) != header:
            raise DataError(f"X[{i}] has other columns than X[0]; give every example the same.")
    places = choose(header)
    columns = [joined([column_of(frame, header, j) for frame in frames]) for j in places]
    rest = [without(frame, header, places) for frame in frames]
    names = tuple(header[j] for j in places)
    return Keyed(rest if isinstance(X, (list, tuple)) else rest[0], columns, names if all(isinstance(name, str) for name in names) else ())


def column_of(frame, header, j) -> np.ndarray:
    """A column of a data frame: numbers and times as exactly as it has them, or objects where it has another type."""
    if not hasattr(frame, "iloc"):
        return column_of_others(frame[header[j]])
    column = frame.iloc[:, j]
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "iufb":
        return column.to_numpy()
    if getattr(column.dtype, "kind", None) == "f":                  # Float32 and Float64, which have gaps
        return column.to_numpy(dtype=column.dtype.numpy_dtype, na_value=np.nan)
    return of_objects(column.to_list())


def column_of_others(column) -> np.ndarray:
    """A column of polars or pyarrow. Python's dates would lose nanoseconds, its floats that a number was a float32."""
    narwhals = require("narwhals.stable.v2", "reading tables", "tables")
    series = narwhals.from_native(column, series_only=True)
    if series.dtype.is_float() or series.dtype in (narwhals.Datetime, narwhals.Duration):
        return series.to_numpy()
    if series.dtype == narwhals.Time:
        return series.cast(narwhals.Int64).to_numpy()               # nanoseconds
    return of_objects(series.to_list())


def without(frame, header, places):
    """A data frame without some columns."""
    others = [j for j in range(len(header)) if j not in places]
    if hasattr(frame, "iloc"):
        return frame.iloc[:, others]
    narwhals = require("narwhals.stable.v2", "reading tables", "tables")
    return narwhals.from_native(frame, eager_only=True).select([header[j] for j in others]).to_native()


def of_arrays(X, k):
    """The first k columns of arrays and rows that are no floats, and X with 0 in their place. None and X of anything else."""
    # Floats and sparse matrices hold their keys already as exactly as they ever did.
    X = as_examples(X)
    blocks = list(X) if isinstance(X, (list, tuple)) else [X]
    if not blocks:
        return None, X
    if isinstance(X, (list, tuple)) and all(map(is_row, blocks)):
        if len(set(map(len, blocks))) > 1:
            return None, X                              # the reader of matrices names the row
        columns = [of_objects([row[j] for row in blocks]) for j in range(min(k, len(blocks[0])))]
        return columns, [[0.0] * len(columns) + list(row[k:]) for row in blocks]
    if not all(isinstance(block, np.ndarray) and block.ndim == 2 and block.dtype.kind in "fiubOUMm" for block in blocks) \
            or all(block.dtype.kind == "f" and block.dtype.itemsize <= 8 for block in blocks):
        return None, X
    columns = [joined([block[:, j] for block in blocks]) for j in range(min(k, *(block.shape[1] for block in blocks)))]
    rest = [cleared(block, k) for block in blocks]
    return columns, rest if isinstance(X, (list, tuple)) else rest[0]


def cleared(block, k):
    """An array with 0 in its first columns, where these may be no numbers."""
    if block.dtype.kind in "fiub":
        return block
    block = block.astype(object)
    block[:, :k] = 0.0
    return block


def of_objects(cells) -> np.ndarray:
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def joined(parts) -> np.ndarray:
    """The parts of a column; those of several types as objects, so that none is rounded."""
    same = len({part.dtype.kind for part in parts}) == 1
    return np.concatenate(parts if same else [of_objects(part.tolist()) for part in parts])


def numbered(columns, offsets, name):
    """Keys as float64, equal and ordered as the keys of an example are. Also as users pass them, None if these are such numbers."""
    # If float64 does not hold them all, the keys of each example are numbered from 0.
    for j, column in enumerate(columns):
        refuse_unusable(column, name(j))
    numbers = [exact(column) for column in columns]
    if all(column is not None for column in numbers):
        return np.column_stack(numbers), None
    values = np.column_stack([of_objects(column.tolist() if column.dtype.kind not in "Mm" else list(column)) for column in columns])
    ends = np.arange(len(values) + 1) if offsets is None else offsets
    keys = np.empty(values.shape)
    for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        cells = values[start:stop].ravel().tolist()
        number = {value: i for i, value in enumerate(sorted(set(cells), key=rank))}
        keys[start:stop].ravel()[:] = [number[value] for value in cells]
    return keys, values


def refuse_unusable(column, name) -> None:
    """Raises an error for keys that are missing, infinite or rounded before, and for those that cannot be compared."""
    limit = EXACT_FLOAT32 if column.dtype == np.float32 else EXACT
    if column.dtype.kind == "f":
        wrong = ~(np.abs(column) < limit)
    elif column.dtype.kind in "Mm":
        wrong = np.isnat(column)
    elif column.dtype.kind == "O":
        wrong = np.array([is_missing(cell) or isinstance(cell, (float, np.floating)) and not abs(cell) < limit or not is_hashable(cell)
                          for cell in column.tolist()], dtype=bool)
    else:
        return
    if not wrong.any():
        return
    row = int(np.argmax(wrong))
    cell = column[row].item() if column.dtype.kind == "f" else column[row]
    if isinstance(cell, (float, np.floating)) and np.isfinite(cell):
        kind, bits = ("float32", 24) if limit == EXACT_FLOAT32 else ("float64", 53)
        raise DataError(f"row {row} of X has {cell:.17g} in {name}, which is the key of the row. From 2**{bits} on {kind} rounds whole "
                        f"numbers, so that two keys become one. Pass a data frame, or an array of objects, with whole numbers or texts.")
    raise DataError(f"row {row} of X has {shortened(cell)} in {name}, which is the key of the row. Expected a finite number, a text or "
                    f"a date.")


def is_hashable(cell) -> bool:
    try:
        hash(cell)
    except (TypeError, ValueError):         # ValueError: a duration without a unit
        return False
    return True


def exact(column):
    """A column as float64 if this holds all its values, else None."""
    if column.dtype.kind == "O":
        if not all(is_real(cell) and abs(cell) < EXACT and cell == float(cell) for cell in column.tolist()):
            return None
    elif column.dtype.kind not in "iufb" or column.dtype.kind in "iu" and len(column) and not (
            -EXACT < int(column.min()) and int(column.max()) < EXACT):
        return None
    numbers = column.astype(np.float64)
    return numbers if column.dtype.itemsize <= numbers.itemsize or (numbers == column).all() else None      # of long doubles


def rank(key) -> tuple:
    """What keys are sorted by: numbers and texts of numbers by their values, before dates, texts and others, each kind apart."""
    if isinstance(key, str):
        return (0, "", Decimal(key), key) if WRITTEN.fullmatch(key) else (2, "", key, key)
    if is_real(key):
        return 0, "", Decimal(float(key) if isinstance(key, np.floating) else int(key) if isinstance(key, np.generic) else key), ""
    if isinstance(key, (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)):
        return 1, type(key).__name__, key, ""
    return 3, type(key).__name__, str(key), ""
