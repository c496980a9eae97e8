"""`GraphLabeler`, with scikit-learn's manners."""

from __future__ import annotations

from typing import ClassVar

from structperc.estimators.structured import LabelOptions, ProblemEstimator, declared, option_of
from structperc_graph import options

__all__ = ["GraphLabeler"]


@declared
class GraphLabeler(ProblemEstimator, LabelOptions):
    """Predicts a label for every node of a graph, or pixel of an image, together: a pairwise Markov network.

    The score of a graph is the sum of label scores of its nodes and of its pairs of neighbours. With two labels that attract, a
    minimum cut finds the best labels; see `inference`. `score` is the share of nodes whose label is right.

    Attributes
    ----------
    coef_ : ndarray
        Rows of weights for labels and for pairs of labels.
    {labelled}

    Notes
    -----
    X has for each graph rows (node, node, features) and (node, other, features), or an image (height, width, n_features). y has the labels
    of the nodes of each graph, or an array of the image's height and width.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.estimators import GraphLabeler
    >>> random = np.random.default_rng(0)
    >>> y = [np.repeat([[0] * size + [1] * (6 - size)], 6, axis=0) for size in (2, 3, 4, 3)]
    >>> X = [labels[:, :, None] + random.normal(0, 0.3, (6, 6, 1)) for labels in y]
    >>> model = GraphLabeler(attractive=True, random_state=0).fit(X[:3], y[:3])
    >>> model.score(X[3:], y[3:])
    1.0
    """

    _problem: ClassVar[str] = "graph"
    _measure: ClassVar[str] = "token accuracy"

    pairs: str = option_of(options["pairs"])
    inference: str = option_of(options["inference"])
    attractive: bool = option_of(options["attractive"])
    most_nodes: int | None = option_of(options["most_nodes"])
    diagonal: bool = option_of(options["diagonal"])
    contrast: bool = option_of(options["contrast"])
