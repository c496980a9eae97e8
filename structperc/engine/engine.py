"""The engine: names its plugins, asks each for its part, and drives the parts over data."""

from __future__ import annotations

import numpy as np

from structperc.core.errors import NotFittedError, PluginError, shortened
from structperc.engine import plugins as registry
from structperc.engine.assembly import options_alone
from structperc.engine.builtin import BuiltinParts
from structperc.engine.citations import bibliography
from structperc.engine.fitting import EngineCalls
from structperc.engine.model import Model, NoAttribute, read_for
from structperc.engine.options import changed_options, check_options, check_plugin_options, n_threads, read_plugins
from structperc.engine.threads import predicted

BUILTIN = registry.Plugin("builtin", BuiltinParts(), "structperc")
REQUIRED = ("structperc_outputs", "structperc_features", "structperc_argmax")


class Engine(EngineCalls):
    """Trains a predictor of structures online.

    Parameters
    ----------
    problem : str or plugin object
        The plugin that defines the problem: "cusum", "prank", "multiclass", "sequence", or a stranger's.
    update : str, default "perceptron"
        The update rule: "perceptron", "latent" (a perceptron with step sizes, for outputs of which part is hidden or not), "pa", "pa1",
        "pa2", "exact-pa", "exact-pa1", "exact-pa2" (labels), "log-loss" (where the solver has marginals), "direct", "direct-better"
        (direct loss minimisation), "adagrad", "adagrad-log-loss" (the margin's and the log loss's gradient, a step size for each weight),
        or a plugin's.
    loss : str, (r, r) array or None, default None
        What a wrong prediction costs: "absolute", "squared", "zero-one", "hamming", a matrix of costs (row: right label,
        column: predicted label), or "costs" for each example's own (`fit(..., costs=)`). None: the problem's own (absolute
        for ranks, zero-one for classes, hamming for sequences and sets of atoms).
    margin : float, default 1.0
        Passive-aggressive updates and "adagrad" require the margin `margin * loss`.
    loss_weight : float, default 0.0
        Learn from the structure that maximises score + loss_weight * loss instead of from the prediction.
    C : float, default 1.0
        Aggressiveness of "pa1" and "pa2": the largest step, and the weight of the squared slack.
    C_schedule : {"constant", "inverse", "inverse-sqrt"} or function, default "constant"
        What `C` is multiplied by, as `step_schedule`.
    step_size : float, default 1.0
        Size of the steps of "latent", "log-loss" and the direct updates; with "adagrad" and "adagrad-log-loss" of a weight's first step:
        beside a margin of 1, 0.1 suits rare features, 1.0 dense columns.
    step_schedule : {"constant", "inverse", "inverse-sqrt"} or function, default "constant"
        What the step size is multiplied by: 1, 1 / t, 1 / sqrt(t), or a function of t, the number of the example visited, from 1 on.
    epsilon : float, default 10.0
        Weight of the loss in the searches of the direct updates: the width of their finite differences.
    epsilon_schedule : {"constant", "inverse", "inverse-sqrt"} or function, default "constant"
        What `epsilon` is multiplied by, as `step_schedule`.
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
    weighting : {"steps", "visits"}, default "steps"
        What sample weights do. "steps": they scale the steps of the perceptron, and the C of the passive-aggressive rules, where it is
        small enough to matter. "visits": an example that weighs as much as two is visited twice as often, anew for each epoch, which has
        as many visits as examples with a weight; a stream's weights are compared with the mean of those so far. It acts with every rule.
    class_weight : None, "balanced" or dict, default None
        Multiplies the sample weights of examples by a weight of their labels, {label: weight}; labels that are left out weigh 1.
        "balanced": all labels that occur have the same weight in all. Columns are scaled without it.
    random_state : None, int, numpy Generator or RandomState
        Seed of the one generator of a fit. The same int gives the same bits.
    fit_intercept : bool, default True
        Adds a constant feature without copying X (problems with thresholds have none).
    scale : {False, True, "auto"}, default False
        Train on columns of mean 0 and variance 1, whatever their units; the weights are mapped back to the units of X once training is
        over. Sparse columns keep their zeros: they are divided by their spread alone, as are all columns where no intercept or threshold
        could take up the shift. A stream goes by the columns' mean and spread so far. With a kernel rows stay scaled, a stream's by its
        first call. "auto": dense columns alone, and without a kernel.
    calibrate : bool, default False
        Divide scores by a temperature where they become probabilities, the one of least log loss for examples that a model has not
        seen: `fit` trains five more models, each without a fifth of the examples, and measures them there. Predictions stay the same.
    trainer : str, default "online"
        Who drives the examples: "online", or a plugin's.
    n_shards : int, default 1
        Train on so many equal parts of the examples apart, and mix the weights that they arrive at after each epoch (iterative parameter
        mixing). The result depends on their number, and not on the number of threads that train them.
    mixing : {"mean", "bounded-sum"}, default "mean"
        How shards are mixed: w moves by the mean of their steps, each shard with its share of the examples, as in the papers, whose bound
        on mistakes holds; or each weight by the sum of the shards' steps, at most twice the mean of the shards that moved it. The sum has
        no such bound. It needs fewer epochs where most weights are moved by few shards.
    n_jobs : int, default 1
        Threads that train shards and predict; -1: as many as there are cores. No answer depends on it.
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
        Sum of the losses of all online predictions; with "log-loss" and "adagrad-log-loss" of -log p(gold output).
    online_predictions_ : ndarray
        With keep_online=True: the predictions made before each step, epoch after epoch and chunk after chunk, in the order of visiting.
    history_ : list of Visit
        With history=True: visit, example, gold, said and step of each visited example, in the order of visiting.
    status_ : str
        Why training ended: "converged" (an epoch without update and without mistake), "stalled" (without update, but no step mends the
        mistakes that are left), "max_epochs", "early_stopped" or "interrupted".
    temperature_ : float
        What scores are divided by where they become probabilities: 1 without `calibrate`.
    classes_ : ndarray
        The labels in order.
    notes : dict
        What is to be kept beside the model in its file: texts, numbers, lists and dicts of these. The commands note the target and the
        form of the data there.
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

    def __init__(self, problem, *, update="perceptron", loss=None, margin=1.0, loss_weight=0.0, C=1.0, C_schedule="constant",
                 step_size=1.0, step_schedule="constant", epsilon=10.0, epsilon_schedule="constant", epochs=1, average=False, decay=0.0,
                 decay_schedule="constant", shuffle=False, weighting="steps", class_weight=None, random_state=None, fit_intercept=True,
                 scale=False, calibrate=False, trainer="online", n_shards=1, mixing="mean", n_jobs=1, classes=None, plugins=(),
                 **plugin_options):
        self.problem = problem
        self.update, self.loss, self.margin, self.loss_weight, self.C = update, loss, margin, loss_weight, C
        self.C_schedule = C_schedule
        self.step_size, self.step_schedule, self.decay_schedule = step_size, step_schedule, decay_schedule
        self.epsilon, self.epsilon_schedule = epsilon, epsilon_schedule
        self.epochs, self.average, self.decay, self.shuffle = epochs, average, decay, shuffle
        self.random_state, self.fit_intercept, self.classes, self.scale, self.calibrate = (random_state, fit_intercept, classes, scale,
                                                                                           calibrate)
        self.weighting, self.class_weight = weighting, class_weight
        self.trainer, self.n_shards, self.mixing, self.n_jobs = trainer, n_shards, mixing, n_jobs
        self.plugins = read_plugins("plugins", plugins)
        check_options(self)
        self.loaded_plugins = [BUILTIN, *(registry.load(p) for p in (problem, *self.plugins))]
        self.plugin_options = check_plugin_options(self.loaded_plugins, plugin_options, registry.parts_with)
        self.manager = registry.manager(self.loaded_plugins)
        for hook in REQUIRED:
            if not getattr(self.manager.hook, hook).get_hookimpls():
                names = ", ".join(p.name for p in self.loaded_plugins[1:])
                raise PluginError(f"no part for {hook}: none of the plugins ({names}) answers it. Name a problem first, "
                                  f"for instance Engine('cusum', plugins=[...]).")
        self.answered = {}          # the plugin that has answered each hook last
        self.notes = {}

    # ---- training ----

    def stop(self):
        """Asks the training that is under way to end after this epoch; for observers."""
        if self.run is None:
            raise NotFittedError("stop() was called while nothing is being trained; call it from structperc_epoch_end.")
        self.run.stop_requested = True

    def tell(self, record):
        """Tells all observers that an epoch is over."""
        self.manager.hook.structperc_epoch_end(engine=self, record=record)

    # ---- prediction ----

    @property
    def model_(self) -> Model:
        """What training made; its methods read X once and score it."""
        model = self.model
        if model is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit or partial_fit first.")
        return model

    def read(self, X, *, offsets=None, lengths=None, groups=None, allowed=None):
        """Rows like those of the training, as the methods of `model_` take them; parameters as in `fit`."""
        return read_for(self.model_, X, offsets, lengths, groups, allowed)

    def predict_rows(self, rows):
        """What `predict` answers, for rows that `read` has read."""
        return predicted(self.model_, rows, n_threads(self.n_jobs))

    def margins(self, X, *, offsets=None, lengths=None, groups=None, allowed=None):
        """By how much the best structure of each example leads the next one, shape (n_examples,); 0: a tie, inf: there is no other."""
        model = self.model_
        return model.margins(read_for(model, X, offsets, lengths, groups, allowed))

    def optimality_gaps(self, X, *, offsets=None, lengths=None, groups=None, allowed=None):
        """By how much the score of another structure may exceed that of each answer, at most, shape (n_examples,).

        0: the answer is optimal; inf: the solver is approximate and knows no bound. Parameters as in `predict`.
        """
        model = self.model_
        return model.optimality_gaps(read_for(model, X, offsets, lengths, groups, allowed))

    def predict_marginals(self, X, *, offsets=None, lengths=None, groups=None, allowed=None, kind="sum"):
        """What all structures of an example together say of its atoms.

        Parameters
        ----------
        X, offsets, lengths, groups, allowed
            As in `fit`.
        kind : {"sum", "max"}
            "sum": how often each atom is expected in y if p(y) is proportional to exp(score of y / `temperature_`), of single labels as
            `predict_proba` has it; training by perceptron or margin fits no probabilities: `calibrate` does.
            "max": the score of the best structure that contains the atom, -inf where none does.

        Returns
        -------
        ndarray of shape (n_examples,), dtype object
            Arrays over atoms, or as the problem's outputs show them.
        """
        model = self.model_
        return model.marginals(read_for(model, X, offsets, lengths, groups, allowed), kind)

    def atom_scores(self, X, *, offsets=None, lengths=None, groups=None):
        """The scores w . phi(x, a): (n_examples, n_atoms), or a list of arrays when examples differ in their atoms."""
        model = self.model_
        return model.atom_scores(read_for(model, X, offsets, lengths, groups))

    def label_scores(self, X, *, offsets=None, lengths=None, groups=None):
        """The score of every label for each example, shape (n_examples, n_labels), of problems with one label per example.

        Columns are in the order of `classes_`. The label of largest score is the prediction; at a tie the problem's rule decides.
        """
        model = self.model_
        return model.label_scores(read_for(model, X, offsets, lengths, groups))

    def predict_proba(self, X, *, offsets=None, lengths=None, groups=None):
        """How probable each label is for each example, of problems with one label per example.

        Parameters
        ----------
        X, offsets, lengths, groups
            As in `fit`.

        Returns
        -------
        ndarray of shape (n_examples, n_labels)
            Of classes proportional to exp(`label_scores` / `temperature_`). Of ordered labels P(y > k) = 1 / (1 + exp(-v_k /
            `temperature_`)), v the scores of the atoms "rank > k", pooled where they are in no order. The median of these is the
            prediction; the most probable label may be another one. The update "log-loss" fits the first form, also of ordered labels.
            Columns in the order of `classes_`, each row sums to 1. Training by perceptron or margin fits no probabilities: `calibrate`
            does.

        Raises
        ------
        PluginError
            Where outputs are not one label per example; `predict_marginals` answers there.

        Examples
        --------
        >>> from structperc import Engine
        >>> engine = Engine("prank", epochs=20).fit([[-1.0], [1.0], [3.0]], [1, 2, 3])
        >>> engine.predict_proba([[0.0], [9.0]]).round(3).tolist()
        [[0.731, 0.15, 0.119], [0.0, 0.001, 0.999]]
        """
        model = self.model_
        return np.exp(model.log_probabilities(read_for(model, X, offsets, lengths, groups)))

    def explain(self, x, *, against=None, baseline=None, groups=None):
        """Why x got its prediction: the winner's score minus a rival's, split exactly by atom and feature.

        The contribution of a column is its weight times its distance from a baseline, by default the mean of the training rows. For a
        fixed winner and rival these are the Shapley values of the margin (Lundberg and Lee 2017, independent columns).

        Parameters
        ----------
        x : one example
        against : output, optional
            The rival, as `predict` shows outputs; without it the runner-up.
        baseline : "mean", "zero" or one row, optional
            What columns are compared with. "mean": the mean of all rows of training, weighted by `sample_weight`; a row that is equal to
            it has no contributions. "zero": weight times value. A row: its values, as `predict` takes them. Without it "mean" for rows
            of numbers, and "zero" where rows have named features or the model has no means.
        groups : dict of str to list, optional
            Columns, by name or number, whose contributions are added up under one name, such as those of a one-hot code. The columns
            that the option `one_hot` has made of one column are always a group.

        Returns
        -------
        structperc.engine.explanation.Explanation
            Contributions and constants add up to the margin. The constant of an atom is its part of the margin at the baseline.

        Raises
        ------
        OptionError
            When there is no such baseline, or a group names no column.
        DataError
            When x is not one example.

        Examples
        --------
        >>> from structperc import Engine
        >>> engine = Engine("prank", epochs=9, scale=True).fit([[150.0, 1.0], [170.0, 3.0], [190.0, 2.0]], [1, 2, 3])
        >>> [c.feature for c in engine.explain([150.0, 3.0]).contributions]
        ['x[0]', 'x[1]', '(constant)']
        >>> [c.feature for c in engine.explain([170.0, 2.0]).contributions]         # the mean row
        ['(constant)']
        """
        from structperc.engine.explanation import explain

        model = self.model_
        return model.access.read(explain, model, x, against, baseline, groups)

    # ---- what was learned ----

    @property
    def parts_(self):
        """The components in use: reader, outputs, features, argmax, loss, update, weights and trainer."""
        return self.model_.parts

    @property
    def mistakes_(self):
        return self.model_.record("mistakes")

    @property
    def cumulative_loss_(self):
        return self.model_.record("loss")

    @property
    def status_(self):
        return self.model_.record("status")

    @property
    def temperature_(self):
        return self.model_.record("temperature")

    @property
    def classes_(self):
        labels = self.model_.context.labels
        if labels is None:
            raise AttributeError("the outputs of this problem have no labels, hence no classes_; scikit-learn's cross_val_predict takes "
                                 "method=\"predict\".")
        return labels

    @property
    def n_features_in_(self):
        model = self.model_
        return model.parts.reader.n_inputs(model.context.n_features)

    def feature_name(self, j) -> str:
        """The name of column j, as `explain` shows it: that of X, the one that the reader gave it, or x[j]."""
        return self.model_.feature_name(j)

    @property
    def online_predictions_(self):
        online = self.model_.record("online")
        if online is None:
            raise AttributeError("online_predictions_ is kept only by fit and partial_fit with keep_online=True.")
        return np.concatenate(online) if online else np.empty(0, dtype=object)

    @property
    def history_(self):
        history = self.model_.record("history")
        if history is None:
            raise AttributeError("history_ is kept only by fit and partial_fit with history=True.")
        return history

    def __getattr__(self, name):
        """Fitted attributes that the parts document, such as coef_ and thresholds_."""
        model = self.model
        if is_fitted_name(name):
            if name == "model_":
                return type(self).model_.fget(self)
            if model is None:
                raise NotFittedError(f"this {type(self).__name__} is not fitted yet, so it has no {name}; call fit or partial_fit first.")
            if name == "feature_names_in_" and model.context.feature_names is not None:
                return np.array(model.parts.reader.input_names(model.context.feature_names), dtype=object)
            own = getattr(type(self), name, None)
            if isinstance(own, property):
                return own.fget(self)       # a property that raised AttributeError: once more, for its sentence
            try:
                return model.attribute(name)
            except NoAttribute as error:
                raise error.of(f"Engine({shortened(self.problem)})").listing(self.fitted_attributes()) from None
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def fitted_attributes(self) -> list[str]:
        """The names of what training has made known, in order; none before."""
        model = self.model
        if model is None:
            return []
        own = {name for name, value in vars(type(self)).items() if is_fitted_name(name) and self._answers(value)}
        named = {"feature_names_in_"} if model.context.feature_names is not None else set()
        return sorted(own | named | model.attributes().keys())

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
        """BibTeX of exactly the methods in use, one entry for each key."""
        used = [registry.ask_hook(self.manager, "structperc_update", options_alone(self))]
        if self.model is not None:
            used = [part for _, part in self.model.parts.items()]
        return bibliography([*self.loaded_plugins[1:], *(part for part in used if part is not None)])

    def card(self, X=None, y=None, *, offsets=None, lengths=None, groups=None, name=None, data=None):
        """The model card: problem, labels, columns, training, measures, largest weights, citation, version and checksum.

        Parameters
        ----------
        X, y, offsets, lengths, groups : optional
            Held-out examples, as `fit` takes them; measures are those of their predictions. Without them the card has none.
        name : str, optional
            The model's name; default: that of its problem.
        data : str, optional
            The examples' name.

        Returns
        -------
        structperc.engine.model_card.ModelCard
            `str` of it is Markdown, with front matter as model hubs read it; `save(path)` writes .md or .html. The owner fills in
            the section "Intended use".

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            Examples do not fit the model.

        Examples
        --------
        >>> from structperc import Engine
        >>> card = Engine("cusum", epochs=9).fit([[0.0], [1.0], [2.0]], [1, 2, 3]).card(name="grader")
        >>> [line for line in str(card).splitlines() if line.startswith("## ")][:4]
        ['## Intended use', '## What it predicts', '## Training', '## Measures']
        """
        from structperc.engine.model_card import card_of

        return card_of(self, X, y, offsets, lengths, groups, name, data)

    # ---- persistence ----

    def save(self, path):
        """Writes the trained model to one file without pickle; see `structperc.engine.model_file`."""
        from structperc.engine.model_file import save

        save(self, path)

    def export(self, path, to):
        """Writes a trained model as one file of another language, which needs no structperc.

        Parameters
        ----------
        path : path
            Functions are called by the file's name, where the language has names.
        to : {"numpy", "c", "js", "onnx", "safetensors", "html"}
            A Python module on numpy, a C99 source file, a script for browsers and Node, an ONNX graph of core operators in float64,
            the weights alone, or a page with a form, its answer and the reasons (ranks and classes).

        Raises
        ------
        PluginError
            Outputs are neither one label for each row nor a chain of labels for the tokens of a sentence; scores are not linear, as those
            of a kernel; a plugin replaces the problem's outputs, features or argmax; `argmax` or `decode` is Python code; the names of
            features are hashed, or stand beside vectors; "onnx" for tokens of text.
        OptionError
            For an unknown `to`.
        MissingExtra
            "onnx" needs the package onnx.

        Notes
        -----
        Scores are W x + b for every label, also of ranks; of chains for every token, with scores of neighbouring labels, -inf where
        these are forbidden. Tokens are what `predict` takes: rows of numbers, features in lists or dicts, or strings for a template.
        Features without weights are left out. Sums are taken in another order than here, so that scores agree to rounding, and labels
        where no two scores are as close. Names of columns, labels and the tie rule are kept. A model of tables takes the columns
        of numbers that a table becomes; the form of the page takes those of the table.

        Examples
        --------
        >>> import pathlib, runpy, tempfile
        >>> from structperc import Engine
        >>> engine = Engine("cusum", epochs=9).fit([[0.0], [1.0], [2.0]], [1, 2, 3])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     engine.export(pathlib.Path(folder) / "grader.py", to="numpy")
        ...     grader = runpy.run_path(f"{folder}/grader.py")
        >>> grader["predict"]([[0.0], [2.0]]).tolist()
        [1, 3]
        """
        from structperc.engine.exports import export

        export(self, path, to)

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

    def _repr_html_(self):
        from structperc.engine.cards import engine_card

        return engine_card(self)

    def __repr__(self):
        return f"Engine({', '.join([repr(self.problem), *(f'{name}={value!r}' for name, value in changed_options(self).items())])})"


def is_fitted_name(name) -> bool:
    """Whether a name is one of what training makes known."""
    return name.endswith("_") and not name.startswith("_")
