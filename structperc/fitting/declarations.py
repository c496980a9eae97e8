"""What the classes of parts declare: options and fitted attributes."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from structperc.basics.errors import PluginError, did_you_mean, shortened
from structperc.core.weights import has_vector
from structperc.fitting.option import options_of

NEEDS = ("marginals", "search")
CHECKED = WeakKeyDictionary()       # the declarations of each class of parts that are right


def check_declarations(engine, context, parts) -> None:
    """Raises an error for unknown names in `needs`, `options_used` and `attributes`, once for each class of parts and its names."""
    for kind, part in parts.items():
        needs = part.needs if kind == "update" else ()
        declared = needs, part.options_used
        if CHECKED.get(type(part)) == declared:
            continue
        if kind == "argmax" and not isinstance(part.exact, (bool, np.bool_)):
            raise PluginError(f"{type(part).__name__}.exact = {shortened(part.exact)}; expected True or False.")
        refuse_names(part, "needs", needs, NEEDS, f"expected a set of {', '.join(map(repr, NEEDS))}")
        refuse_names(part, "options_used", part.options_used, {**options_of(type(engine)), **dict.fromkeys(context.options)},
                     "expected a tuple of options of the engine and its plugins")
        if kind != "features" or has_vector(parts.weights):
            check_attributes(engine, part, part.attributes(parts.weights))
        CHECKED[type(part)] = declared


def refuse_names(part, attribute, names, choices, expected) -> None:
    """Raises an error for a text instead of a set of names, and for the first unknown name."""
    unknown = [name for name in names if name not in choices]
    if isinstance(names, str):
        raise PluginError(f"{type(part).__name__}.{attribute} = {names!r}; {expected}, not a text.")
    if unknown:
        raise PluginError(f"{type(part).__name__}.{attribute} names {unknown[0]!r}; {expected}.{did_you_mean(unknown[0], choices)}")


def check_attributes(engine, part, names) -> None:
    """Raises an error for fitted attributes that nobody could read."""
    for name in names:
        if not name.endswith("_") or name.startswith("_"):
            raise PluginError(f"{type(part).__name__}.attributes names {name!r}; expected names that end in one underscore, such as "
                              f"{name.strip('_') + '_'!r}.")
        if hasattr(type(engine), name):
            raise PluginError(f"{type(part).__name__}.attributes names {name!r}, which is an attribute of the engine itself; choose "
                              f"another name.")
