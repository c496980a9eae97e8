"""From the labels that users have to the codes 1..r, and which labels there are."""

import datetime
import functools
import numbers
import operator
import sys
from copy import copy
from types import FunctionType

import numpy as np

from structperc.basics.errors import DataError, did_you_mean, shortened, unreadable

LARGEST = np.iinfo(np.intp).max
TIMES = {datetime.date: "M8", datetime.timedelta: "m8[us]", np.datetime64: "M8", np.timedelta64: "m8"}         # objects, and their dtype
UNITS = "D", "h", "m", "s", "ms", "us", "ns"


def as_label_array(y, name="y", expected="one label per example"):
    """y as a one-dimensional array of labels. Labels of several types in a list keep their types. Returns an ndarray of shape (n,).
    Raises `DataError` if y is no list of labels.

    Parameters
    ----------
    y : array-like of shape (n,) or (n, 1)
    name, expected : str
        For the error message.

    Examples
    --------
    >>> from structperc.plugin_tools import as_label_array
    >>> as_label_array([1, "high"]).tolist()
    [1, 'high']
    """
    refuse_no_labels(y, name, expected)
    refuse_masked(y, name)
    y = python_values(y)
    try:
        values = np.asarray(y)
    except ValueError:
        raise DataError(f"{name} is ragged: its elements have different lengths; expected {expected}.") from None
    except (RuntimeError, TypeError) as error:
        raise unreadable(name, error) from None
    if values.dtype.kind in "US" and isinstance(y, (list, tuple)) and not all(isinstance(v, (str, bytes)) for v in y):
        values = np.empty(len(y), dtype=object)     # numpy would turn the others into strings
        values[:] = y
    if values.dtype.kind == "f" and isinstance(y, (list, tuple)) and any(isinstance(v, int) and abs(v) > 2**53 for v in y):
        values = np.array(y, dtype=object)          # numpy would round whole numbers
    if values.dtype.kind == "V":
        raise DataError(f"{name} has the dtype {values.dtype}; expected {expected}: numbers, strings or dates.")
    if values.dtype == object and values.size:
        kind = next((kind for kind in TIMES if all(isinstance(v, kind) and v == v for v in values.reshape(-1))), None)      # no NaT
        if kind is datetime.date:
            values = np.frompyfunc(in_greenwich, 1, 1)(values)
        values = values if kind is None else values.astype(TIMES[kind])
    refuse_no_text(values, name)
    if values.ndim != 1:
        if values.ndim == 2 and values.shape[1] == 1:
            return values[:, 0]
        refuse_matrix_of_labels(values, name, expected)
    return values


def in_greenwich(time):
    """A time with a zone as that of Greenwich, as NumPy reads it with a warning; others as they are."""
    return time if getattr(time, "tzinfo", None) is None else time.astimezone(datetime.timezone.utc).replace(tzinfo=None)


def all_labels(first, second, names, ordered=True):
    """The labels of two arrays with these names, distinct and in order, as `find_labels`; one label is enough."""
    for values, name in zip((first, second), names, strict=True):
        refuse_missing(values, name)
    try:
        both = np.concatenate([first, second])
    except TypeError:                               # dtypes without a common one
        both = np.concatenate([first.astype(object), second.astype(object)])
    return both[:1] if equal_labels(both, both[:1]).all() else find_labels(both, None, ordered)


def equal_labels(first, second):
    """For each place whether two arrays have the same label there."""
    try:
        return first == second
    except (TypeError, ValueError):         # ValueError: arrays as labels
        raise DataError("labels of these types cannot be compared; expected numbers, strings or dates.") from None


def refuse_no_text(values, name):
    """Raises an error for texts with numbers that are no characters of Unicode. NumPy raises SystemError when it reads them."""
    if values.dtype.kind == "U" and values.size and values.dtype.itemsize:
        numbers = np.ascontiguousarray(values).view(np.dtype(np.uint32).newbyteorder(values.dtype.byteorder))
        if numbers.max() > sys.maxunicode:
            raise DataError(f"{name} holds text with code points that no character has; read it again from where it came.")


