"""How well predicted segments agree with the right ones."""

from __future__ import annotations


def segment_measures(y_true, y_pred) -> dict[str, float]:
    """Precision, recall and F1 of segments (start, stop, label). Also the share of sentences that are wholly right. 0 / 0 is 0."""
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
