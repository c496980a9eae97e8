"""Files of named columns under reading, from which the columns of X, y, weights and groups are chosen: CSV and Parquet share this."""

from __future__ import annotations

import csv
import io
import re
import shlex
from collections.abc import Sequence

import numpy as np

from structperc.basics.errors import DataError, OptionError, did_you_mean, shortened
from structperc.basics.plain_arrays import rows_of
from structperc.extras import require
from structperc.files.formats import COLUMNS, checked_rows
from structperc.files.labels import LabelTexts
from structperc.files.opening import passed
from structperc.files.parsing import parse_csv
from structperc.files.tables import GroupRuns, Table
from structperc.reading.cells import MINUS, TRUTH, to_number
from structperc.reading.column_faults import ColumnError, find_fault, one_by_one
from structperc.reading.table_options import TableOptions

PART_CELLS = 1 << 22        # of a part, at most: 32 MiB of numbers
WHOLE = r"-?(0|[1-9][0-9]*)"                                                # a key that is a whole number; 007 is another key than 7
SHORT = r"(?=.{1,16}$)-?(0|[1-9][0-9]*)(POINT[0-9]*)?([eE][+-]?[0-9]+)?"      # a key that is a number, and that float64 holds


def in_reading(faults, encoded) -> str:
    """How a file is read all the same, so that the model encodes its columns."""
    names = [fault.name for fault in faults if fault.mends]
    return " and ".join([*[f"pass as_text={names!r} (X is then a data frame, whose texts the model encodes)"] * bool(names),
                         *one_by_one(faults)])


def of_weights(faults, encoded) -> str:
    """What fixes a column of weights, which no option encodes."""
    return "write numbers from 0 on there, or drop these rows"


def data_frames(names):
    """Makes data frames of matrices with these columns."""
    pandas = require("pandas", "reading tables", "cli")
    index = pandas.Index(names)             # one for all parts
    return lambda values: pandas.DataFrame(values, columns=index, copy=False)


class NoRows(DataError):
    """A file has columns and no rows."""


