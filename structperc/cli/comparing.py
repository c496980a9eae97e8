"""`structperc compare`: two models on the same data, measure by measure and row by row."""

from __future__ import annotations

from pathlib import Path

from structperc import Engine
from structperc.cli.commands import Command, path, reading
from structperc.cli.files import PART_ROWS, answers, counted_in, parts_for
from structperc.cli.terminal import say, say_table
from structperc.core.outputs import is_ordered
from structperc.errors import OptionError
from structperc.metrics.comparisons import comparison_of, refuse_other_labels
from structperc.metrics.engines import Judged


def compare(arguments) -> int:
    """Prints the comparison, with memory for one part of the data and the predictions of both models."""
    paths = arguments.first, arguments.second
    first, second = map(Engine.load, paths)
    models = first.model_, second.model_
    refuse_other_labels(*(model.context.labels for model in models), all(is_ordered(model.parts.outputs) for model in models))
    one, other = (judged(engine, arguments) for engine in (first, second))
    if len(one.right) != len(other.right):
        raise OptionError(f"{paths[0]} reads {len(one.right)} examples from {arguments.data} and {paths[1]} reads {len(other.right)}; "
                          f"compare models of the same kind of examples.")
    comparison = comparison_of(one, other, short(paths))
    for title, rows in comparison.tables():
        say(title)
        say_table(rows)
    return 0


def judged(engine, arguments) -> Judged:
    """What an engine has predicted for a file, read part after part."""
    parts = []
    for table in parts_for(engine, arguments, rows=PART_ROWS):
        with counted_in(table, arguments.data):
            rows = engine.model_.read(table.X, table.offsets)
            parts.append(Judged.of(engine.model_, rows, answers(engine, table), engine.predict_rows(rows)))
    return Judged.joined(parts)


def short(paths) -> tuple:
    """The files' names without folder and ending; the whole paths where these names are equal."""
    names = tuple(Path(path).stem for path in paths)
    return names if names[0] != names[1] else paths


def compare_arguments(made) -> None:
    made.add_argument("first", metavar="FIRST", type=path, help="a file written by fit")
    made.add_argument("second", metavar="SECOND", type=path, help="another model with the same labels")
    made.add_argument("data", metavar="DATA", type=path, help="held-out examples")
    made.add_argument("--target", metavar="NAME", help="the column of true labels; default: that of fit")
    reading(made)


COMPARE = Command(compare, compare_arguments, """\
example:
  structperc compare wine.model kernel.model test.csv

Differences are the second minus the first. Standard errors come from a
jackknife over 20 blocks of examples. McNemar's exact test compares the numbers
of examples that only one model predicts correctly. Rows must be independent.

more: structperc help measures, data, columns
""")
