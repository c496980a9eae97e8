"""What is known before training."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import attrs
import numpy as np

# A function of a run and a seed: shards that are not made of the run's own examples, for the trainings of this thread.
SHARDS_ELSEWHERE = ContextVar("SHARDS_ELSEWHERE", default=None)


@attrs.frozen(eq=False, slots=False)
class FitContext:
    """What every hook is told.

    The engine's options about the training are attributes too: `context.update`, `context.margin`, ... `context.loss` is the outputs'
    default if the user named none.

    Attributes
    ----------
    n_features : int
        Columns of X; 0 when X is a list of objects.
    sparse, objects : bool
        Whether X is a sparse matrix, or a list of objects.
    n_labels : int
        How many labels there are; 0 for outputs without labels.
    labels : ndarray or None
        The labels in order; None while the output space is being made, and for outputs without labels.
    feature_names : tuple of str or None
    options : mapping
        The plugins' own options, defaults filled in.
    random : numpy.random.Generator
        The one generator of this fit.
    sample_weight : ndarray of shape (n_examples,) or None
        What steps are scaled by. Known to `check` alone.
    visit_weight : ndarray of shape (n_examples,) or None
        In its place with weighting="visits": how often examples are visited, but for a factor.
    """

    engine_options: Mapping[str, Any]
    options: Mapping[str, Any]
    random: np.random.Generator
    n_features: int = 0
    sparse: bool = False
    objects: bool = False
    feature_names: tuple[str, ...] | None = None
    labels: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    visit_weight: np.ndarray | None = None

    def __attrs_post_init__(self):
        vars(self).update(self.engine_options)      # plain attributes: looked up for every call of partial_fit

    def __getattr__(self, name):
        options = object.__getattribute__(self, "engine_options")
        raise AttributeError(f"a context has no {name!r}; the engine's options in it are {', '.join(options)}, those of plugins are in "
                             f"context.options.")

    @property
    def n_labels(self) -> int:
        return 0 if self.labels is None else len(self.labels)
