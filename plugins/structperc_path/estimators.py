"""`PathFinder`, with scikit-learn's manners."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from structperc.estimators.structured import ProblemEstimator, declared, option_of
from structperc_path import options

__all__ = ["PathFinder"]


@declared
class PathFinder(ProblemEstimator):
    """Predicts the path from a start to an end of a graph, learned from paths that were taken.

    A path scores the sum of its arcs, each linear in the arc's features. The best path is found exactly, in O(n_arcs) through graphs
    without cycles. `score` is the F1 of arcs over all examples.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    {attributes}

    Notes
    -----
    X has for each example rows (tail, head, features), one for each arc. y has the numbers of the rows on the path of each example.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.estimators import PathFinder
    >>> arcs = np.array([[0, 1, 1.0, 0.2], [0, 2, 0.3, 0.9], [1, 3, 0.1, 0.4], [2, 3, 0.8, 0.1]])
    >>> model = PathFinder(random_state=0).fit([arcs], [[1, 3]])
    >>> model.predict([arcs]), model.score([arcs], [[1, 3]])
    ([(1, 3)], 1.0)
    """

    _problem: ClassVar[str] = "path"

    costs: str = option_of(options["costs"])
    ends: bool = option_of(options["ends"])
    keys: str | Sequence[str] | None = option_of(options["keys"])
