# The public name of what block_steps.pxd declares.
from structperc.solvers.block_steps cimport short_pairs_c
