"""Tables as the engine takes them, from files of a row per example or per part of one.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import csv

import attrs
import numpy as np

from structperc.basics.errors import DataError
from structperc.files.labels import LabelTexts
from structperc.reading.groups import runs, unnamed

__all__ = ["Table", "marked_rows", "parse_classes", "row_marks", "write_predictions", "write_table"]

@attrs.frozen(eq=False, repr=False)
class Table:
    """What a file, or a part of it, holds: `engine.fit(table.X, table.y, offsets=table.offsets)`, or `lengths=table.lengths`.

    Attributes
    ----------
    X : DataFrame of float64 (CSV, Parquet, Arrow) or CSR matrix (svmlight)
    y : ndarray or None
        The target column; of shape (n, 2) where two columns hold the ends of intervals.
    weights : ndarray or None
        The column of sample weights.
    offsets : ndarray or None
        Rows offsets[i]:offsets[i+1] are example i; None: each row is one.
    first : int, default 0
        How many rows of the file stand before.
    kept : dict
        Further columns by name, as the text of the file.
    ends : pair or None
        With offsets: the entries of the group column in the first and the last row.

    Examples
    --------
    >>> from structperc.files.tables import Table
    >>> table = Table(X=[[0.5], [1.5]], y=[1, 2])
    >>> table.y
    [1, 2]
    """

    X: object
    y: np.ndarray | None = None
    weights: np.ndarray | None = None
    offsets: np.ndarray | None = None
    first: int = 0
    kept: dict = attrs.field(factory=dict)
    ends: tuple | None = None

    @property
    def n_examples(self) -> int:
        return self.X.shape[0] if self.offsets is None else len(self.offsets) - 1

    @property
    def lengths(self):
        """How many rows each example has; None: each row is one."""
        return None if self.offsets is None else np.diff(self.offsets)

    def __str__(self):
        return f"{self.X.shape[0]} rows"

    def __repr__(self):
        shapes = {"X": f"{type(self.X).__name__} of shape {self.X.shape}", "y": shape_of(self.y), "weights": shape_of(self.weights),
                 "offsets": None if self.offsets is None else f"of {self.n_examples} examples", "first": self.first or None,
                 "kept": ", ".join(self.kept) or None}
        return f"Table({', '.join(f'{name}: {text}' for name, text in shapes.items() if text is not None)})"


def shape_of(values):
    """The kind and shape of an array, None for None."""
    return None if values is None else f"{values.dtype} of shape {values.shape}"


class GroupRuns:
    """The runs of equal entries in part after part of a column; an entry may not come back."""
    # path, name: str. The file and the column, for messages.

    def __init__(self, path, name):
        self.path, self.name, self.seen, self.n_rows = path, name, set(), 0

    def offsets(self, values) -> np.ndarray:
        """Where each run of the next part begins, and the end; a part ends with a whole run."""
        empty = unnamed(np.asarray(values))
        if empty is not None:
            raise DataError(f"{self.path}: row {self.n_rows + empty + 1} has an empty cell in {self.name!r}, so it belongs to no group; "
                            f"fill it, or drop that row. Rows are counted from 1 below the header.")
        offsets, again = runs(values)
        groups = values[offsets[:-1]].tolist()
        again = [*again, *(value for value in groups if value in self.seen)]
        if again:
            raise DataError(f"{self.path}: the rows with {self.name!r} {again[0]!r} are not all together; sort the file by that column.")
        self.seen.update(groups)
        self.n_rows += len(values)
        return offsets


def marked_rows(y, offsets) -> list[tuple]:
    """For each example the rows, counted from its first, whose target is 1; the others must be 0. Returns a list of tuple of int.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Targets, 0 or 1.
    offsets : int array of shape (n_examples + 1,)
        Rows of the examples.

    Examples
    --------
    >>> from structperc.files.tables import marked_rows
    >>> marked_rows([0, 1, 1, 1], [0, 2, 4])
    [(1,), (0, 1)]
    """
    marks = np.asarray(y)
    if marks.dtype.kind not in "iufb" or not np.isin(marks, (0, 1)).all():
        odd = next(v for v in marks.tolist() if v not in (0, 1))
        raise DataError(f"the target has {odd!r}. With groups, a row of the right output has 1, and all others 0.")
    return [tuple(np.flatnonzero(marks[a:b]).tolist()) for a, b in zip(offsets[:-1], offsets[1:], strict=True)]


def row_marks(structures, offsets) -> np.ndarray:
    """The inverse of `marked_rows`: 1 for every row that belongs to its example's structure. Returns an array of shape (n_rows,).

    Parameters
    ----------
    structures : list of tuple of int
        Rows of each example's structure, counted from its first.
    offsets : int array of shape (n_examples + 1,)
        Rows of the examples.

    Examples
    --------
    >>> from structperc.files.tables import row_marks
    >>> row_marks([(1,), (0, 1)], [0, 2, 4]).tolist()
    [0, 1, 1, 1]
    """
    marks = np.zeros(offsets[-1], dtype=np.int64)
    for start, chosen in zip(offsets[:-1], structures, strict=True):
        marks[start + np.array(chosen, dtype=np.int64)] = 1
    return marks


def parse_classes(text: str, text_labels=None) -> list:
    """Labels from a comma-separated list: whole numbers if all are, else numbers if all are, else text. Returns a list.

    Parameters
    ----------
    text : str
        Labels with commas between them.
    text_labels : bool, optional
        As of `structperc.files.stream`.

    Examples
    --------
    >>> from structperc.files.tables import parse_classes
    >>> parse_classes("1,2,3"), parse_classes("low,high"), parse_classes("007,7")
    ([1, 2, 3], ['low', 'high'], ['007', '7'])
    """
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    if not names or not all(names):
        raise DataError(f"--classes {text!r} has an empty label; expected labels in order, like low,middle,high.")
    labels = LabelTexts(text_labels).read(names, str)
    return labels.tolist() if labels.dtype.kind in "iuf" else names


def write_predictions(file, predictions, header=True) -> None:
    """One column, its name above it if asked for; a structure of several parts is written with spaces between them.

    Parameters
    ----------
    file : text file
    predictions : sequence
        A label or structure for each example.
    header : bool, default True
        Whether to write a line with the name.

    Examples
    --------
    >>> import sys
    >>> from structperc.files.tables import write_predictions
    >>> write_predictions(sys.stdout, [1, 3])
    prediction
    1
    3
    """
    write_table(file, {"prediction": predictions}, header)


def write_table(file, columns, header=True) -> None:
    """Columns by name as CSV, the names above them if asked for; entries as `write_predictions` writes them.

    Parameters
    ----------
    file : text file
    columns : dict of str to sequence
        Entries of each column.
    header : bool, default True
        Whether to write a line with the names.

    Examples
    --------
    >>> import sys
    >>> from structperc.files.tables import write_table
    >>> write_table(sys.stdout, {"patient": ["p1", "p2"], "prediction": [1, 3]})
    patient,prediction
    p1,1
    p2,3
    """
    writer = csv.writer(file, lineterminator="\n")
    if header:
        writer.writerow(columns)
    writer.writerows(map(as_cell, row) for row in zip(*columns.values(), strict=True))


def as_cell(y) -> str:
    """An entry as text."""
    return " ".join(map(str, y)) if isinstance(y, (tuple, list, np.ndarray)) else str(y)
