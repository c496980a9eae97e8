"""Estimators in model files: the engine's file, with the class and its parameters among the engine's notes.

Provisional: it may change in any minor version.

An estimator around another one notes both, so that the file has the engine once, and everything else around it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from structperc.basics.labels import find_labels, label_list
from structperc.basics.plain_values import is_noted, is_plain, labels_noted, noted_labels
from structperc.basics.signatures import class_signature
from structperc.engine import model_file
from structperc.engine.calls import check_calls
from structperc.engine.engine import Engine
from structperc.errors import DataError, ModelFormatError, OptionError, StructPercError, shortened
from structperc.estimators import lookup, tree_libraries
from structperc.estimators.parameters import KERNEL_PLUGIN, is_estimator, offered_if
from structperc.fitting.option import same
from structperc.fitting.options import ENGINE_OPTIONS

if TYPE_CHECKING:
    from structperc.engine.explanation import Explanation

__all__ = ["Answers", "EngineAnswers", "InnerAnswers", "InnerMethods", "SavedEstimator", "export", "load", "note"]

NOTE = "estimator"
SHOWN = 80               # characters of a name that an error shows


def load(path, plugins=(), **options) -> Any:
    """Reads what `save` of any estimator, or of an engine, wrote. Returns an estimator or Engine. Of the class that wrote the file.

    Parameters
    ----------
    path : path or file opened for bytes
    plugins : sequence of plugin objects or components
        The objects that were passed to the constructor and have no name.
    **options
        The functions that were passed to the constructor, such as a kernel; a model file knows only their names.

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
    trained, note = content_of(path, plugins, options)
    return trained if note is None and isinstance(trained, Engine) else restored(trained, class_noted(note), note)


def content_of(path, plugins, options):
    """What was trained, an engine or trees of another library, and the note of an estimator around it."""
    def read(file, source):
        with model_file.opened(file, source) as (header, arrays):
            if header["format"] == model_file.TREES_FORMAT:
                return tree_libraries.restored(header, arrays, source), header["notes"].get(NOTE)
            engine = model_file.made(Engine, header, arrays, plugins, options, source)
            return engine, note_of(engine)

    return model_file.read_from(path, read)


@check_calls
class SavedEstimator:
    """An estimator in model files, around an engine: `_trained()` returns it, `_engine()` a new one, and `_keep(engine)` accepts one.

    `_held` names options of the engine that parameters of another name become.

    Examples
    --------
    >>> from structperc.estimators import OrdinalConformal, PRank
    >>> from structperc.estimators.keeping import SavedEstimator
    >>> issubclass(PRank, SavedEstimator), issubclass(OrdinalConformal, SavedEstimator)
    (True, True)
    """

    _held: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def citation(self) -> str:
        """BibTeX of exactly the methods in use."""
        return (vars(self).get("engine_") or self._engine()).citation()

    def save(self, path) -> None:
        """Writes the trained model to one file without pickle; `load` of the class, or `structperc.estimators.load`, reads it.

        `Engine.load` reads the file as well.
        Raises `OptionError` if a parameter that a subclass has added is no plain value. Then use pickle.

        Parameters
        ----------
        path : path or file opened for bytes
        """
        engine = self._trained()
        for name in (note_of(engine) or {}).get("held", ()):
            if not holds(engine, self._held.get(name, name)):
                raise OptionError(f"a model file cannot hold {name}={shortened(getattr(self, name))} of {type(self).__name__}; pickle it.")
        engine.save(path)

    @classmethod
    def load(cls, path, plugins=(), **options) -> Any:
        """Reads a model that `save` wrote; `structperc.estimators.load` does so whatever the class. Returns an estimator.

        Parameters
        ----------
        path : path or file opened for bytes
        plugins : sequence of plugin objects or components
            The objects that were passed to the constructor and have no name.
        **options
            The functions that were passed to the constructor, such as a kernel; a model file knows only their names.

        Raises
        ------
        ModelFormatError, PluginError, OptionError, OSError
        """
        trained, note = content_of(path, plugins, options)
        address = address_noted(note)
        if address != address_of(cls):
            raise ModelFormatError(f"the model was written by {address}, not by {cls.__name__}; structperc.estimators.load reads any.")
        return restored(trained, cls, note)

    def _fitted(self) -> dict:
        """What a model file notes of the training beside the engine: what JSON has, and arrays of labels."""
        return {}

    def _revive(self, trained, fitted) -> None:
        """Accepts an engine, or an estimator, from a model file, with what `_fitted` returned."""
        self._keep(trained)


