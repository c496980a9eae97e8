# May import basics, core, engine, fitting, reading.
"""Any problem on given scores: losses of atoms with their gradients, best outputs, marginals.

Stable: names, parameters and defaults change only by the rules of versions.
"""

from structperc.later import names_of

MODULES = {
    "batches": ("Batch",),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
