"""The smallest change of an example after which a model predicts something else, with a proof."""

from structperc.counterfactuals.columns import Change
from structperc.counterfactuals.nearest import counterfactual
from structperc.counterfactuals.result import Counterfactual
from structperc.counterfactuals.wanted import Wanted

__all__ = ["Change", "Counterfactual", "Wanted", "counterfactual"]
