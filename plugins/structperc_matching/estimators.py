"""`PairMatcher`, with scikit-learn's manners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from structperc.estimators.structured import ProblemEstimator, declared, option_of
from structperc_matching import options

__all__ = ["PairMatcher"]


@declared
class PairMatcher(ProblemEstimator):
    """Predicts which left items belong to which right items, one to one: the matching of largest score.

    A matching scores the sum of its pairs, each linear in the features of the pair. It is found exactly, in O(n^3) for n items.
    `score` is the F1 of pairs over all examples.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
    {attributes}

    Notes
    -----
    X has for each example an array (n_left, n_right, n_features), or rows (left, right, features), or tables that `comparison` compares.
    y has the matched pairs of each example: pairs (left, right), or the numbers of their rows.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.estimators import PairMatcher
    >>> table = np.array([[[0.9, 0.1], [0.2, 0.3]], [[0.1, 0.4], [0.8, 0.0]]])
    >>> model = PairMatcher(show="pairs", random_state=0).fit([table], [[(0, 0), (1, 1)]])
    >>> [(int(left), int(right)) for left, right in model.predict([table])[0]]
    [(0, 0), (1, 1)]
    >>> model.score([table], [[(0, 0), (1, 1)]])
    1.0
    """

    _problem: ClassVar[str] = "matching"

    perfect: bool = option_of(options["perfect"])
    comparison: Callable | None = option_of(options["comparison"])
    show: str = option_of(options["show"])
    keys: str | Sequence[str] | None = option_of(options["keys"])
