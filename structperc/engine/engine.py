"""The engine: names its plugins, asks each for its part, and drives the parts over data."""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, Any

import numpy as np

from structperc.core.errors import NotFittedError, OptionError, PluginError, no_attribute, shortened
from structperc.engine import plugins as registry
from structperc.engine.assembly import options_alone
from structperc.engine.builtin import BuiltinParts
from structperc.engine.citations import bibliography
from structperc.engine.fitted_names import FittedNames
from structperc.engine.fitting import EngineCalls
from structperc.engine.model import Model, NoAttribute, read_for
from structperc.engine.option import options_of
from structperc.engine.options import EngineOptions, changed_options, check_plugin_options, given_parts, n_threads, read_given
from structperc.engine.presets import settle
from structperc.engine.threads import predicted

if TYPE_CHECKING:
    from typing_extensions import Self

    from structperc.engine.explanation import Explanation
    from structperc.engine.model_card import ModelCard

BUILTIN = registry.Plugin("builtin", BuiltinParts(), "structperc")
REQUIRED = ("structperc_outputs", "structperc_features", "structperc_argmax")


class Engine(EngineCalls, EngineOptions, FittedNames):
    """Trains a predictor of structures online.

    Options that the plugins declare are further parameters.

    Parameters
    ----------
    problem : str or plugin object
        The plugin that defines the problem: "cusum", "prank", "multiclass", "sequence", or another.

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
        mistakes that are left), "max_epochs", "levelled_off", "early_stopped" or "interrupted".
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
    >>> engine = Engine("cusum", classes=["low", "middle", "high"], random_state=0).fit(X, y)
    >>> engine.predict([[-3.0], [3.0]]).tolist()
    ['low', 'high']
    >>> engine.epochs, engine.average, Engine("cusum", preset="paper").epochs
    (20, True, 1)
    """

    def __init__(self, problem=None, **plugin_options) -> None:
        if problem is None:
            raise PluginError("an engine needs a problem first: Engine('cusum'), for instance; `structperc plugins` lists them all.")
        declared = options_of(type(self))
        own = {name: plugin_options.pop(name) for name in (*plugin_options,) if name in declared}
        own = {name: read_given(declared[name], name, value) for name, value in own.items() if value is not declared[name].unset}
        self.problem = problem
        self.__attrs_init__(**own)
        parts = given_parts(self)
        self.loaded_plugins = [BUILTIN, *(registry.load(p) for p in (problem, *self.plugins, *parts.values()))]
        for (name, part), plugin in zip(parts.items(), self.loaded_plugins[2 + len(self.plugins):], strict=True):
            if plugin.hooks != (f"structperc_{name}",):
                raise OptionError(f"{name}={shortened(part)}; expected a name, or an object of a subclass of "
                                  f"structperc.components.{name.title()}. Other parts go into plugins=[...].")
        self.plugin_options = check_plugin_options(self.loaded_plugins, plugin_options, registry.parts_with)
        self.preset_values = settle(self, own, plugin_options)
        self.manager = registry.manager(self.loaded_plugins)
        for hook in REQUIRED:
            if not getattr(self.manager.hook, hook).get_hookimpls():
                names = ", ".join(p.name for p in self.loaded_plugins[1:])
                raise PluginError(f"no part for {hook}: none of the plugins ({names}) answers it. Name a problem first, "
                                  f"for instance Engine('cusum', plugins=[...]).")
        self.answered = {}          # the plugin that has answered each hook last
        self.notes = {}

    # ---- training ----

    def stop(self) -> None:
        """Stops training after this epoch. For callbacks."""
        if self.run is None:
            raise NotFittedError("stop() was called while nothing is being trained; call it from structperc_epoch_end.")
        self.run.stop_requested = True

    def keep_weights(self) -> None:
        """Has the online training that is under way end with the weights of now, unless this is called again; for observers.

        It costs a copy of the weights. Ctrl-C, and trainers that solve one problem over all examples, end with their last weights.
        """
        if self.run is None:
            raise NotFittedError("keep_weights() was called while nothing is being trained; call it from structperc_epoch_end.")
        self.run.keep_weights()

    def tell(self, record) -> None:
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

    def read(self, X, *, offsets=None, lengths=None, groups=None, allowed=None) -> Any:
        """Rows like those of the training, as the methods of `model_` take them; parameters as in `fit`."""
        return read_for(self.model_, X, offsets, lengths, groups, allowed)

    def predict_rows(self, rows) -> np.ndarray:
        """What `predict` answers, for rows that `read` has read."""
        return predicted(self.model_, rows, n_threads(self.n_jobs))

    def predict_k_best(self, X, k, *, offsets=None, lengths=None, groups=None, allowed=None) -> list[list[tuple[Any, float]]]:
        """The k structures of largest score of each example, each with its score.

        Parameters
        ----------
        X, offsets, lengths, groups, allowed
            As in `fit`.
        k : int
            At least 1.

        Returns
        -------
        list of n_examples lists of (output, score)
            Best first, at most k; fewer where there are fewer. Outputs are as `predict` shows them, and the first is what `predict`
            returns. Structures of the same atoms count once. Where scores tie, the solver's rule decides; where all structures are
            enumerated, the earlier one comes first.

        Raises
        ------
        OptionError
            For a k that is no whole number, or below 1.
        PluginError
            The solver has no list of the k best, and the outputs cannot be enumerated, or are more than 100,000.

        Notes
        -----
        A score is w . Phi(x, y). Differences of scores, divided by `temperature_`, are differences of `log_probability`, but of ordered
        labels, whose probabilities are cumulative. The cost is that of the solver, for chains O(k) times that of `predict`.

        Examples
        --------
        >>> from structperc import Engine
        >>> engine = Engine("multiclass", preset="paper", epochs=9).fit([[-1.0], [1.0], [3.0]], ["a", "b", "b"])
        >>> for output, score in engine.predict_k_best([[2.0]], k=2)[0]:
        ...     print(output, score)
        b 3.0
        a -3.0
        """
        model = self.model_
        return model.predict_k_best(read_for(model, X, offsets, lengths, groups, allowed), k)

    def log_probability(self, X, y, *, offsets=None, lengths=None, groups=None, allowed=None) -> np.ndarray:
        """The logarithm of the probability of given outputs, p(y) proportional to exp(score of y / `temperature_`).

        Parameters
        ----------
        X, offsets, lengths, groups, allowed
            As in `fit`. With `allowed`, probabilities are those among the allowed outputs.
        y : list of n_examples outputs
            As `predict` shows them.

        Returns
        -------
        ndarray of shape (n_examples,)
            At most 0. Of ordered labels the probabilities are those of `predict_proba`. Training by perceptron or margin fits no
            probabilities: `calibrate` does.

        Raises
        ------
        DataError
            An output is not one that the example can have.
        PluginError
            The solver has no log-partition, and the outputs cannot be enumerated, or are more than 100,000.

        Examples
        --------
        >>> from structperc import Engine
        >>> engine = Engine("sequence", preset="paper", epochs=9).fit([[["the"], ["cat"]], [["cat"], ["the"]]], [["D", "N"], ["N", "D"]])
        >>> engine.log_probability([[["the"], ["cat"]]] * 2, [["D", "N"], ["N", "D"]]).round(3).tolist()
        [-0.053, -4.053]
        """
        model = self.model_
        return model.log_probability(read_for(model, X, offsets, lengths, groups, allowed), y)

    def margins(self, X, *, offsets=None, lengths=None, groups=None, allowed=None) -> np.ndarray:
        """By how much the best structure of each example leads the next one, shape (n_examples,); 0: a tie, inf: there is no other."""
        model = self.model_
        return model.margins(read_for(model, X, offsets, lengths, groups, allowed))

    def optimality_gaps(self, X, *, offsets=None, lengths=None, groups=None, allowed=None) -> np.ndarray:
        """By how much the score of another structure may exceed that of each answer, at most, shape (n_examples,).

        0: the answer is optimal; inf: the solver is approximate and knows no bound. Parameters as in `predict`.
        """
        model = self.model_
        return model.optimality_gaps(read_for(model, X, offsets, lengths, groups, allowed))

    def predict_marginals(self, X, *, offsets=None, lengths=None, groups=None, allowed=None, kind="sum") -> np.ndarray:
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

    def atom_scores(self, X, *, offsets=None, lengths=None, groups=None) -> np.ndarray | list[np.ndarray]:
        """The scores w . phi(x, a): (n_examples, n_atoms), or a list of arrays when examples differ in their atoms."""
        model = self.model_
        return model.atom_scores(read_for(model, X, offsets, lengths, groups))

    def label_scores(self, X, *, offsets=None, lengths=None, groups=None) -> np.ndarray:
        """The score of every label for each example, shape (n_examples, n_labels), of problems with one label per example.

        Columns are in the order of `classes_`. The label of largest score is the prediction; at a tie the problem's rule decides.
        """
        model = self.model_
        return model.label_scores(read_for(model, X, offsets, lengths, groups))

    def predict_proba(self, X, *, offsets=None, lengths=None, groups=None) -> np.ndarray:
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
        >>> engine = Engine("prank", preset="paper", epochs=20).fit([[-1.0], [1.0], [3.0]], [1, 2, 3])
        >>> engine.predict_proba([[0.0], [9.0]]).round(3).tolist()
        [[0.731, 0.15, 0.119], [0.0, 0.001, 0.999]]
        """
        model = self.model_
        return np.exp(model.log_probabilities(read_for(model, X, offsets, lengths, groups)))

    def explain(self, x, *, against=None, baseline=None, groups=None) -> Explanation:
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
        >>> engine = Engine("prank", preset="paper", epochs=9, scale=True).fit([[150.0, 1.0], [170.0, 3.0], [190.0, 2.0]], [1, 2, 3])
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
    def classes_(self) -> np.ndarray:
        labels = self.model_.context.labels
        if labels is None:
            raise AttributeError("the outputs of this problem have no labels, hence no classes_; scikit-learn's cross_val_predict takes "
                                 "method=\"predict\".")
        return labels

    @property
    def n_features_in_(self) -> int:
        model = self.model_
        return model.parts.reader.n_inputs(model.context.n_features)

    def feature_name(self, j) -> str:
        """The name of column j, as `explain` shows it: that of X, the one that the reader gave it, or x[j]."""
        return self.model_.feature_name(j)

    @property
    def online_predictions_(self) -> np.ndarray:
        online = self.model_.record("online")
        if online is None:
            raise AttributeError("online_predictions_ is kept only by fit and partial_fit with keep_online=True.")
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
                    return np.array(model.parts.reader.input_names(model.context.feature_names), dtype=object)
                own = getattr(type(self), name, None)
                if isinstance(own, property):
                    return own.fget(self)       # a property that raised AttributeError: once more, for its sentence
                try:
                    return model.attribute(name)
                except NoAttribute as error:
                    raise error.of(f"Engine({shortened(self.problem)})").listing(self.fitted_attributes()) from None
            raise no_attribute(self, name)

    def fitted_attributes(self) -> list[str]:
        """The names of what training has made known, in order; none before."""
        model = self.model
        if model is None:
            return []
        own = {name for name in dir(type(self)) if is_fitted_name(name) and self._answers(getattr(type(self), name))}
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

    def card(self, X=None, y=None, *, offsets=None, lengths=None, groups=None, name=None, data=None) -> ModelCard:
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

    def save(self, path) -> None:
        """Writes the trained model to one file without pickle; see `structperc.engine.model_file`."""
        from structperc.engine.model_file import save

        save(self, path)

    def export(self, path, to=None) -> None:
        """Writes a trained model as one file of another language, which needs no structperc.

        Parameters
        ----------
        path : path
            Functions are called by the file's name, where the language has names.
        to : {"numpy", "c", "js", "onnx", "onnx-float32", "safetensors", "html"}, default: by the ending of `path`
            A Python module on numpy, a C99 source file, a script for browsers and Node, an ONNX graph of core operators in float64, the
            same with an input of float32, the weights only, or a page with a form, its answer and the reasons (ranks and classes).

        Raises
        ------
        PluginError
            Outputs are neither one label for each row nor a chain of labels for the tokens of a sentence; scores are not linear, as those
            of a kernel; a plugin replaces the problem's outputs, features or argmax; `argmax` or `decode` is Python code; the names of
            features are hashed, or stand beside vectors; "onnx" for tokens of text.
        OptionError
            For an unknown `to`, or an ending that names no format.
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
    def load(cls, path, plugins=(), **options) -> Self:
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
        changed = (f"{name}={value!r}" for name, value in changed_options(self).items())
        return f"{type(self).__name__}({', '.join([repr(self.problem), *changed])})"


def is_fitted_name(name) -> bool:
    """Whether a name is one of what training makes known."""
    return name.endswith("_") and not name.startswith("_")
