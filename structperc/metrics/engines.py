"""The measures that suit an engine, and its own loss."""

from __future__ import annotations

import inspect
from itertools import pairwise

import attrs
import numpy as np

from structperc.basics.errors import DataError, shortened
from structperc.basics.labels import LabelCodes, is_listed, is_missing, is_nested, python_values
from structperc.core.component import inherits, overrides
from structperc.core.outputs import Outputs, is_ordered, right_outputs
from structperc.core.rows import Rows
from structperc.metrics.intervals import interval_measures
from structperc.metrics.labels import accuracy, accuracy_of, confusion_matrix, macro_f1, rank_measures, rank_measures_of
from structperc.metrics.labels import pairs as label_pairs
from structperc.metrics.tagged_phrases import entries
from structperc.metrics.tokens import unseen_labels
from structperc.reading.frames import is_frame
from structperc.reading.groups import Groups

NAMED_LOSSES = ("absolute", "squared", "zero-one", "hamming", "cost matrix")       # of the library


def losses(engine, X, y, offsets=None, *, lengths=None, groups=None, predicted=None) -> np.ndarray | None:
    """The loss of a trained engine's prediction for each example. Raises `DataError` if y or `predicted` does not fit X.

    Parameters
    ----------
    engine : Engine
        A trained engine.
    X, y, offsets
        Examples, as in `Engine.fit`.
    lengths, groups
        As in `Engine.fit`.
    predicted : sequence, optional
        Result of `engine.predict`, if you have it already.

    Returns
    -------
    ndarray of shape (n_examples,) or None
        None for a loss whose costs only training examples have, such as "costs" and "decision-cost".

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.metrics import losses
    >>> X, y = [[0.0], [1.0], [2.0]], [1, 2, 3]
    >>> losses(Engine("cusum", epochs=20, random_state=0).fit(X, y), X, y, predicted=[1, 1, 1]).tolist()
    [0.0, 1.0, 2.0]
    """
    model, data = model_of(engine, "engine"), Groups(X, offsets, lengths, groups)
    if model.parts.loss.training_only:
        return None
    rows = model.read(data.X, data.offsets)
    return losses_of(model, rows, data.by_rows(y), engine.predict_rows(rows) if predicted is None else predicted)


def losses_of(model, rows, y, predicted) -> np.ndarray | None:
    """`losses` of rows that `Engine.read` returned. Returns an ndarray of shape (n_examples,) or None.

    Parameters
    ----------
    model : Model
        The model of a trained engine, `engine.model_`.
    rows : Rows
        As `engine.read(X)` returns them.
    y : sequence
        Right outputs.
    predicted : sequence
        Predicted outputs.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.metrics import losses_of
    >>> engine = Engine("cusum", preset="paper").fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    >>> losses_of(engine.model_, engine.read([[0.0], [2.0]]), [1, 3], [1, 2]).tolist()
    [0.0, 1.0]
    """
    outputs, loss = parts_of(model, rows).outputs, model.parts.loss
    gold = right_outputs(outputs, y, rows, model.parts.features)            # also where the losses are not known
    if loss.training_only:
        return None
    if outputs.n_labels:
        return for_each_pair(outputs, gold, predicted, lambda i, code: loss.value(gold[i], code))
    answers = outputs.encode_answers(predicted, rows)
    return np.array([loss.value(gold[i], answers[i], model.example(rows, i)) for i in range(rows.n_examples)])


def measures(engine, X, y, offsets=None, *, lengths=None, groups=None, predicted=None) -> dict[str, float]:
    """The standard measures of a trained engine on test data, by name. Raises `DataError` if y or `predicted` does not fit X.
    Returns a dict of str to float. See Notes. See also `best_constant` (the baseline to compare with) and `compare` (two engines).

    Parameters
    ----------
    engine : Engine
        A trained engine.
    X, y, offsets
        Test examples, as in `Engine.fit`.
    lengths, groups
        As in `Engine.fit`.
    predicted : sequence, optional
        Result of `engine.predict`, if you have it already.

    Notes
    -----
    - Ordered labels: mean absolute error, macro mean absolute error, accuracy, accuracy within one rank, quadratic weighted kappa.
    - Intervals of ordered labels: mean interval error, share inside the interval.
    - Classes: accuracy, macro F1.
    - Labels of tokens: those of `token_measures`.
    - Other outputs: what `Outputs.measures` of the problem returns.
    - The mean of the engine's loss. It is left out if tokens have labels that the model does not know. It is left out, too, if only
      training examples have its costs, as with "costs" and "decision-cost".

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.metrics import measures
    >>> X, y = [[0.0], [1.0], [2.0]], [1, 2, 3]
    >>> measures(Engine("cusum", epochs=20, random_state=0).fit(X, y), X, y, predicted=[1, 2, 2])["mean absolute error"]
    0.333...
    """
    model, data = model_of(engine, "engine"), Groups(X, offsets, lengths, groups)
    rows = model.read(data.X, data.offsets)
    return measures_of(model, rows, data.by_rows(y), engine.predict_rows(rows) if predicted is None else predicted)


