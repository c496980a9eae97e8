"""Best labels and marginals of the nodes of a forest: the public name of what `structperc.solvers.minimum_cuts` compiles."""

from structperc.solvers.minimum_cuts import Forest

__all__ = ["Forest"]
