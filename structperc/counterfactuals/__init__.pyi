# Written by tests/typing/stubs.py from the table of names.
from structperc.counterfactuals.columns import Change as Change
from structperc.counterfactuals.nearest import counterfactual as counterfactual
from structperc.counterfactuals.result import Counterfactual as Counterfactual
from structperc.counterfactuals.wanted import Wanted as Wanted
