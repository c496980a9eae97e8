"""`structperc export`: a trained model as a file of another language."""

from __future__ import annotations

from pathlib import Path

from structperc import Engine
from structperc.cli.files import check_writable
from structperc.engine.exports import ENDINGS
from structperc.errors import OptionError


def export(arguments) -> int:
    """Writes the file that is asked for, in the format of its ending unless another is named."""
    check_writable("the file", arguments.output, arguments.model)
    to = arguments.to or ENDINGS.get(Path(arguments.output).suffix.lower())
    if to is None:
        raise OptionError(f"the ending of {arguments.output} names no format; say --to, or end it with {', '.join(ENDINGS)}.")
    Engine.load(arguments.model).export(arguments.output, to)
    return 0
