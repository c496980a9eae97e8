"""`structperc import-crfsuite`: a model of CRFsuite as one of structperc."""

from __future__ import annotations

from structperc.cli.commands import Command, path
from structperc.cli.files import check_writable
from structperc.crfsuite import read_crfsuite


def import_crfsuite(arguments) -> int:
    """Reads the model of CRFsuite and writes that of structperc."""
    check_writable("the model", arguments.output, arguments.model)
    read_crfsuite(arguments.model).save(arguments.output)
    return 0


def import_crfsuite_arguments(made) -> None:
    made.add_argument("model", metavar="MODEL", type=path, help="a binary model file of CRFsuite")
    made.add_argument("-o", "--output", metavar="FILE", type=path, required=True, help="the model to write")


IMPORT_CRFSUITE = Command(import_crfsuite, import_crfsuite_arguments, """\
examples:
  structperc import-crfsuite chunks.crfsuite -o chunks.model

The model predicts the same tags as CRFsuite. Tokens are dicts or lists of
attributes, as in python-crfsuite. partial_fit trains the model further.
""")