def measures_of(model, rows, y, predicted) -> dict[str, float]:
    """`measures` of rows that `Engine.read` returned. Returns a dict of str to float.

    Parameters
    ----------
    model : Model
        The model of a trained engine, `engine.model_`.
    rows : Rows
        As `engine.read(X)` returns them.
    y : sequence
        Right outputs.
    predicted : sequence
        Predicted outputs.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.metrics import measures_of
    >>> engine = Engine("cusum", preset="paper").fit([[0.0], [1.0], [2.0]], [1, 2, 3])
    >>> measures_of(engine.model_, engine.read([[0.0], [2.0]]), [1, 3], [1, 2])["accuracy"]
    0.5
    """
    parts_of(model, rows)
    if not rows.n_examples:
        raise DataError("X has no examples; at least one is needed to measure anything.")
    return judged(model, rows, y, predicted).measures()


def loss_name(engine) -> str:
    """How messages call an engine's loss: the option, or the class of a plugin's."""
    return f"loss={engine.loss!r}" if isinstance(engine.loss, str) else type(engine.parts_.loss).__name__


def model_of(engine, name):
    """The model of a trained engine."""
    if not hasattr(type(engine), "model_"):
        raise DataError(f"{name} is {shortened(engine)}; expected a trained Engine.")
    return engine.model_


def parts_of(model, rows):
    """The parts of an engine's model, which has read these rows."""
    if not hasattr(model, "parts"):
        raise DataError(f"model is {shortened(model)}; expected the model of an engine, such as engine.model_.")
    if not isinstance(rows, Rows):
        raise DataError(f"rows is {shortened(rows)}; expected rows as model.read(X) returns them.")
    return model.parts


@attrs.frozen(eq=False)
class Pairs:
    """The different pairs of right label and prediction, and how often each occurs. Each example has one right label.

    Those of parts of the data add up to those of all data: measures need no more.
    """
    # gold, predicted: int arrays. Codes of the different pairs.
    # losses: float64 array or None. The model's own loss of each, None where it is not known.
    # counts: int array. How many examples have it.
    # loss: str. Its name.

    outputs: object
    gold: np.ndarray
    predicted: np.ndarray
    losses: np.ndarray | None
    counts: np.ndarray
    loss: str

    @classmethod
    def suit(cls, model) -> bool:
        """Whether a model's outputs are measured so."""
        return bool(model.parts.outputs.n_labels) and not model.parts.outputs.partial_gold

    @classmethod
    def of(cls, model, rows, y, predicted):
        outputs, loss = parts_of(model, rows).outputs, model.parts.loss
        gold = right_outputs(outputs, y, rows, model.parts.features)
        answers = LabelCodes(outputs.labels).encode(predicted, len(gold))
        pairs = cls(outputs, *pairs_of(np.asarray(gold.values).reshape(-1), answers), loss_title(model))
        return pairs if loss.training_only else pairs.with_losses(loss)

    def with_losses(self, loss):
        values = [loss.value(*pair) for pair in zip(self.gold.tolist(), self.predicted.tolist(), strict=True)]
        return attrs.evolve(self, losses=np.array(values))

    @classmethod
    def joined(cls, parts):
        """Those of all parts."""
        gold, predicted, counts = (np.concatenate([getattr(part, name) for part in parts]) for name in ("gold", "predicted", "counts"))
        pairs = np.column_stack([gold, predicted])
        pairs, first, where = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
        losses = None if parts[0].losses is None else np.concatenate([part.losses for part in parts])[first]
        sums = np.bincount(where.reshape(-1), counts).astype(np.int64)
        return attrs.evolve(parts[0], gold=pairs[:, 0], predicted=pairs[:, 1], losses=losses, counts=sums)

    def constant(self, loss):
        """The code of the best constant prediction, and the pairs of it. None if losses are not known."""
        if self.losses is None:
            return None
        counts = np.bincount(self.gold, self.counts)
        gold = np.flatnonzero(counts)
        costs = [sum(n * loss.value(one, code) for one, n in zip(gold.tolist(), counts[gold].tolist(), strict=True))
                 for code in range(1, self.outputs.n_labels + 1)]
        code = int(np.argmin(costs)) + 1
        pairs = attrs.evolve(self, gold=gold, predicted=np.full(len(gold), code), counts=counts[gold].astype(np.int64))
        return code, pairs.with_losses(loss)

    def matrix(self):
        """The confusion matrix."""
        return confusion_matrix.of_pairs(self.gold, self.predicted, self.counts, self.outputs.n_labels)

    def measures(self) -> dict[str, float]:
        """See `measures`."""
        pairs, n_labels = (self.gold, self.predicted, self.counts), self.outputs.n_labels
        if is_ordered(self.outputs):
            values = rank_measures_of(*pairs, n_labels)
        else:
            values = {"accuracy": accuracy_of(*pairs), "macro F1": macro_f1.of_pairs(*pairs, n_labels)}
        if self.losses is not None:
            values[self.loss] = float((self.losses * self.counts).sum() / self.counts.sum())
        return values


