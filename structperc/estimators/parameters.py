"""What estimators add to scikit-learn's base classes: parameters from options, clones that share plugins, errors with a remedy."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from structperc.basics.errors import OptionErrors, nearest
from structperc.engine.calls import check_calls, checked
from structperc.engine.cards import estimator_card
from structperc.errors import DataError, NotFittedError, OptionError, did_you_mean, shortened
from structperc.estimators import constructors
from structperc.estimators.scikit_learn import BaseEstimator, NotFittedInScikitLearn, clone
from structperc.fitting import plugins
from structperc.fitting.option import same
from structperc.fitting.option_values import is_part
from structperc.fitting.options import WITHOUT_SHARDS

if TYPE_CHECKING:
    from typing_extensions import Self

SHARED = ("problem", "kernel", "plugins")     # parameters that clones share instead of copying
KERNEL_PLUGIN = "dual-kernel"                 # comes with the parameter kernel
ELSEWHERE = {               # arguments of other libraries' fit, and their names here
    **dict.fromkeys(("eval_set", "validation_data"), " Held-out data go into plugins=[structperc.callbacks.EarlyStopping(X, y)]."),
    **dict.fromkeys(("groups", "lengths", "group", "qid"), " Each row has a label of its own; SequenceTagger, LatentRanker and "
                                                           "StructuredEstimator have groups and lengths."),
    "costs": " PRank.fit and StructuredEstimator.fit have costs.",
}
ENTRIES = "plugin_options"                    # the parameter whose entries can be set one by one


class OfferedIf:
    """A method that an estimator has only with some parameters; else scikit-learn's tools see no such attribute."""

    def __init__(self, function, condition) -> None:
        self.function, self.condition = checked(function), condition
        functools.update_wrapper(self, function)

    def __get__(self, estimator, owner):
        if estimator is None:
            return self.function
        if not self.condition(estimator):
            raise AttributeError(f"{type(estimator).__name__} has no {self.function.__name__} with these parameters")
        return self.function.__get__(estimator, owner)


def offered_if(condition):
    """Decorates such a method. `condition(estimator)` returns whether it has one."""
    return functools.partial(OfferedIf, condition=condition)


