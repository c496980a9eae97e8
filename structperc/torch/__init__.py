# May import basics, engine, problems.
"""Structured output layers for PyTorch: losses of any problem, chains, heads for ordered labels."""

from structperc.later import names_of

MODULES = {
    "chain": ("Chain",),
    "heads": ("CusumHead",),
    "structured": ("StructuredLoss",),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
