"""Results of queries on SQLite files as tables of Arrow, whose columns have the types of all their cells."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from structperc.basics.errors import DataError, shortened
from structperc.extras import require
from structperc.reading.cells import EXACT

AT_ONCE = 1 << 13       # rows


@contextmanager
def connected(path):
    """A connection that reads, and runs no function that a view in the file calls beside those that are harmless."""
    with closing(sqlite3.connect(f"file:{quote(str(Path(path).resolve()))}?mode=ro", uri=True, check_same_thread=False)) as connection:
        connection.execute("pragma trusted_schema = off")
        yield connection


def result(path, connection, query):
    """The result of a query as a pyarrow.RecordBatchReader. SQLite has types of cells, so one more pass over the result looks at them."""
    arrow = require("pyarrow", "reading databases", "databases")
    cursor = connection.execute(query)
    if cursor.description is None:
        raise DataError(f"{path}: the query {query!r:.80} returns no table; expected one that does, such as select * from NAME.")
    names = [column[0] for column in cursor.description]
    kinds, rounded = kinds_of(connection, query, names) if len(set(names)) == len(names) else (["text"] * len(names), set())
    schema = arrow.schema([(name, getattr(arrow, TYPES[kind])()) for name, kind in zip(names, kinds, strict=True)])
    return arrow.RecordBatchReader.from_batches(schema, batches(path, cursor, schema, kinds, rounded))


TYPES = {"blob": "string", "text": "string", "real": "float64", "integer": "int64", "null": "float64"}      # the widest first


def kinds_of(connection, query, names) -> tuple:
    """The widest type of the cells of each column. Also the real columns with whole cells that a float would round."""
    ranks = " ".join(f"when '{kind}' then {rank}" for rank, kind in enumerate(TYPES))
    widest = [f"min(case typeof({name}) {ranks} end)" for name in map(quoted, names)]
    beyond = [f"max(typeof({name}) = 'integer' and ({name} > {EXACT} or {name} < -{EXACT}))" for name in map(quoted, names)]
    (found,) = connection.execute(f"select {', '.join(widest + beyond)} from (\n{query.strip().rstrip(';')}\n)").fetchall()
    kinds = ["null" if rank is None else list(TYPES)[rank] for rank in found[:len(names)]]
    return kinds, {j for j, large in enumerate(found[len(names):]) if large and kinds[j] == "real"}


def quoted(name) -> str:
    return '"' + name.replace('"', '""') + '"'


def batches(path, cursor, schema, kinds, rounded):
    """The rows in batches of Arrow."""
    read = [as_number if j in rounded else as_text if schema.types[j] == "string" else None for j in range(len(kinds))]
    arrow, first = require("pyarrow", "reading databases", "databases"), 0
    while rows := cursor.fetchmany(AT_ONCE):
        columns = [cells if read[j] is None else [read[j](cell, path, first + i, schema.names[j]) for i, cell in enumerate(cells)]
                   for j, cells in enumerate(zip(*rows, strict=True))]
        yield arrow.RecordBatch.from_arrays([arrow.array(cells, kind) for cells, kind in zip(columns, schema.types, strict=True)],
                                            schema=schema)
        first += len(rows)


def as_text(cell, path, row, name):
    """A cell of a column with texts."""
    if isinstance(cell, bytes):
        try:
            return cell.decode()
        except UnicodeDecodeError:
            raise DataError(f"{path}, row {row + 1}: column {name!r} is {shortened(cell)}, a blob that is no text in UTF-8. Leave the "
                            f"column out, or use hex({name}).") from None
    return cell if cell is None else str(cell)


def as_number(cell, path, row, name):
    """A cell of a column with numbers that are not whole."""
    if isinstance(cell, int) and abs(cell) > EXACT:
        raise DataError(f"{path}, row {row + 1}: column {name!r} is {cell}, which floating point cannot hold, and other cells are not "
                        f"whole. Use cast({name} as text) for names, or round({name}).")
    return cell
