"""The engine's own options and the plugins': their defaults, types and ranges, each refusal a sentence."""

from __future__ import annotations

import contextlib
import difflib
import numbers

import attrs
import numpy as np

from structperc.core.errors import OptionError
from structperc.core.schedules import Schedule

OPTION_DEFAULTS = {
    "update": "perceptron", "loss": None, "margin": 1.0, "loss_weight": 0.0, "C": 1.0, "step_size": 1.0, "step_schedule": "constant",
    "epochs": 1, "average": False, "decay": 0.0, "decay_schedule": "constant", "shuffle": False, "random_state": None,
    "fit_intercept": True, "classes": None, "plugins": (),
}


@attrs.frozen
class Option:
    """An option that a plugin takes: `Engine("prank", variant="original")`.

    Parameters
    ----------
    default : object
        Also says the type that the command line expects.
    choices : tuple, optional
        The values that are allowed.
    help : str
        One line.
    numeric : bool
        Whether a number may stand where the default is a text, as "scale" is; the command line then reads one as a number.
    """

    default: object
    choices: tuple | None = None
    help: str = ""
    numeric: bool = False


def same(a, b):
    return a is b or (type(a) is type(b) and not isinstance(a, np.ndarray) and a == b)


def check_options(engine) -> None:
    """Types and ranges of the engine's own options."""
    def number(name, low, strict, high=None):
        value = getattr(engine, name)
        fine = isinstance(value, numbers.Real) and not isinstance(value, bool) and np.isfinite(value)
        if not fine or value < low or (strict and value == low) or (high is not None and value >= high):
            span = f"{'greater than' if strict else 'at least'} {low}" + ("" if high is None else f" and below {high}")
            raise OptionError(f"{name}={value!r}; expected a number {span}.")

    number("margin", 0, True)
    number("loss_weight", 0, False)
    number("C", 0, True)
    number("step_size", 0, True)
    number("decay", 0, False, 1)
    if not isinstance(engine.epochs, numbers.Integral) or isinstance(engine.epochs, bool) or engine.epochs < 1:
        raise OptionError(f"epochs={engine.epochs!r}; expected a whole number, at least 1.")
    for name in ("step_schedule", "decay_schedule"):
        Schedule(getattr(engine, name), name)
    for name in ("average", "shuffle", "fit_intercept"):
        if not isinstance(getattr(engine, name), (bool, np.bool_)):
            raise OptionError(f"{name}={getattr(engine, name)!r}; expected True or False.")
    if not isinstance(engine.update, str):
        raise OptionError(f"update={engine.update!r}; expected the name of an update rule. "
                          f"A rule of your own goes into plugins=[...].")
    if engine.loss is not None and not isinstance(engine.loss, str):
        try:
            engine.loss = np.array(engine.loss, dtype=float)
        except (TypeError, ValueError):
            raise OptionError(f"loss={engine.loss!r:.80}; expected a name or an (r, r) matrix of costs. "
                              f"A loss of your own goes into plugins=[...].") from None
    check_random_state(engine.random_state)


def plugin_defaults(plugins) -> dict:
    declared = {}
    for plugin in plugins:
        declared.update(plugin.options)
    return declared


def check_plugin_options(plugins, given) -> dict:
    """The plugins' options with defaults; refuses what no plugin declares."""
    declared = plugin_defaults(plugins)
    for name, value in given.items():
        if name not in declared:
            near = difflib.get_close_matches(name, [*declared, *OPTION_DEFAULTS], 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise OptionError(f"unknown option {name!r}.{hint} The plugins {', '.join(p.name for p in plugins[1:])} "
                              f"take {', '.join(declared) or 'no options of their own'}.")
        choices = declared[name].choices
        if choices is not None and value not in choices:
            raise OptionError(f"{name}={value!r}; expected one of {', '.join(map(repr, choices))}.")
    settings = {name: given.get(name, option.default) for name, option in declared.items()}
    return {name: tuple(value) if isinstance(value, list) and isinstance(declared[name].default, tuple) else value
            for name, value in settings.items()}


def generator(random_state) -> np.random.Generator:
    """A numpy Generator from None, an int, a Generator or a RandomState."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(0, 2**31 - 1, size=4, dtype=np.int64)
    return np.random.default_rng(random_state)


@contextlib.contextmanager
def unmoved(random_state):
    """Sets a RandomState back when the block fails; a Generator is set back by whoever draws from it."""
    state = random_state.get_state() if isinstance(random_state, np.random.RandomState) else None
    try:
        yield
    except Exception:
        if state is not None:
            random_state.set_state(state)
        raise


def check_random_state(random_state) -> None:
    if random_state is None or isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        return
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool) and random_state >= 0:
        return
    raise OptionError(f"random_state={random_state!r}; expected None, a whole number from 0, a numpy Generator or a RandomState.")
