"""`DecisionMaker`, with scikit-learn's manners."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from structperc.estimators.structured import ExampleEstimator, ProblemEstimator, declared, option_of
from structperc_decisions import options
from structperc_decisions.regret import regret

__all__ = ["DecisionMaker"]


@declared
class DecisionMaker(ProblemEstimator):
    """Predicts decisions that your function makes under predicted costs. Learns from decisions, or from true costs by SPO+.

    Predicted costs are linear in the features of items. `score` is minus the regret where true costs are given.

    Attributes
    ----------
    coef_ : ndarray
        Minus the weights of the predicted costs.
    {attributes}

    Notes
    -----
    X has rows of items for each example, or one row for each example with `items`. y has the best decision of each example: an amount of
    each item, or the numbers of the items that are taken. For SPO+ set ``loss="decision-cost", loss_weight=1.0, update="latent"`` and
    pass `costs` to `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.estimators import DecisionMaker
    >>> def cheapest(costs, x):
    ...     return np.argsort(costs, kind="stable")[:2]
    >>> days = list(np.random.default_rng(3).normal(size=(60, 4, 2)))
    >>> costs = [day @ [1.0, 0.5] for day in days]
    >>> chosen = [cheapest(one, None) for one in costs]
    >>> model = DecisionMaker(decide=cheapest, random_state=0).fit(days[:40], chosen[:40])
    >>> model.score(days[40:], chosen[40:], costs=costs[40:]) > -0.1
    True
    """

    _problem: ClassVar[str] = "decisions"
    _other_score: ClassVar[str] = "Pass the true costs of these examples: score(X, y, costs=...)."

    decide: Callable | None = option_of(options["decide"])
    items: int | None = option_of(options["items"])

    def score(self, X, y, lengths=None, groups=None, allowed=None, sample_weight=None, costs=None) -> float:
        """Minus the normalised regret where `costs` are given, else minus the mean loss: higher is better, 0 is perfect.

        Parameters
        ----------
        sample_weight : array-like of shape (n_examples,), optional
            The weight of each example, only without `costs`.
        costs : sequence of arrays, optional
            The true costs of each example's items; see `structperc_decisions.regret`.
        """
        if costs is None:
            return ExampleEstimator.score(self, X, y, lengths, groups, allowed, sample_weight)
        self._refuse_none(X, y)
        return -regret(costs, self.predict(X, lengths=lengths, groups=groups, allowed=allowed), y)
