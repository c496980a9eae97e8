"""The header of a model file: JSON that is read strictly, and the states of random generators in it."""

from __future__ import annotations

import json
import math

import numpy as np

from structperc.basics.errors import DataError, PluginError, shortened
from structperc.basics.saved_state import SavedState

DEEPEST = 32                    # lists and objects within each other
SHOWN = {int: "a whole number", float: "a number", str: "a text", bool: "true or false", dict: "an object", list: "a list",
         type(None): "null"}
WORD, LONG = 2**32, 2**64
REST = {"has_uint32": 2, "uinteger": WORD}
GENERATORS = {                  # below what each number of a state is, [how many, below what] for lists: numpy trusts them
    np.random.MT19937: {"state": {"key": [624, WORD], "pos": 625}},
    np.random.PCG64: {"state": {"state": LONG**2, "inc": LONG**2}, **REST},
    np.random.PCG64DXSM: {"state": {"state": LONG**2, "inc": LONG**2}, **REST},
    np.random.Philox: {"state": {"counter": [4, LONG], "key": [2, LONG]}, "buffer": [4, LONG], "buffer_pos": 5, **REST},
    np.random.SFC64: {"state": {"state": [4, LONG]}, **REST},
}


def encoded(header) -> bytes:
    return json.dumps(header, allow_nan=False).encode()


def decoded(text: bytes) -> dict:
    """The header; a ValueError or RecursionError for what is no strict JSON object."""
    header = json.loads(text.decode(), parse_constant=refuse_constant, parse_float=finite, object_pairs_hook=without_repeats)
    if type(header) is not dict or depth(header) > DEEPEST:
        raise ValueError(f"it is no object, or has more than {DEEPEST} levels")
    return header


def refuse_constant(name):
    raise ValueError(f"{name} is no number of JSON")


def finite(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text:.40} is out of range")
    return value


def without_repeats(pairs) -> dict:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key occurs twice in an object")
    return members


def depth(value) -> int:
    """How many lists and objects stand within each other."""
    inner = value.values() if type(value) is dict else value if type(value) is list else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


def field(holder, name, *kinds, low=None, below=None):
    """A value of the header of exactly one of these types, a number in range. A DataError names the value."""
    if type(holder) is not dict or name not in holder:
        raise DataError(f"the header lacks {name!r}.")
    value = holder[name]
    outside = type(value) in (int, float) and (low is not None and value < low or below is not None and value >= below)
    if type(value) not in kinds or outside:
        bounds = "".join(f", {word} {bound}" for word, bound in (("at least", low), ("below", below)) if bound is not None)
        raise DataError(f"{name!r} of the header is {shortened(value)}; expected {' or '.join(SHOWN[kind] for kind in kinds)}{bounds}.")
    return value


def texts(holder, name):
    """A list of texts, or None."""
    values = field(holder, name, list, type(None))
    if values is not None and not all(type(value) is str for value in values):
        raise DataError(f"{name!r} of the header holds other things than texts.")
    return values


def plain(value, name):
    """An option as JSON has it."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or type(value) in (bool, str):
        return value
    try:
        return json.loads(json.dumps(value, allow_nan=False, default=of_numpy))
    except (TypeError, ValueError, RecursionError):
        raise PluginError(f"{name}={shortened(value, 80)} cannot be written to a model file; use finite numbers, strings, lists, None or a "
                          f"function.") from None


def of_numpy(value):
    """A number or array of NumPy in an option, as Python has it."""
    if not isinstance(value, (np.generic, np.ndarray)) or value.dtype.kind not in "biufUO":
        raise TypeError
    return value.tolist()


# ---- random generators ----


def generator_state(random) -> dict:
    """The state of a generator as JSON has it."""
    return without_arrays(random.bit_generator.state)


def without_arrays(state):
    if isinstance(state, dict):
        return {key: without_arrays(value) for key, value in state.items()}
    return state.tolist() if isinstance(state, (np.ndarray, np.generic)) else state


def generator(state) -> np.random.Generator:
    """A generator of the saved kind in the saved state."""
    kind = next((kind for kind in GENERATORS if kind.__name__ == field(state, "bit_generator", str)), None)
    if kind is None:
        raise DataError(f"the random generator {shortened(state['bit_generator'])} is unknown; expected one of "
                        f"{', '.join(kind.__name__ for kind in GENERATORS)}.")
    bits = kind()
    bits.state = {"bit_generator": kind.__name__,
                  **checked_numbers({name: value for name, value in state.items() if name != "bit_generator"}, GENERATORS[kind],
                                    np.uint32 if kind is np.random.MT19937 else np.uint64)}
    return np.random.Generator(bits)


def checked_numbers(state, expected, dtype):
    """A generator's numbers, lists as arrays, once all are known to be in range."""
    if type(expected) is dict:
        if type(state) is not dict or set(state) != set(expected):
            raise DataError(f"the state of the random generator is {shortened(state)}; expected an object of {', '.join(expected)}.")
        return {name: checked_numbers(state[name], inner, dtype) for name, inner in expected.items()}
    count, below = expected if type(expected) is list else (None, expected)
    values = [state] if count is None else state
    if type(values) is not list or len(values) != (count or 1) or not all(type(value) is int and 0 <= value < below for value in values):
        raise DataError(f"the random generator has {shortened(state)} in its state; expected {count or 'one'} whole number"
                        f"{'s' * (count is not None)} from 0 to {below - 1}.")
    return state if count is None else np.array(values, dtype=dtype)


def sequence_to_header(values, name, one, arrays):
    """An array goes into the file as it is, an array of objects as a JSON list."""
    if values is None:
        return None
    if values.dtype != object:
        arrays[name] = values
        return {"array": name}
    for value in values.tolist():
        if not isinstance(value, (str, int, float)):
            raise PluginError(f"{one} {value!r} cannot be written to a model file; use numbers or strings.")
    return {"list": values.tolist()}


def sequence_from_header(reference, arrays):
    """The inverse of `_sequence`."""
    if type(reference) is not dict:
        return reference
    if "list" in reference:
        values = np.empty(len(field(reference, "list", list)), dtype=object)
        values[:] = reference["list"]
        return values
    return SavedState(arrays)[field(reference, "array", str)]
