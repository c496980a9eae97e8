"""The engine: names its plugins, asks each for its part, and drives the parts over data."""

from __future__ import annotations

import difflib
import numbers

import attrs
import numpy as np

from structperc import data as reading
from structperc import registry
from structperc.core.adapters import bound, overrides
from structperc.core.errors import DataError, NotFittedError, OptionError, PluginError
from structperc.core.loop import Loop, NotFinite
from structperc.defaults import Defaults
from structperc.task import Task
from structperc.training import INTERRUPTED, OnlineTrainer, visiting_order

DEFAULTS = registry.Plugin("defaults", Defaults(), "structperc")
REQUIRED = ("structperc_outputs", "structperc_features", "structperc_argmax")
CHUNK_VALUES = 1 << 20      # values of X that a prediction looks at at a time


@attrs.define(eq=False)
class Parts:
    """The components of one fit."""

    outputs: object
    features: object
    argmax: object
    loss: object
    update: object
    weights: object
    trainer: object


@attrs.define(eq=False)
class Fitted:
    """Everything that training makes; an engine has one, or none."""

    task: Task
    parts: Parts
    loop: Loop
    mistakes: list = attrs.field(factory=list)
    loss: float = 0.0
    status: str | None = None
    online: list | None = None
    weighted: bool = False          # whether sample weights were ever given
    streaming: bool = False         # whether the last entry of mistakes belongs to partial_fit


