# Written by tests/typing/stubs.py from the table of names.
from structperc.distributed.answers import predict as predict
from structperc.distributed.answers import scores as scores
from structperc.distributed.training import fit as fit
