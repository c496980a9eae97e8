"""Estimators in model files: the engine's file, with the class and its parameters among the engine's notes."""

from __future__ import annotations

import importlib
import inspect
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from structperc.engine import Engine
from structperc.engine import plugins as registry
from structperc.engine.model_file import RULES, join_rules
from structperc.engine.option import same
from structperc.engine.options import ENGINE_OPTIONS
from structperc.errors import ModelFormatError, OptionError
from structperc.estimators.parameters import KERNEL_PLUGIN, is_estimator

if TYPE_CHECKING:
    import numpy as np

__all__ = ["EngineAnswers", "EngineMethods", "load", "note"]

NOTE = "estimator"
HOME = "structperc.estimators"


def load(path, plugins=(), **options) -> Any:
    """Reads what `save` of any estimator, or of an engine, wrote.

    Parameters
    ----------
    path : path or file opened for bytes
    plugins : sequence of plugin objects or components
        The objects that were passed to the constructor and have no name.
    **options
        The functions that were passed to the constructor, such as a kernel; a model file knows only their names.

    Returns
    -------
    estimator or Engine
        Of the class that wrote the file.

    Raises
    ------
    ModelFormatError, PluginError, OptionError, OSError

    Examples
    --------
    >>> import tempfile, os
    >>> from structperc.estimators import PRank, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     PRank(epochs=5).fit([[-1.0], [0.0], [1.0]], [1, 2, 3]).save(os.path.join(folder, "ranks.model"))
    ...     model = load(os.path.join(folder, "ranks.model"))
    >>> model, model.predict([[0.9]]).tolist()
    (PRank(epochs=5), [3])
    """
    engine = Engine.load(path, plugins, **options)
    return restored(class_noted(engine), engine) if NOTE in engine.notes else engine


class EngineMethods:
    """Methods of estimators that an engine trains: `_trained()` returns it, `_engine()` a new one, and `_keep(engine)` accepts one.

    `_held` names options of the engine that parameters of another name become.
    """

    _held: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def citation(self) -> str:
        """BibTeX of exactly the methods in use.

        Returns
        -------
        str
        """
        return (vars(self).get("engine_") or self._engine()).citation()

    def save(self, path) -> None:
        """Writes the trained model to one file without pickle; `load` of the class, or `structperc.estimators.load`, reads it.

        `Engine.load` reads the file as well.

        Parameters
        ----------
        path : path or file opened for bytes
        """
        self._trained().save(path)

    @classmethod
    def load(cls, path, plugins=(), **options) -> Any:
        """Reads a model that `save` wrote; `structperc.estimators.load` does so whatever the class.

        Parameters
        ----------
        path : path or file opened for bytes
        plugins : sequence of plugin objects or components
            The objects that were passed to the constructor and have no name.
        **options
            The functions that were passed to the constructor, such as a kernel; a model file knows only their names.

        Returns
        -------
        estimator

        Raises
        ------
        ModelFormatError, PluginError, OptionError, OSError
        """
        engine = Engine.load(path, plugins, **options)
        address = address_noted(engine)
        if address != address_of(cls):
            raise ModelFormatError(f"the model was written by {address}, not by {cls.__name__}; structperc.estimators.load reads any.")
        return restored(cls, engine)

    def export(self, path, to=None) -> None:
        """Writes the trained model as one file of another language, which needs no structperc; see `Engine.export`.

        Parameters
        ----------
        path : path
            File to write.
        to : str, optional
            As in `Engine.export`. Default: by the ending of `path`.
        """
        self._trained().export(path, to)


class EngineAnswers(EngineMethods):
    """Further predictions of the engine, for estimators that pass it the result of `_read(X)`."""

    def margins(self, X) -> np.ndarray:
        """By how much the best output of each example leads the second best, shape (n,); 0: a tie, inf: there is no other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.

        Returns
        -------
        float64 array of shape (n_samples,)
        """
        return self._trained().margins(self._read(X))

    def predict_k_best(self, X, k) -> list[list[tuple[Any, float]]]:
        """The k outputs of largest score of each example, best first: a list of lists of (output, score); see `Engine.predict_k_best`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.
        k : int
            Number of outputs, at least 1.

        Returns
        -------
        list of n_samples lists of (output, score)
        """
        return self._trained().predict_k_best(self._read(X), k)

    def log_probability(self, X, y) -> np.ndarray:
        """The logarithm of the probability of the output y[i] of example i, shape (n,); see `Engine.log_probability`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.
        y : sequence
            Outputs in the form of `predict`.

        Returns
        -------
        float64 array of shape (n_samples,)
            At most 0.
        """
        return self._trained().log_probability(self._read(X), y)

    def _read(self, X):
        return X