def refuse_no_labels(y, name, expected):
    """Raises an error for anything but a list of labels; the message shows what to pass."""
    sparse = sys.modules.get("scipy.sparse")        # a sparse matrix cannot exist before this module does
    if isinstance(y, str):
        raise DataError(f"{name} is the text {y!r:.60}; expected {expected}, such as a list. For a column of a table, pass the "
                        f"column itself, as in table[{y!r:.60}].")
    if sparse is not None and sparse.issparse(y):
        raise DataError(f"{name} is sparse, of shape {y.shape}; expected {expected}: pass {name}.toarray().ravel().")
    if hasattr(y, "__next__"):
        raise DataError(f"{name} is a {type(y).__name__}, which can be read only once; pass list({name}).")
    if y is None or isinstance(y, (bytes, set, frozenset, dict)) or not (hasattr(y, "__len__") or hasattr(y, "__array__")):
        raise DataError(f"{name} is {shortened(y)}; expected {expected}, such as a list or an array.")


def refuse_matrix_of_labels(values, name, expected):
    """Raises an error for labels in several columns, and guesses what they are."""
    numeric = values.ndim == 2 and values.dtype.kind in "iufb" and len(values)
    if numeric and ((values == 0) | (values == 1)).all() and (values.sum(axis=1) == 1).all():
        hint = f" It has a column of 0 and 1 for each label: pass {name}.argmax(axis=1)."
    elif numeric and name == "y" and (values != np.rint(values)).any():
        hint = " It is a matrix of numbers: are X and y swapped?"
    elif numeric and values.shape[1] == 2 and (values[:, 0] <= values[:, 1]).all():
        hint = " To learn from intervals, the lowest and the highest label of each row, use IntervalPA."
    else:
        hint = ""
    raise DataError(f"{name} has shape {values.shape}; expected {expected}, shape (n,).{hint}")


def refuse_continuous(y) -> None:
    """Raises `DataError` for real numbers that are not whole: they are a regression target, not labels.

    Parameters
    ----------
    y : ndarray
        Numbers, also of the dtype object. Other labels pass.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import refuse_continuous
    >>> refuse_continuous(np.array([1.0, 2.0]))
    """
    if y.dtype == object and all(isinstance(value, numbers.Real) for value in y.ravel()):
        y = np.array([value if isinstance(value, (float, np.floating)) else 0 for value in y.ravel()], dtype=float).reshape(y.shape)
    if y.dtype.kind == "f":
        fractional = np.isfinite(y) & (y != np.floor(y))
        if fractional.any() and y.ndim > 1:
            refuse_matrix_of_labels(y, "y", "one label per row")
        if fractional.any():
            i = int(np.argmax(fractional))
            raise DataError(f"Unknown label type: continuous. y[{i}] is {y[i]}; cut y into levels first, for instance with "
                            f"numpy.digitize, or name the levels with classes=[lowest, ..., highest].")


def refuse_masked(y, name):
    masked = sys.modules.get("numpy.ma")            # a masked array cannot exist before this module does
    if masked is not None and masked.is_masked(y):
        raise DataError(f"{name}[{int(np.argmax(masked.getmaskarray(y).ravel()))}] is masked, which is no label; drop or fill that row.")


def refuse_unhashable(values, name):
    if values.dtype == object:
        try:
            set(values.tolist())
        except TypeError:
            raise DataError(f"{name} holds lists or the like; labels must be numbers, strings or other values that never change.") from None


def missing_label(values):
    """The first position that holds no label (None or NaN), or None."""
    if values.dtype.kind == "f":
        bad = ~np.isfinite(values)
    elif values.dtype.kind in "mM":
        bad = np.isnat(values)
    elif values.dtype == object:
        bad = np.array([is_missing(v) for v in values], dtype=bool)
    else:
        return None
    return int(np.argmax(bad)) if bad.any() else None


def is_missing(value) -> bool:
    """Whether a value is None, NaN, or NA or NaT of pandas.

    Parameters
    ----------
    value : object

    Examples
    --------
    >>> from structperc.plugin_tools import is_missing
    >>> is_missing(float("nan")), is_missing("")
    (True, False)
    """
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):     # NA has no truth value; an array has none either, and is no label
        return True


def is_real(value) -> bool:
    """Whether a value is a real number or a truth value. NumPy has durations among its whole numbers; they are none."""
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_)) and not isinstance(value, np.timedelta64)


def plain(value):
    """As the user would write it."""
    return value.item() if isinstance(value, np.generic) else value


def label_list(labels) -> list:
    """An array of labels as a list that is read as the same labels: of plain values, or of numpy's where these become others, as times."""
    values = labels.tolist()
    return values if np.asarray(values).dtype.kind == labels.dtype.kind else list(labels)


