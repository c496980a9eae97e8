"""A Python module that needs numpy alone."""

from __future__ import annotations

from structperc.engine.exports.text import numbers, table

SOURCE = '''"""{description}; exported by structperc, needs numpy alone."""

import numpy as np

LABELS = np.array({labels!r})
COLUMNS = {columns!r}
TEMPERATURE = {temperature!r}
BIAS = np.array([{bias}])
WEIGHTS = np.array([
{weights},
])


def scores(X):
    """The score of every label for each row, shape (n_rows, {n_labels})."""
    return np.asarray(X, dtype=float) @ WEIGHTS.T + BIAS


def predict(X):
    """The label of largest score for each row; the {tie} of equals."""
    return LABELS[{winner}]


def predict_proba(X):
    """How probable each label is for each row: proportional to exp(score / TEMPERATURE)."""
    shifted = scores(X) / TEMPERATURE
    weights = np.exp(shifted - shifted.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
'''


def written(model, name) -> bytes:
    """The module; parameters as of `structperc.engine.exports`."""
    return SOURCE.format(
        description=model.description, labels=model.labels, columns=model.columns, temperature=model.temperature, bias=numbers(model.bias),
        weights=table(model.weights), n_labels=len(model.labels), tie="last" if model.last else "first",
        winner="len(LABELS) - 1 - scores(X)[:, ::-1].argmax(axis=1)" if model.last else "scores(X).argmax(axis=1)").encode()
