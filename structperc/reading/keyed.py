"""Rows of which some columns identify what a row is about and are no features: the two ends of a pair, the time of a slot."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.arguments import whole_number
from structperc.basics.errors import DataError, OptionError, shortened
from structperc.basics.saved_state import read_array
from structperc.basics.sparse_parts import is_sparse, to_csr
from structperc.core.component import argument
from structperc.core.rows import Rows
from structperc.reading.key_columns import Keyed, numbered, of_arrays, of_frames
from structperc.reading.matrices import read
from structperc.reading.readers import InputColumns, Reader


class KeyedRows(Rows):
    """Rows with keys: `Example.keys` has a row of them for each row of the example.

    Parameters
    ----------
    X, offsets, feature_names
        As of `Rows`.
    keys : float64 array of shape (n_rows, n_keys)
        Equal and ordered as the keys of an example are.
    n_items : int array of shape (n_examples,), optional
        How many items each example has, also those that no key names. Default: not known.
    values : object array of shape (n_rows, n_keys), optional
        The keys as users pass them. Default: `keys`.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import KeyedRows
    >>> rows = KeyedRows(np.array([[0.5], [2.0]]), keys=np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> rows.example(1).keys.tolist()
    [[1.0, 0.0]]
    """

    keys = None                 # not the property of Rows
    key_names = ()
    n_items = values = None

    def __init__(self, X, offsets=None, feature_names=None, keys=None, n_items=None, values=None):
        super().__init__(X, offsets, feature_names)
        self.keys, self.n_items, self.values, self.computed = keys, n_items, values, {}

    def __reduce__(self):
        return restored_rows, (self.X, self.offsets, self.feature_names, self.keys, self.n_items, self.values, self.key_names)

    def like(self, X, offsets, first, last):
        same = offsets is None or len(offsets) == len(self.offsets)
        return KeyedRows(X, offsets, self.feature_names, self.keys[first:last], self.n_items if same else None,
                         None if self.values is None else self.values[first:last])

    def part(self, start, stop):
        rows = super().part(start, stop)
        rows.n_items = None if self.n_items is None else self.n_items[start:stop]
        return rows


def key_values(x) -> list:
    """The keys of the rows of an example, as users pass them. Returns a list of tuple.

    Parameters
    ----------
    x : Example
        Of rows that a `KeyedReader` has read.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import KeyedReader
    >>> from structperc.plugin_tools import key_values
    >>> block = np.array([["ann", "bob", 0.5], ["ann", "eve", -1.0]], dtype=object)
    >>> x = KeyedReader(2).read([block]).example(0)
    >>> key_values(x), x.keys.tolist()
    ([('ann', 'bob'), ('ann', 'eve')], [[0.0, 1.0], [0.0, 2.0]])
    """
    values = x.source.values
    return list(map(tuple, (x.keys if values is None else values[x.first_row:x.first_row + x.n_rows]).tolist()))


def key_text(key) -> str:
    """A key for people: numbers without needless decimals.

    Parameters
    ----------
    key : object

    Examples
    --------
    >>> from structperc.plugin_tools import key_text
    >>> key_text(3.0), key_text("ann")
    ('3', 'ann')
    """
    return str(key) if not isinstance(key, float) else str(int(key)) if key.is_integer() else f"{key:g}"


def key_note(x) -> str:
    """What to add to a message that names keys by their numbers. Returns a str. Empty if the keys are numbers.

    Parameters
    ----------
    x : Example
        Of rows that a `KeyedReader` has read.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import KeyedReader
    >>> from structperc.plugin_tools import key_note
    >>> key_note(KeyedReader(1).read(np.array([["ann", 0.5]], dtype=object)).example(0))
    ' Keys are counted from 0 in their order here.'
    """
    return "" if x.source.values is None else " Keys are counted from 0 in their order here."


def of_keys(x, name, compute):
    """What a function makes of an example's keys, such as its graph. It is computed once while the rows are in use.

    Parameters
    ----------
    x : Example
        Of rows that a `KeyedReader` has read.
    name : str
        What is computed.
    compute : function of x

    Returns
    -------
    object
        Not to be changed.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import KeyedReader
    >>> from structperc.plugin_tools import of_keys
    >>> x = KeyedReader(1).read(np.array([[7.0, 0.5]])).example(0)
    >>> [of_keys(x, "largest", lambda x: print("computed") or x.keys.max()) for _ in range(2)]
    computed
    [np.float64(7.0), np.float64(7.0)]
    """
    computed = getattr(x.source, "computed", None)
    if computed is None:                # rows of another reader
        return compute(x)
    place = name, x.index
    if place not in computed:
        computed[place] = compute(x)
    return computed[place]


def restored_rows(X, offsets, feature_names, keys, n_items, values, key_names) -> KeyedRows:
    """Rows that were pickled."""
    rows = KeyedRows(X, offsets, feature_names, keys, n_items, values)
    rows.key_names = key_names
    return rows


class KeyedReader(Reader):
    """Reads what `Reader` reads, and keeps columns apart as the keys of the rows.

    Keys are numbers, texts, dates, categories, or several of these. They are read before the table becomes numbers. Keys that float64 does
    not hold are numbered in their order, from 0 in each example: numbers and texts of numbers by value, then dates, then texts.

    Parameters
    ----------
    n_keys : int
        How many of the columns are keys; the others are the features.
    names : sequence of str, or str with commas, optional
        The names of these columns in a data frame. Default: those of `usual`.
    usual : sequence of str, optional
        What these columns are usually called. Without them, and in data without names, the first columns are the keys.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import KeyedReader
    >>> x = KeyedReader(2).read([np.array([[0, 1, 0.5], [0, 2, -1.0]])]).example(0)
    >>> x.keys.tolist(), x.rows.tolist()
    ([[0.0, 1.0], [0.0, 2.0]], [[0.5], [-1.0]])
    """

    takes_tables = True

    def __init__(self, n_keys, names=None, usual=()):
        self._n_keys, self._key_names = argument(self, "n_keys", n_keys, whole_number, 1), ()
        self._names, self._usual = () if names is None else key_names(names, n_keys), tuple(usual)

    def input_columns(self):
        return InputColumns(self._n_keys, self._key_names, key_places=self.key_places)

    def key_places(self, header) -> list:
        """The places of the keys among the columns of a table. Returns a list of int.
        Raises `DataError` if columns that the option `keys` names, or those of training, are not there.

        Parameters
        ----------
        header : list
            The names of its columns.
        """
        names = self._names or self._key_names
        missing = [name for name in names if name not in header]
        if missing:
            whose = "keys names" if self._names else "the model was trained with the key"
            raise DataError(f"{whose} {missing[0]!r}, but the columns of X are {', '.join(map(str, header))}.")
        if not names and self._usual and set(self._usual) <= set(header):
            names = self._usual
        places = [header.index(name) for name in names] or list(range(self._n_keys))
        if len(header) <= self._n_keys:
            raise self.too_narrow(f"{len(header)} columns")
        return places

    def too_narrow(self, came) -> DataError:
        """The error of rows without room for the keys.

        Parameters
        ----------
        came : str
            What the rows have.
        """
        return DataError(f"X has {came}; expected rows of {self._n_keys} columns that identify what a row is about, then its features.")

    def without_keys(self, X):
        keyed = of_frames(X, self.key_places)
        return (X, lambda table: table) if keyed is None else (keyed.table, lambda table: attrs.evolve(keyed, table=table))

    def _with_a_feature(self, X):
        return [self._widened(block) for block in X] if isinstance(X, (list, tuple)) else self._widened(X)

    def _widened(self, block):
        """A block that only has keys, with a column of zeros; anything else as it is."""
        if not isinstance(block, np.ndarray) or block.ndim != 2 or block.shape[1] != self._n_keys:
            return block
        return np.column_stack([block if block.dtype.kind in "fiub" else block.astype(object), np.zeros(len(block))])

    def learn(self, X, offsets=None):
        self._key_names = ()
        rows = self.read(X, offsets)
        self._key_names = rows.key_names
        return rows

    def read(self, X, offsets=None):
        k = self._n_keys
        keyed = X if isinstance(X, Keyed) else of_frames(X, self.key_places)
        if keyed is not None:
            rows, columns, names = read(keyed.table, offsets), keyed.columns, keyed.names
            features, feature_names = rows.X, rows.feature_names
        elif self._names:
            raise DataError(f"keys names the columns {', '.join(self._names)}, but X has no names; pass data frames, or leave keys out.")
        else:
            columns, table = of_arrays(X, k)
            rows, names, feature_names = read(table, offsets), (), None
            if rows.objects or rows.n_features <= k:
                raise self.too_narrow("a list of objects" if rows.objects else f"{rows.n_features} columns")
            if columns is None:
                columns = [as_array(rows.X[:, [j]]).ravel() for j in range(k)]
            features = rows.X[:, k:]
        keys, values = numbered(columns, rows.offsets, lambda j: f"column {names[j]!r}" if names else f"column {j}")
        keyed = KeyedRows(features if rows.sparse else np.ascontiguousarray(features), rows.offsets, feature_names, keys, values=values)
        keyed.key_names = names
        return keyed

    def state(self):
        return {"key_names": np.array(self._key_names, dtype=str)}

    def restore(self, state):
        self._key_names = tuple(read_array(state, "key_names", str, (None,)).tolist()) if state else ()


def key_names(names, n) -> tuple:
    """The names of the columns of keys, as the option `keys` has them."""
    given = names.split(",") if isinstance(names, str) else names
    if not isinstance(given, (list, tuple)) or len(given) != n or len(set(given)) < n or not all(isinstance(name, str) for name in given):
        raise OptionError(f"keys={shortened(names)}; expected the names of {n} columns, such as {','.join('abcdefgh'[:n])}.")
    return tuple(given)


def as_array(columns):
    return to_csr(columns).toarray() if is_sparse(columns) else columns
