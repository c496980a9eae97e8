"""`structperc predict`: predictions for a file, part after part."""

from __future__ import annotations

import io
import sys
from contextlib import closing
from itertools import chain

from structperc import Engine
from structperc.basics.writing import replace_file
from structperc.cli import answer_columns
from structperc.cli.column_files import Tokens, reads_columns
from structperc.cli.commands import Command, path, reading
from structperc.cli.files import PART_ROWS, STANDARD_OUTPUT, check_writable, counted_in, parts_for
from structperc.cli.item_files import reads_items
from structperc.cli.safe_cells import add_flag, safe_columns
from structperc.cli.terminal import Shown, say
from structperc.errors import OptionError
from structperc.files.tables import write_table


def predict(arguments) -> int:
    """Predicts part after part, with memory for one part."""
    if arguments.output == STANDARD_OUTPUT:
        arguments.output = None
    if arguments.output:
        check_writable("--output", arguments.output, arguments.model, arguments.data)
    keep = answer_columns.kept(arguments)
    engine = Engine.load(arguments.model)
    if arguments.probabilities and engine.temperature_ == 1:
        say(f"structperc predict: {arguments.model} was trained without --set calibrate=true, so that its probabilities are only scores "
            f"brought to sum to 1.", file=sys.stderr)
    of_tokens = reads_columns(engine) or reads_items(engine)
    if of_tokens:
        answer_columns.refuse_columns(arguments, "the model labels the tokens of files that keep all their cells")
    elif arguments.target is not None:
        raise OptionError("--target of predict names a column of tokens to fill in, but the model predicts rows; leave it out.")
    estimator = answer_columns.covering(arguments)
    with closing(parts_for(engine, arguments, needs_target=False, rows=PART_ROWS, keep=keep)) as tables:
        tables = chain([next(tables)], tables)          # faults of the data are found before a file is made

        def write(text):
            write_answers(engine, arguments, tables, text, estimator)

        if arguments.output:
            replace_file(arguments.output, lambda file: write_text(file, write))
        elif sys.stdout.isatty():
            write(Shown(sys.stdout))
        elif of_tokens and hasattr(sys.stdout, "buffer"):       # written byte for byte; the output of a notebook takes only text
            write_text(sys.stdout.buffer, write)
        else:
            write(sys.stdout)
    return 0


def write_answers(engine, arguments, tables, file, estimator=None) -> None:
    """The predictions for tables, in the form of the data."""
    header = True
    for table in tables:
        if isinstance(table, Tokens):
            with counted_in(table, arguments.data):
                predicted = answer_columns.sets_of_tokens(engine, estimator, table.X) if arguments.sets else engine.predict(table.X)
            table.write(file, predicted)
        else:
            with counted_in(table, arguments.data):
                columns = answer_columns.columns_of(engine, arguments, table, estimator)
            write_table(file, safe_columns(columns) if arguments.safe_cells else columns, header)
        header = False


def write_text(file, write) -> None:
    """Text in UTF-8 in a file opened for bytes."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    try:
        write(text)
        text.flush()
    finally:
        text.detach()


def predict_arguments(made) -> None:
    made.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    made.add_argument("data", metavar="DATA", type=path, help="the data; - for standard input")
    made.add_argument("--output", metavar="FILE", type=path, help="the file to write; default: standard output")
    made.add_argument("--target", metavar="NAME", help="the column of a file of tokens to fill in; in CoNLL-U that of fit")
    made.add_argument("--keep", metavar="A,B", action="append", default=[], help="columns of the data to copy to the output")
    made.add_argument("--scores", action="store_true", help="add the score of each label, or of each document")
    made.add_argument("--margin", action="store_true", help="add the margin over the runner-up")
    made.add_argument("--probabilities", action="store_true", help="add the probability of each label or row")
    made.add_argument("--interval", action="store_true", help="add the lowest and highest label (models of OrdinalConformal)")
    made.add_argument("--sets", action="store_true", help="add what is in the set of outputs (models of StructureConformal)")
    add_flag(made)
    reading(made)


PREDICT = Command(predict, predict_arguments, """\
examples:
  structperc predict wine.model new.csv
  structperc predict wine.model new.csv --output predictions.csv
  structperc predict visits.model new.csv --keep patient --probabilities
  structperc predict conformal.model new.csv --interval
  structperc predict structures.model new.csv --sets
  structperc predict plan.model talks.csv --group day
  structperc predict chunks.model new.txt

Columns are found by the names of the training data. Other columns, such as the
target, are ignored. A file without names needs the order of the training data.

more: structperc help data, columns
""")
