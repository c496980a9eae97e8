"""CSV and svmlight files as the engine takes them, for the command line; every error names the file, the line and the column."""

from __future__ import annotations

import bz2
import csv
import difflib
import gzip
import io
import lzma
from pathlib import Path

import attrs
import numpy as np

from structperc.core.errors import DataError
from structperc.extras import require
from structperc.reading.groups import runs

__all__ = ["Table", "guess_format", "read_csv", "read_svmlight", "stream_svmlight", "write_predictions"]

OPENERS = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
SVMLIGHT_SUFFIXES = (".svm", ".svmlight", ".libsvm")
FORMATS = ("csv", "svmlight")


@attrs.frozen(eq=False)
class Table:
    """What a file holds.

    Attributes
    ----------
    X : DataFrame of float64 (CSV) or CSR matrix (svmlight)
    y : ndarray or None
        The target column; of shape (n, 2) where two columns hold the ends of intervals.
    weights : ndarray or None
        The column of sample weights.
    offsets : ndarray or None
        Rows offsets[i]:offsets[i+1] are example i; None: each row is one.
    """

    X: object
    y: np.ndarray | None = None
    weights: np.ndarray | None = None
    offsets: np.ndarray | None = None

    @property
    def n_examples(self) -> int:
        return self.X.shape[0] if self.offsets is None else len(self.offsets) - 1

    def __str__(self):
        return f"{self.X.shape[0]} rows"


def guess_format(path) -> str:
    """"svmlight" for .svm, .svmlight and .libsvm, compressed or not, else "csv"."""
    suffixes = [s for s in Path(path).suffixes if s not in OPENERS]
    return "svmlight" if suffixes and suffixes[-1] in SVMLIGHT_SUFFIXES else "csv"


def read_csv(path, *, target=None, features=None, weight=None, group=None, text_labels=False, separator=",") -> Table:
    """Reads a CSV file with a header line.

    Parameters
    ----------
    path : path
        May end with .gz, .bz2 or .xz.
    target : str or pair of str, optional
        The column of labels; or those of the lowest and of the highest admissible label, where an empty cell is an open end.
    features : sequence of str, optional
        The columns of X in order; the others are ignored. Without it, all but target, weight and group.
    weight : str, optional
        The column of sample weights.
    group : str, optional
        Neighbouring rows with the same entry in this column are one example.
    text_labels : bool
        Whether labels are text even where they look like numbers.
    separator : str

    Raises
    ------
    DataError
        For an empty or ragged file, a missing or nameless column, and a cell of X that is no finite number.
    """
    pandas = require("pandas", "reading CSV files", "cli")
    header = read_header(path, separator)
    targets = () if target is None else (target,) if isinstance(target, str) else tuple(target)
    for name in (*targets, weight, group, *(features or ())):
        if name is not None and name not in header:
            raise missing_column(path, name, header, separator)
    if features is None:
        features = [name for name in header if name not in (*targets, weight, group)]
        if not features:
            raise DataError(f"{path} has no column beside {' and '.join(map(repr, header))}; features are needed to learn from.")
    dtype = dict.fromkeys(targets, str) if text_labels or len(targets) == 2 else None
    try:
        with open_text(path) as file:
            frame = pandas.read_csv(file, sep=separator, dtype=dtype, keep_default_na=False, low_memory=False)
    except (pandas.errors.ParserError, UnicodeDecodeError) as error:
        raise explain_damage(path, header, separator, error) from None
    if len(frame) == 0:
        raise DataError(f"{path} has a header but no rows below it.")
    answers = frame[list(targets)]          # before columns that are features as well become numbers
    numeric = [name for name in (*features, weight) if name is not None]
    for name in numeric:
        if frame[name].dtype.kind not in "iufb":
            frame[name] = numbers(path, frame[name], header, separator)
    values = np.ascontiguousarray(frame[list(features)].to_numpy(dtype=np.float64))
    if not np.isfinite(values).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise bad_cell(path, row, features[column], values[row, column], header, separator)
    return Table(
        pandas.DataFrame(values, columns=list(features), copy=False),
        read_target(path, answers, header, separator, text_labels),
        None if weight is None else frame[weight].to_numpy(dtype=np.float64),
        None if group is None else group_offsets(path, frame[group].to_numpy(), group),
    )


