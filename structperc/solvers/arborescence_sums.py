"""log Z and marginals of all arborescences: the public name of what `structperc.solvers.arborescences` compiles."""

from structperc.solvers.arborescences import arborescence_marginals

__all__ = ["arborescence_marginals"]