class FrameFile:
    """A file of named columns. Subclasses open it, read it in parts, "frames", and return the columns of a frame."""
    # name: str. What messages call it.
    # header: list of str. The names of its columns, and the same as a set in `columns`.
    # decimal: str. The character before decimals.
    # guesses_labels: bool. Whether the format has no types, so that labels are what their texts look like.
    # advise: function of (faults, encoded). Returns what to do about columns that are no numbers, at the door where the file is read.
    # tables: function of names. Returns a function that makes X of a matrix of numbers with these columns.

    holds = COLUMNS
    guesses_labels = False
    advise = staticmethod(in_reading)
    tables = staticmethod(data_frames)

    def __init__(self, name, header, decimal="."):
        self.name, self.header, self.columns, self.decimal = name, header, frozenset(header), decimal
        self.missing, self.label_texts = TableOptions().missing_words, LabelTexts(decimal=decimal)

    @classmethod
    def opened(cls, path):
        """A context manager of the file at a path, under reading."""
        raise NotImplementedError

    def frames(self, rows, columns, text=(), numbers=()):
        """Frames of at most so many rows (None: one of all) with these columns, those in `text` as text, those in `numbers` as numbers."""
        raise NotImplementedError

    def column(self, frame, name):
        """A column of a frame, as pandas has it."""
        return frame[name]

    def cells(self, frame, name):
        """The same, but an array where the frame holds one."""
        return self.column(frame, name)

    def values(self, frame, name) -> np.ndarray:
        """A column of a frame as numbers, NaN where it holds none."""
        column = self.column(frame, name)
        return (column if column.dtype.kind in "iufb" else self.numbers(column)).to_numpy(dtype=np.float64)

    def cut(self, frame, first, end=None):
        """Consecutive rows of a frame."""
        return frame.iloc[first:end]

    def joined(self, frames):
        """One frame of all rows."""
        return require("pandas", "reading tables", "cli").concat(frames, ignore_index=True)

    def distinct(self, targets):
        """The distinct entries of some columns, as numbers if all of them are. One pass over only these columns."""
        parts = []
        for frame in self.frames(1 << 16, list(dict.fromkeys(targets))):
            for target in targets:
                column = without_categories(self.column(frame, target).dropna())
                values = column.to_numpy() if column.dtype.kind in "iufb" else as_text(column).str.strip().to_numpy(dtype=str)
                parts.append(np.unique(values))
            passed(len(frame))
        if any(values.dtype.kind == "U" for values in parts if len(values)):
            parts = [values.astype(str) for values in parts]
        if not any(map(len, parts)):
            raise self.without_rows()
        labels = np.unique(np.concatenate([values for values in parts if len(values)]))
        words = frozenset.intersection(*map(self.missing, targets))
        return labels[~np.isin(labels, list(words))] if labels.dtype.kind == "U" else labels

    def is_typed(self, name) -> bool:
        """Whether a column of the file has a type of categories, dates or durations."""
        return False

    def place(self, row) -> str:
        """Where a row of data is, counted from 0."""
        return f"row {row + 1}"

    def uneven(self, row):
        """What is wrong with the whole row, a DataError, if anything is."""
        return None

    def parts(self, *, target=None, features=None, weight=None, group=None, text_labels=None, as_text=None, keep=(), missing=(), keys=None,
              rows=None):
        """Tables one after the other; parameters as in `structperc.files.stream`."""
        rows = checked_rows(rows)
        self.set_labels(text_labels, missing)
        targets = self.targets(target)
        for name in (*targets, weight, group, *keep, *(features or ())):
            if name is not None and name not in self.columns:
                raise self.missing_column(name)
        if len(targets) == 2 and group is not None:
            raise DataError(f"the target {','.join(targets)!r} names the ends of intervals, which single rows have; leave "
                            f"group out (structperc: --group).")
        if features is None:
            others = {*targets, weight, group}
            features = [name for name in self.header if name not in others]
            if not features:
                raise DataError(f"{self.name} has no column beside {' and '.join(map(repr, self.header))}; features are needed to learn "
                                f"from.")
        keys = self.key_names(keys, features)
        text = (*keys, *(targets if text_labels or len(targets) == 2 else ()), *(() if group is None else (group,)),
                *(name for name in as_text or () if name in features), *keep)
        others = [name for name in features if name not in keys]
        numbers = [name for name in (*others, *filter(None, [weight])) if name not in text]
        columns = list(dict.fromkeys((*features, *targets, *filter(None, [weight, group]), *keep)))
        frames = filter(len, self.frames(self.rows_of_a_part(rows), columns, text, numbers))        # lines of a part may all be blank
        groups = None if group is None else GroupRuns(self.name, group)
        as_table = (data_frames if keys else self.tables)(others)
        first = 0
        for frame in frames if group is None or rows is None else self.whole_groups(frames, group):
            names = None if group is None else np.asarray(self.cells(frame, group), dtype=object)
            yield Table(self.with_keys(self.inputs(frame, others, as_text, first, as_table), frame, features, keys),
                        self.answers(frame, targets, text_labels, first),
                        None if weight is None else self.matrix(frame, [weight], first, of_weights)[:, 0],
                        None if names is None else groups.offsets(names), first,
                        {name: self.cells(frame, name).tolist() for name in keep}, None if names is None else (names[0], names[-1]))
            first += len(frame)
        if first == 0:
            raise self.without_rows()

    def key_names(self, keys, features) -> list:
        """The columns of keys: those that names, or a function of the names of all features, select."""
        if keys is None:
            return []
        names = [features[j] for j in keys(features)] if callable(keys) else list(keys)
        for name in names:
            if name not in features:
                raise self.missing_column(name)
        return names

    def with_keys(self, inputs, frame, features, keys):
        """The columns of features with those of keys, in the order of the file."""
        if not keys:
            return inputs
        columns = dict(zip(keys, self.keys([self.column(frame, name) for name in keys]), strict=True))
        columns |= {name: inputs[name] for name in inputs.columns}
        return require("pandas", "reading tables", "cli").DataFrame({name: columns[name] for name in features}, copy=False)

    def keys(self, columns) -> list:
        """Columns of keys that were read as text: numbers if all cells are, so that none is rounded, else texts, None where nothing is."""
        texts = [column.str.strip() for column in columns]
        if all(text.str.fullmatch(WHOLE).all() for text in texts):
            return [text.map(int) for text in texts]
        if all(text.str.fullmatch(SHORT.replace("POINT", re.escape(self.decimal))).all() for text in texts):
            return list(map(self.numbers, texts))
        return [text.where(~text.isin(self.missing(text.name)), None) for text in texts]

    def set_labels(self, text_labels, missing) -> None:
        """How labels are read, and which words mean that nothing is known."""
        self.missing = missing if callable(missing) else TableOptions.read(missing=missing).missing_words
        self.label_texts = LabelTexts(text_labels, self.decimal)

    def rows_of_a_part(self, rows):
        return None if rows is None else min(rows, max(1, PART_CELLS // len(self.header)))

    def targets(self, target) -> tuple:
        """The columns that a target names: one, or two with a comma between them for the ends of intervals."""
        if target is None:
            return ()
        if not isinstance(target, str):
            if not isinstance(target, Sequence) or len(target) != 2 or not all(isinstance(name, str) for name in target):
                raise OptionError(f"target={shortened(target)}: expected the name of a column, or a pair of names.")
            return tuple(target)
        names = next(csv.reader([target], skipinitialspace=True), [])
        if target in self.columns or len(names) < 2:
            return (target,)
        if len(names) != 2 or names[0] == names[1]:
            raise DataError(f"the target {target!r}: expected a column, or two of them, for the lowest and for the highest admissible "
                            f"rank.")
        return tuple(names)

    def whole_groups(self, frames, name):
        """Frames, each up to the end of a run of equal entries in a column."""
        kept, last = [], None
        for frame in frames:
            entries = np.asarray(self.cells(frame, name), dtype=object)
            ends = np.flatnonzero(entries[1:] != entries[:-1]) + 1
            if len(ends) or kept and last != entries[0]:
                cut = int(ends[-1]) if len(ends) else 0
                yield self.joined([*kept, self.cut(frame, 0, cut)])
                kept, frame = [], self.cut(frame, cut)
            kept.append(frame)
            last = entries[-1]
        if kept:
            yield self.joined(kept)

    # ---- columns as numbers and labels ----

    def matrix(self, frame, names, first, advise=None):
        """Columns as one C-ordered matrix of finite numbers; `first`: how many rows stand before."""
        advise = advise or self.advise
        values, finite = rows_of([self.values(frame, name) for name in names])
        if not finite:
            finite = np.isfinite(values)
            bad = [names[j] for j in np.flatnonzero(~finite.all(axis=0))]
            faults = list(filter(None, (find_fault(name, self.column(frame, name).tolist(), self.decimal) for name in bad)))
            row, column = (int(i) for i in np.argwhere(~finite)[0])
            raise self.unusable(faults, first, advise) or self.bad_cell(
                first + row, names[column], self.column(frame, names[column]).iloc[row], advise(faults, False))
        return values

    def inputs(self, frame, names, as_text, first, as_table):
        """Columns as numbers, or of their types if the reader takes these or the file knows them."""
        if as_text is None and any(map(self.is_typed, names)):
            typed = self.typed(frame, names, ())
            if any(kind.kind not in "iufb" for kind in typed.dtypes):
                return typed
        return as_table(self.matrix(frame, names, first)) if as_text is None else self.typed(frame, names, as_text)

    def typed(self, frame, names, as_text):
        """Columns of a data frame, as numbers where all cells are but empty ones, and no text is asked for."""
        columns = {}
        for name in names:
            column = self.column(frame, name)
            if column.dtype.kind not in "iufbmM" and name not in as_text:
                numbers = self.numbers(column)
                present = column.notna() & ~column.astype(str).str.strip().isin(self.missing(name))
                column = column if (present & numbers.isna()).any() else numbers
            columns[name] = column
        return require("pandas", "reading tables", "cli").DataFrame(columns, copy=False)

    def numbers(self, column):
        """A column of another type as numbers, with NaN for cells that are none. No cell depends on others."""
        pandas = require("pandas", "reading tables", "cli")
        codes, cells = pandas.factorize(column.astype(str))
        values = np.append(numbers_of(cells.tolist(), self.decimal), np.nan)        # code -1: no cell at all
        return pandas.Series(values[codes], index=column.index, name=column.name)

    def answers(self, frame, targets, text_labels, first):
        """The column of labels, or the two of intervals."""
        if len(targets) == 2:
            return self.interval_ends({name: self.cells(frame, name) for name in targets}, first)
        if not targets:
            return None
        return self.labels(self.cells(frame, targets[0]), targets[0], text_labels, first)

    def labels(self, column, name, text_labels, first):
        """The target as whole numbers, numbers, truth values or text; none may be missing. Ordered categories stay such."""
        column = without_categories(column)
        if column.dtype.kind in "iufb" and not text_labels:
            if column.dtype.kind == "f" and column.isna().any():
                raise self.bad_cell(first + int(np.argmax(column.isna())), name, "")
            return column.to_numpy()
        texts = stripped(column)
        words = self.missing(name) if not hasattr(column, "cat") else {""}
        row = next((i for i, text in enumerate(texts) if text in words), None)
        if row is not None:
            raise self.word_as_label(first + row, name, texts[row]) if texts[row] else self.bad_cell(first + row, name, "")
        if hasattr(column, "cat"):
            return column.array if column.cat.ordered else np.array(texts, dtype=str)
        if not self.guesses_labels and text_labels is not False:
            return np.array(texts, dtype=str)
        return self.label_texts.read(texts, lambda row: f"{self.name}, {self.place(first + row)}")

    def word_as_label(self, row, name, word) -> DataError:
        """Names a label that means that nothing is known."""
        return DataError(f"{self.name}, {self.place(row)}: the label in column {name!r} is {word!r}, which means that nothing is known. "
                         f"Drop that row. If {word} is a label, set missing={{{name!r}: []}} (structperc fit: --missing "
                         f"{quoted(f'{name}=')}).")

    def interval_ends(self, answers, first) -> np.ndarray:
        """Lowest and highest labels, (n, 2), as `LabelTexts.read_ends` returns them."""
        columns = {name: stripped(column) for name, column in answers.items()}
        cells = np.column_stack([np.array(texts, dtype=object) for texts in columns.values()])
        empty = np.column_stack([[text in self.missing(name) for text in texts] for name, texts in columns.items()])
        endless = empty.all(axis=1)
        if endless.any():
            where = self.place(first + int(np.argmax(endless)))
            raise DataError(f"{self.name}, {where}: columns {' and '.join(map(repr, answers))} are both empty; fill one or drop the line.")
        return self.label_texts.read_ends(cells, empty)

    # ---- what is wrong ----

    def unusable(self, faults, first, advise) -> DataError | None:
        """Names all columns that are no numbers; None where no more than a cell is wrong. `first`: how many rows stand before."""
        if sum(fault.n_cells for fault in faults) < 2:
            return None
        uneven = next(filter(None, (self.uneven(first + fault.row) for fault in faults)), None)
        return uneven or ColumnError(faults, where=self.name, place=lambda row: self.place(first + row), advise=advise)

    def bad_cell(self, row, name, value, advice="") -> DataError:
        """The place and column of a cell that cannot be used, or the fault of its line. `advice` is for texts."""
        uneven = self.uneven(row)
        if uneven is not None:
            return uneven
        where, text = f"{self.name}, {self.place(row)}: column {name!r}", "" if value is None else str(value)
        if not text.strip():
            return DataError(f"{where} is empty; fill that cell or drop the line.")
        if to_number(text, self.decimal) is not None:
            return DataError(f"{where} is {text:.60}, which is not finite; fill that cell or drop the line.")
        return DataError(f"{where} is {text!r:.60}, not a number; {advice}.")

    def without_rows(self) -> NoRows:
        return NoRows(f"{self.name} has columns but no rows; write the rows below the header.")

    def missing_column(self, name) -> DataError:
        hint = did_you_mean(name, self.header)
        return DataError(f"{self.name} has no column {name!r}; its columns are {listed(self.header)}.{hint}")


def quoted(text) -> str:
    """A text as a shell takes it, also in quotes if it ends like a sentence."""
    return f"'{text}'" if text.endswith(tuple(".,;:?!=")) and "'" not in text else shlex.quote(text)


def listed(names) -> str:
    """The first and last of many names."""
    texts = [shortened(name, 80) for name in (names if len(names) <= 10 else [*names[:7], *names[-2:]])]
    return ", ".join(texts if len(names) <= 10 else [*texts[:7], "...", *texts[7:]])


def numbers_of(cells, decimal) -> np.ndarray:
    """What the parser of CSV files makes of each cell; NaN where it is no number to it."""
    point = re.escape(decimal)
    number = re.compile(rf"\s*[+-]?([0-9]+({point}[0-9]*)?|{point}[0-9]+)(e[+-]?[0-9]+)?\s*|\s*[+-]?inf(inity)?\s*", re.IGNORECASE)
    cells = [cell.translate(MINUS) for cell in cells]
    numbers = np.array([TRUTH.get(cell, np.nan) for cell in cells], dtype=float)
    parse([i for i, cell in enumerate(cells) if number.fullmatch(cell)], cells, decimal, numbers)
    return numbers


def parse(chosen, cells, decimal, numbers) -> None:
    """Parses the chosen cells into `numbers`; of many halves, where one is beyond all numbers."""
    if not chosen:
        return
    text = "\n".join(cells[i].strip() for i in chosen)
    try:
        numbers[chosen] = parse_csv(io.StringIO(text), header=None, names=["x"], sep="\x01", decimal=decimal, dtype=float,
                                    low_memory=False)["x"]
    except ValueError:
        if len(chosen) > 1:
            middle = len(chosen) // 2
            parse(chosen[:middle], cells, decimal, numbers)
            parse(chosen[middle:], cells, decimal, numbers)


def without_categories(column):
    """Unordered categories of numbers as these numbers, which other formats have; other columns as they are."""
    if not hasattr(column, "cat") or column.cat.ordered or column.cat.categories.dtype.kind not in "iufb":
        return column
    return column.astype(column.cat.categories.dtype if column.notna().all() else float)


def is_number(cell) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def stripped(column) -> list[str]:
    """The texts of a column without blanks around them, of what is not there the empty text."""
    return [text.strip() for text in (column if isinstance(column, np.ndarray) else as_text(column)).tolist()]


def as_text(column):
    """A column as text, what is not there as the empty text."""
    return column.astype(object).where(column.notna(), "").astype(str)
