"""The forms of admissible labels: one label, a lowest and a highest, or an interval of pandas."""

from __future__ import annotations

import datetime
import numbers
import re
import warnings
from itertools import chain
from typing import NamedTuple

import numpy as np

from structperc.basics.errors import DataError, DataWarning, OptionError, listing, shortened
from structperc.basics.labels import as_label_array, is_missing, ordered_categories, plain, python_values, refuse_masked

EXPECTED = "give one label, or the pair of its lowest and highest admissible label; a set with holes is no interval"

UNRATED = ("refuse", "skip")
EXACT = 2**53               # floats have all whole numbers below it; this one may be its successor, rounded
NUMBER = r"(-?\d+(?:\.\d+)?)"
TEXTS = [(re.compile(pattern, re.IGNORECASE), pair) for pattern, pair in (        # how people write intervals, and the pair to pass
    (rf"\s*{NUMBER}\s*(?:to|-|\u2013|\.\.+|/)\s*{NUMBER}\s*", "({}, {})"),
    (rf"\s*(?:at least|from|min\.?|>=|\u2265)\s*{NUMBER}\s*", "({}, None)"),
    (rf"\s*{NUMBER}\s*(?:\+|or (?:more|higher|above))\s*", "({}, None)"),
    (rf"\s*(?:at most|up to|max\.?|<=|\u2264)\s*{NUMBER}\s*", "(None, {})"),
    (rf"\s*{NUMBER}\s*or (?:less|lower|below)\s*", "(None, {})"),
)]

# types of which a value is a label, or none
PLAIN = (str, bytes, int, float, datetime.date, datetime.timedelta, np.generic, type(None))


class Ends(NamedTuple):
    """Where the interval of each row begins and ends."""
    # low, high: arrays of shape (n,). Labels, or None, NaN and infinities for the ends of the scale.
    # real: bool array of shape (n,) or None. Rows that are intervals of real numbers, whose ends need be no labels; None: no row is.
    # without_low, without_high: bool arrays of shape (n,), or None where `real` is. Whether such an interval excludes its end.
    # sets: dict from int to list. Rows that are sets of labels, and these; `low` and `high` hold None there.

    low: np.ndarray
    high: np.ndarray
    real: np.ndarray | None = None
    without_low: np.ndarray | None = None
    without_high: np.ndarray | None = None
    sets: dict = {}


def interval_labels(y, unrated="refuse"):
    """All labels that occur in y with interval labels, for `find_labels`. Raises `DataError` as in `read_intervals`.
    Returns an array, list or ordered categorical. Whole numbers even if open ends made numpy convert them to floats.

    Parameters
    ----------
    y : sequence
        In any form of `read_intervals`. Open and excluded ends are not labels.
    unrated : {"refuse", "skip"}, default "refuse"
        As in `read_intervals`.

    Examples
    --------
    >>> from structperc.plugin_tools import interval_labels
    >>> sorted(set(interval_labels([[1, 3], [2, None]])))
    [1, 2, 3]
    """
    ends = ends_of(y, unrated)
    if ends is None:
        refuse_texts(y)
        return y
    if is_frame(y):
        first, second = (ordered_categories(column) for column in columns_of(y))
        if first is not None or second is not None:
            if first is None or second is None or first.tolist() != second.tolist():
                raise DataError("the two columns of y are categoricals of different categories; give both the same ones in the same order.")
            return columns_of(y)[0]
    excluded = (None, None) if ends.real is None else (ends.without_low, ends.without_high)
    parts = []
    for values, side, left_out in zip((ends.low, ends.high), (-1, 1), excluded, strict=True):
        open_end = is_open(values, side)
        skipped = open_end if left_out is None else open_end | left_out
        parts.append(values[~skipped] if skipped.any() else values)
    if ends.sets:
        parts.append(np.fromiter(chain.from_iterable(ends.sets.values()), dtype=object))
    if not any(map(len, parts)) and len(ends.low):
        raise DataError("y names no label, only open or excluded ends, so its labels are unknown; name them with classes=[...].")
    if any(values.dtype == object for values in parts):
        return [label for values in parts for label in values.tolist()]
    both = np.concatenate(parts)
    if both.dtype.kind == "f" and any(values.dtype.kind in "iu" and beyond(values).any() for values in parts):
        refuse_rounded(ends)
        return [int(label) if label == int(label) else label for values in parts for label in values.tolist()]
    return both.astype(np.int64) if both.dtype.kind == "f" and len(both) and are_whole(both) else both


