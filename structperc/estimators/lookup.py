"""Estimators of plugins' packages by name, from their entry points; none is imported before it is used."""

from __future__ import annotations

import functools
import importlib.metadata

from structperc.core.errors import no_name

GROUP = "structperc.estimators"


@functools.cache
def addresses() -> dict:
    """The entry point of each name; of equal names that of the first package."""
    entries = {}
    for entry in importlib.metadata.entry_points(group=GROUP):
        entries.setdefault(entry.name, entry)
    return entries


def estimator(name, others=()):
    """The class of this name.

    Parameters
    ----------
    name : str
    others : sequence of str, default ()
        Names of the module itself, for the hint of an error.

    Raises
    ------
    AttributeError
        No installed package declares it.
    """
    entry = addresses().get(name)
    if entry is None:
        raise no_name(GROUP, name, (*others, *addresses()))
    return entry.load()
