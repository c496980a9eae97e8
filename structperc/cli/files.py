"""The files that a command names: data as tables, and paths that can be written."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from functools import partial
from itertools import chain, pairwise
from pathlib import Path

import attrs
import numpy as np

from structperc.basics.errors import shortened
from structperc.basics.labels import codes_of, is_listed, is_nested, plain
from structperc.cli import column_files, item_files
from structperc.cli.settings import flags_of
from structperc.cli.source import Source
from structperc.cli.table_flags import in_flags
from structperc.core.component import overrides
from structperc.core.outputs import is_ordered
from structperc.errors import DataError, OptionError, PluginError, StructPercError
from structperc.files import csv_tables, formats, tables
from structperc.files.opening import ending_of
from structperc.fitting.assembly import ask, options_alone
from structperc.reading.column_faults import ColumnError
from structperc.reading.table_options import TableOptions
from structperc.reading.table_reader import Numbers

STANDARD_OUTPUT = "-"
PART_ROWS = 1 << 16         # examples of a part, at most; a part is also bounded by bytes


def parts(source, plugins=(), *, needs_target=True, features=None, n_features=None, text_labels=None, reader=None, keep=(), labels=()):
    """The data of `fit` from any format, as the flags set it: tables of as many rows as the source sets, one after the other."""
    if source.has_columns:
        return column_files.parts(source, plugins)
    if source.has_items:
        return item_files.parts(source)
    path, target, group, weight = source.path, source.target if needs_target else None, source.group, source.weight
    if weight is not None and group is not None:
        raise OptionError("--weight weighs single rows, but with --group an example is many rows; leave one of them out.")
    if source.has_features:
        if keep:
            raise OptionError(f"--keep and --groups name columns, but {path} is read as {source.format}, which has no names; leave them "
                              f"out.")
        return formats.stream(path, format=source.format, n_features=n_features, group=group, rows=source.rows)
    if target is None and needs_target:
        with opened_frames(source) as file:
            hint = csv_tables.form_hint(file.header)
            raise OptionError(f"{formats.FORMATS[source.format].noun} needs --target NAME, the column of right labels; {file.name} has "
                              f"{', '.join(map(repr, file.header))}.{hint}")
    as_text, keys = (None, None) if reader is None else (reader.input_columns().texts, reader.input_columns().key_places)
    return frame_parts(source, reader, target=target, weight=weight, group=group, features=features, text_labels=text_labels,
                       as_text=as_text, keep=keep, missing=missing_of(reader, target, labels), keys=keys)


def missing_of(reader, target, labels):
    """What returns the words of a column that mean that nothing is known. A label that the model has is no such word."""
    words = None if reader is None else reader.input_columns().missing
    words = TableOptions().missing_words if words is None else words
    names = set(labels)
    return lambda name: words(name) - names if target is not None and name in target else words(name)


def frame_parts(source, reader, **columns):
    """The tables of a file of named columns."""
    with opened_frames(source) as file:
        file.advise = in_flags if reader is None or reader.takes_tables else partial(in_python, reader)
        if reader is not None and reader.takes_tables:
            file.tables = named_numbers         # without pandas, whose import takes a second
        try:
            yield from file.parts(**columns, rows=source.rows)
        except ColumnError as error:
            if columns.get("keys") is None:
                raise
            raise DataError(f"{error} Or name the columns of keys, which may hold texts, by --set keys=NAME,NAME.") from None


def named_numbers(names):
    """Makes X of matrices with these columns, as the readers of structperc read it."""
    return partial(Numbers, columns=tuple(names))


def in_python(reader, faults, encoded) -> str:
    """Advice on columns of texts for an author's reader: commands pass it numbers only."""
    return (f"{type(reader).__name__}.read gets columns of numbers from commands. Train it in Python, where Engine.fit passes it X as "
            f"it is")


def opened_frames(source):
    """The file of named columns, under reading."""
    separator = source.opening().get("separator", ",")
    if len(separator) != 1:
        raise OptionError(f"--separator {separator!r}; expected one character, or tab.")
    return formats.open(source.path, format=source.format, **source.opening())


