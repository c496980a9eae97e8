"""Files of data in any format, by their endings: `read` and `stream` return parts, `open` the file. A format is a class of files."""

from __future__ import annotations

import inspect
import operator
from contextlib import contextmanager
from importlib import import_module

import attrs

from structperc.basics.errors import OptionError, did_you_mean, shortened
from structperc.files.opening import ending_within, name_of
from structperc.reading.other_libraries import is_query

__all__ = ["open", "read", "stream"]

COLUMNS, FEATURES, TOKENS, ITEMS = "named columns", "numbered features", "tokens", "items"      # what a format holds


@attrs.frozen
class Format:
    """A format of data."""
    # noun: str. For messages.
    # address: str. `module:class` in `structperc.files`. `class.opened(path, **options)` is a context manager of a file, whose
    # `parts(rows=None, **options)` yields what it holds. `class.holds` is the kind of it.
    # endings: tuple of str. Of file names, in small letters.
    # about: str. What the commands' help adds to the noun.
    # extra: str or None. The extra of structperc that installs what reads it.
    # compressed: bool. Whether its files may be compressed, and standard input may be one.
    # also_called: tuple of str. What users may call it.

    noun: str
    address: str
    endings: tuple = ()
    about: str = ""
    extra: str | None = None
    compressed: bool = False
    also_called: tuple = ()

    @property
    def file(self):
        """The class of its files."""
        module, _, name = self.address.partition(":")
        return getattr(import_module(f"structperc.files.{module}"), name)

    @property
    def holds(self) -> str:
        return self.file.holds

    @property
    def opening(self) -> list:
        """The names of the options of opening a file."""
        return list(inspect.signature(self.file.opened).parameters)[1:]

    @property
    def options(self) -> list:
        """The names of all options, but for `rows`."""
        return [*self.opening, *(name for name in inspect.signature(self.file.parts).parameters if name not in ("self", "rows"))]


FORMATS = {
    "csv": Format("a CSV file", "csv_tables:CsvFile", (".csv", ".tsv"), "A header line names the columns.", compressed=True,
                  also_called=("tsv", "txt")),
    "svmlight": Format("an svmlight file", "svmlight:SvmlightFile", (".svm", ".svmlight", ".libsvm"),
                       'Lines such as "3 1:0.5 7:2": the label, then index:value.', compressed=True),
    "parquet": Format("a Parquet file", "parquet:ParquetFile", (".parquet", ".pq"), "Named columns, as in csv.", "parquet"),
    "arrow": Format("an Arrow file", "arrow:ArrowFile", (".arrow", ".feather"), "Named columns, as in csv.", "parquet"),
    "duckdb": Format("a DuckDB database", "databases:DuckdbResult", (".duckdb", ".ddb"), 'With --query "select ...".', "databases"),
    "sqlite": Format("an SQLite database", "databases:SqliteResult", (".sqlite", ".sqlite3", ".db"), 'With --query "select ...".',
                     "databases"),
    "conll": Format("a file of columns", "conll:ConllFile", (".conll",),
                    "One token per line, its cells separated by tabs or spaces. A blank line ends a sentence (structperc help columns).",
                    compressed=True),
    "conllu": Format("a CoNLL-U file", "conll:ConlluFile", (".conllu",), "A treebank of Universal Dependencies.", compressed=True),
    "crfsuite": Format("a data file of CRFsuite", "crfsuite_data:CrfsuiteFile", (),
                       "A label and attributes with tabs between them on each line, and a blank line after each sequence.",
                       compressed=True),
}


class TextFile:
    """A file of lines; each pass opens the file again."""

    def __init__(self, path):
        self.path, self.name = path, name_of(path)

    @classmethod
    @contextmanager
    def opened(cls, path):
        """The file at a path, under reading."""
        yield cls(path)


