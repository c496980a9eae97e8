"""What structperc raises on purpose; every message says where, what came, what was expected and what to do."""

from structperc.core.errors import (
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
