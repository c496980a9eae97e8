"""Values of engine options that are more than a number, a choice or a text: each function checks one and converts it."""

from __future__ import annotations

import numbers
import sys
from collections.abc import Mapping

import numpy as np

from structperc.basics.errors import OptionError, shortened
from structperc.basics.labels import plain
from structperc.core.component import Component


def is_part(value) -> bool:
    """Whether a value is a part, or a class of which each engine makes its own."""
    return not isinstance(value, str) and (isinstance(value, Component) or isinstance(value, type) and issubclass(value, Component))


def read_part(name, value):
    if not (isinstance(value, str) or is_part(value)):
        raise OptionError(f"{name}={shortened(value)}; expected a name, or an object of a subclass of "
                          f"structperc.components.{name.title()}.")
    return value


def read_loss(name, value):
    if value is None or isinstance(value, str) or is_part(value):
        return value
    try:
        values = np.asarray(value)
        if values.dtype.kind == "c":
            raise TypeError
        return np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"loss={shortened(value, 80)}; expected a name, an (r, r) matrix of costs, or an object of "
                          f"a subclass of structperc.components.Loss.") from None


def read_random_state(name, value):
    if value is None or isinstance(value, (np.random.Generator, np.random.RandomState)):
        return value
    if isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.timedelta64)) and value >= 0:
        return value
    raise OptionError(f"random_state={shortened(value)}; expected None, a whole number from 0, a numpy Generator or a RandomState.")


def read_class_weight(name, value):
    if value is None or isinstance(value, str) and value == "balanced":
        return value
    if not isinstance(value, Mapping) or not value:
        raise OptionError(f"{name}={shortened(value)}; expected None, 'balanced', or a dict from labels to weights, {{label: weight}}.")
    for label, weight in value.items():
        if isinstance(weight, bool) or not isinstance(weight, numbers.Real) or not 0 <= weight <= sys.float_info.max:
            raise OptionError(f"{name} gives {label!r} the weight {shortened(weight)}; expected a finite number, at least 0.")
    return {plain(label): float(weight) for label, weight in value.items()}


def read_jobs(name, value):
    if not isinstance(value, numbers.Integral) or isinstance(value, (bool, np.timedelta64)) or not -2**31 < value < 2**31 or value == 0:
        raise OptionError(f"{name}={shortened(value)}; expected a number of threads from 1, or -1 for one on each core.")
    return int(value)


def read_plugins(name, value):
    if isinstance(value, str) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        raise OptionError(f"plugins={shortened(value)}; expected a list of names or plugin objects, such as "
                          f"[{shortened(value) if isinstance(value, str) else 'PLUGIN'}].")
    return tuple(value)
