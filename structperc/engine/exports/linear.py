"""What one label for each row of numbers comes down to: scores W x + b, a tie rule and labels."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.core.errors import PluginError, StructPercError
from structperc.engine.answers import best

STEP = 2.0 ** 40        # of a probe: a weight's digits stand clear of the bias
TOLERANCE = 1e-9        # of a probe's scores, relative
PROBES = 16
MOST_CELLS = 1 << 24    # of W; a file of text takes 20 bytes for each


@attrs.frozen(eq=False)
class LinearLabels:
    """A model that gives each row x of numbers the label of largest score.

    Attributes
    ----------
    problem : str
    weights : float64 array of shape (n_labels, n_features)
        W; the score of label l is W[l] x + b[l].
    bias : float64 array of shape (n_labels,)
        b.
    labels : list of int, float, bool or str
    last : bool
        Whether the last label of largest score wins a tie; else the first.
    temperature : float
        Probabilities are proportional to exp(score / temperature).
    columns : list of str or None
        The names of X's columns.
    """

    problem: str
    weights: np.ndarray
    bias: np.ndarray
    labels: list
    last: bool
    temperature: float
    columns: list | None

    @property
    def description(self) -> str:
        """A line about the model."""
        return f"{self.problem}: {self.weights.shape[1]} columns, {len(self.labels)} labels"


def linear_labels(engine) -> LinearLabels:
    """Finds W and b by asking for scores, so that any problem of one label per row qualifies, whoever wrote it.

    Raises
    ------
    PluginError
        The problem has other outputs, its rows are no plain numbers, or its scores are not linear in them.
    """
    engine.parts_.trainer.check_answers()
    d = engine.n_features_in_
    try:
        bias = engine.label_scores(np.zeros((1, d)))[0]
        if d * len(bias) > MOST_CELLS:
            raise PluginError(f"{len(bias)} labels of {d} columns are more weights than an export holds ({MOST_CELLS}).")
        weights = (engine.label_scores(np.diag(np.full(d, STEP))) - bias).T / STEP
        check_linear(engine, weights, bias)
    except StructPercError as error:
        raise PluginError(f"this model of {engine.problem} cannot be exported: exports hold scores of labels that are linear in rows of "
                          f"numbers. {error}") from None
    names = getattr(engine, "feature_names_in_", None)
    return LinearLabels(engine.problem, np.ascontiguousarray(weights), bias, engine.classes_.tolist(), wins_last(engine),
                        float(engine.temperature_), None if names is None else list(names))


def check_linear(engine, weights, bias) -> None:
    """Refuses scores that W and b do not give, such as those of kernels."""
    X = np.random.default_rng(0).normal(size=(PROBES, weights.shape[1])) * 10.0 ** np.arange(-8, 8)[:, None]
    found, expected = engine.label_scores(X), X @ weights.T + bias
    size = np.abs(X) @ np.abs(weights.T) + np.abs(bias)
    if not (np.abs(found - expected) <= TOLERANCE * size).all():
        raise PluginError("Those of this model are not linear.")


def wins_last(engine) -> bool:
    """Which label wins where all have the same score."""
    model = engine.model_
    rows = model.read(np.zeros((1, engine.n_features_in_)))
    x = model.example(rows, 0)
    winner = model.parts.outputs.decode(best(model.parts, np.zeros(x.n_atoms), x), x)
    labels = engine.classes_
    if winner not in (labels[0], labels[-1]):
        raise PluginError(f"this model of {engine.problem} cannot be exported: a tie of all labels goes to {winner!r}, neither the first "
                          f"nor the last.")
    return bool(winner == labels[-1])
