"""Structured prediction trained online, from four replaceable parts: w, Y(x), Phi and the argmax."""

from structperc.engine import Engine
from structperc.hookspecs import hookimpl, hookspec
from structperc.registry import Option

__version__ = "0.1.0"
__all__ = ["Engine", "Option", "get_include", "hookimpl", "hookspec"]


def get_include() -> str:
    """The folder with inner.h, for building Cython plugins."""
    from pathlib import Path

    return str(Path(__file__).parent / "core")
