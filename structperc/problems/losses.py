"""The losses of given scores by name, their parameters, and what a problem must have for each."""

from __future__ import annotations

import attrs
import numpy as np
from scipy.special import expit

from structperc.basics.arguments import POSITIVE, real_number, whole_number
from structperc.basics.errors import OptionError, PluginError, UnusedOption, did_you_mean, shortened
from structperc.core.argmax import has_marginals
from structperc.core.gradient_updates import DirectUpdate, LogisticUpdate, has_signs
from structperc.core.losses import is_additive
from structperc.core.outputs import LabelOutputs
from structperc.problems.objectives import CumulativeLogit, Hinge, LogLoss, OfRule, SoftmaxMargin, SparseMap


@attrs.frozen
class Kind:
    """A loss by name."""
    # make: function of the parameters. Returns an `Objective`, for one thread.
    # parameters: dict of str to object. Its parameters and their defaults.
    # in_draws: tuple of str. Of the parameters, those that `make` does not take: the scores are changed instead.
    # curvature: function of the scores and the gradient, or None. The diagonal of the second derivative; None: the loss has kinks.

    make: object
    parameters: dict = attrs.field(factory=dict)
    in_draws: tuple = ()
    needs_costs: bool = False
    curvature: object = None


def bernoulli_variance(scores, gradient):
    """The variance of each atom with a probability p of being there: the gradient is p or p - 1."""
    return np.abs(gradient) * (1 - np.abs(gradient))


def odds_curvature(scores, gradient):
    """That of an end of the right ranks: of its sigmoid, and of the barrier between both ends. The gradient has the sum of both slopes."""
    above = gradient > 0
    slope = expit(np.where(above, scores, -scores))
    barrier = np.maximum(np.abs(gradient) - slope, 0)
    return np.where(gradient == 0, 0, slope * (1 - slope) + barrier * (1 + barrier))


LOSSES = {
    "perceptron": Kind(lambda: Hinge(0.0)),
    "hinge": Kind(lambda margin: Hinge(margin), {"margin": 1.0}),
    "log-loss": Kind(LogLoss, curvature=bernoulli_variance),
    "softmax-margin": Kind(lambda margin: SoftmaxMargin(margin), {"margin": 1.0}, curvature=bernoulli_variance),
    "perturbed": Kind(lambda: Hinge(0.0), {"sigma": 1.0, "n_draws": 10, "random_state": None}, ("sigma", "n_draws", "random_state")),
    "sparsemap": Kind(lambda tolerance: SparseMap(tolerance), {"tolerance": 1e-9}),
    "direct": Kind(lambda width: OfRule(DirectUpdate("direct", 1.0, False, width), ("search",), predicts=True), {"width": 1.0}),
    "spo+": Kind(lambda: Hinge(0.0), needs_costs=True),
    "logistic": Kind(lambda: OfRule(LogisticUpdate(1.0), ("signs",)), curvature=bernoulli_variance),
    "cumulative-logit": Kind(CumulativeLogit, curvature=odds_curvature),
}
SEARCHES = ("hinge", "direct")          # with the loss in the scores
OF_LABELS = ("log-loss", "softmax-margin")      # whose curvature is the variance of counts, which are 0 and 1 in labels


def kind_of(loss) -> Kind:
    """The loss of this name."""
    if not isinstance(loss, str) or loss not in LOSSES:
        hint = did_you_mean(loss, LOSSES) if isinstance(loss, str) else ""
        raise OptionError(f"loss={shortened(loss)}; expected one of {', '.join(map(repr, LOSSES))}.{hint}")
    return LOSSES[loss]


def parameters_of(loss, given) -> dict:
    """The parameters of a loss, checked; `given` has None for those that the user has left out."""
    kind, values = kind_of(loss), {}
    for name, value in given.items():
        if value is not None and name not in kind.parameters:
            used = [one for one, other in LOSSES.items() if name in other.parameters]
            raise UnusedOption(f"{name}={shortened(value)} has no effect with loss={loss!r}; it is a parameter of "
                               f"{' and '.join(map(repr, used))}. Leave it out.", name)
    for name, default in kind.parameters.items():
        value = default if given.get(name) is None else given[name]
        if name == "n_draws":
            value = whole_number(value, name, 1)
        elif name != "random_state":
            value = real_number(value, name, POSITIVE)
        values[name] = value
    return values


def check_curvature(loss, parts) -> None:
    """Raises an error for a loss without a second derivative, and where the gradient does not determine it."""
    kind, outputs = kind_of(loss), parts.outputs
    if kind.curvature is None:
        smooth = ", ".join(repr(name) for name, other in LOSSES.items() if other.curvature is not None)
        raise OptionError(f"loss={loss!r} has no second derivative, so it has no curvature. Expected one of {smooth}.")
    if loss in OF_LABELS and not isinstance(outputs, LabelOutputs):
        raise PluginError(f"curvature=True with loss={loss!r} is for labels. {type(outputs).__name__} may count an atom twice, and then "
                          f"the gradient does not show the variance; leave curvature out.")


def check_supported(parts, loss, make, gold) -> None:
    """Raises an error, in one sentence, if a problem cannot have this loss."""
    needs, solver, task_loss = make().needs, type(parts.argmax).__name__, type(parts.loss).__name__
    if gold is None:
        raise OptionError(f"loss={loss!r} compares scores with gold outputs, but this batch has none; give y to Problem.batch.")
    if "marginals" in needs and (parts.outputs.hidden or not has_marginals(parts.argmax)):
        raise PluginError(f"loss={loss!r} needs marginals, but {solver} finds none; use 'hinge', 'perturbed' or 'sparsemap', or add a "
                          f"method marginals(scores, x) to {solver}.")
    if "sums" in needs and not is_additive(parts.loss):
        raise PluginError(f"loss={loss!r} adds {task_loss} to the scores, but it is no sum over atoms; use 'log-loss', or another loss=... "
                          f"of Problem.")
    if loss in SEARCHES and not parts.argmax.searches_with(parts.loss):
        raise PluginError(f"loss={loss!r} searches with {task_loss}, which {solver} cannot add to scores; use 'perceptron' or 'perturbed', "
                          f"or another loss=... of Problem.")
    if "signs" in needs and not has_signs(parts.outputs):
        raise PluginError(f"loss={loss!r} needs the right and the wrong atoms of partial gold outputs. {type(parts.outputs).__name__} "
                          f"has no method `signs` that returns them; use 'hinge'.")
    if "ranks" in needs and not is_ranks(parts.outputs):
        raise PluginError(f"loss={loss!r} is one of ordered labels, but the outputs are {type(parts.outputs).__name__}; use 'log-loss' or "
                          f"'hinge'.")


def is_ranks(outputs) -> bool:
    """Whether outputs are ordered labels whose atoms are "rank > k"."""
    return isinstance(outputs, LabelOutputs) and bool(outputs.ordered) and outputs.n_atoms == outputs.n_labels - 1