def warn_of_open_ends(y, labels) -> None:
    """Warn of open ends without labels of y beyond them, such as "at least 3" if 3 is the highest.

    Parameters
    ----------
    y : sequence
        As in `read_intervals`, without ordered categories.
    labels : ndarray
        The labels of y, lowest first.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import warn_of_open_ends
    >>> warn_of_open_ends([[1, 3], [2, None]], np.array([1, 2, 3]))
    """
    ends = None if is_frame(y) and ordered_categories(columns_of(y)[0]) is not None else find_ends(y)
    if ends is None:
        return
    last = labels.tolist()
    for values, others, side in ((ends.low, ends.high, 1), (ends.high, ends.low, -1)):
        end, bound, which = (last[-1], "at least", "highest") if side > 0 else (last[0], "at most", "lowest")
        closed = [i for i in np.flatnonzero(is_open(others, side)).tolist() if i not in ends.sets]
        pointless = [i for i in closed if not is_missing(values[i]) and values[i] == end]
        if pointless:
            warnings.warn(f"y[{pointless[0]}] is {bound} {end}, and {end} is the {which} label in y. So it means exactly "
                          f"{end}, as in {len(pointless)} row{'s' * (len(pointless) > 1)}. Name all labels with classes=[lowest, ..., "
                          f"highest].", DataWarning, stacklevel=3)


def read_intervals(y, labels, encode, n_examples, unrated="refuse"):
    """Codes of the lowest and highest admissible label of each example.

    Parameters
    ----------
    y : sequence
        For each example a label, a pair (lowest, highest), the set of all admissible labels, or an interval of pandas. Arrays of shape
        (n, 2), data frames of two columns, mixed lists, and arrays and Series of intervals are allowed. A missing or infinite end is the
        end of the scale. Ends of a pair must be labels. An interval of pandas contains the labels between its ends, and a closed end
        itself.
    labels : ndarray of shape (r,)
        All labels, lowest first.
    encode : function(labels, n)
        Converts labels to codes 1..r.
    n_examples : int
        Number of examples.
    unrated : {"refuse", "skip"}, default "refuse"
        For rows without both ends: "refuse" raises an error, "skip" admits every label.

    Returns
    -------
    low, high : int arrays of shape (n_examples,)
        Codes from 1.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import LabelCodes, read_intervals
    >>> labels = np.array([1, 2, 3])
    >>> low, high = read_intervals([[1, 2], 3, [2, None]], labels, LabelCodes(labels).encode, 3)
    >>> low.tolist(), high.tolist()
    ([1, 3, 2], [2, 3, 3])
    """
    ends = ends_of(y, unrated)
    if ends is None:
        refuse_texts(y, labels)
        codes = encode(y, n_examples)
        return codes, codes
    if len(ends.low) != n_examples:
        raise DataError(f"y has {len(ends.low)} rows but X has {n_examples} examples; give one interval or label per example.")
    if unrated == "refuse":
        refuse_endless(y)
    if labels.dtype.kind in "iu" and beyond(labels).any():
        refuse_rounded(ends)
    if ends.real is None:
        low, high = (end_codes(values, labels, encode, side) for values, side in ((ends.low, -1), (ends.high, 1)))
    else:
        low, high = real_codes(ends, labels)
        pairs = ~ends.real
        if pairs.any():         # rows that are intervals of real numbers are shown to `encode` as the lowest label
            for codes, values, side in ((low, ends.low, -1), (high, ends.high, 1)):
                ends_as_labels = values.astype(object)
                ends_as_labels[ends.real] = labels.tolist()[0]
                codes[pairs] = end_codes(ends_as_labels, labels, encode, side)[pairs]
    for i, members in ends.sets.items():
        low[i], high[i] = set_codes(i, members, labels, encode)
    wrong = np.flatnonzero(low > high)
    if len(wrong):
        i = int(wrong[0])
        raise DataError(f"y[{i}] runs from {labels.tolist()[low[i] - 1]!r} to {labels.tolist()[high[i] - 1]!r}, which is lower; "
                        f"give the lowest label first.")
    return low, high