def export(self, path, to=None) -> None:
    """Writes the trained model as one file of another language, which needs no structperc; see `Engine.export`.

    Parameters
    ----------
    path : path
        File to write.
    to : str, optional
        As in `Engine.export`. Default: by the ending of `path`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from structperc.estimators import PRank
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     PRank().fit([[0.0], [1.0]], [1, 2]).export(pathlib.Path(folder) / "ranks.py")
    """
    self._trained().export(path, to)


class Answers(list):
    """The outputs of examples in a list, which numpy takes for an array with one output in each entry.

    `cross_val_predict` joins such arrays of folds. From a plain list of outputs of equal length numpy makes a table of their parts.
    It raises an error if lengths differ.

    Parameters
    ----------
    iterable : iterable, optional
        One output for each example.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.estimators.keeping import Answers
    >>> answers = Answers([["D", "N"], ["N", "D"]])
    >>> answers, np.asarray(answers).shape
    ([['D', 'N'], ['N', 'D']], (2,))
    """

    def __array__(self, dtype=None, copy=None):
        array = np.empty(len(self), dtype=object)
        for i, output in enumerate(self):
            array[i] = output
        return array


@check_calls
class EngineAnswers(SavedEstimator):
    """Further predictions of the engine, for estimators that pass it the result of `_read(X)`.

    Examples
    --------
    >>> from structperc.estimators import PRank
    >>> model = PRank(epochs=5).fit([[-1.0], [0.0], [1.0]], [1, 2, 3])
    >>> [int(label) for label, score in model.predict_k_best([[1.0]], 2)[0]]
    [3, 2]
    """

    export = export

    def margins(self, X) -> np.ndarray:
        """By how much the best output of each example leads the second best, shape (n,); 0: a tie, inf: there is no other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.
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
        """
        return self._trained().predict_k_best(self._read(X), k)

    def log_probability(self, X, y) -> np.ndarray:
        """The logarithm of the probability of the output y[i] of example i, shape (n,); see `Engine.log_probability`.
        Returns a float64 array of shape (n_samples,). At most 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.
        y : sequence
            Outputs in the form of `predict`.
        """
        return self._trained().log_probability(self._read(X), y)

    def _read(self, X):
        return X


@check_calls
class InnerMethods(SavedEstimator):
    """Methods of an estimator around another one, the parameter `estimator`.

    `estimator_` was trained: an engine, or an estimator with one. `_cited` is BibTeX of what the outer one adds.

    Examples
    --------
    >>> import io
    >>> from structperc.estimators import PRank, ScoreCard, load
    >>> file = io.BytesIO()
    >>> card = ScoreCard(PRank(epochs=5)).fit([[-1.0], [0.0], [1.0]], [1, 2, 3])
    >>> card.save(file)
    >>> load(io.BytesIO(file.getvalue())).cutoffs_.tolist() == card.cutoffs_.tolist()
    True
    """

    _cited: ClassVar[str] = ""

    def citation(self) -> str:
        """BibTeX of exactly the methods in use, also of the estimator within if it has such."""
        inner = vars(self).get("estimator_", self.estimator)
        return "\n\n".join(filter(None, (self._cited, inner.citation() if hasattr(inner, "citation") else "")))

    def save(self, path) -> None:
        """Writes the trained model to one file without pickle; `load` of the class, or `structperc.estimators.load`, reads it.

        `Engine.load` reads the engine within. Trees of LightGBM, XGBoost and CatBoost are written as these libraries write them.
        Raises `OptionError` if another model is within, or a parameter is a function. Then use pickle.

        Parameters
        ----------
        path : path or file opened for bytes
        """
        self._trained()
        trained, note = innermost(self), noted(self)
        if isinstance(trained, Engine):
            model_file.save(trained, path, {**trained.notes, NOTE: note})
        else:
            tree_libraries.save(trained, path, {NOTE: note})


