"""Training and predictions on more than one machine, by Dask: `fit`, `predict` and `scores`."""

from structperc.distributed.answers import predict, scores
from structperc.distributed.training import fit

__all__ = ["fit", "predict", "scores"]
