"""Proofs that an arborescence is the best one: the public names of what `structperc.solvers.arborescences` compiles."""

from structperc.solvers.arborescences import ArborescenceCertificate, arborescence_certificate

__all__ = ["ArborescenceCertificate", "arborescence_certificate"]
