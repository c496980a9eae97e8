# distutils: extra_compile_args = CALLS
"""The base class of all parts of an engine, and how the loop calls Python overrides of their methods."""
from copy import deepcopy
from types import GetSetDescriptorType
from weakref import WeakKeyDictionary

from cython cimport embedsignature
from cpython.object cimport Py_TPFLAGS_HEAPTYPE, PyTypeObject
from structperc.basics.errors import DataError, PluginError, StructPercError, add_note, shortened
from structperc.basics.signals import take_interruption
from structperc.basics.signatures import ClassSignature
from structperc.core.rows cimport Example

COMPILED = ("cython_function_or_method", "method_descriptor", "builtin_function_or_method")
LIBRARY = "structperc."
ADAPTERS = []           # (base class, adapter, methods) of each kind of part, entered by structperc.core.adapters
FIELDS = WeakKeyDictionary()    # the compiled attributes of each class of parts


cdef bint is_compiled(component) noexcept:
    """Whether no class of a part is written in Python, so that nothing in it is replaced."""
    kind = type(component)      # a named object: Cython casts no temporary one
    return not (<PyTypeObject *> kind).tp_flags & Py_TPFLAGS_HEAPTYPE


def overrides(component, name):
    """Whether Python code, not a compiled class, defines `component.name`.

    Parameters
    ----------
    component : Component
    name : str
        The name of a method or attribute.

    Examples
    --------
    >>> from structperc.components import PerceptronUpdate
    >>> from structperc.plugin_tools import overrides
    >>> overrides(PerceptronUpdate(), "start")
    False
    >>> class Late(PerceptronUpdate):
    ...     def start(self, parts, context):
    ...         super().start(parts, context)
    >>> overrides(Late(), "start")
    True
    """
    if is_compiled(component):
        return False
    if name in getattr(component, "__dict__", ()):
        return True
    method = getattr(type(component), name, None)
    return method is not None and type(method).__name__ not in COMPILED


def inherits(component, base, *names):
    """Whether these methods of a part are those of the base class: nobody has replaced any of them, in Python or compiled."""
    kind, own = type(component), getattr(component, "__dict__", ())
    for name in names:
        if getattr(kind, name) is not getattr(base, name) or name in own:
            return False
    return True


def outdated(component, description, *methods):
    """The first of these methods that Python code replaces without the method that describes the same; None: there is none."""
    # A fast path that reads `description` instead of the methods would go around the replacement.
    if is_compiled(component):
        return None
    own = getattr(component, "__dict__", {})
    for names in (own, *(vars(kind) for kind in type(component).__mro__)):
        if description in names:
            return None
        for method in methods:
            if method in names and type(names[method]).__name__ not in COMPILED:
                return method
    return None


def expected(answer, kind, part, method, what, Example x=None):
    """The result of a method if it has this type. Another type raises a `PluginError` with the method and the example."""
    if isinstance(answer, kind):
        return answer
    where = "" if x is None else f" for example {x.index}"
    raise PluginError(f"{type(unwrapped(part)).__name__}.{method} returned {shortened(answer)}{where}; expected {what}.")


def argument(part, name, value, check, *limits):
    """The value of a constructor's argument after a check of `structperc.basics.arguments`, whose error names the part."""
    try:
        return check(value, name, *limits)
    except StructPercError as error:
        raise PluginError(f"{type(part).__name__}: {error}") from None


def nothing(answer, component, method):
    """Raises an error if a method that checks something returned a value: its author may have returned the reason."""
    if answer is not None:
        raise PluginError(f"{type(component).__name__}.{method} returned {shortened(answer, 80)}; expected None. Raise an error where "
                          f"something is wrong.")


def unstarted(component, unknown):
    """The error of a part whose own `start` has left out that of its base class."""
    return PluginError(f"{type(component).__name__} does not know {unknown} yet; a start of its own begins with "
                       f"super().start(parts, context).")


def state_of(component):
    """The state of a part, a dict."""
    return expected(component.state(), dict, component, "state", "a dict of arrays")


def kept_state(component):
    """The state of a part to return to. What Python code returns is copied: training goes on changing an array that is no copy."""
    state = state_of(component)
    return deepcopy(state) if overrides(component, "state") else state


def fields_of(kind):
    """The compiled attributes of a class of parts by name: those that it inherits, whatever Python classes put in their place."""
    fields = FIELDS.get(kind)
    if fields is None:
        fields = FIELDS[kind] = {name: value for base in reversed(kind.__mro__) for name, value in vars(base).items()
                                 if type(value) is GetSetDescriptorType and name[:2] != "__"}
    return fields


