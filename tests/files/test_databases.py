"""Results of queries on files of DuckDB and SQLite, whole and part by part."""

import contextlib
import sqlite3

import numpy as np
import pandas as pd
import pytest

import structperc
from structperc import cli, files
from structperc.errors import DataError, OptionError
from structperc.streams import fit_stream

QUERY = "select * from visits order by day"
RANDOM = np.random.default_rng(0)
VISITS = pd.DataFrame(RANDOM.normal(size=(5000, 2)), columns=["age", "bmi"])
VISITS["level"], VISITS["day"] = np.digitize(VISITS["age"] - VISITS["bmi"], [-1, 1]) + 1, np.arange(5000)


@pytest.fixture(params=["duckdb", "sqlite"])
def database(request, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"visits.{request.param}"
    if request.param == "duckdb":
        pytest.importorskip("adbc_driver_duckdb.dbapi")
        with pytest.importorskip("duckdb").connect(str(path)) as connection:
            connection.register("visits_in_memory", VISITS)
            connection.execute("create table visits as select * from visits_in_memory")
    else:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            VISITS.to_sql("visits", connection, index=False)
    return path


def test_a_result_is_the_table_itself(database):
    table = files.read(database, query=QUERY, target="level")
    assert table.X.equals(VISITS[["age", "bmi", "day"]].astype(float)) and table.y.tolist() == VISITS["level"].tolist()
    query = "select bmi, level, day as \"when\" from visits where day < 3 order by day"
    kept = files.read(database, query=query, target="level", keep=["when"])
    assert list(kept.X.columns) == ["bmi", "when"] and kept.kept == {"when": [0, 1, 2]} or kept.kept == {"when": ["0", "1", "2"]}


@pytest.mark.parametrize("rows", [700, 4999, 10_000])
def test_parts_hold_all_rows_in_order(database, rows):
    parts = list(files.stream(database, query=QUERY, target="level", rows=rows))
    assert all(len(part.X) <= rows for part in parts) and (rows > 5000) == (len(parts) == 1)
    assert pd.concat([part.X for part in parts], ignore_index=True).equals(VISITS[["age", "bmi", "day"]].astype(float))
    assert [part.first for part in parts] == np.cumsum([0, *(len(part.X) for part in parts)])[:-1].tolist()


def test_an_arrow_stream_of_a_cursor_trains_part_by_part(database):
    """Any driver of ADBC gives such a stream; with one pass it has the bits of a fit in memory."""
    dbapi = pytest.importorskip(f"adbc_driver_{database.suffix[1:]}.dbapi")
    options = {"preset": "paper", "classes": [1, 2, 3]}
    with dbapi.connect(str(database)) as connection, connection.cursor() as cursor:
        cursor.execute(QUERY)
        parts = files.stream(cursor.fetch_record_batch(), target="level", features=["age", "bmi"], rows=1000)
        streamed = fit_stream(structperc.Engine("cusum", **options), parts)
    whole = structperc.Engine("cusum", **options).fit(VISITS[["age", "bmi"]], VISITS["level"])
    assert streamed.coef_.tolist() == whole.coef_.tolist() and streamed.mistakes_ == whole.mistakes_


def test_the_command_line_reads_rows_by_a_query(database, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = [database.name, "--query", QUERY]
    common = ["--target", "level", "--set", "preset=paper", "--set", "epochs=3", "--quiet"]
    assert cli.main(["fit", "cusum", *data, *common, "--model", "whole"]) == 0
    assert cli.main(["fit", "cusum", *data, *common, "--model", "parts", "--stream", "--rows", "900"]) == 0
    whole, parts = structperc.Engine.load("whole"), structperc.Engine.load("parts")
    assert parts.coef_.tolist() == whole.coef_.tolist() and parts.feature_names_in_.tolist() == ["age", "bmi", "day"]
    assert cli.main(["evaluate", "parts", *data]) == 0
    assert "on " in capsys.readouterr().out
    assert cli.main(["predict", "parts", database.name, "--query", "select age, bmi, day from visits where day < 4 order by day"]) == 0
    lines = capsys.readouterr().out.split()
    assert lines[1:] == [str(label) for label in parts.predict(VISITS[["age", "bmi", "day"]][:4])]
    assert cli.main(["fit", "cusum", database.name, "--target", "level", "--model", "m"]) == 2
    assert "choose its rows by --query" in capsys.readouterr().err


@pytest.mark.parametrize(("query", "message"), [
    ("select nothing from visits", "the query 'select nothing from visits' failed: .*nothing"),
    ("drop table visits", "failed: .*read-?only"),
    ("select * from visits where day < 0", "has columns but no rows"),
    ("select age, day from visits", "no column 'level'"),
    ("select null as age, 1 as level, 2 as bmi", "column 'age' is"),
])
def test_a_query_that_fails_is_told_in_a_sentence(database, query, message):
    with pytest.raises(DataError, match=message):
        files.read(database, query=query, target="level")
    assert len(files.read(database, query=QUERY, target="level").X) == len(VISITS)


def test_other_files_are_no_databases(tmp_path):
    with pytest.raises(OptionError, match="is read as csv, which has no such option.* Formats that do: duckdb, sqlite"):
        files.read(tmp_path / "visits.csv", query=QUERY)
    with pytest.raises(OptionError, match=r"visits.DB is a database; choose its rows by query, such as query='select"):
        files.read(tmp_path / "visits.DB")
    with pytest.raises(FileNotFoundError):
        files.read(tmp_path / "visits.db", query=QUERY)
    assert not (tmp_path / "visits.db").exists()


@pytest.mark.parametrize("name", ["visits.duckdb", "visits.sqlite"])
def test_a_damaged_database_is_told_in_a_sentence(tmp_path, name):
    pytest.importorskip("adbc_driver_duckdb" if name.endswith("duckdb") else "pyarrow")
    (tmp_path / name).write_bytes(b"no database at all " * 1000)
    with pytest.raises(DataError, match=f"{name}.*(cannot be opened as a database|failed)"):
        files.read(tmp_path / name, query=QUERY)


@pytest.mark.parametrize(("cells", "expected"), [
    ([None] * 1100 + [27.5] * 10, [np.nan] * 1100 + [27.5] * 10), ([1, 2] * 1500 + [2.5], [1.0, 2.0] * 1500 + [2.5]),
    ([None, 3], [np.nan, 3.0]), ([7, "8"], [7.0, 8.0]), ([b"1.5", 2], [1.5, 2.0])])
def test_columns_of_sqlite_have_the_type_of_all_their_cells(cells, expected, tmp_path):
    """Whatever comes first."""
    pytest.importorskip("pyarrow")
    with contextlib.closing(sqlite3.connect(tmp_path / "v.db")) as connection:
        connection.execute("create table v (bmi, level)")
        connection.executemany("insert into v values (?, ?)", [(cell, 1 + i % 2) for i, cell in enumerate(cells)])
        connection.commit()
    table = files.read(tmp_path / "v.db", query="select * from v; ", target="level", as_text=())
    assert np.array_equal(table.X["bmi"], expected, equal_nan=True) and table.y.tolist() == [1 + i % 2 for i in range(len(cells))]
    query = "with w as (select * from v) select * from w -- all"
    parts = list(files.stream(tmp_path / "v.db", query=query, target="level", as_text=(), rows=999))
    assert np.array_equal(pd.concat([part.X for part in parts])["bmi"], expected, equal_nan=True)


def test_labels_of_sqlite_may_become_another_type_late(tmp_path):
    pytest.importorskip("pyarrow")
    with contextlib.closing(sqlite3.connect(tmp_path / "v.db")) as connection:
        connection.execute("create table v (x, y, z)")
        rows = [(i, 1 + i % 2, i) for i in range(1500)] + [(1, 1.5, "a"), (2, 2, b"\xff")]
        connection.executemany("insert into v values (?, ?, ?)", rows)
        connection.commit()
    assert set(files.read(tmp_path / "v.db", query="select x, y from v", target="y").y) == {1.0, 2.0, 1.5}
    assert set(files.read(tmp_path / "v.db", query="select x, z from v where x = 1", target="z").y) == {"1", "a"}
    with contextlib.closing(sqlite3.connect(tmp_path / "v.db")) as connection:
        connection.execute("create table w as select 9007199254740993 as x, 1 as y union select 0.5, 2")
        connection.commit()
    with pytest.raises(DataError, match="column 'x' is 9007199254740993, which floating point cannot hold"):
        files.read(tmp_path / "v.db", query="select * from w", target="y")
    with pytest.raises(DataError, match="row 1502: column 'z' is b'.xff', a blob that is no text in UTF-8"):
        files.read(tmp_path / "v.db", query="select x, z from v", target="z")
