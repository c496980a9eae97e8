"""Tables as people have them, to rows of numbers: what each column becomes is learned once and kept in the model."""

from __future__ import annotations

import warnings

import attrs
import numpy as np

from structperc.basics.errors import DataError, DataWarning, OptionError, shortened
from structperc.basics.labels import is_missing
from structperc.basics.saved_state import check_starts, read_array, substate
from structperc.reading import matrices
from structperc.reading.column_codes import KINDS, ColumnCode, Unusable, learned, levels_in, merged, widened
from structperc.reading.column_faults import ColumnError
from structperc.reading.frames import columns_of, has_typed_columns, is_frame
from structperc.reading.readers import Reader
from structperc.reading.table_options import TableOptions


def learn_table(X):
    """A reader that has learned what columns of categories and dates become, and its rows. Data without such columns have neither.
    Returns `TableReader` and `Rows`, or None and None.

    Parameters
    ----------
    X : object
        As users pass it.

    Examples
    --------
    >>> import pandas as pd
    >>> from structperc.plugin_tools import learn_table
    >>> _, rows = learn_table(pd.DataFrame({"sex": pd.Categorical(["f", "m"]), "bmi": [21.0, 30.0]}))
    >>> rows.feature_names
    ('sex=f', 'sex=m', 'bmi')
    """
    if not has_typed_columns(X):
        return None, None
    reader = TableReader()
    return reader, matrices.read_alone(X, reads=reader.learn)