def read_svmlight(path, *, n_features=None, grouped=False) -> Table:
    """Reads lines `target index:value index:value ...`; column i of X is what the file calls i.

    So a file that counts from 1 leaves column 0 empty, and training and test files always agree.

    Parameters
    ----------
    path : path
        May end with .gz or .bz2.
    n_features : int, optional
        How many columns X must have; the file may use fewer.
    grouped : bool
        Whether neighbouring lines with the same qid are one example.
    """
    X, y, queries = svmlight_rows(path, str(path), n_features)
    if X.shape[0] == 0:
        raise DataError(f"{path} has no examples; expected lines like: 3 1:0.5 7:2")
    return Table(X, y, offsets=group_offsets(path, need_queries(path, queries, len(y)), "qid") if grouped else None)


def stream_svmlight(path, *, n_features, grouped=False, chunk_bytes=1 << 24):
    """Reads a file as `read_svmlight` does, part by part, for data that are larger than memory.

    Parameters
    ----------
    path, grouped
        As in `read_svmlight`.
    n_features : int
        How many columns X has in every part.
    chunk_bytes : int, default 2^24
        About how many bytes of text are read at a time; a part ends with a whole query, so more where one is longer.

    Yields
    ------
    Table

    Raises
    ------
    DataError
        At the part with what is wrong, and where a query comes back in a later part.

    Examples
    --------
    >>> import tempfile
    >>> from structperc.files.csv_svmlight import stream_svmlight
    >>> with tempfile.NamedTemporaryFile("w", suffix=".svm") as file:
    ...     _ = file.write("1 qid:1 0:0.5\\n0 qid:1 1:2\\n0 qid:2 0:1\\n")
    ...     file.flush()
    ...     [part.y.tolist() for part in stream_svmlight(file.name, n_features=2, grouped=True, chunk_bytes=1)]
    [[1, 0], [0]]
    """
    seen, first = set(), 0
    with OPENERS.get(Path(path).suffix, open)(path, "rb") as file:
        for lines in whole_queries(file, chunk_bytes) if grouped else iter(lambda: file.readlines(chunk_bytes), []):
            X, y, queries = svmlight_rows(path, io.BytesIO(b"".join(lines)), n_features, first)
            first += len(y)
            offsets = group_offsets(path, need_queries(path, queries, len(y)), "qid") if grouped and len(y) else None
            if offsets is not None:
                found = queries[offsets[:-1]].tolist()
                again = seen.intersection(found)
                if again:
                    raise DataError(f"{path}: the rows with 'qid' {min(again)} are not all together; sort the file by that column.")
                seen.update(found)
            if len(y):
                yield Table(X, y, offsets=offsets)
    if first == 0:
        raise DataError(f"{path} has no examples; expected lines like: 3 1:0.5 7:2")


def whole_queries(file, chunk_bytes):
    """Lists of lines, each up to the end of a query."""
    kept = []
    while lines := file.readlines(chunk_bytes):
        lines = kept + lines
        last = query_of(lines[-1])
        at = len(lines)
        while at and query_of(lines[at - 1]) in (last, None):
            at -= 1
        if at:
            yield lines[:at]
        kept = lines[at:]
    if kept:
        yield kept


def query_of(line):
    """What a line of svmlight says behind qid:, None for a blank line or a comment."""
    words = line.split(None, 2)[:2]
    return words[1] if len(words) == 2 and words[1].startswith(b"qid:") else None


def need_queries(path, queries, n):
    if len(queries) != n:
        raise DataError(f"{path} does not say qid:NUMBER on every line, so its examples are unknown.")
    return queries


