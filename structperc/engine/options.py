"""The table of engine options, the source of checks, context, model files and help; plugin options."""

from __future__ import annotations

import functools
import math
import numbers
import os
from collections.abc import Callable, Mapping

import attrs
import numpy as np

from structperc.core.errors import OptionError, did_you_mean, shortened
from structperc.core.labels import plain
from structperc.core.schedules import Schedule

ACCEPTED = {bool: (bool, np.bool_), int: (numbers.Integral,), float: (numbers.Real,), tuple: (tuple, list), list: (tuple, list)}
WORDS = {bool: "True or False", int: "a whole number", float: "a number", str: "a text", tuple: "a list", list: "a list",
         Callable: "a function", type(None): "None"}


@attrs.frozen
class Option:
    """An option that a plugin takes: `Engine("prank", variant="original")`.

    Parameters
    ----------
    default : object
        A truth value, number or text says the type of all values; the command line reads a text as the type of the default.
    choices : tuple, optional
        The values that are allowed.
    help : str
        One line.
    types : tuple of types, optional
        The types that values may have, where the default does not tell them: `(float, str)`. A whole number is a float too.
    low, above, below : number, optional
        Numbers must be at least `low`, greater than `above`, smaller than `below`.
    later : bool
        Whether model files of earlier versions do not name it; they are read as with the default.
    """

    default: object
    choices: tuple | None = None
    help: str = ""
    types: tuple | None = None
    low: float | None = None
    above: float | None = None
    below: float | None = None
    later: bool = False

    @property
    def allowed_types(self) -> tuple:
        """The types of values; empty: any."""
        if self.types is not None:
            return self.types
        return (type(self.default),) if isinstance(self.default, (bool, int, float, str)) else ()

    @property
    def expected(self) -> str:
        """The values allowed, in words."""
        if self.choices is not None:
            return f"one of {', '.join(map(repr, self.choices))}"
        bounds = [f"{word} {bound}" for word, bound in (("at least", self.low), ("greater than", self.above), ("below", self.below))
                  if bound is not None]
        comma = ", " if int in self.allowed_types else " "
        words = (WORDS.get(kind, f"a {kind.__name__}") for kind in self.allowed_types)
        return " or ".join(words) + (comma + " and ".join(bounds) if bounds else "")

    def read(self, name, value):
        """The value as parts see it: a number of the default's type, a list as a tuple where the default is one.

        Raises
        ------
        OptionError
            For a value of another type, of no choice, or out of range.
        """
        if same(value, self.default):
            return value
        if not (self.is_choice(value) if self.choices is not None else self.fits(value)):
            hint = did_you_mean(value, self.choices) if self.choices is not None and isinstance(value, str) else ""
            raise OptionError(f"{name}={shortened(value, 80)}; expected {self.expected}.{hint}")
        kind = type(self.default)
        if isinstance(value, list) and kind is tuple or kind in (bool, int, float) and isinstance(value, ACCEPTED[kind]):
            return kind(value)
        return value

    def is_choice(self, value) -> bool:
        return any(same(value, choice) or isinstance(value, (str, numbers.Number, np.bool_)) and value == choice for choice in self.choices)

    def fits(self, value) -> bool:
        """Whether a value has one of the types, and a number is in range."""
        allowed = self.allowed_types
        if not allowed:
            return True
        numeric = isinstance(value, numbers.Number)
        truth = isinstance(value, (bool, np.bool_)) and bool not in allowed
        if truth or not any(isinstance(value, ACCEPTED.get(kind, kind)) for kind in allowed):
            return False
        if not numeric or isinstance(value, (bool, np.bool_)):
            return True
        return bool(is_held(value, int in allowed and float not in allowed) and (self.low is None or value >= self.low)
                    and (self.above is None or value > self.above) and (self.below is None or value < self.below))


def is_held(number, whole) -> bool:
    """Whether compiled parts can hold a number: a whole one in 64 bits, another as a finite float64; durations are none."""
    try:
        return math.isfinite(number) and (not whole or -2**63 <= number < 2**63)
    except (OverflowError, TypeError, ValueError):
        return False


