"""Why columns of a table are no columns of finite numbers, and what fixes each: all columns in one sentence."""

from __future__ import annotations

import datetime
import math
import re

import attrs

from structperc.basics.errors import DataError
from structperc.basics.labels import is_missing
from structperc.reading.cells import MISSING_WORDS, number_in, written_number

DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ][\d:.+Z-]+)?|\d{1,2}[./]\d{1,2}[./]\d{4}")
MARK = re.compile(r"[\W_]+|#?n\.?/?a\.?|<na>|nat|none|missing|unknown|undefined", re.IGNORECASE)       # no number is known there
NAMED = 3                   # different texts that a message names all,
SOME = 50                   # and so many at most that columns of 0 and 1 are advised for
KINDS = ("empty cell", "infinite number", "mark", "date", "duration", "number with signs or separators", "text")
GAPS = ("empty cell", "mark")
WRITTEN = KINDS[-2]
BY_HAND = {                 # what fixes columns without the plugin "table", by the option that would
    "drop": "drop {}", "one_hot": "make columns of 0 and 1 of {}, for instance by pandas.get_dummies",
    "date": "turn the dates of {} into days since the first", "duration": "turn the durations of {} into numbers, such as days",
    "number": "write the numbers of {} without signs and separators, such as 45000.5",
    "missing": "leave the cells of {} empty that mean nothing", "fill": "fill the gaps of {}, for instance by sklearn.impute.SimpleImputer",
}  # fmt: skip