def pairs_of(gold, predicted):
    """Codes of the different pairs, no losses yet, and counts."""
    true, answers, counts = label_pairs(gold, predicted)
    return true, answers, None, counts


def judged(model, rows, y, predicted):
    """Predictions beside right outputs: pairs of labels with their numbers, or example by example."""
    parts_of(model, rows)
    return (Pairs if Pairs.suit(model) else Judged).of(model, rows, y, predicted)


def loss_title(model) -> str:
    """The name of the mean of a model's own loss: its option, or the class of an author's loss that replaces a named one."""
    option, loss = model.context.loss, model.parts.loss
    name = option if isinstance(option, str) else "cost matrix"
    return f"mean loss ({type(loss).__name__ if name in NAMED_LOSSES and overrides(loss, 'value') else name})"


@attrs.frozen(eq=False)
class Judged:
    """Predictions of a model beside right outputs, example by example."""
    # gold, predicted: sequence. The right output of each example as users pass it, and the prediction.
    # losses: ndarray or None. The model's own loss of each example, None where it is not known.
    # loss: str. Its name.
    # scores: sequence of ndarray, or None. The scores of each example's atoms, where measures ask for them.
    # right: bool array. Whether the prediction of an example is right, or fits what is known.

    outputs: object
    gold: object
    predicted: object
    losses: np.ndarray | None
    loss: str
    scores: object
    right: np.ndarray

    @classmethod
    def of(cls, model, rows, y, predicted, scored=True):
        outputs, labels, y = parts_of(model, rows).outputs, model.context.labels, python_values(y)
        unseen = labels is not None and not outputs.n_labels and unseen_labels(labels_of(outputs, y), labels)
        own = None if unseen else losses_of(model, rows, y, predicted)      # raises the errors of y
        gold = by_example(outputs, rows, y)
        if not hasattr(gold, "__len__"):
            raise DataError(f"y is {shortened(y)}; expected a list of outputs, one for each of {rows.n_examples} examples.")
        if unseen:
            outputs.encode_answers(predicted, rows)                         # raises the errors of predictions
            predicted = by_example(outputs, rows, predicted)
            if len(gold) != len(predicted):
                raise DataError(f"y has {len(gold)} outputs for {len(predicted)} examples; give one for each.")
        scored = scored and needs_scores(outputs)
        scores = model.atom_scores(rows) if scored else None
        right = np.array([fits(*pair) for pair in zip(gold, predicted, strict=True)]) if unseen else right_of(model, rows, y, predicted)
        return cls(outputs, gold, predicted, own, loss_title(model), scores, right)

    @classmethod
    def joined(cls, parts):
        """That of all parts. Their losses are not known where those of one are not."""
        def of(name):
            values = [getattr(part, name) for part in parts]
            if any(value is None for value in values):
                return None
            arrays = all(isinstance(value, np.ndarray) and value.dtype != object for value in values)
            return np.concatenate(values) if arrays else [one for value in values for one in value]

        return attrs.evolve(parts[0], **{name: of(name) for name in ("gold", "predicted", "losses", "scores", "right")})

    def part(self, kept):
        """The same of only some examples."""
        def of(values):
            return None if values is None else values[kept] if isinstance(values, np.ndarray) else [values[i] for i in kept.tolist()]

        return attrs.evolve(self, gold=of(self.gold), predicted=of(self.predicted), losses=of(self.losses), scores=of(self.scores),
                            right=of(self.right))

    def measures(self) -> dict[str, float]:
        """See `measures`."""
        return self.own_measures() | self.mean_loss()

    def own_measures(self) -> dict[str, float]:
        """Those of the output space."""
        return own_measures(self.outputs, self.gold, self.predicted, self.scores)

    def mean_loss(self) -> dict[str, float]:
        """The model's own loss by its name, if it is known."""
        return {} if self.losses is None else {self.loss: float(self.losses.mean())}


