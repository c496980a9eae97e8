"""Counts and sums over pairs of rows that are short of a margin: the public name of what `structperc.solvers.block_steps` compiles."""

from structperc.solvers.block_steps import short_pairs

__all__ = ["short_pairs"]
