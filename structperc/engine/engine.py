"""The engine: names its plugins, asks each for its part, and drives the parts over data."""

from __future__ import annotations

import numbers
import threading

import attrs
import numpy as np

from structperc.core.adapters import overrides
from structperc.core.errors import BusyError, NotFittedError, OptionError, PluginError
from structperc.core.loop import Loop, NotFinite
from structperc.engine import answers as inference
from structperc.engine import plugins as registry
from structperc.engine.builtin import BuiltinParts
from structperc.engine.compatibility import check_parts, check_same, not_finite, overflow, refuse_scores
from structperc.engine.context import FitContext
from structperc.engine.model import Model, Parts, make_room, restrict
from structperc.engine.options import (
    LEARNED_WITH,
    changed_options,
    check_options,
    check_plugin_options,
    generator,
    read_plugins,
    told_options,
    unmoved,
)
from structperc.engine.run import TrainingRun
from structperc.engine.trainers import CONVERGED, INTERRUPTED, MAX_EPOCHS
from structperc.reading import matrices as reading

BUILTIN = registry.Plugin("builtin", BuiltinParts(), "structperc")
REQUIRED = ("structperc_outputs", "structperc_features", "structperc_argmax")


class Engine:
    """Trains a predictor of structures online.

    Parameters
    ----------
    problem : str or plugin object
        The plugin that defines the problem: "cusum", "prank", "multiclass", "sequence", or a stranger's.
    update : str, default "perceptron"
        The update rule: "perceptron", "latent" (a perceptron with step sizes, for outputs of which part is hidden or not), "pa", "pa1",
        "pa2", or a plugin's.
    loss : str, (r, r) array or None, default None
        What a wrong prediction costs: "absolute", "squared", "zero-one", "hamming", a matrix of costs (row: right label,
        column: predicted label), or "costs" for each example's own (`fit(..., costs=)`). None: the problem's own (absolute
        for ranks, zero-one for classes, hamming for sequences and sets of atoms).
    margin : float, default 1.0
        Passive-aggressive updates require the margin `margin * loss`.
    loss_weight : float, default 0.0
        Learn from the structure that maximises score + loss_weight * loss instead of from the prediction.
    C : float, default 1.0
        Aggressiveness of "pa1" and "pa2": the largest step, and the weight of the squared slack.
    step_size : float, default 1.0
        Size of the steps of "latent".
    step_schedule : {"constant", "inverse", "inverse-sqrt"} or function, default "constant"
        What the step size is multiplied by: 1, 1 / t, 1 / sqrt(t), or a function of t, the number of the example visited, from 1 on.
    epochs : int, default 1
        Passes over the data; an epoch without update ends training before.
    average : bool, default False
        Predict with the mean of the weights after each visited example.
    decay : float in [0, 1), default 0.0
        Each update first multiplies the weights by 1 - decay.
    decay_schedule : {"constant", "inverse", "inverse-sqrt"} or function, default "constant"
        What `decay` is multiplied by, as `step_schedule`; at most 1.
    shuffle : bool, default False
        Visit the examples in a new random order each epoch.
    random_state : None, int, numpy Generator or RandomState
        Seed of the one generator of a fit. The same int gives the same bits.
    fit_intercept : bool, default True
        Adds a constant feature without copying X (problems with thresholds have none).
    trainer : str, default "online"
        Who drives the examples: "online", or a plugin's.
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

    def __init__(self, problem, *, update="perceptron", loss=None, margin=1.0, loss_weight=0.0, C=1.0, step_size=1.0, step_schedule="constant",
                 epochs=1, average=False, decay=0.0, decay_schedule="constant", shuffle=False, random_state=None, fit_intercept=True,
                 trainer="online", classes=None, plugins=(), **plugin_options):
        self.problem = problem
        self.update, self.loss, self.margin, self.loss_weight, self.C = update, loss, margin, loss_weight, C
        self.step_size, self.step_schedule, self.decay_schedule = step_size, step_schedule, decay_schedule
        self.epochs, self.average, self.decay, self.shuffle = epochs, average, decay, shuffle
        self.random_state, self.fit_intercept, self.classes = random_state, fit_intercept, classes
        self.trainer, self.plugins = trainer, read_plugins("plugins", plugins)
        check_options(self)
        self.loaded_plugins = [BUILTIN, *(registry.load(p) for p in (problem, *self.plugins))]
        self.plugin_options = check_plugin_options(self.loaded_plugins, plugin_options)
        self._manager = registry.manager(self.loaded_plugins)
        for hook in REQUIRED:
            if not getattr(self._manager.hook, hook).get_hookimpls():
                names = ", ".join(p.name for p in self.loaded_plugins[1:])
                raise PluginError(f"no part for {hook}: none of the plugins ({names}) answers it. Name a problem first, "
                                  f"for instance Engine('cusum', plugins=[...]).")
        self._model = self._run = None
        self._training = threading.Lock()

    # ---- training ----

    def fit(self, X, y, *, offsets=None, lengths=None, groups=None, allowed=None, sample_weight=None, costs=None, keep_online=False):
        """Trains from nothing.

        Parameters
        ----------
        X : array-like (n_rows, n_features), sparse matrix, data frame, list of blocks or objects, or what else the reader takes
            C-ordered float32/float64 and CSR are read in place.
        y : sequence
            One output per example, as the problem's outputs take them.
        offsets, lengths, groups : array, optional
            Which rows of X an example is made of, said in one of three ways: rows offsets[i]:offsets[i+1] are example i; example i
            has lengths[i] rows; rows with the same entry in groups are one, wherever they stand: examples are then in the order in
            which their groups first appear, and a y with an entry for each row is taken to be in the order of X. Without any, each row is
            an example.
        allowed : sequence, optional
            What each example's output may be, as the problem's outputs take it; Y(x) is restricted to that.
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
        if not self._training.acquire(False):
            raise busy("fit")
        try:
            with unmoved(self.random_state):
                X, offsets, order = reading.blocks(X, offsets, lengths, groups)
                y, allowed = reading.by_rows(y, order), reading.by_rows(allowed, order)
                with reading.gathered(order):
                    self._fit(X, offsets, y, allowed, sample_weight, costs, keep_online)
        finally:
            self._run = None
            self._training.release()
        return self

    def partial_fit(self, X, y, *, offsets=None, lengths=None, groups=None, allowed=None, sample_weight=None, costs=None):
        """One pass over a chunk of a stream, continuing from what was learned; parameters as in `fit`.

        The first call fixes the features and, unless `classes` names them, the labels.
        """
        if not self._training.acquire(False):
            raise busy("partial_fit")
        try:
            order = None
            if lengths is not None or groups is not None:       # 0.05 us matter to one-row calls
                X, offsets, order = reading.blocks(X, offsets, lengths, groups)
                y, allowed = reading.by_rows(y, order), reading.by_rows(allowed, order)
            if self._model is not None and order is None:
                self._learn_chunk(X, offsets, y, allowed, sample_weight, costs)
            else:
                with unmoved(self.random_state), reading.gathered(order):
                    self._learn_chunk(X, offsets, y, allowed, sample_weight, costs)
        finally:
            self._training.release()
        return self

    def stop(self):
        """Asks the training that is under way to end after this epoch; for observers."""
        if self._run is None:
            raise NotFittedError("stop() was called while nothing is being trained; call it from structperc_epoch_end.")
        self._run.stop_requested = True

    def _fit(self, X, offsets, y, allowed, sample_weight, costs, keep_online):
        model, rows, context = self._begin(X, offsets, y, allowed, sample_weight)
        random = model.context.random.bit_generator.state
        model.online = [] if keep_online else None
        run = TrainingRun(model, context, rows, y, costs, online=model.online, before=self._model, observers=self._tell)
        before, self._model, self._run = self._model, model, run
        try:
            model.parts.weights.begin_fit(run.rows)
            status = model.parts.trainer.train(run)
            if not isinstance(status, str):
                raise PluginError(f"{type(model.parts.trainer).__name__}.train returned {status!r}; expected a word for status_, such as "
                                  f"'converged'.")
            if not model.parts.weights.is_finite():
                raise overflow()
            model.status = status
        except KeyboardInterrupt:
            model.status = INTERRUPTED
            raise
        except BaseException:
            self._model = before
            model.context.random.bit_generator.state = random
            raise
        finally:
            model.parts.weights.end_fit()

    def _learn_chunk(self, X, offsets, y, allowed, sample_weight, costs):
        model = self._model
        if model is None:
            model, rows, context = self._begin(X, offsets, y, allowed, sample_weight)
            refuse_chunks(model)
        else:
            refuse_chunks(model)
            rows, context = model.parts.reader.read(X, offsets), model.context
            check_same(context, rows)
            make_room(model, rows)
            if allowed is not None:
                restrict(model.parts, rows, allowed)
            if sample_weight is not None or model.weighted:     # the parts compare them with earlier weights
                context = weighed(context, 1.0 if sample_weight is None else sample_weight, rows)
                check_parts(context, model.parts)
        run = TrainingRun(model, context, rows, y, costs)
        weights = model.parts.weights
        token, state = weights.snapshot(rows), model.context.random.bit_generator.state if model.context.shuffle else None
        record = model.mistakes, model.loss, model.weighted
        model.mistakes = list(model.mistakes) if model.streaming else [*model.mistakes, 0]
        try:
            passed = run.run(run.order())
            if passed.updates and not weights.is_finite(token):
                raise overflow()
        except KeyboardInterrupt:
            self._model, model.streaming, model.status = model, True, INTERRUPTED
            raise
        except BaseException:
            weights.revert(token)
            model.mistakes, model.loss, model.weighted = record
            if state is not None:
                model.context.random.bit_generator.state = state
            raise
        self._model, model.streaming, model.online = model, True, None
        model.status = MAX_EPOCHS if passed.updates else CONVERGED

    def _tell(self, record):
        """Tells all observers that an epoch is over."""
        self._manager.hook.structperc_epoch_end(engine=self, record=record)

    def _begin(self, X, offsets, y, allowed=None, sample_weight=None):
        """New parts for a new data set, checked against each other; its rows, and the context with its sample weights."""
        check_options(self)             # they may have been changed since
        context = self._task(generator(self.random_state))
        reader = self._ask("structperc_reader", context)
        rows = reader.learn(X, offsets)
        context = attrs.evolve(context, n_features=rows.n_features, sparse=rows.sparse, objects=rows.objects, feature_names=rows.feature_names)
        outputs = self._ask("structperc_outputs", context)
        labels = outputs.find_labels(y, self.classes)
        model = self._assemble(context, reader, outputs, labels)
        context = weighed(model.context, sample_weight, rows)
        check_parts(context, model.parts)
        make_room(model, rows)
        restrict(model.parts, rows, allowed)
        return model, rows, context

    def _task(self, random) -> FitContext:
        """The options, before data are known."""
        return FitContext(told_options(self), self.plugin_options, random)

    def _assemble(self, context, reader, outputs, labels) -> Model:
        loss = outputs.default_loss if context.loss is None else context.loss
        context = attrs.evolve(context, labels=labels, engine_options={**context.engine_options, "loss": loss})
        parts = Parts(reader, outputs, **{kind: self._ask(f"structperc_{kind}", context)
                                          for kind in ("features", "argmax", "loss", "update", "weights", "trainer")})
        parts.start(context)
        options = {name: getattr(self, name) for name in LEARNED_WITH}
        return Model(context, parts, Loop(parts, context.loss_weight), options)

    def _ask(self, hook, context):
        component = registry.ask_hook(self._manager, hook, context)
        if component is None:
            raise registry.unanswered(self.loaded_plugins, hook, context)
        in_use = self._model is not None and component is getattr(self._model.parts, hook.removeprefix("structperc_"))
        return component.fresh() if in_use else component

    # ---- prediction ----

    def _ready(self) -> Model:
        if self._model is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit or partial_fit first.")
        return self._model

    def _read(self, X, offsets=None, lengths=None, groups=None, allowed=None):
        """Rows like those of the training."""
        model = self._ready()
        X, offsets, order = reading.blocks(X, offsets, lengths, groups)
        allowed = reading.by_rows(allowed, order)
        rows = model.parts.reader.read(X, offsets)
        check_same(model.context, rows)
        model.parts.features.check_rows(rows)
        restrict(model.parts, rows, allowed)
        return model.parts.weights.prepare(rows)

    def _scored(self, rows):
        """Chunks of rows, each with the atom scores, where the weights find those of many examples at once, and its first example."""
        model = self._ready()
        parts = model.parts
        product = not (overrides(parts.weights, "scores") and not overrides(parts.weights, "batch_scores")
                       or overrides(parts.features, "scores") and not overrides(parts.features, "batch_scores"))
        if not product:
            yield model, rows, None, 0
            return
        for start, part in reading.chunks(rows):
            with np.errstate(all="ignore"):     # what overflows is found in the scores
                scores = parts.weights.batch_scores(part)
            if scores is None:
                yield model, rows, None, 0
                return
            scores = scores if isinstance(scores, tuple) else np.ascontiguousarray(scores, dtype=float)
            refuse_scores(rows, scores, start)
            yield model, part, scores, start

    def predict(self, X, *, offsets=None, lengths=None, groups=None, allowed=None, k=None):
        """The structure of largest score for each example, as labels or as the problem's outputs decode them.

        Parameters
        ----------
        X, offsets, lengths, groups, allowed
            As in `fit`.
        k : int, optional
            Answer each example by a list of its k best structures, best first; fewer where there are fewer.

        Returns
        -------
        ndarray of shape (n_examples,)
        """
        rows = self._read(X, offsets, lengths, groups, allowed)
        if k is not None:
            return self._listed(self._k_best(rows, k), lambda x, ranked: [self.parts_.outputs.decode(y, x) for y, _ in ranked])
        found = []
        for model, part, scores, start in self._scored(rows):
            try:
                answers = model.loop.predict(part, scores, model.parts.weights.averaged())
            except NotFinite as error:
                raise not_finite(rows, start + error.index) from None
            found.append(model.parts.outputs.decode_many(answers, part))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def margins(self, X, *, offsets=None, lengths=None, groups=None, allowed=None):
        """By how much the best structure of each example leads the next one, shape (n_examples,); 0: a tie, inf: there is no other."""
        lead = [ranked[0][1] - ranked[1][1] if len(ranked) > 1 else np.inf
                for _, ranked in self._k_best(self._read(X, offsets, lengths, groups, allowed), 2)]
        return np.array(lead)

    def predict_marginals(self, X, *, offsets=None, lengths=None, groups=None, allowed=None, kind="sum"):
        """What all structures of an example together say of its atoms.

        Parameters
        ----------
        X, offsets, lengths, groups, allowed
            As in `fit`.
        kind : {"sum", "max"}
            "sum": how often each atom is expected in y if p(y) is proportional to exp(score of y); training by perceptron or margin does
            not calibrate these probabilities. "max": the score of the best structure that contains the atom, -inf where none does.

        Returns
        -------
        ndarray of shape (n_examples,), dtype object
            Arrays over atoms, or as the problem's outputs show them.
        """
        if kind not in ("sum", "max"):
            raise OptionError(f"kind={kind!r}; expected 'sum' or 'max'.")
        found = inference.marginals if kind == "sum" else inference.max_marginals
        parts = self._ready().parts
        rows = self._read(X, offsets, lengths, groups, allowed)
        return self._listed(((x, found(parts, scores, x)) for x, scores in self._examples(rows)), parts.outputs.decode_marginals)

    def atom_scores(self, X, *, offsets=None, lengths=None, groups=None):
        """The scores w . phi(x, a): (n_examples, n_atoms), or a list of arrays when examples differ in their atoms."""
        found = []
        for _, part, scores, _ in self._scored(self._read(X, offsets, lengths, groups)):
            if isinstance(scores, tuple):
                scores = np.split(scores[0], scores[1][1:-1])
            elif scores is None:
                scores = [one for _, one in self._examples(part)]
            found.append(scores)
        if self.parts_.features.atoms_per_example < 0:
            return [one for scores in found for one in scores]
        return np.concatenate([np.asarray(scores) for scores in found])

    def _examples(self, rows):
        """Every example with its atom scores."""
        model = self._ready()
        final = model.parts.weights.averaged()
        for i in range(rows.n_examples):
            x = rows.example(i)
            x.n_atoms = model.parts.features.n_atoms(x)
            scores = final.scores(x)
            if not np.isfinite(scores).all():
                raise not_finite(rows, i)
            yield x, scores

    def _k_best(self, rows, k):
        """Every example with its k best structures and their scores."""
        if not isinstance(k, numbers.Integral) or isinstance(k, bool) or k < 1:
            raise OptionError(f"k={k!r}; expected a whole number, at least 1.")
        parts = self._ready().parts
        return ((x, inference.k_best(parts, scores, x, k)) for x, scores in self._examples(rows))

    @staticmethod
    def _listed(pairs, shown):
        """An array of objects: what is shown of each example."""
        found = [shown(x, value) for x, value in pairs]
        answers = np.empty(len(found), dtype=object)
        for i, answer in enumerate(found):
            answers[i] = answer
        return answers

    def explain(self, x, *, against=None):
        """Why x got its prediction: the winner's score minus a rival's, split exactly by atom and feature.

        Parameters
        ----------
        x : one example
        against : output, optional
            The rival, as `predict` shows outputs; without it the runner-up.

        Returns
        -------
        structperc.engine.explanation.Explanation
        """
        from structperc.engine.explanation import explain

        return explain(self, x, against)

    # ---- what was learned ----

    @property
    def parts_(self):
        """The components in use: reader, outputs, features, argmax, loss, update, weights and trainer."""
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
        labels = self._ready().context.labels
        if labels is None:
            raise AttributeError("the outputs of this problem have no labels, hence no classes_.")
        return labels

    @property
    def n_features_in_(self):
        return self._ready().context.n_features

    def feature_name(self, j) -> str:
        """The name of column j, as `explain` shows it: that of X, the one that the reader gave it, or x[j]."""
        return self._ready().feature_name(j)

    @property
    def online_predictions_(self):
        model = self._ready()
        if model.online is None:
            raise AttributeError("online_predictions_ is kept only by fit(..., keep_online=True).")
        return np.concatenate(model.online) if model.online else np.empty(0, dtype=object)

    def __getattr__(self, name):
        """Fitted attributes that the parts document, such as coef_ and thresholds_."""
        model = self.__dict__.get("_model")
        if name.endswith("_") and not name.startswith("_"):
            if model is None:
                raise NotFittedError(f"{name} is known after fit or partial_fit.")
            if name == "feature_names_in_" and model.context.feature_names is not None:
                return np.array(model.context.feature_names, dtype=object)
            parts = model.parts
            own = getattr(type(self), name, None)
            if isinstance(own, property):
                return own.fget(self)       # a property that raised AttributeError: once more, for its sentence
            for part in (parts.trainer, parts.weights, parts.features, parts.outputs):
                known = part.attributes(parts.weights)
                if name in known and (part is not parts.features or parts.weights.vector() is not None):
                    return known[name]()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def citation(self) -> str:
        """BibTeX of exactly the methods in use."""
        entries = [p.citation for p in self.loaded_plugins[1:]]
        if self._model is not None:
            used = attrs.astuple(self._model.parts, recurse=False)
        else:
            used = [registry.ask_hook(self._manager, "structperc_update", self._task(None))]
        entries += [part.citation for part in used if part is not None]
        unique = dict.fromkeys(e.strip() for e in entries if e)
        return "\n\n".join(unique)

    # ---- persistence ----

    def save(self, path):
        """Writes the trained model to one file without pickle; see `structperc.engine.model_file`."""
        from structperc.engine.model_file import save

        save(self, path)

    @classmethod
    def load(cls, path, plugins=(), **options):
        """Reads a model that `save` wrote.

        Parameters
        ----------
        path : path or file opened for bytes
        plugins : sequence of plugin objects or components
            The objects that were passed to the constructor and have no name.
        **options
            The functions that were passed to the constructor as options, such as a kernel; a model file knows only their names.

        Returns
        -------
        Engine

        Raises
        ------
        ModelFormatError, PluginError, OptionError, OSError
        """
        from structperc.engine.model_file import load

        return load(cls, path, plugins, options)

    def __reduce__(self):
        from structperc.engine.model_file import pickled

        return pickled(self)

    def __repr__(self):
        return f"Engine({', '.join([repr(self.problem), *(f'{name}={value!r}' for name, value in changed_options(self).items())])})"


def weighed(context, sample_weight, rows) -> FitContext:
    """The context with the sample weights of these examples."""
    return context if sample_weight is None else attrs.evolve(context, sample_weight=reading.sample_weights(sample_weight, rows.n_examples))


def busy(method) -> BusyError:
    """Training twice at a time would mix the steps of both in one set of weights."""
    return BusyError(f"{method} was called while this engine is being trained, by an observer or in another thread; "
                     f"wait until it has ended, or train a copy.")


def refuse_chunks(model) -> None:
    """A trainer of one problem over all examples cannot go on with some of them."""
    if not model.parts.trainer.online:
        raise PluginError(f"partial_fit learns from chunk after chunk, but {type(model.parts.trainer).__name__} solves one problem over "
                          f"all examples; call fit with all of them.")