def plain_labels(labels) -> list:
    """The labels of an array as values of Python. Times stay NumPy's if Python has none of their unit. Returns a list.

    Parameters
    ----------
    labels : ndarray of shape (r,)

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import plain_labels
    >>> plain_labels(np.array(["a", "b"]))
    ['a', 'b']
    """
    values = labels.tolist()
    return list(labels) if labels.dtype.kind in "mM" and values and isinstance(values[0], int) else values


def codes_of(labels, first=0) -> dict:
    """The number of each label, for lookups by value: a date also as values of `datetime` and in other units of NumPy. Returns a dict.

    Parameters
    ----------
    labels : ndarray of shape (r,)
    first : int, default 0
        The number of the first label.

    Examples
    --------
    >>> import datetime
    >>> import numpy as np
    >>> from structperc.plugin_tools import codes_of
    >>> codes_of(np.array(["2026-01-31", "2026-02-28"], dtype="M8[ns]"))[datetime.date(2026, 2, 28)]
    1
    """
    if labels.dtype.kind not in "mM":
        return {label: k for k, label in enumerate(labels.tolist(), first)}
    return {value: k for k, label in enumerate(labels, first) for value in spellings(label)}


def spellings(time) -> list:
    """A date or duration of NumPy in every unit that does not round it, and as values of `datetime`."""
    kind = time.dtype.kind
    exact = [other for unit in UNITS if (other := time.astype(f"{kind}8[{unit}]")).astype(time.dtype) == time]      # finer ones overflow
    return [time, *exact, *(other.item() for other in exact if not isinstance(other.item(), int))]


def in_unit_of(labels, values):
    """Dates or durations in the unit of the labels, unless it rounds one of them; other values as they are."""
    if labels.dtype.kind not in "mM" or values.dtype.kind != labels.dtype.kind:
        return values
    converted = values.astype(labels.dtype)
    return converted if (converted.astype(values.dtype) == values).all() else values


DEEPEST = 100           # lists in lists: what is nested more deeply, or holds itself, stays as it is
NAMED = (np.number, np.bool_, np.str_, np.bytes_)       # scalars of numpy that Python has too; times have no exact plain form


def python_values(y, depth=0):
    """Labels or outputs without values of pyarrow, by the first of them: its arrays become lists or arrays of NumPy, scalars Python's."""
    if type(y) is np.ndarray or isinstance(y, (str, int, float)) or depth > DEEPEST:
        return y
    if isinstance(y, (list, tuple)):
        for first in y:
            if first is not None:
                break
        else:
            return y
        begin = python_values(first, depth + 1)
        return y if begin is first else [begin if entry is first else python_values(entry, depth + 1) for entry in y]
    kind = type(y)
    if hasattr(kind, "as_py"):
        return y.as_py()
    if not hasattr(kind, "to_pylist") or hasattr(kind, "columns") or ordered_categories(y) is not None:
        return y            # also tables, and columns that have an order
    values = np.asarray(y)
    return y.to_pylist() if y.null_count or values.dtype == object else values


class PlainValues(np.ndarray):
    """An array whose entries are plain values of Python: str, int, float or bool."""

    def __getitem__(self, key):
        return plain_values(super().__getitem__(key))

    def __iter__(self):
        return map(plain_values, super().__iter__())


def plain_values(y, depth=0):
    """Labels or outputs as an author's code reads them: entries are plain values, arrays and columns of tables become `PlainValues`."""
    if type(y) is np.ndarray:
        return y.view(PlainValues)
    if isinstance(y, NAMED) and not isinstance(y, np.timedelta64):
        return y.item()
    for kind in (list, tuple, set, frozenset):
        if isinstance(y, kind) and depth < DEEPEST:
            entries = [plain_values(entry, depth + 1) for entry in y]
            return y if all(map(operator.is_, entries, y)) else kind(entries)
    if isinstance(y, np.ndarray) or not hasattr(y, "__array__") or getattr(y, "ndim", 1) != 1 or hasattr(y, "column_names"):
        return y            # also matrices and tables
    values, categories = np.asarray(y.to_pylist() if getattr(y, "null_count", 0) else y), ordered_categories(y)
    values = values.view(PlainValues)
    if categories is not None:
        values.ordered, values.categories = True, categories
    return values


OF_USERS = "find_labels", "labels_in", "encode", "encode_answers", "measures", "read_cells", "write_cells"     # get what users have


def pass_plain_values(outputs):
    """Lets an author's methods get labels and outputs as plain values, whichever door these come through. Changes classes, once each."""
    for base in type(outputs).__mro__:
        for name, wrapper in WRAPPERS.items():
            method = vars(base).get(name)
            if isinstance(method, FunctionType) and not hasattr(method, "is_wrapped"):
                setattr(base, name, wrapper(method))
                vars(base)[name].is_wrapped = True


