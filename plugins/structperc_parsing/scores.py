"""How many words have the right head."""

from __future__ import annotations

from structperc.errors import DataError

__all__ = ["attachment_scores"]


def attachment_scores(y_true, y_pred) -> dict:
    """UAS and LAS, as the shared task of 2018 evaluates parses of gold tokens: all words count, punctuation too.

    Parameters
    ----------
    y_true, y_pred : sequences of sequences of heads, or of pairs (head, label)

    Returns
    -------
    dict
        "UAS", the share of words with the right head, and with labels "LAS", with the right head and the right label up to a colon;
        "LAS with subtypes" compares whole labels. "whole trees" is the share of sentences that are right.

    Examples
    --------
    >>> from structperc_parsing.scores import attachment_scores
    >>> attachment_scores([[(2, "nsubj"), (0, "root")]], [[(2, "nsubj:pass"), (0, "root")]])
    {'UAS': 1.0, 'LAS': 1.0, 'LAS with subtypes': 0.5, 'whole trees': 0.0}
    """
    if list(map(len, y_true)) != list(map(len, y_pred)):
        raise DataError("the right and the predicted trees have different numbers of words; pass trees of the same sentences.")
    pairs = [(right, found) for trees in zip(y_true, y_pred, strict=True) for right, found in zip(*trees, strict=True)]
    n = max(len(pairs), 1)
    found = {}
    if pairs and isinstance(pairs[0][0], (tuple, list)):
        pairs = [((int(h), label), (int(k), other)) for (h, label), (k, other) in pairs]
        found["UAS"] = sum(right[0] == found[0] for right, found in pairs) / n
        found["LAS"] = sum(right[0] == found[0] and universal(right[1]) == universal(found[1]) for right, found in pairs) / n
        found["LAS with subtypes"] = sum(right == found for right, found in pairs) / n
    else:
        found["UAS"] = sum(int(right) == int(found) for right, found in pairs) / n
    trees = [all(a == b for a, b in zip(map(tree_entry, right), map(tree_entry, answer), strict=True))
             for right, answer in zip(y_true, y_pred, strict=True)]
    found["whole trees"] = sum(trees) / max(len(trees), 1)
    return found


def tree_entry(arc):
    return (int(arc[0]), arc[1]) if isinstance(arc, (tuple, list)) else int(arc)


def universal(label):
    """The part of a label before its subtype."""
    return label.split(":")[0] if isinstance(label, str) else label
