"""Hostile values: numbers at the ends of their ranges, texts, containers, and objects that raise errors or change the data being read."""

import datetime
import decimal
import fractions

import numpy as np

from fuzz.promises import Hostility

NUMBERS = (
    0, 1, -1, 2, 3, 7, 255, 256, 65536, 2**31 - 1, 2**31, 2**32 + 1, 2**53 + 1, 2**62, 2**63 - 1, 2**63, -(2**63), 2**64 - 1, 2**64,
    10**400,
    0.0, -0.0, 0.5, 1.5, 1e-300, 5e-324, 1e300, 1.7e308, float("inf"), float("-inf"), float("nan"), True, False,
)
TEXTS = ("", " ", "a", "B-x", "nan", "1", "1e999", "\0", "\n", "\x1b[31m", "\ud800", "é", "x" * 300, "../../x", "%x[0,0]", "{}", "$\\frac$")
JSON = (*NUMBERS, *TEXTS, None, [], {}, [[]], [None], {"": 0}, {"array": "weights.weights"}, {"list": [1, 2]}, "pa1", "PCG64", [1] * 40)


class Raises:
    """Every method raises Hostility."""

    def _raise(self, *arguments):
        raise Hostility("a hostile object was asked")

    __float__ = __int__ = __index__ = __array__ = __len__ = __iter__ = __getitem__ = __str__ = __repr__ = __bool__ = __call__ = _raise
    __eq__ = __ne__ = __lt__ = __gt__ = __le__ = __ge__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = _raise
    __hash__ = _raise


class Acts:
    """A number and text whose methods call `act`."""

    def __init__(self, act):
        self.act = act

    def __float__(self):
        self.act()
        return 1.0

    def __int__(self):
        self.act()
        return 1

    __index__ = __int__

    def __str__(self):
        self.act()
        return "acts"

    def __hash__(self):
        self.act()
        return 1

    def __eq__(self, other):
        self.act()
        return NotImplemented


class Sequence(Acts):
    """Also calls `act` for its length, entries and keys.

    Lists of numbers have no such entry, because numpy itself crashes on them.
    """

    def __len__(self):
        self.act()
        return 2

    def __getitem__(self, i):
        self.act()
        if isinstance(i, int) and i >= 2:
            raise IndexError(i)
        return 1.0

    def keys(self):
        self.act()
        return ["acts"]


class Array(Sequence):
    """Also calls `act` when it is converted to an array."""

    def __init__(self, act, answer):
        self.act, self.answer = act, answer

    def __array__(self, dtype=None, copy=None):
        self.act()
        return self.answer if dtype is None else self.answer.astype(dtype)


class Text(str):
    """A text of a subclass of str."""

    def __str__(self):
        raise Hostility("a hostile text was asked")


class Number(float):
    """A number of a subclass of float."""

    def __float__(self):
        raise Hostility("a hostile number was asked")


def scalar(random):
    """A hostile value without other values inside."""
    make = random.choice((
        lambda: random.choice(NUMBERS), lambda: random.choice(NUMBERS), lambda: random.choice(NUMBERS), lambda: random.choice(TEXTS),
        lambda: None, lambda: b"bytes", lambda: bytearray(b"\xff\0"), lambda: 1 + 2j, lambda: decimal.Decimal("1e9999"),
        lambda: decimal.Decimal("NaN"), lambda: fractions.Fraction(10**400, 3), lambda: datetime.date(2020, 1, 1), lambda: np.float32(3e38),
        lambda: np.int64(-(2**63)), lambda: np.uint64(2**64 - 1), lambda: np.datetime64("NaT", "s"), lambda: np.str_("a"),
        lambda: np.bool_(True),
        lambda: np.float16("inf"), lambda: np.longdouble("1e4000"), lambda: Ellipsis, lambda: int, lambda: object(), lambda: Text("a"),
        lambda: Number(1.0), Raises, lambda: np.void(b"abc"), lambda: np.timedelta64(5, "D"), lambda: np.array(1.0), lambda: range(1000),
    ))  # fmt: skip
    return make()


def value(random):
    """A hostile value: a scalar in three cases of four, otherwise mostly a container."""
    if random.random() < 0.75:
        return scalar(random)
    make = random.choice((
        lambda: [], lambda: (), lambda: {}, lambda: {1}, lambda: [scalar(random)], lambda: {"a": scalar(random)}, lambda: [[]],
        lambda: {random.choice(TEXTS): random.choice(NUMBERS)}, lambda: as_object(scalar(random)), contains_itself,
        lambda: np.zeros((0, 3)), lambda: np.zeros((2, 0)), lambda: np.zeros((1, 1, 1)), lambda: iter([1, 2]),
        lambda: np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), lambda: memoryview(b"abcd"), lambda: range(3), nested,
        lambda: np.ma.masked_array([1.0, 2.0], [0, 1]), lambda: np.array(["a", "b"]), lambda: np.array([b"a"]), lambda: frozenset([1]),
    ))  # fmt: skip
    return make()


def contains_itself():
    found = []
    found.append(found)
    return found


def nested(depth=2000):
    found = 1
    for _ in range(depth):
        found = [found]
    return found


def as_object(value):
    found = np.empty(1, dtype=object)
    found[0] = value
    return found


SIZES = ("k", "n_nodes", "n_rows", "n_columns", "n_items", "n_labels", "n_tokens", "longest", "most_pairs", "most_nodes")

PLACES = ("tails", "heads", "dependents", "first", "second", "edges", "start", "end")       # numbers of nodes


def asks_for_much(name, value) -> bool:
    """Whether a size is so large that the call needs much time or memory."""
    if name in PLACES and isinstance(value, np.ndarray) and value.dtype.kind in "iu" and value.size:
        value = int(value.max())
    most = 2**63 if name == "k" else 2**40          # so many outputs are listed one after another if there are so many
    return name in (*SIZES, *PLACES) and isinstance(value, (int, float, np.floating)) and 1e4 < value < most
