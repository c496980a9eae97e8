"""Weights found by asking for scores: probes and checks, for every form of export."""

from __future__ import annotations

import numpy as np

from structperc.basics.errors import PluginError
from structperc.basics.rows_of_numbers import to_dense
from structperc.engine.exports.own_parts import part_name
from structperc.reading.table_reader import Numbers

STEP = 2.0 ** 200       # of a probe: the bias is less than a weight's last digit
TOLERANCE = 1e-9        # of a probe's largest score, summed up without signs
SIZES = 10.0 ** np.arange(-8, 8)
MOST_SUPPORT = 100      # rows of a kernel that are probed
MOST_CELLS = 1 << 24    # of weights; a file of text takes 20 bytes for each
MOST_PROBED = 1 << 20   # numbers of all probes
MOST_ROUNDS = 16        # of probes of all sizes


def rows_of(model, X, offsets=None):
    """Rows of numbers, such as tables become."""
    codes = model.parts.reader.input_columns().codes
    return model.read(X if codes is None else Numbers(X, model.context.feature_names), offsets)


def check_size(n_labels, n_columns) -> None:
    """Raises an error for more weights than a file should hold."""
    if n_labels * n_columns > MOST_CELLS:
        raise PluginError(f"{n_labels} labels of {n_columns} columns are more weights than an export holds ({MOST_CELLS}).")


def probe_sizes(n_columns) -> np.ndarray:
    """The sizes of probes with so many numbers, shape (n_probes, 1): all sizes, again and again while the numbers are few."""
    return np.tile(SIZES, min(max(MOST_PROBED // (len(SIZES) * max(n_columns, 1)), 1), MOST_ROUNDS))[:, None]


def probes(n_columns) -> np.ndarray:
    """Rows of all sizes, to try the weights on."""
    sizes = probe_sizes(n_columns)
    return np.random.default_rng(0).normal(size=(len(sizes), n_columns)) * sizes


def probes_of(engine) -> np.ndarray:
    """Rows to try the weights of an engine on. Near the training rows all labels win somewhere, and kernels are not 0."""
    X, scaling = probes(engine.model_.context.n_features), engine.model_.scaling
    if scaling is not None:
        return scaling.mean + scaling.deviation * X
    support = getattr(engine, "support_vectors_", None)
    return X if support is None else np.vstack([X, to_dense(support[:MOST_SUPPORT])])


def rounding(X, weights, bias) -> np.ndarray:
    """What rounding may change in each row's scores, shape (n_rows, 1)."""
    # The score of a rank is a sum of others that may cancel. So the label of the largest terms counts for all.
    return TOLERANCE * (abs(X) @ np.abs(weights.T) + np.abs(bias)).max(axis=1, keepdims=True)


def check_linear(X, scores, weights, bias) -> None:
    """Raises an error for scores of rows that weights and bias do not give, such as those of kernels. Parameters as of `rounding`."""
    if not (np.abs(scores - (X @ weights.T + bias)) <= rounding(X, weights, bias)).all():
        raise PluginError("The scores of this model are not linear.")


def check_best(engine, score, best, allowance) -> None:
    """Raises an error if predictions score less than the `best`, by more than rounding may change in them."""
    if not (score >= best - allowance).all():
        raise PluginError(f"The predictions of this model for random rows are not those of largest score: {part_name(engine, 'argmax')} "
                          f"searches by another rule.")