def labels_of(outputs, y) -> list:
    """The labels that occur in gold outputs, some more than once."""
    labels = list(outputs.labels_in(y if getattr(y, "ndim", 0) == 1 else entries(y, "y", "the right output of each example")))
    try:
        set(labels)
    except TypeError:
        raise DataError("y contains lists or the like as labels; expected numbers, strings or other hashable labels.") from None
    return labels


def right_of(model, rows, y, predicted) -> np.ndarray:
    """Whether the prediction of each example is right, or fits what is known."""
    outputs = model.parts.outputs
    gold = outputs.encode(y, rows)
    if outputs.n_labels:
        return for_each_pair(outputs, gold, predicted, lambda i, code: outputs.agrees(gold[i], code, model.example(rows, i)))
    answers = outputs.encode_answers(predicted, rows)
    return np.array([outputs.agrees(gold[i], answers[i], model.example(rows, i)) for i in range(rows.n_examples)], dtype=bool)


def for_each_pair(outputs, gold, predicted, value):
    """`value(i, code)` of each example and its predicted label, as an array: one call for equal pairs of gold output and label."""
    labels = LabelCodes(outputs.labels).encode(predicted, len(gold))
    pairs = labels.astype(np.int64)
    for codes in np.asarray(gold.values).reshape(max(len(gold), 1), -1).T:      # of intervals both ends
        pairs = pairs * (outputs.n_labels + 1) + codes
    _, first, where = np.unique(pairs, return_index=True, return_inverse=True)
    return np.array([value(i, int(labels[i])) for i in first.tolist()])[where]


def fits(gold, predicted) -> bool:
    """Whether a prediction is what is known of an output, of which the model may not know every label."""
    if is_listed(gold) and is_listed(predicted) and len(gold) == len(predicted):
        return all(fits(*pair) for pair in zip(gold, predicted, strict=True))
    return (not is_listed(gold) and is_missing(gold)) or same(gold, predicted)


def same(one, other) -> bool:
    """Whether two outputs are the same, lists or single labels; not if NumPy cannot compare them."""
    try:
        return bool(np.array_equal(np.asarray(one, dtype=object), np.asarray(other, dtype=object)))
    except (TypeError, ValueError):
        return False


def by_example(outputs, rows, y):
    """Gold outputs of rows as an entry for each example: also the labels of all tokens in one array."""
    y = counted_from_zero(y)
    if not is_listed(y) or is_nested(y) or rows.offsets is None:
        return y
    if not outputs.per_row and not len(y) == rows.n_rows != rows.n_examples:
        return y
    return [y[first:last] for first, last in pairwise(rows.offsets.tolist())]


def counted_from_zero(y):
    """Outputs whose places are numbers from 0, whatever the index of a series or the library of a frame."""
    if is_frame(y):
        return np.asarray(y)
    return y if isinstance(y, np.ndarray) or not is_listed(y) else python_values(list(y))


def needs_scores(outputs) -> bool:
    """Whether the measures of an output space use the scores of atoms."""
    return not inherits(outputs, Outputs, "measures") and "scores" in inspect.signature(outputs.measures).parameters


def own_measures(outputs, y, predicted, scores=None) -> dict[str, float]:
    """The measures of an output space, without the loss."""
    if not outputs.n_labels:
        return dict(outputs.measures(y, predicted) if scores is None else outputs.measures(y, predicted, scores))
    if not is_ordered(outputs):
        return {"accuracy": accuracy(y, predicted), "macro F1": macro_f1(y, predicted, outputs.labels)}
    if outputs.partial_gold:
        return interval_measures(y, predicted, outputs.labels, unrated="skip")      # encoding has raised the errors
    return rank_measures(y, predicted, outputs.labels)
