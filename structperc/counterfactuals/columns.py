"""Which columns of an example may change, how far, and what the user calls their values."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping

import attrs
import numpy as np

from structperc.basics.errors import DataError, OptionError, did_you_mean, shortened
from structperc.basics.labels import python_values
from structperc.counterfactuals.programs import Variables
from structperc.engine.baselines import one_hot_columns
from structperc.extras import require
from structperc.reading.column_codes import KINDS
from structperc.reading.frames import as_time, days_of, is_frame
from structperc.reading.other_libraries import header_of
from structperc.reading.table_reader import Numbers

assert KINDS == ("number", "date", "ordinal", "one_hot")
SWITCH = 0.5                # of each of the two columns that a switch of categories changes


@attrs.frozen
class Change:
    """A value that differs.

    Attributes
    ----------
    row : int
        Of the example, from 0.
    column : str
    before, after : object
        As the user has them: numbers, or levels of a category.
    deviations : float
        What the change adds to the distance: standard deviations, 1 for another category.

    Examples
    --------
    >>> import structperc
    >>> from structperc.estimators import PRank
    >>> model = PRank(random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], [1, 1, 2, 2])
    >>> structperc.counterfactual(model, [0.0], 2).changes[0].before
    0.0
    """

    row: int
    column: str
    before: object
    after: object
    deviations: float

    def __str__(self):
        return f"{self.column} {shown_value(self.before)} -> {shown_value(self.after)}"


def shown_value(value) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class Columns:
    """The columns that the features of an example are, in the user's units."""
    # rows: Rows. The example as the reader has read it.
    # spreads, fixed, bounds, whole, groups: As `counterfactual` has them.
    # truth: list of str. Columns of truth values, as `truth_columns` returns them.

    def __init__(self, model, rows, spreads, fixed, bounds, whole, groups, truth=()):
        n = rows.n_features
        self.model, self.n = model, n
        self.names = [model.feature_name(j) for j in range(n)]
        self.spread = self.spreads_of(spreads)
        self.low, self.high = np.full(n, -np.inf), np.full(n, np.inf)
        self.whole, self.groups, self.dates = np.zeros(n, dtype=bool), [], []
        self.movable = self.spread > 0
        self.of_table()
        self.truth = [self.names.index(name) for name in truth if name in self.names]
        self.whole[self.truth], self.low[self.truth], self.high[self.truth] = True, 0, 1
        for name, group in one_hot_columns(model.parts.reader):
            self.add_group(list(group), name, False)
        for name, group in groups_given(groups).items():
            self.add_group(self.numbers(group, f"groups[{name!r}]"), name, True)
        self.whole[self.numbers(whole, "whole")] = True
        if not isinstance(bounds, (Mapping, type(None))):
            raise OptionError(f"bounds={shortened(bounds)}; expected a dict from columns to pairs of the lowest and the highest value.")
        for column, ends in (bounds or {}).items():
            j = self.number(column, "bounds")
            low, high = ends_of(column, ends)
            self.low[j], self.high[j] = max(low, self.low[j]), min(high, self.high[j])
        self.movable[self.numbers(fixed, "fixed")] = False

    def spreads_of(self, spreads):
        """The standard deviation of each column."""
        if spreads is None:
            if self.model.spreads is None:
                raise OptionError("this model has no standard deviations of its columns: it was trained on blocks with scale=False, "
                                  "on workers or with a kernel. Pass them, such as "
                                  "spreads=X.std(axis=0) of the training rows.")
            return self.model.spreads
        try:
            values = np.asarray(spreads, dtype=float)
        except (TypeError, ValueError, OverflowError):
            values = None
        if values is None or values.shape != (self.n,) or not (np.isfinite(values) & (values >= 0)).all():
            raise OptionError(f"spreads={shortened(spreads)}; expected a number, at least 0, for each of {self.n} columns.")
        return values

    def of_table(self):
        """Sets bounds by the columns of a table: levels of a category, positions of an ordered category, whole days from a date."""
        for code, at in self.model.parts.reader.input_columns().places():
            if code.kind == "ordinal":
                self.whole[at], self.low[at], self.high[at] = True, 0, len(code.levels) - 1
            if code.kind == "date":
                self.dates.append(at)
                self.whole[at] = True
                self.low[at], self.high[at] = (days_of(end) - code.origin for end in (datetime.date.min, datetime.date.max))
            if code.indicated:
                self.movable[at + len(code.feature_names) - 1] = False

    def add_group(self, group, name, checked):
        """The columns of a one-hot code; `checked`: x must have one 1 in them."""
        again = sorted(set(group) & {j for other, *_ in self.groups for j in other})
        if again or len(set(group)) < len(group):
            raise OptionError(f"groups[{name!r}] names {self.names[again[0] if again else group[0]]!r}, which is in a group already.")
        self.groups.append((group, name, checked))
        self.whole[group], self.low[group], self.high[group] = True, 0, 1

    def numbers(self, columns, where) -> list[int]:
        if isinstance(columns, str) or not isinstance(columns, Iterable) or getattr(columns, "ndim", 1) == 0:
            raise OptionError(f"{where} is {shortened(columns)}; expected a list of columns.")
        return [j for column in columns for j in self.one_or_more(column, where)]

    def one_or_more(self, column, where) -> list[int]:
        """A column, or those that a column of a table has become."""
        of_category = dict(one_hot_columns(self.model.parts.reader))
        return list(of_category[column]) if isinstance(column, str) and column in of_category else [self.number(column, where)]

    def number(self, column, where) -> int:
        """A column by its name or its number."""
        if isinstance(column, str) and column in self.names:
            return self.names.index(column)
        if isinstance(column, (int, np.integer)) and not isinstance(column, (bool, np.timedelta64)) and 0 <= column < self.n:
            return int(column)
        hint = did_you_mean(column, self.names) if isinstance(column, str) else ""
        raise OptionError(f"{where} names {shortened(column)}, which is no column of this model. Expected one of {shortened(self.names)}, "
                          f"or a number from 0 to {self.n - 1}.{hint}")

    def variables(self, values, only) -> tuple:
        """The values that may change, as places in the block, and the `Variables` of their changes. `only`: the rows that may."""
        movable = np.tile(self.movable, (len(values), 1))
        if only is not None:
            movable[[r for r in range(len(values)) if r not in only]] = False
        for group, name, checked in self.groups:
            one_hot = (np.sort(values[:, group], axis=1) == np.append(np.zeros(len(group) - 1), 1)).all(axis=1)
            if checked and not one_hot.all():
                wrong = values[int(np.argmin(one_hot)), group].tolist()
                raise DataError(f"x has {wrong} in the columns of groups[{name!r}]; expected one 1, and 0 in the others.")
            movable[np.ix_(~one_hot, group)] = False
        places = np.flatnonzero(movable)
        column, x = places % self.n, values.ravel()[places]
        self.refuse_values(x, column)
        categorical = np.isin(column, [j for group, *_ in self.groups for j in group])
        whole = self.whole[column]
        unit = np.where(whole, 1.0, self.spread[column])
        cost = np.where(categorical, SWITCH, np.where(whole, 1 / self.spread[column], 1.0))
        of = {place: i for i, place in enumerate(places.tolist())}
        groups = [[of[r * self.n + j] for j in group if r * self.n + j in of] for group, *_ in self.groups for r in range(len(values))]
        return places, Variables(unit, cost, (self.low[column] - x) / unit, (self.high[column] - x) / unit, whole,
                                 [np.array(group) for group in groups if group])

    def refuse_values(self, x, column):
        """Raises an error for values outside their bounds, and fractions where whole numbers are asked for."""
        for value, j in zip(x.tolist(), column.tolist(), strict=True):
            if not self.low[j] <= value <= self.high[j]:
                raise DataError(f"x has {value:g} in the column {self.names[j]!r}, outside its bounds {self.low[j]:g} and "
                                f"{self.high[j]:g}. Widen them, or name the column in fixed.")
            if self.whole[j] and j not in self.dates and value != np.rint(value):
                raise DataError(f"x has {value:g} in the column {self.names[j]!r}, which is named in whole. Expected a whole number there, "
                                f"or leave the column out of whole.")

    def changes(self, before, after, length) -> list[Change]:
        """What differs between two blocks; `length` is what each value adds to the distance."""
        changes, seen = [], set()
        groups = dict(one_hot_columns(self.model.parts.reader))
        of_group = {j: (name, columns) for name, columns in groups.items() for j in columns}
        for r, j in np.argwhere(before != after).tolist():
            if (r, j) in seen:
                continue
            if j in of_group:
                name, columns = of_group[j]
                seen.update((r, k) for k in columns)
                levels = [self.names[columns[int(block[r, columns].argmax())]].removeprefix(f"{name}=") for block in (before, after)]
                changes.append(Change(r, name, *levels, float(length[r, columns].sum())))
            else:
                changes.append(Change(r, self.names[j], *(self.user_value(j, float(block[r, j])) for block in (before, after)),
                                    float(length[r, j])))
        return changes

    def user_value(self, j, value):
        """A value of a column as the user has it: a number, a truth value, or the level or the day that it means."""
        if j in self.truth:
            return bool(value)
        for code, at in self.model.parts.reader.input_columns().places():
            if at == j and code.kind == "ordinal":
                return code.levels[int(value)]
            if at == j and code.kind == "date":
                return as_time(value + code.origin, code.date_format)
        return value


