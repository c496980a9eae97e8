"""CSV files as tables, whole or part by part; every error names the file, the line and the column."""

from __future__ import annotations

import codecs
import csv
import io
import re
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import chain, islice

import numpy as np

from structperc.basics.errors import DataError, OptionError, shortened
from structperc.extras import require
from structperc.files.frames import PART_CELLS, FrameFile, is_number, stripped
from structperc.files.opening import can_be_read_again, line_of_fault, name_of, opened_text, passed, refuse_second_pass
from structperc.files.parsing import parse_csv

AT_ONCE = 1 << 16       # rows that are parsed at a time
BEGINNING = 1 << 21     # characters of a file that numpy parses before pandas is worth its import, which takes a second


class Peeked:
    """The lines of a text file; those that the header's reader has passed stay in `lines`."""

    def __init__(self, file):
        self.file, self.lines = file, []

    def __iter__(self):
        for line in self.file:
            self.lines.append(line)
            yield line


def unix_ends(text) -> str:
    """Records whose lines end with a line feed, but for those in quotes: pandas fails at spaces behind a carriage return."""
    if "\r" not in text:
        return text
    pieces = text.split('"')
    pieces[::2] = [piece.replace("\r\n", "\n").replace("\r", "\n") for piece in pieces[::2]]
    return '"'.join(pieces)