def read(source, plugins=(), **options):
    """All the data of `fit`; see `parts`."""
    (table,) = parts(source, plugins, **options)
    return table


def parts_for(engine, arguments, needs_target=True, rows=None, keep=()):
    """Data with the columns of the trained engine, a part of the rows at a time. Columns are selected by name if it has names."""
    of_columns, of_items = column_files.reads_columns(engine), item_files.reads_items(engine)
    source = Source.from_arguments(arguments, "conll" if of_columns else "crfsuite" if of_items else None, rows, engine.notes.get("data"))
    if of_items:
        item_files.refuse_format(source)
        yield from item_files.parts(source)
        return
    if of_columns != source.has_columns or source.has_items:
        takes = " or ".join(formats.that_hold(*([formats.TOKENS] if of_columns else [formats.COLUMNS, formats.FEATURES])))
        raise OptionError(f"{source.path} is read as {source.format}, but the model was trained on {takes}; pass --format if it is that.")
    if of_columns:
        yield from column_files.parts_for(engine, source, needs_target)
        return
    if source.group is not None and engine.parts_.features.layout.atoms_per_example is not None:
        raise OptionError(f"--group makes examples of many rows, but the model of {engine.problem} predicts single rows; leave it out.")
    names, labels = getattr(engine, "feature_names_in_", None), getattr(engine, "classes_", None)
    with closing(parts(source, needs_target=needs_target, features=None if names is None else list(names),
                       n_features=engine.n_features_in_, text_labels=labels is not None and is_text(labels.tolist()),
                       reader=engine.parts_.reader, keep=keep, labels=() if labels is None else labels.tolist())) as table_parts:
        for table in table_parts:
            if hasattr(table.y, "categories"):
                table = attrs.evolve(table, y=np.asarray(table.y, dtype=str))
            if labels is not None and table.y is not None:
                table = attrs.evolve(table, y=as_known(table.y, labels))
            refuse_intervals(table, engine.parts_.outputs, engine.problem)
            yield table


def read_for(engine, arguments, **options):
    """All the data for `evaluate`, `plot` and `effects`; see `parts_for`."""
    (table,) = parts_for(engine, arguments, **options)
    return table


def as_known(y, labels):
    """Labels of a file as the model has them: dates for their texts; others as they are."""
    if y.dtype.kind != "U" or labels.dtype.kind not in "mMS":
        return y
    codes = codes_of_texts(labels)
    known = all(text in codes for text in y.ravel().tolist())
    return labels[[codes[text] for text in y.ravel().tolist()]].reshape(y.shape) if known else y


def codes_of_texts(labels) -> dict:
    """The number of each label, from 0, by the texts that files and users write for it."""
    return {text: k for label, k in codes_of(labels).items() for text in (str(label), str(plain(label)))}


def refuse_intervals(table, outputs, problem) -> None:
    """Only outputs of which part may be known, in an order, are learned from intervals."""
    if getattr(table.y, "ndim", 1) == 2 and not (outputs.partial_gold and is_ordered(outputs)):
        raise OptionError(f"--target names two columns, the ends of intervals of ranks, but {problem} needs single labels. Name one "
                          f"column, or fit a problem for intervals, such as interval-pa.")


def exact_rows(y):
    """Which rows have one right label: those of intervals with equal ends, all others of a plain column."""
    return y[:, 0] == y[:, 1] if y.ndim == 2 else np.ones(len(y), dtype=bool)


def answers(engine, table):
    """What the engine is to learn or to be measured by: what each row is given, or the marked rows of each group."""
    outputs = outputs_of(engine)
    if has_cells(outputs):
        return [read_cells(outputs, cells) for cells in cells_of(table.y, table.offsets)]
    learns_rows = labels_rows(engine) or outputs.per_row
    return table.y if table.offsets is None or learns_rows else tables.marked_rows(table.y, table.offsets)


def has_cells(outputs) -> bool:
    """Whether outputs of an author say how a column of a file holds them."""
    return overrides(outputs, "read_cells")


