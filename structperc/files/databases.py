"""Results of queries as tables, whole or part by part: files of DuckDB, through its driver of ADBC, and of SQLite."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path

from structperc.basics.errors import DataError
from structperc.extras import require
from structperc.files import sqlite
from structperc.files.arrow import ArrowFile, parts_of_stream

PURPOSE, EXTRA = "reading databases", "databases"
CONFINED = {            # a view of the file's author reads no other file, and loads no code
    "access_mode": "READ_ONLY", "enable_external_access": "false", "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false", "lock_configuration": "true"}


class QueryResult(ArrowFile):
    """The result of a query on a database; each pass runs the query again."""

    @classmethod
    @contextmanager
    def opened(cls, path, query):
        """The database is opened read-only."""
        with open(path, "rb"):                # else SQLite makes an empty one
            pass
        with cls.results(path, query) as result:
            def read(rows, columns):
                with result() as reader:
                    yield from parts_of_stream(reader, rows, columns)

            with result() as reader:
                schema = reader.schema
            yield cls(path, schema, read)


class DuckdbResult(QueryResult):
    """Of DuckDB: queries, and views in the file, read no other files and load no extensions."""

    @staticmethod
    @contextmanager
    def results(path, query):
        """What returns the result as a stream."""
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


class SqliteResult(QueryResult):
    """Of SQLite. A column has the widest type of its cells: whole numbers, numbers or texts. One more pass looks at them."""

    @staticmethod
    @contextmanager
    def results(path, query):
        """What returns the result as a stream."""
        with sentences(sqlite3.Error, f"{path} cannot be opened as a database"), sqlite.connected(path) as connection:
            @contextmanager
            def result():
                with sentences((sqlite3.Error, sqlite3.Warning, UnicodeDecodeError), f"{path}: the query {query!r:.80} failed"):
                    yield sqlite.result(path, connection, query)

            yield result


@contextmanager
def sentences(failures, what):
    """Raises a DataError for errors of a database, at once or while it returns rows."""
    try:
        yield
    except failures as error:
        first_line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DataError(f"{what}: {first_line.rstrip('.!')}.") from None
