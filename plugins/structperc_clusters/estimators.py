"""`PairClusterer`, with scikit-learn's manners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from structperc.estimators.structured import ProblemEstimator, declared, option_of
from structperc_clusters import options

__all__ = ["PairClusterer"]


@declared
class PairClusterer(ProblemEstimator):
    """Predicts clusters of items, learned from clusters that are right: correlation clustering over features of pairs.

    Clusters score the sum of the pairs that are together, each linear in the features of the pair. They are found exactly by default.
    `score` is the F1 of pairs that are together, over all examples.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    {attributes}

    Notes
    -----
    X has for each example an array (n_items, n_items, n_features), or rows (one, other, features). It may be a table whose rows
    `comparison` compares. y has the label of each item's cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.estimators import PairClusterer
    >>> ages = [np.array([1.0, 2.0, 9.0]), np.array([3.0, 8.0, 9.0, 1.0])]
    >>> X = [abs(np.subtract.outer(one, one))[:, :, None] for one in ages]
    >>> y = [[0, 0, 1], [0, 1, 1, 0]]
    >>> model = PairClusterer(update="pa1", loss_weight=1.0, random_state=0).fit(X, y)
    >>> [labels.tolist() for labels in model.predict(X)]
    [[0, 0, 1], [0, 1, 1, 0]]
    >>> model.score(X, y)
    1.0
    """

    _problem: ClassVar[str] = "clusters"
    _measure: ClassVar[str] = "pairwise F1"

    solver: str = option_of(options["solver"])
    most_pairs: int | None = option_of(options["most_pairs"])
    most_nodes: int | None = option_of(options["most_nodes"])
    time_limit: float | None = option_of(options["time_limit"])
    missing: float = option_of(options["missing"])
    comparison: Callable | None = option_of(options["comparison"])
    keys: str | Sequence[str] | None = option_of(options["keys"])
