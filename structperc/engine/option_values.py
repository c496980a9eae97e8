"""Values of engine options that are more than a number, a choice or a text: each function checks one and converts it."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping

import numpy as np

from structperc.core.errors import OptionError, shortened
from structperc.core.labels import plain


def read_rule(name, value):
    if not isinstance(value, str):
        raise OptionError(f"{name}={shortened(value)}; expected the name of {'a trainer' if name == 'trainer' else 'an update rule'}. "
                          f"{'A trainer' if name == 'trainer' else 'A rule'} of your own goes into plugins=[...].")
    return value


def read_loss(name, value):
    if value is None or isinstance(value, str):
        return value
    try:
        given = np.asarray(value)
        if given.dtype.kind == "c":
            raise TypeError
        return np.array(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise OptionError(f"loss={shortened(value, 80)}; expected a name or an (r, r) matrix of costs. "
                          f"A loss of your own is an object of a subclass of structperc.components.Loss in plugins=[...].") from None


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
        if isinstance(weight, bool) or not isinstance(weight, numbers.Real) or not 0 <= weight < math.inf:
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
