# Written by tests/typing/stubs.py from the table of names.
from structperc.testing.checks import CHECKS as CHECKS
from structperc.testing.suite import Report as Report
from structperc.testing.suite import check_problem as check_problem
from structperc.testing.twins import DualWeights as DualWeights