class TableReader(Reader):
    """Reads data frames whose columns hold numbers, categories, dates and gaps; anything without named columns as `Reader` does.

    Numbers, truth values and nullable numbers are used as they are. Dates become days since the earliest of the training data, and
    durations become days. A categorical becomes a column of 0 and 1 for each category. An ordered one becomes the position of its category,
    from 0. A column of text must have numbers, unless an option encodes it. Data frames come from pandas, polars, pyarrow or any other
    library that narwhals supports (extra `tables`). Later data are read by the names of their columns, in any order; further columns are
    ignored.

    Parameters
    ----------
    drop : sequence of str
        Columns to leave out.
    one_hot : sequence of str, or dict from str to sequence of str
        Columns that become a column of 0 and 1 for each of their levels, called "sex=female". For a level that the training data lack, all
        of them are 0, and there is a `structperc.errors.DataWarning`. A dict names levels, or None: those of the training data. The levels
        of a truth value are "True" and "False" in tables of any origin.
    ordinal : dict from str to sequence of str
        Columns that become positions, and their levels, lowest first. Other levels raise an error.
    date : sequence of str, or dict from str to str
        Columns of text that hold dates, as in ISO 8601 or of a form such as "%d.%m.%Y".
    fill : {"median", "mean", "most-frequent"}, number, str, or dict, optional
        The value of missing cells (None, NaN, NA, and texts of `missing`). The median and the mean are those
        of the training data; columns of `one_hot` use their most frequent level instead. A number fills only columns of numbers, a text
        only columns with levels. A dict has values by column, with "*" for all others. Missing cells without a value raise an error.
    missing_indicators : bool, default False
        Adds a column of 0 and 1, called "bmi missing". Each filled column that lacks cells in the training data has one.
    number : sequence of str, or dict from str to {".", ","}
        Columns of numbers as people write them: with separators of thousands, a sign of a currency or percent. A dict names the character
        before decimals.
    missing : sequence of str, or dict from str to sequence of str
        Further texts that mean that nothing is known, such as ["?", "."]. The usual ones are an empty text, "NA", "N/A", "NaN", "nan",
        "null" and "NULL". A dict has all such texts by column, with "*" for all others: {"country": []} makes a word of NA. So does a
        level of this name.
    reference : dict from str to str
        The level of a column of categories with which models of log odds compare the others: its coefficient is 0. Default: the most
        frequent level; among equals the smallest text.
    then : Reader, optional
        Reads what a table has become, and all that is no table: the reader of a problem whose rows have keys, for instance. Its keys are
        not encoded.

    Raises
    ------
    OptionError
        For options that cannot be, and columns that the table has not.
    DataError
        One sentence that names all columns that cannot be used, with what they hold and the options that fix them.

    Examples
    --------
    >>> import pandas as pd
    >>> from structperc import Engine
    >>> from structperc.components import TableReader
    >>> table = pd.DataFrame({"sex": ["f", "m", "f", "m"], "bmi": [20.0, None, 31.0, 28.0]})
    >>> reader = TableReader(one_hot=["sex"], fill="median")
    >>> rows = reader.learn(table)
    >>> rows.feature_names, rows.X.tolist()
    (('sex=f', 'sex=m', 'bmi'), [[1.0, 0.0, 20.0], [0.0, 1.0, 28.0], [1.0, 0.0, 31.0], [0.0, 1.0, 28.0]])
    """

    takes_tables = True

    def __init__(self, drop=(), one_hot=(), ordinal=(), date=(), fill=None, missing_indicators=False, number=(), missing=(),
                 reference=(), then=None):
        self.options = TableOptions.read(drop, one_hot, ordinal, date, fill, missing_indicators, number, missing, reference)
        if then is not None and not isinstance(then, Reader):
            raise OptionError(f"then={shortened(then)}; expected None or a reader.")
        self._codes, self.then = None, Reader() if then is None else then
        if not self.then.takes_tables:
            name = type(then).__name__
            raise OptionError(f"{name}.read gets X as users pass it, so the plugin 'table' cannot encode columns first. Leave out 'table' "
                              f"and its options, such as one_hot. Or set `takes_tables = True` in {name}, which then reads tables of "
                              f"numbers.")

    def start(self, parts, context):
        super().start(parts, context)
        self.then.start(parts, context)

    def input_columns(self):
        return attrs.evolve(self.then.input_columns(), codes=self._codes, texts=self.options.texts, missing=self.options.missing_words)

    @staticmethod
    def wrote(state) -> bool:
        """Whether a state is that of a reader that has learned from a table.

        Parameters
        ----------
        state : dict
        """
        return {"columns", "kinds", "level_starts"} <= set(state)

    @property
    def has_open_levels(self) -> bool:
        """Whether further data may have levels that no option names."""
        return any(code.levels and self.options.levels(code.name) is None for code in self._codes or ())

    def feature_name(self, j):
        return self.then.feature_name(j)

    def learn(self, X, offsets=None):
        return self.learn_weighted(X, offsets)

    def learn_weighted(self, X, offsets=None, sample_weight=None):
        table, back = self.then.without_keys(X)
        columns, offsets = tables_of(table, offsets)
        if columns is None:
            if self.options.column_names:
                raise DataError(f"X has no named columns, but the options name {', '.join(map(repr, self.options.column_names[:5]))}; "
                                f"pass a data frame.")
            rows, codes = self.then.learn(X, offsets), None
        else:
            codes = self.learned(columns, weights_of_rows(sample_weight, columns, offsets))
            rows = self.then.learn(back(encoded(codes, columns)), offsets)
        self._codes = codes
        return rows

    def learn_more(self, X, offsets=None):
        """Adds the levels of further data, before anything is trained on it; a failure changes nothing."""
        if self._codes is None:
            self.then.learn_more(X, offsets)
            return
        X, back = self.then.without_keys(X)
        columns, offsets = self.tables(X, offsets)
        codes, faults = [], []
        for code in self._codes:
            try:
                codes.append(widened(code, columns[code.name], self.options))
            except Unusable as error:
                faults.append(error.fault)
        if faults:
            raise ColumnError(faults, encoded=True)
        table = back(encoded(codes, columns))
        if codes != list(self._codes):
            self.then.learn(table, offsets)
        else:
            self.then.learn_more(table, offsets)
        self._codes = tuple(codes)

    def learn_names(self, state):
        return self._codes is None and self.then.learn_names(dict(substate(state, "then.")))

    def rows_with_new_levels(self, X) -> list:
        """The first row of each level that the reader would learn of a table. Returns a list of int.

        Parameters
        ----------
        X : data frame or table
        """
        columns, _ = self.tables(self.then.without_keys(X)[0], None)
        rows = set()
        for code in self._codes:
            if code.levels and self.options.levels(code.name) is None:
                rows.update(code.first_of_new_levels(columns[code.name]))
        return sorted(rows)

    def learned(self, columns, weights=None) -> tuple:
        """What each column is to become. Returns a tuple of Column. The encoding of each column.

        Parameters
        ----------
        columns : dict of str to column
            The columns of the first table.
        weights : float64 array of shape (n_rows,), optional
            What rows count for the values that fill gaps.
        """
        options, codes, faults = self.options, [], []
        options.check_names(columns)
        options.check_fills(columns)
        for name, column in columns.items():
            if name in options.drop:
                continue
            try:
                code = learned(column, options, weights)
                code.encode(column, np.empty((len(column), len(code.feature_names))))
                codes.append(code)
            except Unusable as error:
                faults.append(error.fault)
        if faults:
            raise ColumnError(faults, encoded=True)
        if not codes:
            raise DataError("drop names all columns of X; leave one at least to learn from.")
        names = [name for code in codes for name in code.feature_names]
        again = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
        if again is not None:
            raise DataError(f"two columns would be called {again!r} once the table is read; rename one of those that become it.")
        return tuple(codes)

    def read(self, X, offsets=None):
        if self._codes is None or isinstance(X, Numbers):
            return self.then.read(X, offsets)
        X, back = self.then.without_keys(X)
        columns, offsets = self.tables(X, offsets)
        return self.then.read(back(encoded(self._codes, columns)), offsets)

    def encoded(self, X):
        """A table as a matrix with names, which `read` takes instead of the table.
        Returns an object. With `shape`, `columns` and the entries of an array.

        Parameters
        ----------
        X : data frame or table
        """
        return encoded(self._codes, self.tables(X, None)[0])

    def tables(self, X, offsets):
        """The columns of X, of which the model needs those of training, and where examples begin. Returns a dict, array or None.
        Raises `DataError` if X lacks columns of training.

        Parameters
        ----------
        X : data frame or table, or a list of them
        offsets : array or None
        """
        columns, offsets = tables_of(X, offsets)
        if columns is None:
            names = ", ".join(repr(code.name) for code in self._codes[:8])
            raise DataError(f"X has no named columns, but this model was trained on a table with the columns {names}"
                            f"{', ...' if len(self._codes) > 8 else ''}. Pass a data frame.")
        for code in self._codes:
            if code.name not in columns:
                raise DataError(f"X has no column {code.name!r}, but this model was trained with it; its columns are "
                                f"{', '.join(map(repr, list(columns)[:10]))}.")
        return columns, offsets

    def read_one(self, x, objects=False, several_rows=False):
        return self.then.read_one(x, objects, several_rows) if self._codes is None else super().read_one(x, objects, several_rows)

    def state(self):
        codes, further = self._codes, {f"then.{name}": array for name, array in self.then.state().items()}
        if codes is None:
            return further
        levels = [code.levels for code in codes]
        return further | {
            "columns": np.array([code.name for code in codes]),
            "kinds": np.array([code.kind for code in codes]),
            "levels": np.array([level for own in levels for level in own], dtype=str),
            "level_starts": np.cumsum([0, *map(len, levels)], dtype=np.int64),
            "origins": np.array([code.origin for code in codes]),
            "fills": np.array([code.fill for code in codes]),
            "indicated": np.array([code.indicated for code in codes]),
        }

    def restore(self, state):
        self._codes = None
        self.then.restore(dict(substate(state, "then.")))
        if "columns" not in state:
            return
        names = read_array(state, "columns", str, (None,)).tolist()
        n = len(names)
        kinds, levels = read_array(state, "kinds", str, (n,)).tolist(), read_array(state, "levels", str, (None,)).tolist()
        starts = read_array(state, "level_starts", np.int64, (n + 1,))
        check_starts("levels", starts, len(levels))
        origins, indicated = read_array(state, "origins", np.float64, (n,)), read_array(state, "indicated", bool, (n,))
        fills = read_array(state, "fills", np.float64, (n,), finite=False)
        if not set(kinds) <= set(KINDS) or np.isinf(fills).any():
            raise DataError("the saved columns are of kinds, or filled by numbers, that no table has.")
        self._codes = tuple(
            ColumnCode(names[j], kinds[j], tuple(levels[starts[j]:starts[j + 1]]), float(origins[j]), float(fills[j]), bool(indicated[j]),
                       **self.options.forms(names[j]))
            for j in range(n)
        )  # fmt: skip


