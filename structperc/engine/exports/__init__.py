"""Trained models as programs and data of other languages: one file, without structperc.

A model has one of three forms, `LinearLabels`, `LinearChain` and `LinearScores`, each in a folder of its own. A format is a module there
with a function `written(model, name)`, which gives the content of the file. Reserved words of its language are entered in `names`.
"""

from structperc.later import names_of

MODULES = {
    "chains": ("LinearChain", "linear_chain"),
    "formats": ("ENDINGS", "FORMATS", "described", "export"),
    "labels": ("LinearLabels", "linear_labels"),
    "scores": ("LinearScores", "linear_scores"),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
