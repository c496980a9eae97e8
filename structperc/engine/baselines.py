"""What an explanation compares with, and what it calls the columns: the mean row of training, groups of columns."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import DataError, OptionError, PluginError, did_you_mean, shortened
from structperc.basics.rows_of_numbers import to_dense
from structperc.core.joined import Joined
from structperc.fitting.model import has_mean_row

CONSTANT = "(constant)"
ABSENT = "(absent columns)"


def example(model, rows, baseline):
    """What an example is compared with, and an example of such rows, None for zero. No baseline: the model's mean, else zero."""
    if isinstance(baseline, str) and baseline not in ("mean", "zero"):
        raise OptionError(f"baseline={shortened(baseline)}; expected 'mean', 'zero' or a row of numbers."
                          f"{did_you_mean(baseline, ('mean', 'zero'))}")
    if baseline is None:
        baseline = "zero" if model.means is None or not has_mean_row(rows) else "mean"
    if isinstance(baseline, str) and baseline == "zero":
        return "zero", None
    if isinstance(baseline, str):
        if not has_mean_row(rows):
            raise OptionError("baseline='mean': the rows have named features, whose mean is no example; leave it out, or set it to 'zero'.")
        if model.means is None:
            raise OptionError("baseline='mean': this model has no means. Workers trained it, or its scores are not linear in the "
                              "columns. Pass a row, or set it to 'zero'.")
        kind, values = "mean", model.means
    else:
        kind, values = "row", row_of(model, rows, baseline)
    like = alike(rows, values)
    return kind, model.example(model.scaling.applied(like) if model.scales else like, 0)


def row_of(model, rows, row):
    """The numbers of a row that was passed as a baseline."""
    if rows.objects:
        raise OptionError("baseline is a row of numbers, and this model was trained on objects; leave it out.")
    read = model.parts.reader.read_one(row, False, rows.offsets is not None)
    if read.n_rows != 1 or read.n_features != rows.n_features:
        raise DataError(f"baseline has {read.n_rows} rows of {read.n_features} columns; expected one row of {rows.n_features}.")
    return to_dense(read.X)[0]


def alike(rows, values):
    """Rows like these, each with these values."""
    strings, dense = rows.sparse_part, rows.dense_part
    X = np.tile(values, (rows.n_rows, 1))
    first = rows.n_features - (0 if dense is None else dense.shape[1])
    sparse = None if strings is None else type(strings)(X[:, :first].astype(strings.dtype))
    numbers = None if dense is None else np.ascontiguousarray(X[:, first:], dtype=dense.dtype)
    copy = rows.like(numbers if sparse is None else sparse if numbers is None else Joined(sparse, numbers), rows.offsets, 0, rows.n_rows)
    copy.restrict(rows.allowed)
    copy.condition(rows.first_stage)
    return copy


class Naming:
    """What the columns of one example are called; columns of one name are added up."""
    # rows: Rows. Of the example.
    # groups: dict of str to list of columns, or None. Columns by name or number. The columns that a table's reader has made of one column
    # of text are always a group. It has the name of that column.

    def __init__(self, model, rows, groups):
        self.model, self.group_of = model, {}
        self.present = set(rows.stored_columns().tolist()) if rows.sparse else None
        for name, columns in (groups or {}).items():
            self.group_of.update(dict.fromkeys(self.numbers(name, columns), str(name)))
        for name, columns in one_hot_columns(model.parts.reader):
            own = [column for column in columns if rows.X[:, column].any()] if rows.dense_part is rows.X else []
            called = model.feature_name(own[0]) if len(own) == 1 else name
            self.group_of = dict.fromkeys(columns, called) | self.group_of

    def numbers(self, name, columns) -> list[int]:
        """The columns of a group, as numbers."""
        if isinstance(columns, str) or not hasattr(columns, "__iter__"):
            raise OptionError(f"groups[{name!r}] is {shortened(columns)}; expected a list of columns.")
        names, n, numbers = list(self.model.context.feature_names or ()), self.model.context.n_features, []
        for column in columns:
            exists = column in names if isinstance(column, str) else isinstance(column, (int, np.integer)) and 0 <= column < n
            if not exists:
                raise OptionError(f"groups[{name!r}] names {column!r}, which is no column of this model. Expected "
                                  f"{'one of ' + shortened(names) if names else f'a number from 0 to {n - 1}'}.")
            numbers.append(names.index(column) if isinstance(column, str) else int(column))
            if numbers[-1] in self.group_of:
                raise OptionError(f"groups[{name!r}] names {column!r}, which is in the group {self.group_of[numbers[-1]]!r} too.")
        return numbers

    def summed(self, terms) -> dict:
        """Values by pairs of a name and a column, of values by column; the column of a sum is -1."""
        sums = {}
        for column, value in terms.items():
            key = self.key(column)
            sums[key] = sums.get(key, 0.0) + value
        return sums

    def key(self, column):
        if column < -1:
            return named(self.model.parts.features, -2 - column), -1
        if column < 0:
            return CONSTANT, -1
        if column in self.group_of:
            return self.group_of[column], -1
        if self.present is not None and column not in self.present:
            return ABSENT, -1
        return self.model.feature_name(column), column


class TrainingRows:
    """What the terms of a kernel are called: training rows, by the numbers of `support_`."""

    def summed(self, terms) -> dict:
        """As `Naming.summed`, of values by the numbers of training rows."""
        return {(CONSTANT if number < 0 else f"training row {number}", -1): value for number, value in terms.items()}


def named(features, j) -> str | None:
    """The name of a weight by a map, None of a constant."""
    name = features.feature_name(j)
    if name is not None and not isinstance(name, str):
        raise PluginError(f"{type(features).__name__}.feature_name returned {shortened(name)} for weight {j}; expected a text, or None.")
    return name


def one_hot_columns(reader):
    """The name and the columns of each column of a table that has become several."""
    for code, at in reader.input_columns().places():
        if code.kind == "one_hot":
            yield code.name, range(at, at + len(code.levels))
