"""The k best arborescences: the public name of what `structperc.solvers.arborescences` compiles."""

from structperc.solvers.arborescences import k_best_arborescences

__all__ = ["k_best_arborescences"]
