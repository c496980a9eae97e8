"""Modules of files outside the packages: examples, and extensions of the documentation."""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def module_at(path):
    """The module of a file below the root of the repository, made once; pickles find it by its name."""
    path = ROOT / path
    name = path.stem if path.is_relative_to(ROOT / "examples") else f"{path.parent.name}_{path.stem}"
    if name not in sys.modules:
        specification = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def reference():
    """The reference of the public list. Modules in which Sphinx put mocks for missing libraries are forgotten: tests import them."""
    before = set(sys.modules)
    made = module_at("docs/_extensions/reference.py").Reference()
    for name in set(sys.modules) - before:
        package, _, own = name.rpartition(".")
        if any(type(value).__module__ == "sphinx.ext.autodoc.mock" for value in vars(sys.modules[name]).values()):
            del sys.modules[name]
            vars(sys.modules.get(package, sys)).pop(own, None)
    return made
