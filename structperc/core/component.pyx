"""The base class of all parts of an engine."""
from structperc.core.errors import PluginError


def remake(kind, args, kwargs, attributes):
    """A component from its constructor's arguments and, for a Python class, its attributes."""
    component = kind(*args, **kwargs)
    if attributes:
        component.__dict__.update(attributes)
    return component


cdef class Component:
    """Base of all hot spots.

    Attributes
    ----------
    citation : str
        BibTeX of the method, shown by `Engine.citation`; empty where there is nothing to cite.
    """

    citation = ""

    def __cinit__(self, *args, **kwargs):
        self._arguments = args, kwargs

    def fresh(self):
        """A component made as this one was: every fit gets its own, so that engines share no state."""
        args, kwargs = self._arguments
        return remake(type(self), args, kwargs, getattr(self, "__dict__", None))

    def __reduce__(self):
        args, kwargs = self._arguments
        return remake, (type(self), args, kwargs, getattr(self, "__dict__", None))

    def check(self, context, parts, sample_weight=None):
        """Refuses a combination of parts that would silently be wrong.

        Called before the first example of a fit or partial_fit. `parts` has the attributes weights, outputs, features,
        argmax, loss and update. Raise `PluginError` or `DataError` with a sentence.
        """

    def attributes(self, weights):
        """Fitted attributes to show on the engine: a dict of names ending in `_` to functions without arguments."""
        return {}

    def state(self):
        """What a model file must hold of this component, a dict of arrays; `restore` takes it back."""
        return {}

    def restore(self, state):
        """Takes back what `state` gave; called on a component that has been started."""

    def missing(self, method):
        """The error of a component that lacks one of its methods."""
        return PluginError(f"{type(self).__module__}.{type(self).__name__} does not implement {method}(); "
                           f"override it in Python, or {method}_c in Cython.")
