"""Calls of an engine's methods with arguments that these do not have, or without those that they need."""

from __future__ import annotations

import functools
import inspect

from structperc.core.errors import OptionError, did_you_mean, shortened
from structperc.engine.options import ENGINE_OPTIONS


def wrong_call(method, known, unnamed, unknown) -> OptionError:
    """The error of arguments that a method does not have.

    Parameters
    ----------
    method : str
    known : sequence of str
        The arguments that it has.
    unnamed : sequence
        Values that were passed without a name after those that the method accepts so.
    unknown : dict
        Arguments of other names.
    """
    has = f"It has {', '.join(known)}." if known else "It has none."
    for name in unknown:
        place = f" It is an option of the engine: Engine(..., {name}=...)." if name in ENGINE_OPTIONS else did_you_mean(name, known)
        return OptionError(f"{method} has no argument {name!r}.{place} {has}")
    return OptionError(f"{method} got {shortened(unnamed[0])} without a name; {'write NAME=VALUE. ' if known else 'leave it out. '}{has}")


def checked_calls(cls):
    """Decorates a class: a wrong call of one of its public methods raises `OptionError`."""
    for name, method in tuple(vars(cls).items()):
        if inspect.isfunction(method) and name[:1] != "_":
            setattr(cls, name, checked(method))
    return cls


def checked(method):
    @functools.wraps(method)
    def call(self, *unnamed, **named):
        try:
            return method(self, *unnamed, **named)
        except TypeError as error:
            if error.__traceback__.tb_next is not None:         # raised in the method
                raise
            raise refusal(method, unnamed, named) from None

    return call


def refusal(method, unnamed, named) -> OptionError:
    """The error of a call with arguments that Python rejects."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    places = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    known = [parameter.name for parameter in parameters]
    unknown, given = {name: value for name, value in named.items() if name not in known}, {*places[:len(unnamed)], *named}
    missing = [parameter.name for parameter in parameters if parameter.default is parameter.empty and parameter.name not in given]
    if unknown or len(unnamed) > len(places):
        return wrong_call(method.__name__, known, unnamed[len(places):], unknown)
    if missing:
        return OptionError(f"{method.__name__} was called without {' and '.join(missing)}. Its arguments are {', '.join(known)}.")
    twice = next(name for name in places[:len(unnamed)] if name in named)
    return OptionError(f"{method.__name__} got {twice} twice, with its name and without it; pass it once.")
