"""How well predicted segments agree with the right ones."""

from __future__ import annotations

import numpy as np

from structperc_segments.forms import is_tagged, segments_of


def segment_measures(y_true, y_pred) -> dict[str, float]:
    """Precision, recall and F1 of segments (start, stop, label). Also the share of sentences that are wholly right. 0 / 0 is 0."""
    # Open parts of y_true are not measured, nor predictions inside one. A sentence of nothing else is no whole one, right or wrong.
    tagged = is_tagged(y_true)
    pairs = [known_segments(segments_of(segments, i, len(segments) if tagged else np.inf, tagged), guessed)
             for i, (segments, guessed) in enumerate(zip(y_true, y_pred, strict=True))]
    correct = sum(len(right & guessed) for right, guessed in pairs)
    true, predicted = sum(len(right) for right, _ in pairs), sum(len(guessed) for _, guessed in pairs)
    whole = [right == guessed for (right, guessed), segments in zip(pairs, y_true, strict=True) if right or not len(segments)]
    return {
        "segment precision": correct / predicted if predicted else 0.0,
        "segment recall": correct / true if true else 0.0,
        "segment F1": 2 * correct / (true + predicted) if true + predicted else 0.0,
        "whole sentences right": sum(whole) / max(len(whole), 1),
    }


def known_segments(segments, guessed):
    """Right and predicted segments of a sentence, without open parts and what is predicted inside one."""
    gaps = [(start, stop) for start, stop, label, _ in segments if label is None]
    right = {(start, stop, label) for start, stop, label, _ in segments if label is not None}
    return right, {tuple(segment) for segment in guessed if not any(start <= segment[0] and segment[1] <= stop for start, stop in gaps)}
