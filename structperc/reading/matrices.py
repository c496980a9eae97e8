"""From what users bring to blocks of rows, without copying what already fits."""

from __future__ import annotations

import datetime
import math
import numbers
import os
import sys
from collections.abc import Mapping

import numpy as np

from structperc.basics.errors import DataError, DataTypeError, shortened, unreadable
from structperc.basics.labels import has_half_pair, is_missing, is_real, python_values
from structperc.basics.sparse_parts import is_sparse, refuse_damaged, to_csr
from structperc.core.rows import Rows, in_any_order, in_place
from structperc.reading.cells import to_number
from structperc.reading.column_faults import ColumnError, find_fault, in_a_frame
from structperc.reading.frames import is_frame
from structperc.reading.other_libraries import as_table, header_of

CHUNK_VALUES = 1 << 20      # values of X that a prediction looks at at a time,
CHUNK_EXAMPLES = 1 << 11    # or examples of many rows
IN_PLACE = ["C", "ALIGNED"]         # what arrays must be that compiled code reads where they stand
FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
NO_TEXT = "X holds text with code points that no character has; read it again from where it came."


def read(X, offsets=None) -> Rows:
    """Check X and convert it to rows that compiled code reads in place.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features), sparse matrix, data frame, list of arrays of shape (n_i, n_features), or list of objects
        C-ordered float32 and float64 arrays and CSR matrices are not copied; anything else is converted once. In a list of
        two-dimensional arrays, each array is one example. Other forms of lists are those of `as_examples`.
    offsets : array-like of int of shape (n_examples + 1,), optional
        Rows offsets[i]:offsets[i + 1] are example i. Default: each row is an example.

    Examples
    --------
    >>> from structperc.plugin_tools import read
    >>> rows = read([[1, 2], [3, 4], [5, 6]], offsets=[0, 2, 3])
    >>> rows.n_examples, rows.n_features
    (2, 2)
    """
    return read_in_any_order(X, offsets).in_row_order()


def read_in_any_order(X, offsets=None) -> Rows:
    """As `read`, without a copy of a matrix in another order, such as column order; see `Rows.blocks`."""
    if offsets is None:
        rows = in_place(X)
        if rows is not None:
            return rows
    X = as_examples(X)
    names = column_names(X)
    if is_sparse(X):
        return Rows(as_csr(X), check_offsets(offsets, X.shape[0]), names)
    if isinstance(X, (list, tuple)) and len(X) and is_block(X[0]):
        if offsets is not None:
            raise DataError("offsets was given, but X is a list with one array per example already; pass one or the other.")
        return stack(X)
    if isinstance(X, (list, tuple)) and len(X) and not is_row(X[0]):
        if offsets is not None:
            raise DataError("offsets was given, but X is a list with one object per example already; pass one or the other.")
        return Rows(list(X))
    X = check_size(as_matrix(X))
    return in_any_order(X, check_offsets(offsets, len(X)), names)


def read_alone(X, offsets=None, reads=None) -> Rows:
    """As `read`, for estimators without an engine: messages about tables suggest other libraries.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        As in `read`.
    offsets : array-like of int of shape (n_examples + 1,), optional
        As in `read`.
    reads : function, optional
        The method of a reader instead of `read`.

    Examples
    --------
    >>> from structperc.plugin_tools import read_alone
    >>> read_alone([[1, 2], [3, 4]]).n_examples
    2
    """
    try:
        return (read if reads is None else reads)(X, offsets)
    except ColumnError as error:
        raise error.advised(in_a_frame) from None


def is_block(x) -> bool:
    return is_sparse(x) or getattr(x, "ndim", 0) == 2 or is_frame(x)


def is_row(x) -> bool:
    """Whether an element of a list is a row of numbers rather than an object."""
    if isinstance(x, np.ndarray):
        return x.ndim == 1 and x.dtype.kind in "fiub"
    return isinstance(x, (list, tuple)) and all(map(is_real, x))


def as_examples(X):
    """Examples as a list, or as one table.

    Parameters
    ----------
    X : object
        As users pass it.

    Returns
    -------
    object
        A list for an array of more than two dimensions. Also for an array or a Series of objects other than numbers and their rows.
        Tables for the queries and streams of other libraries. Anything else as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import as_examples
    >>> [block.shape for block in as_examples(np.zeros((2, 3, 4)))]
    [(3, 4), (3, 4)]
    """
    if is_sparse(X):
        return blocks_of(X) if X.ndim == 3 else X
    return as_table(list(X) if getattr(X, "ndim", 0) > 2 else as_objects(X))


