"""How well predicted segments agree with the right ones."""

from __future__ import annotations


def segment_measures(y_true, y_pred) -> dict[str, float]:
    """Precision, recall and F1 of segments, and the share of sentences that are wholly right.

    Parameters
    ----------
    y_true, y_pred : sequences of sentences
        A sentence is a list of (start, stop, label).

    Returns
    -------
    dict
        Ratios of nothing to nothing are 0.

    Examples
    --------
    >>> from structperc_segments.measures import segment_measures
    >>> segment_measures([[(0, 2, "A"), (3, 4, "B")]], [[(0, 2, "A"), (2, 4, "B")]])["segment F1"]
    0.5
    """
    right = [set(map(tuple, segments)) for segments in y_true]
    guessed = [set(map(tuple, segments)) for segments in y_pred]
    correct = sum(len(a & b) for a, b in zip(right, guessed, strict=True))
    true, predicted = sum(map(len, right)), sum(map(len, guessed))
    return {
        "segment precision": correct / predicted if predicted else 0.0,
        "segment recall": correct / true if true else 0.0,
        "segment F1": 2 * correct / (true + predicted) if true + predicted else 0.0,
        "whole sentences right": sum(a == b for a, b in zip(right, guessed, strict=True)) / max(len(right), 1),
    }
