"""Parquet files as tables, whole or part by part; every error names the file, the row and the column."""

from __future__ import annotations

from contextlib import contextmanager

from structperc.extras import require
from structperc.files.arrow import ArrowFile, filled, letting_go, mapped, readable

DECODED = 1 << 13       # rows that are decoded at a time, about: each column of each batch has a cost of its own


class ParquetFile(ArrowFile):
    """A Parquet file under reading."""

    @classmethod
    @contextmanager
    def opened(cls, path):
        """The file at a path: no folder, and no standard input, since its contents are listed at its end."""
        parquet = require("pyarrow.parquet", "reading Parquet files", "parquet")
        arrow = require("pyarrow", "reading Parquet files", "parquet")
        with readable(path, "Parquet", arrow), mapped(path, arrow) as (source, let_go):
            file = parquet.ParquetFile(source, pre_buffer=False)        # buffers of row groups ahead would hold the whole file
            yield cls(path, file.schema_arrow, lambda rows, columns: letting_go(parts_of(arrow, file, rows, columns), let_go))


def parts_of(arrow, file, rows, columns):
    """Tables of so many rows, or of several times as many where these are few; None: one of all."""
    if rows is None:
        yield file.read(columns)
        return
    yield from filled(arrow, file.iter_batches(batch_size=rows * max(1, DECODED // rows), columns=columns), rows)
