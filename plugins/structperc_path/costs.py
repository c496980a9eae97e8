"""Costs of arcs that are not negative, whatever is learned, and a loss whose search keeps them so."""

import numpy as np

from structperc.components import Loss, RowFeatures
from structperc.errors import DataError


class Costs(RowFeatures):
    """Features of arcs that are not negative, and weights that are not positive: then no cost, minus the score, is negative."""

    def __init__(self, n_features, intercept):
        super().__init__(n_features, intercept, bounds=(-np.inf, 0.0))

    def check_rows(self, rows):
        super().check_rows(rows)
        entries = rows.X.tocoo() if rows.sparse else None
        negative = (rows.X if entries is None else entries.data) < 0
        if negative.any():
            at = np.argwhere(negative)[0]
            row, column = at if entries is None else (entries.row[at[0]], entries.col[at[0]])
            name = column if rows.feature_names is None else repr(rows.feature_names[column])
            raise DataError(f"row {row} of X has {rows.X[row, column]:g} in feature {name} of its arc; costs='non-negative' expects "
                            f"features from 0.")


class MissedArcs(Loss):
    """How many arcs of the right path were not taken. A path without a missed arc is the right one."""

    name = "missed-arcs"

    def value(self, gold, y, x=None):
        return len(set(gold) - set(y))

    def augment(self, gold, scores, scale, x=None):
        """A right arc costs `scale` more, up to the constant |gold| scale: costs do not become negative."""
        scores = np.array(scores)
        scores[list(gold)] -= scale
        return scores


__all__ = ["Costs", "MissedArcs"]
