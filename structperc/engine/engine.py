"""The engine: names its plugins, asks each for its part, and drives the parts over data."""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from structperc.basics.errors import NotFittedError, OptionError, OptionErrors, PluginError, no_attribute, shortened
from structperc.engine import documents, predictions
from structperc.engine.calls import CheckedCalls
from structperc.engine.engine_core import EngineCore
from structperc.engine.fitted_names import FittedNames
from structperc.fitting import plugins as registry
from structperc.fitting.builtin import BuiltinParts
from structperc.fitting.citations import bibliography, parts_in_use
from structperc.fitting.model import Model, NoAttribute
from structperc.fitting.option import options_of, same
from structperc.fitting.options import EngineOptions, changed_options, check_plugin_options, given_parts, read_given
from structperc.fitting.presets import settle

if TYPE_CHECKING:
    from typing_extensions import Self


BUILTIN = registry.Plugin("builtin", BuiltinParts(), "structperc")
REQUIRED = ("structperc_outputs", "structperc_features", "structperc_argmax")


class Engine(EngineCore, CheckedCalls, EngineOptions, FittedNames):
    """Structured prediction with replaceable parts: the class behind all estimators.

    An engine trains a linear or kernel model online and predicts the structure with the largest score. Options of the plugins are further
    parameters.

    Parameters
    ----------
    problem : str or plugin object
        The plugin that defines the problem, such as "cusum", "prank", "multiclass" or "sequence". The command `structperc plugins` lists
        all.

    Attributes
    ----------
    mistakes_ : list of int
        Number of mispredicted examples in each epoch. `partial_fit` adds to one entry from call to call.
    cumulative_loss_ : float
        Sum of the losses of all predictions made during training. With "log-loss" and "adagrad-log-loss": sum of -log p(gold output).
    online_predictions_ : ndarray
        With record_predictions=True: the predictions before each step, in the order of visits.
    history_ : list of Visit
        With history=True: visit, example, gold and predicted output, and step of each visited example, in the order of visits.
    status_ : str
        Why training ended. "converged": an epoch without update and without mistake. "stalled": an epoch without update, although
        mistakes are left. Others: "max_epochs", "levelled_off", "early_stopped", "interrupted".
    temperature_ : float
        Divisor of scores in probabilities; 1 without `calibrate`.
    spread_ : float
        Of ordered labels whose scores are in no order: how far probability spreads around the prediction. 0 without `calibrate`.
    classes_ : ndarray
        The labels in order.
    notes : dict
        Your own data to save with the model: texts, numbers, lists and dicts of these. The commands note the target and the form of the
        data there.
    coef_, intercept_, thresholds_, ...
        As the plugin documents.

    Raises
    ------
    PluginError
        If no such plugin is installed, or plugins do not fit together.
    OptionError
        If an option is unknown, or its value is not allowed.

    See Also
    --------
    structperc.estimators.CuSumRank, structperc.estimators.PRank : ordered labels with scikit-learn's interface.
    structperc.estimators.SequenceTagger : labels of tokens.
    structperc.estimators.StructuredEstimator : any problem with scikit-learn's interface.

    Examples
    --------
    >>> from structperc import Engine
    >>> X, y = [[-2.0], [-1.0], [0.5], [2.0]], ["low", "low", "middle", "high"]
    >>> engine = Engine("cusum", classes=["low", "middle", "high"], random_state=0).fit(X, y)
    >>> engine.predict([[-3.0], [3.0]]).tolist()
    ['low', 'high']
    >>> engine.epochs, engine.average, Engine("cusum", preset="paper").epochs
    (20, True, 1)
    """

    _further: ClassVar[str] = "plugin_options"

    def __init__(self, problem=None, *unnamed, **plugin_options) -> None:
        if unnamed:
            raise OptionError(f"Engine got {shortened(unnamed[0])} without a name; write Engine({shortened(problem)}, "
                              f"NAME={shortened(unnamed[0])}).")
        if problem is None:
            raise PluginError("an engine needs a problem first: Engine('cusum'), for instance; `structperc plugins` lists them all.")
        declared = options_of(type(self))
        passed = {name: plugin_options.pop(name) for name in (*plugin_options,) if name in declared}
        errors = OptionErrors()
        own = read_given(declared, {name: value for name, value in passed.items() if value is not declared[name].unset}, errors)
        if "plugins" in passed and "plugins" not in own:
            errors.raise_all()          # without plugins their options are unknown
        self.problem = problem
        super().__init__(**own)
        parts = given_parts(self)
        self.loaded_plugins = [BUILTIN, *(registry.load(p) for p in (problem, *self.plugins, *parts.values()))]
        for (name, part), plugin in zip(parts.items(), self.loaded_plugins[2 + len(self.plugins):], strict=True):
            if plugin.hooks != (f"structperc_{name}",):
                raise OptionError(f"{name}={shortened(part)}; expected a name, or an object of a subclass of "
                                  f"structperc.components.{name.title()}. Other parts go into plugins=[...].")
        self.plugin_options = check_plugin_options(self.loaded_plugins, plugin_options, registry.options_of_parts, errors)
        errors.raise_all()
        self.chosen = frozenset((*own, *plugin_options))        # options that the user has set, also to the values of the preset
        self.preset_values = settle(self, own, plugin_options)
        self.manager = registry.manager(self.loaded_plugins)
        for hook in REQUIRED:
            if not getattr(self.manager.hook, hook).get_hookimpls():
                names = ", ".join(p.name for p in self.loaded_plugins[1:])
                own = [name for name in REQUIRED if name in self.loaded_plugins[1].hooks]
                raise PluginError(f"no part for {hook}: none of the plugins ({names}) implements it. "
                                  + (f"A problem implements {', '.join(REQUIRED)}; {self.loaded_plugins[1].origin} has {' and '.join(own)}."
                                     if own else "Name a problem first, for instance Engine('cusum', plugins=[...])."))
        self.reader_ahead = None    # a reader that has seen more than the first data, for the next training
        self.needed = None          # options that raise an error if a plugin replaces them; None: all that have no effect do
        self.unused = ()            # options that were left out of the last training
        self.answered = {}          # the last plugin that has returned a part for each hook
        self.reads = {}             # the options that each kind of part has read
        self.notes = {}

    def _begin(self, problem, options, own) -> Self:
        """Does what the constructor does, with all options, and without a constructor of a subclass. `own` are parameters of that one."""
        Engine.__init__(self, problem, **options)
        vars(self).update({name: own[name] for name in own_names(type(self)) if name in own})
        return self

    def _like(self, **options) -> Self:
        """An untrained engine of the same class and problem."""
        return type(self).__new__(type(self))._begin(self.problem, options, self._own_parameters())

    def _own_parameters(self) -> dict:
        """The parameters of a subclass's own constructor that are no options, where it keeps them."""
        return {name: vars(self)[name] for name in own_names(type(self)) if name in vars(self)}

    # ---- training ----

    def stop(self) -> None:
        """Stop training after this epoch. For callbacks. Raises `NotFittedError` if the engine is not being trained."""
        if self.run is None:
            raise NotFittedError("stop() was called while nothing is being trained; call it from structperc_epoch_end.")
        self.run.stop_requested = True

    def keep_weights(self) -> None:
        """Mark the current weights as the result of online training, until the next call. For callbacks.

        Cost: a copy of the weights. After Ctrl-C, and with trainers that solve one problem over all examples, the last weights remain the
        result. Raises `NotFittedError` if the engine is not being trained.
        """
        if self.run is None:
            raise NotFittedError("keep_weights() was called while nothing is being trained; call it from structperc_epoch_end.")
        self.run.keep_weights()

    # ---- what a trained model answers: functions of structperc/engine/predictions.py and documents.py ----

    @property
    def model_(self) -> Model:
        """What training made; its methods read X once and score it."""
        model = self.model
        if model is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit or partial_fit first.")
        return model

    read = predictions.read
    predict_rows = predictions.predict_rows
    predict_k_best = predictions.predict_k_best
    log_probability = predictions.log_probability
    margins = predictions.margins
    optimality_gaps = predictions.optimality_gaps
    predict_marginals = predictions.predict_marginals
    atom_scores = predictions.atom_scores
    label_scores = predictions.label_scores
    predict_proba = predictions.predict_proba
    explain = predictions.explain
    card = documents.card
    export = documents.export

    # ---- what was learned ----

    @property
    def parts_(self) -> Any:
        """The components in use: reader, outputs, features, argmax, loss, update, weights and trainer."""
        return self.model_.parts

    @property
    def mistakes_(self) -> list[int]:
        return self.model_.record("mistakes")

    @property
    def cumulative_loss_(self) -> float:
        return self.model_.record("loss")

    @property
    def status_(self) -> str:
        return self.model_.record("status")

    @property
    def temperature_(self) -> float:
        return self.model_.record("temperature")

    @property
    def spread_(self) -> float:
        return self.model_.record("spread")

    @property
    def classes_(self) -> np.ndarray:
        labels = self.model_.context.labels
        if labels is None:
            raise AttributeError("the outputs of this problem have no labels, hence no classes_; scikit-learn's cross_val_predict takes "
                                 "method=\"predict\".")
        return np.asarray(labels)

    @property
    def n_features_in_(self) -> int:
        model = self.model_
        return model.parts.reader.input_columns().count(model.context.n_features)

    def feature_name(self, j) -> str:
        """The name of a column, as `explain` shows it: that of X, the one of the reader, or x[j].

        Parameters
        ----------
        j : int
            Column, from 0.
        """
        return self.model_.feature_name(j)

    @property
    def online_predictions_(self) -> np.ndarray:
        online = self.model_.record("online")
        if online is None:
            raise AttributeError("online_predictions_ is kept only by fit and partial_fit with record_predictions=True.")
        return np.concatenate(online) if online else np.empty(0, dtype=object)

    @property
    def history_(self) -> list[Any]:
        history = self.model_.record("history")
        if history is None:
            raise AttributeError("history_ is kept only by fit and partial_fit with history=True.")
        return history

    if not TYPE_CHECKING:           # else every name would pass

        def __getattr__(self, name):
            """Fitted attributes that the parts document, such as coef_ and thresholds_."""
            model = self.model
            if is_fitted_name(name):
                if name == "model_":
                    return type(self).model_.fget(self)
                if model is None:
                    raise NotFittedError(f"this {type(self).__name__} is not fitted yet, so it has no {name}; call fit or partial_fit "
                                         f"first.")
                if name == "feature_names_in_" and model.context.feature_names is not None:
                    return np.array(model.parts.reader.input_columns().names(model.context.feature_names), dtype=object)
                own = getattr(type(self), name, None)
                if isinstance(own, property):
                    return own.fget(self)       # a property that raised AttributeError: once more, for its sentence
                try:
                    return model.attribute(name)
                except NoAttribute as error:
                    raise error.of(f"Engine({shortened(self.problem)})").listing(self.fitted_attributes) from None
            raise no_attribute(self, name)

    def fitted_attributes(self) -> list[str]:
        """Names of the fitted attributes. Returns a list of str. Sorted; empty before training."""
        model = self.model
        if model is None:
            return []
        own = {name for name in dir(type(self)) if is_fitted_name(name) and self._answers(getattr(type(self), name))}
        of_columns = {"feature_names_in_"} if model.context.feature_names is not None else set()
        return sorted(own | of_columns | model.attributes().keys())

    def _answers(self, attribute) -> bool:
        """Whether a property knows a value now."""
        try:
            attribute.fget(self)
        except AttributeError:
            return False
        return True

    def __dir__(self):
        return sorted({name for name in super().__dir__() if not is_fitted_name(name)} | set(self.fitted_attributes()))

    def citation(self) -> str:
        """BibTeX of the methods in use, one entry for each key."""
        return bibliography([*self.loaded_plugins[1:], *parts_in_use(self)])

    # ---- persistence ----

    def save(self, path) -> None:
        """Write the trained model to one file, without pickle. Raises `NotFittedError` before `fit`.
        Raises `ModelFormatError` if a part cannot be saved.
        See also `load` (read the file) and `export` (files that need no structperc).

        Parameters
        ----------
        path : path or file opened for bytes
            The file appears only when it is complete.
        """
        from structperc.engine.model_file import save

        save(self, path)

    @classmethod
    def load(cls, path, plugins=(), **options) -> Self:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : path or file opened for bytes
            The model file.
        plugins : sequence of plugin objects or components
            Unnamed objects that you passed to the constructor.
        **options
            Functions that you passed to the constructor as options, such as a kernel; a model file has only their names.

        Raises
        ------
        ModelFormatError
            If the file is damaged, or no model file.
        PluginError
            If a plugin of the model is not installed.
        OptionError
            If an object or function that the model needs is missing.
        OSError
            If the file cannot be read.

        Examples
        --------
        >>> import tempfile
        >>> from structperc import Engine
        >>> with tempfile.NamedTemporaryFile(suffix=".model") as file:
        ...     Engine("cusum", epochs=9).fit([[0.0], [1.0], [2.0]], [1, 2, 3]).save(file)
        ...     _ = file.seek(0)
        ...     engine = Engine.load(file)
        >>> engine.predict([[0.0], [2.0]]).tolist()
        [1, 3]
        """
        from structperc.engine.model_file import load

        return load(cls, path, plugins, options)

    def __reduce__(self):
        return copyreg.__newobj__, (type(self),), self.__getstate__()

    def __getstate__(self):
        from structperc.engine.model_file import remembered

        return remembered(self)

    def __setstate__(self, state):
        from structperc.engine.model_file import set_state

        set_state(self, state)

    def _repr_html_(self):
        from structperc.engine.cards import engine_card

        return engine_card(self)

    def __repr__(self):
        parameters, values = type(self).__signature__.parameters, {**changed_options(self), **self._own_parameters()}
        shown = {"problem": self.problem, **values} if next(iter(parameters), None) != "problem" else values
        changed = [f"{name}={value!r}" for name, value in shown.items()
                   if (not same(value, parameters[name].default) if name in parameters else self._further in parameters)]
        return f"{type(self).__name__}({', '.join([*([repr(self.problem)] if shown is values else []), *changed])})"


def own_names(cls) -> list[str]:
    """The parameters of a subclass's own constructor that are no options."""
    return [name for name in cls.__signature__.parameters if name not in ("problem", cls._further) and name not in options_of(cls)]


Engine.__module__ = "structperc"        # the address that users see and pickles have


def is_fitted_name(name) -> bool:
    """Whether a name is one of what training makes known."""
    return name.endswith("_") and not name.startswith("_")


def engine_of(model, needed_for) -> Engine:
    """An engine, or the trained one of an estimator."""
    try:
        return model if isinstance(model, Engine) else model.engine_
    except NotFittedError:
        raise
    except AttributeError:
        raise OptionError(f"{type(model).__name__} has no engine_, which {needed_for} needs. Pass a fitted engine, or a fitted estimator "
                          f"that has one, such as PRank.") from None
