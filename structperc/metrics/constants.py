"""The best constant prediction: the baseline of a model."""

from __future__ import annotations

from collections import Counter

import attrs
import numpy as np

from structperc.basics.errors import StructPercError
from structperc.basics.labels import codes_of, is_nested, plain
from structperc.metrics.engines import Judged, Pairs, by_example, labels_of, model_of, parts_of
from structperc.metrics.tagged_phrases import entries
from structperc.reading.groups import Groups

__all__ = ["Constant", "best_constant", "best_constant_of"]


@attrs.frozen
class Constant:
    """The best constant prediction, a baseline for a model.

    Attributes
    ----------
    answer : label
        The prediction for each example, or for each token.
    measures : dict of str to float
        What `measures` returns for these predictions.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.metrics import best_constant
    >>> engine = Engine("cusum", preset="paper").fit([[0.0], [1.0], [2.0]], [1, 2, 2])
    >>> best_constant(engine, [[0.0], [1.0], [2.0]], [1, 2, 2]).answer
    2
    """

    answer: object
    measures: dict


def best_constant(engine, X, y, offsets=None, *, lengths=None, groups=None) -> Constant | None:
    """The label that is the best constant prediction for these examples, and its measures: a baseline.

    It has the least mean loss, by the loss of the engine: the median of ordered labels, the most frequent class, the most frequent label
    of tokens. Ties: the first label. Cost: O(n + g r) for g different right labels and r labels. Raises `DataError` if y does not fit X.
    See also `measures` (measures of the engine's predictions).

    Parameters
    ----------
    engine : Engine
        A trained engine.
    X, y, offsets
        Examples, as in `Engine.fit`.
    lengths, groups
        As in `Engine.fit`.

    Returns
    -------
    Constant or None
        None for other outputs, for loss="costs", whose costs are those of the training data, and if constraints forbid this prediction.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.metrics import best_constant
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1, 2, 2, 3]
    >>> constant = best_constant(Engine("cusum", epochs=20).fit(X, y), X, y)
    >>> constant.answer, constant.measures["mean absolute error"]
    (2, 0.5)
    """
    model, data = model_of(engine, "engine"), Groups(X, offsets, lengths, groups)
    return best_constant_of(model, model.read(data.X, data.offsets), data.by_rows(y))


def best_constant_of(model, rows, y) -> Constant | None:
    """`best_constant` of rows that `Engine.read` returned.

    Parameters
    ----------
    model : Model
        The model of a trained engine, `engine.model_`.
    rows : Rows
        As `engine.read(X)` returns them.
    y : sequence
        Right labels.

    Examples
    --------
    >>> from structperc import Engine
    >>> from structperc.metrics import best_constant_of
    >>> engine = Engine("cusum", preset="paper").fit([[0.0], [1.0], [2.0]], [1, 2, 2])
    >>> best_constant_of(engine.model_, engine.read([[0.0], [1.0], [2.0]]), [1, 2, 2]).answer
    2
    """
    outputs, labels, loss = parts_of(model, rows).outputs, model.context.labels, model.parts.loss
    if Pairs.suit(model) and rows.n_examples:
        return constant_of_pairs(model, Pairs.of(model, rows, y, np.full(rows.n_examples, labels[0], dtype=labels.dtype)))
    if outputs.n_labels and rows.n_examples and not loss.training_only:
        answer = best_label(model, Counter(outputs.encode(y, rows)))
        predicted = np.full(rows.n_examples, answer, dtype=labels.dtype)
    elif labels is not None and not outputs.n_labels:
        gold = by_example(outputs, rows, y)
        answer = most_frequent(labels_of(outputs, gold))
        if answer not in codes_of(labels):
            return None
        predicted = everywhere(answer, gold)
    else:
        return None
    try:
        measures = Judged.of(model, rows, y, predicted, scored=False).measures()
    except StructPercError:             # constraints forbid it
        return None
    return Constant(plain(answer), measures)


def constant_of_pairs(model, pairs) -> Constant | None:
    """`best_constant` of pairs of labels; predictions have no effect."""
    best = pairs.constant(model.parts.loss)
    return None if best is None else Constant(plain(model.context.labels[best[0] - 1]), best[1].measures())


def best_label(model, counts):
    """The label of least loss beside right labels, of which `counts` has the codes and how often each occurs."""
    costs = [sum(n * model.parts.loss.value(gold, code) for gold, n in counts.items())
             for code in range(1, model.parts.outputs.n_labels + 1)]
    return model.context.labels[np.argmin(costs)]


def everywhere(answer, gold) -> list:
    """A label for each token."""
    sentences = gold if is_nested(gold) else [[label] for label in gold]            # of one token each
    return [[answer] * len(entries(one, f"y[{i}]", "the labels of one example")) for i, one in enumerate(sentences)]


def most_frequent(labels):
    """The most frequent label, the first of several to appear; None without labels."""
    return next((label for label, _ in Counter(labels).most_common(1)), None)
