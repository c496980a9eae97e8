"""Messages that name a remedy: how each is provoked, and what its reader does then. Each function takes an empty folder."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(24, 2))
Y = np.digitize(X[:, 0] + 0.5 * RANDOM.logistic(size=24), [-0.5, 0.5])
SENTENCES = [[["a", "b"], ["c"]], [["b"], ["a", "c"]], [["c"], ["b"]]]
TAGS = [["x", "y"], ["y", "x"], ["x", "y"]]


@attrs.frozen
class Followed:
    """A message of one module, found by some of its words.

    Attributes
    ----------
    module : str
        Below the root of the repository.
    words : str
        Neighbouring constant words of the message.
    provoke : function of a folder
        Raises the message or warns with it.
    remedies : tuple of functions of a folder
        Each does what the message advises, and raises no error.
    """

    module: str
    words: str
    provoke: Callable
    remedies: tuple


def messages_of(module, *entries) -> list[Followed]:
    """The entries of a module: tuples of words, what provokes them, and the remedies."""
    return [Followed(module, words, provoke, tuple(remedies)) for words, provoke, *remedies in entries]