# ---- where intervals begin and end ----


def ends_of(y, unrated) -> Ends | None:
    """The same as `find_ends`, also of plain labels where some are missing and may be."""
    if unrated not in UNRATED:
        raise OptionError(f"unrated={shortened(unrated)}; expected 'refuse' or 'skip'.")
    ends = find_ends(y)
    return by_row(np.asarray(y, dtype=object)) if ends is None and unrated == "skip" and without_ends(y).any() else ends


def find_ends(y) -> Ends | None:
    """The ends of all intervals; None where y holds one plain label for each example.
    Raises `DataError` if y or a row of it is no interval.

    Parameters
    ----------
    y : sequence
        As in `read_intervals`.

    Examples
    --------
    >>> from structperc.plugin_tools import find_ends
    >>> find_ends([1, 2, 2]) is None, find_ends([[1, 3], [2, 2]]).high.tolist()
    (True, [3, 2])
    """
    if is_real(getattr(y, "array", y)):
        holder = getattr(y, "array", y)
        low, high = np.asarray(holder.left), np.asarray(holder.right)
        return Ends(low, high, np.ones(len(low), dtype=bool), *(np.full(len(low), holder.closed not in (side, "both"))
                                                                for side in ("left", "right")))
    if y is None or isinstance(y, (str, bytes)) or not hasattr(y, "__len__") or ordered_categories(y) is not None:
        return None
    if isinstance(y, (set, frozenset, dict)):
        raise DataError(f"y is a {type(y).__name__}, which has no order; expected a list or an array with an entry for each example.")
    if is_frame(y):
        return Ends(*map(ends_in, columns_of(y)))
    values = as_array(y)
    if values.ndim == 2 and values.shape[1] == 2:
        for column in (y[:, 0], y[:, 1]) if isinstance(y, np.ndarray) else ():
            refuse_masked(column, "y")
        return Ends(values[:, 0], values[:, 1])
    if values.ndim == 2 and values.shape[1] > 2 and len(values):
        raise DataError(f"y has {values.shape[1]} labels for each row, for instance y[0] is {shortened(values[0].tolist())}; {EXPECTED}.")
    if values.ndim > 2:
        raise DataError(f"y has shape {values.shape}; expected a label for each example, or its lowest and highest admissible label, "
                        f"shape (n, 2).")
    if values.ndim != 1 or values.dtype != object or all(issubclass(kind, PLAIN) for kind in set(map(type, values.tolist()))):
        return None
    return by_row(values)


def as_array(y):
    """y as an array that holds what y holds: entries of unequal form stay objects, and numbers beside text stay numbers."""
    y = python_values(y)
    if not isinstance(y, (list, tuple)):
        return np.asarray(y)
    try:
        values = np.asarray(y)
    except ValueError:          # entries of different lengths
        values = None
    if values is not None and values.dtype.kind not in "USO":
        return values
    if values is not None and values.ndim == 1 and values.dtype.kind in "US":
        return as_label_array(y)
    held = np.empty(len(y), dtype=object)
    held[:] = y if values is None or values.ndim == 1 else [tuple(entry) for entry in y]
    return held


