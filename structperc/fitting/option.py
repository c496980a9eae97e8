"""An option is declared once, as a field of a class. Constructor, docstring, checks, help and model file follow from it."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import re
import sys
import textwrap
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import attrs
import numpy as np

from structperc.basics.errors import OptionError, did_you_mean, shortened
from structperc.basics.labels import label_list
from structperc.basics.signatures import constructor_signature, written_constructor
from structperc.core.schedules import Schedule

if sys.version_info >= (3, 11):
    from typing import dataclass_transform
else:
    def dataclass_transform(**_):
        return lambda cls: cls

ACCEPTED = {bool: (bool, np.bool_), int: (numbers.Integral,), float: (numbers.Real,), tuple: (tuple, list), list: (tuple, list)}
WORDS = {bool: "True or False", int: "a whole number", float: "a number", str: "a text", tuple: "a list", list: "a list",
         Callable: "a function", type(None): "None"}
WIDTH = 140                                 # of a line of a docstring
FALLING = "It may fall: `inverse`, `inverse_sqrt` of `structperc.schedules`, or a function of t, the number of the example visited."
HEAD = ["Parameters", "----------"]
OPTION, GIVEN = "option", "given"           # keys of a field's metadata: its Option, and what the class itself gives of it


@attrs.frozen
class Option:
    """An option of a plugin: with `options = {"variant": Option("plain", ...)}` users write `Engine("prank", variant="original")`.

    Parameters
    ----------
    default : object
        The default value. If it is a truth value, number or text, all values have its type. The command line converts texts to it.
    choices : tuple, optional
        The allowed values.
    help : str
        One line for the command line and docstrings.
    types : tuple of types, optional
        The allowed types, if the default does not show them: `(float, str)`. A whole number counts as a float.
    low : number, optional
        Numbers must be at least this.
    above : number, optional
        Numbers must be larger than this.
    below : number, optional
        Numbers must be smaller than this.
    about : str
        Further sentences for docstrings.
    falls : bool, default False
        Whether the value may be a schedule or a function of t; see `structperc.schedules`. Parts get a float or a `Schedule`.
    reads : function of (name, value), optional
        Checks and converts a value instead of `read`.
    part : {"update", "weights", "trainer"}, optional
        For options of the engine: the part that it steers. A value recommended for another choice of this part is left out.
    in_context : bool, default True
        For options of the engine: whether hooks see it, as `context.NAME`.
    by_preset : bool, default False
        For options of the engine: whether None means the value of the preset. `default` is that of "paper".
    recommended : object, optional
        With `by_preset`: the value of the preset "recommended", unless a plugin recommends another.

    Raises
    ------
    OptionError
        If the default is none of the choices.

    Examples
    --------
    >>> from structperc import Option
    >>> depth = Option(3, help="largest depth of a tree", low=1)
    >>> depth.read("depth", 5), depth.expected
    (5, 'a whole number, at least 1')
    """

    default: object
    choices: tuple | None = None
    help: str = ""
    types: tuple | None = None
    low: float | None = None
    above: float | None = None
    below: float | None = None
    about: str = ""
    falls: bool = False
    reads: Callable | None = None
    part: str | None = None
    in_context: bool = True
    by_preset: bool = False
    recommended: object = None

    def __attrs_post_init__(self):
        if isinstance(self.choices, str):
            raise OptionError(f"an option has choices={self.choices!r}; expected a tuple or list, not a text.")
        if self.choices is not None and self.default is not None and not self.is_choice(self.default):
            raise OptionError(f"an option has the default {shortened(self.default, 80)}; expected {self.expected}. Add it to choices=, or "
                              f"choose a default among them.")

    @property
    def unset(self):
        """What the constructor has where nothing is passed."""
        return None if self.by_preset else self.default

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
        falling = ", inverse(number), inverse_sqrt(number) or a function of t, the number of the example visited" * self.falls
        return " or ".join(words) + (comma + " and ".join(bounds) if bounds else "") + falling

    def read(self, name, value):
        """Check a value and convert it to the form that parts see.
        Raises `OptionError` if the value has another type, is not among the choices, or is out of range.
        Returns an object. A number of the default's type; a list, set or array as a tuple if the default is a tuple.

        Parameters
        ----------
        name : str
            Name of the option, for the error message.
        value : object
            What the user passed.
        """
        if same(value, self.default):
            return value
        if self.reads is not None:
            return self.reads(name, value)
        if self.falls and (callable(value) or isinstance(value, (Schedule, str))):
            return self.read_schedule(name, value)
        if not (self.is_choice(value) if self.choices is not None else self.fits(value)):
            hint = did_you_mean(value, self.choices) if self.choices is not None and isinstance(value, str) else ""
            raise OptionError(f"{name}={shortened(value, 80)}; expected {self.expected}.{hint}")
        kind = type(self.default)
        if kind is tuple and hasattr(value, "__next__"):
            raise OptionError(f"{name} is a {type(value).__name__}, which can be read only once; pass list({name}).")
        is_collection = isinstance(value, (list, set, frozenset)) or isinstance(value, np.ndarray) and value.ndim > 0
        if kind is tuple and is_collection or kind in (bool, int, float) and isinstance(value, ACCEPTED[kind]):
            return kind(label_list(value) if isinstance(value, np.ndarray) else value)
        return value

    def read_schedule(self, name, value):
        """Convert a schedule or a function of t. Raises `OptionError` if it is not a schedule, or its first value is out of range.
        Returns a float or Schedule. A float if the schedule is constant.

        Parameters
        ----------
        name : str
            Name of the option, for the error message.
        value : Schedule, function or str
            What the user passed.
        """
        try:
            schedule = Schedule(value, name)
        except OptionError:
            schedule = None
        if schedule is None or not callable(schedule.rule) and not self.fits(schedule.start):
            raise OptionError(f"{name}={shortened(value, 80)}; expected {self.expected}.")
        return schedule.start if schedule.rule == "constant" else schedule

    def is_choice(self, value) -> bool:
        """Whether a value is one of the choices.

        Parameters
        ----------
        value : object
        """
        if type(value) is str:
            return value in self.choices
        return any(same(value, choice) or isinstance(value, (str, numbers.Number, np.bool_)) and value == choice for choice in self.choices)

    def fits(self, value) -> bool:
        """Whether a value has an allowed type and, if it is a number, is in range.

        Parameters
        ----------
        value : object
        """
        allowed = self.allowed_types
        if not allowed:
            return True
        if type(value) is bool and bool in allowed:
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


def same(a, b):
    return a is b or (type(a) is type(b) and not isinstance(a, np.ndarray) and a == b)


def option(default=attrs.NOTHING, help=None, **declaration) -> Any:
    """Declares an option of a class: `NAME: TYPE = option(DEFAULT, HELP)`. What is not written is that of the base class's option."""
    return positional_option(kw_only=True, default=default, help=help, **declaration)


