"""Errors for parts whose predictions an export would not repeat."""

from __future__ import annotations

from structperc.basics.errors import PluginError
from structperc.core.component import overrides

# The parts that make a prediction of weights, each with the methods that an export repeats.
REPEATED = {"outputs": ("decode",), "features": (), "argmax": ("argmax",)}


def refuse_other_plugins(engine) -> None:
    """Raises an error for a part that a plugin has put in the place of the problem's own."""
    for kind in REPEATED:
        plugin = engine.answered[f"structperc_{kind}"]
        if plugin.name != engine.loaded_plugins[1].name:
            raise PluginError(f"this model of {engine.problem} cannot be exported: {part_name(engine, kind)} replaces the {kind} part of "
                              f"{engine.problem}, and an export repeats only the problem's own. Leave that plugin out, or predict with "
                              f"structperc.")


def refuse_python_methods(engine) -> None:
    """Raises an error for methods in Python where an export repeats those of a compiled class; every form calls it."""
    for kind, methods in REPEATED.items():
        for method in methods:
            if overrides(getattr(engine.model_.parts, kind), method):
                raise PluginError(f"{part_name(engine, kind)} has a method {method} in Python, which an export cannot repeat. Inherit the "
                                  f"method of a ready-made part, or predict with structperc.")


def part_name(engine, kind) -> str:
    """The class of a part, and its plugin."""
    return f"{type(getattr(engine.model_.parts, kind)).__name__} of {engine.answered[f'structperc_{kind}'].origin}"