def truth_columns(x) -> list:
    """The names of columns of truth values in a data frame or in a row of one."""
    if is_frame(x):
        return [name for name in header_of(x) if all(isinstance(value, (bool, np.bool_)) for value in python_values(x[name]))]
    if hasattr(x, "to_frame") and hasattr(x, "items"):
        return [name for name, value in x.items() if isinstance(value, (bool, np.bool_))]
    return []


def groups_given(groups) -> dict:
    if groups is not None and not hasattr(groups, "items"):
        raise OptionError(f"groups={shortened(groups)}; expected a dict from names to lists of columns.")
    return {} if groups is None else dict(groups)


def ends_of(column, ends):
    """The two bounds of a column; None leaves an end open."""
    try:
        low, high = ends
        low, high = (open_end if end is None else float(end) for end, open_end in ((low, -np.inf), (high, np.inf)))
    except (TypeError, ValueError):
        low = high = np.nan
    if not low <= high:
        raise OptionError(f"bounds[{column!r}] is {shortened(ends)}; expected a pair of numbers, the lowest and the highest value, None "
                          f"for no bound.")
    return low, high


def as_given(x, rows, n_keys, values, changes):
    """The new block in the form in which the user passed x. `n_keys` of the rows' keys are columns of x."""
    if (is_frame(x) or hasattr(x, "to_frame")) and not isinstance(x, Numbers):
        new = x.copy() if hasattr(x, "copy") else x
        if not is_frame(x):                                 # a row of a pandas frame
            for change in changes:
                new[change.column] = change.after
            return new
        for name in {change.column for change in changes}:
            column = list(python_values(x[name]))
            for change in changes:
                if change.column == name:
                    column[change.row] = change.after
            new = with_column(new, name, column)
        return new
    block = values if rows.keys is None else np.hstack([rows.keys[:, :n_keys] if rows.values is None else rows.values, values])
    if isinstance(x, np.ndarray) and x.size in (block.size, values.size):       # with its keys, or without
        return (block if x.size == block.size else values).reshape(x.shape)
    return block[0] if rows.offsets is None and np.ndim(x) == 1 else block


def with_column(frame, name, column):
    """A data frame of any library with another column of a name."""
    if hasattr(frame, "assign"):
        return frame.assign(**{name: column})
    narwhals = require("narwhals.stable.v2", "changing tables", "tables")
    table = narwhals.from_native(frame, eager_only=True)
    if any(isinstance(cell, str) for cell in column):           # such libraries have no columns of dates and texts
        column = [None if cell is None else str(cell) for cell in column]
    return table.with_columns(narwhals.new_series(name, column, backend=table.implementation)).to_native()
