"""Weights found by asking for scores: probes and checks, for every form of export."""

from __future__ import annotations

import numpy as np

from structperc.core.errors import PluginError

STEP = 2.0 ** 200       # of a probe: the bias is less than a weight's last digit
TOLERANCE = 1e-9        # of a probe's scores, relative
PROBES = 16
MOST_CELLS = 1 << 24    # of weights; a file of text takes 20 bytes for each


def check_size(n_labels, n_columns) -> None:
    """Refuses more weights than a file should hold."""
    if n_labels * n_columns > MOST_CELLS:
        raise PluginError(f"{n_labels} labels of {n_columns} columns are more weights than an export holds ({MOST_CELLS}).")


def probes(n_columns) -> np.ndarray:
    """Rows of all sizes, to try the weights on."""
    return np.random.default_rng(0).normal(size=(PROBES, n_columns)) * 10.0 ** np.arange(-8, 8)[:, None]


def check_linear(X, found, weights, bias) -> None:
    """Refuses scores of rows that weights (n_labels, n_columns) and bias do not give, such as those of kernels."""
    size = abs(X) @ np.abs(weights.T) + np.abs(bias)
    if not (np.abs(found - (X @ weights.T + bias)) <= TOLERANCE * size).all():
        raise PluginError("The scores of this model are not linear.")
