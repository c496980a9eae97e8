"""What every estimator shares: an engine made from its parameters, and what training made known."""

from __future__ import annotations

import inspect
import itertools
import numbers
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from structperc.basics.errors import no_attribute
from structperc.basics.labels import codes_of, plain_labels
from structperc.callbacks import progress
from structperc.engine.engine import Engine, is_fitted_name
from structperc.engine.fitted_names import FittedNames
from structperc.errors import DataError, OptionError, shortened
from structperc.estimators import keeping
from structperc.estimators.parameters import KERNEL_PLUGIN, Parameters
from structperc.fitting import plugins
from structperc.fitting.assembly import agreed
from structperc.fitting.model import NoAttribute
from structperc.fitting.option import Options, option, options_of, same
from structperc.fitting.option_values import read_plugins
from structperc.fitting.options import (
    ENGINE_OPTIONS,
    FitOptions,
    plugin_defaults,
)
from structperc.reading import matrices
from structperc.reading.column_faults import ColumnError, in_estimator
from structperc.reading.readers import Reader


class EstimatorOptions(Options):
    """What estimators have beside the options of their engine: kernels, which are a plugin, and options of plugins."""

    kernel: str | Callable | None = option(
        None, "weights that are a sum of the rows seen, which a kernel compares; None: weights of features",
        about='"linear", "polynomial", "rbf", "laplacian", "perceptron" or "stump" on rows of numbers. "precomputed" if X has kernel '
              'values, a column for each training row. "subset-tree" on trees or "subsequence" on strings, if X is a list of these. Or a '
              "function of two matrices that returns their kernel values, on lists of objects a function of two objects. Further options "
              "of kernels (budget, rows, length, ...) go into `plugin_options`.")
    gamma: float | str = option("scale", 'of "polynomial", "rbf" and "laplacian"',
                                about='"scale": 1 / (n_features * variance of X), "auto": 1 / n_features.')
    degree: int = option(3, 'of "polynomial"')
    coef0: float = option(0.0, 'the constant of "polynomial"')
    plugin_options: Mapping | None = option(
        None, "options that the plugins declare", about="An option of an installed plugin that is not in use, such as `one_hot` of "
                                                        '"table", brings the plugin. A grid or `set_params` reaches each as '
                                                        "`plugin_options__NAME`.")
    verbose: int = option(0, "1: show on standard error how training goes on",
                          about="This is a bar in terminals and notebooks, and in logs a line for every tenth.")


KERNEL_OPTIONS = ("gamma", "degree", "coef0")           # that are for a kernel only

ATTRIBUTES = """
    engine_ : Engine
        What was trained.
    classes_ : ndarray
        The labels in order.
    n_features_in_ : int
    n_iter_ : int
        Epochs that were run.
    temperature_ : float
        What scores are divided by where they become probabilities: 1 without `calibrate`.
    spread_ : float
        See `structperc.Engine`.
    mistakes_ : list of int
        Examples mispredicted during each epoch, before learning from them.
    status_ : str
        Why training ended: "converged", "stalled" (no step fixes the mistakes that are left), "max_epochs", "levelled_off",
        "early_stopped" or "interrupted".
    unused_parameters_ : tuple of str
        Parameters that were left out, since they have no effect beside the others: `C` with update="perceptron", `gamma` without a
        kernel. So a grid may cross any parameters; `structperc.Engine` raises an error instead. A parameter that you set and that a part in
        `plugins` ignores raises an error here too.
    support_, n_support_, support_vectors_, dual_coef_
        With a kernel, instead of `coef_`: the numbers of the support rows, how many these are, the rows themselves, and their
        coefficients of shape (`n_support_`, n_blocks)."""


def declared(cls):
    """Class decorator of an estimator: fills the shared texts into its docstring and sets its module to `structperc.estimators`.
    Returns a class. The same class.

    Examples
    --------
    >>> from structperc.estimators import PRank
    >>> PRank.__module__
    'structperc.estimators'
    >>> "{attributes}" in PRank.__doc__
    False
    """
    cls.__module__ = "structperc.estimators"
    for name, text in cls._texts.items():
        cls.__doc__ = cls.__doc__ and inspect.cleandoc(cls.__doc__).replace(f"{{{name}}}", inspect.cleandoc(text))
    return cls


