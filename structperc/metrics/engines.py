"""The measures that suit an engine, and its own loss."""

from __future__ import annotations

import numpy as np

from structperc.core.labels import LabelCodes, is_nested
from structperc.core.losses import ExampleCosts
from structperc.metrics.intervals import interval_measures
from structperc.metrics.labels import accuracy, macro_f1, rank_measures
from structperc.metrics.tokens import unseen_labels
from structperc.reading import matrices as reading


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
    X, offsets, order = reading.blocks(X, offsets, lengths, groups)
    y = reading.by_rows(y, order)
    rows = parts.reader.read(X, offsets)
    if predicted is None:
        predicted = engine.predict(X, offsets=offsets)
    gold = outputs.encode(y, rows)
    if outputs.n_labels and outputs.partial_gold:        # what is known is more than one code, what is predicted is one label
        pairs = list(zip(gold, LabelCodes(outputs.labels).encode(predicted, rows.n_examples).tolist(), strict=True))
        values = {pair: loss.value(*pair) for pair in set(pairs)}
        return np.array([values[pair] for pair in pairs])
    answers = outputs.encode_answers(predicted, rows)
    if outputs.n_labels:
        pairs, where = np.unique(np.stack([gold.values, answers.values]), axis=1, return_inverse=True)
        values = np.array([loss.value(int(a), int(b)) for a, b in pairs.T])
        return values[where.reshape(-1)]
    examples = [rows.example(i) for i in range(rows.n_examples)]
    for x in examples:
        x.n_atoms = parts.features.n_atoms(x)
    return np.array([loss.value(gold[x.index], answers[x.index], x) for x in examples])


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
        Ranks of which some are known as intervals only: mean interval error, share inside the interval.
        Classes: accuracy, macro F1. Other outputs: what their method `measures(y_true, y_pred)` answers with; labels of tokens:
        `token_measures`. All but loss="costs": the mean of the engine's loss, unless tokens have labels that the model does not
        know, whose loss is undefined.
    """
    outputs, labels = engine.parts_.outputs, getattr(engine, "classes_", None)
    X, offsets, order = reading.blocks(X, offsets, lengths, groups)
    y = reading.by_rows(y, order)
    if predicted is None:
        predicted = engine.predict(X, offsets=offsets)
    found = own_measures(outputs, by_example(engine, X, y, offsets), predicted)
    if labels is not None and not outputs.n_labels and unseen_labels(y, labels):
        return found
    own = losses(engine, X, y, offsets, predicted=predicted)
    if own is not None:
        loss = outputs.default_loss if engine.loss is None else engine.loss
        name = loss if isinstance(loss, str) else "cost matrix"
        found[f"mean loss ({name})"] = float(own.mean())
    return found


def by_example(engine, X, y, offsets):
    """Gold outputs of rows as an array for each example."""
    parts = engine.parts_
    if not getattr(parts.outputs, "per_row", False) or is_nested(y):
        return y
    starts = parts.reader.read(X, offsets).offsets
    return y if starts is None else np.split(np.asarray(y), starts[1:-1])


def own_measures(outputs, y, predicted) -> dict[str, float]:
    """The measures of an output space, without the loss."""
    if not outputs.n_labels:
        return dict(outputs.measures(y, predicted))
    if not outputs.ordered:
        return {"accuracy": accuracy(y, predicted), "macro F1": macro_f1(y, predicted, outputs.labels)}
    return (interval_measures if outputs.partial_gold else rank_measures)(y, predicted, outputs.labels)