@check_calls
class Parameters(BaseEstimator):
    """An estimator of scikit-learn: `get_params`, `set_params`, clones, and errors for unknown parameters with the nearest name.

    The parameters are those of the constructor. A class with options (`ProblemEstimator`) has a constructor made from these. A class
    that writes its own sets an attribute for each parameter. It may have `**options`, and pass them to `super().__init__`: then the
    parameters of the base class, apart from those that it passes itself, are parameters too.
    See also `RankScore` (the score of estimators of ordered labels).

    Raises
    ------
    OptionError
        If the class has no parameter of that name.

    Examples
    --------
    >>> from structperc.estimators import PRank
    >>> from structperc.estimators.rankers import Parameters
    >>> class Mine(Parameters):
    ...     def __init__(self, size=5):
    ...         self.size = size
    >>> Mine(size=3).get_params()
    {'size': 3}
    >>> Mine(sise=3)
    Traceback (most recent call last):
    structperc.errors.OptionError: Mine has no parameter 'sise'. Did you mean 'size'?
    >>> class Strong(PRank):
    ...     def __init__(self, strength=10.0, **options):
    ...         super().__init__(C=1 / strength, **options)
    ...         self.strength = strength
    >>> Strong(epochs=7).set_params(strength=4.0).C
    0.25
    """

    _texts: ClassVar[dict] = {}                     # parts of docstrings that estimators share
    _elsewhere: ClassVar[dict] = ELSEWHERE          # the places of arguments of other libraries' fit

    def __init_subclass__(cls, **arguments):
        super().__init_subclass__(**arguments)
        check_calls(cls)
        constructors.declare(cls, refuse_call)

    def _place_of(self, name, value, candidates) -> str:
        """The sentence about an argument that a method does not have: it belongs to another method, or to the estimator, or is misspelt."""
        parameters = self.get_params(deep=False)
        near = "" if name in parameters else did_you_mean(name, candidates) or self._elsewhere.get(name, "")
        parameter = name if name in parameters else nearest(name, parameters)
        if near or parameter is None:
            return near
        return f" It is a parameter of the estimator: {type(self).__name__}({parameter}={shortened(value)})."

    @classmethod
    def _get_param_names(cls):
        """For scikit-learn's tools."""
        return sorted(name for name, one in cls.__signature__.parameters.items() if one.kind is not one.VAR_KEYWORD)

    def get_params(self, deep: bool = True) -> dict:
        """The constructor's parameters by name; deep: also the entries of those that are dicts or estimators, as NAME__KEY."""
        params = {name: getattr(self, name) for name in constructors.parameters_of(self)}
        if deep:
            params.update({f"{name}__{key}": entry for name, value in tuple(params.items()) for key, entry in entries_of(value).items()})
        return params

    def set_params(self, **params) -> Self:
        """Sets parameters by name; they take effect with the next fit. `plugin_options__NAME` sets one entry of `plugin_options`."""
        current = self.get_params(deep=False)
        unknown, errors = [], OptionErrors()
        for path, value in params.items():
            name, _, key = path.partition("__")
            if name not in current or key and name != ENTRIES and not is_estimator(params.get(name, current[name])) or path.endswith("__"):
                unknown.append(f"Invalid parameter {path!r} for estimator {self}.{where_it_goes(path, {path: value}, current)}")
            elif key and name == ENTRIES:
                with errors:
                    refuse_entry(key, {**current, **params})
        if unknown:
            errors.append(OptionError(f"{' '.join(unknown)} Valid parameters are: {sorted(current)}."))
        errors.raise_all()
        changed = {name: value for name, value in params.items() if "__" not in name}
        within = {path: value for path, value in params.items() if "__" in path}
        for path, value in within.items():
            name, _, key = path.partition("__")
            if name == ENTRIES:
                changed[name] = {**(changed.get(name, current[name]) or {}), key: value}
        if changed:
            self._set_parameters(current, changed)
        for path, value in within.items():
            name, _, key = path.partition("__")
            if name != ENTRIES:
                getattr(self, name).set_params(**{key: value})
        return self

    def _set_parameters(self, current, changed) -> None:
        """Sets parameters; a constructor that is written may compute others from them, so it is called again."""
        state = changed
        if constructors.is_written(type(self)):
            made = type(self)(**{**current, **changed})
            constructors.refuse_changed(made, changed)
            state = vars(made)
        vars(self).update(state)

    def _changed(self) -> dict:
        """The parameters that are not at their defaults."""
        return {name: getattr(self, name) for name, one in constructors.parameters_of(self).items()
                if not same(getattr(self, name), one.default)}

    def _repr_html_(self):
        return estimator_card(self, self._changed())

    def __sklearn_clone__(self):
        """The same parameters, untrained. Plugin objects and kernels are shared, since they are what the user named, not state."""
        parameters = {name: value if name in SHARED or is_part(value) else cloned(value)
                      for name, value in self.get_params(deep=False).items()}
        made = type(self)(**parameters)
        constructors.refuse_changed(made, parameters)
        for name in ("_metadata_request", "_sklearn_output_config"):       # of metadata routing and set_output
            if hasattr(self, name):
                setattr(made, name, copy.deepcopy(getattr(self, name)))
        return made

    def _from_fit(self, name, calls="fit"):
        """An attribute that training sets. Before it, raises an error that users of either library catch."""
        if name not in vars(self):
            raise NotFitted(f"This {type(self).__name__} is not fitted yet; call {calls} first.")
        return vars(self)[name]

    def _refuse_none(self, X, y) -> None:
        """y must be given, apart from X: pairs are no X."""
        if y is None:
            apart = f" X is a {type(X).__name__}; of pairs, pass both halves: X, y = zip(*pairs)." if isinstance(X, Iterator) else ""
            raise DataError(f"{type(self).__name__} requires y to be passed, but the target y is None.{apart}")


