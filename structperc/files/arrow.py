"""Arrow files (IPC files, Feather) as tables, whole or part by part; what Parquet shares with them."""

from __future__ import annotations

import errno
import json
import mmap
from contextlib import contextmanager
from functools import partial

import attrs

from structperc.basics.errors import DataError, shortened
from structperc.extras import require
from structperc.files.frames import FrameFile, as_text
from structperc.files.opening import PART_BYTES, STANDARD_INPUT, is_url, opened_bytes
from structperc.reading.other_libraries import as_stream


def parts_of(arrow, reader, rows, columns):
    """The batches of a file as tables, which copy nothing; rows of None: one of all."""
    tables = [reader.read_all()] if rows is None else filled(arrow, map(reader.get_batch, range(reader.num_record_batches)), rows)
    for table in tables:
        table = table.select(columns)
        table.validate(full=True)           # pyarrow takes offsets and counts from the file as they are
        yield table


def once(parts):
    """The same function of parts, which raises an error for a second pass."""
    def first(rows, columns):
        nonlocal taken
        if taken:
            raise DataError("the Arrow stream has been read, and gives its rows once; write it to a file for further passes.")
        taken = True
        return parts(rows, columns)

    taken = False
    return first


def parts_of_stream(reader, rows, columns):
    """The batches of a stream as tables, joined to so many rows; rows of None: one of all."""
    arrow = require("pyarrow", "reading Arrow streams", "parquet")
    for table in filled(arrow, reader, rows):
        yield table.select(columns)


def filled(arrow, batches, rows):
    """Batches joined to tables of so many rows or a multiple, so as in any other file; rows of None: one of all."""
    waiting, n_rows = [], 0
    for batch in batches:
        waiting.append(batch)
        n_rows += batch.num_rows
        if rows is not None and n_rows >= rows:
            left = n_rows % rows
            yield arrow.Table.from_batches([*waiting[:-1], batch.slice(0, batch.num_rows - left)])
            waiting, n_rows = [batch.slice(batch.num_rows - left)] if left else [], left
    if n_rows:
        yield arrow.Table.from_batches(waiting)


@contextmanager
def mapped(path, arrow):
    """A file mapped into memory, and a function that lets go of the pages that were read."""
    # A URL is read block by block, and so is a file where a limit of memory forbids mapping.
    if is_url(path):
        with opened_bytes(path) as file:
            yield file, keep_pages
        return
    with open(path, "rb") as file:
        try:
            pages = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError) as error:              # ValueError: an empty file
            if getattr(error, "errno", errno.ENOMEM) != errno.ENOMEM:
                raise
            pages = None
    if pages is None:
        with arrow.OSFile(str(path)) as file:
            yield file, keep_pages
        return
    yield arrow.BufferReader(pages), partial(pages.madvise, mmap.MADV_DONTNEED) if hasattr(pages, "madvise") else keep_pages


def keep_pages() -> None:
    """Nothing is mapped, or the system takes no advice."""


def letting_go(tables, let_go):
    """The same tables. Of the file's pages a process holds those of some tables; Linux counts all others as its memory too."""
    size = 0
    for table in tables:
        yield table
        size += table.nbytes
        if size >= PART_BYTES:
            let_go()            # what tables still refer to is read again from the file
            size = 0


