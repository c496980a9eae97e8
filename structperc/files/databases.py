"""Results of queries as tables, whole or part by part: files of DuckDB and SQLite, through their drivers of ADBC."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from structperc.core.errors import DataError
from structperc.extras import require
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

    Returns
    -------
    Table

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

    The database is opened read-only. Queries of DuckDB and views in its file read no other files and load no extensions.
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
    with opened_database(path) as connection:
        @contextmanager
        def result():
            with failures_of(path, query), connection.cursor() as cursor:       # results of one cursor would share their rows
                cursor.execute(query)
                yield cursor.fetch_record_batch()

        def parts(rows, columns):
            with result() as reader:
                yield from parts_of_stream(reader, rows, columns)

        with result() as reader:
            schema = reader.schema
        yield ArrowFile(path, schema, parts)


def opened_database(path):
    """A connection to the database in a file, read-only."""
    suffix = Path(path).suffix.lower()
    if suffix not in OPENERS:
        raise DataError(f"{path} does not end like a database; expected one of {', '.join(OPENERS)}.")
    with open(path, "rb"):                # else SQLite makes an empty one
        pass
    manager = require("adbc_driver_manager", PURPOSE, EXTRA)
    try:
        return OPENERS[suffix](str(Path(path).resolve()))
    except manager.Error as error:
        raise DataError(f"{path} cannot be opened as a database: {first_line(error)}.") from None


def opened_duckdb(path):
    driver, manager = require("adbc_driver_duckdb", PURPOSE, EXTRA), require("adbc_driver_manager.dbapi", PURPOSE, EXTRA)
    return manager.connect(driver=driver.driver_path(), entrypoint="duckdb_adbc_init", db_kwargs={"path": path, **CONFINED})


def opened_sqlite(path):
    return require("adbc_driver_sqlite.dbapi", PURPOSE, EXTRA).connect(f"file:{quote(path)}?mode=ro")


OPENERS = {".duckdb": opened_duckdb, ".ddb": opened_duckdb, ".sqlite": opened_sqlite, ".sqlite3": opened_sqlite, ".db": opened_sqlite}


@contextmanager
def failures_of(path, query):
    """Raises a DataError if the query fails, at once or while it returns rows."""
    manager, arrow = require("adbc_driver_manager", PURPOSE, EXTRA), require("pyarrow", PURPOSE, EXTRA)
    try:
        yield
    except (manager.Error, arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        hint = MIXED if "expected INT64 but got" in str(error) or "Type mismatch" in str(error) else ""
        raise DataError(f"{path}: the query {query!r:.80} failed: {first_line(error)}.{hint}") from None


MIXED = (" The driver takes the type of a column from its first rows. Order the rows so that one of the widest type "
         "is first, as by order by typeof(NAME) = 'real' desc.")


def first_line(error) -> str:
    """The first line of a driver's message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".!")
