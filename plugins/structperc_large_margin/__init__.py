"""Ordinal regression with large margins: one direction, and thresholds, that solve one quadratic program over all examples.

    Engine("prank", plugins=["large-margin"], trainer="svor", method="implicit", C=1.0, epochs=1000)
    Engine("prank", plugins=["dual-kernel", "large-margin"], trainer="svor", kernel="rbf", C=10.0, epochs=1000)
"""

from structperc import Option, hookimpl
from structperc_large_margin.forms import METHODS
from structperc_large_margin.training import LargeMarginTrainer

also_called = ("svor", "svm")
options = {
    "method": Option("implicit", METHODS, "which program to solve"),
    "nu": Option(None, types=(float, type(None)), above=0, help="instead of C, not for sum-of-margins: the largest share of margin errors"),
    "tolerance": Option(1e-3, None, "training ends at a duality gap of this part of the objective", above=0, below=1),
    "disordered": Option("refuse", ("refuse", "pool"), "if thresholds of fixed-margin are out of order: an error, or ordered ones"),
    "warm_start": Option(False, (False, True), "fit starts from the engine's last solution, of any C, or from its direction"),
}

DEFAULT_CACHE = 200         # MB, where no weight store has an option for it

trainers = ("svor",)
recommended = {("trainer", *trainers): {"epochs": 10_000, "calibrate": False}}
paper = {("trainer", *trainers): {"epochs": 10_000}}         # the optimum of the program
problem = "prank"           # to check it with
check_options = {"trainer": "svor", "update": "exact-pa1"}


@hookimpl
def structperc_trainer(context):
    if context.trainer not in trainers:
        return None
    options = context.options
    cache_bytes = int(options.get("cache_size", DEFAULT_CACHE) * 1e6)
    names = "method", "nu", "tolerance", "disordered", "warm_start"
    return LargeMarginTrainer(*(options[name] for name in names), cache_bytes)
