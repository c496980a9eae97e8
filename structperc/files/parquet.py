"""Parquet files as tables, whole or part by part; every error names the file, the row and the column."""

from __future__ import annotations

import json
from contextlib import contextmanager

import numpy as np

from structperc.core.errors import DataError
from structperc.extras import require
from structperc.files.frames import FrameFile
from structperc.files.opening import STANDARD_INPUT
from structperc.files.tables import Table

__all__ = ["opened_parquet", "read_parquet", "stream_parquet"]


def read_parquet(path, **options) -> Table:
    """Reads a whole file; parameters and errors as of `stream_parquet`, but for `rows`."""
    (table,) = stream_parquet(path, **options)
    return table


def stream_parquet(path, *, target=None, features=None, weight=None, group=None, text_labels=False, as_text=None, keep=(), rows=None):
    """Reads a Parquet file part by part, for data that are larger than memory.

    Parameters
    ----------
    path : path
        Of a file; no folder, and no standard input, since its contents are listed at its end.
    target, features, weight, group, text_labels, as_text, keep, rows
        As in `structperc.files.csv_tables.stream_csv`.

    Yields
    ------
    Table

    Raises
    ------
    DataError
        For a damaged or empty file, a missing column, and an entry of X that is no finite number.
    MissingExtra
        When pyarrow is not installed.
    """
    with opened_parquet(path) as file:
        yield from file.tables(target=target, features=features, weight=weight, group=group, text_labels=text_labels, as_text=as_text,
                               keep=keep, rows=rows)


@contextmanager
def opened_parquet(path):
    """A `ParquetFile`."""
    parquet = require("pyarrow.parquet", "reading Parquet files", "parquet")
    arrow = require("pyarrow", "reading Parquet files", "parquet")
    if path == STANDARD_INPUT:
        raise DataError("Parquet cannot be read from standard input, since its contents are listed at its end; name a file.")
    try:
        with open(path, "rb") as file:
            yield ParquetFile(path, parquet.ParquetFile(file))
    except (arrow.ArrowException, OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        if getattr(error, "errno", None) is not None:       # not there, a folder, not readable
            raise
        raise DataError(f"{path} is damaged or no Parquet file ({' '.join(str(error).split()):.200}); write it again, or name another "
                        f"--format.") from None


class ParquetFile(FrameFile):
    """A Parquet file under reading."""

    def __init__(self, path, file):
        super().__init__(str(path), list(file.schema_arrow.names))
        self.file = file
        if len(self.columns) < len(self.header):
            again = next(name for name in self.header if self.header.count(name) > 1)
            raise DataError(f"{self.name} has two columns {again!r}; give every column a name of its own.")

    def frames(self, rows=None, text=(), columns=None):
        whole = rows is None
        for part in [self.file.read(columns)] if whole else self.file.iter_batches(batch_size=rows, columns=columns):
            frame = part.to_pandas(ignore_metadata=True)
            for name in set(text):
                frame[name] = as_text(frame[name])
            yield frame

    def distinct(self, targets):
        found = []
        for frame in self.frames(1 << 16, (), list(dict.fromkeys(targets))):
            for target in targets:
                column = frame[target].dropna()
                values = column.to_numpy() if column.dtype.kind in "iufb" else as_text(column).str.strip().to_numpy(dtype=str)
                found.append(np.unique(values))
        if any(values.dtype.kind == "U" for values in found if len(values)):
            found = [values.astype(str) for values in found]
        if not any(map(len, found)):
            raise self.without_rows()
        labels = np.unique(np.concatenate([values for values in found if len(values)]))
        return labels[labels != ""] if labels.dtype.kind == "U" else labels


def as_text(column):
    """A column as text, what is not there as the empty text."""
    return column.astype(object).where(column.notna(), "").astype(str)