def settle(component):
    """Copies to compiled code the attributes that a Python class sets in its body or redefines. Returns whether there are any."""
    kind, replaced = type(component), False
    if is_compiled(component):
        return False
    fields = fields_of(kind)
    for name, way in component._declared_by.items():
        if name not in fields and (hasattr(kind, name) or name in component.__dict__):
            raise PluginError(f"{kind.__name__}.{name} is set to {shortened(getattr(component, name))}; declare it by {way}.")
    for name, field in fields.items():
        if getattr(kind, name) is field:
            continue
        replaced = True
        value = getattr(component, name)
        if name in component._declared_by:
            if value != field.__get__(component):
                raise PluginError(f"{kind.__name__}.{name} is set to {shortened(value)}; declare it by {component._declared_by[name]}.")
            continue
        try:
            field.__set__(component, value)
        except AttributeError:
            pass                        # a property, which compiled code reads as Python does
        except (TypeError, ValueError, OverflowError) as error:
            raise PluginError(f"{kind.__name__}.{name} is set to {shortened(value)}: {error}.") from None
    return replaced


def adapted(Component component):
    """The part as compiled code can call it: itself, or its adapter if Python overrides a method that the loop calls.
    Raises `TypeError` if the part is of no kind that the loop calls.
    Returns `Component`. Each part has at most one adapter. A later call returns the same object.

    Parameters
    ----------
    component : Component

    Examples
    --------
    >>> from structperc.components import PerceptronUpdate
    >>> from structperc.plugin_tools import adapted
    >>> rule = PerceptronUpdate()
    >>> adapted(rule) is rule
    True
    """
    if is_compiled(component):
        return component
    for base, adapter, methods in ADAPTERS:
        if isinstance(component, base):
            python = frozenset(name for name in methods if overrides(component, name))
            if not python:
                return component
            if component._adapter is None:
                component._adapter = adapter(component, python)
            else:
                component._adapter.__init__(component, python)      # the part may have been started since
            return component._adapter
    raise TypeError(f"{type(component).__name__} is not a component.")


def bind_features(features, *parts):
    """Sets the map that counts the atoms of an example, for checks of calls from Python."""
    cdef Component part
    for part in parts:
        part._features = features


def check_example(Component component, x):
    """Raises an error unless x is an example in use. Sets its number of atoms if the part is one of a fit."""
    cdef Component part = unwrapped(component)
    if not isinstance(x, Example) or (<Example> x).source is None:
        raise PluginError(f"{type(part).__name__} needs an example for this; pass x, such as engine.read(X).example(0). An Example is in "
                          f"use only until the call that received it ends.")
    if part._features is not None:
        x.n_atoms = part._features.n_atoms(x)
    return part._features is not None


def unwrapped(Component component):
    """The author's own object: this one, or the one behind an adapter."""
    return component if component._target is None else component._target


def is_adapter(component):
    for _, adapter, _ in ADAPTERS:
        if type(component) is adapter:
            return True
    return False


def remake(kind, args, kwargs, attributes):
    """A component from its constructor's arguments and, for a Python class, its attributes."""
    component = kind(*args, **kwargs)
    if attributes:
        component.__dict__.update(attributes)
    return component


def take_error(*parts):
    """What stopped compiled work of this thread, or the first error of a _c method of these parts. Forgets all of them."""
    cdef Component part
    errors = [take_interruption()]
    for part in [one for part in parts for one in (part, unwrapped(part))]:
        errors.append(part.error)
        part.error = None
    return next((error for error in errors if error is not None), None)


def raise_stored(*parts):
    """Raises the error that a method ending in _c has stored in one of these parts before it returned -1."""
    error = take_error(*parts)
    if error is not None:
        raise error
    names = ", ".join(dict.fromkeys(type(unwrapped(part)).__name__ for part in parts))
    raise PluginError(f"a compiled method returned -1, but stored no exception in `error` before. Look at the methods ending "
                      f"in _c of {names}.")


def noted(error, component, method, example=None):
    """The error of an author's code, with a note on component, method and example. Messages of this library have them already."""
    if isinstance(error, Exception) and not isinstance(error, StructPercError):
        add_note(error, f"in {type(component).__name__}.{method}" + ("" if example is None else f", example {example.index}"))
    return error


def located(error):
    """The error of an author's code, with a note on part, method and example from the traceback."""
    # The innermost hook counts, or method that a base class of this library declares. Errors of this library name their place already.
    # NumPy raises SystemError for texts that are none: that is the user's data, not an author's code.
    if isinstance(error, SystemError) and "maximum character" in str(error):
        return DataError("an argument holds text with code points that no character has; read it again from where it came.")
    place, step = None, error.__traceback__
    if isinstance(error, StructPercError) or not isinstance(error, Exception) or getattr(error, "__notes__", ()):
        return error
    while step is not None:
        code, variables = step.tb_frame.f_code, step.tb_frame.f_locals
        arguments = [variables.get(name) for name in code.co_varnames[:code.co_argcount]]
        method = method_of(arguments[0], code) if arguments else None
        if method is not None:
            place = f"{type(arguments[0]).__name__}.{method}", [x for x in arguments if isinstance(x, Example)]
        step = step.tb_next
    if place is not None:
        add_note(error, f"in {place[0]}" + (f", example {place[1][0].index}" if place[1] else ""))
    return error


