"""Measures of one label per token: of tokens, of sentences, and of phrases where labels are their tags."""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice

from structperc.core.errors import DataError
from structperc.core.labels import is_nested
from structperc.metrics.phrases import are_phrase_tags, entries, phrase_scores

LISTS = "lists of labels, or a flat list"


def token_measures(y_true, y_pred) -> dict[str, float]:
    """What is worth knowing of predictions with one label per token, by name; what `Outputs.measures` of such a problem answers with.

    Parameters
    ----------
    y_true : list of lists of labels, or flat list of labels
        The right label of each token, None where it is not known, which is not measured; a flat list is parted as y_pred is.
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
    y_pred = [entries(labels, f"y_pred[{i}]", "the labels of one sentence") for i, labels in enumerate(entries(y_pred, "y_pred", LISTS))]
    y_true = sentences(y_true, y_pred)
    right = [[a == b for a, b in zip(*pair, strict=True) if a is not None] for pair in zip(y_true, y_pred, strict=True)]
    n_tokens = sum(map(len, right))
    if n_tokens == 0:
        raise DataError("y_true has no tokens whose label is known; at least one is needed to measure anything.")
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
    y_true, labels = entries(y_true, "y_true", LISTS), entries(labels, "labels", "the labels that the model knows")
    if is_nested(y_true):
        y_true = chain.from_iterable(entries(row, f"y_true[{i}]", "the labels of one sentence") for i, row in enumerate(y_true))
    try:
        counts, known = Counter(y_true), set(labels)
    except TypeError:
        raise DataError("y_true or labels contains lists or the like; expected numbers, strings or other hashable labels.") from None
    return {label: count for label, count in counts.most_common() if label not in known}


def sentences(y, like, name="y_true", other="y_pred") -> list:
    """Labels as one list per sentence.

    Parameters
    ----------
    y : list of lists of labels, or flat list of labels
        Flat ones are parted as the sentences of `like` are.
    like : list of sized
        As many as there are sentences, each of as many tokens.
    name, other : str
        What errors call y and `like`.

    Raises
    ------
    DataError
        When the two differ in the number of sentences or of tokens in one.

    Examples
    --------
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
