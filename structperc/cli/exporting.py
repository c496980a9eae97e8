"""`structperc export`: a trained model as a file of another language."""

from __future__ import annotations

from structperc import Engine
from structperc.cli.commands import Command, path
from structperc.cli.files import check_writable
from structperc.engine.exports import ENDINGS, FORMATS


def export(arguments) -> int:
    """Writes the file that is asked for, in the format of its ending unless another is named."""
    check_writable("the file", arguments.output, arguments.model)
    Engine.load(arguments.model).export(arguments.output, arguments.to)
    return 0


def export_arguments(made) -> None:
    made.add_argument("model", metavar="MODEL", type=path, help="a file written by fit")
    made.add_argument("output", metavar="FILE", type=path, help="the file to write; functions get its name")
    made.add_argument("--to", choices=FORMATS, help=f"default: by the ending, {', '.join(ENDINGS)}")


EXPORT = Command(export, export_arguments, """\
examples:
  structperc export wine.model wine.c       wine_predict(x) in C99
  structperc export wine.model wine.html    a page with a form; works offline
  structperc export chunks.model chunks.js  chunks.predict(sentence)

Models of ranks, classes and tags can be exported if they have no kernel.
""")
