"""Where a transformation changes the scores, or rounds them, and why. Everything else is equal, as `transformations` declares."""

from collections.abc import Callable

import attrs
import numpy as np

from structperc.engine import plugins as registry


@attrs.frozen
class Rule:
    """Transformations whose scores differ in the cells that `applies` selects.

    Attributes
    ----------
    names : tuple of str
        Of transformations.
    because : str
    applies : function of a trained cell
    bound : function of a trained cell, optional
        How far scores may differ all the same; without it, at will.
    refused : str, default ""
        The library may refuse the changed examples by an error with these words.
    """

    names: tuple
    because: str
    applies: Callable
    bound: Callable = lambda one: np.inf
    refused: str = ""


SPARSE = ("CSR", "CSC")


def solves(one) -> bool:
    """Whether a trainer of its own solves a problem over all examples."""
    return not one.case.parts.trainer.online


def tolerance(one) -> float:
    """How near to the optimum a solver of the cell stops."""
    return 10 * float(one.engine.plugin_options.get("tolerance", 0) or 0)


def visits_in_order(one) -> bool:
    return not solves(one) or ("shuffle" in one.case.parts.trainer.options_used and not tolerance(one))


def reads_tokens(one) -> bool:
    return bool(registry.load(one.case.problem).conllu)


RULES = [
    Rule(("columns times powers of two", "columns times three", "columns shifted", "constant added"),
         "without scaling, the steps see the units of the columns, and a constant is another intercept",
         lambda one: not one.engine.scale),
    Rule(SPARSE, "sparse columns are not centred, and by scale='auto' not divided", lambda one: bool(one.engine.scale)),
    Rule(("float32",), "rows of float32 are scaled in float32", lambda one: bool(one.engine.scale), lambda one: 1e-5),
    Rule(("rows reversed",), "an online pass depends on the order of the examples", lambda one: not solves(one)),
    Rule(("weights 2",), "weights scale the steps or their C", lambda one: one.engine.weighting == "steps"),
    Rule((*SPARSE, "rows reversed", "columns times three", "columns permuted", "columns shifted", "zeros added",
          "constant added", "weight 0"),
         "a solver stops within its tolerance", solves, tolerance),
    Rule(SPARSE, "stumps compare the values of whole columns", solves, refused="stumps compare the values of whole columns"),
    Rule(("columns permuted", "zeros added", "columns times powers of two", "columns times three", "columns shifted", "constant added"),
         "cells of tokens are names, and their column is a part of the name", reads_tokens),
    Rule(("lists",), "a list of rows is a list of sentences", reads_tokens, refused="X is a list of sentences already"),
    Rule(("loaded",), "a model file holds no functions and no objects", lambda one: True, refused="which a model file cannot hold"),
]


def rules_of(one, name) -> list[Rule]:
    """The rules for a cell under a transformation."""
    return [rule for rule in RULES if name in rule.names and rule.applies(one)]
