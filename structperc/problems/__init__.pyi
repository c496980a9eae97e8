# Written by tests/typing/stubs.py from the table of names.
from structperc.problems.batches import Batch as Batch
