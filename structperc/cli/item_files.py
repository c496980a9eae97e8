"""Data files of CRFsuite for the commands: sequences of items, dicts of attributes, each with its label."""

from __future__ import annotations

from structperc.cli.column_files import Tokens, reads_columns
from structperc.errors import DataError, OptionError
from structperc.files import formats
from structperc.reading.named import NamedReader


def parts(source):
    """The data, in parts of as many sequences as the source sets."""
    for file in formats.stream(source.path, format=source.format, rows=source.rows):
        yield Tokens(file, file.X, file.y, plain=True)


def reads_items(engine) -> bool:
    """Whether a trained engine reads items: tokens with named features, which no template makes."""
    return not reads_columns(engine) and bool(getattr(engine.parts_.reader, "named", False))


def refuse_reader(engine, reader, path) -> None:
    """Raises an error for a problem that does not learn from items."""
    if not isinstance(reader, NamedReader):
        raise OptionError(f"{path} is read as crfsuite, sequences of items, but {engine.problem} does not learn from these; sequence does.")


def refuse_format(source) -> None:
    """Raises an error for data without items, beside a model that reads them."""
    if not source.has_items:
        raise DataError(f"{source.path} is read as {source.format}, but the model was trained on tokens with named features. Data files of "
                        f"CRFsuite have such; pass --format crfsuite if it is one.")