def by_row(values) -> Ends:
    """From entries of which each is a label, a pair or an interval of real numbers."""
    n = len(values)
    low, high, sets = np.empty(n, dtype=object), np.empty(n, dtype=object), {}
    real, without_low, without_high = (np.zeros(n, dtype=bool) for _ in range(3))
    for i, entry in enumerate(values):
        if isinstance(entry, (tuple, list)) or isinstance(entry, np.ndarray) and entry.ndim:
            if len(entry) != 2:
                raise DataError(f"y[{i}] is {shortened(entry)}, which has {len(entry)} labels; {EXPECTED}.")
            low[i], high[i] = entry
        elif isinstance(entry, (set, frozenset, range)) and len(entry):
            sets[i] = list(entry)
        elif isinstance(entry, (set, frozenset, range, dict)):
            raise DataError(f"y[{i}] is the {type(entry).__name__} {shortened(entry)}; {EXPECTED}.")
        elif is_real(entry):
            low[i], high[i], real[i] = entry.left, entry.right, True
            without_low[i], without_high[i] = entry.closed not in ("left", "both"), entry.closed not in ("right", "both")
        else:
            low[i] = high[i] = entry
    return Ends(low, high, real, without_low, without_high, sets) if real.any() else Ends(low, high, sets=sets)


def is_real(value) -> bool:
    """Whether it is an interval of pandas, or an array of them."""
    return all(hasattr(value, name) for name in ("left", "right", "closed"))


def is_frame(y) -> bool:
    return hasattr(y, "iloc") and getattr(y, "ndim", 0) == 2 and y.shape[1] == 2


def columns_of(frame):
    return frame.iloc[:, 0], frame.iloc[:, 1]


def ends_in(column):
    """A column of ends as an array; nullable whole numbers, which numpy would make floats, stay whole."""
    whole = getattr(column.dtype, "kind", None) in ("i", "u") and column.hasnans
    return column.to_numpy(dtype=object) if whole else np.asarray(column)


# ---- ends that are no labels ----


