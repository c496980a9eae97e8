"""Estimators of plugins' packages by name, from their entry points; none is imported before it is used."""

from __future__ import annotations

import functools
import importlib.metadata

from structperc.errors import did_you_mean

GROUP = "structperc.estimators"


@functools.cache
def addresses() -> dict:
    """The entry point of each name; of equal names that of the first package."""
    entries = {}
    for entry in importlib.metadata.entry_points(group=GROUP):
        entries.setdefault(entry.name, entry)
    return entries


def estimator(name):
    """The class of this name.

    Raises
    ------
    AttributeError
        No installed package declares it.
    """
    entry = addresses().get(name)
    if entry is None:
        hint = did_you_mean(name, addresses()) if name[:1] != "_" else ""
        raise AttributeError(f"module {GROUP!r} has no attribute {name!r}{hint and '.'}{hint}")
    return entry.load()