def blocks_of(X):
    """The examples of a sparse array of three dimensions, CSR each. Before SciPy 1.16 it has no elements."""
    refuse_damaged(X)
    n, size, d = X.shape
    rows = to_csr(X.reshape(n * size, d))
    return [rows[first:first + size] for first in range(0, n * size, size)] if size else [rows] * n


def as_objects(X):
    """An array or series of strings or other objects as the list that it means; anything else as it is."""
    if getattr(X, "ndim", 0) != 1 or getattr(getattr(X, "dtype", None), "kind", None) not in ("U", "O") or not len(X):
        return X
    try:
        objects = X.tolist()
    except SystemError:
        raise DataError(NO_TEXT) from None
    return X if objects[0] is None or isinstance(objects[0], numbers.Number) or is_row(objects[0]) else objects


def column_names(X):
    """The names of a data frame's columns, all different texts. None for numbers as names, and for anything but a data frame."""
    columns = header_of(X)
    if columns is None or not any(isinstance(c, str) for c in columns):
        return None
    odd = next((c for c in columns if not isinstance(c, str)), None)
    if odd is not None:
        raise DataTypeError(f"X has columns called by texts and a column called {odd!r:.60}: feature names are only supported if all of "
                            f"them are strings; rename it, or pass X.to_numpy().")
    again = next((c for i, c in enumerate(columns) if c in columns[:i]), None) if len(set(columns)) < len(columns) else None
    if again is not None:
        raise DataError(f"X has two columns {again!r:.60}; give every column a name of its own, or pass X.to_numpy().")
    if has_half_pair("".join(columns)):
        name = next(c for c in columns if has_half_pair(c))
        raise DataError(f"X has a column {name!r:.60} with half of a surrogate pair in its name, which no file can store. Read it with the "
                        f"right encoding, or rename it.")
    return tuple(columns)


def other_columns(names, expected) -> str:
    """The missing and the further names, compared with those of training, as a part of a message. None: without names."""
    if names is None or expected is None:
        return ""
    sides = (("lacks", [name for name in expected if name not in names]), ("has further", [name for name in names if name not in expected]))
    parts = [f"{word} {', '.join(f'{name!r:.60}' for name in side[:5])}{', ...' * (len(side) > 5)}" for word, side in sides if side]
    return f": it {' and '.join(parts)}" if parts else ""


def as_dense(X) -> np.ndarray:
    """A C-ordered float array with two dimensions."""
    return np.require(as_matrix(X), requirements=IN_PLACE)


def as_matrix(X) -> np.ndarray:
    """A float array with two dimensions, in any order of memory."""
    refuse_masked(X)
    try:
        array = np.asarray(X)
        if array.dtype not in FLOATS:
            if array.dtype.kind in "mM":
                raise explain_frame(X) or DataError(f"X has the type {array.dtype}; turn dates and durations into numbers first.")
            if array.dtype == object and any(map(is_cut, array.ravel())):
                raise TypeError
            array = array if array.dtype.kind == "c" else array.astype(np.float64)
    except SystemError:
        raise DataError(NO_TEXT) from None
    except RuntimeError as error:
        raise unreadable("X", error) from None
    except (TypeError, ValueError, OverflowError):
        error = explain_frame(X)
        array = typed_numbers(X) if error is None else None
        if array is None:
            raise error or explain_dense(X) from None
    refuse_complex(array)
    if array.ndim != 2:
        if X is None:
            raise DataError("X is None; expected rows and columns, such as an array of shape (n_rows, n_features).")
        if array.ndim == 1 and not len(array):
            raise DataError("X is an empty list; expected rows and columns, with a minimum of 1 row.")
        hint = " Reshape your data: a single example is X.reshape(1, -1), a single feature X.reshape(-1, 1)." if array.ndim == 1 else ""
        raise DataError(f"X has {array.ndim} dimension{'s' * (array.ndim != 1)}; expected rows and columns, "
                        f"shape (n_rows, n_features).{hint}")
    return np.require(array, requirements=IN_PLACE[1:])


def explain_frame(X) -> DataError | None:
    """Why a data frame is no matrix of numbers, column by column; None for anything else."""
    if getattr(X, "columns", None) is None or len(getattr(X, "shape", ())) != 2:
        return None
    faults = list(filter(None, (find_fault(str(name), cells) for name, cells in zip(header_of(X), cells_of(X), strict=True))))
    return ColumnError(faults) if faults else None


