"""Files of SQLite with cells of any type, whole and damaged."""

import contextlib
import sqlite3
import tempfile
from pathlib import Path

from fuzz.mutators import spoil_bytes
from fuzz.promises import attempt, expect
from structperc.files.databases import read_query, stream_query

CELLS = (None, 0, 1, -3, 2**53 + 1, 2**63 - 1, 0.5, 1e300, float("inf"), "", "a", "1", "1.5", "=1", "\0", b"1", b"\xff", "é")
QUERIES = ("select * from t", "select a, y from t where a > 0", "select * from t; select 1", "select b as a, a as a, y from t",
           "drop table t", "with s as (select * from t) select * from s -- end", "select y from t", "pragma table_info(t)", "select",
           "select nothing from t", "select a, b, y from t order by a", "select group_concat(b) as b, 1 as y from t", "")


def hostile_databases(random) -> bool:
    """A query returns a table whose parts are the whole, or raises an error. Labels are those of the file."""
    path = Path(tempfile.gettempdir(), f"spoiled{random.choice(('.db', '.sqlite', '.SQLite3'))}")
    path.unlink(missing_ok=True)
    kinds = [random.sample(CELLS, k=random.choice((1, 2, 5))) for _ in range(3)]
    rows = [tuple(map(random.choice, kinds)) for _ in range(random.choice((0, 1, 3, 20)))]
    with contextlib.closing(sqlite3.connect(path)) as connection:
        kind = random.choice(("", " real", " text", " integer", " blob"))
        connection.execute(f"create table t (a, b{kind}, y)")
        connection.executemany("insert into t values (?, ?, ?)", rows)
        connection.commit()
    damaged = random.random() < 0.3
    if damaged:
        path.write_bytes(spoil_bytes(random, path.read_bytes()))
    query = random.choice((*QUERIES[:1] * 6, *QUERIES))
    how = {"target": random.choice(("y", "y", "b", None)), "keep": random.choice(((), ["b"])), "as_text": random.choice((None, (), ()))}
    taken, table = attempt(read_query, path, query, also=(OSError,), **how)
    streamed, parts = attempt(lambda: list(stream_query(path, query, rows=random.choice((1, 2, 100)), **how)), also=(OSError,))
    if taken and streamed:
        expect(sum(len(part.X) for part in parts) == len(table.X), "parts hold other rows than the whole")
    if taken and not damaged and query == QUERIES[0]:
        expect(len(table.X) == len(rows), "a query loses rows")
        for (*_, y), label in zip(rows, [] if how["target"] != "y" else table.y.tolist(), strict=False):
            expect(not isinstance(y, int) or isinstance(label, float) or str(label) == str(y), f"the label {y!r} became {label!r}")
    return taken
