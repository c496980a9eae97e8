"""Models on disk: a zip of arrays and a JSON header; nothing in it is ever executed.

The header has the format and its number, the versions of structperc and of every plugin, and the options. Of functions it has their names.
It also has the features, the labels and the record of training. The arrays are the states of the parts, named `part.key`.
docs/model-files.md describes the format.
"""

from structperc.later import names_of

MODULES = {
    "copying": ("constructor_arguments", "remembered", "set_state"),
    "header": ("plain",),
    "loading": ("header_in", "load", "loads", "made", "opened", "read_from", "restore", "restore_columns", "states_of"),
    "saving": ("TREES_FORMAT", "collect", "dumps", "save", "save_trees", "write"),
}
__all__, __getattr__, __dir__ = names_of(__name__, MODULES)
