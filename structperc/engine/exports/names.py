"""Names of functions and objects in exported files, made from the file's name. The reserved words of each language are avoided."""

from __future__ import annotations

import keyword
import re

PYTHON = frozenset(keyword.kwlist)
C = frozenset("""
    auto break case char const continue default do double else enum extern float for goto if inline int long register restrict return short
    signed sizeof static struct switch typedef union unsigned void volatile while
""".split())
# Words of the language, names that Node and browsers declare, and what the exported scripts call.
JAVASCRIPT = frozenset("""
    arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for
    function if implements import in instanceof interface let new null package private protected public return static super switch this
    throw true try typeof var void while with yield
    exports module require __dirname __filename
    document location top window Infinity NaN undefined globalThis
    Array Map Math Number Object RangeError
""".split())
RESERVED = {"c": C | PYTHON, "js": JAVASCRIPT | PYTHON}     # Python's words too, for programs that bind one to the other


def identifier(text, to) -> str:
    """A name for a file of the format `to`, by the file's stem."""
    name = re.sub(r"\W", "_", text, flags=re.ASCII)
    return f"_{name}" if not name or name[0].isdigit() or name in RESERVED.get(to, PYTHON) else name