@attrs.frozen
class EngineOption(Option):
    """An option of the engine itself.

    Parameters
    ----------
    steers : {"update", "weights", "trainer"}, optional
        The kind of part that the option is for. The engine refuses a value that no part uses (`Component.options_used`).
    told : bool
        Whether hooks are told, as `context.NAME`.
    reads : function of (name, value), optional
        Checks and converts a value in place of `read`.
    """

    steers: str | None = None
    told: bool = True
    reads: Callable | None = None

    def read(self, name, value):
        return Option.read(self, name, value) if self.reads is None or same(value, self.default) else self.reads(name, value)


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


def read_schedule(name, value):
    Schedule(value, name)
    return value


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


def n_threads(n_jobs) -> int:
    """How many threads `n_jobs` means on this machine; negative numbers count from the cores downwards, -1 being all."""
    return n_jobs if n_jobs > 0 else max(1, available_cores() + 1 + n_jobs)


def available_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_plugins(name, value):
    if isinstance(value, str) or not hasattr(value, "__iter__") or getattr(value, "ndim", 1) == 0:
        raise OptionError(f"plugins={shortened(value)}; expected a list of names or plugin objects, such as "
                          f"[{shortened(value) if isinstance(value, str) else 'PLUGIN'}].")
    return tuple(value)


ENGINE_OPTIONS: dict[str, EngineOption] = {
    "update": EngineOption("perceptron", help="update rule: perceptron, latent, pa, pa1, pa2, adagrad, log-loss, direct, or a plugin's",
                           steers="trainer", reads=read_rule),
    "loss": EngineOption(None, help="absolute, squared, zero-one, hamming, a matrix like [[0,1],[2,0]] (row: right label); none: the "
                                    "problem's own", reads=read_loss),
    "margin": EngineOption(1.0, help="passive-aggressive steps and adagrad require the margin margin * loss", above=0, steers="update"),
    "loss_weight": EngineOption(0.0, help="learn from the answer that maximises score + loss_weight * loss", low=0, steers="trainer"),
    "C": EngineOption(1.0, help="largest step of pa1, weight of the squared slack of pa2", above=0, steers="update"),
    "C_schedule": EngineOption("constant", help="how C falls with the examples visited, t: constant, inverse (1 / t) or inverse-sqrt",
                               steers="update", later=True, reads=read_schedule),
    "step_size": EngineOption(1.0, help="size of the steps of latent, log-loss, direct and adagrad", above=0, steers="update", later=True),
    "step_schedule": EngineOption("constant", help="how it falls with the examples visited, t: constant, inverse (1 / t) or inverse-sqrt",
                                  steers="update", later=True, reads=read_schedule),
    "epsilon": EngineOption(10.0, help="weight of the loss in the searches of direct", above=0, steers="update", later=True),
    "epsilon_schedule": EngineOption("constant", help="how it falls: constant, inverse or inverse-sqrt", steers="update", later=True,
                                     reads=read_schedule),
    "epochs": EngineOption(1, help="passes over the data, at most", low=1, steers="trainer"),
    "average": EngineOption(False, help="predict with the mean of the weights over all examples visited", steers="weights"),
    "decay": EngineOption(0.0, help="each update first multiplies the weights by 1 - decay", low=0, below=1, steers="weights"),
    "decay_schedule": EngineOption("constant", help="how decay falls: constant, inverse or inverse-sqrt", steers="weights", later=True,
                                   reads=read_schedule),
    "shuffle": EngineOption(False, help="a new random order each epoch", steers="trainer"),
    "weighting": EngineOption("steps", choices=("steps", "visits"), steers="trainer", later=True,
                              help="sample weights scale the steps or their C, or say how often examples are visited"),
    "class_weight": EngineOption(None, told=False, later=True, reads=read_class_weight,
                                 help="weights of labels, {\"LABEL\": WEIGHT}; balanced: all labels have the same in all"),
    "random_state": EngineOption(None, help="seed of the shuffling; none: a new one each time", told=False, reads=read_random_state),
    "fit_intercept": EngineOption(True, help="add a constant feature"),
    "scale": EngineOption(False, choices=(False, True, "auto"), told=False, later=True,
                          help="train on columns of mean 0 and variance 1, sparse ones of variance 1; auto: dense ones alone"),
    "calibrate": EngineOption(False, help="divide scores by a temperature, found by cross-fitting, for probabilities that can be trusted",
                              told=False, later=True),
    "trainer": EngineOption("online", help="who drives the examples: online, or a plugin's", steers="trainer", later=True,
                            reads=read_rule),
    "n_shards": EngineOption(1, low=1, steers="trainer", later=True,
                             help="train on so many parts of the data apart, and mix their weights after each epoch"),
    "mixing": EngineOption("mean", choices=("mean", "bounded-sum"), steers="trainer", later=True,
                           help="of shards: the mean, or of each weight the sum of steps, at most twice the mean of those that moved it"),
    "n_jobs": EngineOption(1, help="threads that train shards and predict; -1: one for each core; changes no answer", later=True,
                           reads=read_jobs),
    "classes": EngineOption(None, help="the labels in order", told=False),
    "plugins": EngineOption((), help="further plugins", told=False, reads=read_plugins),
}
TOLD = tuple((name, option.default, option) for name, option in ENGINE_OPTIONS.items() if option.told)
LEARNED_WITH = tuple(name for name in ENGINE_OPTIONS if name != "plugins")      # what a model remembers of its engine


