"""Results of queries as tables, whole or part by part: files of DuckDB, through its driver of ADBC, and of SQLite."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path

from structperc.basics.errors import DataError
from structperc.extras import require
from structperc.files import sqlite
from structperc.files.arrow import ArrowFile, parts_of_stream
from structperc.files.tables import Table

__all__ = ["read_query", "stream_query"]

PURPOSE, EXTRA = "reading databases", "databases"
CONFINED = {            # a view of the file's author reads no other file, and loads no code
    "access_mode": "READ_ONLY", "enable_external_access": "false", "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false", "lock_configuration": "true"}


def read_query(path, query, **options) -> Table:
    """Reads a whole result; parameters and errors as of `stream_query`, but for `rows`.

    Parameters
    ----------
    path : path
    query : str
    **options
        As in `stream_query`.

    Examples
    --------
    >>> from structperc.files.databases import read_query
    >>> read_query("visits.duckdb", "select age, bmi, level from visits", target="level")        # doctest: +SKIP
    Table(X: DataFrame of shape (5000, 2), y: int64 of shape (5000,))
    """
    (table,) = stream_query(path, query, **options)
    return table


def stream_query(path, query, *, target=None, features=None, weight=None, group=None, text_labels=None, as_text=None, keep=(), missing=(),
                 keys=None, rows=None):
    """Reads the result of a query part by part, for results that are larger than memory.

    The database is opened read-only. Queries of DuckDB and views in its file read no other files and load no extensions. A column of
    SQLite has the widest type of its cells: whole numbers, numbers or texts. One more pass over the result looks at them.
    A query without `order by` may return its rows in another order the next time.

    Parameters
    ----------
    path : path
        Of a file of DuckDB (.duckdb, .ddb) or SQLite (.sqlite, .sqlite3, .db).
    query : str
        A query in the SQL of the database, such as "select * from visits order by day".
    target, features, weight, group, text_labels, as_text, keep, missing, keys, rows
        As in `structperc.files.csv_tables.stream_csv`.

    Yields
    ------
    Table

    Raises
    ------
    DataError
        If the query fails, or its result has no rows. Also for a missing column, and for an entry of X that is no finite number.
    OSError
        If the file cannot be read.
    MissingExtra
        If the driver is not installed.

    See Also
    --------
    structperc.files.arrow.stream_arrow : the Arrow stream of a cursor of any database.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.files.databases import stream_query
    >>> from structperc.streams import fit_stream
    >>> parts = stream_query("visits.sqlite", "select * from visits", target="level", rows=65536)
    >>> engine = fit_stream(Engine("cusum", classes=[1, 2, 3]), parts)                          # doctest: +SKIP
    """
    with opened_query(path, query) as file:
        yield from file.tables(target=target, features=features, weight=weight, group=group, text_labels=text_labels, as_text=as_text,
                               keep=keep, missing=missing, keys=keys, rows=rows)


@contextmanager
def opened_query(path, query):
    """An `ArrowFile` of the result; each pass runs the query again."""
    suffix = Path(path).suffix.lower()
    if suffix not in STREAMS:
        raise DataError(f"{path} does not end like a database; expected one of {', '.join(STREAMS)}.")
    with open(path, "rb"):                # else SQLite makes an empty one
        pass
    with STREAMS[suffix](path, query) as result:
        def parts(rows, columns):
            with result() as reader:
                yield from parts_of_stream(reader, rows, columns)

        with result() as reader:
            schema = reader.schema
        yield ArrowFile(path, schema, parts)


@contextmanager
def duckdb_streams(path, query):
    """What returns the result of a query on a DuckDB file as a stream."""
    driver, manager = require("adbc_driver_duckdb", PURPOSE, EXTRA), require("adbc_driver_manager.dbapi", PURPOSE, EXTRA)
    arrow = require("pyarrow", PURPOSE, EXTRA)
    failures = (manager.Error, arrow.ArrowException, OSError)
    with sentences(failures, f"{path} cannot be opened as a database"):
        connection = manager.connect(driver=driver.driver_path(), entrypoint="duckdb_adbc_init",
                                     db_kwargs={"path": str(Path(path).resolve()), **CONFINED})

    @contextmanager
    def result():
        with sentences(failures, f"{path}: the query {query!r:.80} failed"), connection.cursor() as cursor:     # rows are the cursor's
            cursor.execute(query)
            yield cursor.fetch_record_batch()

    with connection:
        yield result


@contextmanager
def sqlite_streams(path, query):
    """What returns the result of a query on an SQLite file as a stream."""
    with sentences(sqlite3.Error, f"{path} cannot be opened as a database"), sqlite.connected(path) as connection:
        @contextmanager
        def result():
            with sentences((sqlite3.Error, sqlite3.Warning), f"{path}: the query {query!r:.80} failed"):
                yield sqlite.result(path, connection, query)

        yield result


STREAMS = {".duckdb": duckdb_streams, ".ddb": duckdb_streams, ".sqlite": sqlite_streams, ".sqlite3": sqlite_streams, ".db": sqlite_streams}


@contextmanager
def sentences(failures, what):
    """Raises a DataError for errors of a database, at once or while it returns rows."""
    try:
        yield
    except failures as error:
        first_line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DataError(f"{what}: {first_line.rstrip('.!')}.") from None