def positional_option(*, kw_only, default=attrs.NOTHING, help=None, **declaration) -> Any:
    """`option` of a parameter that the constructor accepts without its name."""
    # Type checkers read `kw_only` and `default` where it is called, so both are written there: ``kw_only=False, default=10``.
    declaration |= {} if help is None else {"help": help}
    return attrs.field(default=default, kw_only=kw_only, metadata={GIVEN: declaration})


@dataclass_transform(kw_only_default=True, field_specifiers=(positional_option,))
class Options:
    """Base of classes whose constructor's parameters are options, declared in the class or in one of its bases.

    A subclass changes a default by naming the option again; what it leaves out is as in the base class. A preset does not change it.
    The section "Parameters" of the docstring comes from the options. With an own constructor, it has those that this constructor accepts.
    """

    _declared: ClassVar[Mapping[str, Option]] = MappingProxyType({})
    _fields: ClassVar[tuple] = ()
    _defaults: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    _further: ClassVar[str | None] = None       # what the constructor's keywords that are no options are named, if it has such

    def __init_subclass__(cls, **arguments):
        super().__init_subclass__(**arguments)
        declare(cls)

    def __init__(self, *unnamed, **options):
        if unnamed:
            places = [field.name for field in self._fields if not field.kw_only]
            if len(unnamed) > len(places):
                raise TypeError(f"{type(self).__name__} takes {len(places)} parameters without their names, but got {len(unnamed)}.")
            for name, value in zip(places, unnamed, strict=False):
                if name in options:
                    raise TypeError(f"{type(self).__name__} got {name!r} twice.")
                options[name] = value
        for name in options:
            if name not in self._declared:
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}.")
        for name, default in self._defaults.items():
            value = options.get(name, default)
            if value is attrs.NOTHING:
                raise TypeError(f"{type(self).__name__} needs a value of {name!r}.")
            setattr(self, name, value)

    @classmethod
    def _parameters_of_options(cls):
        """The parameters of this constructor for objects of a class."""
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        own = [inspect.Parameter(field.name, kinds[field.kw_only], annotation=field.type,
                                 default=inspect.Parameter.empty if field.default is attrs.NOTHING else field.default)
               for field in sorted(cls._fields, key=lambda field: field.kw_only)]
        return own if cls._further is None else [*own, inspect.Parameter(cls._further, inspect.Parameter.VAR_KEYWORD)]


def declare(cls) -> None:
    """Makes the fields of a class its options, once: another base's `__init_subclass__` that needs them may come first."""
    if "_fields" in vars(cls):
        return
    own_constructor = "__init__" in vars(cls)
    attrs.define(cls, init=False, slots=False, eq=False, repr=False, match_args=False, field_transformer=completed)
    del cls.__attrs_init__
    fields = cls._fields = attrs.fields(cls)
    cls._declared = MappingProxyType({field.name: field.metadata[OPTION] for field in fields})
    cls._defaults = MappingProxyType({field.name: field.default for field in fields})
    cls.__signature__ = constructor_signature(cls)
    if not own_constructor:
        refuse_fields_out_of_reach(cls, [field.name for field in fields if not field.inherited])
    if vars(cls).get("__doc__"):
        parameters = cls.__signature__.parameters
        accepted = [field for field in fields if field.name in parameters]
        cls.__doc__ = with_section(cls.__doc__, [described(field, parameters[field.name].default) for field in accepted])


