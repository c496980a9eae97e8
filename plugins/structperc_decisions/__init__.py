"""Predict, then optimise: decisions of least cost whose costs are predicted, with any solver; and the rules that learn decisions.

Provisional: it may change in any minor version.

The problem `decisions` takes a function `decide(costs, x)`, so any solver makes a problem: `Engine("decisions", decide=..., items=40)`.
Scores are minus the predicted costs, s = -c_hat. What is known decides on the rule, here and in any other problem with the plugin
`decision-rules`:

- Only decisions: any rule, such as the perceptron or `update="perturbed"` (Berthet et al. 2020), which draws perturbed decisions.
- True costs too: `loss="decision-cost", loss_weight=1.0, update="latent"` and `fit(X, y, costs=...)` descend the SPO+ loss. y has the best
  decisions under these costs. See Elmachtoub and Grigas, Smart "predict, then optimize", Management Science 68, 2022.
"""

from collections.abc import Callable

import numpy as np

from structperc import Option, hookimpl
from structperc.components import Argmax, BlockFeatures, RowFeatures, VectorOutputs
from structperc.errors import DataError, OptionError
from structperc_decisions.losses import DecisionCost
from structperc_decisions.perturbed import PerturbedUpdate
from structperc_decisions.regret import regret, spo_plus
from structperc_decisions.rules import options as rule_options
from structperc_decisions.rules import structperc_loss as structperc_loss
from structperc_decisions.rules import structperc_update as structperc_update

also_called = ("spo", "predict-then-optimise", "predict-then-optimize")
options = {
    "decide": Option(None, types=(type(None), Callable), help="a function of the items' costs and an example that returns a decision "
                                                              "of least cost"),
    "items": Option(None, types=(type(None), int), low=1, help="an example is one row, and so many items have their own weights; none: "
                                                               "the rows of an example are its items"),
    **rule_options,
}
losses, updates = ("decision-cost",), ("perturbed",)


class Decide(Argmax):
    """The decision of least cost, minus the score, by a function of the user's; ties are its own."""
    # decide: function of (costs, x). Returns an amount of each item, or the numbers of the chosen items.

    def __init__(self, decide):
        self.decide = decide

    def argmax(self, scores, x):
        self._refuse_values(scores)
        decision = self.decide(-np.asarray(scores), x)
        try:
            return self.outputs.encoded(decision, len(scores))
        except DataError as error:
            raise DataError(f"decide(costs, x) for example {x.index}: {error}") from None


@hookimpl
def structperc_outputs(context):
    return VectorOutputs()


@hookimpl
def structperc_features(context):
    items = context.options["items"]
    if items is None:
        return RowFeatures(context.n_features, context.fit_intercept)
    return BlockFeatures(items, context.n_features, context.fit_intercept, context.sparse)


@hookimpl
def structperc_argmax(context):
    if context.options["decide"] is None:
        raise OptionError("decide=None; pass a function decide(costs, x) that returns a decision of least cost: an amount of each "
                          "item, or the numbers of the chosen items. Functions are passed from Python, not from the command line.")
    return Decide(context.options["decide"])


def two_cheapest(costs, x):
    return tuple(np.argsort(costs, kind="stable")[:2].tolist())


recommended = {"scale": False}           # so may `decide`
check_options = {"decide": two_cheapest}


def sample(random, n_examples):
    """Blocks of items."""
    return [random.normal(size=(n, 3)) for n in random.integers(1, 5, n_examples)]


__all__ = ["DecisionCost", "PerturbedUpdate", "regret", "spo_plus"]
