"""A call of a reader that fails leaves it as it was."""

import numpy as np
import pandas as pd
import pytest

from structperc.components import NamedReader, TableReader
from structperc.errors import DataError


def test_names_of_further_data_that_fail():
    reader = NamedReader()
    reader.learn([[["a"], ["b"]]])
    before = reader.state()
    with pytest.raises(DataError):
        reader.learn_more([[["c"], ["d"]], [[object()]]])
    after = reader.state()
    assert before.keys() == after.keys() and all(np.array_equal(before[name], after[name]) for name in before)
    reader.restore(after)
    reader.learn_more([[["c"]]])
    assert reader.n_features == 3


@pytest.mark.parametrize("further", [{"b": [1.0], "a": ["x"]}, {"b": [np.nan], "a": [1.0]}, {"b": [1.0]}])
@pytest.mark.parametrize("method", ["learn", "learn_more"])
def test_tables_that_fail(further, method):
    reader = TableReader(one_hot=["c"])
    reader.learn(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0], "c": ["p", "q"]}))
    codes = reader.input_columns().codes
    table = pd.DataFrame({"b": [], "a": [], "c": []}) if method == "learn" and len(further) == 1 else pd.DataFrame({**further, "c": ["r"]})
    with pytest.raises(DataError):
        getattr(reader, method)(table)
    assert reader.input_columns().codes == codes
    assert reader.read(pd.DataFrame({"b": [3], "c": ["q"], "a": [1]})).X.tolist() == [[1, 3, 0, 1]]


@pytest.mark.parametrize("first", [0, 1, 2])
def test_levels_of_further_data_do_not_depend_on_what_comes_first(first):
    parts = [pd.DataFrame({"g": pd.Categorical([level]), "t": ["b"]}) for level in ("x", "a", "m")]
    reader = TableReader(one_hot=["t"])
    reader.learn(parts[first])
    for part in parts:
        reader.learn_more(part)
    assert [code.levels for code in reader.input_columns().codes] == [("a", "m", "x"), ("b",)]


def test_orders_that_are_parts_of_one_are_joined_and_others_refused():
    def table(*levels):
        return pd.DataFrame({"g": pd.Categorical(levels[:1], levels, ordered=True)})

    for parts in ((table("b", "c"), table("a", "b")), (table("a", "b"), table("b", "c"))):
        reader = TableReader()
        reader.learn(parts[0])
        reader.learn_more(parts[1])
        assert reader.input_columns().codes[0].levels == ("a", "b", "c")
    with pytest.raises(DataError, match="no parts of one order. Name all levels in order by the option ordinal"):
        reader.learn_more(table("c", "d", "b"))


@pytest.mark.parametrize(("form", "cells"), [
    ("%Y-%m-%dT%H:%M:%SZ", ["2024-01-01T00:00:00Z", "2024-01-03T00:00:00Z"]), (None, ["2024-01-01T00:00:00Z", "2024-01-03T01:00:00+01:00"]),
    ("%Y-%m-%dT%H:%M:%S", ["2024-01-01T00:00:00Z", "2024-01-03T00:00:00Z"]),
    ("%Y-%m-%dT%H:%M:%S%z", ["2024-01-01T00:00:00+0000", "2024-01-03T02:00:00+02:00"]),
])  # fmt: skip
def test_dates_with_zones(form, cells):
    assert TableReader(date={"t": form}).learn(pd.DataFrame({"t": cells})).X.tolist() == [[0], [2]]


@pytest.mark.parametrize(("cells", "number", "expected"), [
    (["45,000", "1,200", "950"], ["p"], [45000, 1200, 950]), (["45,000", "1,200", "950"], {"p": ","}, [45, 1.2, 950]),
    (["4,5", "1.001,2", "9"], {"p": ","}, [4.5, 1001.2, 9]), (["$4.50", "\u20ac 1,200", "(9)"], ["p"], [4.5, 1200, -9]),
    (["\u22123", "12 %", "1'000"], ["p"], [-3, 12, 1000]), (["\u22123", "1", "2"], (), [-3, 1, 2]),
])  # fmt: skip
def test_numbers_as_people_write_them(cells, number, expected):
    assert TableReader(number=number).learn(pd.DataFrame({"p": cells})).X[:, 0].tolist() == expected


def test_durations_are_days():
    table = pd.DataFrame({"d": pd.to_timedelta(["1D", "6h"])})
    assert TableReader().learn(table).X.tolist() == [[1], [0.25]]
