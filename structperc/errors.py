"""The exceptions of structperc. Every message has the place, the value, the expectation and the remedy.

Stable: names, parameters and defaults change only by the rules of versions.
"""

from structperc.basics.errors import (
    BusyError,
    ConflictingOption,
    DataError,
    DataTypeError,
    DataWarning,
    MissingData,
    MissingExtra,
    ModelFormatError,
    NotFittedError,
    OptionError,
    PluginError,
    ReplacedOption,
    ScaleWarning,
    StructPercError,
    UnusedOption,
    WeightWarning,
    did_you_mean,
    shortened,
)

__all__ = [
    "BusyError", "ConflictingOption", "DataError", "DataTypeError", "DataWarning", "MissingData", "MissingExtra", "ModelFormatError",
    "NotFittedError", "OptionError", "PluginError", "ReplacedOption", "ScaleWarning", "StructPercError", "UnusedOption", "WeightWarning",
    "did_you_mean", "shortened",
]  # fmt: skip
