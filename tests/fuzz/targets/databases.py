"""Files of SQLite and DuckDB with cells of any type, whole and damaged."""

import contextlib
import importlib.util
import sqlite3
import tempfile
from pathlib import Path

from fuzz.mutators import spoil_bytes
from fuzz.promises import attempt, expect
from structperc import files

CELLS = (None, 0, 1, -3, 2**53 + 1, 2**63 - 1, 0.5, 1e300, float("inf"), "", "a", "1", "1.5", "=1", "\0", b"1", b"\xff", "é")
QUERIES = ("select * from t", "select a, y from t where a > 0", "select * from t; select 1", "select b as a, a as a, y from t",
           "drop table t", "with s as (select * from t) select * from s -- end", "select y from t", "pragma table_info(t)", "select",
           "select nothing from t", "select a, b, y from t order by a", "select group_concat(b) as b, 1 as y from t", "")


# Kinds of columns of DuckDB, each with cells that it takes.
COLUMNS = {"bigint": (None, 0, -3, 2**53 + 1, 2**63 - 1), "double": (None, 0.5, -1e300, float("inf"), float("nan")),
           "boolean": (True, False, None), "varchar": (None, "", "a", "1", "=1", "é"), "uhugeint": (0, 2**70),
           "decimal(20, 3)": (1.125, None), "date": ("2024-01-31", None), "timestamp with time zone": ("2024-01-31 00:00:00+02", None),
           "blob": (b"\xff", None), "integer[]": ([1, 2], [], None),
           "struct(a integer)": ({"a": 1}, None), "enum('a', 'b')": ("a", "b", None)}
OUTSIDE = ("select * from read_csv('/etc/hostname')", "select content as a, 1 as y from read_text('/etc/hostname')", "copy t to 'out.csv'",
           "attach 'other.db'", "install httpfs", "load httpfs", "set enable_external_access = true", "insert into t values (1, 2, 3)")


def sqlite_file(random) -> tuple:
    """The path and the rows of a file of SQLite."""
    path = Path(tempfile.gettempdir(), f"spoiled{random.choice(('.db', '.sqlite', '.SQLite3'))}")
    path.unlink(missing_ok=True)
    kinds = [random.sample(CELLS, k=random.choice((1, 2, 5))) for _ in range(3)]
    rows = [tuple(map(random.choice, kinds)) for _ in range(random.choice((0, 1, 3, 20)))]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        kind = random.choice(("", " real", " text", " integer", " blob"))
        connection.execute(f"create table t (a, b{kind}, y)")
        connection.executemany("insert into t values (?, ?, ?)", rows)
        connection.commit()
    return path, rows


def duckdb_file(random) -> tuple:
    """The path and the rows of a file of DuckDB, with a view that would read another file."""
    import duckdb

    path = Path(tempfile.gettempdir(), f"spoiled{random.choice(('.duckdb', '.ddb'))}")
    path.unlink(missing_ok=True)
    kinds = random.choices(tuple(COLUMNS), k=3)
    rows = [tuple(random.choice(COLUMNS[kind]) for kind in kinds) for _ in range(random.choice((0, 1, 3, 20)))]
    with duckdb.connect(str(path), config={"threads": 1}) as connection:
        connection.execute(f"create table t ({', '.join(f'{name} {kind}' for name, kind in zip('aby', kinds, strict=True))})")
        if rows:
            connection.executemany("insert into t values (?, ?, ?)", rows)
        connection.execute("create view outside as select 1 as a, 2 as b, column0 as y from read_csv('/etc/passwd', header = false)")
    return path, rows


def hostile_databases(random) -> bool:
    """A query returns a table whose parts are the whole, or raises an error. Labels are those of the file, which reads no other."""
    of_duckdb = random.random() < 0.3 and importlib.util.find_spec("duckdb") and importlib.util.find_spec("adbc_driver_duckdb")
    path, rows = duckdb_file(random) if of_duckdb else sqlite_file(random)
    damaged = random.random() < 0.3
    if damaged:
        path.write_bytes(spoil_bytes(random, path.read_bytes()))
    outside = ("select * from outside", *OUTSIDE) if of_duckdb else ()
    query = random.choice((*QUERIES[:1] * 6, *QUERIES, *outside))
    how = {"target": random.choice(("y", "y", "b", None)), "keep": random.choice(((), ["b"])), "as_text": random.choice((None, (), ()))}
    taken, table = attempt(files.read, path, query=query, also=(OSError,), **how)
    streamed, parts = attempt(lambda: list(files.stream(path, query=query, rows=random.choice((1, 2, 100)), **how)), also=(OSError,))
    if taken and streamed:
        expect(sum(len(part.X) for part in parts) == len(table.X), "parts hold other rows than the whole")
    expect(not taken or query not in outside, f"{query} leaves its file")
    if taken and not damaged and query == QUERIES[0]:
        expect(len(table.X) == len(rows), "a query loses rows")
        for (*_, y), label in zip(rows, [] if how["target"] != "y" else table.y.tolist(), strict=False):
            expect(not isinstance(y, int) or isinstance(label, float) or str(label) == str(y), f"the label {y!r} became {label!r}")
    return taken