def options_of(owner) -> Mapping[str, Option]:
    """The options of a class, by name."""
    return owner._declared


def completed(cls, fields):
    """The fields, each with its Option: those of the class itself first, then those of its bases."""
    own, places = {}, {}
    for base in reversed(cls.__mro__[1:]):
        own[base] = [field for field in vars(base).get("__attrs_attrs__", ()) if not field.inherited]
    nearest = {field.name: field for declared in own.values() for field in declared}
    written = inspect.signature(vars(cls)["__init__"]).parameters if "__init__" in vars(cls) else ()
    # A plain field that only the class's own constructor names is no option: it declares the type of an attribute.
    fields = [field for field in fields if field.inherited or GIVEN in field.metadata or field.name in nearest or field.name not in written]
    own[cls] = [field for field in fields if not field.inherited]
    for k, declared in enumerate(own.values()):
        for j, field in enumerate(declared):
            places.setdefault(field.name, (-k, j))
    fields_declared = [field if field.inherited else with_option(field, nearest.get(field.name)) for field in fields]
    return sorted(fields_declared, key=lambda field: places[field.name])


def with_option(field, base):
    """A field of the class itself, with what it leaves out from the base class's field of this name."""
    declaration = dict(field.metadata.get(GIVEN, {"help": ""} if base is None else {}))
    if base is not None:
        declaration = attrs.asdict(base.metadata[OPTION], recurse=False) | declaration
    kw_only = field.kw_only if GIVEN in field.metadata else base is None or base.kw_only
    if field.default is not attrs.NOTHING:
        declaration |= ({} if base is None else {"by_preset": False, "recommended": None}) | {"default": field.default}
    declared = Option(**({"default": attrs.NOTHING} | declaration))
    return field.evolve(kw_only=kw_only, default=declared.unset, metadata={OPTION: declared})


def refuse_fields_out_of_reach(cls, names) -> None:
    """Raises an error for fields that the constructor of a base class would replace, or would not accept."""
    writer = next(base for base in cls.__mro__ if written_constructor(base) is not None)
    if writer is Options or "_further" in vars(writer):
        return
    own = inspect.signature(written_constructor(writer)).parameters
    for name in names:
        if name in own or name not in cls.__signature__.parameters:
            raise OptionError(f"{cls.__name__} declares {name}, but {writer.__name__} has a constructor of its own, which "
                              f"{'sets' if name in own else 'does not accept'} it; {advice(cls, name, cls._declared[name].unset)}.")


def advice(cls, name, default) -> str:
    """What to write for a parameter beside a constructor that is written."""
    writer = next(base for base in cls.__mro__ if written_constructor(base) is not None)
    if name in cls.__signature__.parameters:
        return f"write def __init__(self, *, {name}={shortened(default)}, **options): super().__init__({name}={name}, **options)"
    return f"write **options in the constructor of {writer.__name__}, and pass these on: super().__init__(..., **options)"


# ---- docstrings ----


def described(field, default) -> str:
    """The entry of a field in a section of parameters."""
    option = field.metadata[OPTION]
    kind = f"{{{', '.join(map(written, option.choices))}}}" if option.choices else str(getattr(field.type, "__name__", field.type))
    default = "" if default is inspect.Parameter.empty else f", default {written(default)}"
    text = f"{option.help[:1].upper()}{option.help[1:]}."
    about = " ".join(filter(None, [text, option.about, FALLING * option.falls, of_presets(option)]))
    return f"{field.name} : {kind}{default}\n{paragraph(about)}"


@functools.cache            # most options are those of many classes, and wrapping took a third of an import of all estimators
def paragraph(text) -> str:
    """The text in lines, below the name of a parameter."""
    lines = textwrap.wrap(text, WIDTH - 8, break_long_words=False, break_on_hyphens=False)
    return "\n".join(f"    {line}" for line in lines)


def of_presets(option) -> str:
    """What None means."""
    if not option.by_preset or option.default is None and option.recommended is None:
        return ""
    recommended = "" if option.recommended is None else f', {written(option.recommended)} with "recommended" for most problems'
    return f'None: the value of `preset`: {written(option.default)} with "paper"{recommended}.'


def written(value) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def with_section(text, entries) -> str:
    """A docstring with these parameters before its other sections, after those that its own section "Parameters" describes."""
    text = inspect.cleandoc(text)               # as Python 3.13 and later have it
    present = {line.partition(" : ")[0] for line in text.splitlines()}
    entries = [entry for entry in entries if entry.partition(" : ")[0] not in present]
    sections = [*re.finditer(r"^(\w+)\n-{3,}$", text, re.MULTILINE)]
    own = bool(sections) and sections[0][1] == "Parameters"
    if not entries:
        return text
    after = sections[own:]
    at = after[0].start() if after else len(text)
    return "\n".join([text[:at].rstrip(), *([] if own else ["", *HEAD]), *entries, "", text[at:] if after else ""])