def note(estimator, engine) -> None:
    """Notes in the engine which estimator it is of: the class, parameters that JSON has, and the names of those that the engine holds.

    Parameters
    ----------
    estimator : estimator
    engine : Engine
        The engine that it trains.
    """
    defaults = inspect.signature(type(estimator)).parameters
    changed = {name: value for name, value in estimator.get_params(deep=False).items() if not same(value, defaults[name].default)}
    entries = changed.pop("plugin_options", None) or {}
    changed = {name: value for name, value in changed.items() if not is_estimator(value)}       # whose engine is that of the default
    plain = {name: value for name, value in changed.items() if is_plain(value)}
    engine.notes[NOTE] = {
        "class": address_of(type(estimator)), "parameters": plain,
        "plugin_options": {name: value for name, value in entries.items() if is_plain(value)},
        "held": [name for name in changed if name not in plain],
        "held_plugin_options": [name for name, value in entries.items() if not is_plain(value)],
        "unused": list(vars(estimator).get("_unused", ())),
    }


def restored(cls, engine):
    """The estimator that an engine's notes describe, around the engine."""
    note = engine.notes[NOTE]
    try:
        parameters = {**note["parameters"], **{name: held(engine, cls._held.get(name, name)) for name in note["held"] if name not in RULES}}
        join_rules(parameters)
        entries = {**note["plugin_options"], **{name: engine.plugin_options[name] for name in note["held_plugin_options"]}}
        estimator = cls(**parameters, **({"plugin_options": entries} if entries else {}))
        unused = tuple(map(str, note["unused"]))
    except (KeyError, TypeError, AttributeError, OptionError) as error:
        raise ModelFormatError(f"the model file has a {cls.__name__} that this version cannot make ({error}); Engine.load reads its "
                               f"engine.") from None
    estimator._unused = unused
    estimator._keep(engine)
    return estimator


def held(engine, name):
    """A parameter that the engine was made from and holds."""
    if name == "problem" or name in ENGINE_OPTIONS:
        value = getattr(engine, name)
        return tuple(plugin for plugin in value if plugin != KERNEL_PLUGIN) if name == "plugins" else value
    return engine.plugin_options[name]


def class_noted(engine) -> type:
    """The class in an engine's notes: one of structperc.estimators, or of a package with plugins; nothing else is imported."""
    address = address_noted(engine)
    module, _, name = address.partition(":")
    packages = {entry.module.partition(".")[0] for entries in registry.discover().values() for entry in entries}
    if module != HOME and module.partition(".")[0] not in packages:
        raise ModelFormatError(f"the model was written by {address}. No installed plugin has this class; read the file with that class, "
                               f"{name}.load(path), or its engine with Engine.load(path).")
    try:
        cls_noted = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ModelFormatError(f"the model was written by {address}, which cannot be imported ({error}); Engine.load reads its "
                               f"engine.") from None
    if not (isinstance(cls_noted, type) and issubclass(cls_noted, EngineMethods)):
        raise ModelFormatError(f"the model was written by {address}, which is no estimator; the file was written by hand.")
    return cls_noted


def address_noted(engine) -> str:
    note = engine.notes.get(NOTE)
    address = note.get("class") if isinstance(note, dict) else None
    if not isinstance(address, str):
        raise ModelFormatError("the model file has no estimator; Engine.load or structperc.estimators.load reads it.")
    return address


def address_of(cls) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def is_plain(value) -> bool:
    """Whether JSON has the value and gives it back."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(type(key) is str and is_plain(entry) for key, entry in value.items())
    return value is None or type(value) in (bool, int, str) or type(value) is float and math.isfinite(value)
