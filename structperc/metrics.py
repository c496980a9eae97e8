"""How good predictions are: measures between ranks, classes and labels of tokens, and the ones that suit an engine."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np

from structperc import data as reading
from structperc.core.errors import DataError
from structperc.core.labels import LabelCodes, find_labels
from structperc.core.losses import ExampleCosts
from structperc.extras import require
from structperc.phrases import are_phrase_tags, phrase_scores
from structperc.phrases import phrase_f1 as phrase_f1


def codes(y_true, y_pred, classes=None):
    """Both lists of labels as ranks 1..r, and r.

    Parameters
    ----------
    y_true, y_pred : sequence of labels
    classes : sequence, optional
        All labels, lowest first. Without it, the numbers that occur, in their order.

    Returns
    -------
    true, predicted : int32 arrays
    n_labels : int

    Raises
    ------
    DataError
        When the lists differ in length, are empty, hold a label that `classes` does not name, or text without `classes`.
    """
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    if len(y_true) != len(y_pred):
        raise DataError(f"y_true has {len(y_true)} labels but y_pred has {len(y_pred)}; give one prediction for each.")
    if len(y_true) == 0:
        raise DataError("y_true is empty; at least one example is needed to measure anything.")
    if classes is None:
        both = np.concatenate([y_true, y_pred])
        if len(np.unique(both)) == 1:
            return np.ones(len(y_true), dtype=np.intc), np.ones(len(y_true), dtype=np.intc), 1
        classes = find_labels(both, None, ordered=True)
    encoder = LabelCodes(np.asarray(classes))
    return encoder.encode(y_true, len(y_true)), encoder.encode(y_pred, len(y_pred)), len(classes)


def mean_absolute_error(y_true, y_pred, classes=None) -> float:
    """How many ranks a prediction is off, on average.

    Parameters
    ----------
    y_true, y_pred : sequence of labels
    classes : sequence, optional
        All labels, lowest first; needed when they are text.

    Returns
    -------
    float
        From 0 (all right) to r - 1. The distance is counted in ranks: labels 1, 2 and 10 are one rank apart.

    Examples
    --------
    >>> mean_absolute_error([1, 2, 10], [1, 10, 1])
    1.0
    """
    true, predicted, _ = codes(y_true, y_pred, classes)
    return float(np.abs(true - predicted).mean())


def macro_mean_absolute_error(y_true, y_pred, classes=None) -> float:
    """The mean absolute error of each true rank, averaged over the ranks that occur, so that rare ranks weigh as much as common ones.

    Parameters
    ----------
    y_true, y_pred, classes
        As in `mean_absolute_error`.

    Returns
    -------
    float

    Examples
    --------
    >>> macro_mean_absolute_error([1, 1, 1, 3], [1, 1, 1, 1], classes=[1, 2, 3])
    1.0
    """
    true, predicted, n_labels = codes(y_true, y_pred, classes)
    count = np.bincount(true, minlength=n_labels + 1)
    error = np.bincount(true, weights=np.abs(true - predicted), minlength=n_labels + 1)
    present = count > 0
    return float((error[present] / count[present]).mean())


def accuracy(y_true, y_pred) -> float:
    """The share of predictions that are right.

    Parameters
    ----------
    y_true, y_pred : sequence of labels

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> accuracy(["low", "high"], ["low", "low"])
    0.5
    """
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    if y_true.shape != y_pred.shape or y_true.size == 0:
        raise DataError(f"y_true has shape {y_true.shape} and y_pred has {y_pred.shape}; expected the same number of labels, at least one.")
    return float((y_true == y_pred).mean())


def accuracy_within_one(y_true, y_pred, classes=None) -> float:
    """The share of predictions that are at most one rank off.

    Parameters
    ----------
    y_true, y_pred, classes
        As in `mean_absolute_error`.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> accuracy_within_one([1, 2, 3, 4], [1, 3, 1, 4])
    0.75
    """
    true, predicted, _ = codes(y_true, y_pred, classes)
    return float((np.abs(true - predicted) <= 1).mean())


def quadratic_weighted_kappa(y_true, y_pred, classes=None) -> float:
    """Cohen's kappa with squared rank distances: agreement beyond what the two distributions of ranks give by chance.

    Parameters
    ----------
    y_true, y_pred, classes
        As in `mean_absolute_error`.

    Returns
    -------
    float
        1: all right, 0: as by chance, negative: worse; NaN when both hold one and the same rank only.

    Examples
    --------
    >>> quadratic_weighted_kappa([1, 2, 3], [1, 2, 3])
    1.0
    """
    true, predicted, n_labels = codes(y_true, y_pred, classes)
    if (true == true[0]).all() and (predicted == true[0]).all():
        return float("nan")
    kappa = require("sklearn.metrics", "quadratic_weighted_kappa", "sklearn").cohen_kappa_score
    return float(kappa(true, predicted, labels=np.arange(1, n_labels + 1), weights="quadratic"))


def macro_f1(y_true, y_pred, classes=None) -> float:
    """The F1 of each class that occurs, averaged; 0 for a class that is never predicted right.

    Parameters
    ----------
    y_true, y_pred : sequence of labels
    classes : sequence, optional
        All labels.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> macro_f1([1, 1, 2, 2], [1, 1, 1, 2])
    0.733...
    """
    true, predicted, _ = codes(y_true, y_pred, classes)
    f1 = require("sklearn.metrics", "macro_f1", "sklearn").f1_score
    return float(f1(true, predicted, average="macro", zero_division=0))


def confusion_matrix(y_true, y_pred, classes=None) -> np.ndarray:
    """How often each label (row) was predicted as each (column).

    Parameters
    ----------
    y_true, y_pred, classes
        As in `mean_absolute_error`.

    Returns
    -------
    ndarray of int, shape (r, r)

    Examples
    --------
    >>> confusion_matrix([1, 2, 2], [1, 1, 2]).tolist()
    [[1, 0], [1, 1]]
    """
    true, predicted, n_labels = codes(y_true, y_pred, classes)
    return np.bincount((true - 1) * n_labels + predicted - 1, minlength=n_labels**2).reshape(n_labels, n_labels)


def token_measures(y_true, y_pred) -> dict[str, float]:
    """What is worth knowing of predictions with one label per token, by name; what `Outputs.measures` of such a problem answers with.

    Parameters
    ----------
    y_true : list of lists of labels, or flat list of labels
        The right label of each token; a flat list is parted as y_pred is.
    y_pred : list of lists of labels

    Returns
    -------
    dict
        token accuracy; whole sentences right; and where the labels look like tags of phrases (B-NP, I-NP, O), phrase precision, phrase
        recall and phrase F1.

    Raises
    ------
    DataError
        When the two differ in the number of sentences or of tokens in one, or hold no token.

    Examples
    --------
    >>> token_measures([["D", "N"], ["V"]], [["D", "V"], ["V"]])
    {'token accuracy': 0.666..., 'whole sentences right': 0.5}
    """
    y_true = sentences(y_true, y_pred)
    if list(map(len, y_true)) != list(map(len, y_pred)):
        i = next((i for i, (a, b) in enumerate(zip(y_true, y_pred, strict=False)) if len(a) != len(b)), min(len(y_true), len(y_pred)))
        raise DataError(f"y_true and y_pred differ in their numbers of tokens, first in sentence {i}; give one label for each token.")
    right = [[a == b for a, b in zip(*pair, strict=True)] for pair in zip(y_true, y_pred, strict=True)]
    n_tokens = sum(map(len, right))
    if n_tokens == 0:
        raise DataError("y_true has no tokens; at least one is needed to measure anything.")
    found = {"token accuracy": sum(map(sum, right)) / n_tokens, "whole sentences right": sum(map(all, right)) / len(right)}
    if are_phrase_tags(chain.from_iterable((*y_true, *y_pred))):
        scores = phrase_scores(y_true, y_pred)
        found.update({"phrase precision": scores.precision, "phrase recall": scores.recall, "phrase F1": scores.f1})
    return found


def unseen_labels(y_true, labels) -> dict:
    """How often labels occur that a model does not know, and so never predicts.

    Parameters
    ----------
    y_true : list of lists of labels, or flat list of labels
    labels : sequence
        Those that the model knows, its `classes_`.

    Returns
    -------
    dict
        Label to number of tokens, the most frequent first.

    Examples
    --------
    >>> unseen_labels([["D", "N"], ["V", "X"]], ["D", "N", "V"])
    {'X': 1}
    """
    counts = Counter(chain.from_iterable(y_true) if nested(y_true) else y_true)
    known = set(labels.tolist() if hasattr(labels, "tolist") else labels)
    return {label: count for label, count in counts.most_common() if label not in known}


def nested(y) -> bool:
    """Whether y has a list of labels per sentence."""
    return isinstance(next(iter(y), None), (list, tuple, np.ndarray))


def sentences(y, like) -> list:
    """Labels as one list per sentence; flat ones are parted as other sentences are."""
    if nested(y):
        return list(y)
    y, ends = list(y), np.cumsum([0, *map(len, like)]).tolist()
    if len(y) != ends[-1]:
        raise DataError(f"y_true has {len(y)} labels but y_pred has {ends[-1]}; give one prediction for each.")
    return [y[start:end] for start, end in zip(ends[:-1], ends[1:], strict=True)]


def losses(engine, X, y, offsets=None, *, lengths=None, groups=None, predicted=None) -> np.ndarray | None:
    """The engine's own loss of its prediction for each example.

    Parameters
    ----------
    engine : Engine
        Trained.
    X, y, offsets, lengths, groups
        As `engine.fit` takes them.
    predicted : sequence, optional
        What `engine.predict` answered, where it is known.

    Returns
    -------
    ndarray of shape (n_examples,), or None for loss="costs", which is known of the training data only
    """
    parts = engine.parts_
    outputs, loss = parts.outputs, parts.loss
    if isinstance(loss, ExampleCosts):
        return None
    rows = parts.reader.read(X, reading.block_offsets(X, offsets, lengths, groups))
    if predicted is None:
        predicted = engine.predict(X, offsets=offsets, lengths=lengths, groups=groups)
    gold, answers = outputs.encode(y, rows), outputs.encode(predicted, rows)
    if outputs.n_labels:
        pairs, where = np.unique(np.stack([gold.values, answers.values]), axis=1, return_inverse=True)
        values = np.array([loss.value(int(a), int(b)) for a, b in pairs.T])
        return values[where.reshape(-1)]
    return np.array([loss.value(gold[i], answers[i], rows.example(i)) for i in range(rows.n_examples)])


def measures(engine, X, y, offsets=None, *, lengths=None, groups=None, predicted=None) -> dict[str, float]:
    """What is worth knowing of a trained engine on these data, by name.

    Parameters
    ----------
    engine : Engine
        Trained.
    X, y, offsets, lengths, groups
        As `engine.fit` takes them.
    predicted : sequence, optional
        What `engine.predict` answered, where it is known.

    Returns
    -------
    dict
        Ranks: mean absolute error, macro mean absolute error, accuracy, accuracy within one rank, quadratic weighted kappa.
        Classes: accuracy, macro F1. Other outputs: what their method `measures(y_true, y_pred)` answers with, if they have one; labels of
        tokens: `token_measures`. All but loss="costs": the mean of the engine's loss, unless tokens have labels that the model does not
        know, whose loss is undefined.
    """
    outputs, labels = engine.parts_.outputs, getattr(engine, "classes_", None)
    if predicted is None:
        predicted = engine.predict(X, offsets=offsets, lengths=lengths, groups=groups)
    found = own_measures(outputs, y, predicted)
    if labels is not None and not outputs.n_labels and unseen_labels(y, labels):
        return found
    own = losses(engine, X, y, offsets, lengths=lengths, groups=groups, predicted=predicted)
    if own is not None:
        loss = outputs.default_loss if engine.loss is None else engine.loss
        name = loss if isinstance(loss, str) else "cost matrix"
        found[f"mean loss ({name})"] = float(own.mean())
    return found


def own_measures(outputs, y, predicted) -> dict[str, float]:
    """The measures of an output space, without the loss."""
    if not outputs.n_labels:
        return dict(outputs.measures(y, predicted)) if hasattr(outputs, "measures") else {}
    labels = outputs.labels
    if not outputs.ordered:
        return {"accuracy": accuracy(y, predicted), "macro F1": macro_f1(y, predicted, labels)}
    return {
        "mean absolute error": mean_absolute_error(y, predicted, labels),
        "macro mean absolute error": macro_mean_absolute_error(y, predicted, labels),
        "accuracy": accuracy(y, predicted),
        "accuracy within one rank": accuracy_within_one(y, predicted, labels),
        "quadratic weighted kappa": quadratic_weighted_kappa(y, predicted, labels),
    }
