"""Warnings of trainers that name an option: with it, the same examples train without a warning."""

import functools

import numpy as np
import pytest
from plain import Engine

from advice.following import follow

RANDOM = np.random.default_rng(0)
X, Y = RANDOM.normal(size=(60, 2)), np.arange(60) % 3
Y = np.digitize(X[:, 0] + RANDOM.logistic(size=60), [-1, 1])
EXAMPLES = {            # by words of the message
    "a direction separates the ranks without error": ([[0.0], [1], [2], [3]], [1, 1, 2, 2]),
    "quasi-separation": (np.column_stack([X, (Y == 2) & (X[:, 1] > 0)]), Y),
    "depend on each other": (np.column_stack([X, X[:, 0]]), Y),
}


@pytest.mark.parametrize("words", EXAMPLES)
def test_the_option_that_a_warning_names_silences_it(words):
    model, messages, arguments = follow(functools.partial(Engine, "prank", trainer="cumulative-logit"), *EXAMPLES[words])
    assert len(messages) == 1 and words in messages[0] and arguments == {"penalty": 1.0}
    assert np.isfinite(model.coef_).all()
