"""Which rows of X are one example, by offsets, lengths or groups. Rows of a group need not be together."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from structperc.basics.errors import DataError, shortened
from structperc.basics.labels import as_label_array, missing_label, numbered, plain, python_values, refuse_unhashable
from structperc.basics.rows_of_numbers import entries_at
from structperc.basics.sparse_parts import is_sparse
from structperc.reading.frames import is_frame
from structperc.reading.matrices import as_array, as_csr, is_row, not_finite_entry, read
from structperc.reading.other_libraries import as_table

WHOLE = 1 << 53             # floats from here on lack whole numbers


class Groups:
    """X example by example, from whichever of the three ways the user chose.

    The rows of a group need not be together. They are then gathered (a copy of X), in their order. Examples are in the order in which their
    groups first appear. As a context manager it adds to errors how rows are counted.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.reading.groups import Groups
    >>> data = Groups(np.array([[1.0], [2.0], [3.0]]), groups=["a", "b", "a"])
    >>> data.X.ravel().tolist(), data.offsets.tolist(), data.by_rows([10, 20, 30]), data.as_given(np.array([1, 2, 3])).tolist()
    ([1.0, 3.0, 2.0], [0, 2, 3], [10, 30, 20], [1, 3, 2])
    """
    # X: what the rows are read from
    # offsets: array of int, optional. Rows offsets[i]:offsets[i+1] are example i.
    # lengths: sequence of int, optional. How many rows each example has.
    # groups: sequence, optional. An entry for each row; rows with the same entry are one example.
    # X: As it came; with its rows in another order where those of a group were not together.
    # offsets: array of int, shape (n_examples + 1,), or None. As `structperc.reading.matrices.read` takes them; given ones are checked
    # there.
    # order: int array of shape (n_rows,), or None. The row of the user's X for each row; None: the same order.
    # DataError: For two ways at a time, and for lengths or groups that do not fit the rows of X.

    def __init__(self, X, offsets=None, lengths=None, groups=None):
        self.X, self.offsets, self.order = gathered(X, offsets, lengths, groups)

    def by_rows(self, values):
        """The values of the rows of X in the order of `self.X`. Values of whole examples stay as they are; none are pyarrow's."""
        values = python_values(values)
        if self.order is None or not hasattr(values, "__len__") or getattr(values, "ndim", 1) == 0 or len(values) != len(self.order):
            return values
        return in_order(values, self.order)

    def as_given(self, values):
        """The inverse of `by_rows`, for an array with an entry for each row."""
        if self.order is None:
            return values
        restored = np.empty_like(values)
        restored[self.order] = values
        return restored

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if isinstance(error, DataError) and self.order is not None:
            error.args = (f"{error} (Rows are counted group by group here, groups in the order in which they first appear.)",)


def gathered(X, offsets, lengths, groups):
    """X, offsets and order of `Groups`."""
    if lengths is None and groups is None:
        return X, offsets, None
    names = [name for name, value in (("offsets", offsets), ("lengths", lengths), ("groups", groups)) if value is not None]
    if len(names) > 1:
        raise DataError(f"{' and '.join(names)} were given; they mean the same, so pass one of them.")
    X = as_table(X)
    if not isinstance(X, (list, tuple)) and not hasattr(X, "shape") and hasattr(X, "__array__"):
        X = np.asarray(X)
    if getattr(X, "shape", ()):
        n_rows = X.shape[0]
    elif isinstance(X, (list, tuple)) and len(X) and is_row(X[0]):
        n_rows = len(X)
    else:
        raise DataError(f"{names[0]} was given, but X is a {type(X).__name__} with one example per entry already; pass one or the other.")
    if lengths is not None:
        return X, offsets_of(lengths, n_rows), None
    values = as_label_array(groups, "groups", "an entry for each row of X")
    if len(values) != n_rows:
        raise DataError(f"groups has {len(values)} entries, but X has {n_rows} rows; give one for each row."
                        + about_sizes(values, n_rows, "lengths=[...]"))
    order, offsets = gather(values)
    if order is None:
        return X, offsets, None
    error = None
    with suppress(DataError):                   # texts are for the reader of the problem
        error = not_finite_entry(read(X))       # here its row still has the number that it came with
    if error is not None:
        raise error
    return in_order(X, order), offsets, order


