"""`structperc explain`: why one example of a file got its prediction, as text, a page or a picture."""

from __future__ import annotations

import shutil
from contextlib import closing

from structperc import Engine
from structperc.basics.labels import plain_labels
from structperc.basics.writing import replace_file
from structperc.cli.column_files import Tokens
from structperc.cli.commands import Command, path, positive, reading
from structperc.cli.files import PART_ROWS, check_writable, checked_ending, codes_of_texts, counted_in, parts_for
from structperc.cli.terminal import say, say_drawn
from structperc.errors import DataError, OptionError
from structperc.extras import require
from structperc.pictures.markup import page

PICTURES = ("png", "svg", "pdf")
DOTS_PER_INCH = 150


def explain(arguments) -> int:
    """Explains the example that --row names."""
    kind = None
    if arguments.output:
        check_writable("--output", arguments.output, arguments.model, arguments.data)
        kind = checked_ending(arguments.output, "html", *PICTURES)
    engine = Engine.load(arguments.model)
    x, y, table = example(engine, arguments)
    with counted_in(table, arguments.data):
        against = None if arguments.against is None else label_named(engine, arguments.against, "--against")
        explanation = engine.explain(x, against=against, baseline=arguments.baseline)
    right = "" if y is None else f", right {y}"
    if kind is None:
        say(f"row {arguments.row} of {arguments.data}: predicted {explanation.winner}{right}", "")
        say_drawn(*explanation.text(shutil.get_terminal_size().columns - 2).split("\n"))
        return 0
    if kind == "html":
        content = page(f"Row {arguments.row} of {arguments.data}", explanation.html()).encode()
        replace_file(arguments.output, lambda file: file.write(content))
    else:
        figure = require("matplotlib.figure", "a picture", "plot").Figure(figsize=explanation.size(), layout="constrained")
        explanation.plot(figure.subplots())
        replace_file(arguments.output, lambda file: figure.savefig(file, format=kind, dpi=DOTS_PER_INCH))
    say(f"{arguments.output} shows why row {arguments.row} of {arguments.data} is predicted {explanation.winner}{right}")
    return 0


def example(engine, arguments):
    """The requested example, its right output or None, and its part of the data."""
    wanted, seen = arguments.row - 1, 0
    with closing(parts_for(engine, arguments, needs_target=arguments.target is not None, rows=PART_ROWS)) as tables:
        for table in tables:
            i = wanted - seen
            if i < table.n_examples:
                return (*record_of(table, i), table)
            seen += table.n_examples
    raise DataError(f"{arguments.data} has {seen} examples; --row {arguments.row} is none of them.")


def record_of(table, i):
    """Example i of a table and its right output."""
    if isinstance(table, Tokens):
        return table.X[i], None if table.y is None else table.y[i]
    first, last = (i, i + 1) if table.offsets is None else table.offsets[i:i + 2]
    x = table.X.iloc[first:last] if hasattr(table.X, "iloc") else table.X[first:last]
    if table.y is None:
        return x, None
    return x, table.y[first:last].tolist() if table.offsets is not None else table.y[i]


def label_named(engine, text, flag):
    """The label that a flag's text means."""
    labels = getattr(engine, "classes_", None)
    if labels is None or not engine.parts_.outputs.n_labels:
        raise OptionError(f"{flag} names a label, but {engine.problem} does not predict single labels; leave it out.")
    code = codes_of_texts(labels).get(text)
    if code is None:
        raise OptionError(f"{flag} {text!r} is no label that the model knows; expected one of {', '.join(map(str, labels))}.")
    return plain_labels(labels)[code]


def explain_arguments(made) -> None:
    made.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    made.add_argument("data", metavar="DATA", type=path, help="the data; - for standard input")
    made.add_argument("--row", metavar="N", type=positive, default=1, help="the example: a row, group or sentence; default 1")
    made.add_argument("--against", metavar="LABEL", help="the rival of the prediction; default: the runner-up")
    made.add_argument("--baseline", choices=("mean", "zero"), help="compare columns with the training mean or with zero")
    made.add_argument("--target", metavar="NAME", help="the column of true labels, to print them too")
    made.add_argument("--output", metavar="FILE", type=path, help="a page or picture: .html, .png, .svg or .pdf")
    reading(made)


EXPLAIN = Command(explain, explain_arguments, """\
examples:
  structperc explain wine.model test.csv --row 3
  structperc explain wine.model test.csv --row 3 --against 5 --output row3.html
  structperc explain chunks.model test.txt --row 2

The margin of the prediction over its rival is split exactly by feature. Levels
along one direction show the way from the mean row's score to this one instead.
With --against they have a rival too. Kernels name training rows.

more: structperc help data, columns
""")