@contextmanager
def readable(path, kind, arrow):
    """Raises an error for standard input and for a damaged file."""
    if path == STANDARD_INPUT:
        raise DataError(f"{kind} cannot be read from standard input, since its contents are listed at its end; name a file.")
    try:
        yield
    except arrow.ArrowMemoryError:
        raise
    except (arrow.ArrowException, OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        if isinstance(error, FileNotFoundError) or getattr(error, "errno", None) is not None:       # not there, a folder, not readable
            raise
        raise DataError(f"{path} is damaged or no {kind} file ({' '.join(str(error).split()):.200}); write it again, or name another "
                        f"format (structperc: --format).") from None


class ArrowFile(FrameFile):
    """A file under reading whose frames are `Rows`."""
    # read: function (rows, columns). Its tables, for parts of so many rows (None: one of all), with these columns.

    def __init__(self, path, schema, read):
        super().__init__(str(path), list(schema.names))
        self.schema, self.arrow, self.read = schema, require("pyarrow", "reading Arrow files", "parquet"), read
        if len(self.columns) < len(self.header):
            again = next(name for name in self.header if self.header.count(name) > 1)
            raise DataError(f"{self.name} has two columns {again!r}; give every column a name of its own.")

    @classmethod
    @contextmanager
    def opened(cls, path):
        """An Arrow IPC file or a Feather file of version 2, mapped; or a stream, also that of a LazyFrame."""
        arrow = require("pyarrow", "reading Arrow files", "parquet")
        path = as_stream(path)
        if hasattr(path, "__arrow_c_stream__"):
            reader = arrow.RecordBatchReader.from_stream(path)
            yield cls("the Arrow stream", reader.schema, once(lambda rows, columns: parts_of_stream(reader, rows, columns)))
            return
        ipc = require("pyarrow.ipc", "reading Arrow files", "parquet")
        with readable(path, "Arrow", arrow), mapped(path, arrow) as (file, let_go):
            reader = ipc.open_file(file)
            yield cls(path, reader.schema, lambda rows, columns: letting_go(parts_of(arrow, reader, rows, columns), let_go))

    def frames(self, rows, columns, text=(), numbers=()):
        before = 0
        for part in self.read(rows, columns):
            table = self.without_blobs(part, before)
            before += table.num_rows
            step, plain = rows or max(1, table.num_rows), {}
            for first in range(0, table.num_rows, step):
                frame = Rows(table, first, min(step, table.num_rows - first), plain)
                yield self.with_text(frame, set(text)) if text else frame

    def without_blobs(self, table, before):
        """The same table with texts instead of bytes. `before`: how many rows of the file precede it."""
        for i, field in enumerate(table.schema):
            kind = field.type.value_type if self.arrow.types.is_dictionary(field.type) else field.type
            if str(kind).startswith(("binary", "large_binary", "fixed_size_binary")):
                table = table.set_column(i, field.name, self.decoded(table.column(i), field.name, before))
        return table

    def decoded(self, column, name, before):
        """Bytes as texts in UTF-8."""
        try:
            return column.cast(self.arrow.binary()).cast(self.arrow.string())
        except self.arrow.ArrowException:
            for row, cell in enumerate(column.to_pylist(), start=before):
                if cell is not None and not is_utf8(cell):
                    raise DataError(f"{self.name}, {self.place(row)}: column {name!r} is {shortened(cell)}, a blob that is no text in "
                                    f"UTF-8. Leave the column out, or write it as hexadecimal digits.") from None
            raise

    def with_text(self, frame, names):
        """The same rows with these columns as text."""
        table, types = frame.cut(), self.arrow.types
        for name in names:
            column = table.column(name)
            if types.is_integer(column.type):           # pandas would make floats of them beside gaps
                text = column.cast(self.arrow.string()).fill_null("")
            else:
                text = self.arrow.array(as_text(self.column(frame, name)), self.arrow.string())
            table = table.set_column(table.schema.get_field_index(name), name, text)
        return Rows(table, 0, len(frame), {})

    def is_typed(self, name) -> bool:
        kind, types = self.schema.field(name).type, self.arrow.types
        return types.is_dictionary(kind) or types.is_temporal(kind)

    def column(self, frame, name):
        numbers = self.plain_numbers(frame, name)
        if numbers is not None:
            return require("pandas", "reading tables", "cli").Series(numbers, name=name, copy=False)
        return frame.cut().select([name]).to_pandas(ignore_metadata=True, use_threads=False)[name]

    def values(self, frame, name):
        numbers = self.plain_numbers(frame, name)
        return super().values(frame, name) if numbers is None else numbers

    def plain_numbers(self, frame, name):
        """A column without copying, where it holds numbers and no gaps; a data frame would cost 20 us more."""
        if name not in frame.plain:
            column, types = frame.table.column(name), self.arrow.types
            plain = not column.null_count and (types.is_integer(column.type) or types.is_floating(column.type))
            frame.plain[name] = (column.chunk(0) if column.num_chunks == 1 else column).to_numpy() if plain else None
        numbers = frame.plain[name]
        return None if numbers is None else numbers[frame.first:frame.first + frame.n_rows]

    def cut(self, frame, first, end=None):
        return Rows(frame.table, frame.first + first, (len(frame) if end is None else end) - first, frame.plain)

    def joined(self, frames):
        if len(frames) == 1:
            return frames[0]
        table = self.arrow.concat_tables([frame.cut() for frame in frames])
        return Rows(table, 0, table.num_rows, {})

    def distinct(self, targets):
        if len(targets) == 1 and getattr(self.schema.field(targets[0]).type, "ordered", False):
            return self.ordered_labels(targets[0])
        return super().distinct(targets)

    def ordered_labels(self, target):
        """An ordered categorical of all categories of a target."""
        for frame in self.frames(1, [target]):
            return self.column(frame, target).array
        raise self.without_rows()


@attrs.frozen(eq=False)
class Rows:
    """Consecutive rows of a table of pyarrow."""
    # plain: dict of str to ndarray or None. Columns of the whole table that lie there as numbers, None for others; found once for all rows.

    table: object
    first: int
    n_rows: int
    plain: dict

    def __len__(self):
        return self.n_rows

    def cut(self):
        return self.table.slice(self.first, self.n_rows)


def is_utf8(cell) -> bool:
    try:
        cell.decode()
    except (AttributeError, UnicodeDecodeError):
        return False
    return True
