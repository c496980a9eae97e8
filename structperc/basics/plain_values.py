"""Values that JSON gives back as they were."""

from __future__ import annotations

import math


def is_plain(value) -> bool:
    """Whether JSON has the value and gives it back."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(type(key) is str and is_plain(entry) for key, entry in value.items())
    return value is None or type(value) in (bool, int, str) or type(value) is float and math.isfinite(value)
