"""The files that a command names: data as tables, and paths that can be written."""

from __future__ import annotations

import os
from pathlib import Path

from structperc import tables
from structperc.errors import OptionError


def read(arguments, path, *, needs_target=True, weight=None, features=None, n_features=None, text_labels=False):
    """A table from either format, as the flags say."""
    target, group = (arguments.target if needs_target else None), arguments.group
    if weight is not None and group is not None:
        raise OptionError("--weight weighs single rows, but with --group an example is many rows; leave one of them out.")
    if (arguments.format or tables.guess_format(path)) == "svmlight":
        if target is not None or weight is not None:
            flag = "--target" if target is not None else "--weight"
            raise OptionError(f"{path} is read as svmlight, which has no named columns; leave out {flag}, or say --format csv.")
        if group not in (None, "qid"):
            raise OptionError(f"--group {group}: {path} is read as svmlight, where the only groups are those of --group qid.")
        return tables.read_svmlight(path, n_features=n_features, grouped=group is not None)
    separator = "\t" if arguments.separator == "tab" else arguments.separator
    if len(separator) != 1:
        raise OptionError(f"--separator {separator!r}; expected one character, or tab.")
    if target is None and needs_target:
        columns = ", ".join(map(repr, tables.read_header(path, separator)))
        raise OptionError(f"a CSV file needs --target NAME, the column of right answers; {path} has {columns}.")
    return tables.read_csv(path, target=target, weight=weight, group=group, features=features, text_labels=text_labels, separator=separator)


def read_for(engine, arguments, path, needs_target=True):
    """A table with the columns that the engine was trained with, found by name where it knows names."""
    names, labels = getattr(engine, "feature_names_in_", None), getattr(engine, "classes_", None)
    return read(arguments, path, needs_target=needs_target, features=None if names is None else list(names),
                n_features=engine.n_features_in_, text_labels=labels is not None and is_text(labels.tolist()))


def answers(table):
    """What the engine is to learn or to be measured by: a label for each row, or the marked rows of each group."""
    return table.y if table.offsets is None else tables.marked_rows(table.y, table.offsets)


def is_text(labels) -> bool:
    return all(isinstance(label, str) for label in labels)


def check_writable(path) -> None:
    """Refuses a path that cannot be written before time is spent on what should go there."""
    folder = Path(path).absolute().parent
    if Path(path).is_dir():
        problem = "it is a folder"
    elif not folder.is_dir():
        problem = f"there is no folder {str(folder)!r}"
    elif not os.access(folder, os.W_OK):
        problem = f"the folder {str(folder)!r} is not writable"
    else:
        return
    raise OptionError(f"{path!r} cannot be written: {problem}; choose another path.")
