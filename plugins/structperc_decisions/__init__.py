"""Predict, then optimise: a loss that sees the true costs of decisions, for SPO+ with any problem, and the regret of what was decided.

Scores are minus the predicted costs, s = -c_hat, and the right answer of an example is its best decision under the true costs c. With the
loss `DecisionCost()` among the plugins, loss_weight=1 and the steps of update="latent" an engine descends the SPO+ loss of Elmachtoub and
Grigas (Smart "predict, then optimize", Management Science 68, 2022): `Engine("path", plugins=[DecisionCost()], loss_weight=1.0,
update="latent", step_size=0.1).fit(X, y, costs=costs)`. Imitation of decisions needs no loss of its own.
"""

from structperc_decisions.losses import DecisionCost
from structperc_decisions.regret import regret, spo_plus

__all__ = ["DecisionCost", "regret", "spo_plus"]
