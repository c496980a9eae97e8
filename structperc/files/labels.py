"""Columns of labels in files: numbers, truth values or text, the same in all parts."""

from __future__ import annotations

import re

import numpy as np

from structperc.basics.errors import DataError
from structperc.reading.cells import EXACT, MINUS, TRUTH, as_labels, meaning

NOUNS = {bool: "truth value", int: "number", float: "number", str: "text"}
NUMBERS = (int, float)


class LabelTexts:
    """Texts as labels, part after part."""
    # text_labels: bool or None. True: they are text. False: they are numbers if all are, however they are written. None: the same, but only
    # if no text changes.
    # decimal: str, default "."

    def __init__(self, text_labels=None, decimal="."):
        self.text_labels, self.decimal, self.kind = text_labels, decimal, None

    def kind_of(self, texts):
        """What different texts are."""
        if self.text_labels:
            return str
        return meaning(texts, self.decimal) if self.text_labels is None else written_kind(texts, self.decimal)

    def read(self, texts, where) -> np.ndarray:
        """The labels of a part's texts; `where` names the place of a row. A label of another kind than those before raises an error."""
        kind = self.kind_of(list(dict.fromkeys(texts)))
        if self.kind is None:
            self.kind = kind
        if self.text_labels is None and kind is not self.kind and not {kind, self.kind} <= set(NUMBERS):
            if self.kind is not str:
                row = next((i for i, text in enumerate(texts) if NOUNS[self.kind_of([text])] != NOUNS[self.kind]), 0)
                raise DataError(f"{where(row)}: the label {texts[row]!r:.60} is no {NOUNS[self.kind]} as programs write it, but all labels "
                                f"before this part are. Set text_labels to True (--labels text), or to False (--labels numbers).")
            kind = str
        return as_labels(texts, self.decimal, kind)

    def read_ends(self, texts, missing):
        """Lowest and highest labels, (n, 2): numbers with NaN for open ends, whole numbers beyond 2**53 and texts with None."""
        present = [column[~gone].tolist() for column, gone in zip(texts.T, missing.T, strict=True)]
        kinds = [self.kind_of(list(dict.fromkeys(column))) for column in present if column]
        if not {*kinds} <= set(NUMBERS):
            return np.where(missing, None, texts)
        ends = np.full(texts.shape, None, dtype=object)
        for j, column in enumerate(present):
            ends[~missing[:, j], j] = as_labels(column, self.decimal, self.kind_of(list(dict.fromkeys(column)))).tolist()
        labels = ends[~missing].tolist()
        if any(isinstance(label, int) and abs(label) > EXACT for label in labels):
            return ends if missing.any() or float in kinds else ends.astype(np.int64)
        ends[missing] = np.nan
        numbers = ends.astype(float)
        return numbers.astype(np.int64) if (np.isfinite(numbers) & (numbers == np.rint(numbers))).all() else numbers


def written_kind(texts, decimal):
    """What different texts are if they may be read as numbers however they are written."""
    if all(text in TRUTH for text in texts):
        return bool
    numbers = [text.translate(MINUS).replace(decimal, ".", 1) for text in texts]
    try:
        if not np.isfinite([float(number) for number in numbers]).all():
            return str
    except ValueError:
        return str
    whole = [int(number) for number in numbers if re.fullmatch(r"[+-]?\d+", number)]
    if len(whole) == len(numbers):
        return int if -2**63 <= min(whole) and max(whole) < (2**64 if min(whole) >= 0 else 2**63) else str
    return float if all(int(float(number)) == number for number in whole) else str      # a text whose digits a number lacks stays one