def cells_of(y, offsets) -> list:
    """The cells of the target column, a list for each example. Sentences of a file of tokens have them in lists already."""
    if is_nested(y):
        return y
    cells = np.asarray(y).tolist()
    return [[cell] for cell in cells] if offsets is None else [cells[a:b] for a, b in pairwise(np.asarray(offsets).tolist())]


def read_cells(outputs, cells):
    """The right output that an author's outputs read from the cells of one example."""
    try:
        return outputs.read_cells(cells)
    except StructPercError:
        raise
    except Exception as error:
        raise DataError(f"{type(outputs).__name__}.read_cells cannot read the target {shortened(cells, 80)}: {type(error).__name__}: "
                        f"{error}") from error


def written_cells(outputs, answer, n_rows) -> list:
    """The cells that an author's outputs write of one prediction."""
    cells = outputs.write_cells(answer, n_rows)
    if not is_listed(cells) or len(cells) != n_rows:
        raise PluginError(f"{type(outputs).__name__}.write_cells returned {shortened(cells, 80)}; expected {n_rows} cells.")
    return list(cells)


def row_answers(engine, predicted, offsets):
    """The inverse of `answers`: what each row is predicted to be."""
    outputs = outputs_of(engine)
    if has_cells(outputs):
        sizes = [1] * len(predicted) if offsets is None else np.diff(offsets).tolist()
        return [cell for answer, n in zip(predicted, sizes, strict=True) for cell in written_cells(outputs, answer, n)]
    if offsets is None:
        return predicted
    return list(chain.from_iterable(predicted)) if labels_rows(engine) else tables.row_marks(predicted, offsets)


def outputs_of(engine):
    """The outputs that an engine has, or is going to have."""
    return ask(engine, "outputs", options_alone(engine)) if engine.model is None else engine.parts_.outputs


def reader_of(engine):
    """The reader that an engine has, or is going to have."""
    return ask(engine, "reader", options_alone(engine)) if engine.model is None else engine.parts_.reader


def labels_rows(engine) -> bool:
    """Whether each row of an example has a label of its own."""
    return bool(flags_of(engine.plugin_options))


@contextmanager
def counted_in(table, path):
    """Adds the place of a part in the file to errors about it."""
    try:
        yield
    except ColumnError as error:
        raise error.advised(in_flags, where=path, place=lambda row: f"row {table.first + row + 1}") from None
    except DataError as error:
        if isinstance(table, column_files.Tokens):
            error.args = (table.located(str(error)),)
        elif table.first:
            error.args = (f"{error} (Examples are counted here from the part of {path} that begins after {table.first} rows.)",)
        raise


def is_text(labels) -> bool:
    return all(isinstance(label, str) for label in labels)


def checked_ending(path, *endings) -> str:
    """The ending of the name of --output, one of these, without its point and in small letters."""
    ending = ending_of(path)[1:]
    if ending not in endings:
        *others, last = (f".{one}" for one in endings)
        raise OptionError(f"--output {path!r}: expected a name that ends with {', '.join(others)} or {last}.")
    return ending


def check_writable(flag, path, *inputs) -> None:
    """Raises an error for an output path that cannot be written or is an input. It does so before any long computation."""
    target = Path(path).resolve()
    special = target.exists() and not target.is_file() and not target.is_dir()      # a pipe or a device is written to, not replaced
    if str(path) == STANDARD_OUTPUT:
        problem = "only predict takes - for standard output"
    elif target.is_dir():
        problem = "it is a folder"
    elif special:
        problem = None if os.access(target, os.W_OK) else "it takes no output"
    elif any(source is not None and target.is_file() and os.path.exists(source) and os.path.samefile(target, source) for source in inputs):
        problem = "it is an input of this command"
    elif not target.parent.is_dir():
        problem = f"there is no folder {str(target.parent)!r}"
    elif not os.access(target.parent, os.W_OK):
        problem = f"the folder {str(target.parent)!r} is not writable"
    else:
        problem = None
    if problem is not None:
        raise OptionError(f"{flag} {path!r} cannot be written: {problem}; choose another path.")
