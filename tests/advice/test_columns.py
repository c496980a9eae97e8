"""Columns that are not numbers: whatever the message advises is followed at its door, and the model trains and predicts."""

import functools
import itertools
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from plain import Engine

from advice.following import MOST, flags, follow, keywords
from structperc import files
from structperc.errors import DataError
from structperc.estimators import CuSumRank, IntervalPA, LatentRanker, PRank, StructuredClassifier
from structperc.reading.column_faults import BY_HAND, KINDS, ColumnError, find_fault

N = 60
Y = 1 + np.arange(N) * 3 // N
NUMBERS = (np.arange(N) * 37 % 61).astype(float)


def among_numbers(every, cell):
    """Numbers as texts, with this cell now and then."""
    return [cell if i % every == 1 else f"{number:g}" for i, number in enumerate(NUMBERS)]


# By name: the cells of a column.
COLUMNS = {
    "texts": ["red", "green", "blue"] * (N // 3),
    "names": [f"patient {i}" for i in range(N)],
    "truth values as texts": ["True", "False"] * (N // 2),
    "dates": [f"2024-01-{1 + i % 28:02}" for i in range(N)],
    "dates with gaps": [None if i == 3 else f"2024-01-{1 + i % 28:02}" for i in range(N)],
    "question marks": among_numbers(4, "?"),
    "dots": among_numbers(4, "."),
    "dashes": among_numbers(5, "-"),
    "double dashes": among_numbers(5, "--"),
    "n/a": among_numbers(5, "n/a"),
    "#N/A": among_numbers(5, "#N/A"),
    "empty cells": among_numbers(4, ""),
    "all empty": [""] * N,
    "thousands": [f"{45 + i},{100 + i}" for i in range(N)],
    "thousands and hundreds": [f"{i},000" if i % 2 else "950" for i in range(1, N + 1)],
    "currency": [f"${i}.50" for i in range(N)],
    "percents": [f"{i}%" for i in range(N)],
    "decimal commas": [f"{i},5" for i in range(N)],
    "dots of thousands": [f"1.{100 + i},5" for i in range(N)],
    "currency with gaps": ["?" if i % 9 == 4 else f"${i}.50" for i in range(N)],
    "one typing error": [*map(str, range(N - 1)), "1O"],
    "infinite": [*NUMBERS[:-1], np.inf],
}
READ = {                        # as they are
    "minus signs": [f"\N{MINUS SIGN}{i}" for i in range(1, N + 1)],
    "durations": pd.to_timedelta(np.arange(N) % 7, unit="D"),
    "days": pd.date_range("2024-01-01", periods=N),
    "categories": pd.Categorical(["low", "mid", "high"] * (N // 3), ordered=True, categories=["low", "mid", "high"]),
}
BY_HAND_ALONE = ("one typing error", "infinite")        # a cell of its own, which the reader corrects
PYTHON = {"Engine prank": functools.partial(Engine, "prank"), "Engine multiclass": functools.partial(Engine, "multiclass"),
          **{cls.__name__: cls for cls in (PRank, CuSumRank, StructuredClassifier, IntervalPA)}}


def table(name):
    cells = {**COLUMNS, **READ}[name]
    column = pd.Series(cells, dtype=float if name == "infinite" else object) if isinstance(cells, list) else cells
    return pd.DataFrame({"a": column, "b": NUMBERS})


@pytest.mark.parametrize(("door", "name"), [(door, name) for i, name in enumerate(COLUMNS) if name not in BY_HAND_ALONE
                                            for j, door in enumerate(PYTHON) if (i + j) % 2 == 0])
def test_python_advice_leads_on(door, name):
    model, messages, arguments = follow(PYTHON[door], table(name), Y)
    assert messages
    assert model is not None, (messages, arguments)
    assert len(model.predict(table(name))) == N


@pytest.mark.parametrize("door", PYTHON)
def test_advice_for_durations_of_python_leads_on(door):
    X = pd.DataFrame({"a": pd.Series([timedelta(hours=i) for i in range(N)], dtype=object), "b": NUMBERS})
    model, messages, arguments = follow(PYTHON[door], X, Y)
    assert model is not None and len(model.predict(X)) == N, (messages, arguments)


@pytest.mark.parametrize("library", ["polars", "pyarrow", "pandas"])
def test_lists_in_cells_are_no_gaps(library):
    table = pytest.importorskip(library)
    make = table.DataFrame if hasattr(table, "DataFrame") else table.table
    cells = [np.array([1, 2]), np.array([3])] if library == "pandas" else [[1, 2], [3]]
    with pytest.raises(DataError, match=r"2 texts \('\[1,? 2\]', '\[3\]'\)"):
        PRank().fit(make({"a": cells * 4}), [1, 2] * 4)


@pytest.mark.parametrize("name", READ)
def test_other_columns_need_no_advice(name):
    for make in PYTHON.values():
        assert len(make().fit(table(name), Y).predict(table(name))) == N


@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in (*BY_HAND_ALONE, "truth values as texts")])
def test_advice_of_the_command_line_leads_on(name, run, tmp_path):
    file, arguments, messages = tmp_path / "t.csv", [], []
    table(name).assign(y=Y).to_csv(file, index=False)
    for _ in range(MOST):
        code, _, err = run("fit", "prank", file, "--target", "y", "--model", tmp_path / "m", *arguments)
        if code == 0:
            break
        messages.append(err)
        assert flags(err), messages
        arguments = [*arguments, *flags(err)]
    assert code == 0 and messages, messages
    assert run("predict", tmp_path / "m", file)[0] == 0


@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in (*BY_HAND_ALONE, "truth values as texts")])
def test_advice_of_a_reader_leads_on(name, tmp_path):
    file = tmp_path / "t.csv"
    table(name).assign(y=Y).to_csv(file, index=False)
    with pytest.raises(ColumnError) as error:
        files.read(file, target="y")
    read = files.read(file, target="y", **keywords(str(error.value)))
    model, messages, arguments = follow(PRank, read.X, read.y)
    assert model is not None and len(model.predict(read.X)) == N, (messages, arguments)


