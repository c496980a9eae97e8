"""How many words have the right head.

Provisional: it may change in any minor version.
"""

from __future__ import annotations

from structperc.errors import DataError, shortened
from structperc.plugin_tools import is_listed
from structperc_parsing.heads import has_no_head, is_pair, no_head

__all__ = ["attachment_scores"]


def attachment_scores(y_true, y_pred) -> dict:
    """UAS and LAS, as the shared task of 2018 evaluates parses of gold tokens: all words count, punctuation too.

    Parameters
    ----------
    y_true, y_pred : sequences of sequences of heads, or of pairs (head, label)

    Returns
    -------
    dict
        "UAS" is the share of words with the right head. With labels, "LAS" is that with the right head and label up to a colon.
        "LAS with subtypes" compares whole labels. "whole trees" is the share of sentences that are right.

    Raises
    ------
    DataError
        If a head is no word of its sentence, or the trees have different numbers of words.

    Examples
    --------
    >>> from structperc_parsing.scores import attachment_scores
    >>> attachment_scores([[(2, "nsubj"), (0, "root")]], [[(2, "nsubj:pass"), (0, "root")]])
    {'UAS': 1.0, 'LAS': 1.0, 'LAS with subtypes': 0.5, 'whole trees': 0.0}
    """
    return scores_of(y_true, y_pred, "y_true")


def scores_of(y_true, y_pred, name) -> dict:
    """As `attachment_scores`, where users pass the right trees by another name."""
    both = {one: listed_trees(y, one) for one, y in ((name, y_true), ("y_pred", y_pred))}
    if list(map(len, both[name])) != list(map(len, both["y_pred"])):
        raise DataError("the right and the predicted trees have different numbers of words; pass trees of the same sentences.")
    is_labelled = any(is_pair(arc) for tree in both[name] for arc in tree)
    trees = [[[entry(arc, is_labelled, len(tree), f"{one}[{i}][{j}]") for j, arc in enumerate(tree)] for i, tree in enumerate(y)]
             for one, y in both.items()]
    pairs = [pair for right, predicted in zip(*trees, strict=True) for pair in zip(right, predicted, strict=True)]
    n = max(len(pairs), 1)
    scores = {"UAS": sum(right[0] == predicted[0] for right, predicted in pairs) / n}
    if is_labelled:
        scores["LAS"] = sum(right[0] == predicted[0] and universal(right[1]) == universal(predicted[1]) for right, predicted in pairs) / n
        scores["LAS with subtypes"] = sum(right == predicted for right, predicted in pairs) / n
    scores["whole trees"] = sum(right == predicted for right, predicted in zip(*trees, strict=True)) / max(len(trees[0]), 1)
    return scores


def listed_trees(y, name) -> list:
    """Trees as a list of lists of arcs."""
    if not is_listed(y):
        raise DataError(f"{name} is {shortened(y)}; expected a list of trees, each the heads of its words, or pairs (head, label).")
    for i, tree in enumerate(y):
        if not is_listed(tree):
            raise DataError(f"{name}[{i}] is {shortened(tree)}; expected a list of the heads of a sentence's words, or of pairs "
                            "(head, label).")
    return [list(tree) for tree in y]


def entry(arc, is_labelled, n_words, where) -> tuple:
    """A head and its label, None without labels."""
    if has_no_head(arc):
        raise no_head(where)
    try:
        head, label = arc if is_labelled else (arc, None)
        number = int(head)
    except (TypeError, ValueError, OverflowError):
        expected = "a pair of a head and a label" if is_labelled else "a head"
        raise DataError(f"{where} is {shortened(arc)}; expected {expected}, where 0 is the root and words are counted from 1.") from None
    if not 0 <= number <= n_words or number != head and str(number) != head:
        raise DataError(f"{where} has the head {shortened(head)}; expected a whole number from 0 (the root) to {n_words}.")
    return number, label


def universal(label):
    """The part of a label before its subtype."""
    return label.split(":")[0] if isinstance(label, str) else label
