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
from structperc.engine.hookspecs import hookimpl
from structperc.engine.option import Option
from structperc.pipelines import explain
from structperc.version import __version__

__all__ = ["Engine", "Option", "__version__", "effects", "explain", "get_include", "hookimpl"]


if TYPE_CHECKING:
    from structperc.bootstrap import effects
else:

    def __getattr__(name):
        """`effects`, imported when it is first used."""
        if name != "effects":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from structperc.bootstrap import effects

        return effects


def get_include() -> str:
    """The folder with inner.h, for building Cython plugins."""
    from pathlib import Path

    return str(Path(__file__).parent / "core")
