"""How many labellings of a chain have a score near the largest one: bounds by dynamic programming over losses on a grid."""

from __future__ import annotations

import numpy as np

STEPS = 256                 # of the grid, up to the distance
EXACT = 2.0**53             # floats hold all whole numbers below


def labellings_within(tables, distance) -> tuple[int, int]:
    """At least and at most so many labellings have a score within a distance of the largest one."""
    # The tables are those of `Argmax.chain_of`. Each label has a best way to go on. Its loss is how far this is behind the best way to go
    # on from the label before. The losses of a labelling add up to its distance from the best one. They are rounded to a grid of 256 steps:
    # up for the lower bound, down for the upper one. The upper bound counts nothing beyond distance * (1 + n_rows / 256).
    rows, pairs, start, end = tables
    rest, losses = rows[-1] + end, []                       # of the best way to go on from each label
    for row in rows[-2::-1]:
        onward = pairs + rest
        most = onward.max(axis=1)
        losses.append(behind(most[:, None], onward))
        rest = row + most
    first = behind((start + rest).max(), start + rest)
    losses.reverse()
    return tuple(int(total_on_grid(first, losses, distance, rounding)) for rounding in (np.ceil, np.floor))


def behind(most, totals):
    """How far totals are below the largest one; inf where nothing is allowed."""
    return np.where(np.isfinite(totals), np.subtract(most, totals, where=np.isfinite(totals), out=np.zeros(totals.shape)), np.inf)


def total_on_grid(first, losses, distance, rounding, dtype=float):
    """How many labellings have rounded losses that add up to at most the distance."""
    def steps(loss):
        with np.errstate(invalid="ignore"):
            scaled = rounding(loss / distance * STEPS)
        return np.where(np.isfinite(loss), np.minimum(np.nan_to_num(scaled), STEPS + 1), STEPS + 1).astype(int)

    n, grid = len(first), np.arange(STEPS + 1)
    counts = (steps(first)[:, None] == grid).astype(dtype)  # of the ways to each label, by their losses so far
    for loss in losses:
        reached, padded = np.zeros((n, STEPS + 1), dtype=dtype), np.hstack([np.zeros((n, STEPS + 1), dtype=dtype), counts])
        for ways, step in zip(padded, steps(loss), strict=True):
            reached += ways[STEPS + 1 + grid - step[:, None]]
        counts = reached
    total = counts.sum()
    return total if dtype is object or total < EXACT else total_on_grid(first, losses, distance, rounding, object)
