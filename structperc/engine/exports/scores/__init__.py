"""A score for each row of a query, the best rows first: w x + b, as rankers have it."""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.errors import PluginError
from structperc.core.row_features import RowFeatures
from structperc.engine.exports.networks import check_together, drawn, network_of
from structperc.engine.exports.own_parts import refuse_python_methods
from structperc.engine.exports.probing import STEP, check_linear, check_size, probes_of, rows_of


@attrs.frozen(eq=False)
class LinearScores:
    """A model that ranks the rows of a query by their scores, the largest first. Equal ones stay in their order."""
    # weights: float64 array of shape (n_features,). w; the score of a row is w x + b.
    # bias: float. b.
    # columns: list of str or None. As of `LinearLabels`.
    # network: object or None. As of `LinearLabels`.

    problem: str
    weights: np.ndarray
    bias: float
    columns: list | None
    network: object

    @property
    def description(self) -> str:
        """A line about the model."""
        return f"{self.problem}: {len(self.weights)} columns, a score for each row"


def linear_scores(engine) -> LinearScores:
    """Finds w and b. Raises PluginError or DataError if there are none."""
    model = engine.model_
    if not isinstance(model.parts.features, RowFeatures):
        raise PluginError(f"The outputs of this problem are no such labels ({type(model.parts.outputs).__name__}), and no rows.")
    refuse_python_methods(engine)
    d, names = model.context.n_features, model.context.feature_names
    check_size(1, d)
    network = network_of(model)
    if network is not None:
        X = drawn(model)
        check_together(network.columns(X), scores_of(model, X)[:, None])
        return LinearScores(engine.problem, np.ones(1), 0.0, None, network)
    bias = scores_of(model, np.zeros((1, d)))
    weights = (scores_of(model, np.diag(np.full(d, STEP))) - bias) / STEP
    check(engine, weights, bias)
    return LinearScores(engine.problem, weights, float(bias[0]), None if names is None else list(names), None)


def check(engine, weights, bias) -> None:
    """Raises an error for models that score random rows otherwise, or whose predictions are not the rows of largest score."""
    model, X = engine.model_, probes_of(engine)
    scores = scores_of(model, X)
    check_linear(X, scores[:, None], weights[None], bias)
    best, order = np.asarray(model.predict(rows_of(model, X, [0, len(X)]))[0]).ravel(), np.argsort(-scores, kind="stable")
    if not len(best) or set(best.tolist()) != set(order[:len(best)].tolist()):
        raise PluginError("The predictions of this model are not the rows of largest score.")


def scores_of(model, X):
    """The score of each row of one query."""
    return np.asarray(model.atom_scores(rows_of(model, X, [0, len(X)]))[0], dtype=float).ravel()
