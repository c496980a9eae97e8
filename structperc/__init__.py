"""Structured prediction trained online, from four replaceable parts: w, Y(x), Phi and the argmax.

Stable: names, parameters and defaults change only by the rules of versions. Provisional: `counterfactual`, `effects`,
`proportional_odds`.
"""

import os
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from typing import TYPE_CHECKING

if not any(os.path.exists(os.path.join(__path__[0], "core", f"loop{suffix}")) for suffix in EXTENSION_SUFFIXES):
    raise ImportError(f"{__path__[0]} is a source tree of structperc whose compiled modules have not been built (structperc.core.loop is "
                      f"missing). Build them with `pip install -e .` in the folder above, or leave that folder to import an installed "
                      f"structperc.")

__all__ = ["Engine", "Option", "Problem", "__version__", "counterfactual", "effects", "explain", "get_include", "hookimpl",
           "proportional_odds"]

MODULE_OF = {
    "Engine": "structperc.engine.engine",
    "Option": "structperc.fitting.option",
    "Problem": "structperc.problems.problem",
    "__version__": "structperc.version",
    "counterfactual": "structperc.counterfactuals",
    "effects": "structperc.inference",
    "explain": "structperc.pipelines",
    "hookimpl": "structperc.fitting.hookspecs",
    "proportional_odds": "structperc.inference",
}

if TYPE_CHECKING:
    from structperc.counterfactuals import counterfactual
    from structperc.engine.engine import Engine
    from structperc.fitting.hookspecs import hookimpl
    from structperc.fitting.option import Option
    from structperc.inference import effects, proportional_odds
    from structperc.pipelines import explain
    from structperc.problems.problem import Problem
    from structperc.version import __version__
else:

    def __getattr__(name):
        """A name, imported when it is first used: `structperc.later` has the reason."""
        if name == "errors":            # so that `import structperc` suffices for `except structperc.errors.DataError`
            return import_module("structperc.errors")
        if name not in MODULE_OF:
            from structperc.basics.errors import no_name

            raise no_name(__name__, name, __all__)
        return getattr(import_module(MODULE_OF[name]), name)


def __dir__():
    return sorted({*globals(), *__all__})


def get_include() -> str:
    """The folder of the C headers, for the build of Cython plugins.

    Examples
    --------
    >>> import pathlib, structperc
    >>> (pathlib.Path(structperc.get_include()) / "inner.h").exists()
    True
    """
    from pathlib import Path

    return str(Path(__file__).parent / "include")
