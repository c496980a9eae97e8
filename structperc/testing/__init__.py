# May import basics, core, engine, fitting, problems, reading.
"""The test suite that every plugin must pass, bundled or not: `check_problem`.

Stable: names, parameters and defaults change only by the rules of versions.
"""

from structperc.later import names_of

MODULES = {
    "checks": ("CHECKS",),
    "suite": ("Report", "check_problem"),
    "twins": ("DualWeights",),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
