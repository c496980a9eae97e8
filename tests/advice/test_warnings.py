"""Warnings of trainers that name an option: with it, the same examples train without a warning; and where further remedies may be."""

import functools
from pathlib import Path

import numpy as np
import pytest
from plain import Engine

import structperc
from advice.following import follow, sentences
from structperc.errors import DataError

RANDOM = np.random.default_rng(0)
X, Y = RANDOM.normal(size=(60, 2)), np.arange(60) % 3
Y = np.digitize(X[:, 0] + RANDOM.logistic(size=60), [-1, 1])
EXAMPLES = {            # by words of the message
    "a direction separates the ranks without error": ([[0.0], [1], [2], [3]], [1, 1, 2, 2]),
    "quasi-separation": (np.column_stack([X, (Y == 2) & (X[:, 1] > 0)]), Y),
    "depend on each other": (np.column_stack([X, X[:, 0]]), Y),
}
SCALE = [0, 1, 2, 3]
BY_HAND = {             # by words of the message: what raises it, and each remedy
    "is surely the": (lambda: Engine("prank", trainer="cumulative-logit", classes=SCALE).fit(X, Y),
                      lambda: Engine("prank", trainer="cumulative-logit", classes=SCALE[:-1]).fit(X, Y),
                      lambda: Engine("prank", update="logistic", classes=SCALE).fit(X, Y)),
}
OF_AUTHORS = ("has other weights",)         # only plugin objects of other problems get here
COVERED = ("plugins/structperc_prank/cumulative_logit.py",)
ROOT = Path(structperc.__file__).parent.parent


@pytest.mark.parametrize("words", EXAMPLES)
def test_the_option_that_a_warning_names_silences_it(words):
    model, messages, arguments = follow(functools.partial(Engine, "prank", trainer="cumulative-logit"), *EXAMPLES[words])
    assert len(messages) == 1 and words in messages[0] and arguments == {"penalty": 1.0}
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("words", BY_HAND)
def test_each_remedy_of_an_error_trains(words):
    provoke, *remedies = BY_HAND[words]
    with pytest.raises(DataError, match=words):
        provoke()
    for remedy in remedies:
        assert len(remedy().predict(X)) == len(X)


@pytest.mark.skipif(not (ROOT / "plugins").is_dir(), reason="the sources of the plugins are not here")
def test_every_remedy_of_the_modules_that_are_covered_has_examples():
    missing = [(module, line) for module, line, said in sentences(ROOT / "plugins") if f"plugins/{module}" in COVERED
               and not any(words in said for words in (*EXAMPLES, *BY_HAND, *OF_AUTHORS))]
    assert not missing
