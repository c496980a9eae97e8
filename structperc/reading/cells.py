"""What a cell of text means: nothing is known, a truth value, a number that writes itself like this, or the text itself."""

from __future__ import annotations

import math
import re
import unicodedata

import numpy as np

MISSING_WORDS = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL"})        # what files write where nothing is known
TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
WHOLE = re.compile(r"0|-?[1-9][0-9]*")
EXACT = 2**53               # float64 has all whole numbers up to it
MINUS = str.maketrans("\u2212\u2013\ufe63\uff0d", "----")       # what people and programs type for a minus
BETWEEN = "\u0020\u00a0\u2009\u202f'\u2019"                     # what people type between thousands in any language


def meaning(texts, decimal="."):
    """What a column of labels is, by all its texts: bool, int, float or str. None of them may change if it is read and written again."""
    if not texts or all(text in TRUTH for text in texts):
        return bool if texts else str
    if all(WHOLE.fullmatch(text) for text in texts):
        low, high = min(map(int, texts)), max(map(int, texts))
        return int if -2**63 <= low and high < (2**64 if low >= 0 else 2**63) else str
    numbers = [exact_number(text, decimal) for text in texts]
    return str if None in numbers or len(set(numbers)) < len(numbers) else float


def exact_number(text, decimal="."):
    """The number that a text is, None if another text is the usual one of that number."""
    if WHOLE.fullmatch(text):
        return float(text) if abs(int(text)) <= EXACT else None
    text = text if decimal == "." else text.replace(".", ",").replace(decimal, ".", 1)
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and repr(number) == text else None


def as_labels(texts, decimal=".", kind=None) -> np.ndarray:
    """Texts as labels of the kind that `meaning` returns, or of this kind."""
    kind = meaning(list(dict.fromkeys(texts)), decimal) if kind is None else kind
    if kind is bool:
        return np.array([TRUTH[text] for text in texts])
    if kind is str:
        return np.array(texts, dtype=str)
    if kind is int:
        numbers = [int(text) for text in texts]
        return np.array(numbers, dtype=np.int64 if max(numbers) < 2**63 else np.uint64)
    return np.array([float(text.replace(decimal, ".", 1)) for text in texts])


def to_number(cell, decimal="."):
    """A cell as a number, None if it is none."""
    try:
        if isinstance(cell, str):
            if "_" in cell:
                return None
            cell = cell.translate(MINUS)
            cell = cell if decimal == "." else cell.replace(".", "?").replace(decimal, ".", 1)
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return None


def number_in(cell, decimal=".", as_written=False):
    """A cell as a number, of a text also as people write it; None if it is none."""
    return written_number(cell, decimal) if as_written and isinstance(cell, str) else to_number(cell, decimal)


def written_number(text, decimal="."):
    """A number as people write it: with marks between thousands, a sign of a currency or of percent; None if it is none."""
    text = text.strip().translate(MINUS)
    below = text.startswith("(") and text.endswith(")")         # as accountants write it
    text = "".join(c for c in (text[1:-1] if below else text) if unicodedata.category(c) != "Sc" and c != "%").strip()
    sign, digits = re.fullmatch(r"([+-]?)\s*(.*)", text, re.DOTALL).groups()
    whole, point, decimals = digits.partition(decimal)
    other = "," if decimal == "." else "."
    parts = re.split(f"[{re.escape(BETWEEN + other)}]", whole)
    grouped = len(parts) == 1 or re.fullmatch("[1-9][0-9]{0,2}", parts[0]) and all(len(part) == 3 for part in parts[1:])
    number = "".join(parts)
    if not grouped or not re.fullmatch(r"[0-9]*", number) or not re.fullmatch(r"[0-9]*(e[+-]?[0-9]+)?", decimals, re.IGNORECASE) \
            or not number + decimals:
        return None
    value = to_number(f"{sign}{number}.{decimals}")
    return value if value is None or not below else -value


def canonical(level) -> str:
    """A level under the name that it has where cells are no texts: "True" of "TRUE", "1" of "1.0"."""
    if level in TRUTH:
        return str(TRUTH[level])
    whole = level.removesuffix(".0")
    return whole if whole != level and WHOLE.fullmatch(whole) and abs(int(whole)) <= EXACT else level
