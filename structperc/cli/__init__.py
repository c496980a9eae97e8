# May import all rooms below.
"""The command line: `structperc plugins | fit | predict | evaluate | plot | new | check`.

Exit codes: 0 fine, 1 a check failed, 2 wrong usage or data, 130 Ctrl-C, 143 SIGTERM.
"""

from structperc.later import names_of

MODULES = {
    "running": ("main",),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