def of_plain_values(method):
    """A method that is called with plain values."""
    @functools.wraps(method)
    def call(self, *arguments, **named):
        return method(self, *map(plain_values, arguments), **{name: plain_values(value) for name, value in named.items()})

    return call


def of_own_value(method):
    """A method that returns its own array or list each time, though its author fills one again and again."""
    @functools.wraps(method)
    def call(self, *arguments, **named):
        answer = method(self, *arguments, **named)
        return copy(answer) if isinstance(answer, (np.ndarray, list, dict, set)) else answer

    return call


WRAPPERS = dict.fromkeys(OF_USERS, of_plain_values) | dict.fromkeys(("count", "decode"), of_own_value)


def refuse_missing(values, name="y"):
    """Raises for the first position that holds no label."""
    position = missing_label(values)
    if position is not None:
        raise DataError(f"{name}[{position}] is {plain(values[position])!r}, which is no label; drop or fill that row.")


def is_listed(y) -> bool:
    """Whether y is a list, an array, a Series or another ordered collection of entries.

    Parameters
    ----------
    y : object

    Examples
    --------
    >>> from structperc.plugin_tools import is_listed
    >>> is_listed([1, 2]), is_listed("text")
    (True, False)
    """
    if y is None or isinstance(y, (str, bytes, dict, set, frozenset)) or getattr(y, "ndim", 1) == 0:
        return False
    try:
        return len(y) >= 0 and iter(y) is not None
    except (TypeError, ValueError):
        return False


def is_nested(y) -> bool:
    """Whether y has a list of labels for each example, instead of one label for each row of X.

    Parameters
    ----------
    y : sequence

    Examples
    --------
    >>> from structperc.plugin_tools import is_nested
    >>> is_nested([["D", "N"], ["V"]]), is_nested(["D", "N"])
    (True, False)
    """
    first = next((labels for labels in y if labels is not None), "")
    return not isinstance(first, (str, bytes)) and hasattr(first, "__len__")


def ordered_categories(y):
    """The categories of an ordered categorical of pandas, polars or pyarrow in their order. Returns an ndarray or None: other labels.

    Parameters
    ----------
    y : sequence of labels

    Examples
    --------
    >>> import pandas as pd
    >>> from structperc.plugin_tools import ordered_categories
    >>> ordered_categories(pd.Categorical(["high"], ["low", "high"], ordered=True)).tolist()
    ['low', 'high']
    """
    if type(y) is np.ndarray:
        return None
    if getattr(getattr(y, "type", None), "ordered", False) and hasattr(y, "dictionary_encode"):         # of pyarrow, in chunks or not
        chunk = y.unify_dictionaries().chunk(0) if hasattr(y, "unify_dictionaries") and y.num_chunks else y
        return np.asarray(chunk.dictionary.to_pylist(), dtype=object) if hasattr(chunk, "dictionary") else None
    holder = getattr(y, "cat", y)
    dtype = getattr(y, "dtype", None)
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(dtype, polars.Enum):
        return np.asarray(dtype.categories.to_list(), dtype=object)
    if getattr(holder, "ordered", getattr(dtype, "ordered", False)):
        categories = getattr(holder, "categories", getattr(dtype, "categories", None))
        return None if categories is None else np.asarray(categories)
    return None


def named_labels(classes):
    """The labels that a user names, as an array in their order. A missing, unhashable or repeated label raises an error."""
    labels = as_label_array(classes, "classes", "the labels in order")
    refuse_missing(labels, "classes")
    refuse_unhashable(labels, "classes")
    names = labels.tolist()
    if len(set(names)) < len(names):
        raise DataError(f"classes names {next(name for name in names if names.count(name) > 1)!r} more than once.")
    return labels


def in_total_order(values, **also):
    """`np.unique`, which sorts. Labels that only a partial order compares, such as sets, raise TypeError, as those without any do."""
    found = np.unique(values, **also)
    names = (found[0] if also else found).tolist()
    if values.dtype == object and len(set(names)) < len(names):         # equal labels are not adjacent
        raise TypeError("these labels have no total order.")
    return found


def numbered(values):
    """The distinct labels, sorted, and the place of each label among them. Labels without a total order are as they first appear."""
    try:
        return in_total_order(values, return_inverse=True)
    except TypeError:
        place = {}
        codes = np.array([place.setdefault(label, len(place)) for label in values.tolist()], dtype=np.intp)
        names = np.empty(len(place), dtype=object)
        names[:] = list(place)
        return names, codes


