"""What is known before training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np


@attrs.frozen(eq=False)
class FitContext:
    """What every hook is told.

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
    update, loss, margin, loss_weight, C, step_size, step_schedule, epochs, average, decay, decay_schedule, shuffle, fit_intercept
        The engine's options; `loss` is the outputs' default when the user named none.
    options : mapping
        The plugins' own options, defaults filled in.
    random : numpy.random.Generator
        The one generator of this fit.
    sample_weight : ndarray of shape (n_examples,) or None
        Known to `check` alone.
    """

    n_features: int
    sparse: bool
    objects: bool
    update: str
    loss: Any
    margin: float
    loss_weight: float
    C: float
    step_size: float
    step_schedule: Any
    epochs: int
    average: bool
    decay: float
    decay_schedule: Any
    shuffle: bool
    fit_intercept: bool
    options: Mapping[str, Any]
    random: np.random.Generator
    feature_names: tuple[str, ...] | None = None
    labels: np.ndarray | None = None
    sample_weight: np.ndarray | None = None

    @property
    def n_labels(self) -> int:
        return 0 if self.labels is None else len(self.labels)
