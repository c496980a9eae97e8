"""A Python module that only needs numpy."""

from __future__ import annotations

from structperc.engine.exports.text import label_array, numbers, table

SOURCE = '''"""{description}; exported by structperc, needs only numpy."""

import numpy as np

LABELS = {labels}
COLUMNS = {columns!r}
TEMPERATURE = {temperature!r}{spread}
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
    """How probable each label is for each row{probable}
'''

SOFTMAX = ''': proportional to exp(score / TEMPERATURE)."""
    shifted = scores(X) / TEMPERATURE
    weights = np.exp(shifted - shifted.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)'''

CUMULATIVE = '''.

    P(y > k) = 1 / (1 + exp(-v_k / TEMPERATURE)), v the differences of scores of neighbouring labels, pooled into falling order. The
    spread, by which neighbours come apart around the place where v changes its sign, is added.
    """
    s = scores(X)
    ranks = range(len(LABELS))
    v = np.stack([np.min([np.max([(s[:, j] - s[:, i]) / (j - i) for j in ranks[k + 1:]], axis=0) for i in ranks[:k + 1]], axis=0)
                  for k in ranks[:-1]], axis=1)
    step, positive = v[:, :-1] - v[:, 1:], np.maximum(v, 0)
    part = np.where(step > 0, (positive[:, :-1] - positive[:, 1:]) / np.where(step > 0, step, 1), v[:, 1:] > 0)
    equal = step <= 1e-12 * np.abs(v).max(axis=1, keepdims=True)
    spread = np.where(equal.any(axis=1), SPREAD_OF_POOLED, SPREAD)[:, None]
    odds = v / TEMPERATURE + spread * (part.sum(axis=1)[:, None] - np.arange(v.shape[1]))
    above = np.pad(1 / (1 + np.exp(-np.clip(odds, -700, 700))), ((0, 0), (1, 0)), constant_values=1)
    return above - np.pad(above[:, 1:], ((0, 0), (0, 1)))'''


def written(model, name) -> bytes:
    """The module; parameters as of `structperc.engine.exports`."""
    return SOURCE.format(
        description=model.description, labels=label_array(model.labels), columns=model.columns, temperature=model.temperature,
        bias=numbers(model.bias),
        spread="\nSPREAD, SPREAD_OF_POOLED = {!r}, {!r}".format(*model.spreads_of_labels) if model.cumulative else "",
        probable=CUMULATIVE if model.cumulative else SOFTMAX,
        weights=table(model.weights), n_labels=len(model.labels), tie="last" if model.last else "first",
        winner="len(LABELS) - 1 - scores(X)[:, ::-1].argmax(axis=1)" if model.last else "scores(X).argmax(axis=1)").encode()