@attrs.frozen
class Fault:
    """Of one column."""
    # cells: dict of str to list of int. The rows at fault, counted from 0, by the kind of their cell: one of `KINDS`.
    # texts: dict of str to dict. The different texts at fault by their kind, in order.
    # first: object. The first cell at fault.
    # points: str. The decimal marks that all other cells allow, likelier ones first.
    # as_written: bool. Whether the column is read as numbers as people write them.
    # has_levels: bool. Whether the column is read as levels.

    name: str
    cells: dict
    texts: dict
    n_rows: int
    first: object
    points: str = ".,"
    as_written: bool = False
    has_levels: bool = False

    def texts_of(self, kind) -> list:
        """The different texts of a kind."""
        return list(self.texts.get(kind, ()))

    @property
    def decimals(self) -> str:
        """The characters that may stand before the decimals of all written numbers, likelier ones first."""
        return "".join(point for point in self.points if all(written_number(text, point) is not None for text in self.texts_of(WRITTEN)))

    @property
    def row(self) -> int:
        """The first row at fault."""
        return min(rows[0] for rows in self.cells.values())

    @property
    def n_cells(self) -> int:
        return sum(map(len, self.cells.values()))

    @property
    def kind(self) -> str:
        """What most of the cells at fault hold that are not empty."""
        return max(self.cells, key=lambda kind: (kind != KINDS[0], len(self.cells[kind])))

    @property
    def one_by_one(self) -> bool:
        """Whether the column has numbers but for a few cells, which you fix one by one."""
        few = "text" in self.cells and len(self.cells["text"]) <= 0.05 * (self.n_rows - self.n_cells)
        strange = self.as_written and not self.cells.keys() <= {*GAPS, WRITTEN}
        return few or strange or "infinite number" in self.cells or WRITTEN in self.cells and not self.decimals

    @property
    def identifies(self) -> bool:
        """Whether the texts are names of rows, and no property of them."""
        texts = self.texts_of("text")
        return len(texts) > max(NAMED, len(self.cells["text"]) // 2) or len(texts) > SOME

    @property
    def mends(self) -> list[str]:
        """The options of `structperc.components.TableReader` that make numbers of the column."""
        if self.one_by_one:
            return []
        if len(self.cells.get(KINDS[0], ())) == self.n_rows:
            return ["drop"]
        mend = {"text": "drop" if "text" in self.cells and self.identifies else "one_hot", "date": "date", "duration": "duration",
                WRITTEN: "number"}.get(self.kind)
        gaps = self.cells.keys() & set(GAPS) if mend != "drop" else ()
        return [option for option in (mend, "missing" if "mark" in gaps else None, "fill" if gaps else None) if option]

    def describe(self, place) -> str:
        """The column in words. `place(row)` returns where a row is."""
        parts = []
        for kind in reversed(KINDS):
            rows = self.cells.get(kind)
            if rows:
                where = f", the first in {place(rows[0])}" if kind in KINDS[:3] or self.one_by_one else ""
                parts.append(f"{self.counted(kind, len(rows))}{where}")
        return f"{self.name!r}: {' and '.join(parts)}"

    def counted(self, kind, n) -> str:
        texts = self.texts_of(kind)
        k = len(texts)
        examples = f"({', '.join(f'{text!r:.40}' for text in texts[:NAMED])}{', ...' if k > NAMED else ''})"
        if kind == "text":
            return f"{n} texts, all different" if k == n > 1 else f"{k} text{'s' * (k > 1)} {examples}"
        if kind == "mark":
            return f"{n} cell{'s' * (n > 1)} where nothing seems to be known {examples}"
        noun = kind if n == 1 else kind.replace("number ", "numbers ") if kind == WRITTEN else f"{kind}s"
        return f"{n} {noun} {examples}" if texts and kind in (KINDS[0], WRITTEN) else f"{n} {noun}"


class ColumnError(DataError):
    """Columns of a table that cannot be used: all of them, and what fixes each."""
    # faults: sequence of Fault
    # trained: bool. Whether a model has an encoding of each column already.
    # where: str. What holds the columns.
    # place: function of int. Returns where a row is that is counted from 0.
    # advise: function of (faults, encoded). Returns which options fix them.
    # encoded: bool. Whether the plugin "table" has read the columns.

    def __init__(self, faults, trained=False, where="X", place="row {}".format, advise=None, encoded=False):
        self.faults, self.trained, self.encoded, self.by_hand = tuple(faults), trained, encoded, advise is in_a_frame
        n = len(self.faults)
        columns = "; ".join(fault.describe(place) for fault in self.faults)
        advice = in_new_data(self.faults) if trained else (in_engine if advise is None else advise)(self.faults, encoded)
        self.message = (f"{where} has {n} column{'s' * (n > 1)} that {'are' if n > 1 else 'is'} not numbers throughout: {columns}. "
                        f"{advice[0].upper()}{advice[1:]}.")
        super().__init__(self.message)

    def __reduce__(self):
        return of_another_process, (self.args, {name: getattr(self, name) for name in ("faults", "trained", "encoded", "by_hand",
                                                                                        "message")})

    def advised(self, advise, **where):
        """The same error with other advice, and for the command line with another `where` and `place`. What was added to it stays."""
        error = type(self)(self.faults, self.trained, advise=in_a_frame if self.by_hand else advise, encoded=self.encoded, **where)
        error.args = (error.message + str(self).removeprefix(self.message),)
        return error


def of_another_process(args, facts):
    """A `ColumnError` that was pickled: how it counts rows may be no value."""
    error = ColumnError.__new__(ColumnError, *args)
    error.__dict__.update(facts)
    return error


def in_new_data(faults) -> str:
    """What fixes columns of new data: a trained model has learned nothing else for them."""
    kinds = {kind for fault in faults for kind in fault.cells}
    return " and ".join([*["fill these cells or drop their rows, as the model has learned nothing else for them"] * bool(kinds & set(GAPS)),
                         *["write numbers there, as in the training data"] * bool(kinds - set(GAPS))])


def in_engine(faults, encoded) -> str:
    """The options that fix columns, as an engine has them."""
    options = options_of(faults)
    needs = options or "duration" in mends_of(faults)
    return advice(faults, [*plugin_of(encoded), *(f"{name}={value!r}" for name, value in options.items())] if needs else [])


def in_estimator(faults, encoded) -> str:
    """The options that fix columns, as an estimator of the engine has them."""
    options = options_of(faults)
    return advice(faults, [f"plugin_options={options!r}"] if options else plugin_of(encoded) * ("duration" in mends_of(faults)))


def in_a_frame(faults, encoded) -> str:
    """What fixes columns before an estimator without plugins reads them."""
    mends = mends_of(faults)
    ways = [f"{way.format(', '.join(map(repr, mends[option])))}" for option, way in BY_HAND.items() if option in mends]
    return " and ".join([*ways, *one_by_one(faults)])


def plugin_of(encoded) -> list:
    return [] if encoded else ["plugins=['table']"]


def advice(faults, options) -> str:
    """A call's options, and what they do not fix."""
    others = [f"number={{{name!r}: {point!r}}}" for name, point in other_points(faults)]
    words = [f"missing={{{name!r}: []}}" for name in with_words(faults)]
    return either([*[f"pass {', '.join(options)}"] * bool(options), *one_by_one(faults)], others, words)


def either(ways, others, words) -> str:
    """What to do, and what instead if the cells have another meaning."""
    hints = [*[f"if the sign before decimals is the other one, {', '.join(others)}"] * bool(others),
             *[f"if the words have a meaning, {', '.join(words)}"] * bool(words)]
    return "; or ".join([" and ".join(ways), *hints])


def other_points(faults) -> list:
    """The columns whose numbers may have another character before decimals than is advised, and this one."""
    return [(fault.name, fault.decimals[1]) for fault in faults if "number" in fault.mends and len(fault.decimals) > 1]


def with_words(faults) -> list:
    """The columns of levels in which a word such as NA is read as an empty cell."""
    return [fault.name for fault in faults if fault.has_levels and fault.texts_of("empty cell")]


def options_of(faults) -> dict:
    """The options of `structperc.components.TableReader` that fix columns."""
    mends = mends_of(faults)
    options = {name: mends[name] for name in ("drop", "one_hot", "date") if name in mends}
    if "number" in mends:
        options["number"] = number_of(faults)
    if "missing" in mends:
        options["missing"] = marks_of(faults)
    return options | ({"fill": fill_of(faults)} if "fill" in mends else {})


def number_of(faults):
    """The columns of written numbers; with the characters before their decimals where one is no point."""
    points = {fault.name: fault.decimals[0] for fault in faults if "number" in fault.mends}
    return list(points) if set(points.values()) == {"."} else points


def marks_of(faults) -> list:
    """What means that nothing is known."""
    return sorted({text for fault in faults if "missing" in fault.mends for text in fault.texts_of("mark")})


def fill_of(faults):
    """What fills their gaps: the median, which is the most frequent level where columns have levels; by name where all have levels."""
    gaps = [fault for fault in faults if "fill" in fault.mends]
    if all(fault.has_levels or "one_hot" in fault.mends for fault in gaps):
        return {fault.name: "most-frequent" for fault in gaps}
    return "median"


def mends_of(faults) -> dict:
    """The columns that each option of `structperc.components.TableReader` fixes."""
    mends = {}
    for fault in faults:
        for option in fault.mends:
            mends.setdefault(option, []).append(fault.name)
    return mends


def one_by_one(faults) -> list:
    """The faults to fix in the table itself."""
    names = [repr(fault.name) for fault in faults if fault.one_by_one]
    return [f"correct the cells of {', '.join(names)}, or drop {'it' if len(names) == 1 else 'them'}"] if names else []


def find_fault(name, cells, decimal=".", as_written=False) -> Fault | None:
    """What is wrong with a column of these cells, None if nothing is; they are read as by `number_in`."""
    rows_by_kind, texts, first, points = {}, {}, None, decimal + ".,".replace(decimal, "")
    for row, cell in enumerate(cells):
        number = number_in(cell, decimal, as_written)
        kind = kind_of(cell, number)
        if kind is None and len(points) > 1 and isinstance(cell, str):
            points = points[0] + "".join(point for point in points[1:] if written_number(cell, point) == number)
        if kind is not None:
            first = cell if not rows_by_kind else first
            rows_by_kind.setdefault(kind, []).append(row)
            if isinstance(cell, str) and cell.strip() or kind == "text":
                texts.setdefault(kind, {}).setdefault(str(cell).strip())
    if not rows_by_kind:
        return None
    told_apart(rows_by_kind, texts, len(cells))
    return Fault(name, rows_by_kind, texts, len(cells), first, points, as_written)


def told_apart(rows_by_kind, texts, n_rows) -> None:
    """Makes marks of a few frequent texts among numbers, and texts of marks among texts."""
    n_texts, n_marks = (len(rows_by_kind.get(kind, ())) for kind in ("text", "mark"))
    n_numbers = n_rows - sum(map(len, rows_by_kind.values())) + sum(len(rows_by_kind.get(kind, ())) for kind in ("date", WRITTEN))
    again = n_texts > max(len(texts.get("text", ())), 0.05 * n_numbers)        # the same few texts in many cells
    if again and n_texts + n_marks < n_numbers and len(texts["text"]) <= NAMED:
        source, target = "text", "mark"
    elif n_marks and n_texts + n_marks > n_numbers:
        source, target = "mark", "text"
    else:
        return
    rows_by_kind[target] = sorted([*rows_by_kind.get(target, ()), *rows_by_kind.pop(source, ())])
    texts[target] = {**texts.get(target, {}), **texts.pop(source, {})}


def kind_of(cell, number) -> str | None:
    """One of `KINDS`, None for a finite number. `number`: what the cell is read as."""
    if isinstance(cell, str):
        cell = cell.strip()
        if cell in MISSING_WORDS:
            return "empty cell"
    elif isinstance(cell, datetime.timedelta) or getattr(getattr(cell, "dtype", None), "kind", None) == "m":
        return "duration" if not is_missing(cell) else "empty cell"
    elif isinstance(cell, datetime.date) or getattr(getattr(cell, "dtype", None), "kind", None) == "M":
        return "date" if not is_missing(cell) else "empty cell"
    elif hasattr(cell, "__len__"):          # a list, also as an array or a series, which is_missing takes for no label
        return "text"
    elif is_missing(cell):
        return "empty cell"
    if number is not None:
        return None if math.isfinite(number) else "infinite number"
    if not isinstance(cell, str):
        return "text"
    if DATE.fullmatch(cell):
        return "date"
    if any(written_number(cell, point) is not None for point in ".,"):
        return WRITTEN
    return "mark" if MARK.fullmatch(cell) else "text"
