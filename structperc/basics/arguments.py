"""The border of solvers and measures: arrays, whole numbers and flags are checked here, once, before compiled code reads them.

Each function raises an error that names the argument, the place, the value and what was expected. Arrays may be lists, data frame columns,
read-only, strided, or of another byte order. Whole numbers in arrays become places in memory, so they are copied before the check: another
thread cannot change them after it. Real numbers are not copied; no loop may depend on them for its end.
"""

from __future__ import annotations

import operator
import sys
from typing import NamedTuple

import numpy as np

from structperc.basics.errors import DataError, OptionError, shortened
from structperc.basics.labels import as_label_array, numbered, refuse_missing, refuse_unhashable
from structperc.basics.plain_arrays import are_reals, copied_wholes

MOST = 2**31 - 2            # entries along an axis, nodes, labels: compiled code counts them in 32 bits


class Policy(NamedTuple):
    """Which real numbers an argument may contain; `summed`: they are added up, so that the sum of their sizes is no overflow."""

    low: float
    high: float
    expected: str
    summed: bool = False

    def allowed(self, array):
        """For each number whether it is allowed; False for NaN."""
        return (array >= self.low) & (array <= self.high)


LARGEST = float(np.finfo(np.float64).max)
FINITE = Policy(-LARGEST, LARGEST, "a finite number")
MOST_SUMMED = LARGEST / 2       # two arguments together do not overflow
SCORES = Policy(-np.inf, LARGEST, "a finite number, or -inf to forbid it", True)
POSITIVE = Policy(float(np.nextafter(0, 1)), LARGEST, "a number greater than 0")
COSTS = Policy(0.0, np.inf, "a number from 0, or inf to forbid it", True)
NUMBERS = Policy(-np.inf, np.inf, "a number")
FORCED = NUMBERS._replace(summed=True)          # costs of which inf forbids one choice and -inf the other


# ---- arrays ----

def number_array(values, name: str, most: int = MOST) -> np.ndarray:
    """An array of real numbers, of any order and dtype, at most so many along an axis. Nothing is copied before the size is known."""
    array = values
    if type(values) is not np.ndarray:
        masked = sys.modules.get("numpy.ma")            # a masked array cannot exist before this module does
        if masked is not None and masked.is_masked(values):
            raise DataError(f"{name} has masked entries; fill them (values.filled), or drop them.")
        try:
            array = np.asarray(values)
        except (TypeError, ValueError, OverflowError):
            raise DataError(f"{name} is {shortened(values)}; expected an array of numbers, with rows of equal length.") from None
    if array.dtype.kind not in "fiub":
        array = objects_as_floats(array, values, name)
    for size in array.shape:
        if size > most:
            raise DataError(f"{name} has the shape {array.shape}; expected at most {most} entries along each axis.")
    return array


def float_array(values, name: str) -> np.ndarray:
    """A float64 array in C order; an array that is one already is not copied. Whole numbers that it cannot hold raise an error."""
    numbers = number_array(values, name)
    array = np.asarray(numbers, dtype=np.float64, order="C")
    if numbers.dtype.kind in "iu" and numbers.dtype.itemsize == 8:
        refuse_rounded(numbers, array, name)
    return array if array.flags.aligned else array.copy()


def refuse_rounded(numbers, array, name) -> None:
    """Raises an error for whole numbers whose float64 values are others."""
    held, large = np.ones(array.shape, dtype=bool), np.flatnonzero(np.abs(array) >= 2.0**53)
    for place in large.tolist():
        held.reshape(-1)[place] = int(numbers.flat[place]) == int(array.flat[place])
    if not held.all():
        raise wrong_entry(name, numbers, held, "a whole number up to 2**53 in size, or one that float64 can hold; subtract a common number",
                          "which float64 cannot hold; expected")