def svmlight_rows(path, source, n_features=None, first=0):
    """X, y and queries of a file or a part of it; `first`: how many examples stand before."""
    datasets = require("sklearn.datasets", "reading svmlight files", "cli")
    try:
        X, y, queries = datasets.load_svmlight_file(source, zero_based=True, query_id=True)
    except (ValueError, OverflowError) as error:
        raise DataError(f"{path} is no svmlight file ({error}); expected lines like: 3 1:0.5 7:2") from None
    for values, what in ((y, "the target"), (X.data, "a value")):
        if not np.isfinite(values).all():
            at = int(np.argmax(~np.isfinite(values)))
            row = at if values is y else int(np.searchsorted(X.indptr, at, side="right")) - 1
            where = "" if values is y else f" of feature {X.indices[at]}"
            raise DataError(f"{path}, example {first + row + 1}: {what}{where} is {values[at]}; it must be finite, so fill or drop that "
                            f"line.")
    if n_features is not None:
        if X.shape[1] > n_features:
            raise DataError(f"{path} has the feature {X.shape[1] - 1}, but the model was trained with features up to {n_features - 1}.")
        X.resize(X.shape[0], n_features)
    return X, y.astype(np.int64) if (y == np.rint(y)).all() else y, queries


def group_offsets(path, values, name) -> np.ndarray:
    """Where each run of equal values begins, and the end; a value may not come back."""
    offsets, again = runs(values)
    if again:
        raise DataError(f"{path}: the rows with {name!r} {again[0]!r} are not all together; sort the file by that column.")
    return offsets


def marked_rows(y, offsets) -> list[tuple]:
    """For each example the rows, counted from its first, whose target is 1; the others must be 0."""
    marks = np.asarray(y)
    if marks.dtype.kind not in "iufb" or not np.isin(marks, (0, 1)).all():
        odd = next(v for v in marks.tolist() if v not in (0, 1))
        raise DataError(f"the target holds {odd!r}; with groups it marks the rows of the right answer by 1 and all others by 0.")
    return [tuple(np.flatnonzero(marks[a:b]).tolist()) for a, b in zip(offsets[:-1], offsets[1:], strict=True)]


def row_marks(structures, offsets) -> np.ndarray:
    """The inverse of `marked_rows`: 1 for every row that belongs to its example's structure."""
    marks = np.zeros(offsets[-1], dtype=np.int64)
    for start, chosen in zip(offsets[:-1], structures, strict=True):
        marks[start + np.array(chosen, dtype=np.int64)] = 1
    return marks


def parse_classes(text: str) -> list:
    """Labels from a comma-separated list: whole numbers if all are, else numbers if all are, else text."""
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not names or not all(names):
        raise DataError(f"--classes {text!r} has an empty label; expected labels in order, like low,middle,high.")
    for kind in (int, float):
        try:
            return [kind(name) for name in names]
        except ValueError:
            continue
    return names


