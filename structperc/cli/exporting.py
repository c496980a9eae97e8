"""`structperc export`: a trained model as a file of another language."""

from __future__ import annotations

from structperc import Engine
from structperc.cli.files import check_writable


def export(arguments) -> int:
    """Writes the file that is asked for, in the format of its ending unless another is named."""
    check_writable("the file", arguments.output, arguments.model)
    Engine.load(arguments.model).export(arguments.output, arguments.to)
    return 0
