"""The data that a command names: path, format and columns, made once from the arguments and handed on."""

from __future__ import annotations

import attrs

from structperc.errors import OptionError
from structperc.files.formats import COLUMNS, FEATURES, FORMATS, ITEMS, TOKENS, format_of

OPENING = {"separator": "--separator", "decimal": "--decimal", "encoding": "--encoding", "query": "--query"}
FLAGS = {"target": "--target", "columns": "--columns", "template": "--template", "group": "--group", "weight": "--weight", **OPENING}
NAMED_COLUMNS = ("target", "group", "weight")
NOTED = (*NAMED_COLUMNS, "separator", "decimal", "encoding")       # what a model keeps of the table that it was trained on


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
        # Flags of another format than that of the data raise an error. Flags that were not passed have the values of training, from
        # `notes`, if the command has them.
        path, named = arguments.data, format_of(arguments.data)
        flags = {name: getattr(arguments, name, None) for name in FLAGS}
        passed = {name for name, value in flags.items() if value is not None}
        if named is None or FORMATS[named].holds != TOKENS:
            named = "conll" if passed & {"columns", "template"} else named
        source = cls(path, arguments.format or named or default or "csv", **flags, rows=rows)
        if source.takes("query") and source.query is None:
            raise OptionError(f"{path} is a database; choose its rows by --query, such as --query 'select * from visits'.")
        for name in FLAGS:
            if name in passed and not source.takes(name):
                others = [other for other in FORMATS if attrs.evolve(source, format=other).takes(name)]
                raise OptionError(f"{path} is read as {source.format}, for which {FLAGS[name]} means nothing; leave it out, or pass "
                                  f"--format {' or '.join(others)}.")
        lacking = {name for name in FLAGS if not hasattr(arguments, name)}
        return attrs.evolve(source, **source.remembered(notes or {}, passed | lacking))

    def notes(self) -> dict:
        """What later commands do not need as flags."""
        return {name: getattr(self, name) for name in ("format", *NOTED) if getattr(self, name) is not None}

    def remembered(self, notes, passed) -> dict:
        """The flags in the notes of a training that apply to data like these."""
        if notes.get("format") == self.format:
            names = NOTED if not self.has_columns else ("target",) if self.conllu else ()
        else:
            former = FORMATS.get(notes.get("format"))
            names = NAMED_COLUMNS if former is not None and former.holds == self.holds == COLUMNS else ()
        noted = {name: notes[name] for name in names if name not in passed and isinstance(notes.get(name), str)}
        marks = {self.separator, self.decimal}          # of flags: a noted mark that is the same character gives way
        return {name: value for name, value in noted.items() if name not in ("separator", "decimal") or value not in marks}

    def takes(self, name) -> bool:
        """Whether a flag means something for data of this format."""
        return name in FORMATS[self.format].options or name == "template" and self.has_columns

    def opening(self) -> dict:
        """The options of opening the file."""
        options = {name: getattr(self, name) for name in OPENING if getattr(self, name) is not None}
        return options | ({"separator": "\t"} if options.get("separator") == "tab" else {})

    @property
    def holds(self) -> str:
        """What kind of data it holds."""
        return FORMATS[self.format].holds

    @property
    def of_tokens(self) -> bool:
        """Whether examples are sequences of tokens, a line each."""
        return self.has_columns or self.has_items

    @property
    def has_items(self) -> bool:
        """Whether it is a data file of CRFsuite."""
        return self.holds == ITEMS

    @property
    def has_columns(self) -> bool:
        """Whether it is a file of columns, a token a line."""
        return self.holds == TOKENS

    @property
    def has_features(self) -> bool:
        """Whether its columns have numbers for names."""
        return self.holds == FEATURES

    @property
    def conllu(self) -> bool:
        return self.format == "conllu"