def write_predictions(file, predictions) -> None:
    """One column with a header; a structure of several parts is written with spaces between them."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["prediction"])
    writer.writerows([" ".join(map(str, y)) if isinstance(y, (tuple, list, np.ndarray)) else str(y)] for y in predictions)


# ---- the header and the lines, as the errors need them ----


def open_text(path):
    return OPENERS.get(Path(path).suffix, open)(path, "rt", encoding="utf-8-sig", newline="")


def records(path, separator):
    """(line number, cells) of every line that is not blank, the header included."""
    with open_text(path) as file:
        reader = csv.reader(file, delimiter=separator)
        for cells in reader:
            if cells:
                yield reader.line_num, cells


def read_header(path, separator) -> list[str]:
    """Column names, all there and all different."""
    lines = records(path, separator)
    try:
        _, header = next(lines, (0, None))
        line, first = next(lines, (0, None))
    except (UnicodeDecodeError, csv.Error, EOFError) as error:
        raise not_text(path, error) from None
    finally:
        lines.close()
    if header is None:
        raise DataError(f"{path} is empty; expected a header line with column names and rows of numbers below.")
    if first is not None and len(first) > len(header):      # pandas would take the first column as row names
        raise ragged(path, line, first, header)
    for i, name in enumerate(header):
        if not name.strip():
            raise DataError(f"{path}: column {i + 1} has no name in the header; name it, or drop it if it only numbers the rows.")
        if name in header[:i]:
            raise DataError(f"{path}: the header names {name!r} twice; give every column a name of its own.")
    return header


def tokens_hint(header) -> str:
    """What to do where the header of a table looks like the first line of a file of columns."""
    seems = len(header) == 1 and len(header[0].split()) > 1
    return " If it has one token in each line, name its columns with --columns." if seems else ""


def missing_column(path, name, header, separator) -> DataError:
    near = difflib.get_close_matches(name, header, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    names = [repr(column) for column in header]
    shown = ", ".join(names if len(names) <= 10 else [*names[:7], "...", *names[-2:]])
    other = next((c for c in ";\t|," if c != separator and c in "".join(header)), None)
    if other is not None:
        hint = f" If cells are parted by {other!r}, say --separator {'tab' if other == chr(9) else repr(other)}."
    elif all(is_number(cell) for cell in header):
        hint = " The first line looks like data; put a line with column names above it."
    return DataError(f"{path} has no column {name!r}; its columns are {shown}.{hint}{tokens_hint(header)}")


def ragged(path, line, cells, header) -> DataError:
    return DataError(f"{path}, line {line} has {len(cells)} cells, but the header has {len(header)}; make all lines equally long.")


def not_text(path, error) -> DataError:
    return DataError(f"{path} is no CSV file in UTF-8 ({error}); save it as UTF-8 text, or name another --format.")


def explain_damage(path, header, separator, error) -> DataError:
    """Why the file could not be parsed: a ragged line, an open quote, bytes that are no text."""
    if isinstance(error, UnicodeDecodeError):
        return not_text(path, error)
    for line, cells in records(path, separator):
        if len(cells) > len(header):
            return ragged(path, line, cells, header)
    return DataError(f"{path} cannot be read as CSV: {str(error).strip()}; look for a quote that is never closed.")


def record_of(path, row, separator):
    """Line number and cells of a row of data, counted from 0."""
    return next(record for i, record in enumerate(records(path, separator), start=-1) if i == row)


def is_number(cell) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def bad_cell(path, row, name, value, header, separator) -> DataError:
    """Names the line and column of a cell that cannot be used, or says that its line is too short."""
    line, cells = record_of(path, row, separator)
    if len(cells) != len(header):
        return ragged(path, line, cells, header)
    if not str(value).strip():
        return DataError(f"{path}, line {line}: column {name!r} is empty; fill that cell or drop the line.")
    if is_number(value):
        return DataError(f"{path}, line {line}: column {name!r} is {value}, which is not finite; fill that cell or drop the line.")
    return DataError(f"{path}, line {line}: column {name!r} is {str(value)!r:.60}, not a number; "
                     f"correct that cell, or encode or drop the column.")


def numbers(path, column, header, separator):
    """A column that pandas did not take for numbers, as numbers after all, or the first cell that is none."""
    pandas = require("pandas", "reading CSV files", "cli")
    converted = pandas.to_numeric(column, errors="coerce")
    bad = converted.isna()
    if bad.any():
        row = int(np.argmax(bad.to_numpy()))
        raise bad_cell(path, row, column.name, column.iloc[row], header, separator)
    return converted.astype(np.float64)


def labels(path, column, header, separator) -> np.ndarray:
    """The target as whole numbers, numbers, truth values or text; none may be empty."""
    if column.dtype.kind in "iufb":
        return column.to_numpy()
    values = column.astype(str).str.strip()
    empty = (values == "").to_numpy()
    if empty.any():
        raise bad_cell(path, int(np.argmax(empty)), column.name, "", header, separator)
    return values.to_numpy(dtype=str)


def read_target(path, answers, header, separator, text_labels) -> np.ndarray | None:
    """The column of labels, or the two of intervals."""
    if answers.shape[1] == 2:
        return interval_ends(path, answers, separator, text_labels)
    return labels(path, answers.iloc[:, 0], header, separator) if answers.shape[1] else None


def interval_ends(path, answers, separator, text_labels) -> np.ndarray:
    """Lowest and highest labels, (n, 2): real numbers with NaN for open ends, if all cells are numbers or empty; else text with None."""
    cells = answers.apply(lambda column: column.str.strip()).to_numpy(dtype=object)
    empty = cells == ""
    endless = empty.all(axis=1)
    if endless.any():
        line, _ = record_of(path, int(np.argmax(endless)), separator)
        raise DataError(f"{path}, line {line}: columns {' and '.join(map(repr, answers))} are both empty; fill one or drop the line.")
    if not text_labels and all(map(is_number, cells[~empty])):
        values = np.where(empty, "nan", cells).astype(float)
        return values.astype(np.int64) if (np.isfinite(values) & (values == np.rint(values))).all() else values
    return np.where(empty, None, cells)
