"""One label for each row of numbers: scores W x + b, a tie rule and labels."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.errors import PluginError
from structperc.core.outputs import is_ordered
from structperc.engine.exports.networks import allowance, check_together, drawn, network_of
from structperc.engine.exports.own_parts import part_name, refuse_python_methods
from structperc.engine.exports.probing import STEP, check_best, check_linear, check_size, probes_of, rounding, rows_of
from structperc.engine.exports.text import exported_labels
from structperc.fitting.answers import best, floor, has_cumulative_probabilities, has_one_direction, listed
from structperc.reading.column_codes import ColumnCode


@attrs.frozen(eq=False)
class LinearLabels:
    """A model that gives each row x of numbers the label of largest score."""
    # weights: float64 array of shape (n_labels, n_features). W; the score of label l is W[l] x + b[l].
    # bias: float64 array of shape (n_labels,). b.
    # labels: list of int, float, bool or str
    # last: bool. Whether the last label of largest score wins a tie; else the first.
    # temperature: float. What scores are divided by where they become probabilities.
    # cumulative: bool. Whether labels have the probabilities of ordered ones (`structperc.core.probabilities`); else a softmax.
    # spreads_of_labels: tuple of two floats. The spread of `cumulative_log_probabilities`: of rows without and with pooled atoms.
    # columns: list of str or None. The names of X's columns; of a model of tables the names of the columns that the table becomes.
    # inputs: list of ColumnCode. The columns that users give, before a table becomes numbers.
    # ordered: bool. Whether the labels are ranks.
    # one_direction: bool. Whether they are ranks that only thresholds separate.
    # means: float64 array of shape (n_features,) or None. Of the columns over the training rows.
    # spreads: float64 array of shape (n_features,) or None. Of the columns as training saw them, where it brought them to one scale.
    # network: object or None. What computes x from X, as `Weights.network` returns it; None: x is a row of X.

    problem: str
    weights: np.ndarray
    bias: np.ndarray
    labels: list
    last: bool
    temperature: float
    cumulative: bool
    spreads_of_labels: tuple
    columns: list | None
    inputs: list
    ordered: bool
    one_direction: bool
    means: np.ndarray | None
    spreads: np.ndarray | None
    network: object

    @property
    def description(self) -> str:
        """A line about the model."""
        return f"{self.problem}: {self.weights.shape[1]} columns, {len(self.labels)} labels"


def linear_labels(engine) -> LinearLabels:
    """Finds W and b. Raises PluginError or DataError if there are none."""
    model = engine.model_
    outputs, reader, scaling, d = model.parts.outputs, model.parts.reader, model.scaling, model.context.n_features
    refuse_python_methods(engine)
    network = network_of(model)
    weights, bias = probed(engine) if network is None else after(engine, network)
    names, codes = model.context.feature_names, reader.input_columns().codes
    inputs = [ColumnCode(model.feature_name(j), "number") for j in range(d)] if codes is None else list(codes)
    return LinearLabels(engine.problem, np.ascontiguousarray(weights), bias, exported_labels(engine.classes_), wins_last(engine),
                        float(engine.temperature_), has_cumulative_probabilities(model.parts),
                        (model.spread, max(model.spread, floor(model.parts))),
                        None if names is None else list(names), inputs, is_ordered(outputs),
                        has_one_direction(model.parts), model.means,
                        None if scaling is None else scaling.deviation, network)


def probed(engine):
    """W and b of scores that are linear in X."""
    model, d = engine.model_, engine.model_.context.n_features
    bias = scores_of(model, np.zeros((1, d)))[0]
    check_size(len(bias), d)
    weights = (scores_of(model, np.diag(np.full(d, STEP))) - bias).T / STEP
    far = np.diag(np.full(d, -STEP / 2))            # a column cut at a large value, as by a stump, has its slope on one side
    check_linear(far, scores_of(model, far), weights, bias)
    check(engine, weights, bias)
    return weights, bias


def after(engine, network):
    """W and b behind a network: counts of the labels' atoms."""
    model, X = engine.model_, drawn(engine.model_)
    rows, columns = rows_of(model, X), network.columns(X)
    counts = listed(model.parts, model.example(rows, 0), "labels")[1]
    weights, bias = counts[:, :columns.shape[1]], counts[:, columns.shape[1]:] @ network.shared
    own = model.label_scores(rows)
    check_together(columns @ weights.T + bias, own)
    check_best(engine, own[np.arange(len(X)), codes_of(engine, rows)], own.max(axis=1), allowance(own))
    return weights, bias


def codes_of(engine, rows):
    """The numbers of the labels that the model predicts for rows, from 0."""
    code_of = {label: code for code, label in enumerate(engine.classes_.tolist())}
    answers = engine.model_.predict(rows).tolist()
    if not all(label in code_of for label in answers):
        raise PluginError(f"{part_name(engine, 'outputs')} predicts what is none of the labels {', '.join(map(repr, code_of))}.")
    return [code_of[label] for label in answers]


def check(engine, weights, bias) -> None:
    """Raises an error for models that score or label random rows otherwise."""
    model = engine.model_
    X = probes_of(engine)
    check_linear(X, scores_of(model, X), weights, bias)
    scores = X @ weights.T + bias
    score = scores[np.arange(len(X)), codes_of(engine, rows_of(model, X))]
    check_best(engine, score, scores.max(axis=1), rounding(X, weights, bias)[:, 0])


def scores_of(model, X):
    """The score of every label for rows of numbers."""
    return model.label_scores(rows_of(model, X))


def wins_last(engine) -> bool:
    """Which label wins where all have the same score."""
    model = engine.model_
    rows = rows_of(model, np.zeros((1, model.context.n_features)))
    x = model.example(rows, 0)
    winner = model.parts.outputs.decode(best(model.parts, np.zeros(x.n_atoms), x), x)
    labels = engine.classes_
    if winner not in (labels[0], labels[-1]):
        raise PluginError(f"A tie of all labels goes to {winner!r}, neither the first nor the last.")
    return bool(winner == labels[-1])
