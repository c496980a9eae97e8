"""The saved state of a part: arrays by name, checked as they are taken, and read no earlier."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from structperc.basics.errors import DataError

PIECE = 1 << 20         # values that are looked at together


class SavedState(Mapping):
    """What `Component.restore` gets: arrays by name. An array of a model file is read when it is asked for."""
    # entries: dict. Arrays, or what has `dtype`, `shape` and `read(into=None)`, as the members of a model file.

    def __init__(self, entries):
        self.entries = entries

    def __getitem__(self, name):
        entry = self.entries[name]
        return entry if isinstance(entry, np.ndarray) else entry.read()

    def __iter__(self):
        return iter(self.entries)

    def __len__(self):
        return len(self.entries)

    def __contains__(self, name):
        return name in self.entries


def substate(state, prefix) -> SavedState:
    """The entries of a state whose names begin with a prefix. Nothing is read. Returns a mapping. Keys are the rest of the names.

    Parameters
    ----------
    state : mapping
        As `Component.restore` gets it.
    prefix : str

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import substate
    >>> sorted(substate({"left.w": np.zeros(1), "right.w": np.zeros(1)}, "left."))
    ['w']
    """
    return SavedState({name.removeprefix(prefix): entry for name, entry in entries_of(state).items() if name.startswith(prefix)})


def read_array(state, name, dtype, shape=(), *, low=None, high=None, finite=True, into=None):
    """A checked array of a saved state, for `Component.restore`.

    Type and shape are compared before memory is allocated.
    Raises `DataError` if the array differs. The message compares what is saved with what was expected.
    Returns an ndarray, or a number for shape (). A copy.

    Parameters
    ----------
    state : mapping
        As `restore` gets it.
    name : str
        Name of the array.
    dtype : type, or tuple of types
        The exact type of the values; str means strings of any length.
    shape : tuple, default ()
        The exact shape; None in it means any length.
    low, high : number, optional
        Smallest and largest allowed value.
    finite : bool, default True
        Whether infinite values and NaN raise an error.
    into : function of the shape, optional
        Returns a contiguous array of this type and size for the values. Default: a new array.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import read_array
    >>> state = {"weights": np.zeros(3), "n_steps": np.array(7)}
    >>> read_array(state, "n_steps", np.int64, low=0), read_array(state, "weights", np.float64, (3,)).tolist()
    (7, [0.0, 0.0, 0.0])
    >>> read_array(state, "weights", np.float64, (4,))
    Traceback (most recent call last):
    structperc.errors.DataError: the saved array 'weights' is float64 of shape (3,); expected float64 of shape (4,).
    """
    entry = entries_of(state).get(name)
    if entry is None:
        raise DataError(f"the saved state has no {name!r}.")
    entry = np.asarray(entry) if not hasattr(entry, "read") else entry
    kinds = dtype if isinstance(dtype, tuple) else (dtype,)
    same = any(entry.dtype.kind == "U" if kind is str else entry.dtype == np.dtype(kind) for kind in kinds)
    if not same or len(entry.shape) != len(shape) or any(n not in (None, m) for n, m in zip(shape, entry.shape, strict=True)):
        wanted = f"({', '.join('any' if n is None else str(n) for n in shape)}{',' if len(shape) == 1 else ''})"
        raise DataError(f"the saved array {name!r} is {entry.dtype} of shape {tuple(entry.shape)}; expected "
                        f"{' or '.join('strings' if kind is str else np.dtype(kind).name for kind in kinds)} of shape {wanted}.")
    place = None if into is None else into(entry.shape)
    if not isinstance(entry, np.ndarray):
        array = entry.read(place)
    elif place is None:
        array = np.array(entry)
    else:
        array = place
        array.reshape(-1)[:] = entry.reshape(-1)
    check_values(name, array.reshape(-1), low, high, finite)
    return array.item() if shape == () else array


def check_values(name, values, low, high, finite):
    """Raises an error for values out of bounds; without an array of their size."""
    numeric = values.dtype.kind == "f" and finite
    for start in range(0, len(values) if numeric or low is not None or high is not None else 0, PIECE):
        piece = values[start:start + PIECE]
        if numeric and not np.isfinite(piece).all():
            raise DataError(f"the saved array {name!r} holds {piece[~np.isfinite(piece)][0]}; expected finite numbers.")
        if low is not None and piece.min() < low or high is not None and piece.max() > high:
            bounds = " and ".join(f"at {word} {bound}" for word, bound in (("least", low), ("most", high)) if bound is not None)
            raise DataError(f"the saved array {name!r} goes from {piece.min()} to {piece.max()}; expected {bounds}.")


def check_starts(name, starts, end) -> None:
    """Raises `DataError` unless rows begin at 0, follow each other and end at `end`.

    Parameters
    ----------
    name : str
        Name of the saved array, for the error message.
    starts : int array
        Where each part begins, and the end.
    end : int

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import check_starts
    >>> check_starts("starts", np.array([0, 2, 5]), 5)
    """
    if not len(starts) or starts[0] != 0 or starts[-1] != end or (starts[1:] < starts[:-1]).any():
        raise DataError(f"the saved {name} do not begin at 0, follow each other and end at {end}.")


def entries_of(state):
    return state.entries if isinstance(state, SavedState) else state
