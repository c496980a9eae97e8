"""`structperc counterfactual`: the smallest change of one example of a file after which the model predicts what is wanted."""

from __future__ import annotations

import structperc
from structperc import Engine, counterfactuals
from structperc.basics.writing import replace_file
from structperc.cli.column_files import Tokens
from structperc.cli.commands import Command, path, positive, reading
from structperc.cli.explaining import example, label_named
from structperc.cli.files import check_writable, checked_ending, counted_in
from structperc.cli.safe_cells import add_flag, safe_frame
from structperc.cli.table_flags import split
from structperc.cli.terminal import say, say_table
from structperc.errors import OptionError
from structperc.pictures.markup import page


def change(arguments) -> int:
    """Prints the sentence and the changes, or writes them."""
    kind = None
    if arguments.output:
        check_writable("--output", arguments.output, arguments.model, arguments.data)
        kind = checked_ending(arguments.output, "html", "csv")
    engine = Engine.load(arguments.model)
    wanted = wanted_of(engine, arguments)
    x, _, table = example(engine, arguments)
    with counted_in(table, arguments.data):
        result = structperc.counterfactual(engine, x, wanted, fixed=columns_of(engine, arguments.fixed),
                                           bounds=bounds_of(engine, arguments), whole=columns_of(engine, arguments.whole),
                                           norm=arguments.norm, alternatives=alternatives_of(table, x, arguments),
                                           time_limit=arguments.time_limit)
    if kind is None:
        say(f"row {arguments.row} of {arguments.data}: predicted {result.before}", str(result))
        if result.changes:
            say("")
            say_table([("row", "column", "before", "after", "deviations"), *result.cells()])
        return 0
    title = f"A counterfactual of row {arguments.row} of {arguments.data}"
    if kind == "html":
        content = page(title, result.html())
    else:
        frame = result.to_frame()
        content = (safe_frame(frame) if arguments.safe_cells else frame).to_csv(index=False)
    replace_file(arguments.output, lambda file: file.write(content.encode()))
    say(f"{arguments.output} shows the change of row {arguments.row} of {arguments.data}", str(result))
    return 0


def wanted_of(engine, arguments) -> counterfactuals.Wanted:
    """What the flags ask for."""
    one_of = [label_named(engine, text, "--wanted") for text in arguments.wanted or ()]
    ends = {name: label_named(engine, text, f"--{name.replace('_', '-')}") for name in ("at_least", "at_most")
            if (text := getattr(arguments, name)) is not None}
    return counterfactuals.Wanted(one_of=one_of or None, **ends, chosen=arguments.chosen or (), not_chosen=arguments.not_chosen or ())


def columns_of(engine, texts) -> list:
    """Columns by name; by number where the model knows no names."""
    return [column_of(engine, text) for text in texts]


def column_of(engine, text):
    return int(text) if text.isdigit() and engine.model_.context.feature_names is None else text


def bounds_of(engine, arguments) -> dict:
    """bmi=18:40 as a pair; an empty end is open."""
    bounds = {}
    for text in arguments.bounds or ():
        column, equals, ends = text.partition("=")
        parts = ends.split(":")
        try:
            if not equals or len(parts) != 2:
                raise ValueError(text)
            bounds[column_of(engine, column)] = tuple(float(part) if part else None for part in parts)
        except ValueError:
            raise OptionError(f"--bounds {text!r}; expected COLUMN=LOW:HIGH, such as bmi=18:40 or bmi=18: for no highest value.") from None
    return bounds


def alternatives_of(table, x, arguments):
    """word=other,another: the replacements of a token, whose other cells stay as they are. None: the data have no tokens."""
    if not isinstance(table, Tokens):
        if arguments.alternatives:
            raise OptionError(f"--alternatives replaces words of files of tokens, and {arguments.data} has rows; leave it out.")
        return None
    alternatives = {}
    for text in arguments.alternatives or ():
        word, equals, others = text.partition("=")
        if not equals or not others:
            raise OptionError(f"--alternatives {text!r}; expected WORD=OTHER,OTHER, such as bank=river,money.")
        places = [at for at, token in enumerate(x) if word_of(token) == word]
        if not places:
            raise OptionError(f"--alternatives {text!r}: the tokens of row {arguments.row} are {', '.join(map(word_of, x))}; name one of "
                              f"them.")
        for at in places:
            alternatives.setdefault(at, []).extend(with_word(x[at], other) for other in others.split(","))
    return alternatives


def word_of(token) -> str:
    """The first cell of a token, or of an item the name of its first attribute."""
    return token if isinstance(token, str) else next(iter(token), "")


def with_word(token, other):
    """The same token with another first cell."""
    if isinstance(token, dict):
        return {other if i == 0 else name: value for i, (name, value) in enumerate(token.items())}
    return other if isinstance(token, str) else type(token)([other, *token[1:]])


def counterfactual_arguments(made) -> None:
    made.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    made.add_argument("data", metavar="DATA", type=path, help="the data; - for standard input")
    made.add_argument("--row", metavar="N", type=positive, default=1, help="the example: a row, group or sentence; default 1")
    made.add_argument("--wanted", metavar="LABEL", action="append", help="the label to predict; repeat for any of several")
    made.add_argument("--at-least", metavar="LABEL", help="the lowest ordered label to predict")
    made.add_argument("--at-most", metavar="LABEL", help="the highest ordered label to predict")
    made.add_argument("--chosen", metavar="ATOM", action="append", help="a part that the output must have; may be repeated")
    made.add_argument("--not-chosen", metavar="ATOM", action="append", help="a part that it must lack; may be repeated")
    made.add_argument("--fixed", metavar="A,B", type=split, default=[], help="columns that cannot change")
    made.add_argument("--bounds", metavar="A=LOW:HIGH", action="append", help="bounds of a column; may be repeated")
    made.add_argument("--whole", metavar="A,B", type=split, default=[], help="columns of whole numbers")
    made.add_argument("--alternatives", metavar="W=A,B", action="append", help="in files of tokens: replacements of a word")
    made.add_argument("--norm", choices=("l1", "l2"), default="l1", help="sum of changes, or root of the sum of squares; default l1")
    made.add_argument("--time-limit", metavar="S", type=float, default=60.0, help="seconds of the search; default 60")
    made.add_argument("--target", metavar="NAME", help="the column of true labels, which is no feature")
    made.add_argument("--output", metavar="FILE", type=path, help="a page or table: .html or .csv")
    add_flag(made)
    reading(made)


COUNTERFACTUAL = Command(change, counterfactual_arguments, """\
examples:
  structperc counterfactual wine.model test.csv --row 3 --wanted 5
  structperc counterfactual wine.model test.csv --at-most 4 --bounds acid=0:2
  structperc counterfactual m pairs.csv --group family --chosen "2 with 3"
  structperc counterfactual m test.txt --row 2 --alternatives bank=river,money

Distances are in standard deviations of the training rows, or in tokens. Atoms
have the names that structperc explain shows.

more: structperc help data, columns
""")