def objects_as_floats(array, values, name) -> np.ndarray:
    """A float64 array of Python's numbers; anything else raises an error."""
    if array.dtype.kind == "O" and not any(isinstance(value, (str, bytes)) for value in array.flat):
        try:
            numbers = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError):
            pass
        else:
            whole = np.array([isinstance(value, (int, np.integer)) for value in array.flat], dtype=bool).reshape(array.shape)
            if whole.any():
                refuse_rounded(np.where(whole, array, 0), np.where(whole, numbers, 0.0), name)
            return numbers
    of = f" of dtype {array.dtype}" if array.ndim and array.dtype.kind != "O" else ""
    raise DataError(f"{name} is {shortened(values)}{of}; expected an array of real numbers.")


def shaped(array, name: str, shape: tuple) -> np.ndarray:
    """An array of this shape. A text means any size, the same text the same size; an empty list has no entries in any shape."""
    if array.shape == shape:
        return array
    sizes, fits = {}, array.ndim == len(shape)
    if fits:
        for size, asked in zip(array.shape, shape, strict=True):
            fits &= size == (sizes.setdefault(asked, size) if isinstance(asked, str) else asked)
    if fits:
        return array
    if array.shape == (0,) and shape and (isinstance(shape[0], str) or shape[0] == 0):
        return array.reshape(tuple(0 if isinstance(asked, str) else asked for asked in shape))
    expected = f"({', '.join(map(str, shape))}{',' * (len(shape) == 1)})" if shape else "one number"
    raise DataError(f"{name} has the shape {array.shape}; expected {expected}.")


def real_array(values, name: str, shape: tuple, policy: Policy = SCORES) -> np.ndarray:
    """A float64 array in C order. `shape` is as in `shaped`, and `policy` has the numbers that are allowed."""
    n = values.size if type(values) is np.ndarray else 1            # only such an array is taken as it is
    most = MOST_SUMMED / max(1, n) if policy.summed else policy.high
    if are_reals(values, shape, max(policy.low, -most), min(policy.high, most), MOST):
        return values
    array = shaped(float_array(values, name), name, shape)
    allowed = policy.allowed(array)
    if not allowed.all():
        raise wrong_entry(name, array, allowed, policy.expected)
    if policy.summed:
        refuse_overflow(array, name)
    return array


def refuse_overflow(scores, name: str, times: int = 1) -> None:
    """Raises an error for finite numbers whose sums floating point cannot hold, each taken so many times; infinite ones forbid."""
    with np.errstate(over="ignore"):
        total = np.abs(scores[np.isfinite(scores)]).sum() * times
    if not total <= MOST_SUMMED:
        raise overflown(name)


def overflown(name) -> DataError:
    return DataError(f"{name} overflow when they are added up, although each is finite. Divide them by a common number, or forbid by an "
                     f"infinite one.")


def whole_array(values, name: str, shape: tuple, low: int = 0, high: int = MOST, most: int = MOST) -> np.ndarray:
    """A new int32 array in C order, of whole numbers from `low` to `high`. Its shape is as in `shaped`, `most` as in `number_array`."""
    own = copied_wholes(values, shape, low, high, most)
    if own is not None:
        return own
    array = shaped(number_array(values, name, most), name, shape)
    if array.dtype.kind == "b":
        raise DataError(f"{name} has the dtype bool; expected whole numbers from {low}.")
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            own = array.astype(np.intc, order="C")
    else:
        own = array.astype(np.intc, order="C")
    allowed = (own == array) & (own >= low) & (own <= high)
    if not allowed.all():
        raise wrong_entry(name, array, allowed, f"a whole number {span(low, high)}")
    return own


def changed_array(values, name: str, shape: tuple, policy: Policy = NUMBERS) -> np.ndarray:
    """An array that a call changes in place; shape and policy as in `real_array`."""
    array = real_array(values, name, shape, policy)
    if array is not values or not array.flags.writeable:
        raise DataError(f"{name} is changed in place; expected a writable float64 array in C order.")
    return array