@check_calls
class InnerAnswers(InnerMethods):
    """Further methods that the estimator within has: its structures are those of the outer one as well.

    Examples
    --------
    >>> import numpy as np
    >>> from structperc.estimators import OrdinalConformal, PRank
    >>> X = np.linspace(-1, 1, 20)[:, None]
    >>> model = OrdinalConformal(PRank(), random_state=0).fit(X, 1 + (X[:, 0] > 0))
    >>> bool(model.explain(X[0]).margin == model.margins(X[:1])[0])
    True
    """

    @offered_if(lambda self: has(self, "export"))
    def export(self, path, to=None) -> None:
        """Writes the model within as one file of another language; see `Engine.export`.

        Parameters
        ----------
        path : path
            File to write.
        to : str, optional
            As in `Engine.export`. Default: by the ending of `path`.
        """
        self._inner().export(path, to)

    @offered_if(lambda self: has(self, "explain"))
    def explain(self, x, **options) -> Explanation:
        """Explains the prediction of the model within; see its method.

        Parameters
        ----------
        x : one example
        **options
            As in the method of the model within, such as `against` and `baseline`.
        """
        return self._inner().explain(x, **options)

    @offered_if(lambda self: has(self, "margins"))
    def margins(self, X, **data) -> np.ndarray:
        """By how much the best output of each example leads the second best in the model within, shape (n,).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.
        **data
            As in the method of the model within, such as `groups`.
        """
        return self._inner().margins(X, **data)

    @offered_if(lambda self: has(self, "predict_k_best"))
    def predict_k_best(self, X, k, **data) -> list[list[tuple[Any, float]]]:
        """The k outputs of largest score of each example in the model within, best first.
        Returns a list of n_samples lists of (output, score).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.
        k : int
            Number of outputs, at least 1.
        **data
            As in the method of the model within, such as `groups`.
        """
        return self._inner().predict_k_best(X, k, **data)

    @offered_if(lambda self: has(self, "log_probability"))
    def log_probability(self, X, y, **data) -> np.ndarray:
        """The logarithm of the probability of the output y[i] of example i in the model within, shape (n,).
        Returns a float64 array of shape (n_samples,). At most 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as in `fit`.
        y : sequence
            Outputs in the form of `fit`.
        **data
            As in the method of the model within, such as `groups`.
        """
        return self._inner().log_probability(X, y, **data)

    def _inner(self):
        """The model within, trained."""
        self._trained()
        return self.estimator_


def has(outer, method) -> bool:
    """True if the model within an estimator has a method; else an AttributeError names this model."""
    inner = vars(outer).get("estimator_", outer.estimator)
    if not hasattr(inner, method):
        raise AttributeError(f"{type(outer).__name__} has no {method}, since the {type(inner).__name__} within it has none. Estimators "
                             f"with an engine of structperc have it.")
    return True


def innermost(estimator):
    """The engine of an estimator around others, or the trees of another library; `OptionError` if a file holds neither."""
    if isinstance(estimator, InnerMethods):
        return innermost(estimator.estimator_)
    if isinstance(estimator, SavedEstimator):
        return estimator._trained()
    if isinstance(estimator, Engine) or tree_libraries.can_be_held(estimator):
        return estimator
    raise OptionError(f"a model file cannot hold {type(estimator).__name__}. It holds estimators of structperc, LGBMClassifier, "
                      f"XGBClassifier and CatBoostClassifier; pickle the whole.")


