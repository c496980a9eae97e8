"""The estimator of any problem, and what it shares with those of one problem in plugins' packages.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import numpy as np

from structperc import metrics
from structperc.core.outputs import right_outputs
from structperc.errors import DataError, OptionError
from structperc.estimators.base import ATTRIBUTES, EngineEstimator, declared, weighted_mean
from structperc.estimators.keeping import Answers
from structperc.fitting.option import Option, option
from structperc.fitting.options import InterceptOptions, LabelOptions, LabelWeightOptions
from structperc.metrics.engines import loss_name
from structperc.reading.groups import Groups

if TYPE_CHECKING:
    from typing_extensions import Self

    from structperc.engine.explanation import Explanation

__all__ = ["ExampleEstimator", "LabelOptions", "ProblemEstimator", "StructuredEstimator", "declared", "option_of"]

WHERE = ("lengths", "groups", "allowed")
WITHOUT_LABELS = ATTRIBUTES.replace("""
    classes_ : ndarray
        The labels in order.""", "")


class ExampleEstimator(EngineEstimator, InterceptOptions):
    """Base of estimators whose examples have any form, with an output for each.
    See also `ProblemEstimator` (the base for one problem) and `StructuredEstimator` (any problem, by name).

    Examples
    --------
    >>> from structperc.estimators import SegmentTagger
    >>> from structperc.estimators.structured import ExampleEstimator
    >>> issubclass(SegmentTagger, ExampleEstimator)
    True
    """

    _other_score: ClassVar[str] = "Pass scoring=, or score with a loss that is a function of the labels."

    def fit(self, X, y=None, lengths=None, groups=None, allowed=None, sample_weight=None, costs=None) -> Self:
        """Trains from nothing.

        Parameters
        ----------
        X, y
            Examples and their outputs, as the problem takes them.
        lengths : array-like of int, shape (n_examples,), optional
            How many rows of X each example has.
        groups : array-like of shape (n_rows,), optional
            Which example each row of X belongs to, instead of `lengths`.
        allowed : sequence, optional
            What each example's output may be, as the problem takes it.
        sample_weight : array-like of shape (n_examples,), optional
            Scales the steps of "latent" and "perceptron" and the C of "pa1" and "pa2". Weight 0 leaves the example out.
        costs : array-like of shape (n_examples, n_labels), optional
            Each example's costs, for loss="costs".

        Returns
        -------
        self
            A failed fit leaves it as it was; Ctrl-C keeps what was learned, sets `status_` and is raised again.
        """
        self._refuse_none(X, y)
        return self._train(self._engine(), "fit", X, y, lengths=lengths, groups=groups, allowed=allowed, sample_weight=sample_weight,
                           costs=costs)

    def partial_fit(self, X, y=None, lengths=None, groups=None, allowed=None, sample_weight=None, costs=None) -> Self:
        """One pass over a part of the data, continuing from what fit or partial_fit learned; parameters as in `fit`.

        Returns
        -------
        Self
            The estimator.
        """
        self._refuse_none(X, y)
        engine = vars(self).get("engine_")
        if engine is not None:
            self._refuse_changes()
            self._compare(X)
        return self._train(engine or self._engine(), "partial_fit", X, y, lengths=lengths, groups=groups, allowed=allowed,
                           sample_weight=sample_weight, costs=costs)

    def predict(self, X, lengths=None, groups=None, allowed=None, k=None) -> list[Any] | np.ndarray:
        """The structure of largest score for each example. Returns a list, or ndarray where the engine returns one of numbers or texts.

        For numpy the list is an array with one structure in each entry, as `cross_val_predict` puts them together.

        Parameters
        ----------
        k : int, optional
            Return a list of the k best structures of each example, best first.
        """
        answers = self._trained_for(X).predict(X, lengths=lengths, groups=groups, allowed=allowed, k=k)
        return Answers(answers) if answers.dtype == object else answers

    def score(self, X, y, lengths=None, groups=None, allowed=None, sample_weight=None) -> float:
        """Minus the mean loss of the predictions: higher is better, 0 is perfect.

        The loss is the one trained with, the option `loss` or the problem's own; compare models of one loss only.
        Returns a float. At most 0.

        Parameters
        ----------
        sample_weight : array-like of shape (n_examples,), optional
            What each example counts.
        """
        self._refuse_none(X, y)
        engine = self._trained_for(X)
        predicted = not_none(engine.predict(X, lengths=lengths, groups=groups, allowed=allowed))
        losses = metrics.losses(engine, X, y, lengths=lengths, groups=groups, predicted=predicted)
        if losses is None:
            raise DataError(f"{loss_name(engine)} only has the costs of training examples, so score has none for predictions. "
                            f"{self._other_score}")
        return -weighted_mean(losses, sample_weight)

    def predict_k_best(self, X, k, lengths=None, groups=None, allowed=None) -> list[list[tuple[Any, float]]]:
        """The k structures of largest score of each example, best first: a list of lists of (output, score); see `Engine.predict_k_best`.

        Parameters
        ----------
        k : int
            At least 1.
        """
        return self._trained_for(X).predict_k_best(X, k, lengths=lengths, groups=groups, allowed=allowed)

    def log_probability(self, X, y, lengths=None, groups=None, allowed=None) -> np.ndarray:
        """The logarithm of the probability of given outputs, shape (n_examples,); see `Engine.log_probability`.

        Parameters
        ----------
        y : list of n_examples outputs
            As `predict` shows them.
        """
        return self._trained_for(X).log_probability(X, y, lengths=lengths, groups=groups, allowed=allowed)

    def margins(self, X, lengths=None, groups=None, allowed=None) -> np.ndarray:
        """By how much the best structure of each example leads the second best, shape (n_examples,); 0: a tie, inf: there is no other."""
        return self._trained_for(X).margins(X, lengths=lengths, groups=groups, allowed=allowed)

    def optimality_gaps(self, X, lengths=None, groups=None, allowed=None) -> np.ndarray:
        """Upper bound on how much larger another structure's score may be, shape (n_examples,); 0: the prediction is optimal."""
        return self._trained_for(X).optimality_gaps(X, lengths=lengths, groups=groups, allowed=allowed)

    def explain(self, x, against=None, baseline=None, groups=None) -> Explanation:
        """Why x got its prediction: the winner's score minus a rival's, split exactly by atom and feature; see `Engine.explain`.

        Parameters
        ----------
        x : one example
            As in `predict`.
        against : output, optional
            The rival. Default: the runner-up.
        baseline : "mean", "zero" or one row, optional
            As in `Engine.explain`.
        groups : dict of str to list, optional
            As in `Engine.explain`.
        """
        return self._trained().explain(x, against=against, baseline=baseline, groups=groups)

    def __sklearn_tags__(self):
        """What scikit-learn's tools should know; for structures it has no type of estimator."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.input_tags.dict = True
        return tags

    def _trained_for(self, X):
        """The engine, after X was compared with what it was trained on."""
        engine = self._trained()
        self._compare(X)
        return engine


@declared
class StructuredEstimator(ExampleEstimator, LabelOptions, LabelWeightOptions):
    """Predicts structures by any problem, custom plugins included, with scikit-learn's manners.

    Attributes
    ----------
    {attributes}
    coef_, ...
        What the plugins document.

    See Also
    --------
    SequenceTagger : labels of tokens.
    StructuredClassifier : classes of rows.
    structperc.Engine : the same without the interface of scikit-learn.

    Notes
    -----
    X is in the form of the problem: rows, blocks of rows, sentences, or objects. Blocks are a list of matrices with any numbers of rows, or
    a matrix with `lengths` or `groups`. y has one output for each example.

    Examples
    --------
    >>> from structperc.estimators import StructuredEstimator
    >>> X, y = [[["the"], ["cat"]], [["a"], ["dog"]], [["cat"], ["the"]]], [["D", "N"], ["D", "N"], ["N", "D"]]
    >>> model = StructuredEstimator(problem="sequence", plugin_options=dict(start=True), random_state=0).fit(X, y)
    >>> model.predict([[["the"], ["dog"]]])
    [['D', 'N']]
    >>> model.score(X, y)
    -0.0
    """

    problem: str | object = option(None, "plugin that defines the problem: a name or an object")

    def _engine(self, **changed):
        if self.problem is None:
            raise OptionError("problem=None; name the problem to predict, such as problem='sequence', or pass a plugin object.")
        return super()._engine(**changed)


class ProblemEstimator(ExampleEstimator):
    """Base of the estimators of one problem in plugins' packages, whose options are the problem's (`option_of`).

    Subclasses set `_problem`, the name of the problem. `_measure` is the measure that `score` returns, one that the outputs report. None
    is `atom_f1`.
    See also `ExampleEstimator` (the base without a fixed problem) and `declared`, `option_of` (for the class and for its parameters).

    Examples
    --------
    >>> from typing import ClassVar
    >>> from structperc.estimators.structured import LabelOptions, ProblemEstimator, declared
    >>> @declared
    ... class Tagger(ProblemEstimator, LabelOptions):
    ...     "Labels of tokens."
    ...     _problem: ClassVar[str] = "sequence"
    ...     _measure: ClassVar[str] = "token accuracy"
    >>> X, y = [[["the"], ["cat"]], [["a"], ["dog"]]], [["D", "N"], ["D", "N"]]
    >>> Tagger(random_state=0).fit(X, y).score(X, y)
    1.0
    """

    _problem: ClassVar[str]
    _measure: ClassVar[str | None] = None
    _texts: ClassVar[dict] = {"attributes": WITHOUT_LABELS, "labelled": ATTRIBUTES}

    def score(self, X, y, lengths=None, groups=None, allowed=None) -> float:
        """The measure that the class names: higher is better, 1 is perfect.

        Raises
        ------
        DataError
            y is written in a form that the measure does not know.
        """
        self._refuse_none(X, y)
        engine = self._trained_for(X)
        predicted = not_none(engine.predict(X, lengths=lengths, groups=groups, allowed=allowed))
        if self._measure is None:
            return atom_f1(engine, X, y, predicted, lengths, groups)
        measured = metrics.measures(engine, X, y, lengths=lengths, groups=groups, predicted=predicted)
        if self._measure not in measured:
            raise DataError(f"the {self._measure} of outputs in this form is not known; there is {', '.join(measured)}, by "
                            f"structperc.metrics.measures.")
        return measured[self._measure]

    def _engine(self, **changed):
        return super()._engine(problem=self._problem, **changed)


def option_of(declared: Option):
    """Declares a parameter that is an option of a plugin, with its default, bounds and help.
    Returns a field. A field of an estimator's class.

    Parameters
    ----------
    declared : Option
        The option of the plugin.

    Examples
    --------
    >>> from structperc import Option
    >>> from structperc.estimators.structured import ProblemEstimator, declared, option_of
    >>> @declared
    ... class Tagger(ProblemEstimator):
    ...     start: bool = option_of(Option(False, help="weights of first labels"))
    >>> Tagger(start=True).start, Tagger().start
    (True, False)
    """
    return option(**attrs.asdict(declared, recurse=False))


def not_none(predicted):
    """Predictions to compare with right outputs, one at least."""
    if not len(predicted):
        raise DataError("X has no examples, so there is nothing to measure.")
    return predicted


def atom_f1(engine, X, y, predicted, lengths=None, groups=None) -> float:
    """F1 of the atoms of predictions, counted over all examples; 1 where neither side has any."""
    model, data = engine.model_, Groups(X, None, lengths, groups)
    rows, outputs = model.read(data.X, data.offsets), model.parts.outputs
    gold = right_outputs(outputs, data.by_rows(y), rows, model.parts.features)
    pairs = zip(gold, outputs.encode_answers(predicted, rows), strict=True)
    shared = total = 0.0
    for i, sides in enumerate(pairs):
        gold, guess = (outputs.count(model.example(rows, i), one) for one in sides)
        shared, total = shared + np.minimum(gold, guess).sum(), total + gold.sum() + guess.sum()
    return float(2 * shared / total) if total else 1.0
