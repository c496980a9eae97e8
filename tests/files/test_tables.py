"""What is common to tables of all formats."""

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structperc.errors import DataError
from structperc.files.tables import marked_rows, parse_classes, row_marks, write_predictions


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=6))
def test_marks_and_rows_are_inverse(groups):
    y = np.concatenate(groups).astype(int)
    offsets = np.cumsum([0, *map(len, groups)])
    assert marked_rows(y, offsets) == [tuple(i for i, mark in enumerate(group) if mark) for group in groups]
    assert row_marks(marked_rows(y, offsets), offsets).tolist() == y.tolist()


@pytest.mark.parametrize("y", [[0, 2], ["yes", "no"]])
def test_marks_are_0_and_1(y):
    with pytest.raises(DataError, match="has 1, and all others 0"):
        marked_rows(y, [0, 2])


@pytest.mark.parametrize(("text", "expected"), [
    ("low,middle, high", ["low", "middle", "high"]),
    ("3,1,2", [3, 1, 2]),
    ("0.5,1", [0.5, 1.0]),
    ("1,2,3+", ["1", "2", "3+"]),
    ('"a,b",c', ["a,b", "c"]),
])  # fmt: skip
def test_parse_classes(text, expected):
    classes = parse_classes(text)
    assert classes == expected and all(type(a) is type(b) for a, b in zip(classes, expected, strict=True))


@pytest.mark.parametrize("text", ["", "a,,b", "a,"])
def test_empty_class_names_are_refused(text):
    with pytest.raises(DataError, match="empty label"):
        parse_classes(text)


def test_predictions_are_one_column_that_is_read_back():
    file = io.StringIO()
    write_predictions(file, ["low", 'mid,"dle"', np.str_("high")])
    assert pd.read_csv(io.StringIO(file.getvalue()))["prediction"].tolist() == ["low", 'mid,"dle"', "high"]


def test_structures_are_written_with_spaces_and_an_empty_one_is_no_blank_line():
    file = io.StringIO()
    write_predictions(file, [(3, 1), ()])
    assert file.getvalue() == 'prediction\n3 1\n""\n'