class CsvFile(FrameFile):
    """A CSV file under reading, its header read."""
    # opens: function. Returns the text file, opened at its beginning. Each pass calls it.

    guesses_labels = True

    def __init__(self, path, separator, opens, decimal=".", encoding="utf-8-sig"):
        self.path, self.name, self.separator, self.opens, self.encoding = path, name_of(path), separator, opens, encoding
        self.odd = set()        # columns of numbers in which some cell was none
        super().__init__(self.name, self.begin(), decimal)

    @classmethod
    @contextmanager
    def opened(cls, path, separator=",", decimal=".", encoding="utf-8"):
        """A file with a header line, under reading."""
        if not isinstance(separator, str) or len(separator) != 1 or separator in "\r\n":
            raise OptionError(f"separator={shortened(separator)}: expected one character between cells; a tab is '\\t'.")
        if not isinstance(decimal, str) or len(decimal) != 1 or decimal == separator:
            raise OptionError(f"decimal={decimal!r}: expected one character before decimals, another than the separator {separator!r}.")
        try:
            name = codecs.lookup(encoding).name
        except (LookupError, TypeError, ValueError):
            raise OptionError(f"encoding={shortened(encoding)} is unknown; expected a name such as utf-8, cp1252, latin-1 or "
                              f"utf-16.") from None
        name = "utf-8-sig" if name == "utf-8" else name         # a mark at the beginning is no text
        with ExitStack() as files:
            def opens():
                files.close()           # of the pass before
                return files.enter_context(opened_text(path, name))

            yield cls(path, separator, opens, decimal, name)

    def frames(self, rows, columns, text=(), numbers=()):
        with self.explained():
            texts = self.texts(rows or max(1, min(AT_ONCE, PART_CELLS // len(self.header))))
            if rows is not None:
                for part in texts:
                    yield self.parsed(part, columns, numbers)
            elif texts := list(texts):
                yield self.whole(texts, columns, numbers)

    @contextmanager
    def explained(self):
        """Makes sentences of what reading lines and records can raise."""
        try:
            yield
        except UnicodeDecodeError as error:
            raise self.not_text(error) from None
        except csv.Error as error:
            raise self.damage(error) from None

    def whole(self, texts, columns, numbers):
        """One frame of all parts. A column is text in all if any part has a cell that is no number."""
        if len(texts) == 1:
            return self.parsed(texts[0], columns, numbers)
        parts = [self.framed(text, columns, numbers) for text in texts]
        texts_of = [name for name in numbers if any(part[name].dtype.kind != "f" for part in parts)]
        if texts_of:
            parts = [part.assign(**{name: again[name] for name in texts_of})
                     for part, again in zip(parts, (self.read(text, texts_of, alone=True) for text in texts), strict=True)]
        return super().joined(parts)

    def parsed(self, text, columns, numbers):
        """The rows of a text: `numbers` are float64 where all cells of them are numbers, all other columns are text."""
        # What a cell is does not depend on other cells, so parts are what the whole file is.
        plain = self.plain(text, numbers)
        return self.framed(text, columns, numbers) if plain is None else plain

    def plain(self, text, numbers):
        """The same rows as a structured array, without pandas. None for texts that are not plain, or not at the beginning."""
        # Plain: no quotes, lines of equally many cells, at least two, finite numbers as programs write them. Both libraries agree on these.
        text = unix_ends(text)
        self.n_parsed += len(text)
        if self.n_parsed > BEGINNING or '"' in text or self.decimal != "." or len(self.header) < 2 or not text.strip() \
                or not text.translate({ord("\n"): None, ord("\t"): None}).isprintable():
            return None
        kinds = [(name, float if name in numbers else object) for name in self.header]
        try:
            rows = np.loadtxt(io.StringIO(text), kinds, delimiter=self.separator, comments=None, ndmin=1)
        except ValueError:
            return None
        return rows if all(np.isfinite(rows[name]).all() for name in numbers) else None

    def framed(self, text, columns, numbers):
        """The same rows as a data frame."""
        try:
            frame = self.read(text, columns, [name for name in numbers if name not in self.odd])
        except ValueError:
            guessed = self.read(text, numbers, None)
            self.odd |= {name for name in numbers if guessed[name].dtype.kind not in "iufb"} or set(numbers)
            frame = self.read(text, columns, [name for name in numbers if name not in self.odd])
        for name in self.odd.intersection(numbers):
            values = self.numbers(frame[name])
            if not values.isna().any():
                frame[name] = values
        return frame

    def read(self, text, columns, numbers=(), alone=False):
        """What the parser makes of a text: numbers of these columns, or a ValueError, and text of the others; None: as it guesses."""
        # If it only reads these columns, it does not notice lines that are too long. It would drop a byte order mark at the beginning,
        # which is an empty line here.
        pandas = require("pandas", "reading CSV files", "cli")
        kinds = None if numbers is None else {name: float if name in numbers else str for name in columns}
        try:
            return parse_csv(io.BytesIO(b"\n" + unix_ends(text).encode()), names=self.header, header=None, index_col=False,
                             usecols=columns if alone else None, sep=self.separator, decimal=self.decimal, dtype=kinds, low_memory=False)
        except pandas.errors.ParserError as error:
            if "out of memory" in str(error):
                raise MemoryError(f"{self.name} is too large to be read at once") from None
            raise self.damage(error) from None

    # ---- frames, which are structured arrays if their text was plain ----

    def column(self, frame, name):
        column = frame[name]
        return require("pandas", "reading CSV files", "cli").Series(column, name=name) if isinstance(column, np.ndarray) else column

    def cells(self, frame, name):
        return frame[name] if frame[name].dtype == object else self.column(frame, name)

    def values(self, frame, name):
        column = frame[name]
        return column if isinstance(column, np.ndarray) and column.dtype == float else super().values(frame, name)

    def cut(self, frame, first, end=None):
        return frame[first:end]

    def joined(self, frames):
        if all(isinstance(frame, np.ndarray) for frame in frames):
            return np.concatenate(frames)
        pandas = require("pandas", "reading CSV files", "cli")
        return super().joined([pandas.DataFrame({name: self.column(frame, name) for name in self.header if name in frame.dtype.names})
                               if isinstance(frame, np.ndarray) else frame for frame in frames])

    # ---- the lines of the file ----

    def texts(self, rows):
        """The lines below the header in texts of at most so many, each of whole records."""
        # The parser would do the same, but it cuts off a first line that is too long (pandas issue 11569).
        if self.peeked is None:         # a pass before had it
            refuse_second_pass(self.path)
            self.begin()
        lines, line = chain(self.peeked.lines[self.header_lines:], self.peeked.file), self.header_lines
        self.peeked = None
        while part := list(islice(lines, rows)):
            if any('"' in text for text in part):
                self.complete(part, lines)
            reader = self.reader(part)
            first = next(filter(is_record, reader), self.header)
            if len(first) > len(self.header):
                raise self.ragged(line + reader.line_num, first, self.header)
            yield "".join(part)
            line += len(part)

    def complete(self, part, lines):
        """Adds to a part the lines that its last record continues in. A cell in quotes may have line ends."""
        def growing(count):
            yield from part[:count]
            for text in lines:
                part.append(text)
                yield text

        count = len(part)
        reader = self.reader(growing(count))
        while reader.line_num < count:
            next(reader)

    def distinct(self, targets):
        cells = set()
        with self.explained():
            for text in self.texts(AT_ONCE):
                plain = self.plain(text, ())
                frame = self.read(text, list(dict.fromkeys(targets)), alone=True) if plain is None else plain
                for target in targets:
                    cells.update(stripped(frame[target]))
                passed(len(frame))
        if not cells:
            raise self.without_rows()
        words = frozenset.intersection(*map(self.missing, targets))
        return np.unique(self.label_texts.read(sorted(cells - words), str))

    def reader(self, lines):
        return csv.reader(lines, delimiter=self.separator)

    # ---- the header and the lines, as the errors need them ----

    def begin(self) -> list[str]:
        """Opens the file and reads its header: column names, all there and all different."""
        self.peeked, self.n_parsed = Peeked(self.opens()), 0            # characters
        reader = self.reader(self.peeked)
        try:
            header = next(filter(is_record, reader), None)
            self.header_lines = reader.line_num
            first = next(filter(is_record, reader), None)
        except (UnicodeDecodeError, csv.Error) as error:
            raise self.not_text(error) from None
        if header is None:
            raise DataError(f"{self.name} is empty; expected a header line with column names and rows of numbers below.")
        if first is not None and len(first) > len(header):      # pandas would take the first column as row names
            raise self.ragged(reader.line_num, first, header)
        seen = set()
        for i, name in enumerate(header):
            if not name.strip():
                raise DataError(f"{self.name}: column {i + 1} has no name in the header; name it, or drop it if it only numbers the rows.")
            if name in seen:
                raise DataError(f"{self.name}: the header names {name!r} twice, again for column {i + 1}; give every column a name of its "
                                f"own.{header_hint(header)}")
            seen.add(name)
        return header

    def records(self):
        """(line number, cells) of every line that is not blank, also of the header. The file is read once more for it."""
        # They end before a cell that is too long for the reader, as behind a quote that is never closed.
        with opened_text(self.path, self.encoding) as file, suppress(csv.Error):
            reader = self.reader(file)
            for cells in filter(is_record, reader):
                yield reader.line_num, cells

    def record(self, row):
        """Line number and cells of a row of data, counted from 0; None where they cannot be known."""
        if not can_be_read_again(self.path):
            return None
        with closing(self.records()) as records:
            return next((record for i, record in enumerate(records, start=-1) if i == row), None)

    def place(self, row) -> str:
        record = self.record(row)
        return super().place(row) if record is None else f"line {record[0]}"

    def uneven(self, row):
        record = self.record(row)
        return None if record is None or len(record[1]) == len(self.header) else self.ragged(*record, self.header)

    def ragged(self, line, cells, header) -> DataError:
        return DataError(f"{self.name}, line {line} has {len(cells)} cells, but the header has {len(header)}; make all lines equally long.")

    def not_text(self, error) -> DataError:
        if str(self.path).lower().endswith((".xlsx", ".xls", ".ods")):
            return DataError(f"{self.name} is a spreadsheet; save it as CSV, and name that file.")
        said = "UTF-8" if self.encoding == "utf-8-sig" else self.encoding
        remedy = "Set encoding (structperc: --encoding), such as cp1252 or utf-16, or save the file as UTF-8 text."
        if isinstance(error, UnicodeDecodeError):           # whose position is one in a block of the file
            fault = line_of_fault(self.path, self.encoding) if can_be_read_again(self.path) else None
            if fault is not None:
                return DataError(f"{self.name}, line {fault[0]} has the byte 0x{fault[1]:02x}, which is no text in {said} "
                                 f"({error.reason}). {remedy}")
            error = f"{error.reason}, 0x{error.object[error.start]:02x}"
        return DataError(f"{self.name} is no CSV file in {said} ({error}). {remedy}")

    def damage(self, error) -> DataError:
        """Why the file could not be parsed: a ragged line, or an open quote."""
        if can_be_read_again(self.path):
            with closing(self.records()) as records:
                for line, cells in records:
                    if len(cells) > len(self.header):
                        return self.ragged(line, cells, self.header)
        return DataError(f"{self.name} cannot be read as CSV: {' '.join(str(error).split())}; look for a quote that is never closed.")

    def missing_column(self, name) -> DataError:
        error = super().missing_column(name)
        other = next((c for c in ";\t|," if c != self.separator and c in "".join(self.header)), None)
        if other is not None:
            flag = "tab" if other == "\t" else repr(other)
            hint = f" If cells are parted by {other!r}, set separator={other!r} (structperc: --separator {flag})."
        else:
            hint = header_hint(self.header)
        return DataError(f"{error}{hint}{form_hint(self.header)}")


SVMLIGHT = re.compile(r"\S+ (qid:\S+ )?[0-9]+:[-+.0-9]")


def is_record(cells) -> bool:
    """Whether a line holds cells; the parser skips blank lines."""
    return len(cells) > 1 or bool(cells and cells[0].strip())


def header_hint(header) -> str:
    """What to do where the first line looks like one of data."""
    return " Is line 1 a header? It holds numbers: put a line with column names above it." if any(map(is_number, header)) else ""


def form_hint(header) -> str:
    """What to do if the header of a table is a line of svmlight or of a file of columns."""
    seems = len(header) == 1 and len(header[0].split()) > 1
    if seems and SVMLIGHT.match(header[0]):
        return " It looks like svmlight: pass --format svmlight (in Python, format='svmlight')."
    return (" If it has one token in each line, name its columns with --columns (in Python, set format and columns). Or pass --format "
            "crfsuite for a data file of CRFsuite."
            if seems else "")
