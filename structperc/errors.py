"""The exceptions of structperc. Every message has the place, the value, the expectation and the remedy."""

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
