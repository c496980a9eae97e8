"""Files of svmlight and libsvm: lines `target index:value index:value ...`, optionally with qid:NUMBER behind the target."""

from __future__ import annotations

import io
from itertools import chain

import numpy as np

from structperc.basics.errors import DataError, OptionError, shortened
from structperc.extras import require
from structperc.files.formats import FEATURES, TextFile, checked_rows
from structperc.files.opening import can_be_read_again, line_lists, name_of, opened_lines, passed, refuse_return
from structperc.files.tables import GroupRuns, Table
from structperc.reading.cells import EXACT

QUERY = "qid"
EXPECTED = "expected lines like: 3 1:0.5 7:2"
MANY = 1 << 16                   # lines that a pass reports together
LARGEST_INDEX = 2**31 - 1       # libsvm numbers features by 32 bits


class SvmlightFile(TextFile):
    """A file of svmlight or libsvm under reading. Column i of X is what the file calls i."""
    # So a file that counts from 1 leaves column 0 empty, and training and test files always agree.

    holds = FEATURES

    def parts(self, *, n_features=None, group=None, rows=None):
        """Tables one after the other, of about 16 MiB of text at most; parameters as in `structperc.files.stream`."""
        if group not in (None, QUERY):
            raise OptionError(f"group={shortened(group)}: {self.name} is read as svmlight, whose only groups are those of {QUERY!r}.")
        rows, first, groups = checked_rows(rows), 0, GroupRuns(self.name, QUERY)
        with opened_lines(self.path) as file:
            for source in sources(file, group is not None, rows):
                X, y, queries = parsed(self.path, self.name, source, n_features, first)
                if len(y) == 0:
                    continue
                if group is not None and len(queries) != len(y):
                    raise DataError(f"{self.name} lacks qid:NUMBER on some lines, so its examples are unknown.")
                yield Table(X, y, offsets=None if group is None else groups.offsets(queries), first=first,
                            ends=None if group is None else (queries[0].item(), queries[-1].item()))
                first += len(y)
        if first == 0:
            raise DataError(f"{self.name} has no examples; {EXPECTED}")

    def survey(self) -> tuple[np.ndarray, int]:
        """The distinct targets, sorted, and the number of columns of the rows. A cheap pass that does not read the values."""
        name, targets, largest = self.name, set(), -1
        with opened_lines(self.path) as file:
            for number, line in enumerate(file, start=1):
                if number % MANY == 0:
                    passed(MANY)
                words = line.partition(b"#")[0].split()
                if not words:
                    continue
                targets.add(words[0])
                index = words[-1].partition(b":")[0]
                if len(words) > 1 and index != b"qid":
                    if not index.isdigit():
                        raise DataError(f"{name}, line {number} ends with {words[-1][:60]!r}; {EXPECTED}")
                    largest = max(largest, int(index))
        if not targets:
            raise DataError(f"{name} has no examples; {EXPECTED}")
        try:
            labels = np.array(sorted({float(target) for target in targets}))
        except ValueError as error:
            raise DataError(f"{name} is no svmlight file ({error}); {EXPECTED}") from None
        refuse_rounded(name, labels)
        check_index(name, largest)
        return whole_numbers(labels), largest + 1


def sources(file, grouped, rows):
    """What the parser reads: the file, or parts of it as files."""
    if rows is None:
        yield file
        return
    parts = line_lists(file, rows)
    for lines in whole_queries(parts) if grouped else parts:
        yield io.BytesIO(b"".join(lines))


def whole_queries(parts):
    """Lists of lines, each up to the end of a query."""
    kept, query = [], None          # parts of the query that may go on
    for lines in parts:
        at, last = run_at_end(lines)
        if at or None not in (last, query) and last != query:
            yield [*chain.from_iterable(kept), *lines[:at]]
            kept = []
        kept.append(lines[at:])
        query = query if last is None else last
    if kept:
        yield list(chain.from_iterable(kept))


def run_at_end(lines):
    """Where the lines of the last query begin, and that query; None: no line has one."""
    last = None
    for at in range(len(lines) - 1, -1, -1):
        query = query_of(lines[at])
        if query is not None and query != (last := query if last is None else last):
            return at + 1, last
    return 0, last


def query_of(line):
    """The text behind qid: of a line, None for a blank line or a comment."""
    words = line.partition(b"#")[0].split(None, 2)[:2]
    return words[1] if len(words) == 2 and words[1].startswith(b"qid:") else None


def damaged_line(path) -> str:
    """The place of the first line that cannot be read, as a part of a message. Empty if the file cannot be read again."""
    if not can_be_read_again(path):
        return ""
    with opened_lines(path) as file:
        for number, line in enumerate(file, start=1):
            refuse_return(line.rstrip(b"\r\n").decode(errors="replace"), f"{name_of(path)}, line {number}")
            try:
                target, *pairs = line.partition(b"#")[0].split() or [b"0"]
                for text in (target, *chain.from_iterable(pair.removeprefix(b"qid:").split(b":") for pair in pairs)):
                    float(text)
            except ValueError:
                return f" at line {number}"
    return ""


def parsed(path, name, source, n_features, first):
    """X, y and queries of a file or a part of it; `first`: how many examples stand before."""
    datasets = require("sklearn.datasets", "reading svmlight files", "cli")
    try:
        X, y, queries = datasets.load_svmlight_file(source, zero_based=True, query_id=True)
    except OverflowError:
        raise DataError(f"{name} has a feature or query beyond {LARGEST_INDEX}, the largest number that libsvm has; number them from 1 "
                        f"on.") from None
    except ValueError as error:
        where = damaged_line(path) or (f" after example {first}" if first else "")
        raise DataError(f"{name} is no svmlight file{where} ({error}); {EXPECTED}") from None
    for values, what in ((y, "the target"), (X.data, "a value")):
        if not np.isfinite(values).all():
            at = int(np.argmax(~np.isfinite(values)))
            row = at if values is y else int(np.searchsorted(X.indptr, at, side="right")) - 1
            where = "" if values is y else f" of feature {X.indices[at]}"
            raise DataError(f"{name}, example {first + row + 1}: {what}{where} is {values[at]}; it must be finite, so fill or drop that "
                            f"line.")
    refuse_rounded(name, y)
    check_index(name, X.shape[1] - 1)
    if len(X.indices) and X.indices.min() < 0:
        raise DataError(f"{name} has the feature {X.indices.min()}; features are numbered from 0 or 1 on.")
    if n_features is not None:
        if X.shape[1] > n_features:
            raise DataError(f"{name} has the feature {X.shape[1] - 1}, but n_features={n_features}, the number of columns of the training "
                            f"rows, allows features up to {n_features - 1}.")
        X.resize(X.shape[0], n_features)
    return X, whole_numbers(y), queries


def check_index(name, index) -> None:
    """Raises an error for a feature for whose weights no memory is to be asked."""
    if index > LARGEST_INDEX:
        raise DataError(f"{name} has the feature {index}; expected at most {LARGEST_INDEX}, as libsvm numbers them: number the features of "
                        f"the file from 1 on.")


def refuse_rounded(name, labels) -> None:
    """Raises an error for labels so large that the parser rounds them."""
    if (np.abs(labels) >= EXACT).any():
        label = labels[np.abs(labels) >= EXACT][0]
        raise DataError(f"{name} has the label {label:.0f} or one that is rounded to it; labels of svmlight files are exact below 2**53. "
                        f"Number them anew, or write a CSV file.")


def whole_numbers(values):
    """Numbers as ints where all are whole."""
    return values.astype(np.int64) if (np.abs(values) < EXACT).all() and (values == np.rint(values)).all() else values
