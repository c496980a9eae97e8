"""Names that a package imports from its modules when they are first used.

Suppose a package imports its own modules. One thread begins with the package, and another with one of these modules. Each then waits
for the other, and Python ends one import with a deadlock error. So the packages of structperc import none of their modules.
"""

from __future__ import annotations

import difflib
from importlib import import_module


def names_of(package, modules):
    """The functions that make a package a list of names.

    Parameters
    ----------
    package : str
    modules : mapping from str to sequence of str
        The names of each module of the package.

    Returns
    -------
    names : list of str
        `__all__` of the package.
    getattr : function
        Its `__getattr__`.
    dir : function
        Its `__dir__`.

    Raises
    ------
    ValueError
        A name is also that of a module: once it is imported, the module would hide the name.

    Examples
    --------
    >>> from structperc.later import names_of
    >>> names, getattr, dir = names_of("structperc.files", {"formats": ("read",)})
    >>> names, getattr("read").__module__
    (['read'], 'structperc.files.formats')
    """
    module_of = {name: f"{package}.{module}" for module, names in modules.items() for name in names}
    names = sorted(module_of)
    if hidden := sorted(module_of.keys() & modules.keys()):
        raise ValueError(f"{package}: {hidden[0]!r} is a name and a module; rename one of them.")

    def __getattr__(name):
        if name not in module_of:
            near = difflib.get_close_matches(name, names, 1) if name[:1] != "_" else []
            raise AttributeError(f"module {package!r} has no attribute {name!r}{f'. Did you mean {near[0]!r}?' if near else ''}")
        return getattr(import_module(module_of[name]), name)

    return names, __getattr__, lambda: names


def module_at(name):
    """The module of this name, imported after its packages."""
    # Python locks a module before the packages around it. Here all of them are there before, whatever they import themselves.
    parts = name.split(".")
    for end in range(1, len(parts)):
        import_module(".".join(parts[:end]))
    return import_module(name)
