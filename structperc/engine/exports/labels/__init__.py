"""What one label for each row of numbers comes down to: scores W x + b, a tie rule and labels."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.core.errors import PluginError
from structperc.core.outputs import LabelOutputs
from structperc.engine.answers import best
from structperc.engine.exports.probing import STEP, check_linear, check_size, probes


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
    """Finds W and b; a PluginError or DataError says why there are none."""
    outputs, d = engine.parts_.outputs, engine.n_features_in_
    if not isinstance(outputs, LabelOutputs):
        raise PluginError(f"Those of this problem are others ({type(outputs).__name__}).")
    bias = engine.label_scores(np.zeros((1, d)))[0]
    check_size(len(bias), d)
    weights = (engine.label_scores(np.diag(np.full(d, STEP))) - bias).T / STEP
    X = probes(d)
    check_linear(X, engine.label_scores(X), weights, bias)
    names = getattr(engine, "feature_names_in_", None)
    return LinearLabels(engine.problem, np.ascontiguousarray(weights), bias, engine.classes_.tolist(), wins_last(engine),
                        float(engine.temperature_), None if names is None else list(names))


def wins_last(engine) -> bool:
    """Which label wins where all have the same score."""
    model = engine.model_
    rows = model.read(np.zeros((1, engine.n_features_in_)))
    x = model.example(rows, 0)
    winner = model.parts.outputs.decode(best(model.parts, np.zeros(x.n_atoms), x), x)
    labels = engine.classes_
    if winner not in (labels[0], labels[-1]):
        raise PluginError(f"A tie of all labels goes to {winner!r}, neither the first nor the last.")
    return bool(winner == labels[-1])
