# May import basics, core, engine, fitting, problems.
"""Structured output layers for PyTorch: losses of any problem, chains, trees, heads for ordered labels, networks as weights.

Provisional: it may change in any minor version.
"""

from structperc.later import names_of

MODULES = {
    "chain": ("Chain",),
    "gradients": ("integrated_gradients",),
    "heads": ("CusumHead",),
    "net": ("Net",),
    "structured": ("StructuredLoss",),
    "trees": ("Trees",),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
