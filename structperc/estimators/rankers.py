"""What estimators of plugins share: errors for unknown parameters, the score of ordered labels, and clones of a ranker.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

import numpy as np

from structperc import metrics
from structperc.basics.labels import as_label_array, label_list
from structperc.engine.calls import check_calls
from structperc.errors import OptionError, shortened
from structperc.estimators.base import weighted_mean
from structperc.estimators.levels import SortedClasses, levels_named, log_probabilities, order_in, receiver
from structperc.estimators.parameters import Parameters, cloned, refuse_class
from structperc.estimators.targets import as_column
from structperc.pipelines import levels_of
from structperc.reading.intervals import find_ends

__all__ = ["Parameters", "RankScore", "SortedClasses", "cloned_ranker", "levels_named", "log_probabilities", "order_in"]

@check_calls
class RankScore:
    """The score of estimators of ordered labels; wants `predict` and, of a trained one, `levels_` or `classes_`.

    Examples
    --------
    >>> from structperc.estimators import AdaBoostOR
    >>> from structperc.estimators.rankers import RankScore
    >>> issubclass(AdaBoostOR, RankScore)
    True
    >>> AdaBoostOR(n_estimators=5).fit([[0.0], [1.0], [2.0]], [1, 2, 3]).score([[0.0], [2.0]], [1, 3])
    1.0
    """

    def score(self, X, y, sample_weight=None) -> float:
        """1 - (mean absolute difference of ranks) / (r - 1): higher is better.

        1 is perfect, 0 is every row at the other end of the scale. Ranks are positions in `levels_`, whatever `loss` is, so that models
        with different losses compare. Numbers that training has not seen are placed among them. Accuracy is `scoring="accuracy"`, and
        `LabelScorer` makes scorers of other measures. Returns a float. At most 1.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.
        y : sequence of labels
            Right labels, or the lowest and the highest label that each row may have, as in `IntervalPA`. A prediction between them is
            right.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows.
        """
        predicted = self.predict(X)
        if find_ends(y) is not None:
            low, high, predicted, n_labels = metrics.interval_codes(y, predicted, levels_of(self))
            return 1 - weighted_mean(metrics.interval_distances(low, high, predicted), sample_weight) / (n_labels - 1)
        y = as_column(y)
        true, predicted, n_labels = metrics.codes(y, predicted, metrics.ordered_labels(y, levels_of(self)))
        return 1 - weighted_mean(np.abs(true - predicted), sample_weight) / (n_labels - 1)


def cloned_ranker(estimator, labels, random=None):
    """An untrained clone with all labels, since its training rows may lack some, and with seeds instead of None.
    Returns an estimator. The clone.

    Parameters
    ----------
    estimator : object with `get_params`
    labels : sequence
        In order; its parameter `classes`, if it has one, or that of the last step of a pipeline or search. None: it stays as it is.
    random : numpy.random.Generator, optional
        Draws the seeds, in the order of the parameters' names; None: they stay None.

    Raises
    ------
    OptionError
        The estimator cannot be cloned.

    Examples
    --------
    >>> from structperc.estimators import PRank
    >>> from structperc.estimators.rankers import cloned_ranker
    >>> cloned_ranker(PRank(), [1, 2, 3]).classes
    [1, 2, 3]
    """
    refuse_class("estimator", estimator)
    if not hasattr(estimator, "get_params"):
        raise OptionError(f"estimator={shortened(estimator)} has no get_params and cannot be cloned; expected an estimator "
                          f"such as PRank().")
    estimator = cloned(estimator)
    ranker = receiver(estimator)
    if ranker is not None and labels is not None:
        ranker.set_params(classes=label_list(as_label_array(labels)))
    for name, value in sorted(estimator.get_params().items()):
        if name.split("__")[-1] == "random_state" and value is None and random is not None:
            estimator.set_params(**{name: int(random.integers(2**31))})
    return estimator
