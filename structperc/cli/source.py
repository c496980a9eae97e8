"""The data that a command names: path, format and columns, made once from the arguments and handed on."""

from __future__ import annotations

from pathlib import Path

import attrs

from structperc.cli.settings import COLUMN_FLAGS
from structperc.errors import OptionError
from structperc.files import conll, databases, tables

CSV_FLAGS = {"separator": "--separator", "decimal": "--decimal", "encoding": "--encoding"}
TABLE_FLAGS = {"group": "--group", "weight": "--weight", **CSV_FLAGS}
NAMED_COLUMNS = ("target", "group")
NOTED = (*NAMED_COLUMNS, *CSV_FLAGS)        # what a model keeps of the table that it was trained on
DATABASE = "database"       # the format of data that --query chooses
ITEMS = "crfsuite"          # the format of CRFsuite's data files
FRAMES = {DATABASE, *(name for name, format in tables.FORMATS.items() if format.has_names)}


@attrs.frozen
class Source:
    """Where data lie, and the flags for reading them; None: a flag that was not given, or that the command lacks."""
    # target, columns, template, group, weight, separator, decimal, encoding: str or None
    # query: str or None. Of a database.
    # rows: int or None. How many examples are read at a time; None: all.

    path: str
    format: str
    target: str | None = None
    columns: str | None = None
    template: str | None = None
    group: str | None = None
    weight: str | None = None
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    query: str | None = None
    rows: int | None = None

    @classmethod
    def from_arguments(cls, arguments, default=None, rows=None, notes=None):
        """The source of a command, whose format is that of --format, of the file's name or of --columns, else `default`."""
        # Flags of another format than that of the data raise an error. Missing flags have the values of training, from `notes`.
        path = arguments.data
        flags = {name: getattr(arguments, name, None) for name in ("target", *COLUMN_FLAGS, *TABLE_FLAGS)}
        passed = {name for name, value in flags.items() if value is not None}
        default = "conll" if passed & set(COLUMN_FLAGS) else None if tables.says_csv(path) else default
        default = default or tables.guess_format(path)
        query = getattr(arguments, "query", None)
        if query is not None:
            default = DATABASE
        elif Path(path).suffix.lower() in databases.STREAMS and arguments.format is None:
            raise OptionError(f"{path} is a database; choose its rows by --query, such as --query 'select * from visits'.")
        source = cls(path, arguments.format or conll.guess_format(path) or default, **flags, query=query, rows=rows)
        if query is not None and source.format != DATABASE:
            raise OptionError(f"{path} is read as {source.format}, for which --query means nothing; leave it out, or leave out --format.")
        foreign, others = source.foreign_flags()
        for name, flag in foreign.items():
            if name in passed:
                raise OptionError(f"{path} is read as {source.format}, for which {flag} means nothing; leave it out, or pass --format "
                                  f"{' or '.join(others)}.")
        for name, flag in CSV_FLAGS.items():
            if source.format != "csv" and name in passed:
                raise OptionError(f"{path} is read as {source.format}, for which {flag} means nothing; leave it out, or pass --format csv.")
        return attrs.evolve(source, **source.remembered(notes or {}, passed))

    def notes(self) -> dict:
        """What later commands do not need as flags."""
        return {name: getattr(self, name) for name in ("format", *NOTED) if getattr(self, name) is not None}

    def remembered(self, notes, passed) -> dict:
        """The flags in the notes of a training that apply to data like these."""
        if notes.get("format") == self.format:
            names = NOTED if not self.has_columns else ("target",) if self.conllu else ()
        else:
            names = NAMED_COLUMNS if {notes.get("format"), self.format} <= FRAMES else ()
        return {name: notes[name] for name in names if name not in passed and isinstance(notes.get(name), str)}

    def foreign_flags(self) -> tuple:
        """Flags that mean nothing for data of this format, and the formats for which they do."""
        if self.has_items:
            return {"target": "--target", **TABLE_FLAGS, **COLUMN_FLAGS}, (*tables.FORMATS, *conll.FORMATS)
        return (TABLE_FLAGS, tables.FORMATS) if self.has_columns else (COLUMN_FLAGS, conll.FORMATS)

    @property
    def of_tokens(self) -> bool:
        """Whether examples are sequences of tokens, a line each."""
        return self.has_columns or self.has_items

    @property
    def has_items(self) -> bool:
        """Whether it is a data file of CRFsuite."""
        return self.format == ITEMS

    @property
    def has_columns(self) -> bool:
        """Whether it is a file of columns, a token a line."""
        return self.format in conll.FORMATS

    @property
    def conllu(self) -> bool:
        return self.format == "conllu"