def same(a, b):
    return a is b or (type(a) is type(b) and not isinstance(a, np.ndarray) and a == b)


def check_options(engine) -> None:
    """Types and ranges of the engine's own options; a matrix of costs becomes an array."""
    for name, option in ENGINE_OPTIONS.items():
        given = getattr(engine, name)
        value = given if given is option.default else option.read(name, given)
        if name in ("loss", "plugins", "class_weight"):
            setattr(engine, name, value)


def told_options(engine) -> tuple[dict, dict]:
    """The engine's options as hooks are told them; and of these and the plugins' options those that are not at their defaults."""
    told, changed = {}, {}
    for name, default, option in TOLD:
        value = getattr(engine, name)
        if value is not default:
            value = option.read(name, value)
            if not same(value, default):
                changed[name] = value
        told[name] = value
    if engine.plugin_options:
        declared = plugin_defaults(engine.loaded_plugins)
        changed.update({name: value for name, value in engine.plugin_options.items() if not same(value, declared[name].default)})
    return told, changed


def changed_options(engine) -> dict:
    """The options that are not at their defaults, the plugins' among them."""
    declared = {**ENGINE_OPTIONS, **plugin_defaults(engine.loaded_plugins)}
    given = {**{name: getattr(engine, name) for name in ENGINE_OPTIONS}, **engine.plugin_options}
    return {name: value for name, value in given.items() if not same(value, declared[name].default)}


def plugin_defaults(plugins) -> dict:
    declared = {}
    for plugin in plugins:
        declared.update(plugin.options)
    return declared


def check_plugin_options(plugins, given, parts_with) -> dict:
    """The plugins' options with defaults; refuses what no plugin declares. `parts_with(name)` names plugins that would."""
    declared = plugin_defaults(plugins)
    for name in given:
        if name not in declared:
            hint = did_you_mean(name, [*declared, *ENGINE_OPTIONS]) or "".join(
                f" It comes with plugins=[{part!r}]." for part in parts_with(name))
            raise OptionError(f"unknown option {name!r}.{hint} The plugins {', '.join(p.name for p in plugins[1:])} "
                              f"take {', '.join(declared) or 'no options of their own'}.")
    return {name: option.read(name, given[name]) if name in given else option.default for name, option in declared.items()}


def generator(random_state) -> np.random.Generator:
    """A numpy Generator from None, an int, a Generator or a RandomState."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(0, 2**31 - 1, size=4, dtype=np.int64)
    return np.random.default_rng(random_state)


def setting_back(random_state):
    """A function that sets a generator of numpy back to where it stands now; None for a seed."""
    if isinstance(random_state, np.random.RandomState):
        return functools.partial(random_state.set_state, random_state.get_state())
    if isinstance(random_state, np.random.Generator):
        bits = random_state.bit_generator
        return functools.partial(setattr, bits, "state", bits.state)
    return None