def tables_of(X, offsets):
    """The columns of X, None if it has no names, and where examples begin. A list of data frames has one for each example."""
    X = matrices.as_examples(X)
    if isinstance(X, (list, tuple)) and len(X) and all(map(is_frame, X)):
        if offsets is not None:
            raise DataError("offsets was given, but X is a list with one table per example already; pass one or the other.")
        tables = [columns_of(part) for part in X]
        for i, table in enumerate(tables):
            if table.keys() != tables[0].keys():
                raise DataError(f"X[{i}] has other columns than X[0]; give every example the same.")
        sizes = [len(next(iter(table.values()), ())) for table in tables]
        return ({name: joined([table[name] for table in tables]) for name in tables[0]},
                np.cumsum([0, *sizes], dtype=np.int64))
    return (columns_of(X), offsets) if is_frame(X) else (None, offsets)


def weights_of_rows(sample_weight, columns, offsets):
    """A weight for each row of a table; None without weights. Another number of them raises an error later."""
    n_examples = len(next(iter(columns.values()), ())) if offsets is None else len(offsets) - 1
    if not hasattr(sample_weight, "__len__") or len(sample_weight) != n_examples:
        return None
    weights = matrices.sample_weights(sample_weight, n_examples)
    return weights if offsets is None else np.repeat(weights, np.diff(offsets))