class EngineEstimator(keeping.SavedEstimator, Parameters, FitOptions, EstimatorOptions, FittedNames):
    """An engine made from the parameters at each fit.

    `_untrained` names parameters that training does not see. `_labelled` is what has one label each, if outputs are made of labels.
    """

    export = keeping.export

    _texts: ClassVar[dict] = {"attributes": ATTRIBUTES}
    _untrained: ClassVar[tuple] = ("verbose",)
    _labelled: ClassVar[str | None] = None

    @property
    def n_iter_(self):
        return len(self._trained().mistakes_)

    def __dir__(self):
        trained = (*self.engine_.fitted_attributes(), "engine_", "n_iter_", "unused_parameters_") if "engine_" in vars(self) else ()
        return sorted({name for name in super().__dir__() if not is_fitted_name(name)}.union(trained))

    if not TYPE_CHECKING:           # else every name would pass

        def __getattr__(self, name):
            """What training made known: the engine's attributes."""
            if is_fitted_name(name):
                engine = self._trained()
                try:
                    return getattr(engine, name)
                except NoAttribute as error:
                    raise error.of(type(self).__name__) from None
            raise no_attribute(self, name)

    def __getstate__(self):
        return plugins.portable(vars(self))

    def __setstate__(self, state):
        vars(self).update(plugins.imported(state))

    # ---- between scikit-learn's ways and the engine's ----

    def _engine(self, **changed) -> Engine:
        """A new engine with these parameters."""
        options = {**self._options(), **changed}
        plugin_options = options.pop("plugin_options") or {}
        if not isinstance(plugin_options, Mapping):
            raise OptionError(f"plugin_options={shortened(plugin_options)}; expected a dict from names of options to their values, such as "
                              f"{{'budget': 100}}.")
        for name in plugin_options:
            if name in options:
                raise OptionError(f"plugin_options names {name!r}, which is a parameter of {type(self).__name__}; set it there.")
        own_plugins, unused = read_plugins("plugins", options["plugins"]), []
        if options["kernel"] is None:
            unused = self._drop_kernel(options)
        else:
            own_plugins = (KERNEL_PLUGIN, *own_plugins)
        options["plugins"] = (*brought(options["problem"], own_plugins, plugin_options), *own_plugins)
        for name in foreign(options):
            del options[name]
        if self.verbose:
            options["plugins"] = (*options["plugins"], progress())
        problem = options.pop("problem")
        engine = Engine(problem, **{name: value for name, value in options.items() if value is not None}, **plugin_options)
        self._unused = tuple(unused)
        return engine

    def _options(self) -> dict:
        """The options, also those that a constructor has set by itself."""
        return {name: getattr(self, name) for name in options_of(type(self)) if name not in self._untrained}

    def _trained_by(self) -> dict:
        """The parameters and options that training sees."""
        return {**self._options(), **{name: value for name, value in self.get_params(deep=False).items() if name not in self._untrained}}

    def _drop_kernel(self, options) -> list:
        """Leaves out the options that are only for kernels, and names what was set of them."""
        del options["kernel"]
        unused = []
        for name in KERNEL_OPTIONS:
            value, default = options.pop(name), options_of(type(self))[name].unset
            if not (same(value, default) or isinstance(value, numbers.Real) and value == default):
                unused.append(name)
        return unused

    def _train(self, engine, method, X, y, **data):
        """Keeps the engine once it has learned something, also when it was interrupted. It leaves out options without effect."""
        new = vars(self).get("engine_") is not engine
        if new:
            engine.needed = frozenset(filter(self._is_set, (*options_of(type(self)), *(self.plugin_options or ()))))
        try:
            getattr(engine, method)(X, y, **data)
            if new:
                self._check_trained(engine)
        except ColumnError as error:
            raise error.advised(in_estimator) from None
        except KeyboardInterrupt:
            if hasattr(engine, "status_"):
                self._keep(engine)
            raise
        finally:
            engine.needed = None
        return self._keep(engine)

    def _is_set(self, name) -> bool:
        """Whether the user has set an option, which is not at the estimator's own default."""
        return name in (self.plugin_options or ()) or not same(getattr(self, name), options_of(type(self))[name].unset)

    def _check_trained(self, engine) -> None:
        """Raises an error for an engine without labels, if the outputs of this estimator are made of labels."""
        if self._labelled is not None and not hasattr(engine, "classes_"):
            raise OptionError(f"{type(self).__name__} predicts one label per {self._labelled}, but the outputs of "
                              f"problem={engine.problem!r} have no labels; use structperc.Engine({engine.problem!r}).")

    def _keep(self, engine):
        if vars(self).get("engine_") is not engine:
            self._unused = (*self._unused, *engine.unused)
            keeping.note(self, engine)
            kept = {"engine_": engine, "_trained_with": self._trained_by(), "unused_parameters_": self._unused}
            vars(self).update(kept)         # all of them at once, whenever Ctrl-C comes
        return self

    def _trained(self) -> Engine:
        return self._from_fit("engine_", "fit or partial_fit")

    def _refuse_changes(self) -> None:
        """A parameter that was changed since training began would be ignored."""
        before = self._trained_with
        now = map(getattr, itertools.repeat(self), before)
        for name in itertools.compress(before, map(operator.is_not, now, before.values())):     # no Python for each parameter of each call
            if not same(getattr(self, name), before[name]):
                raise OptionError(f"{name} was {before[name]!r} when training began and is {getattr(self, name)!r} now. partial_fit "
                                  f"continues with the former value: set it back, or begin anew with fit or a clone.")

    def _continued(self, classes) -> Engine:
        """The engine for partial_fit, a new one at the first call; `classes` are those that the call names."""
        engine = vars(self).get("engine_")
        if engine is None:
            return self._engine(classes=agreed(classes, self.classes, "the option classes"))
        agreed(classes, engine.classes_, "the earlier calls")
        self._refuse_changes()
        return engine

    def _refuse_strangers(self, y) -> None:
        """Labels none of which this estimator can predict, such as numbers for strings, are no fair test."""
        known = list(codes_of(self.classes_))
        if not any(label in known for label in y):
            labels = plain_labels(self.classes_)
            raise DataError(f"y has none of the labels {labels[:5]} that this {type(self).__name__} predicts. It has for instance "
                            f"{y[0]!r}; pass labels of the same kind as in training.")

    def _compare(self, X) -> None:
        """Raises an error for another number of features, and warns if only one side has names; the engine compares names."""
        model = self.engine_.model_
        n_features = self.engine_.n_features_in_ if type(model.parts.reader) is Reader else 0       # other readers make columns
        compare_columns(self, X, n_features or None, model.context.feature_names is not None, 5)        # 0 of objects

    def __sklearn_tags__(self):
        """What scikit-learn's tools should know; for structures it has no type of estimator."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.input_tags.pairwise = not self._compares_columns(), self._compares_columns()
        return tags

    def _compares_columns(self) -> bool:
        """Whether X holds kernel values, so that folds cut its columns as well."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"


