"""Calls of an engine's methods with arguments that these do not have, or without those that they need."""

from __future__ import annotations

import functools
import inspect

from structperc.basics.docstrings import describe_methods
from structperc.basics.errors import OptionError, did_you_mean, shortened
from structperc.core.component import located
from structperc.fitting.options import ENGINE_OPTIONS


def check_calls(cls):
    """Class decorator: public methods raise `OptionError` for a wrong call. `_place_of` of the object names the place of an argument."""
    for name, method in tuple(vars(cls).items()):
        if inspect.isfunction(method) and name[:1] != "_" and not hasattr(method, "__wrapped__"):
            setattr(cls, name, checked(method))
            vars(cls)[name].__qualname__ = f"{cls.__qualname__}.{name}"         # also of a function of another module
    describe_methods(cls)
    return cls


class CheckedCalls:
    """Base of classes whose public methods, also those of subclasses, raise `OptionError` for a wrong call."""

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        check_calls(cls)

    def _place_of(self, name, value, candidates) -> str:
        """The sentence about an argument that a method does not have: where it belongs, or what is meant."""
        return place_in_engine(name, value, candidates)


def place_in_engine(name, value, candidates) -> str:
    return f" It is an option of the engine: Engine(..., {name}=...)." if name in ENGINE_OPTIONS else did_you_mean(name, candidates)


def wrong_call(method, names, unnamed, unknown, place_of=place_in_engine) -> OptionError:
    """The error of arguments that a method does not have: `unnamed` values too many, or `unknown` names. `place_of` adds a sentence."""
    has = f"It has {', '.join(names)}." if names else "It has none."
    for name, value in unknown.items():
        return OptionError(f"{method} has no argument {name!r}.{place_of(name, value, names)} {has}")
    return OptionError(f"{method} got {shortened(unnamed[0])} without a name; {'write NAME=VALUE. ' if names else 'leave it out. '}{has}")


def checked(method):
    @functools.wraps(method)
    def call(self, *unnamed, **keywords):
        try:
            return method(self, *unnamed, **keywords)
        except TypeError as error:
            if error.__traceback__.tb_next is not None:         # raised in the method
                raise
            raise refusal(method, unnamed, keywords, self._place_of) from None
        except SystemError as error:                            # of NumPy, at texts that are none
            raise located(error) from None

    return call


def refusal(method, unnamed, keywords, place_of) -> OptionError:
    """The error of a call with arguments that Python rejects."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    places = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    names = [parameter.name for parameter in parameters]
    unknown, present = {name: value for name, value in keywords.items() if name not in names}, {*places[:len(unnamed)], *keywords}
    missing = [parameter.name for parameter in parameters if parameter.default is parameter.empty and parameter.name not in present]
    if unknown or len(unnamed) > len(places):
        return wrong_call(method.__name__, names, unnamed[len(places):], unknown, place_of)
    if missing:
        return OptionError(f"{method.__name__} was called without {' and '.join(missing)}. Its arguments are {', '.join(names)}.")
    twice = next(name for name in places[:len(unnamed)] if name in keywords)
    return OptionError(f"{method.__name__} got {twice} twice, with its name and without it; pass it once.")