def test_a_column_of_weights_is_never_encoded(run, tmp_path):
    file = tmp_path / "t.csv"
    for cells in (["x", *["1"] * (N - 1)], ["heavy", "light"] * (N // 2)):
        pd.DataFrame({"a": NUMBERS, "w": cells, "y": Y}).to_csv(file, index=False)
        code, _, err = run("fit", "prank", file, "--target", "y", "--weight", "w", "--model", tmp_path / "m")
        assert code == 2 and "rite numbers from 0 on there, or drop these rows." in err and not flags(err)


@pytest.mark.parametrize("name", BY_HAND_ALONE)
def test_a_cell_of_its_own_is_named_and_its_correction_is_enough(name):
    X = table(name)
    with pytest.raises(DataError, match=rf"row {N - 1}\. Correct the cells of 'a'|X\[{N - 1}, 0\] is inf"):
        PRank().fit(X, Y)
    X.loc[N - 1, "a"] = 1
    assert PRank(random_state=0).fit(X.astype(float), Y).predict(X.astype(float)).shape == (N,)


def test_a_ranker_names_what_its_own_parameter_takes():
    class Grouped(LatentRanker):
        def fit(self, X, y):
            return super().fit(X, y, groups=np.arange(N) // 12)

    model, messages, _ = follow(Grouped, table("texts"), Y - 1)
    assert messages and model is not None


def test_every_kind_of_cell_and_every_way_out_is_provoked():
    faults = [fault for name in (*COLUMNS, *READ) if (fault := find_fault("a", list(table(name)["a"]))) is not None]
    assert set(itertools.chain.from_iterable(fault.cells for fault in faults)) == set(KINDS)
    assert set(itertools.chain.from_iterable(fault.mends for fault in faults)) == set(BY_HAND)


@pytest.mark.parametrize(("flag", "value"), [("--classes", "-1,0,1"), ("--drop", "-b")])
def test_a_value_that_begins_with_a_minus_needs_an_equals_sign(run, tmp_path, flag, value):
    pd.DataFrame({"a": NUMBERS, "-b": NUMBERS, "y": Y - 2}).to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", "prank", tmp_path / "t.csv", "--target", "y", "--model", tmp_path / "m")
    code, _, err = run(*fit, flag, value)
    assert code == 2 and f"A value that begins with - needs an equals sign: {flag}=-1,0,1" in err
    assert run(*fit, f"{flag}={value}")[0] == 0


def test_columns_whose_names_begin_with_a_minus_are_advised_of_with_an_equals_sign(run, tmp_path):
    pd.DataFrame({"-a": ["red", "green", "blue"] * (N // 3), "b": NUMBERS, "y": Y}).to_csv(tmp_path / "t.csv", index=False)
    fit = ("fit", "prank", tmp_path / "t.csv", "--target", "y", "--model", tmp_path / "m")
    code, _, err = run(*fit)
    assert code == 2 and flags(err) == ["--one-hot=-a"] and run(*fit, *flags(err))[0] == 0


DECIMALS = [f"{i / 1000:.3f}" for i in range(100, 100 + N)]         # which a comma for a point would make a thousand times as large
COMMAS = [text.replace(".", ",") for text in DECIMALS]


@pytest.mark.parametrize(("cells", "option"), [
    (["0,456", "0,457", *DECIMALS[2:]], None), (["0,456", *DECIMALS[1:]], None), (COMMAS, ","), (["7", *COMMAS[1:]], ","),
    (["1,456", "1,457", *(f"1{text}" for text in DECIMALS[2:])], "."),
])
def test_no_advice_makes_other_numbers_of_the_cells_that_are_numbers(run, tmp_path, cells, option):
    pd.DataFrame({"a": cells, "b": NUMBERS, "y": Y}).to_csv(tmp_path / "t.csv", index=False)
    flag = {None: [], ".": ["--number", "a"], ",": ["--number", "a=,"]}[option]
    code, _, err = run("fit", "prank", tmp_path / "t.csv", "--target", "y", "--model", tmp_path / "m")
    assert code == 2 and flags(err) == flag and ("orrect the cells of 'a', or drop it" in err) == (option is None)
    with pytest.raises(ColumnError) as error:
        PRank().fit(pd.DataFrame({"a": cells, "b": NUMBERS}), Y)
    assert keywords(str(error.value)) == ({} if option is None else {
        "plugin_options": {"number": ["a"] if option == "." else {"a": ","}}})


@pytest.mark.parametrize(("cells", "message"), [
    (["0.65"] * N, "Pass --number a."), (["0.65", *COMMAS[1:]], "'a' is '0.65', not a number; correct the cells of 'a', or drop it."),
    (["0.65", "0.66", *COMMAS[2:]], "Correct the cells of 'a', or drop it."), (["1,5x"] * N, "('1,5x')"),
])
def test_points_of_files_with_decimal_commas_are_no_numbers(run, tmp_path, cells, message):
    pd.DataFrame({"a": cells, "b": NUMBERS.astype(int), "y": Y}).to_csv(tmp_path / "t.csv", index=False, sep=";")
    fit = ("fit", "prank", tmp_path / "t.csv", "--target", "y", "--model", tmp_path / "m", "--separator", ";", "--decimal", ",")
    code, _, err = run(*fit)
    assert code == 2 and message in err
    assert "--number" not in message or run(*fit, *flags(err))[0] == 0


@pytest.mark.parametrize("point", [".", ","])
def test_a_column_of_written_numbers_is_advised_of_its_other_cells_alone(point):
    cells = [*[f"1{point}5", f"2{point}5"] * 6, "x"]
    with pytest.raises(ColumnError, match=r"'a': 1 text \('x'\), the first in row 12\. Correct the cells of 'a', or drop it\."):
        Engine("prank", plugins=["table"], number={"a": point}).fit(pd.DataFrame({"a": cells}), np.arange(13) % 3)
