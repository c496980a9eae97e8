"""Warnings of losses that a network makes small by shrinking its scores, and not by learning."""

from __future__ import annotations

import warnings

import numpy as np

PATIENCE = 100          # calls in training after which a loss should have moved
NEAR = 0.05             # of the loss at scores of 0
SHRUNK = 0.01           # of the scores at the first call


class Traps:
    """What the calls of one loss have shown."""
    # loss: str. Only "hinge" and "perceptron" have traps.

    def __init__(self, loss):
        self.loss, self.n_calls, self.size = loss, 0, 0.0

    def see(self, scores, values, at_zero) -> None:
        """Looks at a call in training; `scores` returns its scores, `at_zero` the loss at scores of 0."""
        if self.loss not in ("hinge", "perceptron") or self.n_calls > PATIENCE or not len(values):
            return
        self.n_calls += 1
        if self.n_calls == 1:
            self.size = size_of(scores())
        if self.n_calls != PATIENCE:
            return
        if self.loss == "perceptron" and (size := size_of(scores())) < SHRUNK * self.size:
            say(f"after {PATIENCE} calls the scores are {size / self.size:.2g} of those of the first. loss='perceptron' is 0 "
                f"where all scores are 0, so a network may shrink them. Train with 'log-loss' or 'hinge'.")
        elif self.loss == "hinge" and abs(values.mean() - (plateau := at_zero().mean())) <= NEAR * plateau:
            say(f"after {PATIENCE} calls loss='hinge' is {values.mean():.4g}, and {plateau:.4g} where all scores are 0: the network does "
                f"not learn. Train with 'log-loss' first, then with 'hinge'.")


def say(sentence) -> None:
    """A warning at the call of a layer."""
    warnings.warn(sentence, UserWarning, stacklevel=5)


def size_of(scores) -> float:
    """The root of the mean square of finite scores."""
    finite = scores[np.isfinite(scores)]
    return float(np.sqrt(np.mean(finite * finite))) if finite.size else 0.0