def format_of(path) -> str | None:
    """The format that the ending of a name sets, compressed or not, in any case; None: no format has it. Arrow streams are "arrow"."""
    if hasattr(path, "__arrow_c_stream__") or is_query(path):
        return "arrow"
    ending = ending_within(path)
    return next((name for name, format in FORMATS.items() if ending in format.endings), None)


def that_hold(*kinds) -> list[str]:
    """The formats that hold these."""
    return [name for name, format in FORMATS.items() if format.holds in kinds]


def endings_of(*names) -> str:
    """The endings of formats, in words."""
    return ", ".join(ending for name in names for ending in FORMATS[name].endings)


def that_take(option) -> list[str]:
    """The formats that have an option."""
    return [name for name, format in FORMATS.items() if option in format.options]


def read(path, *, format=None, **options):
    """Read a whole file of data. Raises `DataError`, `OptionError` or `MissingExtra` as of `stream`.

    Parameters
    ----------
    path : path
        As of `stream`.
    format : str, optional
    **options
        As of `stream`, but for `rows`.

    Returns
    -------
    structperc.files.tables.Table, or structperc.files.conll.ColumnFile

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from structperc import files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "visits.csv").write_text("age,level\\n31,1\\n58,2\\n")
    ...     table = files.read(f"{folder}/visits.csv", target="level")
    >>> list(table.X.columns), table.y.tolist()
    (['age'], [1, 2])
    """
    (part,) = stream(path, format=format, **options)
    return part


def stream(path, *, format=None, rows=None, **options):
    """Read a file of data part by part, for data that are larger than memory.

    Parameters
    ----------
    path : path
        A file, or a URL such as s3://bucket/visits.parquet. Text may be compressed (.gz, .bz2, .xz), and "-" is standard input. Also an
        object with `__arrow_c_stream__`, which is read once, or a polars LazyFrame.
    format : {"csv", "svmlight", "parquet", "arrow", "duckdb", "sqlite", "conll", "conllu", "crfsuite"}, optional
        Without it, the ending of the name decides. A name with another ending is that of a CSV file.
    rows : int, optional
        The most rows, lines or sentences of a part. Parts end with whole groups, and wide rows make smaller parts. None: one part of all.
    **options
        Those of the format. The notes list them.

    Returns
    -------
    iterator of structperc.files.tables.Table
        Of tokens `structperc.files.conll.ColumnFile`. Of CRFsuite a part has sequences `X` and their labels `y`.

    Raises
    ------
    DataError
        The file is empty, damaged or of another form, or a column is missing. It names the place.
    OptionError
        An unknown format, or an option that the format lacks.
    OSError
        The file cannot be opened.
    MissingExtra
        A library is not installed.

    Notes
    -----
    Options of named columns (csv, parquet, arrow, duckdb, sqlite):

    target : str or pair of str
        The column of labels. A pair has the columns of the lowest and of the highest admissible label. An empty cell is then an open end. A
        str with a comma is such a pair, unless a column is called so. Of conll and conllu, several columns are the cells of a label.
    features : sequence of str
        The columns of X in order; the others are ignored. Without it, all but target, weight and group.
    weight : str
        The column of sample weights.
    group : str
        Neighbouring rows with the same text in this column are one example. In svmlight it is "qid".
    text_labels : bool
        Whether labels are text even where they look like numbers. False: they are numbers, so that 007 is 7. Without it they are numbers if
        none of their texts changes by that. So 007, 1E5, 0.10 and all labels beside them are text. In parts, the first part decides, and an
        error names a later label that does not fit.
    as_text : sequence of str
        For `structperc.components.TableReader`. X is then a data frame with these columns as text. Others are text if any cell is neither
        empty nor a number. Without it all columns of X must be numbers.
    keep : sequence of str
        Columns whose text is kept beside X, in `Table.kept`.
    missing : sequence of str, or dict from str to sequence of str
        As of `structperc.components.TableReader`, also of labels, of which none may be missing.
    keys : sequence of str
        Columns that identify rows, as the ends of a pair do. X is then a data frame with these columns as whole numbers, numbers or text,
        none of them rounded.

    Further options:

    separator, decimal : str
        Of csv: the characters between cells and before decimals.
    encoding : str
        Of csv: "utf-8", "cp1252", "latin-1", "utf-16".
    query : str
        Of duckdb and sqlite: SQL such as "select * from visits order by day". Without `order by` rows may have another order the next time.
        Databases are opened read-only.
    n_features : int
        Of svmlight: how many columns X has. Without it each part has as many as it needs. Column i is what the file calls i.
    columns : sequence of str
        Of conll and conllu: the columns in order, "_" or "-" for those to leave out. X has their cells, without those of the target.
        CoNLL-U has its own names, which also choose columns: id, form, lemma, upos, xpos, feats, head, deprel, deps, misc. With a target
        the default is form.

    Examples
    --------
    >>> import tempfile
    >>> from structperc import files
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("age,level\\n31,low\\n40,low\\n62,high\\n")
    ...     file.flush()
    ...     [part.y.tolist() for part in files.stream(file.name, target="level", rows=2)]
    [['low', 'low'], ['high']]
    """
    chosen = chosen_format(path, format, options)
    rows = checked_rows(rows)
    opening = {name: options.pop(name) for name in chosen.opening if name in options}
    return parts_of(chosen.file.opened(path, **opening), rows, options)


