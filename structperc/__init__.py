"""Structured prediction trained online, from four replaceable parts: w, Y(x), Phi and the argmax."""

from structperc.bootstrap import effects
from structperc.engine import Engine
from structperc.engine.hookspecs import hookimpl
from structperc.engine.options import Option
from structperc.pipelines import explain
from structperc.version import __version__

__all__ = ["Engine", "Option", "__version__", "effects", "explain", "get_include", "hookimpl"]


def get_include() -> str:
    """The folder with inner.h, for building Cython plugins."""
    from pathlib import Path

    return str(Path(__file__).parent / "core")
