# May import basics, core, engine, fitting, pictures, pipelines, reading, solvers.
"""The smallest change of an example after which a model predicts something else, with a proof.

Provisional: it may change in any minor version.
"""

from structperc.later import names_of

MODULES = {
    "columns": ("Change",),
    "nearest": ("counterfactual",),
    "result": ("Counterfactual",),
    "wanted": ("Wanted",),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