def refuse_call(cls, unnamed, passed) -> None:
    """Raises an error for unknown parameters, with their place, for those without a name, and for missing ones."""
    names = cls.__signature__.parameters
    if unnamed and next(iter(names.values()), None) is not None and next(iter(names.values())).kind is inspect.Parameter.KEYWORD_ONLY:
        name = "problem" if "problem" in names else "NAME"
        raise TypeError(f"{cls.__name__} takes its parameters by name, but got {shortened(unnamed[0])} without one; write "
                        f"{cls.__name__}({name}={shortened(unnamed[0])}), of {', '.join(sorted(names))}.")
    unknown = {name: value for name, value in passed.items() if name not in names}
    if unknown:
        hints = {}
        for name in unknown:
            hint = where_it_goes(name, unknown, names, passed.get("problem")) or f" Its parameters are {', '.join(sorted(names))}."
            hints.setdefault(hint, []).append(repr(name))
        raise OptionError(" ".join(f"{cls.__name__} has no parameter {' and no '.join(others)}.{hint}" for hint, others in hints.items()))
    places = [name for name, one in names.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    missing = [name for name, one in names.items() if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
               and name not in passed and name not in places[:len(unnamed)]]
    if missing and len(unnamed) <= len(places):         # further values may be for the constructor of a base class
        raise TypeError(f"{cls.__name__} needs the parameter {missing[0]}, which has no default: write {cls.__name__}({missing[0]}=...). "
                        f"help({cls.__name__}) describes it.")


def where_it_goes(name, unknown, names, problem=None) -> str:
    """The end of a message about an unknown parameter: the one that is meant, or the options of a plugin that it and others are."""
    entries, _, key = name.partition("__")
    if entries == ENTRIES and key and ENTRIES in names:
        return f" Pass {ENTRIES}={shortened({key: unknown[name]}, 200)}; set_params has {name}."
    if name == "n_shards":
        within = " Set it in the estimator within, such as estimator=CuSumRank(n_shards=2)." if "estimator" in names else ""
        return f" A training in shards mixes weights after each epoch, and this estimator has no such epochs: {WITHOUT_SHARDS}.{within}"
    own = plugins.load(problem).options if ENTRIES in names and isinstance(problem, str) else {}
    if name in own:
        return f" It is an option of {problem!r}: pass {ENTRIES}={shortened({key: unknown[key] for key in unknown if key in own}, 200)}."
    part = next(iter(plugins.parts_with(name)), None) if ENTRIES in names else None
    if part is None:
        return did_you_mean(name, names)
    options = {key: value for key, value in unknown.items() if part in plugins.parts_with(key)}
    kernel = "kernel='linear', " if part == KERNEL_PLUGIN else ""
    return f" It is an option of the plugin {part!r}: pass {kernel}{ENTRIES}={shortened(options, 200)}."


def refuse_entry(name, parameters) -> None:
    """Raises an error for an entry of `plugin_options` that no installed plugin and no plugin object has as an option."""
    parts = (parameters.get("problem"), *(parameters.get("plugins") or ()))
    for plugin in (*map(plugins.load, (one for one in parts if one is not None and not isinstance(one, str))), *plugins.all_loaded()):
        if name in plugin.options:
            return
    raise OptionError(f"{ENTRIES} names {name!r}, which is no option of a plugin.{did_you_mean(name, plugins.options_of_parts())}")


def refuse_class(name, value) -> None:
    """Raises an error for a class where an estimator is expected."""
    if isinstance(value, type):
        raise OptionError(f"{name} is the class {value.__name__}; pass an instance, {value.__name__}().")


def is_estimator(value) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def entries_of(value) -> dict:
    """What can be set one by one in a parameter."""
    return value.get_params() if is_estimator(value) else value if isinstance(value, dict) else {}


def cloned(value):
    """An estimator with the same parameters, untrained; a copy of anything else."""
    if not is_estimator(value):
        return copy.deepcopy(value)
    return clone(value)


class NotFitted(NotFittedError, NotFittedInScikitLearn):
    """A method was called that needs training; users of either library catch it."""
