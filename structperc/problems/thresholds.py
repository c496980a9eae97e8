"""The best thresholds of ranks for one latent score of each example."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from structperc.basics.errors import DataError, OptionError, PluginError
from structperc.problems.losses import is_ranks, kind_of

FAR = 40.0              # beyond all latent scores, where a threshold without a label on its other side stops
SMALLEST_GAP = 1e-9
TOLERANCE = 1e-10
MOST_STEPS = 100


def refuse(batch, loss, parts) -> None:
    """Raises an error for a problem without ranks, and for a loss with kinks."""
    if not is_ranks(parts.outputs):
        raise PluginError(f"thresholds are those of ordered labels, but the outputs are {type(parts.outputs).__name__}.")
    if kind_of(loss).curvature is None:
        raise OptionError(f"loss={loss!r} is not smooth, so its best thresholds are no single numbers. Expected 'logistic', 'log-loss', "
                          f"'softmax-margin' or 'cumulative-logit'.")
    if not len(batch):
        raise DataError("thresholds are learned from examples, but the batch has none.")


def best(batch, latent, loss, n_thresholds, **parameters):
    """The thresholds b with the smallest loss at the scores latent - b, which is convex in them."""
    low, high = latent.min() - FAR, latent.max() + FAR
    if loss == "logistic":              # a sum over thresholds
        return each_alone(batch, latent, loss, np.full(n_thresholds, low), np.full(n_thresholds, high))
    start = np.quantile(latent, np.arange(1, n_thresholds + 1) / (n_thresholds + 1))
    bounds = [(low, high)] * n_thresholds
    rise = np.eye(n_thresholds)
    if loss == "cumulative-logit":              # its thresholds must rise: they are sums of steps
        rise = np.tri(n_thresholds)
        start = np.append(start[0], np.maximum(np.diff(start), 1e-3))
        bounds[1:] = [(SMALLEST_GAP, high - low)] * (n_thresholds - 1)

    def objective(steps):
        values, gradient = batch.loss(latent[:, None] - rise @ steps, loss, **parameters)
        return values.mean(), -gradient.mean(axis=0) @ rise

    options = {"ftol": 0, "gtol": TOLERANCE, "maxiter": 1000, "maxfun": 4000}
    return rise @ minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x


def each_alone(batch, latent, loss, low, high):
    """Where the slope by each threshold is 0, between low and high: Newton's steps, or half of what is left where they leave it."""
    def slopes(b):
        _, gradient, curvature = batch.loss(latent[:, None] - b, loss, curvature=True)
        return -gradient.sum(axis=0), curvature.sum(axis=0)

    b = np.quantile(latent, np.arange(1, len(low) + 1) / (len(low) + 1))
    free = (slopes(low)[0] < 0) & (slopes(high)[0] > 0)
    b = np.where(free, b, np.where(slopes(low)[0] >= 0, low, high))
    for _ in range(MOST_STEPS):
        slope, curvature = slopes(b)
        low, high = np.where(slope < 0, b, low), np.where(slope > 0, b, high)
        step = b - slope / curvature
        moved = np.where((step > low) & (step < high), step, (low + high) / 2)
        moved = np.where(free & (slope != 0), moved, b)
        if (np.abs(moved - b) <= TOLERANCE * (1 + np.abs(b))).all():
            return moved
        b = moved
    return b