def cells_of(X) -> list:
    """The cells of a data frame of any library, a list for each column."""
    if hasattr(X, "iloc"):                  # whose columns may share a name
        return np.asarray(X, dtype=object).T.tolist()
    columns = [X[name] for name in header_of(X)]
    return [column.to_list() if hasattr(column, "to_list") else list(python_values(column)) for column in columns]


def typed_numbers(X):
    """The numbers of a data frame of texts, with a minus as people type it; None for anything else."""
    if getattr(X, "columns", None) is None or len(getattr(X, "shape", ())) != 2:
        return None
    numbers = [[to_number(cell) for cell in column] for column in cells_of(X)]
    return None if any(None in column for column in numbers) else np.ascontiguousarray(np.array(numbers, dtype=float).T)


def explain_dense(X) -> DataError:
    """Why X is no matrix of numbers: ragged rows, or the first entry that is no number."""
    if isinstance(X, Mapping):
        return DataTypeError(f"X is a {type(X).__name__} with the keys {', '.join(map(repr, list(X)[:5]))}. Pass pandas.DataFrame(X) if "
                             f"these are columns. If X is one row, pass a list of such objects to scikit-learn's DictVectorizer.")
    if isinstance(X, (str, os.PathLike)):
        return DataTypeError(f"X is {'the text ' if isinstance(X, str) else ''}{shortened(X)}; read the file first, for instance with "
                             f"pandas.read_csv.")
    if hasattr(X, "__next__"):
        return DataTypeError(f"X is a {type(X).__name__}, which can be read only once; pass list(X).")
    try:
        rows = X.values.tolist() if hasattr(X, "values") and not callable(X.values) else list(X)
    except TypeError:
        kind = type(X).__name__
        return DataTypeError(f"X is {shortened(X)} of type {kind}; expected a matrix of numbers, such as an array (n_rows, n_features).")
    lengths = [len(row) if hasattr(row, "__len__") and not (isinstance(row, str) or isinstance(row, np.ndarray) and not row.ndim) else -1
               for row in rows]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            return DataError(f"X is ragged: row {i} has {max(length, 0)} columns but row 0 has {max(lengths[0], 0)}; "
                             f"make all rows equally long.")
    for i, row in enumerate(rows):
        for j, value in enumerate(row if lengths[i] >= 0 else [row]):
            if is_cut(value):
                return DataTypeError(f"X[{i}, {j}] is {shortened(value)}; expected a real number. Divide a duration by its unit, and pass "
                                     f"real and imaginary parts as columns.")
            try:
                float(value)
            except (TypeError, ValueError, OverflowError) as error:
                return not_a_number(i, j, value, error)
    return DataError("X cannot be read as a matrix of numbers; pass an array of shape (n_rows, n_features).")


def not_a_number(row, column, value, error) -> DataError:
    if is_missing(value):
        return DataError(f"X[{row}, {column}] is {shortened(value)}, which is missing; fill or drop that row.")
    if isinstance(value, (datetime.date, np.datetime64)):
        return DataTypeError(f"X[{row}, {column}] is the date {value}. Turn dates into numbers, such as days since the first, or pass a "
                             f"data frame with plugins=['table'].")
    kind = DataTypeError if isinstance(error, TypeError) else DataError
    return kind(f"X[{row}, {column}] is {shortened(value)}: {error}; encode categories as numbers first.")


def check_size(X: np.ndarray) -> np.ndarray:
    for size, name in zip(X.shape, ("sample", "feature"), strict=False):
        if size == 0:
            raise DataError(f"X has 0 {name}(s) (shape={X.shape}) while a minimum of 1 is required.")
    return X


def refuse_masked(X) -> None:
    masked = sys.modules.get("numpy.ma")            # a masked array cannot exist before this module does
    if masked is not None and masked.is_masked(X):
        i, j = (*np.argwhere(masked.getmaskarray(X))[0], 0)[:2]
        raise DataError(f"X is masked at row {i}, column {j}; fill masked entries (X.filled) or drop their rows.")


def is_cut(cell) -> bool:
    """Whether NumPy makes a number of a cell by cutting its imaginary part or its unit."""
    return isinstance(cell, (np.complexfloating, np.timedelta64)) and not is_missing(cell)


def refuse_complex(X) -> None:
    if X.dtype.kind == "c":
        raise DataError("Complex data not supported: X holds complex numbers; pass their real and imaginary parts as columns.")


