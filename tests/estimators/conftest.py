"""Sentences that several modules tag."""

import numpy as np
import pytest

CHUNKS = {"the": "B", "a": "B", "big": "I", "cat": "I", "dog": "I", "she": "B", "sees": "O", "sleeps": "O", ".": "O"}
LABELS = ["B", "I", "O"]


@pytest.fixture(scope="module")
def corpus():
    """Sentences as dicts of features, and their chunks. Phrases are a determiner and up to two words, with other words in between."""
    random = np.random.default_rng(3)
    X, y = [], []
    for _ in range(30):
        words = []
        for _ in range(random.integers(1, 4)):
            words += [random.choice(["the", "a", "she"]), *random.choice(["big", "cat", "dog"], size=random.integers(0, 3))]
            words.append(random.choice(["sees", "sleeps", "."]))
        X.append([{"word": word, "long": len(word) > 3, "length": len(word) / 4} for word in words])
        y.append([CHUNKS[word] for word in words])
    return X, y


@pytest.fixture(scope="module")
def noisy():
    """Sentences of 1 to 4 tokens, and three labels that no chain predicts perfectly. Whole numbers have exact sums."""
    random = np.random.default_rng(5)
    X = [random.integers(-3, 4, size=(size, 4)).astype(float) for size in random.integers(1, 5, size=40)]
    y = [[LABELS[code] for code in (block[:, :3] + random.integers(-2, 3, size=(len(block), 3))).argmax(axis=1)] for block in X]
    return X, y