def distinct(values):
    """Sorted distinct labels; whole numbers in a narrow range without sorting."""
    if values.dtype.kind in "iub" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < max(1024, len(values)) and high <= LARGEST:
            seen = np.zeros(high - low + 1, dtype=bool)
            seen[values.astype(np.intp) - low] = True
            return (np.flatnonzero(seen) + low).astype(values.dtype)
    try:
        return in_total_order(values)
    except TypeError:
        kinds = sorted({type(v).__name__ for v in values.tolist()})
        if len(kinds) == 1:
            raise DataError(f"y holds labels of the type {kinds[0]}, which have no order; name them in order with classes=[...].") from None
        raise DataError(f"y mixes labels of the types {', '.join(kinds)}, which have no common order. "
                        f"Make them one type, or name them in order with classes=[...].") from None


def find_labels(y, classes, ordered, fewest=2):
    """The labels of y in order. Raises `DataError` if there are fewer than `fewest`, one is missing, or texts have no order.
    Returns an ndarray of shape (n_labels,). Different labels.

    Parameters
    ----------
    y : array-like
        As the user passed it.
    classes : array-like or None
        All labels in order, if the user names them.
    ordered : bool
        Whether the order matters; then strings need an ordered categorical or `classes`.
    fewest : int, default 2
        1 if one label is enough to learn something.

    Examples
    --------
    >>> from structperc.plugin_tools import find_labels
    >>> find_labels([3, 1, 3], None, ordered=True).tolist()
    [1, 3]
    """
    if classes is not None:
        labels, source = named_labels(classes), "classes names"
    else:
        labels = ordered_categories(y)
        source = "the categories of y are"
        if labels is None:
            values = as_label_array(y)
            if len(values) == 0:
                raise DataError("y is empty or has no label, so its labels are unknown; pass data, or name them with classes=[...].")
            refuse_missing(values)
            refuse_unhashable(values, "y")
            labels = distinct(values)
            if ordered and order_is_unknown(y, classes, labels):
                raise unknown_order(labels)
            if labels.dtype.kind == "f" and len(labels) > 50 and len(labels) > len(values) // 2:
                raise DataError(f"y has {len(labels)} distinct real numbers in {len(values)} rows, which looks like a regression "
                                f"target. Cut it into levels first, for instance with numpy.digitize.")
            source = "y holds only"
    if len(labels) < fewest:
        listing = ", ".join(map(repr, labels.tolist())) or "no label"
        count = f"{len(labels)} class{'es' * (len(labels) != 1)}"
        raise DataError(f"{source} {listing} ({count}); at least two labels are needed to learn anything. "
                        f"If more will come later, name them all with classes=[...].")
    labels = storable(np.array(labels), "y" if classes is None else "classes")
    labels.flags.writeable = False
    return labels


def storable(labels, name):
    """Labels as a model file has them: scalars of numpy become Python's, and what no file can hold raises an error."""
    if labels.dtype.kind in "biufSMm":
        return labels
    if labels.dtype == object:
        labels[:] = [plain(label) for label in labels]
    for label in labels.tolist():
        if not isinstance(label, (str, int, float)) or isinstance(label, float) and not np.isfinite(label):
            raise DataError(f"{name} has the label {label!r:.60} of type {type(label).__name__}, which a model file cannot store. Use "
                            f"finite numbers or strings, such as str(label).")
        if isinstance(label, str) and has_half_pair(label):
            raise DataError(f"{name} has the label {label!r:.60} with half of a surrogate pair, which no file can store. Read it with the "
                            f"right encoding, or replace such characters.")
    return labels


