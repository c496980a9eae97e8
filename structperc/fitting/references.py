"""Levels that a model of log odds compares the others with.

The columns of a one-hot group add up to 1, so only differences between their weights are determined. What is shown is the difference from a
reference: the level that an option names, or the most frequent one. Scores, predictions and what is stored stay as they are.
"""

from __future__ import annotations

import attrs
import numpy as np

from structperc.basics.errors import listing
from structperc.core.threshold_features import ThresholdFeatures
from structperc.core.weights import has_vector

MOST_NAMED = 5          # columns in a message
EQUAL = 1e-9            # shares of two levels that differ by less are one


@attrs.frozen(eq=False)
class OneHot:
    """The columns of 0 and 1 for the levels of one column."""
    # name: str. The column of the table.
    # columns: int array of shape (n_levels,)
    # reference: int. The column of the reference level, with which the others are compared.

    name: str
    columns: np.ndarray
    reference: int


def one_hot_groups(reader, means) -> list[OneHot]:
    """The columns of a table that have a column of 0 and 1 for each level. In all rows of the training these add up to 1.

    The reference level is the most frequent; among equals the smallest text.

    Parameters
    ----------
    reader : Reader
    means : float64 array of shape (n_features,), or None
        Of the columns over the training rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from structperc.components import TableReader
    >>> from structperc.plugin_tools import one_hot_groups
    >>> reader = TableReader(one_hot=["arm"])
    >>> rows = reader.learn(pd.DataFrame({"arm": ["placebo", "dose", "placebo"]}))
    >>> [group] = one_hot_groups(reader, rows.X.mean(axis=0))
    >>> group.name, group.columns.tolist(), rows.feature_names[group.reference]
    ('arm', [0, 1], 'arm=placebo')
    """
    groups = []
    for code, place in () if means is None else reader.input_columns().places():
        columns = place + np.arange(len(code.levels))
        if code.kind != "one_hot" or place < 0 or abs(means[columns].sum() - 1) > EQUAL:
            continue
        if code.reference is not None:
            level = code.reference
        else:
            shares = means[columns]
            level = min(np.asarray(code.levels)[shares >= shares.max() - EQUAL].tolist())
        groups.append(OneHot(code.name, columns, int(columns[code.levels.index(level)])))
    return groups


def has_log_odds(model) -> bool:
    """Whether the weights of a model of ordered labels are log odds."""
    context, parts = model.context, model.parts
    return isinstance(parts.features, ThresholdFeatures) and (
        parts.trainer.log_odds or context.update == "logistic" and parts.trainer.online)


def compared(features, vector, groups):
    """Other weights of the same scores, in which those of the reference levels are 0. Returns a float64 array of shape (n_weights,).

    Parameters
    ----------
    features : ThresholdFeatures
    vector : float64 array of shape (n_weights,)
    groups : list of OneHot

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.components import ThresholdFeatures
    >>> from structperc.fitting.references import OneHot
    >>> from structperc.plugin_tools import compared
    >>> compared(ThresholdFeatures(1, 2), np.array([1.0, 3.0, 0.5]), [OneHot("arm", np.arange(2), 0)]).tolist()
    [0.0, 2.0, -0.5]
    """
    for group in groups:
        same, unit = np.zeros(len(vector)), np.zeros(features.n_features)
        same[group.columns], unit[group.reference] = vector[group.reference], 1.0
        vector = vector - features.rescaled(same, unit, np.ones(features.n_features))       # 0 for each row with one of the levels
    return vector


@attrs.frozen(eq=False)
class Compared:
    """The weights of a store, compared with those of the reference levels: what a feature map shows of them."""

    features: object
    weights: object
    groups: list

    def vector(self):
        return compared(self.features, self.weights.vector(), self.groups)


def shown_weights(model):
    """The weights that attributes show: log odds are compared with those of the reference levels."""
    weights = model.parts.weights
    groups = one_hot_groups(model.parts.reader, model.means) if has_log_odds(model) else []
    return Compared(model.parts.features, weights, groups) if groups and has_vector(weights) else weights


def undetermined(name, groups, dependence):
    """Sentences on what the columns leave open.

    Parameters
    ----------
    name : function of int
        Returns the name of a column.
    groups : list of OneHot
    dependence : Dependence

    Yields
    ------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.plugin_tools import Dependence, undetermined
    >>> [sentence] = undetermined("ab".__getitem__, [], Dependence.of(np.array([[0.0, 1], [1, 3], [2, 5]])))
    >>> sentence[:38]
    'the columns a, b depend on each other,'
    """
    for group in groups:
        empty = [name(j) for j in group.columns.tolist() if not dependence.spread[j] and j != group.reference]
        if empty:
            yield (f"no row has {listing(empty, MOST_NAMED)}, so nothing is known of the coefficient, which is 0. Leave out levels "
                   f"without rows.")
    for columns in dependence.sets():
        yield (f"the columns {listing(map(name, columns.tolist()), MOST_NAMED)} depend on each other, so the data "
               f"determine only some of their sums and differences. The shortest solution is shown. Leave one of the columns out, or set "
               f"penalty=1.0.")
