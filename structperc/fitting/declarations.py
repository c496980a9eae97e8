"""What the classes of parts declare: options, fitted attributes, and names of earlier versions."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np

from structperc.basics.errors import PluginError, did_you_mean, shortened
from structperc.fitting.option import options_of

NEEDS = ("marginals", "search")
CHECKED = WeakKeyDictionary()       # the declarations of each class of parts that are right
EARLIER = {         # names that are no longer read, and what does the same
    "weights": {"sum_of_steps": "linear", "sizes_steps": "options_used", "projects": "check", "takes_scaled_rows": "rescaling",
                "mixes": "sharding", "rescaled": "rescaling", "install": "rescaling", "begin_fit": "announce", "end_fit": "announce",
                "revert": "snapshot", "inner": "norm"},
    "argmax": {"heeds_allowed": "check_allowed", "has_marginals": "marginals"},
    "loss": {"example_costs": "set_costs", "decomposable": "augment", "over_atoms": "augment"},
    "update": {"search": "searches", "loss_weight": "searches", "takes_weights": "check", "threshold_order": "check_order"},
    "trainer": {"threshold_order": "check_order", "curve": "learning_curve", "scale_free": "check_scales"},
}  # fmt: skip


def check_declarations(engine, context, parts) -> None:
    """Raises an error for unknown names in `needs`, `options_used` and `attributes`, once for each class of parts and its names."""
    for kind, part in parts.items():
        needs = part.needs if kind == "update" else ()
        declared = needs, part.options_used
        if CHECKED.get(type(part)) == declared:
            continue
        refuse_earlier_names(kind, part)
        if kind == "argmax" and not isinstance(part.exact, (bool, np.bool_)):
            raise PluginError(f"{type(part).__name__}.exact = {shortened(part.exact)}; expected True or False.")
        refuse_names(part, "needs", needs, NEEDS, f"expected a set of {', '.join(map(repr, NEEDS))}")
        refuse_names(part, "options_used", part.options_used or (), {**options_of(type(engine)), **dict.fromkeys(context.options)},
                     "expected a tuple of options of the engine and its plugins")
        if kind != "features" or parts.weights.vector() is not None:
            check_attributes(engine, part, part.attributes(parts.weights))
        CHECKED[type(part)] = declared


def refuse_earlier_names(kind, part) -> None:
    """Raises an error for a name that earlier versions read, if what is read now is not declared beside it."""
    bases = [vars(base) for base in type(part).__mro__ if base is not object and not base.__module__.startswith("structperc.")]
    declared = {name for names in (getattr(part, "__dict__", {}), *bases) for name in names}
    for earlier, now in {**EARLIER.get(kind, {}), "absent": "attributes"}.items():
        if earlier in declared and now not in declared:
            raise PluginError(f"{type(part).__name__}.{earlier} is not read any more; override {now} instead.")


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