def as_csr(X):
    """CSR of floats with valid indices; the same object when it already is."""
    if X.ndim != 2:
        raise DataError(f"X has {X.ndim} dimension{'s' * (X.ndim != 1)}; expected rows and columns, shape (n_rows, n_features).")
    csr = check_size(to_csr(X))
    if csr.dtype not in FLOATS:
        refuse_complex(csr)
        csr = as_floats(csr)
    if csr.indices.dtype != csr.indptr.dtype or csr.indices.dtype not in (np.dtype(np.int32), np.dtype(np.int64)):
        csr = type(csr)((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), shape=csr.shape)
    if not all(part.flags.c_contiguous and part.flags.aligned for part in (csr.data, csr.indices, csr.indptr)):
        parts = [np.require(part, requirements=IN_PLACE) for part in (csr.data, csr.indices, csr.indptr)]
        csr = csr.copy()
        csr.data, csr.indices, csr.indptr = parts
    return csr


def as_floats(csr):
    """The same matrix with float64 values; each must be a number."""
    try:
        return csr.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        for at, value in enumerate(csr.data.tolist()):
            try:
                float(value)
            except (TypeError, ValueError, OverflowError) as error:
                row = int(np.searchsorted(csr.indptr, at, side="right")) - 1
                raise not_a_number(row, int(csr.indices[at]), value, error) from None
        raise


def chunks(rows, n_atoms=1, least=1):
    """The data set in pieces, each with the number of its first example. The scores of all n_atoms atoms of a piece are few enough."""
    # A piece has at least `least` examples, whatever their size: each piece costs a look at as many numbers per atom.
    most = max(least, CHUNK_VALUES // max(1, n_atoms, values_of_one(rows)))
    if rows.offsets is not None:
        most = min(most, CHUNK_EXAMPLES)
    if rows.strided:
        yield from rows.blocks()
        return
    if rows.n_examples <= most:
        yield 0, rows
        return
    for start in range(0, rows.n_examples, most):
        yield start, rows.part(start, min(start + most, rows.n_examples))


def values_of_one(rows) -> int:
    """How many values of X an example has, about."""
    if rows.objects:
        return 1
    values = rows.X.nnz if rows.sparse else rows.X.size
    return int(values // max(1, rows.n_examples))


def as_array(values, name) -> np.ndarray:
    """numpy's array of what users bring in a list."""
    try:
        return np.asarray(values)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{name} is {shortened(values)}, which is no array: its entries differ in form; pass a flat list.") from None


def check_offsets(offsets, n_rows: int):
    if offsets is None:
        return None
    raw = as_array(offsets, "offsets")
    if raw.ndim != 1 or len(raw) < 2 or raw.dtype.kind not in "iu":
        raise DataError(f"offsets has shape {raw.shape} and type {raw.dtype}. Expected at least two integers, "
                        f"the first row of each example and the end.")
    raw = raw.copy()                                # nobody else changes it between this check and its use
    if raw[0] != 0 or raw[-1] != n_rows:
        raise DataError(f"offsets runs from {raw[0]} to {raw[-1]}; expected from 0 to the {n_rows} rows of X.")
    falls = np.flatnonzero(raw[1:] < raw[:-1])      # neighbours: a difference could wrap
    if len(falls):
        i = int(falls[0])
        raise DataError(f"offsets is not sorted: offsets[{i + 1}] is {raw[i + 1]}, below offsets[{i}] which is {raw[i]}.")
    return raw.astype(np.int64)


def stack(blocks) -> Rows:
    """A list of blocks of rows as one matrix (a copy) and offsets."""
    for i, block in enumerate(blocks):
        if not is_block(block):
            raise DataError(f"X[{i}] is {shortened(block)}, but X[0] is a table; give every example as rows and columns.")
        if block.shape[1] != blocks[0].shape[1]:
            raise DataError(f"X[{i}] has {block.shape[1]} columns but X[0] has {blocks[0].shape[1]}; examples must share their features.")
    offsets = np.zeros(len(blocks) + 1, dtype=np.int64)
    np.cumsum([b.shape[0] for b in blocks], out=offsets[1:])
    if offsets[-1] == 0 and blocks[0].shape[1]:
        return Rows(np.zeros((0, blocks[0].shape[1])), offsets)     # examples without rows, as a stream may have them
    if any(is_sparse(b) for b in blocks):
        from scipy.sparse import vstack

        blocks = [to_csr(block) if is_sparse(block) else as_dense(block) for block in blocks]
        try:
            X = vstack(blocks, format="csr")
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"the examples of X cannot be stacked: {error}.") from None
        return Rows(as_csr(X), offsets)
    try:
        arrays = [np.asarray(block) for block in blocks]
    except (RuntimeError, TypeError) as error:
        raise unreadable("an example of X", error) from None
    return Rows(check_size(as_dense(np.concatenate(arrays))), offsets, column_names(blocks[0]))


def sample_weights(weights, n_examples: int):
    """The weights of examples: checked, as float64.
    Raises `DataError` if a weight is wrong, or their number. Also if their sum overflows.
    Returns a float64 array of shape (n_examples,), or None. Finite and not negative.

    Parameters
    ----------
    weights : array-like of shape (n_examples,), float or None
        One number is everybody's.
    n_examples : int

    Examples
    --------
    >>> from structperc.plugin_tools import sample_weights
    >>> sample_weights([1, 2], 2).tolist()
    [1.0, 2.0]
    """
    if weights is None:
        return None
    try:
        values = np.asarray(weights)
        if values.dtype.kind in "cmM":          # NumPy counts units of times
            raise TypeError
        weights = np.require(values, np.float64, IN_PLACE)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"sample_weight is not a list of numbers: {shortened(weights, 80)}.") from None
    if weights.ndim == 0:
        weights = np.full(n_examples, float(weights))
    if weights.shape != (n_examples,):
        raise DataError(f"sample_weight has shape {weights.shape}; expected ({n_examples},), one number per example.")
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        i = int(np.argmax(bad))
        raise DataError(f"sample_weight[{i}] is {weights[i]}; weights must be finite and not negative.")
    with np.errstate(over="ignore"):
        if not np.isfinite(weights.sum()):
            raise DataError("the sum of sample_weight overflows; divide all weights by one number.")
    return weights