def offset_array(offsets, n_rows: int, name: str = "offsets") -> np.ndarray:
    """A new int64 array of where groups of rows begin, and of their end: rising from 0 to n_rows."""
    own = whole_array(offsets, name, ("n_groups + 1",), high=n_rows).astype(np.int64)
    if not len(own) or own[0] != 0 or own[-1] != n_rows or (own[1:] < own[:-1]).any():
        raise DataError(f"{name} is {shortened(offsets)}; expected numbers that rise from 0 to {n_rows}, the number of rows.")
    return own


def wrong_entry(name, array, allowed, expected, but="expected") -> DataError:
    """An error that names the first entry that is not allowed."""
    place = tuple(int(i) for i in np.unravel_index(int(np.argmin(allowed)), array.shape))
    sign = ";" if but == "expected" else ","
    return DataError(f"{name}[{', '.join(map(str, place))}] is {array[place]}{sign} {but} {expected}.")


def span(low, high) -> str:
    return f"from {low} to {high}" if high < MOST else f"from {low}"


def item_codes(items, name: str, shape: tuple):
    """The distinct labels of items, and the place of each item's label among them. None and NaN raise an error."""
    values = shaped(as_label_array(items, name, "a label for each item"), name, shape)
    refuse_missing(values, name)
    refuse_unhashable(values, name)
    return numbered(values)


def edge_array(edges, n_nodes: int) -> np.ndarray:
    """The two nodes of each edge as a new int32 array of shape (n_edges, 2); an edge joins different nodes."""
    ends = whole_array(edges, "edges", ("n_edges", 2), high=n_nodes - 1, most=MOST // 2)         # an edge is two arcs
    same = np.flatnonzero(ends[:, 0] == ends[:, 1])
    if len(same):
        raise DataError(f"edges[{same[0]}] joins node {ends[same[0], 0]} with itself; add its score to the node's own.")
    return ends


def dimensions(values) -> int | None:
    """How many dimensions an array-like has; None of lists of unequal lengths."""
    try:
        return np.ndim(values)
    except ValueError:
        return None


# ---- single values ----

def whole_number(value, name: str, low: int = 0, high: int = MOST, error=DataError, also: str = "") -> int:
    """A whole number from `low` to `high`, as an int of Python; True, 2.0 and text raise an error. `also`: what else a message expects."""
    number = None
    if not isinstance(value, (bool, np.bool_)) and not (isinstance(value, np.ndarray) and value.ndim):
        try:
            number = int.__index__(operator.index(value))       # of a subclass too a plain int
        except TypeError:
            pass
    if number is None or not low <= number <= high:
        raise error(f"{name}={shortened(value)}; expected {also}a whole number {span(low, high)}.")
    return int(number)


def dimension(value, name: str, low: int = 0) -> int:
    """A whole number from `low` of weights, columns or blocks, which compiled code counts in 64 bits."""
    return whole_number(value, name, low, sys.maxsize)


def how_many(k, name: str = "k") -> int:
    """The number of outputs to return: a whole number from 1."""
    return whole_number(k, name, 1, sys.maxsize, OptionError)


def limit(value, name: str, low: int = 1) -> int | None:
    """A whole number from `low`, or None for no limit."""
    return None if value is None else whole_number(value, name, low, MOST, OptionError, "None or ")


def seconds(value, name: str = "time_limit") -> float | None:
    """A number of seconds above 0, or None for no limit."""
    if value is None:
        return None
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.timedelta64))
    if not number or not 0 < value <= LARGEST:
        raise OptionError(f"{name}={shortened(value)}; expected None or a number of seconds above 0.")
    return float(value)


def real_number(value, name: str, policy: Policy = NUMBERS) -> float:
    """A real number that the policy allows; text and arrays of several numbers raise an error."""
    try:
        return float(real_array(value, name, (), policy))
    except DataError:
        raise DataError(f"{name}={shortened(value)}; expected {policy.expected}.") from None


def flag(value, name: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionError(f"{name}={shortened(value)}; expected True or False.")
    return bool(value)


def choice(value, name: str, choices):
    """One of several texts."""
    if not isinstance(value, str) or value not in choices:
        raise OptionError(f"{name}={shortened(value)}; expected {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}.")
    return value
