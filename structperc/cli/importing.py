"""`structperc import-crfsuite`: a model of CRFsuite as one of structperc."""

from __future__ import annotations

from structperc.cli.files import check_writable
from structperc.crfsuite import read_crfsuite


def import_crfsuite(arguments) -> int:
    """Reads the model of CRFsuite and writes that of structperc."""
    check_writable("the model", arguments.output, arguments.model)
    read_crfsuite(arguments.model).save(arguments.output)
    return 0