def method_of(owner, code):
    """The name of the method with this code. None unless it is a hook or a base class of this library declares it."""
    kind = type(owner)
    if code.co_name[:11] == "structperc_":
        return code.co_name
    if kind.__module__[:11] == LIBRARY:
        return None
    for base in kind.__mro__:
        for name, method in vars(base).items():
            method = getattr(method, "__wrapped__", method)
            if getattr(method, "__code__", None) is code and any(name in vars(further) and further.__module__[:11] == LIBRARY
                                                                 for further in kind.__mro__):
                return name
    return None


cdef class Component:
    """Base class of all parts: reader, outputs, features, weights, loss, argmax, update and trainer.

    Each fit starts its parts in this order, then checks them in this order.

    Attributes
    ----------
    citation : str
        BibTeX of the method, shown by `Engine.citation`; empty if there is nothing to cite.
    options_used : tuple of str
        The options that this part reads only after `start`, such as `epochs` of a trainer. What its hook or its `start` reads it uses
        anyway. A changed option that no part uses raises an error.

    Examples
    --------
    >>> from structperc.components import PerceptronUpdate
    >>> class Careful(PerceptronUpdate):
    ...     '''A rule with a source to cite.'''
    ...     citation = "@misc{careful, title = {Careful steps}}"
    >>> Careful().citation
    '@misc{careful, title = {Careful steps}}'
    """

    __signature__ = ClassSignature()

    citation = ""
    options_used = ()
    _declared_by = {}           # attributes that a Python class cannot set, and the method that it uses instead

    def __cinit__(self, *args, **kwargs):
        self._arguments = args, kwargs

    @embedsignature(False)
    def __init__(self, *args, **kwargs):
        for value in (*args, *kwargs):
            raise PluginError(f"{type(self).__name__}: the constructor of {Component.__name__} has no arguments, but got "
                              f"{shortened(value)}.")

    def clone(self):
        """A new component with the same constructor arguments, for another fit: engines share no state. Returns `Component`."""
        args, kwargs = self._arguments
        return remake(type(self), args, kwargs, getattr(self, "__dict__", None))

    def __reduce__(self):
        args, kwargs = self._arguments
        return remake, (type(self), args, kwargs, getattr(self, "__dict__", None))

    def start(self, parts, context) -> None:
        """Read the options and the other parts, and forget what an earlier fit learned. Called once in each fit.

        Parameters
        ----------
        parts : object with the attributes reader, outputs, features, weights, loss, argmax, update and trainer
            Those named before this part are started already.
        context : FitContext
            The options, and what is known of the data.
        """

    def check(self, context, parts) -> None:
        """Raise an error for a combination of parts that would give wrong results.

        Called after all parts have started and before the first example of a fit. It is called again for each `partial_fit` with sample
        weights. Raises `PluginError` if the parts do not fit together. Raises `DataError` if they do not fit the data.

        Parameters
        ----------
        context : FitContext
            `context.sample_weight` is an array of shape (n_examples,), or None.
        parts : object with the parts as attributes
            As in `start`.
        """

    def attributes(self, weights):
        """Fitted attributes to show on the engine.

        Parameters
        ----------
        weights : Weights
            The weights to predict with.

        Returns
        -------
        dict of str to function or str
            Names that end in `_`, and functions without arguments that compute the values. A text is the reason why there is no such
            attribute, the second half of an error message.
        """
        return {}

    def state(self):
        """What a model file stores of this component, for `restore`.
        Returns a dict of str to array. Arrays that no later training changes.
        """
        self._without("state")
        return {}

    def restore(self, state) -> None:
        """Restore what `state` returned. Called on a component that has been started.

        A file of unknown origin can contain anything. `structperc.plugin_tools.read_array` checks name, type, shape and range of an array
        and returns it. An array that no part reads is an error of the file. Raises `ModelFormatError` if the state is invalid.

        Parameters
        ----------
        state : dict of str to array
            As `state` returned it.
        """
        self._without("restore")

    def _without(self, method):
        """Called where a part has no such method of its own: weights need one."""

    def fingerprint(self):
        """A few values of the functions among this part's options: a fingerprint of them.

        A model file stores only the names of functions. `Engine.load` compares these values and raises an error for another function of
        the same name. Returns a float64 array or None. None without such functions.
        """

    def raised(self) -> None:
        """Raise and forget the error that a compiled method has stored."""
        raise_stored(self)

    def missing(self, method):
        """The error about a method that this component lacks. Returns `PluginError`.

        Parameters
        ----------
        method : str
        """
        kind = type(unwrapped(self))
        return PluginError(f"{kind.__module__}.{kind.__name__} does not implement {method}(); "
                           f"override it in Python, or {method}_c in Cython.")
