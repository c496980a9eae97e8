"""Constructors of estimators, also those that a subclass writes: what they accept, and which parameters they set by themselves."""

from __future__ import annotations

import functools
import inspect

from structperc.basics.signatures import constructor_parameters, constructor_signature, written_constructor
from structperc.errors import OptionError, shortened
from structperc.fitting import option
from structperc.fitting.option import Options, advice, options_of, same

CALLED, SET = "_constructor_called", "_set_by_constructor"      # entries of an object: the call in progress, and the names of parameters


def declare(cls, refuse) -> None:
    """Makes the signature of an estimator's class, and puts `refuse(cls, unnamed, parameters)` before its constructor."""
    if issubclass(cls, Options):
        option.declare(cls)
    own = written_constructor(cls)
    if own is not None:
        refuse_unnamed(cls, own)
    if "__signature__" not in vars(cls):
        cls.__signature__ = constructor_signature(cls)
    refuse_bare_values(cls)
    function = own or next(filter(None, map(written_constructor, cls.__mro__)), None)
    if function is not None:
        cls.__init__ = around(cls, function, refuse)
        if own is None:
            cls.__init__.inherited = True


def around(cls, function, refuse):
    """The constructor, which notes the parameters that it passes to that of a base class without having got them."""
    own = [*inspect.signature(function).parameters.values()][1:]
    named = [one.name for one in own if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    places = [one.name for one in cls.__signature__.parameters.values() if one.kind is one.POSITIONAL_OR_KEYWORD]
    passed_on = further_places(cls, function) if any(one.kind is one.VAR_POSITIONAL for one in own) else ()

    @functools.wraps(function)
    def __init__(self, *unnamed, **parameters):
        state = vars(self)
        names, above = {*places[:len(unnamed)], *parameters}, state.get(CALLED)
        if above is None:
            refuse(cls, unnamed, parameters)
            state[SET] = set()
        else:
            state[SET] |= names - above
        state[CALLED] = names.union(named, passed_on if len(unnamed) > len(places) else ())
        try:
            function(self, *unnamed, **parameters)
        finally:
            if above is None:
                del state[CALLED]
            else:
                state[CALLED] = above
        for name in named:
            if not hasattr(self, name):
                raise OptionError(f"the constructor of {cls.__name__} has the parameter {name}, but sets no attribute of this name. Write "
                                  f"self.{name} = {name} in it.")
        if above is None:
            state[SET] &= type(self).__signature__.parameters.keys()
            if not state[SET]:
                del state[SET]

    __init__.__qualname__ = f"{cls.__qualname__}.__init__"
    __init__.__signature__ = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
                                                *cls.__signature__.parameters.values()])
    return __init__


def further_places(cls, function) -> list:
    """The parameters that the next constructor after a written one accepts without their names."""
    writer = next(k for k, kind in enumerate(cls.__mro__) if written_constructor(kind) is function)
    further = constructor_parameters(cls, cls.__mro__[writer + 1:])
    return [one.name for one in further if one.kind is one.POSITIONAL_OR_KEYWORD]


def parameters_of(estimator) -> dict:
    """The parameters of an estimator's constructor by name, without those that the constructor sets by itself."""
    left_out = vars(estimator).get(SET, ())
    return {name: one for name, one in type(estimator).__signature__.parameters.items()
            if name not in left_out and one.kind is not one.VAR_KEYWORD}


def is_written(cls) -> bool:
    """Whether a class, or a base, has a constructor that is not made from its options."""
    return next(filter(None, map(written_constructor, cls.__mro__)), None) not in (None, Options.__init__)


def refuse_changed(estimator, passed) -> None:
    """Raises an error if a constructor has kept another value than it was passed: then a clone is another estimator."""
    for name, value in passed.items():
        kept = getattr(estimator, name)
        if kept is not value and not same(kept, value):
            raise OptionError(f"the constructor of {type(estimator).__name__} was passed {name}={shortened(value)} and keeps "
                              f"{shortened(kept)}. Write self.{name} = {name} in it, and compute from it in fit.")


def refuse_unnamed(cls, function) -> None:
    """Raises an error for a constructor with parameters that have no names: nothing could set or show them."""
    for one in [*inspect.signature(function).parameters.values()][1:]:
        if one.kind is one.POSITIONAL_ONLY:
            raise OptionError(f"the constructor of {cls.__name__} accepts {one.name} only without its name; leave out the / after it.")
        if one.kind is one.VAR_POSITIONAL and not any(other.kind is one.VAR_KEYWORD
                                                      for other in inspect.signature(function).parameters.values()):
            raise OptionError(f"the constructor of {cls.__name__} has *{one.name}, whose values have no names. Write **options beside it, "
                              f"and pass both: super().__init__(*{one.name}, **options).")


def refuse_bare_values(cls) -> None:
    """Raises an error for a value in a class that the constructor would replace with its own default."""
    declared = options_of(cls) if issubclass(cls, Options) else {}
    own_types = inspect.get_annotations(cls) if written_constructor(cls) is not None else ()
    for name, value in vars(cls).items():
        if (name in cls.__signature__.parameters or name in declared) and name not in own_types and not isinstance(value, property):
            made = name in declared and not is_written(cls)
            kind = type(value).__name__ if isinstance(value, (bool, int, float, str)) else "object"
            instead = f"write {name}: {kind} = {shortened(value)}" if made else advice(cls, name, value)
            raise OptionError(f"{cls.__name__} sets {name}={shortened(value)}, which its constructor replaces with a default; {instead}.")
