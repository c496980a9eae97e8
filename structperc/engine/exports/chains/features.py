"""Named features and their weights as lines of JSON."""

from __future__ import annotations

import json

import numpy as np


def entries(model):
    """For each feature its labels with a weight, and the weights."""
    for weights in model.weights.T:
        labels = np.flatnonzero(weights)
        yield labels.tolist(), weights[labels].tolist()


def feature_lines(model) -> list[str]:
    """For each feature a list: its name, then a label's number and its weight, again and again."""
    return [json.dumps([name, *(entry for pair in zip(labels, weights, strict=True) for entry in pair)])
            for name, (labels, weights) in zip(model.names, entries(model), strict=True)]
