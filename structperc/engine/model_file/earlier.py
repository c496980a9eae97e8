"""Headers of earlier versions: options that have become values of others."""

from __future__ import annotations

from structperc.basics.errors import ModelFormatError
from structperc.core.schedules import Schedule
from structperc.engine.model_file.header import field
from structperc.engine.model_file.saving import number_or_text
from structperc.fitting.builtin import DIRECT
from structperc.fitting.options import PAPER
from structperc.fitting.trainers import BOUNDED_SUM

RULES = {"C_schedule": "C", "step_schedule": "step_size", "epsilon_schedule": "epsilon", "decay_schedule": "decay"}    # of files until 0.1
RENAMED = RULES | {"epsilon": "loss_weight", "epsilon_schedule": "loss_weight"}     # of files until 0.1: options that take functions
GONE = ("epsilon", "mixing")        # options of files until 0.1 that have become values of others
EARLIER = {"preset": PAPER}         # of files until 0.1


def with_options_of_today(header, source) -> dict:
    """A header with the options of today, some of which have become values of others."""
    options, functions = dict(field(header, "options", dict)), header.get("functions", {})     # files of older versions have none
    if type(functions) is not dict or not all(type(called) is str for called in functions.values()):
        raise ModelFormatError(f"the header of {source} has impossible functions; the file was damaged or written by hand.")
    join_rules(options)
    if options.get("update") in DIRECT and ("epsilon" in options or "epsilon" in functions):
        options.pop("loss_weight", None)
        options |= {"loss_weight": options["epsilon"]} if "epsilon" in options else {}
    if options.get("mixing") == BOUNDED_SUM:
        options["trainer"] = BOUNDED_SUM
    options = {name: value for name, value in options.items() if name not in GONE}
    return header | {"options": options, "functions": {RENAMED.get(name, name): called for name, called in functions.items()}}


def join_rules(options) -> None:
    """Makes one value of a number and the rule by which it falls, in place. A step size of 1.0 was that of all rules."""
    if options.get("step_schedule") == "constant" and options["step_size"] == 1.0:
        options["step_size"] = None
    for old, name in RULES.items():
        rule = options.pop(old, "constant")
        if rule != "constant":
            options[name] = number_or_text(Schedule(options.get(name, 1.0), name, rule))