def about_sizes(values, n_rows, remedy) -> str:
    """A further sentence where entries of groups look like how many rows each has, as LightGBM and XGBoost take them."""
    sizes = np.asarray(values)
    if sizes.dtype.kind not in "iu" or sizes.ndim != 1 or sum(sizes.tolist()) != n_rows:
        return ""
    return f" They add up to {n_rows}: sizes of groups go into {remedy}."


def offsets_of(lengths, n_rows) -> np.ndarray:
    """Where each example begins, and the end."""
    sizes = as_array(lengths, "lengths")
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or len(sizes) == 0:
        raise DataError(f"lengths is {shortened(lengths)}; expected a list of whole numbers, how many rows each example has.")
    if (sizes < 0).any():
        i = int(np.argmax(sizes < 0))
        raise DataError(f"lengths[{i}] is {sizes[i]}; an example cannot have fewer than 0 rows.")
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    fits = bool((sizes <= n_rows).all())
    if fits:
        np.cumsum(sizes, dtype=np.int64, out=offsets[1:])       # a sum that wraps falls, as no length is above n_rows
    if not fits or (offsets[1:] < offsets[:-1]).any() or offsets[-1] != n_rows:
        raise DataError(f"lengths add up to {sum(sizes.tolist())}, but X has {n_rows} rows.")
    return offsets


def gather(groups):
    """The rows of each group together, in the order of first appearance, and the groups' offsets. None where they stand so already."""
    # O(n) where rows stand so already, else O(n log n).
    values = entries_of(groups)
    if len(values) == 0:
        raise DataError("groups is empty; expected an entry for each row of X.")
    offsets, again = runs(values)
    if not again:
        return None, offsets
    number = {}
    of_run = [number.setdefault(name, len(number)) for name in values[offsets[:-1]].tolist()]
    of_row = np.repeat(of_run, np.diff(offsets))
    return np.argsort(of_row, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(of_row))]).astype(np.int64)


def entries_of(groups, name="groups", expected="an entry for each row of X") -> np.ndarray:
    """Names of groups, an entry for each row. An entry without a name, such as None, NaN or an empty text, raises an error."""
    values = as_label_array(groups, name, expected)
    refuse_unhashable(values, name)
    i = unnamed(values)
    if i is not None:
        raise DataError(f"{name}[{i}] is {plain(values[i])!r}, which belongs to no group; fill it, or drop that row.")
    if values.dtype.kind == "f" and (np.abs(values) >= WHOLE).any():
        i = int(np.argmax(np.abs(values) >= WHOLE))
        raise DataError(f"{name}[{i}] is {values[i]:.17g}, a float. From 2**{WHOLE.bit_length() - 1} on floats round whole numbers, so "
                        f"that two groups become one. Pass whole numbers or texts.")
    return values


def unnamed(values):
    """The first position without a name of a group: None, NaN or an empty text; None if there is no such."""
    i = missing_label(values)
    if i is None and values.dtype.kind in "OU":
        i = next((i for i, one in enumerate(values.tolist()) if isinstance(one, str) and not one.strip()), None)
    return i


def numbers_of(groups, n, name="groups") -> np.ndarray:
    """The number of each example's group, from 0. Names are sorted, or without an order as they appear."""
    expected = f"an entry for each of {n} examples"
    values = entries_of(groups, name, expected)
    if len(values) != n:
        raise DataError(f"{name} has the shape ({len(values)},); expected {expected}.")
    return numbered(values)[1]


def in_order(values, order):
    """Rows, or what there is one of for each row, in another order."""
    if hasattr(values, "iloc") or is_frame(values):
        return entries_at(values, order)
    if isinstance(values, (list, tuple)):
        if len(values) != len(order):
            raise DataError(f"a list has {len(values)} entries for {len(order)} rows: it was changed while it was read.")
        return [values[i] for i in order.tolist()]
    if is_sparse(values):
        return as_csr(values)[order]            # SciPy reorders no objects
    array = np.asarray(values)
    return array[order] if array.shape[:1] == order.shape else values       # a set has entries, but its array has none


def runs(values) -> tuple[np.ndarray, list]:
    """Where each run of equal values begins, and the end; and the values that come back in a later run."""
    starts = np.concatenate([[0], np.flatnonzero(values[1:] != values[:-1]) + 1])
    names, seen = values[starts].tolist(), set()
    again = [name for name in names if name in seen or seen.add(name)]
    return np.append(starts, len(values)).astype(np.int64), again
