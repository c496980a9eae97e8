# The public name of what arborescences.pxd declares.
from structperc.solvers.arborescences cimport arborescence_marginals_c, arborescence_marginals_work