def open(path, *, format=None, **options):
    """Open a file of data, for several passes over its parts. An Arrow file stays mapped.
    Raises `DataError`, `OptionError` or `MissingExtra` as of `stream`.

    Parameters
    ----------
    path : path
    format : str, optional
        As of `stream`.
    **options
        Of opening the file: `separator`, `decimal` and `encoding` of csv, `query` of duckdb and sqlite.

    Returns
    -------
    context manager
        Of a file whose method `parts(rows=None, **options)` yields parts as `stream` does. A file of svmlight has `survey()`: its labels,
        and its number of features.

    Examples
    --------
    >>> from structperc import files
    >>> with files.open("visits.arrow") as file:                                        # doctest: +SKIP
    ...     fit_stream(engine, lambda: file.parts(target="level", rows=65536))
    """
    return chosen_format(path, format, options, opening=True).file.opened(path, **options)


def parts_of(opened, rows, options):
    """The parts of a file that is not open yet."""
    with opened as file:
        yield from file.parts(rows=rows, **options)


def chosen_format(path, name, options, opening=False) -> Format:
    """The format of a file that is read with these options; `opening`: only those of opening it."""
    name = format_of(path) or "csv" if name is None else name
    if name not in FORMATS:
        also_called = {one: kind.also_called for one, kind in FORMATS.items()}
        raise OptionError(f"format={shortened(name)}: expected one of {', '.join(FORMATS)}.{did_you_mean(name, FORMATS, also_called)}")
    chosen = FORMATS[name]
    names = chosen.opening if opening else chosen.options
    for option in options:
        if option not in names:
            takes = f"it takes {', '.join(names)}" if names else "it takes none"
            others = [other for other in that_take(option) if other != name]
            remedy = f" Formats that do: {', '.join(others)}." if others and not opening else did_you_mean(option, names)
            raise OptionError(f"{option}={shortened(options[option])}: {shown(path)} is read as {name}, which has no such option; "
                              f"{takes}.{remedy}")
    if "query" in names and options.get("query") is None:
        raise OptionError(f"{shown(path)} is a database; choose its rows by query, such as query='select * from visits'.")
    return chosen


def shown(path) -> str:
    """What messages call a file or a stream."""
    return "the Arrow stream" if hasattr(path, "__arrow_c_stream__") or is_query(path) else name_of(path)


def checked_rows(rows):
    """The number of rows of a part, None for all."""
    if rows is None:
        return None
    try:
        number = operator.index(rows)
    except TypeError:
        number = 0
    if isinstance(rows, bool) or number < 1:
        raise OptionError(f"rows={shortened(rows)}: expected a whole number from 1 on, or None for one part of all rows.")
    return number