def locate_not_finite(rows: Rows, example=None):
    """(row, column, value) of the first NaN or Inf in X (in one example), or None."""
    if rows.objects:
        return None
    first, last = 0, rows.n_rows
    if example is not None:
        first = example if rows.offsets is None else int(rows.offsets[example])
        last = first + 1 if rows.offsets is None else int(rows.offsets[example + 1])
    cells, matrix, dense = [], rows.sparse_part, rows.dense_part
    if matrix is not None:
        low, high = matrix.indptr[first], matrix.indptr[last]
        bad = low + np.flatnonzero(~np.isfinite(matrix.data[low:high]))
        cells += [(int(np.searchsorted(matrix.indptr, at, side="right")) - 1, int(matrix.indices[at]), float(matrix.data[at]))
                  for at in bad[:1].tolist()]
    if dense is not None:
        step = max(1, (1 << 20) // max(1, dense.shape[1]))
        for start in range(first, last, step):
            bad = np.argwhere(~np.isfinite(dense[start:min(start + step, last)]))
            if len(bad):
                i, j = start + int(bad[0, 0]), int(bad[0, 1])
                cells.append((i, rows.n_features - dense.shape[1] + j, float(dense[i, j])))
                break
    return min(cells, default=None)


def not_finite_entry(rows: Rows, example=None) -> DataError | None:
    """The error that names the first NaN or Inf of X (of one example), or None where there is none."""
    place = locate_not_finite(rows, example)
    if place is None:
        return None
    row, column, value = place
    remedy = (" The plugin 'table' fills gaps of data frames: pass plugins=['table'], fill='median' to an engine, "
              "plugin_options={'fill': 'median'} to an estimator. If an estimator has no such parameter, put scikit-learn's SimpleImputer "
              "before it." if math.isnan(value) else "")
    return DataError(f"X[{row}, {column}] is {value}; X must be free of NaN and inf, so fill or drop that row.{remedy}")


def refuse_not_finite(rows: Rows) -> None:
    """Raise an error for NaN and infinite values in X, for parts that would not notice them, such as kernels.

    Parameters
    ----------
    rows : Rows

    Raises
    ------
    DataError
        The message names the row and column.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import Rows
    >>> from structperc.plugin_tools import refuse_not_finite
    >>> refuse_not_finite(Rows(np.array([[1.0], [2.0]])))
    """
    parts = [] if rows.objects else [None if rows.sparse_part is None else rows.sparse_part.data, rows.dense_part]
    if not all(np.isfinite(part).all() for part in parts if part is not None):
        raise not_finite_entry(rows)
