"""Models on disk: a zip of arrays and a JSON header; nothing in it is ever executed.

The header has the format and its number, the versions of structperc and of every plugin, and the options. Of functions it has their names.
It also has the features, the labels and the record of training. The arrays are the states of the parts, named `part.key`.
docs/model-files.md describes the format.
"""

from structperc.engine.model_file.copying import constructor_arguments, remembered, set_state
from structperc.engine.model_file.earlier import RULES, join_rules
from structperc.engine.model_file.loading import header_in, load, loads, opened, restore, restore_columns, states_of
from structperc.engine.model_file.saving import OBSERVES, collect, dumps, save, write

__all__ = ["OBSERVES", "RULES", "collect", "constructor_arguments", "dumps", "header_in", "join_rules", "load", "loads", "opened",
           "remembered", "restore", "restore_columns", "save", "set_state", "states_of", "write"]
