"""What goes wrong, said in sentences: where, what came, what was expected, what to do.

`structperc.errors` is the public address of this module.
"""

import difflib


class StructPercError(Exception):
    """Base of all errors that structperc raises on purpose."""


class DataError(StructPercError, ValueError):
    """X, y or another argument that holds data cannot be used; names the row, column or key."""


class DataTypeError(DataError, TypeError):
    """X holds an object that can never become a number."""


class OptionError(StructPercError, ValueError):
    """An option has a value that it cannot have, or none that it could have any effect with."""


class UnusedOption(OptionError):
    """An option that has no effect beside the other options; `option` is its name. Estimators leave such an option out instead."""

    def __init__(self, message, option=""):
        super().__init__(message)
        self.option = option


class ReplacedOption(UnusedOption):
    """An option that has no effect since a plugin has put a part that ignores it where another part would use it."""


class PluginError(StructPercError, TypeError):
    """A plugin is unknown, broken, incomplete or does not fit the others; names it and the hook."""


class ModelFormatError(StructPercError, ValueError):
    """A model file is damaged, truncated, foreign or from another version; names the file."""


class MissingData(StructPercError, OSError):
    """The files of a data set are not on this machine, and could not be fetched; says what to put where."""


class BusyError(StructPercError, RuntimeError):
    """The engine is being trained, by an observer's caller or in another thread."""


class NotFittedError(StructPercError, ValueError, AttributeError):
    """The engine has not been trained yet."""


class MissingExtra(StructPercError, ImportError):
    """A library that only some functions need is not installed."""


class DataWarning(UserWarning):
    """Data that can be used, though something about them is seldom meant."""


class WeightWarning(DataWarning):
    """Sample weights that hardly change what is learned."""


class ScaleWarning(DataWarning):
    """Columns differ much in size, and nothing scales them."""


def add_note(error: BaseException, sentence: str) -> None:
    """Adds a sentence below an error's message; before Python 3.11 it is kept but not shown."""
    error.__notes__ = [*getattr(error, "__notes__", ()), sentence]


def shortened(value, most: int = 60) -> str:
    """What a message shows of a value: the beginning of its repr; its type, where the repr fails as that of deeply nested lists does."""
    try:
        return repr(value)[:most]
    except Exception:
        return f"of type {type(value).__name__}"


def did_you_mean(value, known) -> str:
    """The end of a message about an unknown name: the known one that is nearest to it, or nothing."""
    near = difflib.get_close_matches(str(value), list(map(str, known)), 1)
    return f" Did you mean {near[0]!r}?" if near and near[0] != str(value) else ""
