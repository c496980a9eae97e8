"""The engine: names its plugins, asks each for its part, and drives the parts over data."""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from structperc.core.errors import NotFittedError, OptionError, PluginError, no_attribute, shortened
from structperc.engine import plugins as registry
from structperc.engine.builtin import BuiltinParts
from structperc.engine.calls import CheckedCalls
from structperc.engine.citations import bibliography, parts_in_use
from structperc.engine.engine_core import EngineCore
from structperc.engine.fitted_names import FittedNames
from structperc.engine.model import Model, NoAttribute, read_for
from structperc.engine.option import options_of, same
from structperc.engine.options import EngineOptions, changed_options, check_plugin_options, given_parts, n_threads, read_given
from structperc.engine.presets import settle
from structperc.engine.threads import predicted

if TYPE_CHECKING:
    from typing_extensions import Self

    from structperc.engine.explanation import Explanation
    from structperc.engine.model_card import ModelCard

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
        own = {name: plugin_options.pop(name) for name in (*plugin_options,) if name in declared}
        own = {name: read_given(declared[name], name, value) for name, value in own.items() if value is not declared[name].unset}
        self.problem = problem
        super().__init__(**own)
        parts = given_parts(self)
        self.loaded_plugins = [BUILTIN, *(registry.load(p) for p in (problem, *self.plugins, *parts.values()))]
        for (name, part), plugin in zip(parts.items(), self.loaded_plugins[2 + len(self.plugins):], strict=True):
            if plugin.hooks != (f"structperc_{name}",):
                raise OptionError(f"{name}={shortened(part)}; expected a name, or an object of a subclass of "
                                  f"structperc.components.{name.title()}. Other parts go into plugins=[...].")
        self.plugin_options = check_plugin_options(self.loaded_plugins, plugin_options, registry.options_of_parts)
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
        """Stop training after this epoch. For callbacks.

        Raises
        ------
        NotFittedError
            If the engine is not being trained.
        """
        if self.run is None:
            raise NotFittedError("stop() was called while nothing is being trained; call it from structperc_epoch_end.")
        self.run.stop_requested = True

    def keep_weights(self) -> None:
        """Mark the current weights as the result of online training, until the next call. For callbacks.

        Cost: a copy of the weights. After Ctrl-C, and with trainers that solve one problem over all examples, the last weights remain the
        result.

        Raises
        ------
        NotFittedError
            If the engine is not being trained.
        """
        if self.run is None:
            raise NotFittedError("keep_weights() was called while nothing is being trained; call it from structperc_epoch_end.")
        self.run.keep_weights()

    # ---- prediction ----

    @property
    def model_(self) -> Model:
        """What training made; its methods read X once and score it."""
        model = self.model
        if model is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet; call fit or partial_fit first.")
        return model

    def read(self, X, *, offsets=None, lengths=None, groups=None, allowed=None) -> Any:
        """Encode X once, for several methods of `model_`.

        Parameters
        ----------
        X, offsets, lengths, groups, allowed
            As in `fit`.

        Returns
        -------
        Rows

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If X does not fit the model.
        """
        return read_for(self.model_, X, offsets, lengths, groups, allowed)

    def predict_rows(self, rows) -> np.ndarray:
        """`predict` of rows that `read` returned.

        Parameters
        ----------
        rows : Rows
            As `read` returns them.

        Returns
        -------
        ndarray of shape (n_examples,)
        """
        return predicted(self.model_, rows, n_threads(self.n_jobs))

    def predict_k_best(self, X, k, *, offsets=None, lengths=None, groups=None, allowed=None) -> list[list[tuple[Any, float]]]:
        """The k best structures of each example, each with its score (n-best list).

        Ties: the solver's rule decides. If all structures are enumerated, the earlier one comes first.
        Cost: that of the solver; for chains O(k) times that of `predict`.

        Parameters
        ----------
        X
            As in `fit`.
        k : int
            Number of structures, at least 1.
        offsets, lengths, groups, allowed
            As in `fit`.

        Returns
        -------
        list of n_examples lists of (output, score)
            Best first; fewer than k if there are fewer. Outputs have the form of `predict`, and the first is its prediction.
            Structures with the same atoms count once.

        Raises
        ------
        OptionError
            If k is not a whole number from 1.
        PluginError
            If the solver has no k best structures, and the outputs cannot be enumerated or are more than 100,000.

        Notes
        -----
        A score is w . Phi(x, y). Differences of scores, divided by `temperature_`, are differences of `log_probability`.
        Ordered labels are an exception: their probabilities are cumulative.

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
        """Log probability of given outputs, where p(y) is proportional to exp(score of y / `temperature_`).

        Parameters
        ----------
        X
            As in `fit`.
        y : list of n_examples outputs
            In the form of `predict`.
        offsets, lengths, groups, allowed
            As in `fit`. With `allowed`, probabilities are those among the allowed outputs.

        Returns
        -------
        float64 array of shape (n_examples,)
            At most 0. For ordered labels, the logarithms of `predict_proba`.

        Raises
        ------
        DataError
            If an output is impossible for its example.
        PluginError
            If the solver has no log partition function, and the outputs cannot be enumerated or are more than 100,000.

        Notes
        -----
        Training with a perceptron or a margin does not fit probabilities; set `calibrate` to fit a temperature.

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
        """Margin of the best structure of each example: its score minus that of the runner-up.

        Parameters
        ----------
        X, offsets, lengths, groups, allowed
            As in `fit`.

        Returns
        -------
        float64 array of shape (n_examples,)
            0: a tie; inf: there is no other structure.

        Raises
        ------
        PluginError
            If the problem's solver cannot find the two best structures.
        """
        model = self.model_
        return model.margins(read_for(model, X, offsets, lengths, groups, allowed))

    def optimality_gaps(self, X, *, offsets=None, lengths=None, groups=None, allowed=None) -> np.ndarray:
        """Upper bound on how much larger another structure's score may be than that of each prediction.

        Parameters
        ----------
        X, offsets, lengths, groups, allowed
            As in `fit`.

        Returns
        -------
        float64 array of shape (n_examples,)
            0: the prediction is optimal; inf: the solver is approximate and has no bound.
        """
        model = self.model_
        return model.optimality_gaps(read_for(model, X, offsets, lengths, groups, allowed))

    def predict_marginals(self, X, *, offsets=None, lengths=None, groups=None, allowed=None, kind="sum") -> np.ndarray:
        """Marginals of the atoms of each example over all its structures.

        Parameters
        ----------
        X, offsets, lengths, groups, allowed
            As in `fit`.
        kind : {"sum", "max"}, default "sum"
            "sum": the expected number of each atom if p(y) is proportional to `exp(score of y / temperature_)`. For single labels it is as
            in `predict_proba`. "max": the score of the best structure with the atom, -inf if there is none.

        Returns
        -------
        ndarray of shape (n_examples,), dtype object
            Arrays over atoms, or another form that the problem documents, such as (n_tokens, n_labels) for sentences.

        Raises
        ------
        PluginError
            If the problem's solver has no marginals.

        Notes
        -----
        Training with a perceptron or a margin does not fit probabilities; set `calibrate` to fit a temperature.
        """
        model = self.model_
        return model.marginals(read_for(model, X, offsets, lengths, groups, allowed), kind)

    def atom_scores(self, X, *, offsets=None, lengths=None, groups=None) -> np.ndarray | list[np.ndarray]:
        """The scores w . phi(x, a) of all atoms a of each example.

        Parameters
        ----------
        X, offsets, lengths, groups
            As in `fit`.

        Returns
        -------
        float64 array of shape (n_examples, n_atoms)
            A list of arrays if examples differ in their atoms.
        """
        model = self.model_
        return model.atom_scores(read_for(model, X, offsets, lengths, groups))

    def label_scores(self, X, *, offsets=None, lengths=None, groups=None) -> np.ndarray:
        """The score of every label for each example, of problems with one label for each example.

        Ties: the label with the largest score is the prediction; at a tie the problem's rule decides.

        Parameters
        ----------
        X, offsets, lengths, groups
            As in `fit`.

        Returns
        -------
        float64 array of shape (n_examples, n_labels)
            Columns in the order of `classes_`.

        Raises
        ------
        PluginError
            If outputs are not one label for each example.
        """
        model = self.model_
        return model.label_scores(read_for(model, X, offsets, lengths, groups))

    def predict_proba(self, X, *, offsets=None, lengths=None, groups=None) -> np.ndarray:
        """Class probabilities of each example, of problems with one label for each example.

        Parameters
        ----------
        X, offsets, lengths, groups
            As in `fit`.

        Returns
        -------
        float64 array of shape (n_examples, n_labels)
            Columns in the order of `classes_`; each row sums to 1.

        Raises
        ------
        PluginError
            If outputs are not one label for each example; use `predict_marginals` there.

        See Also
        --------
        label_scores : scores instead of probabilities.

        Notes
        -----
        - Classes, and ordered labels with the update "log-loss": proportional to exp(`label_scores` / `temperature_`).
        - Ordered labels: P(y > k) = 1 / (1 + exp(-v_k / `temperature_`)), v the scores of the atoms "rank > k". Scores out of order are
          pooled. If `spread_` is positive, `spread_` * (c - k) is added to v_k / `temperature_`, where v changes its sign at c.
          The median is the prediction; the most probable label may be another one.

        Training with a perceptron or a margin does not fit probabilities; set `calibrate` to fit a temperature.

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
        """Why x got its prediction: the margin over a rival, split exactly by atom and feature.

        The contribution of a column is its weight times its distance from a baseline. For a fixed winner and rival these are the Shapley
        values of the margin if columns are independent.

        Ordered labels that thresholds cut along one direction (`prank`) have no rival, unless `against` names one. Their contributions
        lead from the score of the baseline to that of x: what is positive raises the score, towards higher labels.

        A kernel has no weights of columns. The contribution of a training row is then its coefficient times its kernel value with x.

        Parameters
        ----------
        x : one example
            As `predict` reads it.
        against : output, optional
            The rival, in the form in which `predict` returns outputs. Default: the runner-up, or with one direction none.
        baseline : {"mean", "zero"} or one row, optional
            Values that columns are compared with. "mean": the mean of the training rows, weighted by `sample_weight`; a row equal to it
            has no contributions. "zero": weight times value. A row: its values. Default: "mean" for rows of numbers, "zero" for named
            features, for kernels and for models without means.
        groups : dict of str to list, optional
            Columns, by name or number, whose contributions are summed under one name. Columns that the option `one_hot` made of one
            column are always a group.

        Returns
        -------
        structperc.engine.explanation.Explanation
            Contributions and constants sum to its `total`: the margin, or on the way to a score the score. The constant of an atom is
            its part at the baseline. Training rows of a kernel have the numbers of `support_`.

        Raises
        ------
        OptionError
            If there is no such baseline, a group names no column, or a kernel is asked for groups.
        DataError
            If x is not one example.

        See Also
        --------
        structperc.explain : pipelines and searches too.
        structperc.counterfactual : the smallest change that gets another prediction.

        References
        ----------
        S. M. Lundberg and S.-I. Lee: A unified approach to interpreting model predictions. Advances in Neural Information Processing
        Systems 30, pages 4765-4774, 2017.

        Examples
        --------
        >>> from structperc import Engine
        >>> engine = Engine("prank", preset="paper", epochs=9, scale=True).fit([[150.0, 1.0], [170.0, 3.0], [190.0, 2.0]], [1, 2, 3])
        >>> [c.feature for c in engine.explain([150.0, 3.0]).contributions]
        ['x[0]', '(constant)', 'x[1]']
        >>> [c.feature for c in engine.explain([170.0, 2.0]).contributions]         # the mean row
        ['(constant)']
        """
        from structperc.engine.explanation import explain

        model = self.model_
        return model.lock.read(explain, model, x, against, baseline, groups)

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

        Returns
        -------
        str
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
                    raise error.of(f"Engine({shortened(self.problem)})").listing(self.fitted_attributes()) from None
            raise no_attribute(self, name)

    def fitted_attributes(self) -> list[str]:
        """Names of the fitted attributes.

        Returns
        -------
        list of str
            Sorted; empty before training.
        """
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
        """BibTeX of the methods in use, one entry for each key.

        Returns
        -------
        str
        """
        return bibliography([*self.loaded_plugins[1:], *parts_in_use(self)])

    def card(self, X=None, y=None, *, offsets=None, lengths=None, groups=None, name=None, data=None) -> ModelCard:
        """The model card: problem, labels, columns, training, measures, largest weights, citation, version and checksum.

        Parameters
        ----------
        X, y, offsets, lengths, groups : optional
            Held-out examples, as in `fit`, for the section of measures. Default: no measures.
        name : str, optional
            Name of the model. Default: that of its problem.
        data : str, optional
            Name of the held-out examples.

        Returns
        -------
        structperc.engine.model_card.ModelCard
            `str(card)` is Markdown with the front matter of model hubs; `card.save(path)` writes .md or .html. Write the section
            "Intended use" yourself.

        Raises
        ------
        NotFittedError
            Before `fit`.
        DataError
            If examples do not fit the model.

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
        """Write the trained model to one file, without pickle.

        Parameters
        ----------
        path : path or file opened for bytes
            The file appears only when it is complete.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ModelFormatError
            If a part cannot be saved.

        See Also
        --------
        load : read the file.
        export : files that need no structperc.
        """
        from structperc.engine.model_file import save

        save(self, path)

    def export(self, path, to=None) -> None:
        """Export a trained model as one file of another language, which needs no structperc.

        Parameters
        ----------
        path : path
            File to write. Its name is the prefix of functions in languages that need one.
        to : {"numpy", "c", "js", "onnx", "onnx-float32", "safetensors", "html"}, optional
            "numpy": a Python module. "c": a C99 source file. "js": a script for browsers and Node. "onnx": a graph of core operators in
            float64. "onnx-float32": the same with an input of float32. "safetensors": the weights only. "html": a page with a form, the
            prediction and its reasons (ordered labels and classes). Default: by the ending of `path`.

        Raises
        ------
        PluginError
            If the model has no export: see Notes.
        OptionError
            If `to` or the ending names no format.
        MissingExtra
            If "onnx" is chosen and the package onnx is not installed.

        Notes
        -----
        - Outputs must be one label for each row, or a chain of labels for the tokens of a sentence. Scores must be linear.
        - The problem's own outputs, features and argmax must be in use, with `argmax` and `decode` in compiled code.
        - Hashed feature names, names beside vectors, and "onnx" for tokens of text are not supported.
        - The functions compute W x + b for every label. For chains they compute scores for every token and for neighbouring labels, -inf if
          these are forbidden.
        - Tokens have the form that `predict` reads: rows of numbers, features in lists or dicts, or strings for a template.
        - Features without weights are left out. Names of columns, labels and the tie rule are kept.
        - Sums have another order than in structperc. Scores agree to rounding, and so do labels unless two scores are that close.
        - A model of tables needs the columns of numbers that a table becomes. The form of the page has the columns of the table.

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
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : path or file opened for bytes
            The model file.
        plugins : sequence of plugin objects or components
            Unnamed objects that you passed to the constructor.
        **options
            Functions that you passed to the constructor as options, such as a kernel; a model file has only their names.

        Returns
        -------
        Engine

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


def is_fitted_name(name) -> bool:
    """Whether a name is one of what training makes known."""
    return name.endswith("_") and not name.startswith("_")
