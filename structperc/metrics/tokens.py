"""Measures of one label per token: of tokens, of sentences, and of phrases where labels are their tags."""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice

import numpy as np

from structperc.basics.errors import DataError
from structperc.basics.labels import codes_of, is_missing, is_nested
from structperc.metrics.tagged_phrases import are_phrase_tags, entries, phrase_scores

LISTS = "lists of labels, or a flat list"


def token_measures(y_true, y_pred) -> dict[str, float]:
    """Measures of predictions with one label for each token, by name.
    Raises `DataError` if the two differ in the number of sentences or tokens, or have no token.
    See also `phrase_scores` (entity-level scores of each type).

    Parameters
    ----------
    y_true : list of lists of labels, or flat list of labels
        The right label of each token. A flat list is split like `y_pred`. Tokens
        whose label is missing (None, NaN or NA) are not counted, nor sentences of nothing else.
    y_pred : list of lists of labels
        The predicted label of each token.

    Returns
    -------
    dict of str to float
        Token accuracy and the share of correct sentences. If labels look like tags of phrases, also phrase precision, recall and F1.

    Examples
    --------
    >>> from structperc.metrics import token_measures
    >>> token_measures([["D", "N"], ["V"]], [["D", "V"], ["V"]])
    {'token accuracy': 0.666..., 'whole sentences right': 0.5}
    """
    y_pred = [entries(labels, f"y_pred[{i}]", "the labels of one sentence") for i, labels in enumerate(entries(y_pred, "y_pred", LISTS))]
    y_true = sentences(y_true, y_pred)
    refuse_unhashable(y_true, y_pred)
    try:
        right = [[bool(a == b) for a, b in zip(*pair, strict=True) if not is_missing(a)] for pair in zip(y_true, y_pred, strict=True)]
    except (TypeError, ValueError):
        raise DataError("labels of these types cannot be compared; expected numbers, strings or dates.") from None
    n_tokens = sum(map(len, right))
    if n_tokens == 0:
        raise DataError("y_true has no tokens whose label is known; at least one is needed to measure anything.")
    measured = [all(known) for known, labels in zip(right, y_true, strict=True) if known or not labels]     # of the others nothing is known
    measures = {"token accuracy": sum(map(sum, right)) / n_tokens, "whole sentences right": sum(measured) / len(measured)}
    if are_phrase_tags(chain.from_iterable((*y_true, *y_pred))):
        scores = phrase_scores(y_true, y_pred)
        measures.update({"phrase precision": scores.precision, "phrase recall": scores.recall, "phrase F1": scores.f1})
    return measures


def unseen_labels(y_true, labels) -> dict:
    """Counts of labels that a model does not know, and so never predicts.
    Returns a dict of label to int. Number of tokens of each unknown label, the most frequent first.

    Parameters
    ----------
    y_true : list of lists of labels, or flat list of labels
        Right labels. Missing ones (None, NaN or NA) are not counted.
    labels : sequence
        The labels that the model knows, its `classes_`.

    Examples
    --------
    >>> from structperc.metrics import unseen_labels
    >>> unseen_labels([["D", "N"], ["V", "X"]], ["D", "N", "V"])
    {'X': 1}
    """
    times = np.asarray(labels if hasattr(labels, "dtype") else ())
    if times.ndim == 1 and times.dtype.kind in "mM":
        labels = list(codes_of(times))          # a date in every unit
    y_true, labels = entries(y_true, "y_true", LISTS), entries(labels, "labels", "the labels that the model knows")
    if is_nested(y_true):
        y_true = chain.from_iterable(entries(row, f"y_true[{i}]", "the labels of one sentence") for i, row in enumerate(y_true))
    y_true, model_labels = list(y_true), set()
    refuse_unhashable([y_true], [labels], "y_true or labels")
    model_labels.update(labels)
    return {label: count for label, count in Counter(y_true).most_common() if label not in model_labels and not is_missing(label)}


def refuse_unhashable(first, second, names="y_true or y_pred") -> None:
    """Raises an error for labels that are lists or other objects without a hash, which are not compared as one."""
    try:
        set(chain.from_iterable((*first, *second)))
    except TypeError:
        raise DataError(f"{names} contains lists or the like; expected numbers, strings or other hashable labels.") from None


def sentences(y, like, name="y_true", other="y_pred") -> list:
    """Labels as one list for each sentence. Returns a list of lists of labels.
    Raises `DataError` if the two differ in the number of sentences or tokens.

    Parameters
    ----------
    y : list of lists of labels, or flat list of labels
        Labels; a flat list is split like `like`.
    like : list of sized
        One entry for each sentence, with as many tokens as the sentence.
    name : str, default "y_true"
        Name of `y` in error messages.
    other : str, default "y_pred"
        Name of `like` in error messages.

    Examples
    --------
    >>> from structperc.metrics import sentences
    >>> sentences(["D", "N", "V"], [["the", "cat"], ["sleeps"]])
    [['D', 'N'], ['V']]
    """
    y, like = entries(y, name, LISTS), entries(like, other, "a list of sentences")
    sizes = [len(entries(one, f"{other}[{i}]", "one sentence")) for i, one in enumerate(like)]
    if not is_nested(y):
        if len(y) != sum(sizes):
            raise DataError(f"{name} has {len(y)} labels but {other} has {sum(sizes)} tokens; give one label per token.")
        labels = iter(y)
        return [list(islice(labels, size)) for size in sizes]
    if len(y) != len(sizes):
        raise DataError(f"{name} has {len(y)} sentences but {other} has {len(sizes)}; give one list of labels per sentence.")
    for i, (labels, size) in enumerate(zip(y, sizes, strict=True)):
        y[i] = labels = entries(labels, f"{name}[{i}]", "the labels of one sentence")
        if len(labels) != size:
            raise DataError(f"{name}[{i}] has {len(labels)} labels but sentence {i} of {other} has {size} tokens; "
                            f"give one label per token.")
    return y
