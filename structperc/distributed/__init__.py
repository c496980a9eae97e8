# May import basics, core, engine, files, fitting, reading, streams.
"""Training and predictions on more than one machine, by Dask: `fit`, `predict` and `scores`.

Provisional: it may change in any minor version.
"""

from structperc.later import names_of

MODULES = {
    "answers": ("predict", "scores"),
    "training": ("fit",),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
