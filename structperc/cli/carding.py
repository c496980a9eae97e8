"""`structperc card`: the card of a model, as Markdown or HTML."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import attrs

from structperc import Engine
from structperc.cli.commands import Command, path, reading
from structperc.cli.files import answers, check_writable, checked_ending, read_for
from structperc.cli.terminal import Shown, say
from structperc.errors import OptionError


def card(arguments) -> int:
    """Writes the card of a model, or prints it."""
    if arguments.output:
        check_writable("--output", arguments.output, arguments.model, arguments.data)
        checked_ending(arguments.output, "md", "html")
    elif arguments.target is not None and arguments.data is None:
        raise OptionError("--target names a column of the data, but there are none; add --data FILE, or leave --target out.")
    engine, name = Engine.load(arguments.model), Path(arguments.model).stem
    if arguments.data is None:
        model_card = engine.card(name=name)
    else:
        table = read_for(engine, arguments)
        model_card = engine.card(table.X, answers(engine, table), offsets=table.offsets, name=name, data=Path(arguments.data).name)
    with open(arguments.model, "rb") as file:
        model_card = attrs.evolve(model_card, sha256=hashlib.sha256(file.read()).hexdigest())
    if arguments.output:
        model_card.save(arguments.output)
        say(f"{arguments.output} is the card of {arguments.model}; fill in its section \"Intended use\"")
    else:
        (Shown(sys.stdout) if sys.stdout.isatty() else sys.stdout).write(model_card.markdown())
    return 0


def card_arguments(made) -> None:
    made.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    made.add_argument("--data", metavar="DATA", type=path, help="held-out examples for the measures")
    made.add_argument("--target", metavar="NAME", help="the column of true labels; default: that of fit")
    made.add_argument("-o", "--output", metavar="FILE", type=path, help="a file .md or .html; default: print Markdown")
    reading(made)


CARD = Command(card, card_arguments, """\
examples:
  structperc card wine.model --data test.csv -o wine.md
  structperc card wine.model --data test.csv --output wine.html

The card has the problem, labels, columns, options, mistakes of training,
measures, largest weights, citation and SHA-256 of the model. The owner of the
model writes the section "Intended use".

more: structperc help measures, data, columns
""")
