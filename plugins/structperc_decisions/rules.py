"""Rules that learn decisions, for any problem: `Engine("path", plugins=["decision-rules"], update="perturbed")`."""

from structperc import Option, hookimpl
from structperc_decisions.losses import DecisionCost
from structperc_decisions.perturbed import PerturbedUpdate

options = {
    "samples": Option(10, low=1, help="with update=perturbed: decisions drawn at each visit"),
    "sigma": Option(1.0, above=0.0, help="with update=perturbed: standard deviation of the noise of scores"),
}
problem = "path"            # to check it with
check_options = {"update": "perturbed", "samples": 2}
losses, updates = ("decision-cost",), ("perturbed",)


@hookimpl
def structperc_loss(context):
    return DecisionCost() if context.loss == "decision-cost" else None


@hookimpl
def structperc_update(context):
    if context.update != "perturbed":
        return None
    return PerturbedUpdate(context.options["samples"], context.options["sigma"],
                           1.0 if context.step_size is None else context.step_size)
