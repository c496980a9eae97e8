# May import basics, core, engine, fitting, pictures, pipelines, reading.
"""What a statistician reports of a model of ordered labels: effects with intervals and p values, and tests of proportional odds.

Provisional: it may change in any minor version.
"""

from structperc.later import names_of

MODULES = {
    "effect_sizes": ("effects",),
    "parallel_lines": ("OddsTests", "proportional_odds"),
    "tables": ("Effects", "Likelihood"),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
