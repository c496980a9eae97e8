"""Parquet files as tables, whole or part by part; every error names the file, the row and the column."""

from __future__ import annotations

from contextlib import contextmanager

from structperc.extras import require
from structperc.files.arrow import ArrowFile, filled, letting_go, mapped, readable
from structperc.files.tables import Table

__all__ = ["opened_parquet", "read_parquet", "stream_parquet"]

DECODED = 1 << 13       # rows that are decoded at a time, about: each column of each batch has a cost of its own


def read_parquet(path, **options) -> Table:
    """Read a whole Parquet file.

    Parameters
    ----------
    path : path
    **options
        As in `stream_parquet`, but for `rows`.

    Examples
    --------
    >>> from structperc.files.parquet import read_parquet
    >>> table = read_parquet("visits.parquet", target="level")  # doctest: +SKIP
    """
    (table,) = stream_parquet(path, **options)
    return table


def stream_parquet(path, *, target=None, features=None, weight=None, group=None, text_labels=None, as_text=None, keep=(), missing=(),
                   keys=None, rows=None):
    """Reads a Parquet file part by part, for data that are larger than memory.

    Parameters
    ----------
    path : path
        Of a file; no folder, and no standard input, since its contents are listed at its end.
    target, features, weight, group, text_labels, as_text, keep, missing, keys, rows
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

    Examples
    --------
    >>> from structperc.files.parquet import stream_parquet
    >>> for table in stream_parquet("visits.parquet", target="level", rows=65536):      # doctest: +SKIP
    ...     print(table.X.shape)
    """
    with opened_parquet(path) as file:
        yield from file.tables(target=target, features=features, weight=weight, group=group, text_labels=text_labels, as_text=as_text,
                               keep=keep, missing=missing, keys=keys, rows=rows)


@contextmanager
def opened_parquet(path):
    """An open Parquet file, for several epochs over its parts.

    Parameters
    ----------
    path : path

    Returns
    -------
    ArrowFile
        A context manager. `tables(target=..., rows=...)` yields the parts.

    Examples
    --------
    >>> from structperc.files.parquet import opened_parquet
    >>> with opened_parquet("visits.parquet") as file:          # doctest: +SKIP
    ...     for table in file.tables(target="level", rows=65536):
    ...         print(table.X.shape)
    """
    parquet = require("pyarrow.parquet", "reading Parquet files", "parquet")
    arrow = require("pyarrow", "reading Parquet files", "parquet")
    with readable(path, "Parquet", arrow), mapped(path, arrow) as (source, let_go):
        file = parquet.ParquetFile(source, pre_buffer=False)        # buffers of row groups ahead would hold the whole file
        yield ArrowFile(path, file.schema_arrow, lambda rows, columns: letting_go(parts_of(arrow, file, rows, columns), let_go))


def parts_of(arrow, file, rows, columns):
    """Tables of so many rows, or of several times as many where these are few; None: one of all."""
    if rows is None:
        yield file.read(columns)
        return
    yield from filled(arrow, file.iter_batches(batch_size=rows * max(1, DECODED // rows), columns=columns), rows)