def brought(problem, own_plugins, plugin_options) -> tuple:
    """The plugins that options of plugins ask for: of each option that no plugin in use has, the installed one that has it."""
    if not plugin_options:
        return ()
    declared = plugin_defaults([plugins.load(plugin) for plugin in (problem, *own_plugins)])
    parts = [plugins.parts_with(name) for name in plugin_options if name not in declared]
    return tuple(dict.fromkeys(part_and_option[0] for part_and_option in parts if part_and_option and part_and_option[0] != KERNEL_PLUGIN))


def foreign(options) -> list:
    """The options that neither the engine nor a plugin in use has: parameters of a subclass, which it uses itself."""
    problem, others = options["problem"], [name for name in options if name != "problem" and name not in ENGINE_OPTIONS]
    if isinstance(problem, str) and all(name in plugins.load(problem).options for name in others):
        return []
    of_plugins = plugin_defaults([plugins.load(plugin) for plugin in (problem, *options["plugins"])])
    return [name for name in others if name not in of_plugins]


def compare_columns(estimator, X, n_features, has_names, stacklevel) -> None:
    """Raises an error for another number of features than `n_features`, if that is set. Warns if only one side has names."""
    name, shape = type(estimator).__name__, getattr(X, "shape", ())
    if type(X) is np.ndarray and not has_names and n_features in (None, *shape[1:]):
        return
    tables = matrices.as_objects(X)
    names = matrices.column_names(tables[0] if isinstance(tables, (list, tuple)) and tables and matrices.is_block(tables[0]) else X)
    if len(shape) == 2 and n_features not in (None, shape[1]):
        differences = matrices.other_columns(names, estimator.feature_names_in_ if has_names else None)
        raise DataError(f"X has {shape[1]} features, but {name} is expecting {n_features} features as input{differences}. Pass the columns "
                        f"that it was trained with, in the same order.")
    if names is None and has_names:
        warnings.warn(f"X does not have valid feature names, but {name} was fitted with feature names.", UserWarning, stacklevel)
    if names is not None and not has_names:
        warnings.warn(f"X has feature names, but {name} was fitted without feature names.", UserWarning, stacklevel)


def weighted_mean(values, sample_weight) -> float:
    weights = matrices.sample_weights(sample_weight, len(values))
    if weights is not None and not weights.any():
        raise DataError("all sample weights are 0, so there is nothing to average.")
    return float(np.average(values, weights=weights))
