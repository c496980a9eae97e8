"""`structperc compare`: two models on the same data, measure by measure and row by row."""

from __future__ import annotations

from pathlib import Path

from structperc import Engine, metrics
from structperc.cli.files import answers, read_for
from structperc.cli.terminal import say, say_table
from structperc.errors import OptionError


def compare(arguments) -> int:
    """Prints the comparison."""
    paths = arguments.first, arguments.second
    first, second = map(Engine.load, paths)
    table, other = (read_for(engine, arguments) for engine in (first, second))
    if table.n_examples != other.n_examples:
        raise OptionError(f"{paths[0]} reads {table.n_examples} examples from {arguments.data} and {paths[1]} reads {other.n_examples}; "
                          f"compare models of the same kind of examples.")
    comparison = metrics.compare(first, second, table.X, answers(first, table), table.offsets, X_second=other.X, names=short(paths))
    for title, rows in comparison.tables():
        say(title)
        say_table(rows)
    return 0


def short(paths) -> tuple:
    """The files' names without folder and ending; the whole paths where these names are equal."""
    names = tuple(Path(path).stem for path in paths)
    return names if names[0] != names[1] else paths
