"""`structperc card`: the card of a model, as Markdown or HTML."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import attrs

from structperc import Engine
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
