"""Estimators of plugins' packages by name, from their entry points; none is imported before it is used."""

from __future__ import annotations

import functools
import importlib.metadata

from structperc.basics.errors import no_name
from structperc.later import module_at

GROUP = "structperc.estimators"


@functools.cache
def declared() -> tuple:
    """The entry points of all packages, in the order in which they are installed."""
    return tuple(importlib.metadata.entry_points(group=GROUP))


@functools.cache
def addresses() -> dict:
    """The entry point of each name; of equal names that of the first package."""
    entries = {}
    for entry in declared():
        entries.setdefault(entry.name, entry)
    return entries


def estimator(name, others=()):
    """The class of this name, or AttributeError with a hint among all names and `others`, those of the module itself."""
    entry = addresses().get(name)
    if entry is None:
        raise no_name(GROUP, name, (*others, *addresses()))
    return loaded(entry)


def loaded(entry):
    """The class of an entry point. If it cannot be imported, it is no attribute: tools that look at all names leave it out."""
    try:
        module_at(entry.module)
        return entry.load()
    except (Exception, SystemExit) as error:
        distribution = f" of the distribution {entry.dist.metadata['Name']} {entry.dist.version}" if entry.dist else ""
        raise AttributeError(f"the estimator {entry.name!r}{distribution} is at {entry.value}, which cannot be imported "
                             f"({type(error).__name__}: {error}).") from error


def class_at(module, name):
    """The class that a package declares and defines at a place, else None. Only declared entry points are imported."""
    # A class may name another module of its package, or `structperc.estimators`, as its own. So its address is compared once more.
    for entry in sorted(declared(), key=lambda entry: (entry.module, entry.attr) != (module, name)):
        exact = (entry.module, entry.attr) == (module, name)
        if exact or (entry.name == name and package(module) in (package(entry.module), package(GROUP))):
            cls = loaded(entry)
            if exact or (getattr(cls, "__module__", None), getattr(cls, "__qualname__", None)) == (module, name):
                return cls
    return None


def package(module) -> str:
    return module.partition(".")[0]