def note(estimator, engine) -> None:
    """Records an estimator's class and parameters in its engine, so that `structperc.estimators.load` can rebuild it from a model file.
    Raises `OptionError` if an estimator around others has a parameter that JSON cannot write.
    See also `load` (reads an estimator from a file).

    Parameters
    ----------
    estimator : estimator
        The trained estimator, or one around others.
    engine : Engine
        The engine to save. Its `notes` change.

    Examples
    --------
    >>> from structperc.estimators import PRank
    >>> from structperc.estimators.keeping import note
    >>> model = PRank(random_state=0).fit([[0.0], [1.0]], [1, 2])
    >>> note(model, model.engine_)
    >>> list(model.engine_.notes)
    ['estimator']
    """
    engine.notes[NOTE] = noted(estimator)


def noted(estimator) -> dict:
    """The class, the parameters that JSON has, and the names of the others, which the engine has. Notes nest as estimators do."""
    defaults = class_signature(type(estimator)).parameters
    parameters = {name: value.item() if isinstance(value, np.generic) else value
                  for name, value in estimator.get_params(deep=False).items()}
    changed = {name: value for name, value in parameters.items() if not same(value, defaults[name].default)}
    entries, around = changed.pop("plugin_options", None) or {}, isinstance(estimator, InnerMethods)
    changed = {name: value for name, value in changed.items() if not is_estimator(value) and not isinstance(value, Engine)}
    plain = {name: value for name, value in changed.items() if is_plain(value)}
    if around and "classes" in changed.keys() - plain.keys():
        plain["classes"] = noted_labels(find_labels(None, changed["classes"], True))
    held = [name for name in changed if name not in plain]
    if around and held:
        raise OptionError(f"a model file cannot hold {held[0]}={shortened(changed[held[0]])} of {type(estimator).__name__}; pickle it.")
    notes = {
        "class": address_of(type(estimator)), "parameters": plain,
        "plugin_options": {name: value for name, value in entries.items() if is_plain(value)},
        "held": held,
        "held_plugin_options": [name for name, value in entries.items() if not is_plain(value)],
        "unused": list(vars(estimator).get("_unused", ())),
    }
    if around:
        if "estimator" in parameters:
            notes["estimator"] = noted_within(estimator.estimator) if estimator.estimator is not vars(estimator).get("estimator_") else None
        if "estimator_" in vars(estimator):
            within = estimator.estimator_
            notes["trained"] = noted(within) if isinstance(within, SavedEstimator) else None
    fitted = {name: noted_labels(value) if isinstance(value, np.ndarray) else value for name, value in estimator._fitted().items()}
    return notes | {"fitted": fitted} if fitted else notes


def noted_within(estimator):
    """What is noted of an estimator within another one; None: it is an engine."""
    if isinstance(estimator, SavedEstimator):
        return noted(estimator)
    innermost(estimator)
    return None if isinstance(estimator, Engine) else tree_libraries.described(estimator)


def restored(engine, cls, note):
    """The estimator of a note, around the engine, or around trees."""
    try:
        if not (isinstance(engine, Engine) or issubclass(cls, InnerMethods)):
            raise DataError("it has no engine")
        estimator = untrained(engine, cls, note)
        if not issubclass(cls, InnerMethods):
            trained = engine
        elif note["trained"] is None:
            trained = engine
            if isinstance(engine, Engine):
                engine.notes.pop(NOTE, None)
        else:
            trained = restored(engine, class_noted(note["trained"]), note["trained"])
        if issubclass(cls, InnerMethods) and "estimator" in note and note["estimator"] is None:
            estimator.estimator = trained
        estimator._unused = tuple(map(str, note["unused"]))
        fitted = note.get("fitted", {})
        estimator._revive(trained, {name: labels_noted(value) if is_noted(value) else value for name, value in fitted.items()})
    except ModelFormatError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, StructPercError) as error:
        raise ModelFormatError(f"the model is of a {cls.__name__} that this version cannot make ({error}); Engine.load reads its "
                               f"engine.") from None
    return estimator


