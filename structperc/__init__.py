"""Structured prediction trained online, from four replaceable parts: w, Y(x), Phi and the argmax."""

from typing import TYPE_CHECKING

try:
    from structperc.engine import Engine
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("structperc."):
        raise
    raise ImportError(f"{__path__[0]} is a source tree of structperc whose compiled modules have not been built ({error.name} is missing). "
                      f"Build them with `pip install -e .` in the folder above, or leave that folder to import an installed "
                      f"structperc.") from error
from structperc.core.errors import no_name
from structperc.engine.hookspecs import hookimpl
from structperc.engine.option import Option
from structperc.pipelines import explain
from structperc.version import __version__

__all__ = ["Engine", "Option", "__version__", "counterfactual", "effects", "explain", "get_include", "hookimpl"]


LATER = {"counterfactual": "structperc.counterfactuals", "effects": "structperc.bootstrap"}


if TYPE_CHECKING:
    from structperc.bootstrap import effects
    from structperc.counterfactuals import counterfactual
else:

    def __getattr__(name):
        """Functions that are imported when they are first used."""
        if name not in LATER:
            raise no_name(__name__, name, __all__)
        from importlib import import_module

        return getattr(import_module(LATER[name]), name)


def get_include() -> str:
    """The folder of the C headers, for the build of Cython plugins.

    Returns
    -------
    str

    Examples
    --------
    >>> import pathlib, structperc
    >>> (pathlib.Path(structperc.get_include()) / "inner.h").exists()
    True
    """
    from pathlib import Path

    return str(Path(__file__).parent / "core")