def has_half_pair(text) -> bool:
    """Whether a text has half of a surrogate pair, as a wrong encoding leaves them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


LEARNED = "Labels are fixed at the first fit or partial_fit; name all of them with classes=[...]."


def order_is_unknown(y, classes, labels) -> bool:
    """Whether labels are in the order of texts because neither `classes` nor an ordered categorical names another."""
    return (classes is None and labels.dtype.kind in "USO" and ordered_categories(y) is None
            and not all(map(is_real, labels.tolist())))


def unknown_order(labels) -> DataError:
    """The error of labels whose order matters and is unknown."""
    listing = ", ".join(map(repr, labels[:5].tolist()))
    kind = "strings" if labels.dtype.kind in "US" or isinstance(labels[0], str) else "labels"
    return DataError(f"y holds the {kind} {listing}{', ...' if len(labels) > 5 else ''}, and their rank order is unknown (alphabetical "
                     f"order is seldom meant): name it with classes=[lowest, ..., highest], or pass an ordered categorical."
                     f"{' If they are numbers, pass numbers.' if all(map(is_number, labels.tolist())) else ''}")


def is_number(label) -> bool:
    """Whether a label is a number, or the text of one."""
    try:
        return float(label) == float(label)
    except (TypeError, ValueError, OverflowError):
        return False


NUMBERED = ("y has whole numbers, but the labels are {}. Meta-estimators of scikit-learn, such as BaggingClassifier, VotingClassifier and "
            "StackingClassifier, number sorted labels from 0. Pass them the ranks as numbers, y = [levels.index(label) for label in y], "
            "and leave classes out.")


class LabelCodes:
    """Encodes labels as 1..r, with fast paths for whole numbers and for a few labels.

    Parameters
    ----------
    labels : ndarray of shape (r,)
        All labels in order.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import LabelCodes
    >>> LabelCodes(np.array(["high", "low"])).encode(["low", "high", "low"], 3).tolist()
    [2, 1, 2]
    """

    def __init__(self, labels):
        self.labels = labels = np.asarray(labels)
        self.of_code = np.concatenate([labels[:1], labels])         # code 0 is none
        self.code_of = codes_of(labels, 1)
        self.table, self.order_is_unknown = None, False
        if labels.dtype.kind in "iub":
            low, high = int(labels.min()), int(labels.max())
            if high - low < max(1024, 8 * len(labels)) and high <= LARGEST:
                self.low = low
                self.table = np.zeros(high - low + 1, dtype=np.intc)
                self.table[labels.astype(np.intp) - low] = np.arange(1, len(labels) + 1)

    def encode(self, y, n_examples, name="y", fixed=LEARNED):
        """Codes of labels. Returns an int32 array of shape (n_examples,).
        Raises `DataError` if a label is not known. The message names its place.

        Parameters
        ----------
        y : sequence of length n_examples
        n_examples : int
        name : str, default "y"
            Name of the argument, for error messages.
        fixed : str
            A sentence about where the labels are defined, for error messages.
        """
        values = as_label_array(y)
        if len(values) != n_examples:
            raise DataError(f"y has {len(values)} labels but X has {n_examples} examples; give one label per example.")
        refuse_missing(values)
        values = in_unit_of(self.labels, values)
        if self.table is not None and values.dtype.kind in "iub":
            at = values.astype(np.intp, copy=False) - self.low if self.low else values
            inside = (at.min() >= 0 and at.max() < len(self.table)) if len(at) else True
            if inside:
                codes = self.table[at.astype(np.intp, copy=False)]
                if codes.all():
                    return codes
        codes = self._search(values)
        unknown = np.flatnonzero(codes == 0)
        if len(unknown):
            self.refuse(f"{name}[{int(unknown[0])}]", values[unknown[0]], fixed)
        return codes

    def _search(self, values):
        """Codes by sorted search, 0 for unknown labels; any label type."""
        try:
            distinct, where = np.unique(values, return_inverse=True)
            codes = np.array([self.code_of.get(v, 0) for v in plain_labels(distinct)], dtype=np.intc)
            return codes[where.reshape(-1)] if len(distinct) else np.zeros(0, dtype=np.intc)
        except TypeError:
            refuse_unhashable(values, "y")
            return np.array([self.code_of.get(v, 0) for v in values.tolist()], dtype=np.intc)

    def refuse(self, place, label, fixed=LEARNED) -> None:
        """Raise an error for a label that is not known.

        Parameters
        ----------
        place : str
            Position of the label, such as "y[3]".
        label : object
        fixed : str
            A sentence about where the labels are defined.

        Raises
        ------
        DataError
        """
        label = plain(label)
        names = [str(v) for v in self.labels.tolist()]
        listing = ", ".join(map(repr, plain_labels(self.labels[:8]))) + (", ..." if len(names) > 8 else "")
        hint = did_you_mean(label, names) if isinstance(label, str) else ""
        if type(label) is int and 0 <= label < len(names):
            fixed = NUMBERED.format("texts" if all(isinstance(v, str) for v in self.labels.tolist()) else "other labels")
        raise DataError(f"{place} is {shortened(label)}, which is not one of the labels known so far ({listing}).{hint} {fixed}")