def untrained(engine, cls, note):
    """An estimator with the parameters of a note."""
    parameters = {**note["parameters"], **{name: held(engine, cls._held.get(name, name)) for name in note["held"]}}
    if is_noted(parameters.get("classes")):
        parameters["classes"] = label_list(labels_noted(parameters["classes"]))
    if not parameters.keys() <= class_signature(cls).parameters.keys():
        raise OptionError(f"{cls.__name__} has no parameter {min(parameters.keys() - class_signature(cls).parameters.keys())!r:.{SHOWN}}")
    entries = {**note["plugin_options"], **{name: engine.plugin_options[name] for name in note["held_plugin_options"]}}
    if issubclass(cls, InnerMethods) and "estimator" in note:      # else the constructor makes it
        within = note["estimator"]
        parameters["estimator"] = (None if within is None else tree_libraries.constructed(within) if "library" in within else
                                   untrained(engine, class_noted(within), within))
    return cls(**parameters, **({"plugin_options": entries} if entries else {}))


def holds(engine, name) -> bool:
    """Whether an engine has a parameter of an estimator as its option."""
    return name == "problem" or name in ENGINE_OPTIONS or name in engine.plugin_options


def held(engine, name):
    """A parameter that the engine was made from and holds."""
    if name == "problem" or name in ENGINE_OPTIONS:
        value = getattr(engine, name)
        return tuple(plugin for plugin in value if plugin != KERNEL_PLUGIN) if name == "plugins" else value
    return engine.plugin_options[name]


def class_noted(note) -> type:
    """The class of a note: one of structperc.estimators, or one that a package declares. A file's text imports nothing."""
    address = address_noted(note)
    module, _, name = address.partition(":")
    try:
        cls = own_class(module, name) or lookup.class_at(module, name)
    except AttributeError as error:
        raise ModelFormatError(f"{error} Engine.load reads the engine of the model.") from None
    if cls is None:
        raise ModelFormatError(f"the model was written by {address:.{SHOWN}}. No installed plugin has this class; read the file with that "
                               f"class, {name:.{SHOWN}}.load(path), or its engine with Engine.load(path). Packages declare estimators by "
                               f"entry points of the group {lookup.GROUP}.")
    if not (isinstance(cls, type) and issubclass(cls, SavedEstimator)):
        raise ModelFormatError(f"the model was written by {address:.{SHOWN}}, which is no estimator; the file was written by hand. "
                               f"Engine.load reads the engine of the model.")
    return cls


def own_class(module, name):
    """A class of `structperc.estimators` itself, else None."""
    home = sys.modules[lookup.GROUP]
    return getattr(home, name) if module == lookup.GROUP and name in home.OWN else None


def note_of(engine):
    return engine.notes.get(NOTE)


def address_noted(note) -> str:
    address = note.get("class") if isinstance(note, dict) else None
    if not isinstance(address, str):
        raise ModelFormatError("the model file has no estimator; Engine.load or structperc.estimators.load reads it.")
    return address


def address_of(cls) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def listed(values) -> list:
    """Numbers of an array as JSON has them: what is not finite as text."""
    return [value if math.isfinite(value) else repr(value) for value in np.asarray(values, dtype=float).ravel().tolist()]


def array_of(values, low=None, above=None) -> np.ndarray:
    """The array that `listed` wrote. With `low` each number must be at least so large, with `above` it must be larger and finite."""
    array = np.array([float(value) for value in values], dtype=float)
    good = array >= low if low is not None else (array > above) & (array < np.inf) if above is not None else True
    if not np.all(good):
        raise ValueError(f"{array[~good][0]} is no possible number of its training")
    return array
