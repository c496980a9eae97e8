"""Signatures of classes by one rule: `inspect` finds none of compiled ones, and of others what its release prefers."""

from __future__ import annotations

import ast
import inspect
import types

TYPES = {"Py_ssize_t": "int", "int": "int", "long": "int", "bint": "bool", "double": "float", "float": "float"}


class ClassSignature:
    """`__signature__` of a class and its subclasses: see `class_signature`.

    Examples
    --------
    >>> import inspect
    >>> from structperc.components import PassiveAggressiveUpdate
    >>> print(inspect.signature(PassiveAggressiveUpdate))
    (variant: 'str' = 'pa', margin: 'float' = 1.0, C=1.0)
    """

    def __get__(self, instance, owner=None):
        return class_signature(type(instance) if owner is None else owner)


def class_signature(cls):
    """What a call of a class takes: the nearest constructor's own, in Python or as Cython wrote it in front of the docstring."""
    # `inspect.signature` of a class before Python 3.11.4 prefers any `__new__`, however far, to an `__init__`.
    for kind in cls.__mro__:
        own = vars(kind)
        if isinstance(own.get("__signature__"), inspect.Signature):
            return own["__signature__"]
        new = own.get("__new__")
        for function in (new.__func__ if isinstance(new, staticmethod) else new, own.get("__init__")):
            if inspect.isfunction(function):
                return inspect.signature(types.MethodType(function, cls))
        line = (own.get("__doc__") or "").partition("\n")[0]
        if line.startswith(f"{kind.__name__}(") and line.endswith(")"):
            return inspect.Signature([*parameters(line[len(kind.__name__) + 1:-1])])
    return inspect.Signature()


def written_constructor(cls):
    """The `__init__` in the body of a class, without what was put around it; None: it has none."""
    function = vars(cls).get("__init__")
    return getattr(function, "__wrapped__", function) if inspect.isfunction(function) and not hasattr(function, "inherited") else None


def constructor_signature(cls):
    """What a call of a class takes. Its constructors may pass on what they do not name, by `*args` or `**options`."""
    return inspect.Signature(constructor_parameters(cls, cls.__mro__))


def constructor_parameters(cls, kinds):
    """The parameters of the nearest constructor of these bases, for objects of a class."""
    for k, kind in enumerate(kinds):
        function = written_constructor(kind)
        if function is not None:
            if "_parameters_of_options" in vars(kind):          # they follow from the class of the object
                return cls._parameters_of_options()
            own = [*inspect.signature(function).parameters.values()][1:]
            return joined(own, constructor_parameters(cls, kinds[k + 1:]) if any(one.kind is one.VAR_KEYWORD for one in own) else [])
    return []


def joined(own, further):
    """The parameters of a constructor, with those of the next one that it passes on."""
    kinds, names = {one.kind for one in own}, {one.name for one in own if one.kind is not one.VAR_KEYWORD}
    further = [one for one in further if one.name not in names]
    placed = [one for one in own if one.kind is one.POSITIONAL_OR_KEYWORD]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        optional = any(one.default is not one.empty for one in placed)
        placed += [one for one in further if one.kind is one.POSITIONAL_OR_KEYWORD and not (optional and one.default is one.empty)]
    named = [one for one in own if one.kind is one.KEYWORD_ONLY]
    named += [one.replace(kind=one.KEYWORD_ONLY) for one in further if one.kind is not one.VAR_KEYWORD and one not in placed]
    return [*placed, *named, *(one for one in further if one.kind is one.VAR_KEYWORD)]


def parameters(text):
    """The parameters that a list such as `Rows source=None, Py_ssize_t index=0` declares."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for declared in filter(None, split(text)):
        left, equals, default = declared.partition("=")
        left, _, annotation = left.partition(": ")
        *types, name = left.split()
        types += annotation.split()
        stars = len(name) - len(name.lstrip("*"))
        if name == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        yield inspect.Parameter(
            name.lstrip("*"), (kind, inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)[stars],
            default=literal(default) if equals else inspect.Parameter.empty,
            annotation=TYPES.get(types[-1], types[-1]) if types else inspect.Parameter.empty)
        kind = inspect.Parameter.KEYWORD_ONLY if stars == 1 else kind


def split(text):
    """The parts between the commas that stand in no brackets and no quotes."""
    depth, quote, start = 0, None, 0
    for i, letter in enumerate(text):
        if quote is not None:
            quote = None if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == "," and depth == 0:
            yield text[start:i].strip()
            start = i + 1
    yield text[start:].strip()


def literal(text):
    """The value of a default; ... where it is no literal."""
    try:
        return ast.literal_eval(text)
    except ValueError:
        return ...