def missing(values):
    """Whether each value is None, NaN or the like, as a bool array."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype == object:
        return np.fromiter(map(is_missing, values), dtype=bool, count=len(values))
    return np.zeros(len(values), dtype=bool)


def is_open(values, side):
    """Whether each end is the end of the scale; `side` is -1 for lowest ends and 1 for highest ones."""
    if values.dtype.kind == "f":
        return missing(values) | (values == side * np.inf)
    if values.dtype == object:
        ends = (is_missing(v) or isinstance(v, numbers.Number) and v == side * np.inf for v in values)
        return np.fromiter(ends, dtype=bool, count=len(values))
    return missing(values)


def without_ends(y):
    """Whether each row misses both ends, as a bool array."""
    ends = find_ends(y)
    if ends is None:
        return missing(np.asarray(y))
    endless = missing(ends.low) & missing(ends.high)
    endless[list(ends.sets)] = False
    return endless


def refuse_endless(y) -> None:
    endless = without_ends(y)
    if endless.any():
        raise DataError(f"y[{int(np.argmax(endless))}] has neither a lowest nor a highest label. Drop or fill that row, or pass "
                        f"unrated='skip' where this is an option.")


def refuse_texts(y, labels=()) -> None:
    """Raises an error for texts about an interval, such as "2 to 3", unless these are the labels. The message shows the pairs to pass."""
    values = np.asarray(y)
    if values.dtype.kind not in "USO" or values.ndim != 1:
        return
    label_set = set() if isinstance(labels, tuple) else set(labels.tolist())
    for i, text in enumerate(values.tolist()):
        for pattern, pair_text in TEXTS if isinstance(text, str) and text not in label_set else ():
            match = pattern.fullmatch(text)
            if match:
                pair = pair_text.format(*match.groups())
                raise DataError(f"y[{i}] is the text {text!r}. Pass the pair (lowest, highest), here {pair}, and numbers instead of "
                                f"other texts.")


def beyond(values):
    """Whether each number is so large that floats lack some whole numbers around it."""
    return np.isfinite(values) & ((values >= EXACT) | (values <= -EXACT))


def refuse_rounded(ends) -> None:
    """Raises an error for floats from 2**53 on as ends: labels that are whole numbers were rounded before."""
    for values in (ends.low, ends.high):
        large = beyond(values) if values.dtype.kind == "f" else np.array([isinstance(v, float) and bool(beyond(v)) for v in values], bool)
        if large.any():
            i = int(np.argmax(large))
            raise DataError(f"y[{i}] has the end {plain(values[i])!r:.60}, a float; from 2**53 on floats lack whole numbers, so labels are "
                            f"rounded. Pass whole numbers, with None for open ends: a list of pairs, or columns of the type Int64.")


# ---- codes ----


def are_whole(values) -> bool:
    return bool((values == np.rint(values)).all() and (np.abs(values) < 2**53).all())


def end_codes(values, labels, encode, side):
    """Codes of the ends on one side of all pairs."""
    open_end = is_open(values, side)
    if open_end.any():
        fill = labels.tolist()[0 if side < 0 else -1]
        numbers = values.dtype.kind == "f" and labels.dtype.kind in "iuf" and not beyond(labels).any()
        values = values.astype(np.float64 if numbers else object)       # a narrower type would round the label
        values[open_end] = fill
    if values.dtype.kind == "f" and labels.dtype.kind in "iuf":
        codes = search_numbers(values, labels)
        if codes is not None:
            return codes
    return encode(values, len(values))


def search_numbers(values, labels):
    """Codes of numbers, faster than by sorting them; None when one is no label."""
    order = np.argsort(labels)
    at = np.minimum(np.searchsorted(labels, values, sorter=order), len(labels) - 1)
    positions = order[at]
    return positions + 1 if (labels[positions] == values).all() else None


def set_codes(i, members, labels, encode):
    """Codes of the lowest and the highest label of a set, between which it lacks none."""
    try:
        codes = np.unique(encode(members, len(members)))
    except DataError:
        stranger = next(label for label in members if label not in labels.tolist())
        raise DataError(f"y[{i}] is a set with {stranger!r}, which is not one of the labels known so far "
                        f"({', '.join(map(repr, labels.tolist()[:8]))}). Name all of them with classes=[...].") from None
    hole = np.flatnonzero(np.diff(codes) > 1)
    if len(hole):
        names = labels.tolist()
        shown, lacking = ", ".join(repr(names[code - 1]) for code in codes[:8]), names[codes[hole[0]]]
        raise DataError(f"y[{i}] is the set of {shown}, which lacks {lacking!r}; {EXPECTED}.")
    return codes[0], codes[-1]


def real_codes(ends, labels):
    """Codes of the lowest and highest label within each interval of real numbers; 1 and 1 for other rows."""
    ordered = labels.dtype.kind in "iufmM" and (labels[1:] > labels[:-1]).all()
    first = int(np.argmax(ends.real))
    if not ordered:
        raise DataError(f"y[{first}] is an interval of numbers, but the labels {labels[:5].tolist()} are no numbers in ascending order. "
                        f"Pass a pair of labels (lowest, highest) instead.")
    low, high = np.ones(len(ends.low), dtype=np.intp), np.ones(len(ends.low), dtype=np.intp)
    kind = labels.dtype if labels.dtype.kind in "mM" else float
    left, right = ends.low[ends.real].astype(kind), ends.high[ends.real].astype(kind)
    low[ends.real] = 1 + search(labels, left, ends.without_low[ends.real])
    high[ends.real] = search(labels, right, ~ends.without_high[ends.real])
    empty = np.flatnonzero(low > high)
    if len(empty):
        i = int(empty[0])
        left, right = "[("[int(ends.without_low[i])], "])"[int(ends.without_high[i])]
        raise DataError(f"y[{i}] is {left}{plain(ends.low[i])}, {plain(ends.high[i])}{right}, which has none of the labels known so far "
                        f"({listing(map(repr, labels.tolist()), 8)}). Widen it, or name all labels with classes=[...].")
    return low, high


def search(labels, values, after):
    """How many labels lie before each value; with `after`, or are equal to it."""
    return np.where(after, np.searchsorted(labels, values, side="right"), np.searchsorted(labels, values, side="left"))
