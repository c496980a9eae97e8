"""One fit, and what it makes."""

from structperc.engine.engine import Engine

__all__ = ["Engine"]