class Engine:
    """Trains a predictor of structures online.

    Parameters
    ----------
    problem : str or plugin object
        The plugin that defines the problem: "cusum", "prank", "multiclass", or a stranger's.
    update : str, default "perceptron"
        The update rule: "perceptron", "pa", "pa1", "pa2", or a plugin's.
    loss : str, (r, r) array or None, default None
        What a wrong prediction costs: "absolute", "squared", "zero-one", "hamming", a matrix of costs (row: right label,
        column: predicted label), or "costs" for each example's own (`fit(..., costs=)`). None: the problem's own (absolute
        for ranks, zero-one for classes, hamming for sets of atoms).
    margin : float, default 1.0
        Passive-aggressive updates require the margin `margin * loss`.
    augment : float, default 0.0
        Learn from the structure that maximises score + augment * loss instead of from the prediction.
    C : float, default 1.0
        Aggressiveness of "pa1" and "pa2": the largest step, and the weight of the squared slack.
    epochs : int, default 1
        Passes over the data; an epoch without update ends training before.
    average : bool, default False
        Predict with the mean of the weights after each visited example.
    decay : float in [0, 1), default 0.0
        Each update first multiplies the weights by 1 - decay.
    shuffle : bool, default False
        Visit the examples in a new random order each epoch.
    random_state : None, int, numpy Generator or RandomState
        Seed of the one generator of a fit. The same int gives the same bits.
    fit_intercept : bool, default True
        Adds a constant feature without copying X (problems with thresholds have none).
    classes : list, optional
        The labels in order, fixed before data arrive; otherwise what y holds, and an ordered categorical keeps its order.
    plugins : sequence of names, plugin objects or components
        Further plugins; a later one replaces single hot spots of an earlier one.
    **plugin_options
        Options that the plugins declare.

    Attributes
    ----------
    mistakes_ : list of int
        Examples mispredicted during each epoch; partial_fit counts into one entry from call to call.
    cumulative_loss_ : float
        Sum of the losses of all online predictions.
    online_predictions_ : ndarray
        After fit(..., keep_online=True): the predictions made before each step, epoch after epoch, in the order of visiting.
    status_ : str
        Why training ended: "converged", "max_epochs", "early_stopped" or "interrupted".
    classes_ : ndarray
        The labels in order.
    coef_, intercept_, thresholds_, ...
        What the plugin documents.

    Raises
    ------
    PluginError, OptionError

    Examples
    --------
    >>> from structperc import Engine
    >>> X, y = [[-2.0], [-1.0], [0.5], [2.0]], ["low", "low", "middle", "high"]
    >>> engine = Engine("cusum", epochs=20, classes=["low", "middle", "high"]).fit(X, y)
    >>> engine.predict([[-3.0], [3.0]]).tolist()
    ['low', 'high']
    >>> engine.status_
    'converged'
    """

    def __init__(self, problem, *, update="perceptron", loss=None, margin=1.0, augment=0.0, C=1.0, epochs=1, average=False,
                 decay=0.0, shuffle=False, random_state=None, fit_intercept=True, classes=None, plugins=(), **plugin_options):
        self.problem = problem
        self.update, self.loss, self.margin, self.augment, self.C = update, loss, margin, augment, C
        self.epochs, self.average, self.decay, self.shuffle = epochs, average, decay, shuffle
        self.random_state, self.fit_intercept, self.classes = random_state, fit_intercept, classes
        if isinstance(plugins, str) or not hasattr(plugins, "__iter__"):
            raise OptionError(f"plugins={plugins!r}; expected a list of names or plugin objects.")
        self.plugins = tuple(plugins)
        check_options(self)
        self._plugins = [DEFAULTS, *(registry.load(p) for p in (problem, *self.plugins))]
        self.plugin_options = check_plugin_options(self._plugins, plugin_options)
        self._manager = registry.manager(self._plugins)
        for hook in REQUIRED:
            if not getattr(self._manager.hook, hook).get_hookimpls():
                names = ", ".join(p.name for p in self._plugins[1:])
                raise PluginError(f"no part for {hook}: none of the plugins ({names}) answers it. Name a problem first, "
                                  f"for instance Engine('cusum', plugins=[...]).")
        self._fitted = None
        self._session = None

    # ---- training ----

    def fit(self, X, y, *, offsets=None, sample_weight=None, costs=None, keep_online=False):
        """Trains from nothing.

        Parameters
        ----------
        X : array-like (n_rows, n_features), sparse matrix, data frame, or list of blocks or objects
            C-ordered float32/float64 and CSR are read in place.
        y : sequence
            One output per example, as the problem's outputs take them.
        offsets : array of int, optional
            Rows offsets[i]:offsets[i+1] of X are example i; without it each row is one.
        sample_weight : array of shape (n_examples,), optional
            Scales the perceptron's step and the C of pa1 and pa2; 0 is as if the example were absent.
        costs : array of shape (n_examples, n_labels), optional
            Each example's costs, for loss="costs".
        keep_online : bool
            Keep the predictions made before each step, in `online_predictions_`.

        Returns
        -------
        Engine
            Itself. A failed fit leaves it as it was; Ctrl-C keeps what was learned, sets `status_` and is raised again.
        """
        rows = reading.read(X, offsets)
        fitted = self._begin(rows, y)
        random = fitted.task.random.bit_generator.state
        session = Session(self, fitted, rows, y, sample_weight, costs)
        session.online = fitted.online = [] if keep_online else None
        before, self._fitted, self._session = self._fitted, fitted, session
        try:
            fitted.parts.trainer.train(session)
            if not fitted.parts.weights.finite():
                raise overflow()
            fitted.status = session.status
        except KeyboardInterrupt:
            fitted.status = INTERRUPTED
            raise
        except BaseException:
            self._fitted = before
            fitted.task.random.bit_generator.state = random
            raise
        finally:
            self._session = None
        return self

    def partial_fit(self, X, y, *, offsets=None, sample_weight=None, costs=None):
        """One pass over a chunk of a stream, continuing from what was learned; parameters as in `fit`.

        The first call fixes the features and, unless `classes` names them, the labels.
        """
        rows = reading.read(X, offsets)
        fitted = self._fitted
        if fitted is None:
            fitted = self._begin(rows, y)
        else:
            check_same(fitted.task, rows)
            make_room(fitted, rows)
        session = Session(self, fitted, rows, y, sample_weight, costs)
        weights = fitted.parts.weights
        token = weights.checkpoint(rows)
        random = fitted.task.random.bit_generator.state if fitted.task.shuffle else None
        if not fitted.streaming:
            fitted.mistakes.append(0)
        mistakes, loss = fitted.mistakes[-1], fitted.loss
        try:
            passed = session.run(visiting_order(fitted.task, session.active, session.n_examples))
            if passed.updates and not weights.finite(token):
                raise overflow()
        except KeyboardInterrupt:
            self._fitted, fitted.streaming, fitted.status = fitted, True, INTERRUPTED
            raise
        except BaseException:
            weights.roll_back(token)
            if random is not None:
                fitted.task.random.bit_generator.state = random
            fitted.mistakes[-1], fitted.loss = mistakes, loss
            if not fitted.streaming:
                fitted.mistakes.pop()
            raise
        self._fitted, fitted.streaming, fitted.online = fitted, True, None
        fitted.status = "max_epochs" if passed.updates else "converged"
        return self

    def stop(self):
        """Asks the training that is under way to end after this epoch; for observers."""
        if self._session is None:
            raise NotFittedError("stop() was called while nothing is being trained; call it from structperc_epoch_end.")
        self._session.stop_requested = True

    def _begin(self, rows, y) -> Fitted:
        """New parts for a new data set, checked against each other."""
        task = attrs.evolve(self._task(generator(self.random_state)), n_features=rows.n_features, sparse=rows.sparse,
                            objects=rows.objects, feature_names=rows.feature_names)
        outputs = self._ask("structperc_outputs", task)
        labels = outputs.find_labels(y, self.classes)
        return self._assemble(task, outputs, labels, rows)

    def _task(self, random) -> Task:
        """The options, before data are known."""
        return Task(n_features=0, sparse=False, objects=False, update=self.update, loss=self.loss, margin=float(self.margin),
                    augment=float(self.augment), C=float(self.C), epochs=int(self.epochs), average=bool(self.average),
                    decay=float(self.decay), shuffle=bool(self.shuffle), fit_intercept=bool(self.fit_intercept),
                    options=self.plugin_options, random=random)

    def _assemble(self, task, outputs, labels, rows=None) -> Fitted:
        task = attrs.evolve(task, labels=labels, loss=outputs.default_loss if task.loss is None else task.loss)
        parts = Parts(outputs, *(self._ask(f"structperc_{hook}", task)
                                 for hook in ("features", "argmax", "loss", "update", "weights", "trainer")))
        parts.argmax.width = outputs.width
        parts.loss.start(outputs, task)
        parts.weights.start(bound(parts.features), task)
        check_parts(task, parts)
        fitted = Fitted(task, parts, Loop(parts, task.augment))
        if rows is not None:
            make_room(fitted, rows)
        return fitted

    def _ask(self, hook, task):
        component = registry.ask(self._manager, self._plugins, hook, task)
        if component is None:
            raise unanswered(self._plugins, hook, task)
        return component

    # ---- prediction ----

    def _ready(self) -> Fitted:
        if self._fitted is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit or partial_fit first.")
        return self._fitted

    def _scored(self, X, offsets):
        """Chunks of rows, each with its atom scores where one product gives them all."""
        fitted = self._ready()
        rows = reading.read(X, offsets)
        check_same(fitted.task, rows)
        fitted.parts.features.check_rows(rows)
        parts = fitted.parts
        product = not (overrides(parts.weights, "scores") and not overrides(parts.weights, "batch_scores")
                       or overrides(parts.features, "scores") and not overrides(parts.features, "batch_scores"))
        if rows.offsets is not None or rows.objects or not product:
            yield fitted, rows, None, 0
            return
        step = max(1, CHUNK_VALUES // max(1, rows.n_features)) if not rows.sparse else max(rows.n_rows, 1)
        for start in range(0, rows.n_rows, step):
            part = rows if step >= rows.n_rows else reading.Rows(rows.X[start:start + step])
            with np.errstate(all="ignore"):     # what overflows is found in the scores
                scores = parts.weights.batch_scores(part)
            if scores is None:
                yield fitted, rows, None, 0
                return
            scores = np.ascontiguousarray(scores, dtype=float)
            if not np.isfinite(scores).all():
                raise not_finite(part, int(np.argmax(~np.isfinite(scores).all(axis=1))), start)
            yield fitted, part, scores, start

    def predict(self, X, *, offsets=None):
        """The structure of largest score for each example, as labels or as the problem's outputs decode them."""
        found = []
        for fitted, rows, scores, start in self._scored(X, offsets):
            try:
                answers = fitted.loop.predict(rows, scores, fitted.parts.weights.final())
            except NotFinite as error:
                raise not_finite(rows, error.index, start) from None
            found.append(fitted.parts.outputs.decode_many(answers))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def atom_scores(self, X, *, offsets=None):
        """The scores w . phi(x, a): (n_examples, n_atoms), or a list of arrays when examples differ in their atoms."""
        found = []
        for fitted, rows, scores, _ in self._scored(X, offsets):
            if scores is None:
                final = fitted.parts.weights.final()
                scores = [final.scores(rows.example(i)) for i in range(rows.n_examples)]
                for i, one in enumerate(scores):
                    if not np.isfinite(one).all():
                        raise not_finite(rows, i)
                if fitted.parts.features.fixed_atoms < 0:
                    return scores
                scores = np.array(scores)
            found.append(scores)
        return np.concatenate(found)

    def explain(self, x):
        """Why x got its prediction: the winner's score minus the runner-up's, split exactly by atom and feature."""
        from structperc.explanation import explain

        return explain(self, x)

    # ---- what was learned ----

    @property
    def parts_(self):
        """The components in use: outputs, features, argmax, loss, update, weights and trainer."""
        return self._ready().parts

    @property
    def mistakes_(self):
        return list(self._ready().mistakes)

    @property
    def cumulative_loss_(self):
        return self._ready().loss

    @property
    def status_(self):
        return self._ready().status

    @property
    def classes_(self):
        labels = self._ready().task.labels
        if labels is None:
            raise AttributeError("the outputs of this problem have no labels, hence no classes_.")
        return labels

    @property
    def n_features_in_(self):
        return self._ready().task.n_features

    @property
    def online_predictions_(self):
        fitted = self._ready()
        if fitted.online is None:
            raise AttributeError("online_predictions_ is kept only by fit(..., keep_online=True).")
        if fitted.parts.outputs.width == 1:
            codes = np.concatenate(fitted.online) if fitted.online else np.zeros(0, dtype=np.intc)
            return fitted.parts.outputs.decode_many(codes)
        return fitted.parts.outputs.decode_many(fitted.online)

    def __getattr__(self, name):
        """Fitted attributes that the parts document, such as coef_ and thresholds_."""
        fitted = self.__dict__.get("_fitted")
        if name.endswith("_") and not name.startswith("_"):
            if fitted is None:
                raise NotFittedError(f"{name} is known after fit or partial_fit.")
            if name == "feature_names_in_" and fitted.task.feature_names is not None:
                return np.array(fitted.task.feature_names, dtype=object)
            parts = fitted.parts
            own = getattr(type(self), name, None)
            if isinstance(own, property):
                return own.fget(self)       # a property that raised AttributeError: once more, for its sentence
            for part in (parts.trainer, parts.weights, parts.features, parts.outputs):
                known = part.attributes(parts.weights) if hasattr(part, "attributes") else {}
                if name in known:
                    return known[name]()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def citation(self) -> str:
        """BibTeX of exactly the methods in use."""
        entries = [p.citation for p in self._plugins[1:]]
        if self._fitted is not None:
            used = attrs.astuple(self._fitted.parts, recurse=False)
        else:
            used = [registry.ask(self._manager, self._plugins, "structperc_update", self._task(None))]
        entries += [getattr(part, "citation", "") for part in used]
        unique = dict.fromkeys(e.strip() for e in entries if e)
        return "\n\n".join(unique)

    # ---- persistence ----

    def save(self, path):
        """Writes the trained model to one file without pickle; see `structperc.persistence`."""
        from structperc.persistence import save

        save(self, path)

    @classmethod
    def load(cls, path, plugins=()):
        """Reads a model that `save` wrote. `plugins`: the objects that were passed to the constructor and have no name."""
        from structperc.persistence import load

        return load(path, plugins)

    def __reduce__(self):
        from structperc.persistence import pickled

        return pickled(self)

    def __repr__(self):
        shown = {name: getattr(self, name) for name, default in OPTION_DEFAULTS.items()
                 if not same(getattr(self, name), default)}
        shown.update({k: v for k, v in self.plugin_options.items() if v != plugin_defaults(self._plugins)[k].default})
        return f"Engine({', '.join([repr(self.problem), *(f'{k}={v!r}' for k, v in shown.items())])})"


class Session:
    """One training run: the data, what to visit and what to record. Trainers drive it."""

    __slots__ = ("engine", "fitted", "task", "rows", "gold", "weights", "active", "online", "status", "stop_requested")

    def __init__(self, engine, fitted, rows, y, sample_weight, costs):
        self.engine, self.fitted, self.task = engine, fitted, fitted.task
        self.weights = self.active = self.online = self.status = None
        self.stop_requested = False
        parts = fitted.parts
        self.gold = parts.outputs.encode(y, rows)
        parts.outputs.check_gold(self.gold, rows, parts.features)
        if sample_weight is None and fitted.weighted:
            sample_weight = 1.0                 # the parts compare it with earlier weights
        if sample_weight is not None:
            self._weigh(reading.sample_weights(sample_weight, rows.n_examples))
        if costs is not None or hasattr(parts.loss, "attach"):
            attach_costs(parts.loss, costs, self.gold, rows.n_examples)
        if rows.sparse and self.task.update != "perceptron":
            X = reading.canonical(rows.X)       # norms need each feature once
            rows = rows if X is rows.X else reading.Rows(X, rows.offsets)
        self.rows = rows

    def _weigh(self, weights):
        check_weights(self.task, self.fitted.parts, weights)
        if not weights.all():
            self.active = np.flatnonzero(weights)
            if len(self.active) == 0:
                raise DataError("all sample weights are zero, so there is nothing to learn from.")
        if not (weights == 1).all():
            self.weights = weights
        self.fitted.weighted = True

    @property
    def n_examples(self):
        return self.rows.n_examples

    def run(self, order=None):
        """One pass; records what happened, also when it is cut short."""
        fitted = self.fitted
        try:
            passed = fitted.loop.run(self.rows, self.gold, order, self.weights, self.online)
        except NotFinite as error:
            raise not_finite(self.rows, error.index) from None
        except KeyboardInterrupt as error:
            self._record(error.progress)
            raise
        self._record(passed)
        return passed

    def _record(self, passed):
        fitted = self.fitted
        if fitted.mistakes and self.engine._session is None:    # partial_fit: one entry for the stream
            fitted.mistakes[-1] += passed.mistakes
        else:
            fitted.mistakes.append(passed.mistakes)
        fitted.loss += passed.loss

    def epoch_end(self, record):
        """Tells all observers."""
        self.engine._manager.hook.structperc_epoch_end(engine=self.engine, record=record)


# ---- checks, each a sentence ----

OPTION_DEFAULTS = {
    "update": "perceptron", "loss": None, "margin": 1.0, "augment": 0.0, "C": 1.0, "epochs": 1, "average": False, "decay": 0.0,
    "shuffle": False, "random_state": None, "fit_intercept": True, "classes": None, "plugins": (),
}


def same(a, b):
    return a is b or (type(a) is type(b) and not isinstance(a, np.ndarray) and a == b)


def check_options(engine) -> None:
    """Types and ranges of the engine's own options."""
    def number(name, low, strict, high=None):
        value = getattr(engine, name)
        fine = isinstance(value, numbers.Real) and not isinstance(value, bool) and np.isfinite(value)
        if not fine or value < low or (strict and value == low) or (high is not None and value >= high):
            span = f"{'greater than' if strict else 'at least'} {low}" + ("" if high is None else f" and below {high}")
            raise OptionError(f"{name}={value!r}; expected a number {span}.")

    number("margin", 0, True)
    number("augment", 0, False)
    number("C", 0, True)
    number("decay", 0, False, 1)
    if not isinstance(engine.epochs, numbers.Integral) or isinstance(engine.epochs, bool) or engine.epochs < 1:
        raise OptionError(f"epochs={engine.epochs!r}; expected a whole number, at least 1.")
    for name in ("average", "shuffle", "fit_intercept"):
        if not isinstance(getattr(engine, name), (bool, np.bool_)):
            raise OptionError(f"{name}={getattr(engine, name)!r}; expected True or False.")
    if not isinstance(engine.update, str):
        raise OptionError(f"update={engine.update!r}; expected the name of an update rule. "
                          f"A rule of your own goes into plugins=[...].")
    if engine.loss is not None and not isinstance(engine.loss, str):
        try:
            engine.loss = np.asarray(engine.loss, dtype=float)
        except (TypeError, ValueError):
            raise OptionError(f"loss={engine.loss!r:.80}; expected a name or an (r, r) matrix of costs. "
                              f"A loss of your own goes into plugins=[...].") from None
    check_random_state(engine.random_state)


def plugin_defaults(plugins) -> dict:
    declared = {}
    for plugin in plugins:
        declared.update(plugin.options)
    return declared


def check_plugin_options(plugins, given) -> dict:
    """The plugins' options with defaults; refuses what no plugin declares."""
    declared = plugin_defaults(plugins)
    for name, value in given.items():
        if name not in declared:
            near = difflib.get_close_matches(name, [*declared, *OPTION_DEFAULTS], 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise OptionError(f"unknown option {name!r}.{hint} The plugins {', '.join(p.name for p in plugins[1:])} "
                              f"take {', '.join(declared) or 'no options of their own'}.")
        choices = declared[name].choices
        if choices is not None and value not in choices:
            raise OptionError(f"{name}={value!r}; expected one of {', '.join(map(repr, choices))}.")
    return {name: given.get(name, option.default) for name, option in declared.items()}


def generator(random_state) -> np.random.Generator:
    """A numpy Generator from None, an int, a Generator or a RandomState."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(0, 2**31 - 1, size=4, dtype=np.int64)
    return np.random.default_rng(random_state)


def check_random_state(random_state) -> None:
    if random_state is None or isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        return
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, bool) and random_state >= 0:
        return
    raise OptionError(f"random_state={random_state!r}; expected None, a whole number from 0, a numpy Generator or a RandomState.")


def unanswered(plugins, hook, task) -> PluginError:
    """The error of a hook that nobody answers for this task."""
    names = ", ".join(p.name for p in plugins[1:])
    for kind in ("loss", "update"):
        if hook == f"structperc_{kind}":
            value = getattr(task, kind)
            known = [v for p in plugins for v in getattr(p.plugin, f"{kind}s" if kind == "update" else "losses", ())]
            near = difflib.get_close_matches(str(value), known, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            return PluginError(f"{kind}={value!r} is unknown to the plugins {names}.{hint} They know {', '.join(known)}.")
    return PluginError(f"no part for {hook}: none of the plugins ({names}) answers it for this task. "
                       f"A problem must answer structperc_outputs, structperc_features and structperc_argmax.")


def check_parts(task, parts) -> None:
    """Refuses combinations that would silently do something else than asked."""
    own_value, own_augment = overrides(parts.loss, "value"), overrides(parts.loss, "augment")
    additive = own_augment or parts.loss.additive and (parts.outputs.n_labels > 0 or not own_value)
    if task.augment and not additive:
        raise PluginError(f"augment={task.augment}: {type(parts.loss).__name__} cannot be written over atoms, so this argmax cannot "
                          f"search with it. It can only be measured (augment=0), or needs an argmax of its own.")
    if parts.update.uses is not None:
        for name in ("margin", "C"):
            if name not in parts.update.uses and getattr(task, name) != OPTION_DEFAULTS[name]:
                raise OptionError(f"{name}={getattr(task, name)} has no effect with update={task.update!r}.")
    for part in attrs.astuple(parts, recurse=False):
        if hasattr(part, "check"):
            part.check(task, parts)


def check_weights(task, parts, weights) -> None:
    if not parts.update.weighs and not np.isin(weights, (0, 1)).all():
        i = int(np.argmax(~np.isin(weights, (0, 1))))
        raise DataError(f"sample_weight[{i}] is {weights[i]}: update={task.update!r} has no slack to weigh, so weights can only be 0 or 1; "
                        f"use 'pa1' or 'pa2'.")
    for part in attrs.astuple(parts, recurse=False):
        if hasattr(part, "check"):
            part.check(task, parts, weights)


def attach_costs(loss, costs, gold, n_examples) -> None:
    attach = getattr(loss, "attach", None)
    if attach is not None:
        attach(costs, gold, n_examples)
    elif costs is not None:
        raise DataError(f"costs was given, but {type(loss).__name__} does not use it; set loss='costs'.")


def make_room(fitted, rows) -> None:
    """Prepares the loop for examples like these."""
    features = fitted.parts.features
    features.check_rows(rows)
    fitted.loop.reserve(features.max_atoms(rows))


def check_same(task, rows) -> None:
    """Later data must look like those of the first fit."""
    if rows.objects != task.objects:
        raise DataError("X is a list of objects, but this model was trained on rows." if rows.objects
                        else "X has rows of numbers, but this model was trained on a list of objects.")
    if rows.n_features != task.n_features:
        raise DataError(f"X has {rows.n_features} features, but this model was trained with {task.n_features} features; "
                        f"pass the same columns in the same order.")
    names = rows.feature_names
    if names is not None and task.feature_names is not None and names != task.feature_names:
        j = next(i for i, (a, b) in enumerate(zip(names, task.feature_names, strict=False)) if a != b)
        raise DataError(f"column {j} of X is {names[j]!r}, but this model was trained with {task.feature_names[j]!r} there; "
                        f"pass the same columns in the same order.")


def not_finite(rows, example, start=0) -> DataError:
    """Why the scores of this example are not finite."""
    place = reading.locate_not_finite(rows, example)
    if place is not None:
        row, column, value = place
        return DataError(f"X[{start + row}, {column}] is {value}; X must be free of NaN and inf, so fill or drop that row.")
    return DataError(f"the scores of example {start + example} overflow although its row is finite; the weights or the features "
                     f"are too large for floating point. Scale the features, for instance to unit variance.")


def overflow() -> DataError:
    return DataError("the last steps have made weights overflow; the features, costs or sample weights are too large for floating point. "
                     "Scale the features, for instance to unit variance.")


__all__ = ["Engine", "OnlineTrainer"]
