"""Half of a decision's regret: the loss with half of SPO+ as its structured hinge."""

import numpy as np

from structperc.components import Loss
from structperc.errors import DataError, PluginError, shortened
from structperc_decisions.regret import cost_vector


class DecisionCost(Loss):
    """Half of a decision's regret: (c . v - c . g) / 2 for the decision v, if g is right.

    c are the costs of the example's atoms, from `fit(..., costs=)`. The loss of another decision that is as good as g is 0.
    See also `spo_plus` (the surrogate loss that it leads to) and `regret` (the measure of a model's decisions).

    References
    ----------
    A. N. Elmachtoub and P. Grigas: Smart "predict, then optimize". Management Science 68(1), 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc import Engine
    >>> from structperc_decisions import DecisionCost
    >>> def cheapest(costs, x):
    ...     return [int(np.argmin(costs))]
    >>> days = list(np.random.default_rng(3).normal(size=(60, 4, 2)))
    >>> costs = [day @ [1.0, 0.5] for day in days]
    >>> y = [cheapest(one, None) for one in costs]
    >>> engine = Engine("decisions", decide=cheapest, plugins=[DecisionCost()], loss_weight=1.0, update="latent", step_size=0.1)
    >>> engine = engine.fit(days[:40], y[:40], costs=costs[:40])
    >>> float(np.mean([v[chosen] for v, (chosen,) in zip(engine.predict(days[40:]), y[40:])]))
    1.0
    """

    _atom_costs = None

    def set_costs(self, costs, gold, n_examples) -> None:
        """Takes a vector of costs per atom for each example of the data set at hand.

        Parameters
        ----------
        costs : list of float64 arrays of shape (n_atoms,)
            True costs of each example's atoms.
        gold : Structures
            The right decisions.
        n_examples : int
        """
        if costs is None:
            raise DataError("DecisionCost needs the true costs: fit(X, y, costs=...), a vector with a cost per atom for each "
                            "example.")
        if len(costs) != n_examples:
            raise DataError(f"costs has {len(costs)} vectors but X has {n_examples} examples; give one per example.")
        self._atom_costs = [cost_vector(one, f"costs[{i}]") for i, one in enumerate(costs)]

    def forget_costs(self) -> None:
        self._atom_costs = None

    def of(self, x):
        """The costs of an example's atoms. Returns a float64 array of shape (n_atoms,).

        Parameters
        ----------
        x : Example
        """
        if self._atom_costs is None or x.index >= len(self._atom_costs):
            raise PluginError("DecisionCost knows the costs of training examples only; measure other decisions by "
                              "structperc_decisions.regret.")
        costs = self._atom_costs[x.index]
        if len(costs) != x.n_atoms:
            raise DataError(f"costs[{x.index}] has {len(costs)} costs, but the example has {x.n_atoms} atoms.")
        return costs

    def value(self, gold, y, x):
        costs = self.of(x)
        value = costs @ (np.asarray(self.outputs.count(x, y)) - np.asarray(self.outputs.count(x, gold))) / 2
        if value < -1e-9 * (1 + np.abs(costs).sum()):
            amounts = shortened(np.asarray(self.outputs.count(x, y)).tolist())
            raise DataError(f"the amounts {amounts} cost less than y[{x.index}] by {-2 * value:g}. y must hold the best decision under the "
                            f"costs, which are minimised. Negate values that a solver maximises.")
        return max(float(value), 0.0)

    def augment(self, gold, scores, scale, x):
        return np.asarray(scores) + scale * self.of(x) / 2


__all__ = ["DecisionCost"]