def joined(columns):
    """The columns of one name of several tables as one; categories are those of all."""
    first, kinds = columns[0], {column.kind for column in columns if not is_empty(column)}
    if len(kinds) == 1 and kinds != {"text"} and all(column.entries is None for column in columns):
        values = [np.full(len(column), np.nan) if is_empty(column) else column.values for column in columns]
        return attrs.evolve(first, kind=kinds.pop(), values=np.concatenate(values))
    cells = [cell for column in columns for cell in column.cells()]
    if any(column.categories is None or column.ordered != first.ordered for column in columns):
        kind, entries = ("number", cells) if all(column.kind == "number" for column in columns) else ("text", None)
        values = np.concatenate([column.values for column in columns]) if kind == "number" else cells
        return attrs.evolve(first, kind=kind, values=values, categories=None, ordered=False, entries=entries)
    code = ColumnCode(first.name, "ordinal" if first.ordered else "one_hot", levels_in(first, frozenset()))
    for column in columns[1:]:
        code = attrs.evolve(code, levels=merged(code, levels_in(column, frozenset())))
    return attrs.evolve(first, values=cells, categories=code.levels)


def is_empty(column) -> bool:
    """Whether nothing is known of a column, not even its type."""
    return column.kind == "text" and column.categories is None and all(map(is_missing, column.values))


@attrs.frozen(eq=False)
class Numbers:
    """A matrix with a name for each column, in the form of a data frame: what a table has become, or rows of a file."""

    values: np.ndarray
    columns: tuple
    ndim = 2

    @property
    def shape(self):
        return self.values.shape

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return iter(self.values)

    def __getitem__(self, places):
        """A column by its name, or rows with the same names. At a row or a pair of places: what the matrix has there."""
        if isinstance(places, str):
            return self.values[:, self.columns.index(places)]
        taken = self.values[places]
        return taken if isinstance(places, tuple) or taken.ndim < 2 else Numbers(taken, self.columns)

    def __array__(self, dtype=None, copy=None):
        return self.values


def encoded(codes, columns) -> Numbers:
    """What a table becomes."""
    names = tuple(name for code in codes for name in code.feature_names)
    n_rows = len(columns[codes[0].name])
    X = matrices.check_size(np.empty((n_rows, len(names))))
    faults, strangers, at = [], {}, 0
    for code in codes:
        width = len(code.feature_names)
        try:
            unknown = code.encode(columns[code.name], X[:, at:at + width])
            strangers.update({code.name: unknown} if unknown else {})
        except Unusable as error:
            faults.append(error.fault)
        at += width
    if faults:
        raise ColumnError(faults, trained=True)
    for name, unknown in strangers.items():
        levels = ", ".join(f"{level!r:.40} ({count} row{'s' * (count > 1)})" for level, count in list(unknown.items())[:5])
        warnings.warn(f"column {name!r} holds levels that the model has not learned: {levels}; all columns made of it are 0 there.",
                      DataWarning, stacklevel=2)
    return Numbers(X, names)
